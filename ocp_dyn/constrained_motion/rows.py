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


@acceleration_derivatives.register
def _(constraint: Contact, at: Motions) -> Expr:
    frame = at.frame(constraint.body, constraint.point)
    return _selected(constraint, frame.dw.d, frame.a.d)


@velocity_derivatives.register
def _(constraint: Contact, at: Motions) -> Expr:
    frame = at.frame(constraint.body, constraint.point)
    return _selected(constraint, frame.w.d, frame.v.d)


@position_derivatives.register
def _(constraint: Contact, at: Motions) -> Expr:
    frame = at.frame(constraint.body, constraint.point)
    if constraint.axes is not None or constraint.reference is None:
        return sparse(constraint.axes) @ frame.p.d
    Q = frame.R @ sparse(np.reshape(constraint.reference[0], (3, 3))).T
    return _selected(constraint, _vee_derivatives(Q, _turns(frame)), frame.p.d)


@force_derivatives.register
def _(constraint: Contact, at: Motions, lam: Expr) -> Expr:
    n, f = split(constraint.all_rows(lam), 3, 3)
    return at.force_derivative(at.frame(constraint.body, constraint.point), at.constant(n), at.constant(f))


def _selected(constraint: Contact, angular: Expr, linear: Expr) -> Expr:
    return constraint.selected(ca.vertcat(angular, linear))


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


# Rolling contacts


def _tilt(constraint: RollingContact, at: Motions, frame: FrameMotion) -> tuple[Dual, Dual, Dual]:
    """b = a x n, the cylinder's axis a in the world, and the normal n."""
    n = at.constant(sparse(constraint.normal))
    a = frame.turning(frame.R @ sparse(constraint.axis))
    return a.cross(n), a, n


@acceleration_derivatives.register
def _(constraint: RollingContact, at: Motions) -> Expr:
    frame = at.frame(constraint.body, constraint.center)
    rows = [_touching(constraint, frame.dw, frame.a)]
    if constraint.turns:
        b, a, n = _tilt(constraint, at, frame)
        rows += [n.dot(frame.dw).d, (b.dot(frame.dw) + frame.w.cross(a).cross(n).dot(frame.w)).d]
    return ca.vertcat(*rows)


@velocity_derivatives.register
def _(constraint: RollingContact, at: Motions) -> Expr:
    frame = at.frame(constraint.body, constraint.center)
    rows = [_touching(constraint, frame.w, frame.v)]
    if constraint.turns:
        b, _, n = _tilt(constraint, at, frame)
        rows += [n.dot(frame.w).d, b.dot(frame.w).d]
    return ca.vertcat(*rows)


def _touching(constraint: RollingContact, angular: Dual, linear: Dual) -> Expr:
    """Derivatives of the rows of the point in contact: sides (linear + radius n x angular)."""
    return constraint.sides @ (linear.d + constraint.radius * skew(sparse(constraint.normal)) @ angular.d)


@position_derivatives.register
def _(constraint: RollingContact, at: Motions) -> Expr:
    frame = at.frame(constraint.body, constraint.center)
    rows = [sparse(constraint.normal).T @ frame.p.d, DM(constraint.sides.shape[0] - 1, 2 * at.model.nv)]
    if constraint.turns:
        _, a, n = _tilt(constraint, at, frame)
        rows += [DM(1, 2 * at.model.nv), n.dot(a).d]
    return ca.vertcat(*rows)


@force_derivatives.register
def _(constraint: RollingContact, at: Motions, lam: Expr) -> Expr:
    """The force at the point in contact, radius below the center: the couple -radius n x f at the center."""
    frame = at.frame(constraint.body, constraint.center)
    f = constraint.sides.T @ lam[: constraint.sides.shape[0]]
    couple = at.constant(constraint.radius * ca.cross(f, sparse(constraint.normal)))
    if constraint.turns:
        b, _, n = _tilt(constraint, at, frame)
        couple = couple + Dual(n.value * lam[3] + b.value * lam[4], b.d * lam[4])
    return at.force_derivative(frame, couple, at.constant(f))


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
