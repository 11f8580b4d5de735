"""Poses and rotations as numbers, as the readers of formats need them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._base.types import Array

AXES = np.eye(3)


class Pose(NamedTuple):
    """Orientation R (3x3, active) and position p [m] of a frame in another."""

    R: Array = np.eye(3)
    p: Array = np.zeros(3)

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> Pose:
        return Pose(self.R.T, -self.R.T @ self.p)


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
