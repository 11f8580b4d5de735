"""Frames of an OpenSim model: bodies, the ground, and frames fixed to them, found by name or path."""

from __future__ import annotations

from posixpath import normpath
from typing import NamedTuple

import numpy as np

from ..._base.types import Array, repr_in_message, suggestion
from ..xml import XmlElement
from .document import Components, all_objects, name_of, objects_of, socket_of, vector_of

GROUND = "ground"
"""Name of the ground in the file, and of our frame that has its axes."""
OFFSET = "PhysicalOffsetFrame"


class Placed(NamedTuple):
    """A frame by the body that carries it, and its rotation R (3x3) and origin p (3) there."""

    body: str
    R: Array
    p: Array


def rotation_xyz(angles: Array) -> Array:
    """R = Rx Ry Rz of body-fixed angles [rad]."""
    (ca, cb, cc), (sa, sb, sc) = np.cos(angles), np.sin(angles)
    X = np.array([[1, 0, 0], [0, ca, -sa], [0, sa, ca]])
    Y = np.array([[cb, 0, sb], [0, 1, 0], [-sb, 0, cb]])
    Z = np.array([[cc, -sc, 0], [sc, cc, 0], [0, 0, 1]])
    return np.asarray(X @ Y @ Z)


class Frames:
    """Every frame of a model, by the places where it may be named.

    A socket names a frame by its path (`/bodyset/femur`, `/jointset/hip/femur_offset`), by a path relative to its
    owner (`..`, `../femur`), or by its name, which is looked for among the frames of its owner first.
    """

    def __init__(self, parts: Components) -> None:
        self.bodies: dict[str, XmlElement] = {}
        self.elements: dict[str, XmlElement] = {}
        self.by_owner: dict[int, dict[str, XmlElement]] = {}
        self.paths: dict[int, str] = {}
        self.placed: dict[int, Placed] = {}
        for name, element in all_objects(parts.bodies, "body"):
            if name != GROUND:
                self.bodies[name] = element
            self._note_within(element, f"/bodyset/{name}" if name != GROUND else "/ground")
        for element in parts.model.all("Ground"):
            self._note_within(element, "/ground")
        for joint in parts.joints:
            own = [*objects_of(joint, "frames"), *objects_of(joint, "components")]
            self._note(own, f"/jointset/{joint.get('name')}", joint)
        for place, owners in (("forceset", parts.forces), ("constraintset", parts.constraints)):
            for owner in owners:
                self._note(objects_of(owner, "frames"), f"/{place}/{owner.get('name')}", owner)
        self._note(parts.frames, "", parts.model)

    def _note_within(self, body: XmlElement, path: str) -> None:
        self._note([*objects_of(body, "components"), *objects_of(body, "frames")], path, body)

    def _note(self, elements: list[XmlElement], path: str, owner: XmlElement) -> None:
        for element in elements:
            if element.tag == OFFSET:
                name = name_of(element)
                self.elements[f"{path}/{name}"] = element
                self.by_owner.setdefault(id(owner), {})[name] = element
                self.paths[id(element)] = f"{path}/{name}"
                self._note_within(element, f"{path}/{name}")

    def of(self, element: XmlElement, given: str, what: str, _depth: int = 0) -> Placed:
        """The frame that an element names; ModelError if there is none. what: "parent", for the message."""
        if _depth > 50:
            raise element.fault("frames are fixed to each other in a ring, or more than 50 deep")
        if given.startswith("..") and id(element) in self.paths:
            given = normpath(f"{self.paths[id(element)]}/{given}")
        name = given.rstrip("/").rpartition("/")[2]
        own = self.by_owner.get(id(element), {}).get(name)
        found = self.elements.get(given) or (own if "/" not in given else None) or self._by_ending(given, name)
        if found is not None:
            return self._offset(found, _depth)
        if name == GROUND or name in self.bodies:
            return Placed(name, np.eye(3), np.zeros(3))
        known = (GROUND, *self.bodies, *(path.rpartition("/")[2] for path in self.elements))
        raise element.fault(f"its {what} {repr_in_message(given)} is no body or frame{suggestion(name, known)}")

    def _by_ending(self, given: str, name: str) -> XmlElement | None:
        """The frame of a relative path or of a name, if only one fits."""
        if name == GROUND or name in self.bodies:
            return None
        tail = given.replace("../", "").lstrip("./")
        found = [e for path, e in self.elements.items() if path == f"/{tail}" or path.endswith(f"/{tail}")]
        return found[0] if len({id(e) for e in found}) == 1 else None

    def _offset(self, element: XmlElement, depth: int) -> Placed:
        if id(element) not in self.placed:
            base = self.of(element, socket_of(element, "parent"), "parent", depth + 1)
            R, p = rotation_xyz(vector_of(element, "orientation")), vector_of(element, "translation")
            self.placed[id(element)] = Placed(base.body, base.R @ R, base.p + base.R @ p)
        return self.placed[id(element)]
