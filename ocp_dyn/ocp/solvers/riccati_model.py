"""A program's quadratic model in stages, for the Riccati recursion; `sqp.QuadraticModel` is the model for QP solvers.

Equality rows hold exactly. Inequality rows and bounds are terms of the cost, by a relaxed logarithmic barrier. The
model is

    min  d' B d / 2 + grad_f' d + barrier(g + J d, x + d)   with   g + J d = lower_g where lower_g = upper_g,

with the barrier by its first two derivatives at x, and B the Gauss-Newton Hessian: no active set, no inner iteration.
"""

from __future__ import annotations

import numpy as np
from casadi import SX
from numpy.typing import NDArray

from ..._base.types import Array, Indices
from ..nlp.assembled import Assembled
from ..nlp.blocks import Block
from ..nlp.scatter import row_tables
from ..nlp.stage_orders import StageOrder, gap_kinds
from .barrier import Barrier
from .riccati import recursion
from .stage_matrices import MatrixEntries, Size, StageMatrices, entries

FIRST_ROWS = "ends: "
"""Beginning of the names of rows that come first in their stage: if other rows contradict them, these hold. They tie
the first state to a measured one."""

NOT_STAGEWISE = (
    "qp='riccati' needs the states of every stage to follow from the stage before, as with steps=1: use qp='piqp', or "
    "more intervals of one step each"
)


class RiccatiModel:
    """The quadratic model at a point of a program that is a sequence of stages: linearized and factored once, solved
    for any values of the constraints.

    order: the stages. bounds: lower and upper bounds of the variables.
    unmet: largest residual, in the last step, of rows that contradict earlier rows, such as rows of feet on the ground
    if the measured state has the feet slightly off the ground.
    """

    def __init__(self, program: Assembled, order: StageOrder, bounds: tuple[Array, Array], barrier: Barrier) -> None:
        self._program, self._barrier, self._columns, self.unmet = program, barrier, order.columns, 0.0
        self._bounds = bounds
        count = len(order.nx)
        self._stage, self._local = _variables(program, order)
        in_stage = np.add([*order.nx[1:], 0], order.ng)
        if np.sum(in_stage) != order.rows.size:
            raise ValueError(NOT_STAGEWISE)
        self._row_stage = np.zeros(program.row_lower.size, dtype=int)
        self._row_stage[order.rows] = np.repeat(np.arange(count), in_stage)
        self._gaps, self._equal, self._priced = _kinds_of_rows(program, self._row_stage)
        fixed = bounds[0] == bounds[1]
        self._fixed = order.columns[fixed[order.columns]]
        bounded = ~fixed & (np.isfinite(bounds[0]) | np.isfinite(bounds[1]))
        self._bounded = order.columns[bounded[order.columns]]
        rows = [*(self._row_stage[rows] for rows in (self._equal, self._priced)), self._stage[self._fixed]]
        ne, ns, nf = (np.bincount(of_stage, minlength=count) for of_stage in rows)
        sizes = [Size(*(int(x) for x in size)) for size in zip(order.nu, order.nx, ne + nf, ns, strict=True)]
        self.stages = StageMatrices(sizes)
        self.recursion = recursion(self.stages)
        self._connect_variables(ne)
        self._connect_rows(order)
        self._connect_hessian()
        self._failed = -1

    def _connect_variables(self, ne: Indices) -> None:
        """Finds the positions of the variables and their bounds in the vectors and matrices of the stages."""
        place, begin, k = self.stages.place, self.stages.begin, self._stage
        self._z = begin("z")[k] + self._local
        self._diagonal = place("H", k[self._bounded], self._local[self._bounded], self._local[self._bounded])
        fixed_stage = k[self._fixed]
        row = ne[fixed_stage] + _number_within(fixed_stage)
        self.stages.data[place("E", fixed_stage, row, self._local[self._fixed])] = 1.0
        self._r_of_fixed = begin("r")[fixed_stage] + row

    def _connect_rows(self, order: StageOrder) -> None:
        """Finds the positions of the rows and of the entries of their Jacobian."""
        begin, stage, of_row = self.stages.begin, self._stage, self._row_stage
        row, column = _jacobian_entries(self._program)
        is_gap = np.isin(np.arange(of_row.size), self._gaps)
        entry = np.flatnonzero(is_gap[row] & (stage[column] == of_row[row] + 1))
        within = np.full(of_row.size, -1)
        within[row[entry]] = self._local[column[entry]] - np.array(order.nu)[stage[column[entry]]]
        gaps = self._gaps[np.lexsort((within[self._gaps], of_row[self._gaps]))]
        states = np.concatenate([np.arange(n) for n in (0, *order.nx[1:])])
        if entry.size != self._gaps.size or not np.array_equal(within[gaps], states):
            raise ValueError(NOT_STAGEWISE)
        for rows in (self._equal, self._priced):
            within[rows] = _number_within(of_row[rows])
        self._b = begin("b")[of_row[self._gaps]] + within[self._gaps]
        self._r = begin("r")[of_row[self._equal]] + within[self._equal]
        self._rows: list[tuple[MatrixEntries, float]] = []
        here = stage[column] == of_row[row]
        for name, rows, sign in (("F", self._gaps, -1.0), ("E", self._equal, 1.0), ("S", self._priced, 1.0)):
            number = np.full(of_row.size, -1)
            number[rows] = np.arange(rows.size)
            chosen = np.flatnonzero(here & (number[row] >= 0))
            r, c = row[chosen], column[chosen]
            self._rows.append((entries(self.stages.place(name, of_row[r], within[r], self._local[c]), chosen), sign))
        self._slopes_of = chosen, number[r], self._z[c]  # entries of S

    def _connect_hessian(self) -> None:
        """Finds the positions of both halves of the Hessian of every stage."""
        row, column, source = _hessian_entries(self._program)
        k, inside = self._stage[row], (self._stage[row] >= 0) & (self._stage[column] >= 0)
        apart = np.flatnonzero(inside & (k != self._stage[column]))
        if apart.size:
            raise ValueError(
                f"qp='riccati' needs costs of one stage each, and one ties stage {k[apart[0]]} to stage "
                f"{self._stage[column[apart[0]]]}, as costs of rates do: leave the cost out, or use qp='piqp'"
            )
        i, j, k = self._local[row[inside]], self._local[column[inside]], k[inside]
        self._curvatures = entries(self.stages.place("H", k, i, j), source[inside])

    def linearize(self, x: Array, p: Array, lam_g: Array) -> None:
        """Computes the derivatives at x and the factors; the Gauss-Newton Hessian needs no multipliers lam_g."""
        e, program, rows, bounded = self._program.evaluator, self._program, self._priced, self._bounded
        lower, upper = self._bounds
        self._gradient = e.gradient(x, p)
        jacobians, hessians = e.entries(x, p)
        for where, sign in self._rows:
            self.recursion.write(where, jacobians, sign)
        if rows.size or bounded.size:  # the barrier adds to entries that the costs do not write
            self.stages.data[: self.stages.hessians] = 0.0
        self.recursion.write(self._curvatures, hessians, 1.0)
        self._slopes = jacobians[self._slopes_of[0]]
        if rows.size:
            g = e.constraints(x, p)[rows]
            self.recursion.add_prices(self._barrier.curvature(g, program.row_lower[rows], program.row_upper[rows]))
        if bounded.size:
            self.stages.data[self._diagonal] += self._barrier.curvature(x[bounded], lower[bounded], upper[bounded])
        finite = np.all(np.isfinite(jacobians))  # else elimination could take a row for a redundant one
        self._failed = self.recursion.factor() if finite else 0

    def step(
        self, g: Array, lower: Array, upper: Array, start: tuple[Array, Array]
    ) -> tuple[Array, Array, Array, bool]:
        """(d, lam_x, lam_g, solved) for constraint values g; lower, upper: bounds of d; start: multipliers.

        Multipliers of inequalities come from the barrier; those of equalities stay as in `start`, since the recursion
        does not use them.
        """
        program, total, rows, bounded = self._program, self.stages.total, self._priced, self._bounded
        lam_x, lam_g = start[0].copy(), start[1].copy()
        if self._failed >= 0:
            return np.zeros(program.n), lam_x, lam_g, False
        lam_g[rows] = self._barrier.slope(g[rows], program.row_lower[rows], program.row_upper[rows])
        lam_x[bounded] = self._barrier.slope(np.zeros(bounded.size), lower[bounded], upper[bounded])
        _, number, at = self._slopes_of
        h = np.bincount(at, self._slopes * lam_g[rows][number], total["z"]).astype(float)  # without rows: integers
        h[self._z[self._columns]] += self._gradient[self._columns]
        h[self._z[bounded]] += lam_x[bounded]
        b, r = np.zeros(total["b"]), np.zeros(total["r"])
        b[self._b] = (program.row_lower - g)[self._gaps]
        r[self._r] = (program.row_lower - g)[self._equal]
        r[self._r_of_fixed] = lower[self._fixed]
        z, self.unmet = self.recursion.solve(h, b, r)
        d = np.zeros(program.n)
        d[self._columns] = z[self._z[self._columns]]
        return d, lam_x, lam_g, bool(np.all(np.isfinite(d)) and np.all(np.isfinite(g)))


def _variables(program: Assembled, order: StageOrder) -> tuple[Indices, Indices]:
    """Stage of every variable (-1: none), and its number within the stage, controls first."""
    stage, local = np.full(program.n, -1), np.zeros(program.n, dtype=int)
    begin = 0
    for k, (nx, nu) in enumerate(zip(order.nx, order.nu, strict=True)):
        x, u = np.split(order.columns[begin : begin + nx + nu], [nx])
        stage[x], stage[u] = k, k
        local[x], local[u] = nu + np.arange(nx), np.arange(nu)
        begin += nx + nu
    return stage, local


def _kinds_of_rows(program: Assembled, of_row: Indices) -> list[Indices]:
    """Gaps, equality rows, and inequality rows, stage by stage; the rows of FIRST_ROWS first."""
    lower, upper = program.row_lower, program.row_upper
    gap = gap_kinds(program) < len(program.gaps)
    later = np.array([not name.startswith(FIRST_ROWS) for name in program.row_names], dtype=bool)
    order = np.lexsort((np.arange(lower.size), later, of_row))
    bounded = np.isfinite(lower) | np.isfinite(upper)
    kinds = gap, ~gap & (lower == upper), ~gap & (lower < upper) & bounded
    return [order[kind[order]] for kind in kinds]


def _number_within(group: Indices) -> Indices:
    """The number of every entry within its group, for sorted groups."""
    return np.asarray(np.arange(group.size) - np.searchsorted(group, group))


def _jacobian_entries(program: Assembled) -> tuple[Indices, Indices]:
    """Rows and columns of the entries of all blocks' Jacobians."""
    rows, columns = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
    for b, table in zip(program.blocks, row_tables(program.blocks), strict=True):
        r, c = (np.array(k, dtype=int) for k in b.jacobian_pattern.get_triplet())
        rows.append(table[:, r].ravel())
        columns.append(b.gather[:, c].ravel())
    return np.concatenate(rows), np.concatenate(columns)


def _hessian_entries(program: Assembled) -> tuple[Indices, Indices, Indices]:
    """Rows and columns of the nonzeros of all blocks' Gauss-Newton Hessians, both halves, and for each nonzero the
    index of its entry in the upper halves."""
    nothing = np.zeros(0, dtype=int)
    triplets, first = [(nothing, nothing, nothing)], 0
    for b in program.blocks:
        r, c = (np.array(k, dtype=int) for k in b.hessian_pattern.get_triplet())
        source = first + np.arange(len(b.instances) * r.size).reshape(len(b.instances), r.size)
        first += source.size
        kept = _nonzero(b)
        for i, j, chosen in ((r, c, kept), (c, r, kept & (r != c))):
            row, column = b.gather[:, i[chosen]], b.gather[:, j[chosen]]
            triplets.append((row.ravel(), column.ravel(), source[:, chosen].ravel()))
    rows, columns, sources = (np.concatenate(k) for k in zip(*triplets, strict=True))
    return rows, columns, sources


def _nonzero(block: Block) -> NDArray[np.bool_]:
    """Mask of the entries of a block's Gauss-Newton Hessian that are not identically zero: its pattern includes the
    pattern of the exact Hessian."""
    f = block.gauss_function
    hessian = f.call([SX.sym(f.name_in(i), f.sparsity_in(i)) for i in range(f.n_in())])[0]
    return np.array([not hessian.nz[i].is_zero() for i in range(hessian.nnz())], dtype=bool)
