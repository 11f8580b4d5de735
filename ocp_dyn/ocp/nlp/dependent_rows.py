"""Dependent equalities: linear combinations of the rows of their Jacobian that vanish.

With A the rows scaled to norm 1, the system [e I, A'; A, -e I] (x; y) = (0; b) has y = -e (A A' + e^2 I)^-1 b: for a
random b, y lies along the combinations w with A' w = 0, if there are any (inverse iteration). A small e on both
diagonals keeps the factorization stable in any order. Neither A A', which is dense if all rows share a variable, nor
another dense matrix is formed. Then the singular values of A' on the span of several y are computed: |A' w| decides
whether a combination vanishes.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import DM

from ..._types import Array, Indices

VANISHING = 1e-9
"""|A' w| for |w| = 1 below which a combination counts as zero: rows that repeat others give 1e-12 and less, the weakest
combination of a well-posed problem of walking about 1e-6."""

NEARLY_VANISHING = 1e-7
"""The same threshold after the first iteration, whose result is still inexact."""

SHIFT = 1e-7
"""e in the system above: smaller than the weakest combination of a well-posed problem, and large enough that the pivots
stay well above rounding, which is 1e-16 / e."""

FEWEST_SOUGHT, MOST_SOUGHT = 8, 64
"""Number of combinations that are sought at once: doubled while all of them vanish, up to the second number."""


def vanishing(J: DM) -> Array:
    """Vanishing combinations of the rows of J: a column of weights for each, for the rows scaled to norm 1.

    In reduced form: every column has an entry 1 in a row where the others have 0, so that dependences with different
    causes stay separate. Rows without an entry are left out. Cost: one or two sparse factorizations, half a second each
    for 5,000 rows.
    """
    J = ca.sparsify(J)
    row = np.array(J.sparsity().row(), dtype=int)
    values = np.array(J.nonzeros())
    if not np.all(np.isfinite(values)):
        return np.zeros((J.shape[0], 0))
    norm = np.sqrt(np.bincount(row, values**2, J.shape[0]))
    kept = np.flatnonzero(norm > 0)
    A = DM(J.sparsity(), values / np.where(norm > 0, norm, 1.0)[row])[kept.tolist(), :]
    count = min(FEWEST_SOUGHT, kept.size)
    null_space = _null_space(A, count)
    while null_space.shape[1] == count < min(MOST_SOUGHT, kept.size):
        count = min(2 * count, kept.size)
        null_space = _null_space(A, count)
    weights = np.zeros((J.shape[0], null_space.shape[1]))
    weights[kept] = null_space
    return _reduced(weights)


def _null_space(A: DM, count: int) -> Array:
    """Up to `count` orthonormal w with A' w = 0."""
    m, n = A.shape
    if not m:
        return np.zeros((0, 0))
    K = ca.blockcat([[SHIFT * DM.eye(n), A.T], [A, -SHIFT * DM.eye(m)]])
    factor = ca.Linsol("K", "ldl", K.sparsity())
    Y = np.random.default_rng(0).standard_normal((m, count))
    for bound in (NEARLY_VANISHING, VANISHING):
        z = np.array(factor.solve(K, ca.vertcat(DM(n, count), DM(Y))).full())
        if not np.all(np.isfinite(z)):
            return np.zeros((m, 0))  # the factorization failed, so nothing is known
        Y = np.linalg.qr(z[n:])[0]
        _, values, V = np.linalg.svd(np.linalg.qr((A.T @ DM(Y)).full(), mode="r"))
        Y = Y @ V[::-1].T  # the weakest first: the next orthogonalization keeps them
        W = Y[:, : count - np.count_nonzero(values >= bound)]
        if not W.shape[1]:
            break
    return np.asarray(W)


def _reduced(N: Array) -> Array:
    """Other columns with the same span, by Gauss-Jordan elimination with complete pivoting."""
    N = N.copy()
    for j in range(N.shape[1]):
        i, k = divmod(int(np.argmax(np.abs(N[:, j:]))), N.shape[1] - j)
        N[:, [j, j + k]] = N[:, [j + k, j]]
        pivot = N[:, j] / N[i, j]
        N -= np.outer(pivot, N[i])
        N[:, j] = pivot
    return N


def supports(N: Array, least: float = 1e-6) -> list[Indices]:
    """For every combination, the rows that take part in it."""
    return [np.flatnonzero(np.abs(w) > least * np.abs(w).max()) for w in N.T]
