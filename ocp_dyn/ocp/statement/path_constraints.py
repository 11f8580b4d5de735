"""Path constraints by name. Each is data with one method; users define others by a class, or by `Path(function)`.

`where` states the points at which a path constraint holds: "node" (the instant has q and qd), at every node of a phase;
"interval" (also qdd, tau and contact wrenches), at every interval; "wrench" (contact wrenches), at every interval and
for the impulse of an impact.

A constraint of nodes also holds at the first and the last node of a phase, unless its `ends` is False. Use ends=False
for conditions that footholds imply at these nodes, such as the height of a foot that is set down. If a constraint or an
objective has a method `check(model, feet)`, it is called when the problem is made, to check names and sizes; feet:
names of the problem's footholds.

A constraint of intervals holds at the stages of the integrator, in multiple shooting at the start of every interval.
With the attribute `at_interval_ends = True` it holds at both ends of every interval instead, where the instant has q,
qd, tau and tau_rate. A constraint or an objective with `needs_tau_rate = True` uses `instant.tau_rate`: the problem
must have torque="linear", and torques are continuous from phase to phase.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..._base.checks import (
    all_known,
    bounds,
    call_user,
    choice,
    expression,
    finite,
    framed_points,
    function,
    label,
    not_negative,
    numbers,
    positive,
    sides,
    truth,
)
from ..._base.types import Expr, Vector, repr_in_message, sequence, sparse
from ...dynamics.kinematics import point_position, pose
from ...mechanism import Model
from .footholds import Foothold
from .ground.wrench_footholds import LoadedFoothold
from .instant import Instant
from .objectives import Term, own_name

WHERE = ("node", "interval", "wrench")

Bounded = tuple[Expr, Any, Any]
"""An expression with its lower and upper bounds."""


class PathConstraint(Term):
    """Base class of path constraints: rows that hold throughout a phase.

    where: "node", "interval" or "wrench"; ends: for "node", also at the first and the last node of the phase;
    at_interval_ends: for "interval", at both ends of every interval.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Slow(ocp.PathConstraint):
    ...     limit: float
    ...     where = "node"
    ...     def rows(self, instant):
    ...         return instant.qd, -self.limit, self.limit
    >>> slow = turn(ocp.TorqueSquared(), path=[Slow(1.2)]).solve(progress=False)
    >>> round(float(slow.qd.max()), 3)
    1.2
    """

    where: str

    @property
    def ends(self) -> bool:
        return True

    @property
    def at_interval_ends(self) -> bool:
        return False

    @abstractmethod
    def rows(self, instant: Instant) -> Bounded:
        """(expression, lower, upper) at an instant."""

    def _check_members(self, here: str) -> None:
        super()._check_members(here)
        what = f"{here}: {type(self).__name__}"
        choice(self.where, WHERE, f"{here}: where of {repr_in_message(self)}")
        if self.where != "node" and not self.ends:
            raise ValueError(f"{what}: ends=False counts for nodes, and its where is {self.where!r}: leave ends out")
        if self.where == "node" and self.at_interval_ends:
            raise ValueError(f"{what}: at_interval_ends counts for intervals, and its where is 'node': leave it out")


@dataclass(frozen=True)
class Unilateral(PathConstraint):
    """Normal force >= minimum [N]: contacts push and never pull. For the impulse of an impact the minimum is 0 N s.

    >>> ocp.Unilateral(minimum=5.0).rows(instant)  # 100 N, at least 5 N
    (SX(100), 5.0, inf)
    """

    minimum: float = 0.0
    name: str = own_name()
    where = "wrench"

    def __post_init__(self) -> None:
        finite(self.minimum, "Unilateral minimum [N]")

    def rows(self, instant: Instant) -> Bounded:
        least = 0.0 if instant.impulse else self.minimum
        return _stack([w[5] for _, w in _on_planes(instant)], least, np.inf)


@dataclass(frozen=True)
class FrictionCone(PathConstraint):
    """|f_x|, |f_y| <= mu / sqrt(2) f_z (the pyramid inside the cone) and |n_z| <= mu_yaw f_z [m] on flat feet.

    x, y and z are the axes of the plane on which the foot stands. The pyramid implies that contacts push. `Unilateral`
    in addition changes no solution, but its row meets the rows of the pyramid at the apex, which makes some problems
    harder to solve. second_order=True: the cone itself, `f_x^2 + f_y^2 <= (mu f_z)^2`, divided by the weight so that
    its rows are forces; it needs `Unilateral` in addition.

    >>> ocp.FrictionCone(mu=0.6).rows(instant)[0]  # 42.4 N, the limit, -+ 30 N, -+ 0 N; moments: 3 N m
    SX(@1=42.4264, @2=3, [12.4264, 72.4264, @1, @1, @2, @2])
    """

    mu: float = 0.7
    mu_yaw: float = 0.03
    second_order: bool = False
    name: str = own_name()
    where = "wrench"

    def __post_init__(self) -> None:
        for key in ("mu", "mu_yaw"):
            numbers(getattr(self, key), f"FrictionCone needs mu > 0 and mu_yaw >= 0: {key}")
        positive(self.mu, "FrictionCone needs mu > 0 and mu_yaw >= 0: mu")
        not_negative(self.mu_yaw, "FrictionCone needs mu > 0 and mu_yaw >= 0: mu_yaw")
        truth(self.second_order, "FrictionCone second_order")

    def rows(self, instant: Instant) -> Bounded:
        rows = []
        for foothold, w in _on_planes(instant):
            limit = self.mu / math.sqrt(2) * w[5]
            if self.second_order:
                weight = instant.model.mass * float(np.linalg.norm(instant.model.gravity))
                rows.append(((self.mu * w[5]) ** 2 - w[3] ** 2 - w[4] ** 2) / weight)
            else:
                across = (w[3],) if foothold.planar else (w[3], w[4])
                rows += [limit + sign * force for force in across for sign in (-1, 1)]
            if foothold.kind in ("flat", "edge") and not foothold.planar:
                rows += [self.mu_yaw * w[5] - w[2], self.mu_yaw * w[5] + w[2]]
        return _stack(rows, 0.0, np.inf)


@dataclass(frozen=True)
class CenterOfPressure(PathConstraint):
    """The center of pressure of every flat foot, or edge, stays inside its sole, `margin` [m] from its ends.

    >>> ocp.CenterOfPressure().rows(instant)[0]  # to the sides, then to heel and toe, times 100 N
    SX(@1=4.5, [@1, @1, 7.5, 11.5])
    """

    margin: float = 0.005
    name: str = own_name()
    where = "wrench"

    def __post_init__(self) -> None:
        not_negative(self.margin, "CenterOfPressure margin [m]")

    def rows(self, instant: Instant) -> Bounded:
        rows = []
        for foothold, w in _on_planes(instant):
            if not isinstance(foothold, Foothold) or foothold.kind == "point":
                continue
            halves = (foothold.half_width,) if foothold.kind == "edge" else (foothold.half_width, foothold.half_length)
            if min(halves) <= self.margin:
                raise ValueError(
                    f"CenterOfPressure: the sole of {foothold.name!r} is no larger than the margin of {self.margin} m, "
                    f"got Foothold(half_length={foothold.half_length}, half_width={foothold.half_width}): give its size"
                )
            forward = foothold.heading(instant.places[foothold])[:2]
            about = (ca.dot(forward, w[:2]), -forward[1] * w[0] + forward[0] * w[1])
            for moment, half in list(zip(about, halves, strict=False))[1 if foothold.planar else 0 :]:
                rows += [(half - self.margin) * w[5] - moment, (half - self.margin) * w[5] + moment]
        return _stack(rows, 0.0, np.inf)


@dataclass(frozen=True)
class Clearance(PathConstraint):
    """Points of a swinging foot stay above the ground: z >= terrain(x, y) + height sin(pi s)^2 [m].

    s: fraction of the phase. points: pairs (frame, point in frame coordinates [m]). part: the part of the swing that
    the phase covers; (0, 0.5) is the first half, z >= height sin(pi s / 2)^2. terrain: an `ocp.Terrain`, or a function
    of x and y for the height of the ground and of the obstacles on it [m]; None: the plane z = 0. There are no rows at
    the first and last node of the phase, at which the foot leaves the ground and meets it.

    >>> ocp.Clearance([("tip", (0, 0, 0))], height=0.05).rows(instant)  # 1 m, less 0.05 m in the middle
    (SX(0.95), 0.0, inf)
    """

    points: Sequence[tuple[str, Vector]]
    height: float = 0.03
    terrain: Callable[[Expr, Expr], Expr] | None = None
    part: tuple[float, float] = (0.0, 1.0)
    name: str = own_name()
    where = "node"
    ends = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", framed_points(self.points, "Clearance points"))
        not_negative(self.height, "Clearance height [m]")
        part = numbers(self.part, "Clearance part")
        if part.size != 2 or not 0 <= part[0] < part[1] <= 1:
            raise ValueError(
                "Clearance part must be (begin, end) with 0 <= begin < end <= 1, fractions of the swing, got "
                f"{repr_in_message(self.part)}"
            )
        if self.terrain is not None:
            function(self.terrain, "Clearance terrain", ": write lambda x, y: 0.1, for example, for a step of 0.1 m")

    def check(self, model: Model, feet: Sequence[str]) -> None:
        all_known((frame for frame, _ in self.points), model.frame_names, "Clearance points", "frame")

    def rows(self, instant: Instant) -> Bounded:
        begin, end = self.part
        need = self.height * ca.sin(math.pi * (begin + (end - begin) * instant.s)) ** 2
        rows = []
        for point in self.points:
            p = _position(instant, *point)
            rows.append(p[2] - self._ground(p) - need)
        return _stack(rows, 0.0, np.inf)

    def _ground(self, p: Expr) -> Expr:
        if self.terrain is None:
            return 0.0
        height = expression(call_user("Clearance terrain", self.terrain, p[0], p[1]), "Clearance terrain")
        if height.shape != (1, 1):
            raise ValueError(f"Clearance terrain must return one height [m], got shape {height.shape}")
        return height


@dataclass(frozen=True)
class Separation(PathConstraint):
    """Points on the left stay at least `distance` [m] to the left of points on the right.

    pairs: ((frame, point), (frame, point)), the left one first. ends: also at the first and the last node of the phase;
    False if footholds fix the distance of the feet at these nodes. facing: a frame of the body whose y axis points to
    the left, along the ground; for bodies that turn. None: left is the world's y axis.

    >>> gap = ocp.Separation([(("tip", (0, 0.1, 0)), ("tip", (0, -0.1, 0)))], distance=0.15)
    >>> gap.rows(instant)[:2]  # 0.2 m, at least 0.15 m
    (SX(0.2), 0.15)
    """

    pairs: Sequence[tuple[tuple[str, Vector], tuple[str, Vector]]]
    distance: float
    ends: bool = True
    facing: str | None = None
    name: str = own_name()
    where = "node"

    def __post_init__(self) -> None:
        what = "Separation pairs"
        given = sequence(self.pairs, f"{what} must be a sequence of ((frame, point), (frame, point)) pairs")
        pairs = tuple(framed_points(pair, what) for pair in given)
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(
                f"{what} must hold two points each, one of the left and one of the right, got {repr_in_message(pairs)}"
            )
        object.__setattr__(self, "pairs", pairs)
        finite(self.distance, "Separation distance [m]")
        truth(self.ends, "Separation ends")
        if self.facing is not None:
            label(self.facing, "Separation facing")

    def check(self, model: Model, feet: Sequence[str]) -> None:
        frames = [frame for pair in self.pairs for frame, _ in pair]
        all_known(frames, model.frame_names, "Separation pairs", "frame")
        if self.facing is not None:
            all_known([self.facing], model.frame_names, "Separation facing", "frame")

    def rows(self, instant: Instant) -> Bounded:
        left = self._left(instant)
        gaps = [ca.dot(left, (_position(instant, *a) - _position(instant, *b))[:2]) for a, b in self.pairs]
        return _stack(gaps, self.distance, np.inf)

    def _left(self, instant: Instant) -> Expr:
        """Unit vector (2) to the left, along the ground."""
        if self.facing is None:
            return sparse((0.0, 1.0))
        y = pose(instant.model, self.facing, instant.q)[0][:2, 1]
        return y / ca.norm_2(y)


TORQUE_HINT = 'tau and qdd are known with where="interval" only'


@dataclass(frozen=True)
class Path(PathConstraint):
    """A path constraint that the user defines: lower <= function(instant) <= upper.

    A side that is left out is free; without both the function is zero. name: of its rows in reports.

    where: "node", "interval" or "wrench". At a "node" the instant has q and qd; at an "interval" also tau, qdd and
    wrenches; "wrench" also holds for the impulse of an impact, where `instant.impulse` is True and wrenches are in N s.
    ends: for "node", also at the first and the last node of the phase; False if footholds or a Boundary imply the rows
    at these nodes.

    >>> slow = turn(ocp.TorqueSquared(), path=[ocp.Path(lambda instant: instant.qd, -1.2, 1.2)]).solve(progress=False)
    >>> round(float(slow.qd.max()), 3)
    1.2
    """

    function: Callable[[Instant], Expr]
    lower: Any = None
    upper: Any = None
    where: str = "node"
    ends: bool = True
    name: str = own_name()

    def __post_init__(self) -> None:
        function(self.function, "Path")
        choice(self.where, WHERE, "Path: where")
        bounds(self.lower, self.upper, "Path")
        truth(self.ends, "Path ends")

    def rows(self, instant: Instant) -> Bounded:
        hint = "" if instant.tau is not None else f"; {TORQUE_HINT}"
        try:
            value = self.function(instant)
        except TypeError as error:
            raise ValueError(f"Path: the function fails at a {self.where!r} ({error}){hint}") from error
        if isinstance(value, tuple):
            hint = ": limits go to Path(function, lower, upper)"
        zero = self.lower is None and self.upper is None
        lower, upper = (0.0, 0.0) if zero else sides(self.lower, self.upper)
        return expression(value, f"Path: the function, at a {self.where!r},", hint), lower, upper


def _on_planes(instant: Instant) -> list[tuple[Foothold | LoadedFoothold, Expr]]:
    """Every foothold, with its wrench in the axes of its plane; compliant ones are left out, because their law implies
    what these constraints demand."""
    standing = ((f, w) for f, w in instant.wrenches.items() if isinstance(f, (Foothold, LoadedFoothold)))
    return [(foothold, foothold.plane.components(w)) for foothold, w in standing]


def _stack(rows: list[Expr], lower: float, upper: float) -> Bounded:
    return ca.vertcat(ca.SX(0, 1), *rows), lower, upper


def _position(instant: Instant, frame: str, point: Vector) -> Expr:
    return point_position(instant.model, frame, instant.q, point)
