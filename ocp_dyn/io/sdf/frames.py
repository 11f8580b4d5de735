"""Poses of models, links, joints and frames in the world [SDFormat: Specifying pose].

A name is that of its model, "::" and its own, where it is not that of a model in the world: "arm::hand".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..._base.types import Array, repr_in_message, suggestion
from ...spatial_algebra.poses import Pose, from_quaternion
from ...spatial_algebra.rotations import quarter_turns, rpy_matrix
from ..xml import XmlElement
from .texts import name_of, numbers_in, switch

MODEL, WORLD = "__model__", "world"
PLACED = ("model", "link", "joint", "frame")
"""Elements that have a name and a pose."""


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
    return from_quaternion(np.roll(quat, 1))


class Part(NamedTuple):
    """An element with a pose, and the name of the model in which it stands; "" is the world."""

    element: XmlElement
    scope: str


class Frames:
    """The models of a document with all that has a pose in them, by names."""

    def __init__(self, holders: list[XmlElement]) -> None:
        """holders: elements that hold models."""
        self.parts: dict[str, Part] = {}
        for holder in holders:
            self._note(holder, "", ("model", "frame", "joint"))
        self.found: dict[str, Pose] = {"": Pose()}

    def _note(self, holder: XmlElement, scope: str, tags: tuple[str, ...]) -> None:
        taken = {name.removeprefix(f"{scope}::"): part.element for name, part in self.parts.items()
                 if part.scope == scope}  # fmt: skip
        for element in holder:
            if element.tag in tags:
                name = joined(scope, name_of(element, taken))
                self.parts[name] = Part(element, scope)
                if element.tag == "model":
                    self._note(element, name, PLACED)

    def all(self, tag: str) -> Iterator[tuple[str, Part]]:
        """Names and parts of all elements of a kind, in their order."""
        return ((name, part) for name, part in self.parts.items() if part.element.tag == tag)

    def named(self, element: XmlElement, given: str, scope: str, what: str) -> str:
        """The whole name of what an element of a model names; "" for the world."""
        if given in ("", MODEL):
            return scope
        if given == WORLD:
            return ""
        name = joined(scope, given.replace(f"::{MODEL}", ""))
        if name not in self.parts:
            known = [other.removeprefix(f"{scope}::") for other in self.parts if other.startswith(scope)]
            raise element.fault(f"the model has no {what} {repr_in_message(given)}{suggestion(given, known)}")
        return name

    def pose(self, name: str) -> Pose:
        """The pose of a model, link, joint or frame in the world."""
        way: list[str] = []
        while name not in self.found:
            if name in way:
                raise self.parts[name].element.fault(
                    f"poses that refer to each other in a ring: {' -> '.join((*way, name))}"
                )
            way.append(name)
            name = self._base(name)
        for each in reversed(way):
            self.found[each] = self.found[self._base(each)] @ self._own(each)
        return self.found[way[0] if way else name]

    def _own(self, name: str) -> Pose:
        """The pose of a part in the frame in which its pose is given; a model may give that of one of its frames."""
        element = self.parts[name].element
        given = own_pose(element)
        at = element.get("placement_frame") if element.tag == "model" else ""
        if at in ("", MODEL):
            return given
        inside, inner = Pose(), self.named(element, at, name, "frame")
        for _ in self.parts:
            if inner == name:
                return given @ inside.inverse()
            if not inner.startswith(f"{name}::"):
                break
            inside, inner = self._own(inner) @ inside, self._base(inner)
        raise element.fault(f"placement_frame={repr_in_message(at)} has a pose that refers to itself or to the outside")

    def _base(self, name: str) -> str:
        """The name of the frame in which the pose of a part is given."""
        element, scope = self.parts[name]
        pose = element.child("pose")
        named = "" if pose is None else (pose.get("relative_to") or pose.get("frame"))
        if not named and element.tag == "joint":
            return self.named(element, child_of(element), scope, "link")
        if not named and element.tag == "frame":
            named = element.get("attached_to")
        return self.named(pose if pose is not None and pose.get("relative_to") else element, named, scope, "frame")

    def link(self, element: XmlElement, given: str, scope: str) -> str:
        """The link to which a name leads: itself, or that of a frame, a joint or a model; "" is the world."""
        name = self.named(element, given, scope, "link")
        way = [name]
        while name:
            target, around = self.parts[name]
            if target.tag == "link":
                return name
            if target.tag == "model":
                name = self._canonical(target, name)
            else:
                to = target.get("attached_to") if target.tag == "frame" else child_of(target)
                name = self.named(target, to, around, "link")
            if name in way:
                raise element.fault(f"frames that are attached to each other in a ring: {repr_in_message(way[0])}")
            way.append(name)
        return name

    def _canonical(self, model: XmlElement, name: str) -> str:
        """The link to which the frame of a model is attached: the first one, its own before those of models in it."""
        if given := model.get("canonical_link"):
            return self.named(model, given, name, "link")
        inside = [other for other, _ in self.all("link") if other.startswith(f"{name}::")]
        if not inside:
            raise model.fault("it has no <link>; a model has at least one")
        return next((other for other in inside if self.parts[other].scope == name), inside[0])

    def is_static(self, name: str) -> bool:
        """Whether the model of a part, or one around it, stands still."""
        while name:
            element, scope = self.parts[name]
            if element.tag == "model" and switch(element, "static"):
                return True
            name = scope
        return False


def child_of(joint: XmlElement) -> str:
    child = joint.child("child")
    return "" if child is None else child.text.strip()


def joined(scope: str, name: str) -> str:
    return f"{scope}::{name}" if scope else name
