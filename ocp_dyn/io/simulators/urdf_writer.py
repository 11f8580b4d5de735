"""`Model` -> URDF."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from os import PathLike
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ..._base.files import path_of, whole_file
from ..._base.types import Array, ModelError, names_in_message, truth
from ...joints import FloatingBase, Joint, Planar, Prismatic, Revolute
from ...mechanism import Model
from ...mechanism.parts import WORLD
from ...spatial_algebra.spatial import Transform
from .._hinges_and_slides import hinges_and_slides
from ..shapes.body_shape import BodyShape
from ..shapes.placed import read_shapes
from ._common import (
    Element,
    Names,
    check_dropped,
    check_model,
    child,
    first_comment,
    mass_and_com,
    names_shown,
    number_text,
    passive_loss,
    text_of,
    xml_text,
)
from .shapes import Shape, check_names, checked_shapes, frame_of

EARTH = (0.0, 0.0, -9.81)
UNLIMITED = sys.float_info.max
"""The number written for no limit, where readers ask for one; Pinocchio uses the same."""
URDF_AXES = {Revolute: "revolute", Prismatic: "prismatic"}


def write_urdf(
    model: Model,
    path: str | PathLike[str],
    shapes: Sequence[Shape] = (),
    *,
    drop: str | Sequence[str] = (),
    world: bool = False,
    visuals: bool = True,
) -> None:
    """Writes a model as URDF: read again by `load_urdf`, it has the same dynamics, limits and frames.

    shapes: `od.io.Box`, `Ball`, `Cylinder`, written as <collision>. A floating base on which the whole
    model hangs is left to the reader, as usual: `od.load_urdf(path, root=od.FloatingBase())`; world=True writes it as
    a floating joint of a link "world". visuals: the shapes of the URDF that the model comes from, as <visual>; relative
    names of meshes become absolute ones.

    Joints of several dofs (Euler, Universal, Cylindrical, Translation, MultiDof, a floating base with Euler angles that
    is not left to the reader) become chains of hinges and slides with links without mass between them, named after the
    entries of qd. The motion and the dynamics are the same; but some readers want a mass of every link that moves:
    MuJoCo refuses such a file (use `write_mjcf`), Gazebo leaves out the links and all that they carry. Planar and
    floating joints are URDF's own. Frames become links on fixed joints.

    ModelError for what URDF does not have: spherical, helical and custom joints; unless `drop` names them, nonlinear
    passive torques ("passive"), springs ("springs"), inertias of rotors ("armature"), torque limits that differ in both
    directions ("effort": the larger is written), limits and losses of planar and floating joints ("limits"). Gravity is
    no part of a URDF; a comment notes one that is not (0, 0, -9.81). The file appears complete or not at all; OSError
    if it cannot be written.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     od.io.write_urdf(arm, f"{folder}/arm.urdf", [od.io.Ball("tip", 0.05)])
    ...     od.load_urdf(f"{folder}/arm.urdf")
    <Model 'pendulum_2': nb=2, nq=2, nv=2>
    """
    target = path_of(path)
    text = urdf_text(model, shapes, drop=drop, world=world, visuals=visuals)
    with whole_file(target) as file:
        file.write_text(text, encoding="utf-8")


def urdf_text(
    model: Model,
    shapes: Sequence[Shape] = (),
    *,
    drop: str | Sequence[str] = (),
    world: bool = False,
    visuals: bool = True,
) -> str:
    """The text that `write_urdf` writes, for `od.parse_urdf` and readers of other libraries.

    >>> od.parse_urdf(od.io.urdf_text(arm)).joint_names
    ('joint1', 'joint2')
    """
    check_model(model, "write_urdf")
    on_bodies = checked_shapes(shapes, model)
    check_names(on_bodies)
    writer = _UrdfWriter(model, truth(world, "write_urdf world"), any(s.frame == WORLD for s in on_bodies))
    writer.add_tree()
    lost = losses(model, writer.left_to_reader)
    words = check_dropped(drop, lost, "write_urdf")
    for shape in on_bodies:
        writer.add_shape(shape)
    if truth(visuals, "write_urdf visuals"):
        writer.add_visuals()
    return writer.text([f"Left out: {lost[word]}." for word in words if word in lost])


def losses(model: Model, left_to_reader: bool) -> dict[str, str]:
    """Descriptions of data that the model has and a URDF cannot hold, by the words of `drop`."""
    dofs, names = model.dofs, model.qd_names
    found = passive_loss(model)
    for word, values in (("springs", dofs.stiffness), ("armature", dofs.armature)):
        dofs_with = [names[k] for k in np.flatnonzero(values)]
        if dofs_with:
            found[word] = f"{'springs' if word == 'springs' else 'inertias of rotors'} of {names_shown(dofs_with)}"
    uneven = [names[k] for k in np.flatnonzero(dofs.tau_max != -dofs.tau_min)]
    if uneven:
        found["effort"] = f"torque limits that differ in both directions, of {names_shown(uneven)}"
    free = []
    for i in range(1, model.nb + 1):
        if not (urdf_kind(model.joints[i]) or (left_to_reader and i == 1)):
            continue
        own = dofs.rows(slice(*model.q_index[i : i + 2]), slice(*model.v_index[i : i + 2]))
        limits = (own["q_lower"], own["q_upper"], own["qd_max"], own["tau_max"])
        if any(np.isfinite(x).any() for x in limits) or own["damping"].any() or own["friction"].any():
            free.append(model.joint_names[i - 1])
    if free:
        found["limits"] = f"limits, damping and friction of the planar or floating joints {names_shown(free)}"
    return found


class _UrdfWriter:
    """The elements of a file, and the names that they have."""

    def __init__(self, model: Model, world: bool, ground_shapes: bool) -> None:
        self.model = model
        self.root = ElementTree.Element("robot", name=Names().new(model.name or "model"))
        self.links, self.joints = Names(), Names()
        self.elements: dict[str, Element] = {}
        """Links by the names of the model's frames."""
        self.joint_names: dict[str, str] = {}
        self.chained: list[str] = []
        on_ground = [i for i, p in model.edges if p == 0]
        frames = any(frame.body == 0 for frame in model.frames.values())
        X = model.X_tree[on_ground[0]]
        here = not X.r.nnz() and np.array_equal(X.E.full(), np.eye(3))
        alone = len(on_ground) == 1 and here and not frames and not ground_shapes and not world
        self.left_to_reader = alone and isinstance(model.joints[on_ground[0]], FloatingBase)

    def add_tree(self) -> None:
        """Links and joints of all bodies and frames."""
        model = self.model
        if not self.left_to_reader:
            grounded = (n for n, f in model.frames.items() if f.body == 0 and is_identity(f.X))
            name = next(grounded, WORLD)
            self.elements[name] = self.elements[WORLD] = self.add_link(name)
        for i, name in enumerate(model.body_names, 1):
            if self.left_to_reader and i == 1:
                self.elements[name] = self.add_link(name)
            else:
                self.add_moved(i)
            self.add_inertial(self.elements[name], i)
        for name, frame in model.frames.items():
            if name in self.elements:
                continue
            self.elements[name] = self.add_link(name)
            self.add_joint(f"{name}_fixed", "fixed", self.link_of(frame.body), self.elements[name], frame.X)
        for mimic in model.mimics:
            joint, other = (self.joint_names[self.first_dof(name)] for name in mimic[:2])
            element = next(e for e in self.root.findall("joint") if e.get("name") == joint)
            child(element, "mimic", joint=other, multiplier=mimic.ratio, offset=mimic.offset)

    def first_dof(self, joint: str) -> str:
        return str(self.model.qd_names[self.model.qd_slice(joint).start])

    def link_of(self, body: int) -> Element:
        return self.elements[self.model.body_names[body - 1] if body else WORLD]

    def add_link(self, name: str) -> Element:
        return child(self.root, "link", name=self.links.new(name))

    def add_inertial(self, link: Element, i: int) -> None:
        m, c, I = mass_and_com(self.model, i)
        if not m and not np.any(I):
            return
        inertial = child(link, "inertial")
        child(inertial, "origin", xyz=c, rpy="0 0 0")
        child(inertial, "mass", value=m)
        child(inertial, "inertia", **{f"i{'xyz'[a]}{'xyz'[b]}": I[a, b] for a in range(3) for b in range(a, 3)})

    def add_joint(self, name: str, kind: str, parent: Element, moved: Element, X: Transform) -> Element:
        joint = child(self.root, "joint", name=self.joints.new(name), type=kind)
        R, p = np.array(X.E.full()).T, np.array(X.r.full()).ravel()
        child(joint, "origin", xyz=p, rpy=rpy_of(R))
        child(joint, "parent", link=str(parent.get("name")))
        child(joint, "child", link=str(moved.get("name")))
        return joint

    def add_moved(self, i: int) -> None:
        """A body, its joint, and what is between the links of a chain."""
        model = self.model
        joint, name, body = model.joints[i], model.joint_names[i - 1], model.body_names[i - 1]
        parent, X = self.link_of(model.parent[i]), model.X_tree[i]
        own = urdf_kind(joint)
        if own:
            self.elements[body] = self.add_link(body)
            element = self.add_joint(name, own, parent, self.elements[body], X)
            if own == "planar":
                child(element, "axis", xyz="0 0 1")
            return
        links = hinges_and_slides(joint, name, "URDF")
        if len(links) > 1:
            self.chained.append(name)
        for k, link in enumerate(links):
            dof = model.qd_names[model.v_index[i] + k]
            last = k == len(links) - 1
            moved = self.add_link(body if last else f"{body}{dof.removeprefix(name)}")
            element = self.add_joint(dof, self.hinge_kind(link, i, k), parent, moved, X)
            self.joint_names[dof] = str(element.get("name"))
            child(element, "axis", xyz=link.axis)
            self.add_dof(element, i, k)
            parent, X = moved, Transform.identity()
        self.elements[body] = parent

    def hinge_kind(self, link: Revolute | Prismatic, i: int, k: int) -> str:
        """ "continuous" for a hinge without limits: URDF demands limits of a revolute joint."""
        at = self.model.q_index[i] + k
        limited = np.isfinite((self.model.dofs.q_lower[at], self.model.dofs.q_upper[at])).any()
        return "continuous" if isinstance(link, Revolute) and not limited else URDF_AXES[type(link)]

    def add_dof(self, element: Element, i: int, k: int) -> None:
        """<limit> and <dynamics> of dof k of joint i."""
        at_q, at_v = self.model.q_index[i] + k, self.model.v_index[i] + k
        dof = {key: float(x[0]) for key, x in self.model.dofs.rows([at_q], [at_v]).items()}
        limits = {"effort": max(dof["tau_max"], -dof["tau_min"]), "velocity": dof["qd_max"]}
        bounded = np.isfinite(list(limits.values())).any()
        if element.get("type") != "continuous":
            limits = {"lower": dof["q_lower"], "upper": dof["q_upper"]} | limits
        elif not bounded:
            limits = {}
        if limits:
            numbers = {key: number_text(np.clip(x, -UNLIMITED, UNLIMITED)) for key, x in limits.items()}
            child(element, "limit", **numbers)
        if dof["damping"] or dof["friction"]:
            child(element, "dynamics", damping=dof["damping"], friction=dof["friction"])

    # Shapes

    def add_shape(self, shape: Shape) -> None:
        """A shape as <collision>; a capsule as a cylinder and two balls."""
        frame_of(self.model, shape.frame, type(shape).__name__)
        link = self.elements[shape.frame]
        self.add_geometry(link, "collision", shape.kind, shape.size, shape.R, np.array(shape.center), shape.name)

    def add_geometry(
        self, link: Element, tag: str, kind: str, size: Sequence[float], R: Array, p: Array, name: str | None = None
    ) -> list[Element]:
        """Elements <collision> or <visual>. size: half sizes of a box, radius and half length."""
        if kind == "capsule":
            radius, half = size
            ends = (p + half * R[:, 2], p - half * R[:, 2])
            made = self.add_geometry(link, tag, "cylinder", size, R, p, name)
            for end in ends:
                made += self.add_geometry(link, tag, "sphere", (radius,), np.eye(3), end)
            return made
        element = child(link, tag, name=name)
        child(element, "origin", xyz=p, rpy=rpy_of(R))
        geometries: dict[str, dict[str, Any]] = {
            "box": {"size": 2 * np.array(size)}, "sphere": {"radius": size[0]},
            "cylinder": {"radius": size[0], "length": 2 * size[-1]},
        }  # fmt: skip
        child(child(element, "geometry"), kind, **geometries[kind])
        return [element]

    def add_visuals(self) -> None:
        for file in self.model.shape_files:
            try:
                visuals = read_shapes(file.path, folder=file.folder)
            except OSError as error:
                raise ModelError(
                    f"write_urdf: the shapes of {file.path} cannot be read ({error.strerror}); write visuals=False"
                ) from None
            for visual in visuals:
                link = self.elements.get(file.prefix + visual.link)
                if link is not None:
                    self.add_visual(link, visual, file.scale)

    def add_visual(self, link: Element, visual: BodyShape, scale: float) -> None:
        size, p = scale * np.array(visual.size), scale * np.array(visual.p)
        if visual.kind == "mesh":
            made = child(link, "visual")
            child(made, "origin", xyz=p, rpy=rpy_of(visual.R))
            name = str(visual.path) if visual.path is not None and "://" not in visual.mesh else visual.mesh
            child(child(made, "geometry"), "mesh", filename=name, scale=size)
            all_made = [made]
        else:
            halves = {"box": (0.5, 0.5, 0.5), "sphere": (1.0,)}.get(visual.kind, (1.0, 0.5))
            all_made = self.add_geometry(link, "visual", visual.kind, tuple(size * halves), visual.R, p)
        for element in all_made if visual.color is not None else ():
            child(child(element, "material", name=""), "color", rgba=visual.color)

    def text(self, notes: list[str]) -> str:
        """The whole file, with what there is to tell about it in a comment at its beginning."""
        if self.left_to_reader:
            notes.append("The first link floats: load it with root=od.FloatingBase().")
        if self.chained:
            notes.append(
                f"Links without mass stand between the hinges and slides of {names_in_message(tuple(self.chained))}; "
                "keep them."
            )
        if tuple(self.model.gravity) != EARTH:
            notes.append(f"Gravity is ({text_of(self.model.gravity)}) m/s^2.")
        first_comment(self.root, notes)
        return xml_text(self.root)


def urdf_kind(joint: Joint) -> str:
    """URDF's own type for a joint of several dofs; empty if it has none."""
    if isinstance(joint, Planar):
        return "planar"
    return "floating" if isinstance(joint, FloatingBase) and joint.has_quaternion else ""


def is_identity(X: Transform) -> bool:
    return bool(np.array_equal(X.E.full(), np.eye(3)) and not np.any(X.r.full()))


def rpy_of(R: Array) -> tuple[float, float, float]:
    """Roll, pitch and yaw of R = Rz(yaw) Ry(pitch) Rx(roll), right to rounding at a pitch of 90 degrees too: there yaw
    alone is arbitrary, and the other two are those of what it leaves."""
    yaw = float(np.arctan2(R[1, 0], R[0, 0]))
    c, s = np.cos(yaw), np.sin(yaw)
    rest = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) @ R
    return float(np.arctan2(-rest[1, 2], rest[1, 1])), float(np.arctan2(-rest[2, 0], rest[0, 0])), yaw
