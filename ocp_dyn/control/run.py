"""A controlled run in MuJoCo: its records and its figures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._base.types import Array
from .bodies import Body
from .world import PERIOD, World

SEGMENT = 2.0
"""Time over which the speed is compared with the command [s]."""

SETTLED = 0.7
"""Time after a change of the command from which on speeds are compared [s]."""

START = 2.0
"""Time at the begin of a run that is not compared: standing, and the first steps [s]."""


@dataclass(frozen=True, eq=False)
class ControlledRun:
    """A run of N records, 100 a second.

    t (N) [s], q (N, nq), qd (N, nv), tau (N, nv); com (N, 3): center of mass [m]; forces (N, feet, 3): of the ground on
    every foot [N]; feet (N, feet, 3): places of the frames of the feet [m]; steepest (N, feet): largest ratio of
    tangential to vertical force among the contacts of a foot; command (N, 3): forward, sideways [m/s], turn [rad/s],
    zero when the controller is asked to stand; strides (N): time of a stride then [s]; phases (N): share of the stride.
    solve_ms: processor time of every update [ms]. fell, seconds: whether the body fell, and when. spent: processor time
    of all [s]. pushes: (time, push) of those that were given.

    >>> run.figures()["fell"]  # doctest: +SKIP
    False
    """

    RECORDED: ClassVar[tuple[str, ...]] = (
        "t", "q", "qd", "tau", "com", "forces", "feet", "steepest", "command", "strides", "phases",
    )  # fmt: skip

    body: Body
    world: World
    t: Array
    q: Array
    qd: Array
    tau: Array
    com: Array
    forces: Array
    feet: Array
    steepest: Array
    command: Array
    strides: Array
    phases: Array
    solve_ms: Array
    fell: bool
    seconds: float
    spent: float
    pushes: tuple[Any, ...]
    stride: float

    def __repr__(self) -> str:
        how = "fell after" if self.fell else "stood for"
        return f"ControlledRun({self.body.name!r} {how} {self.seconds:.3g} s, {len(self.t)} records)"

    @property
    def heading(self) -> Array:
        """Heading of the base (N) [rad], without jumps."""
        x, y, z, w = self.q[:, 3:7].T
        return np.unwrap(np.arctan2(2 * (x * y + z * w), 1 - 2 * (y * y + z * z)))

    @property
    def velocity(self) -> Array:
        """Forward, sideways [m/s] of the center of mass, turn [rad/s] (N, 3)."""
        h = self.t[1] - self.t[0]
        v = np.gradient(self.com[:, :2], h, axis=0)
        c, s = np.cos(self.heading), np.sin(self.heading)
        return np.stack([c * v[:, 0] + s * v[:, 1], c * v[:, 1] - s * v[:, 0], np.gradient(self.heading, h)], axis=1)

    def means(self) -> tuple[Array, Array]:
        """Mean velocity and command (segments, 3) over whole strides at the end of every SEGMENT of the run, where
        the command has not changed since SETTLED s before these strides."""
        velocity, found = self.velocity, []
        for begin in np.arange(START, self.t[-1] - SEGMENT + 1e-9, SEGMENT):
            end = begin + SEGMENT
            stride = float(np.mean(self.strides[(self.t > begin) & (self.t <= end)]))
            span = stride * max(1, math.floor(0.6 * SEGMENT / stride))
            here, same = ((self.t > end - span - before) & (self.t <= end) for before in (0.0, SETTLED))
            if np.ptp(self.command[same], axis=0).max() == 0:
                found.append((velocity[here].mean(axis=0), self.command[here][-1]))
        if not found:
            return np.zeros((0, 3)), np.zeros((0, 3))
        return np.array([v for v, _ in found]), np.array([c for _, c in found])

    @property
    def speed_error(self) -> float:
        """Mean distance of mean velocity and command, over the mean commanded speed; NaN without a command."""
        velocity, command = self.means()
        size = float(np.linalg.norm(command[:, :2], axis=1).sum()) if len(command) else 0.0
        if size < 1e-9:
            return math.nan
        return float(np.linalg.norm((velocity - command)[:, :2], axis=1).sum()) / size

    @property
    def load(self) -> float:
        """Largest torque over the limit of its joint."""
        strength = self.body.strength[6:]
        return float((np.abs(self.tau[:, 6:]) / strength).max())

    def figures(self) -> dict[str, Any]:
        """Numbers of the run.

        >>> run.figures()["seconds"]  # doctest: +SKIP
        60.0
        """
        velocity, command = self.means()
        turn = np.abs(velocity - command)[:, 2].mean() if len(command) else math.nan
        return {
            "robot": self.body.name,
            "fell": self.fell,
            "seconds": self.seconds,
            "speed_error": self.speed_error,
            "turn_error": float(turn),
            "solve_ms": {"median": float(np.median(self.solve_ms)), "p99": float(np.percentile(self.solve_ms, 99))},
            "missed_percent": 100 * float(np.mean(self.solve_ms > 1e3 * PERIOD)),
            "real_time_factor": self.seconds / self.spent,
            "peak_torque": self.load,
            "distance": float(np.linalg.norm(self.com[-1, :2] - self.com[0, :2])),
            "pushes": len(self.pushes),
        }
