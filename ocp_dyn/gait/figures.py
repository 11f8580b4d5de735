"""Events and figures of a walk: times of contact, stride, step width, peaks of the curves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .._base.rounding import largest
from .._base.types import Array
from .data import PERCENT
from .stride import Stride

FLAT = 2.0
"""Deviation of the foot's pitch from that of single support [degrees], below which the foot counts as flat: a heel on a
soft sole sinks deeper than the toes."""


PROMINENCE = 0.02
"""Rise of a maximum of the vertical force above its surroundings, from which on it counts [body weights]."""


def events(stride: Stride, curves: Mapping[str, Array]) -> dict[str, float]:
    """Percent of the stride of every event, in the order of time."""
    own, other = stride.stances[stride.side], stride.stances[stride.other]
    found = {
        "opposite toe-off": stride.percent(other.end),
        "opposite heel strike": stride.percent(other.start),
        "toe-off": stride.percent(own.end),
    }
    if "foot pitch" in curves:
        pitch, fine = curves["foot pitch"], np.linspace(0.0, found["toe-off"], 1001)
        lift, strike = found["opposite toe-off"], found["opposite heel strike"]
        standing = (PERCENT >= lift) & (PERCENT <= (lift + strike) / 2)
        level = float(np.median(pitch[standing])) if standing.any() else 0.0
        flat = fine[np.abs(np.interp(fine, PERCENT, pitch) - level) <= FLAT]
        if flat.size:
            found |= {"foot flat": float(flat[0]), "heel-off": float(flat[-1])}
    return dict(sorted(found.items(), key=lambda item: item[1]))


def figures(stride: Stride, curves: Mapping[str, Array], at: Mapping[str, float]) -> dict[str, float]:
    """Numbers of the walk by name and unit; at: `events`."""
    time, speed = stride.duration, stride.motion.step_length / stride.motion.duration
    toe_off, strike, lift = at["toe-off"], at["opposite heel strike"], at["opposite toe-off"]
    swing, first_half = PERCENT >= toe_off, PERCENT <= toe_off / 2
    knee, vertical = curves["knee flexion"], curves["vertical force"]
    # a runner's feet are never on the ground together: the opposite foot then leaves before this one strikes
    walks = lift < strike and toe_off > strike
    leg, width, step = leg_length(stride), None, None
    if heels := _heels(stride):
        width = float(heels["left"][1] - heels["right"][1])
        step = float((heels[stride.side] - heels[stride.other])[0] % stride.length)  # with this foot ahead
    found = {
        "speed_m_per_s": speed,
        "slope": stride.slope,
        "stride_time_s": time,
        "stride_frequency_Hz": 1 / time,
        "cadence_steps_per_min": 120 / time,
        "leg_length_m": leg,
        "dimensionless_speed": speed / np.sqrt(9.81 * leg) if leg else None,
        "dimensionless_cadence": 2 / time * np.sqrt(leg / 9.81) if leg else None,
        "stride_length_m": speed * time,
        "step_length_m": step,
        "dimensionless_step_length": step / leg if step is not None and leg else None,
        "step_width_m": width,
        "step_width_leg_lengths": width / leg if width is not None and leg else None,
        "double_support_percent": lift + toe_off - strike if walks else 0.0,
        "stance_percent": toe_off,
        "contact_time_s": toe_off / 100 * time,
        "stance_knee_peak_deg": float(knee[first_half].max()),
        "swing_knee_peak_deg": float(knee[swing].max()),
        "push_off_moment_Nm_per_kg": float(curves["ankle plantar flexion moment"].max()),
        "push_off_moment_percent": float(PERCENT[np.argmax(curves["ankle plantar flexion moment"])]),
        "push_off_power_W_per_kg": float(curves["ankle power"].max()),
        "peak_vertical_force_body_weights": float(vertical.max()),
        **_peaks(vertical, toe_off),
        "braking_force_body_weights": float(-curves["forward force"].min()),
        "propelling_force_body_weights": float(curves["forward force"].max()),
        "pelvis_rotation_range_deg": float(np.ptp(curves["pelvis rotation"])),
        "pelvis_obliquity_range_deg": float(np.ptp(curves["pelvis obliquity"])),
        **_other_planes(curves, toe_off),
    }
    return {name: float(value) for name, value in found.items() if value is not None}


def _other_planes(curves: Mapping[str, Array], toe_off: float) -> dict[str, float]:
    """Ranges of trunk and center of mass, and peaks of the hip in stance, in the frontal and the transverse plane."""
    stance = PERCENT <= toe_off
    found = {
        "trunk_lean_range_deg": float(np.ptp(curves["trunk lean"])),
        "trunk_rotation_range_deg": float(np.ptp(curves["trunk rotation"])),
        "center_of_mass_rise_m": float(np.ptp(curves["center of mass height"])),
        "center_of_mass_sway_m": float(np.ptp(curves["center of mass lateral"])),
    }
    if "hip adduction" in curves:
        moment = np.where(PERCENT <= toe_off / 2, curves["hip abduction moment"], -np.inf)
        found |= {
            "hip_adduction_peak_deg": float(curves["hip adduction"][stance].max()),
            "hip_abduction_moment_Nm_per_kg": float(moment.max()),
            "hip_abduction_moment_percent": float(PERCENT[np.argmax(moment)]),
        }
    return found


def _peaks(vertical: Array, toe_off: float) -> dict[str, float]:
    """The two maxima of the vertical force and the least force between them, if there are two with a valley."""
    found = maxima(np.where(PERCENT <= toe_off, vertical, 0.0), PROMINENCE)
    numbers = {"vertical_force_maxima": float(len(found))}
    if len(found) == 2:
        (first, a), (second, b) = found
        valley = float(vertical[(first < PERCENT) & (second > PERCENT)].min())
        numbers |= {"first_vertical_peak_body_weights": a, "vertical_valley_body_weights": valley,
                    "second_vertical_peak_body_weights": b}  # fmt: skip
    return numbers


def maxima(curve: Array, prominence: float) -> list[tuple[float, float]]:
    """(percent, value) of the maxima of a curve over the stride that rise by at least `prominence` above the higher of
    the lowest points between them and the next higher maxima to both sides."""
    found = []
    for k in range(1, len(curve) - 1):
        if not curve[k - 1] < curve[k] >= curve[k + 1]:
            continue
        sides = (curve[k::-1], curve[k:])
        higher = [next((n for n, y in enumerate(side) if y > curve[k]), len(side)) for side in sides]
        base = max(float(side[:n].min()) for side, n in zip(sides, higher, strict=True))
        if curve[k] - base >= prominence:
            found.append((float(PERCENT[k]), float(curve[k])))
    return found


def leg_length(stride: Stride) -> float | None:
    """Height of the hip above the sole when standing upright [m]; None for a model without soles."""
    heel = f"heel_{stride.side[0]}"
    if heel not in stride.model.frame_names:
        return None
    return float(stride.upright(stride.body("hip"))[1][2] - stride.upright(heel)[1][2])


def _heels(stride: Stride) -> dict[str, Array] | None:
    """Position of each heel in the middle of its stance [m]; None for a model without heels."""
    found: dict[str, Array] = {}
    t, q = stride.states[:2]
    for side, stance in stride.stances.items():
        name = f"heel_{side[0]}"
        if name not in stride.model.frame_names:
            return None
        middle = (stance.start + stance.end) / 2
        k = largest(-np.abs(t - middle % stride.duration))
        p = stride.poses(name, q[k : k + 1])[1][0]
        found[side] = p + np.array([middle // stride.duration * stride.length, 0.0, 0.0])
    return found
