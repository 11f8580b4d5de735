"""Evaluation of a whole program: every kind of block for all its instances at once."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..._base.on_arrays import in_place
from ..._base.types import Array, Indices
from ...codegen.tables import Call, Tape, TapeRun, work_array
from .blocks import Block
from .scatter import Scatter, gradient_placement, hessian_placement, jacobian_placement, row_tables

Key = tuple[int, str]
"""A function of a block: the number of the block in the program, and the function's level."""


COUNTS: dict[str, tuple[Callable[[Block], int], ...]] = {
    "values": (lambda b: len(b.cost_names), lambda b: b.height),
    "first": (lambda b: int(b.gather.shape[1]) if b.cost_names else 0, lambda b: int(b.jacobian_pattern.nnz())),
    **dict.fromkeys(("second", "gauss"), (lambda b: int(b.hessian_pattern.nnz()),)),
}
"""Functions of a block by level: the sizes of their results, cost terms and rows; gradient and Jacobian; Hessian."""


def run_in_machine(
    f: ca.Function, inputs: Sequence[Array], outputs: Sequence[Array], threads: int
) -> Callable[[], object]:
    """A call that evaluates f by CasADi's virtual machine for all rows of `inputs`, into the rows of `outputs`."""
    count = len(inputs[0])
    if count > 1:
        # starting a thread pays from some ten thousand instructions on
        worth = threads > 1 and count >= 2 * threads and f.n_instructions() * count > 20_000
        f = f.map(count, "thread", threads) if worth else f.map(count)
    return in_place(f, inputs, outputs)


class Tapes(NamedTuple):
    """Functions of blocks as tapes, and the library that evaluates them."""

    library: ctypes.CDLL
    of: Mapping[Key, Tape]


class Evaluator:
    """f, g, their first and second derivatives at (x, p): flat arrays, matrices by their nonzeros.

    Solvers need several of them at one point, so results are kept until the point changes. The arrays returned are
    overwritten by the next call. Tapes of a level are evaluated in one call, see `use`.
    """

    def __init__(self, blocks: Sequence[Block], n: int, constants: Array, parameters: int, threads: int = 1) -> None:
        self.n, self.rows = n, sum(len(b.instances) * b.lower.size for b in blocks)
        self._blocks, self._threads = blocks, threads
        self._numbers = np.concatenate([np.zeros(parameters), constants])
        self._x = np.full(n, np.nan)
        self._p = self._numbers[:parameters]
        first = parameters + np.cumsum([0, *(b.constant_count for b in blocks)])
        self._gather, self._all_z, self._z = _joined([b.gather for b in blocks])
        constants_of = [b.gather_parameters(int(k)) for b, k in zip(blocks, first, strict=False)]
        self._gather_p, self._all_local, self._local = _joined(constants_of)
        self._lam_f = [np.zeros((len(b.instances), 1)) for b in blocks]
        self._row_of, self._all_lam_g, self._lam_g = _joined(row_tables(blocks))
        self._sums = Scatter(self.rows, self._row_of) if self._row_of.size > self.rows else None
        gradient, self._touched = gradient_placement(blocks, n)
        jacobian, self.jacobian_pattern = jacobian_placement(blocks, self.rows, n)
        hessian, self.hessian_pattern = hessian_placement(blocks, n)
        self._placements = gradient, jacobian, hessian
        self.use(None)

    @cached_property
    def jacobian_entries(self) -> tuple[Indices, Indices]:
        """Row and column of every nonzero of the Jacobian."""
        pattern = self.jacobian_pattern
        return np.array(pattern.row()), np.repeat(np.arange(self.n), np.diff(pattern.colind()))

    def use(self, tapes: Tapes | None) -> None:
        """Evaluates the functions of these tapes by their tables from now on, and all others by CasADi's virtual
        machine."""
        self._tapes = tapes
        self._fresh: set[str] = set()
        self._flat: dict[str, list[Array]] = {}
        self._runs: dict[str, list[Callable[[], object]]] = {}
        self._work: list[Array] = []

    def _prepare(self, level: str) -> None:
        """Allocates the arrays of a level's results once, and makes the calls that fill them."""
        counts = COUNTS[level]
        flats = [np.zeros(sum(len(b.instances) * size(b) for b in self._blocks)) for size in counts]
        begin = [0] * len(counts)
        runs: list[Callable[[], object]] = []
        taped: list[Call] = []
        for k, b in enumerate(self._blocks):
            outputs = []
            for j, size in enumerate(counts):
                length = len(b.instances) * size(b)
                outputs.append(flats[j][begin[j] : begin[j] + length].reshape(len(b.instances), size(b)))
                begin[j] += length
            tape = None if self._tapes is None else self._tapes.of.get((k, level))
            if tape is not None:
                taped.append((tape, self._inputs(k, level), outputs))
            elif any(output.size for output in outputs):
                f = b.derivatives.function(level)
                runs.append(run_in_machine(f, self._inputs(k, level), outputs, self._threads))
        if taped and self._tapes is not None:
            need = work_array(taped)
            if not self._work or self._work[0].size < need.size:
                self._work = [need, *(work_array(taped) for _ in range(1, self._threads))]
            runs.append(TapeRun(self._tapes.library, taped, self._work))
        self._flat[level], self._runs[level] = flats, runs

    def _inputs(self, k: int, level: str) -> list[Array]:
        weights = {"second": [self._lam_f[k], self._lam_g[k]], "gauss": [self._lam_f[k]]}
        return [self._z[k], self._local[k], *weights.get(level, [])]

    def _run(self, level: str) -> list[Array]:
        """The results of a level, computed now."""
        if level not in self._runs:
            self._prepare(level)
        for run in self._runs[level]:
            run()
        return self._flat[level]

    def _at(self, x: Array, p: Array) -> None:
        """Moves to a point (x, p) and marks the results of another one as out of date."""
        if np.array_equal(x, self._x) and np.array_equal(p, self._p):
            return
        self.forget()
        self._p[:] = p
        np.take(x, self._gather, out=self._all_z, mode="clip")
        np.take(self._numbers, self._gather_p, out=self._all_local, mode="clip")
        self._x[:] = x  # the last, because Ctrl-C may end this at any line

    def forget(self) -> None:
        """Forgets the point of the last evaluation, so that the next one gathers its inputs anew."""
        self._fresh.clear()
        self._x[:] = np.nan

    def _evaluate(self, level: str, x: Array, p: Array) -> list[Array]:
        self._at(x, p)
        if level not in self._fresh:
            self._run(level)
            self._fresh.add(level)
        return self._flat[level]

    def terms(self, x: Array, p: Array) -> Array:
        """The cost terms of every kind of block, summed over its instances."""
        flat, begin, sums = self._evaluate("values", x, p)[0], 0, [np.zeros(0)]
        for b in self._blocks:
            size = len(b.instances) * len(b.cost_names)
            sums.append(flat[begin : begin + size].reshape(len(b.instances), -1).sum(axis=0) if size else np.zeros(0))
            begin += size
        return np.concatenate(sums)

    def objective(self, x: Array, p: Array) -> float:
        return float(self._evaluate("values", x, p)[0].sum())

    def constraints(self, x: Array, p: Array) -> Array:
        g = self._evaluate("values", x, p)[1]
        return g if self._sums is None else self._sums(g)

    def gradient(self, x: Array, p: Array) -> Array:
        gradient = np.zeros(self.n)
        gradient[self._touched] = self._placements[0](self._evaluate("first", x, p)[0])
        return gradient

    def jacobian(self, x: Array, p: Array, out: Array | None = None) -> Array:
        """Nonzeros of dg/dx, in the order of `jacobian_pattern`; in the array `out` if it is given."""
        return self._placed(1, self._evaluate("first", x, p)[1], out)

    def hessian(self, x: Array, p: Array, lam_f: float, lam_g: Array, out: Array | None = None) -> Array:
        """Nonzeros of the upper triangle of the Hessian of lam_f f + lam_g' g, in the order of `hessian_pattern`; in
        the array `out` if it is given."""
        np.take(lam_g, self._row_of, out=self._all_lam_g, mode="clip")
        return self._placed(2, self._curvatures("second", x, p, lam_f), out)

    def gauss_newton(self, x: Array, p: Array, lam_f: float) -> Array:
        """Nonzeros of the Gauss-Newton Hessian of lam_f f, which leaves out the curvature of the residuals whose
        squares make up f; pattern as of `hessian`."""
        return self._placed(2, self._curvatures("gauss", x, p, lam_f))

    def entries(self, x: Array, p: Array) -> tuple[Array, Array]:
        """Nonzeros of the Jacobians and of the Gauss-Newton Hessians of all blocks, instance by instance."""
        return self._evaluate("first", x, p)[1], self._curvatures("gauss", x, p, 1.0)

    def _placed(self, k: int, entries: Array, out: Array | None = None) -> Array:
        return self._placements[k](entries, None if self._tapes is None else self._tapes.library, out)

    def _curvatures(self, level: str, x: Array, p: Array, lam_f: float) -> Array:
        self._at(x, p)
        for weight in self._lam_f:
            weight[:] = lam_f
        return self._run(level)[0]


def _joined(tables: list[Indices]) -> tuple[Indices, Array, list[Array]]:
    """The indices of all tables one after the other, an array for as many numbers, and its part for every table."""
    indices = np.concatenate([np.zeros(0, dtype=int), *(table.ravel() for table in tables)])
    numbers, ends = np.zeros(indices.size), np.cumsum([table.size for table in tables])
    parts = [numbers[e - t.size : e].reshape(t.shape) for e, t in zip(ends.tolist(), tables, strict=True)]
    return indices, numbers, parts
