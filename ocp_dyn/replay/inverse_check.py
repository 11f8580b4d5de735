"""Inverse dynamics of MuJoCo along a motion, beside the torques of the motion."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._base.types import Array
from ..constraints import Contact
from ..dynamics.frames import frame_jacobian
from ..dynamics.kinematics import point_position
from ..mechanism import Model
from ..ocp import CompliantFoothold, LoadedFoothold, PhaseMotion, Solution
from .motors import actuated, passive_law
from .simulator import SimulatedBody, load, mujoco
from .stages import flat, stages


class Agreement(NamedTuple):
    """Largest differences along a motion: of MuJoCo's torques from the solution's, relative to the largest torque (as
    they are if no motor works); of the forces on dofs without a motor from zero, relative to the largest of torque and
    weight times 1 m. stages: number of instants compared.

    >>> od.replay.Agreement(torque=1e-9, root=1e-10, stages=50).stages
    50
    """

    torque: float
    root: float
    stages: int


def inverse(solution: Solution) -> Agreement:
    """`mj_inverse` at all stages, with the solution's contact wrenches on the feet instead of contacts.

    `ValueError` without MuJoCo, for a motion that the simulated ground cannot carry, and for one with forces of
    components.

    >>> od.replay.inverse(walk).torque < 1e-6  # doctest: +SKIP
    True
    """
    mj, model, body = mujoco(), solution.model, load(solution)
    data, motors = mj.MjData(body.spec), actuated(solution)
    flags = body.spec.opt.disableflags
    body.spec.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONSTRAINT)
    feet = [_ContactWrenches(solution, phase) for phase in solution.phases]
    passive = passive_law(solution)
    torque = root = largest = 0.0
    instants = list(stages(solution))
    for at in instants:
        data.qpos[:], data.qvel[:], data.qacc[:] = at.q[body.of_q], at.qd[body.of_qd], at.qdd[body.of_qd]
        mj.mj_inverse(body.spec, data)
        force = data.qfrc_inverse - feet[at.phase].force(mj, body, data, at.q, at.lam)
        gap = force[body.back_qd] - flat(passive(at.q, at.qd)[0]) - at.tau
        torque = max(torque, float(np.abs(gap[motors]).max(initial=0.0)))
        root = max(root, float(np.abs(gap[~motors]).max(initial=0.0)))
        largest = max(largest, float(np.abs(at.tau).max()))
    body.spec.opt.disableflags = flags
    return Agreement(torque / (largest or 1.0), root / max(largest, model.weight), len(instants))


class _ContactWrenches:
    """The contacts of a phase: their wrenches as generalized forces by MuJoCo's own Jacobians.

    The rows of a contact are combinations of the six velocities of its point, so that its force G' lam is J' w with the
    Jacobian J of the point and the wrench w on the foot.
    """

    def __init__(self, solution: Solution, phase: PhaseMotion) -> None:
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
            arm = point - point_position(model, name, q)
            J = frame_jacobian(model, name, q)
            parts += map(ca.densify, (point, arm, J, force))
        self.of = ca.Function("wrenches", [q, lam], [ca.densify(rest), *parts], {"cse": True})

    def force(self, mj: Any, body: SimulatedBody, data: Any, q: Array, lam: Array) -> Array:
        """The generalized force (nv) in MuJoCo's order; data: at q."""
        rest, *parts = (np.array(x.full()) for x in self.of.call([DM(q), DM(lam)]))
        total = rest.ravel()[body.of_qd]
        for name, point, arm, J, force in zip(self.bodies, *(parts[k::4] for k in range(4)), strict=True):
            wrench = np.linalg.lstsq(J.T, force.ravel(), rcond=None)[0]  # about the origin of the frame
            moment = wrench[:3] - np.cross(arm.ravel(), wrench[3:])
            number = mj.mj_name2id(body.spec, mj.mjtObj.mjOBJ_BODY, name)
            mj.mj_applyFT(body.spec, data, wrench[3:].copy(), moment, point.ravel(), number, total)
        return total


def _contact_point(model: Model, contact: Any, q: SX) -> Any:
    """The point of a contact [m] at which its wrench acts."""
    if isinstance(contact, (CompliantFoothold, LoadedFoothold)):
        return point_position(model, contact.name, q)
    if isinstance(contact, Contact):
        return point_position(model, contact.name, q, contact.point)
    return point_position(model, contact.name, q, contact.center) - contact.radius * DM(contact.normal)
