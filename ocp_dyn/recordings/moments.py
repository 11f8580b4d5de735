"""Inverse dynamics of a recorded motion with the measured forces of the ground; curves over the gait cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from casadi import DM

from .._base import checks
from .._base.checks import named_arguments
from .._base.types import Array, repr_in_message
from ..codegen import compile as machine_code
from ..dynamics.kinematics import resolve
from ..dynamics.momentum import center_of_mass
from ..dynamics.rnea_crba_aba import inverse_dynamics
from ..functions.function import function
from ..gait.bodies import sides
from ..gait.data import PERCENT
from ..gait.gait import Gait
from ..gait.joint_angles import gait_coordinates, hip_planes
from ..gait.planes import hip_curves, segment_angles
from ..mechanism.loads import Loads
from .events import Events, events_from_forces
from .fitting.placed import Placed, interpreted, turning_dofs
from .motion import FittedMotion
from .recording import Recording

ANGLES = {"hip": "hip flexion", "knee": "knee flexion", "ankle": "ankle dorsiflexion"}
MOMENTS = {"hip": "hip extension moment", "knee": "knee extension moment", "ankle": "ankle plantar flexion moment"}


@dataclass(frozen=True, eq=False)
class NetMoments:
    """Generalized forces tau (N, nv) along a recorded motion, dual to `model.qd_names`: net moments of joints [N m] and
    forces [N]; those of the first joint are residuals. forces: on the feet, at the times of the motion, or None.

    >>> end = od.recordings.Recording("end", np.arange(5) / 10, [[[-1.0, 0, 0]]] * 5, "m")
    >>> motion = od.recordings.fit_motion(rod, end, places={"end": ("tip", (0, 0, 0))}).derived()
    >>> od.recordings.net_moments(motion).tau.round(3).ravel().tolist()  # the rod is held level: m g l / 2
    [4.905, 4.905, 4.905, 4.905, 4.905]
    """

    motion: FittedMotion
    tau: Array
    forces: Recording | None = None

    def _recording(self, values: Array, units: tuple[str, ...]) -> Recording:
        return Recording(self.motion.model.qd_names, self.motion.times, values, units, "Net moments")

    @property
    def moments(self) -> Recording:
        """tau as a recording, which `write` brings into a .sto file."""
        units = tuple("N m" if turns else "N" for turns in turning_dofs(self.motion.model))
        return self._recording(self.tau, units)

    @property
    def powers(self) -> Recording:
        """tau qd [W]: what the moments do to the body."""
        assert self.motion.qd is not None
        return self._recording(self.tau * self.motion.qd, ("W",))

    @property
    def residuals(self) -> Recording:
        """Forces and moments of the first joint, which nothing exerts on a free body: errors of model and recording."""
        model = self.motion.model
        return self.moments.select([model.qd_names[k] for k in model.dofs_of(1)])

    def __repr__(self) -> str:
        force = np.sqrt(np.nanmean(self.tau[:, list(self.motion.model.dofs_of(1))] ** 2, axis=0))
        return (
            f"NetMoments({self.motion.times.size} frames, {self.motion.model.nv} dofs, root mean squares of the first "
            f"joint {', '.join(f'{x:.3g}' for x in force)})"
        )

    def gait(self, side: str = "right", *, events: Events | None = None, foot: str = "") -> Gait:
        """Angles, moments and powers of hip, knee and ankle, angles of pelvis and trunk, the center of mass and the
        ground force over the first whole stride of a side, by body mass and weight; see `Gait` for signs. Its
        `plot(reference="winter")` shows them in measured bands.

        foot: its frame among the forces; default: that whose body is on that side. events: default: those of the
        forces. ValueError without a whole stride, or hips, knees and ankles.
        """
        return _gait(self, checks.choice(side, ("left", "right"), "gait: side"), events, foot)


@named_arguments
def net_moments(
    motion: FittedMotion, forces: Recording | None = None, *, passive: bool = False, compiled: bool = False
) -> NetMoments:
    """Net moments of the joints along a motion, with the measured wrenches of the ground on its feet:

        tau = H qdd + C - sum over feet of J' [moment about the world's origin; force]

    motion: with qd and qdd, from `fit_motion(smooth=)`, `filtered` or `derived`. forces: wrenches by names of frames of
    the model, in the axes of its world, at any times; they are interpolated, and frames outside come out as NaN.
    passive: leave the torques of springs and tissue out of tau. compiled: by machine code, which is made once and kept.

    [RBDA, table 5.1], forces of the ground as external forces. Cost: O(nb) for each frame.

    >>> end = od.recordings.Recording("end", np.arange(5) / 10, [[[0.0, 0, -1.0]]] * 5, "m")
    >>> motion = od.recordings.fit_motion(rod, end, places={"end": ("tip", (0, 0, 0))}).derived()
    >>> push = od.recordings.Recording("tip", [0.0, 1.0], [[[0, -3.0, 0, 3.0, 0, 0]]] * 2, "N m, N")
    >>> od.recordings.net_moments(motion, push).tau[0].round(9).tolist()  # 3 N at 1 m, against qd
    [3.0]
    """
    if not isinstance(motion, FittedMotion):
        raise TypeError(f"net_moments needs a FittedMotion, as fit_motion makes it, got {repr_in_message(motion)}")
    if motion.qd is None or motion.qdd is None:
        raise ValueError(
            "net_moments needs velocities and accelerations, which this motion does not have: fit_motion(smooth=6.0), "
            "motion.filtered(6.0), or motion.derived() for splines through all frames"
        )
    model, names = motion.model, tuple[str, ...]()
    arguments = [motion.q, motion.qd, motion.qdd]
    at = None
    if forces is not None:
        if not isinstance(forces, Recording) or forces.kind != "wrenches":
            raise TypeError(f"net_moments: forces must be a Recording of wrenches, got {repr_in_message(forces)}")
        for name in forces.names:
            resolve(model, name)
        at, names = forces.resample(times=motion.times), forces.names
        arguments.append(at.values)
    loads = Loads(passive=checks.truth(passive, "net_moments: passive"), external=names)
    ID = function(inverse_dynamics, model, loads=loads)
    there = np.all([~np.isnan(a.reshape(len(a), -1)).any(axis=1) for a in arguments], axis=0)
    given = [np.ascontiguousarray(a[there]) for a in arguments]
    if checks.truth(compiled, "net_moments: compiled"):
        code = machine_code([ID], lanes=8, single=False)["ID"]
        found = code(*given[:3], *(np.ascontiguousarray(w.swapaxes(1, 2)) for w in given[3:]))
    else:
        found = interpreted(ID, *given[:3], *(w.reshape(len(w), -1) for w in given[3:]))
    tau = np.full((motion.times.size, model.nv), np.nan)
    tau[there] = np.asarray(found).reshape(-1, model.nv)
    return NetMoments(motion, tau, at)


def _gait(found: NetMoments, side: Any, events: Events | None, foot: str) -> Gait:
    motion, model = found.motion, found.motion.model
    assert motion.qd is not None
    joints = gait_coordinates(model)
    if not joints:
        raise ValueError(
            "gait: the model needs hips, knees and ankles on both sides, found by these words in the names of joints"
        )
    if found.forces is None and (events is None or not foot):
        raise ValueError("gait: without forces, give events= and foot=")
    forces = found.forces
    if not foot:
        assert forces is not None
        foot = _foot_of(model, forces.names, side)
    events = events_from_forces(forces) if events is None and forces is not None else events
    assert events is not None
    t = motion.times
    strides = [(a, b) for a, b in events.strides(foot) if a >= t[0] - 1e-9 and b <= t[-1] + 1e-9]
    if not strides:
        raise ValueError(
            f"gait: no whole stride of {foot} lies within the motion, from {t[0]:.4g} to {t[-1]:.4g} s; its strikes "
            f"are at {', '.join(f'{x:.4g}' for x in events.strikes[foot]) or '(none)'} s"
        )
    begin, end = strides[0]
    at = begin + (end - begin) * PERCENT / 100
    mass = float(model.mass) or 1.0

    def curve(values: Array) -> Array:
        return Recording(("x",), t, values).resample(times=at)["x"]

    curves: dict[str, Array] = {}
    for joint, angle in ANGLES.items():
        c = next(c for c in joints[joint] if c.side == side)
        curves[angle] = np.degrees(c.sign * curve(motion.q[:, c.q_index]))
        curves[MOMENTS[joint]] = -c.sign * curve(found.tau[:, c.qd_index]) / mass
        curves[f"{joint} power"] = curve(found.tau[:, c.qd_index] * motion.qd[:, c.qd_index]) / mass
    hip = next(c for c in joints["hip"] if c.side == side)
    curves |= hip_curves(hip_planes(model, hip), curve, motion.q, motion.qd, found.tau, mass)
    curves |= {name: curve(x) for name, x in _segments(motion, joints, side).items()}
    curves |= _mass_center(motion, curve, side)
    if forces is not None and foot in forces.names:
        weight = mass * float(np.linalg.norm(np.array(model.gravity, dtype=float).ravel()))
        out = 1.0 if side == "left" else -1.0
        force = np.stack([curve(forces[foot][:, 3 + k]) for k in range(3)], axis=1) / weight
        curves |= {"forward force": force[:, 0], "lateral force": out * force[:, 1], "vertical force": force[:, 2]}
    inside = [x for x in events.offs.get(foot, np.zeros(0)) if begin < x < end]
    told = {"toe-off": 100 * (inside[0] - begin) / (end - begin)} if inside else {}
    for other, strikes in events.strikes.items():
        if other != foot:
            for name, at_ in (
                ("opposite heel strike", strikes),
                ("opposite toe-off", events.offs.get(other, np.zeros(0))),
            ):
                told |= {name: 100 * (x - begin) / (end - begin) for x in at_[::-1] if begin < x < end}  # noqa: B035
    numbers = {"stride_time_s": end - begin, "cadence_steps_per_min": 120 / (end - begin)}
    return Gait(side, f"{(model.name or 'walk').replace('_', ' ')}, measured", curves, told, numbers, kind="measured")


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


def _mass_center(motion: FittedMotion, curve: Any, side: str) -> dict[str, Array]:
    """Center of mass about its mean over the stride [m]: up, and outward; a straight drift to one side is taken off."""
    p = np.array(DM(function(center_of_mass, motion.model)(DM(motion.q.T))).full()).T
    height, lateral = curve(p[:, 2]), curve(p[:, 1])
    lateral = lateral - np.linspace(0.0, lateral[-1] - lateral[0], lateral.size)
    out = 1.0 if side == "left" else -1.0
    return {
        "center of mass height": height - height[:-1].mean(),
        "center of mass lateral": out * (lateral - lateral[:-1].mean()),
    }


def _foot_of(model: Any, names: tuple[str, ...], side: str) -> str:
    """The frame, among some, whose body is on a side."""
    found = [name for name in names if sides(model)[resolve(model, name).body] == side]
    if len(found) != 1:
        raise ValueError(f"gait: {len(found)} of the frames {', '.join(names)} are on the {side} side: give foot=")
    return found[0]
