"""Periodic motions: the rigid motion from one period to the next, and the transition that closes a period."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from casadi import DM

from ..._base.checks import as_bounds, finite, truth
from ..._base.types import repr_in_message
from ...symmetry.advance import Advance
from .ground.planes import MIRRORED, SAME_PLANE, Plane
from .phases import TRANSITIONS, Impact, Phase, Transition, remedy

ENTRIES = {"step_length": "length", "sideways": "sideways", "rise": "rise", "turn": "turn"}
"""Names of variables and parameters of a program, each with the entry of `Step` that it holds."""

FAR = 1e6
"""Stands for an infinite bound of a step [m]."""

FREE_LENGTH = (0.05, 3.0)
"""Bounds of a step's length where none is given [m]."""


@dataclass(frozen=True)
class Step:
    """The rigid motion from one period to the next: `Periodic(step=ocp.Step(...))`.

    Whatever is at the point p at the start of a period is, at the start of the next one, at

        g(p) = Rz(turn) p + (length, sideways, rise),

    in world axes, x forward at the start of the period: length, sideways (to the left) and rise [m] are where the
    world's origin goes, and turn [rad] is the turn to the left about the world's z axis. The state at the end, moved
    back by g, is the state at the start: positions and the velocity of the root's origin turn and shift, angular
    velocities in body axes and all joints stay the same. A mirrored period (`Periodic(mirror=True)`) is the mirror
    image at the x-z plane, moved by g.

    Every entry is a number or free in (lower, upper). A number other than 0 is a parameter, a free entry a variable of
    that name, `length` by the name "step_length": `solve(values={"turn": 0.3})`, `instant.values["turn"]`. Exception: a
    rise that planes of footholds determine, see below.

    With a turn, g has a fixed axis, and where the motion starts decides how far it gets: let it start at the origin,
    with the foothold of one foot at fixed x and y. A turn on a circle of radius r about the origin is `Step(0, turn=a)`
    from a start at (0, -r); `Step.arc` begins at the origin.

    Feet that stand at both ends of the period tie their footholds: the place of the first one is that of the last one,
    moved back by g, and its plane must be the plane of the last one, moved back by g. On stairs the planes
    differ in height by the rise. A free rise is then determined by the planes; a number must agree with them, and is
    no parameter.

    >>> ocp.Step(length=0.3, rise=0.17)  # a stair
    Step(length=(0.3, 0.3), sideways=(0.0, 0.0), rise=(0.17, 0.17), turn=(0.0, 0.0))
    """

    length: Any = FREE_LENGTH
    sideways: Any = 0.0
    rise: Any = 0.0
    turn: Any = 0.0

    def __post_init__(self) -> None:
        for key in ENTRIES.values():
            unit = "rad" if key == "turn" else "m"
            bounds = as_bounds(getattr(self, key), f"Step {key} [{unit}]")
            if not np.all(np.isfinite(bounds)) and key != "length":
                raise ValueError(f"Step {key} [{unit}] must be finite, a number or (lower, upper), got {bounds}")
            object.__setattr__(self, key, bounds)
        if max(map(abs, self.turn)) > math.pi:
            raise ValueError(
                f"Step turn is the angle of one period in rad, at most pi to either side, got {_between(*self.turn)}: "
                "write math.radians(...) for degrees"
            )

    @staticmethod
    def arc(length: float, turn: float, rise: float = 0.0) -> Step:
        """The step along a circular arc that begins at the origin, forward: `length` [m] along the arc.

        Its end lies at length (sin(turn), 1 - cos(turn)) / turn.

        >>> step = ocp.Step.arc(1.2, turn=np.radians(20))
        >>> [round(x, 3) for x in (step.length[0], step.sideways[0])]
        [1.176, 0.207]
        """
        angle, along = finite(turn, "Step.arc turn [rad]"), finite(length, "Step.arc length [m]")
        half = angle / 2
        chord = along * (math.sin(half) / half if half else 1.0)
        return Step(chord * math.cos(half), chord * math.sin(half), rise, angle)

    def bounds(self, name: str) -> tuple[float, float]:
        """(lower, upper) of the entry with the name of its variable or parameter."""
        low, high = getattr(self, ENTRIES[name])
        return low, high

    def moves(self, name: str) -> bool:
        """Whether the entry with this name can be other than 0."""
        return self.bounds(name) != (0.0, 0.0)

    @property
    def distances(self) -> tuple[float, float]:
        """The least and the largest horizontal distance [m]; of a straight step its length, with its sign."""
        if not self.moves("sideways"):
            return self.bounds("step_length")
        sizes = [(0.0 if low <= 0 <= high else min(abs(low), abs(high)), max(abs(low), abs(high)))
                 for low, high in (self.length, self.sideways)]  # fmt: skip
        least, most = (math.hypot(*pair) for pair in zip(*sizes, strict=True))
        return (-most, -least) if self.length[1] < 0 else (least, most)


@dataclass(frozen=True)
class Periodic:
    """The motion repeats, moved by `step`; mirrored left to right if `mirror`: torques then keep the limits of both
    sides, because the next period is the image of this one.

    transition: the transition from the end of the motion to the next start, one Continuous, Impact or Jump. step: a
    `Step`, the rigid motion from one period to the next, that may climb, turn and go sideways. step_length [m]: the
    short form for straight and level motions, `Step(length=step_length)`; a number, or (lower, upper); negative
    backwards. A mirrored motion goes straight: `turn` and `sideways` of a step and its mirror image cancel.

    speed [m/s]: horizontal distance of the step = speed * total time, for a straight step step_length = speed * total
    time; None: free. The distance is that of the world's origin, sqrt(length^2 + sideways^2), not the way along an arc.
    Negative: backwards. Numbers for speed and step_length are parameters of that name, which
    `problem.solve(values={"speed": 1.3})` sets anew.

    >>> still = ocp.Periodic(step_length=0.0, mirror=False, transition=ocp.Continuous())
    >>> push = ocp.Phase("push", 10, 1.0, objective=[ocp.TorqueSquared()])
    >>> hang = ocp.Problem(rod, [push], periodic=still).solve(progress=False)
    >>> bool(np.allclose(hang.q[0], hang.q[-1]))
    True
    """

    speed: float | None = None
    mirror: bool = True
    transition: Transition = field(default_factory=Impact)
    step_length: Any = FREE_LENGTH
    step: Step | None = None

    def __post_init__(self) -> None:
        low, high = as_bounds(self.step_length, "Periodic step_length")
        object.__setattr__(self, "step_length", (low, high))
        truth(self.mirror, "Periodic mirror")
        if not isinstance(self.transition, TRANSITIONS):
            raise TypeError(
                f"Periodic transition must be one Continuous, Impact or Jump, got {repr_in_message(self.transition)}"
                f"{remedy(self.transition, TRANSITIONS) or ': a period is closed by one, such as transition=Impact()'}"
            )
        self._check_step()
        if self.speed is None:
            return
        try:
            speed = finite(self.speed, "speed")
        except (TypeError, ValueError):
            raise ValueError(
                f"Periodic speed [m/s] must be a finite number or None, got {repr_in_message(self.speed)}"
            ) from None
        low, high = self.advance.distances
        if not np.sign(low) <= np.sign(speed) <= np.sign(high):
            raise ValueError(
                f"Periodic speed {speed} m/s cannot be met by a step_length of {_between(low, high)} m: "
                "speed and step_length must have one sign (both negative backwards)"
            )

    def _check_step(self) -> None:
        if self.step is None:
            return
        if not isinstance(self.step, Step):
            raise TypeError(
                "Periodic step must be an ocp.Step, such as ocp.Step(length=0.3, rise=0.17), got "
                f"{repr_in_message(self.step)}: a number or bounds for the length of a straight step go to step_length"
            )
        if self.step_length != FREE_LENGTH:
            raise ValueError(
                f"Periodic has step_length={_between(*self.step_length)} and step={self.step}: give the length in the "
                "step alone, ocp.Step(length=...), or step=None"
            )
        crooked = [name for name in ("sideways", "turn") if self.step.moves(name)]
        if self.mirror and crooked:
            raise ValueError(
                f"Periodic mirror=True with {' and '.join(crooked)} in its step: the next period is the mirror image "
                "and goes the other way, so that two periods cancel: write mirror=False and state a full stride"
            )

    @property
    def advance(self) -> Step:
        """The step, also where it is given by `step_length`."""
        return Step(self.step_length) if self.step is None else self.step

    def check_durations(self, phases: Sequence[Phase]) -> None:
        """ValueError if no duration of the phases gives a distance within its bounds at the speed."""
        if self.speed is None:
            return
        times = np.sum([phase.duration_bounds for phase in phases], axis=0)
        steps, (low, high) = np.sort(self.speed * times), self.advance.distances
        if steps[0] > high + 1e-9 or steps[1] < low - 1e-9:
            raise ValueError(
                f"Periodic speed {self.speed:.4g} m/s: the phases take {_between(*times)} s, so the step would be "
                f"{_between(*steps)} m long, but step_length is {_between(low, high)} m: change the speed, the "
                "durations or step_length"
            )


def height_range(step: Step, mirrored: bool, first: Plane, last: Plane) -> tuple[float, float]:
    """Least and largest height [m] of the plane `last`, moved back by a step, above the plane `first`; nan if they are
    not parallel then.

    A fixed turn turns the normal; under a free one only level planes stay parallel.
    """
    normal, (turn, most) = MIRRORED * last.normal if mirrored else np.array(last.normal), step.turn
    if last.level or turn == most:
        turned = Advance.of(turn=turn).inverse().vector(DM(normal))
        normal = np.array(turned.full()).ravel()
    if not np.allclose(normal, first.normal, rtol=0, atol=SAME_PLANE) or (turn != most and not last.level):
        return math.nan, math.nan
    ranges = (np.clip(bounds, -FAR, FAR) for bounds in (step.length, step.sideways, step.rise))
    corners = itertools.product(*ranges)  # the height is linear in these
    heights = [
        float(last.above(first, mirrored, Advance.of(length, sideways, rise, turn).inverse()))
        for length, sideways, rise in corners
    ]
    return min(heights), max(heights)


def _between(low: float, high: float) -> str:
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
