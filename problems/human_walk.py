"""Whole-body human walking in 3-D: one periodic, mirrored step of least effort at a given speed.

A 29-dof human of any mass, height and sex walks with flat feet: touch-down impact on both feet, double support, single
support, free durations and step width. Contacts push and never pull, stay in their friction cones and
keep the centre of pressure inside the sole, impulses too. Arms and trunk are free: nothing tells
them to swing. The cost per distance is joint torque over strength, squared, with smaller terms for its rate,
for joint accelerations, for the torque of passive tissue, and for the impulse of touch-down.

    python -m problems.human_walk [--speed 1.2] [--mass 73] [--height 1.741] [--sex male] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from typing import Any, Literal

import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human, human_dimensions

from ._command import finish, parser, prepare

CLEARANCE = 0.03
"""Height of the swing foot above the ground at mid-swing [m]."""

TOE_OUT = math.radians(6.0)
"""Angle of the feet outwards; 5 to 7 degrees are normal in adults."""

STIFFNESS = {"lumbar": 10.0, "hip_l.rz": 2.0, "hip_r.rz": 2.0, "shoulder": 0.5, "elbow": 0.5}
"""Passive joint stiffness relative to the hips' and knees' flexion."""


def problem(
    speed: float = 1.2,
    mass: float = 73.0,
    height: float = 1.741,
    sex: Literal["male", "female"] = "male",
    *,
    base: str = "quaternion",
    form: str = "implicit",
    integrator: str = "",
    intervals: tuple[int, int] = (8, 36),
) -> ocp.Problem:
    """One step, from the right foot's touch-down to the left's; intervals in double and in single support."""
    if not 0.3 <= speed <= 2.0:
        raise ValueError(f"speed must lie between 0.3 and 2.0 m/s for a walk on flat feet, got {speed}")
    model = human(mass, height, sex, root=od.FloatingBase(base))
    size = human_dimensions(height, sex)
    sole = {"half_length": size.sole_half_length, "half_width": size.sole_half_breadth}
    right = ocp.Foothold(od.Contact(model.frame("sole_r")), x=0.0, y=(-0.2, -0.02), yaw=-TOE_OUT, **sole)
    left = ocp.Foothold(od.Contact(model.frame("sole_l")), **sole)

    contact = (ocp.Unilateral(), ocp.FrictionCone(), ocp.CentreOfPressure())
    swing = ocp.Clearance(_sole_points("l", size.sole_half_length, size.sole_half_breadth), CLEARANCE)
    legs = ocp.Separation(
        [(("sole_l", (x, 0, 0)), ("sole_r", (u, 0, 0))) for x in _ends(size) for u in _ends(size)]
        + [(("shank_l", (0, 0, 0)), ("shank_r", (0, 0, 0)))],
        1.1 * size.foot_breadth,
    )
    effort = _effort(model)
    return ocp.Problem(
        model,
        [
            ocp.Phase("double_support", intervals[0], (0.05, 0.25), (right, left), contact, effort),
            ocp.Phase("single_support", intervals[1], (0.25, 0.8), (right,), (*contact, swing, legs), effort),
        ],
        periodic=ocp.Periodic(speed, transition=ocp.Impact(weight=2e-3)),
        per_distance=True,
        form=form,
        integrator=integrator,
    )


def _ends(size: Any) -> tuple[float, float]:
    return -size.sole_half_length, size.sole_half_length


def _sole_points(side: str, half_length: float, half_width: float) -> list[tuple[str, tuple[float, float, float]]]:
    """The corners of a sole."""
    return [(f"sole_{side}", (x, y, 0.0)) for x in (-half_length, half_length) for y in (-half_width, half_width)]


def _effort(model: od.Model) -> tuple[Any, ...]:
    """Torque over strength, squared; small terms that keep joints smooth and away from their ends."""
    strength = np.where(np.isfinite(model.dofs.tau_max), model.dofs.tau_max, 1.0)
    stiffness = np.ones(model.nv)
    for prefix, value in STIFFNESS.items():
        stiffness[[name.startswith(prefix) for name in model.qd_names]] = value
    return (
        ocp.TorqueSquared(weight=100.0, scale=strength),
        ocp.TorqueRateSquared(weight=0.3, scale=strength),
        ocp.AccelerationSquared(weight=1e-3),
        ocp.JointAngleSquared(weight=1.0, stiffness=stiffness),
    )


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """What the report shows."""
    model, defects = solution.model, solution.defects()
    weight = model.mass * 9.81
    double, single = solution.phases
    vertical = np.concatenate([w[:, 5] for phase in solution.phases for w in phase.wrenches.values()])
    torques = {
        name: float(np.abs(solution.tau[:, k]).max())
        for k, name in enumerate(model.qd_names)
        if name.startswith(("hip_r.ry", "knee_r", "ankle_r", "lumbar.ry", "shoulder_r.ry"))
    }
    positive, negative = solution.mechanical_work()
    return {
        "speed_m_per_s": solution.step_length / solution.duration,
        "step_length_m": solution.step_length,
        "step_width_m": 2 * abs(float(double.places["sole_r"][1])),
        "step_duration_s": solution.duration,
        "double_support_s": double.duration,
        "single_support_s": single.duration,
        "cadence_steps_per_min": 60 / solution.duration,
        "objective": solution.objective,
        "cost_of_transport": solution.cost_of_transport(),
        "positive_work_J": positive,
        "negative_work_J": negative,
        "swing_clearance_m": _clearance(solution),
        "peak_vertical_force_body_weights": float(vertical.max()) / weight,
        "touch_down_impulse_Ns": float(np.linalg.norm(solution.impulses[-1][3:6])),
        **{f"peak_torque_{name.replace('.', '_')}_Nm": peak for name, peak in torques.items()},
        "arm_swing_deg": float(np.degrees(np.ptp(solution.q[:, model.q_slice("shoulder_l")][:, 0]))),
        "defect_rad": defects.angle,
        "defect_m": defects.length,
        "open_loop_defect_rad": defects.open_loop_angle,
        "open_loop_defect_m": defects.open_loop_length,
    }


def _clearance(solution: ocp.Solution) -> float:
    """Lowest of the swing foot's heel and toe at mid-swing [m]."""
    single = solution.phases[1]
    q = single.q[len(single.q) // 2]
    return min(float(od.point_position(solution.model, frame, DM(q))[2]) for frame in ("heel_l", "toe_l"))


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, default=1.2, help="walking speed [m/s], 0.3 to 2.0")
    arguments.add_argument("--mass", type=float, default=73.0, help="body mass [kg]")
    arguments.add_argument("--height", type=float, default=1.741, help="stature [m]")
    arguments.add_argument("--sex", choices=("male", "female"), default="male")
    options = arguments.parse_args(argv)
    try:
        walk = problem(options.speed, options.mass, options.height, options.sex)
    except ValueError as error:
        arguments.error(str(error))
    prepare(options, arguments)
    solution = walk.solve(progress=not options.quiet)
    return finish(options, solution, numbers(solution), f"Human walking at {options.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(main())
