"""Joints that mimic others, held joints and loops of an MJCF file."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.types import Array, ModelError, repr_in_message, sequence
from ...constraints import JointCoupling, LockedJoint, Loop
from ...mechanism import Model
from ._common import Element, Names, child, pose_attributes
from ._mjcf_bodies import Written
from .shapes import frame_of, pose_in_body

PLACES = 12
"""Number of random configurations at which rows of a loop are compared, twice as many as rows."""
ARM = 0.1
"""Distance of the second point [m] that holds the axis of a loop which leaves a rotation free."""


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
    i = bisect_right(model.v_index, k) - 1
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
            f"write_mjcf: MuJoCo has no equality for {repr_in_message(constraint)}, only for od.Loop, od.LockedJoint, "
            f"and od.JointCoupling without a function{remedy}"
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
        raise ModelError(
            f"write_mjcf: a coupling needs joints of one dof, {repr_in_message(joint)} has {at.stop - at.start}"
        )
    return done.joint_of_dof[at.start]


def lock(made: Element, model: Model, locked: LockedJoint, names: Names, done: Written) -> None:
    at = model.qd_slice(locked.joint)
    dofs = range(at.start, at.stop)
    if locked.value is None or any(k not in done.joint_of_dof for k in dofs):
        raise ModelError(
            "write_mjcf: MuJoCo locks hinges and slides at a position; give "
            f"LockedJoint({repr_in_message(locked.joint)}, value), or write model.lock_joints(...)"
        )
    for k, x in zip(dofs, locked.value, strict=True):
        joint = done.joint_of_dof[k]
        child(made, "joint", name=names.new(f"{joint}.locked"), joint1=joint, polycoef=(x, 0, 0, 0, 0))


def close(made: Element, model: Model, loop: Loop, names: Names, done: Written) -> None:
    """connect for a ball, weld for a fixed loop, two connects along the axis for one that leaves a rotation free: one
    of their six rows repeats another, which MuJoCo's soft constraints allow."""
    kind, axis = kind_of(model, loop)
    ends = ((loop.predecessor, loop.predecessor_pose), (loop.successor, loop.successor_pose))
    sites = []
    for side, (frame, (R, r)) in zip(("first", "second"), ends, strict=True):
        found = frame_of(model, frame if isinstance(frame, str) else frame.name, f"loop {repr_in_message(loop.name)}")
        R_body, p = pose_in_body(found.X, np.reshape(R, (3, 3)), r)
        own = [p] if kind != "revolute" else [p, p + ARM * R_body @ axis]
        sites.append([add_site(found.body, f"{loop.name}.{side}", R_body, point, done) for point in own])
    for first, second in zip(*sites, strict=True):
        tag = "weld" if kind == "fixed" else "connect"
        child(made, tag, name=names.new(loop.name), site1=first, site2=second)


def kind_of(model: Model, loop: Loop) -> tuple[str, Array]:
    """ "ball", "revolute" or "fixed", and the axis that a revolute loop leaves free.

    The loop may hold fewer rows if the mechanism keeps the others anyway, as a planar one does; or other rows with the
    same span. ModelError if none of the kinds fits.
    """
    axes = np.array(loop.axes)
    free = loop._free_axis()
    n = np.array([0.0, 0.0, 1.0]) if free is None else np.array(free.full()).ravel()
    across = np.linalg.svd(n[None])[2][1:]
    turns = {"ball": np.zeros((0, 3)), "revolute": across, "fixed": np.eye(3)}
    shifts = np.hstack([np.zeros((3, 3)), np.eye(3)])
    held = rank(model, loop, axes)
    for kind, turned in turns.items():
        rows = np.vstack([np.hstack([turned, np.zeros_like(turned)]), shifts])
        within = np.linalg.matrix_rank(np.vstack([rows, axes])) == len(rows)
        if within and rank(model, loop, rows) == held:
            return kind, n
    raise ModelError(
        f"write_mjcf: MuJoCo has no equality for the rows {', '.join(loop.rows)} of the loop "
        f"{repr_in_message(loop.name)}; it has {', '.join(turns)}. Close the loop at another joint"
    )


def rank(model: Model, loop: Loop, axes: Array) -> int:
    """Number of independent rows of a loop with other axes: of their positions at several places side by side, so that
    a row counts as held only if it follows from others by the same factors everywhere.

    Not of their Jacobians: where a loop is open, as at any of these places, these also move with the base.
    """
    rng, other = np.random.default_rng(0), replace(loop, axes=axes, turning=False)
    # anywhere: limits and mimicking joints hold no rows of a loop
    places = [model.integrate(model.random_q(rng), rng.normal(size=model.nv)) for _ in range(PLACES)]
    columns = [other.position(model, DM(q)) for q in places]
    return int(np.linalg.matrix_rank(np.array(DM(ca.horzcat(*columns)).full()), tol=1e-9))


def add_site(body: int, name: str, R: Array, p: Array, done: Written) -> str:
    own = done.site_names.new(name)
    child(done.bodies[body], "site", name=own, **pose_attributes(R, p))
    return own
