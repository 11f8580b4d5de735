"""Poses of links, joints and frames in the frame of their model [SDFormat: Specifying pose]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._base.types import Array, repr_in_message
from ...spatial_algebra.rotations import quarter_turns, rpy_matrix
from ..xml import XmlElement
from .texts import known, numbers_in

MODEL = "__model__"


class Pose(NamedTuple):
    """Orientation R (3x3, active) and position p [m] of a frame in another."""

    R: Array = np.eye(3)
    p: Array = np.zeros(3)

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> Pose:
        return Pose(self.R.T, -self.R.T @ self.p)


def own_pose(parent: XmlElement) -> Pose:
    """The pose in the `<pose>` of an element: x y z and roll, pitch, yaw about fixed axes, or a quaternion."""
    element = parent.child("pose")
    if element is None or not element.text.strip():
        return Pose()
    if element.get("rotation_format", "euler_rpy") == "quat_xyzw":
        x = numbers_in(element, 7)
        return Pose(_from_quaternion(element, x[3:]), x[:3])
    x = numbers_in(element, 6)
    turns = np.radians(x[3:]) if element.get("degrees", "false") in ("true", "1") else x[3:]
    return Pose(rpy_matrix(quarter_turns(turns)), x[:3])


def _from_quaternion(element: XmlElement, quat: Array) -> Array:
    length = float(np.linalg.norm(quat))
    if not length > 1e-14:
        raise element.fault("a quaternion of length zero is no rotation; write 0 0 0 1")
    x, y, z, w = quat / length
    v, cross = np.array([x, y, z]), np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(2 * np.outer(v, v) + (w * w - v @ v) * np.eye(3) + 2 * w * cross)


class Frames:
    """Poses by name. elements: links, joints and frames of one model by their names."""

    def __init__(self, elements: dict[str, XmlElement]) -> None:
        self.elements = elements
        self.found: dict[str, Pose] = {MODEL: Pose(), "": Pose()}

    def pose(self, name: str) -> Pose:
        """The pose of a link, joint or frame in the model."""
        way: list[str] = []
        while name not in self.found:
            if name in way:
                raise self.elements[name].fault(
                    f"poses that refer to each other in a ring: {' -> '.join((*way, name))}"
                )
            way.append(name)
            name = self._base(self.elements[name])
        for each in reversed(way):
            element = self.elements[each]
            self.found[each] = self.found[self._base(element)] @ own_pose(element)
        return self.found[way[0] if way else name]

    def _base(self, element: XmlElement) -> str:
        """The name of the frame in which the pose of an element is given."""
        pose = element.child("pose")
        named = "" if pose is None else (pose.get("relative_to") or pose.get("frame"))
        if not named and element.tag == "joint":
            named = self.child_of(element)
            return "" if named == "world" else known(element, named, self.elements, "link")
        if not named and element.tag == "frame":
            named = element.get("attached_to")
        if named in ("", MODEL, "world"):
            return ""
        return known(pose if pose is not None and pose.get("relative_to") else element, named, self.elements, "frame")

    @staticmethod
    def child_of(joint: XmlElement) -> str:
        child = joint.child("child")
        return "" if child is None else child.text.strip()

    def link(self, element: XmlElement, name: str) -> str:
        """The link to which a name leads: itself, or that of a frame."""
        way = [name]
        while name not in ("world", "", MODEL):
            target = self.elements[known(element, name, self.elements, "link")]
            if target.tag == "link":
                return name
            name = target.get("attached_to") if target.tag == "frame" else self.child_of(target)
            if name in way:
                raise element.fault(f"frames that are attached to each other in a ring: {repr_in_message(way[0])}")
            way.append(name)
        return name
