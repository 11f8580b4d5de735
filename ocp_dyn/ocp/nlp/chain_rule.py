"""Derivatives of a block by the chain rule over inner variables, which combines small Jacobians and Hessians.

The equations of an interval depend on the variables z mainly through the states y(z) at its stages, and the derivatives
of the dynamics e = F(y, z) come from a recursion. With w = (z, y), D = dw/dz, E = de/dw, L(w, e) the Lagrangian, and
mu = dL/de,

    dg/dz = (dg/dw + dg/de E) D,
    d2L/dz2 = D' (d2L/dw2 + d2(mu'F)/dw2 + L_we E + (L_we E)' + E' L_ee E) D + sum_k dL/dy_k d2y_k/dz2.

y is nearly linear in z, so D is cheap and the last term almost empty; L_we and L_ee vanish where e enters linearly.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
from casadi import SX

from ..._base.types import Expr, split


@dataclass(frozen=True, eq=False)
class Call:
    """A call e = f(arguments) within a block; e and the arguments are symbols, f has one output.

    differentiable: makes the Function (arguments, mu) -> (de, gradient and Hessian of mu' e), with respect to all
    arguments side by side in the columns, which may take time; None, or raises ValueError, if there is none for f.
    maker: name of the module that makes these derivatives.
    """

    f: ca.Function
    arguments: tuple[SX, ...]
    e: SX
    differentiable: Callable[[], ca.Function] | None
    maker: str

    def value(self) -> SX:
        return SX(self.f(*self.arguments))

    def derivatives(self, arguments: Sequence[Expr], mu: Expr) -> Sequence[Expr]:
        """de, gradient and Hessian of mu' e at constant mu, by all arguments side by side, at values of these."""
        F = None
        if self.differentiable is not None:
            with contextlib.suppress(ValueError):
                F = self.differentiable()
        if F is None:
            w, weights = ca.vertcat(*self.arguments), SX.sym("mu", self.e.shape[0])
            hessian, gradient = ca.hessian(ca.dot(weights, self.value()), w)
            outputs = [ca.jacobian(self.value(), w), gradient, hessian]
            F = ca.Function("differentiated", [*self.arguments, weights], outputs)
        results: Sequence[Expr] = F.call([*arguments, mu])
        return results


class LagrangianDerivatives(NamedTuple):
    """Gradient of the cost f, Jacobian of the rows g, and the upper half of the Hessian of lam_f f + lam_g' g."""

    gradient: Expr
    jacobian: Expr
    hessian: Expr


def derivatives(
    f: Expr, g: Expr, lam_f: Expr, lam_g: Expr, z: Expr, y: Expr, y_of_z: Expr, calls: Sequence[Call] = ()
) -> LagrangianDerivatives:
    """The derivatives with respect to z of f and g, expressions of z, y and the calls; y is replaced by y_of_z."""
    L = lam_f * f + ca.dot(lam_g, g)
    if not y.shape[0] and not calls:
        return LagrangianDerivatives(ca.gradient(f, z), ca.jacobian(g, z), ca.triu(ca.hessian(L, z)[0]))
    w, e = ca.vertcat(z, y), ca.vertcat(SX(0, 1), *(call.e for call in calls))
    gradient, jacobian, (hessian, slope) = ca.gradient(f, w), ca.jacobian(g, w), ca.hessian(L, w)
    mu = ca.gradient(L, e)
    by_e = [ca.gradient(f, e), ca.jacobian(g, e), mu, ca.jacobian(mu, w).T, ca.jacobian(mu, e)]
    # substituted before the derivatives of the calls, the larger part, are added
    # dense, as the variables that they replace: a body without mass leaves structural zeros
    values = [ca.densify(value) for value in ca.substitute([call.value() for call in calls], [y], [y_of_z])]
    substituted = ca.substitute(
        [gradient, jacobian, hessian, slope, *by_e], [y, *(call.e for call in calls)], [y_of_z, *values]
    )
    gradient, jacobian, hessian, slope, f_e, g_e, mu, L_we, L_ee = substituted
    if calls:
        E, pull, curvature = _called(calls, mu, w, y, y_of_z)
        cross = L_we @ E
        gradient, jacobian, slope = gradient + E.T @ f_e, jacobian + g_e @ E, slope + pull
        hessian += curvature + cross + cross.T + E.T @ L_ee @ E
    D = ca.vertcat(ca.DM.eye(z.shape[0]), ca.jacobian(y_of_z, z))
    weights = SX.sym("weights", y.shape[0])
    bend = ca.substitute(ca.hessian(ca.dot(weights, y_of_z), z)[0], weights, slope[z.shape[0] :])
    return LagrangianDerivatives(D.T @ gradient, jacobian @ D, ca.triu(D.T @ (hessian @ D) + bend))


def gauss_newton(rest: Expr, residuals: Expr, factors: Expr, lam_f: Expr, z: Expr) -> Expr:
    """Upper half of the Hessian by z of lam_f (rest + sum of factors residuals^2), without the curvature of the
    residuals and the derivatives of the factors: positive semidefinite, except for the rest."""
    J = ca.jacobian(residuals, z)
    return ca.triu(J.T @ (2 * lam_f * factors * J) + ca.hessian(lam_f * rest, z)[0])


def gauss_newton_pattern(rest: Expr, residuals: Expr, z: Expr) -> ca.Sparsity:
    """A pattern that contains that of `gauss_newton`, without its expressions."""
    J = ca.DM(ca.jacobian_sparsity(residuals, z), 1.0)
    half = ca.triu((J.T @ J).sparsity())
    return half if rest.is_constant() else half + ca.triu(ca.hessian(rest, z)[0]).sparsity()


def _called(calls: Sequence[Call], mu: Expr, w: Expr, y: Expr, y_of_z: Expr) -> tuple[Expr, Expr, Expr]:
    """de/dw of all calls; gradient and Hessian by w of the sum of mu' e at constant mu."""
    rows, pull, curvature = [], SX(w.shape[0], 1), SX(w.shape[0], w.shape[0])
    for call, weights in zip(calls, split(mu, *(call.e.shape[0] for call in calls)), strict=True):
        # selects the entries of w that are the arguments
        chosen = ca.DM(ca.jacobian(ca.vertcat(*call.arguments), w))
        arguments = ca.substitute(list(call.arguments), [y], [y_of_z])
        first, gradient, second = call.derivatives(arguments, weights)
        rows.append(first @ chosen)
        pull += chosen.T @ gradient
        curvature += chosen.T @ second @ chosen
    return ca.vertcat(*rows), pull, curvature
