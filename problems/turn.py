"""Walking along a circle: one periodic stride of a human that turns, left by default.

A stride of two steps, first on the right foot, then on the left one. At its end the body and both feet are turned by
the given angle, and the next stride goes on from there: the motion repeats on a circle. The feet roll from heel to toes
as in `human_walk`, and the costs are its costs. Each foot points outwards from the direction of the way where it
stands. The places of the feet beside the way are free, and so is the step from stride to stride: the speed tells how
far it is, the feet tell its turn. Nothing tells the body to lean or the steps of the inner leg to be shorter.

    python -m ocp_dyn.problems.turn [--turn 30] [--speed 1.0] [--model legs|human] [--mass 73] [--height 1.741]
        [--sex male] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import add_person, asked, parser, person_of, run_command, solve, within

INTERVALS, QUICK = (3, 2, 9, 10), (2, 2, 5, 5)
"""Numbers of intervals in the four parts of each step, as in `human_walk`."""

SIDE = 0.11
"""Distance of the middles of the soles from the way, to either side, in the first guess [m]."""


def problem(
    turn: float = math.radians(30.0), speed: float = 1.0, mass: float = 73.0, height: float = 1.741, sex: Any = "male",
    *, intervals: tuple[int, int, int, int] = INTERVALS, guess: Any = None, **body: Any,
) -> ocp.Problem:  # fmt: skip
    """A stride that turns by `turn` [rad], to the left if positive, at a speed [m/s] along the chord of the stride.

    body: options of `od.walking.person`, such as still or model. guess: that of a Problem.
    """
    if not abs(within(turn, -math.inf, math.inf, "turn must be an angle in rad")) <= math.radians(60.0):
        raise ValueError(f"turn must lie between -60 and 60 degrees for a stride, got {math.degrees(turn):.4g} degrees")
    within(speed, 0.5, 1.6, "speed must lie between 0.5 and 1.6 m/s for a walk along a circle")
    walker = od.walking.person(mass, height, sex, **body)
    pace = od.walking.pace(walker, speed)
    steps = footsteps(walker, turn, pace.guessed_length)
    before = walker.feet("l")  # that of the stride before: its place follows
    return ocp.Problem(
        walker.model,
        od.walking.step_phases(walker, steps, before, intervals, pace.time, walker.effort(), facing="pelvis"),
        periodic=ocp.Periodic(speed, mirror=False, transition=ocp.Continuous(),
                              step=ocp.Step(length=(0.2, 3.0), sideways=(-1.5, 1.5), turn=turn)),
        per_distance=True,
        guess=guess or ocp.FootPlan(),
        integrator="gauss:2",
        torque="linear",
    )  # fmt: skip


def footsteps(walker: od.walking.Person, turn: float, pace: float) -> list[od.walking.Feet]:
    """The right and the left foot on an arc that begins at the origin; pace [m]: length of a step of the first guess.

    The first foot is fixed beside the origin, because a circle can lie anywhere.
    """
    out, half, heading = SIDE, ocp.Step.arc(pace, turn / 2), turn / 2
    x, y = half.length[0] - out * math.sin(heading), half.sideways[0] + out * math.cos(heading)
    reach = 0.8 * pace
    left = walker.feet_at("l", (x - reach, x + reach), (y - 0.2, y + 0.2), heading)
    return [walker.feet_at("r", 0.0, -out), left]


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: circle, steps of both feet, lean of the body, torques, cost."""
    turn = solution.turn
    radius = solution.distance / (2 * math.sin(turn / 2)) if turn else math.inf
    found = {"turn_deg": math.degrees(turn), "radius_m": abs(radius)}
    for side, word, length in zip("rl", ("right", "left"), step_lengths(solution), strict=True):
        on = sum(p.duration for p in solution.phases if any(name.endswith(f"_{side}") for name in p.places))
        found |= {f"stance_{word}_percent": 100 * on / solution.duration, f"step_length_{word}_m": length}
    found["lean_inwards_deg"] = lean(solution)
    return found | od.walking.peak_torques(solution) | od.walking.metabolism(solution).numbers()


def step_lengths(solution: ocp.Solution) -> tuple[float, float]:
    """Distance [m] of the right heel from the left one before it, and of the left one from the right one before it."""
    model = solution.model
    flat = {p.name[-1]: DM(p.q[0]) for p in solution.phases if p.name.startswith("flat")}
    right, left = (np.array(od.point_position(model, f"heel_{s}", flat[s]).full()).ravel() for s in "rl")
    back = np.array(solution.advance.inverse().point(DM(left)).full()).ravel()
    return float(np.linalg.norm(right - back)), float(np.linalg.norm(left - right))


def lean(solution: ocp.Solution) -> float:
    """Mean angle [deg] by which the line from the middle of the standing feet to the center of mass leans inwards."""
    if not solution.turn:
        return 0.0
    angles = []
    for phase in solution.phases:
        heel = np.mean([np.append(place[:2], 0.0) for place in phase.places.values()], axis=0)
        for q, qd in zip(phase.q, phase.qd, strict=True):
            c = np.array(od.center_of_mass(solution.model, DM(q)).full()).ravel()
            v = np.array(od.center_of_mass_velocity(solution.model, DM(q), DM(qd)).full()).ravel()
            left = np.array([-v[1], v[0]]) / np.hypot(v[0], v[1])
            angles.append(math.atan2((c - heel)[:2] @ left, c[2]))
    return math.copysign(1.0, solution.turn) * math.degrees(float(np.mean(angles)))


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--turn", type=float, default=30.0, help="turn of a stride [degrees], left if positive")
    arguments.add_argument("--speed", type=float, default=1.0, help="walking speed [m/s], 0.5 to 1.6")
    add_person(arguments)
    options, walk = asked(arguments, argv, lambda o: problem(
        math.radians(o.turn), o.speed, **person_of(o), intervals=QUICK if o.quick else INTERVALS))  # fmt: skip
    title = f"Human walking at {options.speed:g} m/s, turning by {options.turn:g} degrees per stride"
    return solve(options, walk, numbers, title)


if __name__ == "__main__":
    sys.exit(run_command(main))
