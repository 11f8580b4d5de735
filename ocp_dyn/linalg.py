"""Linear algebra on small or tree-structured matrices; no mechanics.

`parent` is the tree of a branch-sparse symmetric matrix: entry (i, j) may be nonzero only if one of i, j
supports the other [RBDA, 6.4-6.5]. Factorising from the tips inwards fills nothing in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import casadi as ca

from ._types import Expr


class LTDL(NamedTuple):
    """A = L' D L: rows of the unit lower factor by ancestor, and the diagonal of D."""

    parent: Sequence[int]
    L: list[dict[int, Expr]]
    d: list[Expr]

    def solve(self, b: Expr) -> Expr:
        """A^-1 b; b may have several columns."""
        return self.solve_L(self.scale(self.solve_Lt(b)))

    def solve_Lt(self, b: Expr) -> Expr:
        """L'^-1 b, from the tips to the root [RBDA, table 6.5]."""
        x = ca.vertsplit(b)
        for i in reversed(range(len(self.parent))):
            for j, l in self.L[i].items():
                x[j] = x[j] - l * x[i]
        return ca.vertcat(*x)

    def solve_L(self, b: Expr) -> Expr:
        """L^-1 b, from the root to the tips."""
        x = ca.vertsplit(b)
        for i in range(len(self.parent)):
            for j, l in self.L[i].items():
                x[i] = x[i] - l * x[j]
        return ca.vertcat(*x)

    def scale(self, b: Expr) -> Expr:
        """D^-1 b."""
        return ca.vertcat(*(x / d for x, d in zip(ca.vertsplit(b), self.d, strict=True)))


def ancestors(parent: Sequence[int], i: int) -> Iterator[int]:
    """parent[i], its parent, and so on to the root."""
    i = parent[i]
    while i >= 0:
        yield i
        i = parent[i]


def ltdl(A: Expr, parent: Sequence[int]) -> LTDL:
    """A = L' D L of a positive definite branch-sparse matrix [RBDA, table 6.3].

    Walks supporting paths, not the pattern of A, so that fill-in along a path is never missed. O(n d^2)
    for depth d. Positive definiteness is not checked: an indefinite A gives inf or nan.
    """
    n = len(parent)
    rows = {i: {j: A[i, j] for j in (i, *ancestors(parent, i))} for i in range(n)}
    L: list[dict[int, Expr]] = [{} for _ in range(n)]
    for k in reversed(range(n)):
        for i in ancestors(parent, k):
            if rows[k][i].nnz() == 0:
                continue
            a = rows[k][i] / rows[k][k]
            for j in (i, *ancestors(parent, i)):
                if rows[k][j].nnz():
                    rows[i][j] = rows[i][j] - a * rows[k][j]
            L[k][i] = a
    return LTDL(parent, L, [rows[i][i] for i in range(n)])


def chain(n: int) -> list[int]:
    """The tree of a dense n x n matrix: every row supported by the one before."""
    return list(range(-1, n - 1))


def solve_spd(A: Expr, b: Expr) -> Expr:
    """A^-1 b of a small dense symmetric positive definite A, by LDL' without pivoting."""
    if A.shape == (1, 1):
        return b / A
    return ltdl(A, chain(A.shape[0])).solve(b)


def solve_semidefinite(A: Expr, b: Expr, tolerance: float = 1e-10) -> Expr:
    """A solution of A x = b for a symmetric positive semidefinite A, by LDL' with skipped pivots.

    A pivot that has fallen below `tolerance` times its diagonal entry belongs to a row that depends on the
    rows before it: its unknown is set to zero and its equation is left out. With full rank this is the
    plain LDL' solve; a row that is left out holds as well as A x = b is consistent.
    """
    n = A.shape[0]
    L: list[list[Expr]] = []
    d_inverse: list[Expr] = []
    for i in range(n):
        row: list[Expr] = []  # row i of L D, turned into L once the pivot is known
        for j in range(i):
            row.append(A[i, j] - sum((row[k] * L[j][k] for k in range(j)), start=type(A)(0)))
        l = [row[k] * d_inverse[k] for k in range(i)]
        pivot = A[i, i] - sum((row[k] * l[k] for k in range(i)), start=type(A)(0))
        keep = pivot > tolerance * A[i, i]
        d_inverse.append(ca.if_else(keep, 1 / ca.if_else(keep, pivot, 1), 0))
        L.append(l)
    y = ca.vertsplit(b)
    for i in range(n):
        for k in range(i):
            y[i] = y[i] - L[i][k] * y[k]
    x = [y[i] * d_inverse[i] for i in range(n)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - L[k][i] * x[k]
    return ca.vertcat(*x)
