"""Peers by their Python bindings: Pinocchio, MuJoCo, and adam-robotics' functions on CasADi's virtual machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn.joints import FloatingBase, Prismatic, Revolute
from scripts.common import microseconds

from .peers import adam_functions, check_same, pinocchio_model
from .robots import Array, Robot

STATES = 32

Columns = dict[str, float]


def mujoco_spec(model: od.Model) -> Any:
    """The same model for MuJoCo, without geometry: body by body, with our frames and inertias."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.gravity = np.array(model.gravity)
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    spec.compiler.autolimits = False
    bodies = [spec.worldbody]
    for i, parent in model.edges:
        joint, X, inertia = model.joints[i], model.X_tree[i], model.I[i]
        mass = float(inertia.m)
        com = np.array(inertia.h, float).ravel() / mass
        cross = np.array([[0, -com[2], com[1]], [com[2], 0, -com[0]], [-com[1], com[0], 0]])
        own = np.array(inertia.I, float) + mass * cross @ cross
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, np.array(X.E.T, float).ravel())
        body = bodies[parent].add_body(
            name=f"body{i}", pos=np.array(X.r, float).ravel(), quat=quat, mass=mass, ipos=com,
            fullinertia=[*own.diagonal(), own[0, 1], own[0, 2], own[1, 2]], explicitinertial=True,
        )  # fmt: skip
        if isinstance(joint, FloatingBase):
            body.add_freejoint()
        elif isinstance(joint, (Revolute, Prismatic)):
            hinge = isinstance(joint, Revolute)
            kind = mujoco.mjtJoint.mjJNT_HINGE if hinge else mujoco.mjtJoint.mjJNT_SLIDE
            body.add_joint(type=kind, axis=np.array(joint.axis))
        else:
            raise TypeError(f"the benchmark has no MuJoCo joint for {joint}")
        bodies.append(body)
    return spec


def mujoco(robot: Robot, drawn: Mapping[str, Array]) -> Columns:
    """Microseconds with the calls from Python, some 0.3 us each. Its contacts are soft, its derivatives by differences:
    gamma, FDc, dID and dFD have no counterpart."""
    import mujoco as mj

    model = mujoco_spec(robot.model).compile()
    data = mj.MjData(model)
    layout = od.Layout(robot.model, "mujoco")
    q, qd, qdd = (drawn[name][0] for name in ("q", "qd", "qdd"))
    state = [np.array(x, float).ravel() for x in (layout.to_q(q), layout.to_qd(q, qd), layout.to_qdd(q, qd, qdd))]
    force, jacobian = np.zeros(model.nv), np.zeros((6, model.nv))

    def given() -> None:
        data.qpos[:], data.qvel[:], data.qacc[:] = state
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)

    def inverse(with_acceleration: int) -> None:
        given()
        mj.mj_comVel(model, data)
        mj.mj_rne(model, data, with_acceleration, force)

    def inertia() -> None:
        given()
        mj.mj_crb(model, data)

    def jacobians() -> None:
        given()
        for foot in robot.feet:
            mj.mj_jacBody(model, data, jacobian[:3], jacobian[3:], robot.model.frame(foot).body)

    check_same(robot.model, drawn, layout, "MuJoCo", lambda: (inverse(1), force)[1])
    data.qfrc_applied[:] = state[2]
    runs: dict[str, Callable[[], object]] = {
        "ID": lambda: inverse(1),
        "C": lambda: inverse(0),
        "H": inertia,
        "FD": lambda: (given(), mj.mj_forward(model, data)),
    }
    if robot.feet:
        runs["G"] = jacobians
    return {name: microseconds(run) for name, run in runs.items()}


def pinocchio(robot: Robot, drawn: Mapping[str, Array]) -> Columns:
    """Microseconds with the calls from Python, about 1 us each; it reads a URDF. H: the upper triangle. FDc: with the
    constraints of both feet, its proximal solver at the accuracy of ours."""
    if robot.urdf is None:
        return {}
    import pinocchio as pin

    model, layout = pinocchio_model(robot)
    data = model.createData()
    q, qd, qdd, tau = (drawn[name][0] for name in ("q", "qd", "qdd", "tau"))
    given = (layout.to_q(q), layout.to_qd(q, qd), layout.to_qdd(q, qd, qdd), layout.to_tau(q, tau))
    q, v, a, tau = (np.array(x, float).ravel() for x in given)
    check_same(robot.model, drawn, layout, "Pinocchio", lambda: np.array(pin.rnea(model, data, q, v, a)))
    frames = [model.getFrameId(foot) for foot in robot.feet]

    def jacobians() -> None:
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        for frame in frames:
            pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)

    runs: dict[str, Callable[[], object]] = {
        "ID": lambda: pin.rnea(model, data, q, v, a),
        "C": lambda: pin.nonLinearEffects(model, data, q, v),
        "H": lambda: pin.crba(model, data, q),
        "FD": lambda: pin.aba(model, data, q, v, tau),
        "dID": lambda: pin.computeRNEADerivatives(model, data, q, v, a),
        "dFD": lambda: pin.computeABADerivatives(model, data, q, v, tau),
    }
    if frames:
        contacts = _contacts(pin, model, frames)
        settings = pin.ProximalSettings(1e-10, 1e-10, 10)
        prepared = pin.StdVec_RigidConstraintData()
        prepared.extend([contact.createData() for contact in contacts])
        pin.initConstraintDynamics(model, data, contacts, prepared)
        runs |= {
            "G": jacobians,
            "FDc": lambda: pin.constraintDynamics(model, data, q, v, tau, contacts, prepared, settings),
        }
    return {name: microseconds(run) for name, run in runs.items()}


def _contacts(pin: Any, model: Any, frames: list[int]) -> Any:
    """Flat contacts of Pinocchio on frames."""
    contacts = pin.StdVec_RigidConstraintModel()
    for number in frames:
        frame, axes = model.frames[number], pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        contacts.append(
            pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, frame.parentJoint, frame.placement, axes)
        )
    return contacts


def adam(robot: Robot, drawn: Mapping[str, Array]) -> Columns:
    """Microseconds on CasADi's virtual machine; it reads a URDF, and has no inverse dynamics. G: both feet."""
    return {name: sum(_machine(f) for f in listed) for name, listed in adam_functions(robot).items()}


def _machine(f: ca.Function) -> float:
    """Time of a function with inputs that ours do not have; random ones serve, since values do not change the time."""
    rng = np.random.default_rng(1)
    mapped = f.map(STATES)
    columns: Any = [ca.DM(rng.normal(size=mapped.size_in(i))) for i in range(mapped.n_in())]
    return microseconds(lambda: mapped.call(columns), STATES, 5)


PEERS = {"Pinocchio, Python": pinocchio, "MuJoCo": mujoco, "adam": adam}
