"""Factors of positive semidefinite matrices A = W' D^-1 W, dense or of blocks that share few rows of W; no mechanics.

People who carry one beam are such blocks: the constraints of each act on dofs of its own, those of the hands on the six
of the beam as well, so that A is dense between all hands. With the shared rows of W set apart,

    A = blockdiag(B_1, B_2, ...) + U' P U,   B_b = W_b' D_b^-1 W_b,   P = D^-1 of the shared rows U of W.

Once the rows of some blocks are eliminated, the remainder of A has the same form with a smaller P: the update of a
Kalman filter, by one measurement after the other [R. E. Kalman, A new approach to linear filtering and prediction
problems, 1960]. The pivots are those of the dense factor, and the work grows with the number of blocks. In mechanics P
is the mobility of the beam that those who have taken hold of it leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import casadi as ca

from .._base.types import ROUNDING, Expr
from .linalg import symmetric

FEWEST = 30
"""Number of columns of W below which the dense factor is taken without a count of operations."""
GAIN = 1.25
"""Factor by which the dense work must exceed that of blocks which share rows: counts of multiplications are estimates,
and small matrices keep their factors."""


class Semidefinite(NamedTuple):
    """A = L D L' of a symmetric positive semidefinite A, where rows that depend on those before them are left out.

    The pivot of such a row is not zero, but as small as rounding makes it. The size e_i of the terms that a pivot was
    computed from follows from the earlier ones,

        e_i = A_ii + sum_k l_ik^2 e_k,

    and a pivot below `tolerance` times e_i is skipped: the remainder of the row is then below the root of `tolerance`.
    Rows of L are without the diagonal, by column, zeros left out; d_inverse is 0 for rows left out; growth holds
    e_k / d_k, 0 for rows left out. With full rank this is the plain LDL' factor. The operations are those of the
    entries: separate mechanisms cost the sum of their own.
    """

    L: list[dict[int, Expr]]
    d_inverse: list[Expr]
    growth: list[Expr]

    @staticmethod
    def of(A: Expr, tolerance: float = ROUNDING, sizes: Expr | None = None) -> Semidefinite:
        """The factor of A. sizes (n): those of the terms of the diagonal of A; None: A_ii."""
        L: list[dict[int, Expr]] = []
        d_inverse: list[Expr] = []
        growth: list[Expr] = []
        for i in range(A.shape[0]):
            row: dict[int, Expr] = {}  # row i of L D, turned into L once the pivot is known
            for j in range(i):
                common = [k for k in L[j] if k in row]
                entry = A[i, j]
                if common or entry.nnz():
                    row[j] = entry - sum((row[k] * L[j][k] for k in common), start=type(A)(0))
            l = {k: x * d_inverse[k] for k, x in row.items()}
            taken = {k: x * l[k] for k, x in row.items()}
            pivot = A[i, i] - sum(taken.values(), start=type(A)(0))
            size = A[i, i] if sizes is None else sizes[i]
            error = size + sum((t * growth[k] for k, t in taken.items()), start=type(A)(0))
            keep = pivot > tolerance * error
            d_inverse.append(keep / (ca.if_else(keep, pivot, 0) + ca.logic_not(keep)))
            growth.append(error * d_inverse[i])
            L.append(l)
        return Semidefinite(L, d_inverse, growth)

    def solve(self, b: Expr) -> Expr:
        """A solution of A x = b: zero for rows left out; their equations hold if A x = b is consistent."""
        return self.solve_upper(self.scale(self.solve_lower(b)))

    def solve_lower(self, b: Expr) -> Expr:
        """L^-1 b."""
        x = ca.vertsplit(b)
        for i, row in enumerate(self.L):
            for k, l in row.items():
                x[i] = x[i] - l * x[k]
        return ca.vertcat(*x)

    def scale(self, b: Expr) -> Expr:
        """D^-1 b, zero for rows left out."""
        return ca.vertcat(*(y * d for y, d in zip(ca.vertsplit(b), self.d_inverse, strict=True)))

    def solve_upper(self, b: Expr) -> Expr:
        """L'^-1 b."""
        x = ca.vertsplit(b)
        below: list[list[int]] = [[] for _ in x]
        for i, row in enumerate(self.L):
            for k in row:
                below[k].append(i)
        for i in reversed(range(len(x))):
            for k in below[i]:
                x[i] = x[i] - self.L[k][i] * x[k]
        return ca.vertcat(*x)


class Block(NamedTuple):
    """One block of a `BlockSemidefinite`: its own factor L D L' after the blocks before it, its shared rows U (s x m),
    and T = D^-1 L^-1 U' P (m x s), by which it couples to later blocks: L_jb = U_j' T_b'."""

    factor: Semidefinite
    U: Expr
    T: Expr


class BlockSemidefinite(NamedTuple):
    """A = L D L' as `Semidefinite`, of blocks of rows that share few rows of W, block by block with L_jb = U_j' T_b'.

    cuts: first rows of the blocks, and the number of all rows.
    """

    blocks: list[Block]
    cuts: list[int]

    @staticmethod
    def of(W: Expr, d: Sequence[Expr], shared: Sequence[int], cuts: Sequence[int]) -> BlockSemidefinite:
        """The factor of W' D^-1 W. O(r (k + s)^2) for r columns of W in blocks of k, and s shared rows."""
        P = ca.diag(ca.vertcat(*(1 / d[k] for k in shared)))
        E = type(W)(len(shared), len(shared))  # sum of t e t' over the rows before: the sizes of terms in P
        blocks: list[Block] = []
        parts: list[Expr] = ca.horzsplit(W, list(cuts))
        for part in parts:
            own = sorted(set(part.sparsity().row()) - set(shared))
            own_rows, U = part[own, :], part[list(shared), :]
            B = own_rows.T @ (own_rows / ca.vertcat(*(d[k] for k in own)))
            PU = P @ U
            sizes = ca.diag(B) + ca.sum1(U * ((P + E) @ U)).T if blocks else None
            factor = Semidefinite.of(symmetric(B + U.T @ PU), sizes=sizes)
            Y = factor.solve_lower(PU.T)
            T = factor.scale(Y)
            P = symmetric(P - T.T @ Y)
            E = E + symmetric(T.T @ (ca.vertcat(*factor.growth) * Y))
            blocks.append(Block(factor, U, T))
        return BlockSemidefinite(blocks, list(cuts))

    def solve(self, b: Expr) -> Expr:
        """A solution of A x = b, as that of `Semidefinite.solve`."""
        taken = type(b)(self.blocks[0].U.shape[0], b.shape[1])
        found = []
        for (factor, U, T), part in zip(self.blocks, ca.vertsplit(b, self.cuts), strict=True):
            y = factor.solve_lower(part - U.T @ taken)
            taken = taken + T.T @ y
            found.append(factor.scale(y))
        later = type(b)(*taken.shape)
        for i, (factor, U, T) in reversed(list(enumerate(self.blocks))):
            found[i] = factor.solve_upper(found[i] - T @ later)
            later = later + U @ found[i]
        return ca.vertcat(*found)


def factor_of(W: Expr, d: Sequence[Expr]) -> Semidefinite | BlockSemidefinite:
    """The factor of W' D^-1 W, by blocks if that takes fewer operations; d: the diagonal of D.

    Blocks are runs of columns of W; `sharing` tells an order of columns in which they are.
    """
    touched = touched_rows(W)
    found = sharing(touched)
    if found is not None:
        shared, blocks = found
        order = [k for block in blocks for k in block]
        if order == sorted(order):
            return BlockSemidefinite.of(W, d, shared, [block[0] for block in blocks] + [len(order)])
    scaled = W / ca.vertcat(*d)
    return Semidefinite.of(symmetric(W.T @ scaled))


def touched_rows(W: Expr) -> list[frozenset[int]]:
    """The rows in which every column has entries."""
    start, rows = W.sparsity().colind(), W.sparsity().row()
    return [frozenset(rows[a:b]) for a, b in pairwise(start)]


def sharing(touched: Sequence[frozenset[int]]) -> tuple[list[int], list[list[int]]] | None:
    """(shared rows, blocks of columns) by which the factor of W' W takes the fewest multiplications; None: at once.

    touched: the rows in which every column of W has entries. Blocks have no other rows in common than the shared ones,
    which are those that the most columns touch. Blocks stand in the order of their first columns.

    >>> from ocp_dyn.spatial_algebra.semidefinite import sharing
    >>> shared, blocks = sharing([frozenset([0, 1 + k // 8]) for k in range(48)])
    >>> shared, blocks[0], len(blocks)
    ([0], [0, 1, 2, 3, 4, 5, 6, 7], 6)
    """
    if len(touched) < FEWEST:
        return None
    users: dict[int, int] = {}
    for rows in touched:
        for row in rows:
            users[row] = users.get(row, 0) + 1
    plain = sum(len(block) ** 3 / 6 for block in _blocks(touched, set()))
    best, found = plain / GAIN, None
    for limit in sorted(set(users.values())):
        shared = {row for row, count in users.items() if count >= limit}
        blocks, s = _blocks(touched, shared), len(shared)
        work = sum(len(b) ** 3 / 6 + len(b) ** 2 * s + 3 * len(b) * s**2 for b in blocks)
        if work < best:
            best, found = work, (sorted(shared), blocks)
    return found


def _blocks(touched: Sequence[frozenset[int]], shared: set[int]) -> list[list[int]]:
    """Columns that are connected by rows other than the shared ones, in the order of their first columns."""
    first: dict[int, int] = {}
    top = list(range(len(touched)))

    def root(k: int) -> int:
        while top[k] != k:
            top[k] = k = top[top[k]]
        return k

    for column, rows in enumerate(touched):
        for row in rows - shared:
            a, b = sorted((root(column), root(first.setdefault(row, column))))
            top[b] = a
    blocks: dict[int, list[int]] = {}
    for column in range(len(touched)):
        blocks.setdefault(root(column), []).append(column)
    return list(blocks.values())
