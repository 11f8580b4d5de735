"""A recorded gait: joint angles and torques from markers and ground reaction forces, compared with the known motion.

With files of your own, `ocp.track` follows markers and forces with exact equations of motion. Without files the
recording is simulated: a walk of `human_walk` by markers and force plates, with noise; the estimate fits both best and
obeys equations of motion, contact, friction and periodicity. Without noise it is the recorded motion.

    python -m ocp_dyn.problems.track_gait subject.osim walk.trc loads.xml [--weights tasks.xml] [--between 0.3 1.4]
    python -m ocp_dyn.problems.track_gait subject.osim walk.trc forces.mot --feet ground_force_r_=calcn_r ...
    python -m ocp_dyn.problems.track_gait [--speed 1.2] [--marker-noise 0.005] [--force-noise 10] [--seed 0]
                                  [--model legs|human] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import asked, finish, keep, motion_of, parser, run_command, within
from ocp_dyn.walking import MeasuredPhase, human_markers, measure

from . import human_walk

SMOOTHING = 0.02
"""Weight of the rate of torques over strength [s^2], large enough to keep noise out of them."""

SCALE = 0.01
"""Factor of the whole cost, chosen so that it is about 1."""


def problem(walk: ocp.Problem, seen: list[MeasuredPhase], marker_noise: float, force_noise: float) -> ocp.Problem:
    """The walk's model, contacts, periodicity and durations, with costs of deviations over noise (of 1 mm, 1 N)."""
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


def of_files(o: argparse.Namespace) -> ocp.Problem:
    """The problem of a recording in files: model, markers, forces; their ground has y up."""
    if len(o.files) != 3:
        raise ValueError(f"three files are needed, MODEL MARKERS FORCES, got {len(o.files)}: {' '.join(o.files)}")
    model, markers, loads = od.load(o.files[0]), od.recordings.read(o.files[1], up="y"), o.files[2]
    if loads.endswith(".xml"):
        forces = od.recordings.read_external_loads(loads)
    else:
        forces = od.recordings.ground_forces(od.recordings.read(loads), dict(pair.split("=", 1) for pair in o.feet))
    known = {marker.name for marker in model.markers} & set(markers.names)
    weights = od.recordings.read_weights(o.weights) if o.weights else dict.fromkeys(known, 1.0)
    weights = {name: weight for name, weight in weights.items() if name in known}
    return ocp.track(model, markers, forces, weights=weights, between=o.between, rate=20 if o.quick else 50)


def _recorded_walk(options: argparse.Namespace) -> ocp.Problem:
    if options.files:
        return of_files(options)
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
    add("files", nargs="*", metavar="MODEL MARKERS FORCES", help="a recording of your own, such as .osim .trc .xml")
    add("--feet", nargs="+", default=[], metavar="COLUMNS=FRAME", help="beginnings of columns of a table of forces")
    add("--weights", metavar="FILE", help="weights of markers: tasks of a setup of inverse kinematics")
    add("--between", type=float, nargs=2, metavar="S", help="begin and end [s]; default: the best measured stride")
    options, walk = asked(arguments, argv, _recorded_walk)
    if options.files:
        found = motion_of(options, walk)
        return finish(
            options, found, lambda: ocp.tracking_errors(walk, found).numbers(), f"{walk.model.name}, recorded"
        )
    truth = motion_of(options, walk)
    if not truth.converged:
        print(f"the walk to record was not found: {truth.status}", file=sys.stderr)
        return 1
    keep(options, truth, "truth.npz")
    seen = measure(truth, options.marker_noise, options.force_noise, options.seed)
    solution = motion_of(options, problem(walk, seen, options.marker_noise, options.force_noise))
    title = "A recorded gait, estimated from markers and forces"
    return finish(options, solution, lambda: od.walking.estimate_errors(truth, solution, seen), title)


if __name__ == "__main__":
    sys.exit(run_command(main))
