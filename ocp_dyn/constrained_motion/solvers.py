"""Five solvers of the equations of constrained motion [RBDA, ch. 8; F16, sec. 2.2; GJB94, ch. 5].

    [ H  G' ] [  x   ]   [ f ]
    [ G  0  ] [ -lam ] = [ g ]        that is   H x = f + G' lam,   G x = g.

| solver | method | forces of dependent rows |
|---|---|---|
| range | W = L'^-1 G' on the branch-sparse factor H = L'DL, then (W' D^-1 W) lam = g - G H^-1 f | lam = 0 |
| kkt | the same elimination on a dense factor of H: the whole matrix by LDL', without the tree's sparsity | lam = 0 |
| null | G' = Q R by Householder reflections, x = Y y + Z z with G Z = 0, (Z'HZ) z = ... | nan |
| aba | test forces: H^-1 [f, G'] by articulated-body inertias (Kokkevis & Metaxas 1998) | lam = 0 |
| proximal | as range; the least of all lam that give x, rows of one unit having one weight | shared |

With loads.armature the diagonal of H holds the joints' armatures too. All give the same x, and the same lam where
it is unique. "range" takes loops that meet in few dofs, as hands on one beam do, in blocks, so that its work grows with
their number. Rows that may depend on each other are replaced by independent ones first, see `independent_rows`: all
solvers leave out the same rows. Contacts on different branches may depend on each other in single postures, such as on
four straight legs. There rows are left out in their order, below 1e-6 of their terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import NamedTuple

import casadi as ca
from casadi import DM

from .._base.checks import choice
from .._base.types import Expr
from ..dynamics.joint_space import articulated_answers
from ..dynamics.rnea_crba_aba import mass_matrix
from ..mechanism import Model
from ..mechanism.loads import NO_LOADS, Loads
from ..spatial_algebra.linalg import LTDL, chain, ltdl, solve_spd, symmetric
from ..spatial_algebra.semidefinite import BlockSemidefinite, Semidefinite, factor_of
from .independent_rows import DEPENDENT, ConstraintRows, IndependentRows
from .reflections import Reflections, solve_upper, solve_upper_transposed

Solution = tuple[Expr, Expr]


Solver = Callable[[Model, Expr, ConstraintRows, Expr, Expr, Loads], Solution]


class RangeSpace(NamedTuple):
    """Independent constraint rows in the range space of H: W = L'^-1 G', A = G H^-1 G' = W' D^-1 W and its pivots."""

    rows: IndependentRows
    factor: LTDL
    W: Expr
    pivots: Semidefinite | BlockSemidefinite

    @staticmethod
    def of(model: Model, rows: ConstraintRows, q: Expr, loads: Loads) -> RangeSpace:
        return RangeSpace.on(mass_matrix(model, q, loads=loads), model.dof_parent, rows)

    @staticmethod
    def on(H: Expr, tree: Sequence[int], rows: ConstraintRows | IndependentRows) -> RangeSpace:
        """On the factor of H by a tree."""
        independent = rows if isinstance(rows, IndependentRows) else IndependentRows.of(rows, ca.diag(H))
        f = ltdl(H, tree)
        W = f.solve_Lt(independent.G.T)
        return RangeSpace(independent, f, W, factor_of(W, f.d))

    def raise_back(self, y: Expr) -> Expr:
        """L^-1 D^-1 y: from the factor's coordinates to joint space."""
        return self.factor.solve_L(self.factor.scale(y))

    def multipliers(self, b: Expr) -> Expr:
        """mu of the independent rows with A mu = b."""
        return _multipliers(self.pivots, b, lambda mu: self.factor.scale(self.W).T @ (self.W @ mu), self.rows)

    def independent(self, f: Expr, y: Expr) -> Solution:
        """(x, mu) of `H x = f + G' mu`, `G x = y` for the independent rows, several columns at once."""
        z = self.factor.solve_Lt(f)
        mu = self.multipliers(y - self.W.T @ self.factor.scale(z))
        return self.raise_back(z + self.W @ mu), mu

    def solve(self, f: Expr, g: Expr) -> Solution:
        """(x, lam) of `H x = f + G' lam`, `G x = g` for the given rows, several columns at once."""
        x, mu = self.independent(f, self.rows.right_side(g))
        return x, self.rows.forces(mu)


def _multipliers(
    factor: Semidefinite | BlockSemidefinite, b: Expr, product: Callable[[Expr], Expr], rows: IndependentRows
) -> Expr:
    """mu with A mu = b, refined once: the residual b - product(mu), by the factors of A, is solved for and added.

    A has the square of the condition of the rows in the metric of H. The second solve brings the error down to the
    condition itself [A. Bjorck, Stability analysis of the method of seminormal equations for linear least squares
    problems, 1987].
    """
    mu = factor.solve(b)
    return mu + factor.solve(b - product(mu)) if rows.meeting else mu


def range_space(model: Model, q: Expr, rows: ConstraintRows, f: Expr, g: Expr, loads: Loads = NO_LOADS) -> Solution:
    """(x, lam) by block elimination on the branch-sparse factor of H; f and g may have several columns.

    O(nb depth^2 + m^2 nv + m^3).
    """
    return RangeSpace.of(model, rows, q, loads).solve(f, g)


def kkt(model: Model, q: Expr, rows: ConstraintRows, f: Expr, g: Expr, loads: Loads = NO_LOADS) -> Solution:
    """(x, lam) by LDL' of the whole matrix, without the sparsity of the tree. O((nv + m)^3).

    H stands first: its pivots are positive, those of -G H^-1 G' after it negative, so none needs exchanging.
    """
    # `ltdl` eliminates the last dof first; in reverse order it eliminates the root first, and the branches fill in
    back = list(range(model.nv))[::-1]
    H = mass_matrix(model, q, loads=loads)
    independent = IndependentRows.of(rows, ca.diag(H))
    dense = RangeSpace.on(H[back, back], chain(model.nv), independent._replace(G=independent.G[:, back]))
    x, lam = dense.solve(f[back, :], g)
    return x[back, :], lam


def proximal(model: Model, q: Expr, rows: ConstraintRows, f: Expr, g: Expr, loads: Loads = NO_LOADS) -> Solution:
    """(x, lam) as `range_space` with the least lam of all that give this x, the limit of proximal iterations."""
    space = RangeSpace.of(model, rows, q, loads)
    x, mu = space.independent(f, space.rows.right_side(g))
    return x, space.rows.least_forces(mu)


def null_space(model: Model, q: Expr, rows: ConstraintRows, f: Expr, g: Expr, loads: Loads = NO_LOADS) -> Solution:
    """(x, lam) by projection on the null space of G. O(m nv^2 + (nv - m)^3).

    With G' = [Y Z] [R; 0]: R' y = g, (Z'HZ) z = Z' (f - H Y y), x = Y y + Z z, and the forces from
    R lam = Y' (H x - f). Each dof is scaled by the root of its inertia, so that meters and radians have equal weight.
    """
    n, m = model.nv, rows.G.shape[0]
    if m > n:
        raise ValueError(f'solver "null" needs independent rows, got {m} of them for {n} dofs: use "proximal"')
    H = mass_matrix(model, q, loads=loads)
    independent, unit = IndependentRows.of(rows, ca.diag(H)), 1 / ca.sqrt(ca.diag(H))
    r = independent.G.shape[0]
    dependent = 0 if r == m else nan
    G = ca.densify(unit * independent.G.T)
    H, f = ca.diag(unit) @ H @ ca.diag(unit), unit * f
    Q = Reflections.of(G, tolerance=DEPENDENT)
    # a structural zero over nan would stay zero
    y = solve_upper_transposed(Q.R, ca.densify(independent.right_side(g) + dependent))
    x = Q.apply(ca.vertcat(y, type(q)(n - r, 1)))
    if n > r:
        Z = Q.apply(ca.vertcat(DM(r, n - r), DM.eye(n - r)))
        x = x + Z @ solve_spd(symmetric(Z.T @ (H @ Z)), Z.T @ (f - H @ x))
    return unit * x, independent.forces(solve_upper(Q.R, Q.apply_transpose(H @ x - f)[:r]))


def by_test_forces(model: Model, q: Expr, rows: ConstraintRows, f: Expr, g: Expr, loads: Loads = NO_LOADS) -> Solution:
    """(x, lam) from the accelerations of the tree without constraints, under f and under a unit force along each row.
    O(m nb + m^3); rows that may depend on each other are judged by the diagonal of H, O(nb depth)."""
    certain = all(group.certain for group in rows.groups)
    inertias = DM.ones(model.nv, 1) if certain else ca.diag(mass_matrix(model, q, loads=loads))
    independent = IndependentRows.of(rows, inertias)
    G = independent.G
    answers, _ = articulated_answers(model, q, ca.horzcat(f, G.T), loads=loads)
    free, M = answers[:, 0], answers[:, 1:]
    factor = Semidefinite.of(symmetric(G @ M))
    mu = _multipliers(factor, independent.right_side(g) - G @ free, lambda mu: G @ (M @ mu), independent)
    return free + M @ mu, independent.forces(mu)


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
    return SOLVERS[choice(name, SOLVERS, "solver")]
