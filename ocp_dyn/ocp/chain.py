"""Derivatives by the chain rule over inner variables: small Jacobians and Hessians put together, not one large one.

An interval's equations see the variables z only through the states y(z) at its stages, and the dynamics e = F(y, z)
have derivatives of their own, by recursion. With w = (z, y), D = dw/dz, E = de/dw, L(w, e) the Lagrangian, mu = dL/de,

    dg/dz = (dg/dw + dg/de E) D,
    d2L/dz2 = D' (d2L/dw2 + d2(mu'F)/dw2 + L_we E + (L_we E)' + E' L_ee E) D + sum_k dL/dy_k d2y_k/dz2.

y is nearly linear in z, so D is cheap and the last term almost empty; L_we and L_ee vanish where e enters linearly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
from casadi import SX

from .._types import Expr


@dataclass(frozen=True, eq=False)
class Call:
    """e = f(arguments): e and the arguments are symbols, f has one output.

    differentiable: makes f with derivatives of its own, which may take time, or raises ValueError if it has none.
    """

    f: ca.Function
    arguments: tuple[SX, ...]
    e: SX
    differentiable: Callable[[], ca.Function]

    def value(self) -> SX:
        return SX(self.f(*self.arguments))

    def derivatives(self, mu: SX) -> tuple[SX, SX]:
        """de, and the second derivatives of mu' e, by all arguments side by side."""
        try:
            f = self.differentiable()
        except ValueError:
            w = ca.vertcat(*self.arguments)
            return ca.jacobian(self.value(), w), ca.hessian(ca.dot(mu, self.value()), w)[0]
        adjoint, n = f.reverse(1), len(self.arguments)
        second, unused = adjoint.jacobian(), SX(*f.size_out(0))
        rest = [SX(*second.size_in(i)) for i in range(n + 2, second.n_in())]
        first = f.jacobian().call([*self.arguments, unused])
        blocks = second.call([*self.arguments, unused, mu, *rest])
        width = adjoint.n_in()
        rows = [ca.horzcat(*blocks[i * width : i * width + n]) for i in range(n)]
        return ca.horzcat(*first), ca.vertcat(*rows)


class Derivatives(NamedTuple):
    """Of the cost f: its gradient; of the rows g: their Jacobian; of lam_f f + lam_g' g: the Hessian's upper half."""

    gradient: Expr
    jacobian: Expr
    hessian: Expr


def derivatives(
    f: Expr, g: Expr, lam_f: Expr, lam_g: Expr, z: Expr, y: Expr, y_of_z: Expr, calls: Sequence[Call] = ()
) -> Derivatives:
    """The derivatives with respect to z of f and g, expressions of z, y and the calls; y is replaced by y_of_z."""
    L = lam_f * f + ca.dot(lam_g, g)
    if not y.shape[0] and not calls:
        return Derivatives(ca.gradient(f, z), ca.jacobian(g, z), ca.triu(ca.hessian(L, z)[0]))
    w = ca.vertcat(z, y)
    gradient, jacobian, (hessian, slope) = ca.gradient(f, w), ca.jacobian(g, w), ca.hessian(L, w)
    if calls:
        e, (E, curvature) = ca.vertcat(*(call.e for call in calls)), _called(calls, L, w)
        mu = ca.gradient(L, e)
        cross = ca.jacobian(mu, w).T @ E
        hessian += curvature + cross + cross.T + E.T @ ca.jacobian(mu, e) @ E
        gradient, jacobian, slope = (
            gradient + E.T @ ca.gradient(f, e),
            jacobian + ca.jacobian(g, e) @ E,
            slope + E.T @ mu,
        )
    D = ca.vertcat(ca.DM.eye(z.shape[0]), ca.jacobian(y_of_z, z))
    weights = SX.sym("weights", y.shape[0])
    bend = ca.substitute(ca.hessian(ca.dot(weights, y_of_z), z)[0], weights, slope[z.shape[0] :])
    parts = [D.T @ gradient, jacobian @ D, ca.triu(D.T @ (hessian @ D) + bend)]
    values = ca.substitute([call.value() for call in calls], [y], [y_of_z])
    return Derivatives(*ca.substitute(parts, [y, *(call.e for call in calls)], [y_of_z, *values]))


def gauss_newton(rest: Expr, residuals: Expr, factors: Expr, lam_f: Expr, z: Expr) -> Expr:
    """Upper half of the Hessian by z of lam_f (rest + sum of factors residuals^2), the residuals' own curvature and the
    factors' derivatives left out: positive semidefinite, but for the rest."""
    J = ca.jacobian(residuals, z)
    return ca.triu(J.T @ (2 * lam_f * factors * J) + ca.hessian(lam_f * rest, z)[0])


def _called(calls: Sequence[Call], L: Expr, w: Expr) -> tuple[Expr, Expr]:
    """de/dw of all calls, and the second derivatives by w of the sum of mu' e."""
    rows, curvature = [], SX(w.shape[0], w.shape[0])
    for call in calls:
        # which entries of w the arguments are
        chosen = ca.DM(ca.jacobian(ca.vertcat(*call.arguments), w))
        first, second = call.derivatives(ca.gradient(L, call.e))
        rows.append(first @ chosen)
        curvature += chosen.T @ second @ chosen
    return ca.vertcat(*rows), curvature
