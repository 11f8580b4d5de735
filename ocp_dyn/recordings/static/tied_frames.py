"""Activations of least effort that balance given moments and that excitations can make: all frames as one program.

An excitation e that is constant between two frames moves an activation from a to e + (a - e) exp(-h / t), with the time
t of activation or of deactivation. With lower <= e <= upper:

    lower + (a_k - lower) exp(-h_k / fall) <= a_k+1 <= upper + (a_k - upper) exp(-h_k / rise).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._base.types import Array
from ...muscles.least_effort import CLOSED, MOST_STEPS, SHORT_OF, STIFF, effort


class Decay(NamedTuple):
    """exp(-h / t) between frames (N - 1, n), for the times of activation and of deactivation."""

    rise: Array
    fall: Array


class TiedFrames(NamedTuple):
    """The activations x (N, n), the KKT residual, over the largest term of the gradient, and the steps."""

    x: Array
    residual: float
    iterations: int


def tied_frames(M: Array, b: Array, lower: float, upper: float, power: float, decay: Decay) -> TiedFrames:
    """Minimum of sum x^power + |b - M x|^2 over all frames, lower <= x <= upper, under the rows of the activations.

    M (N, m, n), b (N, m). A primal-dual interior-point method with Mehrotra's predictor and corrector (Mehrotra 1992,
    SIAM J. Optim. 2:575) from constant activations, which keep all rows. Rows tie an activation to its own next value
    only, so that every step is a block tridiagonal system whose blocks beside the diagonal are diagonal.

    Cost: N n^3 operations a step.
    """
    N, _, n = M.shape
    rows = _Rows(lower, upper, decay)
    x = np.full((N, n), (lower + upper) / 2)
    gaps = rows.gaps(x)
    z = [np.full(gap.shape, 1 + float(np.abs(b).max(initial=0.0))) for gap in gaps]
    square = 2 * np.matmul(M.swapaxes(1, 2), M)
    best = TiedFrames(x, np.inf, 0)
    for step in range(MOST_STEPS + 1):
        slopes, bends = effort(x, power, 1.0)
        pull = 2 * np.einsum("kmn,km->kn", M, b - np.einsum("kmn,kn->km", M, x))
        dual = slopes - pull - rows.transposed(z)
        large = 1 + max(np.abs(slopes).max(initial=0.0), np.abs(pull).max(initial=0.0))
        closed = max(float((now * gap).max(initial=0.0)) for now, gap in zip(z, gaps, strict=True))
        residual = max(float(np.abs(dual).max(initial=0.0)), closed) / large
        if residual < best.residual:
            best = TiedFrames(x, residual, step)
        if residual < CLOSED or step == MOST_STEPS:
            break
        dx, dz = _step(square, dual, bends, gaps, z, rows)
        moved = rows.linear(dx)
        share = _share([*gaps, *z], [*moved, *dz])
        x = x + share * dx
        gaps = [gap + share * d for gap, d in zip(gaps, moved, strict=True)]
        z = [now + share * d for now, d in zip(z, dz, strict=True)]
    return best._replace(iterations=step)


class _Rows(NamedTuple):
    """Four groups of linear rows that stay positive: above the lower limit, below the upper one, and not falling or
    rising too fast."""

    lower: float
    upper: float
    decay: Decay

    def linear(self, x: Array) -> list[Array]:
        """The rows without their constants."""
        rise, fall = self.decay
        return [x, -x, x[1:] - fall * x[:-1], rise * x[:-1] - x[1:]]

    def gaps(self, x: Array) -> list[Array]:
        """The values of the rows."""
        rise, fall = self.decay
        constant: tuple[Any, ...] = (-self.lower, self.upper, -self.lower * (1 - fall), self.upper * (1 - rise))
        return [part + c for part, c in zip(self.linear(x), constant, strict=True)]

    def transposed(self, z: list[Array]) -> Array:
        """The gradient (N, n) of the sum of the rows times z."""
        rise, fall = self.decay
        found = z[0] - z[1]
        found[1:] += z[2] - z[3]
        found[:-1] += rise * z[3] - fall * z[2]
        return found


def _step(
    square: Array, dual: Array, bends: Array, gaps: list[Array], z: list[Array], rows: _Rows
) -> tuple[Array, list[Array]]:
    """The step of activations and multipliers: a first one towards the bounds says how far the products of gaps and
    multipliers are to shrink and how they bend, the second one is taken."""
    rise, fall = rows.decay
    stiff = [now / gap for now, gap in zip(z, gaps, strict=True)]
    diagonal = STIFF + bends + stiff[0] + stiff[1]
    diagonal[1:] += stiff[2] + stiff[3]
    diagonal[:-1] += fall**2 * stiff[2] + rise**2 * stiff[3]
    beside = -fall * stiff[2] - rise * stiff[3]
    system = _Tridiagonal.of(square, diagonal, beside)

    def solve(goal: list[Array]) -> tuple[Array, list[Array]]:
        wanted = [g / gap - now for g, gap, now in zip(goal, gaps, z, strict=True)]
        dx = system.solve(rows.transposed(wanted) - dual)
        moved = rows.linear(dx)
        return dx, [w - s * d for w, s, d in zip(wanted, stiff, moved, strict=True)]

    count = sum(gap.size for gap in gaps)
    mean = sum(float((now * gap).sum()) for now, gap in zip(z, gaps, strict=True)) / count
    dx, dz = solve([np.zeros_like(gap) for gap in gaps])
    moved = rows.linear(dx)
    share = _share([*gaps, *z], [*moved, *dz])
    after = sum(
        float(((now + share * d) * (gap + share * m)).sum())
        for now, d, gap, m in zip(z, dz, gaps, moved, strict=True)
    ) / count  # fmt: skip
    center = (after / max(mean, 1e-300)) ** 3 * mean
    return solve([center - d * m for d, m in zip(dz, moved, strict=True)])


class _Tridiagonal(NamedTuple):
    """A symmetric positive definite block tridiagonal matrix, factored: square + diag(diagonal) in the blocks of the
    diagonal, diag(beside) next to them."""

    square: Array
    diagonal: Array
    beside: Array
    inverses: Array

    @classmethod
    def of(cls, square: Array, diagonal: Array, beside: Array) -> _Tridiagonal:
        inverses = np.empty_like(square)
        at = np.arange(square.shape[1])
        for k in range(len(square)):
            block = square[k].copy()
            block[at, at] += diagonal[k]
            if k:
                block -= beside[k - 1][:, None] * inverses[k - 1] * beside[k - 1]
            inverse = np.linalg.inv(block)
            inverses[k] = (inverse + inverse.T) / 2
        return cls(square, diagonal, beside, inverses)

    def solve(self, r: Array) -> Array:
        """The solution for the right-hand side r (N, n), refined once."""
        x = self._swept(r)
        return x + self._swept(r - self._times(x))

    def _swept(self, r: Array) -> Array:
        x = r.copy()
        for k in range(1, len(x)):
            x[k] -= self.beside[k - 1] * (self.inverses[k - 1] @ x[k - 1])
        for k in range(len(x) - 1, -1, -1):
            right = self.beside[k] * x[k + 1] if k + 1 < len(x) else 0.0
            x[k] = self.inverses[k] @ (x[k] - right)
        return x

    def _times(self, x: Array) -> Array:
        found = np.einsum("kij,kj->ki", self.square, x) + self.diagonal * x
        found[1:] += self.beside * x[:-1]
        found[:-1] += self.beside * x[1:]
        return np.asarray(found)


def _share(now: list[Array], change: list[Array]) -> float:
    """The share of a step that leaves everything positive."""
    share = 1.0
    for value, d in zip(now, change, strict=True):
        down = d < 0
        if down.any():
            share = min(share, SHORT_OF * float((value[down] / -d[down]).min()))
    return share
