"""Functions of coordinates as data: what moves a `FunctionJoint`, couples coordinates and moves points of paths.

Every class has closed formulas for its value, slope and curvature. Those given by points are in `splines`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from .._base.checks import finite
from .._base.extensible import Extensible
from .._base.types import Expr, finite_vector, repr_in_message


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


def single(value: Expr, slope: Expr, curvature: Expr) -> Orders:
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
        return single(value, slope, curvature)

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
        return single(swing + self.offset, self.amplitude * self.omega * rise(angle), -(self.omega**2) * swing)

    def times(self, factor: float) -> SineFunction:
        return replace(self, amplitude=factor * self.amplitude, offset=factor * self.offset)

    def with_scaled_coordinates(self, factors: Sequence[float]) -> SineFunction:
        return replace(self, omega=self.omega / factors[0])


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
