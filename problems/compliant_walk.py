"""Human walking in 3-D on compliant feet: one phase, in which the solver finds heel strike and toe-off.

The body of `human_walk` stands on spheres that press into the ground, with the law of Hunt and Crossley and smoothed
friction (`ocp.CompliantFoothold`). No phases tell which foot stands when, and in which way: each foot may touch down,
roll, slide and lift off at any time. The step is periodic and mirrored; its duration and length are free, and it
begins when the right heel has come down to the ground. The cost is that of `human_walk`, with a small term for the rate
of the ground's forces, so that feet come down softly. Toes of the swinging foot keep clear of the ground, and feet and
knees keep apart.

The first guess is the walk of `human_walk` at this speed, on a coarse grid, lowered by the depth to which spheres sink.

    python -m problems.compliant_walk [--speed 1.3] [--mass 73] [--height 1.741] [--sex male] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any, Literal

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import HumanDimensions, human_dimensions, human_spheres

from . import human_walk
from ._command import asked, finish, parser

INTERVALS, QUICK = 24, 12

FIRST_GUESS = human_walk.QUICK
"""Intervals of the walk that is the first guess."""

SINK = 0.01
"""Depth by which that walk is lowered [m]; a foot that bears the weight sinks by 1 to 2 cm."""

CLEARANCE = 0.03
"""Height of the ball of the swinging foot from mid-swing until the heel strikes [m]: people keep their toes up."""

SWING = (0.2, 0.5)
"""Between these fractions of the step that height grows from below the ground to its full value."""

SOFTNESS = 0.05
"""Weight of the rate of the ground's forces, in body weights per second."""


def problem(
    speed: float = 1.3,
    mass: float = 73.0,
    height: float = 1.741,
    sex: Literal["male", "female"] = "male",
    *,
    form: str = "implicit",
    integrator: str = "",
    intervals: int = INTERVALS,
) -> ocp.Problem:
    """One step in one phase. Its first guess is a walk: `problem(...).solve(guess=first_guess(...))`."""
    walk = human_walk.problem(speed, mass, height, sex)
    model, size = walk.model, human_dimensions(height, sex)
    feet = footholds(model, height, sex)
    apart = replace(human_walk.separation(size), ends=True)
    effort = (*walk.phases[0].objective, ocp.ForceRateSquared(SOFTNESS, scale=model.weight))
    time = human_walk.step_length(speed, height) / speed
    step = ocp.Phase("step", intervals, (0.6 * time, 1.5 * time), feet, [apart, toes_up(size)], effort)
    return replace(  # speed, mirror image, torques and all else as in that problem
        walk,
        phases=[step],
        transitions=(),
        boundary=[ocp.Boundary(_begin, name="start at heel strike")],
        guess=None,
        form=form,
        integrator=integrator or ("gauss:2" if form == "implicit" else ""),
        options={"mu_init": 1e-3},  # the first guess is near a solution, so the barrier begins small
    )


def footholds(
    model: od.Model, height: float, sex: Literal["male", "female"], **material: float
) -> list[ocp.CompliantFoothold]:
    """Compliant feet of a human: one foothold for each foot, two if the model has joints at the toes.

    material: properties of `od.HuntCrossleySphere`.
    """
    jointed = model.frame("toe_l").body != model.frame("heel_l").body
    parts = {"foot": "heel", "toes": "toe"} if jointed else {"foot": "heel"}
    return [
        ocp.CompliantFoothold(f"{frame}_{side}", human_spheres(side, height, sex, part, jointed, **material))
        for part, frame in parts.items()
        for side in "lr"
    ]


def _begin(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
    """The step begins above the origin, with the right heel at the height of the ground."""
    heel = od.point_position(start.model, "heel_r", start.q)
    return ca.vertcat(start.q[0], heel[2]), 0.0, 0.0


def toes_up(size: HumanDimensions) -> ocp.Path:
    """The ball of the left foot keeps clear of the ground from mid-swing on, until its heel strikes."""
    ends = [(human_walk.PIVOT * size.foot_length, y, 0.0) for y in (-size.sole_half_breadth, size.sole_half_breadth)]

    def rows(instant: ocp.Instant) -> Any:
        begin, full = SWING
        u = ca.fmin(ca.fmax((instant.s - begin) / (full - begin), 0.0), 1.0)
        free = 2 * CLEARANCE  # before the swing the ball may sink by this much
        heights = [od.point_position(instant.model, "heel_l", instant.q, point)[2] for point in ends]
        return ca.vertcat(*heights) - (CLEARANCE + free) * u * u * (3 - 2 * u) + free

    return ocp.Path(rows, 0.0, math.inf, where="node")


def first_guess(
    speed: float = 1.3, mass: float = 73.0, height: float = 1.741, sex: Literal["male", "female"] = "male"
) -> ocp.Solution:
    """The walk on rigid feet, in phases, lowered by `SINK`."""
    walk = human_walk.problem(speed, mass, height, sex, intervals=FIRST_GUESS)
    rigid = walk.solve(progress=False)
    lowered = [replace(phase, q=phase.q - SINK * np.eye(walk.model.nq)[2]) for phase in rigid.phases]
    return replace(rigid, phases=tuple(lowered))


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: the gait that the solver found, in the terms of gait analysis."""
    right, left = (_stance(solution, f"heel_{side}") for side in "rl")
    stride = 2 * solution.duration
    peaks = _peaks(solution)
    return {
        "step_width_m": abs(float(np.diff([_middle(solution, side) for side in "rl"])[0])),
        "cadence_steps_per_min": 60 / solution.duration,
        "heel_strike_percent_of_stride": 100 * ((right.touch_down / stride + 0.5) % 1.0 - 0.5),
        "toe_off_percent_of_stride": 100 * (right.lift_off - right.touch_down) / stride,
        "double_support_percent_of_stride": 100 * ((right.lift_off - left.touch_down) % stride) / stride,
        "first_peak_body_weights": peaks[0],
        "valley_body_weights": peaks[1],
        "second_peak_body_weights": peaks[2],
        **human_walk.peak_torques(solution),
        "knee_flexion_in_swing_deg": float(np.degrees(solution.q[:, solution.model.q_slice("knee_l")].max())),
    }


def _stance(solution: ocp.Solution, foot: str) -> ocp.Stance:
    """The longest stance of a foot."""
    found = [stance for stance in solution.stances() if stance.foot == foot]
    if not found:
        raise ValueError(f"the foot at {foot} never stands on the ground")
    return max(found, key=lambda stance: stance.lift_off - stance.touch_down)


def _middle(solution: ocp.Solution, side: str) -> float:
    """Side [m] at which a foot stands: its heel's, where the foot bears the largest force."""
    phase = solution.phases[0]
    k = int(np.argmax(phase.wrenches[f"heel_{side}"][:, 5]))
    return float(od.point_position(solution.model, f"heel_{side}", DM(phase.q[k]))[1])


def _peaks(solution: ocp.Solution) -> tuple[float, float, float]:
    """Largest vertical force of the first and of the second half of the right foot's stance, and the least between."""
    forces = solution.phases[0].wrenches
    stance = np.concatenate([forces["heel_r"][:, 5], forces["heel_l"][:, 5]]) / solution.model.weight
    stance = stance[: int(np.flatnonzero(stance > 0.05)[-1]) + 1]
    half = len(stance) // 2
    first, last = int(np.argmax(stance[:half])), half + int(np.argmax(stance[half:]))
    return float(stance[first]), float(stance[first:last].min()), float(stance[last])


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, default=1.3, help="walking speed [m/s], 0.5 to 2.2")
    arguments.add_argument("--mass", type=float, default=73.0, help="body mass [kg]")
    arguments.add_argument("--height", type=float, default=1.741, help="stature [m]")
    arguments.add_argument("--sex", choices=("male", "female"), default="male")
    options, walk = asked(
        arguments, argv, lambda o: problem(o.speed, o.mass, o.height, o.sex, intervals=QUICK if o.quick else INTERVALS)
    )
    guess = first_guess(options.speed, options.mass, options.height, options.sex)
    solution = walk.solve(guess=guess, progress=not options.quiet)
    return finish(options, solution, lambda: numbers(solution), f"Walking on compliant feet at {options.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(main())
