"""Human running in 3-D: one periodic, mirrored step with a flight phase, of least effort at a given speed.

The step begins as the right foot touches down flat, with an impact. The body moves over the foot, the heel rises, and
the foot pushes off from the edge under its toes; then both feet are in the air until the left one touches down.
Durations of all phases, step length and step width are free.

Published, for 3 m/s: 270 ms on the ground and a largest vertical force of 2.51 body weights (Munro, Miller and
Fuglevand, J. Biomechanics 20, 1987).

    python -m problems.run [--speed 3] [--strength 1.5] [--mass 73] [--height 1.741] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human, human_dimensions

from . import human_walk
from ._command import asked, finish, parser

INTERVALS = (12, 8, 8)
"""Numbers of intervals: on the flat foot, on the toes' edge, in flight."""

QUICK = (6, 4, 4)

PUBLISHED = {"contact_published_s": 0.270, "peak_force_published_body_weights": 2.51}
"""Published figures at 3 m/s (Munro et al. 1987)."""

CLEARANCE = 0.05
"""Height of the swinging foot in the middle of its swing [m]."""

TOE_OUT = math.radians(4.0)

DURATIONS = {"flat": (0.04, 0.25), "toes": (0.03, 0.2), "flight": (0.03, 0.3)}
"""Bounds on the durations of the phases [s]."""


def problem(
    speed: float = 3.0,
    mass: float = 73.0,
    height: float = 1.741,
    strength: float = 1.5,
    *,
    intervals: tuple[int, int, int] = INTERVALS,
) -> ocp.Problem:
    """One step, from the right foot's touch-down to the left's. strength: largest torques, times the model's."""
    if not 1.8 <= speed <= 6:
        raise ValueError(f"speed must lie between 1.8 and 6 m/s for a run, got {speed}")
    if not 0.8 <= strength <= 4:
        raise ValueError(f"strength must lie between 0.8 and 4 times that of the model, got {strength}")
    size = human_dimensions(height)
    model = human(mass, height, root=od.FloatingBase())
    model = model.with_limits(effort=strength * model.dofs.effort)
    right = human_walk.feet(model, size, "r", x=0.0, y=(-0.2, 0.0), yaw=-TOE_OUT)
    contact = (ocp.Unilateral(), ocp.FrictionCone(), ocp.CenterOfPressure())
    soles = {side: human_walk.sole_points(side, size) for side in "lr"}
    apart = human_walk.separation(size, 0.5)

    def swing(side: str, begin: float, end: float) -> ocp.Clearance:
        return ocp.Clearance(soles[side], CLEARANCE, part=(begin, end))

    paths: dict[str, tuple[tuple[ocp.Foothold, ...], tuple[Any, ...]]] = {
        "flat": ((right.flat,), (*contact, swing("l", 0.2, 0.5), apart)),
        "toes": ((right.toes,), (*contact, swing("l", 0.5, 0.8), apart)),
        "flight": ((), (swing("l", 0.8, 1.0), swing("r", 0.0, 0.2), apart)),
    }
    effort = _effort(model)
    return ocp.Problem(
        model,
        [
            ocp.Phase(name, n, DURATIONS[name], feet, path, effort)
            for n, (name, (feet, path)) in zip(intervals, paths.items(), strict=True)
        ],
        periodic=ocp.Periodic(speed, transition=ocp.Impact(weight=2e-3)),
        per_distance=True,
        guess=ocp.FootPlan(strike=0.0, leave=math.radians(40.0), lift=0.15, crouch=0.05),
    )


def _effort(model: od.Model) -> tuple[Any, ...]:
    """Square of torque over strength; small terms that keep the motion smooth and joints away from their limits.

    Accelerations have a cost in the legs only: arms swing freely.
    """
    strength = model.dofs.strength()
    legs = [k for k, name in enumerate(model.qd_names) if name.startswith(("hip", "knee", "ankle", "subtalar"))]
    return (
        ocp.TorqueSquared(weight=100.0, scale=strength),
        ocp.TorqueRateSquared(weight=0.02, scale=strength),
        ocp.Integral(lambda instant: ca.sumsqr(instant.qdd[legs]), 1e-3, "leg accelerations"),
        ocp.JointAngleSquared(weight=0.2, stiffness=human_walk.stiffness(model)),
    )


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: contact, impulse at touch-down, joint torques, published figures."""
    model = solution.model
    flat, toes, _ = solution.phases
    contact = flat.duration + toes.duration
    return {
        "step_width_m": 2 * abs(float(flat.places["heel_r"][1])),
        "cadence_steps_per_min": 60 / solution.duration,
        "contact_s": contact,
        "duty_factor": contact / solution.duration / 2,
        "touch_down_impulse_Ns": float(np.linalg.norm(solution.impulses[-1][3:])),
        **human_walk.peak_torques(solution),
        "knee_flexion_in_swing_deg": float(np.degrees(solution.q[:, model.q_slice("knee_l")].max())),
        "arm_swing_deg": float(np.degrees(np.ptp(solution.q[:, model.q_slice("shoulder_l")][:, 0]))),
        **(PUBLISHED if abs(solution.step_length / solution.duration - 3) < 1e-6 else {}),
    }


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, default=3.0, help="running speed [m/s], 1.8 to 6")
    arguments.add_argument("--mass", type=float, default=73.0, help="body mass [kg]")
    arguments.add_argument("--height", type=float, default=1.741, help="stature [m]")
    arguments.add_argument("--strength", type=float, default=1.5, help="largest torques, times the model's")
    options, run = asked(
        arguments,
        argv,
        lambda o: problem(o.speed, o.mass, o.height, o.strength, intervals=QUICK if o.quick else INTERVALS),
    )
    solution = run.solve(progress=not options.quiet)
    return finish(options, solution, lambda: numbers(solution), f"Human running at {options.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(main())
