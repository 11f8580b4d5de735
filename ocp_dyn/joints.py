"""Joint models behind one protocol, `jcalc`: the only polymorphism of the library [RBDA, 4.4].

A joint of `nv` degrees of freedom turns its positions q (nq) and velocity variables qd (nv) into

    XJ   transform from the joint's fixed frame to its moved frame,
    S    motion subspace, 6 x nv, in moved coordinates,
    vJ   S qd, the velocity across the joint,
    cJ   (apparent dS/dt) qd, the velocity-product acceleration,

so that `v = X v_p + vJ` and `a = X a_p + S qdd + cJ + v x vJ`. A new kind of joint is a new class here
and no change anywhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from ._types import Array, Expr, Vector, split
from .rotations import (
    AXES,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    quaternion_multiply,
    quaternion_rate,
    rotation_about,
    unit_axis,
)
from .spatial import ZERO3, Transform


class JointState(NamedTuple):
    """What `Joint.jcalc` returns."""

    XJ: Transform
    S: Expr
    vJ: Expr
    cJ: Expr


class Joint(ABC):
    """One joint model. `q_labels`, `v_labels` name its entries; sizes follow from them."""

    q_labels: tuple[str, ...]
    v_labels: tuple[str, ...]

    @property
    def nq(self) -> int:
        return len(self.q_labels)

    @property
    def nv(self) -> int:
        return len(self.v_labels)

    @abstractmethod
    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        """XJ, S, vJ, cJ at positions q (nq) and velocities qd (nv; structurally empty when at rest)."""

    # What follows is right for a joint whose configuration space is R^n; others override it.

    def q_dot(self, q: Expr, qd: Expr) -> Expr:
        """dq/dt (nq)."""
        return qd

    def integrate(self, q: Expr, v: Expr) -> Expr:
        """The position reached from q with constant velocity v over unit time (exact)."""
        return q + v

    def difference(self, q0: Expr, q1: Expr) -> Expr:
        """The v (nv) with `integrate(q0, v) = q1`."""
        return q1 - q0

    def neutral(self) -> Array:
        """The position in which the moved frame coincides with the fixed one."""
        return np.zeros(self.nq)

    def random_q(self, rng: np.random.Generator) -> Array:
        """A random valid position, angles and lengths within (-1, 1)."""
        return rng.uniform(-1.0, 1.0, self.nq)


@dataclass(frozen=True)
class Fixed(Joint):
    """No motion. A body on it is merged into the body it is fixed to and stays a named frame."""

    q_labels = v_labels = ()

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        return JointState(Transform.identity(), DM(6, 0), DM(6, 1), DM(6, 1))


@dataclass(frozen=True)
class Revolute(Joint):
    """Rotation by q [rad] about `axis` ("x", "-z", or three numbers, normalised)."""

    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    q_labels = v_labels = ("",)

    def __init__(self, axis: str | Vector = "z") -> None:
        object.__setattr__(self, "axis", unit_axis(axis))

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        S = ca.vertcat(ca.sparsify(DM(self.axis)), ZERO3)
        XJ = Transform(rotation_about(self.axis, q).T, ZERO3)
        return JointState(XJ, S, S @ qd, DM(6, 1))


@dataclass(frozen=True)
class Prismatic(Joint):
    """Translation by q [m] along `axis` ("x", "-z", or three numbers, normalised)."""

    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    q_labels = v_labels = ("",)

    def __init__(self, axis: str | Vector = "z") -> None:
        object.__setattr__(self, "axis", unit_axis(axis))

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        a = ca.sparsify(DM(self.axis))
        S = ca.vertcat(ZERO3, a)
        return JointState(Transform(DM.eye(3), a @ q), S, S @ qd, DM(6, 1))


@dataclass(frozen=True)
class Translation(Joint):
    """Translation by q = (x, y, z) [m] along the axes of the fixed frame."""

    q_labels = v_labels = ("x", "y", "z")

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        S = ca.vertcat(DM(3, 3), DM.eye(3))
        return JointState(Transform(DM.eye(3), q), S, S @ qd, DM(6, 1))


@dataclass(frozen=True)
class Spherical(Joint):
    """Free rotation, without singularity: q a quaternion (x, y, z, w), qd the body angular velocity [rad/s]."""

    q_labels = ("qx", "qy", "qz", "qw")
    v_labels = ("wx", "wy", "wz")

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        S = ca.vertcat(DM.eye(3), DM(3, 3))
        return JointState(Transform(quaternion_matrix(q).T, ZERO3), S, S @ qd, DM(6, 1))

    def q_dot(self, q: Expr, qd: Expr) -> Expr:
        return quaternion_rate(q, qd)

    def integrate(self, q: Expr, v: Expr) -> Expr:
        return quaternion_multiply(q, quaternion_exp(v))

    def difference(self, q0: Expr, q1: Expr) -> Expr:
        return quaternion_log(quaternion_multiply(quaternion_conjugate(q0), q1))

    def neutral(self) -> Array:
        return np.array([0.0, 0.0, 0.0, 1.0])

    def random_q(self, rng: np.random.Generator) -> Array:
        quat = rng.normal(size=4)
        return np.asarray(quat / np.linalg.norm(quat))


EULER_ORDERS = ("xyz", "zyx", "yxz", "zxy")


@dataclass(frozen=True)
class Euler(Joint):
    """Three intrinsic rotations, R = R_a(q0) R_b(q1) R_c(q2) for `order` "abc"; qd the angle rates [rad/s].

    S is singular at q1 = +-90 degrees. A true 3-dof joint: no massless bodies in between.
    """

    order: str = "zyx"
    q_labels = v_labels = ("q0", "q1", "q2")

    def __post_init__(self) -> None:
        if self.order not in EULER_ORDERS:
            raise ValueError(f"Euler order must be one of {', '.join(EULER_ORDERS)}, got {self.order!r}")
        labels = tuple(f"r{axis}" for axis in self.order)
        object.__setattr__(self, "q_labels", labels)
        object.__setattr__(self, "v_labels", labels)

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        axes = [ca.sparsify(DM(AXES[k])) for k in self.order]
        angles, rates = split(q), split(qd)
        Ea, Eb, Ec = (rotation_about(AXES[k], angle).T for k, angle in zip(self.order, angles, strict=True))
        s = [Ec @ (Eb @ axes[0]), Ec @ axes[1], axes[2]]
        S = ca.horzcat(*s)
        # ds_a/dt = -(sum of the later rotations' angular velocities) x s_a
        c = sum(
            (ca.cross(s[i], s[j]) * (rates[i] * rates[j]) for i, j in ((0, 1), (0, 2), (1, 2))), start=type(q)(3, 1)
        )
        return JointState(
            Transform(Ec @ (Eb @ Ea), ZERO3), ca.vertcat(S, DM(3, 3)), ca.vertcat(S @ qd, ZERO3), ca.vertcat(c, ZERO3)
        )


class _TranslateRotate(Joint):
    """Translation along some axes of the fixed frame, then a rotation about the moved origin.

    `qd` holds the rates of the translations (along the fixed axes), then those of the rotation.
    """

    _along: DM
    """3 x k: unit vectors of the translations."""
    _rotation: Joint

    def _label(self, along: str) -> None:
        object.__setattr__(self, "_along", DM.eye(3)[:, ["xyz".index(k) for k in along]])
        for kind in ("q_labels", "v_labels"):
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

    def neutral(self) -> Array:
        return np.concatenate([np.zeros(self._along.shape[1]), self._rotation.neutral()])

    def random_q(self, rng: np.random.Generator) -> Array:
        return np.concatenate([rng.uniform(-1, 1, self._along.shape[1]), self._rotation.random_q(rng)])


@dataclass(frozen=True)
class Planar(_TranslateRotate):
    """Motion in the plane of the fixed x and y axes: q = (x, y, theta), theta about z; qd their rates."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_rotation", Revolute("z"))
        self._label("xy")
        object.__setattr__(self, "q_labels", ("x", "y", "theta"))
        object.__setattr__(self, "v_labels", ("x", "y", "theta"))


@dataclass(frozen=True)
class FloatingBase(_TranslateRotate):
    """Six degrees of freedom: position (x, y, z) of the moved origin, then its rotation.

    `rotation="quaternion"`: q = [x y z, qx qy qz qw], qd = [linear velocity of the origin along the fixed
    axes; angular velocity in body axes]. `rotation="euler_zyx"` (xyz, yxz, zxy): nq = nv = 6, qd = dq/dt.
    As the root of a model the joint is called `name`.
    """

    rotation: str = "quaternion"
    name: str = field(default="root", kw_only=True)

    def __post_init__(self) -> None:
        kinds = ("quaternion", *(f"euler_{order}" for order in EULER_ORDERS))
        if self.rotation not in kinds:
            raise ValueError(f"FloatingBase rotation must be one of {', '.join(kinds)}, got {self.rotation!r}")
        rotation = Spherical() if self.rotation == "quaternion" else Euler(self.rotation.removeprefix("euler_"))
        object.__setattr__(self, "_rotation", rotation)
        self._label("xyz")
