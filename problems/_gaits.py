"""Gaits of a library: points of a grid of speeds, slopes and step lengths, and their problems."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ocp_dyn import ocp

from . import human_walk

FREE = None
"""A step length that the walker chooses."""


@dataclass(frozen=True)
class Gait:
    """A point of the grid: speed [m/s], slope (rise per distance, negative downhill), step length [m] or FREE."""

    speed: float
    slope: float
    step: float | None = FREE

    @property
    def free(self) -> bool:
        return self.step is None

    @property
    def name(self) -> str:
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

    def relaxes(self, other: Gait) -> bool:
        """Whether the other is the same gait with its step length fixed."""
        return self.free and not other.free and (self.speed, self.slope) == (other.speed, other.slope)

    def distance(self, other: Gait) -> float:
        """Distance between two gaits, in steps of a usual grid: 0.2 m/s, a slope of 0.1, a step length of 0.1 m."""
        change = 0.0 if self.step == other.step else 1.0
        if self.step is not None and other.step is not None:
            change = abs(self.step - other.step) / 0.1
        return abs(self.speed - other.speed) / 0.2 + abs(self.slope - other.slope) / 0.1 + change


Factory = Callable[[bool, bool], ocp.Problem]
"""Function of (step length is free, quick) that makes a problem with parameters `speed`, `slope`, `step_length`
(only a fixed one)."""


def _walk(free: bool, quick: bool, still: bool) -> ocp.Problem:
    """The walk, with bounds on the durations of its phases that are wide enough for all speeds."""
    walk = human_walk.problem(1.2, intervals=human_walk.QUICK if quick else human_walk.INTERVALS, still=still)
    assert walk.periodic is not None
    periodic = walk.periodic if free else replace(walk.periodic, step_length=0.66)
    phases = [replace(phase, duration=(0.6 * phase.duration[0], 1.5 * phase.duration[1])) for phase in walk.phases]
    return replace(walk, phases=phases, periodic=periodic, parameters=(ocp.Parameter("slope", 0.0),))


MODELS: dict[str, Factory] = {
    "legs": functools.partial(_walk, still=True),
    "human": functools.partial(_walk, still=False),
}


def factory(model: str) -> Factory:
    """The maker of problems of a model by name, or of "module:function"; ValueError if there is none."""
    if model in MODELS:
        return MODELS[model]
    module, _, name = model.partition(":")
    try:
        found: Factory = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"model must be one of {', '.join(MODELS)}, or module:function, got {model!r}: {error}"
        ) from error
    return found


def make(model: str, quick: bool, free: bool) -> ocp.Problem:
    """The problem of a model by name, with free or fixed step length."""
    return factory(model)(free, quick)


def grid(speeds: Sequence[float], slopes: Sequence[float], steps: Sequence[float | None]) -> list[Gait]:
    """All combinations, sorted by their distance from the middle of the grid."""
    gaits = [Gait(*point) for point in product(speeds, slopes, steps)]
    middle = Gait(float(np.median(speeds)), float(np.median(slopes)), FREE if FREE in steps else steps[0])
    return sorted(dict.fromkeys(gaits), key=middle.distance)
