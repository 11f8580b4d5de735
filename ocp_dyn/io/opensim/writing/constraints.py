"""Couplers, points, welds, lines and distances of a written OpenSim document."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np

from ...._base.types import Array
from ....constraints import Constraint, CoordinateCoupling, Loop, PointDistance
from ....constraints.loop import ROWS_BY_KIND
from ....joints import LinearFunction
from .elements import Element, Target, checked_name, put, put_function, put_offset


def put_constraints(parent: Element, target: Target) -> None:
    """The constraints of a model, and its joints that mimic others as couplers; what cannot be said is noted."""
    model = target.model
    taken: set[str] = set()
    given: tuple[Any, ...] = (*model.constraints, *_mimics(target))
    for one in given:
        name = "".join(one.name.split()).replace("/", "_")
        while name in taken:
            name += "_"
        taken.add(name)
        if not _put_constraint(parent, one, checked_name(name, "constraint"), target):
            target.lost["constraints"] = None


def _mimics(target: Target) -> list[CoordinateCoupling]:
    """Couplings of the joints that mimic others."""
    model = target.model
    names = {joint: model.q_names[model.q_slice(joint)][0] for joint in model.joint_names}
    return [
        CoordinateCoupling(names[m.joint], (names[m.other],), LinearFunction((m.ratio,), m.offset))
        for m in model.mimics
    ]


def _put_constraint(parent: Element, one: Constraint, name: str, target: Target) -> bool:
    """Whether OpenSim has the constraint, which then is written."""
    if isinstance(one, CoordinateCoupling):
        if any(target.coordinate(coordinate) is None for coordinate in (one.coordinate, *one.others)):
            return False
        made = ElementTree.SubElement(parent, "CoordinateCouplerConstraint", name=name)
        put_function(ElementTree.SubElement(made, "coupled_coordinates_function"), one.function, one.name)
        put(made, "independent_coordinate_names", " ".join(one.others))
        put(made, "dependent_coordinate_name", one.coordinate)
        put(made, "scale_factor", one.scale)
        return True
    if isinstance(one, PointDistance):
        made = ElementTree.SubElement(parent, "ConstantDistanceConstraint", name=name)
        _put_points(made, target, (one.frame, one.point), (one.other, one.other_point))
        put(made, "constant_distance", one.distance)
        return True
    return isinstance(one, Loop) and _put_loop(parent, one, name, target)


def _put_loop(parent: Element, loop: Loop, name: str, target: Target) -> bool:
    """A point, a weld, or a point on a line; False for other loops."""
    first, second = (
        (end if isinstance(end, str) else end.name, pose)
        for end, pose in ((loop.predecessor, loop.predecessor_pose), (loop.successor, loop.successor_pose))
    )
    axes = np.array(loop.axes)
    if not loop.sliding and not loop.turning and _is(axes, "fixed"):
        put_frames(ElementTree.SubElement(parent, "WeldConstraint", name=name), name, target, first, second)
        return True
    if not loop.sliding and _is(axes, "ball"):
        made = ElementTree.SubElement(parent, "PointConstraint", name=name)
        _put_points(made, target, (first[0], first[1][1]), (second[0], second[1][1]))
        return True
    if loop.sliding and axes.shape == (2, 6) and not np.any(axes[:, :3]):
        along = np.cross(axes[0, 3:], axes[1, 3:])
        if np.linalg.norm(along) < 1e-9:
            return False
        made = ElementTree.SubElement(parent, "PointOnLineConstraint", name=name)
        (line, (R, p)), (follower, (_, point)) = first, second
        path, base, at = target.place(line)
        other, turned, origin = target.place(follower)
        put(made, "socket_line_body", path)
        put(made, "socket_follower_body", other)
        put(made, "line_direction_vec", base @ np.reshape(R, (3, 3)) @ along)
        put(made, "point_on_line", at + base @ np.array(p))
        put(made, "point_on_follower", origin + turned @ np.array(point))
        return True
    return False


def _is(axes: Array, kind: str) -> bool:
    """Whether rows are those of a kind of loops."""
    labels = ("rx", "ry", "rz", "tx", "ty", "tz")
    rows = [labels.index(word) for word in ROWS_BY_KIND[kind].split()]
    return axes.shape == (len(rows), 6) and bool(np.all(axes == np.eye(6)[rows]))


def _put_points(made: Element, target: Target, *points: tuple[str, Any]) -> None:
    for k, (frame, point) in enumerate(points, 1):
        path, R, p = target.place(frame)
        put(made, f"socket_body_{k}", path)
        put(made, f"location_body_{k}", p + R @ np.array(point))


def put_frames(made: Element, name: str, target: Target, *ends: tuple[str, Any]) -> None:
    """The two frames that a weld or a bushing connects, as offset frames of its own."""
    frames = ElementTree.SubElement(made, "frames")
    for k, (frame, (R, p)) in enumerate(ends, 1):
        path, base, at = target.place(frame)
        put(made, f"socket_frame{k}", f"{name}_frame{k}")
        put_offset(frames, f"{name}_frame{k}", path, base @ np.reshape(R, (3, 3)), at + base @ np.array(p))
