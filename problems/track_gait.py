"""A recorded gait: joint angles and torques from markers and ground reaction forces, compared with the known motion.

The recording is simulated: a walk of `human_walk`, measured by markers on the body and force plates under the feet,
with noise. The estimate is the motion that fits both best (least squares) and obeys the equations of motion, contact,
friction and periodicity; small costs of the torques and their rates keep noise out of them. Without noise the estimate
is the recorded motion.

    python -m problems.track_gait [--speed 1.2] [--marker-noise 0.005] [--force-noise 10] [--seed 0]
                                  [--model legs|human] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn import ocp

from . import human_walk
from ._command import asked, finish, keep, parser

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


Array = np.ndarray
Points = tuple[tuple[str, tuple[float, float, float]], ...]


@dataclass(frozen=True, eq=False)
class Recorded:
    """Measurements of one phase from begin to end [s], sampled in the middle of its N intervals, as a midpoint rule
    evaluates them: positions of the markers (N, 3 k) [m] and forces on the feet (N, 3 m) [N]."""

    begin: float
    end: float
    feet: tuple[str, ...]
    markers: Array
    forces: Array

    def along(self, samples: Array) -> Any:
        """Samples as a function of the fraction of the phase that has passed."""
        n = len(samples)
        return ocp.recording([0, *(np.arange(n) + 0.5), n], [samples[0], *samples, samples[-1]])


def markers_of(model: od.Model) -> Points:
    """Markers for a model: legs and pelvis, and also trunk and arms if it has joints there."""
    return (*MARKERS, *UPPER_MARKERS) if "lumbar" in model.joint_names else MARKERS


def recorded(
    truth: ocp.Solution, marker_noise: float, force_noise: float, seed: int, points: Points | None = None
) -> list[Recorded]:
    """Measured markers and forces of a motion; the noise is normally distributed, with standard deviations [m, N]."""
    rng, model = np.random.default_rng(seed), truth.model
    points = points or markers_of(model)
    q, q1 = SX.sym("q", model.nq), SX.sym("q1", model.nq)
    middle = model.integrate(q, model.difference(q, q1) / 2)
    places = [od.point_position(model, frame, middle, point) for frame, point in points]
    see = ca.Function("see", [q, q1], [ca.vertcat(*places)], {"cse": True})
    found = []
    for phase in truth.phases:
        markers = np.array([see(*pair).full().ravel() for pair in pairwise(phase.q)])
        forces = np.hstack([np.zeros((len(phase.tau), 0)), *(wrench[:, 3:] for wrench in phase.wrenches.values())])
        markers = markers + marker_noise * rng.normal(size=markers.shape)
        forces = forces + force_noise * rng.normal(size=forces.shape)
        found.append(Recorded(float(phase.t[0]), float(phase.t[-1]), tuple(phase.wrenches), markers, forces))
    return found


def problem(walk: ocp.Problem, seen: list[Recorded], marker_noise: float, force_noise: float) -> ocp.Problem:
    """The walk's model, contacts and periodicity, with a cost of the deviation from the recording; durations are the
    recorded.

    Deviations of markers and forces are weighted by their noise (at least 1 mm and 1 N).
    """
    model = walk.model
    points = markers_of(model)
    strength = model.dofs.strength()
    phases = []
    for phase, record in zip(walk.phases, seen, strict=True):
        markers, forces = record.along(record.markers), record.along(record.forces)
        objective = (
            ocp.TrackMarkers(points, markers, weight=SCALE / max(marker_noise, 1e-3) ** 2),
            ocp.TrackForces(record.feet, forces, weight=SCALE, scale=max(force_noise, 1.0)),
            ocp.TorqueSquared(weight=SCALE, scale=strength),
            ocp.TorqueRateSquared(weight=SMOOTHING * SCALE, scale=strength),
        )
        contact = tuple(term for term in phase.path if term.where == "wrench")
        phases.append(replace(phase, duration=record.end - record.begin, path=contact, objective=objective))
    return replace(walk, phases=phases, per_distance=False)


SMOOTHING = 0.02
"""Weight of the rate of torques over strength [s^2], large enough to keep noise out of them."""

SCALE = 0.01
"""Factor of the whole cost, chosen so that it is about 1."""


def numbers(truth: ocp.Solution, found: ocp.Solution, seen: list[Recorded]) -> dict[str, Any]:
    """Errors of the estimate against the truth, and of the recording."""
    model = truth.model
    angles = np.array(
        [DM(model.difference(DM(a), DM(b))).full().ravel() for a, b in zip(truth.q, found.q, strict=True)]
    )
    torques = found.tau - truth.tau
    legs = [k for k, name in enumerate(model.qd_names) if name.startswith(("hip", "knee", "ankle"))]
    joints = {
        name: (_rms(np.degrees(angles[:, k])), _rms(torques[:, k]))
        for k, name in enumerate(model.qd_names) if name in ("hip_r.ry", "knee_r", "ankle_r")
    }  # fmt: skip
    exact, again = recorded(truth, 0.0, 0.0, 0), recorded(found, 0.0, 0.0, 0)
    return {
        "markers": len(markers_of(model)),
        "marker_noise_rms_m": _marker_gap(seen, exact),
        "force_noise_rms_N": _force_gap(seen, exact),
        "marker_error_rms_m": _marker_gap(again, exact),
        "force_error_rms_N": _force_gap(again, exact),
        "angle_error_rms_deg": _rms(np.degrees(angles[:, 6:])),
        "torque_error_rms_Nm": _rms(torques[:, legs]),
        "torque_rms_Nm": _rms(truth.tau[:, legs]),
        **{f"{name.replace('.', '_')}_error_deg": error for name, (error, _) in joints.items()},
        **{f"{name.replace('.', '_')}_error_Nm": error for name, (_, error) in joints.items()},
        "step_width_error_m": abs(_width(found) - _width(truth)),
    }  # fmt: skip


def _marker_gap(one: list[Recorded], other: list[Recorded]) -> float:
    return _rms(np.concatenate([(a.markers - b.markers).ravel() for a, b in zip(one, other, strict=True)]))


def _force_gap(one: list[Recorded], other: list[Recorded]) -> float:
    return _rms(np.concatenate([(a.forces - b.forces).ravel() for a, b in zip(one, other, strict=True)]))


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(np.square(x))))


def _width(solution: ocp.Solution) -> float:
    return 2 * abs(float(solution.phases[2].places["heel_r"][1]))


def _recorded_walk(options: argparse.Namespace) -> ocp.Problem:
    if options.marker_noise < 0 or options.force_noise < 0:
        raise ValueError(f"noise must not be negative, got {options.marker_noise} m and {options.force_noise} N")
    intervals = human_walk.QUICK if options.quick else human_walk.INTERVALS
    return human_walk.problem(options.speed, intervals=intervals, still=options.model == "legs", integrator="midpoint")


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, default=1.2, help="walking speed [m/s]")
    arguments.add_argument(
        "--marker-noise", type=float, default=0.005, help="standard deviation of marker positions [m]"
    )
    arguments.add_argument("--force-noise", type=float, default=10.0, help="standard deviation of forces [N]")
    arguments.add_argument("--seed", type=int, default=0, help="seed of the random noise")
    arguments.add_argument(
        "--model", choices=("legs", "human"), default="legs", help="legs: trunk and arms do not move"
    )
    options, walk = asked(arguments, argv, _recorded_walk)
    truth = walk.solve(progress=not options.quiet)
    if not truth.converged:
        print(f"the walk to record was not found: {truth.status}", file=sys.stderr)
        return 1
    keep(options, truth, "truth.npz")
    seen = recorded(truth, options.marker_noise, options.force_noise, options.seed)
    solution = problem(walk, seen, options.marker_noise, options.force_noise).solve(progress=not options.quiet)
    return finish(
        options, solution, lambda: numbers(truth, solution, seen), "A recorded gait, estimated from markers and forces"
    )


if __name__ == "__main__":
    sys.exit(main())
