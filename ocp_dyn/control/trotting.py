"""A trot: diagonal pairs of feet stand in turn; footholds by the neutral point of the velocity."""

from __future__ import annotations

import numpy as np

from .._base.types import Array
from ..ocp import Command
from .controller import SLOW, Controller, State, turned
from .swing import Swing
from .whole_body import Wanted
from .world import PERIOD

STRIDE = 2.75
"""Time of a stride, in sqrt(l/g) of the height of the center of mass l."""

DUTY = 0.6
"""Share of a stride for which a foot stands."""

CAREFUL_STRIDE, CAREFUL_DUTY = 4.5, 0.75
"""The same on known stepping stones: their gaps take away the choice of footholds, and for half of the time four feet
correct what that leaves."""

OFFSETS = (0.0, 0.5, 0.5, 0.0)
"""Begins of the stances of the four feet, as shares of a stride."""

CLEARANCE = 0.2
"""Height of swinging feet, as a share of the height of the center of mass."""

CAPTURE = 0.5
"""Share of the capture point, sqrt(l/g) times the error of velocity, by which a foothold is moved."""

LEASH = 0.05
"""Largest distance of the wanted place from the body [m]: it is pulled, never thrown."""

SLOWLY = 0.15
"""Time in which the height of the ground is learned [s]."""

LATE = 0.5
"""Share of a swing after which a foot that feels the ground stands."""


class TrotController(Controller):
    """A controller of a body on four feet.

    Footholds: below the hips at the time of touchdown, half of the way of a stance ahead, and further by a share of the
    capture point [Raibert 1986, Legged robots that balance]. The body is pulled to a place that moves as commanded.

    >>> round(od.control.TrotController(od.control.body("go2")).stride, 2)  # doctest: +SKIP
    0.49
    """

    def reset(self) -> None:
        """Forgets what was."""
        super().reset()
        stride, self.duty = (CAREFUL_STRIDE, CAREFUL_DUTY) if self.footing and self.footing.apart else (STRIDE, DUTY)
        self.stride = stride * self.time
        self.place: Array | None = None
        self.early = [False] * 4

    def plan(self, state: State, command: Command) -> Wanted:
        """Feet and body of a trot."""
        if self.place is None:
            self.place = state.com[:2].copy()
        self._tick(command)
        standing, feet = np.zeros(4), np.zeros((4, 6))
        for k in range(4):
            standing[k], feet[k] = self._foot(state, k)
        return Wanted(self._linear(state, standing), self._angular(state), feet, self._joints(state), standing)

    def _tick(self, command: Command) -> None:
        moving = command.walk or bool(np.abs(self.velocity).max() > SLOW)
        all_down = all(self._share(k) < self.duty for k in range(4))
        self.stepping = moving or not all_down
        if self.stepping:
            self.phase = (self.phase + PERIOD / self.stride) % 1.0

    def _share(self, k: int) -> float:
        """Share of the stride since the begin of the stance of foot k."""
        return (self.phase - OFFSETS[k]) % 1.0

    def _foot(self, state: State, k: int) -> tuple[bool, Array]:
        share, swing = self._share(k), self.swings[k]
        touching = bool(state.touching[k])
        if share < self.duty:
            self.early[k] = False
            late = share * self.stride < 0.1 and not touching and swing is not None
            if not late:
                self.swings[k] = None
                return True, self._standing(state, k)
        elif self.early[k] or (touching and (share - self.duty) / (1 - self.duty) > LATE):
            self.early[k] = True
            self.swings[k] = None
            return True, self._standing(state, k)
        if self.swings[k] is None:
            self.swings[k] = Swing(state.seen.p[k], CLEARANCE * self.body.height)
        duration = (1 - self.duty) * self.stride
        remaining = max(0.0, (1 - share) * self.stride) if share >= self.duty else 0.0
        target = self._foothold(state, k, remaining)
        return False, self._swinging(state, k, target, duration, state.heading)

    def _foothold(self, state: State, k: int, remaining: float) -> Array:
        stance = self.duty * self.stride
        heading = state.heading + self.velocity[2] * (remaining + stance / 2)
        axes = turned(heading)[:2, :2]
        wanted = turned(state.heading)[:2, :2] @ self.aimed
        ahead = state.velocity[:2] * remaining + wanted * stance / 2
        capture = CAPTURE * self.time * (state.velocity[:2] - wanted)
        place = state.q[:2] + axes @ self.body.hips[k] + ahead + capture
        radius = self.body.feet[k].radius
        if self.footing:
            return np.asarray(self.footing.nearest(place[None])[0] + [0.0, 0.0, radius])
        return np.array([*place, self.ground + radius])

    def _linear(self, state: State, standing: Array) -> Array:
        assert self.place is not None
        wanted = turned(state.heading)[:2, :2] @ self.aimed
        self.place += PERIOD * wanted
        off = self.place - state.com[:2]
        length = float(np.linalg.norm(off))
        if length > LEASH:
            self.place = state.com[:2] + off * LEASH / length
        (kp, kd), (kz, dz) = self.gains.place, self.gains.height
        levels = [s.lift if s else z for s, z in zip(self.swings, state.seen.p[:, 2], strict=True)]
        self.ground += PERIOD / SLOWLY * (float(np.mean(levels)) - self.body.feet[0].radius - self.ground)
        pull = kp * (self.place - state.com[:2]) + kd * (wanted - state.velocity[:2])
        height = self.ground + self.body.height
        return np.array([*pull, kz * (height - state.com[2]) - dz * state.velocity[2]])
