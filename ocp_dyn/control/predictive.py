"""A controller by predictive control: a plan of the whole body every few updates, its gains in between."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._base.checks import whole
from .._base.types import Array
from ..constraints import Contact
from ..mechanism.loads import Loads
from ..ocp import Command, Foothold, GaitPattern, Horizon, Tuning
from .bodies import Body
from .controller import HURRY, SLOW, Controller
from .world import PERIOD

EVERY = 5
"""Updates from one plan to the next: 100 plans a second."""


def horizon(body: Body, tuning: Tuning | None = None) -> Horizon:
    """The window of a body: a trot of 0.5 s on four feet, a walk of 0.8 s on two.

    >>> od.control.horizon(od.control.body("human")).intervals
    20
    """
    feet = [
        Foothold(Contact(f.frame), half_length=f.half_length, half_width=f.half_width)
        if f.flat
        else Foothold(Contact(f.frame, axes="xyz"))
        for f in body.feet
    ]
    four = len(feet) == 4
    model = body.model if body.limits else body.model.with_limits(lower=-np.inf, upper=np.inf)
    gait = GaitPattern.named("trot" if four else "walk", len(feet))
    return Horizon(
        model, feet, posture=body.posture, gait=gait, duration=0.5 if four else 0.8, intervals=20, tuning=tuning,
        loads=Loads(armature=True),
    )  # fmt: skip


class PredictiveController(Controller):
    """Predictive control by a `Horizon`, in the loop of `Controller.simulate`.

    every: updates from one plan to the next; between them the torques are tau + K dx, with the difference dx from the
    planned state. The program of a plan is solved before the state is known, in `prepare`, so that only the feedback
    delays the torques.

    >>> control = od.control.PredictiveController(od.control.body("go2"))  # doctest: +SKIP
    >>> control.simulate(ocp.Command(0.4), 5.0).fell  # doctest: +SKIP
    False
    """

    def __init__(self, body: Body, window: Horizon | None = None, every: int = EVERY) -> None:
        self.body, self.every, self.window = body, whole(every, "every", 1), window or horizon(body)
        self.reset()

    def reset(self) -> None:
        """Forgets what was."""
        self.control, self.velocity = self.window.controller(), np.zeros(3)
        self.stride, self.phase, self.stepping = self.control.gait.period, 0.0, False
        self.t, self._count = 0.0, 0

    def __call__(self, t: float, q: Array, qd: Array, touching: Array, command: Command) -> Array:
        """Torques (n) for a state at t; touching (feet): whether a foot feels the ground."""
        command = self._gradual(command)
        self.t, self._told = t, (command, touching)
        if self._count == 0:
            self.control.reset(t, q, qd)
            self.control.prepare(t, command, touching=touching)
        if self._count % self.every == 0:
            self.action = self.control.feedback(q, qd)
            memory = self.control.body.memory.unpack(self.control.memory)
            self.phase, self.stepping = float(memory["phase"]), bool(memory["swinging"].any()) or command.walk
        self._count += 1
        return np.asarray(np.clip(self.control.torques(t, q, qd), -self.body.strength, self.body.strength))

    def _gradual(self, command: Command) -> Command:
        """The command with velocities that change gradually; the body walks until it has stopped."""
        wanted = command.walk * np.array([command.forward, command.sideways, command.turning])
        self.velocity = self.velocity + np.clip(wanted - self.velocity, -HURRY * PERIOD, HURRY * PERIOD)
        forward, sideways, turning = self.velocity.tolist()
        walk = command.walk or bool(np.abs(self.velocity).max() > SLOW)
        return replace(command, forward=forward, sideways=sideways, turning=turning, walk=walk)

    def prepare(self) -> None:
        """Solves the next program, for the state that is planned at its time."""
        if self._count % self.every == 1 % self.every:
            command, touching = self._told
            self.control.prepare(self.t + self.every * PERIOD, command, touching=touching)
