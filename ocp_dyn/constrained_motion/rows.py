"""Derivatives of the rows of each kind of constraint: of phi, of the velocity error, of G qdd - gamma, and of G' lam.

Contacts, loops and rolling contacts are written on the motion of frames, so their derivatives are too (`frames`).
The others, such as joint couplings and users' functions, are differentiated by AD: their rows only, never the equations
of motion. For a class of constraints recursions can be registered:
`acceleration_derivatives.register(MyConstraint)` and the same for the other three functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

import casadi as ca
import numpy as np
from casadi import DM

from .._base.autodiff import derivatives
from .._base.types import Expr, exact, sparse, split
from ..constraints import Baumgarte, Constraint, Contact, Loop, RollingContact
from ..dynamics.kinematics import as_point
from ..spatial_algebra.spatial import skew
from .contact_frames import Dual, FrameMotion, Motions


@singledispatch
def acceleration_derivatives(constraint: Constraint, at: Motions) -> Expr:
    """d(G qdd - gamma) by the tangent directions of q, then by qd (m x 2 nv), at constant qdd."""

    def rows(q: Expr, qd: Expr, qdd: Expr) -> Expr:
        return constraint.jacobian(at.model, q) @ qdd - constraint.hessian(at.model, q, qd)

    return _by_ad(rows, at, at.qdd)


@singledispatch
def velocity_derivatives(constraint: Constraint, at: Motions) -> Expr:
    """d(velocity error) by the tangent directions of q, then by qd (m x 2 nv); the last is G."""

    def rows(q: Expr, qd: Expr, _: Expr) -> Expr:
        return constraint.velocity(at.model, q, qd)

    return _by_ad(rows, at, at.qdd)


@singledispatch
def position_derivatives(constraint: Constraint, at: Motions) -> Expr:
    """d(phi) by the tangent directions of q, then by qd (m x 2 nv); the last vanishes."""

    def rows(q: Expr, _qd: Expr, _qdd: Expr) -> Expr:
        return constraint.position(at.model, q)

    return _by_ad(rows, at, at.qdd)


@singledispatch
def force_derivatives(constraint: Constraint, at: Motions, lam: Expr) -> Expr:
    """d(G' lam) by the tangent directions of q (nv x nv), at constant lam."""

    def rows(q: Expr, _: Expr, lam: Expr) -> Expr:
        return constraint.jacobian(at.model, q).T @ lam

    return _by_ad(rows, at, lam)[:, : at.model.nv]


def _by_ad(rows: Callable[[Expr, Expr, Expr], Expr], at: Motions, constant: Expr) -> Expr:
    """Derivatives of rows(q, qd, constant) along (delta, d(qd))."""
    nq, nv, n = at.model.nq, at.model.nv, constant.shape[0]

    def rate(x: Expr, step: Expr) -> Expr:
        delta, d_qd = split(step, nv, nv)
        return ca.vertcat(at.model.q_dot(x[:nq], delta), d_qd, type(x)(n, 1))

    x = ca.vertcat(at.q, at.qd, constant)
    return derivatives(lambda x: rows(*split(x, nq, nv, n)), x, DM(2 * nv, 1), rate).jacobian


# Contacts


def _on_frame(constraint: Contact | RollingContact, at: Motions) -> tuple[FrameMotion, Dual, Expr]:
    """The frame of a contact, its arm e in the world, and the R of its `motion_rows`."""
    rows = constraint.motion_rows
    frame = at.frame(rows.frame, rows.point)
    return frame, frame.turning(frame.R @ as_point(rows.arm)), rows.R


@acceleration_derivatives.register(Contact)
@acceleration_derivatives.register(RollingContact)
def _(constraint: Contact | RollingContact, at: Motions) -> Expr:
    frame, e, R = _on_frame(constraint, at)
    end = frame.dw.cross(e) + frame.w.cross(frame.w.cross(e))
    return R @ ca.vertcat(frame.dw.d, frame.a.d, end.d)


@velocity_derivatives.register(Contact)
@velocity_derivatives.register(RollingContact)
def _(constraint: Contact | RollingContact, at: Motions) -> Expr:
    frame, e, R = _on_frame(constraint, at)
    return R @ ca.vertcat(frame.w.d, frame.v.d, frame.w.cross(e).d)


@force_derivatives.register(Contact)
@force_derivatives.register(RollingContact)
def _(constraint: Contact | RollingContact, at: Motions, lam: Expr) -> Expr:
    frame, e, R = _on_frame(constraint, at)
    n, f, end = (at.constant(x) for x in split(R.T @ lam, 3, 3, 3))
    return at.force_derivative(frame, n + e.cross(end), f)


@position_derivatives.register
def _(constraint: Contact, at: Motions) -> Expr:
    frame = at.frame(constraint.body, constraint.point)
    if constraint.axes is not None or constraint.reference is None:
        return sparse(constraint.axes) @ frame.p.d
    Q = frame.R @ sparse(np.reshape(constraint.reference[0], (3, 3))).T
    return constraint.selected(ca.vertcat(_vee_derivatives(Q, _turns(frame)), frame.p.d))


@position_derivatives.register
def _(constraint: RollingContact, at: Motions) -> Expr:
    (frame, e, _), n = _on_frame(constraint, at), sparse(constraint.normal).T
    tilt = [DM(1, 2 * at.model.nv), n @ e.d] if constraint.turns else []
    return ca.vertcat(n @ frame.p.d, DM(constraint.sides.shape[0] - 1, 2 * at.model.nv), *tilt)


def _turns(frame: FrameMotion) -> Expr:
    """d(R) = s x R: the columns s (3 x 2 nv)."""
    return ca.horzcat(frame.J[:3, :], DM(3, frame.J.shape[1]))


def _vee_derivatives(Q: Expr, s: Expr) -> Expr:
    """d(vee(Q)) = 1/2 (tr(Q) - Q) s for d(Q) = s x Q."""
    return (ca.trace(Q) * s - Q @ s) / 2


# Loops


def _ends(constraint: Loop, at: Motions) -> tuple[FrameMotion, FrameMotion, Expr]:
    """Predecessor, successor, and the rotation of the loop's predecessor frame."""
    R, r = constraint.predecessor_pose
    p = at.frame(constraint.predecessor, r)
    return p, at.frame(constraint.successor, constraint.successor_pose[1]), p.R @ sparse(np.reshape(R, (3, 3)))


def _in_predecessor(constraint: Loop, p: FrameMotion, R: Expr, angular: Dual, linear: Dual) -> Expr:
    """Derivatives of T_w' [angular; linear], T_w = diag(R, R) T: the axes turn with the predecessor."""
    T = exact(constraint.axes)
    halves = [R.T @ (x.d + skew(x.value) @ _turns(p)) for x in (angular, linear)]
    return T[:, :3] @ halves[0] + T[:, 3:] @ halves[1]


@acceleration_derivatives.register
def _(constraint: Loop, at: Motions) -> Expr:
    p, s, R = _ends(constraint, at)
    u, du = s.v - p.v, s.a - p.a
    if constraint.sliding:
        apart = s.p - p.p
        u, du = u - p.w.cross(apart), du - p.dw.cross(apart) - p.w.cross(u)
    return _in_predecessor(constraint, p, R, s.dw - p.dw - p.w.cross(s.w), du - p.w.cross(u))


@velocity_derivatives.register
def _(constraint: Loop, at: Motions) -> Expr:
    p, s, R = _ends(constraint, at)
    u = s.v - p.v
    if constraint.sliding:
        u = u - p.w.cross(s.p - p.p)
    return _in_predecessor(constraint, p, R, s.w - p.w, u)


@position_derivatives.register
def _(constraint: Loop, at: Motions) -> Expr:
    p, s, R = _ends(constraint, at)
    Q = R.T @ (s.R @ sparse(np.reshape(constraint.successor_pose[0], (3, 3))))
    T, apart, turns = exact(constraint.axes), s.p - p.p, R.T @ (_turns(s) - _turns(p))
    n = constraint.free_axis
    # d(n x Q n) for d(Q) = s x Q, where the loop is free to turn about n
    turned = _vee_derivatives(Q, turns) if n is None else -skew(n) @ skew(Q @ n) @ turns
    return T[:, :3] @ turned + T[:, 3:] @ (R.T @ (apart.d + skew(apart.value) @ _turns(p)))


@force_derivatives.register
def _(constraint: Loop, at: Motions, lam: Expr) -> Expr:
    """The wrench on the successor, W = T_w lam at its origin; the opposite on the predecessor, at the same point if
    sliding."""
    p, s, R = _ends(constraint, at)
    T = exact(constraint.axes)
    n, f = (p.turning(R @ (half.T @ lam)) for half in (T[:, :3], T[:, 3:]))
    on_s = at.force_derivative(s, n, f)
    return on_s - at.force_derivative(p, n + (s.p - p.p).cross(f) if constraint.sliding else n, f)


# Stabilized constraints


@acceleration_derivatives.register
def _(constraint: Baumgarte, at: Motions) -> Expr:
    inner, T = constraint.constraint, constraint.T
    stabilizing = 2 / T * velocity_derivatives(inner, at) + position_derivatives(inner, at) / T**2
    return acceleration_derivatives(inner, at) + stabilizing


@velocity_derivatives.register
def _(constraint: Baumgarte, at: Motions) -> Expr:
    return velocity_derivatives(constraint.constraint, at)


@position_derivatives.register
def _(constraint: Baumgarte, at: Motions) -> Expr:
    return position_derivatives(constraint.constraint, at)


@force_derivatives.register
def _(constraint: Baumgarte, at: Motions, lam: Expr) -> Expr:
    return force_derivatives(constraint.constraint, at, lam)
