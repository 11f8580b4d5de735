"""Five-link planar biped: one periodic step of least torque (Kelly's tutorial problem).

M. Kelly, "An Introduction to Trajectory Optimization", SIAM Review 59 (2017), sec. 6: RABBIT's parameters, point
feet, no ankle torque, a step of 0.5 m in 0.7 s, an impact that swaps the legs; minimize the integral of
the sum of squared torques. Published: 469.650 converged; 469.943901 by multiple shooting with RK4 and 50 piecewise
constant torques.

By default both: collocation with linear torques, and multiple shooting. `--integrator rk4`: multiple shooting,
accelerations at the stages as variables; `--form explicit`: with forward dynamics.

    python -m ocp_dyn.problems.five_link [--form implicit|explicit] [--integrator NAME] [--torque constant|linear]
        [--intervals N] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import asked, finish, intervals_of, keep, motion_of, parser, run_command
from ocp_dyn.models import absolute_angles, five_link_biped, five_link_strike, five_link_swing

INTERVALS, QUICK = 50, 15
STEP_LENGTH, STEP_TIME = 0.5, 0.7
CONVERGED, SHOOTING = 469.650, 469.943901
SMALL: dict[str, Any] = {"threads": 1}
"""Options of the solver: for programs of this size a second thread saves no time."""

START = (0.3, 0.3, 0.0, -0.3, -0.3)
"""Absolute angles of the first guess at the start of the step: hip behind the stance foot, swing leg trailing."""


def problem(
    form: str = "explicit", intervals: int = INTERVALS, integrator: str = "", torque: str = "constant"
) -> ocp.Problem:
    """The step as a Problem: stance foot pinned at the origin, bounds on absolute link angles."""
    model = with_knees(five_link_biped(root="pinned"), torque=100.0)
    A = ca.DM(absolute_angles(model)[1:])  # the first link's angle and rate are bounds of the model
    path = ocp.Path(lambda i: A @ i.q, -np.pi / 2, np.pi / 2), ocp.Path(lambda i: A @ i.qd, -10.0, 10.0)
    return ocp.Problem(
        model,
        [ocp.Phase("step", intervals, STEP_TIME, path=path, objective=(ocp.TorqueSquared(),))],
        boundary=(ocp.Boundary(_swap_legs, "impact"), ocp.Boundary(_foot, "swing foot")),
        unactuated=("stance_ankle",),
        form=form, integrator=integrator, torque=torque, guess=five_link_swing(START, STEP_TIME),
    )  # fmt: skip


def with_knees(model: od.Model, torque: float = np.inf) -> od.Model:
    """The pinned biped with knees that bend one way, a stance tibia above the ground, and limited torques [N m]."""
    lower, upper = {"stance_ankle": -np.pi / 2, "stance_knee": 0.0}, {"stance_ankle": np.pi / 2, "swing_knee": 0.0}
    return model.with_limits(lower=lower, upper=upper, velocity={"stance_ankle": 10.0}, effort=torque)


def _swap_legs(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
    """The swing foot hits the ground and becomes the stance foot: positions swap, velocities jump and swap."""
    A, (angles, rates, _) = ca.DM(absolute_angles(end.model)), five_link_strike(end.q, end.qd)
    return ca.vertcat(A @ start.q - angles, A @ start.qd - rates), 0.0, 0.0


def _foot(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, Any, Any]:
    """The swing foot lands one step ahead on the ground; it leaves the ground upwards and comes down to it."""
    landing = od.point_position(end.model, "swing_foot", end.q)
    rates = [od.point_velocity(i.model, "swing_foot", i.q, i.qd)[2] for i in (start, end)]
    rows = ca.vertcat(landing[0] - STEP_LENGTH, landing[2], *rates)
    return rows, [0, 0, 0, -np.inf], [0, 0, np.inf, 0]


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: the published objective, the transcription, the step."""
    stats = solution.stats
    published = SHOOTING if (stats["integrator"], stats["torque"]) == ("rk4", "constant") else CONVERGED
    return {"published": published, "relative_difference": solution.objective / published - 1,
            "intervals": len(solution.phases[0].tau),
            **{name: stats[name] for name in ("form", "integrator", "torque")},
            "step_length_m": STEP_LENGTH, "speed_m_per_s": STEP_LENGTH / solution.duration}  # fmt: skip


def shooting(intervals: int, progress: bool) -> dict[str, Any]:
    """Numbers of multiple shooting with RK4 and piecewise constant torques, for comparison."""
    solution = problem("implicit", intervals, "rk4").solve(progress=progress, **SMALL)
    found = {"objective": solution.objective, "published": SHOOTING, "converged": solution.converged,
             "iterations": solution.stats["iterations"],
             "solve_seconds": round(solution.stats["solve_seconds"], 3)}  # fmt: skip
    return {f"shooting_{name}": value for name, value in found.items()}


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--form", choices=("explicit", "implicit"), help="default: implicit")
    arguments.add_argument("--integrator", default="", help="default: gauss:2, or rk4 in the explicit form")
    arguments.add_argument("--torque", choices=("constant", "linear"), help="default: linear, or constant with rk4")
    arguments.add_argument("--intervals", type=int, help=f"intervals (default {INTERVALS}, with --quick {QUICK})")

    def chosen(o: argparse.Namespace) -> ocp.Problem:
        scheme = o.integrator or ("rk4" if o.form == "explicit" else "gauss:2")
        torque = o.torque or ("constant" if scheme == "rk4" else "linear")
        return problem(o.form or "implicit", intervals_of(o, INTERVALS, QUICK), scheme, torque)

    options, step = asked(arguments, argv, chosen)
    solution, count = motion_of(options, step, **SMALL), step.phases[0].grid.count
    keep(options, solution)
    both = not (options.form or options.integrator or options.torque)
    return finish(options, solution, lambda: numbers(solution) | (shooting(count, not options.quiet) if both else {}),
                  "Five-link biped: a step of least torque")  # fmt: skip


if __name__ == "__main__":
    sys.exit(run_command(main))
