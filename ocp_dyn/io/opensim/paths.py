"""Markers, muscles, their paths and the surfaces around which these bend, of an OpenSim model."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from ..._base.types import Array, repr_in_message, suggestion
from ...joints import ConstantFunction, ScalarFunction
from ...mechanism import (
    ConditionalPathPoint,
    Marker,
    MovingPathPoint,
    Muscle,
    PathPoint,
    PathWrap,
    WrapObject,
)
from ...mechanism.annotations import QUADRANTS, WRAP_METHODS, AnyPathPoint
from ..xml import XmlElement
from .document import (
    FUNCTION_TAGS,
    INFINITE,
    NUMBER,
    all_objects,
    flag_of,
    function_of,
    made_function,
    name_of,
    number_of,
    numbers_of,
    objects_of,
    socket_of,
    text_of,
    vector_of,
)
from .frames import Frames, Placed, rotation_xyz

WRAPS = {
    "WrapCylinder": ("cylinder", ("radius", "length")),
    "WrapSphere": ("sphere", ("radius",)),
    "WrapEllipsoid": ("ellipsoid", ()),
    "WrapTorus": ("torus", ("inner_radius", "outer_radius")),
}
POINTS = ("PathPoint", "ConditionalPathPoint", "MovingPathPoint")
PATHS = ("GeometryPath", "FunctionBasedPath", "path")
FIGURES = {
    "max_isometric_force": "max_isometric_force",
    "optimal_fiber_length": "optimal_fiber_length",
    "tendon_slack_length": "tendon_slack_length",
    "pennation_angle_at_optimal": "pennation_angle",
    "pennation_angle": "pennation_angle",
}
"""Properties of muscles with a field of their own in `Muscle`."""
SKIPPED = ("VisibleObject", "Appearance", "GeometryPath", "FrameGeometry", "groups")


def path_of(force: XmlElement) -> XmlElement | None:
    """The path of a muscle, a ligament or another force along a path; None for other forces."""
    found = force.child("GeometryPath")
    if found is not None:
        return found
    return next((child for child in force if child.get("name") == "path"), None)


def markers_of(elements: list[XmlElement], frames: Frames) -> tuple[Marker, ...]:
    """The markers; their places are in the bodies that carry their frames."""
    found = []
    for name, element in all_objects(elements, "marker"):
        place = frames.of(element, socket_of(element, "parent_frame", "body"), "body")
        point = place.p + place.R @ vector_of(element, "location")
        found.append(Marker(name, place.body, tuple(point), flag_of(element, "fixed")))
    return tuple(found)


def wraps_of(bodies: Iterator[tuple[XmlElement, Placed]]) -> tuple[WrapObject, ...]:
    """The wrap objects of bodies and of frames fixed to them."""
    found: dict[str, WrapObject] = {}
    for owner, place in bodies:
        for element in objects_of(owner, "WrapObjectSet"):
            wrap = _wrap(element, place)
            if wrap.name in found:
                raise element.fault("another wrap object has this name; names must be unique")
            found[wrap.name] = wrap
    return tuple(found.values())


def _wrap(element: XmlElement, place: Placed) -> WrapObject:
    if element.tag not in WRAPS:
        raise element.fault(f"wrap objects of this class are not read{suggestion(element.tag, WRAPS)}")
    kind, tags = WRAPS[element.tag]
    sizes = tuple(number_of(element, tag) for tag in tags)
    if kind == "ellipsoid":
        together = element.child("dimensions") is not None
        sizes = tuple(
            vector_of(element, "dimensions", None)
            if together
            else (number_of(element, f"radius_{letter}") for letter in "xyz")
        )
    quadrant = text_of(element, "quadrant", "all").lower().removeprefix("+")
    R = place.R @ rotation_xyz(vector_of(element, "xyz_body_rotation"))
    p = place.p + place.R @ vector_of(element, "translation")
    active = flag_of(element, "active", True)
    quadrant = "all" if quadrant not in QUADRANTS else quadrant
    try:
        return WrapObject(name_of(element), kind, place.body, sizes, tuple(p), tuple(R.ravel()), quadrant, active)
    except ValueError as error:
        raise element.fault(str(error)) from None


def muscle_of(force: XmlElement, frames: Frames, coordinates: Collection[str]) -> Muscle:
    """A muscle, a ligament or another force along a path, with all its numbers."""
    path = path_of(force)
    if path is None:
        raise force.fault("it has no <GeometryPath>; add one")
    if path.tag not in ("GeometryPath", "path"):
        raise path.fault("paths of this class are not read; give its points as a <GeometryPath>")
    points = tuple(_point(e, frames, coordinates) for e in objects_of(path, "PathPointSet"))
    wraps = tuple(_path_wrap(e, len(points)) for e in objects_of(path, "PathWrapSet"))
    figures: dict[str, float] = {}
    parameters: dict[str, float] = {}
    functions: dict[str, ScalarFunction] = {}
    for key, value in _properties(force, ""):
        if key in FIGURES and isinstance(value, float):
            figures[FIGURES[key]] = value
        elif isinstance(value, float):
            parameters[key] = value
        else:
            functions[key] = value
    active = not flag_of(force, "isDisabled") and flag_of(force, "appliesForce", True)
    if not all(np.isfinite(x) for x in figures.values()):
        raise force.fault("its forces, lengths and angles must be finite")
    try:
        return Muscle(
            name_of(force), force.tag, points, wraps, parameters=parameters, functions=functions, active=active,
            **figures,
        )  # fmt: skip
    except (ValueError, TypeError) as error:
        raise force.fault(str(error)) from None


def _properties(element: XmlElement, prefix: str) -> Iterator[tuple[str, float | ScalarFunction]]:
    """Names and values of all properties that are one finite number, true (1), false (0) or a function; those of
    objects within under "OBJECT.NAME"."""
    for child in element:
        name = f"{prefix}{child.get('name') or child.tag}" if child.children else f"{prefix}{child.tag}"
        word = child.text.strip()
        if child.tag in SKIPPED or child.get("name") == "path":
            continue
        if child.tag in FUNCTION_TAGS:
            yield name, made_function(child)
        elif child.children:
            inner = list(child)
            if len(inner) == 1 and inner[0].tag in FUNCTION_TAGS:
                yield name, made_function(inner[0])
            elif not prefix.count(".") > 3:
                yield from _properties(child, f"{prefix}{child.tag}.")
        elif word.lower() in ("true", "false"):
            yield name, float(word.lower() == "true")
        elif NUMBER.fullmatch(word) and not INFINITE.fullmatch(word):
            yield name, float(word)


def _point(element: XmlElement, frames: Frames, coordinates: Collection[str]) -> AnyPathPoint:
    if element.tag not in POINTS:
        raise element.fault(f"points of paths of this class are not read{suggestion(element.tag, POINTS)}")
    place = frames.of(element, socket_of(element, "parent_frame", "body"), "body")
    name = element.get("name").strip() or "point"
    if element.tag == "MovingPathPoint":
        return _moving(element, name, place, coordinates)
    at = tuple(place.p + place.R @ vector_of(element, "location"))
    if element.tag == "PathPoint":
        return PathPoint(name, place.body, at)
    lower, upper = numbers_of(element, "range", 2, None)
    return ConditionalPathPoint(
        name, place.body, at, _coordinate(element, "coordinate", coordinates), float(lower), float(upper)
    )


def _coordinate(element: XmlElement, tag: str, coordinates: Collection[str]) -> str:
    given = socket_of(element, tag, tag)
    name = given.rpartition("/")[2]
    if name not in coordinates:
        raise element.fault(f"there is no coordinate {repr_in_message(name)}{suggestion(name, coordinates)}")
    return name


def _moving(element: XmlElement, name: str, place: Placed, coordinates: Collection[str]) -> MovingPathPoint:
    """A point whose places are functions of coordinates, in the axes of its frame; a frame that is turned in its body
    is refused, because its places would be sums of functions of several coordinates."""
    if not np.allclose(place.R, np.eye(3), atol=1e-12):
        raise element.fault("a moving point in a frame that is turned in its body is not read; place it in the body")
    functions: list[ScalarFunction] = []
    names: list[str | None] = []
    for letter, shift in zip("xyz", place.p, strict=True):
        function = function_of(element, f"{letter}_location")
        if function is None or isinstance(function, ConstantFunction):
            value = function.value if isinstance(function, ConstantFunction) else 0.0
            functions.append(ConstantFunction(value + shift))
            names.append(None)
            continue
        if shift:
            raise element.fault("a moving point in a frame apart from its body is not read; place it in the body")
        functions.append(function)
        names.append(_coordinate(element, f"{letter}_coordinate", coordinates))
    return MovingPathPoint(name, place.body, tuple(functions), tuple(names))


def _path_wrap(element: XmlElement, points: int) -> PathWrap:
    method = text_of(element, "method", "hybrid").lower()
    ends: Array = numbers_of(element, "range", 2, (-1.0, -1.0))
    first, last = (int(x) if np.isfinite(x) and 1 <= x <= points else 0 for x in ends)
    wrap = text_of(element, "wrap_object")
    if not wrap:
        raise element.fault("it names no <wrap_object>")
    if method not in WRAP_METHODS:
        method = "hybrid"
    return PathWrap(wrap.rpartition("/")[2], method, first, last)
