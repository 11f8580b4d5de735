"""Gauss-Newton steps on many configurations at once, damped frame by frame, with limits and constraints.

    minimize cost(q)   subject to   phi(q) = 0,   q_lower <= q <= q_upper

Each frame takes the step of [H + mu D, G'; G, 0] [v; -lam] = [-g; -phi] with its own damping mu; D is the diagonal of
H. Frames that have arrived leave the batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.types import Array
from ..mechanism import Model
from .placed import Measured, Placed

START, LEAST, MOST = 1e-3, 1e-9, 1e6
"""First, least and largest damping."""
STIFF = 1e3
"""Weight of constraint errors in the merit of a step, in units of the weights of all markers."""


@dataclass(frozen=True)
class Prior:
    """Coordinates that are measured too: 1/2 sum of weights (N, nq) times (q - values (N, nq))^2. columns: the dof of
    each entry of q."""

    values: Array
    weights: Array

    def frames(self, k: Any) -> Prior:
        return Prior(self.values[k], self.weights[k])


@dataclass(frozen=True)
class Limits:
    """Limits of entries of q, and the dof that moves each entry that has one."""

    lower: Array
    upper: Array
    entries: Any
    dofs: Any

    @staticmethod
    def of(model: Model, limited: bool = True) -> Limits:
        """Limits of the entries that have a velocity of their own; entries of quaternions have none."""
        lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
        pairs = entries_with_dofs(model)
        if limited:
            for entry, _ in pairs:
                lower[entry], upper[entry] = model.dofs.q_lower[entry], model.dofs.q_upper[entry]
        bounded = [pair for pair in pairs if np.isfinite([lower[pair[0]], upper[pair[0]]]).any()]
        return Limits(lower, upper, *(np.array([pair[k] for pair in bounded], dtype=int) for k in (0, 1)))

    def held(self, q: Array, g: Array) -> Any:
        """Dofs (N, nv) at a limit that a step downhill, along -g, would pass."""
        found = np.zeros(g.shape, dtype=bool)
        x, slope = q[:, self.entries], g[:, self.dofs]
        found[:, self.dofs] = ((x <= self.lower[self.entries]) & (slope > 0)) | (
            (x >= self.upper[self.entries]) & (slope < 0)
        )
        return found


def entries_with_dofs(model: Model) -> list[tuple[int, int]]:
    """(entry of q, dof) of all entries that have a velocity of their own."""
    found = []
    for i, _ in model.edges:
        joint = model.joints[i]
        for a, label in enumerate(joint.q_labels):
            if joint.nq == joint.nv or label in joint.qd_labels:
                at = a if joint.nq == joint.nv else joint.qd_labels.index(label)
                found.append((model.q_index[i] + a, model.v_index[i] + at))
    return found


@dataclass(frozen=True)
class Fit:
    """Configurations (N, nq) at which the steps end, whether each of them has arrived, and the number of steps."""

    q: Array
    converged: Any
    iterations: int


class Steps:
    """The least squares of a model: what `fitted` minimizes."""

    def __init__(self, placed: Placed, limits: Limits, fixed: Any = ()) -> None:
        self.placed, self.limits = placed, limits
        self.fixed = np.zeros(placed.nv, dtype=bool)
        self.fixed[list(fixed)] = True
        self.entry_dofs = np.array(entries_with_dofs(placed.model), dtype=int).reshape(-1, 2)

    def terms(self, q: Array, measured: Measured, prior: Prior | None) -> tuple[Array, Array, Array, Array, Array]:
        """(merit, cost, gradient, matrix) and (phi, G) of the constraints."""
        normal = self.placed.normal(q, measured)
        cost, g, H = normal.cost, normal.gradient, normal.matrix
        if prior is not None:
            off = np.where(prior.weights > 0, q - prior.values, 0.0)
            cost = cost + 0.5 * np.sum(prior.weights * off**2, axis=1)
            entry, dof = self.entry_dofs.T
            g[:, dof] += (prior.weights * off)[:, entry]
            H[:, dof, dof] += prior.weights[:, entry]
        phi, G = self.placed.rows(q)
        weight = STIFF * self.total(measured, prior)
        return cost + 0.5 * weight * np.sum(phi**2, axis=1), g, H, phi, G

    @staticmethod
    def total(measured: Measured, prior: Prior | None) -> Array:
        """Sum of all weights of each frame (N)."""
        found = measured.weights.sum(axis=1) + measured.turn_weights.sum(axis=1)
        return np.asarray(found if prior is None else found + prior.weights.sum(axis=1))

    def fitted(self, q0: Array, measured: Measured, prior: Prior | None, tolerance: float, iterations: int) -> Fit:
        """The nearest minimum from configurations (N, nq) on. tolerance [rad, m]: length of the last step."""
        q = np.clip(q0, self.limits.lower, self.limits.upper)
        N = len(q)
        mu, arrived, open_ = np.full(N, START), np.zeros(N, dtype=bool), np.arange(N)
        here = self.terms(q, measured, prior)
        step = 0
        while open_.size and step < iterations:
            step += 1
            merit, g, H, phi, G = here
            v = self._step(q[open_], g, H, phi, G, mu[open_])
            ahead = np.clip(self.placed.moved(q[open_], v), self.limits.lower, self.limits.upper)
            there = self.terms(ahead, measured.frames(open_), None if prior is None else prior.frames(open_))
            better = there[0] <= merit * (1 + 1e-14)
            size = np.abs(v).max(axis=1, initial=0.0)
            q[open_[better]] = ahead[better]
            mu[open_] = np.where(better, np.maximum(mu[open_] / 10, LEAST), mu[open_] * 10)
            small = (size < tolerance) & (mu[open_] < 1)  # much damping makes any step small
            done = small | (mu[open_] > MOST)
            arrived[open_[done]] = (small | (size < tolerance))[done]
            here = tuple(
                np.where(better.reshape(-1, *[1] * (a.ndim - 1)), b, a)[~done] for a, b in zip(here, there, strict=True)
            )
            open_ = open_[~done]
        return Fit(q, arrived, step)

    def _step(self, q: Array, g: Array, H: Array, phi: Array, G: Array, mu: Array) -> Array:
        """Steps (N, nv), zero for dofs that are held."""
        nv, c = self.placed.nv, phi.shape[1]
        held = self.limits.held(q, g) | self.fixed
        diagonal = np.einsum("nii->ni", H)
        scale = diagonal.max(axis=1, keepdims=True, initial=0.0)
        A = np.zeros((len(q), nv + c, nv + c))
        A[:, :nv, :nv] = np.where(held[:, :, None] | held[:, None, :], 0.0, H)
        damping = mu[:, None] * diagonal + 1e-12 * scale + (scale == 0)
        k = np.arange(nv)
        idle = diagonal <= 1e-12 * scale  # no marker moves it: it stays, or follows its constraint
        A[:, k, k] = np.where(
            held, np.maximum(scale, 1e-300), np.where(idle, 1e-8 * scale + 1e-300, diagonal + damping)
        )
        J = np.where(held[:, None, :], 0.0, G)
        A[:, nv:, :nv], A[:, :nv, nv:] = J, J.swapaxes(1, 2)
        if c:
            sizes = np.einsum("nij,nij->ni", J, J)
            A[:, nv + np.arange(c), nv + np.arange(c)] = -1e-12 * sizes / np.maximum(scale, 1e-300) - (sizes == 0)
        rhs = np.concatenate([np.where(held, 0.0, -g), -phi], axis=1)
        return np.linalg.solve(A, rhs[..., None])[:, :nv, 0]
