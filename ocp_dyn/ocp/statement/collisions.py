"""Bodies that must not touch: spheres and capsules fixed to frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..._base.checks import all_known, finite, label, not_negative, point, truth
from ..._base.types import Expr, Vector, repr_in_message, sequence
from ...dynamics.kinematics import point_position
from ...mechanism import Model
from .instant import Instant
from .objectives import own_name
from .path_constraints import Bounded, PathConstraint


@dataclass(frozen=True)
class Capsule:
    """All points within `radius` [m] of the segment from `start` to `end` [m], in the coordinates of `frame`.

    A sphere about `start` if end is None.

    >>> arm_shape = ocp.Capsule("tip", 0.05, start=(0, 0, 0), end=(0, 0, 1))  # the whole rod
    >>> ocp.NoCollision([(arm_shape, ocp.Obstacle((0.5, 0, 0.5), 0.1))]).rows(instant)[0]  # (0.5^2 - 0.15^2) / 0.3
    SX(0.758333)
    """

    frame: str
    radius: float
    start: Vector = (0.0, 0.0, 0.0)
    end: Vector | None = None

    def __post_init__(self) -> None:
        label(self.frame, "Capsule frame")
        _check_shape(self, f"Capsule on {self.frame!r}")


@dataclass(frozen=True)
class Obstacle:
    """A capsule that is fixed in the world, start and end in world coordinates [m]; a sphere if end is None.

    >>> pole = ocp.Obstacle((0.5, 0, 0), 0.1, end=(0.5, 0, 2))
    >>> ocp.NoCollision([(pole, ocp.Capsule("tip", 0.05))]).rows(instant)[0]  # (0.5^2 - 0.15^2) / 0.3
    SX(0.758333)
    """

    start: Vector
    radius: float
    end: Vector | None = None

    def __post_init__(self) -> None:
        _check_shape(self, "Obstacle")


Shape = Capsule | Obstacle


def _check_shape(shape: Shape, what: str) -> None:
    not_negative(shape.radius, f"{what}: radius [m]")
    start = point(shape.start, f"{what}: start [m]")
    if shape.end is not None and np.array_equal(point(shape.end, f"{what}: end [m]"), start):
        raise ValueError(
            f"{what}: start and end are one point, {repr_in_message(shape.end)}: leave out end, for a sphere"
        )


@dataclass(frozen=True)
class NoCollision(PathConstraint):
    """The surfaces of every pair of shapes keep the distance `margin` [m], at the nodes.

    ends: also at the first and the last node of the phase. Rows are d^2 - (r_1 + r_2 + margin)^2, divided by
    2 (r_1 + r_2 + margin), with the distance d of the segments: smooth even if segments cross, and in meters near
    contact.

    >>> ball, tip = ocp.Obstacle((0, 0, 2), radius=0.1), ocp.Capsule("tip", radius=0.05)
    >>> ocp.NoCollision([(ball, tip)]).rows(instant)[0]  # (1^2 - 0.15^2) / (2 * 0.15)
    SX(3.25833)
    """

    pairs: Sequence[tuple[Shape, Shape]]
    margin: float = 0.0
    ends: bool = True
    name: str = own_name()
    where = "node"

    def __post_init__(self) -> None:
        finite(self.margin, "NoCollision margin [m]")
        truth(self.ends, "NoCollision ends")
        remedy = "NoCollision pairs must be a sequence of pairs of Capsule and Obstacle"
        given = sequence(self.pairs, remedy)
        pairs = tuple(tuple(pair) if isinstance(pair, (tuple, list)) else (pair,) for pair in given)
        for pair in pairs:
            if len(pair) != 2 or not all(isinstance(shape, (Capsule, Obstacle)) for shape in pair):
                raise TypeError(f"{remedy}, got {repr_in_message(pair)} among them")
        object.__setattr__(self, "pairs", pairs)

    def check(self, model: Model, feet: Sequence[str]) -> None:
        frames = [shape.frame for pair in self.pairs for shape in pair if isinstance(shape, Capsule)]
        all_known(frames, model.frame_names, "NoCollision: Capsule", "frame")

    def rows(self, instant: Instant) -> Bounded:
        rows = []
        for one, other in self.pairs:
            apart = one.radius + other.radius + self.margin
            if apart <= 0:
                raise ValueError(f"NoCollision: {one} and {other} have no size: give them a radius, or give a margin")
            distance = distance_squared(_ends(instant, one), _ends(instant, other))
            rows.append((distance - apart**2) / (2 * apart))
        return ca.vertcat(ca.SX(0, 1), *rows), 0.0, np.inf


Segment = tuple[Expr, Expr | None]


def distance_squared(one: Segment, other: Segment) -> Expr:
    """Squared distance of two segments (start, end), or points (start, None) [m^2].

    Closest points start + s d with s clamped to [0, 1], first on one segment, then on the other, then on the first
    again [C. Ericson, Real-Time Collision Detection, 2005, 5.1.9]. The result is exact; its derivatives are continuous
    except where a clamp becomes active.
    """
    if one[1] is None and other[1] is None:
        return ca.sumsqr(one[0] - other[0])
    if one[1] is None:
        return ca.sumsqr(one[0] - _nearest(one[0], other[0], other[1]))
    if other[1] is None:
        return distance_squared(other, one)
    p, d1, d2 = one[0] - other[0], one[1] - one[0], other[1] - other[0]
    a, b, e = ca.sumsqr(d1), ca.dot(d1, d2), ca.sumsqr(d2)
    c, f = ca.dot(d1, p), ca.dot(d2, p)
    # parallel segments have no unique nearest points: any s is valid, the clamps below correct it
    s = _clamp((b * f - c * e) / (a * e - b * b + 1e-9 * a * e))
    t = _clamp((b * s + f) / e)
    s = _clamp((b * t - c) / a)
    return ca.sumsqr(p + s * d1 - t * d2)


def _nearest(point: Expr, start: Expr, end: Expr) -> Expr:
    """The point of a segment nearest to a point."""
    d = end - start
    return start + _clamp(ca.dot(point - start, d) / ca.sumsqr(d)) * d


def _clamp(s: Expr) -> Expr:
    return ca.fmin(1, ca.fmax(0, s))


def _ends(instant: Instant, shape: Shape) -> Segment:
    """Start and end of a shape in the world."""
    if isinstance(shape, Obstacle):
        return ca.SX(ca.DM(shape.start)), None if shape.end is None else ca.SX(ca.DM(shape.end))
    start = point_position(instant.model, shape.frame, instant.q, shape.start)
    return start, None if shape.end is None else point_position(instant.model, shape.frame, instant.q, shape.end)
