"""Many steps of a human from standing to standing: the body starts at rest, speeds up, walks, slows down and stops.

Ten steps by default. Both feet stand side by side; the left one steps first; the last step puts the foot down beside the
other one, and the body comes to rest. Distance and time of the whole way are given; how long each step is, when it begins and how the body speeds up and slows down is for the solver to find. Feet roll from heel to toes as in
`human_walk`, and the costs are its costs. The motion has no period: every step has its own footholds and phases, 43
phases for ten steps.

People who start from rest nearly reach their steady speed at the end of the first step (Breniere and Do, J. Biomechanics
19, 1986). Here the second step has 88 % of the speed of the middle ones, and the last but one 92 %.

    python -m problems.many_steps [--steps 10] [--speed 1.0] [--distance D] [--model human|legs] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any, Literal

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import HumanDimensions, human_dimensions

from . import _steps, _walker
from ._command import asked, finish, parser, within
from ._human import Feet, effort, step_length
from ._steps import Stand

INTERVALS = (1, 1, 4, 4)
"""Numbers of intervals in the four parts of a step; with 5 in the last two parts the cost is 0.3 % lower."""

QUICK = (1, 1, 3, 3)

STANDING = 4
"""Number of intervals on both feet, before the first step and after the last one."""

SHARES = {
    "stand": (0.1, 1.1), "first": (0.05, 0.65), "loading": (0.03, 0.23), "push_off": (0.02, 0.12), "flat": (0.15, 0.75),
    "heel_off": (0.1, 0.6), "swing": (0.3, 1.1), "landing": (0.03, 0.23), "stop": (0.1, 1.1),
}  # fmt: skip
"""Bounds on the durations of the phases, as fractions of the mean time of a step; first: the first push-off. They are
wide, so that effort decides and not they; their middles are the durations of the first guess, those of a usual walk."""

AHEAD = 0.04
"""Distance of the center of mass ahead of the ankles of a person who stands [m]."""

BENT = math.radians(8.0)
"""Angle between thigh and vertical of a person who stands; straight legs are singular."""

SPREAD = 0.16
"""Distance of the heels of a person who stands [m]."""


def problem(
    steps: int = 10,
    speed: float = 1.0,
    mass: float = 73.0,
    height: float = 1.741,
    sex: Literal["male", "female"] = "male",
    *,
    distance: float | None = None,
    time: float | None = None,
    still: bool = False,
    model: od.Model | None = None,
    guess: Any = None,
    intervals: tuple[int, int, int, int] = INTERVALS,
) -> ocp.Problem:
    """Steps from standing to standing, with about this speed [m/s] in the middle of the way.

    distance [m]: from the first stand to the last, time [s]: of the whole motion; None: those of steps that people make
    at this speed, and one step's time more in which the body speeds up and slows down. still: trunk and
    arms are one rigid body, which leaves 18 dofs. model, guess: as in `human_walk`.
    """
    if not isinstance(steps, int) or isinstance(steps, bool) or not 2 <= steps <= 40:
        raise ValueError(f"steps must be a whole number from 2 to 40, got {steps!r}")
    within(speed, 0.5, 1.8, "speed must lie between 0.5 and 1.8 m/s for a walk from rest to rest")
    usual = step_length(speed, height)
    way = _between(distance, (steps - 1) * usual, f"distance [m] of {steps} steps")
    lasting = _between(time, (steps + 1) * usual / speed, f"time [s] of {steps} steps")
    size = human_dimensions(height, sex)
    body = _walker.body(model, mass, height, sex, still=still)
    walker = _walker.strengthened(body, height, sex)
    feet = _footsteps(walker, size, steps, way)
    pace = lasting / (steps + 1)
    return ocp.Problem(
        walker,
        _phases(feet, size, intervals, pace, effort(body)),
        boundary=(
            _at_rest(walker, size),
            ocp.Boundary(lambda start, end: (end.values["time"], lasting, lasting), "time"),
        ),
        guess=guess or ocp.FootPlan(),
        integrator="gauss:2",
        torque="linear",
    )


def _between(value: float | None, usual: float, what: str) -> float:
    """The value, or the usual one; ValueError if it is far from the usual one."""
    if value is None:
        return usual
    low, high = 0.4 * usual, 2.0 * usual
    return within(value, low, high, f"{what} must lie between {low:.3g} and {high:.3g} for this number of steps")


def _footsteps(model: od.Model, size: HumanDimensions, steps: int, way: float) -> list[Feet]:
    """Places of the feet, one after the other: left and right side by side, the steps, the last two side by side."""
    pace, wide = way / (steps - 1), (SPREAD + _steps.spread(size)) / 2
    found = []
    for k, side in enumerate(_steps.sides(steps + 2, "l")):
        out = 1.0 if side == "l" else -1.0
        stands = k in (0, 1, steps, steps + 1)
        x = float(np.clip(k - 1, 0, steps - 1)) * pace
        y = tuple(sorted((0.02 * out, 0.2 * out)))
        found.append(
            _steps.placed(model, size, side, x if stands else (x - pace, x + pace), wide * out if stands else y)
        )
    return found


def _phases(
    feet: list[Feet], size: HumanDimensions, intervals: tuple[int, int, int, int], time: float, costs: Any
) -> list[ocp.Phase]:
    """The phases of all steps: a stand, the first step from it, steps in a row, the last step, a stand."""
    first, second, *_ = feet
    beside, last = feet[-2:]
    sides = _steps.sides(len(feet), "l")
    start = [
        Stand("stand", (first.flat, second.flat), None),
        Stand("push_off", (second.flat, first.toes), None),
        Stand("flat", (second.flat,), (0.0, 0.5)),
        Stand("heel_off", (second.toes,), (0.5, 1.0)),
    ]
    loading, push_off, _, _ = _steps.stands(beside, feet[-3])
    end = [
        loading,
        push_off,
        Stand("swing", (beside.flat,), (0.0, 1.0)),
        Stand("landing", (last.heel, beside.flat), None),
        Stand("stop", (last.flat, beside.flat), None),
    ]
    walk = [_steps.stands(on, off) for on, off in zip(feet[2:-2], feet[1:], strict=False)]
    swinging = [sides[0], *(sides[k + 1] for k in range(len(walk))), sides[-1]]
    counts = dict(zip(_steps.FORWARD, intervals, strict=True)) | {
        "stand": STANDING, "stop": STANDING, "swing": intervals[2] + intervals[3], "landing": intervals[0],
    }  # fmt: skip
    bounds = {name: (low * time, high * time) for name, (low, high) in SHARES.items()}
    return [
        _steps.phase(
            stand,
            counts[stand.name],
            bounds[stand.name if k or stand.name != "push_off" else "first"],
            side,
            size,
            costs,
            f"{stand.name}_{k + 1}",
        )
        for k, (stands, side) in enumerate(zip([start, *walk, end], swinging, strict=True))
        for stand in stands
    ]


def _at_rest(model: od.Model, size: HumanDimensions) -> ocp.Boundary:
    """At start and end the body stands upright and still: knees bent, center of mass over the soles, trunk and arms at
    neutral; the legs follow from the places of the feet."""
    legs = ("hip", "knee", "ankle", "subtalar", "toes")
    free = [k for k, name in enumerate(model.qd_names) if not name.startswith(legs)]
    upper = [k for k, name in enumerate(model.q_names) if not name.startswith((*legs, *model.floating_joints))]
    neutral = np.array(model.neutral(), dtype=float)[upper]
    pelvis = size.leg_length - (size.thigh + size.shank) * (1 - math.cos(BENT))

    def rows(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
        found = []
        for instant in (start, end):
            q = instant.q
            ahead = od.center_of_mass(model, q)[0] - od.point_position(model, "foot_l", q)[0]
            found += [ahead - AHEAD, q[1], q[2] - pelvis, q[3:6], q[upper] - neutral, instant.qd[free]]
        return ca.vertcat(*found), 0.0, 0.0

    return ocp.Boundary(rows, "at rest")


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: lengths and speeds of the steps."""
    landings = [p for p in solution.phases if p.name.startswith(("loading", "landing"))]
    times = np.array([p.t[0] for p in landings])
    first = float(od.point_position(solution.model, "heel_l", DM(solution.q[0]))[0])
    x = np.array([first, *(_heel(solution, p) for p in landings)])
    lengths = np.diff(x)
    speeds = lengths[1:] / np.diff(times)
    return {
        "distance_m": float(x[-1] - x[0]),
        "mean_speed_m_per_s": float(solution.q[-1, 0] - solution.q[0, 0]) / solution.duration,
        "largest_speed_m_per_s": float(np.max(solution.qd[:, 0])),
        "step_lengths_m": [round(float(length), 3) for length in lengths],
        "step_speeds_m_per_s": [round(float(v), 3) for v in speeds],
        "stand_at_start_s": solution.phases[0].duration,
        "stand_at_end_s": solution.phases[-1].duration,
    }


def _heel(solution: ocp.Solution, phase: Any) -> float:
    """x of the heel [m] that strikes the ground as a phase begins, the first of its footholds, when it lies flat."""
    return float(od.point_position(solution.model, next(iter(phase.places)), DM(phase.q[-1]))[0])


def _asked(o: argparse.Namespace) -> ocp.Problem:
    return problem(
        o.steps, o.speed, o.mass, o.height, o.sex, distance=o.distance, time=o.time, still=o.model == "legs",
        intervals=QUICK if o.quick else INTERVALS,
    )  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add = arguments.add_argument
    add("--steps", type=int, default=10, help="number of steps, 2 to 40")
    add("--speed", type=float, default=1.0, help="speed in the middle of the way, about [m/s]")
    add("--distance", type=float, help="way from the first stand to the last [m]")
    add("--time", type=float, help="time of the whole motion [s]")
    add("--mass", type=float, default=73.0, help="body mass [kg]")
    add("--height", type=float, default=1.741, help="stature [m]")
    add("--sex", choices=("male", "female"), default="male")
    add("--model", choices=("legs", "human"), default="human", help="legs: trunk and arms do not move")
    options, walk = asked(arguments, argv, _asked)
    solution = walk.solve(progress=not options.quiet)
    return finish(options, solution, lambda: numbers(solution), f"{options.steps} steps from standing to standing")


if __name__ == "__main__":
    sys.exit(main())
