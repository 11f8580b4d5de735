"""A recorded gait: joint angles and torques from markers and ground reaction forces, compared with the known motion.

The recording is simulated: a walk of `human_walk`, measured by markers on the body and force plates under the feet,
with noise. The estimate is the motion that fits both best (least squares) and obeys the equations of motion, contact,
friction and periodicity; small costs of the torques and their rates keep noise out of them. Without noise the estimate
is the recorded motion.

    python -m ocp_dyn.problems.track_gait [--speed 1.2] [--marker-noise 0.005] [--force-noise 10] [--seed 0]
                                  [--model legs|human] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import Any

import numpy as np
from casadi import DM

from ocp_dyn import ocp
from ocp_dyn.cli.examples import asked, finish, keep, parser, run_command, within
from ocp_dyn.walking import MeasuredPhase, human_markers, measure

from . import human_walk

SMOOTHING = 0.02
"""Weight of the rate of torques over strength [s^2], large enough to keep noise out of them."""

SCALE = 0.01
"""Factor of the whole cost, chosen so that it is about 1."""


def problem(walk: ocp.Problem, seen: list[MeasuredPhase], marker_noise: float, force_noise: float) -> ocp.Problem:
    """The walk's model, contacts and periodicity, with a cost of the deviation from the recording; durations are the
    recorded.

    Deviations of markers and forces are weighted by their noise (at least 1 mm and 1 N).
    """
    points, strength, phases = human_markers(walk.model), walk.model.dofs.strength(), []
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


def numbers(truth: ocp.Solution, found: ocp.Solution, seen: list[MeasuredPhase]) -> dict[str, Any]:
    """Errors of the estimate against the truth, and of the recording."""
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


def _rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(x))))


def _recorded_walk(options: argparse.Namespace) -> ocp.Problem:
    within(options.marker_noise, 0, 0.1, "--marker-noise: noise must not be negative, and at most 0.1 m")
    within(options.force_noise, 0, 1000, "--force-noise: noise must not be negative, and at most 1000 N")
    intervals = human_walk.QUICK if options.quick else human_walk.INTERVALS
    return human_walk.problem(options.speed, intervals=intervals, still=options.model == "legs", integrator="midpoint")


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add = arguments.add_argument
    add("--speed", type=float, default=1.2, help="walking speed [m/s]")
    add("--marker-noise", type=float, default=0.005, help="standard deviation of marker positions [m]")
    add("--force-noise", type=float, default=10.0, help="standard deviation of forces [N]")
    add("--seed", type=int, default=0, help="seed of the random noise")
    add("--model", choices=("legs", "human"), default="legs", help="legs: trunk and arms do not move")
    options, walk = asked(arguments, argv, _recorded_walk)
    truth = walk.solve(progress=not options.quiet)
    if not truth.converged:
        print(f"the walk to record was not found: {truth.status}", file=sys.stderr)
        return 1
    keep(options, truth, "truth.npz")
    seen = measure(truth, options.marker_noise, options.force_noise, options.seed)
    solution = problem(walk, seen, options.marker_noise, options.force_noise).solve(progress=not options.quiet)
    title = "A recorded gait, estimated from markers and forces"
    return finish(options, solution, lambda: numbers(truth, solution, seen), title)


if __name__ == "__main__":
    sys.exit(run_command(main))
