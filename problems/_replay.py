"""A solved motion in MuJoCo: the model with its feet, inverse dynamics along the motion, forward simulation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX
from numpy.typing import NDArray

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.integrators import Scheme, scheme, stage_states

Array = NDArray[np.float64]

INSTALL = "replay needs MuJoCo, which is not installed: pip install mujoco, or pip install '.[robots]' in a checkout"

SOLREF = (0.002, 1.0)
"""Time constant [s] and damping ratio of the contacts, see `load`."""
SOLIMP = (0.95, 0.99, 0.0005, 0.5, 2.0)
"""Impedance of the contacts: under the weight of a body they give way by some micrometers, as the plan's rigid
footholds do not at all."""
IMPRATIO = 10.0
"""Stiffness of friction relative to that of the normal force; 1, MuJoCo's default, lets feet creep."""

UNREAL = 10.0
"""Moments of the weight about the ground above which a limit of torque tells nothing about a motor; the strongest joints
of the robots in `od.robots` have 0.7."""

EQUALITIES = (od.Loop, od.JointCoupling, od.LockedJoint)
"""Constraints of a phase that MuJoCo has, too."""


def mujoco() -> Any:
    """The package MuJoCo; ValueError with the command that installs it."""
    try:
        import mujoco as package
    except ImportError:
        raise ValueError(INSTALL) from None
    return package


@dataclass(frozen=True, eq=False)
class Body:
    """A model in MuJoCo, without its springs, losses and stops: `Motors` has those as they are in the plan.

    spec: MuJoCo's model. shapes: those of its feet. of_q, of_qd: the indices of our coordinates in MuJoCo's order. back_q, back_qd: the other way.
    """

    spec: Any
    shapes: tuple[Any, ...]
    of_q: NDArray[np.int64]
    of_qd: NDArray[np.int64]

    @cached_property
    def back_q(self) -> NDArray[np.int64]:
        return np.argsort(self.of_q)

    @cached_property
    def back_qd(self) -> NDArray[np.int64]:
        return np.argsort(self.of_qd)


def load(solution: ocp.Solution, friction: float = 0.8, timestep: float = 1e-4) -> Body:
    """The model of a solution with the shapes of its footholds, above the ground z = 0."""
    model, shapes = solution.model, ocp.contact_shapes(solution)
    held = {repr(c): c for phase in solution.phases for c in phase.contacts if isinstance(c, EQUALITIES)}
    text = od.io.mjcf_text(
        model, shapes, constraints=tuple(held.values()), drop=("passive",), balance=True, friction=friction, solref=SOLREF,
        solimp=SOLIMP, timestep=timestep, visuals="none", ground=True,
    )  # fmt: skip
    spec = mujoco().MjModel.from_xml_string(text)
    spec.opt.impratio, spec.opt.iterations, spec.opt.tolerance = IMPRATIO, 50, 1e-12
    spec.dof_damping[:] = spec.dof_frictionloss[:] = spec.jnt_stiffness[:] = spec.jnt_limited[:] = 0
    spec.eq_solref[:], spec.eq_solimp[:] = SOLREF, SOLIMP  # loops as stiff as the ground
    if not solution.loads.armature:
        spec.dof_armature[:] = 0
    layout = od.Layout(model, "mujoco")
    rest = model.neutral()
    numbers = (layout.to_q(np.arange(model.nq)), layout.to_qd(rest, np.arange(model.nv)))
    return Body(spec, shapes, *(np.array(DM(x).full()).ravel().round().astype(int) for x in numbers))


# The plan


class Stage(NamedTuple):
    """A stage of the integrator in an interval of a phase: state, acceleration, torques, forces of the contacts."""

    phase: int
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    lam: Array


def stages(solution: ocp.Solution) -> Iterator[Stage]:
    """All stages at which the equations of motion hold.

    The variables of the program have the accelerations and the forces there if it is in the implicit form; otherwise
    the starts of the intervals are taken, where `PhaseMotion` has them.
    """
    form, method = solution.stats.get("form"), scheme(solution.stats.get("integrator", "midpoint"))
    variables = solution.variables() if solution.record is not None else {}
    known = form == "implicit" and solution.stats.get("steps", 1) == 1
    size = method.stages * solution.model.nv
    for number, phase in enumerate(solution.phases):
        if known and variables.get(f"qdd {phase.name}[0]", np.zeros(0)).size == size:
            yield from _collocated(solution, number, method, variables)
        else:
            for k, (t, rate) in enumerate(zip(np.diff(phase.t), phase.tau_rate, strict=True)):
                tau = phase.tau[k] - rate * t / 2
                qdd, lam = solution.equations.forward_dynamics(phase.contacts, *map(DM, (phase.q[k], phase.qd[k], tau)))
                yield Stage(number, phase.q[k], phase.qd[k], _flat(qdd), tau, _flat(lam))


def _collocated(solution: ocp.Solution, number: int, method: Scheme, variables: dict[str, Array]) -> Iterator[Stage]:
    """The stages of collocation, whose states follow from the accelerations."""
    model, phase = solution.model, solution.phases[number]
    q, qd, h = SX.sym("q", model.nq), SX.sym("qd", model.nv), SX.sym("h")
    qdd = [SX.sym(f"qdd{k}", model.nv) for k in range(method.stages)]
    states, _ = stage_states(model, method, q, qd, qdd, h)
    at_stages = ca.Function("states", [q, qd, h, *qdd], [x for state in states for x in state], {"cse": True})
    for k, h_k in enumerate(np.diff(phase.t)):
        accelerations = variables[f"qdd {phase.name}[{k}]"].reshape(method.stages, -1)
        forces = variables.get(f"lam {phase.name}[{k}]", np.zeros(0)).reshape(method.stages, -1)
        found = [_flat(x) for x in at_stages(phase.q[k], phase.qd[k], h_k, *accelerations)]
        for i in range(method.stages):
            tau = phase.tau[k] + phase.tau_rate[k] * (method.c[i] - 0.5) * h_k
            yield Stage(number, found[2 * i], found[2 * i + 1], accelerations[i], tau, forces[i])


@dataclass(frozen=True, eq=False)
class Plan:
    """Joint angles, velocities and torques of a motion at the times k h of a period (N rows each), and of its mirror
    image."""

    solution: ocp.Solution
    h: float
    q: tuple[Array, ...]
    qd: tuple[Array, ...]
    tau: tuple[Array, ...]

    @property
    def steps(self) -> int:
        return len(self.q[0])


def plan(solution: ocp.Solution, timestep: float) -> Plan:
    """The motion between its nodes: cubic in the angles; torques as the solution has them, at the middle of each step.

    The time step is shortened until a whole number fits into the period.
    """
    model, count = solution.model, math.ceil(solution.duration / timestep)
    h = solution.duration / count
    between = _between(model)
    q, qd, tau = np.zeros((count, model.nq)), np.zeros((count, model.nv)), np.zeros((count, model.nv))
    times = h * np.arange(count)
    for phase in solution.phases:
        for k, width in enumerate(np.diff(phase.t)):
            here = (times >= phase.t[k]) & ((times < phase.t[k + 1]) | (phase.t[k + 1] >= solution.duration))
            s = (times[here] - phase.t[k]) / width
            if s.size:
                ends = (phase.q[k], phase.q[k + 1], phase.qd[k], phase.qd[k + 1], width)
                found = between(*(np.tile(np.atleast_1d(x)[:, None], s.size) for x in ends), s[None])
                q[here], qd[here] = (x.full().T for x in found)
                tau[here] = phase.tau[k] + np.outer((s - 0.5) * width + h / 2, phase.tau_rate[k])
    mirror = solution.mirror()
    if mirror is None:
        return Plan(solution, h, (q, q), (qd, qd), (tau, tau))
    of_q, of_qd = mirror.q_matrix.full().T, mirror.qd_matrix.full().T
    return Plan(solution, h, (q, q @ of_q), (qd, qd @ of_qd), (tau, tau @ of_qd))


def _between(model: od.Model) -> ca.Function:
    """(q, qd) at the fraction s of an interval, by the cubic polynomial with the nodes' positions and velocities."""
    q0, q1 = SX.sym("q0", model.nq), SX.sym("q1", model.nq)
    v0, v1, h, s = SX.sym("v0", model.nv), SX.sym("v1", model.nv), SX.sym("h"), SX.sym("s")
    d = model.difference(q0, q1)
    step = (3 - 2 * s) * s**2 * d + h * (s * (1 - s) ** 2 * v0 - s**2 * (1 - s) * v1)
    speed = 6 * s * (1 - s) / h * d + (1 - s) * (1 - 3 * s) * v0 + s * (3 * s - 2) * v1
    return ca.Function("between", [q0, q1, v0, v1, h, s], [model.integrate(q0, step), speed], {"cse": True})


# Inverse dynamics


class Agreement(NamedTuple):
    """Largest differences along a motion: of MuJoCo's torques from the solution's, relative to the largest torque (as they
    are if no motor works); of the forces on dofs without a motor from zero, relative to the largest of torque and weight
    times 1 m. stages: number of instants compared."""

    torque: float
    root: float
    stages: int


def inverse(solution: ocp.Solution, body: Body) -> Agreement:
    """`mj_inverse` at all stages, with the solution's contact wrenches on the feet instead of contacts."""
    mj, model = mujoco(), solution.model
    data, motors = mj.MjData(body.spec), actuated(solution)
    flags = body.spec.opt.disableflags
    body.spec.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONSTRAINT)
    feet = [_Feet(solution, phase) for phase in solution.phases]
    passive = passive_law(solution)
    torque = root = largest = 0.0
    instants = list(stages(solution))
    for at in instants:
        data.qpos[:], data.qvel[:], data.qacc[:] = at.q[body.of_q], at.qd[body.of_qd], at.qdd[body.of_qd]
        mj.mj_inverse(body.spec, data)
        force = data.qfrc_inverse - feet[at.phase].force(mj, body, data, at.q, at.lam)
        gap = force[body.back_qd] - _flat(passive(at.q, at.qd)[0]) - at.tau
        torque = max(torque, float(np.abs(gap[motors]).max(initial=0.0)))
        root = max(root, float(np.abs(gap[~motors]).max(initial=0.0)))
        largest = max(largest, float(np.abs(at.tau).max()))
    body.spec.opt.disableflags = flags
    return Agreement(torque / (largest or 1.0), root / max(largest, model.weight), len(instants))


class _Feet:
    """The contacts of a phase: their wrenches as generalized forces by MuJoCo's own Jacobians.

    The rows of a contact are combinations of the six velocities of its point, so that its force G' lam is J' w with the
    Jacobian J of the point and the wrench w on the foot.
    """

    def __init__(self, solution: ocp.Solution, phase: ocp.PhaseMotion) -> None:
        model = solution.model
        q, lam = SX.sym("q", model.nq), SX.sym("lam", phase.lam.shape[1])
        self.bodies: list[str] = []
        parts: list[Any] = []
        rest, k = SX(model.nv, 1), 0
        for contact in phase.contacts:
            force = contact.jacobian(model, q).T @ lam[k : k + len(contact.rows)]
            k += len(contact.rows)
            name = getattr(contact, "name", "")
            if name not in phase.wrenches:
                rest += force
                continue
            self.bodies.append(model.body_names[model.frame(name).body - 1])
            point = _contact_point(model, contact, q)
            arm = point - od.point_position(model, name, q)
            J = od.frame_jacobian(model, name, q)
            parts += map(ca.densify, (point, arm, J, force))
        self.of = ca.Function("wrenches", [q, lam], [ca.densify(rest), *parts], {"cse": True})

    def force(self, mj: Any, body: Body, data: Any, q: Array, lam: Array) -> Array:
        """The generalized force (nv) in MuJoCo's order; data: at q."""
        rest, *parts = (np.array(x.full()) for x in self.of.call([DM(q), DM(lam)]))
        total = rest.ravel()[body.of_qd]
        for name, point, arm, J, force in zip(self.bodies, *(parts[k::4] for k in range(4)), strict=True):
            wrench = np.linalg.lstsq(J.T, force.ravel(), rcond=None)[0]  # about the origin of the frame
            moment = wrench[:3] - np.cross(arm.ravel(), wrench[3:])
            number = mj.mj_name2id(body.spec, mj.mjtObj.mjOBJ_BODY, name)
            mj.mj_applyFT(body.spec, data, wrench[3:].copy(), moment, point.ravel(), number, total)
        return total


def _contact_point(model: od.Model, contact: Any, q: SX) -> Any:
    """The point of a contact [m] at which its wrench acts."""
    if isinstance(contact, ocp.CompliantFoothold):
        return od.point_position(model, contact.name, q)
    if isinstance(contact, od.Contact):
        return od.point_position(model, contact.name, q, contact.point)
    return od.point_position(model, contact.name, q, contact.center) - contact.radius * DM(contact.normal)


def passive_law(solution: ocp.Solution) -> ca.Function:
    """(q, qd) -> passive joint forces (nv), and minus their derivatives by the own velocities (nv)."""
    model = solution.model
    q, qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
    force = SX(model.nv, 1)
    if solution.loads.passive:
        force = od.passive_force(model, q, qd, slip_speed=solution.loads.slip_speed)
    slopes = ca.vertcat(*(-ca.jacobian(force[k], qd[k]) for k in range(model.nv)))
    return ca.Function("passive", [q, qd], [ca.densify(force), ca.densify(slopes)], {"cse": True})


def actuated(solution: ocp.Solution) -> NDArray[np.bool_]:
    """The dofs (nv) that have a motor: those whose torque is not zero all along the motion."""
    found: NDArray[np.bool_] = np.any(solution.tau != 0, axis=0)
    return found


def strengths(solution: ocp.Solution) -> Array:
    """Strength of every dof (nv) [N m, N]; without a limit the largest torque of the motion, a tenth of that of all
    dofs at least.

    Files of robots state limits that are none, such as 1000 N m for the knee of a robot of 2.5 kg: one of more than
    UNREAL times the moment of the whole weight at the height of the center of mass counts as none.
    """
    peak = np.abs(solution.tau).max(axis=0)
    used = np.maximum(peak, 0.1 * peak.max())
    model = solution.model
    known = model.dofs.strength(unlimited=math.inf)
    height = max(float(od.center_of_mass(model, DM(q))[2]) for q in solution.q)
    return np.asarray(np.where(known <= max(UNREAL * model.weight * height, float(peak.max())), known, used))


def _flat(x: Any) -> Array:
    return np.array(DM(x).full()).ravel()
