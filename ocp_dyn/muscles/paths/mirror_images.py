"""Paths that are mirror images of others: they take over their polynomials, so that both sides of a body are equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from ..._base.types import Array
from .fits import Polynomial, samples
from .geometry import Path, path_values
from .polynomials import Box
from .smooth_path import Pieces, SmoothPath

POINTS = 6
"""Number of configurations at which two paths are compared."""

EQUAL = 1e-6
"""Difference of lengths up to which a path is the image of another [m]: both are found by iteration."""

SAME = 1e-9
"""Difference of ranges up to which a coordinate is the image of another [rad, m]."""

MOST = 6
"""Largest number of coordinates of a path for which images are looked for: there are 2^MOST patterns of signs."""


class _Known(NamedTuple):
    """A fitted path, and its lengths at the points of its box."""

    path: Path
    pieces: Pieces
    report: SmoothPath
    lengths: Array


class MirrorImages:
    """The fitted paths of a model, among which the mirror image of a further one is looked for.

    Two paths are images of each other if their lengths agree at POINTS configurations, with the signs of some
    coordinates changed: l(x) = l'(s x) with x = (q - middle)/half and signs s. T_n(-x) = (-1)^n T_n(x) then gives the
    polynomial.
    """

    def __init__(self) -> None:
        self._known: list[_Known] = []

    def find(self, path: Path, box: Box) -> tuple[Pieces, SmoothPath] | None:
        """The polynomial of a path from its image; None if there is none."""
        alike = [one for one in self._known if _alike(one, path, box)]
        if not alike:
            return None
        signs = np.array(list(product((1.0, -1.0), repeat=len(box.entries))))
        lengths = _lengths(path, box, signs)
        for one in alike:
            far = np.abs(np.array(box.middle) - signs * np.array(one.pieces.box.middle)).max(axis=1, initial=0.0) > SAME
            apart = np.where(far, np.inf, np.abs(lengths - one.lengths).max(axis=1))
            k = int(np.argmin(apart))
            if apart[k] <= EQUAL:
                return _turned(one.pieces, box, signs[k]), replace(one.report, name=path.muscle.name)
        return None

    def add(self, path: Path, pieces: Pieces, report: SmoothPath) -> None:
        """Adds a fitted path."""
        if not pieces.couplings and 0 < len(pieces.box.entries) <= MOST:
            lengths = _lengths(path, pieces.box, np.ones((1, len(pieces.box.entries))))[0]
            self._known.append(_Known(path, pieces, report, lengths))


def _alike(one: _Known, path: Path, box: Box) -> bool:
    """Whether a fitted path has as many points and wraps, over coordinates of equal ranges."""
    counts = [(len(p.muscle.path), len(p.wraps)) for p in (one.path, path)]
    halves = one.pieces.box.half, box.half
    return counts[0] == counts[1] and len(halves[0]) == len(halves[1]) and np.allclose(*halves, rtol=0, atol=SAME)


def _lengths(path: Path, box: Box, signs: Array) -> Array:
    """Lengths (patterns of signs x POINTS) [m]; the points of all boxes have the same x."""
    inside = samples(Box(box.entries, (0.0,) * len(box.middle), (1.0,) * len(box.half)), POINTS)[-POINTS:]
    x = (signs[:, None] * inside).reshape(-1, len(box.entries))
    q = np.tile(np.array(path.model.neutral(), dtype=float).ravel(), (len(x), 1))
    q[:, list(box.entries)] = np.array(box.middle) + np.array(box.half) * x
    return path_values(path, q).length.reshape(len(signs), POINTS)


def _turned(pieces: Pieces, box: Box, signs: Array) -> Pieces:
    """The polynomial with the signs of coordinates changed."""

    def coefficients() -> Iterator[float]:
        for e, c in zip(*pieces.length, strict=True):
            yield float(c * np.prod(signs ** np.array(e)))

    return Pieces(box, (), Polynomial(pieces.length.exponents, tuple(coefficients())), ())
