"""The functions of the native library BLOCK_LDL, for Python.

IPOPT itself loads the library and calls its factorization, by the interface of MA27 (I. S. Duff and J. K. Reid, MA27: a
set of Fortran subroutines for solving sparse symmetric sets of linear equations, AERE R10533, 1982). Python gives it
the plan of a run before the run, and reads the figures after it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...._base.types import Array, Indices
from ....native.libraries import BLOCK_LDL, DOUBLES, INTEGERS, WATCH
from ....native.library import Loaded
from .plan import LdlPlan

FAILURES = {
    1: "the matrix is not of the planned structure",
    2: "numbers of the matrix are not finite",
    3: "a solution of the linear equations was too inaccurate",
    4: "there was not enough memory",
}
"""Failures by their numbers in the library."""

FIGURES = 16
"""Number of figures that `block_ldl_stats` writes."""


class Figures(NamedTuple):
    """Figures of the factorizations and solves under a plan.

    delayed: pivots that were too small where they stood; repeated: factorizations repeated with careful pivoting;
    residual: the largest |b - A x| / (|b| + |x|) of a solve, as IPOPT measures it; multiply_adds: of the last
    factorization; entries: of its factor; failure: 0, or a key of FAILURES; largest_front: rows of the largest front;
    refined: steps of refinement of solutions; backward_error: the largest |b - A x| / (|A| |x| + |b|) before them, of
    the scaled equations in the largest norm.
    """

    factorizations: int = 0
    factor_seconds: float = 0.0
    solves: int = 0
    solve_seconds: float = 0.0
    delayed: int = 0
    repeated: int = 0
    residual: float = 0.0
    multiply_adds: float = 0.0
    entries: int = 0
    failure: int = 0
    largest_front: int = 0
    threads: int = 0
    refined: int = 0
    backward_error: float = 0.0

    def summary(self) -> dict[str, float]:
        """The figures as plain numbers, with the time of one factorization and of one solve [ms]."""
        return {
            "factorizations": self.factorizations,
            "factorization_ms": 1e3 * self.factor_seconds / max(self.factorizations, 1),
            "solves": self.solves,
            "solve_ms": 1e3 * self.solve_seconds / max(self.solves, 1),
            "delayed_pivots": self.delayed,
            "repeated": self.repeated,
            "worst_residual": self.residual,
            "refined": self.refined,
            "backward_error": self.backward_error,
            "multiply_adds": self.multiply_adds,
            "factor_entries": self.entries,
            "largest_front": self.largest_front,
            "threads": self.threads,
        }


class Seen(NamedTuple):
    """A factorization, or a solve, as a watch sees it.

    rows, columns, values: the matrix as triplets, of which those of one place add up; indices begin at 0, and only one
    triangle is stored. negative: number of negative eigenvalues, or the negative code of the failure. right, x: right
    side and solution of a solve; None of a factorization.
    """

    n: int
    rows: Indices
    columns: Indices
    values: Array
    negative: int
    right: Array | None
    x: Array | None


class BlockLDL:
    """The native library BLOCK_LDL. path: its file, which IPOPT loads."""

    def __init__(self, loaded: Loaded) -> None:
        self.path, self._c = loaded

    @contextlib.contextmanager
    def planned(self, plan: LdlPlan) -> Iterator[Callable[[], Figures]]:
        """Within this context the runs of IPOPT in this thread that use the library follow the plan; gives a function
        that returns their figures until now. Contexts may stand inside each other, and side by side in threads."""
        arrays = [np.ascontiguousarray(a, dtype=np.int32) for a in (plan.front, plan.role, plan.tile)]
        fronts = [np.ascontiguousarray(a, dtype=np.int32) for a in (plan.parent, plan.thread)]
        sizes = arrays[0].size, fronts[0].size
        if any(a.shape != sizes[:1] for a in arrays) or any(a.shape != sizes[1:] for a in fronts):
            raise ValueError(f"a plan has front, role and tile of one size, parent and thread of another, got {sizes}")
        outer = self._c.block_ldl_use(0)
        number = self._c.block_ldl_begin(
            sizes[0], plan.primal, sizes[1], *map(_integers, (*arrays, *fronts)), plan.threads
        )
        try:
            if number <= 0:
                raise RuntimeError(
                    "the library of the block LDL solver refuses the plan, or there is not enough memory"
                )
            yield lambda: self._figures(number)
        finally:
            self._c.block_ldl_end(number)
            self._c.block_ldl_use(outer)

    def _figures(self, number: int) -> Figures:
        numbers = np.zeros(FIGURES)
        self._c.block_ldl_stats(number, numbers.ctypes.data_as(DOUBLES))
        typed: list[Any] = [type(zero)(x) for zero, x in zip(Figures(), numbers, strict=False)]
        return Figures(*typed)

    @contextlib.contextmanager
    def watched(self, see: Callable[[Seen], None]) -> Iterator[None]:
        """Within this context `see` is called after every factorization and solve of this process, for tests.

        The arrays are copies. An error in `see` is reported, and does not end the run.
        """

        def called(what: int, n: int, nz: int, irn: Any, icn: Any, a: Any, negative: int, right: Any, x: Any) -> None:
            rows, columns = (np.ctypeslib.as_array(index, (nz,)).astype(np.int64) for index in (irn, icn))
            sides = [np.ctypeslib.as_array(v, (n,)).copy() if what == 1 else None for v in (right, x)]
            see(Seen(n, rows, columns, np.ctypeslib.as_array(a, (nz,)).copy(), negative, *sides))

        callback = WATCH(called)
        self._c.block_ldl_watch(callback)
        try:
            yield
        finally:
            self._c.block_ldl_watch(WATCH())


def obtain(wait: bool = False) -> tuple[BlockLDL | None, str]:
    """The library, or None and the reason; wait: see `NativeLibrary.obtain`."""
    loaded, reason = BLOCK_LDL.obtain(wait)
    return (None, reason) if loaded is None else (BlockLDL(loaded), "")


def _integers(array: NDArray[np.int32]) -> Any:
    return array.ctypes.data_as(INTEGERS)
