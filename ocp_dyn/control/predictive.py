"""A controller by predictive control: a plan of the whole body every few updates, its gains in between."""

from __future__ import annotations

import numpy as np

from .._base.checks import whole
from .._base.types import Array
from ..constraints import Contact
from ..ocp import Command, Foothold, GaitPattern, Horizon, Tuning
from .bodies import Body
from .controller import Controller

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
        model, feet, posture=body.posture, gait=gait, duration=0.5 if four else 0.8, intervals=20, tuning=tuning
    )


class PredictiveController(Controller):
    """Predictive control by a `Horizon`, in the loop of `Controller.simulate`.

    every: updates from one plan to the next; between them the torques are tau + K dx, with the difference dx from the
    planned state.

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
        if self._count % self.every == 0:
            self.action = self.control.update(t, q, qd, command, touching=touching)
            self._begin = t
            memory = self.control.body.memory.unpack(self.control.memory)
            self.phase, self.stepping = float(memory["phase"]), bool(memory["swinging"].any()) or command.walk
        self._count += 1
        asked = command.forward, command.sideways, command.turning
        self.t, self.velocity = t, command.walk * np.array(asked)
        found, h = self.action, t - self._begin
        planned = found.plan.q[0], found.plan.qd[0]
        model = self.body.model
        moved = np.asarray(model.integrate(planned[0], h * planned[1] + h * h / 2 * found.qdd), dtype=float).ravel()
        ahead = np.concatenate(
            [
                np.asarray(model.difference(moved, q), dtype=float).ravel(),
                qd - planned[1] - h * found.qdd,
            ]
        )
        tau = found.tau.copy()
        tau[6:] += found.K @ ahead
        return np.asarray(np.clip(tau, -self.body.strength, self.body.strength))
