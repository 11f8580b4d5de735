"""Joints of several degrees of freedom whose velocities are the rates of q: no massless bodies in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import DM

from .._base.checks import choice
from .._base.types import Expr, Vector, repr_in_message, split
from ..spatial_algebra.rotations import rotation_about, unit_axis
from ..spatial_algebra.spatial import Transform, crm
from .one_dof import Helical, Prismatic, Revolute, one_dof
from .protocol import Joint, JointState


@dataclass(frozen=True)
class Translation(Joint):
    """Translation by q = (x, y, z) [m] along the axes of the fixed frame.

    >>> od.Translation().q_labels
    ('x', 'y', 'z')
    """

    q_labels = qd_labels = ("x", "y", "z")

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        S = ca.vertcat(DM(3, 3), DM.eye(3))
        return JointState(Transform(DM.eye(3), q), S, S @ qd, DM(6, 1))

    @property
    def leading_translations(self) -> int:
        return 3

    def chain(self) -> tuple[Joint, ...]:
        return tuple(Prismatic(axis) for axis in "xyz")


@dataclass(frozen=True)
class Cylindrical(Joint):
    """Rotation by q[0] [rad] about `axis` and translation by q[1] [m] along it, independent of each other.

    >>> od.Cylindrical("z").q_labels
    ('r', 't')
    """

    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    q_labels = qd_labels = ("r", "t")

    def __init__(self, axis: str | Vector = "z") -> None:
        object.__setattr__(self, "axis", unit_axis(axis))

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        a = ca.sparsify(DM(self.axis))
        angle, shift = split(q)
        S = ca.diagcat(a, a)
        return JointState(Transform(rotation_about(self.axis, angle).T, a @ shift), S, S @ qd, DM(6, 1))

    def chain(self) -> tuple[Joint, ...]:
        return Revolute(self.axis), Prismatic(self.axis)


class _Chained(Joint):
    """1-dof joints applied one after the other, each about the frame that those before it have moved.

    With X_k the transform from behind joint k to the end of the chain, s_k = X_k S_k, and the velocity before joint k
    being V_k = s_0 qd_0 + ... + s_{k-1} qd_{k-1}, all in the end's coordinates,

        S = [s_0 ... s_{n-1}],   cJ = sum_k (X_k c_k + V_k x s_k qd_k).
    """

    _links: tuple[Joint, ...]

    @property
    def leading_translations(self) -> int:
        turning = (k for k, link in enumerate(self._links) if not link.leading_translations)
        return next(turning, len(self._links))

    def chain(self) -> tuple[Joint, ...]:
        return self._links

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        rates = split(qd)
        X = Transform.identity()
        s: list[Expr] = []
        c: Expr = DM(6, 1)
        for joint, position, rate in reversed(list(zip(self._links, split(q), rates, strict=True))):
            link = joint.jcalc(position, rate)
            s.insert(0, X.apply(link.S))
            c = c + X.apply(link.cJ)
            X = X @ link.XJ
        V: Expr = DM(6, 1)
        for column, rate in zip(s, rates, strict=True):
            step = column * rate
            c = c + crm(V, step)
            V = V + step
        return JointState(X, ca.horzcat(*s), V, c)


EULER_ORDERS = ("xyz", "zyx", "yxz", "zxy")


@dataclass(frozen=True)
class Euler(_Chained):
    """Three intrinsic rotations, R = R_a(q0) R_b(q1) R_c(q2) for `order` "abc"; qd the angle rates [rad/s].

    S is singular at q1 = +-90 degrees. A true 3-dof joint: no massless bodies in between.

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("hip", od.Euler("yxz"), mass=1, inertia=(1, 1, 1))
    >>> builder.build().q_names
    ('hip_joint.ry', 'hip_joint.rx', 'hip_joint.rz')
    """

    order: str = "zyx"
    q_labels = qd_labels = ("q0", "q1", "q2")

    def __post_init__(self) -> None:
        choice(self.order, EULER_ORDERS, "Euler order")
        labels = tuple(f"r{axis}" for axis in self.order)
        object.__setattr__(self, "q_labels", labels)
        object.__setattr__(self, "qd_labels", labels)
        object.__setattr__(self, "_links", tuple(Revolute(axis) for axis in self.order))

    def turned(self, q: Expr, qd: Expr, axis: Vector, angle: Expr) -> tuple[Expr, Expr] | None:
        """Turns the first angle if its axis is the given one. Otherwise the angles of R' = R(axis, angle) R follow from
        its entries, for the order (i, j, k) with the sign e = 1 if cyclic, else -1: sin(q1) = e R'[i, k], tan(q0) = -e
        R'[j, k] / R'[k, k], tan(q2) = -e R'[i, j] / R'[i, i]; rates keep the angular velocity in body axes.
        """
        first, *others = split(q)
        about_first = self._links[0].turned(first, first, axis, angle)
        if about_first is not None:
            return ca.vertcat(about_first[0], *others), qd
        i, j, k = ("xyz".index(letter) for letter in self.order)
        e = 1 if (j - i) % 3 == 1 else -1
        R = rotation_about(tuple(axis), angle) @ self.jcalc(q, qd).XJ.E.T
        found = ca.vertcat(ca.atan2(-e * R[j, k], R[k, k]), ca.asin(e * R[i, k]), ca.atan2(-e * R[i, j], R[i, i]))
        omega = self.jcalc(q, qd).vJ[:3]
        return found, ca.solve(self.jcalc(found, qd).S[:3, :], omega)


@dataclass(frozen=True)
class Universal(_Chained):
    """Rotation by q[0] about `first`, then by q[1] about `second`, which the first carries along [rad].

    >>> od.Universal("x", "y").nv
    2
    """

    first: tuple[float, float, float] = (1.0, 0.0, 0.0)
    second: tuple[float, float, float] = (0.0, 1.0, 0.0)
    q_labels = qd_labels = ("first", "second")

    def __init__(self, first: str | Vector = "x", second: str | Vector = "y") -> None:
        axes = unit_axis(first, "first axis"), unit_axis(second, "second axis")
        if np.linalg.norm(np.cross(*axes)) < 1e-6:
            raise ValueError(
                f"the axes of a universal joint must not be parallel, got {repr_in_message(first)} and "
                f"{repr_in_message(second)}"
            )
        object.__setattr__(self, "first", axes[0])
        object.__setattr__(self, "second", axes[1])
        object.__setattr__(self, "_links", tuple(Revolute(axis) for axis in axes))


@dataclass(frozen=True)
class MultiDof(_Chained):
    """1 to 6 degrees of freedom, each along a 6-D axis [r; t] about the frame that those before it have moved.

    An axis with r = 0 translates (t normalized, q in m), one with t = 0 turns (r normalized, q in rad), one with both
    is a screw as in `Helical`. qd the rates of q. A true joint of `len(axes)` dofs; the same motion by massless
    bodies, equal to rounding: `ModelBuilder.add_body(..., emulate=True)`.

    >>> slide = od.MultiDof([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)])  # along x, then along z
    >>> builder = od.ModelBuilder()
    >>> builder.add_body("block", slide, mass=1)
    >>> od.point_position(builder.build(), "block", [0.5, 2.0])
    DM([0.5, 00, 2])
    """

    axes: tuple[tuple[float, ...], ...]

    def __init__(self, axes: Sequence[Vector]) -> None:
        if isinstance(axes, str) or not isinstance(axes, (Sequence, np.ndarray)) or not 1 <= len(axes) <= 6:
            raise ValueError(f"MultiDof needs 1 to 6 axes [r; t] of six numbers each, got {repr_in_message(axes)}")
        links = tuple(one_dof(axis) for axis in axes)
        labels = tuple(f"q{k}" for k in range(len(links)))
        object.__setattr__(self, "axes", tuple(_axis(joint) for joint in links))
        object.__setattr__(self, "_links", links)
        object.__setattr__(self, "q_labels", labels)
        object.__setattr__(self, "qd_labels", labels)

    def scaled(self, length: float) -> Joint:
        return MultiDof([_axis(link.scaled(length)) for link in self._links])


def _axis(joint: Joint) -> tuple[float, ...]:
    """[r; t] of a 1-dof joint."""
    zero = (0.0, 0.0, 0.0)
    if isinstance(joint, Revolute):
        return (*joint.axis, *zero)
    if isinstance(joint, Prismatic):
        return (*zero, *joint.axis)
    if isinstance(joint, Helical):
        return joint.axis
    raise TypeError(f"only joints of one screw axis make a list of axes, got {repr_in_message(joint)}")
