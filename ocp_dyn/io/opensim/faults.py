"""All faults of an OpenSim model, and notes on what is read otherwise than it may be meant: for reports."""

from __future__ import annotations

from ..._base.types import Collected, ModelError
from .constraints import constraint_of, is_enforced
from .document import Components, opensim_model
from .forces import ACTUATOR, BETWEEN, CONTACT, IDLE, SPRING, applies, coordinate_name, element_of, spring_between
from .frames import Frames
from .joints import angles_of, coordinates_of, ends_of, links_of
from .notes import TURNED
from .paths import markers_of, muscle_of, path_of
from .reader import inertial_of, old_joints, parse_osim


def osim_faults(text: bytes, source: str) -> tuple[list[str], list[str]]:
    """Messages about faults of an OpenSim model, and notes; each opens with `source` and a line.

    Parts are read one by one, so that a faulty one does not hide the others.
    """
    try:
        model, _ = opensim_model(text, source)
        parts = Components(model)
        frames = Frames(parts)
    except ModelError as error:
        return [str(error)], []
    faults = Collected()
    angles = _tree_faults(parts, frames, faults)
    for marker in parts.markers:
        with faults.each():
            markers_of([marker], frames)
    for force in parts.forces:
        with faults.each():
            if path_of(force) is not None:
                muscle_of(force, frames, angles)
            elif force.tag in (SPRING, ACTUATOR):
                coordinate_name(force, angles)
            elif force.tag in BETWEEN:
                spring_between(force, frames)
            elif force.tag not in IDLE | CONTACT and applies(force):
                element_of(force, angles)
    for constraint in filter(is_enforced, parts.constraints):
        with faults.each():
            constraint_of(constraint, frames, angles)
    if not faults.messages:  # the reader has the last word
        with faults.each():
            parse_osim(text, source=source)
    return faults.messages, [f"{source}: {TURNED}", *_notes(parts)]


def _tree_faults(parts: Components, frames: Frames, faults: Collected) -> dict[str, bool]:
    """Faults of bodies and joints; the coordinates, each with whether it is an angle."""
    for body in frames.bodies.values():
        with faults.each():
            inertial_of(body)
    angles: dict[str, bool] = {}
    for joint, child in [(joint, "") for joint in parts.joints] + old_joints(frames):
        with faults.each():
            angles |= dict.fromkeys((one.name for one in coordinates_of(joint)), False)
            ends = ends_of(joint, child, frames)
            links_of(ends, True)
            angles |= angles_of(ends)
    return angles


def _notes(parts: Components) -> list[str]:
    """Notes on parts that are read otherwise than they may be meant, and on those left out."""
    notes = []
    muscles = [force for force in parts.forces if path_of(force) is not None]
    if muscles:
        notes.append(
            f"{muscles[0].place}: {len(muscles)} muscles and other forces along paths are kept as data, model.muscles: "
            "no equation of motion has them"
        )
    notes += [
        f"{force.place}: {force.what} is left out: it needs a control, data or geometry from elsewhere"
        for force in parts.forces
        if force.tag in IDLE | CONTACT and applies(force)
    ]
    return notes + [f"{part.place}: {part.what} is left out" for part in (*parts.controllers, *parts.probes)]
