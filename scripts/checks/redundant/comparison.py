"""Comparison of the solvers with a reference that solves the rows in the metric of H by singular values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from casadi import DM

import ocp_dyn as od

from .sets import FAMILIES, Array

SOLVERS = ("range", "kkt", "aba", "proximal")
TOLERANCE = 1e-9
"""Largest error relative to the accelerations."""
CLEAR = 1e-5
"""A set is compared if its singular values are above this fraction of the largest, or below 1e-11."""


class Reference(NamedTuple):
    """Rows in the metric of H, brought to one size, by singular values: [rows] = U s V' at rank r, H = L L'."""

    L: Array
    A: Array
    unit: Array
    U: Array
    s: Array
    V: Array
    rank: int

    @staticmethod
    def of(model: od.Model, constraints: tuple[od.constraints.Constraint, ...], q: Array) -> Reference:
        G = number(od.constraint_jacobian(model, constraints, DM(q)))
        L = np.linalg.cholesky(number(od.mass_matrix(model, DM(q))))
        A = np.linalg.solve(L, G.T).T
        length = np.linalg.norm(A, axis=1)
        unit = 1 / np.where(length > 1e-9, length, 1.0)  # bodies of about a meter and a kilogram: other rows are zero
        U, s, Vt = np.linalg.svd(unit[:, None] * A)
        return Reference(L, A, unit, U, s, Vt.T, int(np.sum(s > 1e-9)))

    @property
    def clear(self) -> bool:
        large = self.s[: self.rank] > CLEAR * max(1.0, float(self.s[0]))
        return bool(np.all(large) and np.all(self.s[self.rank :] < 1e-11))

    def free(self, rng: np.random.Generator) -> Array:
        """A random velocity that keeps the rows."""
        Z = self.V[:, self.rank :]
        return np.asarray(np.linalg.solve(self.L.T, Z @ rng.normal(size=Z.shape[1])))

    def solve(self, f: Array, g: Array) -> Array:
        """x of H x = f + G' lam, G x = g."""
        y = np.linalg.solve(self.L, f)
        lacking = self.U.T @ (self.unit * (g - self.A @ y))
        move = self.V[:, : self.rank] @ (lacking[: self.rank] / self.s[: self.rank])
        return np.asarray(np.linalg.solve(self.L.T, y + move))

    def distance(self, x: Array, y: Array, f: Array) -> float:
        """|x - y| in the metric of H, relative to |y| and to the free motion."""
        size = np.linalg.norm(self.L.T @ y) + np.linalg.norm(np.linalg.solve(self.L, f))
        return float(np.linalg.norm(self.L.T @ (x - y)) / max(size, 1e-300))


def number(x: DM) -> Array:
    return np.array(DM(x).full())


def column(x: DM) -> Array:
    return number(x)[:, 0]


def compare(seed: int, solvers: tuple[str, ...] = SOLVERS) -> tuple[str, dict[str, float] | None]:
    """Kind of the set of a seed, and errors by solver; None if the reference cannot determine the rank."""
    rng = np.random.default_rng(seed)
    family = list(FAMILIES)[seed % len(FAMILIES)]
    model, constraints, q = FAMILIES[family](rng)
    reference = Reference.of(model, constraints, q)
    if not reference.clear:
        return family, None
    qd, at = reference.free(rng), DM(q)
    tau = reference.L @ rng.normal(size=model.nv)
    f = tau - column(od.bias_force(model, at, DM(qd)))
    x = reference.solve(f, column(od.constraint_hessian(model, constraints, at, DM(qd))))
    before = np.linalg.solve(reference.L.T, rng.normal(size=model.nv))
    momentum = reference.L @ reference.L.T @ before
    after = reference.solve(momentum, np.zeros(len(reference.A)))
    errors = {}
    for solver in solvers:
        qdd, lam, left = od.constrained_dynamics(model, constraints, at, DM(qd), DM(tau), solver=solver, residual=True)
        qd_plus, _ = od.impact(model, constraints, at, DM(before), solver=solver)
        force = reference.L @ reference.L.T @ column(qdd) - f  # G' lam, from the motion
        missing = force - number(od.constraint_jacobian(model, constraints, at)).T @ column(lam)
        errors[solver] = max(
            reference.distance(column(qdd), x, f),
            reference.distance(column(qd_plus), after, momentum),
            reference.distance(np.linalg.solve(reference.L @ reference.L.T, missing), np.zeros_like(x), f),
            float(np.max(np.abs(column(left) * reference.unit)) / (1 + np.linalg.norm(reference.L.T @ x))),
        )
    return family, errors
