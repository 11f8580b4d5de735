"""Vertical jump of a human from both feet: as high as joint strength and speed allow, with and without an arm swing.

The body starts at rest with slightly bent knees. It may sink; it pushes off from flat feet, then from the edges under
its toes, and flies up to its apex, where the motion ends. The solver maximizes the height of the center of mass at the
apex; a small torque term selects one of the motions of equal height. The largest torques fall with joint speed, as
those of motors do, and the rate of torques has a cost, because muscles need time to build up force. The jump without
arm swing keeps the arms hanging at the trunk.

Published: an arm swing raises the jump by 0.086 m, 28 % of it by the raised arms at take-off and 72 % by a faster
take-off (Lees, Vanrenterghem and De Clercq, J. Biomechanics 37, 2004).

    python -m problems.jump [--strength 1] [--mass 73] [--height 1.741] [--no-arms] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import HumanDimensions, human, human_dimensions

from . import human_walk
from ._command import asked, finish, keep, parser

INTERVALS = (14, 6, 4)
"""Numbers of intervals: on flat feet, on the toes' edges, in flight up to the apex."""

QUICK = (10, 5, 3)

ARM_SWING_GAIN = 0.086
"""Increase of the jump height by an arm swing [m] (Lees et al. 2004)."""

BENT = math.radians(10.0)
"""Angle between thigh and vertical at the start; straight legs are singular."""

AHEAD = 0.04
"""Distance of the center of mass ahead of the ankles at the start [m]."""

LEAN = math.radians(60.0)
"""Bound on the pitch of the trunk."""

SPEEDS = (2.0, 2.0, 5.0, 5.0, 10.0, 5.0)
"""Bounds on the speed of the pelvis [m/s, rad/s]."""


def problem(
    mass: float = 73.0,
    height: float = 1.741,
    strength: float = 1.0,
    *,
    arms: bool = True,
    intervals: tuple[int, int, int] = INTERVALS,
) -> ocp.Problem:
    """A jump up to its apex. strength: the joints' largest torques, as multiples of the model's."""
    if not 0.8 <= strength <= 4:
        raise ValueError(f"strength must lie between 0.8 and 4 times that of the model, got {strength}")
    size = human_dimensions(height)
    model = human(mass, height, root=od.FloatingBase())
    still = dict(human_walk.UPPER) if not arms else {"lumbar": human_walk.UPPER["lumbar"]}
    model = model.lock_joints(still)
    model = _limited(model, strength)
    spread = size.hip_spacing / 2
    right = human_walk.feet(model, size, "r", x=0.0, y=-spread)
    left = human_walk.feet(model, size, "l", x=0.0, y=spread)
    contact = (ocp.Unilateral(), ocp.FrictionCone(), ocp.CenterOfPressure())
    motors = ocp.TorqueSpeedCurve()
    effort = _effort(model)
    reach = ocp.Path(lambda instant: _ballistic(instant) - instant.values["apex"], 0.0, np.inf)
    flat, toes, flight = intervals
    return ocp.Problem(
        model,
        [
            # the bound 0.7 s decides: with more time the jumper swings the arms again, for 2 cm of height
            ocp.Phase("flat", flat, (0.2, 0.7), (left.flat, right.flat), (*contact, motors), effort),
            ocp.Phase("toes", toes, (0.03, 0.2), (left.toes, right.toes), (*contact, motors), effort),
            ocp.Phase("flight", flight, (0.05, 0.6), path=(motors, reach), objective=effort),
        ],
        [
            ocp.Continuous(),
            ocp.Impact(),
        ],  # nothing is hit; path constraints then also hold at the first node of the flight
        boundary=(_at_rest(model, size), _apex(model)),
        parameters=[ocp.Parameter("apex", 1.2, bounds=(0.0, 5.0))],
        terminal=[ocp.Terminal(lambda start, end: -end.values["apex"], 100.0, "height")],
        guess=ocp.FootPlan(crouch=0.25, leave=math.radians(30.0)),
        integrator="gauss:2",  # a maximized height exploits errors of the grid that add to it
    )


def _limited(model: od.Model, strength: float) -> od.Model:
    """The model with scaled joint torques and a trunk that may lean but not turn over."""
    lean = {f"root.q{axis}": math.sin(angle / 2) for axis, angle in zip("xyz", (0.2, LEAN, 0.2), strict=True)}
    return model.with_limits(
        lower={part: -value for part, value in lean.items()},
        upper=lean,
        velocity={"root": SPEEDS},
        effort=strength * model.dofs.effort,
    )


def _effort(model: od.Model) -> tuple[Any, ...]:
    """Squares of torques and their rates over strength, and of left minus right; all small beside the height."""
    strength = model.dofs.strength()
    sides = _sides(model)
    return (
        ocp.TorqueSquared(weight=2.0, scale=strength),
        ocp.TorqueRateSquared(weight=0.01, scale=strength),
        ocp.AccelerationSquared(weight=1e-5),
        ocp.Integral(lambda instant: ca.sumsqr(sides(instant.q)), 20.0, "asymmetry"),
    )


def _sides(model: od.Model) -> Callable[[Any], Any]:
    """Function of q: angles of the left joints minus the mirrored angles of the right ones."""
    mirror = ocp.mirror_map(model)
    left = [
        k for name in model.joint_names if name.endswith("_l") for k in range(*model.q_slice(name).indices(model.nq))
    ]
    return lambda q: (q - mirror.q(q))[left]


def _at_rest(model: od.Model, size: HumanDimensions) -> ocp.Boundary:
    """Rest: trunk level, arms hanging, center of mass over the feet, knees slightly bent.

    The feet stand, so the pose of the pelvis determines the legs.
    """
    trunk = [k for k, name in enumerate(model.qd_names) if name.startswith(("root", "shoulder", "elbow"))]
    upper = [model.nq - model.nv + k for k in trunk if k >= 6]
    pelvis = size.leg_length - (size.thigh + size.shank) * (1 - math.cos(BENT))

    def rows(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
        q, qd = start.q, start.qd
        ahead = od.center_of_mass(model, q)[0] - od.point_position(model, "foot_l", q)[0]
        return ca.vertcat(ahead - AHEAD, q[1], q[2] - pelvis, q[3:6], q[upper], qd[trunk]), 0.0, 0.0

    return ocp.Boundary(rows, "at rest")


def _ballistic(instant: ocp.Instant) -> Any:
    """Height that the center of mass reaches in flight, c_z + c_z'^2 / (2 g).

    Used as a bound on the apex at all nodes of the flight, it prevents the solver from exploiting errors of the grid.
    """
    speed = od.center_of_mass_velocity(instant.model, instant.q, instant.qd)[2]
    return od.center_of_mass(instant.model, instant.q)[2] + speed**2 / (
        2 * float(np.linalg.norm(instant.model.gravity))
    )


def _apex(model: od.Model) -> ocp.Boundary:
    """Apex: center of mass at its highest, no angular momentum, trunk upright, symmetric: ready to land as it left."""
    sides = _sides(model)

    def rows(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, Any, Any]:
        speed = od.center_of_mass_velocity(model, end.q, end.qd)[2]
        spin = od.centroidal_momentum(model, end.q, end.qd)[:3]
        gap = sides(end.q)
        free = np.array([*np.zeros(4), *np.full(3, 0.1), *np.zeros(gap.shape[0])])
        return ca.vertcat(speed, spin, end.q[3:6], gap), -free, free

    return ocp.Boundary(rows, "apex")


def standing_height(model: od.Model) -> float:
    """Height of the center of mass above the ground, upright on straight legs [m]."""
    q = DM(model.neutral())
    return float(od.center_of_mass(model, q)[2] - od.point_position(model, "heel_l", q)[2])


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: heights, times, peak force and power, joint torques."""
    model = solution.model
    flat, toes, flight = solution.phases
    upright = standing_height(model)
    com = np.array([od.center_of_mass(model, DM(q)).full().ravel() for q in solution.q])
    leaving = float(od.center_of_mass_velocity(model, DM(flight.q[0]), DM(flight.qd[0]))[2])
    at_take_off = float(od.center_of_mass(model, DM(flight.q[0]))[2])
    vertical = np.concatenate([sum(w[:, 5] for w in phase.wrenches.values()) for phase in (flat, toes)])
    power = sum((phase.tau * (phase.qd[:-1] + phase.qd[1:]) / 2).sum(axis=1).max() for phase in (toes,))
    return {
        "jump_height_m": float(com[-1, 2]) - upright,
        "take_off_speed_m_per_s": leaving,
        "rise_before_take_off_m": at_take_off - upright,
        "countermovement_m": upright - float(com[:, 2].min()),
        "push_off_s": flat.duration + toes.duration,
        "on_toes_s": toes.duration,
        "peak_vertical_force_of_both_feet_body_weights": float(vertical.max()) / model.weight,
        "peak_power_W_per_kg": float(power) / model.mass,
        **human_walk.peak_torques(solution),
    }


def _problems(options: argparse.Namespace) -> tuple[ocp.Problem, ocp.Problem]:
    """The jump of the command line, and the jump with hanging arms."""
    intervals = QUICK if options.quick else INTERVALS
    jump, still = (
        problem(options.mass, options.height, options.strength, arms=arms, intervals=intervals)
        for arms in (not options.no_arms, False)
    )
    return jump, still


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--mass", type=float, default=73.0, help="body mass [kg]")
    arguments.add_argument("--height", type=float, default=1.741, help="stature [m]")
    arguments.add_argument("--strength", type=float, default=1.0, help="largest torques, times the model's")
    arguments.add_argument("--no-arms", action="store_true", help="keep the arms hanging, and make no comparison")
    options, (jump, still) = asked(arguments, argv, _problems)
    solution = jump.solve(progress=not options.quiet)
    keep(options, solution)
    without = None if options.no_arms else still.solve(progress=not options.quiet)

    def figures() -> dict[str, Any]:
        found = numbers(solution)
        if without is None:
            return found
        height = numbers(without)["jump_height_m"]
        return found | {
            "height_without_arms_m": height,
            "without_arms_converged": without.converged,
            "arm_swing_gain_m": found["jump_height_m"] - height,
            "arm_swing_gain_published_m": ARM_SWING_GAIN,
        }

    return finish(options, solution, figures, "Vertical jump of a human")


if __name__ == "__main__":
    sys.exit(main())
