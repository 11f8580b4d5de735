"""Points of a grid of gaits, for a sweep: speeds, slopes and step lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..._base.checks import finite, positive
from ..._base.types import repr_in_message, sequence


@dataclass(frozen=True)
class GaitPoint:
    """A point of a grid: speed [m/s], slope (rise per distance, negative downhill), step length [m], None: free.

    `ocp.Sweep` takes such points: `values` are those of the problem's parameters `speed`, `slope` and `step_length`.

    >>> od.walking.GaitPoint(1.2, 0.0).name
    'speed_1.200_slope_+0.000_step_free'
    """

    speed: float
    slope: float
    step: float | None = None

    @property
    def free(self) -> bool:
        """Whether the walker chooses the step length."""
        return self.step is None

    @property
    def name(self) -> str:
        """A name for files."""
        step = "free" if self.step is None else f"{self.step:.3f}"
        return f"speed_{self.speed:.3f}_slope_{self.slope:+.3f}_step_{step}"

    @property
    def values(self) -> dict[str, float]:
        """Values of the problem's parameters by name: speed [m/s], slope [rad] and, if it is fixed, step length [m]."""
        found = {"speed": self.speed, "slope": float(np.arctan(self.slope))}
        return found if self.step is None else found | {"step_length": self.step}

    @property
    def variant(self) -> tuple[bool]:
        """Whether the step length is free, a variable of the problem; a fixed one is a parameter."""
        return (self.free,)

    def relaxes(self, other: GaitPoint) -> bool:
        """Whether the other is the same gait with its step length fixed."""
        return self.free and not other.free and (self.speed, self.slope) == (other.speed, other.slope)

    def distance(self, other: GaitPoint) -> float:
        """Distance between two gaits, in steps of a usual grid: 0.2 m/s, a slope of 0.1, a step length of 0.1 m."""
        change = 0.0 if self.step == other.step else 1.0
        if self.step is not None and other.step is not None:
            change = abs(self.step - other.step) / 0.1
        return abs(self.speed - other.speed) / 0.2 + abs(self.slope - other.slope) / 0.1 + change


def gait_grid(
    speeds: Sequence[float], slopes: Sequence[float] = (0.0,), steps: Sequence[float | None] = (None,)
) -> list[GaitPoint]:
    """All combinations, sorted by their distance from the middle of the grid.

    >>> [point.speed for point in od.walking.gait_grid([1.0, 1.2, 1.4])]
    [1.2, 1.0, 1.4]
    """
    speeds = [positive(x, "speeds [m/s]: each") for x in _listed(speeds, "speeds")]
    slopes = [finite(x, "slopes: each") for x in _listed(slopes, "slopes")]
    steps = [None if x is None else positive(x, "steps [m]: each") for x in _listed(steps, "steps")]
    gaits = [GaitPoint(*point) for point in product(speeds, slopes, steps)]
    middle = GaitPoint(float(np.median(speeds)), float(np.median(slopes)), None if None in steps else steps[0])
    return sorted(dict.fromkeys(gaits), key=middle.distance)


def _listed(values: Any, what: str) -> list[Any]:
    """The entries of a list; ValueError if it is empty."""
    found = list(sequence(values, f"{what} must be a list of numbers"))
    if not found:
        raise ValueError(f"{what} must hold at least one number, got {repr_in_message(values)}")
    return found
