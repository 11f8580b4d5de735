"""Matrices of IPOPT and their dense counterparts; the library called as IPOPT calls it, with any values."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ocp_dyn.native.libraries import DOUBLES, INTEGERS
from ocp_dyn.ocp.solvers.block_ldl.library import BlockLDL, Seen
from ocp_dyn.ocp.solvers.block_ldl.plan import LdlPlan

SINGULAR = -5


def dense(seen: Seen) -> np.ndarray:
    """The symmetric matrix of triplets."""
    K = np.zeros((seen.n, seen.n))
    np.add.at(K, (seen.rows, seen.columns), seen.values)
    off = seen.rows != seen.columns
    np.add.at(K, (seen.columns[off], seen.rows[off]), seen.values[off])
    return K


class Inertia(NamedTuple):
    """The number of negative eigenvalues lies between these two; rank_deficient: an eigenvalue is zero to rounding."""

    least: int
    most: int
    rank_deficient: bool


def inertia(K: np.ndarray) -> Inertia:
    """The inertia of a matrix by its eigenvalues, after a scaling of rows and columns, which does not change it."""
    A = K.copy()
    for _ in range(8):
        size = np.sqrt(np.max(np.abs(A), axis=1))
        size[size == 0] = 1.0
        A = A / size[:, None] / size[None, :]
    values = np.linalg.eigvalsh(A)
    zero = 1e-14 * len(K) * np.max(np.abs(values))
    most, least = int(np.sum(values < zero)), int(np.sum(values < -zero))
    return Inertia(least, most, most > least)


def backward_error(K: np.ndarray, x: np.ndarray, b: np.ndarray) -> float:
    """|b - K x| relative to |K| |x| + |b|, in the largest norm."""
    size = np.max(np.abs(K) @ np.abs(x)) + np.max(np.abs(b))
    return float(np.max(np.abs(b - K @ x)) / size) if size else 0.0


class Solver:
    """The library on one structure, called by the interface of MA27."""

    def __init__(self, library: BlockLDL, seen: Seen, threshold: float = 1e-8) -> None:
        self._c = ctypes.CDLL(str(library.path))
        self.n, self.nz = seen.n, len(seen.rows)
        self._irn, self._icn = ((index + 1).astype(np.int32) for index in (seen.rows, seen.columns))
        self._ikeep, self._iw = np.zeros(3 * self.n, np.int32), np.zeros(2 * self.n + 64, np.int32)
        self._info, self._icntl, self._cntl = np.zeros(20, np.int32), np.zeros(30, np.int32), np.zeros(5)
        self._work, self._one = np.zeros(8 * self.n + 64), ctypes.byref(ctypes.c_int(1))
        self._c.ma27id_(_i(self._icntl), _d(self._cntl))
        self._cntl[0] = threshold
        size, count, iw = self._n(), self._count(), _i(self._iw)
        large = ctypes.byref(ctypes.c_int(self._iw.size))
        self._c.ma27ad_(size, count, _i(self._irn), _i(self._icn), iw, large, _i(self._ikeep), _i(self._iw.copy()),
                        ctypes.byref(ctypes.c_int()), self._one, _i(self._icntl), _d(self._cntl), _i(self._info),
                        _d(np.zeros(1)))  # fmt: skip
        self.analysis = int(self._info[0])

    def factor(self, values: np.ndarray) -> int:
        """The number of negative eigenvalues, or the negative code of a failure."""
        self._a, front = values.copy(), ctypes.byref(ctypes.c_int())
        self._c.ma27bd_(self._n(), self._count(), _i(self._irn), _i(self._icn), _d(self._a), self._count(),
                        _i(self._iw),
                        self._one, _i(self._ikeep), self._one, front, _i(self._iw.copy()), _i(self._icntl),
                        _d(self._cntl), _i(self._info))  # fmt: skip
        return int(self._info[14]) if self._info[0] == 0 else int(self._info[0])

    def solve(self, b: np.ndarray) -> np.ndarray:
        x = b.copy()
        self._c.ma27cd_(self._n(), _d(self._a), self._one, _i(self._iw), self._one, _d(self._work), self._one, _d(x),
                        _i(self._iw.copy()), self._one, _i(self._icntl), _d(self._cntl))  # fmt: skip
        return x

    def _n(self):
        return ctypes.byref(ctypes.c_int(self.n))

    def _count(self):
        return ctypes.byref(ctypes.c_int(self.nz))


def _i(array):
    return array.ctypes.data_as(INTEGERS)


def _d(array):
    return array.ctypes.data_as(DOUBLES)


@contextmanager
def solver(library: BlockLDL, plan: LdlPlan, seen: Seen) -> Iterator[tuple[Solver, object]]:
    """A solver of matrices of this structure under a plan, and the function that returns its figures."""
    with library.planned(plan) as figures:
        yield Solver(library, seen), figures
