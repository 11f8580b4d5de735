"""Periodic motions: the rigid motion from one period to the next, and the transition that closes a period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._arguments import as_bounds, finite, truth
from ..._types import shown
from .phases import TRANSITIONS, Impact, Phase, Transition, remedy


@dataclass(frozen=True)
class Periodic:
    """The motion repeats, shifted along x by `step_length` [m]; mirrored left to right if `mirror`: torques then keep
    the limits of both sides, because the next period is the image of this one.

    transition: the transition from the end of the motion to the next start, one Continuous, Impact or Jump. speed
    [m/s]: step_length = speed * total time; None: free. step_length [m]: a number, or (lower, upper); negative
    backwards. A number for either is a parameter of that name: `problem.solve(values={"speed": 1.3})`.

    >>> still = ocp.Periodic(step_length=0.0, mirror=False, transition=ocp.Continuous())
    >>> push = ocp.Phase("push", 10, 1.0, objective=[ocp.TorqueSquared()])
    >>> hang = ocp.Problem(rod, [push], periodic=still).solve(progress=False)
    >>> bool(np.allclose(hang.q[0], hang.q[-1]))
    True
    """

    speed: float | None = None
    mirror: bool = True
    transition: Transition = field(default_factory=Impact)
    step_length: Any = (0.05, 3.0)

    def __post_init__(self) -> None:
        low, high = as_bounds(self.step_length, "Periodic step_length")
        object.__setattr__(self, "step_length", (low, high))
        truth(self.mirror, "Periodic mirror")
        if not isinstance(self.transition, TRANSITIONS):
            raise TypeError(
                f"Periodic transition must be one Continuous, Impact or Jump, got {shown(self.transition)}"
                f"{remedy(self.transition, TRANSITIONS) or ': a period is closed by one, such as transition=Impact()'}"
            )
        if self.speed is None:
            return
        try:
            speed = finite(self.speed, "speed")
        except (TypeError, ValueError):
            raise ValueError(f"Periodic speed [m/s] must be a finite number or None, got {shown(self.speed)}") from None
        if not np.sign(low) <= np.sign(speed) <= np.sign(high):
            raise ValueError(
                f"Periodic speed {speed} m/s cannot be met by a step_length of {_between(low, high)} m: "
                "speed and step_length must have one sign (both negative backwards)"
            )

    def check_durations(self, phases: Sequence[Phase]) -> None:
        """ValueError if no duration of the phases gives a step length within its bounds at the speed."""
        if self.speed is None:
            return
        times = np.sum([phase.duration_bounds for phase in phases], axis=0)
        steps, (low, high) = np.sort(self.speed * times), self.step_length
        if steps[0] > high + 1e-9 or steps[1] < low - 1e-9:
            raise ValueError(
                f"Periodic speed {self.speed:.4g} m/s: the phases take {_between(*times)} s, so the step would be "
                f"{_between(*steps)} m long, but step_length is {_between(low, high)} m: change the speed, the "
                "durations or step_length"
            )


def _between(low: float, high: float) -> str:
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
