"""The base class of every joint model, and the joint that does not move.

A class says how its joint moves, by `jcalc`. Other facts are found by trying random configurations: which entries of q
are lengths, whether the joint floats, which entry of q has which rate. So they hold for joints of users too.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM
from numpy.typing import NDArray

from .._base.extensible import Extensible
from .._base.types import Array, Expr, Vector, repr_in_message
from ..spatial_algebra.spatial import Transform


class JointState(NamedTuple):
    """Kinematics of a joint at (q, qd), returned by `Joint.jcalc`: transform XJ, motion subspace S, velocity vJ = S qd,
    bias acceleration cJ.

    >>> state = od.Revolute("y").jcalc(ca.DM([0.0]), ca.DM([2.0]))
    >>> state.vJ.T
    DM([[00, 2, 00, 00, 00, 00]])
    """

    XJ: Transform
    S: Expr
    vJ: Expr
    cJ: Expr


class Joint(Extensible):
    """One joint model. `q_labels`, `qd_labels` name its entries; sizes follow from them.

    >>> od.Revolute("y").nq, od.Revolute("y").floats()
    (1, False)
    """

    q_labels: tuple[str, ...]
    qd_labels: tuple[str, ...]

    @property
    def nq(self) -> int:
        return len(self.q_labels)

    @property
    def nv(self) -> int:
        return len(self.qd_labels)

    @abstractmethod
    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        """XJ, S, vJ, cJ at positions q (nq) and velocities qd (nv; structurally empty when at rest)."""

    @property
    def has_quaternion(self) -> bool:
        """Whether the last four entries of q are a unit quaternion (x, y, z, w)."""
        return False

    @property
    def leading_translations(self) -> int:
        """Number of the first velocities that only translate the body, along directions fixed in the parent.

        Forces do not depend on these velocities of a root. 0 is right for every joint, and costs some operations.
        """
        return 0

    def basis(self, S: Expr) -> Expr | None:
        """Velocities of the joint, in columns (nv x nv), of which S makes motions of one size, for forward dynamics to
        solve in; None where S does so itself, as in all joints at whose place the body is."""
        return None

    def chain(self) -> tuple[Joint, ...]:
        """The chain of 1-dof joints with the same motion, q and qd."""
        if self.nq == self.nv == 1:
            return (self,)
        raise ValueError(f"{repr_in_message(self)} is not a chain of 1-dof joints: give its axes as MultiDof(axes)")

    def scaled(self, length: float) -> Joint:
        """The joint of a mechanism `length` times as large; entries of q that are lengths grow with it."""
        return self

    # Facts that are found by trying random configurations, whatever the class and the labels of the joint.

    def lengths(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Truth values for entries of q (nq) and of qd (nv): True for lengths [m, m/s], which do not turn the body."""
        q, S = self._at_generic_position()
        by_v = ~np.any(S[:3], axis=0)
        rates = self.q_dot(DM(q), DM(by_v.astype(float)))
        return np.array(DM(rates).full()).ravel() != 0, by_v

    def floats(self) -> bool:
        """Whether the body moves freely in space (six dofs) or in a plane (three): such a root has no motors."""
        if self.nv not in (3, 6):
            return False
        _, S = self._at_generic_position()
        rank = np.linalg.matrix_rank
        if self.nv == 6 or rank(S) < 3 or rank(S[:3]) != 1:
            return bool(rank(S) == 6)
        normal = S[:3, int(np.argmax(np.abs(S[:3]).max(axis=0)))]
        along = normal / np.linalg.norm(normal) @ S[3:]
        return bool(np.abs(along).max() <= 1e-9 * max(1.0, np.abs(S[3:]).max()))

    def coordinates(self) -> tuple[int | None, ...]:
        """Entries of q whose rates are the entries of qd; None if it is no rate of a single entry of q, as the
        angular velocities beside a quaternion.

        >>> od.FloatingBase().coordinates()
        (0, 1, 2, None, None, None)
        """
        if type(self).q_dot is Joint.q_dot:
            return tuple(range(self.nv))
        rng, rates = np.random.default_rng(0), ca.horzsplit(DM.eye(self.nv))
        at = [DM(self.random_q(rng)) for _ in range(2)]
        one, other = (np.array(DM(ca.horzcat(*(self.q_dot(q, rate) for rate in rates))).full()) for q in at)
        alone = (one == 1) & (other == 1)
        alone &= (np.count_nonzero(one, axis=0) == 1) & (np.count_nonzero(one, axis=1) == 1)[:, None]
        return tuple(int(np.argmax(column)) if column.any() else None for column in alone.T)

    def _at_generic_position(self) -> tuple[Array, Array]:
        """A generic position (nq) and S (6, nv) there; at neutral, entries of S may be zero or S singular by chance."""
        q = self.random_q(np.random.default_rng(0))
        return q, np.array(DM(self.jcalc(DM(q), DM(self.nv, 1)).S).full())

    # The methods below are right for joints whose configuration space is R^n; others override them.

    def q_dot(self, q: Expr, qd: Expr) -> Expr:
        """dq/dt (nq)."""
        return qd

    def integrate(self, q: Expr, v: Expr) -> Expr:
        """The position reached from q with constant velocity v over unit time (exact)."""
        return q + v

    def difference(self, q0: Expr, q1: Expr) -> Expr:
        """The v (nv) with `integrate(q0, v) = q1`."""
        return q1 - q0

    def tangent_rate(self, theta: Expr, v: Expr) -> Expr:
        """d(theta)/dt (nv) along `q = integrate(q0, theta)`, q0 fixed, where the velocity is v."""
        return v

    # The Jacobians below follow from `tangent_rate` for every joint; a joint may have shorter expressions.

    def d_integrate(self, q: Expr, v: Expr) -> tuple[Expr, Expr]:
        """(D_q, D_v) (nv x nv each): the tangent step of `integrate(q, v)` per tangent step of q, and per change of v.

        With `tangent_rate(v, u) = T(v) u`, D_v = T(v)^-1 and D_q = T(v)^-1 T(-v): the difference v of q and
        `integrate(q, v)` stays the same when both move, see `d_difference`.
        """
        if type(self).tangent_rate is Joint.tangent_rate:
            return DM.eye(self.nv), DM.eye(self.nv)
        T = self._tangent_rates(v)
        return ca.solve(T, self._tangent_rates(-v)), ca.solve(T, DM.eye(self.nv))

    def d_difference(self, q0: Expr, q1: Expr) -> tuple[Expr, Expr]:
        """(D_0, D_1) (nv x nv each): the change of `v = difference(q0, q1)` per tangent step of q0, and of q1.

        D_1 = T(v), and D_0 = -T(-v) because `difference(q0, q1) = -difference(q1, q0)`.
        """
        if type(self).tangent_rate is Joint.tangent_rate:
            return -DM.eye(self.nv), DM.eye(self.nv)
        v = self.difference(q0, q1)
        return -self._tangent_rates(-v), self._tangent_rates(v)

    def _tangent_rates(self, v: Expr) -> Expr:
        """T (nv x nv) with `tangent_rate(v, u) = T u`."""
        return ca.horzcat(*(self.tangent_rate(v, column) for column in ca.horzsplit(DM.eye(self.nv))))

    def turned(self, q: Expr, qd: Expr, axis: Vector, angle: Expr) -> tuple[Expr, Expr] | None:
        """(q, qd) of the motion that is turned by an angle [rad] about a unit axis through the origin of the fixed
        frame.

        None if the joint cannot move so, which is right for every joint.
        """
        return None

    def neutral(self) -> Array:
        """The position in which the moved frame coincides with the fixed one; zero for a `FunctionJoint`, which may
        have none."""
        return np.zeros(self.nq)

    def random_q(self, rng: np.random.Generator) -> Array:
        """A random valid position, angles and lengths within (-1, 1)."""
        return rng.uniform(-1.0, 1.0, self.nq)


@dataclass(frozen=True)
class Fixed(Joint):
    """No motion. A body on it is merged into the body it is fixed to and stays a named frame.

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("arm", od.Revolute("y"), mass=1)
    >>> builder.add_body("tool", od.Fixed(), "arm", origin=(0, 0, 0.5), mass=2)
    >>> builder.build().body_names, builder.build().mass
    (('arm',), 3.0)
    """

    q_labels = qd_labels = ()

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        return JointState(Transform.identity(), DM(6, 0), DM(6, 1), DM(6, 1))
