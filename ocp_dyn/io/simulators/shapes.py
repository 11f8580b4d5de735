"""Shapes fixed to frames of a model: with these its bodies touch the ground in a simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.checks import given_name, label, positive
from ..._base.types import Array, ModelError, Vector, finite_vector, repr_in_message, sequence, suggestion, truth
from ...mechanism import Frame, Model
from ...mechanism.parts import WORLD, rotation_matrix
from ...spatial_algebra.spatial import Transform

ORIGIN = (0.0, 0.0, 0.0)


class Shape:
    """A shape fixed to a frame: the part that all kinds have in common. `size`: half sizes of a box; radius of a ball;
    radius and half length of a cylinder [m]."""

    frame: str
    center: Vector
    rotation: Any
    name: str | None
    kind: str

    @property
    def size(self) -> tuple[float, ...]:
        raise NotImplementedError

    @property
    def R(self) -> Array:
        """The axes of the shape in its frame, as columns (3x3)."""
        return np.eye(3) if self.rotation is None else np.reshape(self.rotation, (3, 3))

    def _place(self) -> None:
        """Checks and normalizes frame, center, rotation and name."""
        what = type(self).__name__
        frame = self.frame.name if isinstance(self.frame, Frame) else self.frame
        object.__setattr__(self, "frame", label(frame, f"{what} frame"))
        center = finite_vector(self.center, 3, f"{what} on {repr_in_message(frame)}: center [m]")
        object.__setattr__(self, "center", tuple(map(float, center)))
        if self.rotation is not None:
            R = np.array(rotation_matrix(self.rotation, f"{what} on {repr_in_message(frame)}").full())
            object.__setattr__(self, "rotation", tuple(map(tuple, R.tolist())))
        if self.name is not None:
            given_name(self.name, f"{what} on {repr_in_message(frame)}: name")

    def _positive(self, *fields: str) -> None:
        for field in fields:
            what = f"{type(self).__name__} on {repr_in_message(self.frame)}: {field} [m]"
            object.__setattr__(self, field, positive(getattr(self, field), what))


@dataclass(frozen=True)
class Box(Shape):
    """A box with these half sizes [m] along its axes, for a sole or a step of stairs.

    frame: a name of the model, or "world". center [m] and rotation (3x3, its columns are the box's axes) in this frame.
    name: of the shape in the file; by default that of its frame. ValueError or TypeError for sizes that are not
    positive, or a rotation that is none.

    >>> od.io.Box("foot_r", (0.13, 0.05, 0.01), center=(0.06, 0, -0.07)).size
    (0.13, 0.05, 0.01)
    """

    frame: str
    half_sizes: Vector
    center: Vector = ORIGIN
    rotation: Any = None
    name: str | None = None

    kind = "box"

    def __post_init__(self) -> None:
        self._place()
        half = finite_vector(self.half_sizes, 3, f"Box on {repr_in_message(self.frame)}: half_sizes [m]")
        if np.any(half <= 0):
            raise ValueError(
                f"Box on {repr_in_message(self.frame)}: half_sizes [m] must be positive, got "
                f"{repr_in_message(self.half_sizes)}"
            )
        object.__setattr__(self, "half_sizes", tuple(map(float, half)))

    @property
    def size(self) -> tuple[float, ...]:
        return tuple(self.half_sizes)


@dataclass(frozen=True)
class Ball(Shape):
    """A ball of this radius [m], for a point foot.

    frame: a name of the model, or "world"; center [m] in this frame; name: as of `Box`.

    >>> od.io.Ball("FL_FOOT", 0.02).size
    (0.02,)
    """

    frame: str
    radius: float
    center: Vector = ORIGIN
    name: str | None = None

    kind = "sphere"
    rotation = None

    def __post_init__(self) -> None:
        self._place()
        self._positive("radius")

    @property
    def size(self) -> tuple[float, ...]:
        return (self.radius,)


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder of this radius and half length [m] along z of its own axes, for a wheel or a rounded edge.

    rounded: whether a half ball of the same radius closes either end, beyond the half length: a capsule. A URDF has
    none and gets the cylinder and two balls. Other arguments as of `Box`.

    >>> od.io.Cylinder("wheel", radius=0.3, half_length=0.02).size
    (0.3, 0.02)
    """

    frame: str
    radius: float
    half_length: float
    center: Vector = ORIGIN
    rotation: Any = None
    name: str | None = None
    rounded: bool = False

    def __post_init__(self) -> None:
        self._place()
        self._positive("radius", "half_length")
        object.__setattr__(self, "rounded", truth(self.rounded, f"Cylinder on {repr_in_message(self.frame)}: rounded"))

    @property
    def kind(self) -> str:  # type: ignore[override]  # one of two, which the others do not have
        return "capsule" if self.rounded else "cylinder"

    @property
    def size(self) -> tuple[float, ...]:
        return self.radius, self.half_length


def checked_shapes(shapes: Any, model: Model) -> list[Shape]:
    """The shapes as a list; KeyError for a frame that the model does not have."""
    found = sequence(shapes, "shapes must be a list such as [od.io.Box('foot', (0.1, 0.05, 0.01))]")
    for shape in found:
        if not isinstance(shape, Shape):
            raise TypeError(f"a shape must be an od.io.Box, Ball or Cylinder, got {repr_in_message(shape)}")
        frame_of(model, shape.frame, type(shape).__name__)
    return found


def frame_of(model: Model, name: str, what: str) -> Frame:
    """The frame of that name, the ground for "world"; KeyError that says what is on it."""
    if name not in model.frames and name != WORLD:
        raise KeyError(
            f"{what}: no frame {repr_in_message(name)} in this model{suggestion(name, (WORLD, *model.frames))}"
        )
    return model.frames.get(name) or Frame(WORLD, 0)


def shape_pose(model: Model, shape: Shape) -> tuple[int, Array, Array]:
    """The body of a shape, its axes (3x3, columns) and its center [m] in body coordinates."""
    frame = frame_of(model, shape.frame, type(shape).__name__)
    return frame.body, *pose_in_body(frame.X, shape.R, shape.center)


def pose_in_body(X: Transform, R: Array, p: Sequence[float] | Array) -> tuple[Array, Array]:
    """Axes (3x3, columns) and position of a thing in body coordinates, from its pose in a frame at X."""
    E, r = np.array(X.E.full()), np.array(X.r.full()).ravel()
    return E.T @ R, r + E.T @ np.asarray(p)


def check_names(shapes: Sequence[Shape]) -> None:
    """ModelError for two shapes with one given name."""
    given = [shape.name for shape in shapes if shape.name is not None]
    twice = next((name for name in given if given.count(name) > 1), None)
    if twice is not None:
        raise ModelError(f"two shapes are called {repr_in_message(twice)}; give each its own name, or none")
