"""Positions and orientations of MJCF: five ways to write a rotation, one result."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._base.types import Array, repr_in_message
from ...spatial_algebra.poses import Pose, about, euler, from_quaternion, z_towards
from .values import Values

TURNS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
"""Attributes that give an orientation; an element has one of them at most."""
TINY = 1e-14
"""Length of a vector that has no direction."""


class Angles(NamedTuple):
    """The units and the order of the angles of a file: `<compiler angle= eulerseq=>`."""

    unit: float = np.pi / 180
    sequence: str = "xyz"


def pose_of(values: Values, angles: Angles) -> Pose:
    """The pose that pos and one of quat, axisangle, xyaxes, zaxis and euler give."""
    return Pose(turn_of(values, angles), values.vector("pos"))


def turn_of(values: Values, angles: Angles) -> Array:
    """The rotation of an element. Its own attribute comes before any of its class."""
    own = [key for key in TURNS if key in values.own]
    if len(own) > 1:
        raise values.element.fault(f"it has {' and '.join(own)}, and an element has one orientation: keep one of them")
    key = own[0] if own else next((key for key in TURNS if key in values), "")
    if not key:
        return np.eye(3)
    if key == "quat":
        return quaternion(values.numbers(key, 4), values)
    if key == "axisangle":
        x = values.numbers(key, 4)
        return about(direction(x[:3], key, values), angles.unit * x[3])
    if key == "euler":
        return euler(angles.unit * values.numbers(key, 3), angles.sequence)
    if key == "zaxis":
        return z_towards(direction(values.numbers(key, 3), key, values))
    x, y = np.split(values.numbers(key, 6), 2)
    x = direction(x, key, values)
    y = direction(y - (x @ y) * x, key, values)
    return np.column_stack([x, y, np.cross(x, y)])


def direction(x: Array, key: str, values: Values) -> Array:
    """A unit vector along x."""
    length = np.linalg.norm(x)
    if not length > TINY:
        raise values.element.fault(
            f"{key}={repr_in_message(values.text(key))} has no direction; a direction is not zero, and two axes of a "
            "frame are not parallel"
        )
    return np.asarray(x / length)


def quaternion(x: Array, values: Values) -> Array:
    """The rotation of a quaternion (w, x, y, z) of any length; that of length zero is none."""
    length = np.linalg.norm(x)
    if not length > TINY:
        raise values.element.fault(f"quat={repr_in_message(values.text('quat'))} has no direction; write 1 0 0 0")
    return from_quaternion(x)
