"""Simulated measurements of a motion: markers on a human body, and force plates under its feet."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.checks import positive, within
from ..._base.types import Array
from ...dynamics.kinematics import point_position
from ...mechanism import Model
from ...ocp import Solution
from ...recordings import Recording

Points = tuple[tuple[str, tuple[float, float, float]], ...]

MARKERS = (
    ("pelvis", (0.08, 0.12, 0.08)), ("pelvis", (0.08, -0.12, 0.08)), ("pelvis", (-0.1, 0.0, 0.08)),
    *((f"{frame}_{side}", (x, sign * y, z)) for side, sign in (("l", 1.0), ("r", -1.0)) for frame, x, y, z in (
        ("thigh", 0.05, 0.07, -0.2), ("thigh", 0.0, 0.06, -0.4),
        ("shank", 0.04, 0.05, -0.2), ("shank", 0.0, 0.05, -0.42),
        ("heel", 0.0, 0.0, 0.04), ("toe", -0.05, 0.04, 0.04), ("toe", -0.08, -0.04, 0.04),
    )),
)  # fmt: skip
"""Markers (frame, point in it [m]) on the pelvis, and on every part of a leg."""

UPPER_MARKERS = (
    ("upper_trunk", (0.1, 0.0, 0.0)), ("upper_trunk", (-0.12, 0.0, -0.1)), ("head", (0.1, 0.0, -0.1)),
    *((f"{frame}_{side}", (0.0, sign * 0.04, z)) for side, sign in (("l", 1.0), ("r", -1.0)) for frame, z in (
        ("upper_arm", -0.1), ("upper_arm", -0.27), ("forearm", -0.12), ("hand", 0.0),
    )),
)  # fmt: skip
"""Markers on trunk and arms, for models in which these move."""


MARGIN = 0.25
"""Share of a stride that is recorded before and after it, so that filters have no ends in it."""


class SimulatedRecording(NamedTuple):
    """Markers [m] and wrenches of the ground [N m, N] of a stride, with a quarter of a stride before and after it.

    places: {marker: (frame, point in it [m])}; begin, end [s]: of the stride.
    """

    markers: Recording
    forces: Recording
    places: dict[str, tuple[str, tuple[float, float, float]]]
    begin: float
    end: float


def human_markers(model: Model) -> Points:
    """Markers (frame, point in it [m]) for a human body: on legs and pelvis, and also on trunk and arms if they move.

    >>> len(od.walking.human_markers(od.models.human()))
    28
    """
    return (*MARKERS, *UPPER_MARKERS) if "lumbar" in model.joint_names else MARKERS


def simulated_recording(
    motion: Solution,
    marker_noise: float = 0.0,
    force_noise: float = 0.0,
    seed: int = 0,
    *,
    points: Points | None = None,
    rate: float = 100.0,
) -> SimulatedRecording:
    """The recording that cameras and force plates would make of a motion that repeats, about `rate` samples a second.

    The noise of markers and of forces on loaded feet is normally distributed, with standard deviations [m, N]. points:
    places of markers, by default those of `human_markers`. ValueError for a motion that does not move on.

    >>> seen = od.walking.simulated_recording(walk)  # doctest: +SKIP
    >>> ocp.track(walk.model, seen.markers, seen.forces, places=seen.places)  # doctest: +SKIP
    """
    within(marker_noise, 0, 0.1, "noise of markers must not be negative, and at most 0.1 m")
    within(force_noise, 0, 1000, "noise of forces must not be negative, and at most 1000 N")
    rng, stride = np.random.default_rng(seed), motion.duration * (2 if motion.mirror() is not None else 1)
    count = max(8, round(stride * positive(rate, "simulated_recording: rate")))
    table = motion.table(stride=True, samples=count + 1)
    number = np.arange(-round(MARGIN * count), round((1 + MARGIN) * count) + 1)
    laps, part = np.divmod(number, count)
    q = np.column_stack([table[f"q {name}"] for name in motion.model.q_names])
    way = q[-1, :3] - q[0, :3]
    q = q[part]
    q[:, :3] += laps[:, None] * way
    places = {f"{frame} {k}": (frame, point) for k, (frame, point) in enumerate(points or human_markers(motion.model))}
    seen = marker_positions(motion.model, list(places.values()), q)
    feet = [name.split()[1] for name in table if name.startswith("force ") and name.endswith(" x")]
    wrenches = np.zeros((len(number), len(feet), 6))
    for k, foot in enumerate(feet):
        force, center = (
            np.column_stack([table[f"{what} {foot} {axis}"] for axis in "xyz"])[part] for what in ("force", "pressure")
        )
        loaded = np.isfinite(center[:, :1])
        force = np.where(loaded, force + force_noise * rng.normal(size=force.shape), 0.0)
        wrenches[:, k] = np.hstack([np.cross(np.nan_to_num(center) + laps[:, None] * way, force), force])
    t = (number - number[0]) * stride / count
    begin = float(-number[0] * stride / count)
    return SimulatedRecording(
        Recording(tuple(places), t, seen + marker_noise * rng.normal(size=seen.shape), ("m",)),
        Recording(tuple(feet), t, wrenches, ("N m, N",)), places, begin, begin + stride,
    )  # fmt: skip


def marker_positions(model: Model, points: list[Any], q: Array) -> Array:
    """Positions (N, k, 3) of points (frame, point in it) at configurations (N, nq) [m]."""
    x = SX.sym("q", model.nq)
    places = [point_position(model, frame, x, point) for frame, point in points]
    see = ca.Function("see", [x], [ca.vertcat(*places)], {"cse": True})
    return np.array([np.array(see(row)).reshape(-1, 3) for row in q])


def estimate_errors(truth: Solution, found: Solution, seen: SimulatedRecording) -> dict[str, Any]:
    """Errors of a stride that was estimated from measurements, against the true one, and of the measurements: root mean
    squares [m, degrees, N m] by names, for people.

    >>> od.walking.estimate_errors(truth, estimate, od.walking.simulated_recording(truth))  # doctest: +SKIP
    """
    model, samples = truth.model, seen.markers.between(seen.begin, seen.end).times.size
    true, own = truth.table(stride=True, samples=samples), found.table(samples=samples)
    q, q_found = (np.column_stack([table[f"q {name}"] for name in model.q_names]) for table in (true, own))
    tau, tau_found = (np.column_stack([table[f"tau {name}"] for name in model.qd_names]) for table in (true, own))
    steps = [np.array(DM(model.difference(DM(a), DM(b)))).ravel() for a, b in zip(q, q_found, strict=True)]
    degrees, torques = np.degrees(steps), tau_found - tau
    legs = [k for k, name in enumerate(model.qd_names) if name.startswith(("hip", "knee", "ankle"))]
    joints = {name.replace(".", "_"): model.qd_names.index(name) for name in ("hip_r.ry", "knee_r", "ankle_r")}
    points = list(seen.places.values())
    exact = marker_positions(model, points, q)
    measured = seen.markers.between(seen.begin, seen.end).values
    return {
        "markers": len(points),
        "marker_noise_rms_m": _rms(measured - exact),
        "marker_error_rms_m": _rms(marker_positions(model, points, q_found) - exact),
        "angle_error_rms_deg": _rms(degrees[:, 6:]), "torque_error_rms_Nm": _rms(torques[:, legs]),
        "torque_rms_Nm": _rms(tau[:, legs]),
        **{f"{name}_error_deg": _rms(degrees[:, k]) for name, k in joints.items()},
        **{f"{name}_error_Nm": _rms(torques[:, k]) for name, k in joints.items()},
    }  # fmt: skip


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(np.square(x))))
