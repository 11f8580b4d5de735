"""Five-link planar biped: one periodic step of least torque (Kelly's tutorial problem).

M. Kelly, "An Introduction to Trajectory Optimization", SIAM Review 59 (2017), sec. 6: RABBIT's parameters, point
feet, no ankle torque, a step of 0.5 m in 0.7 s, an impact that swaps the legs; minimize the integral of
the sum of squared torques. Published: 469.650 converged; 469.943901 by multiple shooting with RK4 and 50 piecewise
constant torques.

    python -m problems.five_link                       both: collocation with linear torques, and multiple shooting
    python -m problems.five_link --integrator rk4      multiple shooting, accelerations at the stages as variables
    python -m problems.five_link --form explicit       multiple shooting with forward dynamics
    python -m problems.five_link [--intervals N] [--torque constant|linear] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import absolute_angles, five_link_biped

from ._command import asked, finish, keep, parser

STEP_LENGTH, STEP_TIME = 0.5, 0.7
CONVERGED, SHOOTING = 469.650, 469.943901
SMALL: dict[str, Any] = {"threads": 1}
"""Options of the solver: for programs of this size a second thread saves no time."""

START = (0.3, 0.3, 0.0, -0.3, -0.3)
"""Absolute angles of the first guess at the start of the step: hip behind the stance foot, swing leg trailing."""


def problem(form: str = "explicit", intervals: int = 50, integrator: str = "", torque: str = "constant") -> ocp.Problem:
    """The step as a Problem: stance foot pinned at the origin, bounds on absolute link angles."""
    model = with_knees(five_link_biped(root="pinned"), torque=100.0)
    A = ca.DM(absolute_angles(model)[1:])  # the first link's angle and rate are bounds of the model
    path = (
        ocp.Path(lambda instant: A @ instant.q, -np.pi / 2, np.pi / 2),
        ocp.Path(lambda instant: A @ instant.qd, -10.0, 10.0),
    )
    return ocp.Problem(
        model,
        [ocp.Phase("step", intervals, STEP_TIME, path=path, objective=(ocp.TorqueSquared(),))],
        boundary=(ocp.Boundary(_swap_legs, "impact"), ocp.Boundary(_foot, "swing foot")),
        unactuated=("stance_ankle",),
        form=form,
        integrator=integrator,
        torque=torque,
        guess=swing(model, START, STEP_TIME),
    )


def with_knees(model: od.Model, torque: float = np.inf) -> od.Model:
    """The pinned biped with knees that bend one way, a stance tibia above the ground, and limited torques [N m]."""
    return model.with_limits(
        lower={"stance_ankle": -np.pi / 2, "stance_knee": 0.0},
        upper={"stance_ankle": np.pi / 2, "swing_knee": 0.0},
        velocity={"stance_ankle": 10.0},
        effort=torque,
    )


def swing(model: od.Model, start: Sequence[float], duration: float) -> Callable[[float], tuple[Any, Any]]:
    """First guess: at constant rates, absolute angles move from `start` to the posture with swapped legs."""
    A, first = absolute_angles(model), np.array(start)
    rates = (first[::-1] - first) / duration

    def guess(s: float) -> tuple[Any, Any]:
        return np.linalg.solve(A, first + s * duration * rates), np.linalg.solve(A, rates)

    return guess


def _swap_legs(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
    """The swing foot hits the ground and becomes the stance foot: positions swap, velocities jump and swap."""
    A, floating = ca.DM(absolute_angles(end.model)), five_link_biped(root="planar")
    A_floating = absolute_angles(floating)
    angles, rates = A @ end.q, A @ end.qd
    # the same state in the coordinates of the biped that can leave the ground: hip, torso, then the joints
    links, hip = np.linalg.inv(A_floating[:, 2:]), ca.DM([[1, 0, 0], [0, 0, 1]])
    q = ca.vertcat(hip @ od.point_position(end.model, "hip", end.q), links @ angles)
    qd = ca.vertcat(hip @ od.point_velocity(end.model, "hip", end.q, end.qd), links @ rates)
    qd_plus, _ = od.impact(floating, (od.Contact("swing_foot", axes="xz"),), q, qd)
    swap = ca.DM(np.eye(5)[::-1])
    swapped = ca.vertcat(swap @ angles, swap @ (A_floating @ qd_plus))
    return ca.vertcat(A @ start.q, A @ start.qd) - swapped, 0.0, 0.0


def _foot(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, Any, Any]:
    """The swing foot lands one step ahead on the ground; it leaves the ground upwards and comes down to it."""
    landing = od.point_position(end.model, "swing_foot", end.q)
    leaving_rate = od.point_velocity(start.model, "swing_foot", start.q, start.qd)[2]
    landing_rate = od.point_velocity(end.model, "swing_foot", end.q, end.qd)[2]
    rows = ca.vertcat(landing[0] - STEP_LENGTH, landing[2], leaving_rate, landing_rate)
    return rows, [0, 0, 0, -np.inf], [0, 0, np.inf, 0]


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: the published objective, the transcription, the step."""
    held = (solution.stats["integrator"], solution.stats["torque"]) == ("rk4", "constant")
    published = SHOOTING if held else CONVERGED
    return {
        "published": published,
        "relative_difference": solution.objective / published - 1,
        "intervals": len(solution.phases[0].tau),
        "form": solution.stats["form"],
        "integrator": solution.stats["integrator"],
        "torque": solution.stats["torque"],
        "step_length_m": STEP_LENGTH,
        "speed_m_per_s": STEP_LENGTH / solution.duration,
    }


def shooting(intervals: int, progress: bool) -> dict[str, Any]:
    """Numbers of multiple shooting with RK4 and piecewise constant torques, for comparison."""
    solution = problem("implicit", intervals, "rk4").solve(progress=progress, **SMALL)
    return {
        "shooting_objective": solution.objective,
        "shooting_published": SHOOTING,
        "shooting_converged": solution.converged,
        "shooting_iterations": solution.stats["iterations"],
        "shooting_solve_seconds": round(solution.stats["solve_seconds"], 3),
    }


def _problem(options: argparse.Namespace) -> ocp.Problem:
    form = options.form or "implicit"
    integrator = options.integrator or {"explicit": "rk4", "implicit": "gauss:2"}[form]
    torque = options.torque or ("constant" if integrator == "rk4" else "linear")
    return problem(form, _intervals(options), integrator, torque)


def _intervals(options: argparse.Namespace) -> int:
    return int(min(options.intervals, 15) if options.quick else options.intervals)


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--form", choices=("explicit", "implicit"), help="default: implicit")
    arguments.add_argument("--integrator", default="", help="default: gauss:2, or rk4 in the explicit form")
    arguments.add_argument("--torque", choices=("constant", "linear"), help="default: linear, or constant with rk4")
    arguments.add_argument("--intervals", type=int, default=50, help="number of intervals (default 50)")
    options, step = asked(arguments, argv, _problem)
    solution = step.solve(progress=not options.quiet, **SMALL)
    keep(options, solution)
    plain = not (options.form or options.integrator or options.torque)

    def figures() -> dict[str, Any]:
        return numbers(solution) | (shooting(_intervals(options), progress=not options.quiet) if plain else {})

    return finish(options, solution, figures, "Five-link biped: a step of least torque")


if __name__ == "__main__":
    sys.exit(main())
