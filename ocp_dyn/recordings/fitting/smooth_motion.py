"""A motion fitted to all frames of a recording together: banded least squares.

    minimize  sum over frames of cost(q_k) + 1/2 sum over dofs of d / (T w_c)^6 |third differences of q|^2

with the time T between frames, w_c = 2 pi times the frequency at which a motion keeps half its size, and the mean d of
the dof's entry on the diagonal of the Gauss-Newton matrix. Without couplings between dofs this is the filter of gain
1 / (1 + (w / w_c)^6): a Butterworth filter of order 3, forward and backward.
"""

from __future__ import annotations

import numpy as np

from ..._base.types import Array, ModelError
from ..block_bands import solve_block_tridiagonal
from ..motion import velocities
from ..signals import Spline, sampling_rate
from .least_squares import STIFF, Prior, Steps, total_weight
from .placed import Measured

REACH = 3
"""Frames to either side with which a frame has third differences in common: the size of a block."""
ITERATIONS = 60


def smoothed(
    steps: Steps, times: Array, q0: Array, measured: Measured, prior: Prior | None, cutoff: float, tolerance: float
) -> tuple[Array, Array, Array]:
    """(q, qd, qdd) from configurations q0 (N, nq) on, whose missing frames are filled; the rates are those of quintic
    splines through the smooth configurations."""
    model = steps.placed.model
    if model.nq != model.nv or any(model.joints[i].has_quaternion for i, _ in model.edges):
        raise ModelError(
            f"fit_motion: smooth needs coordinates that can be subtracted, and '{model.name}' has quaternions: give "
            "its root Euler angles, as od.FloatingBase(rotation='euler_zyx')"
        )
    if times.size < 2 * REACH:
        raise ValueError(f"fit_motion: smooth needs {2 * REACH} frames at least, got {times.size}")
    stiffness = (sampling_rate(times) / (2 * np.pi * cutoff)) ** 6
    q = np.clip(_filled(times, q0), steps.limits.lower, steps.limits.upper)
    D = np.diff(np.eye(times.size), 3, axis=0)
    rough = D.T @ D
    H = _terms(steps, q, measured, prior)[2]
    size = np.einsum("nii->i", H) / times.size
    weight = stiffness * np.maximum(size, 1e-6 * size.max())
    mu, step = 1e-4, 0
    value, g, H = _terms(steps, q, measured, prior)
    value += 0.5 * float(np.sum(weight * (D @ q) ** 2))
    while step < ITERATIONS:
        step += 1
        slope = g + rough @ q * weight
        low, high = steps.limits.reached(q)
        held = steps.fixed | (low & (slope > 0)) | (high & (slope < 0))
        v = _solved(H, rough, weight, np.where(held, 0.0, -slope), held, mu * size.max())
        ahead = np.clip(steps.placed.moved(q, v), steps.limits.lower, steps.limits.upper)
        value_ahead, g_ahead, H_ahead = _terms(steps, ahead, measured, prior)
        value_ahead += 0.5 * float(np.sum(weight * (D @ ahead) ** 2))
        small = float(np.abs(v).max()) < 10 * tolerance
        if value_ahead <= value * (1 + 1e-14):
            q, value, g, H, mu = ahead, value_ahead, g_ahead, H_ahead, max(mu / 10, 1e-12)
        else:
            mu *= 10
        if small or mu > 1e6:
            break
    spline = Spline.through(times, q, 5)
    return q, *velocities(model, q, spline(times, 1), spline(times, 2))


def _filled(times: Array, q: Array) -> Array:
    """Configurations with missing frames between their neighbors."""
    there = ~np.isnan(q).any(axis=1)
    return np.stack([np.interp(times, times[there], column[there]) for column in q.T], axis=1)


def _terms(steps: Steps, q: Array, measured: Measured, prior: Prior | None) -> tuple[float, Array, Array]:
    """Value of all frames, gradients (N, nv), and matrices (N, nv, nv), with the constraints as stiff springs."""
    merit, g, H, phi, G = steps.terms(q, measured, prior)
    if phi.shape[1]:
        k = STIFF * total_weight(measured, prior)
        k = np.maximum(k, k.max())[:, None]
        g = g + np.einsum("nci,nc->ni", G, k * phi)
        H = H + np.einsum("nci,nc,ncj->nij", G, np.broadcast_to(k, phi.shape), G)
    return float(merit.sum()), g, H


def _solved(H: Array, rough: Array, weight: Array, rhs: Array, held: Array, damping: float) -> Array:
    """Steps (N, nv) of the whole recording; blocks of `REACH` frames."""
    N, nv = rhs.shape
    count = -(-N // REACH)
    size = REACH * nv
    D, L, U = (np.zeros((count, size, size)) for _ in range(3))
    free = np.where(held, 0.0, 1.0)
    k = np.arange(nv)
    for n in range(N):
        a, i = divmod(n, REACH)
        rows = slice(i * nv, (i + 1) * nv)
        D[a, rows, rows] = H[n] * free[n][:, None] * free[n]
        for other in range(max(0, n - REACH), min(N, n + REACH + 1)):
            b, j = divmod(other, REACH)
            part = (L, D, U)[b - a + 1]
            part[a, i * nv + k, j * nv + k] += rough[n, other] * weight * free[n] * free[other]
        D[a, i * nv + k, i * nv + k] += np.where(held[n], 1.0, damping)
    rest = np.arange(N * nv, count * size)
    D[-1, rest % size, rest % size] = 1.0
    y = np.zeros((count * size, 1))
    y[: N * nv, 0] = rhs.ravel()
    return solve_block_tridiagonal(L, D, U, y.reshape(count, size, 1)).reshape(-1)[: N * nv].reshape(N, nv)
