"""Markers, wrap objects, and muscles with their paths, of a written OpenSim document."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from ...._base.types import Array, ModelError, repr_in_message
from ....mechanism import ConditionalPathPoint, MovingPathPoint, Muscle, WrapObject
from ....mechanism.annotations import AnyPathPoint
from ..document import FUNCTION_TAGS
from ..paths import WRAPS
from .elements import TAG, Element, Target, angles_xyz, checked_name, objects, put, put_function

WRAP_CLASSES = {kind: (tag, sizes) for tag, (kind, sizes) in WRAPS.items()}
FIGURES = {
    "max_isometric_force": "max_isometric_force",
    "optimal_fiber_length": "optimal_fiber_length",
    "tendon_slack_length": "tendon_slack_length",
    "pennation_angle": "pennation_angle_at_optimal",
}
"""Fields of `Muscle`, and the properties of OpenSim's muscles."""
SWITCHES = ("appliesForce", "isDisabled")
"""Properties that say what `Muscle.active` says."""
RAISED = ("Millard2012", "Thelen2003")
"""Classes of muscles whose controls must not be below the least activation."""


def put_markers(parent: Element, target: Target) -> None:
    for marker in target.model.markers:
        path, R, p = target.place(marker.body)
        made = ElementTree.SubElement(parent, "Marker", name=checked_name(marker.name, "marker"))
        put(made, "socket_parent_frame", path)
        put(made, "location", p + R @ np.array(marker.point))
        put(made, "fixed", marker.fixed)


def put_wraps(owners: dict[str, Element], target: Target) -> None:
    """The wrap objects. owners: the elements of bodies and of the ground, by their paths."""
    sets: dict[str, Element] = {}
    for wrap in target.model.wraps:
        path, R, p = target.place(wrap.body)
        if path not in sets:
            sets[path] = objects(owners[path], "WrapObjectSet")
        _put_wrap(sets[path], wrap, R, p)


def _put_wrap(parent: Element, wrap: WrapObject, R: Array, p: Array) -> None:
    tag, sizes = WRAP_CLASSES[wrap.kind]
    made = ElementTree.SubElement(parent, tag, name=checked_name(wrap.name, "wrap object"))
    put(made, "active", wrap.active)
    put(made, "xyz_body_rotation", angles_xyz(R @ np.reshape(wrap.rotation, (3, 3))))
    put(made, "translation", p + R @ np.array(wrap.origin))
    put(made, "quadrant", wrap.quadrant)
    if wrap.kind == "ellipsoid":
        put(made, "dimensions", wrap.sizes)
    for size, value in zip(sizes, wrap.sizes, strict=False):
        put(made, size, value)


def put_muscle(parent: Element, muscle: Muscle, target: Target) -> None:
    """A muscle, a ligament or another force along a path, with all its numbers and functions."""
    what = f"muscle {repr_in_message(muscle.name)}"
    made = ElementTree.SubElement(parent, _tag(muscle.kind, what), name=checked_name(muscle.name, "muscle"))
    put(made, "appliesForce", muscle.active)
    path = ElementTree.SubElement(made, "GeometryPath", name="path")
    points = objects(path, "PathPointSet")
    for point in muscle.path:
        _put_point(points, point, target, what)
    if muscle.wraps:
        wraps = objects(path, "PathWrapSet")
        for k, wrap in enumerate(muscle.wraps, 1):
            element = ElementTree.SubElement(wraps, "PathWrap", name=f"wrap{k}")
            put(element, "wrap_object", wrap.wrap)
            put(element, "method", wrap.method)
            put(element, "range", (wrap.first or -1, wrap.last or -1))
    for field, tag in FIGURES.items():
        if getattr(muscle, field) is not None:
            put(made, tag, getattr(muscle, field))
    for key, value in _numbers(muscle).items():
        owner, last = _owner(made, key, what)
        put(owner, last, value)
    for key, function in muscle.functions:
        owner, last = _owner(made, key, what)
        if last not in FUNCTION_TAGS:
            owner = ElementTree.SubElement(owner, last)
        put_function(owner, function, muscle.name)


def _numbers(muscle: Muscle) -> dict[str, float]:
    """The parameters of a muscle. Files of earlier versions have least controls of zero, which OpenSim 4 raises to the
    least activation when it reads them, and refuses in later files."""
    found = {key: value for key, value in muscle.parameters if key not in SWITCHES}
    if muscle.kind.startswith(RAISED) and "min_control" in found:
        found["min_control"] = max(found["min_control"], found.get("minimum_activation", 0.01))
    return found


def _owner(muscle: Element, key: str, what: str) -> tuple[Element, str]:
    """The element that holds the property "OBJECT.NAME", and the property's own name."""
    *outer, last = (_tag(word, what) for word in key.split("."))
    for word in outer:
        found = muscle.find(word)
        muscle = ElementTree.SubElement(muscle, word) if found is None else found
    return muscle, last


def _tag(word: str, what: str) -> str:
    if not TAG.fullmatch(word):
        raise ModelError(f"write_osim: {what}: {repr_in_message(word)} cannot be the name of an element; rename it")
    return word


def _put_point(parent: Element, point: AnyPathPoint, target: Target, what: str) -> None:
    path, R, p = target.place(point.body)
    made = ElementTree.SubElement(parent, type(point).__name__, name=checked_name(point.name, f"{what}: point"))
    put(made, "socket_parent_frame", path)
    if isinstance(point, MovingPathPoint):
        if np.any(R != np.eye(3)) or np.any(p):
            raise ModelError(f"write_osim: {what}: its moving point must be in a frame other than 'world'")
        for letter, function, name in zip("xyz", point.functions, point.coordinates, strict=True):
            if name is not None:
                put(made, f"socket_{letter}_coordinate", _coordinate(target, name, what))
            put_function(ElementTree.SubElement(made, f"{letter}_location"), function, point.name)
        return
    put(made, "location", p + R @ np.array(point.point))
    if isinstance(point, ConditionalPathPoint):
        put(made, "socket_coordinate", _coordinate(target, point.coordinate, what))
        put(made, "range", (point.lower, point.upper))


def _coordinate(target: Target, name: str, what: str) -> str:
    found = target.coordinate(name)
    if found is None:
        raise ModelError(
            f"write_osim: {what}: its path depends on {repr_in_message(name)}, an entry of a quaternion, which OpenSim "
            'does not have; leave muscles out by drop="muscles"'
        )
    return found.path
