"""Speed, length and time of a robot's steps, and slopes: what follows from what, and what no robot can do."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..ocp import FrictionCone
from .robots import one_number

REACH = 1.6
"""Largest step length, in lengths of the leg."""


class Strides(NamedTuple):
    """Length and speed that the steps of a robot can have.

    name: of the robot; length of its legs [m]; gravity [m/s^2]; usual: speed if none is given, in sqrt(g l); fastest:
    largest Froude number v^2 / (g l).
    """

    name: str
    length: float
    gravity: float
    usual: float
    fastest: float

    def at(self, speed: float | None, length: float | None, time: float | None) -> tuple[tuple[float, float], float]:
        """Bounds of the step length [m] and the speed [m/s], if some of speed, step length and step time are given."""
        for name, value in (("speed", speed), ("step_length", length), ("step_time", time)):
            if value is not None and not (math.isfinite(one_number(value, name)) and value > 0):
                raise ValueError(f"{name} must be positive, got {value!r} (backward=True walks backward)")
        if length is not None and time is not None:
            if speed is not None and abs(speed * time - length) > 1e-6 * length:
                raise ValueError(
                    f"speed {speed:g} m/s, step_length {length:g} m and step_time {time:g} s contradict each other: "
                    "speed times time is the length; leave out one"
                )
            speed = length / time
        speed = self.usual * math.sqrt(self.gravity * self.length) if speed is None else speed
        self._check_speed(speed)
        if time is not None:
            length = speed * time
        if length is None:
            return (0.02 * self.length, REACH * self.length), speed
        if length > REACH * self.length:
            raise ValueError(
                f"a step_length of {length:.3g} m is out of reach: legs of {self.length:.3g} m take steps of at most "
                f"{REACH * self.length:.3g} m"
            )
        return (length, length), speed

    def _check_speed(self, speed: float) -> None:
        number = speed**2 / (self.gravity * self.length)
        if number > self.fastest:
            raise ValueError(
                f"{self.name} cannot go at {speed:.3g} m/s in this gait: the Froude number v^2 / (g l) is {number:.3g} "
                f"with legs of {self.length:.3g} m, and {self.fastest:g} is the largest: at most "
                f"{math.sqrt(self.fastest * self.gravity * self.length):.3g} m/s"
            )


def check_slope(slope: float, cone: FrictionCone) -> None:
    """ValueError for a slope on which friction cannot carry: on average the force along it is slope times the normal
    one, and the pyramid inside the cone holds mu / sqrt(2) of that."""
    most = cone.mu / math.sqrt(2)
    if not abs(one_number(slope, "slope")) < most:  # true for nan, too
        raise ValueError(
            f"slope must lie between -{most:.3g} and {most:.3g}, where friction holds the feet, got {slope:g}"
        )
