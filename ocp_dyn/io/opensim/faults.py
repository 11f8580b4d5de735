"""All faults of an OpenSim model, and notes on what is read otherwise than it may be meant: for reports."""

from __future__ import annotations

from collections.abc import Callable

from ..._base.types import ModelError
from .constraints import constraint_of, is_enforced
from .document import Components, opensim_model
from .forces import CONTACT, IDLE, applies
from .frames import Frames
from .joints import coordinates_of, ends_of, links_of
from .paths import markers_of, muscle_of, path_of
from .reader import inertial_of, old_joints, parse_osim


def osim_faults(text: bytes, source: str) -> tuple[list[str], list[str]]:
    """Messages about faults of an OpenSim model, and notes; each opens with `source` and a line.

    Parts are read one by one, so that a faulty one does not hide the others.
    """
    faults: list[str] = []
    notes: list[str] = []

    def tried(read: Callable[[], object]) -> bool:
        try:
            read()
        except ModelError as error:
            faults.append(str(error))
            return False
        return True

    try:
        model, _ = opensim_model(text, source)
        parts = Components(model)
        frames = Frames(parts)
    except ModelError as error:
        return [str(error)], []
    for body in frames.bodies.values():
        tried(lambda body=body: inertial_of(body))  # type: ignore[misc]
    joints = [(joint, "") for joint in parts.joints] + old_joints(frames)
    names: set[str] = set()
    for joint, child in joints:
        if tried(lambda joint=joint: names.update(c.name for c in coordinates_of(joint))):  # type: ignore[misc]
            tried(lambda joint=joint, child=child: links_of(ends_of(joint, child, frames), True))  # type: ignore[misc]
    for marker in parts.markers:
        tried(lambda marker=marker: markers_of([marker], frames))  # type: ignore[misc]
    for force in parts.forces:
        if path_of(force) is not None:
            tried(lambda force=force: muscle_of(force, frames, names))  # type: ignore[misc]
    for constraint in filter(is_enforced, parts.constraints):
        tried(lambda constraint=constraint: constraint_of(constraint, frames, names))  # type: ignore[misc]
    if not faults:  # the reader has the last word
        tried(lambda: parse_osim(text, source=source))
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
    notes += [f"{part.place}: {part.what} is left out" for part in (*parts.controllers, *parts.probes)]
    return faults, notes
