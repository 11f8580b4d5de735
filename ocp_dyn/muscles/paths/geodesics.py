"""Shortest lines over an ellipsoid: two straight pieces and a geodesic between them, without corners.

Lines from p1 touch the ellipsoid on a circle of the coordinates y = x/a, by the polar plane y p1/a = 1. A point of this
circle, by its angle psi, and a length L give a geodesic that starts in the direction of its straight piece. It is the
one sought where its end is tangent to the line to p2: two equations for psi and L, by Newton's method (Scholz, Sherman,
Stavness, Delp, Kecskemethy 2016, Multibody Syst Dyn 36:195, who solve for four unknowns).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._base.types import Array
from .wrapping import INSIDE, STRAIGHT, Side, Truths, Wrapping, dot, norm, unit

STEPS, ROUGH_STEPS = 64, 12
"""Steps of the Runge-Kutta scheme along a geodesic, and of one for a fit."""
ITERATIONS = 10
PRECISE, ROUGH = 1e-11, 1e-7
"""Sine of the corner at the end up to which a geodesic counts as found, and one for a fit."""
TOUCHING = 1e-6
"""Distance of an end from the ellipsoid, in radii squared, below which the section is kept: the circle vanishes."""


DIRECTIONS, PACES, LONGEST = 96, 60, 2 * np.pi
"""Number of directions in which all geodesics are looked for, of steps along each, and its length in radii."""


def geodesic(p1: Array, p2: Array, radii: Array, guess: Wrapping, side: Side, fine: bool = True) -> Wrapping:
    """Geodesics in place of the sections `guess` of lines that wrap.

    First the one next to the section is tried. Where Newton's method does not find it, as it may where an active half
    forces the line to the longer side, all geodesics are looked for, and the shortest one over the active half is
    taken. A section stays where there is none. fine=False: for fits, right to about 1e-6 of the radii.
    """
    out = guess.first.copy(), guess.last.copy(), guess.arc.copy()
    off = dot(p1 / radii, p1 / radii) - 1.0
    k = np.flatnonzero((guess.action != STRAIGHT) & (guess.action != INSIDE) & (off > TOUCHING))
    if not k.size:
        return guess
    family = _Family(p1[k], p2[k], radii, fine)
    psi, length, found = _refined(family, family.angle(guess.first[k]), guess.arc[k])
    found &= family.over(side, psi, length)
    lost = np.flatnonzero(~found)
    if lost.size:
        psi[lost], length[lost], found[lost] = _searched(family.of(lost), side)
    first, _ = family.start(psi)
    last, _ = family.end(psi, length)
    for place, value in zip(out, (first, last, length), strict=True):
        place[k[found]] = value[found]
    return Wrapping(guess.action, *out)


def _refined(family: _Family, psi: Array, length: Array) -> tuple[Array, Array, Truths]:
    """(psi, L, found) by Newton's method from a guess."""
    psi, length, rest = psi.copy(), length.copy(), family.corner(psi, length)
    for _ in range(ITERATIONS):
        open_ = np.flatnonzero(np.max(np.abs(rest), axis=1) >= family.precise)
        if not open_.size:
            break
        psi[open_], length[open_], rest[open_] = _newton(family.of(open_), psi[open_], length[open_], rest[open_])
    return psi, length, (np.max(np.abs(rest), axis=1) < 100 * family.precise) & (length >= 0)


def _searched(family: _Family, side: Side) -> tuple[Array, Array, Truths]:
    """(psi, L, found) of the shortest geodesic whose middle lies on the active half: of all psi, those that leave the
    surface towards p2 at a corner in the surface, and between them the ones without."""
    n = len(family.p1)
    grid = np.linspace(-np.pi, np.pi, DIRECTIONS, endpoint=False)
    many = family.of(np.repeat(np.arange(n), DIRECTIONS))
    length, corner = (x.reshape(n, DIRECTIONS) for x in many.leaving(np.tile(grid, n)))
    after = np.roll(corner, -1, axis=1)
    rows, at = np.nonzero((corner * after <= 0) & (np.abs(corner - after) < 0.7))  # not where nan
    psi, best, reached = np.zeros(n), np.full(n, np.inf), np.zeros(n, dtype=bool)
    if rows.size:
        part = family.of(rows)
        share = corner[rows, at] / (corner[rows, at] - after[rows, at] + 1e-300)
        angles = grid[at] + share * (grid[1] - grid[0])
        ways, lengths, found = _refined(part, angles, length[rows, at])
        found &= part.over(side, ways, lengths)
        for row, way, size in zip(rows[found], ways[found], lengths[found], strict=True):
            if size < best[row]:
                psi[row], best[row], reached[row] = way, size, True
    return psi, np.where(reached, best, 0.0), reached


def _newton(family: _Family, psi: Array, length: Array, rest: Array) -> tuple[Array, Array, Array]:
    """One step, shortened until the corner gets smaller."""
    size, h = family.size, 1e-7
    by_psi = (family.corner(psi + h, length) - rest) / h
    by_length = (family.farther(psi, length, h * size) - rest) / h
    det = by_psi[:, 0] * by_length[:, 1] - by_psi[:, 1] * by_length[:, 0]
    det = np.where(det != 0, det, 1.0)
    d_psi = -(rest[:, 0] * by_length[:, 1] - rest[:, 1] * by_length[:, 0]) / det
    d_length = -(by_psi[:, 0] * rest[:, 1] - by_psi[:, 1] * rest[:, 0]) / det
    share = 1.0 / np.maximum(1.0, np.maximum(np.abs(d_psi), np.abs(d_length)) / 0.4)
    before = norm(rest)
    for _ in range(4):
        trial = (psi + share * d_psi, length + share * size * d_length)
        corner = family.corner(*trial)
        worse = norm(corner) > before
        if not np.any(worse):
            break
        share = np.where(worse, 0.5 * share, share)
    return (*trial, corner)


class _Family:
    """The geodesics that leave the tangents of the points p1, and their corners with the lines to the points p2."""

    def __init__(self, p1: Array, p2: Array, radii: Array, fine: bool) -> None:
        self.p1, self.p2, self.a, self.size = p1, p2, radii, float(np.mean(radii))
        self.fine, self.precise = fine, PRECISE if fine else ROUGH
        self.steps = STEPS if fine else ROUGH_STEPS
        self.curved = radii**-2
        pole = p1 / radii
        square = dot(pole, pole)
        self.center = pole / square[:, None]
        self.radius = np.sqrt(1.0 - 1.0 / square)
        other = np.eye(3)[np.argmin(np.abs(pole), axis=1)]
        self.e1 = unit(np.cross(pole, other))
        self.e2 = unit(np.cross(pole, self.e1))

    def of(self, rows: NDArray[np.intp]) -> _Family:
        """The family of some of the points."""
        return _Family(self.p1[rows], self.p2[rows], self.a, self.fine)

    def angle(self, x: Array) -> Array:
        """psi of points on the circle."""
        y = x / self.a - self.center
        found: Array = np.arctan2(dot(y, self.e2), dot(y, self.e1))
        return found

    def start(self, psi: Array) -> tuple[Array, Array]:
        """(x, t): point and direction at the start."""
        ring = np.cos(psi)[:, None] * self.e1 + np.sin(psi)[:, None] * self.e2
        x = self.a * (self.center + self.radius[:, None] * ring)
        return x, unit(x - self.p1)

    def _bend(self, x: Array, t: Array) -> Array:
        """x'' = -(t' H t)/(g' g) g of a line without a curvature of its own, g and H of sum (x/a)^2/2."""
        g = x * self.curved
        found: Array = (-((t * t) @ self.curved) / np.sum(g * g, axis=1))[:, None] * g
        return found

    def over(self, side: Side, psi: Array, length: Array) -> Truths:
        """Whether the middle of a geodesic lies on the active half."""
        return side.holds(self.end(psi, length / 2)[0]) | (side.sign == 0)

    def farther(self, psi: Array, length: Array, step: float) -> Array:
        """Corners a little beyond the end."""
        x, t = self.end(psi, length)
        return self._rest(x + step * t, t + step * self._bend(x, t))

    def leaving(self, psi: Array) -> tuple[Array, Array]:
        """Lengths at which geodesics leave the surface towards p2, and their corners in the surface there; nan for
        those that never do, or at once."""
        x, t = self.start(psi)
        h = np.full((len(psi), 1), LONGEST * float(np.max(self.a)) / PACES)
        before = self._rest(x, t)
        length, corner = np.full(len(psi), np.nan), np.full(len(psi), np.nan)
        waiting = before[:, 0] < 0
        for k in range(PACES):
            x, t = self._step(x, t, h)
            now = self._rest(x, t)
            out = waiting & (now[:, 0] >= 0)
            share = (before[:, 0] / (before[:, 0] - now[:, 0] + 1e-300))[out]
            length[out] = (k + share) * h[0, 0]
            corner[out] = before[out, 1] + share * (now[out, 1] - before[out, 1])
            waiting &= ~out
            before = now
        return length, corner

    def end(self, psi: Array, length: Array) -> tuple[Array, Array]:
        """(x, t) at the end, by the Runge-Kutta scheme of fourth order."""
        x, t = self.start(psi)
        h = (length / self.steps)[:, None]
        for _ in range(self.steps):
            x, t = self._step(x, t, h)
        return x, t

    def _step(self, x: Array, t: Array, h: Array) -> tuple[Array, Array]:
        k1 = self._bend(x, t)
        k2 = self._bend(x + h / 2 * t, t + h / 2 * k1)
        k3 = self._bend(x + h / 2 * t + h**2 / 4 * k1, t + h / 2 * k2)
        k4 = self._bend(x + h * t + h**2 / 2 * k2, t + h * k3)
        return x + h * t + h**2 / 6 * (k1 + k2 + k3), t + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def _rest(self, x: Array, t: Array) -> Array:
        """Sines of the angles between the line from x to p2 and t: out of the surface, and in it (n x 2)."""
        e = unit(self.p2 - x)
        normal = unit(x / self.a**2)
        return np.column_stack([dot(e, normal), dot(e, np.cross(normal, t))])

    def corner(self, psi: Array, length: Array) -> Array:
        """Sines of the angles between the line to p2 and the geodesic's end: out of the surface, and in it (n x 2)."""
        return self._rest(*self.end(psi, length))
