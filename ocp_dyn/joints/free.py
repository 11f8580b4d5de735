"""Joints that turn freely: spherical, planar, floating base."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
import numpy as np
from casadi import DM

from .._base.checks import choice, given_name
from .._base.types import Array, Expr, Vector, sparse, split
from ..spatial_algebra.rotations import (
    exp3,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    quaternion_multiply,
    quaternion_rate,
    rotation_about,
    rotation_vector_jacobian,
    rotation_vector_rate,
)
from ..spatial_algebra.spatial import ZERO3, Transform
from .multiple import EULER_ORDERS, Euler
from .one_dof import Prismatic, Revolute
from .protocol import Joint, JointState


@dataclass(frozen=True)
class Spherical(Joint):
    """Free rotation, without singularity: q a quaternion (x, y, z, w), qd the body angular velocity [rad/s].

    >>> od.Spherical().nq, od.Spherical().nv
    (4, 3)
    """

    q_labels = ("qx", "qy", "qz", "qw")
    qd_labels = ("wx", "wy", "wz")

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        S = ca.vertcat(DM.eye(3), DM(3, 3))
        return JointState(Transform(quaternion_matrix(q).T, ZERO3), S, S @ qd, DM(6, 1))

    @property
    def has_quaternion(self) -> bool:
        return True

    def q_dot(self, q: Expr, qd: Expr) -> Expr:
        return quaternion_rate(q, qd)

    def integrate(self, q: Expr, v: Expr) -> Expr:
        return quaternion_multiply(q, quaternion_exp(v))

    def difference(self, q0: Expr, q1: Expr) -> Expr:
        return quaternion_log(quaternion_multiply(quaternion_conjugate(q0), q1))

    def tangent_rate(self, theta: Expr, v: Expr) -> Expr:
        return rotation_vector_rate(theta, v)

    def d_integrate(self, q: Expr, v: Expr) -> tuple[Expr, Expr]:
        return exp3(v).T, rotation_vector_jacobian(v)

    def turned(self, q: Expr, qd: Expr, axis: Vector, angle: Expr) -> tuple[Expr, Expr] | None:
        half = angle / 2
        return quaternion_multiply(ca.vertcat(sparse(axis) * ca.sin(half), ca.cos(half)), q), qd

    def neutral(self) -> Array:
        return np.array([0.0, 0.0, 0.0, 1.0])

    def random_q(self, rng: np.random.Generator) -> Array:
        quat = rng.normal(size=4)
        return np.asarray(quat / np.linalg.norm(quat))


class _TranslateRotate(Joint):
    """Translation along some axes of the fixed frame, then a rotation about the moved origin.

    `qd` holds the rates of the translations (along the fixed axes), then those of the rotation.
    """

    _along: DM
    """3 x k: unit vectors of the translations."""
    _rotation: Joint

    def _label(self, along: str) -> None:
        object.__setattr__(self, "_along", DM.eye(3)[:, ["xyz".index(k) for k in along]])
        for kind in ("q_labels", "qd_labels"):
            object.__setattr__(self, kind, (*along, *getattr(self._rotation, kind)))

    def _parts(self, x: Expr) -> tuple[Expr, Expr]:
        k = self._along.shape[1]
        p, rest = split(x, k, x.shape[0] - k)
        return p, rest

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        (p, qr), (pd, qdr) = self._parts(q), self._parts(qd)
        turn = self._rotation.jcalc(qr, qdr)
        E = turn.XJ.E
        ES = E @ self._along
        Sw, w, cw = turn.S[:3, :], turn.vJ[:3], turn.cJ[:3]
        u = ES @ pd
        S = ca.blockcat([[DM(3, self._along.shape[1]), Sw], [ES, DM(3, self._rotation.nv)]])
        return JointState(Transform(E, self._along @ p), S, ca.vertcat(w, u), ca.vertcat(cw, -ca.cross(w, u)))

    def q_dot(self, q: Expr, qd: Expr) -> Expr:
        (_, qr), (pd, qdr) = self._parts(q), self._parts(qd)
        return ca.vertcat(pd, self._rotation.q_dot(qr, qdr))

    def integrate(self, q: Expr, v: Expr) -> Expr:
        (p, qr), (dp, vr) = self._parts(q), self._parts(v)
        return ca.vertcat(p + dp, self._rotation.integrate(qr, vr))

    def difference(self, q0: Expr, q1: Expr) -> Expr:
        (p0, r0), (p1, r1) = self._parts(q0), self._parts(q1)
        return ca.vertcat(p1 - p0, self._rotation.difference(r0, r1))

    def tangent_rate(self, theta: Expr, v: Expr) -> Expr:
        (_, turned), (pd, vr) = self._parts(theta), self._parts(v)
        return ca.vertcat(pd, self._rotation.tangent_rate(turned, vr))

    def d_integrate(self, q: Expr, v: Expr) -> tuple[Expr, Expr]:
        (_, qr), (shift, vr) = self._parts(q), self._parts(v)
        D_q, D_v = self._rotation.d_integrate(qr, vr)
        along = DM.eye(shift.shape[0])
        return ca.diagcat(along, D_q), ca.diagcat(along, D_v)

    def d_difference(self, q0: Expr, q1: Expr) -> tuple[Expr, Expr]:
        (shift, r0), (_, r1) = self._parts(q0), self._parts(q1)
        D_0, D_1 = self._rotation.d_difference(r0, r1)
        along = DM.eye(shift.shape[0])
        return ca.diagcat(-along, D_0), ca.diagcat(along, D_1)

    def turned(self, q: Expr, qd: Expr, axis: Vector, angle: Expr) -> tuple[Expr, Expr] | None:
        (p, qr), (pd, qdr) = self._parts(q), self._parts(qd)
        found = self._rotation.turned(qr, qdr, axis, angle)
        if found is None:
            return None
        R = self._along.T @ rotation_about(tuple(axis), angle) @ self._along
        return ca.vertcat(R @ p, found[0]), ca.vertcat(R @ pd, found[1])

    def neutral(self) -> Array:
        return np.concatenate([np.zeros(self._along.shape[1]), self._rotation.neutral()])

    @property
    def has_quaternion(self) -> bool:
        return self._rotation.has_quaternion

    @property
    def leading_translations(self) -> int:
        return int(self._along.shape[1])

    def chain(self) -> tuple[Joint, ...]:
        if self.has_quaternion:
            return super().chain()  # raises: a quaternion is not a chain of 1-dof joints
        shifts = (Prismatic(np.array(column.full()).ravel()) for column in ca.horzsplit(self._along))
        return (*shifts, *self._rotation.chain())

    def random_q(self, rng: np.random.Generator) -> Array:
        return np.concatenate([rng.uniform(-1, 1, self._along.shape[1]), self._rotation.random_q(rng)])


@dataclass(frozen=True)
class Planar(_TranslateRotate):
    """Motion in the plane of the fixed x and y axes: q = (x, y, theta), theta about z; qd their rates.

    For a walker, which moves in the plane of x and z, turn the joint's axes: `add_body(name, Planar(), rotation=R)`
    with R = ((1, 0, 0), (0, 0, -1), (0, 1, 0)), so that its y points up and theta turns x towards z.

    >>> od.Planar().q_labels
    ('x', 'y', 'theta')
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "_rotation", Revolute("z"))
        self._label("xy")
        object.__setattr__(self, "q_labels", ("x", "y", "theta"))
        object.__setattr__(self, "qd_labels", ("x", "y", "theta"))


@dataclass(frozen=True)
class FloatingBase(_TranslateRotate):
    """Six degrees of freedom: position (x, y, z) of the moved origin, then its rotation.

    `rotation="quaternion"`: q = [x y z, qx qy qz qw], qd = [linear velocity of the origin along the fixed
    axes; angular velocity in body axes]. `rotation="euler_zyx"` (xyz, yxz, zxy): nq = nv = 6, qd = dq/dt.
    As the root of a model the joint is called `name`.

    >>> od.FloatingBase().q_labels
    ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')
    >>> od.FloatingBase("euler_zyx").nq
    6
    """

    rotation: str = "quaternion"
    name: str = field(default="root", kw_only=True)

    def __post_init__(self) -> None:
        kinds = ("quaternion", *(f"euler_{order}" for order in EULER_ORDERS))
        choice(self.rotation, kinds, "FloatingBase rotation")
        given_name(self.name, "FloatingBase name")
        rotation = Spherical() if self.rotation == "quaternion" else Euler(self.rotation.removeprefix("euler_"))
        object.__setattr__(self, "_rotation", rotation)
        self._label("xyz")
