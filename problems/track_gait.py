"""A recorded gait: joint angles and torques from markers and ground reaction forces, compared with the known motion.

`ocp.track` follows markers and forces with exact equations of motion: those of your own files, or, without files, those
that cameras and force plates would see, with noise, of a stride of `human_walk`. --muscles: the muscles of the model
follow, in place of motors; --emg compares their activations with recorded electromyograms.

    python -m ocp_dyn.problems.track_gait subject.osim walk.trc loads.xml [--weights tasks.xml] [--between 0.3 1.4]
                                  [--muscles [--emg envelopes.sto]]
    python -m ocp_dyn.problems.track_gait subject.osim walk.trc forces.mot --feet ground_force_r_=calcn_r ...
    python -m ocp_dyn.problems.track_gait [--speed 1.2] [--marker-noise 0.005] [--force-noise 10] [--seed 0]
                                  [--model legs|human] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import asked, finish, keep, motion_of, parser, run_command, within

from . import human_walk


def of_walk(truth: ocp.Solution, seen: od.walking.SimulatedRecording, o: argparse.Namespace) -> ocp.Problem:
    """The problem of a simulated recording, whose errors are known."""
    errors = ocp.MeasurementErrors(marker=max(o.marker_noise, 1e-3), force=max(o.force_noise, 1.0))
    return ocp.track(
        truth.model, seen.markers, seen.forces, places=seen.places, between=(seen.begin, seen.end), errors=errors,
        rate=20 if o.quick else 50,
    )  # fmt: skip


def of_files(o: argparse.Namespace) -> ocp.Problem:
    """The problem of a recording in files, by motors or muscles: model, markers, forces; their ground has y up."""
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
    rate, muscles = 20 if o.quick else 50, ocp.Muscles(activation="limits") if o.muscles else False
    return ocp.track(model, markers, forces, weights=weights, between=o.between, rate=rate, muscles=muscles)


def followed(o: argparse.Namespace, walk: ocp.Problem) -> int:
    """Solves the problem of a recording in files, and reports it."""
    found = motion_of(o, walk)
    figures = partial(recording_figures, o, walk, found)
    return finish(o, found, figures, f"{walk.model.name}, recorded{', by muscles' if o.muscles else ''}")


def recording_figures(o: argparse.Namespace, walk: ocp.Problem, found: ocp.Solution) -> dict[str, Any]:
    """Deviations from the recording, and correlations of activations with electromyograms, which are drawn as well."""
    numbers: dict[str, Any] = ocp.tracking_errors(walk, found).numbers()
    if o.emg:
        curves = od.walking.activation_curves(found, od.recordings.read(o.emg), begin=o.between[0])
        numbers |= {f"correlation_with_emg_{name}": r for name, (_, _, r) in curves.items()}
        if o.out is not None:
            od.walking.plot_activations(curves, found.t + o.between[0], o.out / "activations.png")
    return numbers


def _recorded_walk(options: argparse.Namespace) -> ocp.Problem:
    if options.emg and not (options.muscles and options.between):
        raise ValueError("--emg: activations are compared at the times of the recording: give --muscles and --between")
    if options.files:
        return of_files(options)
    if options.muscles:
        raise ValueError("--muscles: the simulated recording has none: give MODEL MARKERS FORCES")
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
    add("--muscles", action="store_true", help="the muscles of the model follow, in place of motors")
    add("--emg", metavar="FILE", help="envelopes of electromyograms, such as .sto, at the times of the markers")
    o, walk = asked(arguments, argv, _recorded_walk)
    if o.files:
        return followed(o, walk)
    truth = motion_of(o, walk)
    if not truth.converged:
        print(f"the walk to record was not found: {truth.status}", file=sys.stderr)
        return 1
    keep(o, truth, "truth.npz")
    seen = od.walking.simulated_recording(truth, o.marker_noise, o.force_noise, o.seed)
    solution = motion_of(o, of_walk(truth, seen, o))
    title = "A recorded gait, estimated from markers and forces"
    return finish(o, solution, lambda: od.walking.estimate_errors(truth, solution, seen), title)


if __name__ == "__main__":
    sys.exit(run_command(main))
