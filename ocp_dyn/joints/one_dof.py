"""Joints of one degree of freedom: revolute, prismatic, helical."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Expr, Vector, exact, finite_vector, repr_in_message, sparse, sparse_beside
from ..spatial_algebra.rotations import rotation_about, unit_axis
from ..spatial_algebra.spatial import ZERO3, Transform, largest
from .protocol import Joint, JointState

PARALLEL = 1e-12
"""Two unit vectors are parallel if the cosine between them differs from 1 by less than this."""


@dataclass(frozen=True)
class Revolute(Joint):
    """Rotation by q [rad] about `axis` ("x", "-z", or three numbers, normalized).

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("wheel", od.Revolute("y"), mass=1, inertia=(1, 1, 1))
    >>> od.pose(builder.build(), "wheel", [np.pi / 6])[0] @ [0, 0, 1]  # z turns towards x
    DM([0.5, 0, 0.866025])
    """

    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    q_labels = qd_labels = ("",)

    def __init__(self, axis: str | Vector = "z") -> None:
        object.__setattr__(self, "axis", unit_axis(axis))

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        S = ca.vertcat(ca.sparsify(DM(self.axis)), ZERO3)
        XJ = Transform(rotation_about(self.axis, q).T, ZERO3)
        return JointState(XJ, S, S @ qd, DM(6, 1))

    def turned(self, q: Expr, qd: Expr, axis: Vector, angle: Expr) -> tuple[Expr, Expr] | None:
        along = float(np.dot(self.axis, axis))
        return (q + np.sign(along) * angle, qd) if abs(along) > 1 - PARALLEL else None


@dataclass(frozen=True)
class Prismatic(Joint):
    """Translation by q [m] along `axis` ("x", "-z", or three numbers, normalized).

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("lift", od.Prismatic("z"), mass=2)
    >>> od.gravity_force(builder.build(), [0.0])  # m g
    DM(19.62)
    """

    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    q_labels = qd_labels = ("",)

    def __init__(self, axis: str | Vector = "z") -> None:
        object.__setattr__(self, "axis", unit_axis(axis))

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        a = ca.sparsify(DM(self.axis))
        S = ca.vertcat(ZERO3, a)
        return JointState(Transform(DM.eye(3), a @ q), S, S @ qd, DM(6, 1))

    @property
    def leading_translations(self) -> int:
        return 1


@dataclass(frozen=True)
class Helical(Joint):
    """Screw motion by q [rad] along the 6-D axis [r; t]: turned about r, moved by p = t q along fixed axes [RBDL].

    Helical(axis, pitch=h) [m/rad] advances along its axis, t = h r, as a screw in its nut does: `axis` is "x",
    "-z" or three numbers. Helical((rx, ry, rz, tx, ty, tz)) takes any t [m/rad]. r is normalized, t is not.
    `S = [r; R' t]` depends on q unless t lies along r.

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("nut", od.Helical("z", pitch=0.01), mass=1, inertia=(1, 1, 1))
    >>> od.point_position(builder.build(), "nut", [3.0])  # 0.01 m per rad
    DM([00, 00, 0.03])
    """

    axis: tuple[float, ...] = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    q_labels = qd_labels = ("",)

    def __init__(self, axis: str | Vector, pitch: float | None = None) -> None:
        if isinstance(axis, str) or pitch is not None or np.size(axis) == 3:
            if pitch is None:
                raise ValueError(f"Helical({repr_in_message(axis)}) needs pitch= [m/rad], or a 6-D axis [r; t]")
            r = unit_axis(axis, "helical axis")
            t = float(finite_vector(pitch, 1, "pitch")[0]) * np.array(r)
        else:
            a = finite_vector(axis, 6, "helical axis [r; t]")
            if not np.linalg.norm(a[:3]) > 1e-9:
                raise ValueError(f"a helical axis must turn, got {repr_in_message(axis)} with r = 0: use Prismatic")
            r, t = unit_axis(a[:3]), a[3:]
        object.__setattr__(self, "axis", (*r, *(float(x) for x in np.array(sparse_beside(t).full()).ravel())))

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        r, t = sparse(self.axis[:3]), exact(self.axis[3:])
        E = rotation_about(self.axis[:3], q).T
        wobble = sparse_beside(ca.cross(r, t), largest(t))  # the part of t that the rotation changes
        u, du = (E @ t, -ca.cross(r, E @ t)) if wobble.nnz() else (t, ZERO3)
        S = ca.vertcat(r, u)
        return JointState(Transform(E, t @ q), S, S @ qd, ca.vertcat(ZERO3, du * (qd * qd)))

    def scaled(self, length: float) -> Joint:
        return Helical((*self.axis[:3], *(length * t for t in self.axis[3:])))


def one_dof(axis: Vector) -> Joint:
    """The joint of a 6-D axis [r; t]: prismatic where r = 0, revolute where t = 0, helical otherwise."""
    a = finite_vector(axis, 6, "a joint axis [r; t]")
    if not a[:3].any():
        return Prismatic(a[3:])
    return Helical(a) if a[3:].any() else Revolute(a[:3])
