"""RABBIT, the five-link biped on point feet: a step of least torque, and whether it is stable.

Four motors at hips and knees, none at the ankle. The gait is single support and an instantaneous impact at which the
legs change roles; at a given speed it minimizes the integral of the sum of squared torques per step length. Two kinds
of stability are computed: that of the torques applied without feedback (Floquet multipliers), and that of virtual
constraints kept by feedback (`od.walking.ZeroDynamics`, delta_zero^2): constraints fitted to the gait ("fit"),
polynomials of the published degree with least torque ("hzd"), and the published ones ("example"), by default as fast.

    python -m ocp_dyn.problems.rabbit [--speed 0.6] [--intervals N] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import sys
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import add_picture, asked, finish, intervals_of, keep, motion_of, parser, run_command, within
from ocp_dyn.walking import ZeroDynamics, ground_force, phase_angle, rabbit, rabbit_example, rabbit_leg_change
from ocp_dyn.walking import zero_dynamics_of_rabbit as fitted

from . import five_link

TITLE, gait = "RABBIT: a step of least torque", od.walking.point_foot_figures
PUBLISHED_SIGMA, FRICTION, CLEARANCE = -25.16342287, 2 / 3, 0.01
"""Angular momentum before the strike [N m s] and friction of the published gait; height of the swing foot [m]."""


def inside_cone(force: Any) -> Any:
    """Rows that are positive if a force (x, z) on the foot lies inside the friction cone."""
    return ca.vertcat(FRICTION * force[1, :] - force[0, :], FRICTION * force[1, :] + force[0, :])


def change_of_legs(end: ocp.Instant, start: ocp.Instant) -> tuple[Any, Any, Any]:
    """The next step starts with the state after the strike; the impulse lies in the friction cone; the foot is down."""
    q, qd, impulse = rabbit_leg_change(end.q, end.qd)
    height = od.point_position(end.model, "swing_foot", end.q)[2]
    rows = ca.vertcat(start.q - q, start.qd - qd, height, inside_cone(impulse))
    return rows, np.zeros(13), np.append(np.zeros(11), [np.inf, np.inf])


def landing(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, Any, Any]:
    """The swing foot lands one step ahead at the requested speed; it leaves the ground upwards and lands downwards."""
    ahead = od.point_position(end.model, "swing_foot", end.q)[0] - end.values["step"]
    speed = end.values["step"] - end.values["walking_speed"] * end.values["time"]
    up, down = (od.point_velocity(s.model, "swing_foot", s.q, s.qd)[2] for s in (start, end))
    return ca.vertcat(ahead, speed, up, down), [0, 0, 0, -np.inf], [0, 0, np.inf, 0]


def problem(speed: float = 0.8, intervals: int = 40) -> ocp.Problem:
    """A step as a Problem with the parameter `walking_speed` [m/s]."""
    within(speed, 0.1, 1.5, "speed must lie between 0.1 and 1.5 m/s")
    cost = ocp.Integral(lambda s: ca.sumsqr(s.tau) / s.values["step"], 1.0, "torque squared per step length")
    cone = ocp.Path(lambda s: inside_cone(ground_force(s)) / 100, 0.0, np.inf, where="interval")
    path = (cone, ocp.Clearance([("swing_foot", (0.0, 0.0, 0.0))], CLEARANCE))
    return ocp.Problem(
        rabbit(),
        [ocp.Phase("step", intervals, (0.2, 1.5), path=path, objective=(cost,))],
        periodic=ocp.Periodic(mirror=False, transition=ocp.Jump(change_of_legs, "change of legs"), step_length=0.0),
        boundary=(ocp.Boundary(landing, "landing"),),
        parameters=[ocp.Parameter("walking_speed", speed), ocp.Parameter("step", 0.4, bounds=(0.1, 0.8))],
        unactuated=("stance_ankle",), integrator="gauss:2", torque="linear",
        guess=od.models.five_link_swing((0.3, 0.2, 0.0, -0.2, -0.3), 0.5),
    )  # fmt: skip


def least_torque(start: ZeroDynamics, speed: float) -> ZeroDynamics:
    """The zero dynamics whose gait at `speed` [m/s] costs least, within the limits of the step."""
    bend, torque = float(start.model.dofs.q_upper[1]), float(start.model.dofs.tau_max[1])

    def limits(here: dict[str, Any], s: Any, impulse: Any) -> Any:
        tau, knees = here["tau"], ca.vertcat(here["q"][1, :], -here["q"][4, :])
        clear = here["foot"][2, :] - ca.DM(CLEARANCE * np.sin(np.pi * s) ** 2).T
        cones = ca.vertcat(ca.vec(inside_cone(here["force"][[0, 2], :]) / 100), inside_cone(impulse))
        return ca.veccat(cones, clear[:, 1:-1], knees, bend - knees, here["rate"], torque - tau, torque + tau)

    return od.walking.optimal_constraints(start, speed, limits)


def numbers(solution: ocp.Solution, step: ocp.Problem, best: ZeroDynamics) -> dict[str, Any]:
    """Numbers of the report: the gait, both kinds of stability, and the published example recomputed."""
    multipliers = np.abs(solution.floquet_multipliers(problem=step))
    fit, known, q = fitted(solution), rabbit_example(), solution.phases[0].q
    theta = np.array([phase_angle(x) for x in q])
    return {
        **gait(solution), "open_loop_multiplier": float(multipliers[0]), "open_loop_stable": bool(multipliers[0] < 1),
        "fit_error_rad": float(np.abs(fit.at(theta, -np.ones_like(theta))["q"] - q).max()),
        **fit.figures("fit"), **best.figures("hzd"), **known.figures("example"),
        "example_sigma_published": PUBLISHED_SIGMA, "example_sigma_difference": known.sigma / PUBLISHED_SIGMA - 1,
    }  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, help="walking speed [m/s], 0.1 to 1.5; default: the example's")
    arguments.add_argument("--intervals", type=int, help="number of intervals (default 40, with --quick 15)")
    options, step = asked(arguments, argv, lambda o: problem(
        rabbit_example().figures("it")["it_speed_m_per_s"] if o.speed is None else o.speed,
        intervals_of(o, 40, 15)))  # fmt: skip
    solution = motion_of(options, step, **five_link.SMALL)
    if not solution.converged:
        return finish(options, solution, lambda: gait(solution), TITLE)
    keep(options, solution)
    try:
        best = least_torque(fitted(solution), float(step.parameters[0].value))
    except ValueError as error:
        print(f"{error}; the numbers of hzd are those of fit", file=sys.stderr)
        best = fitted(solution)
    code = finish(options, solution, lambda: numbers(solution, step, best), TITLE)
    if best.exists:
        add_picture(options, "rabbit.png", lambda path: od.walking.plot_zero_dynamics(solution, best, path))
    return code


if __name__ == "__main__":
    sys.exit(run_command(main))
