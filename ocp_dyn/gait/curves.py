"""The curves of a walk over the stride: joints, pelvis and trunk, ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.checks import choice
from .._base.convergence import mark_of
from .._base.types import Array, names_in_message
from .data import UNITS
from .figures import events, figures
from .gait import Gait
from .joint_angles import gait_coordinates, hip_planes
from .planes import hip_curves, segment_angles
from .stride import Stride, body_of
from .unrolled import Walk, check_finite

ANGLES = {"hip": "hip flexion", "knee": "knee flexion", "ankle": "ankle dorsiflexion"}
MOMENTS = {"hip": "hip extension moment", "knee": "knee extension moment", "ankle": "ankle plantar flexion moment"}


def gait(motion: Walk, side: Any = "right") -> Gait:
    """Curves and figures of a periodic motion over the stride of a leg; see `Gait`.

    ValueError for another side, a motion that is not periodic, or turns or goes sideways, a model without hips, knees
    and ankles on both sides, or feet that do not leave the ground once per stride.
    """
    model = motion.model
    chosen: Any = choice(side, ("left", "right"), "gait: side")
    if not motion.step_length:
        raise ValueError(
            "gait() needs a periodic motion that moves forward: give the problem periodic=ocp.Periodic(...)"
        )
    if motion.turn or motion.sideways:
        way = (
            f"turns by {np.degrees(motion.turn):.3g} degrees"
            if motion.turn
            else f"goes {motion.sideways:.3g} m sideways"
        )
        raise ValueError(
            "gait() is for walking straight ahead: forces and the angles of pelvis and trunk are measured along the "
            f"way, and this motion {way} in a period: read its angles, torques and forces from solution.phases"
        )
    coordinates = gait_coordinates(model)
    if not coordinates:
        raise ValueError(
            "gait() needs hips, knees and ankles on both sides, found by the words hip, knee and ankle in the names of "
            f"joints such as hip_l, knee_l, ankle_l, hip_r, knee_r, ankle_r; {model!r} has the joints "
            f"{names_in_message(model.joint_names, 12)}"
        )
    check_finite(motion, "gait()")
    motion = motion.with_net_torques() if motion.driving else motion
    stride = Stride(motion, chosen, coordinates)
    found = _joints(stride) | _body(stride) | _ground(stride) | _mass_center(stride)
    curves = {name: found[name] for name in UNITS if name in found}
    at = events(stride, curves)
    numbers = figures(stride, curves, at)
    title = f"{(model.name or 'walk').replace('_', ' ')} at {numbers['speed_m_per_s']:.2f} m/s"
    mark = mark_of(motion)
    return Gait(chosen, f"{mark}: {title}" if mark else title, curves, at, numbers, mark=mark, kind="simulated")


def _joints(stride: Stride) -> dict[str, Array]:
    """Angles, net moments and powers of hip, knee and ankle."""
    t, q, qd, tau = stride.states
    mass = float(stride.model.mass) or 1.0
    planes = hip_planes(stride.model, stride.joints["hip"])
    found = hip_curves(planes, lambda values: stride.at_percent(t, values), q, qd, tau, mass)
    for joint, c in stride.joints.items():
        found[ANGLES[joint]] = np.degrees(c.sign * stride.at_percent(t, q[:, c.q_index]))
        found[MOMENTS[joint]] = -c.sign * stride.at_percent(t, tau[:, c.qd_index]) / mass
        found[f"{joint} power"] = stride.at_percent(t, tau[:, c.qd_index] * qd[:, c.qd_index]) / mass
    return found


def _body(stride: Stride) -> dict[str, Array]:
    """Angles of pelvis, trunk and foot, and of the thigh relative to the trunk [degrees]."""
    model, lean = stride.model, stride.lean
    hip, knee = stride.body("hip"), stride.body("knee")
    pelvis = model.body_names[model.parent[model.body_names.index(hip) + 1] - 1]
    found = segment_angles(
        _forward_left_up(stride, pelvis), _forward_left_up(stride, _trunk(stride, pelvis)), stride.out
    )
    line = stride.frame(knee)[1] - stride.frame(hip)[1]
    thigh = np.arctan2(line[:, 0], -line[:, 2])
    found |= {
        "pelvis tilt": found["pelvis tilt"] - lean,
        "trunk tilt": found["trunk tilt"] - lean,
        "thigh flexion": thigh + lean,
        "hip flexion from trunk": thigh + found["trunk tilt"],
    }
    heel = f"heel_{stride.side[0]}"
    if heel in model.frame_names:
        found["foot pitch"] = np.arcsin(np.clip(stride.frame(heel)[0][:, 2, 0], -1, 1))
    return {name: np.degrees(x) for name, x in found.items()}


def _forward_left_up(stride: Stride, name: str) -> Array:
    """Rotations (101, 3, 3) of the axes of a frame that point forward, left and up in the neutral posture; its own, if
    none do nearly."""
    R, near = stride.frame(name)[0], np.round(stride.upright(name)[0])
    return R @ near.T if np.array_equal(near @ near.T, np.eye(3)) else R


def _trunk(stride: Stride, pelvis: str) -> str:
    """Frame of the trunk: the body above a lumbar joint, also of one that is locked; else the pelvis."""
    lumbar = stride.coordinates.get("lumbar")
    if lumbar:
        return body_of(stride.model, lumbar[0].qd_index)
    return next((name for name in ("torso", "trunk") if name in stride.model.frame_names), pelvis)


def _ground(stride: Stride) -> dict[str, Array]:
    """Force of the ground on the foot, and center of pressure."""
    force, pressure = stride.ground(stride.side)
    found = {"forward force": force[:, 0], "lateral force": stride.out * force[:, 1], "vertical force": force[:, 2]}
    if np.isfinite(pressure).any():
        found["center of pressure along"] = pressure[:, 0]
        found["center of pressure lateral"] = stride.out * pressure[:, 1]
    return found


def _mass_center(stride: Stride) -> dict[str, Array]:
    """Center of mass about its mean over the stride [m]: up from the ground, and outward."""
    t, q = stride.states[:2]
    p = stride.at_percent(t, stride.mass_center(q))
    p = p - p[:-1].mean(axis=0)
    return {"center of mass height": p[:, 2], "center of mass lateral": stride.out * p[:, 1]}
