"""Pace of a person: speed, length, width and time of steps, and what they say about footholds, phases and the
period."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from casadi import vertcat

from .._base.checks import within
from ..ocp import Boundary, Continuous, Foothold, Instant, Path, Periodic, Phase
from .human_feet import Feet
from .person import Person, Side
from .steps import BACKWARD, FORWARD, REVERSED, middle_time, sides, step_phases


class Pace(NamedTuple):
    """Speed and size of steps, as `pace` makes them.

    Mean speed [m/s], time of one step [s]; bounds on the mean length (None: free) and on the width between the middles
    of the soles [m]; bounds on the length [m] and the time [s] of every single step, None where they are not given.

    >>> od.walking.Pace(1.0, 0.6, None, (0.1, 0.3)).periodic(1).speed
    1.0
    """

    speed: float
    time: float
    length: tuple[float, float] | None
    width: tuple[float, float]
    each: tuple[float, float] | None = None
    times: tuple[float, float] | None = None

    @property
    def guessed_length(self) -> float:
        """Length of a step of the first guess [m], whose phases last the middle of their bounds."""
        return self.speed * middle_time(self.time)

    def footsteps(self, person: Person, count: int, backward: bool = False) -> list[Feet]:
        """The footsteps of a period, the first at x = 0. If the period is not mirrored, nothing but the first foot says
        where the middle of the way lies, so that its y is fixed."""
        pace = (-1.0 if backward else 1.0) * self.guessed_length
        low, high = self.width
        found = []
        for k, side in enumerate(sides(count)):
            out = 1.0 if side == "l" else -1.0
            middle = (low + high) / 4
            half = (low / 2, high / 2) if count % 2 else (middle, middle) if k == 0 else (low - middle, high - middle)
            found.append(person.feet_at(side, self._x(k, pace, backward), tuple(sorted(out * y for y in half))))
        return found

    def _x(self, k: int, pace: float, backward: bool) -> Any:
        """Bounds on the place of the foot k [m], centered at that of the first guess."""
        if k == 0:
            return 0.0
        if self.each is not None and self.each[0] == self.each[1]:
            return k * self.each[0] * (-1.0 if backward else 1.0)
        reach = abs(pace) * (0.4 + 0.4 * k)
        return k * pace - reach, k * pace + reach

    def periodic(self, count: int, backward: bool = False) -> Periodic:
        """The period of so many steps: mirrored, if their number is odd."""
        low, high = (count * x for x in self.length or (0.05, 3.0))
        speed, step = (-self.speed, (-high, -low)) if backward else (self.speed, (low, high))
        return Periodic(speed, mirror=count % 2 == 1, transition=Continuous(), step_length=step)

    def phases(
        self, person: Person, intervals: Sequence[int], count: int, backward: bool = False, costs: Any = None
    ) -> list[Phase]:
        """The phases of a period of so many steps. intervals: in the four parts of a step forward; costs: by default
        the usual ones of the person."""
        steps = self.footsteps(person, count, backward)
        before = person.feet("l")  # the last step, one period ago: its place follows
        names = [REVERSED[name] for name in BACKWARD] if backward else FORWARD
        counts = [intervals[FORWARD.index(name)] for name in names]
        costs = person.effort() if costs is None else costs
        phases = step_phases(person, steps, before, counts, self.time, costs, backward=backward)
        both = [k for k, p in enumerate(phases) if p.name.startswith(("push_off", "landing"))]
        for k, (p, side) in enumerate(zip(both, sides(count), strict=True)):
            phases[p] = self._measured(person, phases[p], backward, side, k, count)
        return phases

    def _measured(self, person: Person, phase: Phase, backward: bool, side: Side, k: int, count: int) -> Phase:
        """The phase of the step k, in which both feet stand, with those bounds on the distance between them that
        neither the bounds of the places nor those of the period imply."""
        on, off = phase.footholds

        def gap(instant: Instant, axis: int) -> Any:
            along = math.sin if axis else math.cos
            place, place_off = (
                instant.places[f][axis] - (along(f_yaw) * f.offset(person.model)[0] if f.of else 0.0)
                for f, f_yaw in ((on, person.toe_out * out), (off, -person.toe_out * out))
                if isinstance(f, Foothold)
            )
            return place - place_off

        out, way = 1.0 if side == "l" else -1.0, -1.0 if backward else 1.0
        rows = []
        if count > 1 and self.each is not None and self.each[0] < self.each[1]:
            rows.append(Path(lambda instant: way * gap(instant, 0), *self.each, where="interval"))
        if (
            count % 2 == 0 and 2 <= k < count and self.width[0] < self.width[1] and not person.planar
        ):  # the first foot's y is fixed
            rows.append(Path(lambda instant: out * gap(instant, 1), *self.width, where="interval"))
        return replace(phase, path=(*phase.path, *rows))

    def boundary(self, count: int) -> tuple[Boundary, ...]:
        """The bounds on the time of every step, unless speed and length of a single one imply them.

        If all times are equal, that of the last step follows from the speed.
        """
        if self.times is None or count == 1:
            return ()
        low, high = self.times
        parts, held = len(FORWARD), count - 1 if low == high else count

        def rows(start: Instant, end: Instant) -> tuple[Any, float, float]:
            lasting = [end.values[f"T{p}"] for p in range(parts * held)]
            return vertcat(*(sum(lasting[k : k + parts]) for k in range(0, parts * held, parts))), low, high

        return (Boundary(rows, "time of every step"),)


def pace(person: Person, speed: float, length: Any = None, width: Any = None, time: Any = None) -> Pace:
    """The pace of a person at a mean speed [m/s].

    length [m], width between the heels [m] and time [s] of a step: numbers, (lower, upper), or None: free. `ValueError`
    if the speed lies outside 0.5 to 2.2 m/s, or if speed, length and time contradict each other.

    >>> round(od.walking.pace(od.walking.person(), 1.2).time, 2)
    0.55
    """
    within(speed, 0.5, 2.2, "speed must lie between 0.5 and 2.2 m/s for a walk that rolls over its feet")
    wide = 0.04, 0.4
    if width is not None:
        if person.planar:
            raise ValueError(
                f"step_width: {person.model.name!r} moves in a plane, its feet stay where they are: leave it out"
            )
        low, high = _bounds(width, "step_width", 0.0, 0.5)
        wide = low + person.spread, high + person.spread
    each = times = None
    if length is None and time is None:
        return Pace(speed, person.step_length(speed) / speed, None, wide)
    if length is not None:
        each = _bounds(length, "step_length", 0.1, 1.5)
    limits = low, high = each or (0.05, 3.0)
    if time is not None:
        times = _bounds(time, "step_time", 0.15, 2.0)
        shortest, longest = (speed * t for t in times)
        low, high = max(low, shortest), min(high, longest)
        if low > high * (1 + 1e-9):
            raise ValueError(
                f"step_length {_text(limits)} m and step_time {_text((shortest / speed, longest / speed))} s "
                f"contradict the speed of {speed:g} m/s, at which a step of that time is {_text((shortest, longest))} "
                "m long: leave one of the three out"
            )
        low = min(low, high)
    usual = min(max(person.step_length(speed), low), high)
    return Pace(speed, usual / speed, (low, high), wide, each, times)


def _bounds(value: Any, what: str, least: float, most: float) -> tuple[float, float]:
    """A number or (lower, upper) as bounds within least and most."""
    try:
        low, high = value if isinstance(value, (tuple, list, np.ndarray)) else (value, value)
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be a number or (lower, upper), got {value!r}") from None
    low, high = (within(x, -math.inf, math.inf, f"{what} must be a number or (lower, upper)") for x in (low, high))
    if not least <= low <= high <= most:
        raise ValueError(f"{what} must lie between {least:g} and {most:g}, lower <= upper, got {value!r}")
    return low, high


def _text(limits: tuple[float, float]) -> str:
    low, high = limits
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
