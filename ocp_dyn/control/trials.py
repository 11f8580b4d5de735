"""Trials of a controller: commands that change, and worlds that its model does not have."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._base.checks import choice
from ..ocp import Command, Terrain, ramp, stairs
from .controller import Controller
from .run import SEGMENT, ControlledRun
from .simulation import APART, Push
from .world import WIDE, World, steps, stones

RANGES = ((0.0, 0.8), (-0.3, 0.3), (-0.5, 0.5))
"""Ranges of commands that change: forward, sideways [m/s], turn [rad/s]."""

STAND, STOP = 0.5, 3.0
"""Time of standing at the begin, and of stopping at the end of a run [s]."""

_TRIALS: dict[str, tuple[str, dict[str, Any]]] = {
    "mass": ("trunk 10 % heavier", {"world": World(trunk=1.1)}),
    "friction": ("friction 0.5", {"world": World(friction=0.5)}),
    "delay": ("torques 5 ms later", {"delay": 0.005}),
    "steps": ("platforms of 2 cm", {"world": World(terrain=steps(0.02))}),
    "slope": ("a slope of 5 degrees", {"world": World(terrain=ramp(math.radians(5.0), 40.0, width=WIDE, x=0.8))}),
    "noise": ("noise of the sensors", {"world": World(noise=1.0)}),
}
"""Differences of the world from the controller's model by name: words, and options of `Controller.simulate`."""


def trial(name: str) -> tuple[str, dict[str, Any]]:
    """Words for a difference of the world from the controller's model, by its name, and options of
    `Controller.simulate` for it.

    "mass", "friction", "delay", "steps", "slope", "noise"; `ValueError` for other names.

    >>> od.control.trial("slope")[0]
    'a slope of 5 degrees'
    """
    choice(name, _TRIALS, "trial")
    words, options = _TRIALS[name]
    return words, dict(options)


def terrain(name: str) -> Terrain:
    """Grounds that a controller knows: "stairs" (six of 10 cm, 32 cm deep) and "stones" (see `stones`).

    `ValueError` for other names.

    >>> od.control.terrain("stairs").plane("stair 6").point[2].__round__(1)
    0.6
    """
    if choice(name, ("stairs", "stones"), "terrain") == "stones":
        return stones()
    return stairs(rise=0.1, tread=0.32, count=6, width=4.0, landing=20.0, x=0.8)


def walk_and_stop(command: Command, seconds: float) -> Callable[[float], Command]:
    """Stands, follows a command, and stops before the end.

    >>> od.control.walk_and_stop(ocp.Command(0.4), 10.0)(8.0).walk
    False
    """
    still = Command(walk=False)
    return lambda t: command if STAND <= t < seconds - STOP else still


def changing(seed: int = 0, ranges: Any = RANGES) -> Callable[[float], Command]:
    """Commands that change every 2 s, drawn from ranges of forward, sideways [m/s] and turn [rad/s].

    >>> od.control.changing(1)(0.0).walk
    False
    """
    rng = np.random.default_rng(seed)
    drawn = [Command(*(rng.uniform(*r) for r in ranges)) for _ in range(1000)]
    return lambda t: drawn[int(t / SEGMENT) % 1000] if t >= STAND else Command(walk=False)


def pushed(
    control: Controller,
    command: Command,
    pushes: tuple[Push, ...],
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> tuple[list[ControlledRun], list[tuple[Push, bool]]]:
    """Runs in which a body is pushed once after the other, anew after each fall; the runs, and each push with whether
    the body stood it for 2.5 s. options: of `Controller.simulate`.

    >>> control, push = od.control.controller(od.control.body("human")), od.control.Push((0.1, 0.0))
    >>> runs, stood = od.control.pushed(control, ocp.Command(0.3), (push,))  # doctest: +SKIP
    >>> [up for _, up in stood]  # doctest: +SKIP
    [True]
    """
    left = list(pushes)
    runs: list[ControlledRun] = []
    stood: list[tuple[Push, bool]] = []

    def steady(t: float) -> Command:
        return command if t >= STAND else Command(walk=False)

    while left:
        # a push waits for its phase: at most one stride
        seconds = STAND + (len(left) + 1) * APART + len(left) * (control.stride + 0.5)
        run = control.simulate(steady, seconds, pushes=left, progress=progress, **options)
        runs.append(run)
        given = len(run.pushes)
        stood += [(push, not (run.fell and k == given - 1)) for k, (_, push) in enumerate(run.pushes)]
        left = left[given:]
        if not given:
            break
    return runs, stood
