"""Path constraints by name. Each is data with one method; a user's own is a class or a function.

`where` says what a path constraint needs: "node" (q, v), at the nodes inside a phase; "interval" (also a, tau and
contact wrenches), at every interval; "wrench" (contact wrenches), at every interval and on the impulse of an impact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import casadi as ca
import numpy as np

from .._types import Expr, Vector
from ..kinematics import point_position
from .stage import Stage

WHERE = ("node", "interval", "wrench")

Bounded = tuple[Expr, Any, Any]
"""An expression with its lower and upper bounds."""


@runtime_checkable
class PathConstraint(Protocol):
    """Rows that hold all along a phase."""

    @property
    def where(self) -> str: ...

    def rows(self, stage: Stage) -> Bounded: ...


@dataclass(frozen=True)
class Unilateral:
    """f_z >= minimum [N]: contacts push and never pull."""

    minimum: float = 0.0
    where: ClassVar[str] = "wrench"

    def rows(self, stage: Stage) -> Bounded:
        return _stack([w[5] for w in stage.wrenches.values()], self.minimum, np.inf)


@dataclass(frozen=True)
class FrictionCone:
    """|f_x|, |f_y| <= mu / sqrt(2) f_z (the pyramid inside the cone) and |n_z| <= mu_yaw f_z [m] on flat feet.

    The pyramid implies that contacts push: `Unilateral` beside it changes no solution, but meets the pyramid's rows at its
    apex, which some problems solve worse with. second_order=True: the cone itself, `f_x^2 + f_y^2 <= (mu f_z)^2`,
    divided by the weight so that its rows are forces; it needs `Unilateral` beside it.
    """

    mu: float = 0.7
    mu_yaw: float = 0.03
    second_order: bool = False
    where: ClassVar[str] = "wrench"

    def __post_init__(self) -> None:
        if not (self.mu > 0 and self.mu_yaw >= 0):
            raise ValueError(f"FrictionCone needs mu > 0 and mu_yaw >= 0, got mu={self.mu!r}, mu_yaw={self.mu_yaw!r}")

    def rows(self, stage: Stage) -> Bounded:
        rows = []
        for foothold, w in stage.wrenches.items():
            limit = self.mu / math.sqrt(2) * w[5]
            if self.second_order:
                weight = stage.model.mass * float(np.linalg.norm(stage.model.gravity))
                rows.append(((self.mu * w[5]) ** 2 - w[3] ** 2 - w[4] ** 2) / weight)
            else:
                rows += [limit - w[3], limit + w[3], limit - w[4], limit + w[4]]
            if foothold.kind != "point":
                rows += [self.mu_yaw * w[5] - w[2], self.mu_yaw * w[5] + w[2]]
        return _stack(rows, 0.0, np.inf)


@dataclass(frozen=True)
class CentreOfPressure:
    """The centre of pressure of every flat foot, or edge, stays inside its sole, `margin` [m] from its ends."""

    margin: float = 0.005
    where: ClassVar[str] = "wrench"

    def rows(self, stage: Stage) -> Bounded:
        rows = []
        for foothold, w in stage.wrenches.items():
            if foothold.kind == "point":
                continue
            halves = (foothold.half_width,) if foothold.kind == "edge" else (foothold.half_width, foothold.half_length)
            if min(halves) <= self.margin:
                raise ValueError(
                    f"CentreOfPressure: the sole of {foothold.name!r} is no larger than the margin of {self.margin} m, "
                    f"got Foothold(half_length={foothold.half_length}, half_width={foothold.half_width}): give its size"
                )
            forward = foothold.heading(stage.places[foothold])[:2]
            about = (ca.dot(forward, w[:2]), -forward[1] * w[0] + forward[0] * w[1])
            for moment, half in zip(about, halves, strict=False):
                rows += [(half - self.margin) * w[5] - moment, (half - self.margin) * w[5] + moment]
        return _stack(rows, 0.0, np.inf)


@dataclass(frozen=True)
class Clearance:
    """Points of a swinging foot stay above the ground: z >= terrain(x, y) + height sin(pi s)^2 [m], s the phase's fraction.

    part: of the swing that the phase is, if it is not the whole: (0, 0.5), z >= height sin(pi s / 2)^2, its first half.
    terrain: height of the ground and of the obstacles on it, an expression of x and y; None: the plane z = 0.
    """

    points: Sequence[tuple[str, Vector]]
    height: float = 0.03
    terrain: Callable[[Expr, Expr], Expr] | None = None
    part: tuple[float, float] = (0.0, 1.0)
    where: ClassVar[str] = "node"

    def rows(self, stage: Stage) -> Bounded:
        begin, end = self.part
        need = self.height * ca.sin(math.pi * (begin + (end - begin) * stage.s)) ** 2
        rows = []
        for point in self.points:
            p = _position(stage, *point)
            ground = 0.0 if self.terrain is None else self.terrain(p[0], p[1])
            rows.append(p[2] - ground - need)
        return _stack(rows, 0.0, np.inf)


@dataclass(frozen=True)
class Separation:
    """Points of the left stay `distance` [m] to the left of points of the right, seen along the walk (world y)."""

    pairs: Sequence[tuple[tuple[str, Vector], tuple[str, Vector]]]
    distance: float
    where: ClassVar[str] = "node"

    def rows(self, stage: Stage) -> Bounded:
        gaps = [_position(stage, *left)[1] - _position(stage, *right)[1] for left, right in self.pairs]
        return _stack(gaps, self.distance, np.inf)


KNOWN = 'tau and a are known with where="interval" only'


@dataclass(frozen=True)
class Path:
    """A user's own path constraint: lower <= function(stage) <= upper, at every "node" or "interval", or "wrench".

    At a "node" the stage has q and v; tau and a belong to an "interval", wrenches to "interval" and "wrench", which
    holds for impulses too. ends: for "node", at the first and the last node of the phase too.
    """

    function: Callable[[Stage], Expr]
    lower: Any = 0.0
    upper: Any = 0.0
    where: str = "node"
    ends: bool = False

    def __post_init__(self) -> None:
        if self.where not in WHERE:
            raise ValueError(f"Path: where must be one of {', '.join(WHERE)}, got {self.where!r}")

    def rows(self, stage: Stage) -> Bounded:
        try:
            value = self.function(stage)
        except TypeError as error:
            if stage.tau is not None:
                raise
            raise ValueError(f"Path: the function fails at a {self.where!r} stage ({error}): {KNOWN}") from error
        if value is None:
            raise ValueError(
                f"Path: the function returned None at a {self.where!r} stage: return an expression; {KNOWN}"
            )
        return value, self.lower, self.upper


def _stack(rows: list[Expr], lower: float, upper: float) -> Bounded:
    return ca.vertcat(ca.SX(0, 1), *rows), lower, upper


def _position(stage: Stage, frame: str, point: Vector) -> Expr:
    return point_position(stage.model, frame, stage.q, point)
