"""Monotone curves of quintic Bezier pieces, whose second derivatives are continuous.

A piece, called a corner here, leads from (x0, y0) to (x1, y1) with the slopes given there, and bends at the point C
where the two tangents meet: its control points are P0, Pa, Pa, Pb, Pb, P1, with Pa = P0 + c (C - P0), Pb = P1 + c (C -
P1), c = 0.1 + 0.8 curviness. Doubled points make the curvature vanish at both ends. Beyond the first and the last
corner the curve is a line. Source: Millard, Uchida, Seth & Delp, J. Biomech. Eng. 135, 2013.

The value needs the parameter u at which x(u) = x. It is found by the same operations for numbers and expressions: from
the inverse of the polygon through 9 points of x(u), by 4 steps of Newton's method. Each step squares the relative error
of u and of all its derivatives, so that first and second derivatives by automatic differentiation hold to rounding too
(`tests/muscles/test_curves.py` compares them with bisection). Which corner holds x is a matter of comparisons, whose
weights are 0 or 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.types import Array, Expr

POLYGON = 8
"""Sides of the polygon that gives the start of Newton's method."""
STEPS = 4
"""Steps of Newton's method."""


class Knot(NamedTuple):
    """A point of a curve, with its slope, one number each."""

    x: float
    y: float
    slope: float


@dataclass(frozen=True, eq=False)
class BezierCurves:
    """A curve for each of n muscles. x, y (n x corners x 4): x0, xa, xb, x1 of every corner; slopes (n x 2): of the
    lines before and beyond."""

    x: Array
    y: Array
    slopes: Array

    @staticmethod
    def through(curves: Sequence[Sequence[Knot]], curviness: Sequence[Sequence[float]]) -> BezierCurves:
        """The curves through knots, as many for every muscle; curviness: of every corner, between 0 and 1."""
        corners = [
            [_corner(a, b, c) for a, b, c in zip(knots[:-1], knots[1:], bends, strict=True)]
            for knots, bends in zip(curves, curviness, strict=True)
        ]
        points = np.array(corners)
        slopes = np.array([[knots[0].slope, knots[-1].slope] for knots in curves])
        return BezierCurves(points[:, :, 0], points[:, :, 1], slopes)

    def value(self, x: Expr) -> Expr:
        """y at x (n)."""
        first, last = DM(self.x[:, 0, 0]), DM(self.x[:, -1, 3])
        inside = ca.fmin(ca.fmax(x, first), last)
        X, Y = _columns(self.x), _columns(self.y)
        picked, u = _solve(X, Y, inside)
        before = DM(self.y[:, 0, 0]) + DM(self.slopes[:, 0]) * (x - first)
        beyond = DM(self.y[:, -1, 3]) + DM(self.slopes[:, 1]) * (x - last)
        return ca.if_else(x < first, before, ca.if_else(x > last, beyond, _bezier(picked, u)))

    def damped_inverse(self, value: Expr, factor: Expr, damping: Expr) -> Expr:
        """The x (n) at which factor y(x) + damping x = value, a curve of the same kind; it must grow along x."""
        mixed = [
            tuple(factor * y + damping * x for x, y in zip(X, Y, strict=True))
            for X, Y in zip(_columns(self.x), _columns(self.y), strict=True)
        ]
        first, last = mixed[0][0], mixed[-1][3]
        inside = ca.fmin(ca.fmax(value, first), last)
        picked, u = _solve(mixed, _columns(self.x), inside)
        slopes = [factor * DM(self.slopes[:, k]) + damping for k in (0, 1)]
        before = DM(self.x[:, 0, 0]) + (value - first) / slopes[0]
        beyond = DM(self.x[:, -1, 3]) + (value - last) / slopes[1]
        return ca.if_else(value < first, before, ca.if_else(value > last, beyond, _bezier(picked, u)))


def _corner(a: Knot, b: Knot, curviness: float) -> list[list[float]]:
    """x0, xa, xb, x1 and y0, ya, yb, y1 of the corner between two knots."""
    if abs(a.slope - b.slope) < 1e-12 * (1 + abs(a.slope)):
        x = (a.x + b.x) / 2
    else:
        x = (b.y - a.y - b.x * b.slope + a.x * a.slope) / (a.slope - b.slope)
    y = a.y + a.slope * (x - a.x)
    c = 0.1 + 0.8 * curviness
    return [
        [a.x, a.x + c * (x - a.x), b.x + c * (x - b.x), b.x],
        [a.y, a.y + c * (y - a.y), b.y + c * (y - b.y), b.y],
    ]


def _columns(points: Array) -> list[tuple[Expr, ...]]:
    """The four points of every corner, as columns over the muscles."""
    return [tuple(DM(points[:, k, j]) for j in range(4)) for k in range(points.shape[1])]


def _solve(at: list[tuple[Expr, ...]], other: list[tuple[Expr, ...]], target: Expr) -> tuple[list[Expr], Expr]:
    """The points of `other` of the corner that holds the target, and u there."""
    reached = [1.0, *(target >= corner[0] for corner in at[1:]), 0.0]
    weights = [here - beyond for here, beyond in pairwise(reached)]

    def of_corner(corners: list[tuple[Expr, ...]]) -> list[Expr]:
        return [sum(w * corner[j] for w, corner in zip(weights, corners, strict=True)) for j in range(4)]

    x0, xa, xb, x1 = of_corner(at)
    width = x1 - x0
    low, high, s = (xa - x0) / width, (xb - x0) / width, (target - x0) / width
    return of_corner(other), _parameter(low, high, s)


def _parameter(low: Expr, high: Expr, s: Expr) -> Expr:
    """u in [0, 1] at which the unit curve with inner points low and high has the value s."""
    places = [_unit(low, high, k / POLYGON) for k in range(POLYGON + 1)]
    u: Expr = 0.0
    for left, right in pairwise(places):
        u = u + ca.fmin(ca.fmax((s - left) / (right - left), 0), 1) / POLYGON
    for _ in range(STEPS):
        w, uu = 1 - u, u * u
        slope = 5 * (low * w**4 + 6 * (high - low) * uu * w**2 + (1 - high) * uu**2)
        u = u - (_unit(low, high, u) - s) / slope
    return u


def _unit(low: Expr, high: Expr, u: Expr) -> Expr:
    """The unit curve: low (B1 + B2) + high (B3 + B4) + B5, with Bernstein's polynomials of degree 5."""
    w = 1 - u
    return u * (5 * w * (low * w**2 * (1 + u) + high * u**2 * (1 + w)) + u**4)


def _bezier(points: Sequence[Expr], u: Expr) -> Expr:
    first, a, b, last = points
    w = 1 - u
    inner = 5 * u * w * (a * w**2 * (1 + u) + b * u**2 * (1 + w))
    return first * w**5 + inner + last * u**5
