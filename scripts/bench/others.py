"""Peers by their Python bindings: Pinocchio, MuJoCo, and adam-robotics' functions on CasADi's virtual machine."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree import ElementTree

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn.joints import FloatingBase, Prismatic, Revolute

from .robots import Array, Robot
from .timing import microseconds

STATES = 32
SAME = 1e-8
"""Largest relative difference of a peer's inverse dynamics from ours."""

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

    _check(robot.model, drawn, layout, "MuJoCo", lambda: (inverse(1), force)[1])
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


def _check(
    model: od.Model, drawn: Mapping[str, Array], layout: od.Layout, name: str, inverse: Callable[[], Array]
) -> None:
    """RuntimeError if the inverse dynamics of a peer differ from ours: then it has another model."""
    ours = od.function(od.inverse_dynamics, model)(*(drawn[name][0] for name in ("q", "qd", "qdd")))
    tau = np.array(layout.to_tau(drawn["q"][0], ours), float).ravel()
    error = np.abs(tau - inverse()).max() / np.abs(tau).max()
    if not error < SAME:
        raise RuntimeError(f"{name}'s inverse dynamics of {model.name} differ from ours by {error:.1e}")


def pinocchio(robot: Robot, drawn: Mapping[str, Array]) -> Columns:
    """Microseconds with the calls from Python, about 1 us each; it reads a URDF. H: the upper triangle. FDc: with the
    constraints of both feet, its proximal solver at the accuracy of ours."""
    if robot.urdf is None:
        return {}
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(robot.urdf), pin.JointModelFreeFlyer())
    data = model.createData()
    layout = od.Layout(robot.model, "pinocchio", joints=["root", *list(model.names)[2:]])
    q, qd, qdd, tau = (drawn[name][0] for name in ("q", "qd", "qdd", "tau"))
    given = (layout.to_q(q), layout.to_qd(q, qd), layout.to_qdd(q, qd, qdd), layout.to_tau(q, tau))
    q, v, a, tau = (np.array(x, float).ravel() for x in given)
    _check(robot.model, drawn, layout, "Pinocchio", lambda: np.array(pin.rnea(model, data, q, v, a)))
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
    if robot.urdf is None:
        return {}
    from adam.casadi import KinDynComputations

    joints = ElementTree.parse(robot.urdf).getroot().iter("joint")
    moving = [joint.get("name") for joint in joints if joint.get("type") not in (None, "fixed")]
    with contextlib.redirect_stderr(io.StringIO()):  # the parser of URDF prints a line for every tag it does not know
        made = KinDynComputations(str(robot.urdf), moving)
    functions = {"C": [made.bias_force_fun()], "H": [made.mass_matrix_fun()]}
    functions["G"] = [made.jacobian_fun(foot) for foot in robot.feet]
    if hasattr(made, "aba_fun"):
        functions["FD"] = [made.aba_fun()]
    return {name: sum(_machine(f) for f in listed) for name, listed in functions.items()}


def _machine(f: ca.Function) -> float:
    """Time of a function with inputs that ours do not have; random ones serve, since values do not change the time."""
    rng = np.random.default_rng(1)
    mapped = f.map(STATES)
    columns: Any = [ca.DM(rng.normal(size=mapped.size_in(i))) for i in range(mapped.n_in())]
    return microseconds(lambda: mapped.call(columns), STATES, 5)


PEERS = {
    "Pinocchio, Python": (pinocchio, "pip install pin"),
    "MuJoCo": (mujoco, "pip install mujoco"),
    "adam": (adam, "pip install 'adam-robotics[casadi]'"),
}


def measure(robot: Robot, drawn: Mapping[str, Array], missing: set[str]) -> dict[str, Columns]:
    """Columns of every peer that is installed; for the others a line, once, that says how to get them."""
    found = {}
    for name, (run, remedy) in PEERS.items():
        if name in missing:
            continue
        try:
            found[name] = run(robot, drawn)
        except ImportError as error:
            missing.add(name)
            print(f"{name} is left out ({error}): {remedy}", file=sys.stderr)
        except (
            AttributeError,
            KeyError,
            ValueError,
        ) as error:  # a library that cannot read a model has no column for it
            print(f"{name} is left out for {robot.model.name}: it fails with {error!r}", file=sys.stderr)
    return found
