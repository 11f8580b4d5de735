"""Five-link planar biped: one periodic step of least torque (Kelly's tutorial problem).

M. Kelly, "An Introduction to Trajectory Optimization", SIAM Review 59 (2017), sec. 6: RABBIT's parameters, point
feet, no ankle torque, a step of 0.5 m in 0.7 s, an impact that swaps the legs; minimise the integral of
the sum of squared torques. Published: 469.650 converged; 469.9439 by multiple shooting with RK4, 50 intervals.

    python -m problems.five_link [--form explicit|implicit] [--intervals N] [--json] [--out DIR]
"""

from __future__ import annotations

import sys
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import absolute_angles, five_link_biped

from ._command import finish, parser, prepare

STEP_LENGTH, STEP_TIME = 0.5, 0.7
PUBLISHED = {"explicit": 469.9439, "implicit": 469.650}


def problem(form: str = "explicit", intervals: int = 50) -> ocp.Problem:
    """The step as a Problem: stance foot pinned at the origin, constraints on absolute link angles."""
    model = five_link_biped(root="pinned")
    A = absolute_angles(model)
    start = np.array([0.3, 0.3, 0.0, -0.3, -0.3])  # hip behind the stance foot, swing leg trailing

    def guess(s: float) -> tuple[Any, Any]:
        end = start[::-1]
        angles, rates = (1 - s) * start + s * end, (end - start) / STEP_TIME
        return np.linalg.solve(A, angles), np.linalg.solve(A, rates)

    def knees(stage: ocp.Stage) -> Any:
        a = ca.DM(A) @ stage.q
        return ca.vertcat(a[1] - a[0], a[3] - a[4])

    path = (
        ocp.Path(knees, 0.0, np.inf, ends=True),
        ocp.Path(lambda stage: ca.DM(A) @ stage.q, -np.pi / 2, np.pi / 2, ends=True),
        ocp.Path(lambda stage: ca.DM(A) @ stage.v, -10.0, 10.0, ends=True),
        ocp.Path(lambda stage: stage.tau, -100.0, 100.0, where="interval"),
    )
    return ocp.Problem(
        model,
        [ocp.Phase("step", intervals, STEP_TIME, path=path, objective=(ocp.TorqueSquared(),))],
        boundary=(ocp.Boundary(_swap_legs, "impact"), ocp.Boundary(_foot, "swing foot")),
        unactuated=("stance_ankle",),
        form=form,
        guess=guess,
    )


def _swap_legs(start: ocp.Stage, end: ocp.Stage) -> tuple[Any, float, float]:
    """The swing foot hits the ground and becomes the stance foot: positions swap, velocities jump and swap."""
    A, floating = ca.DM(absolute_angles(end.model)), five_link_biped(root="planar")
    A_floating = absolute_angles(floating)
    angles, rates = A @ end.q, A @ end.v
    # the same state of the biped that is free to leave the ground: hip, torso, then the joints
    links, hip = np.linalg.inv(A_floating[:, 2:]), ca.DM([[1, 0, 0], [0, 0, 1]])
    q = ca.vertcat(hip @ od.point_position(end.model, "hip", end.q), links @ angles)
    v = ca.vertcat(hip @ od.point_velocity(end.model, "hip", end.q, end.v), links @ rates)
    v_plus, _ = od.impact(floating, (od.Contact("swing_foot", axes="xz"),), q, v)
    swap = ca.DM(np.eye(5)[::-1])
    swapped = ca.vertcat(swap @ angles, swap @ (A_floating @ v_plus))
    return ca.vertcat(A @ start.q, A @ start.v) - swapped, 0.0, 0.0


def _foot(start: ocp.Stage, end: ocp.Stage) -> tuple[Any, Any, Any]:
    """The swing foot lands one step ahead on the ground; it leaves the ground upwards and comes down to it."""
    landing = od.point_position(end.model, "swing_foot", end.q)
    leaving_rate = od.point_velocity(start.model, "swing_foot", start.q, start.v)[2]
    landing_rate = od.point_velocity(end.model, "swing_foot", end.q, end.v)[2]
    rows = ca.vertcat(landing[0] - STEP_LENGTH, landing[2], leaving_rate, landing_rate)
    return rows, [0, 0, 0, -np.inf], [0, 0, np.inf, 0]


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """What the report shows."""
    defects = solution.defects()
    published = PUBLISHED[solution.stats["form"]]
    return {
        "objective": solution.objective,
        "published": published,
        "relative_difference": solution.objective / published - 1,
        "intervals": len(solution.phases[0].tau),
        "form": solution.stats["form"],
        "step_length_m": STEP_LENGTH,
        "step_duration_s": solution.duration,
        "speed_m_per_s": STEP_LENGTH / solution.duration,
        "peak_torque_Nm": float(np.abs(solution.tau).max()),
        "defect_rad": defects.angle,
        "open_loop_defect_rad": defects.open_loop_angle,
    }


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--form", choices=("explicit", "implicit"), default="explicit")
    arguments.add_argument("--intervals", type=int, default=50)
    options = arguments.parse_args(argv)
    try:
        step = problem(options.form, options.intervals)
    except ValueError as error:
        arguments.error(str(error))
    prepare(options, arguments)
    solution = step.solve(progress=not options.quiet)
    return finish(options, solution, numbers(solution), "Five-link biped: a step of least torque")


if __name__ == "__main__":
    sys.exit(main())
