"""Joints of an OpenSim model: their coordinates, and the joints of this library that move as they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from casadi import DM

from ..._base.types import Array, ModelError, repr_in_message, suggestion
from ...joints import (
    ConstantFunction,
    Fixed,
    FunctionJoint,
    Joint,
    JointAxis,
    LinearFunction,
    Prismatic,
    Revolute,
    ScalarFunction,
)
from ..xml import XmlElement
from .document import (
    UNBOUNDED,
    flag_of,
    function_of,
    name_of,
    number_of,
    numbers_of,
    objects_of,
    short,
    socket_of,
    text_of,
    vector_of,
)
from .frames import Frames, Placed, rotation_xyz

COUNTS = {
    "WeldJoint": 0, "PinJoint": 1, "SliderJoint": 1, "UniversalJoint": 2, "BallJoint": 3, "GimbalJoint": 3,
    "EllipsoidJoint": 3, "PlanarJoint": 3, "ScapulothoracicJoint": 4, "FreeJoint": 6,
}  # fmt: skip
"""Coordinates of the joints of one kind; a CustomJoint has those of its axes."""
JOINTS = (*COUNTS, "CustomJoint")
AXES = tuple(f"{kind}{k}" for kind in ("rotation", "translation") for k in (1, 2, 3))
"""Names of the axes of a CustomJoint."""
IDENTITY = LinearFunction((1.0,), 0.0)
TURN = rotation_xyz(np.array([0.0, 0.0, np.pi / 2]))


@dataclass(frozen=True)
class Coordinate:
    """A coordinate of a file: default value, range, the value at which it is locked, its prescribed motion; None: it
    has none."""

    name: str
    default: float
    lower: float
    upper: float
    locked: float | None
    line: int
    motion: ScalarFunction | None = None


class Link(NamedTuple):
    """A body of our tree: a joint on a parent at (R, p), the names of its coordinates, and the joint's name."""

    body: str
    parent: str
    joint: Joint
    R: Array
    p: Array
    coordinates: tuple[Coordinate, ...]
    joint_name: str
    element: XmlElement


def coordinate_of(element: XmlElement) -> Coordinate:
    """The coordinate of an element. One that is prescribed to be constant is locked."""
    default = number_of(element, "default_value", number_of(element, "initial_value", 0.0))
    lower, upper = (
        float(x) if abs(x) < UNBOUNDED else float(np.copysign(np.inf, x))
        for x in numbers_of(element, "range", 2, (-np.inf, np.inf))
    )
    if lower > upper:
        raise element.fault(f"its <range> must rise, got {lower:g} {upper:g}")
    locked = default if flag_of(element, "locked") else None
    motion = None
    if flag_of(element, "prescribed") and locked is None:
        motion = function_of(element, "prescribed_function")
        if motion is None:
            raise element.fault("it is prescribed without a <prescribed_function>; add one, or do not prescribe it")
        if isinstance(motion, ConstantFunction):
            locked, motion = motion.value, None
    return Coordinate(name_of(element), default, lower, upper, locked, element.line, motion)


def coordinates_of(joint: XmlElement) -> list[Coordinate]:
    """The coordinates that a joint lists, old and new."""
    elements = [*objects_of(joint, "coordinates"), *objects_of(joint, "CoordinateSet")]
    return [coordinate_of(element) for element in elements if element.tag == "Coordinate"]


class JointEnds(NamedTuple):
    """A joint and its frames on its parent and on its child. reverse: the tree comes to the child first, so that the
    joint moves its parent."""

    joint: XmlElement
    outer: Placed
    inner: Placed
    reverse: bool = False

    @property
    def moved(self) -> str:
        """The body that the joint moves."""
        return self.outer.body if self.reverse else self.inner.body


def links_of(ends: JointEnds, locked: bool) -> list[Link]:
    """The bodies that a joint adds: one, or two for a joint that needs a massless one. locked: coordinates that are
    locked are left out."""
    joint = ends.joint
    coordinates = _all_coordinates(ends)
    try:
        return _links(ends, _name_of(ends), coordinates, locked)
    except (ValueError, TypeError) as error:
        if isinstance(error, ModelError):
            raise
        raise joint.fault(str(error)) from None


def _name_of(ends: JointEnds) -> str:
    return ends.joint.get("name").strip() or f"{ends.inner.body}_joint"


def _all_coordinates(ends: JointEnds) -> list[Coordinate]:
    """The coordinates of a joint, also those that the file leaves out, with the names that OpenSim gives them."""
    joint = ends.joint
    if joint.tag not in JOINTS:
        raise joint.fault(f"joints of the class {joint.tag} are not read{suggestion(joint.tag, JOINTS)}")
    coordinates = coordinates_of(joint)
    expected = COUNTS.get(joint.tag)
    name = _name_of(ends)
    if expected is not None and len(coordinates) < expected:
        coordinates += [
            Coordinate(f"{name}_coord_{k}", 0.0, -np.inf, np.inf, None, joint.line)
            for k in range(len(coordinates), expected)
        ]
    if expected is not None and len(coordinates) > expected:
        raise joint.fault(f"it has {len(coordinates)} coordinates, expected {expected}")
    return coordinates


def angles_of(ends: JointEnds) -> dict[str, bool]:
    """Whether each coordinate of a joint is an angle; False for lengths, and for those that are neither.

    OpenSim has no units for a coordinate of a CustomJoint: one is an angle if the last axis that it alone moves, one to
    one, is an axis of rotation.
    """
    joint = ends.joint
    own = _all_coordinates(ends)
    if joint.tag == "ScapulothoracicJoint":
        return {c.name: True for c in own}
    rotations, translations, _, own = _motion(joint, own)
    found = {c.name: False for c in own}
    for axis in (*rotations, *translations):
        function = axis.function
        if not isinstance(function, LinearFunction) or np.size(function.slopes) != 1:
            continue
        if abs(np.ravel(function.slopes)[0]) == 1 and axis.coordinates[0] < len(own):
            found[own[axis.coordinates[0]].name] = axis in rotations
    return found


def ends_of(joint: XmlElement, child: str, frames: Frames) -> JointEnds:
    """The frames of a joint. child: the body in which an old document holds the joint, which gives places in its
    bodies; there <reverse> swaps the frames."""
    if child:
        base = frames.of(joint, socket_of(joint, "parent_body", "parent_body"), "parent body")
        own = frames.of(joint, child, "child body")
        R = rotation_xyz(short(vector_of(joint, "orientation_in_parent")))
        p = short(vector_of(joint, "location_in_parent"))
        outer = Placed(base.body, base.R @ R, base.p + base.R @ p)
        tags = [
            tag if joint.child(f"{tag}_in_child") is None else f"{tag}_in_child" for tag in ("orientation", "location")
        ]
        inner = Placed(own.body, rotation_xyz(short(vector_of(joint, tags[0]))), short(vector_of(joint, tags[1])))
        return JointEnds(joint, inner, outer) if flag_of(joint, "reverse") else JointEnds(joint, outer, inner)
    return JointEnds(
        joint,
        frames.of(joint, socket_of(joint, "parent_frame"), "parent frame"),
        frames.of(joint, socket_of(joint, "child_frame"), "child frame"),
    )


def _links(ends: JointEnds, name: str, coordinates: Sequence[Coordinate], locked: bool) -> list[Link]:
    def held(own: Sequence[Coordinate]) -> dict[int, float]:
        return {k: c.locked for k, c in enumerate(own) if locked and c.locked is not None}

    joint, outer, inner, reverse = ends
    if joint.tag == "ScapulothoracicJoint":
        if reverse:
            raise joint.fault("its child is nearer to the ground than its parent; swap them")
        return _scapulothoracic(joint, name, outer, inner, coordinates, held)
    rotations, translations, radii, own = _motion(joint, coordinates)
    made = placed_joint(rotations, translations, radii, outer, inner, len(own), held(own), reverse)
    free = tuple(c for k, c in enumerate(own) if k not in held(own))
    parent = inner if reverse else outer
    return [Link(ends.moved, parent.body, *made, free, name, joint)]


def _motion(
    joint: XmlElement, coordinates: Sequence[Coordinate]
) -> tuple[list[JointAxis], list[JointAxis], Array, list[Coordinate]]:
    """Axes of rotation and translation, radii, and coordinates in their order."""
    own = list(coordinates)

    def axes(letters: str, first: int) -> list[JointAxis]:
        return [JointAxis(letter, IDENTITY, (first + k,)) for k, letter in enumerate(letters)]

    none: Array = np.zeros(3)
    plain = {
        "WeldJoint": ("", ""), "PinJoint": ("z", ""), "SliderJoint": ("", "x"), "UniversalJoint": ("xy", ""),
        "BallJoint": ("xyz", ""), "GimbalJoint": ("xyz", ""), "EllipsoidJoint": ("xyz", ""),
        "PlanarJoint": ("z", "xy"), "FreeJoint": ("xyz", "xyz"),
    }  # fmt: skip
    if joint.tag in plain:
        turns, slides = plain[joint.tag]
        radii = vector_of(joint, "radii_x_y_z", None) if joint.tag == "EllipsoidJoint" else none
        return axes(turns, 0), axes(slides, len(turns)), radii, own
    return (*_spatial_transform(joint, own), none, own)  # own is put in order there


def _spatial_transform(joint: XmlElement, own: list[Coordinate]) -> tuple[list[JointAxis], list[JointAxis]]:
    """The axes of a CustomJoint. `own` comes into the order in which the axes name the coordinates first."""
    found = joint.child("SpatialTransform")
    if found is None:
        raise joint.fault("it has no <SpatialTransform>; add one")
    axes = found.all("TransformAxis") or objects_of(found, "TransformAxisSet")
    by_name = {axis.get("name"): axis for axis in axes}
    if len(axes) < 6 and len(by_name) == len(axes) and set(by_name) <= set(AXES):  # the others stand still
        axes = [
            by_name.get(name) or XmlElement("TransformAxis", {"name": name}, found.line, found.source) for name in AXES
        ]
    if len(axes) != 6:
        raise found.fault(f"it has {len(axes)} <TransformAxis>, expected 6: three rotations, three translations")
    known = {c.name: c for c in own}
    order: dict[str, None] = {}
    named = [text_of(axis, "coordinates").split() for axis in axes]
    for axis, names in zip(axes, named, strict=True):
        for name in names:
            if name not in known:
                raise axis.fault(f"the joint has no coordinate {repr_in_message(name)}{suggestion(name, known)}")
            order.setdefault(name)
    unused = [name for name in known if name not in order]
    if unused:
        raise joint.fault(f"no <TransformAxis> uses its coordinate {repr_in_message(unused[0])}; delete it")
    own[:] = [known[name] for name in order]
    index = {name: k for k, name in enumerate(order)}
    made = [
        _axis(axis, tuple(index[name] for name in names), k)
        for k, (axis, names) in enumerate(zip(axes, named, strict=True))
    ]
    return made[:3], made[3:]


def _axis(axis: XmlElement, coordinates: tuple[int, ...], number: int) -> JointAxis:
    direction = vector_of(axis, "axis", tuple(np.eye(3)[number % 3]))
    function = function_of(axis)
    if function is None:
        function = IDENTITY if coordinates else ConstantFunction(0.0)
    try:
        if isinstance(function, ConstantFunction):
            return JointAxis(direction, function, ())
        return JointAxis(direction, function, coordinates)
    except (ValueError, TypeError) as error:
        raise axis.fault(str(error)) from None


def placed_joint(
    rotations: Sequence[JointAxis],
    translations: Sequence[JointAxis],
    radii: Array,
    outer: Placed,
    inner: Placed,
    size: int,
    held: Mapping[int, float],
    reverse: bool = False,
) -> tuple[Joint, Array, Array]:
    """The joint between two frames, with its place (R, p) in the parent, so that the body keeps its own frame.

    Hinges and slides take the place of joints that move as they do; `FunctionJoint` is all others. reverse: the body is
    that of the outer frame.
    """
    turns = [axis for axis in rotations if axis.function != ConstantFunction(0.0)]
    slides = [axis for axis in translations if axis.function != ConstantFunction(0.0)]
    base, own = (inner, outer) if reverse else (outer, inner)
    R, p = base.R @ own.R.T, base.p
    if not size and not turns and not slides:
        return Fixed(), R, p - R @ own.p
    if size == 1 and not held and len(turns) + len(slides) == 1 and not np.any(radii):
        axis = (turns or slides)[0]
        along = own.R @ np.array(axis.vector) * (-1 if reverse else 1)
        if axis.function == IDENTITY and slides:
            return Prismatic(along), R, p - R @ own.p
        if axis.function == IDENTITY and not np.any(own.p):
            return Revolute(along), R, p
    pose = (tuple(own.R.ravel()), tuple(own.p))
    if len(held) < size:
        labels = tuple(f"q{k}" if size > 1 else "" for k in range(size))
        whole = FunctionJoint(turns, slides, labels, radii, pose, reverse)
        return whole.held(held) if held else whole, base.R, base.p
    # nothing is left to move it: it is where a coordinate that is held at zero leaves it
    probe = JointAxis("x", IDENTITY, (size,))
    still = FunctionJoint(turns, [*slides, probe], tuple(map(str, range(size + 1))), radii, pose, reverse)
    XJ = still.jcalc(DM([*(held[k] for k in range(size)), 0.0]), DM(size + 1, 1)).XJ
    E, r = np.array(DM(XJ.E).full()), np.array(DM(XJ.r).full()).ravel()
    return Fixed(), base.R @ E.T, base.p + base.R @ r


def _scapulothoracic(
    joint: XmlElement, name: str, outer: Placed, inner: Placed, coordinates: Sequence[Coordinate], held: object
) -> list[Link]:
    """An ellipsoid joint whose frames are a quarter turn about z away, then a hinge for winging.

    The hinge turns about (-sin d, cos d, 0) through (ox, oy, 0) of the moved frame, and a massless body lies between
    [Seth et al. 2016; OpenSim's ScapulothoracicJoint].
    """
    rx, ry, rz = vector_of(joint, "thoracic_ellipsoid_radii_x_y_z", None)
    ox, oy = numbers_of(joint, "scapula_winging_axis_origin", 2, None)
    d = number_of(joint, "scapula_winging_axis_direction")
    between = f"{name}_ellipsoid"
    own, winging = tuple(coordinates[:3]), coordinates[3]
    axes = [JointAxis(letter, IDENTITY, (k,)) for k, letter in enumerate("xyz")]
    first_held: dict[int, float] = held(own)  # type: ignore[operator]
    last_held: dict[int, float] = held((winging,))  # type: ignore[operator]
    F = Placed(outer.body, outer.R @ TURN, outer.p)
    M = Placed(between, TURN, np.zeros(3))
    first = placed_joint(axes, [], np.array([ry, rx, rz]), F, M, 3, first_held)
    hinge = Placed(between, np.eye(3), np.array([ox, oy, 0.0]))
    # the hinge's moved frame lies at the same place in the child, whose own joint frame is `inner`
    moved = Placed(inner.body, inner.R, inner.p + inner.R @ np.array([ox, oy, 0.0]))
    axis = JointAxis((-np.sin(d), np.cos(d), 0.0), IDENTITY, (0,))
    last = placed_joint([axis], [], np.zeros(3), hinge, moved, 1, last_held)
    free = tuple(c for k, c in enumerate(own) if k not in first_held)
    last_free = () if last_held else (winging,)
    return [
        Link(between, outer.body, *first, free, between, joint),
        Link(inner.body, between, *last, last_free, name, joint),
    ]
