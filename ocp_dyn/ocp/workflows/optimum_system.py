"""The linear system of the first-order conditions at an optimum, and derivatives of the optimum by parameters.

See `sensitivity`: the matrix [W, J_a'; J_a, 0] over the free entries of x and the active rows, its factors, and the
right-hand sides of parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM
from numpy.typing import NDArray

from ..._base.types import Array, Indices
from ..analysis.active_set import table_of
from ..motion.program_table import ProgramTable
from ..nlp.program import Assembled
from ..nlp.scatter import symmetric_nonzeros
from ..solution import Solution
from ..transcription.variables import Transcription

DIFFERENCE_STEP = 1e-5
"""Step of the central differences, relative to a parameter above 1 and absolute below."""

REGULARIZATION, PENALTY = 1e-10, 1e-3
"""The matrix that is factorized is [W + PENALTY J'J, J'; J, -REGULARIZATION]. For REGULARIZATION = 0 it has the same
solution; otherwise it is regular even if rows of J repeat others, as rows of walkers do. Refinement with the true
matrix removes the difference."""

WEAK = 1e-4
"""Distance of a scaled bound, and its multiplier over the largest one, both below which it is weak: any change of p may
make it active or inactive."""

FLIPS = 50
"""Largest number of weak bounds that are held or released, one after the other, for a one-sided derivative."""

REFINEMENTS, EXACT = 40, 1e-10
"""Largest number of steps of iterative refinement, and the relative residual at which it ends."""
UNDETERMINED = 1e-6
"""The residual above which the active constraints leave a derivative undetermined."""


class ParameterDerivatives(NamedTuple):
    """Derivatives by one entry of p, and the relative residual of the linear system."""

    x: Array
    lam_x: Array
    lam_g: Array
    objective: float
    residual: float


@dataclass(frozen=True, eq=False)
class OptimumSystem:
    """The linear system at an optimum: the matrix over the free entries of x and the active rows, and its factors."""

    program: Assembled
    x: Array
    lam_g: Array
    p: Array
    free: Indices
    rows: Indices
    W: DM
    J: DM
    inner: tuple[DM, DM]
    """The parts of W and J for the free entries and the active rows."""
    matrix: DM
    factors: ca.Linsol

    @staticmethod
    def at(
        transcription: Transcription, program: Assembled, solution: Solution, active: Bounds | None = None
    ) -> OptimumSystem:
        """The system of a solution; active: the bounds that hold, by default those whose multipliers tell so."""
        x, lam_g = (solution.iterate[key] for key in ("x", "lam_g"))
        p, e = values_of(transcription, table_of(solution)), program.evaluator
        lower, upper = transcription.program.x_lower, transcription.program.x_upper
        of_x, of_rows = active or active_bounds(transcription, program, solution, p)[0]
        rows = np.flatnonzero((program.row_lower == program.row_upper) | of_rows)
        pattern, order = symmetric_nonzeros(e.hessian_pattern)
        W = DM(pattern, e.hessian(x, p, 1.0, lam_g)[order])
        J = DM(e.jacobian_pattern, e.jacobian(x, p).copy())
        appears = np.zeros(x.size, dtype=bool)  # a free place of a foot across the plane of a model is in no row
        appears[[*pattern.get_col(), *e.jacobian_pattern.get_col()]] = True
        free = np.flatnonzero((lower < upper) & appears & ~of_x)
        inner, part = W[free.tolist(), free.tolist()], J[rows.tolist(), free.tolist()]
        top = inner + PENALTY * (part.T @ part)
        matrix = ca.sparsify(ca.blockcat([[top, part.T], [part, -REGULARIZATION * DM.eye(len(rows))]]))
        factors = ca.Linsol("kkt", "mumps", matrix.sparsity(), {"symmetric": True})
        factors.sfact(matrix)
        factors.nfact(matrix)
        return OptimumSystem(program, x, lam_g, p, free, rows, W, J, (inner, part), matrix, factors)

    def slopes(self, places: Sequence[int]) -> list[ParameterDerivatives]:
        """The derivatives by these entries of p."""
        if not places:
            return []
        sides = [self._by_parameter(k) for k in places]
        gradient, rows = (np.column_stack([side[i] for side in sides]) for i in (0, 1))
        z, residuals = self._solved(-gradient[self.free], -rows[self.rows])
        n, dx, dlam_g = len(self.free), np.zeros((self.x.size, len(places))), np.zeros((self.lam_g.size, len(places)))
        dx[self.free], dlam_g[self.rows] = z[:n], z[n:]
        dlam_x = -(gradient + _product(self.W, dx) + _product(self.J.T, dlam_g))
        dlam_x[self.free] = 0.0
        columns = zip(dx.T, dlam_x.T, dlam_g.T, (side[2] for side in sides), residuals, strict=True)
        return [ParameterDerivatives(*column) for column in columns]

    def rates(self, k: int, d: ParameterDerivatives) -> Array:
        """Derivatives of all rows by p_k, along these derivatives of x."""
        return np.asarray(self._by_parameter(k)[1] + _product(self.J, d.x[:, None])[:, 0])

    def _solved(self, top: Array, bottom: Array) -> tuple[Array, Array]:
        """The solutions for these right-hand sides, one per column, and their relative residuals: the best of the
        refinements, which diverge if the matrix is singular."""
        n, (W, J) = len(self.free), self.inner
        size = np.maximum(1.0, np.linalg.norm(np.concatenate([top, bottom]), axis=0))
        z = best = np.zeros((n + len(self.rows), top.shape[1]))
        least = np.full(top.shape[1], np.inf)
        for _ in range(REFINEMENTS + 1):
            first = top - _product(W, z[:n]) - _product(J.T, z[n:])
            second = bottom - _product(J, z[:n])
            residual = np.linalg.norm(np.concatenate([first, second]), axis=0) / size
            best, least = np.where(residual < least, z, best), np.minimum(residual, least)
            if np.all(least <= EXACT):
                break
            right = np.concatenate([first + PENALTY * _product(J.T, second), second])
            z = z + np.array(self.factors.solve(self.matrix, DM(right)).full())
        return best, least

    def _by_parameter(self, k: int) -> tuple[Array, Array, float]:
        """Derivatives of the Lagrangian's gradient, of g and of the Lagrangian by p_k."""
        e, h = self.program.evaluator, DIFFERENCE_STEP * max(1.0, abs(self.p[k]))
        sides = []
        for sign in (1.0, -1.0):
            p = self.p.copy()
            p[k] += sign * h
            J = DM(e.jacobian_pattern, e.jacobian(self.x, p))
            g = e.constraints(self.x, p).copy()
            gradient = e.gradient(self.x, p) + np.array(J.T @ self.lam_g).ravel()
            sides.append((gradient, g, e.objective(self.x, p) + float(self.lam_g @ g)))
        (a, b, c), (a_, b_, c_) = sides
        return (a - a_) / (2 * h), (b - b_) / (2 * h), (c - c_) / (2 * h)


Bounds = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Masks of bounds: of the entries of x, and of the rows."""


def active_bounds(
    transcription: Transcription, program: Assembled, solution: Solution, p: Array
) -> tuple[Bounds, Bounds, Bounds]:
    """The active bounds of a solution; the weak ones, which have neither a distance nor a multiplier; and which of all
    bounds are nearer to their lower than to their upper end."""
    x, lam_x, lam_g = (solution.iterate[key] for key in ("x", "lam_x", "lam_g"))
    g = program.evaluator.constraints(x, p).copy()
    parts = (
        (x, transcription.program.x_lower, transcription.program.x_upper, lam_x),
        (g, program.row_lower, program.row_upper, lam_g),
    )
    weak, low, size = [], [], max(1.0, float(np.abs(lam_g).max(initial=0.0)))
    for value, lower, upper, lam in parts:
        gap = np.minimum(value - lower, upper - value)
        weak.append((lower < upper) & (gap < WEAK) & (np.abs(lam) < WEAK * size))
        low.append(value - lower < upper - value)
    return (_active(*parts[0]), _active(*parts[1])), (weak[0], weak[1]), (low[0], low[1])


def one_sided(
    transcription: Transcription, program: Assembled, solution: Solution, k: int, sign: float
) -> ParameterDerivatives:
    """The derivatives by p_k towards larger (sign 1) or smaller (-1) values.

    Every weak bound is either held, with a multiplier that grows from zero to its side, or left, to the inside: the
    conditions of the quadratic program that the direction solves [Fiacco 1983, ch. 2]. Bounds that break their
    condition change sides one by one, the worst first. The residual is infinite if they do not come to rest.
    """
    p = values_of(transcription, table_of(solution))
    active, weak, low = active_bounds(transcription, program, solution, p)
    held = (active[0].copy(), active[1].copy())
    for _ in range(FLIPS):
        system = OptimumSystem.at(transcription, program, solution, held)
        d = system.slopes([k])[0]
        moves = (sign * d.x, sign * system.rates(k, d)), (sign * d.lam_x, sign * d.lam_g)
        worst, place = 1e-6 * max(1.0, float(np.abs(d.x).max(initial=0.0))), None
        for part in (0, 1):
            inward = np.where(low[part], 1.0, -1.0)
            broken = np.where(held[part], moves[1][part] * inward, -moves[0][part] * inward)
            broken = np.where(weak[part], broken, 0.0)
            if broken.size and broken.max() > worst:
                worst, place = float(broken.max()), (part, int(broken.argmax()))
        if place is None:
            return d
        held[place[0]][place[1]] ^= True
    return d._replace(residual=np.inf)


def _product(matrix: DM, columns: Array) -> Array:
    return np.array((matrix @ DM(columns)).full())


def _active(value: Array, lower: Array, upper: Array, lam: Array) -> Any:
    """Mask of the bounds whose multiplier is larger than the distance to them: these are active."""
    return (-lam > value - lower) | (lam > upper - value)


def values_of(transcription: Transcription, table: ProgramTable) -> Array:
    """The values of the program's parameters at a solution; of those that its table does not have, such as weights in a
    file of an earlier version, the declared ones."""
    program = transcription.program
    known = dict(zip(table.parameters, np.split(table.values, np.cumsum(table.sizes)[:-1]), strict=True))
    parts = (known.get(each.name, number) for each, number in zip(program.parameters, program.declared, strict=True))
    return np.concatenate([np.zeros(0), *parts])


@contextmanager
def at_values(transcription: Transcription, p: Array) -> Iterator[None]:
    """Within this context the program has these values of its parameters."""
    before = transcription.program.values
    try:
        for parameter in transcription.program.parameters:
            transcription.program.set_value(parameter.name, p[parameter.index])
        yield
    finally:
        for parameter in transcription.program.parameters:
            transcription.program.set_value(parameter.name, before[parameter.index])
