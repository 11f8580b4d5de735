"""`Model` -> OpenSim: `write_osim` and `osim_text`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ..._base.files import path_of, whole_file
from ..._base.types import ModelError, is_one_of, repr_in_message, sequence, suggestion
from ...mechanism import Model
from ...mechanism.boundary import checks_arguments
from ...native.provenance import generator
from .writing.constraints import put_constraints
from .writing.elements import Target, objects, put
from .writing.forces import put_forces
from .writing.joints import put_tree
from .writing.paths import put_markers, put_muscle, put_wraps

Element = ElementTree.Element
VERSION = "40000"
DROPS = {
    "muscles": "muscles and wrap objects", "constraints": "constraints other than couplings, points, welds, points on "
    "lines and distances", "passive": "passive torques other than limits, formulas and exponentials of one coordinate",
    "springs": "springs and damping of joints that turn by quaternions", "friction": "dry friction of joints",
    "armature": "inertias of rotors", "effort": "limits of efforts in one direction, or of joints that turn by "
    "quaternions", "speed": "limits of speeds",
}  # fmt: skip
"""Words of the option `drop`: parts of a model that OpenSim cannot say, but for muscles, which it can."""


def write_osim(model: Model, path: str | PathLike[str], *, drop: str | Sequence[str] = ()) -> None:
    """Writes a model as .osim of OpenSim 4: read again by `load_osim`, it has the same dynamics, muscles and markers.

    Joints become CustomJoints, whose axes and functions are those of the joint; spherical joints and floating bases
    with quaternions BallJoints and FreeJoints, which `load_osim` reads with three angles for each quaternion. Frames
    become massless bodies on WeldJoints, and the ground is turned so that y is up. Entries of q come back in OpenSim's
    order, rotations before translations, and with their names.

    Markers, muscles with their paths and all their numbers, wrap objects, couplings and joints that mimic others,
    points, welds and distances as constraints, springs, damping, bushings, stops, formulas, limits of coordinates and
    of efforts, prescribed motions and the configuration "default" are written. drop: words for what OpenSim cannot say
    and the file then lacks, "constraints", "passive", "springs", "friction", "armature", "effort", "speed"; "muscles"
    leaves out muscles and wrap objects.

    ModelError for what cannot be written unless `drop` names it, for joints whose motion OpenSim does not have, and for
    names with blanks or slashes. The file appears complete or not at all; OSError if it cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     od.io.write_osim(arm, f"{folder}/arm.osim")
    ...     od.load(f"{folder}/arm.osim")
    <Model 'pendulum_2': nb=2, nq=2, nv=2>
    """
    target = path_of(path)
    text = osim_text(model, drop=drop)
    with whole_file(target) as file:
        file.write_text(text, encoding="utf-8")


@checks_arguments()
def osim_text(model: Model, *, drop: str | Sequence[str] = ()) -> str:
    """The text that `write_osim` writes.

    >>> od.io.osim_text(rod)[:40]
    '<?xml version="1.0" encoding="UTF-8"?>\\n<'
    """
    if model.has_symbols:
        raise ModelError("write_osim: the model holds symbols; write the model whose values are numbers")
    words = _dropped(drop)
    target = Target(model)
    root = ElementTree.Element("OpenSimDocument", Version=VERSION)
    top = ElementTree.SubElement(root, "Model", name=model.name or "model")
    put(top, "credits", f"Written by {generator()}")
    ground = ElementTree.SubElement(top, "Ground", name="ground")
    put(top, "gravity", target.axes.T @ np.array(model.gravity))
    bodies, joints = (objects(top, tag) for tag in ("BodySet", "JointSet"))
    put_tree(bodies, joints, target)
    put_constraints(objects(top, "ConstraintSet"), target)
    forces = objects(top, "ForceSet")
    if "muscles" not in words:
        owners = {f"/bodyset/{body.get('name')}": body for body in bodies}
        put_wraps(owners | {"/ground": ground}, target)
        for muscle in model.muscles:
            put_muscle(forces, muscle, target)
    put_forces(forces, target)
    put_markers(objects(top, "MarkerSet"), target)
    _check_losses(target, words)
    ElementTree.indent(root, "\t")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _dropped(drop: Any) -> tuple[str, ...]:
    words = tuple(sequence((drop,) if isinstance(drop, str) else drop, "write_osim: drop must be a tuple of words"))
    for word in words:
        if not is_one_of(word, DROPS):
            raise ValueError(
                f"write_osim: drop must hold some of {', '.join(DROPS)}, got {repr_in_message(word)}"
                f"{suggestion(word, DROPS)}"
            )
    return words


def _check_losses(target: Target, words: tuple[str, ...]) -> None:
    dofs = target.model.dofs
    for word, there in (
        ("friction", np.any(dofs.friction)),
        ("armature", np.any(dofs.armature)),
        ("speed", np.any(np.isfinite(dofs.qd_max))),
    ):
        if there:
            target.lost[word] = None
    missing = [word for word in DROPS if word in target.lost and word not in words]
    if missing:
        asked = ", ".join(map(repr, dict.fromkeys((*words, *missing))))
        raise ModelError(
            f"write_osim: {' and '.join(DROPS[word] for word in missing)} cannot be written. To write the model "
            f"without them: drop=({asked},)"
        )
