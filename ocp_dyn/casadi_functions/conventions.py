"""Conventions of a model and of constraint forces as sentences, for the headers and manuals of exported functions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from .. import joints as kinds
from .._types import ModelError
from ..constraints import (
    Baumgarte,
    Constraint,
    Contact,
    CustomConstraint,
    JointCoupling,
    LockedJoint,
    Loop,
    RollingContact,
    as_set,
    is_set,
)
from ..io.json import model_to_dict
from ..joints import Joint
from ..mechanism import Model

_kept: WeakKeyDictionary[Model, Conventions] = WeakKeyDictionary()


class Conventions(NamedTuple):
    """The meaning of the numbers of a model's q, qd and tau.

    digest: 16 hexadecimal digits of the model's data, "" if they hold code or symbols. gravity: in ground axes [m/s^2],
    None if it is symbolic. joints: (name, sentence) for the joints whose coordinates need one.
    """

    digest: str
    gravity: tuple[float, float, float] | None
    joints: tuple[tuple[str, str], ...]


def conventions(model: Model) -> Conventions:
    """The conventions of a model, made once."""
    if model not in _kept:
        texts = zip(model.joint_names, model.joints[1:], range(1, model.nb + 1), strict=True)
        found = ((name, joint_text(joint, _fixed_axes(model, i))) for name, joint, i in texts)
        try:
            x, y, z = (float(entry) for entry in model.gravity)
            gravity = (x, y, z)
        except (TypeError, ValueError, RuntimeError):  # symbols
            gravity = None
        _kept[model] = Conventions(model_digest(model), gravity, tuple((name, text) for name, text in found if text))
    return _kept[model]


def model_digest(model: Model) -> str:
    """16 hexadecimal digits that tell models apart: SHA-256 of the data that `od.save_model` writes.

    They depend on every number and name of the model. A model that no file can hold, with code or symbols, has "".

    >>> od.codegen.model_digest(rod) == od.codegen.model_digest(rod.with_gravity((0, 0, -1.62)))
    False
    """
    try:
        data = json.dumps(model_to_dict(model), sort_keys=True)
    except (ModelError, TypeError, ValueError):
        return ""
    return hashlib.sha256(data.encode()).hexdigest()[:16]


def _fixed_axes(model: Model, i: int) -> str:
    """The axes in which a joint's translations are measured."""
    X = model.X_tree[i]
    if model.parent[i] == 0 and X.E.is_eye():
        return "world axes"
    where = "the world" if model.parent[i] == 0 else model.body_names[model.parent[i] - 1]
    return f"axes of the joint's frame, which is fixed in {where}"


def joint_text(joint: Joint, axes: str) -> str:
    """The meaning of a joint's entries of q and qd, in their order; "" for a joint with one degree of freedom.

    axes: words for the fixed axes in which its translations are measured.
    """
    if isinstance(joint, kinds.FloatingBase):
        if joint.has_quaternion:
            return (
                f"q = [x, y, z of the origin in {axes}; quaternion x, y, z, w of the rotation of the body axes]; "
                f"qd = [velocity of the origin in {axes}; angular velocity in body axes]"
            )
        angles = joint.rotation.removeprefix("euler_")
        return f"q = [x, y, z of the origin in {axes}; {_angles(angles)}]; qd = dq/dt"
    if isinstance(joint, kinds.Spherical):
        return "q = quaternion x, y, z, w of the rotation of the body axes; qd = angular velocity in body axes"
    if isinstance(joint, kinds.Euler):
        return f"q = [{_angles(joint.order)}]; qd = dq/dt"
    if isinstance(joint, kinds.Planar):
        return f"q = [x, y of the origin in {axes}; angle about z]; qd = dq/dt"
    if isinstance(joint, kinds.Translation):
        return f"q = [x, y, z of the origin in {axes}]; qd = dq/dt"
    if isinstance(joint, kinds.Cylindrical):
        return "q = [angle about the axis; displacement along it]; qd = dq/dt"
    if isinstance(joint, kinds.Universal):
        return "q = [angle about the first axis; angle about the second, which the first turns]; qd = dq/dt"
    if joint.nv > 1:
        return "q and qd = dq/dt of its single motions, one after the other" if joint.nq == joint.nv else ""
    return ""


def _angles(order: str) -> str:
    """Angles of rotations one after the other, each about a moved axis: "zyx" gives R = Rz(a) Ry(b) Rx(c)."""
    product = " ".join(f"R{axis}({name})" for axis, name in zip(order, "abc", strict=True))
    return f"angles a, b, c of the rotation {product}"


def forces_of(static: Iterable[Any]) -> tuple[tuple[str, str], ...]:
    """(name, sentence) for every constraint of the first set among the arguments of an algorithm: what its rows of lam
    act on, and along which axes."""
    members = next((as_set(argument) for argument in static if is_set(argument)), ())
    return tuple((str(getattr(member, "name", type(member).__name__)), force_text(member)) for member in members)


def force_text(constraint: Constraint) -> str:
    """The meaning of one constraint's rows of lam: a sentence that follows the constraint's name."""
    if isinstance(constraint, Contact):
        at = f"at the point ({_list(constraint.point)}) m of the frame"
        if constraint.axes is None:
            return f"couple x, y, z [N m], then force x, y, z [N], {at}; world axes; they act on the robot"
        axes = "; ".join(f"({_list(axis)})" for axis in constraint.axes)
        return f"force [N] {at} along each of {axes}, in world axes; it acts on the robot"
    if isinstance(constraint, Loop):
        ends = f"{_named(constraint.successor)}, and the opposite on {_named(constraint.predecessor)}"
        return (
            f"components of a wrench (r: couple, N m; t: force, N) along axes of {_named(constraint.predecessor)}; they "
            f"act on {ends}, at the loop's origin there"
        )
    if isinstance(constraint, RollingContact):
        return (
            "force [N] at the contact along the plane's normal and two directions across it; for a cylinder then couples "
            "[N m] about the normal and against tilting; they act on the robot"
        )
    if isinstance(constraint, JointCoupling):
        return f"generalized force [N m, N] on joint {constraint.joint}; joint {constraint.other} feels its reaction"
    if isinstance(constraint, LockedJoint):
        return "generalized forces [N m, N] on the dofs of the joint"
    if isinstance(constraint, Baumgarte):
        return force_text(constraint.constraint)
    if isinstance(constraint, CustomConstraint):
        return "work per change of phi"
    return str(getattr(constraint, "force_text", "work per change of phi"))


def _named(frame: Any) -> str:
    return frame if isinstance(frame, str) else str(frame.name)


def _list(numbers: Iterable[Any]) -> str:
    """Numbers of a vector; symbols as they print."""
    return ", ".join(f"{x:.6g}" if isinstance(x, (int, float)) else str(x) for x in numbers)
