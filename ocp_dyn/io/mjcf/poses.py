"""Positions and orientations of MJCF: five ways to write a rotation, one result."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._base.types import Array, repr_in_message
from .values import Values

TURNS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
"""Attributes that give an orientation; an element has one of them at most."""
TINY = 1e-14
"""Length of a vector that has no direction."""
AXES = np.eye(3)


class Pose(NamedTuple):
    """Orientation R (3x3, active) and position p [m] of a frame in another."""

    R: Array = np.eye(3)
    p: Array = np.zeros(3)

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.R @ other.p + self.p)


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


def from_quaternion(x: Array) -> Array:
    """The rotation of a quaternion (w, x, y, z) of any length but zero."""
    w, *v = x / np.linalg.norm(x)
    a = np.array(v)
    return np.asarray(2 * np.outer(a, a) + (w * w - a @ a) * np.eye(3) + 2 * w * cross(a))


def cross(a: Array) -> Array:
    """The matrix of the cross product with a."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def about(axis: Array, angle: float) -> Array:
    """The rotation about a unit axis [Rodrigues]."""
    along = np.outer(axis, axis)
    return np.asarray(along + np.cos(angle) * (np.eye(3) - along) + np.sin(angle) * cross(axis))


def euler(turns: Array, sequence: str) -> Array:
    """Rotations one after the other: lower-case letters about axes that are carried along, capitals about fixed
    ones."""
    R = np.eye(3)
    for letter, angle in zip(sequence, turns, strict=True):
        step = about(AXES["xyz".index(letter.lower())], float(angle))
        R = R @ step if letter.islower() else step @ R
    return R


def z_towards(z: Array) -> Array:
    """The smallest rotation that turns the z axis towards z; about x if z is the opposite direction."""
    axis = np.cross((0.0, 0.0, 1.0), z)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-10:
        axis, sine = AXES[0], 0.0
    return about(axis / np.linalg.norm(axis), float(np.arctan2(sine, z[2])))
