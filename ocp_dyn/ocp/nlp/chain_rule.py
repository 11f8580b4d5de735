"""Derivatives of a block by the chain rule over inner variables, which combines small Jacobians and Hessians.

The equations of an interval depend on the variables z mainly through the states y(z) at its stages, and the derivatives
of the dynamics e = F(y, z) come from a recursion. With w = (z, y), D = dw/dz, E = de/dw, L(w, e) the Lagrangian, and
mu = dL/de,

    dg/dz = (dg/dw + dg/de E) D,
    d2L/dz2 = D' (d2L/dw2 + d2(mu'F)/dw2 + L_we E + (L_we E)' + E' L_ee E) D + sum_k dL/dy_k d2y_k/dz2.

y is nearly linear in z, so D is cheap and the last term almost empty; L_we and L_ee vanish where e enters linearly.
Where y depends on z through inner variables of its own, the rule is applied once more.

The derivatives of F stay calls in the result, which copies none of their operations; `codegen.tables` links them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import casadi as ca
from casadi import SX

from ..._base.types import Expr, split


@dataclass(frozen=True, eq=False)
class Call:
    """A call e = f(arguments) within a block; e is a symbol, the arguments are linear in symbols, f has one output.

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

    def derivatives(self) -> tuple[ca.Function, ca.Function]:
        """arguments -> de, and (arguments, mu) -> gradient and Hessian of mu' e, by all arguments side by side."""
        F = None
        if self.differentiable is not None:
            with contextlib.suppress(ValueError):
                F = self.differentiable()
        if F is None:
            symbols, weights = self.f.sx_in(), SX.sym("mu", self.e.shape[0])
            w, value = ca.vertcat(*symbols), SX(self.f(*symbols))
            hessian, gradient = ca.hessian(ca.dot(weights, value), w)
            F = ca.Function("differentiated", [*symbols, weights], [ca.jacobian(value, w), gradient, hessian])
        return _by_order(F)


@lru_cache(maxsize=256)
def _by_order(F: ca.Function) -> tuple[ca.Function, ca.Function]:
    """F for its first output, without its last input, and for the other outputs."""
    symbols = F.sx_in()
    first, *second = F.call(symbols)
    return ca.Function(f"{F.name()}_1", symbols[:-1], [first]), ca.Function(f"{F.name()}_2", symbols, second)


class LagrangianDerivatives(NamedTuple):
    """Gradient of the cost f, Jacobian of the rows g, and the upper half of the Hessian of lam_f f + lam_g' g.

    called: numbers of instructions of the Functions that first and second derivatives call.
    """

    gradient: Expr
    jacobian: Expr
    hessian: Expr
    called: tuple[int, int] = (0, 0)


Level = tuple[Expr, Expr]
"""Inner variables, and the expressions of z and of the levels before that they stand for."""


def derivatives(
    f: Expr, g: Expr, lam_f: Expr, lam_g: Expr, z: Expr, p: Expr, levels: Sequence[Level], calls: Sequence[Call] = ()
) -> LagrangianDerivatives:
    """The derivatives with respect to z of f and g, expressions of z, the inner variables, the calls and p."""
    L = lam_f * f + ca.dot(lam_g, g)
    if not levels and not calls:
        return LagrangianDerivatives(ca.gradient(f, z), ca.jacobian(g, z), ca.triu(ca.hessian(L, z)[0]))
    w, e = ca.vertcat(z, *(y for y, _ in levels)), ca.vertcat(SX(0, 1), *(call.e for call in calls))
    hessian, slope = ca.hessian(L, w)
    mu = ca.gradient(L, e)
    found = [ca.gradient(f, w), ca.jacobian(g, w), hessian, slope]
    found += [ca.gradient(f, e), ca.jacobian(g, e), mu, ca.jacobian(mu, w).T, ca.jacobian(mu, e)]
    at = inner_values(z, p, levels)
    called = _Called(calls, w, at, p)
    outer = ca.Function("outer", [w, e, p, lam_f, lam_g], found)
    gradient, jacobian, hessian, slope, f_e, g_e, mu, L_we, L_ee = outer.call([at, called.values, p, lam_f, lam_g])
    if calls:
        E, (pull, curvature) = called.first(), called.second(mu)
        cross = L_we @ E
        gradient, jacobian, slope = gradient + E.T @ f_e, jacobian + g_e @ E, slope + pull
        hessian += curvature + cross + cross.T + E.T @ L_ee @ E
    for y, y_of_w in reversed(levels):
        n = w.shape[0] - y.shape[0]
        w, at, weights = w[:n], at[:n], SX.sym("weights", y.shape[0])
        bend = ca.hessian(ca.dot(weights, y_of_w), w)[0]
        inner = ca.Function("inner", [w, p, weights], [ca.jacobian(y_of_w, w), bend])
        J, bend = inner.call([at, p, slope[n:]])
        D = ca.vertcat(ca.DM.eye(n), J)
        gradient, jacobian, slope = D.T @ gradient, jacobian @ D, D.T @ slope
        hessian = D.T @ (hessian @ D) + bend
    return LagrangianDerivatives(gradient, jacobian, ca.triu(hessian), called.sizes)


def inner_values(z: Expr, p: Expr, levels: Sequence[Level]) -> Expr:
    """z and the values of all inner variables."""
    at, w = z, z
    for y, y_of_w in levels:
        at = ca.vertcat(at, ca.Function("inner", [w, p], [y_of_w])(at, p))
        w = ca.vertcat(w, y)
    return at


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


class _Called:
    """All calls of a block at the values `at` of w. They stay calls: nothing is copied."""

    def __init__(self, calls: Sequence[Call], w: Expr, at: Expr, p: Expr) -> None:
        arguments = [x for call in calls for x in call.arguments]
        self._chosen = ca.DM(ca.jacobian(ca.vertcat(SX(0, 1), *arguments), w))  # constants, as they are linear in w
        values = iter(ca.Function("arguments", [w, p], arguments).call([at, p]))
        self._at = [[next(values) for _ in call.arguments] for call in calls]
        self._sizes = [call.e.shape[0] for call in calls]
        made = [call.derivatives() for call in calls]
        self._first, self._second = ([pair[k] for pair in made] for k in (0, 1))
        self.sizes = sum(F.n_instructions() for F in self._first), sum(F.n_instructions() for F in self._second)
        every = zip(calls, self._at, strict=True)
        self.values = ca.vertcat(SX(0, 1), *(call.f.call(x, False, True)[0] for call, x in every))

    def first(self) -> Expr:
        """de/dw."""
        every = zip(self._first, self._at, strict=True)
        return ca.diagcat(*(F.call(x, False, True)[0] for F, x in every)) @ self._chosen

    def second(self, mu: Expr) -> tuple[Expr, Expr]:
        """Gradient and Hessian by w of the sum of mu' e at constant mu."""
        every = zip(self._second, self._at, split(mu, *self._sizes), strict=True)
        found = [F.call([*x, weights], False, True) for F, x, weights in every]
        gradient, hessian = ca.vertcat(*(pair[0] for pair in found)), ca.diagcat(*(pair[1] for pair in found))
        return self._chosen.T @ gradient, self._chosen.T @ (hessian @ self._chosen)
