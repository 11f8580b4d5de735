"""Five solvers of the equations of constrained motion [RBDA, ch. 8; F16, sec. 2.2; GJB94, ch. 5].

    [ H  G' ] [  x   ]   [ f ]
    [ G  0  ] [ -lam ] = [ g ]        that is   H x = f + G' lam,   G x = g.

| solver | method | forces of dependent rows |
|---|---|---|
| range | W = L'^-1 G' on the branch-sparse factor H = L'DL, then (W' D^-1 W) lam = g - G H^-1 f | lam = 0 |
| kkt | the same elimination on a dense factor of H: the whole matrix by LDL', without the tree's sparsity | lam = 0 |
| null | G' = Q R by Householder reflections, x = Y y + Z z with G Z = 0, (Z'HZ) z = ... | nan |
| aba | test forces: H^-1 [f, G'] by articulated-body inertias (Kokkevis & Metaxas 1998) | lam = 0 |
| proximal | as range, lam by proximal iterations: least norm among all solutions | shared |

With loads.armature the diagonal of H holds the joints' armatures too. All give the same x, and the same lam where
it is unique. A row depends on those before it if its remainder is below 1e-6 of the terms that it was computed from
(`Rows.terms`). So does a row whose terms cancel each other, such as the row of a planar loop normal to its plane. With
this limit dependent rows stay dependent if positions are slightly inexact, as in a loop after some time of integration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import casadi as ca
from casadi import DM

from .._types import Expr, is_one_of, meant, shown
from ..constraints import Constraints, constraint_jacobian, constraint_magnitudes
from ..dynamics.joint_space import articulated_answers
from ..dynamics.rnea_crba_aba import mass_matrix
from ..mechanism import Model
from ..mechanism.loads import NO_LOADS, Loads
from ..spatial_algebra.linalg import LTDL, Semidefinite, ancestors, chain, ltdl, solve_spd, symmetric
from .reflections import DEPENDENT, Reflections, solve_upper, solve_upper_transposed

Solution = tuple[Expr, Expr]


class Rows(NamedTuple):
    """The rows of a constraint set and the sizes of their terms, see `constraint_magnitudes` (m x nv both)."""

    G: Expr
    magnitudes: Expr

    @staticmethod
    def of(model: Model, constraints: Constraints, q: Expr, t: Any = None) -> Rows:
        return Rows(constraint_jacobian(model, constraints, q, t=t), constraint_magnitudes(model, constraints, q, t=t))

    def terms(self, inertias: Expr) -> Expr:
        """Squares of the rows' magnitudes (m) over the inertia of each dof (nv): the units of G H^-1 G'."""
        return self.magnitudes**2 @ (1 / inertias)

    def may_depend(self, tree: Sequence[int]) -> bool:
        """Whether rows may be linearly dependent, judged by the pattern of G.

        They must be if there are more rows than dofs, or more than six act on one body; they may be if a row involves
        two branches of the tree, as those of a loop do.
        """
        pattern = self.G.sparsity()
        supports: list[set[int]] = [set() for _ in range(pattern.size1())]
        for row, column in zip(pattern.row(), pattern.get_col(), strict=True):
            supports[row].add(column)
        last = [max(support) for support in supports if support]
        joining = any(support - {max(support), *ancestors(tree, max(support))} for support in supports if support)
        return joining or len(supports) > len(tree) or any(last.count(k) > 6 for k in set(last))


Solver = Callable[[Model, Expr, Rows, Expr, Expr, Loads], Solution]


class RangeSpace(NamedTuple):
    """Constraints in the range space of H: W = L'^-1 G', A = G H^-1 G' and its pivots."""

    factor: LTDL
    W: Expr
    A: Expr
    pivots: Semidefinite
    terms: Expr
    refined: bool
    """Whether forces are solved for twice, see `_forces`: where `Rows.may_depend`."""

    @staticmethod
    def of(model: Model, rows: Rows, q: Expr, loads: Loads) -> RangeSpace:
        return RangeSpace.on(mass_matrix(model, q, loads=loads), model.dof_parent, rows)

    @staticmethod
    def on(H: Expr, tree: Sequence[int], rows: Rows) -> RangeSpace:
        """On the factor of H by a tree."""
        f = ltdl(H, tree)
        W = f.solve_Lt(rows.G.T)
        A, terms = symmetric(W.T @ f.scale(W)), rows.terms(ca.diag(H))
        return RangeSpace(f, W, A, Semidefinite.of(A, terms), terms, rows.may_depend(tree))

    def raise_back(self, y: Expr) -> Expr:
        """L^-1 D^-1 y: from the factor's coordinates to joint space."""
        return self.factor.solve_L(self.factor.scale(y))

    def forces(self, b: Expr) -> Expr:
        """lam with A lam = b; zero for dependent rows."""
        return _forces(self.pivots, b, lambda lam: self.factor.scale(self.W).T @ (self.W @ lam), self.refined)

    def least_forces(self, b: Expr) -> Expr:
        """The lam of least norm with A lam = b."""
        return solve_proximal(self.A, b, self.terms)

    def solve(self, f: Expr, g: Expr, forces: Callable[[Expr], Expr] | None = None) -> Solution:
        """(x, lam) of `H x = f + G' lam`, `G x = g`, several columns at once; forces(b) solves A lam = b."""
        y = self.factor.solve_Lt(f)
        lam = (forces or self.forces)(g - self.W.T @ self.factor.scale(y))
        return self.raise_back(y + self.W @ lam), lam


def _forces(factor: Semidefinite, b: Expr, product: Callable[[Expr], Expr], refined: bool) -> Expr:
    """lam with A lam = b, refined once: the residual b - product(lam), by the factors of A, is solved for and added.

    Rows are taken in their order, so one that nearly depends on those before it may be kept although a later one would
    serve better, and A has the square of their condition. The second solve brings the error down to the condition
    itself [A. Bjorck, Stability analysis of the method of seminormal equations for linear least squares problems,
    1987].
    """
    lam = factor.solve(b)
    return lam + factor.solve(b - product(lam)) if refined else lam


def range_space(model: Model, q: Expr, rows: Rows, f: Expr, g: Expr, loads: Loads = NO_LOADS) -> Solution:
    """(x, lam) by block elimination on the branch-sparse factor of H; f and g may have several columns.

    O(nb depth^2 + m^2 nv + m^3).
    """
    return RangeSpace.of(model, rows, q, loads).solve(f, g)


def kkt(model: Model, q: Expr, rows: Rows, f: Expr, g: Expr, loads: Loads = NO_LOADS) -> Solution:
    """(x, lam) by LDL' of the whole matrix, without the sparsity of the tree. O((nv + m)^3).

    H stands first: its pivots are positive, those of -G H^-1 G' after it negative, so none needs exchanging.
    """
    # `ltdl` eliminates the last dof first; in reverse order it eliminates the root first, and the branches fill in
    back = list(range(model.nv))[::-1]
    H = mass_matrix(model, q, loads=loads)[back, back]
    dense = RangeSpace.on(H, chain(model.nv), Rows(rows.G[:, back], rows.magnitudes[:, back]))
    x, lam = dense._replace(refined=rows.may_depend(model.dof_parent)).solve(f[back, :], g)
    return x[back, :], lam


def proximal(model: Model, q: Expr, rows: Rows, f: Expr, g: Expr, loads: Loads = NO_LOADS) -> Solution:
    """(x, lam) with the least |lam|, for dependent rows: see `solve_proximal`. The residual of the rows is solved for
    once more."""
    space = RangeSpace.of(model, rows, q, loads)
    x, lam = space.solve(f, g, space.least_forces)
    dx, dlam = space.solve(type(q)(model.nv, 1), g - rows.G @ x, space.least_forces)
    return x + dx, lam + dlam


def solve_proximal(A: Expr, b: Expr, terms: Expr, rho: float = 2e-6, iterations: int = 10) -> Expr:
    """The least-norm solution of A x = b for a symmetric positive semidefinite A, b in its range.

    x <- (A + r)^-1 (b + r x) from x = 0, one factor for all: an error along an eigenvalue s of A shrinks by
    r/(r + s) each time. r is rho times the mean of the diagonal, or of `terms` where that cancels. Rounding/rho is left
    along the kernel, some 1e-11. Solved for twice, errors are below 1e-10 for s > 5e-6 times that mean.
    """
    m = A.shape[0]
    canceled: Expr = ca.sum1(terms)
    r = rho * (ca.trace(A) + 1e-6 * canceled) / m
    inverse = solve_spd(A + r * DM.eye(m), DM.eye(m))
    x = inverse @ b
    step = r * inverse
    y = x
    for _ in range(iterations - 1):
        y = x + step @ y
    return y


def null_space(model: Model, q: Expr, rows: Rows, f: Expr, g: Expr, loads: Loads = NO_LOADS) -> Solution:
    """(x, lam) by projection on the null space of G. O(m nv^2 + (nv - m)^3).

    With G' = [Y Z] [R; 0]: R' y = g, (Z'HZ) z = Z' (f - H Y y), x = Y y + Z z, and the forces from
    R lam = Y' (H x - f). Each dof is scaled by the root of its inertia, so that meters and radians have equal weight.
    """
    n, m = model.nv, rows.G.shape[0]
    if m > n:
        raise ValueError(f'solver "null" needs independent rows, got {m} of them for {n} dofs: use "proximal"')
    H = mass_matrix(model, q, loads=loads)
    unit, terms = 1 / ca.sqrt(ca.diag(H)), rows.terms(ca.diag(H))
    H, f = ca.diag(unit) @ H @ ca.diag(unit), unit * f
    Q = Reflections.of(ca.densify(unit * rows.G.T), ca.sqrt(terms), DEPENDENT)
    y = solve_upper_transposed(Q.R, ca.densify(g))  # a structural zero over nan would stay zero
    x = Q.apply(ca.vertcat(y, type(q)(n - m, 1)))
    if n > m:
        Z = Q.apply(ca.vertcat(DM(m, n - m), DM.eye(n - m)))
        x = x + Z @ solve_spd(symmetric(Z.T @ (H @ Z)), Z.T @ (f - H @ x))
    return unit * x, solve_upper(Q.R, Q.apply_transpose(H @ x - f)[:m])


def by_test_forces(model: Model, q: Expr, rows: Rows, f: Expr, g: Expr, loads: Loads = NO_LOADS) -> Solution:
    """(x, lam) from the accelerations of the tree without constraints, under f and under a unit force along each row.
    O(m nb + m^3)."""
    G = rows.G
    answers, D = articulated_answers(model, q, ca.horzcat(f, G.T), loads=loads)
    free, M = answers[:, 0], answers[:, 1:]
    factor = Semidefinite.of(symmetric(G @ M), rows.terms(D))
    lam = _forces(factor, g - G @ free, lambda lam: G @ (M @ lam), rows.may_depend(model.dof_parent))
    return free + M @ lam, lam


SOLVERS: dict[str, Solver] = {
    "range": range_space,
    "kkt": kkt,
    "null": null_space,
    "aba": by_test_forces,
    "proximal": proximal,
}
BY_INVERSE = ("range", "aba", "proximal")
"""Solvers for which `od.function` checks that H has an inverse; "null" needs an inverse on the null space of G only."""


def solver_of(name: str) -> Solver:
    """The solver of that name."""
    if not is_one_of(name, SOLVERS):
        raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, got {shown(name)}{meant(name, SOLVERS)}")
    return SOLVERS[name]
