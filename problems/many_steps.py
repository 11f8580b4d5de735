"""Many steps of a human from standing to standing: the body starts at rest, speeds up, walks, slows down and stops.

Ten steps by default. Both feet stand side by side; the left one steps first; the last step puts the foot down beside
the other one, and the body comes to rest. Distance and time of the whole way are given; how long each step is, when it
begins and how the body speeds up and slows down is for the solver to find. Feet and costs are those of `human_walk`.
The motion has no period: every step has its own footholds and phases, 43 phases for ten steps.

People who start from rest nearly reach their steady speed at the end of the first step (Breniere and Do,
J. Biomechanics 19, 1986). Here the second step has 88 % of the speed of the middle ones, and the last but one 92 %.

    python -m ocp_dyn.problems.many_steps [--steps 10] [--speed 1.0] [--distance D] [--time T] [--model human|legs]
        [--mass 73] [--height 1.741] [--sex male] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import add_person, asked, parser, person_of, run_command, solve, within
from ocp_dyn.walking import Feet, Person

INTERVALS, QUICK = (1, 1, 4, 4), (1, 1, 3, 3)
"""Numbers of intervals in the four parts of a step; with 5 in the last two parts the cost is 0.3 % lower."""

AHEAD, BENT, SPREAD = 0.04, math.radians(8.0), 0.16
"""Standing posture: distance of the center of mass ahead of the ankles [m]; angle between thigh and vertical, because
straight legs are singular; distance of the heels [m]."""


def problem(
    steps: int = 10, speed: float = 1.0, mass: float = 73.0, height: float = 1.741, sex: Any = "male",
    *, distance: float | None = None, time: float | None = None, guess: Any = None,
    intervals: tuple[int, int, int, int] = INTERVALS, **body: Any,
) -> ocp.Problem:  # fmt: skip
    """Steps from standing to standing, with about this speed [m/s] in the middle of the way.

    distance [m]: from the first stand to the last, time [s]: of the whole motion; None: those of steps that people make
    at this speed, and one step's time more in which the body speeds up and slows down. body: options of
    `od.walking.person`, such as still or model. guess: that of a Problem.
    """
    if not isinstance(steps, int) or isinstance(steps, bool) or not 2 <= steps <= 200:
        raise ValueError(f"steps must be a whole number from 2 to 200, got {steps!r}")
    within(speed, 0.5, 1.8, "speed must lie between 0.5 and 1.8 m/s for a walk from rest to rest")
    walker = od.walking.person(mass, height, sex, **body)
    usual = walker.step_length(speed)
    way = between(distance, (steps - 1) * usual, f"distance [m] of {steps} steps")
    lasting = between(time, (steps + 1) * usual / speed, f"time [s] of {steps} steps")
    places, pace = footsteps(walker, steps, way), lasting / (steps + 1)
    phases = od.walking.phases_from_rest(walker, places, intervals, pace, walker.effort())

    def rest(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
        return ca.vertcat(*(walker.at_rest(instant, BENT, AHEAD) for instant in (start, end))), 0.0, 0.0

    whole = ocp.Boundary(lambda start, end: (end.values["time"], lasting, lasting), "time")
    return ocp.Problem(
        walker.model, phases, boundary=(ocp.Boundary(rest, "at rest"), whole), guess=guess or ocp.FootPlan(),
        integrator="gauss:2", torque="linear",
    )  # fmt: skip


def between(value: float | None, usual: float, what: str) -> float:
    """The value, or the usual one; ValueError if it is far from the usual one."""
    low, high = 0.4 * usual, 2.0 * usual
    must = f"{what} must lie between {low:.3g} and {high:.3g} for this number of steps"
    return usual if value is None else within(value, low, high, must)


def footsteps(walker: Person, steps: int, way: float) -> list[Feet]:
    """Places of the feet, one after the other: left and right side by side, the steps, the last two side by side."""
    pace, wide, found = way / (steps - 1), (SPREAD + walker.spread) / 2, []
    for k in range(steps + 2):
        out, x = 1.0 if k % 2 == 0 else -1.0, float(np.clip(k - 1, 0, steps - 1)) * pace
        place: Any = (x, wide * out)
        if k not in (0, 1, steps, steps + 1):
            place = (x - pace, x + pace), tuple(sorted((0.02 * out, 0.2 * out)))
        found.append(walker.feet_at("r" if k % 2 else "l", *place))
    return found


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: lengths and speeds of the steps."""
    landings = [p for p in solution.phases if p.name.startswith(("loading", "landing"))]
    # the heel that strikes the ground as a phase begins is that of the first of its footholds; it lies flat at the end
    places = [("heel_l", solution.q[0]), *((next(iter(p.places)), p.q[-1]) for p in landings)]
    x = np.array([float(od.point_position(solution.model, heel, DM(q))[0]) for heel, q in places])
    lengths, times = np.diff(x), np.diff([p.t[0] for p in landings])
    return {
        "distance_m": float(x[-1] - x[0]),
        "mean_speed_m_per_s": float(solution.q[-1, 0] - solution.q[0, 0]) / solution.duration,
        "largest_speed_m_per_s": float(np.max(solution.qd[:, 0])),
        "step_lengths_m": [round(float(length), 3) for length in lengths],
        "step_speeds_m_per_s": [round(float(v), 3) for v in lengths[1:] / times],
        "stand_at_start_s": solution.phases[0].duration,
        "stand_at_end_s": solution.phases[-1].duration,
    }


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--steps", type=int, default=10, help="number of steps, 2 to 200")
    arguments.add_argument("--speed", type=float, default=1.0, help="speed in the middle of the way, about [m/s]")
    arguments.add_argument("--distance", type=float, help="way from the first stand to the last [m]")
    arguments.add_argument("--time", type=float, help="time of the whole motion [s]")
    add_person(arguments)
    options, walk = asked(arguments, argv, lambda o: problem(
        o.steps, o.speed, distance=o.distance, time=o.time, intervals=QUICK if o.quick else INTERVALS,
        **person_of(o)))  # fmt: skip
    return solve(options, walk, numbers, f"{options.steps} steps from standing to standing")


if __name__ == "__main__":
    sys.exit(run_command(main))
