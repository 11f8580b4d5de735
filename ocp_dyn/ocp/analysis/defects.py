"""Quality of a solution: re-integration against the equations of motion, and drift of its contacts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from ..._base.display import Displayed, table
from ..._base.types import Array, split
from ...constraints import Constraint, Contact, RollingContact
from ...mechanism import Model
from ..equations import Contacts, Equations, constraints_of
from ..motion.motion import Motion, PhaseMotion
from .component_flow import ComponentFlow, check_can_follow


@dataclass(frozen=True, eq=False)
class Defects(Displayed):
    """Errors of the transcription against the equations of motion, by re-integration at a tight tolerance.

    Every interval is integrated from its first node, with the torques of the solution and recomputed contact forces.
    `angle` [rad] and `length` [m] are the largest differences from the solution at the ends of the intervals, over the
    dofs that are angles and over those that are lengths; by_interval (N, 2) holds both for every interval.
    `open_loop_angle` [rad] and `open_loop_length` [m] are the same differences after every phase is integrated as a
    whole, which an unstable walker amplifies. inf if no integrator reaches the end.

    >>> solution.defects().by_interval.shape, bool(solution.defects().angle < 1e-8)
    ((20, 2), True)
    """

    angle: float
    length: float
    open_loop_angle: float
    open_loop_length: float
    by_interval: Array = field(repr=False)

    def _card_html(self) -> str:
        rows = [
            ("largest of an interval", f"{self.angle:.3g} rad", f"{self.length:.3g} m"),
            ("of a phase in open loop", f"{self.open_loop_angle:.3g} rad", f"{self.open_loop_length:.3g} m"),
        ]
        return table(("defect", "angles", "lengths"), rows)


@dataclass(frozen=True)
class Drift:
    """Errors of the contacts at the nodes: position, the largest entry of |phi| [m, sine of the angle], and velocity,
    that of |G qd| [m/s, rad/s].

    >>> still = ocp.Problem(block, [ocp.Phase("stand", 2, 1.0, [ocp.Foothold(od.Contact("block"), x=0, y=0)])])
    >>> still.solve(progress=False).drift().position < 1e-9
    True
    """

    position: float
    velocity: float


def defects(solution: Motion) -> Defects:
    """Re-integrates every interval, and every phase as a whole."""
    check_can_follow("defects", solution)
    nodes, opens, nq = [], [], solution.model.nq
    for phase in solution.phases:
        flow = Flow.of(solution, phase)
        opened = flow.state(phase, 0)
        for k in range(len(phase.tau)):
            inputs = flow.inputs(phase, k)
            end = flow(flow.state(phase, k), inputs)
            nodes.append(distance(solution.model, end[:nq], phase.q[k + 1]))
            opened = flow(opened, inputs) if k else end
        opens.append(distance(solution.model, opened[:nq], phase.q[-1]))
    by_interval, whole = np.array(nodes), np.array(opens)
    angle, length = by_interval.max(axis=0)
    return Defects(float(angle), float(length), float(whole[:, 0].max()), float(whole[:, 1].max()), by_interval)


def drift(solution: Motion) -> Drift:
    """Errors of the contacts at all nodes."""
    position = velocity = 0.0
    for phase in solution.phases:
        for contact in constraints_of(phase.contacts):
            phi, rate = _contact_errors(solution.model, contact, phase)
            position, velocity = max(position, phi), max(velocity, rate)
    return Drift(position, velocity)


MOST_STEPS = 10000
"""Steps after which CVODES gives up an interval; the Adams method takes one per time constant at least."""


@dataclass(frozen=True, eq=False)
class Flow:
    """State (q, qd) after the time h, from the state x = [q; qd] and p = [mean torques; their rate; h]; with components
    x = [q; qd; y] and p = [mean torques; their rate; controls and fraction of the phase; their slopes; w; h].

    Integrates by an Adams method at a tight tolerance and, if this takes too many steps (light bodies with damping,
    friction close to rest), by a stiff method, whose steps cost more. Where the fastest time constant tells that the
    first would fail, it is not tried.
    """

    equations: Equations
    contacts: Contacts
    own: ComponentFlow | None = None
    among: Contacts = ()
    """All contacts of the motion, if its phases share their dynamics."""

    @staticmethod
    def of(solution: Motion, phase: PhaseMotion) -> Flow:
        """The flow of a phase of a motion."""
        own = ComponentFlow.of(solution, phase) if solution.components else None
        among = tuple(dict.fromkeys(contact for each in solution.phases for contact in each.contacts))
        return Flow(solution.equations, phase.contacts, own, among)

    def state(self, phase: PhaseMotion, k: int) -> Array:
        """The state x at node k of a phase."""
        return np.concatenate([phase.q[k], phase.qd[k], *([self.own.start(phase, k)] if self.own else [])])

    def inputs(self, phase: PhaseMotion, k: int) -> Array:
        """The vector p of interval k of a phase."""
        own = [*self.own.inputs(phase, k), self.own.guess(phase, k)] if self.own else []
        return np.concatenate([phase.tau[k], phase.tau_rate[k], *own, [phase.t[k + 1] - phase.t[k]]])

    def __call__(self, x: Array, p: Array) -> Array:
        """The state at the end; nan if neither method reaches it."""
        for method in self._methods(x, float(p[-1])) if np.all(np.isfinite(x)) else ():
            integrator = getattr(self, method)
            try:
                return np.array(integrator(x0=x, p=p)["xf"]).ravel()
            except RuntimeError:  # CVODES gave up
                continue
        return np.full(x.size, np.nan)

    def _methods(self, x: Array, h: float) -> tuple[str, ...]:
        nq, nv = self.equations.model.nq, self.equations.model.nv
        q, qd, _ = np.split(x, [nq, nq + nv])
        H = self._terms(q, qd)[0] if self._terms else None
        stiff = self.equations.fastest(q, self.contacts, qd, H) * h > MOST_STEPS
        return ("_stiff",) if stiff else ("_smooth", "_stiff")

    @cached_property
    def _terms(self) -> ca.Function | None:
        """The Function that `rates` calls: its H spares another one for the mass matrix."""
        return None if self.own else self.equations.shared_terms(self.contacts, self.among or self.contacts)

    @cached_property
    def _smooth(self) -> ca.Function:
        # this method needs no Jacobian, and CasADi prepares none where it cannot: it would take most of the time
        args = self.rates.mx_in()
        off: Any = {"is_diff_in": [False] * 3, "is_diff_out": [False] * 2, "never_inline": True}
        rates = ca.Function("rates", args, list(self.rates(*args)), off)
        method = {"linear_multistep_method": "adams", "nonlinear_solver_iteration": "functional"}
        return self._integrator(rates, method)

    @cached_property
    def _stiff(self) -> ca.Function:
        return self._integrator(
            self.rates, {"newton_scheme": "gmres", "use_preconditioner": False, "max_num_steps": 100000}
        )

    @staticmethod
    def _integrator(rates: ca.Function, method: dict[str, Any]) -> ca.Function:
        x, p, s = rates.mx_in()
        ode: Any = {"t": s, "x": x, "p": p, "ode": rates(x, p, s)[0]}
        tight: Any = {"abstol": 1e-10, "reltol": 1e-10, "disable_internal_warnings": True, "show_eval_warnings": False}
        return ca.integrator("flow", "cvodes", ode, 0.0, 1.0, tight | method)

    @cached_property
    def rates(self) -> ca.Function:
        """(x, p, s) -> (dx/ds, lam) at the fraction s of the interval; lam is empty with components."""
        model = self.equations.model
        ny, nu, nw = (self.own.dynamics.size1_in(k) for k in (3, 4, 8)) if self.own else (0, -1, 0)
        sizes = (model.nv, model.nv, nu + 1, nu + 1, nw, 1)
        x, p, s = MX.sym("x", model.nq + model.nv + ny), MX.sym("p", sum(sizes)), MX.sym("s")
        q, qd, y = split(x, model.nq, model.nv, ny)
        mean, rate, middle, slope, w, h = split(p, *sizes)
        tau, u = mean + (s - 0.5) * h * rate, middle + (s - 0.5) * h * slope
        rates: list[Any] = []
        lam: Any = MX(0, 1)
        if self.own:
            qdd, *rates = self.own.dynamics(q, qd, tau, y, u[:nu], slope[:nu], u[nu], rate, w)
        else:
            qdd, lam = self.equations.shared_dynamics(self.contacts, self.among or self.contacts, q, qd, tau)
        return ca.Function("rates", [x, p, s], [h * ca.vertcat(model.q_dot(q, qd), qdd, *rates), lam])


def advance(flow: Flow, q: Array, qd: Array, torques: Array) -> tuple[Array, Array]:
    """(q, qd) after an interval; torques: [mean; rate; h], see `Flow`."""
    x = flow(np.concatenate([q, qd]), torques)
    return x[: q.size], x[q.size :]


def _contact_errors(model: Model, contact: Constraint, phase: PhaseMotion) -> tuple[float, float]:
    """Largest |phi| and |G qd| of a contact over the nodes of a phase."""
    q, qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
    if isinstance(contact, (Contact, RollingContact)):
        phi = phase.foothold(contact).position(model, q, DM(phase.places[contact.name]))
    else:
        phi = contact.position(model, q)
    errors = ca.Function("errors", [q, qd], [ca.norm_inf(phi), ca.norm_inf(contact.jacobian(model, q) @ qd)])
    found = [errors(*state) for state in zip(phase.q, phase.qd, strict=True)]
    return max(float(phi) for phi, _ in found), max(float(rate) for _, rate in found)


def distance(model: Model, q0: Array, q1: Array) -> tuple[float, float]:
    """Largest difference of angles [rad] and of lengths [m] between two configurations."""
    difference = (
        np.abs(np.array(model.difference(q0, q1).full()).ravel())
        if np.all(np.isfinite(q0))
        else np.full(model.nv, np.inf)
    )
    lengths = model.lengths[1]
    return float(difference[~lengths].max(initial=0.0)), float(difference[lengths].max(initial=0.0))
