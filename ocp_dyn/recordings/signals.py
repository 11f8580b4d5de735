"""Signals on a grid of times: runs without gaps, natural splines, zero-phase Butterworth filter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from .._base import checks
from .._base.types import Array
from .block_bands import solve_banded

BLOCK = 64
"""Samples that the filter takes at once."""
UNEVEN = 0.1
"""Deviation of a time from an even grid, in intervals, up to which it counts as rounded in its file."""


SLOWEST = 1e-6
"""Least cutoff of a filter, as a fraction of the rate: below it its states are determined by rounding."""


def sampling_rate(times: Array) -> float:
    """Samples per second of evenly spaced times; ValueError for others, and for a single time."""
    if times.size < 2:
        raise ValueError("there is one sample only, which has no rate")
    step = (times[-1] - times[0]) / (times.size - 1)
    off = np.abs(times - (times[0] + step * np.arange(times.size)))
    if off.max() > UNEVEN * step:
        k = int(off.argmax())
        raise ValueError(
            f"the times are not evenly spaced: sample {k} lies at {times[k]:.6g} s, {off[k] / step:.2g} intervals from "
            "an even grid; resample(rate) first"
        )
    return float(1 / step)


def complete_runs(missing: Any) -> list[tuple[int, int]]:
    """(first, past the last) index of every run in which nothing is missing."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], missing, [True]]).astype(int)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def runs(flat: Array) -> Iterator[tuple[Any, int, int]]:
    """(columns, first row, past the last row) of all runs without gaps; columns with the same gaps come together."""
    patterns: dict[bytes, list[int]] = {}
    missing = np.isnan(flat)
    for k in range(flat.shape[1]):
        patterns.setdefault(missing[:, k].tobytes(), []).append(k)
    for columns in patterns.values():
        for a, b in complete_runs(missing[:, columns[0]]):
            yield np.array(columns), a, b


@dataclass(frozen=True, eq=False)
class Spline:
    """A natural spline: the curve of least integral of the squared derivative of order (degree + 1) / 2 through points.

    breaks (N): times. pieces (N - 1, degree + 1, m): coefficients of powers of the time since the break before.
    """

    breaks: Array
    pieces: Array
    flat: bool

    @staticmethod
    def through(times: Array, values: Array, degree: int) -> Spline:
        """The spline of degree 3 or 5 through values (N) or (N, m); with too few points the polynomial through them.

        De Boor, A Practical Guide to Splines, 1978: B-splines on the times as knots; derivatives of order (degree + 1)
        / 2 to degree - 1 vanish at both ends. A banded system is solved, O(N).
        """
        y = np.asarray(values, dtype=float).reshape(times.size, -1)
        flat = np.ndim(values) == 1
        if times.size < (degree + 1) // 2 or times.size == 1:
            return Spline(times, _polynomial(times, y, degree), flat)
        unit = float(np.mean(np.diff(times)))  # knots of size 1: the system does not depend on the unit of time
        x = (times - times[0]) / unit
        knots = np.concatenate([x[0] - np.arange(degree, 0, -1), x, x[-1] + np.arange(1, degree + 1)])
        half = (degree - 1) // 2
        left = np.array([_basis(knots, degree, x[:1], (degree + 1) // 2 + j)[0] for j in range(half)])
        right = np.array([_basis(knots, degree, x[-1:], (degree + 1) // 2 + j)[0] for j in range(half)])
        band = np.concatenate([left, _basis(knots, degree, x, 0), right])
        begin = np.concatenate([np.zeros(half, int), _spans(knots, degree, x) - degree, np.full(half, x.size - 2)])
        rhs = np.concatenate([np.zeros((half, y.shape[1])), y, np.zeros((half, y.shape[1]))])
        c = solve_banded(band, begin, rhs)
        pieces = np.empty((x.size - 1, degree + 1, y.shape[1]))
        at = x[:-1]
        spans = _spans(knots, degree, at) - degree
        for j in range(degree + 1):
            basis = _basis(knots, degree, at, j)
            local = c[spans[:, None] + np.arange(degree + 1)]
            pieces[:, j] = np.einsum("ni,nim->nm", basis, local) / factorial(j) / unit**j
        return Spline(times, pieces, flat)

    def __call__(self, times: Array, order: int = 0) -> Array:
        """Values (or derivatives of that order) at times; the end pieces go on outside."""
        at = np.asarray(times, dtype=float)
        k = np.clip(np.searchsorted(self.breaks, at, side="right") - 1, 0, len(self.pieces) - 1)
        s = (at - self.breaks[k])[:, None]
        found = np.zeros((at.size, self.pieces.shape[2]))
        for j in range(self.pieces.shape[1] - 1, order - 1, -1):
            found = found * s + self.pieces[k, j] * (factorial(j) / factorial(j - order))
        return found[:, 0] if self.flat else found


def _polynomial(times: Array, y: Array, degree: int) -> Array:
    """One piece: the line through two points, or the constant of one."""
    pieces = np.zeros((1, degree + 1, y.shape[1]))
    pieces[0, 0] = y[0]
    if times.size > 1:
        pieces[0, 1] = (y[-1] - y[0]) / (times[-1] - times[0])
    return pieces


def _spans(knots: Array, degree: int, at: Array) -> Array:
    """Index of the knot before every place, among those between which all B-splines are there."""
    return np.clip(np.searchsorted(knots, at, side="right") - 1, degree, knots.size - degree - 2)


def _basis(knots: Array, degree: int, at: Array, order: int) -> Array:
    """The degree + 1 B-splines (n, degree + 1) that are not zero at places (n), or their derivatives of that order."""
    span = _spans(knots, degree, at)
    low = degree - order
    found = np.ones((at.size, 1))
    for d in range(1, degree + 1):
        wider = np.zeros((at.size, d + 1))
        for i in range(d):
            a, b = knots[span - d + 1 + i], knots[span + 1 + i]
            if d <= low:  # the recursion of values
                wider[:, i] += found[:, i] * (b - at) / (b - a)
                wider[:, i + 1] += found[:, i] * (at - a) / (b - a)
            else:  # the recursion of derivatives
                wider[:, i] -= found[:, i] * d / (b - a)
                wider[:, i + 1] += found[:, i] * d / (b - a)
        found = wider
    return found


def butterworth(flat: Array, rate: float, cutoff: float, order: int) -> Array:
    """Columns after a Butterworth low-pass forward and backward, each run without gaps by itself; see
    `Recording.filter`."""
    cutoff = checks.positive(cutoff, "filter: cutoff")
    order = checks.whole(order, "filter: order", 1, 8)
    if not SLOWEST * rate <= cutoff < rate / 2:
        raise ValueError(
            f"filter: cutoff must be less than half the rate, {rate / 2:g} Hz, and at least {SLOWEST * rate:.3g} Hz, "
            f"got {cutoff:g}"
        )
    sections = _sections(cutoff / rate, order)
    out = np.full(flat.shape, np.nan)
    for columns, a, b in runs(flat):
        x = flat[a:b, columns]
        n = min(padding(rate, cutoff, order), b - a - 1)
        padded = np.concatenate([2 * x[0] - x[n:0:-1], x, 2 * x[-1] - x[-2 : -n - 2 : -1]])
        for _ in range(2):  # forward, then backward
            for section in sections:
                padded = _passed(section, padded)
            padded = padded[::-1]
        out[a:b, columns] = padded[n : padded.shape[0] - n]
    return out


def padding(rate: float, cutoff: float, order: int) -> int:
    """Samples by which a signal is continued at its ends: three periods of the cutoff, so that the filter settles."""
    return max(3 * (order + 1), int(np.ceil(3 * rate / cutoff)))


def _sections(ratio: float, order: int) -> list[tuple[Array, Array]]:
    """(b, a), three coefficients each, of sections of order two by the bilinear transformation; ratio: cutoff by
    rate. The cutoff is kept: the analog poles lie on a circle of radius 2 tan(pi ratio)."""
    found = []
    for k in range((order + 1) // 2):
        s = 2 * np.tan(np.pi * ratio) * np.exp(1j * np.pi * (2 * k + order + 1) / (2 * order))
        z = (2 + s) / (2 - s)
        if 2 * k + 1 == order:  # the real pole
            a, b = np.array([1.0, -z.real, 0.0]), np.array([1.0, 1.0, 0.0])
        else:
            a, b = np.array([1.0, -2 * z.real, abs(z) ** 2]), np.array([1.0, 2.0, 1.0])
        found.append((b * a.sum() / b.sum(), a))
    return found


def _passed(section: tuple[Array, Array], x: Array) -> Array:
    """Columns after one section, which begins in the steady state of their first sample.

    The section is s+ = A s + B x, y = s[0] + b[0] x; `BLOCK` samples are one product with its impulse responses.
    """
    b, a = section
    A = np.array([[-a[1], 1.0], [-a[2], 0.0]])
    B = b[1:] - a[1:] * b[0]
    powers = [np.eye(2)]
    for _ in range(BLOCK):
        powers.append(A @ powers[-1])
    impulse = np.array([b[0], *[(powers[k] @ B)[0] for k in range(BLOCK - 1)]])
    lag = np.arange(BLOCK)[:, None] - np.arange(BLOCK)
    H = np.where(lag >= 0, impulse[np.abs(lag)], 0.0)
    free = np.array([power[0] for power in powers[:BLOCK]])
    carried = np.array([powers[BLOCK - 1 - k] @ B for k in range(BLOCK)]).T
    state = np.outer(np.linalg.solve(np.eye(2) - A, B), x[0])
    y = np.empty_like(x)
    for k in range(0, len(x), BLOCK):
        part = x[k : k + BLOCK]
        n = len(part)
        y[k : k + n] = free[:n] @ state + H[:n, :n] @ part
        if n == BLOCK:
            state = powers[BLOCK] @ state + carried @ part
    return y
