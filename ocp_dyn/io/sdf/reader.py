"""SDF -> Model, and the loops that its joints close."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from ..._base.checks import named_arguments
from ..._base.files import path_of
from ..._base.types import ModelError, Vector, repr_in_message
from ...constraints import Loop
from ...joints import Fixed, FloatingBase, Joint
from ...mechanism import Model
from ...mechanism.builder import WORLD, ModelBuilder
from ..xml import XmlElement, every_fault, xml_tree
from .frames import Frames, Pose, own_pose
from .joints import JointData, joint_of, loop_of, read_joint
from .texts import name_of, number, numbers_in, switch

EARTH: Vector = (0.0, 0.0, -9.8)
"""Gravity of a world that gives none, the format's default [m/s^2]."""
INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
FLOATS = FloatingBase()


@named_arguments
def load_sdf(path: str | PathLike[str], *, root: Joint | None = None) -> Model:
    """The model of an SDF file of Gazebo, of versions 1.4 to 1.12.

    Links, joints (revolute, continuous, prismatic, ball, universal, fixed) and frames of a `<model>`, or of all models
    of a `<world>`, whose names then begin with "MODEL::". At `model.neutral()` links are where the file has them.
    A link that no joint holds floats, as in Gazebo; root: another joint for it, such as `od.Fixed()`. Limits,
    springs, damping, friction and gravity are read; shapes, sensors and plugins are not.

    A joint that joins two links which joints before it in the file join already closes a loop: an `od.Loop` in
    `model.constraints`, for `od.constrained_dynamics`. All loops hold at `model.neutral()`.

    Raises ModelError with file, line, element and remedy for what is wrong, or would change the motion and is not read:
    nested and included models, screws, gearboxes, links without gravity, added mass. OSError if it cannot be read.

    >>> import pathlib, tempfile
    >>> hinge = '<joint name="j" type="revolute"><parent>world</parent><child>b</child></joint>'
    >>> sdf = f'<sdf version="1.7"><model name="door"><link name="b"/>{hinge}</model></sdf>'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = pathlib.Path(folder, "door.sdf").write_text(sdf)
    ...     od.io.load_sdf(f"{folder}/door.sdf").q_names
    ('j',)
    """
    file = path_of(path)
    if str(file).lstrip().startswith("<"):
        raise ModelError(
            f"a path was expected, got what looks like SDF text ({repr_in_message(str(file)[:30])}...): use parse_sdf"
        )
    return parse_sdf(file.read_bytes(), root=root, source=str(file))


@named_arguments
def parse_sdf(text: str | bytes, *, root: Joint | None = None, source: str = "SDF text") -> Model:
    """The model of an SDF given as text; `source` opens the messages. See `load_sdf`.

    >>> od.io.parse_sdf('<sdf version="1.7"><model name="ball"><link name="b"/></model></sdf>')
    <Model 'ball': nb=1, nq=7, nv=6>
    """
    if root is not None and not isinstance(root, Joint):
        raise TypeError(f"root must be None or a joint such as od.Fixed(), got {repr_in_message(root)}")
    return _model_of(xml_tree(text, source), root)


def sdf_faults(text: bytes, source: str) -> tuple[list[str], list[str]]:
    """Messages about the faults of an SDF file, and notes, of which there are none."""
    try:
        return every_fault(xml_tree(text, source), lambda document: _model_of(document, None)), []
    except ModelError as error:
        return [str(error)], []


def _model_of(document: XmlElement, root: Joint | None) -> Model:
    if document.tag != "sdf":
        raise document.fault("the outermost element of SDF is <sdf>")
    version = _version(document)
    worlds = document.all("world")
    models = [model for part in (document, *worlds) for model in part.all("model")]
    for part in (document, *worlds):
        for include in part.all("include"):
            raise include.fault("included models are not read: put the model into the file")
    if not models:
        raise document.fault("it holds no <model>")
    builder = ModelBuilder(models[0].get("name"), _gravity(worlds))
    loops: list[Loop] = []
    for model in models:
        prefix = f"{model.get('name')}::" if len(models) > 1 else ""
        loops += SdfModel(model, version, prefix).add(builder, FLOATS if root is None else root)
    try:
        return replace(builder.build(), constraints=tuple(loops))
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


class SdfModel:
    """One `<model>`: its links, joints and frames, and their poses."""

    def __init__(self, model: XmlElement, version: int, prefix: str) -> None:
        self.model, self.prefix = model, prefix
        for nested in (*model.all("model"), *model.all("include")):
            raise nested.fault("nested and included models are not read: put their links into the model")
        self.elements: dict[str, XmlElement] = {}
        for element in model:
            if element.tag in ("link", "joint", "frame"):
                name_of(element, self.elements)
        self.links = [name for name, element in self.elements.items() if element.tag == "link"]
        if not self.links:
            raise model.fault("it has no <link>; a model has at least one")
        self.frames = Frames(self.elements)
        self.joints = [read_joint(element, name, self.frames, version) for name, element in self.elements.items()
                       if element.tag == "joint"]  # fmt: skip
        self.place = own_pose(model)
        self.static = switch(model, "static")
        self.rooted = False

    def add(self, builder: ModelBuilder, root: Joint) -> list[Loop]:
        """Adds all bodies to a builder, parents first, and gives the loops."""
        holds: dict[str, JointData] = {}
        closing = [joint for joint in self.joints if holds.setdefault(joint.child, joint) is not joint]
        children: dict[str, list[str]] = {}
        for link in self.links:
            children.setdefault(holds[link].parent if link in holds else "", []).append(link)
        ahead = [*children.get("world", []), *children.get("", [])][::-1]
        reached: set[str] = set()
        while ahead:
            link = ahead.pop()
            reached.add(link)
            with at(self.elements[holds[link].name if link in holds else link]):
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
        name, pose = self.prefix + link, self.frames.pose(link)
        own = inertial_of(self.elements[link])
        if joint is None or self.static:
            kind = Fixed() if self.static else root
            at = self.place @ pose
            joint_name = f"{name}_root" if self.prefix or self.rooted else "root"
            self.rooted = True
            builder.add_body(name, kind, joint_name=joint_name, origin=at.p, rotation=at.R, **own)
            return
        parent = WORLD if joint.parent == "world" else self.prefix + joint.parent
        base = self.place.inverse() if joint.parent == "world" else self.frames.pose(joint.parent)
        anchor = pose.R.T @ (joint.pose.p - pose.p) if joint.kind not in ("prismatic", "fixed") else np.zeros(3)
        aside = float(np.abs(anchor).max()) > 1e-12
        start = base.inverse() @ Pose(pose.R, joint.pose.p if aside else pose.p)
        moved = f"{name}#0" if aside else name
        builder.add_body(
            moved, joint_of(joint, pose), parent, joint_name=self.prefix + joint.name, origin=start.p, rotation=start.R,
            **({} if aside else own), **joint.options,
        )  # fmt: skip
        if aside:
            builder.add_body(name, Fixed(), moved, origin=-anchor, **own)

    def _add_frames(self, builder: ModelBuilder) -> None:
        for name, element in self.elements.items():
            if element.tag != "frame":
                continue
            link = self.frames.link(element, element.get("attached_to"))
            fixed = link in ("", "world", "__model__")
            at = (self.place if fixed else self.frames.pose(link).inverse()) @ self.frames.pose(name)
            builder.add_frame(self.prefix + name, WORLD if fixed else self.prefix + link, at.p, at.R)

    def _loop(self, joint: JointData, builder: ModelBuilder) -> Loop:
        ground = f"{self.prefix}{joint.name}_ground"
        if joint.parent == "world":
            builder.add_frame(ground, WORLD, self.place.p, self.place.R)
            return loop_of(joint, Pose(), self.frames.pose(joint.child), (ground, self.prefix + joint.child))
        poses = self.frames.pose(joint.parent), self.frames.pose(joint.child)
        return loop_of(joint, *poses, (self.prefix + joint.parent, self.prefix + joint.child))


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
