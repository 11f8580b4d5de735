"""Human walking in 3-D on compliant feet: one phase, in which the solver finds heel strike and toe-off.

The body of `human_walk` stands on spheres that press into the ground, with the law of Hunt and Crossley and smoothed
friction (`ocp.CompliantFoothold`). No phases tell which foot stands when, and in which way: each foot may touch down,
roll, slide and lift off at any time. The step is periodic and mirrored; its duration and length are free, and it
begins when the right heel has come down to the ground. The costs are `od.walking.motion_effort` and a small term for
the rate of the ground's forces, so that feet come down softly. Toes of the swinging foot keep clear of the ground, and
feet and knees keep apart.

The first guess is the walk of `human_walk` at this speed, on a coarse grid, lowered by the depth to which spheres sink.

python -m ocp_dyn.problems.compliant_walk [--speed 1.3] [--mass 73] [--height 1.741] [--sex male] [--quick] [--json]
[--out DIR]
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import add_person, asked, finish, motion_of, parser, run_command

from . import human_walk

numbers = od.walking.compliant_walk_figures
INTERVALS, QUICK = 24, 12

SINK = 0.005
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
    sex: Any = "male",
    *,
    form: str = "implicit",
    integrator: str = "",
    intervals: int = INTERVALS,
) -> ocp.Problem:
    """One step in one phase. Its first guess is a walk: `problem(...).solve(guess=first_guess(...))`."""
    person = od.walking.person(mass, height, sex)
    walk, model = od.walking.human_walk(person, speed), person.model
    feet = od.walking.compliant_feet(model, height, sex)
    apart = replace(person.separation(), ends=True)
    effort = (*od.walking.motion_effort(person), ocp.ForceRateSquared(SOFTNESS, scale=model.weight))
    time = od.walking.pace(person, speed).time
    step = ocp.Phase("step", intervals, (0.6 * time, 1.5 * time), feet, [apart, toes_up(person)], effort)
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


def _begin(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
    """The step begins above the origin, with the right heel at the height of the ground."""
    heel = od.point_position(start.model, "heel_r", start.q)
    return ca.vertcat(start.q[0], heel[2]), 0.0, 0.0


def toes_up(person: od.walking.Person) -> ocp.Path:
    """The ball of the left foot keeps clear of the ground from mid-swing on, until its heel strikes."""
    half = person.size.sole_half_breadth
    ends = [(person.pivot, y, 0.0) for y in (-half, half)]

    def rows(instant: ocp.Instant) -> Any:
        begin, full = SWING
        u = ca.fmin(ca.fmax((instant.s - begin) / (full - begin), 0.0), 1.0)
        free = 2 * CLEARANCE  # before the swing the ball may sink by this much
        heights = [od.point_position(instant.model, "heel_l", instant.q, point)[2] for point in ends]
        return ca.vertcat(*heights) - (CLEARANCE + free) * u * u * (3 - 2 * u) + free

    return ocp.Path(rows, 0.0, math.inf, where="node")


def first_guess(speed: float = 1.3, mass: float = 73.0, height: float = 1.741, sex: Any = "male") -> ocp.Solution:
    """The walk on rigid feet, in phases, lowered by `SINK`."""
    walk = human_walk.problem(speed, mass, height, sex, intervals=human_walk.QUICK)
    rigid = walk.solve(progress=False)
    lowered = [replace(phase, q=phase.q - SINK * np.eye(walk.model.nq)[2]) for phase in rigid.phases]
    return replace(rigid, phases=tuple(lowered))


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, default=1.3, help="walking speed [m/s], 0.5 to 2.2")
    add_person(arguments, still=False)
    options, walk = asked(
        arguments, argv, lambda o: problem(o.speed, o.mass, o.height, o.sex, intervals=QUICK if o.quick else INTERVALS)
    )
    guess = first_guess(options.speed, options.mass, options.height, options.sex)
    solution = motion_of(options, walk, guess=guess)
    return finish(options, solution, lambda: numbers(solution), f"Walking on compliant feet at {options.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(run_command(main))
