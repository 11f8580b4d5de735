"""Curves of a recorded motion over the gait cycle: angles, moments, powers, center of mass, ground force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from casadi import DM

from .._base.types import Array
from ..dynamics.kinematics import resolve
from ..dynamics.momentum import center_of_mass
from ..functions.function import function
from ..gait.bodies import sides
from ..gait.data import PERCENT
from ..gait.gait import Gait
from ..gait.joint_angles import gait_coordinates, hip_planes
from ..gait.planes import hip_curves, segment_angles
from .events import Events, events_from_forces
from .fitting.placed import Placed
from .motion import FittedMotion
from .recording import Recording

ANGLES = {"hip": "hip flexion", "knee": "knee flexion", "ankle": "ankle dorsiflexion"}
MOMENTS = {"hip": "hip extension moment", "knee": "knee extension moment", "ankle": "ankle plantar flexion moment"}


@dataclass(frozen=True, eq=False)
class _Stride:
    """A stride from `begin` to `end` [s] of a side in a motion with the given times."""

    times: Array
    begin: float
    end: float
    side: str

    @property
    def out(self) -> float:
        """Sign of y that points outward."""
        return 1.0 if self.side == "left" else -1.0

    def curve(self, values: Array) -> Array:
        """Values of the motion at the percentages of the cycle."""
        at = self.begin + (self.end - self.begin) * PERCENT / 100
        return Recording(("x",), self.times, values).resample(times=at)["x"]

    def percent(self, instants: Array) -> list[float]:
        """Percentages of the instants within the stride."""
        return [100 * (t - self.begin) / (self.end - self.begin) for t in instants if self.begin < t < self.end]


def measured_gait(
    motion: FittedMotion, tau: Array, forces: Recording | None, side: str, events: Events | None, foot: str
) -> Gait:
    """Curves of a motion with net moments tau (N, nv); see `NetMoments.gait`."""
    model = motion.model
    assert motion.qd is not None
    joints = gait_coordinates(model)
    if not joints:
        raise ValueError(
            "gait: the model needs hips, knees and ankles on both sides, found by these words in the names of joints"
        )
    if forces is None and (events is None or not foot):
        raise ValueError("gait: without forces, give events= and foot=")
    if forces is not None:
        foot = foot or _foot_of(model, forces.names, side)
        events = events_from_forces(forces) if events is None else events
    assert events is not None
    stride = _stride_of(motion, events, foot, side)
    mass = float(model.mass) or 1.0
    hip = next(c for c in joints["hip"] if c.side == side)
    curves = _joint_curves(motion, tau, joints, stride, mass)
    curves |= hip_curves(hip_planes(model, hip), stride.curve, motion.q, motion.qd, tau, mass)
    curves |= {name: stride.curve(x) for name, x in _segments(motion, joints, side).items()}
    curves |= _mass_center(motion, stride)
    if forces is not None and foot in forces.names:
        weight = mass * float(np.linalg.norm(np.array(model.gravity, dtype=float).ravel()))
        forward, lateral, up = (stride.curve(forces[foot][:, 3 + k]) / weight for k in range(3))
        curves |= {"forward force": forward, "lateral force": stride.out * lateral, "vertical force": up}
    duration = stride.end - stride.begin
    numbers = {"stride_time_s": duration, "cadence_steps_per_min": 120 / duration}
    title = f"{(model.name or 'walk').replace('_', ' ')}, measured"
    return Gait(side, title, curves, _timing(events, foot, stride), numbers, kind="measured")


def _stride_of(motion: FittedMotion, events: Events, foot: str, side: str) -> _Stride:
    """The first whole stride of a foot; ValueError if the motion has none."""
    t = motion.times
    for begin, end in events.strides(foot):
        if begin >= t[0] - 1e-9 and end <= t[-1] + 1e-9:
            return _Stride(t, begin, end, side)
    raise ValueError(
        f"gait: no whole stride of {foot} lies within the motion, from {t[0]:.4g} to {t[-1]:.4g} s; its strikes "
        f"are at {', '.join(f'{x:.4g}' for x in events.strikes[foot]) or '(none)'} s"
    )


def _joint_curves(motion: FittedMotion, tau: Array, joints: Any, stride: _Stride, mass: float) -> dict[str, Array]:
    """Angles [degrees], moments [N m/kg] and powers [W/kg] of hip, knee and ankle in the sagittal plane."""
    curves: dict[str, Array] = {}
    assert motion.qd is not None
    for joint, angle in ANGLES.items():
        c = next(c for c in joints[joint] if c.side == stride.side)
        own = tau[:, c.qd_index]
        curves[angle] = np.degrees(c.sign * stride.curve(motion.q[:, c.q_index]))
        curves[MOMENTS[joint]] = -c.sign * stride.curve(own) / mass
        curves[f"{joint} power"] = stride.curve(own * motion.qd[:, c.qd_index]) / mass
    return curves


def _timing(events: Events, foot: str, stride: _Stride) -> dict[str, float]:
    """Percentages of the cycle at which the feet leave the ground and the other foot strikes, where they do."""
    offs = {name: events.offs.get(name, np.zeros(0)) for name in (foot, *events.strikes)}
    found = {"toe-off": stride.percent(offs[foot])}
    for other in events.strikes:
        if other != foot:
            for name, instants in (("opposite heel strike", events.strikes[other]), ("opposite toe-off", offs[other])):
                found[name] = stride.percent(instants) or found.get(name, [])
    return {name: percents[0] for name, percents in found.items() if percents}


def _segments(motion: FittedMotion, joints: Any, side: str) -> dict[str, Array]:
    """Angles of thigh, pelvis and trunk against the vertical and the way along x, and between thigh and trunk in the
    plane of x and z [degrees]; pelvis and trunk are upright in the neutral configuration."""
    model, placed = motion.model, Placed(motion.model)
    there = ~np.isnan(motion.q).any(axis=1)
    R, p, _, _ = placed.bodies(motion.q[there])
    upright = placed.bodies(np.array(model.neutral(), dtype=float).reshape(1, -1))[0][0]
    hip, knee = (
        int(placed.dof_body[next(c for c in joints[name] if c.side == side).qd_index]) for name in ("hip", "knee")
    )
    named = [model.frame(name).body for name in ("torso", "trunk") if name in model.frame_names]
    lumbar = [int(placed.dof_body[joints["lumbar"][0].qd_index])] if "lumbar" in joints else []
    trunk = [*lumbar, *named, model.parent[hip]][0]
    line = p[:, knee] - p[:, hip]
    pelvis, torso = (R[:, body] @ upright[body].T for body in (model.parent[hip], trunk))
    angles = segment_angles(pelvis, torso, 1.0 if side == "left" else -1.0)
    angles["thigh flexion"] = np.arctan2(line[:, 0], -line[:, 2])
    angles["hip flexion from trunk"] = angles["thigh flexion"] + angles["trunk tilt"]
    found = {name: np.full(len(motion.q), np.nan) for name in angles}
    for name, angle in angles.items():
        found[name][there] = np.degrees(angle)
    return found


def _mass_center(motion: FittedMotion, stride: _Stride) -> dict[str, Array]:
    """Center of mass about its mean over the stride [m]: up, and outward; a straight drift to one side is taken off."""
    p = np.array(DM(function(center_of_mass, motion.model)(DM(motion.q.T))).full()).T
    height, lateral = stride.curve(p[:, 2]), stride.curve(p[:, 1])
    lateral = lateral - np.linspace(0.0, lateral[-1] - lateral[0], lateral.size)
    return {
        "center of mass height": height - height[:-1].mean(),
        "center of mass lateral": stride.out * (lateral - lateral[:-1].mean()),
    }


def _foot_of(model: Any, names: tuple[str, ...], side: str) -> str:
    """The frame, among some, whose body is on a side."""
    found = [name for name in names if sides(model)[resolve(model, name).body] == side]
    if len(found) != 1:
        raise ValueError(f"gait: {len(found)} of the frames {', '.join(names)} are on the {side} side: give foot=")
    return found[0]
