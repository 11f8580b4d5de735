"""All faults of a model's file, with their lines: for reports. Its reader raises the first."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import partial
from os import PathLike
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from .._base.files import file_to_read
from .._base.types import ModelError, ModelWarning, repr_in_message
from ..joints import FloatingBase, Revolute
from ..mechanism import Model
from ..mechanism.annotations import counted_out
from ..mechanism.builder import WORLD, ModelBuilder
from ..mechanism.parts import Mimic, checked_mimics
from ._json_faults import json_faults
from ._urdf_xml import UrdfTree, read_urdf_xml
from .biomod import load_biomod
from .biomod.reader import biomod_faults
from .formats import format_of
from .mjcf import load_mjcf
from .mjcf.reader import mjcf_faults
from .opensim import load_osim
from .opensim.faults import osim_faults
from .rbdl import load_rbdl
from .rbdl.reader import rbdl_faults
from .sdf import load_sdf
from .sdf.reader import sdf_faults
from .shapes.urdf_shapes import urdf_shapes
from .urdf import (
    add_joint,
    add_root,
    at_place,
    check_inertias,
    depth_first,
    inertial_of,
    is_mimic,
    load_urdf,
    parse_urdf,
)

TRIAL_ROOT = FloatingBase(name="root of the trial")
"""Every URDF loads on a floating base, one rigid body too."""
AT_LINE = re.compile(r"(?:, line (\d+))?: ")


class Fault(NamedTuple):
    """A fault of a file, or a note: something that loads, but is rarely meant.

    line: None if the fault concerns the file as a whole. text: what is wrong, what is expected, the remedy.

    >>> od.io.Fault(3, "joint 'knee' has no <parent>; add one").severe
    True
    """

    line: int | None
    text: str
    severe: bool = True


def file_faults(path: str | PathLike[str]) -> list[Fault]:
    """Every fault and note of a model's file, of any format, by line.

    A file without severe faults loads; only `mimic=` and `inertia=` may be needed, as its notes then say. What is wrong
    is left out or replaced by its default before the reading goes on; where that is impossible, as after a tag that is
    not closed, the list ends with this fault. OSError if the file cannot be read.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = pathlib.Path(folder, "empty.urdf").write_text('<robot name="r"/>')
    ...     [fault.text for fault in od.io.file_faults(f"{folder}/empty.urdf")]
    ['no <link> in <robot>; a robot needs at least one']
    """
    file = file_to_read(path)
    text = file.read_bytes()
    if file.suffix.lower() == ".json":
        return [Fault(line, message) for line, message in json_faults(text)]
    messages, notes = _found(file, text)
    found = [_fault(message, str(file)) for message in dict.fromkeys(messages)]
    found += [_fault(message, str(file))._replace(severe=False) for message in dict.fromkeys(notes)]
    return sorted(found, key=lambda fault: (fault.line or 0, not fault.severe))


def _found(file: Path, text: bytes) -> tuple[list[str], list[str]]:
    """Messages about faults of a file, and notes, by its format; of a format that is not known those of a URDF."""
    kind = format_of(file, default="URDF")
    finders: dict[Callable[..., Model], Callable[[bytes, str], tuple[list[str], list[str]]]] = {
        load_urdf: urdf_faults, load_osim: osim_faults, load_mjcf: mjcf_faults, load_sdf: sdf_faults,
        load_biomod: biomod_faults, load_rbdl: rbdl_faults,
    }  # fmt: skip
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        faults, notes = finders[kind.read](text, str(file))
    told_too = [str(one.message) for one in told if issubclass(one.category, ModelWarning) and not faults]
    return faults, notes + told_too


def _fault(message: str, source: str) -> Fault:
    """The fault of a message that opens with the file's name and perhaps a line."""
    rest = message.removeprefix(source)
    place = AT_LINE.match(rest)
    if rest == message or place is None:
        return Fault(None, message)
    return Fault(int(place[1]) if place[1] else None, rest[place.end() :])


# URDF


def urdf_faults(text: bytes, source: str) -> tuple[list[str], list[str]]:
    """Messages about faults of a URDF, and notes; each opens with `source` and a line."""
    faults: list[str] = []
    notes: list[str] = []
    try:
        tree = read_urdf_xml(text, source, faults)
        _whole_robot(tree, faults, notes)
        notes += [*_missing_meshes(tree), *(f"{source}: {note}" for note in counted_out(+tree.left))]
    except ModelError as error:
        faults.append(str(error))
    if not faults:  # the loader has the last word
        _collect(faults, lambda: parse_urdf(text, TRIAL_ROOT, mimic="free", source=source))
    return faults, notes


def _collect(faults: list[str], check: Callable[[], object]) -> bool:
    """Whether a check raises nothing; the message of its error joins the faults."""
    try:
        check()
    except ModelError as error:
        faults.append(str(error))
        return False
    return True


def _whole_robot(tree: UrdfTree, faults: list[str], notes: list[str]) -> None:
    """Faults of the tree of links, then of every joint and body; parts at fault are taken away."""
    robot = tree.robot()
    root, joints = depth_first(robot, tree, faults.append)
    links = {link.name: link for link in robot.links}
    for link in robot.links:
        _inertial_fault(link, tree.where("link", link.name), faults)
    for joint in robot.joints:
        _joint_faults(joint, tree, faults)
    for joint in joints:
        if joint.child == WORLD:
            where = tree.where("link", joint.child)
            faults.append(f"{where}: only a root link may have this name, which is the ground's; rename the link")
            return
    builder = ModelBuilder(robot.name)
    if not _collect(faults, lambda: add_root(builder, links[root], TRIAL_ROOT, tree)):
        return
    for joint in joints:
        if not _collect(faults, partial(_added, builder, joint, links[joint.child], tree)):
            return
    model = builder.build()
    reached = [links[name] for name in links if name in model.frames]
    check_inertias(model, reached, tree, faults.append)
    _mimic_faults([joint for joint in joints if is_mimic(joint)], model, tree, faults, notes)
    notes += _notes(model, joints, tree, masses=not faults)


def _added(builder: ModelBuilder, joint: Any, link: Any, tree: UrdfTree) -> None:
    with at_place(tree.where("joint", joint.name)):
        add_joint(builder, joint, link)


def _missing_meshes(tree: UrdfTree) -> list[str]:
    """A note on the mesh files that are not there, at the first link that lacks one."""
    if not Path(tree.source).is_file():
        return []
    try:
        visuals = urdf_shapes(tree.source)
    except ModelError as error:  # the model does not need shapes
        return [str(error)]
    lost = [one for one in visuals if one.kind == "mesh" and one.path is None and ("link", one.link) in tree.lines]
    if not lost:
        return []
    more = len({one.link for one in lost}) - 1
    others = f", nor those of {more} other link{'s' * (more > 1)}" if more else ""
    text = f"no file {repr_in_message(lost[0].mesh)}, its shape in viewers{others}"
    return [f"{tree.where('link', lost[0].link)}: {text}; put it there, or name its folder in ROS_PACKAGE_PATH"]


NONE: dict[str, dict[str, float]] = {
    "limit": {"lower": -np.inf, "upper": np.inf, "velocity": np.inf, "effort": np.inf},
    "dynamics": {"damping": 0.0, "friction": 0.0},
}
"""Elements of a joint that say nothing."""


def _joint_faults(joint: Any, tree: UrdfTree, faults: list[str]) -> None:
    """Faults of axis, limits and losses of a joint. Each part is tried alone, on the ground; a faulty one is taken out
    of the joint."""

    def fine(**parts: Any) -> bool:
        alone = SimpleNamespace(**vars(joint) | {"parent": WORLD, "limit": None, "dynamics": None} | parts)
        bare = SimpleNamespace(name="trial", inertial=None)
        return _collect(faults, partial(_added, ModelBuilder("trial"), alone, bare, tree))

    if not fine():
        joint.axis = None
    for keys in (("lower", "upper"), ("velocity",), ("effort",), ("damping",), ("friction",)):
        part = next(name for name, known in NONE.items() if keys[0] in known)
        given = getattr(joint, part)
        if given is None:
            continue
        values = {key: getattr(given, key) for key in keys}
        if not fine(**{part: SimpleNamespace(**NONE[part] | values)}):
            vars(given).update({key: NONE[part][key] for key in keys})


def _inertial_fault(link: Any, where: str, faults: list[str]) -> None:
    """The fault of mass and inertia of a link, which then has none."""
    try:
        with at_place(where):
            ModelBuilder("trial").add_body(link.name, Revolute("x"), **inertial_of(link))
    except ModelError as error:
        faults.append(str(error).replace(f"body {repr_in_message(link.name)}: ", "", 1))
        link.inertial = None


def _mimic_faults(joints: list[Any], model: Model, tree: UrdfTree, faults: list[str], notes: list[str]) -> None:
    dofs = dict(zip(model.joint_names, (joint.nv for joint in model.joints[1:]), strict=True))
    good: list[Mimic] = []
    for joint in joints:
        mimic = Mimic(joint.name, joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)
        where = f"{tree.source}, line {tree.lines['joint', joint.name]}"
        try:
            checked_mimics([*good, mimic], dofs)
        except ModelError as error:
            faults.append(f"{where}: {error}")
            continue
        good.append(mimic)
        notes.append(
            f"{where}: joint {repr_in_message(joint.name)} mimics joint {repr_in_message(mimic.other)}: load with "
            'mimic="couple" to have the coupling in od.mimic_constraints(model), or with mimic="free"'
        )


def _notes(model: Model, joints: list[Any], tree: UrdfTree, masses: bool) -> list[str]:
    """Notes on what is rarely meant: motors without torque or speed, and if `masses` joints that move no mass."""
    found = []
    moving = {name: i for i, name in enumerate(model.joint_names, start=1)}
    carried = [float(body.m) for body in model.I]
    for i, parent in reversed(list(model.edges)):
        carried[parent] += carried[i]
    for joint in joints:
        if joint.name not in moving:
            continue
        where = tree.where("joint", joint.name)
        if masses and not carried[moving[joint.name]]:
            found.append(f"{where} moves no mass, so that forward dynamics is impossible; give link "
                         f"{repr_in_message(joint.child)} an <inertial>, or fix the joint")  # fmt: skip
        for key, what in (("effort", "no torque"), ("velocity", "no motion")):
            if joint.limit is not None and getattr(joint.limit, key) == 0:
                found.append(f'{where} <limit>: {key}="0" admits {what}; write the largest value of the motor')
    return found
