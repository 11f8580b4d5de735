"""Linear algebra on small or tree-structured matrices; no mechanics.

`parent` is the tree of a branch-sparse symmetric matrix: entry (i, j) may be nonzero only if one of i, j
supports the other [RBDA, 6.4-6.5]. Factorizing from the tips inwards causes no fill-in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import casadi as ca
from casadi import DM

from .._base.types import Expr


@dataclass(frozen=True, repr=False)
class _BranchFactor:
    """Products and solves with a lower factor L whose rows have entries at their ancestors only [RBDA, 6.5].

    L holds the rows, by ancestor, without the diagonal. The methods take one or several columns; O(n d) per column.
    """

    parent: Sequence[int]
    L: list[dict[int, Expr]]
    d: list[Expr]

    unit: ClassVar[bool]
    """Whether the diagonal of L is 1; else it is d."""

    def multiply_L(self, b: Expr) -> Expr:
        """L b."""
        return self._product(b, transposed=False)

    def multiply_Lt(self, b: Expr) -> Expr:
        """L' b."""
        return self._product(b, transposed=True)

    def _product(self, b: Expr, transposed: bool) -> Expr:
        x, y = ca.vertsplit(b), self._on_diagonal(b)
        for i, row in enumerate(self.L):
            for j, l in row.items():
                to, of = (j, i) if transposed else (i, j)
                y[to] = y[to] + l * x[of]
        return ca.vertcat(*y)

    def solve_Lt(self, b: Expr) -> Expr:
        """L'^-1 b, from the tips to the root [RBDA, table 6.5]."""
        x = ca.vertsplit(b)
        for i in reversed(range(len(self.parent))):
            x[i] = x[i] if self.unit else x[i] / self.d[i]
            for j, l in self.L[i].items():
                x[j] = x[j] - l * x[i]
        return ca.vertcat(*x)

    def solve_L(self, b: Expr) -> Expr:
        """L^-1 b, from the root to the tips."""
        x = ca.vertsplit(b)
        for i in range(len(self.parent)):
            for j, l in self.L[i].items():
                x[i] = x[i] - l * x[j]
            x[i] = x[i] if self.unit else x[i] / self.d[i]
        return ca.vertcat(*x)

    def _on_diagonal(self, b: Expr) -> list[Expr]:
        rows = ca.vertsplit(b)
        return list(rows) if self.unit else [d * row for d, row in zip(self.d, rows, strict=True)]

    def __repr__(self) -> str:
        """The branch pattern, a row per line: 1 or d on the diagonal, x where L has an entry."""
        n, entries = len(self.parent), sum(len(row) for row in self.L)
        corner = "1" if self.unit else "d"
        lines = [" ".join(["x" if j in row else "." for j in range(i)] + [corner]) for i, row in enumerate(self.L)]
        head = f"{type(self).__name__} {n} x {n}, {entries} of {n * (n - 1) // 2} entries below the diagonal"
        return "\n".join([head, *lines])


class LTDL(_BranchFactor):
    """A = L' D L: rows of the unit lower factor by ancestor, and d, the diagonal of D."""

    unit = True

    def with_inverted_L(self) -> LTDL:
        """L^-1 in place of L, with the same d: `A^-1 = L^-1 D^-1 L'^-1`. L^-1 has entries at ancestors only, as L
        has."""
        rows: list[dict[int, Expr]] = []
        for row in self.L:
            inverse = {j: -l for j, l in row.items()}
            for k, l in row.items():
                for j, m in rows[k].items():
                    inverse[j] = inverse.get(j, 0) - l * m
            rows.append(inverse)
        return LTDL(self.parent, rows, self.d)

    def multiply(self, b: Expr) -> Expr:
        """A b."""
        rows = zip(self.d, ca.vertsplit(self.multiply_L(b)), strict=True)
        return self.multiply_Lt(ca.vertcat(*(d * row for d, row in rows)))

    def solve(self, b: Expr) -> Expr:
        """A^-1 b; b may have several columns.

        If b has more columns than a row of L has entries, L is inverted first: then structural zeros of b meet rows of
        other branches at common ancestors only.
        """
        if b.shape[1] > max(map(len, self.L)) and len(set(self.parent)) < len(self.parent):
            inverted = self.with_inverted_L()
            return inverted.multiply_L(inverted.scale(inverted.multiply_Lt(b)))
        return self.solve_L(self.scale(self.solve_Lt(b)))

    def inverse_matrix(self) -> Expr:
        """A^-1 (n x n), symmetric to the last bit."""
        return symmetric(self.solve(type(self.d[0])(DM.eye(len(self.parent)))))

    def scale(self, b: Expr) -> Expr:
        """D^-1 b."""
        return ca.vertcat(*(x / d for x, d in zip(ca.vertsplit(b), self.d, strict=True)))


class LTL(_BranchFactor):
    """A = L' L, the Cholesky factor from the tips inwards: rows of L by ancestor, and d, its diagonal."""

    unit = False

    def multiply(self, b: Expr) -> Expr:
        """A b."""
        return self.multiply_Lt(self.multiply_L(b))

    def solve(self, b: Expr) -> Expr:
        """A^-1 b; b may have several columns."""
        return self.solve_L(self.solve_Lt(b))


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


def ltl(A: Expr, parent: Sequence[int]) -> LTL:
    """A = L' L of a positive definite branch-sparse matrix [RBDA, table 6.3]: the L'DL factor with D^1/2 in L.

    n square roots more than `ltdl`. An indefinite A gives nan.
    """
    factor = ltdl(A, parent)
    roots = [ca.sqrt(d) for d in factor.d]
    rows = [{j: r * l for j, l in row.items()} for row, r in zip(factor.L, roots, strict=True)]
    return LTL(parent, rows, roots)


def symmetric(A: Expr) -> Expr:
    """The symmetric matrix with the upper triangle of A; the entries of A below the diagonal are never computed."""
    return ca.triu2symm(ca.triu(A))


def symmetric_part(A: Expr) -> Expr:
    """(A + A') / 2."""
    return A if A.shape == (1, 1) else symmetric(A + A.T) / 2


def chain(n: int) -> list[int]:
    """The tree of a dense n x n matrix: the parent of every row is the row before."""
    return list(range(-1, n - 1))


def solve_spd(A: Expr, b: Expr) -> Expr:
    """A^-1 b of a small dense symmetric positive definite A, by LDL' without pivoting."""
    if A.shape == (1, 1):
        return b / A
    return ltdl(A, chain(A.shape[0])).solve(b)


def solve_cholesky(A: Expr, b: Expr) -> Expr:
    """A^-1 b of a symmetric positive definite A by the textbook factor A = L L', row by row, without regard to
    branches.

    b may have several columns. n^3/6 multiplications for the factor; where A is branch-sparse `ltdl` needs far fewer.
    """
    n = A.shape[0]
    L: list[list[Expr]] = []
    x = ca.vertsplit(b)
    for i in range(n):
        L.append([])
        for j in range(i + 1):
            entry = A[i, j] - sum((L[i][k] * L[j][k] for k in range(j)), start=type(A)(1, 1))
            L[i].append(ca.sqrt(entry) if i == j else entry / L[j][j])
            x[i] = x[i] - L[i][j] * x[j] if i > j else x[i] / L[i][i]
    for i in reversed(range(n)):
        x[i] = x[i] / L[i][i]
        for k in range(i):
            x[k] = x[k] - L[i][k] * x[i]
    return ca.vertcat(*x)


class LU(NamedTuple):
    """A = L U of a square matrix whose rows and columns stand in the order of its pivots; entries by row, no zeros.

    singular: a pivot is structurally zero.
    """

    L: list[dict[int, Expr]]
    U: list[dict[int, Expr]]
    singular: bool

    @staticmethod
    def of(A: Expr) -> LU:
        """The factor by Gaussian elimination without exchanges: the caller has chosen the order of the pivots.
        Structural zeros of A are kept where elimination does not fill them. A pivot of zero gives inf or nan."""
        n = A.shape[0]
        U = [{j: A[i, j] for j in range(n) if A[i, j].nnz()} for i in range(n)]
        L: list[dict[int, Expr]] = [{} for _ in range(n)]
        singular = False
        for k in range(n):
            singular = singular or k not in U[k]
            U[k].setdefault(k, type(A).zeros(1, 1))
            for i in range(k + 1, n):
                if k not in U[i]:
                    continue
                L[i][k] = U[i].pop(k) / U[k][k]
                for j, u in U[k].items():
                    if j > k:
                        U[i][j] = U[i].get(j, type(u)(1, 1)) - L[i][k] * u
        return LU(L, U, singular)

    def solve(self, b: Expr) -> Expr:
        """A^-1 b; b may have several columns."""
        x = self._parts(b)
        for i, row in enumerate(self.L):
            for k, l in row.items():
                x[i] = x[i] - l * x[k]
        for i in reversed(range(len(x))):
            for j, u in self.U[i].items():
                if j > i:
                    x[i] = x[i] - u * x[j]
            x[i] = x[i] / self.U[i][i]
        return ca.vertcat(*x)

    def solve_transposed(self, b: Expr) -> Expr:
        """A'^-1 b; b may have several columns."""
        x = self._parts(b)
        for i, row in enumerate(self.U):
            x[i] = x[i] / row[i]
            for j, u in row.items():
                if j > i:
                    x[j] = x[j] - u * x[i]
        for i in reversed(range(len(x))):
            for k, l in self.L[i].items():
                x[k] = x[k] - l * x[i]
        return ca.vertcat(*x)

    def _parts(self, b: Expr) -> list[Expr]:
        """Rows of b; all stored where a pivot is zero, because CasADi divides structural zeros by zero to zero."""
        rows: list[Expr] = ca.vertsplit(ca.densify(b) if self.singular else b)
        return rows


def elimination_tree(A: Expr) -> list[int]:
    """The tree of a symmetric matrix for `ltdl`: the parent of row k is the last row before it to which the elimination
    of k from the tips inwards adds [J. W. H. Liu, The role of elimination trees in sparse factorization, 1990].

    The branches of a mechanism have such a tree by themselves (`dof_parent`); loops join branches of it.
    """
    n = A.shape[0]
    pattern = A.sparsity()
    entries: list[list[int]] = [[] for _ in range(n)]
    for i, j in zip(pattern.row(), pattern.get_col(), strict=True):
        if j > i:
            entries[i].append(j)
    parent, top = [-1] * n, list(range(n))
    for i in reversed(range(n)):
        for j in entries[i]:
            while top[j] != j:
                top[j], j = i, top[j]
            if j != i:
                parent[j] = top[j] = i
    return parent
