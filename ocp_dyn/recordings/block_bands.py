"""Banded linear systems by blocks: O(N) in the number of rows."""

from __future__ import annotations

import numpy as np

from .._base.types import Array


def solve_banded(band: Array, begin: Array, rhs: Array) -> Array:
    """Solution (n, m) of a square system whose row i has the entries band[i] (w) in the columns from begin[i] on.

    Every row must lie within w + 1 columns of the diagonal. Rows are taken in blocks, between which there is no
    pivoting: for totally positive matrices (splines) and positive definite ones this is stable.
    """
    n, w = band.shape
    size = max(2 * w, 16)
    count = -(-n // size)
    D, L, U = (np.zeros((count, size, size)) for _ in range(3))
    y = np.zeros((count * size, rhs.shape[1]))
    y[:n] = rhs
    rows = np.repeat(np.arange(n), w)
    columns = (begin[:, None] + np.arange(w)).ravel()
    block, side = rows // size, columns // size - rows // size
    for part, where in ((D, 0), (L, -1), (U, 1)):
        there = side == where
        part[block[there], rows[there] % size, columns[there] % size] = band.ravel()[there]
    rest = np.arange(n, count * size)
    D[-1, rest % size, rest % size] = 1.0
    return solve_block_tridiagonal(L, D, U, y.reshape(count, size, -1)).reshape(count * size, -1)[:n]


def solve_block_tridiagonal(L: Array, D: Array, U: Array, rhs: Array) -> Array:
    """Solution (N, s, m) of L[k] x[k - 1] + D[k] x[k] + U[k] x[k + 1] = rhs[k] with blocks (N, s, s), by elimination
    forward and substitution backward; L[0] and U[-1] are not read."""
    N, s = D.shape[:2]
    x = np.empty_like(rhs)
    gain = np.empty_like(D)
    for k in range(N):
        A, y = D[k], rhs[k]
        if k:
            A, y = A - L[k] @ gain[k - 1], y - L[k] @ x[k - 1]
        both = np.linalg.solve(A, np.hstack([U[k], y]))
        gain[k], x[k] = both[:, :s], both[:, s:]
    for k in range(N - 2, -1, -1):
        x[k] -= gain[k] @ x[k + 1]
    return x
