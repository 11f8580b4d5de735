"""How good a solution is: re-integration against the equations of motion, and drift of its contacts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from .._types import Array
from ..constrained import constrained_dynamics
from ..constraints import Constraint, Contact, RollingContact
from ..dynamics import forward_dynamics
from ..functions import function
from ..joints import Joint, Prismatic
from ..model import Model
from .stage import Foothold

if TYPE_CHECKING:
    from .solution import PhaseSolution, Solution


@dataclass(frozen=True, eq=False)
class Defects:
    """How far the transcription is from the equations of motion, by re-integration at a tight tolerance.

    Each interval is integrated from its node, torques as in the solution, contact forces recomputed: `angle` [rad] and
    `length` [m] are the largest differences at its end, over joints and over the base's position. `open_loop_*`:
    the same over whole phases integrated in one go, which an unstable walker amplifies; nan where the integration fails.
    """

    angle: float
    length: float
    open_loop_angle: float
    open_loop_length: float
    by_interval: Array = field(repr=False)


@dataclass(frozen=True)
class Drift:
    """How far the contacts are off at the nodes: largest |phi| [m, sine] and largest |G v| [m/s, rad/s]."""

    position: float
    velocity: float


def defects(solution: Solution) -> Defects:
    """Re-integrates every interval, and every phase as a whole."""
    if not all(np.all(np.isfinite(x)) for phase in solution.phases for x in (phase.t, phase.q, phase.v, phase.tau)):
        raise ValueError(
            f"the motion holds numbers that are not finite ({solution.status}): there are no defects to tell"
        )
    nodes, opens = [], []
    for phase in solution.phases:
        flow = make_flow(solution.model, phase.contacts)
        h = np.diff(phase.t)
        q_open, v_open = phase.q[0], phase.v[0]
        for k in range(len(h)):
            torques = np.concatenate([phase.tau[k], phase.tau_rate[k], h[k : k + 1]])
            q1, _ = advance(flow, phase.q[k], phase.v[k], torques)
            nodes.append(_distance(solution.model, q1, phase.q[k + 1]))
            q_open, v_open = advance(flow, q_open, v_open, torques)
        opens.append(_distance(solution.model, q_open, phase.q[-1]))
    by_interval, whole = np.array(nodes), np.array(opens)
    angle, length = by_interval.max(axis=0)
    return Defects(float(angle), float(length), float(whole[:, 0].max()), float(whole[:, 1].max()), by_interval)


def drift(solution: Solution) -> Drift:
    """Errors of the contacts at all nodes."""
    position = velocity = 0.0
    for phase in solution.phases:
        for contact in phase.contacts:
            phi, rate = _contact_errors(solution.model, contact, phase)
            position, velocity = max(position, phi), max(velocity, rate)
    return Drift(position, velocity)


def make_flow(model: Model, contacts: tuple[Constraint, ...]) -> ca.Function:
    """(q, v) after time h under torques of given mean and rate, at a tight tolerance."""
    x, p, s = MX.sym("x", model.nq + model.nv), MX.sym("p", 2 * model.nv + 1), MX.sym("s")
    q, v = ca.vertsplit(x, [0, model.nq, model.nq + model.nv])
    mean, rate, h = ca.vertsplit(p, [0, model.nv, 2 * model.nv, 2 * model.nv + 1])
    tau = mean + (s - 0.5) * h * rate
    if contacts:
        qdd = function(constrained_dynamics, model, contacts)(q, v, tau)[0]
    else:
        qdd = function(forward_dynamics, model)(q, v, tau)
    ode: Any = {"t": s, "x": x, "p": p, "ode": h * ca.vertcat(model.q_dot(q, v), qdd)}
    options: Any = {"abstol": 1e-10, "reltol": 1e-10, "linear_multistep_method": "adams"}
    return ca.integrator("flow", "cvodes", ode, 0.0, 1.0, options | {"nonlinear_solver_iteration": "functional"})


def advance(flow: ca.Function, q: Array, v: Array, torques: Array) -> tuple[Array, Array]:
    """(q, v) at the end, nan if the integrator gives up; torques: [mean; rate; h]."""
    try:
        x = np.array(flow(x0=np.concatenate([q, v]), p=torques)["xf"]).ravel()
    except RuntimeError:  # the integrator gives up: there is no number to tell, but the motion is not to be lost for it
        x = np.full(q.size + v.size, np.nan)
    return x[: q.size], x[q.size :]


def _contact_errors(model: Model, contact: Constraint, phase: PhaseSolution) -> tuple[float, float]:
    """Largest |phi| and |G v| of a contact over the nodes of a phase."""
    q, v = SX.sym("q", model.nq), SX.sym("v", model.nv)
    if isinstance(contact, (Contact, RollingContact)):
        phi = Foothold(contact).position(model, q, DM(phase.places[contact.name]))
    else:
        phi = contact.position(model, q)
    errors = ca.Function("errors", [q, v], [ca.norm_inf(phi), ca.norm_inf(contact.jacobian(model, q) @ v)])
    found = [errors(*state) for state in zip(phase.q, phase.v, strict=True)]
    return max(float(phi) for phi, _ in found), max(float(rate) for _, rate in found)


def _distance(model: Model, q0: Array, q1: Array) -> tuple[float, float]:
    """Largest difference of angles [rad] and of lengths [m] between two configurations."""
    gap = np.abs(np.array(model.difference(q0, q1).full()).ravel())
    lengths = np.array([is_length for joint in model.joints[1:] for is_length in _lengths(joint)])
    return float(gap[~lengths].max(initial=0.0)), float(gap[lengths].max(initial=0.0))


def _lengths(joint: Joint) -> list[bool]:
    """Which degrees of freedom of a joint are translations: by its class, or by its labels."""
    return [isinstance(joint, Prismatic) or label in ("x", "y", "z", "t") for label in joint.v_labels]
