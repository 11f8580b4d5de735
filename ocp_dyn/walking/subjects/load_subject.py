"""The model of a subject's file, with the axes of inversion that it locks."""

from __future__ import annotations

from os import PathLike

from ..._base.files import file_to_read
from ...io import load_osim
from ...io.formats import format_of, load
from ...mechanism import Model


def load_subject(path: str | PathLike[str]) -> Model:
    """The model of a file, as `od.load` reads it, for `loaded_person`.

    Axes of inversion, joints with subtalar in their names, that an OpenSim file locks stay free: a body without them
    that stands on both flat feet cannot move sideways, and its double support is short. Other coordinates that the file
    locks are held, and all are where a joint is locked in part. Errors are those of `od.load`.

    >>> od.walking.loaded_person(od.walking.load_subject("subject.osim"))  # doctest: +SKIP
    """
    file = file_to_read(path)
    model = load(file)
    if format_of(file).name != "OpenSim model":
        return model
    kept = load_osim(file, keep_locked=True)
    q = kept.configurations["default"]
    locked = [name for name in kept.joint_names if name not in model.joint_names]
    free = [name for name in locked if "subtalar" in name.lower()]
    held = kept.lock_joints({name: q[kept.q_slice(name)] for name in locked if name not in free})
    added = {name for joint in free for name in kept.q_names[kept.q_slice(joint)]}
    return held if free and {*held.q_names} == {*model.q_names, *added} else model
