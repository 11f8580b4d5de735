"""A walk on two flat feet: the next foothold and its time by the divergent component of motion."""

from __future__ import annotations

import math

import numpy as np

from .._base.types import Array
from ..ocp import Command
from .controller import SLOW, Controller, State, turned
from .swing import Swing
from .whole_body import Wanted
from .world import PERIOD

STEP = 1.45
"""Usual time of a step, in sqrt(l/g) of the height of the center of mass l."""

FASTEST, SLOWEST = 1.1, 2.4
"""Bounds of the time of a step, in sqrt(l/g)."""

BOTH = 0.25
"""Time on both feet at the begin of a step, in sqrt(l/g)."""

CLEARANCE = 0.1
"""Height of the swinging foot, as a share of the height of the center of mass."""

REACH = 0.75
"""Farthest foothold from the standing foot, forward, in heights of the center of mass."""

BESIDE = (0.45, 2.6)
"""Bounds of the distance of the feet sideways, in that of the posture."""

SPARE = 0.2
"""Share of the distance of the feet by which the narrow steps of a walk sideways may be narrower."""

INSIDE = 0.9
"""Share of the sole in which the center of pressure is asked for."""

FEEDBACK = 2.5
"""Gain of the center of pressure: how often it moves farther than the divergent component is off."""

FIXED, STILL = 0.1, 0.03
"""Time before touchdown from which on the time, and the place, of the foothold no longer change [s]."""

AHEAD = 4
"""Footholds that are compared at a time on known ground."""

CORRECTED = 0.5
"""Share of what the center of pressure can do until touchdown that choices on known ground count on."""

CHOICES = 4
"""Updates from one choice of a foothold to the next."""

HASTE = 4.0
"""Speed of a swinging foot that a sooner touchdown counts on [m/s]."""

SOON, BELOW = 0.01, 0.008
"""Time [s] and depth [m] by which a foot is led to the ground earlier and lower than planned: it lags, and the
divergent component grows while it is waited for."""

LEAD, LEARN, MOST_LEAD = 0.03, 0.3, 0.06
"""Time by which swings last longer than planned, as feet touch the ground before their ways end [s]; the share of what
a touchdown came too early by which it is corrected, and its bound [s]."""

LATE = 0.6
"""Share of a swing after which a foot that feels the ground stands."""

SETTLE = 0.7
"""Time in which weight moves over both feet, or to the first standing foot, in s."""

LOW, MOST_LIFT = 0.95, 3.0
"""Height of the center of mass on the way, as a share of that in the posture, so that legs reach the footholds; largest
vertical acceleration that is asked for [m/s^2]."""


class StepController(Controller):
    """A controller of a body on two flat feet.

    The divergent component xi = c + v / omega of the center of mass c, omega = sqrt(g / l), leaves the center of
    pressure p by d/dt xi = omega (xi - p). A step on the foot at p ends at the time T with xi_T = p + (xi - p)
    exp(omega (T - t)), and the next foot is set down at xi_T - b, with the offset b of the periodic gait of the wanted
    velocity v, which turns by the angle a in a step, r = exp(i a), forward + i sideways,

        b = v T sqrt(r) / (exp(omega T) - r) +- i W (1 + r) / 2 / (exp(omega T) + r)

    for a distance W of the feet; T is chosen so that the foothold is within reach, on a patch of a terrain that is
    known, and near the usual one. Within a step the center of pressure moves on the sole to bring xi to where it would
    be.

    On a terrain that is known, the next footholds f_1, ... f_n lie on patches, whose sequences near the usual steps are
    compared: the next step must begin at xi_T = (1 - a) (f_1 + a f_2 + a^2 f_3 + ...) + a^n f_n, a = exp(-omega T).

    [Khadiv 2016] M. Khadiv et al., Step timing adjustment: a step toward generating robust gaits, Humanoids.
    [Englsberger 2015] J. Englsberger, C. Ott, A. Albu-Schaeffer, IEEE Trans. Robotics 31.

    >>> round(od.control.StepController(od.control.body("human")).T, 2)
    0.45
    """

    def reset(self) -> None:
        """Forgets what was."""
        super().reset()
        self.omega = 1 / self.time
        self.T = STEP * self.time
        self.stride = 2 * self.T
        self.width = float(self.body.hips[0, 1] - self.body.hips[1, 1])
        self.stance = 0  # the foot that stands, or will first
        self.elapsed: float | None = None  # since the begin of the step; None: standing on both feet
        self.lead = LEAD  # by how much later a swing must end, for the foot to touch the ground at the time T
        self.rest = 0.0
        self.pressure, self.target, self.left = np.zeros(2), np.zeros(3), 0.0
        self.end: Array | None = None  # where the divergent component shall be at the end of this step, on known ground
        self.aim: Array | None = None  # where the divergent component is led on both feet

    # --- the clock of steps

    def plan(self, state: State, command: Command) -> Wanted:
        """Feet and body of a walk."""
        if self.elapsed is None:
            self._stand(state, command)
        else:
            self._step(state, command)
        standing, feet = np.zeros(2), np.zeros((2, 6))
        for k in range(2):
            standing[k], feet[k] = self._foot(state, k)
        self.stepping = self.elapsed is not None
        self.phase = 0.5 * self.stance + 0.5 * min(1.0, (self.elapsed or 0.0) / self.T)
        linear = self._linear(state)
        return Wanted(linear, self._angular(state), feet, self._joints(state), standing)

    def _xi(self, state: State) -> Array:
        return np.asarray(state.com[:2] + state.velocity[:2] / self.omega)

    def _stand(self, state: State, command: Command) -> None:
        """On both feet: weight over the middle, or, to start, over the first standing foot."""
        self.rest += PERIOD
        middle = state.seen.p[:, :2].mean(axis=0)
        goal = middle
        if command.walk and self.rest > SETTLE:
            place, b = state.seen.p[self.stance, :2], self._offset(state, self.T)
            goal = place + b
            if self.rest > 2 * SETTLE or np.linalg.norm(self._xi(state) - goal) < 0.015:
                self._begin(state)
                return
        share = min(1.0, PERIOD / 0.1)
        self.aim = self._xi(state) if self.aim is None else self.aim
        self.aim = self.aim + share * (goal - self.aim)
        xi = self._xi(state)
        self.pressure = self.aim + (1 + FEEDBACK) * (xi - self.aim)

    def _begin(self, state: State) -> None:
        self.elapsed, self.T, self.end = 0.0, STEP * self.time, None
        self.target = state.seen.p[1 - self.stance].copy()
        self.left = float(self.target[2])  # height of the foot behind

    def _step(self, state: State, command: Command) -> None:
        """One foot stands, the other swings: its foothold and time; the center of pressure."""
        assert self.elapsed is not None
        self.elapsed += PERIOD
        p, xi = state.seen.p[self.stance, :2], self._xi(state)
        swinging = 1 - self.stance
        landed = bool(state.touching[swinging]) and self.elapsed > self._lift() + LATE * (self.T - self._lift())
        if landed or self.elapsed > self.T + 0.15:
            self.lead += LEARN * min(max(self.T - self.elapsed, -MOST_LEAD), MOST_LEAD)
            self.lead = min(max(self.lead, -MOST_LEAD), MOST_LEAD)
            self._next(state, command)
            return
        if self.elapsed < self.T - STILL and round(self.elapsed / PERIOD) % CHOICES == 0:
            self._choose(state, p, xi)
        reference = p + self._offset(state, self.T) * math.exp(self.omega * min(self.elapsed, self.T))
        if self.footing and self.end is not None:
            reference = p + (self.end - p) * math.exp(-self.omega * max(0.0, self.T - self.elapsed))
        self.pressure = self._within(state, p + (1 + FEEDBACK) * (xi - reference))

    def _lift(self) -> float:
        return BOTH * self.time

    def _next(self, state: State, command: Command) -> None:
        """The foot has landed: it is the one that stands."""
        self.swings = [None, None]
        self.stance = 1 - self.stance
        still = not command.walk and float(np.abs(self.velocity).max()) < SLOW
        apart = turned(state.heading)[:2, :2].T @ (state.seen.p[0, :2] - state.seen.p[1, :2])
        if still and abs(apart[0]) < 0.06 and abs(apart[1] - self.width) < 0.06:
            self.elapsed, self.rest, self.aim = None, 0.0, self._xi(state)
        else:
            self._begin(state)

    # --- footholds

    @property
    def _apart(self) -> float:
        """Mean distance of the feet: a walk sideways makes narrow steps and wide ones, and feet must not meet."""
        return self.width + max(0.0, abs(float(self.aimed[1])) * STEP * self.time - SPARE * self.width)

    def _periodic(self, T: Array, side: float) -> tuple[Array, Array]:
        """The step to the next foothold and b, where xi is beside the standing foot at the begin of a step, of a
        periodic walk that turns: forward + i sideways, in axes of the heading in the middle of a step of time T on a
        foot on this side, 1 the left one."""
        growth, turn = np.exp(self.omega * T), np.exp(1j * self.velocity[2] * T)
        way, apart = complex(*self.aimed) * T * np.sqrt(turn), 0.5j * side * self._apart * (1 + turn)
        return way - apart, way / (growth - turn) - apart / (growth + turn)

    def _heading(self, state: State) -> Array:
        """Axes (2, 2) of the heading in the middle of this step."""
        return turned(state.heading + self.velocity[2] * (self.T / 2 - (self.elapsed or 0.0)))[:2, :2]

    def _offset(self, state: State, T: float) -> Array:
        """b, where xi is beside the standing foot at the begin of a periodic step (2)."""
        b = self._periodic(np.array(T), 1.0 - 2 * self.stance)[1]
        return np.asarray(self._heading(state) @ [b.real, b.imag])

    def _choose(self, state: State, p: Array, xi: Array) -> None:
        """The time and the place of the next foothold: near the usual ones, within reach, xi where it should be."""
        assert self.elapsed is not None
        swing = self.swings[1 - self.stance]
        away = 0.0 if swing is None else float(np.linalg.norm(self.target[:2] - swing.place[:2]))
        soonest = self.elapsed + FIXED + away / HASTE
        low, high = max(FASTEST * self.time, soonest), SLOWEST * self.time
        times = np.linspace(low, max(high, low), 25) if soonest < self.T else np.array([self.T])
        choose = self._on_map if self.footing else self._anywhere
        choose(state, p, xi, times)

    def _anywhere(self, state: State, p: Array, xi: Array, times: Array) -> None:
        """The choice where every place may be a foothold."""
        axes, side = self._heading(state), 1.0 - 2 * self.stance
        end = complex(*(axes.T @ (xi - p))) * np.exp(self.omega * (times - (self.elapsed or 0.0)))
        usual, turn = self._periodic(times, side)[0], np.exp(1j * self.velocity[2] * times)
        wanted = end - turn * self._periodic(times, -side)[1]
        reach, (near, far) = REACH * self.body.height, (x * self.width for x in BESIDE)
        place = np.clip(wanted.real, -reach, reach) - 1j * side * np.clip(-side * wanted.imag, near, far)
        missed, unusual = np.abs(wanted - place) ** 2, np.abs(place - usual) ** 2
        cost = 1000 * missed + 1.0 * unusual + 20.0 * ((times - STEP * self.time) / self.time * 0.1) ** 2
        k = int(np.argmin(cost))
        self._go(float(times[k]), np.array([*(p + axes @ [place[k].real, place[k].imag]), self.ground]))

    def _ways(self, state: State, p: Array) -> tuple[Array, Array, Array]:
        """Ways on known ground, see `Footing.ways`, whose steps are near those of the periodic walk."""
        assert self.footing
        axes, usual = self._heading(state), STEP * self.time
        sides = (1.0 - 2 * self.stance) * (-1.0) ** np.arange(AHEAD)
        turns = np.exp(1j * self.velocity[2] * usual * np.arange(AHEAD))
        twice = 2 * self.velocity[:2]  # the correction hurries and waits, but turns no step back
        speed = complex(*np.clip(self.aimed, np.minimum(twice, 0.0), np.maximum(twice, 0.0)))
        steps = turns * (speed * usual - 1j * sides * self._apart)
        least = turns * -1j * sides * BESIDE[0] * self.width
        return self.footing.ways(p, *(np.stack([z.real, z.imag], axis=1) @ axes.T for z in (steps, least)))

    def _on_map(self, state: State, p: Array, xi: Array, times: Array) -> None:
        """The choice on known ground, with the footholds that follow: the divergent component shall begin the next step
        where a walk over them needs it, as far as the center of pressure can bring it there."""
        assert self.footing
        axes, side, usual = self._heading(state), 1.0 - 2 * self.stance, STEP * self.time
        ways, first, off = self._ways(state, p)
        kept = math.exp(-self.omega * usual)
        shares = (1 - kept) * kept ** np.arange(AHEAD)
        later = np.einsum("k,mki->mi", shares[1:], ways[:, 1:, :2]) + kept**AHEAD * ways[:, -1, :2]
        growth = np.exp(self.omega * (times - (self.elapsed or 0.0)))[:, None, None]
        end = p + growth * (xi - p)  # times, ways, 2
        wanted = ((end - later) / (1 - kept) - p) @ axes
        reach, (near, far) = REACH * self.body.height, (x * self.width for x in BESIDE)
        low, high = np.sort([[-reach, -side * near], [reach, -side * far]], axis=0)
        places = self.footing.onto(first, p + np.clip(wanted, low, high) @ axes.T)
        begin = shares[0] * places[..., :2] + later
        foot, R = self.body.feet[self.stance], state.seen.R[self.stance][:2, :2]
        missed = (end - begin) @ R
        pushed = CORRECTED * INSIDE * np.array([foot.half_length, foot.half_width]) * (growth - 1)
        beyond = missed - np.clip(missed, -pushed, pushed)
        unusual = off + np.sum((places - ways[:, 0])[..., :2] ** 2, axis=-1)
        slow = 20.0 * ((times - usual) / self.time * 0.1) ** 2
        cost = 1000 * np.sum(beyond**2, axis=-1) + 10 * np.sum(missed**2, axis=-1) + unusual + slow[:, None]
        k, m = np.unravel_index(int(np.argmin(cost)), cost.shape)
        self._go(float(times[k]), places[k, m])
        self.end = begin[k, m]

    def _go(self, T: float, place: Array) -> None:
        """The time of this step changes gradually, and the foothold at once."""
        self.T += min(max(T - self.T, -0.02), 0.02)
        self.stride = 2 * self.T
        self.target = np.array([*place[:2], place[2] - BELOW])

    # --- tasks

    def _foot(self, state: State, k: int) -> tuple[float, Array]:
        if self.elapsed is None or k == self.stance or self.elapsed < self._lift():
            return self.share[k], self._standing(state, k)
        self.swings[k] = self.swings[k] or Swing(state.seen.p[k], CLEARANCE * self.body.height)
        assert self.heading is not None
        return 0.0, self._swinging(state, k, self.target, self.T - self._lift() - SOON + self.lead, self.heading)

    def _within(self, state: State, pressure: Array) -> Array:
        """The center of pressure within the soles that stand."""
        assert self.elapsed is not None
        foot, R = self.body.feet[self.stance], state.seen.R[self.stance][:2, :2]
        p = state.seen.p[self.stance, :2]
        half = INSIDE * self.share[self.stance] * np.array([foot.half_length, foot.half_width])
        if self.elapsed < self._lift():  # also toward the other foot
            other = R.T @ (state.seen.p[1 - self.stance, :2] - p)
            low, high = np.minimum(-half, other - half), np.maximum(half, other + half)
        else:
            low, high = -half, half
        return np.asarray(p + R @ np.clip(R.T @ (pressure - p), low, high))

    def _linear(self, state: State) -> Array:
        kz, dz = self.gains.height
        level = float(state.seen.p[self.stance, 2]) if self.elapsed is not None else float(state.seen.p[:, 2].mean())
        if self.footing and self.elapsed is not None:  # from between the last two feet to between the next two
            share = min(1.0, self.elapsed / self.T)
            level += ((1 - share) * (self.left - level) + share * (self.target[2] + BELOW - level)) / 2
        self.ground += 0.02 * (level - self.ground)
        above = state.com[2] - self.ground
        lift = kz * (LOW * self.body.height - above) - dz * state.velocity[2]
        lift = min(max(lift, -MOST_LIFT), MOST_LIFT)
        pull = (9.81 + lift) / above * (state.com[:2] - self.pressure)
        return np.array([*pull, lift])
