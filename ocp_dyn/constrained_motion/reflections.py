"""Orthogonal factors of small dense matrices, by Householder reflections; no mechanics."""

from __future__ import annotations

from math import nan
from typing import NamedTuple

import casadi as ca

from .._base.types import ROUNDING, Expr, split


class Reflections(NamedTuple):
    """A = Q [R; 0] for a tall A (n x m): Q = P_1 ... P_m, P_k = 1 - v_k v_k' / beta_k."""

    v: list[Expr]
    beta: list[Expr]
    R: Expr

    @staticmethod
    def of(A: Expr, magnitudes: Expr | None = None, tolerance: float = ROUNDING) -> Reflections:
        """Factorizes A, whose columns must be independent. No pivoting, so the same operations for all numbers.

        magnitudes (m): sizes of the columns before terms cancel; None: their lengths. If a column depends on earlier
        ones, all results are nan: if its remainder is below `tolerance` times the terms that it was computed from; by
        default, a remainder that may be due to rounding.
        """
        m = A.shape[1]
        vs, betas = [], []
        growth: list[Expr] = []  # the error of what is left of a column, over its length, by column
        for k in range(m):
            x = A[k:, k]
            size = ca.norm_2(x)
            length = ca.sqrt(ca.sumsqr(A[:k, k]) + size**2) if magnitudes is None else magnitudes[k]
            error = length + sum((ca.fabs(A[j, k]) * growth[j] for j in range(k)), start=type(A)(0))
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
