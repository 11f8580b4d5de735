"""People on compliant feet, whose stances the solver finds: the feet, and the figures of their walk."""

from __future__ import annotations

from typing import Any

import numpy as np
from casadi import DM

from ..dynamics.kinematics import point_position
from ..mechanism import Model
from ..models import human_spheres
from ..ocp import CompliantFoothold, Solution
from .alterations import Sex
from .person import Side
from .report_figures import peak_torques


def compliant_feet(
    model: Model, height: float = 1.741, sex: Sex = "male", *, length: float | None = None, **material: float
) -> list[CompliantFoothold]:
    """Compliant feet of a person: one foothold for each foot, two if the model has joints at the toes.

    length [m]: of a foot; None: that of a person of this height. material: properties of `od.HuntCrossleySphere`.

    >>> [foot.frame for foot in od.walking.compliant_feet(od.models.human())]
    ['heel_l', 'heel_r']
    """
    jointed = "toe_l" in model.frame_names and model.frame("toe_l").body != model.frame("heel_l").body
    parts = {"foot": "heel", "toes": "toe"} if jointed else {"foot": "heel"}
    return [
        CompliantFoothold(f"{frame}_{side}", human_spheres(side, height, sex, part, jointed, length=length, **material))
        for part, frame in parts.items()
        for side in "lr"
    ]


def compliant_walk_figures(solution: Solution) -> dict[str, Any]:
    """Numbers of a mirrored step on compliant feet beside its summary: the gait that the solver found, in the terms of
    gait analysis, and joint torques. The step is one phase."""
    (down, off), (other, _) = (_stance(solution, side) for side in SIDES)
    stride, peaks = 2 * solution.duration, _peaks(solution)
    return {
        "step_width_m": abs(float(np.diff([_middle(solution, side) for side in SIDES])[0])),
        "cadence_steps_per_min": 60 / solution.duration,
        "heel_strike_percent_of_stride": 100 * ((down / stride + 0.5) % 1.0 - 0.5),
        "toe_off_percent_of_stride": 100 * (off - down) / stride,
        "double_support_percent_of_stride": 100 * ((off - other) % stride) / stride,
        "first_peak_body_weights": peaks[0],
        "valley_body_weights": peaks[1],
        "second_peak_body_weights": peaks[2],
        **peak_torques(solution),
        "knee_flexion_in_swing_deg": float(np.degrees(solution.q[:, solution.model.q_slice("knee_l")].max())),
    }


SIDES: tuple[Side, Side] = ("r", "l")
"""The step begins as the right foot strikes."""


def _stance(solution: Solution, side: Side) -> tuple[float, float]:
    """Touch-down and lift-off of a foot [s]: those of its heel and, if it has a joint, of its toes together."""
    stride = 2 * solution.duration
    found = [stance for stance in solution.stances() if stance.foot.endswith(f"_{side}")]
    heels = [stance for stance in found if stance.foot.startswith("heel")]
    if not heels:
        raise ValueError(f"the heel at heel_{side} never stands on the ground")
    down = max(heels, key=lambda stance: stance.lift_off - stance.touch_down).touch_down
    return down, down + max((stance.lift_off - down) % stride for stance in found)


def _middle(solution: Solution, side: Side) -> float:
    """Side [m] at which a foot stands: its heel's, where the foot bears the largest force."""
    phase = solution.phases[0]
    k = int(np.argmax(phase.wrenches[f"heel_{side}"][:, 5]))
    return float(point_position(solution.model, f"heel_{side}", DM(phase.q[k]))[1])


def _peaks(solution: Solution) -> tuple[float, float, float]:
    """Largest vertical force of the first and of the second half of the right foot's stance, and the least between."""
    forces = solution.phases[0].wrenches
    up = {side: sum(w[:, 5] for name, w in forces.items() if name.endswith(f"_{side}")) for side in SIDES}
    stance = np.concatenate([up["r"], up["l"]]) / solution.model.weight
    stance = stance[: int(np.flatnonzero(stance > 0.05)[-1]) + 1]
    half = len(stance) // 2
    first, last = int(np.argmax(stance[:half])), half + int(np.argmax(stance[half:]))
    return float(stance[first]), float(stance[first:last].min()), float(stance[last])
