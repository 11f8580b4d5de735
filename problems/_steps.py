"""Steps on human feet: footholds of one foot after the other, and the phases in which they carry the body.

A foot that walks forward strikes with its heel, lies flat, and leaves over the edge of its toes. Backward everything is
the other way round: it comes down on the edge of its toes, lies flat, and leaves over its heel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from casadi import DM, vertcat

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import HumanDimensions

from ._command import within
from ._human import CLEARANCE, HEEL, PIVOT, SHARES, TOE_OUT, Feet, feet, separation, sole_points, step_length

FORWARD = ("loading", "push_off", "flat", "heel_off")
"""Phases of a step forward: on the heel of the one foot and the toes of the other, flat and on toes, flat, on toes."""

BACKWARD = ("landing", "unloading", "toes", "flat")
"""Phases of a step backward, the image of `FORWARD` in time: on the toes of the one foot and the flat sole of the other,
on toes and heel, on toes, flat."""

REVERSED = {"landing": "push_off", "unloading": "loading", "toes": "heel_off", "flat": "flat"}
"""The phase forward that lasts as long, by the phase backward."""

Side = Literal["l", "r"]


class Stand(NamedTuple):
    """A phase of a step: the footholds that carry the body, and the part of the other foot's swing that passes; None: it
    stands."""

    name: str
    footholds: tuple[ocp.Foothold, ...]
    swing: tuple[float, float] | None


def other(side: Side) -> Side:
    return "r" if side == "l" else "l"


def sides(count: int, first: Side = "r") -> list[Side]:
    """The sides of so many footsteps, in turn."""
    return [first if k % 2 == 0 else other(first) for k in range(count)]


def spread(size: HumanDimensions) -> float:
    """Width by which the middles of both soles are wider apart than the heels, because feet point outwards [m]."""
    return (PIVOT + HEEL) * size.foot_length * math.sin(TOE_OUT)


def placed(model: od.Model, size: HumanDimensions, side: Side, x: Any, y: Any) -> Feet:
    """A foot that points outwards, its middle at x, y [m]: numbers or (lower, upper)."""
    return feet(model, size, side, x=x, y=y, yaw=TOE_OUT if side == "l" else -TOE_OUT)


def stands(on: Feet, off: Feet, backward: bool = False) -> list[Stand]:
    """The four parts of a step: from the strike of the foot `on` to that of the next; `off`: the foot before."""
    if backward:
        return [
            Stand("landing", (on.toes, off.flat), None),
            Stand("unloading", (on.toes, off.heel), None),
            Stand("toes", (on.toes,), (0.0, 0.5)),
            Stand("flat", (on.flat,), (0.5, 1.0)),
        ]
    return [
        Stand("loading", (on.heel, off.toes), None),
        Stand("push_off", (on.flat, off.toes), None),
        Stand("flat", (on.flat,), (0.0, 0.5)),
        Stand("heel_off", (on.toes,), (0.5, 1.0)),
    ]


def contact() -> tuple[Any, ...]:
    """Path constraints of feet on the ground, and of muscles, whose torques cannot jump: they switch on in 15 ms and off
    in 60 ms."""
    return (ocp.Unilateral(), ocp.FrictionCone(), ocp.CenterOfPressure(), ocp.Activation())


def phase(
    stand: Stand,
    intervals: int,
    duration: Any,
    swinging: Side,
    size: HumanDimensions,
    costs: Any,
    name: str = "",
    facing: str | None = None,
) -> ocp.Phase:
    """A phase of a step, in which the foot of the side `swinging` clears the ground and passes the other one."""
    path = contact()
    if stand.swing is not None:
        path = (
            *path,
            ocp.Clearance(sole_points(swinging, size), CLEARANCE, part=stand.swing),
            separation(size, facing=facing),
        )
    return ocp.Phase(name or stand.name, intervals, duration, stand.footholds, path, costs)


def share(name: str, time: float) -> tuple[float, float]:
    """Bounds on the duration of a part of a step that takes about this time [s]."""
    low, high = SHARES[REVERSED.get(name, name)]
    return time * low, time * high


def middle_time(time: float) -> float:
    """Duration [s] of a step whose parts last the middle of their bounds: that of the first guess."""
    return sum(sum(share(name, time)) / 2 for name in FORWARD)


def walked(
    steps: Sequence[Feet],
    before: Feet,
    intervals: Sequence[int],
    time: float,
    size: HumanDimensions,
    costs: Any,
    *,
    first: Side = "r",
    backward: bool = False,
    facing: str | None = None,
) -> list[ocp.Phase]:
    """The phases of steps in a row; before: where the other foot stands as the first foot strikes. intervals: in the four
    parts of a step. facing: as in `separation`. The phases of one step have the names of its parts, those of two the side, of more the number."""
    phases = []
    for k, (side, on, off) in enumerate(zip(sides(len(steps), first), steps, (before, *steps), strict=False)):
        tail = "" if len(steps) == 1 else f"_{side}" if len(steps) == 2 else f"_{k + 1}"
        phases += [
            phase(stand, n, share(stand.name, time), other(side), size, costs, stand.name + tail, facing)
            for stand, n in zip(stands(on, off, backward), intervals, strict=True)
        ]
    return phases


class Plan(NamedTuple):
    """Speed and size of steps: mean speed [m/s], time of one step [s]; bounds on the mean length (None: free) and on the
    width between the middles of the soles [m]; bounds on the length [m] and the time [s] of every single step, None where
    they are not given."""

    speed: float
    time: float
    length: tuple[float, float] | None
    width: tuple[float, float]
    each: tuple[float, float] | None = None
    times: tuple[float, float] | None = None

    def feet(self, model: od.Model, size: HumanDimensions, count: int, backward: bool) -> list[Feet]:
        """The footsteps of a period, the first at x = 0. If the period is not mirrored, nothing but the first foot says
        where the middle of the way lies, so that its y is fixed."""
        pace = (-1.0 if backward else 1.0) * self.speed * middle_time(self.time)
        low, high = self.width
        found = []
        for k, side in enumerate(sides(count)):
            out = 1.0 if side == "l" else -1.0
            middle = (low + high) / 4
            half = (low / 2, high / 2) if count % 2 else (middle, middle) if k == 0 else (low - middle, high - middle)
            found.append(placed(model, size, side, self._x(k, pace, backward), tuple(sorted(out * y for y in half))))
        return found

    def _x(self, k: int, pace: float, backward: bool) -> Any:
        """Bounds on the place of the foot k [m], centered at that of the first guess."""
        if k == 0:
            return 0.0
        if self.each is not None and self.each[0] == self.each[1]:
            return k * self.each[0] * (-1.0 if backward else 1.0)
        reach = abs(pace) * (0.4 + 0.4 * k)
        return k * pace - reach, k * pace + reach

    def periodic(self, count: int, backward: bool) -> ocp.Periodic:
        """The period of so many steps: mirrored, if their number is odd."""
        low, high = (count * x for x in self.length or (0.05, 3.0))
        speed, step = (-self.speed, (-high, -low)) if backward else (self.speed, (low, high))
        return ocp.Periodic(speed, mirror=count % 2 == 1, transition=ocp.Continuous(), step_length=step)

    def phases(
        self, model: od.Model, size: HumanDimensions, intervals: Sequence[int], costs: Any, count: int, backward: bool
    ) -> list[ocp.Phase]:
        """The phases of a period of so many steps."""
        steps = self.feet(model, size, count, backward)
        before = feet(model, size, "l")  # the last step, one period ago: its place follows
        names = [REVERSED[name] for name in BACKWARD] if backward else FORWARD
        counts = [intervals[FORWARD.index(name)] for name in names]
        phases = walked(steps, before, counts, self.time, size, costs, backward=backward)
        both = [k for k, p in enumerate(phases) if p.name.startswith(("push_off", "landing"))]
        for k, (p, side) in enumerate(zip(both, sides(count), strict=True)):
            phases[p] = self._measured(model, phases[p], backward, side, k, count)
        return phases

    def _measured(self, model: od.Model, phase: ocp.Phase, backward: bool, side: Side, k: int, count: int) -> ocp.Phase:
        """The phase of the step k, in which both feet stand, with those bounds on the distance between them that neither
        the bounds of the places nor those of the period imply."""
        on, off = phase.footholds

        def gap(instant: ocp.Instant, axis: int) -> Any:
            along = math.sin if axis else math.cos
            place, place_off = (
                instant.places[f][axis] - (along(f_yaw) * f.offset(model)[0] if f.of else 0.0)
                for f, f_yaw in ((on, TOE_OUT * out), (off, -TOE_OUT * out))
                if isinstance(f, ocp.Foothold)
            )
            return place - place_off

        out, way = 1.0 if side == "l" else -1.0, -1.0 if backward else 1.0
        rows = []
        if count > 1 and self.each is not None and self.each[0] < self.each[1]:
            rows.append(ocp.Path(lambda instant: way * gap(instant, 0), *self.each, where="interval"))
        if count % 2 == 0 and 2 <= k < count and self.width[0] < self.width[1]:  # the first foot's y is fixed
            rows.append(ocp.Path(lambda instant: out * gap(instant, 1), *self.width, where="interval"))
        return replace(phase, path=(*phase.path, *rows))

    def boundary(self, count: int) -> tuple[ocp.Boundary, ...]:
        """The bounds on the time of every step, unless speed and length of a single one imply them.

        If all times are equal, that of the last step follows from the speed.
        """
        if self.times is None or count == 1:
            return ()
        low, high = self.times
        parts, held = len(FORWARD), count - 1 if low == high else count

        def rows(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
            lasting = [end.values[f"T{p}"] for p in range(parts * held)]
            return vertcat(*(sum(lasting[k : k + parts]) for k in range(0, parts * held, parts))), low, high

        return (ocp.Boundary(rows, "time of every step"),)


def plan(
    speed: float, height: float, size: HumanDimensions, length: Any, width: Any, time: Any, fastest: float = 2.2
) -> Plan:
    """A plan of steps from a mean speed, and from step length [m], width between the heels [m] and time [s]: numbers,
    (lower, upper) or None.

    ValueError if the speed lies outside 0.5 m/s and `fastest`, or if speed, length and time contradict each other.
    """
    within(speed, 0.5, fastest, f"speed must lie between 0.5 and {fastest} m/s for a walk that rolls over its feet")
    wide = 0.04, 0.4
    if width is not None:
        low, high = _bounds(width, "step_width", 0.0, 0.5)
        wide = low + spread(size), high + spread(size)
    each = times = None
    if length is None and time is None:
        return Plan(speed, step_length(speed, height) / speed, None, wide)
    if length is not None:
        each = _bounds(length, "step_length", 0.1, 1.5)
    limits = low, high = each or (0.05, 3.0)
    if time is not None:
        times = _bounds(time, "step_time", 0.15, 2.0)
        shortest, longest = (speed * t for t in times)
        low, high = max(low, shortest), min(high, longest)
        if low > high * (1 + 1e-9):
            raise ValueError(
                f"step_length {_text(limits)} m and step_time {_text((shortest / speed, longest / speed))} s contradict "
                f"the speed of {speed:g} m/s, at which a step of that time is {_text((shortest, longest))} m long: leave "
                "one of the three out"
            )
        low = min(low, high)
    usual = min(max(step_length(speed, height), low), high)
    return Plan(speed, usual / speed, (low, high), wide, each, times)


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


def foot_plan(backward: bool = False) -> ocp.FootPlan:
    """The first guess of a walk; backward, the toes come down and the heels leave at small angles."""
    return ocp.FootPlan(strike=math.radians(30.0), leave=math.radians(20.0)) if backward else ocp.FootPlan()


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the steps of both feet, if they may differ: length [m], and stance as percent of the motion."""
    if solution.mirrored or len(solution.phases) < 8:
        return {}
    feet_down = footsteps(solution)
    found: dict[str, Any] = {}
    for side, word in (("r", "right"), ("l", "left")):
        lengths = [
            x - before for (s, x), (_, before) in zip(feet_down, _before(solution, feet_down), strict=True) if s == side
        ]
        on = [p.duration for p in solution.phases if any(name.endswith(f"_{side}") for name in p.places)]
        found |= {
            f"step_length_{word}_m": abs(sum(lengths)) / len(lengths),
            f"stance_{word}_percent": 100 * sum(on) / solution.duration,
        }
    return found


def footsteps(solution: ocp.Solution) -> list[tuple[str, float]]:
    """Side and x of the heel [m] of every foot that lies flat alone, in turn."""
    found = []
    for p in solution.phases:
        if p.name.startswith("flat"):
            side = next(iter(p.places))[-1]
            found.append((side, float(od.point_position(solution.model, f"heel_{side}", DM(p.q[0]))[0])))
    return found


def _before(solution: ocp.Solution, feet_down: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """The footstep before each; before the first comes the last one of the period before."""
    side, x = feet_down[-1]
    return [(side, x - solution.step_length), *feet_down[:-1]]
