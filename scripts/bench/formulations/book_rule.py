"""The integration of [GJB94], section 8.5, with dense matrices and as printed: a reference for the library's own
form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import ocp_dyn as od
from ocp_dyn import formulations

from ..dynamics.robots import Array

MOST_ITERATIONS = 20


class Printed(NamedTuple):
    """t, x, xd, xdd by node, and iterations per step; shorter than asked for if a step did not converge."""

    t: Array
    x: Array
    xd: Array
    xdd: Array
    iterations: Array


class Terms:
    """M, Phi, Phi_x and Q of a model without torques, as numbers."""

    def __init__(self, model: od.Model, natural: Any) -> None:
        def made(algorithm: Any) -> Any:
            return od.function(algorithm, model, natural)

        self.model, self.natural = model, natural
        self._Phi, self._Phi_x = made(formulations.natural_constraints), made(formulations.natural_jacobian)
        self.M = np.array(made(formulations.natural_mass_matrix)(natural.x).full())
        still = np.zeros(natural.n), np.zeros(model.nv)
        self.Q = np.array(made(formulations.natural_force)(natural.x, *still).full()).ravel()  # gravity is constant

    def Phi(self, x: Array) -> Array:
        """Errors of the constraints (m)."""
        return np.array(self._Phi(x).full()).ravel()

    def Phi_x(self, x: Array) -> Array:
        """Their Jacobian (m x n)."""
        return np.array(self._Phi_x(x).full())


def integrate(
    terms: Terms, x: Array, *, h: float, duration: float, alpha: float, mu: float, augmentations: int = 0,
    tolerance: float = 5e-7,
) -> Printed:  # fmt: skip
    """The motion from rest. augmentations: times that lam* is corrected (8.126) in a step, from 0, and the iterations
    of Newton's method repeated until they converge again."""
    M, Q, n = terms.M, terms.Q, len(x)
    Phi_x = terms.Phi_x(x)
    K = np.block([[M, Phi_x.T], [Phi_x, np.zeros((len(Phi_x), len(Phi_x)))]])
    at = [x, np.zeros(n), np.linalg.lstsq(K, np.concatenate([Q, np.zeros(len(Phi_x))]), rcond=None)[0][:n]]
    kept, counts = [at], [0]
    for _ in range(round(duration / h)):
        found = _step(terms, at, h, alpha, mu, augmentations, tolerance)
        if found is None:
            break
        at, count = found
        kept.append(at)
        counts.append(count)
    x_all, xd_all, xdd_all = (np.array([node[k] for node in kept]) for k in range(3))
    return Printed(h * np.arange(len(kept)), x_all, xd_all, xdd_all, np.array(counts))


def _step(
    terms: Terms, at: list[Array], h: float, alpha: float, mu: float, augmentations: int, tolerance: float
) -> tuple[list[Array], int] | None:
    """The next node and its iterations; None if they do not converge."""
    x, xd, xdd = at
    xd_hat, xdd_hat = -(xd + 2 / h * x), -(xdd + 4 / h * xd + 4 / h**2 * x)  # (8.129)
    new, lam, count = x + h * xd + h**2 / 2 * xdd, np.zeros(len(terms.Phi(x))), 0  # (8.135)
    beta = alpha * (1 + 2 * mu / h)
    for augmentation in range(augmentations + 1):
        for _ in range(MOST_ITERATIONS):
            Phi_x = terms.Phi_x(new)
            force = alpha * (terms.Phi(new) + mu * (Phi_x @ (2 / h * new + xd_hat)))
            f = terms.M @ (4 / h**2 * new + xdd_hat) + Phi_x.T @ (force + lam) - terms.Q  # (8.132)
            change = np.linalg.solve(4 / h**2 * terms.M + beta * Phi_x.T @ Phi_x, f)  # (8.134)
            new, count = new - change, count + 1
            if np.abs(change).max() <= tolerance:
                break
        else:
            return None
        if augmentation < augmentations:
            lam = lam + alpha * (terms.Phi(new) + mu * (terms.Phi_x(new) @ (2 / h * new + xd_hat)))  # (8.126)
    return [new, 2 / h * new + xd_hat, 4 / h**2 * new + xdd_hat], count
