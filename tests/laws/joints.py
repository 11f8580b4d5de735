"""Joints in another description of the world: other units, mirrored, their frames elsewhere on the bodies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any

import numpy as np
from casadi import DM

import ocp_dyn as od
from tests.helpers import random_rotation

Array = np.ndarray
MIRROR = np.diag([1.0, -1.0, 1.0])
"""The mirror map of coordinates in bodies, so that axes stay right-handed where the world is mirrored."""


@dataclass(frozen=True)
class Frame:
    """New coordinates of a frame: length P (x - r), P orthogonal."""

    P: Array = field(default_factory=lambda: np.eye(3))
    r: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def axial(self) -> Array:
        """The rotation of pseudovectors: angular velocities, axes of rotation."""
        return np.linalg.det(self.P) * self.P


@dataclass(frozen=True)
class Moved:
    """A joint in the new description: `joint` between frames whose coordinates have changed by `fixed` and `moving`;
    new positions are B q + b, new velocities A qd."""

    joint: od.Joint
    fixed: Frame
    moving: Frame
    A: Array
    B: Array
    b: Array

    @staticmethod
    def alike(joint: od.Joint, frame: Frame, A: Array) -> Moved:
        """Both frames change by `frame`, and q as qd does."""
        return Moved(joint, frame, frame, A, A, np.zeros(len(A)))


@dataclass(frozen=True)
class Draw:
    """Facts common to all joints: the unit of length, whether the world is mirrored; rng: frames turn and move as
    it says, by `far` along an axis at most."""

    length: float = 1.0
    mirrored: bool = False
    rng: np.random.Generator | None = None
    far: float = 0.0

    @property
    def plain(self) -> Frame:
        """A frame that stays where it is."""
        return Frame(MIRROR if self.mirrored else np.eye(3))

    def turned(self) -> Frame:
        """A frame turned at random about its origin."""
        return self.plain if self.rng is None else Frame(random_rotation(self.rng) @ self.plain.P)

    def along(self, frame: Frame, *axes: Any) -> Frame:
        """The frame shifted at random along axes."""
        if self.rng is None:
            return frame
        return Frame(
            frame.P, sum((self.rng.uniform(-self.far, self.far) * np.array(axis) for axis in axes), np.zeros(3))
        )


@singledispatch
def moved(joint: od.Joint, draw: Draw) -> Moved:
    raise NotImplementedError(
        f"the laws do not know how {type(joint).__name__} changes with units and frames: register it in "
        "tests/laws/joints.py with @moved.register"
    )


@moved.register
def _(joint: od.Revolute, draw: Draw) -> Moved:
    frame = draw.along(draw.turned(), joint.axis)
    return Moved.alike(od.Revolute(frame.axial @ joint.axis), frame, np.eye(1))


@moved.register
def _(joint: od.Prismatic, draw: Draw) -> Moved:
    frame = draw.along(draw.turned(), *np.eye(3))
    return Moved.alike(od.Prismatic(frame.P @ joint.axis), frame, draw.length * np.eye(1))


def _screw(axis: Any, frame: Frame, length: float) -> Array:
    """[r; t] in the new frame."""
    r, t = np.split(np.array(axis), 2)
    return np.concatenate([frame.axial @ r, (length if r.any() else 1.0) * frame.P @ t])


@moved.register
def _(joint: od.Helical, draw: Draw) -> Moved:
    frame, (r, t) = draw.turned(), np.split(np.array(joint.axis), 2)
    if np.linalg.norm(np.cross(r, t)) < 1e-12:
        frame = draw.along(frame, r)
    return Moved.alike(od.Helical(_screw(joint.axis, frame, draw.length)), frame, np.eye(1))


@moved.register
def _(joint: od.Cylindrical, draw: Draw) -> Moved:
    frame = draw.along(draw.turned(), joint.axis)
    A = np.diag([np.linalg.det(frame.P), draw.length])
    return Moved.alike(od.Cylindrical(frame.P @ joint.axis), frame, A)


@moved.register
def _(joint: od.Universal, draw: Draw) -> Moved:
    frame = draw.turned()
    return Moved.alike(od.Universal(frame.axial @ joint.first, frame.axial @ joint.second), frame, np.eye(2))


@moved.register
def _(joint: od.MultiDof, draw: Draw) -> Moved:
    frame = draw.turned()
    A = np.diag([1.0 if any(axis[:3]) else draw.length for axis in joint.axes])
    return Moved.alike(od.MultiDof([_screw(axis, frame, draw.length) for axis in joint.axes]), frame, A)


@moved.register
def _(joint: od.Translation, draw: Draw) -> Moved:
    frame = draw.along(draw.turned(), *np.eye(3))
    return Moved.alike(joint, frame, draw.length * frame.P)


@moved.register
def _(joint: od.Planar, draw: Draw) -> Moved:
    angle = 0.0 if draw.rng is None else draw.rng.uniform(-3, 3)
    c, s = np.cos(angle), np.sin(angle)
    P = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ draw.plain.P
    A = np.zeros((3, 3))
    A[:2, :2], A[2, 2] = draw.length * P[:2, :2], np.linalg.det(P)
    return Moved.alike(joint, draw.along(Frame(P), (0, 0, 1)), A)


def _signs(order: str, frame: Frame) -> Array:
    """Signs of angles about the axes of an order."""
    return np.array([frame.axial["xyz".index(k), "xyz".index(k)] for k in order])


@moved.register
def _(joint: od.Euler, draw: Draw) -> Moved:
    return Moved.alike(joint, draw.plain, np.diag(_signs(joint.order, draw.plain)))


def _product(left: Array, right: Array) -> Array:
    """The matrix of q -> left q conj(right) of quaternions (x, y, z, w)."""

    def times(a: Array, b: Array) -> Array:
        return np.concatenate([a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3]), [a[3] * b[3] - a[:3] @ b[:3]]])

    conjugate = np.append(-right[:3], right[3])
    return np.array([times(times(left, unit), conjugate) for unit in np.eye(4)]).T


def _of_quaternion(fixed: Frame, moving: Frame) -> Array:
    """The quaternion of P_fixed R P_moving' by that of R (4 x 4)."""
    left, right = (od.matrix_quaternion(frame.axial) for frame in (fixed, moving))
    return _product(left, right)


@moved.register
def _(joint: od.Spherical, draw: Draw) -> Moved:
    fixed, moving = draw.turned(), draw.turned()
    return Moved(joint, fixed, moving, moving.axial, _of_quaternion(fixed, moving), np.zeros(4))


@moved.register
def _(joint: od.FloatingBase, draw: Draw) -> Moved:
    free = joint.has_quaternion
    fixed, moving = (draw.turned(), draw.turned()) if free else (draw.plain, draw.plain)
    fixed = draw.along(fixed, *np.eye(3))
    turned = np.diag(_signs(joint.rotation.removeprefix("euler_"), moving)) if not free else moving.axial
    A, B, b = np.zeros((6, 6)), np.zeros((joint.nq, joint.nq)), np.zeros(joint.nq)
    A[:3, :3] = B[:3, :3] = draw.length * fixed.P
    A[3:, 3:], B[3:, 3:] = turned, _of_quaternion(fixed, moving) if free else turned
    b[:3] = -draw.length * fixed.P @ fixed.r
    return Moved(joint, fixed, moving, A, B, b)


@moved.register
def _(joint: od.CustomJoint, draw: Draw) -> Moved:
    fixed, moving = (draw.along(draw.turned(), *np.eye(3)) for _ in range(2))
    A = np.diag([draw.length if label == "slide" else 1.0 for label in joint.labels])

    def function(q: Any) -> od.Transform:
        X = joint.function(DM(np.linalg.inv(A)) @ q)
        r = X.r - DM(fixed.r) + X.E.T @ DM(moving.r)
        return od.Transform(DM(moving.P) @ X.E @ DM(fixed.P.T), draw.length * (DM(fixed.P) @ r))

    return Moved(od.CustomJoint(function, joint.labels), fixed, moving, A, A, np.zeros(len(A)))


@moved.register
def _(joint: od.FunctionJoint, draw: Draw) -> Moved:
    """An ellipsoid has its axes, so the frames may be mirrored, and stay as they are otherwise."""
    frame = draw.plain
    R, p = joint.pose
    made = od.FunctionJoint(
        [replace(axis, axis=tuple(frame.axial @ axis.vector)) for axis in joint.rotations],
        [
            replace(axis, axis=tuple(frame.P @ axis.vector), function=axis.function.times(draw.length))
            for axis in joint.translations
        ],
        joint.labels,
        draw.length * np.array(joint.radii),
        ((frame.P @ np.reshape(R, (3, 3)) @ frame.P.T).ravel(), draw.length * frame.P @ p),
        joint.reverse,
    )
    return Moved.alike(made, frame, np.eye(joint.nv))
