"""A controller in MuJoCo: what it is told, when its torques act, pushes, and whether the body falls."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from .._base.checks import within
from .._base.types import Array
from ..ocp import Command
from .bodies import Body
from .run import ControlledRun
from .world import PERIOD, TIMESTEP, SimulatedWorld, World, noisy

LOWEST, STEEPEST = 0.65, math.radians(50.0)
"""The body has fallen when its center of mass is below this share of its height above its lowest foot, or when its base
tilts by this angle."""

LOADED = 0.02
"""Share of the weight from which a foot feels the ground."""

EVERY = 10
"""Time steps between two records: 100 a second."""

PUSH = 0.1
"""Duration of a push [s]."""

APART = 2.5
"""Least time between two pushes, and before the first one [s]."""

Commands = Callable[[float], Command]


class Driver(Protocol):
    """Methods that a simulation needs of a controller."""

    body: Body
    stride: float
    phase: float

    def __call__(self, t: float, q: Array, qd: Array, touching: Array, command: Command) -> Array: ...

    def prepare(self) -> None: ...


@dataclass(frozen=True)
class Push:
    """A push at the mass center of the trunk: change of velocity (2) [m/s] of the whole mass, forward and to the left;
    it begins at this phase, a share of the stride.

    >>> od.control.Push((0.0, 0.25), phase=0.5).phase
    0.5
    """

    change: tuple[float, float]
    phase: float = 0.0

    def __post_init__(self) -> None:
        within(self.phase, 0.0, 1.0, "Push phase must lie between 0 and 1")
        for value in self.change:
            within(value, -20.0, 20.0, "Push change must lie between -20 and 20 m/s")


def pushes(change: float, phases: int = 8) -> tuple[Push, ...]:
    """Pushes that change the speed by `change` [m/s], forward and sideways at each of `phases` phases of a stride.

    >>> len(od.control.pushes(0.25))
    16
    """
    at = [k / phases for k in range(phases)]
    return tuple(Push(way, phase) for way in ((change, 0.0), (0.0, change)) for phase in at)


@dataclass(eq=False)
class Loop:
    """The state of a simulation, see `Controller.simulate`."""

    control: Driver
    command: Command | Commands
    world: World
    waiting: list[Push]
    delay: float
    seed: int
    done: list[tuple[float, Push]] = field(default_factory=list)
    push_end: float = -math.inf
    phase: float = 0.0

    def __post_init__(self) -> None:
        self.body = self.control.body
        self.asked = self.command if callable(self.command) else (lambda _, fixed=self.command: fixed)
        self.scene = SimulatedWorld(self.body, self.world)
        self.rng = np.random.default_rng(self.seed)
        q = standing(self.body)
        if self.world.terrain:
            q[2] += float(self.world.terrain.height(0.0, 0.0))
        self.scene.place(q, np.zeros(self.body.model.nv))
        self.tall = self.scene.height
        self.every = round(PERIOD / TIMESTEP)
        self.held = np.zeros(self.body.model.nv)
        self.coming: deque[tuple[int, Array]] = deque()
        self.records: dict[str, list[Any]] = {name: [] for name in ControlledRun.RECORDED}
        self.times: list[float] = []
        self.touching = np.ones(len(self.body.feet), bool)

    def run(self, seconds: float, progress: Callable[[float], None] | None) -> ControlledRun:
        """Simulates; the records."""
        begin, steps, fell, k = time.process_time(), round(seconds / TIMESTEP), False, 0
        for k in range(steps):
            if k % self.every == 0:
                self._update(k)
            while self.coming and self.coming[0][0] <= k:
                self.held = self.coming.popleft()[1]
            self.scene.step(self.held)
            if k % EVERY == 0:
                self._record()
                fell = self._fallen()
                if fell:
                    break
                if progress is not None and k % 1000 == 0:
                    progress(k * TIMESTEP)
        spent = time.process_time() - begin
        records = {name: np.array(values) for name, values in self.records.items()}
        return ControlledRun(
            self.body, self.world, **records, solve_ms=1e3 * np.array(self.times), fell=fell,
            seconds=(k + 1) * TIMESTEP, spent=spent, pushes=tuple(self.done), stride=self.control.stride,
        )  # fmt: skip

    def _update(self, k: int) -> None:
        """An update of the controller, whose torques act one period, and the delay, later."""
        scene, t = self.scene, self.scene.t
        q, qd = noisy(scene.q, scene.qd, self.world.noise, self.rng)
        weight = self.body.model.weight
        felt = [sum(force[2] for _, force in contacts) for contacts in scene.forces()]
        self.touching = np.array(felt) > LOADED * weight
        before = time.process_time()
        tau = self.control(t, q, qd, self.touching.astype(float), self.asked(t))
        self.times.append(time.process_time() - before)
        self.control.prepare()
        self.coming.append((k + self.every + round(self.delay / TIMESTEP), tau))
        self._push(t)

    def _push(self, t: float) -> None:
        """Begins and ends pushes."""
        if t >= self.push_end:
            self.scene.pushing[:] = 0.0
        last = self.done[-1][0] if self.done else 0.0
        if not self.waiting or t < last + APART or not self.asked(t).walk:
            return
        before, now = self.phase, self.control.phase
        self.phase = now
        if (self.waiting[0].phase - before) % 1.0 <= (now - before) % 1.0 < 0.5:
            push = self.waiting.pop(0)
            heading = math.atan2(*self.scene.data.xmat[1].reshape(3, 3)[[1, 0], 0])
            c, s = math.cos(heading), math.sin(heading)
            force = self.body.mass / PUSH * np.array(push.change)
            self.scene.pushing[:2] = c * force[0] - s * force[1], s * force[0] + c * force[1]
            self.push_end = t + PUSH
            self.done.append((t, push))

    def _record(self) -> None:
        scene, control = self.scene, self.control
        contacts = scene.forces()
        total = [sum((force for _, force in foot), np.zeros(3)) for foot in contacts]
        steepest = [
            max((math.hypot(f[0], f[1]) / f[2] for _, f in foot if f[2] > 1.0), default=0.0) for foot in contacts
        ]
        com, asked = scene.data.subtree_com[0].copy(), self.asked(scene.t)
        command = asked.walk * np.array([asked.forward, asked.sideways, asked.turning])
        row = {
            "t": scene.t, "q": scene.q, "qd": scene.qd, "tau": self.held.copy(), "com": com,
            "forces": np.array(total), "feet": scene.places(), "steepest": np.array(steepest),
            "command": command, "strides": control.stride, "phases": control.phase,
        }  # fmt: skip
        for name, value in row.items():
            self.records[name].append(value)

    def _fallen(self) -> bool:
        data = self.scene.data
        if not np.all(np.isfinite(data.qpos)):
            return True
        upright = float(data.xmat[1].reshape(3, 3)[2, 2])
        return self.scene.height < LOWEST * self.tall or upright < math.cos(STEEPEST)


def standing(body: Body) -> Array:
    """The posture, with its feet on the ground z = 0 (nq)."""
    q = body.posture.copy()
    seen = body.see(q, np.zeros(body.model.nv))
    q[2] -= min(float(p[2]) - foot.radius for p, foot in zip(seen.p, body.feet, strict=True))
    return np.asarray(q)
