"""Joints that mimic others, held joints and loops of an MJCF file."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import Array, ModelError, sequence, shown
from ...constraints import JointCoupling, LockedJoint, Loop
from ...constraints.loop import _axes
from ...mechanism import Model
from ._common import Element, Names, child, pose_attributes
from ._mjcf_bodies import Written
from .shapes import frame_of, pose_in_body

ARM = 0.1
"""Distance of the second point [m] that holds the axis of a loop which leaves a rotation free."""
KINDS = {kind: frozenset(_axes(kind)) for kind in ("ball", "fixed", "revolute")}
"""Rows of the loops that MuJoCo has equalities for."""


def add_equalities(root: Element, model: Model, constraints: Any, done: Written) -> None:
    """Equalities for mimicking joints, joints whose lower and upper limits are equal, and the constraints given."""
    made = child(root, "equality")
    names = Names()
    for m in model.mimics:
        couple(made, model, m.joint, m.other, (m.offset, m.ratio), names.new(f"{m.joint}={m.other}"), done)
    for k, joint in done.joint_of_dof.items():
        low, high = limits_of(model, k)
        if low == high:
            child(made, "joint", name=names.new(f"{joint}.held"), joint1=joint, polycoef=(low, 0, 0, 0, 0))
    for constraint in sequence(constraints, "constraints must be a list such as [od.Loop('hand_l', 'hand_r')]"):
        add_constraint(made, model, constraint, names, done)
    if not len(made):
        root.remove(made)


def limits_of(model: Model, k: int) -> tuple[float, float]:
    """Lower and upper limit of the coordinate of dof k, a hinge or a slide."""
    i = next(i for i in range(1, model.nb + 1) if k in model.dofs_of(i))
    at = model.q_index[i] + k - model.v_index[i]
    return float(model.dofs.q_lower[at]), float(model.dofs.q_upper[at])


def add_constraint(made: Element, model: Model, constraint: Any, names: Names, done: Written) -> None:
    if isinstance(constraint, JointCoupling) and constraint.function is None:
        coefficients = (constraint.offset, constraint.ratio)
        couple(made, model, constraint.joint, constraint.other, coefficients, names.new(constraint.name), done)
    elif isinstance(constraint, LockedJoint):
        lock(made, model, constraint, names, done)
    elif isinstance(constraint, Loop):
        close(made, model, constraint, names, done)
    else:
        remedy = (
            "; contacts with the ground are shapes=[od.io.Box(...)]" if "Contact" in type(constraint).__name__ else ""
        )
        raise ModelError(
            f"write_mjcf: MuJoCo has no equality for {shown(constraint)}, only for od.Loop, od.LockedJoint, and "
            f"od.JointCoupling without a function{remedy}"
        )


def couple(
    made: Element, model: Model, joint: str, other: str, line: tuple[float, float], name: str, done: Written
) -> None:
    """q_joint = line[0] + line[1] q_other."""
    first, second = (single(model, each, done) for each in (joint, other))
    child(made, "joint", name=name, joint1=first, joint2=second, polycoef=(*line, 0, 0, 0))


def single(model: Model, joint: str, done: Written) -> str:
    """The hinge or slide of a joint of one dof."""
    at = model.qd_slice(joint)
    if at.stop - at.start != 1:
        raise ModelError(f"write_mjcf: a coupling needs joints of one dof, {shown(joint)} has {at.stop - at.start}")
    return done.joint_of_dof[at.start]


def lock(made: Element, model: Model, locked: LockedJoint, names: Names, done: Written) -> None:
    at = model.qd_slice(locked.joint)
    dofs = range(at.start, at.stop)
    if locked.value is None or any(k not in done.joint_of_dof for k in dofs):
        raise ModelError(
            f"write_mjcf: MuJoCo locks hinges and slides at a position; give LockedJoint({shown(locked.joint)}, value), "
            "or write model.lock_joints(...)"
        )
    for k, x in zip(dofs, locked.value, strict=True):
        joint = done.joint_of_dof[k]
        child(made, "joint", name=names.new(f"{joint}.locked"), joint1=joint, polycoef=(x, 0, 0, 0, 0))


def close(made: Element, model: Model, loop: Loop, names: Names, done: Written) -> None:
    """connect for a ball, weld for a fixed loop, two connects along the axis for one that turns about z: one of their
    six rows repeats another, which MuJoCo's soft constraints allow."""
    kind = next((kind for kind, rows in KINDS.items() if rows == frozenset(loop.axes)), None)
    if kind is None:
        raise ModelError(
            f"write_mjcf: MuJoCo has no equality for the rows {', '.join(loop.rows)} of the loop {shown(loop.name)}; it "
            f"has {', '.join(KINDS)}. Close the loop at another joint"
        )
    ends = ((loop.predecessor, loop.predecessor_pose), (loop.successor, loop.successor_pose))
    sites = []
    for side, (frame, (R, r)) in zip(("first", "second"), ends, strict=True):
        found = frame_of(model, frame if isinstance(frame, str) else frame.name, f"loop {shown(loop.name)}")
        R_body, p = pose_in_body(found.X, np.reshape(R, (3, 3)), r)
        own = [p] if kind != "revolute" else [p, p + ARM * R_body[:, 2]]
        sites.append([add_site(found.body, f"{loop.name}.{side}", R_body, point, done) for point in own])
    for first, second in zip(*sites, strict=True):
        tag = "weld" if kind == "fixed" else "connect"
        child(made, tag, name=names.new(loop.name), site1=first, site2=second)


def add_site(body: int, name: str, R: Array, p: Array, done: Written) -> str:
    own = done.site_names.new(name)
    child(done.bodies[body], "site", name=own, **pose_attributes(R, p))
    return own
