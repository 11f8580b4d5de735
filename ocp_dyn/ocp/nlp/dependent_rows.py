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

from ..._base.types import Array, Indices

VANISHING = 1e-9
"""|A' w| for |w| = 1 below which a combination counts as zero: rows that repeat others give 1e-12 and less, the weakest
combination of a well-posed problem of walking about 1e-6."""

NEARLY_VANISHING = 1e-7
"""The same threshold before the last iteration, after which results are still inexact."""

SHIFT = 1e-7
"""e in the system above: smaller than the weakest combination of a well-posed problem, and large enough that the pivots
stay well above rounding, which is 1e-16 / e."""

ITERATIONS = 6
"""Inverse iterations: the first tells whether there is anything to find, and each takes the shares of weak combinations
s of a well-posed problem, of which there may be more than are sought, down by (SHIFT / s)^2."""

ALIKE = 1 - 1e-6
"""Shares of rows in a null space are equal above this ratio: those of rows that repeat each other differ by
rounding."""

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
    for bound in (*[NEARLY_VANISHING] * (ITERATIONS - 1), VANISHING):
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
    """Other columns with the same span, each 1 in a row of its own and 0 in those of the others, for orthonormal N.

    A row of its own is the one with most of what the span still has, and the last of those that have equally much:
    norms of the rows of N are the same for every orthonormal basis, so that the choice does not hang on rounding, as
    that of a basis of a null space does. The shortest columns are first.
    """
    rest, own = N.copy(), list[int]()
    for _ in range(N.shape[1]):
        share = np.sum(rest**2, axis=1)
        own.append(int(np.flatnonzero(share >= ALIKE * share.max())[-1]))
        along = rest[own[-1]] / np.sqrt(share[own[-1]])
        rest -= np.outer(rest @ along, along)
    reduced: Array = np.asarray(np.linalg.solve(N[own].T, N.T).T)
    order: Indices = np.lexsort((own, [rows.size for rows in supports(reduced)]))
    return np.asarray(reduced[:, order])


def supports(N: Array, least: float = 1e-6) -> list[Indices]:
    """Rows that take part in every combination."""
    return [np.flatnonzero(np.abs(w) > least * np.abs(w).max()) for w in N.T]
