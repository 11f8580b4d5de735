"""Orthogonal factors of small dense matrices by Householder reflections; no mechanics."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from .._types import Expr


class Reflections(NamedTuple):
    """A = Q [R; 0] for a tall A (n x m): Q = P_1 ... P_m, P_k = 1 - v_k v_k' / beta_k."""

    v: list[Expr]
    beta: list[Expr]
    R: Expr

    @staticmethod
    def of(A: Expr) -> Reflections:
        """Factorises A; its columns must be independent. No pivoting, so the same operations for all numbers."""
        m = A.shape[1]
        vs, betas = [], []
        for k in range(m):
            x = A[k:, k]
            size = ca.norm_2(x)
            alpha = ca.if_else(x[0] > 0, -size, size)  # away from x[0]: no cancellation
            v = ca.vertcat(type(A)(k, 1), x[0] - alpha, x[1:])
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


def solve_upper(R: Expr, b: Expr) -> Expr:
    """R^-1 b of an upper triangular R, b one column."""
    m = R.shape[0]
    x: list[Expr] = [None] * m
    for i in reversed(range(m)):
        x[i] = (b[i] - sum((R[i, j] * x[j] for j in range(i + 1, m)), start=type(b)(1, 1))) / R[i, i]
    return ca.vertcat(*x)


def solve_upper_transposed(R: Expr, b: Expr) -> Expr:
    """R'^-1 b of an upper triangular R, b one column."""
    m = R.shape[0]
    x: list[Expr] = []
    for i in range(m):
        x.append((b[i] - sum((R[j, i] * x[j] for j in range(i)), start=type(b)(1, 1))) / R[i, i])
    return ca.vertcat(*x)
