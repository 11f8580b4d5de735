"""Bodies, frames that are welded to them, and joints with their coordinates, of a written OpenSim document."""

from __future__ import annotations

from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from casadi import DM

from ...._base.types import Array, ModelError, repr_in_message
from ....joints import (
    ConstantFunction,
    Cylindrical,
    FloatingBase,
    FunctionJoint,
    Helical,
    Joint,
    JointAxis,
    LinearFunction,
    PolynomialFunction,
    Prismatic,
    Revolute,
    Spherical,
)
from ....mechanism.builder import WORLD
from ....spatial_algebra.rotations import quaternion_matrix
from ..constraints import across
from ..frames import GROUND
from ..reader import DEFAULT
from .elements import (
    Coordinate,
    Element,
    Target,
    angles_xyz,
    checked_name,
    is_name,
    pose_of,
    put,
    put_function,
    put_offset,
)

UNBOUNDED = 99999.9
"""The end of a range that OpenSim writes for none."""
IDENTITY = LinearFunction((1.0,), 0.0)
PLAIN = tuple(JointAxis(letter, IDENTITY, (k,)) for k, letter in enumerate("xyz"))
"""The axes of OpenSim's joints that turn about x, y and z."""
UNMOVED = (np.eye(3), np.zeros(3))


class Motion(NamedTuple):
    """Motion of a joint: its class in OpenSim, its axes, the pose of the moved frame in the body, whether the body is
    on the fixed side."""

    kind: str
    turns: tuple[JointAxis, ...]
    slides: tuple[JointAxis, ...]
    pose: tuple[Array, Array] = UNMOVED
    reverse: bool = False


def put_tree(bodies: Element, joints: Element, target: Target) -> None:
    """All bodies with their joints, then frames as massless bodies on WeldJoints, but for those whose names OpenSim
    does not take."""
    model = target.model
    for i, _ in model.edges:
        _put_body(bodies, target, i)
        put_joint(joints, target, i)
    taken = set(model.joint_names)
    for frame in model.frames.values():
        if frame.name in (GROUND, WORLD, *model.body_names) or not is_name(frame.name):
            continue
        made = ElementTree.SubElement(bodies, "Body", name=frame.name)
        for tag, size in (("mass", 1), ("mass_center", 3), ("inertia", 6)):
            put(made, tag, (0.0,) * size)
        name = f"{frame.name}_weld"
        while name in taken:
            name += "_"
        taken.add(name)
        weld = ElementTree.SubElement(joints, "WeldJoint", name=name)
        R, p = pose_of(frame.X)
        if not frame.body:
            R, p = target.axes.T @ R, target.axes.T @ p
        _put_ends(weld, name, (_body_path(target, frame.body), R, p), (f"/bodyset/{frame.name}", *UNMOVED))


def _body_path(target: Target, i: int) -> str:
    return target.place(target.model.body_names[i - 1])[0] if i else "/ground"


def _put_body(parent: Element, target: Target, i: int) -> None:
    body = target.model.I[i]
    c, I = body.central()
    J = np.array(DM(I).full())
    made = ElementTree.SubElement(parent, "Body", name=checked_name(target.model.body_names[i - 1], "body"))
    put(made, "mass", float(body.m))
    put(made, "mass_center", c.full())
    put(made, "inertia", [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])


def put_joint(parent: Element, target: Target, i: int) -> None:
    """A joint, between offset frames in its parent and its child."""
    model = target.model
    joint, p = model.joints[i], model.parent[i]
    name = checked_name(model.joint_names[i - 1], "joint")
    motion = motion_of(joint, name)
    R, r = pose_of(model.X_tree[i])
    if not p:
        R, r = target.axes.T @ R, target.axes.T @ r
    made = ElementTree.SubElement(parent, motion.kind, name=name)
    own = _coordinates(target, i, motion)
    target.coordinates += own
    coordinates = ElementTree.SubElement(made, "coordinates")
    for one, default in zip(own, _defaults(target, i, motion), strict=True):
        _put_coordinate(coordinates, target, one, default)
    ends = ((_body_path(target, p), R, r), (_body_path(target, i), *motion.pose))
    _put_ends(made, name, *ends, reverse=motion.reverse)
    if motion.kind == "EllipsoidJoint":
        put(made, "radii_x_y_z", joint.radii)  # type: ignore[attr-defined]
    if motion.kind != "CustomJoint":
        return
    transform = ElementTree.SubElement(made, "SpatialTransform")
    for kind, axes in (("rotation", _filled(motion.turns)), ("translation", _filled(motion.slides))):
        for k, axis in enumerate(axes, 1):
            row = ElementTree.SubElement(transform, "TransformAxis", name=f"{kind}{k}")
            put(row, "coordinates", " ".join(own[c].name for c in axis.coordinates))
            put(row, "axis", axis.vector)
            put_function(ElementTree.SubElement(row, "function"), axis.function, name)


Placed = tuple[str, Array, Array]


def _put_ends(joint: Element, name: str, parent: Placed, child: Placed, reverse: bool = False) -> None:
    """The frames of a joint. reverse: the joint of the file moves the parent of the tree."""
    names = (f"{name}_parent_offset", f"{name}_child_offset")
    outer, inner = names[:: -1 if reverse else 1]
    put(joint, "socket_parent_frame", outer)
    put(joint, "socket_child_frame", inner)
    frames = ElementTree.SubElement(joint, "frames")
    for frame, end in zip(names, (parent, child), strict=True):
        put_offset(frames, frame, *end)


def _put_coordinate(parent: Element, target: Target, one: Coordinate, default: float) -> None:
    made = ElementTree.SubElement(parent, "Coordinate", name=one.name)
    put(made, "default_value", default)
    dofs = target.model.dofs
    limits = (-np.inf, np.inf) if one.entry is None else (dofs.q_lower[one.entry], dofs.q_upper[one.entry])
    put(made, "range", np.clip(limits, -UNBOUNDED, UNBOUNDED))
    for motion in target.model.prescribed:
        if one.entry is not None and motion.name == one.name:
            function = motion.function
            if isinstance(function, ConstantFunction):  # OpenSim's reader and ours take a Constant as a lock
                function = PolynomialFunction((function.value,))
            put_function(ElementTree.SubElement(made, "prescribed_function"), function, one.name)
            put(made, "prescribed", True)


def _coordinates(target: Target, i: int, motion: Motion) -> list[Coordinate]:
    """The coordinates of a joint, in the order in which OpenSim has them: our own where nq = nv, else three angles
    called "JOINT.rx" and so on, and then the translations."""
    model, path = target.model, f"/jointset/{target.model.joint_names[i - 1]}"
    first, dof = model.q_index[i], model.v_index[i]
    if motion.kind not in ("BallJoint", "FreeJoint"):
        names = [checked_name(one, "coordinate") for one in model.q_names[first : model.q_index[i + 1]]]
        angles = _angles(motion, len(names))
        return [Coordinate(n, f"{path}/{n}", first + k, dof + k, angles[k]) for k, n in enumerate(names)]
    shift = 3 if motion.kind == "FreeJoint" else 0
    turns = [f"{target.model.joint_names[i - 1]}.r{letter}" for letter in "xyz"]
    found = [Coordinate(n, f"{path}/{n}", None, dof + shift + k, True, rate=False) for k, n in enumerate(turns)]
    slides = [checked_name(name, "coordinate") for name in model.q_names[first : first + shift]]
    return found + [Coordinate(n, f"{path}/{n}", first + k, dof + k, False) for k, n in enumerate(slides)]


def _angles(motion: Motion, size: int) -> list[bool]:
    """Whether OpenSim takes each coordinate as an angle: if the last axis that it alone moves, one to one, turns."""
    found = [False] * size
    for turning, axes in ((True, motion.turns), (False, motion.slides)):
        for axis in axes:
            slopes: Array = np.ravel(axis.function.slopes) if isinstance(axis.function, LinearFunction) else np.zeros(0)
            if len(slopes) == 1 and abs(slopes[0]) == 1:
                found[axis.coordinates[0]] = turning
    return found


def _defaults(target: Target, i: int, motion: Motion) -> list[float]:
    """Default values of the coordinates of a joint."""
    model = target.model
    q = model.configurations.get(DEFAULT, model.neutral())[model.q_index[i] : model.q_index[i + 1]]
    if motion.kind not in ("BallJoint", "FreeJoint"):
        return [float(x) for x in q]
    R = np.array(quaternion_matrix(DM(q[-4:])).full())
    return [*map(float, angles_xyz(R)), *map(float, q[:-4])]


def motion_of(joint: Joint, name: str) -> Motion:
    """The joint of OpenSim that moves as one of the library does; ModelError if there is none."""
    if isinstance(joint, FunctionJoint):
        R, p = joint.pose
        turns, slides = tuple(joint.rotations), tuple(joint.translations)
        own = (turns, slides, (np.reshape(R, (3, 3)), np.array(p)), joint.reverse)
        if not any(joint.radii) and len(slides) <= 3:
            return Motion("CustomJoint", *own)
        if any(joint.radii) and turns == PLAIN and not slides:
            return Motion("EllipsoidJoint", *own)
    elif isinstance(joint, Spherical):
        return Motion("BallJoint", PLAIN, ())
    elif isinstance(joint, FloatingBase) and joint.has_quaternion:
        return Motion("FreeJoint", PLAIN, ())
    elif isinstance(joint, Helical):
        turn, along = np.array(joint.axis[:3]), np.array(joint.axis[3:])
        pitch = float(np.linalg.norm(along))
        slide = (JointAxis(tuple(along), LinearFunction((pitch,), 0.0), (0,)),) if pitch else ()
        return Motion("CustomJoint", (JointAxis(tuple(turn), IDENTITY, (0,)),), slide)
    else:
        found = _chained(joint)
        if found is not None:
            return found
    raise ModelError(
        f"write_osim: joint {repr_in_message(name)}: OpenSim's CustomJoint does not move as {repr_in_message(joint)} "
        "does; replace it by one of angles and lengths, as Euler angles or several joints"
    )


def _chained(joint: Joint) -> Motion | None:
    """A joint that is a chain of translations and then rotations, or that is cylindrical; None for others."""
    try:
        links = list(enumerate(joint.chain()))
    except ValueError:
        return None
    if isinstance(joint, Cylindrical):  # the order of a rotation and a translation along its axis does not matter
        links.reverse()
    kinds = [type(link) for _, link in links]
    slides = kinds.count(Prismatic)
    turns = len(kinds) - slides
    if not kinds or kinds != [Prismatic] * slides + [Revolute] * turns or max(slides, turns) > 3:
        return None
    axes = tuple(JointAxis(link.axis, IDENTITY, (k,)) for k, link in links)  # type: ignore[attr-defined]
    return Motion("CustomJoint", axes[slides:], axes[:slides])


def _filled(axes: tuple[JointAxis, ...]) -> list[JointAxis]:
    """Three axes: those given, and others across them that do not move; OpenSim wants no two along one line."""
    found = list(axes)
    while len(found) < 3:
        own = [np.array(axis.vector) for axis in found]
        normal = np.cross(own[0], own[1]) if len(own) > 1 else np.zeros(3)
        if np.linalg.norm(normal) < 1e-6:
            normal = np.array(across(own[0])[0]) if own else np.array([1.0, 0.0, 0.0])
        found.append(JointAxis(tuple(normal), ConstantFunction(0.0), ()))
    return found
