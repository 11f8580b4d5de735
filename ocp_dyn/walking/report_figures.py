"""Figures of a walk for reports: sizes of steps, the gait in the terms of gait analysis, torques, metabolic rate."""

from __future__ import annotations

from typing import Any

import numpy as np
from casadi import DM

from ..dynamics.kinematics import point_position
from ..ocp import MetabolicRate, Metabolism, MuscleMetabolicRate, Muscles, Solution
from .effort.effort_costs import achilles_tendons
from .human_feet import BALL, HEEL

GAIT = (
    "stance_percent", "stance_knee_peak_deg", "push_off_moment_Nm_per_kg", "push_off_power_W_per_kg",
    "vertical_force_maxima", "braking_force_body_weights", "propelling_force_body_weights",
    "pelvis_rotation_range_deg", "pelvis_obliquity_range_deg", "trunk_lean_range_deg", "center_of_mass_rise_m",
)  # fmt: skip
"""Numbers of `Solution.gait` that the report takes over by these names."""


def walk_figures(solution: Solution) -> dict[str, Any]:
    """Numbers of a person's walk beside its summary: steps, the gait in the terms of gait analysis, joint torques.

    Gait analysis needs two legs with hip, knee and ankle and one stride: without it, the other numbers remain.
    """
    found = step_figures(solution)
    try:
        curves = solution.gait()
    except ValueError:
        curves = None
    if curves is not None:
        gait = curves.numbers()
        double = gait["double_support_percent"] / 2  # gait analysis adds up both of a stride
        found |= {
            "step_width_m": gait["step_width_m"],
            "cadence_steps_per_min": gait["cadence_steps_per_min"],
            "double_support_s": double / 100 * gait["stride_time_s"],
            "double_support_percent_of_stride": double,
            "heel_off_percent_of_stride": gait["heel_off_percent"],
            "knee_flexion_in_swing_deg": gait["swing_knee_peak_deg"],
            **{name: gait[name] for name in GAIT},
            "outside_measured_bands": ", ".join(e.line for e in curves.outside()) or "none",
        }
    if solution.phases[0].name == "loading":
        found |= {"heel_strike_to_flat_s": solution.phases[0].duration, "swing_clearance_m": _clearance(solution)}
    return found | {**peak_torques(solution), **_arm_swing(solution), **metabolism(solution).numbers()}


def metabolism(solution: Solution) -> Metabolism:
    """Metabolic rate of a motion by the formula of Minetti and Alexander (`ocp.MetabolicRate`), which the usual costs
    do not minimize, and 1.2 W/kg at rest; of muscles by that of Bhargava et al. 2004 (`ocp.MuscleMetabolicRate`)."""
    muscles = next((part for part in solution.components if isinstance(part, Muscles)), None)
    if muscles is not None:
        return solution.metabolic_rate(MuscleMetabolicRate(muscles))
    return solution.metabolic_rate(MetabolicRate(tendons=achilles_tendons(solution.model)))


def peak_torques(solution: Solution) -> dict[str, float]:
    """Largest torques [N m] of the right leg, the lower back and the right shoulder, in the sagittal plane."""
    tau = solution.with_net_torques().tau
    shown = ("hip_r.ry", "knee_r", "ankle_r", "lumbar.ry", "shoulder_r.ry")
    return {
        f"peak_torque_{name.replace('.', '_')}_Nm": float(np.abs(tau[:, k]).max())
        for k, name in enumerate(solution.model.qd_names)
        if name.startswith(shown)
    }


def step_figures(solution: Solution) -> dict[str, Any]:
    """Numbers of the steps of both feet, if they may differ: length [m], and stance as percent of the motion."""
    if solution.mirrored or len(solution.phases) < 8:
        return {}
    feet_down = footsteps(solution)
    found: dict[str, Any] = {}
    for side, word in (("r", "right"), ("l", "left")):
        lengths = [
            x - before for (s, x), (_, before) in zip(feet_down, _before(solution, feet_down), strict=True) if s == side
        ]
        on = [p.duration for p in solution.phases if any(name.endswith(f"_{side}") for name in p.places)]
        found |= {
            f"step_length_{word}_m": abs(sum(lengths)) / len(lengths),
            f"stance_{word}_percent": 100 * sum(on) / solution.duration,
        }
    return found


def footsteps(solution: Solution) -> list[tuple[str, float]]:
    """Side and x of the heel [m] of every foot that lies flat alone, in turn."""
    found = []
    for p in solution.phases:
        if p.name.startswith("flat"):
            side = next(iter(p.places))[-1]
            found.append((side, float(point_position(solution.model, f"heel_{side}", DM(p.q[0]))[0])))
    return found


def _before(solution: Solution, feet_down: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """The footstep before each; before the first comes the last one of the period before."""
    side, x = feet_down[-1]
    return [(side, x - solution.step_length), *feet_down[:-1]]


def _arm_swing(solution: Solution) -> dict[str, float]:
    model = solution.model
    if "shoulder_l" not in model.joint_names:
        return {}
    return {"arm_swing_deg": float(np.degrees(np.ptp(solution.q[:, model.q_slice("shoulder_l")][:, 0])))}


def _clearance(solution: Solution) -> float:
    """Height of the lower end of the swinging sole's midline when the other heel rises [m]."""
    heel, middle = (
        float(point_position(solution.model, frame, DM(solution.phases[-1].q[0]))[2]) for frame in ("heel_l", "sole_l")
    )
    return min(heel + 2 * part * (middle - heel) for part in (HEEL, BALL))
