"""Derivatives of the motion of a point of a frame, by every dof that supports it; world axes.

A tangent direction delta_k of joint j turns and shifts its whole subtree by the column J_k = [s_w; s_p] of the point's
Jacobian. With that rigid part split off, psi_k and phi_k (see `ocp_dyn.derivatives.first`), taken at the point, are
left:

    d(w)  = s_w x w  + psi_w,               d(vp) = s_w x vp + psi_p,
    d(dw) = s_w x dw + psi_w x w + phi_w,   d(ap) = s_w x ap + 2 psi_w x vp + phi_p,

w, dw the angular velocity and acceleration, vp, ap the velocity and the true acceleration of the point p. For qd_k,
J_k stands in place of psi_k and chi_k of phi_k, and nothing turns:

    d(w)  = s_w,                            d(vp) = s_p,
    d(dw) = s_w x w + chi_w,                d(ap) = 2 s_w x vp + chi_p.

The factor 2 is Coriolis': the spatial acceleration gives psi_w x vp - w x psi_p, the rate of `w x vp` the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
from casadi import DM

from .._base.types import Expr, Vector
from ..derivatives.first import Outward, outward_pass
from ..dynamics.kinematics import as_point, resolve
from ..dynamics.recursions import poses
from ..mechanism import Frame, Model
from ..spatial_algebra.spatial import Transform, halves, skew


@dataclass(frozen=True)
class Dual:
    """A quantity (n) and its derivatives d (n x 2 nv): columns are tangent directions of q, then entries of qd."""

    value: Expr
    d: Expr

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, self.d + other.d)

    def __sub__(self, other: Dual) -> Dual:
        return Dual(self.value - other.value, self.d - other.d)

    def cross(self, other: Dual) -> Dual:
        """The cross product of two vectors (3)."""
        a, b = self.value, other.value
        return Dual(ca.cross(a, b), skew(a) @ other.d - skew(b) @ self.d)

    def dot(self, other: Dual) -> Dual:
        a, b = self.value, other.value
        return Dual(ca.dot(a, b), b.T @ self.d + a.T @ other.d)


@dataclass(frozen=True)
class FrameMotion:
    """A frame and a point of it, world axes: rotation R, Jacobian J (6 x nv) at the point, and with derivatives

    p the point, w, dw the angular velocity and acceleration of the body, v, a the true ones of the point. levers:
    vectors to the point from the origins of the bodies on its path.
    """

    frame: Frame
    R: Expr
    J: Expr
    levers: dict[int, Expr]
    p: Dual
    w: Dual
    v: Dual
    dw: Dual
    a: Dual

    def turning(self, u: Expr) -> Dual:
        """A world vector that is fixed in the frame: d(u) = s_w x u."""
        return Dual(u, _by_q(-skew(u) @ self.J[:3, :]))


@dataclass(frozen=True)
class Motions:
    """A model at q, qd, qdd: the outward pass, without gravity, and the motions of frames from it."""

    model: Model
    q: Expr
    qd: Expr
    qdd: Expr

    @cached_property
    def _outward(self) -> Outward:
        return outward_pass(self.model, self.q, self.qd, self.qdd)

    @cached_property
    def _X0(self) -> dict[int, Transform]:
        """Ground to body, by body."""
        return poses(self.model, self._outward.states)

    def constant(self, value: Expr) -> Dual:
        """A quantity that depends on neither q nor qd."""
        return Dual(value, DM(value.shape[0], 2 * self.model.nv))

    def frame(self, frame: Frame | str, point: Vector | Expr = (0.0, 0.0, 0.0)) -> FrameMotion:
        """Motion of a frame and of the point of it given in frame coordinates. O(depth)."""
        f = resolve(self.model, frame)
        X0, r = self._X0[f.body], f.X.point(as_point(point))
        R, p = X0.E.T, X0.point(r)
        (w, vo), (dw, ao) = halves(self._outward.v[f.body]), halves(self._outward.a[f.body])
        v = vo + ca.cross(w, r)
        a = ao + ca.cross(dw, r) + ca.cross(w, v)
        w, v, dw, a = R @ w, R @ v, R @ dw, R @ a
        levers = self._levers(f.body, R @ r)
        J, psi, phi, chi = (self._columns(levers, kind) for kind in ("S", "psi", "phi", "chi"))
        (Jw, Jp), (psi_w, psi_p), (phi_w, phi_p), (chi_w, chi_p) = (halves(x) for x in (J, psi, phi, chi))
        return FrameMotion(
            f, R @ f.X.E.T, J, levers,
            p=Dual(p, _by_q(Jp)),
            w=Dual(w, ca.horzcat(psi_w - skew(w) @ Jw, Jw)),
            v=Dual(v, ca.horzcat(psi_p - skew(v) @ Jw, Jp)),
            dw=Dual(dw, ca.horzcat(phi_w - skew(w) @ psi_w - skew(dw) @ Jw, chi_w - skew(w) @ Jw)),
            a=Dual(a, ca.horzcat(phi_p - 2 * skew(v) @ psi_w - skew(a) @ Jw, chi_p - 2 * skew(v) @ Jw)),
        )  # fmt: skip

    def force_derivative(self, at: FrameMotion, n: Dual, f: Dual) -> Expr:
        """d(J' W)/dq (nv x nv), J the Jacobian at the frame's point, W = [n; f] couple and force, world axes.

        The column J_k = [s_w; s_p] turns with every dof l at or above k, and the point moves with every l below:

            d(J_k' W) = (s_k,w x n + s_k,p x f) . s_l,w + dS   (l at or above k),    (s_k,w x s_l,p) . f   (below),

        dS from the dependence of the joint's S on its q; plus J' dW.
        """
        model, nv = self.model, self.model.nv
        Jw, Jp = halves(at.J)
        turning = -(skew(n.value) @ Jw + skew(f.value) @ Jp).T @ Jw
        moving = -Jw.T @ (skew(f.value) @ Jp)
        total = at.J.T @ ca.vertcat(n.d[:, :nv], f.d[:, :nv])
        joint_of = [i for i, _ in model.edges for _ in model.dofs_of(i)]
        above = ca.sparsify(DM([[float(a >= b) for b in joint_of] for a in joint_of]))
        total = total + above * turning + ca.sparsify(1 - above) * moving
        own: list[Expr] = [DM(0, 0)]
        for i, _ in model.edges:
            size = len(model.dofs_of(i))
            block: Expr = DM(size, size)
            if i in at.levers:
                R, lever = self._X0[i].E.T, at.levers[i]
                wrench = ca.vertcat(R.T @ (n.value + ca.cross(lever, f.value)), R.T @ f.value)
                block = ca.horzcat(*(dS.T @ wrench for dS in self._outward.dS[i]))
            own.append(block)
        return total + ca.diagcat(*own)

    def _levers(self, body: int, way: Expr) -> dict[int, Expr]:
        """Vectors to a point from the origins of the bodies on its path; way: the vector from the origin of body
        `body`."""
        levers = {}
        for i in reversed(self.model.path(body)):
            levers[i] = way
            way = way + self._X0[self.model.parent[i]].E.T @ self._outward.states[i].XJ.r
        return levers

    def _columns(self, levers: dict[int, Expr], kind: str) -> Expr:
        """Columns of S, psi, phi or chi of the path to a body, taken at a point in world axes (6 x nv)."""
        model = self.model
        columns: list[Expr] = [DM(6, len(model.dofs_of(i))) for i in range(model.nb + 1)]
        for i, lever in levers.items():
            R = self._X0[i].E.T
            angular, linear = halves(getattr(self._outward.columns[i], kind))
            angular = R @ angular
            columns[i] = ca.vertcat(angular, R @ linear - skew(lever) @ angular)
        return ca.horzcat(*columns)


def _by_q(d: Expr) -> Expr:
    """Derivatives by q alone, widened by those by qd, which vanish."""
    return ca.horzcat(d, DM(*d.shape))
