"""Orthogonal factors of small dense matrices, by Householder reflections or row by row; no mechanics."""

from __future__ import annotations

from math import nan, sqrt
from typing import NamedTuple

import casadi as ca

from .._types import ROUNDING, Expr, split

DEPENDENT = sqrt(ROUNDING)
"""Remainder of a row, relative to the terms that it was computed from, below which it counts as dependent on other
rows.

The same as in `linalg.Semidefinite`, whose pivots are squares of remainders.
"""


class Reflections(NamedTuple):
    """A = Q [R; 0] for a tall A (n x m): Q = P_1 ... P_m, P_k = 1 - v_k v_k' / beta_k."""

    v: list[Expr]
    beta: list[Expr]
    R: Expr

    @staticmethod
    def of(A: Expr, magnitudes: Expr, tolerance: float = ROUNDING) -> Reflections:
        """Factorizes A, whose columns must be independent. No pivoting, so the same operations for all numbers.

        magnitudes (m): sizes of the columns before terms cancel. If a column depends on earlier ones, all results are
        nan: if its remainder is below `tolerance` times the terms that it was computed from; by default, a remainder
        that may be due to rounding.
        """
        m = A.shape[1]
        vs, betas = [], []
        growth: list[Expr] = []  # the error of what is left of a column, over its length, by column
        for k in range(m):
            x = A[k:, k]
            size = ca.norm_2(x)
            error = magnitudes[k] + sum((ca.fabs(A[j, k]) * growth[j] for j in range(k)), start=type(A)(0))
            size = ca.if_else(size > tolerance * error, size, nan)
            growth.append(error / size)
            alpha = ca.if_else(x[0] > 0, -size, size)  # away from x[0]: no cancellation
            v = ca.vertcat(type(A)(k, 1), x[0] - alpha, A[k + 1 :, k])
            beta = size * (size + ca.fabs(x[0]))
            A = A - v @ ((v.T @ A) / beta)
            vs.append(v)
            betas.append(beta)
        return Reflections(vs, betas, ca.triu(A[:m, :]))

    def apply(self, X: Expr) -> Expr:
        """Q X."""
        for v, beta in zip(reversed(self.v), reversed(self.beta), strict=True):
            X = X - v @ ((v.T @ X) / beta)
        return X

    def apply_transpose(self, X: Expr) -> Expr:
        """Q' X."""
        for v, beta in zip(self.v, self.beta, strict=True):
            X = X - v @ ((v.T @ X) / beta)
        return X


def lengths(A: Expr) -> Expr:
    """The length of every row (n)."""
    return ca.sqrt(ca.sum2(A**2))


def least_solution(A: Expr, b: Expr, magnitudes: Expr) -> Expr:
    """The least x of A x = b, whose rows may depend on those before them: these are left out.

    By orthonormal rows Q of the row space, A = L Q (Gram & Schmidt, each row made orthogonal twice), L y = b, x = Q'y.
    magnitudes: sizes of the rows before terms cancel. A row depends on those before it if its remainder is below
    `DEPENDENT` times the terms that it was computed from.
    """
    Q: list[Expr] = []
    y: list[Expr] = []
    growth: list[Expr] = []  # the error of what is left of a row, over its length
    x: Expr = type(b)(A.shape[1], 1)
    for i in range(A.shape[0]):
        left, l = A[i, :], [type(b)(1, 1)] * len(Q)
        for _ in range(2):
            for k, row in enumerate(Q):
                along = ca.dot(left, row)
                left, l[k] = left - along * row, l[k] + along
        square = ca.sumsqr(left)
        error = magnitudes[i] + sum((ca.fabs(c) * g for c, g in zip(l, growth, strict=True)), start=type(b)(1, 1))
        keep = square > (DEPENDENT * error) ** 2
        inverse = keep / ca.sqrt(ca.if_else(keep, square, 0) + ca.logic_not(keep))  # its derivatives exist at zero too
        Q.append(left * inverse)
        growth.append(error * inverse)
        y.append((b[i] - sum((c * z for c, z in zip(l, y, strict=True)), start=type(b)(1, 1))) * inverse)
        x = x + Q[i].T * y[i]
    return x


def solve_upper(R: Expr, b: Expr) -> Expr:
    """R^-1 b of an upper triangular R, b one column."""
    x = split(b)
    for i in reversed(range(len(x))):
        for j in range(i + 1, len(x)):
            x[i] = x[i] - R[i, j] * x[j]
        x[i] = x[i] / R[i, i]
    return ca.vertcat(*x)


def solve_upper_transposed(R: Expr, b: Expr) -> Expr:
    """R'^-1 b of an upper triangular R, b one column."""
    x = split(b)
    for i in range(len(x)):
        for j in range(i):
            x[i] = x[i] - R[j, i] * x[j]
        x[i] = x[i] / R[i, i]
    return ca.vertcat(*x)
