"""Gauss-Newton steps on many configurations at once, damped frame by frame, with limits and constraints.

    minimize cost(q)   subject to   phi(q) = 0,   q_lower <= q <= q_upper

Each frame takes the step of [H + mu D, G'; G, 0] [v; -lam] = [-g; -phi] with its own damping mu; D is the diagonal of
H. Frames that have arrived leave the batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.types import Array
from ...mechanism import Model
from .placed import Measured, Placed

START, LEAST, MOST = 1e-3, 1e-9, 1e6
"""First, least and largest damping."""
AT_LIMIT = 1e-12
"""Distance [rad, m] from a limit at which a dof is there."""
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
    nv: int

    @staticmethod
    def of(model: Model, limited: bool = True) -> Limits:
        """Limits of the entries that have a velocity of their own; entries of quaternions have none."""
        lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
        pairs = entries_with_dofs(model)
        if limited:
            for entry, _ in pairs:
                lower[entry], upper[entry] = model.dofs.q_lower[entry], model.dofs.q_upper[entry]
        bounded = [pair for pair in pairs if np.isfinite([lower[pair[0]], upper[pair[0]]]).any()]
        entries, dofs = (np.array([pair[k] for pair in bounded], dtype=int) for k in (0, 1))
        return Limits(lower, upper, entries, dofs, model.nv)

    def reached(self, q: Array) -> tuple[Any, Any]:
        """Whether each dof (N, nv) is at its lower, and at its upper limit."""
        low, high = np.zeros((2, len(q), self.nv), dtype=bool)
        x = q[:, self.entries]
        low[:, self.dofs] = x <= self.lower[self.entries] + AT_LIMIT
        high[:, self.dofs] = x >= self.upper[self.entries] - AT_LIMIT
        return low, high

    def share(self, q: Array, v: Array) -> Array:
        """Largest share (N, 1) of steps v (N, nv), at most 1, that stays within the limits: it keeps couplings, which
        cutting single entries off would break."""
        x, dx = q[:, self.entries], v[:, self.dofs]
        room = np.where(dx > 0, self.upper[self.entries] - x, x - self.lower[self.entries])
        shares = np.where(np.abs(dx) > room, room / np.maximum(np.abs(dx), 1e-300), 1.0)
        return np.asarray(np.clip(shares.min(axis=1, initial=1.0), 0.0, 1.0)[:, None])


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


def total_weight(measured: Measured, prior: Prior | None) -> Array:
    """Sum of all weights of each frame (N)."""
    found = measured.weights.sum(axis=1) + measured.turn_weights.sum(axis=1)
    return np.asarray(found if prior is None else found + prior.weights.sum(axis=1))


class Steps:
    """The least squares of a model: what `fitted` minimizes."""

    def __init__(self, placed: Placed, limits: Limits, fixed: Any = (), native: Any = None) -> None:
        self.placed, self.limits = placed, limits
        self.fixed = np.zeros(placed.nv, dtype=bool)
        self.fixed[list(fixed)] = True
        self.entry_dofs = np.array(entries_with_dofs(placed.model), dtype=int).reshape(-1, 2)
        self.native = native

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
        weight = STIFF * total_weight(measured, prior)
        return cost + 0.5 * weight * np.sum(phi**2, axis=1), g, H, phi, G

    def fitted(self, q0: Array, measured: Measured, prior: Prior | None, tolerance: float, iterations: int) -> Fit:
        """The nearest minimum from configurations (N, nq) on. tolerance [rad, m]: length of the last step."""
        if self.native is not None and not measured.turned.size:
            found: Fit = self.native(self).fitted(q0, measured, prior, tolerance, iterations)
            return found
        q = np.clip(q0, self.limits.lower, self.limits.upper)
        N = len(q)
        mu, arrived, open_ = np.full(N, START), np.zeros(N, dtype=bool), np.arange(N)
        here = self.terms(q, measured, prior)
        step = 0
        while open_.size and step < iterations:
            step += 1
            merit, g, H, phi, G = here
            v = self._step(q[open_], g, H, phi, G, mu[open_])
            ahead = self.ahead(q[open_], v)
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

    def ahead(self, q: Array, v: Array) -> Array:
        """Configurations (N, nq) moved by steps within the limits."""
        if self.placed.constrained:
            v = self.limits.share(q, v) * v
        return np.asarray(np.clip(self.placed.moved(q, v), self.limits.lower, self.limits.upper))

    def _step(self, q: Array, g: Array, H: Array, phi: Array, G: Array, mu: Array) -> Array:
        """Steps (N, nv). Dofs are held at a limit that a step would pass: without constraints those which the gradient
        drives there, and always those which the step does."""
        low, high = self.limits.reached(q)
        held = np.tile(self.fixed, (len(q), 1))
        if not phi.shape[1]:
            held |= (low & (g > 0)) | (high & (g < 0))
        while True:
            v = self._held_step(held, g, H, phi, G, mu)
            passes = ~held & ((low & (v < 0)) | (high & (v > 0)))
            if not passes.any():
                return v
            held |= passes

    def _held_step(self, held: Any, g: Array, H: Array, phi: Array, G: Array, mu: Array) -> Array:
        """Steps (N, nv), zero for dofs that are held."""
        nv, c = self.placed.nv, phi.shape[1]
        diagonal = np.einsum("nii->ni", H)
        scale = diagonal.max(axis=1, keepdims=True, initial=0.0)
        A = np.zeros((len(g), nv + c, nv + c))
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
