"""Functions given by points: splines and lines, polynomials from point to point.

The coefficients of the piece are picked by weights that are 0 or 1, so that derivatives are exact and no sum cancels.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from .._base.types import Array, Expr, Vector, finite_vector, repr_in_message
from .functions import (
    ConstantFunction,
    LinearFunction,
    Orders,
    PolynomialFunction,
    ScalarFunction,
    ScaledFunction,
    SineFunction,
    single,
)

TINY = 1e-7
"""Least distance of two points of a spline; OpenSim takes points that lie closer as this far apart."""
MOST_POINTS = 10_000
"""Points of a spline beyond which it is refused."""
MOST_NATURAL = 400
"""Points of a natural spline, whose coefficients come from a full matrix."""


@dataclass(frozen=True)
class _Pieces(ScalarFunction):
    """Polynomials between points (x, y), and others of a lower degree beyond the first and the last."""

    x: Vector
    y: Vector

    def __post_init__(self) -> None:
        kind = type(self).__name__
        x, y = (finite_vector(values, np.size(values), f"{kind} {what}")
                for values, what in ((self.x, "x"), (self.y, "y")))  # fmt: skip
        if x.size != y.size or not 2 <= x.size <= MOST_POINTS:
            raise ValueError(f"{kind} needs as many x as y, 2 to {MOST_POINTS} of them, got {x.size} and {y.size}")
        if np.any(np.diff(x) < 0):
            k = int(np.argmax(np.diff(x) < 0))
            raise ValueError(f"{kind}: x must not fall, got {x[k]:g} before {x[k + 1]:g}; sort its points")
        object.__setattr__(self, "x", tuple(map(float, x)))
        object.__setattr__(self, "y", tuple(map(float, y)))

    @abstractmethod
    def _coefficients(self) -> tuple[Array, ...]:
        """b, c, d, ... (n each) of y + b t + c t^2 + d t^3 + ..., t = x - x_k; the last ones hold beyond the points."""

    @property
    def _degree_beyond(self) -> int:
        """Degree of the polynomials beyond the points."""
        return 1

    def orders(self, *x: Expr) -> Orders:
        (at,) = x
        if isinstance(at, (int, float)):
            k = int(np.searchsorted(np.array(self.x), at, side="left"))
            x0, *c = _rows(self)[k].tolist()
        else:
            x0, *c = self._picked(at)
        t = at - x0
        slopes = [k * one for k, one in enumerate(c)][1:]
        return single(_horner(c, t), _horner(slopes, t), _horner([k * one for k, one in enumerate(slopes)][1:], t))

    def _picked(self, at: Expr) -> tuple[Expr, ...]:
        """The row of the piece at an expression: a sum in which one weight is 1, all others are 0."""
        beyond = [1.0, *(at > one for one in self.x), 0.0]
        weights = [beyond[k] - beyond[k + 1] for k in range(len(self.x) + 1)]
        columns = []
        for values in _rows(self).T.tolist():
            total: Any = 0.0
            for weight, value in zip(weights, values, strict=True):
                if value:
                    total = total + weight * value
            columns.append(total)
        return tuple(columns)

    def times(self, factor: float) -> ScalarFunction:
        return replace(self, y=tuple(factor * one for one in self.y))

    def with_scaled_coordinates(self, factors: Sequence[float]) -> ScalarFunction:
        (factor,) = factors
        if factor > 0:
            return replace(self, x=tuple(factor * one for one in self.x))
        return replace(self, x=tuple(factor * one for one in self.x[::-1]), y=tuple(self.y[::-1]))


@lru_cache(maxsize=4096)
def _rows(pieces: _Pieces) -> Array:
    """x_k, y_k, b, c, ... of the polynomial before the points, of the pieces, and of that beyond (n + 1 rows)."""
    rows = np.column_stack([np.array(pieces.x), np.array(pieces.y), *pieces._coefficients()])
    first, last = rows[0].copy(), rows[-1].copy()
    first[2 + pieces._degree_beyond :] = last[2 + pieces._degree_beyond :] = 0.0
    return np.vstack([first, rows[:-1], last])


def _horner(coefficients: Sequence[Any], t: Any) -> Any:
    """c_0 + c_1 t + c_2 t^2 + ...; coefficients that are the number zero at the end are left out."""
    c = list(coefficients) or [0.0]
    while len(c) > 1 and isinstance(c[-1], float) and not c[-1]:
        c.pop()
    total = c[-1]
    for one in c[-2::-1]:
        total = one + t * total
    return total


@dataclass(frozen=True)
class SimmSpline(_Pieces):
    """The interpolating cubic spline of SIMM and OpenSim through the points (x, y), with their end conditions.

    At each end the third derivative is that of the cubic through the four points there [Forsythe, Malcolm, Moler 1977,
    `spline`]; through three points the third derivative vanishes in effect, and two points give a line. Beyond the
    points it goes on as a line with the end slope. It is not the natural spline.

    >>> od.SimmSpline((0.0, 1.0, 2.0, 3.0), (0.0, 1.0, 8.0, 27.0)).at(1.5)  # four points of x^3 give x^3
    3.375
    """

    def _coefficients(self) -> tuple[Array, ...]:
        """The tridiagonal system of the third differences, solved without pivoting as in the source."""
        x, y, n = np.array(self.x), np.array(self.y), len(self.x)
        h = np.maximum(np.diff(x), TINY)
        rise = np.diff(y) / h
        if n == 2:
            return np.array([rise[0], rise[0]]), np.zeros(2), np.zeros(2)
        diagonal, c = np.empty(n), np.zeros(n)
        diagonal[1:-1], c[1:-1] = 2 * (h[:-1] + h[1:]), np.diff(rise)
        diagonal[0], diagonal[-1] = -h[0], -h[-1]
        if n > 3:
            apart = [max(float(x[a] - x[b]), TINY) for a, b in ((3, 1), (2, 0), (3, 0))]
            c[0] = (c[2] / apart[0] - c[1] / apart[1]) * h[0] ** 2 / apart[2]
            apart = [max(float(x[a] - x[b]), TINY) for a, b in ((-1, -3), (-2, -4), (-1, -4))]
            c[-1] = -(c[-2] / apart[0] - c[-3] / apart[1]) * h[-1] ** 2 / apart[2]
        for i in range(1, n):
            t = h[i - 1] / diagonal[i - 1]
            diagonal[i] -= t * h[i - 1]
            c[i] -= t * c[i - 1]
        c[-1] /= diagonal[-1]
        for i in range(n - 2, -1, -1):
            c[i] = (c[i] - h[i] * c[i + 1]) / diagonal[i]
        b = np.append(rise - h * (c[1:] + 2 * c[:-1]), rise[-1] + h[-1] * (c[-2] + 2 * c[-1]))
        d = np.diff(c) / h
        return b, 3 * c, np.append(d, d[-1])


@dataclass(frozen=True)
class PiecewiseLinearFunction(_Pieces):
    """Lines through the points (x, y), which go on beyond the first and the last.

    >>> od.PiecewiseLinearFunction((0.0, 1.0, 2.0), (0.0, 2.0, 3.0)).at(3.0)
    4.0
    """

    def _coefficients(self) -> tuple[Array, ...]:
        slopes = np.diff(self.y) / np.maximum(np.diff(self.x), TINY)
        return np.append(slopes, slopes[-1]), np.zeros(len(self.x)), np.zeros(len(self.x))


@dataclass(frozen=True)
class NaturalSpline(_Pieces):
    """The natural spline of degree 2m - 1 through the points (x, y): of all interpolants that with the least integral
    of the square of the m-th derivative.

    degree: 1 (lines), 3 (cubic), 5 (quintic) or 7. Its derivatives up to the (2m - 2)-th are continuous; beyond the
    points it goes on as a polynomial of degree m - 1: a constant, a line, a parabola, a cubic. It is GCVSpline of
    OpenSim without smoothing. For a natural cubic the second derivative vanishes at the ends. x must rise.

    >>> od.NaturalSpline((0.0, 1.0, 2.0), (0.0, 1.0, 0.0), degree=3).at(0.5)
    0.6875
    """

    degree: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.degree not in (1, 3, 5, 7):
            raise ValueError(f"NaturalSpline degree must be one of 1, 3, 5, 7, got {repr_in_message(self.degree)}")
        need = self._degree_beyond + 1
        if not max(2, need) <= len(self.x) <= MOST_NATURAL:
            raise ValueError(
                f"NaturalSpline of degree {self.degree} needs {max(2, need)} to {MOST_NATURAL} points, got "
                f"{len(self.x)}"
            )
        if np.any(np.diff(self.x) < TINY):
            k = int(np.argmax(np.diff(self.x) < TINY))
            raise ValueError(
                f"NaturalSpline: x must rise by more than {TINY:g}, got {self.x[k]:g} before {self.x[k + 1]:g}"
            )

    @property
    def _degree_beyond(self) -> int:
        return (self.degree - 1) // 2

    def _coefficients(self) -> tuple[Array, ...]:
        """From the derivatives 1 to m - 1 at all points, for which those of order m to 2m - 2 are continuous, and
        vanish at both ends."""
        x, y, m = np.array(self.x), np.array(self.y), self._degree_beyond + 1
        n, h, u = len(x), np.diff(x), m - 1
        basis = _hermite(m)
        powers = np.arange(2 * m)
        rows, right = np.zeros((n * u, n * u)), np.zeros(n * u)
        for k in range(n):
            for j, order in enumerate(range(m, 2 * m - 1)):
                row = k * u + j
                for piece, end, sign in ((k - 1, 1.0, 1.0), (k, 0.0, -1.0)):
                    if not 0 <= piece < n - 1:
                        continue
                    falling = np.array([math.perm(p, order) * end ** max(p - order, 0) for p in range(2 * m)])
                    # relative to the powers of both widths, so that short pieces do not drown long ones
                    weights = sign * falling @ basis / h[piece] ** order
                    for at in (piece, piece + 1):
                        of_point = weights[(at - piece) * m : (at - piece + 1) * m] * h[piece] ** np.arange(m)
                        right[row] -= of_point[0] * y[at]
                        rows[row, at * u : (at + 1) * u] += of_point[1:]
        slopes = np.linalg.solve(rows, right).reshape(n, u)
        ends = np.column_stack([y, slopes])
        scale = h[:, None] ** np.arange(m)
        c = np.hstack([ends[:-1] * scale, ends[1:] * scale]) @ basis.T / h[:, None] ** powers
        beyond = np.zeros(2 * m)
        beyond[:m] = ends[-1] / [math.factorial(j) for j in range(m)]
        return tuple(np.vstack([c, beyond]).T[1:])


@lru_cache
def _hermite(m: int) -> Array:
    """The coefficients of a polynomial on [0, 1] by its derivatives 0 to m - 1 at 0, then at 1 (2m x 2m)."""
    values = np.zeros((2 * m, 2 * m))
    for j in range(m):
        values[j, j] = math.factorial(j)
        values[m + j, j:] = [math.perm(p, j) for p in range(j, 2 * m)]
    return np.asarray(np.linalg.inv(values))


FUNCTIONS: dict[str, type[ScalarFunction]] = {
    kind.__name__: kind
    for kind in (
        ConstantFunction,
        LinearFunction,
        PolynomialFunction,
        SineFunction,
        SimmSpline,
        PiecewiseLinearFunction,
        NaturalSpline,
        ScaledFunction,
    )
}
"""The functions that files may name."""
"""Every class of functions by its name."""
