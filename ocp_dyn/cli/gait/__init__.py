"""`ocp-dyn gait`: scaling, inverse kinematics and inverse dynamics of a recorded walk, figures and a report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ... import _names as od
from ..._base.files import no_file, whole_file
from ..._base.types import names_in_message
from ..inputs import note
from ..streams import UsageError, as_json, claim
from .report import drawn, numbers_of, text_of
from .subject import lines_of, save_subject, scaled

TABLES = (".mot", ".sto", ".xml")
"""Endings of files of forces."""


def run(options: argparse.Namespace) -> int:
    if options.forces is None and options.static is not None and options.markers.suffix.lower() in TABLES:
        options.static, options.markers, options.forces = None, options.static, options.markers
    if options.forces is None and options.markers.suffix.lower() != ".c3d":
        raise UsageError(
            f"forces are needed after {options.markers}: a {', '.join(TABLES)} file; only .c3d files have them inside"
        )
    given = (Path(options.file), options.static, options.markers, options.forces, options.weights, options.setup)
    for path in given:
        if path is not None and not path.is_file():
            raise UsageError(no_file(path))
    model = od.load(options.file)
    claim(options.out, options.force)
    subject = scaled(options, model)
    model = model if subject is None else subject.model
    if not model.markers:
        raise UsageError(f"{options.file} has no markers, which the recorded ones could be compared with")
    markers = od.recordings.read(options.markers, up=options.up)
    weights = od.recordings.read_weights(options.weights) if options.weights else None
    known = {*markers.names, *model.q_names, *(marker.name for marker in model.markers)}
    if weights is not None and (strange := [name for name in weights if name not in known]):
        rest = f"which neither the model nor {options.markers} has"
        note(f"{options.weights}: left out: {names_in_message(strange)}, {rest}")
        weights = {name: w for name, w in weights.items() if name in known}
    forces = _of_plates(options, model, markers) if options.forces is None else _forces(options, model)
    note(f"fits {markers.times.size} frames of {len(markers.names)} markers ...")
    raw = od.recordings.fit_motion(model, markers, weights=weights)
    motion = raw.filtered(options.cutoff)
    found = od.recordings.net_moments(motion, forces)
    options.out.mkdir(parents=True, exist_ok=True)
    od.recordings.write(raw.coordinates(degrees=True), options.out / "coordinates.mot")
    od.recordings.write(found.moments, options.out / "moments.sto")
    if subject is not None:
        save_subject(model, options.out)
    figures = drawn(found, options)
    numbers = numbers_of(raw, found, forces)
    with whole_file(options.out / "report.md") as file:
        own = [] if subject is None else lines_of(subject, options)
        file.write_text(text_of(options, model, numbers, figures, own), encoding="utf-8")
    if subject is not None:
        numbers |= {"factors": subject.factors, "mass_kg": subject.mass}
    if options.json:
        print(as_json(numbers | {"sides": {side: gait.numbers() for side, gait in figures.items()}}))
    else:
        told = "" if subject is None else f"{subject}\n"
        print(f"{told}{raw}\n{found}\nreport with pictures: {options.out / 'report.md'}")
    return 0


def _forces(options: argparse.Namespace, model: Any) -> Any:
    """Wrenches on frames of the model."""
    if options.forces.suffix.lower() == ".xml":
        return od.recordings.read_external_loads(options.forces, up=options.up)
    table = od.recordings.read(options.forces)
    feet = _feet(options.feet) if options.feet else _guessed(table, model)
    return od.recordings.ground_forces(table, feet, up=options.up)


def _of_plates(options: argparse.Namespace, model: Any, markers: Any) -> Any:
    """Wrenches of the plates of a .c3d file on the feet, frames calcn_r and calcn_l or those of --feet, by the markers
    on their bodies."""
    plates = od.recordings.read_c3d(options.markers, up=options.up).plates
    if plates is None:
        raise UsageError(f"{options.markers} has no force plates: give FORCES, a {', '.join(TABLES)} file")
    frames = list(_feet(options.feet).values()) if options.feet else ["calcn_r", "calcn_l"]
    recorded = {frame: [name for name in _markers_on(model, frame) if name in markers.names] for frame in frames}
    feet = {frame: names for frame, names in recorded.items() if names}
    if not feet:
        placed = names_in_message([name for frame in frames for name in _markers_on(model, frame)], 6)
        raise UsageError(
            f"no marker of {options.markers} is one of those on {' or '.join(frames)}, {placed}; its markers are "
            f"{names_in_message(markers.names, 8)}: give both the same names, or name the feet, --feet r=FRAME,l=FRAME"
        )
    return od.recordings.on_feet(plates, markers, feet)


def _markers_on(model: Any, frame: str) -> list[str]:
    """Names of the model's markers on the body of a frame; none if the model has no such frame."""
    body = model.frame(frame).body if frame in model.frame_names else None
    return [m.name for m in model.markers if model.frame(m.body).body == body]


def _feet(text: str) -> dict[str, str]:
    pairs = [pair.split("=") for pair in text.split(",")]
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise UsageError(f"--feet: BEGINNING=FRAME pairs with commas between, got {text!r}")
    return dict(pairs)


def _guessed(table: Any, model: Any) -> dict[str, str]:
    """Frames calcn_r and calcn_l for forces whose names say the side."""
    found = {}
    for name in table.names:
        words = name[:-2].rstrip("_").split("_")
        if name.endswith("vx") and words[-1] in ("r", "l") and f"calcn_{words[-1]}" in model.frame_names:
            found[name[:-2]] = f"calcn_{words[-1]}"
    if not found:
        raise UsageError(
            "the feet are not known: name the frames on which the forces act, --feet BEGINNING=FRAME,...; the columns "
            f"are {', '.join(table.names[:6])}, ..."
        )
    return found
