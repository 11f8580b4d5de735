"""The Riccati recursion: minimizes a quadratic cost over a sequence of linear stages, exactly, in two sweeps.

    min  sum_k z_k' H_k z_k / 2 + h_k' z_k,  z_k = (u_k, x_k),   x_{k+1} = F_k z_k + b_k,   E_k z_k = r_k.

From the last stage to the first, the rows of a stage and the rows that the next stage imposes on its state are solved
for controls (Gauss-Jordan elimination); rows that no control can satisfy are passed to the stage before. With the free
controls u_f, the pivots u_p = G (u_f, x) + ..., and P of the next stage, the remaining cost is factored,

    M = T' (H + F' P F) T = [ M_uu M_ux; M_xu M_xx ] = [ U W ]' [ U W ] + [ 0 0; 0 P_k ],   z = T (u_f, x) + t.

(J. Rawlings, D. Mayne & M. Diehl, Model Predictive Control, 2017, sec. 8.8; for the rows, L. Vanroye, A. Sathya, J. De
Schutter & W. Decre, FATROP, IROS 2023.) `factor` needs only the matrices; `solve` needs the vectors and takes a
twentieth of the work.

The recursion is implemented twice: in `riccati.c` of the native library RICCATI, and here in numpy, some thirty times
slower; `recursion` chooses.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._base.types import Array
from ...native.libraries import RICCATI
from .stage_matrices import MatrixEntries, StageMatrices

FIRST_THRESHOLDS = (0.1, 1e-3)
"""Thresholds of the first passes of elimination: a pivot must be larger than the threshold times the length of its row.
Rows with smaller pivots are eliminated in later passes, because an early elimination would weaken rows with large
ones."""

LAST_THRESHOLD = 1e-7
"""Threshold of the last pass: a row with a smaller pivot is treated as if the controls did not act on it, and
constrains the state.

P grows as 1 / pivot^2: with pivots below the root of the rounding error the cost of the controls would be lost in P. A
foot that touches down, at its place and at rest, makes pivots of 1e-5. The neglected part of a row appears as a gap at
the next linearization.
"""


class Recursion(Protocol):
    """A solver of linear-quadratic problems in stages; how: description for reports, such as "in numpy"."""

    how: str
    stages: StageMatrices

    def write(self, where: MatrixEntries, values: Array, sign: float) -> None:
        """Writes sign times values into entries of the matrices; values for the same entry are summed."""

    def add_prices(self, price: Array) -> None:
        """H += S' diag(price) S in every stage."""

    def factor(self) -> int:
        """Factors the current matrices; returns -1, or the number of a stage whose cost is not convex in its free
        controls."""

    def solve(self, h: Array, b: Array, r: Array) -> tuple[Array, float]:
        """(z, unmet): the solution, and the largest residual of rows that contradict earlier rows."""


class EliminatedRows(NamedTuple):
    """Rows (e, nu + nx) after their elimination.

    order: the controls, pivots first. reduced: the eliminated rows; the first `rank` rows have the pivots, the next
    `left` rows constrain the state, all later rows are redundant. transform: the matrix by which the rows were
    multiplied.
    """

    order: list[int]
    rank: int
    left: int
    reduced: Array
    transform: Array


class _Factors(NamedTuple):
    """The matrices of a stage and their factors."""

    H: Array
    F: Array
    P: Array
    L: Array
    T: Array
    U: Array
    W: Array
    rows: EliminatedRows


class NumpyRecursion:
    """The recursion in numpy; its methods are described in `Recursion`."""

    how = "in numpy, some thirty times slower than compiled"

    def __init__(self, stages: StageMatrices) -> None:
        self.stages = stages
        self._factors: list[_Factors] = []

    def write(self, where: MatrixEntries, values: Array, sign: float) -> None:
        data, n = self.stages.data, where.first
        data[where.to[:n]] = sign * values[where.source[:n]]
        np.add.at(data, where.to[n:], sign * values[where.source[n:]])

    def add_prices(self, price: Array) -> None:
        begin = self.stages.begin("s")
        for H, S, first in zip(self.stages.H, self.stages.S, begin, strict=True):
            H += S.T @ (price[first : first + len(S), None] * S)

    def factor(self) -> int:
        s, self._factors = self.stages, []
        n = s.sizes[0].nu
        H, F, E = [np.zeros((n, n)), *s.H], [np.eye(n), *s.F], [np.zeros((0, n)), *s.E]
        P, L = np.zeros((0, 0)), np.zeros((0, 0))
        for k in reversed(range(len(s.sizes))):
            nu, nx = s.sizes[k][:2]
            rows = split_rows(np.vstack([E[k], L @ F[k]]), nu)
            f = nu - rows.rank
            T = np.zeros((nu + nx, f + nx))
            free = [*rows.order[rows.rank :], *range(nu, nu + nx)]
            T[free, range(f + nx)] = 1.0
            T[rows.order[: rows.rank]] = -rows.reduced[: rows.rank, free]
            M = T.T @ (H[k] + F[k].T @ P @ F[k]) @ T
            try:
                U = np.asarray(np.linalg.cholesky(M[:f, :f]).T, dtype=float)
            except np.linalg.LinAlgError:
                return max(k - 1, 0)
            W = np.asarray(np.linalg.solve(U.T, M[:f, f:]), dtype=float)
            self._factors.append(_Factors(H[k], F[k], P, L, T, U, W, rows))
            P, L = M[f:, f:] - W.T @ W, rows.reduced[rows.rank : rows.rank + rows.left, nu:]
        return -1

    def solve(self, h: Array, b: Array, r: Array) -> tuple[Array, float]:
        hs, bs, rs = (np.split(vector, self.stages.begin(name)) for name, vector in (("z", h), ("b", b), ("r", r)))
        p, l, unmet = np.zeros(0), np.zeros(0), 0.0
        kept: list[tuple[_Factors, Array, Array, Array]] = []
        for s, h_k, b_k, r_k in zip(self._factors, reversed(hs), reversed(bs), reversed(rs), strict=True):
            rank, f = s.rows.rank, len(s.U)
            sides = s.rows.transform @ np.concatenate([r_k, l - s.L @ b_k])
            unmet = max(unmet, float(np.max(np.abs(sides[rank + s.rows.left :]), initial=0.0)))
            t = np.zeros(len(s.T))
            t[s.rows.order[:rank]] = sides[:rank]
            slope = s.T.T @ (h_k + s.H @ t + s.F.T @ (s.P @ (s.F @ t + b_k) + p))
            d = np.asarray(np.linalg.solve(s.U.T, slope[:f]), dtype=float)
            p, l = slope[f:] - s.W.T @ d, sides[rank : rank + s.rows.left]
            kept.append((s, t, d, b_k))
        z, x = [np.zeros(0)], np.zeros(0)
        for s, t, d, b_k in reversed(kept):
            z.append(s.T @ np.concatenate([-np.linalg.solve(s.U, d + s.W @ x), x]) + t)
            x = s.F @ z[-1] + b_k
        return np.concatenate(z), unmet


def split_rows(rows: Array, nu: int) -> EliminatedRows:
    """Gauss-Jordan elimination of rows over (u, x): first of controls, then, in the remaining rows, of states.

    rows: (e, nu + nx). They are taken in their order, with the largest entry of each as its pivot: of rows
    that contradict each other the first is satisfied.
    """
    e, w = rows.shape
    W, size = np.hstack([rows, np.eye(e)]), np.linalg.norm(rows, axis=1)
    pivots = _eliminate(W, size, 0, 0, nu)
    left = len(_eliminate(W, size, len(pivots), nu, w))
    order = [*pivots, *(j for j in range(nu) if j not in pivots)]
    return EliminatedRows(order, len(pivots), left, W[:, :w], W[:, w:])


def _eliminate(W: Array, size: Array, first: int, begin: int, end: int) -> list[int]:
    """Eliminates columns begin..end from row `first` and all later rows; rows with a pivot move up. Returns the pivots'
    columns."""
    pivots: list[int] = []
    for threshold in (*FIRST_THRESHOLDS, LAST_THRESHOLD) if end > begin else ():
        for i in range(first + len(pivots), len(W)):
            column, place = begin + int(np.argmax(np.abs(W[i, begin:end]))), first + len(pivots)
            if abs(W[i, column]) <= threshold * size[i]:
                continue
            W[[place, i]], size[[place, i]] = W[[i, place]], size[[i, place]]
            W[place] /= W[place, column]
            others = [j for j in range(first, len(W)) if j != place]
            W[others] -= np.outer(W[others, column], W[place])
            W[others, column] = 0.0
            pivots.append(column)
    return pivots


class NativeRecursion:
    """The recursion in C; its methods are described in `Recursion`. The z that `solve` returns is overwritten by the
    next call."""

    how = "in C"

    def __init__(self, stages: StageMatrices, library: ctypes.CDLL) -> None:
        self.stages, total = stages, stages.total
        factors, orders = np.zeros(total["factors"]), np.zeros(total["order"], dtype=np.int64)
        self._z, sides = np.zeros(total["z"]), np.zeros(total["rhs"])
        vectors = [self._z, sides, np.zeros(total["order"]), np.zeros(total["order"]), np.zeros(stages.work)]
        self._kept = stages.table, stages.data, factors, orders, *vectors  # C keeps only their addresses
        addresses = [ctypes.c_void_p(array.ctypes.data) for array in self._kept]
        self._matrices, self._vectors = addresses[:4], addresses[4:]
        self._count = len(stages.sizes)
        self._library, self._thresholds = library, (ctypes.c_double * 3)(*FIRST_THRESHOLDS, LAST_THRESHOLD)

    def write(self, where: MatrixEntries, values: Array, sign: float) -> None:
        places, data = (_address(where.to), _address(where.source)), self._matrices[1]
        self._library.write_entries(where.first, where.to.size, *places, sign, _address(values), data)

    def add_prices(self, price: Array) -> None:
        table, data = self._matrices[:2]
        self._library.add_prices(self._count, table, data, _address(price), self._vectors[-1])

    def factor(self) -> int:
        failed = self._library.factor(self._count, *self._matrices, self._vectors[-1], self._thresholds)
        return int(failed) if failed < 0 else max(int(failed) - 1, 0)

    def solve(self, h: Array, b: Array, r: Array) -> tuple[Array, float]:
        vectors = [np.ascontiguousarray(vector, dtype=float) for vector in (h, b, r)]
        addresses = [_address(vector) for vector in vectors]
        return self._z, float(self._library.solve(self._count, *self._matrices, *addresses, *self._vectors))


def recursion(stages: StageMatrices) -> Recursion:
    """The recursion for these stages: by the native library if it is there, else in numpy."""
    library, _ = RICCATI.obtain()
    return NumpyRecursion(stages) if library is None else NativeRecursion(stages, library.functions)


def _address(vector: NDArray[Any]) -> ctypes.c_void_p:
    """Address of a vector's numbers; the vector must be contiguous and outlive the call."""
    return ctypes.c_void_p(vector.ctypes.data)
