"""RABBIT, the five-link biped on point feet: a step of least torque, and whether it is stable.

A torso and two legs with knees in the sagittal plane; four motors at hips and knees, none at the ankle. The gait is
single support and an instantaneous impact at which the legs change roles; at a given speed it minimizes the integral of
the sum of squared torques per step length. Two kinds of stability are computed: that of the torques applied without
feedback (Floquet multipliers), and that of virtual constraints kept by feedback (hybrid zero dynamics, delta_zero^2;
see _zero_dynamics): constraints fitted to the gait ("fit"), polynomials of the published degree with least torque
("hzd"), and the published example ("example").

Sources. Two public programs have the same masses, lengths, mass centers and inertias: V. Minh's of 2016, made from E.
Westervelt and J. Grizzle's of 2003 (github.com/peterminh227/the-biped_5DoF_VPP_walking), and N. Smit-Anseeuw's of 2018;
both leave the motors' rotors out. They are said to be those of Westervelt, Grizzle, Chevallereau, Choi & Morris,
Feedback Control of Dynamic Bipedal Robot Locomotion (2007); this was not compared with the book. (The 20 kg torso of
`five_link` is another set.) The published example, Bezier coefficients and sigma before the strike, and the friction
bound 2/3 are data of the first program only. Ranges of hips and knees and the largest torque are from the second
program, which uses several values: unverified as limits of the real robot. The clearance of the swing foot is chosen
here.

    python -m problems.rabbit                 at the speed of the published example
    python -m problems.rabbit --speed 0.6 [--intervals N] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.io import whole_file
from ocp_dyn.models import FiveLinkParameters, absolute_angles, five_link_biped

from . import five_link
from ._command import asked, attempt, finish, keep, parser
from ._zero_dynamics import VirtualConstraints, ZeroDynamics, fitted, optimized, phase_angle

RABBIT = FiveLinkParameters(
    tibia_mass=3.2, femur_mass=6.8, torso_mass=12.0,
    tibia_inertia=0.20, femur_inertia=0.47, torso_inertia=1.33,
    tibia_length=0.4, femur_length=0.4, torso_length=0.63,
    tibia_com=0.24, femur_com=0.11, torso_com=0.63 - 0.24,  # from the knee, from the hip, from the top
    swing_tibia_com=0.24, swing_femur_com=0.11,
)  # fmt: skip

TITLE = "RABBIT: a step of least torque"

FRICTION = 2 / 3
TORQUE = 75.0
HIP, KNEE = math.pi / 2, math.pi / 2
CLEARANCE = 0.01
DEGREE = 6
"""Degree of the Bezier polynomials, as published."""

PUBLISHED_SIGMA = -25.16342287
PUBLISHED_THETA = (-3.376641526, -3.376641526 + 0.51)
PUBLISHED_ALPHA = (
    (3.58, 3.689788372, 3.5, 3.2, 3.0, 3.0, 2.98),
    (2.98, 2.998250116, 3.0, 3.4, 3.500000052, 3.6, 3.58),
    (-0.32, -0.5636564229, -0.34, -0.22, -0.14, -0.1, -0.14),
    (-0.14, -0.1971802842, -0.05, -1.13, -0.32, -0.34, -0.32),
)
"""Bezier coefficients, a row for each of stance hip, swing hip, stance knee, swing knee.

In the published angles a straight leg in line with the torso has the hip angle pi.
"""


def published() -> VirtualConstraints:
    """The published example in the coordinates of `five_link_biped`."""
    stance_hip, swing_hip, stance_knee, swing_knee = np.array(PUBLISHED_ALPHA)
    alpha = np.array([-stance_knee, math.pi - stance_hip, swing_hip - math.pi, swing_knee])
    begin, end = (theta + math.pi for theta in PUBLISHED_THETA)
    return VirtualConstraints(alpha, begin, end)


def robot() -> od.Model:
    """RABBIT with its stance foot pinned at the origin."""
    return five_link.with_knees(five_link_biped(RABBIT), torque=TORQUE).with_limits(
        lower={"stance_hip": -HIP, "swing_hip": -HIP, "stance_knee": 0.0, "swing_knee": -KNEE},
        upper={"stance_hip": HIP, "swing_hip": HIP, "stance_knee": KNEE, "swing_knee": 0.0},
    )


def strike(q: Any, qd: Any) -> tuple[Any, Any, Any]:
    """State and impulse (q, qd, impulse [N s]) after the swing foot has struck without slip."""
    pinned, floating = five_link_biped(RABBIT), five_link_biped(RABBIT, root="planar")
    A, A_floating = absolute_angles(pinned), absolute_angles(floating)
    # the same state in the coordinates of the biped that can leave the ground: hip, torso, then the joints
    links, in_plane = DM(np.linalg.inv(A_floating[:, 2:]) @ A), DM([[1, 0, 0], [0, 0, 1]])
    q_free = ca.vertcat(in_plane @ od.point_position(pinned, "hip", q), links @ q)
    v_free = ca.vertcat(in_plane @ od.point_velocity(pinned, "hip", q, qd), links @ qd)
    qd_plus, impulse = od.impact(floating, (od.Contact("swing_foot", axes="xz"),), q_free, v_free)
    renamed = np.linalg.inv(A) @ np.eye(5)[::-1]
    return DM(renamed @ A) @ q, DM(renamed @ A_floating) @ qd_plus, impulse


def _change_of_legs(end: ocp.Instant, start: ocp.Instant) -> tuple[Any, Any, Any]:
    """The next step starts with the state after the strike; the impulse lies in the friction cone; the foot is down."""
    q, qd, impulse = strike(end.q, end.qd)
    height = od.point_position(end.model, "swing_foot", end.q)[2]
    rows = ca.vertcat(start.q - q, start.qd - qd, height, _inside_cone(impulse))
    return rows, np.zeros(13), np.append(np.zeros(11), [np.inf, np.inf])


def _inside_cone(force: Any) -> Any:
    """Rows that are positive if a force (x, z) on the foot lies inside the friction cone."""
    return ca.vertcat(FRICTION * force[1, :] - force[0, :], FRICTION * force[1, :] + force[0, :])


def _ground_force(instant: ocp.Instant) -> Any:
    """Force (x, z) on the stance foot [N]."""
    acceleration = od.center_of_mass_acceleration(instant.model, instant.q, instant.qd, instant.qdd)
    return (instant.model.mass * (acceleration - DM(instant.model.gravity)))[[0, 2]]


def _landing(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, Any, Any]:
    """The swing foot lands one step ahead at the requested speed; it leaves the ground upwards and lands downwards."""
    ahead = od.point_position(end.model, "swing_foot", end.q)[0] - end.values["step"]
    speed = end.values["step"] - end.values["walking_speed"] * end.values["time"]
    up, down = (od.point_velocity(s.model, "swing_foot", s.q, s.qd)[2] for s in (start, end))
    return ca.vertcat(ahead, speed, up, down), [0, 0, 0, -np.inf], [0, 0, np.inf, 0]


def problem(speed: float = 0.8, intervals: int = 40) -> ocp.Problem:
    """A step as a Problem with the parameter `walking_speed` [m/s]."""
    if not 0.1 <= speed <= 1.5:
        raise ValueError(f"speed must lie between 0.1 and 1.5 m/s, got {speed}")
    model = robot()
    cost = ocp.Integral(lambda s: ca.sumsqr(s.tau) / s.values["step"], 1.0, "torque squared per step length")
    path = (
        ocp.Path(lambda s: _inside_cone(_ground_force(s)) / 100, 0.0, np.inf, where="interval"),
        ocp.Clearance([("swing_foot", (0.0, 0.0, 0.0))], CLEARANCE),
    )
    return ocp.Problem(
        model,
        [ocp.Phase("step", intervals, (0.2, 1.5), path=path, objective=(cost,))],
        periodic=ocp.Periodic(mirror=False, transition=ocp.Jump(_change_of_legs, "change of legs"), step_length=0.0),
        boundary=(ocp.Boundary(_landing, "landing"),),
        parameters=[ocp.Parameter("walking_speed", speed), ocp.Parameter("step", 0.4, bounds=(0.1, 0.8))],
        unactuated=("stance_ankle",),
        integrator="gauss:2",
        torque="linear",
        guess=five_link.swing(model, (0.3, 0.2, 0.0, -0.2, -0.3), 0.5),
    )


def gait(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report on the step beside the summary: speed, friction, forces."""
    model, step = solution.model, solution.phases[0]
    landing = float(od.point_position(model, "swing_foot", DM(step.q[-1]))[0])
    forces = ground_forces(solution)
    impulse = np.array(DM(strike(DM(step.q[-1]), DM(step.qd[-1]))[2])).ravel()
    return {
        "period_s": solution.duration,
        "step_length_m": landing,
        "speed_m_per_s": landing / solution.duration,
        "cost_N2_m_s": solution.objective,
        "friction_needed": float(np.max(np.abs(forces[:, 0]) / forces[:, 1])),
        "friction_needed_at_impact": float(abs(impulse[0]) / impulse[1]),
        "least_vertical_force_N": float(forces[:, 1].min()),
    }


def ground_forces(solution: ocp.Solution) -> Any:
    """Forces (x, z) on the stance foot [N], means over the intervals (n, 2)."""
    model, step = solution.model, solution.phases[0]
    q, qd = (step.q[1:] + step.q[:-1]) / 2, (step.qd[1:] + step.qd[:-1]) / 2
    instants = [ocp.Instant(model, DM(x), DM(y), qdd=DM(z)) for x, y, z in zip(q, qd, step.qdd, strict=True)]
    forces = [_ground_force(instant) for instant in instants]
    return np.array([np.array(force.full()).ravel() for force in forces])


def followed(solution: ocp.Solution) -> ZeroDynamics:
    """The zero dynamics under polynomials fitted to the step."""
    step = solution.phases[0]
    return ZeroDynamics(solution.model, fitted(step.q, step.qd, DEGREE), strike)


def example() -> ZeroDynamics:
    """The zero dynamics of the published example."""
    return ZeroDynamics(robot(), published(), strike)


def least_torque(start: ZeroDynamics, speed: float) -> ZeroDynamics:
    """The zero dynamics whose gait at `speed` [m/s] costs least, within the limits of the step."""

    def limits(here: dict[str, Any], s: Any, impulse: Any) -> Any:
        tau, foot = here["tau"], here["foot"][2, :]
        knees = ca.vertcat(here["q"][1, :], -here["q"][4, :])
        clearance = CLEARANCE * np.sin(np.pi * s) ** 2
        cones = ca.vertcat(ca.vec(_inside_cone(here["force"][[0, 2], :]) / 100), _inside_cone(impulse))
        return ca.veccat(
            cones, (foot - DM(clearance).T)[:, 1:-1], knees, KNEE - knees, here["rate"], TORQUE - tau, TORQUE + tau
        )

    return optimized(start, speed, limits)


def stability(zero: ZeroDynamics, prefix: str) -> dict[str, Any]:
    """Numbers of the report on a gait on the zero dynamics; the stability conditions alone if there is no gait."""
    conditions = {
        f"{prefix}_delta_zero_squared": zero.delta_squared,
        f"{prefix}_existence": zero.existence,
        f"{prefix}_stable": zero.exists,
        f"{prefix}_invariance": zero.invariance,
    }
    if not zero.exists:
        return conditions
    _, begin, end = zero.constraints
    length = float(zero.at(end, zero.sigma)["foot"][0])
    period = zero.per_step(lambda here: np.ones_like(here["rate"]))
    theta = np.linspace(begin, end, 300)
    along = zero.at(theta, zero.along(theta))
    found = {
        "sigma": zero.sigma,
        "period_s": period,
        "step_length_m": length,
        "speed_m_per_s": length / period,
        "cost_N2_m_s": zero.per_step(lambda here: (here["tau"] ** 2).sum(axis=-1)) / length,
        "peak_torque_Nm": float(np.abs(along["tau"]).max()),
        "friction_needed": float(np.max(np.abs(along["force"][:, 0]) / along["force"][:, 2])),
    }
    return conditions | {f"{prefix}_{name}": value for name, value in found.items()}


def torques(solution: ocp.Solution) -> tuple[Any, Any]:
    """Times (2 n) and torques of the motors (2 n, 4) at both ends of every interval."""
    step = solution.phases[0]
    half = np.diff(step.t)[:, None] / 2 * step.tau_rate
    ends = np.stack([step.tau - half, step.tau + half], axis=1)
    return np.column_stack([step.t[:-1], step.t[1:]]).ravel(), ends.reshape(-1, ends.shape[-1])[:, 1:]


def draw(solution: ocp.Solution, zero: ZeroDynamics, path: Path) -> None:
    """The step in sticks, its torques beside those under virtual constraints, and the orbits of the zero dynamics."""
    figure, (sticks, efforts, portrait) = plt.subplots(
        1, 3, figsize=(14, 4.4), layout="constrained", width_ratios=(0.8, 1, 1)
    )
    _sticks(sticks, solution)
    t, tau = torques(solution)
    theta = np.linspace(*zero.constraints[1:], 300)
    here = zero.at(theta, zero.along(theta))
    time = np.concatenate([[0.0], np.cumsum(np.diff(theta) * (1 / here["rate"][1:] + 1 / here["rate"][:-1]) / 2)])
    for k, name in enumerate(solution.model.joint_names[1:]):
        efforts.plot(t, tau[:, k], color=f"C{k}", label=name.replace("_", " "))
        efforts.plot(time, here["tau"][:, k], color=f"C{k}", ls="--", lw=1)
    efforts.set(title="torques (dashed: under virtual constraints)", xlabel="time [s]", ylabel="torque [N m]")
    efforts.legend(frameon=False, fontsize="small")
    _portrait(portrait, solution, zero)
    with whole_file(path) as partial:
        figure.savefig(partial, format=path.suffix[1:], dpi=120)
    plt.close(figure)


def _sticks(axes: Any, solution: ocp.Solution) -> None:
    model, step = solution.model, solution.phases[0]
    legs = {"stance": ("stance_foot", "stance_femur", "hip"), "swing": ("hip", "swing_tibia", "swing_foot")}
    chosen = np.linspace(0, len(step.q) - 1, 9).astype(int)
    for k in chosen:
        for name, color, frames in (("torso", "0.3", ("hip", "head")), *zip(legs, ("C0", "C1"), legs.values(), strict=True)):  # fmt: skip
            points = np.array([od.point_position(model, f, DM(step.q[k])).full().ravel() for f in frames])
            label = name if k == chosen[-1] else None
            axes.plot(points[:, 0], points[:, 2], color=color, alpha=0.2 + 0.8 * k / chosen[-1], label=label)
    axes.axhline(0.0, color="0.6", lw=1)
    axes.set(aspect="equal", title="one step", xlabel="x [m]", ylabel="z [m]", xlim=(-0.75, 0.6))
    axes.legend(frameon=False, fontsize="small", loc="upper left")


def _portrait(axes: Any, solution: ocp.Solution, zero: ZeroDynamics) -> None:
    """Plot of |sigma| over theta: orbits, the gait with its strike, and the orbit just past the highest point."""
    step, (_, begin, end) = solution.phases[0], zero.constraints
    theta = np.linspace(begin, end, 400)
    V = zero.potential(theta)
    fixed = zero.delta_squared * zero.sigma**2 / 2
    for level in (0.5, 0.75, 1.5, 2.0, 2.5):
        left = level * fixed - V
        axes.plot(theta, np.sqrt(np.where(left > 0, 2 * left, np.nan)), color="0.75", lw=1)
    axes.plot(theta, np.sqrt(2 * np.maximum(zero.top - V, 0.0)), "k--", lw=1, label="just past the highest point")
    gait = np.sqrt(2 * (fixed - V))
    axes.plot(theta, gait, "C0", lw=2, label="gait under virtual constraints")
    axes.plot([end, begin], gait[[-1, 0]], "C0:", label=f"strike, $\\delta_0^2$ = {zero.delta_squared:.3f}")
    sigma = [float((od.mass_matrix(solution.model, DM(q)) @ DM(qd))[0]) for q, qd in zip(step.q, step.qd, strict=True)]
    axes.plot([phase_angle(q) for q in step.q], np.abs(sigma), "C3.", ms=3, label="step of least torque")
    axes.set(
        title="zero dynamics", xlabel=r"$\theta$ [rad]", ylabel=r"$|\sigma|$ [N m s]", ylim=(-0.4 * gait.max(), None)
    )
    axes.legend(frameon=False, fontsize="small", loc="lower left", ncols=2)
    axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= axes.get_ylim()[1]])


def numbers(solution: ocp.Solution, step: ocp.Problem, best: ZeroDynamics) -> dict[str, Any]:
    """Numbers of the report: the gait, both kinds of stability, and the published example recomputed."""
    multipliers = np.abs(solution.floquet_multipliers(problem=step))
    fit, known, q = followed(solution), example(), solution.phases[0].q
    theta = np.array([phase_angle(x) for x in q])
    return {
        **gait(solution),
        "open_loop_multiplier": float(multipliers[0]),
        "open_loop_stable": bool(multipliers[0] < 1),
        "fit_error_rad": float(np.abs(fit.at(theta, -np.ones_like(theta))["q"] - q).max()),
        **stability(fit, "fit"),
        **stability(best, "hzd"),
        **stability(known, "example"),
        "example_sigma_published": PUBLISHED_SIGMA,
        "example_sigma_difference": known.sigma / PUBLISHED_SIGMA - 1,
    }


def _speed(options: argparse.Namespace) -> float:
    """Speed of the command line, or of the published example."""
    if options.speed is not None:
        return float(options.speed)
    return float(stability(example(), "example")["example_speed_m_per_s"])


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, help="walking speed [m/s], 0.1 to 1.5; default: the example's")
    arguments.add_argument("--intervals", type=int, default=40, help="number of intervals (default 40)")
    options, step = asked(
        arguments, argv, lambda o: problem(_speed(o), min(o.intervals, 15) if o.quick else o.intervals)
    )
    solution = step.solve(progress=not options.quiet, **five_link.SMALL)
    if not solution.converged:
        return finish(options, solution, lambda: gait(solution), TITLE)
    keep(options, solution)
    try:
        best = least_torque(followed(solution), _speed(options))
    except ValueError as error:
        print(f"{error}; the numbers of hzd are those of fit", file=sys.stderr)
        best = followed(solution)
    code = finish(options, solution, lambda: numbers(solution, step, best), TITLE)
    wanted = options.out is not None and best.exists
    if wanted and attempt("rabbit.png", lambda: draw(solution, best, options.out / "rabbit.png")):
        report = options.out / "report.md"
        with whole_file(report) as partial:
            added = "\n![one step, torques, zero dynamics](rabbit.png)\n"
            partial.write_text(report.read_text(encoding="utf-8") + added, encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
