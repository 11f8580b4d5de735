"""Independent combinations of rows that may depend on each other, by an orthogonal factorization.

A row of G is judged beside the terms that its entries were computed from (`constraint_magnitudes`), and every dof in
the unit of its inertia, so that neither units nor masses matter:

    A = diag(1 / size) G diag(unit),   unit_j = H_jj^-1/2,   size_i^2 = sum_j (magnitudes_ij unit_j)^2.

The rows of A are made orthogonal to each other, largest remainder first, [A; ...] = L Q with orthonormal rows Q. A row
whose remainder is at most `DEPENDENT` depends on those before it. What order the rows are given in does not matter: the
largest remainder is found by comparisons, which are part of the graph. Each row of Q is made orthogonal twice
[A. Bjorck, Numerics of Gram-Schmidt orthogonalization, 1994], so that Q is orthonormal to rounding and the error of its
k-th row is that of rounding over its remainder, however the rows before it came about.

Beside their closed positions the rows of a redundant loop are independent by as much as the loop is open. So the
limit grows with the angle by which joints would have to turn to close it: `OPENING` times that angle, if that is below
`OPEN`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Expr
from ..constraints import Constraints, as_set, constraint_jacobian, constraint_magnitudes
from ..mechanism import Model
from ..spatial_algebra.linalg import solve_spd
from .groups import RowGroup, groups_by_pattern, groups_of
from .row_units import ANGULAR, LINEAR, openings_of, units_of

DEPENDENT = 3e-9
"""Remainder of a row, relative to the terms that it was computed from, up to which it depends on other rows."""
OPENING = 2.0
"""Largest remainder of a redundant row for an open loop, relative to the angle that the loop is open by. Bricard's
linkage reaches .65."""
OPEN = 0.01
"""Largest limit of remainders, relative to the row that is violated: loops that are farther open are taken as they
are."""
UNEQUAL = 0.1
"""Size of the weights by which rows of one remainder are told apart, from their own entries: which of them is taken
does not depend on rounding, nor on the order in which they are given."""
TIE = 1e-6
"""Relative difference of squared remainders up to which the row given first is taken, such as of two equal rows."""


CANCELED = 1e-3
"""Length of rows, relative to the terms that they were computed from, below which they count as canceled."""


class ConstraintRows(NamedTuple):
    """The rows of a constraint set, the sizes of their terms, see `constraint_magnitudes` (m x nv both), their groups.

    opening (m): by how much each row is violated, as far as that turns the rows; None: by nothing. angles (nv): 1 for
    dofs that turn, 0 for those that slide. units: a number per row, equal for rows of one unit.
    """

    G: Expr
    magnitudes: Expr
    groups: tuple[RowGroup, ...]
    opening: Expr | None
    angles: DM
    units: Sequence[int]

    @staticmethod
    def of(model: Model, constraints: Constraints, q: Expr, t: Any = None, G: Expr | None = None) -> ConstraintRows:
        """Rows of a constraint set at q; G where it is known."""
        members = as_set(constraints, t)
        jacobian = constraint_jacobian(model, members, q) if G is None else G
        groups = groups_of(model, members, jacobian)
        opening = openings_of(model, members, q) if not all(group.contacts for group in groups) else None
        magnitudes = constraint_magnitudes(model, members, q)
        return ConstraintRows(jacobian, magnitudes, groups, opening, _angles(model), units_of(members))

    @staticmethod
    def by_pattern(G: Expr, magnitudes: Expr, phi: Expr) -> ConstraintRows:
        """Rows of which nothing is known but G, the sizes of its terms, and phi; every column counts as an angle."""
        return ConstraintRows(
            G, magnitudes, groups_by_pattern(G), ca.fabs(phi), DM.ones(G.shape[1], 1), range(G.shape[0])
        )

    def common_scale(self, inertias: Expr) -> Expr:
        """Factors (m) that bring rows of moments, of forces and of users' units to one size; 1 without users' units."""
        if set(self.units) <= {ANGULAR, LINEAR}:
            return DM.ones(len(self.units), 1)
        sizes: list[Expr] = ca.vertsplit(_ScaledRows.of(self, self._all, 1 / ca.sqrt(inertias)).size)
        return 1 / mean_sizes(sizes, self.units)

    @property
    def _all(self) -> RowGroup:
        everything = frozenset(range(self.G.shape[1]))
        return RowGroup(tuple(range(self.G.shape[0])), everything, everything)

    def scaled(self, inertias: Expr) -> Expr:
        """A (m x nv) of the head of this module; inertias (nv): the diagonal of H."""
        return _ScaledRows.of(self, self._all, 1 / ca.sqrt(inertias)).A

    def largest_limit(self, inertias: Expr) -> Expr:
        """Largest remainder of a dependent row, of all groups."""
        unit = 1 / ca.sqrt(inertias)
        return reduce(ca.fmax, (_ScaledRows.of(self, group, unit).limit for group in self.groups))


def surely_independent(model: Model, constraints: Constraints, q: Expr) -> bool:
    """Whether no rows depend on each other in any posture: at most two groups, of which each is certain. Of more, such
    as four straight legs, some may. q: symbols."""
    groups = groups_of(model, as_set(constraints), constraint_jacobian(model, constraints, q))
    return len(groups) <= 2 and all(group.certain for group in groups)


def mean_sizes(sizes: Sequence[Expr], units: Sequence[int]) -> Expr:
    """The root mean square of the sizes of rows of one unit, for every row (m); 1 where all are 0."""
    means: dict[int, Expr] = {}
    for unit in set(units):
        first, *others = [size**2 for size, of in zip(sizes, units, strict=True) if of == unit]
        mean = ca.sqrt(sum(others, start=first) / (1 + len(others)))
        means[unit] = ca.if_else(mean > 0, mean, 1)
    return ca.vertcat(*(means[unit] for unit in units))


def _angles(model: Model) -> DM:
    """1 for dofs that turn, 0 for those that slide (nv)."""
    return DM(np.logical_not(model.lengths[1]).astype(float))


class _ScaledRows(NamedTuple):
    """Rows of one group, A = diag(1 / size) G diag(unit) by its columns, and the largest remainder of a dependent
    one."""

    A: Expr
    size: Expr
    limit: Expr

    @staticmethod
    def of(rows: ConstraintRows, group: RowGroup, unit: Expr) -> _ScaledRows:
        at, by = list(group.rows), group.columns
        terms = rows.magnitudes[at, by] @ ca.diag(unit[by])
        square = ca.sum2(terms**2)
        size = ca.sqrt(ca.if_else(square > 0, square, 1))
        A = ca.diag(1 / size) @ rows.G[at, by] @ ca.diag(unit[by])
        if group.contacts or rows.opening is None or not rows.opening[at].nnz():
            return _ScaledRows(A, size, DM(DEPENDENT))
        # to close row i the mechanism moves by opening/size in the metric of A, the joints by terms/size unit as much
        angles = ca.sqrt(ca.sum2((terms @ ca.diag((unit * rows.angles)[by])) ** 2)) * rows.opening[at] / size**2
        pairs = zip(ca.vertsplit(OPENING * angles), ca.vertsplit(ca.sum2(A**2)), strict=True)
        limits = [ca.if_else(x**2 < OPEN**2 * square, x, 0) for x, square in pairs]
        return _ScaledRows(A, size, reduce(ca.fmax, limits, DM(DEPENDENT)))


class OrthogonalRows(NamedTuple):
    """A = L Q: r orthonormal rows Q of the row space of A (m x n), zero after the last independent row.

    By step k: which row was taken (m, one entry 1), the parts of all remainders along Q_k (m), the parts of the taken
    row along earlier rows of Q in the second round (k), and one over its remainder (0 if that was too small).
    """

    Q: list[Expr]
    taken: list[Expr]
    along: list[Expr]
    again: list[list[Expr]]
    inverse: list[Expr]

    @property
    def rank(self) -> int:
        """The number of independent rows, in numbers."""
        return sum(float(inverse) > 0 for inverse in self.inverse)

    @staticmethod
    def of(A: Expr, limit: Expr, rank: int, in_order: bool = False) -> OrthogonalRows:
        """The factorization of A. limit: the remainder up to which rows depend; rank: the most rows of Q; in_order:
        rows are taken as they stand, in fewer operations, where they depend on each other in single postures only."""
        rows = OrthogonalRows([], [], [], [], [])
        golden, n = (np.sqrt(5) - 1) / 2, A.shape[1]
        weights = 1 + A @ DM(UNEQUAL / np.sqrt(n) * (2 * (np.arange(1, n + 1) * golden % 1) - 1))
        for k in range(A.shape[0] if in_order else rank):
            taken = DM.eye(A.shape[0])[:, k] if in_order else largest(weights * ca.sum2(A**2))
            q, again = taken.T @ A, []
            for earlier in rows.Q:
                again.append(q @ earlier.T)
                q = q - again[-1] @ earlier
            square = ca.sumsqr(q)
            independent = square > limit**2
            inverse = independent / ca.sqrt(ca.if_else(independent, square, 1))  # differentiable where it is 0, too
            q = q * inverse
            along = A @ q.T
            A = A - along @ q
            for values, value in zip(rows, (q, taken, along, again, inverse), strict=True):
                values.append(value)
        return rows

    def right_side(self, b: Expr) -> Expr:
        """y (r x k) of Q x = y for A x = b (m x k); zero for rows of Q that are zero."""
        y: list[Expr] = []
        for taken, along, again, inverse in zip(*self[1:], strict=True):
            y.append((taken.T @ b - sum(d * z for d, z in zip(again, y, strict=True))) * inverse)
            b = b - along @ y[-1]
        return ca.vertcat(*y)

    def forces(self, mu: Expr) -> Expr:
        """lam (m x k) with A' lam = Q' mu (r x k); zero for rows that were never taken."""
        left = ca.vertsplit(mu)
        lam = type(mu)(self.taken[0].shape[0], mu.shape[1])
        for k in reversed(range(len(left))):
            share = (left[k] - self.along[k].T @ lam) * self.inverse[k]
            for i, d in enumerate(self.again[k]):
                left[i] = left[i] - d * share
            lam = lam + self.taken[k] @ share
        return lam

    def least_forces(self, mu: Expr, weights: Expr) -> Expr:
        """The lam with A' lam = Q' mu whose weights times lam are least: L' lam = mu by normal equations.

        Columns of L divided by their largest entries, the remainders, have entries of 1 at most, however small
        the remainders are: the normal equations are well-conditioned.
        """
        inverse = ca.vertcat(*self.inverse)
        N = ca.horzcat(*self.along) @ ca.diag(inverse) / ca.repmat(weights, 1, len(self.inverse))
        none = ca.diag(ca.logic_not(inverse))
        return N @ solve_spd(N.T @ N + none, mu * ca.repmat(inverse, 1, mu.shape[1])) / weights


def largest(values: Expr) -> Expr:
    """A column with 1 at the largest of the values (m), 0 elsewhere; of equal ones at the first."""
    entries: list[Expr] = ca.vertsplit(values)
    first, *others = entries
    larger = []
    for value in others:
        larger.append(value > (1 + TIE) * first)
        first = ca.fmax(first, value)
    marks: list[Expr] = []
    none_later: Expr = type(values)(1)
    for is_larger in reversed(larger):
        marks.append(none_later * is_larger)
        none_later = none_later * ca.logic_not(is_larger)
    return ca.vertcat(none_later, *reversed(marks))


class GroupRows(NamedTuple):
    """Independent rows G (r x nv) in place of those of one group, L^-1 of these, or the rows themselves (no factor)."""

    rows: list[int]
    G: Expr
    size: Expr
    mean: Expr
    """Root mean square lengths of the rows of one unit, row by row: they do not depend on the frames of bodies."""
    factor: OrthogonalRows | None

    @staticmethod
    def of(rows: ConstraintRows, group: RowGroup, unit: Expr) -> GroupRows:
        at, by = list(group.rows), group.columns
        G, units = rows.G[at, :], [rows.units[i] for i in at]
        if group.certain:
            return GroupRows(at, G, DM.ones(len(at), 1), DM.ones(len(at), 1), None)
        A, size, limit = _ScaledRows.of(rows, group, unit)
        lengths = [ca.sqrt(ca.sumsqr(row)) for row in ca.vertsplit(G[:, by] @ ca.diag(unit[by]))]
        mean = ca.fmax(mean_sizes(lengths, units), CANCELED * mean_sizes(ca.vertsplit(size), units))
        factor = OrthogonalRows.of(A, limit, group.rank)
        independent = type(A)(group.rank, G.shape[1])
        independent[:, by] = ca.vertcat(*factor.Q) @ ca.diag(1 / unit[by])
        if rest := [k for k in range(G.shape[1]) if k not in by and G[:, k].nnz()]:
            independent[:, rest] = factor.right_side(ca.diag(1 / size) @ G[:, rest])
        return GroupRows(at, independent, size, mean, factor)

    def right_side(self, g: Expr) -> Expr:
        return g if self.factor is None else self.factor.right_side(ca.diag(1 / self.size) @ g)

    def forces(self, mu: Expr) -> Expr:
        return mu if self.factor is None else ca.diag(1 / self.size) @ self.factor.forces(mu)

    def least_forces(self, mu: Expr) -> Expr:
        """The least forces, each in proportion to the root mean square size of the rows of its unit."""
        if self.factor is None:
            return mu
        weights = self.mean / self.size
        return ca.diag(1 / self.size) @ self.factor.least_forces(mu, weights)


class IndependentRows(NamedTuple):
    """Rows G (r x nv) that are independent, or zero, and constrain as all the given rows do; group by group.

    meeting: whether more than two groups act on common dofs. In single postures, such as on four straight legs, their
    rows depend on each other, so that forces need refinement nearby.
    """

    G: Expr
    groups: list[GroupRows]
    meeting: bool

    @staticmethod
    def of(rows: ConstraintRows, inertias: Expr) -> IndependentRows:
        """inertias (nv): the diagonal of H."""
        unit = 1 / ca.sqrt(inertias)
        groups = [GroupRows.of(rows, group, unit) for group in rows.groups]
        common = max(sum(k in group.dofs for group in rows.groups) for k in range(inertias.shape[0]))
        return IndependentRows(ca.vertcat(*(group.G for group in groups)), groups, common > 2)

    def followed_by(self, G: Expr) -> IndependentRows:
        """These rows and others after them, taken as they are."""
        start = sum(len(group.rows) for group in self.groups)
        rows = list(range(start, start + G.shape[0]))
        last = GroupRows(rows, G, DM.ones(len(rows), 1), DM.ones(len(rows), 1), None)
        return IndependentRows(ca.vertcat(self.G, G), [*self.groups, last], True)

    def right_side(self, g: Expr) -> Expr:
        """y (r x k) of `G x = y`, which follows from the given rows with g (m x k)."""
        return ca.vertcat(*(group.right_side(g[group.rows, :]) for group in self.groups))

    def forces(self, mu: Expr) -> Expr:
        """lam (m x k), forces of the given rows, from those of the independent ones (r x k); zero for rows that depend
        on others."""
        return self._in_order(mu, [group.forces for group in self.groups])

    def least_forces(self, mu: Expr) -> Expr:
        """lam as `forces`, the least of all."""
        return self._in_order(mu, [group.least_forces for group in self.groups])

    def _in_order(self, mu: Expr, shares: Sequence[Callable[[Expr], Expr]]) -> Expr:
        cuts = [0, *accumulate(group.G.shape[0] for group in self.groups)]
        lam = type(mu)(sum(len(group.rows) for group in self.groups), mu.shape[1])
        for group, share, part in zip(self.groups, shares, ca.vertsplit(mu, cuts), strict=True):
            lam[group.rows, :] = share(part)
        return lam
