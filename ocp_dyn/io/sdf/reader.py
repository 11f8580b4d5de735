"""SDF -> Model, and the loops that its joints close."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..._base.files import file_to_read, path_of
from ..._base.types import ModelError, Vector, repr_in_message
from ...constraints import JointCoupling, Loop
from ...joints import Fixed, FloatingBase, Joint
from ...mechanism import Annotations, Model
from ...mechanism.annotations import counted_out
from ...mechanism.builder import WORLD, ModelBuilder
from ...spatial_algebra.poses import Pose
from ..constraints import with_mimics
from ..shapes.body_shape import shape_file
from ..xml import XmlElement, every_fault, xml_tree
from .frames import Frames, own_pose
from .included import Included
from .joints import JointData, joint_of, loop_of, read_joint
from .texts import number, numbers_in, switch

EARTH: Vector = (0.0, 0.0, -9.8)
"""Gravity of a world that gives none, the format's default [m/s^2]."""
INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
FLOATS = FloatingBase()
LEFT_OUT = ("plugin", "sensor", "gripper", "battery", "particle_emitter", "audio_source", "audio_sink", "projector")
"""Elements of models and links that the model does not have; shapes and lights go without a word."""


def load_sdf(
    path: str | PathLike[str], *, root: Joint | None = None, folder: str | PathLike[str] | None = None
) -> Model:
    """The model of an SDF file of Gazebo, of versions 1.4 to 1.12.

    Links, joints (revolute, continuous, prismatic, screw, ball, universal, revolute2, fixed) and frames of a `<model>`
    and of models in it, whose names are "INNER::LINK"; or of all models of a `<world>`, whose names then begin with
    "MODEL::". At `model.neutral()` links are where the file has them. A link that no joint holds floats, as in Gazebo;
    root: another joint for it, such as `od.Fixed()`. Included models lie in the folder of the file or below, named by
    file or folder, `model://NAME` too; folder: another one. Limits, springs, damping, friction and gravity are read;
    sensors and plugins are not, and shapes when they are drawn. A joint that mimics another follows it in
    `model.mimics`, and by an `od.JointCoupling` in `model.constraints`.

    A joint that joins two links which joints before it in the file join already closes a loop: an `od.Loop` in
    `model.constraints`, for `od.constrained_dynamics`. All loops hold at `model.neutral()`.

    Raises ModelError with file, line, element and remedy for what is wrong, or would change the motion and is not read:
    gearboxes, merged models, links without gravity, added mass. OSError if it cannot be read.

    >>> import pathlib, tempfile
    >>> hinge = '<joint name="j" type="revolute"><parent>world</parent><child>b</child></joint>'
    >>> sdf = f'<sdf version="1.7"><model name="door"><link name="b"/>{hinge}</model></sdf>'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = pathlib.Path(folder, "door.sdf").write_text(sdf)
    ...     od.io.load_sdf(f"{folder}/door.sdf").q_names
    ('j',)
    """
    file = file_to_read(path)
    if str(file).lstrip().startswith("<"):
        raise ModelError(
            f"a path was expected, got what looks like SDF text ({repr_in_message(str(file)[:30])}...): use parse_sdf"
        )
    near = Path(file).parent if folder is None else Path(path_of(folder))
    model = _model_of(xml_tree(file.read_bytes(), str(file)), _root(root), near)
    return replace(model, shape_files=(shape_file(file, folder),))


def parse_sdf(text: str | bytes, *, root: Joint | None = None, source: str = "SDF text") -> Model:
    """The model of an SDF given as text; `source` opens the messages. See `load_sdf`.

    >>> od.io.parse_sdf('<sdf version="1.7"><model name="ball"><link name="b"/></model></sdf>')
    <Model 'ball': nb=1, nq=7, nv=6>
    """
    return _model_of(xml_tree(text, source), _root(root))


@dataclass(frozen=True, eq=False)
class LinkPart:
    """A link of a document: its name in the model, its element, and all poses of the document."""

    name: str
    element: XmlElement
    part: str
    frames: Frames

    def inside(self, pose: Pose, relative_to: str) -> Pose:
        """A pose in the frame of this link, which is given in that of `relative_to`, or in the link's own."""
        if not relative_to:
            return pose
        scope = self.frames.parts[self.part].scope
        other = self.frames.pose(self.frames.named(self.element, relative_to, scope, "frame"))
        return self.frames.pose(self.part).inverse() @ other @ pose


def links_of(text: bytes, source: str, folder: Path) -> Iterator[LinkPart]:
    """The links of an SDF document; folder: of included models."""
    reading, _ = _read(xml_tree(text, source), folder)
    return (LinkPart(reading.shown(name), reading.frames.parts[name].element, name, reading.frames)
            for name in reading.links)  # fmt: skip


def _root(root: Joint | None) -> Joint | None:
    if root is not None and not isinstance(root, Joint):
        raise TypeError(f"root must be None or a joint such as od.Fixed(), got {repr_in_message(root)}")
    return root


def sdf_faults(text: bytes, source: str) -> tuple[list[str], list[str]]:
    """Messages about the faults of an SDF file, and notes on what is left out."""
    notes: list[str] = []

    def read(document: XmlElement) -> None:
        notes[:] = [f"{source}: {one}" for one in _model_of(document, None, Path(source).parent).notes]

    try:
        return every_fault(xml_tree(text, source), read), notes
    except ModelError as error:
        return [str(error)], []


def _read(document: XmlElement, folder: Path | None) -> tuple[_Reading, list[XmlElement]]:
    """All parts of a document, and its worlds."""
    if document.tag != "sdf":
        raise document.fault("the outermost element of SDF is <sdf>")
    version = _version(document)
    worlds = document.all("world")
    Included(folder).expand(document)
    return _Reading([document, *worlds], version), worlds


def _model_of(document: XmlElement, root: Joint | None, folder: Path | None = None) -> Model:
    reading, worlds = _read(document, folder)
    builder = ModelBuilder(reading.name, _gravity(worlds))
    loops = reading.add(builder, FLOATS if root is None else root)
    couplings = reading.couplings()
    try:
        model = replace(builder.build(), constraints=(*loops, *couplings), annotations=reading.annotations())
        return with_mimics(model, couplings)
    except ModelError as error:
        raise ModelError(f"{document.source}: {error}") from None


def _version(document: XmlElement) -> int:
    """The second number of the version: 7 of 1.7."""
    text = document.get("version")
    try:
        major, minor = (int(part) for part in text.split("."))
    except ValueError:
        raise document.fault(f"version={repr_in_message(text)}, expected one such as 1.7") from None
    if major != 1 or not 4 <= minor <= 99:
        raise document.fault(f"version={repr_in_message(text)} is not read; known are 1.4 and later")
    return minor


def _gravity(worlds: list[XmlElement]) -> Vector:
    if not worlds:
        return (0.0, 0.0, -9.81)
    element = worlds[0].child("gravity")
    return EARTH if element is None else [float(x) for x in numbers_in(element, 3)]


@contextmanager
def at(element: XmlElement) -> Iterator[None]:
    """Puts the place of an element before the message of an error."""
    try:
        yield
    except ModelError as error:
        if str(error).startswith(f"{element.source}, line "):
            raise
        raise element.fault(str(error)) from None


class _Reading:
    """The links, joints and frames of all models of a document."""

    def __init__(self, holders: list[XmlElement], version: int) -> None:
        self.frames = Frames(holders)
        models = [(name, part) for name, part in self.frames.all("model") if not part.scope]
        if not models:
            raise holders[0].fault("it holds no <model>")
        self.name = models[0][0]
        self.hidden = f"{self.name}::" if len(models) == 1 else ""
        """Part that names of our model leave out: the only model of the file."""
        self.links = [name for name, _ in self.frames.all("link")]
        for name, part in models:
            if not any(link.startswith(f"{name}::") for link in self.links):
                raise part.element.fault("it has no <link>; a model has at least one")
        self.joints = [read_joint(part.element, name, self.frames, version) for name, part in self.frames.all("joint")]
        self.rooted = False

    def shown(self, name: str) -> str:
        """The name in our model."""
        return name.removeprefix(self.hidden)

    def add(self, builder: ModelBuilder, root: Joint) -> list[Loop]:
        """Adds all bodies to a builder, parents first, and gives the loops."""
        holds: dict[str, JointData] = {}
        closing = [joint for joint in self.joints if holds.setdefault(joint.child, joint) is not joint]
        children: dict[str, list[str]] = {}
        for link in self.links:
            children.setdefault(holds[link].parent if link in holds else "", []).append(link)
        ahead = sorted(children.get("", []), key=lambda link: link not in holds)[::-1]  # those on the ground first
        reached: set[str] = set()
        while ahead:
            link = ahead.pop()
            reached.add(link)
            with at(self.frames.parts[holds[link].name if link in holds else link].element):
                self._add_link(builder, link, holds.get(link), root)
            ahead += reversed(children.get(link, []))
        for link in self.links:
            if link not in reached:
                raise holds[link].element.fault(
                    "its links move each other in a ring that hangs on no root: exchange parent and child of one joint"
                )
        self._add_frames(builder)
        return [self._loop(joint, builder) for joint in closing]

    def _add_link(self, builder: ModelBuilder, link: str, joint: JointData | None, root: Joint) -> None:
        name, pose = self.shown(link), self.frames.pose(link)
        own = inertial_of(self.frames.parts[link].element)
        static = self.frames.is_static(link)
        if joint is None or static:
            joint_name = f"{name}_root" if not self.hidden or self.rooted else "root"
            self.rooted = True
            kind = Fixed() if static else root
            builder.add_body(name, kind, joint_name=joint_name, origin=pose.p, rotation=pose.R, **own)
            return
        base = self.frames.pose(joint.parent)
        anchor = pose.R.T @ (joint.pose.p - pose.p) if joint.kind not in ("prismatic", "fixed") else np.zeros(3)
        aside = float(np.abs(anchor).max()) > 1e-12
        start = base.inverse() @ Pose(pose.R, joint.pose.p if aside else pose.p)
        moved = f"{name}#0" if aside else name
        builder.add_body(
            moved, joint_of(joint, pose), self.shown(joint.parent) or WORLD, joint_name=self.shown(joint.name),
            origin=start.p, rotation=start.R, **({} if aside else own), **joint.options,
        )  # fmt: skip
        if aside:
            builder.add_body(name, Fixed(), moved, origin=-anchor, **own)

    def _add_frames(self, builder: ModelBuilder) -> None:
        for name, part in self.frames.all("frame"):
            with at(part.element):
                link = self.frames.link(part.element, part.element.get("attached_to"), part.scope)
                place = self.frames.pose(link).inverse() @ self.frames.pose(name)
                builder.add_frame(self.shown(name), self.shown(link) or WORLD, place.p, place.R)

    def _loop(self, joint: JointData, builder: ModelBuilder) -> Loop:
        parent = self.shown(joint.parent) or f"{self.shown(joint.name)}_ground"
        if not joint.parent:
            builder.add_frame(parent, WORLD)
        poses = self.frames.pose(joint.parent), self.frames.pose(joint.child)
        return replace(loop_of(joint, *poses, (parent, self.shown(joint.child))), label=self.shown(joint.name))

    def couplings(self) -> tuple[JointCoupling, ...]:
        """The joints that mimic others."""
        found = []
        for joint in self.joints:
            if joint.follows is not None:
                other, ratio, offset = joint.follows
                found.append(JointCoupling(self.shown(joint.name), self.shown(other), ratio, offset))
        return tuple(found)

    def annotations(self) -> Annotations:
        """Notes on what is left out."""
        tags = [element.tag for _, part in self.frames.all("model") for element in part.element]
        tags += [element.tag for link in self.links for element in self.frames.parts[link].element]
        left = Counter(tag for tag in tags if tag in LEFT_OUT)
        return Annotations(notes=counted_out(left))


def inertial_of(link: XmlElement) -> dict[str, Any]:
    """mass, com and inertia of a link; 1 kg and 1 kg m^2 without `<inertial>`, as the format has it."""
    if not switch(link, "gravity", True):
        raise link.fault("a link without gravity is not read: gravity acts on all")
    if switch(link, "kinematic"):
        raise link.fault("a kinematic link moves as it is told, which is not read")
    inertial = link.child("inertial")
    if inertial is None:
        return {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
    if inertial.get("auto", "false") in ("true", "1"):
        raise inertial.fault("inertias from shapes are not read: write <mass> and <inertia>")
    added = inertial.child("fluid_added_mass")
    if added is not None:
        raise added.fault("the added mass of a fluid changes the motion, and is not read")
    pose, matrix = own_pose(inertial), inertial.child("inertia")
    xx, xy, xz, yy, yz, zz = (number(matrix, tag, 1.0 if tag[1] == tag[2] else 0.0) for tag in INERTIA)
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return {"mass": number(inertial, "mass", 1.0), "com": pose.p, "inertia": pose.R @ I @ pose.R.T}
