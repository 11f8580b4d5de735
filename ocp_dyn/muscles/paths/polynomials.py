"""Products of Chebyshev polynomials of the coordinates in a box, on numbers and on expressions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

Exponents = tuple[int, ...]
"""Degrees of the factors of a product, one per coordinate."""


class Box(NamedTuple):
    """Coordinates and their ranges: entries of q, middle and half width of each [rad or m]."""

    entries: tuple[int, ...]
    middle: tuple[float, ...]
    half: tuple[float, ...]


def exponents(coordinates: int, degree: int) -> list[Exponents]:
    """All products up to a total degree, by growing degree: those of a lower degree are the first ones."""
    found = [e for e in product(range(degree + 1), repeat=coordinates) if sum(e) <= degree]
    return sorted(found, key=lambda e: (sum(e), e))


class Basis:
    """Values and slopes of products of T_e(x), x = (q - middle)/half, for numbers, arrays or expressions q.

    T_0 = 1, T_1 = x, T_(n+1) = 2 x T_n - T_(n-1), and dT_n/dx = n U_(n-1) with the same recurrence. What is found once
    is kept: paths over the same coordinates share it.
    """

    def __init__(self, box: Box, q: Sequence[Any]) -> None:
        self.box = box
        self.x = [(one - m) / h for one, m, h in zip(q, box.middle, box.half, strict=True)]
        self._T: list[list[Any]] = [[1.0, x] for x in self.x]
        self._U: list[list[Any]] = [[1.0, 2 * x] for x in self.x]
        self._products: dict[Exponents, Any] = {}

    def _of(self, rows: list[list[Any]], k: int, n: int) -> Any:
        row, x = rows[k], self.x[k]
        while len(row) <= n:
            row.append(2 * x * row[-1] - row[-2])
        return row[n]

    def value(self, e: Exponents) -> Any:
        """The product."""
        return self._product(e)

    def slope(self, e: Exponents, k: int) -> Any:
        """Its derivative by the k-th coordinate; 0.0 where it does not depend on it."""
        if not e[k]:
            return 0.0
        rest = self._product((*e[:k], 0, *e[k + 1 :]))
        return self._of(self._U, k, e[k] - 1) * (e[k] / self.box.half[k]) * rest

    def _product(self, e: Exponents) -> Any:
        """The product of the factors, built from that without its last one."""
        if e not in self._products:
            k = max((k for k, n in enumerate(e) if n), default=-1)
            found: Any = 1.0
            if k >= 0:
                before = self._product((*e[:k], *([0] * (len(e) - k))))
                factor = self._of(self._T, k, e[k])
                found = factor if isinstance(before, float) else before * factor
            self._products[e] = found
        return self._products[e]
