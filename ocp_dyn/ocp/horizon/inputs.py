"""Inputs of a controller: what it is told is checked here, and what it is not told takes its default.

The checks of commands and schedules, and the defaults, are symbolic, so that Python and the exported C agree on them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.checks import numbers
from ..._base.types import Array, repr_in_message
from .feet import FAR, Body
from .gait_patterns import Command, GaitPattern
from .references import COMMAND, base_yaw

UNIT = 1e-3
"""Largest deviation of the length of a measured quaternion, and of a normal of the ground, from 1."""

STRIDE = 0.75
"""Largest distance of a foot from below its hip, in lengths of the leg."""

TILT = 1.0
"""Largest commanded roll and pitch [rad]."""

STEEP = 0.3
"""Least vertical part of a normal of the ground."""

LATEST = 1e-1 * FAR
"""Times [s] of larger size would meet those of swings that do not take place."""

COMMAND_FAULTS = (
    (
        "at these speeds a foot stands more than {stride:.3g} m from below its hip at its liftoff, and the legs are "
        "{legs:.3g} m long: ask for less speed, or for a gait of shorter period"
    ),
    "the legs reach {legs:.3g} m below the base: ask for a lower height",
    "roll and pitch must be at most {tilt:g} rad in size",
)
SCHEDULE_FAULTS = (
    "every swing must end after its liftoff, and before the next liftoff of its foot",
    "normals of the ground must be vectors of length 1 that point up",
    "a foothold is farther than {legs:.3g} m, the length of a leg, from where the gait puts it",
)
"""Faults in the order of `faults`."""


def begin(body: Body) -> ca.Function:
    """begin(time, q) -> memory of a robot whose feet are on the ground where they are, before its gait has begun."""
    time, q = SX.sym("time"), SX.sym("q", body.model.nq)
    parts = {name: SX.zeros(*(shape or (1,))) for name, shape in body.memory.shapes.items()}
    parts |= {"time": time, "end": SX(-1), "halt": SX(-1)}
    parts |= {"anchor": ca.vertcat(q[:2], base_yaw(q)), "ground": q[2] - body.height}
    return ca.Function("begin", [time, q], [body.memory.join(parts)], ["time", "q"], ["memory"])


def touching(body: Body) -> ca.Function:
    """touching(time, gait, memory) -> 1 for feet that stand as scheduled."""
    time, gait, memory = SX.sym("time"), SX.sym("gait", body.gait.size), SX.sym("memory", body.memory.size)
    g, m = body.gait.split(gait), body.memory.split(memory)
    fraction = m["phase"] + (time - m["time"]) / g["period"] + g["offsets"]
    found = fraction - ca.floor(fraction) < g["duty"]
    return ca.Function("touching", [time, gait, memory], [found], ["time", "gait", "memory"], ["feet"])


def faults(body: Body) -> ca.Function:
    """faults(command, gait, schedule, planned) -> (3 of the command, 3 of the schedule): sizes, a fault above 1.

    planned: the schedule of the gait.
    """
    given = [SX.sym("command", len(COMMAND)), SX.sym("gait", body.gait.size)]
    given += [SX.sym(name, body.schedule.size) for name in ("schedule", "planned")]
    command, g, s, planned = given[0], body.gait.split(given[1]), *map(body.schedule.split, given[2:])
    speed = ca.norm_2(command[:2]) + ca.fabs(command[2]) * float(np.linalg.norm(body.hips, axis=1).max())
    stands = ca.mmax(ca.if_else(g["duty"] < 1, g["duty"], 0)) * g["period"]
    tilt = ca.fmax(ca.fabs(command[4]), ca.fabs(command[5])) / TILT
    found = [speed * stands / 2 / (STRIDE * body.reach), command[3] / body.reach, tilt]
    real = s["liftoff"] < LATEST
    after = ca.horzcat(s["liftoff"][:, 1:], ca.repmat(FAR, body.n, 1))
    late = ca.logic_or(s["touchdown"] <= s["liftoff"], ca.logic_and(after < LATEST, after < s["touchdown"]))
    length = ca.sqrt(ca.sum2(s["normal"] ** 2))
    askew = ca.logic_or(ca.fabs(length - 1) > UNIT, s["normal"][:, 2] < STEEP)
    away = ca.sqrt(sum((s[name] - planned[name]) ** 2 for name in "xyz")) / body.reach
    found += [2 * ca.mmax(ca.logic_and(real, late)), 2 * ca.mmax(askew), ca.mmax(ca.if_else(real, away, 0))]
    names = ["command", "gait", "schedule", "planned"]
    return ca.Function("faults", given, [ca.vertcat(*found)], names, ["sizes"])


def check_faults(body: Body, sizes: Array) -> None:
    """ValueError for sizes above 1, of the command only or of the schedule too."""
    told = [f"command: {text}" for text in COMMAND_FAULTS] + [f"schedule: {text}" for text in SCHEDULE_FAULTS]
    for size, text in zip(sizes, told, strict=False):
        if size > 1:
            raise ValueError(text.format(stride=STRIDE * body.reach, legs=body.reach, tilt=TILT))


def as_state(body: Body, q: Any, qd: Any) -> tuple[Array, Array]:
    """A measured state, checked: sizes, finite numbers, a quaternion of length 1."""
    return unit_configuration(body.model.nq, q, "q"), _finite(qd, "qd", (body.nv,))


def unit_configuration(nq: int, q: Any, what: str) -> Array:
    """A configuration (nq), whose quaternion is made one of length 1; ValueError if it is none."""
    q = _finite(q, what, (nq,))
    length = float(np.linalg.norm(q[3:7]))
    if abs(length - 1) > UNIT:
        raise ValueError(
            f"{what}[3:7] must be a unit quaternion (x, y, z, w), got {q[3:7].round(4).tolist()} of length "
            f"{length:.4g}: normalize it, and mind the order: MuJoCo's begins with w"
        )
    q[3:7] /= length
    return np.asarray(q)


def as_command(command: Command | None, height: float) -> Array:
    """A command as numbers; height [m]: of the base, if the command tells none."""
    command = Command() if command is None else command
    if not isinstance(command, Command):
        raise TypeError(f"command must be an ocp.Command, got {repr_in_message(command)}")
    return command.vector(height)


def as_gait(gait: str | GaitPattern, feet: int) -> GaitPattern:
    """A gait of this number of feet, from its name or its pattern; ValueError for gaits of other feet."""
    if isinstance(gait, str):
        return GaitPattern.named(gait, feet)
    if not isinstance(gait, GaitPattern):
        raise TypeError(f"gait must be a name or an ocp.GaitPattern, got {repr_in_message(gait)}")
    if gait.feet != feet:
        raise ValueError(f"gait has offsets of {gait.feet} feet, expected {feet}, the feet of the horizon")
    return gait


def as_touching(body: Body, feet: Any) -> Array:
    """1 for feet that feel the ground."""
    return _finite(feet, "touching, one truth value per foot,", (body.n,))


def changed(body: Body, planned: Array, schedule: Any) -> Array:
    """A schedule with the parts that a user gives."""
    if not isinstance(schedule, Mapping):
        raise TypeError(f"schedule must be a mapping from names to arrays, got {repr_in_message(schedule)}")
    parts, shapes = body.schedule.unpack(planned), body.schedule.shapes
    for name, value in schedule.items():
        if name not in shapes:
            raise ValueError(f"schedule has no part {repr_in_message(name)}: it has {', '.join(shapes)}")
        parts[name] = _finite(value, f"schedule {name}", shapes[name])
    return body.schedule.pack(parts)


def _finite(value: Any, what: str, shape: tuple[int, ...]) -> Array:
    """Finite numbers of a shape."""
    found = numbers(value, what)
    if found.size != math.prod(shape) or not np.all(np.isfinite(found)):
        size = f"{shape[0]} finite numbers" if len(shape) == 1 else f"finite numbers of the shape {shape}"
        raise ValueError(f"{what} must be {size}, got {repr_in_message(value)}")
    return np.asarray(found.reshape(shape))
