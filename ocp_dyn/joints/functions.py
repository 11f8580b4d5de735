"""Functions of coordinates as data: what moves a `FunctionJoint`, couples coordinates and moves points of paths.

Every class has closed formulas for its value, slope and curvature. A `SimmSpline` and a piecewise linear function are
cubic polynomials between their points and lines beyond them; the coefficients of the piece are picked by weights that
are 0 or 1, so that their derivatives are exact and no sum cancels.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from .._base.checks import finite
from .._base.extensible import Extensible
from .._base.types import Array, Expr, Vector, finite_vector, repr_in_message

TINY = 1e-7
"""Least distance of two points of a spline; OpenSim takes points that lie closer as this far apart."""
MOST_POINTS = 10_000
"""Points of a spline and coefficients of a polynomial beyond which they are refused."""


class Orders(NamedTuple):
    """Value, gradient (n) and curvatures (n x n, rows) of a function of n coordinates; 0 where it vanishes for all."""

    value: Expr
    slopes: tuple[Expr, ...]
    curvatures: tuple[tuple[Expr, ...], ...]


class ScalarFunction(Extensible):
    """A function of one coordinate, or of several, as data: frozen, equal by its numbers, written to files.

    >>> od.SineFunction(amplitude=2.0, omega=1.0).at(np.pi / 2)
    2.0
    """

    @property
    def arity(self) -> int | None:
        """Number of its coordinates; None if it takes any number of them."""
        return 1

    @abstractmethod
    def orders(self, *x: Expr) -> Orders:
        """Value, slopes and curvatures at the coordinates x."""

    def at(self, *x: Any) -> Any:
        """The value at the coordinates x, numbers or expressions."""
        return self.orders(*x).value

    def times(self, factor: float) -> ScalarFunction:
        """The function with its values times a factor."""
        return self if factor == 1 else ScaledFunction(self, factor)

    def with_scaled_coordinates(self, factors: Sequence[float]) -> ScalarFunction:
        """The function with the same values where its coordinates are multiples, by these factors, of what they
        were; ValueError if its class cannot say so."""
        if all(factor == 1 for factor in factors):
            return self
        raise ValueError(f"{type(self).__name__} has no form for other units of its coordinate")


def _numbers(values: Any, what: str, most: int) -> tuple[float, ...]:
    """One to `most` finite numbers."""
    size = max(1, int(np.size(values)))
    if size > most:
        raise ValueError(f"{what} must be 1 to {most} numbers, got {size}")
    return tuple(map(float, finite_vector(values, size, what)))


def _single(value: Expr, slope: Expr, curvature: Expr) -> Orders:
    return Orders(value, (slope,), ((curvature,),))


@dataclass(frozen=True)
class ConstantFunction(ScalarFunction):
    """f = value, of any number of coordinates.

    >>> od.ConstantFunction(0.3).at(1.0)
    0.3
    """

    value: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", finite(self.value, "ConstantFunction value"))

    @property
    def arity(self) -> int | None:
        return None

    def orders(self, *x: Expr) -> Orders:
        zeros = (0.0,) * len(x)
        return Orders(self.value, zeros, (zeros,) * len(x))

    def times(self, factor: float) -> ConstantFunction:
        return ConstantFunction(factor * self.value)

    def with_scaled_coordinates(self, factors: Sequence[float]) -> ConstantFunction:
        return self


@dataclass(frozen=True)
class LinearFunction(ScalarFunction):
    """f = slopes[0] x_0 + slopes[1] x_1 + ... + intercept.

    >>> od.LinearFunction(2.0, 1.0).at(3.0)
    7.0
    """

    slopes: float | Sequence[float] = (1.0,)
    intercept: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "slopes", _numbers(self.slopes, "LinearFunction slopes", 6))
        object.__setattr__(self, "intercept", finite(self.intercept, "LinearFunction intercept"))

    @property
    def arity(self) -> int | None:
        return len(self._slopes)

    @property
    def _slopes(self) -> tuple[float, ...]:
        return self.slopes  # type: ignore[return-value]

    def orders(self, *x: Expr) -> Orders:
        terms = [one if slope == 1 else slope * one for slope, one in zip(self._slopes, x, strict=True)]
        value: Any = terms[0]
        for term in terms[1:]:
            value = value + term
        value = value + self.intercept if self.intercept else value
        return Orders(value, self._slopes, ((0.0,) * len(x),) * len(x))

    def times(self, factor: float) -> LinearFunction:
        return LinearFunction(tuple(factor * x for x in self._slopes), factor * self.intercept)

    def with_scaled_coordinates(self, factors: Sequence[float]) -> LinearFunction:
        return replace(self, slopes=tuple(x / f for x, f in zip(self._slopes, factors, strict=True)))


@dataclass(frozen=True)
class PolynomialFunction(ScalarFunction):
    """f = coefficients[0] x^n + coefficients[1] x^(n-1) + ... + coefficients[n].

    >>> od.PolynomialFunction((1.0, 0.0, -4.0)).at(3.0)  # x^2 - 4
    5.0
    """

    coefficients: Sequence[float]

    def __post_init__(self) -> None:
        numbers = _numbers(self.coefficients, "PolynomialFunction coefficients", 100)
        object.__setattr__(self, "coefficients", numbers)

    def orders(self, *x: Expr) -> Orders:
        (one,) = x
        value: Any = 0.0
        slope: Any = 0.0
        curvature: Any = 0.0
        for coefficient in self.coefficients:  # Horner's scheme and its derivatives
            curvature = curvature * one + 2 * slope
            slope = slope * one + value
            value = value * one + coefficient
        return _single(value, slope, curvature)

    def times(self, factor: float) -> PolynomialFunction:
        return PolynomialFunction(tuple(factor * x for x in self.coefficients))

    def with_scaled_coordinates(self, factors: Sequence[float]) -> PolynomialFunction:
        n = len(self.coefficients) - 1
        return PolynomialFunction(tuple(x / factors[0] ** (n - k) for k, x in enumerate(self.coefficients)))


@dataclass(frozen=True)
class SineFunction(ScalarFunction):
    """f = amplitude sin(omega x + phase) + offset.

    >>> od.SineFunction(amplitude=1.0, omega=2.0, phase=np.pi / 2).at(0.0)
    1.0
    """

    amplitude: float = 1.0
    omega: float = 1.0
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        for name in ("amplitude", "omega", "phase", "offset"):
            object.__setattr__(self, name, finite(getattr(self, name), f"SineFunction {name}"))

    def orders(self, *x: Expr) -> Orders:
        (one,) = x
        angle = self.omega * one + self.phase
        wave, rise = (math.sin, math.cos) if isinstance(angle, float) else (ca.sin, ca.cos)
        swing = self.amplitude * wave(angle)
        return _single(swing + self.offset, self.amplitude * self.omega * rise(angle), -(self.omega**2) * swing)

    def times(self, factor: float) -> SineFunction:
        return replace(self, amplitude=factor * self.amplitude, offset=factor * self.offset)

    def with_scaled_coordinates(self, factors: Sequence[float]) -> SineFunction:
        return replace(self, omega=self.omega / factors[0])


@dataclass(frozen=True)
class _Pieces(ScalarFunction):
    """Cubic polynomials between points (x, y), lines beyond the first and the last."""

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
    def _coefficients(self) -> tuple[Array, Array, Array]:
        """b, c, d (n each) of y + b t + c t^2 + d t^3, t = x - x_k; the last ones give the end slope."""

    def orders(self, *x: Expr) -> Orders:
        (at,) = x
        if isinstance(at, (int, float)):
            k = int(np.searchsorted(np.array(self.x), at, side="left"))
            x0, y0, b, c, d = _rows(self)[k].tolist()
        else:
            x0, y0, b, c, d = self._picked(at)
        t = at - x0
        return _single(y0 + t * (b + t * (c + t * d)), b + t * (2 * c + 3 * d * t), 2 * c + 6 * d * t)

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
    """x_k, y_k, b, c, d of the line before the points, of the pieces, and of the line beyond (n + 1 rows)."""
    rows = np.column_stack([np.array(pieces.x), np.array(pieces.y), *pieces._coefficients()])
    first, last = rows[0].copy(), rows[-1].copy()
    first[3:] = last[3:] = 0.0
    return np.vstack([first, rows[:-1], last])


@dataclass(frozen=True)
class SimmSpline(_Pieces):
    """The interpolating cubic spline of SIMM and OpenSim through the points (x, y), with their end conditions.

    At each end the third derivative is that of the cubic through the four points there [Forsythe, Malcolm, Moler 1977,
    `spline`]; through three points the third derivative vanishes in effect, and two points give a line. Beyond the
    points it goes on as a line with the end slope. It is not the natural spline.

    >>> od.SimmSpline((0.0, 1.0, 2.0, 3.0), (0.0, 1.0, 8.0, 27.0)).at(1.5)  # four points of x^3 give x^3
    3.375
    """

    def _coefficients(self) -> tuple[Array, Array, Array]:
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

    def _coefficients(self) -> tuple[Array, Array, Array]:
        slopes = np.diff(self.y) / np.maximum(np.diff(self.x), TINY)
        return np.append(slopes, slopes[-1]), np.zeros(len(self.x)), np.zeros(len(self.x))


@dataclass(frozen=True)
class ScaledFunction(ScalarFunction):
    """f = scale g, for another function g.

    >>> od.ScaledFunction(od.SineFunction(), 2.0).at(np.pi / 2)
    2.0
    """

    function: ScalarFunction
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.function, ScalarFunction):
            raise TypeError(f"ScaledFunction needs a function such as SimmSpline, got {repr_in_message(self.function)}")
        depth, inner = 0, self.function
        while isinstance(inner, ScaledFunction):
            depth, inner = depth + 1, inner.function
        if depth > 20:
            raise ValueError("ScaledFunction: more than 20 scaled functions in each other; multiply their factors")
        object.__setattr__(self, "scale", finite(self.scale, "ScaledFunction scale"))

    @property
    def arity(self) -> int | None:
        return self.function.arity

    def orders(self, *x: Expr) -> Orders:
        value, slopes, curvatures = self.function.orders(*x)
        return Orders(
            self.scale * value,
            tuple(self.scale * one for one in slopes),
            tuple(tuple(self.scale * one for one in row) for row in curvatures),
        )

    def times(self, factor: float) -> ScalarFunction:
        return ScaledFunction(self.function, factor * self.scale)

    def with_scaled_coordinates(self, factors: Sequence[float]) -> ScalarFunction:
        return ScaledFunction(self.function.with_scaled_coordinates(factors), self.scale)


FUNCTIONS: dict[str, type[ScalarFunction]] = {
    kind.__name__: kind
    for kind in (
        ConstantFunction,
        LinearFunction,
        PolynomialFunction,
        SineFunction,
        SimmSpline,
        PiecewiseLinearFunction,
        ScaledFunction,
    )
}
"""The functions that files may name."""
