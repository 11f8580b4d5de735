"""Walking along a circle: one stride of least effort, which repeats turned by an angle.

The body, its feet and the costs are those of `human_walk`. A stride has two steps, because a walker that turns is not
its own mirror image. The period is a rigid motion: at the end of the stride everything is where it was at its start,
moved along an arc and turned to the left. How far each foot points into the turn, how the steps of both sides differ and
how the trunk leans is for the solver to find. Friction cones and centers of pressure are those of the turned feet; feet and
knees pass each other along the lateral axis of the pelvis.

    python -m problems.turn [--speed 1.0] [--turn 30] [--model legs|human] [--mass 73] [--height 1.741] [--quick]
        [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human_dimensions

from . import _human, _steps, _walker
from ._command import asked, finish, parser

INTERVALS = (3, 2, 8, 8)
"""Numbers of intervals in the four parts of each step, as in `human_walk`."""

QUICK = (2, 1, 5, 5)

LARGEST_TURN = 90.0
"""Bound on the turn of a stride [degrees]."""

SIDEWAYS = (0.03, 0.25)
"""Bounds on the distance of a foot from the middle of the way [m]."""


def problem(
    speed: float = 1.0,
    turn: float = 30.0,
    mass: float = 73.0,
    height: float = 1.741,
    sex: Literal["male", "female"] = "male",
    *,
    still: bool = False,
    intervals: tuple[int, int, int, int] = INTERVALS,
) -> ocp.Problem:
    """A stride along an arc at this speed [m/s], which turns by this angle [degrees] to the left (negative: right).

    still: trunk and arms are one rigid body, which leaves 18 dofs.
    """
    if not 0.5 <= speed <= 1.6:
        raise ValueError(f"speed must lie between 0.5 and 1.6 m/s for a walk that turns, got {speed}")
    if not abs(turn) <= LARGEST_TURN:
        raise ValueError(f"turn must lie between -{LARGEST_TURN:g} and {LARGEST_TURN:g} degrees per stride, got {turn}")
    angle, size = math.radians(turn), human_dimensions(height, sex)
    body = _walker.body(None, mass, height, sex, still=still)
    walker = _walker.strengthened(body, height, sex)
    pace = _human.step_length(speed, height)
    time = pace / speed
    step = ocp.Step.arc(2 * speed * _steps.middle_time(time), angle)
    right = _human.feet(walker, size, "r", x=0.0, y=-0.08, yaw=-_human.TOE_OUT)
    # the left foot strikes half an arc later, and the right one stood half an arc before
    ahead = _beside(step, angle / 2, 1.0)
    left = _human.feet(
        walker, size, "l", **ahead, yaw=(angle / 2 - 0.3 + _human.TOE_OUT, angle / 2 + 0.3 + _human.TOE_OUT)
    )
    behind = _human.feet(walker, size, "l", x=(-1.2, -0.1), y=(-0.5, 0.6), yaw=(-math.pi / 2, math.pi / 2))
    free = replace(
        step,
        length=(0.5 * step.length[0], 2.0 * step.length[0]),
        sideways=tuple(sorted((0.4 * step.sideways[0], 2.5 * step.sideways[0]))) if turn else 0.0,
    )
    return ocp.Problem(
        walker,
        _steps.walked([right, left], behind, intervals, time, size, _human.effort(body)),
        periodic=ocp.Periodic(speed, mirror=False, transition=ocp.Continuous(), step=free),
        per_distance=True,
        guess=ocp.FootPlan(),
        integrator="gauss:2",
        torque="linear",
    )


def _beside(step: ocp.Step, heading: float, side: float) -> dict[str, tuple[float, float]]:
    """Bounds on the place of a foot in the middle of the stride, on this side (1: left) of the way."""
    x, y = step.length[0] / 2, step.sideways[0] / 4
    middle = np.array([x, y]) + side * np.mean(SIDEWAYS) * np.array([-math.sin(heading), math.cos(heading)])
    middle = middle - np.array([0.0, 0.0])
    return {"x": (middle[0] - 0.3, middle[0] + 0.3), "y": (middle[1] - 0.2, middle[1] + 0.2)}


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: the turn, its radius, both steps, lean of the trunk, joint torques."""
    model = solution.model
    heading = [_heading(model, q) for q in (solution.q[0], solution.q[-1])]
    turn = math.remainder(heading[1] - heading[0], math.tau)
    chord = float(np.hypot(*(solution.q[-1] - solution.q[0])[:2]))
    radius = abs(chord / (2 * math.sin(turn / 2))) if turn else math.inf
    return {
        "turn_deg": math.degrees(turn),
        "radius_m": radius,
        "step_r_s": sum(p.duration for p in solution.phases[:4]),
        "step_l_s": sum(p.duration for p in solution.phases[4:]),
        **_human.peak_torques(solution),
    }


def _heading(model: od.Model, q: np.ndarray) -> float:
    """Heading of the pelvis [rad]."""
    ahead = od.point_position(model, "pelvis", DM(q), (1, 0, 0)) - od.point_position(model, "pelvis", DM(q))
    return math.atan2(float(ahead[1]), float(ahead[0]))


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add = arguments.add_argument
    add("--speed", type=float, default=1.0, help="walking speed [m/s], 0.5 to 1.6")
    add("--turn", type=float, default=30.0, help="turn of a stride to the left [degrees]")
    add("--model", choices=("legs", "human"), default="human", help="legs: trunk and arms are one rigid body")
    add("--mass", type=float, default=73.0, help="body mass [kg]")
    add("--height", type=float, default=1.741, help="stature [m]")
    options, walk = asked(
        arguments, argv,
        lambda o: problem(o.speed, o.turn, o.mass, o.height, still=o.model == "legs",
                          intervals=QUICK if o.quick else INTERVALS),
    )  # fmt: skip
    solution = walk.solve(progress=not options.quiet)
    return finish(
        options, solution, lambda: numbers(solution), f"Walking in a turn of {options.turn:g} degrees a stride"
    )


if __name__ == "__main__":
    sys.exit(main())
