"""Conventions of a model and of constraint forces as sentences, for the headers and manuals of exported functions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from .. import joints as kinds
from .._base.types import ModelError, names_in_message, repr_in_message
from ..constraints import (
    Baumgarte,
    Constraint,
    Contact,
    JointCoupling,
    LockedJoint,
    Loop,
    RollingContact,
    as_set,
    is_set,
)
from ..io import model_to_dict
from ..joints import Joint
from ..mechanism import Model
from ..mechanism.loads import Loads


class Conventions(NamedTuple):
    """The meaning of the numbers of a model's q, qd and tau.

    digest: 16 hexadecimal digits of the model's data, "" if they hold code or symbols. gravity: in ground axes [m/s^2],
    None if it is symbolic. joints: (name, sentence) for the joints whose coordinates need one.
    """

    digest: str
    gravity: tuple[float, float, float] | None
    joints: tuple[tuple[str, str], ...]


def conventions(model: Model) -> Conventions:
    """The conventions of a model."""
    texts = zip(model.joint_names, model.joints[1:], range(1, model.nb + 1), strict=True)
    found = ((name, joint_text(joint, *_fixed_frame(model, i))) for name, joint, i in texts)
    try:
        x, y, z = (float(entry) + 0.0 for entry in model.gravity)  # no -0
        gravity = (x, y, z)
    except (TypeError, ValueError, RuntimeError):  # symbols
        gravity = None
    return Conventions(model_digest(model), gravity, tuple((name, text) for name, text in found if text))


def model_digest(model: Model) -> str:
    """16 hexadecimal digits that tell models apart: SHA-256 of the data that `od.save_model` writes.

    They depend on every number and name of the model. A model that no file can hold, with code or symbols, has "".

    >>> od.codegen.model_digest(rod) == od.codegen.model_digest(rod.with_gravity((0, 0, -1.62)))
    False
    """
    if not isinstance(model, Model):
        raise TypeError(f"model_digest needs a Model, got {repr_in_message(model)}")
    try:
        data = json.dumps(_without_signs_of_zero(model_to_dict(model)), sort_keys=True)
    except (ModelError, TypeError, ValueError):
        return ""
    return hashlib.sha256(data.encode()).hexdigest()[:16]


def _without_signs_of_zero(data: Any) -> Any:
    """The same data with 0 for -0, which equals it."""
    if isinstance(data, dict):
        return {key: _without_signs_of_zero(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_without_signs_of_zero(value) for value in data]
    return data + 0.0 if isinstance(data, float) else data


def _fixed_frame(model: Model, i: int) -> tuple[str, str]:
    """The axes in which a joint's translations are measured, and the point that they start from; "" for the world's."""
    X, grounded = model.X_tree[i], model.parent[i] == 0
    where = "the world" if grounded else model.body_names[model.parent[i] - 1]
    r = [_number(x) for x in ca.vertsplit(ca.densify(X.r))]
    start = "" if grounded and not any(r) else f", from the point ({_list(r)}) m of {where},"
    if X.E.is_eye():
        return ("world axes" if grounded else f"axes of {where}"), start
    return f"axes of the joint's frame, which is fixed in {where}", start


def _number(entry: Any) -> Any:
    """An entry of a matrix as a float; a symbol as it is."""
    return float(entry) + 0.0 if isinstance(entry, ca.DM) else entry


def joint_text(joint: Joint, axes: str, start: str = "") -> str:
    """The meaning of a joint's entries of q and qd, in their order; "" for one angle or displacement, and its rate.

    axes: words for the fixed axes in which its translations are measured. start: words for the point that they are
    measured from, unless that is the world's origin.
    """
    place = f"of the origin{start} in {axes}"
    if isinstance(joint, kinds.FloatingBase):
        if joint.has_quaternion:
            return (
                f"q = [x, y, z {place}; quaternion x, y, z, w of the rotation of the body axes]; "
                f"qd = [velocity of the origin in {axes}; angular velocity in body axes]"
            )
        angles = joint.rotation.removeprefix("euler_")
        return f"q = [x, y, z {place}; {_angles(angles)}]; qd = dq/dt"
    if isinstance(joint, kinds.Spherical):
        return "q = quaternion x, y, z, w of the rotation of the body axes; qd = angular velocity in body axes"
    if isinstance(joint, kinds.Euler):
        return f"q = [{_angles(joint.order)}]; qd = dq/dt"
    if isinstance(joint, kinds.Planar):
        return f"q = [x, y {place}; angle about z]; qd = dq/dt"
    if isinstance(joint, kinds.Translation):
        return f"q = [x, y, z {place}]; qd = dq/dt"
    if isinstance(joint, kinds.Cylindrical):
        return "q = [angle about the axis; displacement along it]; qd = dq/dt"
    if isinstance(joint, kinds.Universal):
        return "q = [angle about the first axis; angle about the second, which the first turns]; qd = dq/dt"
    if joint.nv and type(joint).q_dot is not Joint.q_dot:
        return f"q and qd as {type(joint).__name__} defines them; qd is not dq/dt"
    if joint.nv > 1:
        return "q and qd = dq/dt of its single motions, one after the other"
    if joint.nv and not isinstance(joint, (kinds.Revolute, kinds.Prismatic, kinds.Helical)):
        return f"q = its coordinate, as {type(joint).__name__} defines it; qd = dq/dt"
    return ""


def _angles(order: str) -> str:
    """Angles of rotations one after the other, each about a moved axis: "zyx" gives R = Rz(a) Ry(b) Rx(c)."""
    product = " ".join(f"R{axis}({name})" for axis, name in zip(order, "abc", strict=True))
    return f"angles a, b, c of the rotation {product}"


def forces_of(static: Iterable[Any]) -> tuple[tuple[str, str], ...]:
    """(name, sentence) for every constraint of the first set among the arguments of an algorithm: what its rows of lam
    act on, and along which axes."""
    members = next((as_set(argument) for argument in static if is_set(argument)), ())
    return tuple((member.name, force_text(member)) for member in members)


def loads_text(loads: Loads, model: Model) -> str:
    """Sentence about what acts at the joints of a model, with `od.Loads`: "" if nothing does."""
    acted = list(dict.fromkeys(element.dof for element in model.passive))
    tissue = [f"nonlinear passive torques on {names_in_message(acted)}"] * bool(acted)
    tissue += ["springs between bodies"] * bool(model.bushings)
    passive = [f"springs, damping and friction of the joints (slip speed {loads.slip_speed:.6g} rad/s, m/s)", *tissue]
    return " and ".join(passive * loads.passive + ["armatures of the joints"] * loads.armature)


def force_text(constraint: Constraint) -> str:
    """The meaning of one constraint's rows of lam: a sentence that follows the constraint's name."""
    if isinstance(constraint, Contact):
        at = f"at the point ({_list(constraint.point)}) m of the frame"
        if constraint.axes is None:
            couple, force = ("y", "x, z") if constraint.planar else ("x, y, z", "x, y, z")
            return f"couple {couple} [N m], then force {force} [N], {at}; world axes; they act on the robot"
        axes = "; ".join(f"({_list(axis)})" for axis in constraint.axes)
        return f"force [N] {at} along each of {axes}, in world axes; it acts on the robot"
    if isinstance(constraint, Loop):
        return _loop_text(constraint)
    if isinstance(constraint, RollingContact):
        n, *sides = (f"({_list(row)})" for row in np.asarray(constraint.sides) + 0.0)
        rolling = (
            f"force [N] at the point in contact along the plane's normal {n} and across it along {'; '.join(sides)}"
        )
        spin = "; then couples [N m] about the normal and against tilting" if constraint.turns else ""
        return f"{rolling}, in world axes{spin}; {'they act' if spin else 'it acts'} on the robot"
    if isinstance(constraint, JointCoupling):
        factor = f"{-constraint.ratio:.6g}{'' if constraint.function is None else ' df/dq of it'}"
        return f"generalized force [N m, N] on {constraint.joint}; {constraint.other} feels it times {factor}"
    if isinstance(constraint, LockedJoint):
        return "generalized forces [N m, N] on the dofs of the joint"
    if isinstance(constraint, Baumgarte):
        return force_text(constraint.constraint)
    return constraint.force_text


def _loop_text(loop: Loop) -> str:
    """Wrenches on both ends of a loop: along which axes, at which points."""
    on_p, on_s = _named(loop.predecessor), _named(loop.successor)
    (R, r), (_, at) = loop.predecessor_pose, loop.successor_pose
    columns = np.reshape(R, (3, 3)).T + 0.0
    axes = f"axes of {on_p}"
    if not np.array_equal(columns, np.eye(3)):
        axes = f"the axes {'; '.join(f'({_list(axis)})' for axis in columns)} of {on_p}"
    kinds = "r: couple, N m; t: force, N"
    if any(sum(x != 0 for x in axis) > 1 or 1 not in axis for axis in loop.axes):
        kinds = "each row: multiple of the axis [couple; force], N m, N"
    opposite = "the same place" if loop.sliding else f"({_list(r)}) m"
    return (
        f"wrench ({kinds}) along {axes}; it acts on {on_s} at the point ({_list(at)}) m of that frame, its opposite on "
        f"{on_p} at {opposite}"
    )


def _named(frame: Any) -> str:
    return frame if isinstance(frame, str) else str(frame.name)


def _list(numbers: Iterable[Any]) -> str:
    """Numbers of a vector; symbols as they print."""
    return ", ".join(f"{x:.6g}" if isinstance(x, (int, float)) else str(x) for x in numbers)
