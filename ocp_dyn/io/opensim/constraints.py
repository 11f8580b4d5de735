"""Constraints of an OpenSim model, as those of this library."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..._base.types import Array, ModelError, repr_in_message, suggestion
from ...constraints import Constraint, CoordinateCoupling, Loop, PointDistance
from ..xml import XmlElement
from .document import flag_of, function_of, name_of, number_of, short, socket_of, text_of, vector_of
from .frames import Frames, Placed, rotation_xyz

KINDS = (
    "CoordinateCouplerConstraint",
    "PointConstraint",
    "WeldConstraint",
    "PointOnLineConstraint",
    "ConstantDistanceConstraint",
)


def is_enforced(element: XmlElement) -> bool:
    """Whether the file asks for the constraint."""
    return not flag_of(element, "isDisabled") and flag_of(element, "isEnforced", True)


def constraint_of(element: XmlElement, frames: Frames, coordinates: Collection[str]) -> Constraint:
    """The constraint of an element; ModelError for a class that is not read."""
    if element.tag not in KINDS:
        raise element.fault(
            f"constraints of this class are not read{suggestion(element.tag, KINDS)}; known are {', '.join(KINDS)}"
        )
    try:
        if element.tag == "CoordinateCouplerConstraint":
            return _coupling(element, coordinates)
        return _geometric(element, frames)
    except (ValueError, TypeError) as error:
        if isinstance(error, ModelError):
            raise
        raise element.fault(str(error)) from None


def _coupling(element: XmlElement, coordinates: Collection[str]) -> CoordinateCoupling:
    function = function_of(element, "coupled_coordinates_function")
    if function is None:
        raise element.fault("it has no <coupled_coordinates_function>; add one")
    others = text_of(element, "independent_coordinate_names").split()
    dependent = text_of(element, "dependent_coordinate_name")
    for name in (*others, dependent):
        if name not in coordinates:
            raise element.fault(f"there is no coordinate {repr_in_message(name)}{suggestion(name, coordinates)}")
    return CoordinateCoupling(
        dependent, tuple(others), function, number_of(element, "scale_factor", 1.0), name_of(element)
    )


def _geometric(element: XmlElement, frames: Frames) -> Constraint:
    label = name_of(element)
    if element.tag == "WeldConstraint":
        first, second = _weld_frames(element, frames)
        return Loop(first.body, second.body, "fixed", _pose(first), _pose(second), label=label)
    if element.tag == "PointOnLineConstraint":
        at = point_of(element, frames, "line_body", "point_on_line")
        point = point_of(element, frames, "follower_body", "point_on_follower")
        along = vector_of(element, "line_direction_vec", (1.0, 0.0, 0.0))
        rows = [(0.0, 0.0, 0.0, *row) for row in across(along)]
        return Loop(at.body, point.body, rows, _pose(at), _pose(point), sliding=True, label=label)
    p1, p2 = (point_of(element, frames, f"body_{k}", f"location_body_{k}") for k in (1, 2))
    if element.tag == "PointConstraint":
        return Loop(p1.body, p2.body, "ball", _pose(p1), _pose(p2), label=label)
    distance = number_of(element, "constant_distance")
    return PointDistance(p1.body, p2.body, distance, tuple(p1.p), tuple(p2.p), label)


def _weld_frames(element: XmlElement, frames: Frames) -> tuple[Placed, Placed]:
    """The frames that a weld holds together: sockets, or bodies with places in them in old documents."""
    found = []
    for k in (1, 2):
        given = socket_of(element, f"frame{k}", f"frame{k}", f"body_{k}")
        place = frames.of(element, given, f"frame {k}")
        R = rotation_xyz(short(vector_of(element, f"orientation_body_{k}")))
        p = short(vector_of(element, f"location_body_{k}"))
        found.append(Placed(place.body, place.R @ R, place.p + place.R @ p))
    return found[0], found[1]


def point_of(element: XmlElement, frames: Frames, socket: str, tag: str) -> Placed:
    """The point of an element in axes of a body. Where the socket is a frame fixed to a body, OpenSim takes the numbers
    as those of a point of the body, and so does this."""
    body = frames.of(element, socket_of(element, socket, socket), socket.replace("_", " ")).body
    return Placed(body, np.eye(3), vector_of(element, tag))


def _pose(place: Placed) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(place.R.ravel()), tuple(place.p)


def across(along: Array) -> list[list[float]]:
    """Two unit vectors at right angles to a direction and to each other."""
    size = float(np.linalg.norm(along))
    if size < 1e-9:
        raise ValueError("the direction of a line must not be zero")
    t = along / size
    first = np.cross(t, np.eye(3)[int(np.argmin(np.abs(t)))])
    first = first / np.linalg.norm(first)
    return [first.tolist(), np.cross(t, first).tolist()]
