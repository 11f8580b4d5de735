"""Second derivatives of constrained dynamics, contracted with weights, by the implicit function theorem.

The solution z = (qdd, lam) of

    r1 = ID(q, qd, qdd) - tau - G' lam = 0,     r2 = G qdd - gamma = 0

is weighted to the scalar a' z. With the multipliers y = (mu, nu) of (dr/dz)' y = a, that is

    H mu + G' nu = a_qdd,     -G mu = a_lam,

and the scalar L = mu' r1 + nu' r2 of x = (q, qd, tau) and z, the gradient is d(a' z)/dx = -L_x. L is linear in z, so
that the Hessian needs the first derivatives z_x only once more:

    d2(a' z)/dx2 = -(L_xx + L_xz z_x + (L_xz z_x)').

L is the sum of mu' ID, whose derivatives are those of `derivatives.second`, and of the rows
c = nu' (G qdd - gamma) - lam' G mu, a short scalar that is differentiated automatically.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
from casadi import SX

from .._types import Expr
from ..constraints import Constraints, as_set, constraint_hessian
from ..dynamics.rnea_crba_aba import bias_force
from ..mechanism import Model
from ..mechanism.loads import NO_LOADS, Loads
from .solvers import RangeSpace, Rows


class Multipliers(NamedTuple):
    """The solution qdd (nv), lam (m), and the multipliers mu (nv) and nu (m) of its weights."""

    qdd: Expr
    lam: Expr
    mu: Expr
    nu: Expr


class RowDerivatives(NamedTuple):
    """Derivatives of the scalar c of the rows by the entries of q and by qd, qdd and lam."""

    c_qq: Expr
    c_q_qd: Expr
    c_qd_qd: Expr
    c_q_qdd: Expr
    c_q_lam: Expr


def multipliers(
    model: Model,
    constraints: Constraints,
    q: Expr,
    qd: Expr,
    tau: Expr,
    weights: tuple[Expr, Expr],
    *,
    t: float | None = None,
    loads: Loads = NO_LOADS,
) -> Multipliers:
    """Constrained dynamics, and the multipliers for weights of qdd (nv) and of lam (m), with the same factors."""
    members = as_set(constraints, t)
    given = Rows.of(model, members, q)
    space = RangeSpace.of(model, given, q, loads)
    C = bias_force(model, q, qd, loads=loads)
    qdd, lam = space.solve(tau - C, constraint_hessian(model, members, q, qd))
    mu, nu = space.solve(weights[0], -weights[1])
    return Multipliers(qdd, lam, mu, -nu)


def row_derivatives(
    model: Model, constraints: Constraints, q: SX, qd: SX, at: Multipliers, *, t: float | None = None
) -> RowDerivatives:
    """Second derivatives of c = nu' (G qdd - gamma) - lam' G mu at constant mu and nu."""
    members = as_set(constraints, t)
    names = ("qdd", "lam", "mu", "nu")
    Q, Qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
    qdd, lam, mu, nu = (SX.sym(name, value.shape[0]) for name, value in zip(names, at, strict=True))
    G = ca.vertcat(*(member.jacobian(model, Q) for member in members))
    gamma = constraint_hessian(model, members, Q, Qd)
    c = ca.dot(nu, G @ qdd - gamma) - ca.dot(lam, G @ mu)
    both = ca.vertcat(Q, Qd)
    H, gradient = ca.hessian(c, both)
    mixed = ca.jacobian(gradient[: model.nq], ca.vertcat(qdd, lam))
    (qq, q_qd), (_, qd_qd) = ca.blocksplit(H, [0, model.nq, both.shape[0]], [0, model.nq, both.shape[0]])
    q_qdd, q_lam = ca.horzsplit(mixed, [0, model.nv, mixed.shape[1]])
    f = ca.Function("rows", [Q, Qd, qdd, lam, mu, nu], [qq, q_qd, qd_qd, q_qdd, q_lam], {"cse": True})
    return RowDerivatives(*f.call([q, qd, *(SX(value) for value in at)], True, False))
