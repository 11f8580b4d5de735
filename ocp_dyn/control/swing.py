"""Feet in the air: a way to a foothold that may move until the foot lands."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._base.types import Array

LEAST, HARDEST = 0.06, 60.0
"""Least time in which a moved foothold is approached [s], and largest acceleration on the way [m/s^2]: more would be
blows."""

STAIR, EDGE = 0.03, 0.25
"""Height [m] from which a foot first goes up, and last down, beside the edge of what it steps on, and the share of the
swing for that."""

DESCENT = 0.25
"""Speed with which a foot searches for ground that is later than planned [m/s]."""


@dataclass(eq=False)
class Swing:
    """The way of a foot from where it left the ground to a foothold.

    Along the ground the reference is at every instant on the cubic that reaches the foothold, wherever it is by now, at
    rest after the time that remains; upward it is 16 s^2 (1 - s)^2 times the clearance, added to a smooth step from one
    height to the other, by half of whose height the clearance grows. After the planned touchdown it goes on downward.

    place, velocity (3): the reference. clearance [m].
    """

    place: Array
    clearance: float
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    lift: float = 0.0
    elapsed: float = 0.0

    def __post_init__(self) -> None:
        self.place, self.lift = self.place.copy(), float(self.place[2])

    def advance(self, h: float, target: Array, duration: float) -> tuple[Array, Array, Array]:
        """Place, velocity, acceleration (3) a time h [s] later; target (3): foothold; duration [s]: of the swing."""
        self.elapsed += h
        change, remaining = target[2] - self.lift, duration - self.elapsed
        acceleration = np.zeros(3)
        if remaining > 0:
            T = max(remaining - EDGE * duration * (change < -STAIR), LEAST)
            pull = 6 * (target[:2] - self.place[:2]) / T**2 - 4 * self.velocity[:2] / T
            if self.elapsed < EDGE * duration and change > STAIR:
                pull[:] = 0.0
            acceleration[:2] = pull * min(1.0, HARDEST / max(float(np.linalg.norm(pull)), HARDEST))
            self.place[:2] += h * self.velocity[:2] + h**2 / 2 * acceleration[:2]
            self.velocity[:2] += h * acceleration[:2]
            self._rise(self.elapsed / duration, target[2], duration, acceleration)
        else:
            self.velocity[:] = (0.0, 0.0, -DESCENT)
            self.place[2] -= h * DESCENT
        return self.place.copy(), self.velocity.copy(), acceleration

    def _rise(self, s: float, end: float, T: float, acceleration: Array) -> None:
        """Height, its rate and acceleration at the share s of the swing."""
        change = end - self.lift
        clearance = self.clearance + abs(change) / 2  # over the edges of stairs
        self.place[2] = self.lift + change * s**2 * (3 - 2 * s) + 16 * clearance * s**2 * (1 - s) ** 2
        self.velocity[2] = (change * 6 * s * (1 - s) + 32 * clearance * s * (1 - s) * (1 - 2 * s)) / T
        acceleration[2] = (change * (6 - 12 * s) + 32 * clearance * (1 - 6 * s + 6 * s**2)) / T**2
