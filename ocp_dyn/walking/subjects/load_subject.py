"""The model of a subject's file, with the axes of inversion that it locks or welds."""

from __future__ import annotations

import re
from os import PathLike

import numpy as np

from ..._base.files import file_to_read
from ..._base.types import Array
from ...dynamics.kinematics import point_jacobian_6d
from ...io import parse_osim
from ...io.formats import format_of, load
from ...mechanism import Model

WELD = re.compile(rb'<WeldJoint( name="([^"]*subtalar[^"]*)"[^>/]*>.*?</)WeldJoint>', re.DOTALL | re.IGNORECASE)
"""A welded joint with subtalar in its name."""
PARALLEL = 0.7
"""Cosine between the axis of a weld's frames and that of the ankle from which on it is no axis of inversion."""


def load_subject(path: str | PathLike[str]) -> Model:
    """The model of a file, as `od.load` reads it, for `loaded_person`.

    Axes of inversion, joints with subtalar in their names, are free where an OpenSim file locks them, and where it
    welds them in frames whose z is not that of the ankle: a body without them that stands on both flat feet cannot
    move sideways, and its double support is short. Other coordinates that the file locks are held, and all are where a
    joint is locked in part. Errors are those of `od.load`.

    >>> od.walking.loaded_person(od.walking.load_subject("subject.osim"))  # doctest: +SKIP
    """
    file = file_to_read(path)
    model = load(file)
    if format_of(file).name != "OpenSim model":
        return model
    text = file.read_bytes()
    welds = WELD.findall(text) if model.joints[1].nv >= 6 else []  # not those of a body that moves in a plane
    welded = {name.decode("utf-8", "replace") for _, name in welds}
    text = WELD.sub(rb"<PinJoint\1PinJoint>", text) if welds else text
    kept = parse_osim(text, keep_locked=True, source=str(file))
    q = kept.configurations["default"]
    locked = [name for name in kept.joint_names if name not in model.joint_names]
    free = [n for n in locked if "subtalar" in n.lower() and (n not in welded or _turns_sideways(kept, n, q))]
    held = kept.lock_joints({name: q[kept.q_slice(name)] for name in locked if name not in free})
    added = {name for joint in free for name in kept.q_names[kept.q_slice(joint)]}
    return held if free and {*held.q_names} == {*model.q_names, *added} else model


def _turns_sideways(model: Model, joint: str, q: Array) -> bool:
    """Whether the axis of a pin is far from that of the joint before it, the ankle."""
    i = model.joint_names.index(joint) + 1
    axes = np.array(point_jacobian_6d(model, model.body_names[i - 1], q).full())[:3]
    before = axes[:, list(model.dofs_of(model.parent[i]))]
    return bool(np.all(np.abs(before.T @ axes[:, list(model.dofs_of(i))]) < PARALLEL))
