"""Activations of least effort that balance given moments, for all frames at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._base.types import Array

MOST_STEPS = 300
"""Steps after which a frame is given up; ten to thirty are usual."""
CLOSED = 1e-9
"""KKT residual at which a frame is solved, relative to the largest term of its gradient."""
STIFF = 1e-9
"""Curvature that steps add to the effort, so that their systems stay regular where it has none; it slows the last
steps down and leaves the solution as it is."""
SHORT_OF = 0.995
"""Share of the way to the nearest bound that a step may go."""


class LeastEffort(NamedTuple):
    """Solutions of N frames: x (N, n), the multipliers lam (N, m) of the rows, the KKT residual (N) and the steps.

    residual: the largest entry of M x + lam / 2 - b, and of what a step against the gradient g moves within the bounds,
    x - clip(x - g, lower, upper), over the largest term of g, or over 1 if that is larger.
    """

    x: Array
    multipliers: Array
    residual: Array
    iterations: int


def least_effort(M: Array, b: Array, lower: float, upper: float, power: float, weight: float) -> LeastEffort:
    """Minimum of weight sum x^power + |e|^2 subject to M x + e = b and lower <= x <= upper, frame by frame.

    M (N, m, n), b (N, m). A primal-dual interior-point method with Mehrotra's predictor and corrector (Mehrotra 1992,
    SIAM J. Optim. 2:575; Nocedal & Wright 2006, section 16.6). With e = lam / 2 every step is one symmetric system of
    m rows, (M D M' + I / 2) dlam = r with a diagonal D > 0, for each frame: positive definite whatever M is. Frames
    that are solved leave the batch.

    Cost: N m^2 n operations a step.
    """
    N, m, n = M.shape
    found = LeastEffort(np.full((N, n), (lower + upper) / 2), np.zeros((N, m)), np.full(N, np.inf), 0)
    step, open_frames = 0, np.arange(N)
    z = np.full((2, N, n), float(max(weight, 1e-3)) + np.abs(b).max(axis=1, initial=0.0)[None, :, None])
    x, lam = found.x.copy(), found.multipliers.copy()
    gaps = np.stack([x - lower, upper - x])  # slacks of their own: a difference would round to zero
    while open_frames.size:
        slopes, bends = effort(x, power, weight)
        pull = np.einsum("kmn,km->kn", M, lam)
        dual = slopes - pull - z[0] + z[1]
        primal = b - np.einsum("kmn,kn->km", M, x) - lam / 2
        large = 1 + np.maximum(np.abs(pull).max(axis=1, initial=0.0), np.abs(slopes).max(axis=1, initial=0.0))
        against = x - np.clip(x - slopes + pull, lower, upper)  # zero where no step along the gradient is left
        residual = np.maximum(np.abs(against).max(axis=1, initial=0.0), np.abs(primal).max(axis=1, initial=0.0)) / large
        better = residual <= found.residual[open_frames]
        for kept, now in zip(found[:3], (x, lam, residual), strict=True):
            kept[open_frames[better]] = now[better]
        going = residual > CLOSED
        if not going.any() or step == MOST_STEPS:
            break
        open_frames, M, b, x, lam = open_frames[going], M[going], b[going], x[going], lam[going]
        z, gaps = z[:, going], gaps[:, going]
        dx, dlam, dz = _steps(M, dual[going], primal[going], bends[going], gaps, z)
        share = _share(gaps, z, dx, dz)
        gaps = gaps + share * np.stack([dx, -dx])
        x, lam = np.where(gaps[0] < gaps[1], lower + gaps[0], upper - gaps[1]), lam + share * dlam
        z, step = z + share * dz, step + 1
    return found._replace(iterations=step)


def effort(x: Array, power: float, weight: float) -> tuple[Array, Array]:
    """First and second derivatives of weight x^power."""
    if power == 1:
        return np.full_like(x, weight), np.zeros_like(x)
    return weight * power * x ** (power - 1), weight * power * (power - 1) * x ** (power - 2)


def _steps(M: Array, dual: Array, primal: Array, bends: Array, gaps: Array, z: Array) -> tuple[Array, Array, Array]:
    """The step of all unknowns: one towards the bounds says how far the products of slacks and multipliers are to
    shrink and how they bend, the second one is taken."""
    D = 1 / (STIFF + bends + (z / gaps).sum(axis=0))
    MD = M * D[:, None]
    m = M.shape[1]
    matrix = np.matmul(MD, M.swapaxes(1, 2)) + np.eye(m) / 2
    inverse = np.linalg.inv(matrix)

    def solve(goal: Array) -> tuple[Array, Array, Array]:
        given = -dual + (goal[0] - z[0] * gaps[0]) / gaps[0] - (goal[1] - z[1] * gaps[1]) / gaps[1]
        r = primal - np.einsum("kmn,kn->km", MD, given)
        dlam = np.einsum("kij,kj->ki", inverse, r)
        dlam = dlam + np.einsum("kij,kj->ki", inverse, r - np.einsum("kij,kj->ki", matrix, dlam))
        dx = D * (given + np.einsum("kmn,km->kn", M, dlam))
        return dx, dlam, (goal - z * gaps - z * np.stack([dx, -dx])) / gaps

    mean = (z * gaps).mean(axis=(0, 2))[:, None]
    dx, _, dz = solve(np.zeros_like(z))
    share = _share(gaps, z, dx, dz)
    after = ((z + share * dz) * (gaps + share * np.stack([dx, -dx]))).mean(axis=(0, 2))[:, None]
    center = (after / np.maximum(mean, 1e-300)) ** 3 * mean
    return solve(center[None] - dz * np.stack([dx, -dx]))


def _share(gaps: Array, z: Array, dx: Array, dz: Array) -> Array:
    """The share of a step (N, 1) that leaves slacks and multipliers positive."""
    share = np.ones((z.shape[1], 1))
    for now, change in ((gaps, np.stack([dx, -dx])), (z, dz)):
        ratio = np.where(change < 0, now / np.where(change < 0, -change, 1.0), np.inf)
        share = np.minimum(share, SHORT_OF * ratio.min(axis=(0, 2), initial=np.inf)[:, None])
    return share
