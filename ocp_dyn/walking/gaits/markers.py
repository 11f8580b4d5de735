"""Simulated measurements of a motion: markers on a human body, and force plates under its feet."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.checks import named_arguments, within
from ..._base.types import Array
from ...dynamics.kinematics import point_position
from ...mechanism import Model
from ...ocp import Solution, recording

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


@dataclass(frozen=True, eq=False)
class MeasuredPhase:
    """Measurements of one phase from begin to end [s], sampled in the middle of its N intervals, as a midpoint rule
    evaluates them: positions of the markers (N, 3 k) [m] and forces on the feet (N, 3 m) [N].

    >>> seen = od.walking.MeasuredPhase(0.0, 0.3, ("foot",), markers=np.zeros((3, 3)), forces=np.ones((3, 3)))
    >>> seen.along(seen.forces)(0.5)
    array([1., 1., 1.])
    """

    begin: float
    end: float
    feet: tuple[str, ...]
    markers: Array
    forces: Array

    def along(self, samples: Array) -> Any:
        """Samples as a function of the fraction of the phase that has passed, for `TrackMarkers` and `TrackForces`."""
        n = len(samples)
        return recording([0, *(np.arange(n) + 0.5), n], [samples[0], *samples, samples[-1]])


def human_markers(model: Model) -> Points:
    """Markers (frame, point in it [m]) for a human body: on legs and pelvis, and also on trunk and arms if they move.

    >>> len(od.walking.human_markers(od.models.human()))
    28
    """
    return (*MARKERS, *UPPER_MARKERS) if "lumbar" in model.joint_names else MARKERS


@named_arguments
def measure(
    motion: Solution, marker_noise: float = 0.0, force_noise: float = 0.0, seed: int = 0, points: Points | None = None
) -> list[MeasuredPhase]:
    """Measured markers and forces of a motion, phase by phase; the noise is normally distributed, with standard
    deviations [m, N]. points: markers, by default those of `human_markers`."""
    within(marker_noise, 0, 0.1, "noise of markers must not be negative, and at most 0.1 m")
    within(force_noise, 0, 1000, "noise of forces must not be negative, and at most 1000 N")
    rng, model = np.random.default_rng(seed), motion.model
    q, q1 = SX.sym("q", model.nq), SX.sym("q1", model.nq)
    middle = model.integrate(q, model.difference(q, q1) / 2)
    places = [point_position(model, frame, middle, point) for frame, point in points or human_markers(model)]
    see = ca.Function("see", [q, q1], [ca.vertcat(*places)], {"cse": True})
    found = []
    for phase in motion.phases:
        markers = np.array([np.array(see(*pair)).ravel() for pair in pairwise(phase.q)])
        forces = np.hstack([np.zeros((len(phase.tau), 0)), *(wrench[:, 3:] for wrench in phase.wrenches.values())])
        markers = markers + marker_noise * rng.normal(size=markers.shape)
        forces = forces + force_noise * rng.normal(size=forces.shape)
        found.append(MeasuredPhase(float(phase.t[0]), float(phase.t[-1]), tuple(phase.wrenches), markers, forces))
    return found


@named_arguments
def estimate_errors(truth: Solution, found: Solution, seen: list[MeasuredPhase]) -> dict[str, Any]:
    """Errors of a motion that was estimated from measurements, against the true one, and of the measurements: root mean
    squares [m, N, degrees, N m] by names, for people.

    >>> od.walking.estimate_errors(truth, estimate, od.walking.measure(truth))["marker_noise_rms_m"]  # doctest: +SKIP
    0.0
    """
    model = truth.model
    angles = [np.array(DM(model.difference(DM(a), DM(b)))).ravel() for a, b in zip(truth.q, found.q, strict=True)]
    degrees, torques = np.degrees(angles), found.tau - truth.tau
    legs = [k for k, name in enumerate(model.qd_names) if name.startswith(("hip", "knee", "ankle"))]
    joints = {name.replace(".", "_"): model.qd_names.index(name) for name in ("hip_r.ry", "knee_r", "ankle_r")}
    exact, again = measure(truth), measure(found)
    width, true_width = (2 * abs(float(s.phases[2].places["heel_r"][1])) for s in (found, truth))
    return {
        "markers": len(human_markers(model)),
        "marker_noise_rms_m": _gap(seen, exact, "markers"), "force_noise_rms_N": _gap(seen, exact, "forces"),
        "marker_error_rms_m": _gap(again, exact, "markers"), "force_error_rms_N": _gap(again, exact, "forces"),
        "angle_error_rms_deg": _rms(degrees[:, 6:]), "torque_error_rms_Nm": _rms(torques[:, legs]),
        "torque_rms_Nm": _rms(truth.tau[:, legs]),
        **{f"{name}_error_deg": _rms(degrees[:, k]) for name, k in joints.items()},
        **{f"{name}_error_Nm": _rms(torques[:, k]) for name, k in joints.items()},
        "step_width_error_m": abs(width - true_width),
    }  # fmt: skip


def _gap(one: list[MeasuredPhase], other: list[MeasuredPhase], what: str) -> float:
    gaps = [(getattr(a, what) - getattr(b, what)).ravel() for a, b in zip(one, other, strict=True)]
    return _rms(np.concatenate(gaps))


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(np.square(x))))
