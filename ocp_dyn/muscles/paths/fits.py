"""Polynomials of the coordinates in place of the exact length of a path, fitted to samples of its exact geometry.

Length and moment arms are fitted together, as value and slopes of one polynomial, so that r = -dl/dq holds exactly.
Samples are the corners of the box of the joint ranges and Halton's points in it: always the same. The degree grows
until the moment arms of other samples are right to a tolerance; then terms are left out as long as they stay so.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from ..._base.types import Array
from .polynomials import Basis, Box, Exponents, exponents

HIGHEST = (0, 14, 12, 9, 8, 6, 5, 4)
"""Largest degree by the number of coordinates; 3 for more."""
NEARLY = 1.05
"""Error of a polynomial that misses the tolerance, over that of the best one, which fewer terms are worth."""
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


class Polynomial(NamedTuple):
    """Sum of coefficients times products of Chebyshev polynomials."""

    exponents: tuple[Exponents, ...]
    coefficients: tuple[float, ...]


class Sampled(NamedTuple):
    """Values at samples (n), and slopes by the coordinates of the box (n x coordinates); None where only values are
    fitted."""

    values: Array
    slopes: Array | None


class Fit(NamedTuple):
    """A polynomial and its errors at samples that it was not fitted to: RMS of the values, RMS and largest error of the
    slopes by coordinate; where only values are fitted, these stand for the slopes."""

    polynomial: Polynomial
    degree: int
    value_rms: float
    slope_rms: Array
    slope_worst: Array

    def within(self, tolerances: Array) -> bool:
        """Whether slopes are right to their tolerances, and values to the largest of them."""
        constant = tolerances.size == 0
        return constant or bool(np.all(self.slope_rms <= tolerances) and self.value_rms <= np.max(tolerances))


def samples(box: Box, count: int, skip: int = 20) -> Array:
    """Corners of a box, and points of Halton's sequence in it (count + corners x coordinates)."""
    d = len(box.entries)
    corners = np.array(list(product((-1.0, 1.0), repeat=d))).reshape(2**d, d)
    inside = np.zeros((count, d))
    for k in range(d):
        inside[:, k] = _halton(skip, count, PRIMES[k])
    found: Array = np.array(box.middle) + np.array(box.half) * np.vstack([corners, 2 * inside - 1])
    return found


def _halton(start: int, count: int, base: int) -> Array:
    """Radical inverses of whole numbers in a base."""
    number, found, share = np.arange(start, start + count), np.zeros(count), 1.0 / base
    while np.any(number > 0):
        found += share * (number % base)
        number, share = number // base, share / base
    return found


class Fitter:
    """Fits over one box: the basis at its samples, of which some are kept out of the fit for the test."""

    def __init__(self, box: Box) -> None:
        d = len(box.entries)
        self.box = box
        self.highest = HIGHEST[d] if d < len(HIGHEST) else 3
        self.terms = exponents(d, self.highest)
        self.count = max(200, 2 * len(self.terms))
        whole = samples(box, self.count + max(200, self.count // 2))
        self.kept = 2**d + self.count
        """The first samples are fitted, the others test the fit."""
        self.points = whole
        basis = Basis(box, list(whole.T))
        ones = np.ones(len(whole))
        self.values = np.column_stack([basis.value(e) * ones for e in self.terms])
        self.slopes = [np.column_stack([basis.slope(e, k) * ones for e in self.terms]) for k in range(d)]
        self._grams: dict[bool, Array] = {}

    def _rows(self, with_slopes: bool, part: slice) -> Array:
        return np.vstack([self.values[part], *(s[part] for s in self.slopes if with_slopes)])

    def _gram(self, with_slopes: bool) -> Array:
        if with_slopes not in self._grams:
            A = self._rows(with_slopes, slice(self.kept))
            self._grams[with_slopes] = A.T @ A
        return self._grams[with_slopes]

    def fit(self, target: Sampled, tolerances: Array) -> Fit:
        """Nearly the polynomial of fewest terms whose slopes are right to the tolerances (coordinates) [m, 1].

        Where none is, of those that are nearly as right as the best one.
        """
        A = self._rows(target.slopes is not None, slice(self.kept))
        b = _stacked(target, slice(self.kept))
        G, right = self._gram(target.slopes is not None), A.T @ b
        best: tuple[Array, Array, Fit] | None = None
        for degree in range(self.highest + 1):
            some = np.array([k for k, e in enumerate(self.terms) if sum(e) <= degree])
            c = _solved(G, right, some)
            found = self._judged(target, some, c, degree)
            if found.within(tolerances):
                return self._shortened(target, (G, right), some, c, found, tolerances)
            if best is None or np.max(found.slope_rms / tolerances) < 0.9 * np.max(best[2].slope_rms / tolerances):
                best = some, c, found
        assert best is not None
        nearly = np.maximum(tolerances, NEARLY * best[2].slope_rms)
        return self._shortened(target, (G, right), *best, nearly) if best[2].within(nearly) else best[2]

    def _judged(self, target: Sampled, some: Array, c: Array, degree: int) -> Fit:
        """The errors of a fit at the samples that test it."""
        test = slice(self.kept, None)
        off = self.values[test][:, some] @ c - target.values[test]
        if target.slopes is None:
            slopes = off[:, None]
        else:
            slopes = -target.slopes[test]
            for k, by in enumerate(self.slopes):
                slopes[:, k] += by[test][:, some] @ c
        polynomial = Polynomial(tuple(self.terms[k] for k in some), tuple(map(float, c)))
        rms = np.sqrt(np.mean(slopes**2, axis=0))
        return Fit(polynomial, degree, float(np.sqrt(np.mean(off**2))), rms, np.max(np.abs(slopes), axis=0))

    def _shortened(
        self, target: Sampled, system: tuple[Array, Array], some: Array, c: Array, found: Fit, tolerances: Array
    ) -> Fit:
        """Without the terms that matter least: half of those that may be too many, again and again."""
        G, right = system
        weight = np.sqrt(np.diag(G))
        least, most = 1, len(some)
        while most - least > max(1, most // 20):
            count = (least + most) // 2
            order = np.argsort(-np.abs(c) * weight[some], kind="stable")
            part = np.sort(some[order[:count]])
            of_part = _solved(G, right, part)
            trial = self._judged(target, part, of_part, found.degree)
            if trial.within(tolerances):
                some, c, found, most = part, of_part, trial, count
            else:
                least = count
        return found


def _stacked(target: Sampled, part: slice) -> Array:
    slopes = [] if target.slopes is None else list(target.slopes[part].T)
    return np.concatenate([target.values[part], *slopes])


def _solved(G: Array, right: Array, some: Array) -> Array:
    """Least squares by the normal equations, of which columns of equal size have been made."""
    scale = 1.0 / np.sqrt(np.diag(G)[some])
    H = G[np.ix_(some, some)] * np.outer(scale, scale)
    H[np.diag_indices(len(some))] += 1e-13
    found: Array = scale * np.linalg.solve(H, scale * right[some])
    return found
