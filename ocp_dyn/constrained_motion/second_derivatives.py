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

from .._base.types import Expr
from ..constraints import Constraints, as_set, constraint_hessian
from ..dynamics.rnea_crba_aba import bias_force
from ..mechanism import Model
from ..mechanism.loads import NO_LOADS, Loads
from .independent_rows import ConstraintRows
from .solvers import RangeSpace


class Multipliers(NamedTuple):
    """The solution qdd (nv), lam (m), and the multipliers mu (nv) and nu (m) of its weights."""

    qdd: Expr
    lam: Expr
    mu: Expr
    nu: Expr


def weighted_rows(
    model: Model, constraints: Constraints, q: Expr, qd: Expr, at: Multipliers, *, t: float | None = None
) -> Expr:
    """c = nu' (G qdd - gamma) - lam' G mu (1), whose second derivatives are those of L that belong to the
    constraints."""
    members = as_set(constraints, t)
    G = ca.vertcat(*(member.jacobian(model, q) for member in members))
    return ca.dot(at.nu, G @ at.qdd - constraint_hessian(model, members, q, qd)) - ca.dot(at.lam, G @ at.mu)


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
    given = ConstraintRows.of(model, members, q)
    space = RangeSpace.of(model, given, q, loads)
    C = bias_force(model, q, qd, loads=loads)
    qdd, lam = space.solve(tau - C, constraint_hessian(model, members, q, qd))
    mu, nu = space.solve(weights[0], -weights[1])
    return Multipliers(qdd, lam, mu, -nu)
