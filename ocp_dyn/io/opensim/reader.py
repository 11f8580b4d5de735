"""OpenSim models -> Model: the tree of joints, inertias, coordinates, and what belongs to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import numpy as np

from ..._base.checks import choice
from ..._base.files import file_to_read
from ..._base.types import Array, ModelError, repr_in_message, sequence, truth
from ...mechanism import Annotations, Model, PrescribedMotion
from ...mechanism.annotations import held_muscle
from ...mechanism.builder import WORLD, ModelBuilder
from ..urdf import at_place
from ..xml import XmlElement
from .constraints import constraint_of, is_enforced
from .document import Components, all_objects, number_of, numbers_of, opensim_model, short, text_of, vector_of
from .forces import Forces
from .frames import GROUND, Frames, Placed, rotation_xyz
from .joints import Coordinate, JointEnds, Link, angles_of, coordinates_of, ends_of, links_of
from .notes import notes_of
from .paths import markers_of, wraps_of

UP = ("z", "y")
TO_Z_UP = rotation_xyz(np.array([np.pi / 2, 0.0, 0.0]))
"""Rotation of the ground of a file, y up, in a world with z up: (x, y, z) becomes (x, -z, y)."""
DEFAULT = "default"
"""Name of the configuration of the default values."""


def load_osim(
    path: str | PathLike[str],
    *,
    up: Literal["z", "y"] = "z",
    keep_locked: bool = False,
    drop: Sequence[str] = (),
) -> Model:
    """The model of an OpenSim file, .osim, of the document versions 20000 to 49999 (OpenSim 2 to 4).

    Bodies, joints, markers and muscles have the file's names, and entries of q and qd those of its coordinates. All
    speeds are rates of coordinates, those of Ball-, Free- and EllipsoidJoints too, where OpenSim's are angular
    velocities: they are Euler angles, x then y then z, with the singularity at the middle one.

    up: the file's ground has y up, ours z: with "z" (default) a point (x, y, z) of the file's ground is (x, -z, y)
    here, and the frame "ground" has the file's axes; "y" keeps them. keep_locked: coordinates that the file locks are
    dofs; by default they are held at their values, unless a coupler moves them. drop: classes of forces and
    constraints that are left out, by their names in the file, `drop=("BushingForce",)`.

    Markers, muscles with their paths, wrap objects, and the default configuration are kept as `model.markers`,
    `model.muscles`, `model.wraps`, `model.configurations["default"]`, motions that it prescribes as functions of time
    as `model.prescribed` (their coordinates stay dofs); constraints as `model.constraints`, which an
    algorithm uses where it is given them. Ranges are limits, as in Moco. Coordinate actuators give limits of efforts;
    springs, limit forces, formulas of coordinates and bushings are in `od.passive_force`, and count with
    `loads=od.Loads(passive=True)`. Contacts come from `od.io.osim_spheres`.
    Geometry, controllers, probes and the credits are not kept. `model.notes` tells what is turned or left out.

    Raises ModelError (file, line, element, what, remedy) for everything wrong in the file, and for what would change
    the motion and is not read; OSError if it cannot be read.

    >>> import pathlib, tempfile
    >>> body = '<Body name="rod"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body>'
    >>> ends = "<socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/rod</socket_child_frame>"
    >>> pin = f'<PinJoint name="hinge">{ends}<coordinates><Coordinate name="angle"/></coordinates></PinJoint>'
    >>> sets = f"<BodySet><objects>{body}</objects></BodySet><JointSet><objects>{pin}</objects></JointSet>"
    >>> text = f'<OpenSimDocument Version="40000"><Model name="door">{sets}</Model></OpenSimDocument>'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = pathlib.Path(folder, "door.osim").write_text(text)
    ...     od.load(f"{folder}/door.osim").qd_names
    ('angle',)
    """
    file = file_to_read(path)
    if str(file).lstrip().startswith("<"):
        raise ModelError("a path was expected, got what looks like the text of a model: use parse_osim")
    return parse_osim(file.read_bytes(), up=up, keep_locked=keep_locked, drop=drop, source=str(file))


def parse_osim(
    text: str | bytes,
    *,
    up: Literal["z", "y"] = "z",
    keep_locked: bool = False,
    drop: Sequence[str] = (),
    source: str = "OpenSim text",
) -> Model:
    """The model of an OpenSim file given as text; `source` is the name that opens error messages. See `load_osim`.

    >>> od.io.parse_osim("<Model/>")
    Traceback (most recent call last):
    ...
    ocp_dyn._base.types.ModelError: OpenSim text, line 1: <Model>: the outermost element must be <OpenSimDocument>; ...
    """
    choice(up, UP, "up")
    truth(keep_locked, "keep_locked")
    if not isinstance(source, str):
        raise TypeError(f"source must be the name of the text, got {repr_in_message(source)}")
    given = (drop,) if isinstance(drop, str) else tuple(sequence(drop, "drop must be a tuple of names of classes"))
    for word in given:
        if not isinstance(word, str):
            raise TypeError(f"drop must be a tuple of names of classes, got {repr_in_message(word)} in it")
    model, _ = opensim_model(text, source)
    return _Reading(model, up, keep_locked, given, source).model()


class _Reading:
    """One reading of a file: its parts, its frames, the coordinates that are locked."""

    def __init__(self, model: XmlElement, up: str, keep_locked: bool, drop: tuple[str, ...], source: str) -> None:
        self.element, self.source, self.drop = model, source, drop
        self.parts = Components(model)
        self.frames = Frames(self.parts)
        self.ground = TO_Z_UP if up == "z" else np.eye(3)
        joints = [(joint, "") for joint in self.parts.joints] + old_joints(self.frames)
        self.joints = _directed([ends_of(joint, child, self.frames) for joint, child in joints])
        self.couplers = [e for e in self.parts.constraints if e.tag not in drop and is_enforced(e)]
        self.followers = {text_of(e, "dependent_coordinate_name") for e in self.couplers}
        every = [c for ends in self.joints for c in coordinates_of(ends.joint)]
        self.locks = not keep_locked
        self.links = [link for ends in self.joints for link in self._links(ends)]
        self.coordinates = self._coordinates(every)

    def _links(self, ends: JointEnds) -> list[Link]:
        coupled = any(c.name in self.followers for c in coordinates_of(ends.joint))
        return links_of(ends, self.locks and not coupled)

    def _coordinates(self, every: list[Coordinate]) -> dict[str, Coordinate]:
        """All coordinates by name, those that the links have added too."""
        found: dict[str, Coordinate] = {}
        for one in (*every, *(c for link in self.links for c in link.coordinates if c not in every)):
            if one.name in found:
                raise ModelError(
                    f"{self.source}, line {one.line}: the coordinate {repr_in_message(one.name)} stands in line "
                    f"{found[one.name].line} too; names must be unique"
                )
            found[one.name] = one
        return found

    def model(self) -> Model:
        builder = ModelBuilder(self.element.get("name").strip(), self._gravity())
        builder.add_frame(GROUND, WORLD, rotation=self.ground)
        for link in self._in_order():
            self._add(builder, link)
        angles = {name: angle for ends in self.joints for name, angle in angles_of(ends).items()}
        forces = Forces(self.parts.forces, self.drop, self.frames, angles)
        with at_place(self.source):
            tree = builder.build()
        free = set(tree.q_names)
        held = {c.name: c.default if c.locked is None else c.locked for c in self.coordinates.values()}
        held = {name: x for name, x in held.items() if name not in free}
        tree = forces.on(tree, held)
        muscles = [held_muscle(muscle, held) for muscle in forces.muscles]
        annotations = Annotations(
            markers_of(self.parts.markers, self.frames),
            tuple(muscle for muscle in muscles if muscle is not None),
            wraps_of(self._owners()),
            ((DEFAULT, tuple(self._default(name) for name in tree.q_names)),),
            tuple(PrescribedMotion(c.name, c.motion) for c in self.coordinates.values() if c.motion and c.name in free),
            notes_of(self.parts, (ends.joint for ends in self.joints), self.ground is TO_Z_UP),
        )
        constraints = self._constraints(tree, held)
        with at_place(self.source):
            return replace(tree, annotations=annotations, constraints=constraints)

    def _default(self, name: str) -> float:
        return self.coordinates[name].default

    def _gravity(self) -> tuple[float, ...]:
        g = vector_of(self.element, "gravity", (0.0, -9.80665, 0.0))
        return tuple(self.ground @ g)

    def _constraints(self, tree: Model, held: dict[str, float]) -> tuple[Any, ...]:
        found = []
        for _, element in all_objects(self.couplers, "constraint", unnamed=True):
            one = constraint_of(element, self.frames, self.coordinates)
            left = one.within(tree.frames, held, tree.q_names)
            if left is not None:
                found.append(left)
        return tuple(found)

    def _owners(self) -> Iterator[tuple[XmlElement, Placed]]:
        """Bodies, the ground and offset frames, which may carry wrap objects."""
        for name, body in self.frames.bodies.items():
            yield body, Placed(name, np.eye(3), np.zeros(3))
        for ground in (*self.element.all("Ground"), *(b for b in self.parts.bodies if b.get("name") == GROUND)):
            yield ground, Placed(GROUND, np.eye(3), np.zeros(3))
        for element in self.frames.elements.values():
            if element.child("WrapObjectSet") is not None:
                yield element, self.frames.of(element, element.get("name"), "frame")

    # The tree

    def _in_order(self) -> list[Link]:
        """The links, parents before children, siblings in the file's order; ModelError for what is no tree."""
        moved: dict[str, Link] = {}
        children: dict[str, list[Link]] = {}
        for link in self.links:
            if link.body in moved or link.body == GROUND:
                other = moved[link.body].joint_name if link.body in moved else "none can be moved"
                raise link.element.fault(
                    f"its child {repr_in_message(link.body)} is the child of another joint, "
                    f"{repr_in_message(other)}: open the loop at one joint, and close it by a WeldConstraint or "
                    "PointConstraint"
                )
            moved[link.body] = link
            children.setdefault(link.parent, []).append(link)
        for name, body in self.frames.bodies.items():
            if name not in moved:
                raise body.fault("no joint connects it to the rest; add a joint, such as a FreeJoint")
        order: list[Link] = []
        ahead = children.get(GROUND, [])[::-1]
        while ahead:
            link = ahead.pop()
            order.append(link)
            ahead.extend(reversed(children.get(link.body, [])))
        if len(order) < len(self.links):
            lost = next(link for link in self.links if link not in order)
            raise lost.element.fault(f"its child {repr_in_message(lost.body)} hangs on a ring of joints, not on ground")
        return order

    def _add(self, builder: ModelBuilder, link: Link) -> None:
        own = link.coordinates
        body = self.frames.bodies.get(link.body)
        inertial = inertial_of(body) if body is not None else {}
        options: dict[str, Any] = {}
        if own:
            options = {"lower": [c.lower for c in own], "upper": [c.upper for c in own],
                       "coordinates": [c.name for c in own]}  # fmt: skip
        with at_place(f"{link.element.place}: {link.element.what}"):
            builder.add_body(
                link.body, link.joint, link.parent, joint_name=link.joint_name, origin=link.p, rotation=link.R,
                inertia_check=False, **inertial, **options,
            )  # fmt: skip


def _directed(joints: list[JointEnds]) -> list[JointEnds]:
    """The joints, reversed where the way from the ground comes to their child first."""
    reached, found = {GROUND}, list(joints)
    waiting = True
    while waiting:
        waiting = False
        for reverse in (False, True):
            for k, one in enumerate(found):
                near, far = (one.inner, one.outer) if reverse else (one.outer, one.inner)
                if near.body in reached and far.body not in reached:
                    reached.add(far.body)
                    found[k] = one._replace(reverse=reverse)
                    waiting = True
            if waiting:
                break
    return found


def old_joints(frames: Frames) -> list[tuple[XmlElement, str]]:
    """Joints that stand in their child bodies, as in documents before 30500, and the names of these bodies."""
    return [(joint, name) for name, body in frames.bodies.items() for holder in body.all("Joint") for joint in holder]


def inertial_of(body: XmlElement) -> dict[str, Any]:
    """Mass [kg], center [m] and inertia about it [kg m^2] of a body.

    A body without mass has no inertia, and one with moments that no body can have keeps them, as in OpenSim.
    """
    mass = number_of(body, "mass", 0.0)
    if mass < 0:
        raise body.fault(f"its mass must not be negative, got {mass:g}")
    com = vector_of(body, "mass_center")
    old = [number_of(body, f"inertia_{letters}", 0.0) for letters in ("xx", "yy", "zz", "xy", "xz", "yz")]
    given = numbers_of(body, "inertia", 6, short(np.array(old)))
    if not np.all(np.isfinite(given)):
        raise body.fault("its <inertia> must be finite")
    xx, yy, zz, xy, xz, yz = given
    I: Array = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if mass == 0:
        I = np.zeros((3, 3))
    return {"mass": mass, "com": com, "inertia": I}
