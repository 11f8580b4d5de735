"""The model of the subject: scaled by a static trial before the walk is fitted."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ... import _names as od
from ..._base.files import no_file
from ..inputs import note
from ..streams import UsageError


def scaled(options: argparse.Namespace, model: Any) -> Any:
    """The scaled model and its factors; None without a static trial and without a setup."""
    if options.static is None and options.setup is None:
        if options.mass is not None:
            raise UsageError("--mass: a model is scaled by a static trial: give STATIC before WALK")
        return None
    setup = od.recordings.read_scale_setup(options.setup) if options.setup else None
    trial = options.static or (setup.files.get("static") if setup else None)
    if trial is None and setup is not None:
        trial = setup.files.get("place_static")
    if trial is None:
        raise UsageError(f"{options.setup} names no marker file: give STATIC before WALK")
    if not trial.is_file():
        raise UsageError(no_file(trial))
    static = od.recordings.read(trial, up=options.up)
    if setup is None:
        size = od.recordings.whole_body_measurement(model, static)
        setup = od.recordings.ScaleSetup((size,), mass=options.mass, weights=_weights(options, model))
        note("no --setup: all bodies are scaled by one factor")
    elif options.mass is not None:
        raise UsageError("--mass: the setup has the mass of the subject")
    other = None if options.static is not None else setup.files.get("place_static")
    place = None if other is None or other == trial else od.recordings.read(other, up=options.up)
    return od.recordings.scaled_to(model, static, setup, place_static=place)


def _weights(options: argparse.Namespace, model: Any) -> Any:
    """Weights of markers; those of coordinates are left out: their values are not known here."""
    if not options.weights:
        return None
    markers = {marker.name for marker in model.markers}
    return {name: w for name, w in od.recordings.read_weights(options.weights).items() if name in markers}


def save_subject(model: Any, folder: Path) -> None:
    """Writes subject.json, and subject.osim for OpenSim with its muscles; a note where OpenSim cannot say the model."""
    od.save_model(model, folder / "subject.json")
    try:
        od.io.write_osim(model, folder / "subject.osim")
    except od.ModelError as error:
        note(f"subject.osim is not written: {error}")


def lines_of(subject: Any, options: argparse.Namespace) -> list[str]:
    """The part of the report on the scaled model."""
    by = f"{options.static.name if options.static else 'the trial of the setup'}"
    walks = "`ocp-dyn walk subject.json --speed 1.2` predicts a walk of it"
    lines = ["## Subject", "", f"Scaled by {by} to {subject.mass:.1f} kg; the model is in subject.json: {walks}.", ""]
    lines += ["| body | x | y | z |", "|---|---|---|---|"]
    lines += [f"| {name} | {x:.4f} | {y:.4f} | {z:.4f} |" for name, (x, y, z) in subject.factors.items()]
    if subject.posture is not None:
        far = 1000 * float(subject.posture.rms[0])
        lines += ["", f"Markers were placed in a posture in which they were {far:.1f} mm (root mean square) away.", ""]
    if subject.unused:
        lines += [f"Names of the setup that are not there: {', '.join(subject.unused)}.", ""]
    return lines
