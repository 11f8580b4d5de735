"""The base class of controllers: commands, gains, the tasks of a whole-body program at every update."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._base.checks import within
from .._base.types import Array
from ..ocp import Command, Terrain
from .bodies import Body, Seen
from .footing import Footing
from .run import ControlledRun
from .simulation import Loop, Push
from .swing import Swing
from .whole_body import Found, TaskWeights, Wanted, WholeBody
from .world import PERIOD, TIMESTEP, World

HURRY = np.array([1.5, 1.0, 1.0])
"""Largest rates of commanded velocities: forward, sideways [m/s^2], turn [rad/s^2]."""

ROCKING, LEAST_SOLE, RESTED = 3.0, 0.1, 0.05
"""Rate of tilt at which a sole that stands is taken to rock about an edge that nobody knows of [rad/s]; the share of it
on which it then stands, and the time in which it stands on all of it again [s]."""

SLOW = 0.02
"""Largest commanded velocity at which a body may stop [m/s, rad/s]."""

TRIM, MOST_TRIM = 0.7, np.array([0.25, 0.06])
"""Gain of the integral of the velocity's error [1/s], and its bounds forward and sideways [m/s]: it makes up for what
the walk of a body differs from the simple laws of footholds. Sideways feet would have to cross for more."""

LAG = 0.4
"""Time by which the velocity is expected to follow a command that changes, in strides: the part of the error that the
next footholds take away by themselves is not summed up."""


@dataclass(frozen=True)
class Gains:
    """Gains of the tasks: stiffness [1/s^2] and damping [1/s] of place, height, tilt, swinging feet, joints; damping of
    feet that stand [1/s].

    >>> od.control.Gains().swing
    (600.0, 45.0)
    """

    place: tuple[float, float] = (30.0, 11.0)
    height: tuple[float, float] = (120.0, 20.0)
    tilt: tuple[float, float] = (200.0, 25.0)
    swing: tuple[float, float] = (600.0, 45.0)
    joints: tuple[float, float] = (80.0, 16.0)
    standing: float = 20.0


@dataclass(eq=False)
class State:
    """State at an update, with what follows from it: center of mass and its velocity, base axes, heading [rad]."""

    t: float
    q: Array
    qd: Array
    seen: Seen
    touching: Array
    com: Array
    velocity: Array
    heading: float


class Controller:
    """Base class of controllers: reads the state, lets `plan` say what the feet and the body shall do, and finds the
    torques by `WholeBody`.

    Of a command it follows forward, sideways, turning and walk. A derived class sets `stride` [s], `phase` (share of
    the stride) and `stepping` (whether it walks), defines `plan(state, command) -> Wanted`, and extends `reset()`.

    terrain: what it knows of the ground; None: level ground, from which feet may find what differs.

    >>> isinstance(od.control.controller(od.control.body("human")), od.control.Controller)
    True
    """

    stride: float

    def __init__(
        self,
        body: Body,
        weights: TaskWeights | None = None,
        gains: Gains | None = None,
        terrain: Terrain | None = None,
    ) -> None:
        self.body, self.gains = body, gains or Gains()
        self.program = WholeBody(body, weights or TaskWeights())
        foot = body.feet[0]
        self.footing = terrain and Footing(terrain, foot.half_length or foot.radius, foot.half_width or foot.radius)
        self.time = math.sqrt(body.height / 9.81)
        self.reset()

    def reset(self) -> None:
        """Forgets what was: the next call is the first."""
        self.swings: list[Swing | None] = [None] * len(self.body.feet)
        self.share = np.ones(len(self.body.feet))
        self.velocity, self.trim, self.expected = np.zeros(3), np.zeros(2), np.zeros(2)
        self.found: Found | None = None
        self.heading: float | None = None
        self.phase, self.stepping, self.ground, self.t = 0.0, False, 0.0, 0.0

    def simulate(
        self,
        command: Command | Callable[[float], Command],
        seconds: float,
        *,
        world: World | None = None,
        pushes: Sequence[Push] = (),
        delay: float = 0.0,
        seed: int = 0,
        progress: Callable[[float], None] | None = None,
    ) -> ControlledRun:
        """A run in MuJoCo from standing, until the body falls or the time is over; the controller is reset before.

        command: what the controller is asked for, or a function of the time [s]. pushes: one after the other, 2.5 s at
        least between them. delay [s]: of the torques, beside the one period that a controller knows of. seed: of the
        noise of the sensors.

        The contacts are MuJoCo's default ones, and the time step is 1 ms. The controller gets what sensors tell: state
        of base and joints, and which feet feel the ground. `ModuleNotFoundError` without MuJoCo.

        >>> run = od.control.controller(od.control.body("go2")).simulate(ocp.Command(0.4), 2.0)  # doctest: +SKIP
        >>> run.fell  # doctest: +SKIP
        False
        """
        within(seconds, TIMESTEP, 1e5, "seconds must lie between 0.001 and 100000")
        within(delay, 0.0, 1.0, "delay must lie between 0 and 1 s")
        self.reset()
        return Loop(self, command, world or World(), list(pushes), delay, seed).run(seconds, progress)

    def __call__(self, t: float, q: Array, qd: Array, touching: Array, command: Command) -> Array:
        """Torques (n) that act from t + PERIOD on; touching (feet): whether a foot feels the ground."""
        if self.found is not None:
            q, qd = _ahead(q, qd, self.found.qdd, PERIOD)
        seen = self.body.see(q, qd)
        heading = math.atan2(seen.base[1, 0], seen.base[0, 0])
        if self.heading is None:
            self.heading, foot = heading, self.body.feet[0]
            self.ground = float(seen.p[0, 2]) - (0.0 if foot.flat else foot.radius)
        speed = seen.H[:3] @ qd / self.body.mass
        state = State(t + PERIOD, q, qd, seen, touching, seen.com, speed, heading)
        self._follow(command, state)
        self._rock(state)
        wanted = self.plan(state, command)
        self.found = self.program(q, qd, seen, wanted)
        self.t = t
        return self.found.tau

    def prepare(self) -> None:
        """Work for the next update after the torques of this one are sent; none but in predictive control."""

    def plan(self, state: State, command: Command) -> Wanted:
        """The wanted accelerations of feet and body."""
        raise NotImplementedError

    def _follow(self, command: Command, state: State) -> None:
        """The commanded velocity, which changes gradually, and its correction."""
        most = HURRY * PERIOD
        wanted = np.array([command.forward, command.sideways, command.turning]) * command.walk
        self.velocity = self.velocity + np.clip(wanted - self.velocity, -most, most)
        if not self.stepping:
            self.expected, self.trim = np.zeros(2), np.zeros(2)
            return
        self.expected += PERIOD / (LAG * self.stride) * (self.velocity[:2] - self.expected)
        off = self.expected - turned(state.heading)[:2, :2].T @ state.velocity[:2]
        self.trim = np.clip(self.trim + PERIOD * TRIM * off, -MOST_TRIM, MOST_TRIM)

    def _rock(self, state: State) -> None:
        """The share of its sole on which every foot stands: one that rocks carries little moment, else the ankle would
        turn it over."""
        rates = np.linalg.norm((state.seen.G[:, :2] @ state.qd), axis=1)
        share = np.clip(1.0 - rates / ROCKING, LEAST_SOLE, 1.0)
        self.share += np.where(share < self.share, 1.0, PERIOD / RESTED) * (share - self.share)
        self.share[[s is not None for s in self.swings]] = 1.0

    @property
    def aimed(self) -> Array:
        """Velocity that footholds aim at (2) [m/s], in axes of the heading."""
        return np.asarray(self.velocity[:2] + self.trim)

    def _angular(self, state: State) -> Array:
        """Wanted angular acceleration of the base, which stands upright and turns to the wanted heading."""
        assert self.heading is not None
        self.heading += PERIOD * self.velocity[2]
        off = math.remainder(self.heading - state.heading, 2 * math.pi)
        off = min(max(off, -0.4), 0.4)
        self.heading = state.heading + off
        stiffness, damping = self.gains.tilt
        error = rotation_vector(state.seen.base.T @ turned(self.heading))
        rate = np.array([0.0, 0.0, self.velocity[2]])
        return np.asarray(stiffness * error + damping * (state.seen.base.T @ rate - state.qd[3:6]))

    def _joints(self, state: State) -> Array:
        """Wanted accelerations of the joints toward the posture."""
        stiffness, damping = self.gains.joints
        return np.asarray(stiffness * (self.body.posture[7:] - state.q[7:]) - damping * state.qd[6:])

    def _standing(self, state: State, k: int) -> Array:
        """Wanted acceleration (6) of foot k that stands: none, and no slip."""
        rows = state.seen.G[k] @ state.qd
        if not self.body.feet[k].flat:
            rows[3:] += np.cross(rows[:3], [0.0, 0.0, -self.body.feet[k].radius])
        return np.asarray(-self.gains.standing * rows)

    def _swinging(self, state: State, k: int, target: Array, duration: float, heading: float) -> Array:
        """Wanted acceleration (6) of foot k on its way to a foothold."""
        swing = self.swings[k]
        assert swing is not None
        R = state.seen.R[k]
        place, velocity, acceleration = swing.advance(PERIOD, target, duration)
        rows = state.seen.G[k] @ state.qd
        stiffness, damping = self.gains.swing
        linear = acceleration + stiffness * (place - state.seen.p[k]) + damping * (velocity - rows[3:])
        angular = stiffness * (R @ rotation_vector(R.T @ turned(heading))) - damping * rows[:3]
        return np.concatenate([angular, linear])


def turned(angle: float) -> Array:
    """Rotation about the vertical (3, 3)."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_vector(R: Array) -> Array:
    """Rotation vector (3) of a matrix, of angles below pi."""
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine, cosine = float(np.linalg.norm(axis)), (float(np.trace(R)) - 1) / 2
    return np.asarray(axis * (math.atan2(sine, cosine) / sine if sine > 1e-9 else 1.0))


def _ahead(q: Array, qd: Array, qdd: Array, h: float) -> tuple[Array, Array]:
    """State a time h later under an acceleration. The base has position and quaternion, all other joints numbers."""
    step = h * qd + h**2 / 2 * qdd
    found = np.concatenate([q[:3] + step[:3], q[3:7], q[7:] + step[6:]])
    v, (x, y, z, w) = step[3:6] / 2, q[3:7]
    found[3:7] += (w * v[0] + y * v[2] - z * v[1], w * v[1] + z * v[0] - x * v[2], w * v[2] + x * v[1] - y * v[0],
                   -x * v[0] - y * v[1] - z * v[2])  # fmt: skip
    found[3:7] /= np.linalg.norm(found[3:7])
    return found, qd + h * qdd
