"""Converters between this library's layout of q, qd, qdd, tau and those of RBDL, Pinocchio and MuJoCo.

| | quaternion | floating base velocity | planar joint |
|---|---|---|---|
| here | (x, y, z, w) in the joint's slice | [linear, world; angular, body] | (x, y, theta) and rates |
| RBDL | (x, y, z) in the slice, w after all other entries | [linear, world; angular, body] | the same |
| Pinocchio | (x, y, z, w) | [linear, body; angular, body] | (x, y, cos, sin), rates in body axes |
| MuJoCo | (w, x, y, z) | [linear, world; angular, body] | the same, as slide, slide, hinge |

MuJoCo has Euler joints, universal and other chains as several hinges and slides, in the order of our coordinates: the
numbers are the same.

Linear comes before angular in the coordinates of all four. Works on numbers and on expressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
from casadi import DM

from .._base.checks import choice
from .._base.types import Expr, repr_in_message, sequence, split, suggestion
from ..joints import FloatingBase, Joint, Planar, Revolute
from ..mechanism import Model
from ..spatial_algebra.rotations import quaternion_matrix
from ._hinges_and_slides import hinges_and_slides

LIBRARIES = ("rbdl", "pinocchio", "mujoco")


@dataclass(frozen=True, eq=False)
class Layout:
    """Another library's layout of one model: `to_q`, `from_q`, `to_qd`, ... convert between ours and theirs.

    kind: "rbdl", "pinocchio" or "mujoco". joints: names of the model's joints in the other library's order; default:
    the order in which its reader takes a URDF, and that of the file of `od.io.write_mjcf`. All three go depth first.
    Pinocchio and RBDL sort the joints of a link, the fixed ones too, by name; MuJoCo keeps the order in which the model
    lists siblings, the file's. unbounded: revolute joints that Pinocchio writes as (cos, sin); default: those that the
    model's file calls continuous.

    Joints that mimic others have coordinates of q here and in the other libraries, except in a Pinocchio model that was
    built with mimic=True, which has no counterpart.
    `ValueError` for a joint the other library writes in a way that has no counterpart here.

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("drone", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    >>> od.Layout(builder.build(), "mujoco").to_q([1, 2, 3, 0, 0, 0, 1])  # MuJoCo's quaternion begins with w
    DM([1, 2, 3, 1, 0, 0, 0])
    """

    model: Model
    kind: str
    joints: Sequence[str] = ()
    unbounded: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise TypeError(f"Layout needs a Model as its first argument, got {repr_in_message(self.model)}")
        choice(self.kind, LIBRARIES, "layout")
        names = _names(self.joints, "joints") or _order(self.model, self.kind)
        if sorted(names) != sorted(self.model.joint_names):
            hint = "".join(
                suggestion(name, self.model.joint_names) for name in names if name not in self.model.joint_names
            )
            raise ValueError(f"joints must be the model's joints in another order, got {repr_in_message(names)}{hint}")
        object.__setattr__(self, "joints", names)
        continuous = tuple(f.joint for f in self.model.file_joints if f.continuous)
        unbounded = continuous if self.unbounded is None else _names(self.unbounded, "unbounded")
        for name in unbounded:
            joint = self.model.joints[_body(self.model, name)]
            if not isinstance(joint, Revolute):
                raise TypeError(
                    f"unbounded joints are revolute ones, {repr_in_message(name)} is {repr_in_message(joint)}"
                )
        object.__setattr__(self, "unbounded", unbounded)
        for name, joint in zip(self.model.joint_names, self.model.joints[1:], strict=True):
            if self.kind == "pinocchio" and isinstance(joint, FloatingBase) and not joint.has_quaternion:
                raise ValueError(f"Pinocchio has no floating base with {joint.rotation}: use FloatingBase() here")
            if self.kind == "mujoco" and not joint.has_quaternion:
                hinges_and_slides(joint, name, "MuJoCo")

    def to_q(self, q: Any) -> Expr:
        """Their positions from ours (nq)."""
        parts = self.model.split_q(self.model.column(q, self.model.nq, "q", self.model.q_names))
        parts = [self._q_out(i, parts[i]) for i in self._order]
        if self.kind != "rbdl":
            return ca.vertcat(*parts)
        rest, last = [], []
        for i, part in zip(self._order, parts, strict=True):
            w = int(self.model.joints[i].has_quaternion)
            head, tail = split(part, part.shape[0] - w, w)
            rest.append(head)
            last.append(tail)
        return ca.vertcat(*rest, *last)

    def from_q(self, q: Any) -> Expr:
        """Our positions (nq) from theirs."""
        joints = [self.model.joints[i] for i in self._order]
        q = self.model.column(q, sum(self._q_size(i) for i in self._order), "q")
        found: dict[int, Expr] = {}
        k, w = 0, self.model.nv
        for i, joint in zip(self._order, joints, strict=True):
            size = joint.nv if self.kind == "rbdl" else self._q_size(i)
            part = q[k : k + size]
            k += size
            if self.kind == "rbdl" and joint.has_quaternion:
                part, w = ca.vertcat(part, q[w]), w + 1
            found[i] = self._q_in(i, part)
        return ca.vertcat(*(found[i] for i, _ in self.model.edges))

    def to_qd(self, q: Any, qd: Any) -> Expr:
        """Their velocities from our q and qd (nv)."""
        return self._turned(q, qd, out=True)

    def from_qd(self, q: Any, qd: Any) -> Expr:
        """Our velocities (nv) from our q and their velocities."""
        return self._turned(q, qd, out=False)

    def qd_map(self, q: Any) -> Expr:
        """T (nv x nv) with `to_qd(q, qd) = T qd`: it makes their matrices of ours.

        Theirs are T H T' for a matrix of motions or forces, such as H and H^-1, and J T' for one that multiplies
        velocities: T only reorders joints and turns linear velocities, so that T^-1 = T'.
        """
        unit = DM.eye(self.model.nv)
        return ca.densify(ca.horzcat(*(self.to_qd(q, unit[:, k]) for k in range(self.model.nv))))

    def to_tau(self, q: Any, tau: Any) -> Expr:
        """Their generalized forces from our q and tau (nv): power is the same in both."""
        return self._turned(q, tau, out=True)

    def from_tau(self, q: Any, tau: Any) -> Expr:
        """Our generalized forces (nv) from our q and theirs."""
        return self._turned(q, tau, out=False)

    def to_qdd(self, q: Any, qd: Any, qdd: Any) -> Expr:
        """Their accelerations from our q, qd and qdd (nv)."""
        return self._turned(q, qdd, out=True) - self._drag(q, qd)

    def from_qdd(self, q: Any, qd: Any, qdd: Any) -> Expr:
        """Our accelerations (nv) from our q, our qd and their accelerations."""
        return self._turned(
            q, self.model.column(qdd, self.model.nv, "qdd", self.model.qd_names) + self._drag(q, qd), out=False
        )

    @cached_property
    def _order(self) -> list[int]:
        return [self.model.joint_names.index(name) + 1 for name in self.joints]

    def _on_circle(self, i: int) -> bool:
        """Whether the last entry of joint i is an angle that the other library writes as (cos, sin)."""
        planar = isinstance(self.model.joints[i], Planar)
        return self.kind == "pinocchio" and (planar or self.model.joint_names[i - 1] in (self.unbounded or ()))

    def _q_size(self, i: int) -> int:
        return self.model.joints[i].nq + self._on_circle(i)

    def _q_out(self, i: int, q: Expr) -> Expr:
        if self.kind == "mujoco" and self.model.joints[i].has_quaternion:
            rest, xyz, w = split(q, q.shape[0] - 4, 3, 1)
            return ca.vertcat(rest, w, xyz)
        if self._on_circle(i):
            rest, angle = split(q, q.shape[0] - 1, 1)
            return ca.vertcat(rest, ca.cos(angle), ca.sin(angle))
        return q

    def _q_in(self, i: int, q: Expr) -> Expr:
        if self.kind == "mujoco" and self.model.joints[i].has_quaternion:
            rest, w, xyz = split(q, q.shape[0] - 4, 1, 3)
            return ca.vertcat(rest, xyz, w)
        if self._on_circle(i):
            rest, c, s = split(q, q.shape[0] - 2, 1, 1)
            return ca.vertcat(rest, ca.atan2(s, c))
        return q

    def _rotation(self, joint: Joint, q: Expr) -> Expr | None:
        """R of a joint whose linear velocity the other library takes in body axes."""
        if self.kind != "pinocchio" or not isinstance(joint, (FloatingBase, Planar)):
            return None
        if isinstance(joint, FloatingBase):
            return quaternion_matrix(q[3:])
        c, s = ca.cos(q[2]), ca.sin(q[2])
        return ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c))

    def _turned(self, q: Any, x: Any, out: bool) -> Expr:
        """A vector of nv entries with its linear parts in the other axes, its joints in the other order."""
        model = self.model
        positions = model.split_q(model.column(q, model.nq, "q", model.q_names))
        x = model.column(x, model.nv, "velocity or force", model.qd_names)
        if out:
            parts = dict(enumerate(model.split_qd(x)))
        else:
            sizes = [model.joints[i].nv for i in self._order]
            cuts = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
            parts = {i: x[cuts[k] : cuts[k + 1]] for k, i in enumerate(self._order)}
        for i, _ in model.edges:
            R = self._rotation(model.joints[i], positions[i])
            if R is not None:
                k = R.shape[0]
                parts[i] = ca.vertcat((R.T if out else R) @ parts[i][:k], parts[i][k:])
        return ca.vertcat(*(parts[i] for i in (self._order if out else range(1, model.nb + 1))))

    def _drag(self, q: Any, qd: Any) -> Expr:
        """omega x v of bases whose velocity the other library takes in body axes; in its layout."""
        model = self.model
        theirs = self.to_qd(q, qd)
        drag, k = [], 0
        for i in self._order:
            joint = model.joints[i]
            v = theirs[k : k + joint.nv]
            k += joint.nv
            zero = DM(joint.nv, 1)
            if self.kind == "pinocchio" and isinstance(joint, FloatingBase):
                drag.append(ca.vertcat(ca.cross(v[3:], v[:3]), DM(3, 1)))
            elif self.kind == "pinocchio" and isinstance(joint, Planar):
                drag.append(ca.vertcat(-v[2] * v[1], v[2] * v[0], 0))
            else:
                drag.append(zero)
        return ca.vertcat(*drag)


def _names(names: Any, what: str) -> tuple[str, ...]:
    listed = tuple(sequence(names, f"{what} must be a tuple of joint names"))
    if not all(isinstance(name, str) for name in listed):
        raise TypeError(f"{what} must be a tuple of joint names, got {repr_in_message(listed)}")
    return listed


def _body(model: Model, joint: str) -> int:
    model.q_slice(joint)  # raises for a name that no joint has
    return model.joint_names.index(joint) + 1


def _order(model: Model, kind: str) -> tuple[str, ...]:
    """Names of the joints in the order that the library's URDF reader gives them: depth first.

    urdfdom, which reads for Pinocchio and RBDL, keeps joints in a map by name, so that both visit the joints of every
    link in that order. Fixed joints lead to further joints: the way from the root decides, name by name. MuJoCo keeps
    siblings as they are listed; a model from a file lists them depth first, one that was built or attached need not.
    """
    mounts = {f.joint: f.mounts for f in model.file_joints}
    ways: list[tuple[Any, ...]] = [()]
    for i, p in model.edges:
        name = model.joint_names[i - 1]
        ways.append((*ways[p], i) if kind == "mujoco" else (*ways[p], *mounts.get(name, ()), name))
    return tuple(model.joint_names[i - 1] for i in sorted(range(1, model.nb + 1), key=ways.__getitem__))
