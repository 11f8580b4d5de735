"""Markers, points of paths, wrap objects, muscles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.checks import choice, finite, is_pair
from ..._base.types import Vector, finite_vector, repr_in_message, truth
from ...joints import ConstantFunction, ScalarFunction


def named(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{what} must be a name, got {repr_in_message(value)}")
    return value


def _point(value: Any, what: str) -> tuple[float, ...]:
    return tuple(map(float, finite_vector(value, 3, what)))


def all_of(values: Any, kinds: Any, what: str) -> tuple[Any, ...]:
    found = tuple(values) if isinstance(values, (tuple, list)) else (values,)
    if not all(isinstance(value, kinds) for value in found):
        raise TypeError(f"{what}, got {repr_in_message(values)}")
    return found


@dataclass(frozen=True)
class Marker:
    """A marker: a point [m] in a frame of the model, by the frame's name.

    >>> od.Marker("knee", "link1", (0.0, 0.03, -0.5)).body
    'link1'
    """

    name: str
    body: str
    point: Vector
    fixed: bool = False
    """Whether the marker stays where it is when a model is scaled by markers."""

    def __post_init__(self) -> None:
        named(self.name, "Marker name")
        named(self.body, "Marker body")
        truth(self.fixed, "Marker fixed")
        object.__setattr__(self, "point", _point(self.point, "Marker point [m]"))


@dataclass(frozen=True)
class PathPoint:
    """A point [m] of a muscle's path, fixed in a frame of the model.

    >>> od.PathPoint("P1", "link1", (0, 0, -0.2)).point
    (0.0, 0.0, -0.2)
    """

    name: str
    body: str
    point: Vector

    def __post_init__(self) -> None:
        named(self.name, "PathPoint name")
        named(self.body, "PathPoint body")
        object.__setattr__(self, "point", _point(self.point, "PathPoint point [m]"))


@dataclass(frozen=True)
class ConditionalPathPoint:
    """A point [m] of a path that belongs to it only while a coordinate lies in [lower, upper] [rad or m].

    >>> od.ConditionalPathPoint("P2", "link1", (0, 0, -0.2), "joint1", -1.0, 0.0).coordinate
    'joint1'
    """

    name: str
    body: str
    point: Vector
    coordinate: str
    lower: float
    upper: float

    def __post_init__(self) -> None:
        for what in ("name", "body", "coordinate"):
            named(getattr(self, what), f"ConditionalPathPoint {what}")
        object.__setattr__(self, "point", _point(self.point, "ConditionalPathPoint point [m]"))
        for what in ("lower", "upper"):
            object.__setattr__(self, what, finite(getattr(self, what), f"ConditionalPathPoint {what}"))


@dataclass(frozen=True)
class MovingPathPoint:
    """A point of a path whose three places [m] in a frame are functions of coordinates.

    functions: three, for x, y, z. coordinates: the name of the coordinate of each; None for one that is constant.

    >>> at = (od.LinearFunction(0.1), od.ConstantFunction(0.0), od.ConstantFunction(-0.4))
    >>> od.MovingPathPoint("P3", "link1", at, ("joint1", None, None)).body
    'link1'
    """

    name: str
    body: str
    functions: tuple[ScalarFunction, ...]
    coordinates: tuple[str | None, ...]

    def __post_init__(self) -> None:
        named(self.name, "MovingPathPoint name")
        named(self.body, "MovingPathPoint body")
        functions = all_of(self.functions, ScalarFunction, "MovingPathPoint functions must be three")
        coordinates = all_of(self.coordinates, (str, type(None)), "MovingPathPoint coordinates must be three names")
        if len(functions) != 3 or len(coordinates) != 3:
            raise ValueError(f"MovingPathPoint {self.name}: three functions and three coordinates are needed")
        for function, coordinate in zip(functions, coordinates, strict=True):
            if coordinate is None and not isinstance(function, ConstantFunction):
                raise ValueError(f"MovingPathPoint {self.name}: only a ConstantFunction needs no coordinate")
        object.__setattr__(self, "functions", functions)
        object.__setattr__(self, "coordinates", coordinates)


WRAP_METHODS = ("hybrid", "midpoint", "axial")


@dataclass(frozen=True)
class PathWrap:
    """A wrap object on a path. first, last: numbers of the points, from 1, between which it may wrap; 0 stands for
    the first and the last point of the path. method: one of "hybrid", "midpoint", "axial", for ellipsoids.

    >>> od.PathWrap("KneeWrap").first
    0
    """

    wrap: str
    method: str = "hybrid"
    first: int = 0
    last: int = 0

    def __post_init__(self) -> None:
        named(self.wrap, "PathWrap wrap")
        choice(self.method, WRAP_METHODS, "PathWrap method")
        for what in ("first", "last"):
            value = getattr(self, what)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"PathWrap {what} must be the number of a point, from 1, or 0, got {value!r}")


WRAP_SIZES = {
    "cylinder": ("radius", "length"),
    "sphere": ("radius",),
    "ellipsoid": ("radius_x", "radius_y", "radius_z"),
    "torus": ("inner_radius", "outer_radius"),
}
"""Kinds of wrap objects, and what their sizes are."""
QUADRANTS = ("all", "x", "-x", "y", "-y", "z", "-z")
UPRIGHT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class WrapObject:
    """A surface around which paths of muscles bend, fixed in a frame of the model.

    kind and sizes [m]: "cylinder" (radius, length) along its z axis, "sphere" (radius,), "ellipsoid" (its half axes),
    "torus" (inner radius, of the tube, and outer radius, of the ring about z). origin [m] and rotation (3x3, its rows
    one after the other): of the object's frame in that of the body. quadrant: the half of the object on which paths
    pass, "x", "-z", ..., or "all".

    >>> od.WrapObject("KneeWrap", "cylinder", "link1", (0.04, 0.1)).quadrant
    'all'
    """

    name: str
    kind: str
    body: str
    sizes: tuple[float, ...]
    origin: Vector = (0.0, 0.0, 0.0)
    rotation: Any = UPRIGHT
    quadrant: str = "all"
    active: bool = True

    def __post_init__(self) -> None:
        named(self.name, "WrapObject name")
        named(self.body, "WrapObject body")
        choice(self.kind, tuple(WRAP_SIZES), "WrapObject kind")
        choice(self.quadrant, QUADRANTS, "WrapObject quadrant")
        truth(self.active, "WrapObject active")
        count = len(WRAP_SIZES[self.kind])
        sizes = finite_vector(self.sizes, count, f"WrapObject sizes [m] ({', '.join(WRAP_SIZES[self.kind])})")
        if not np.all(sizes > 0):
            raise ValueError(f"WrapObject {self.name}: its sizes must be positive, got {repr_in_message(self.sizes)}")
        R = finite_vector(self.rotation, 9, "WrapObject rotation (3x3)")
        A = R.reshape(3, 3)
        if not np.allclose(A @ A.T, np.eye(3), atol=1e-8) or np.linalg.det(A) < 0:
            raise ValueError(f"WrapObject {self.name}: its rotation must be orthonormal, got {A.tolist()}")
        object.__setattr__(self, "sizes", tuple(map(float, sizes)))
        object.__setattr__(self, "rotation", tuple(map(float, R)))
        object.__setattr__(self, "origin", _point(self.origin, "WrapObject origin [m]"))


AnyPathPoint = PathPoint | ConditionalPathPoint | MovingPathPoint


@dataclass(frozen=True)
class Muscle:
    """A muscle, a ligament or another force along a path, as data; `od.muscle_lengths` and `od.muscles` use it.

    kind: the class of its file, such as "Millard2012EquilibriumMuscle". path: its points, from origin to insertion.
    wraps: the surfaces on its path, in their order. max_isometric_force [N], optimal_fiber_length and
    tendon_slack_length [m], pennation_angle [rad] at the optimal length; None where its class has none. parameters:
    all other numbers of its class, by the names in the file, those of a curve as "CURVE.NAME"; curves given as
    functions are in `functions`. active=False: the file switches it off.

    >>> path = (od.PathPoint("P1", "link1", (0, 0, 0)), od.PathPoint("P2", "tip", (0, 0, 0)))
    >>> soleus = od.Muscle("soleus", "Millard2012EquilibriumMuscle", path, max_isometric_force=3549.0)
    >>> soleus.parameters
    ()
    """

    name: str
    kind: str
    path: tuple[AnyPathPoint, ...]
    wraps: tuple[PathWrap, ...] = ()
    max_isometric_force: float | None = None
    optimal_fiber_length: float | None = None
    tendon_slack_length: float | None = None
    pennation_angle: float | None = None
    parameters: Any = ()
    functions: Any = ()
    active: bool = True

    def __post_init__(self) -> None:
        named(self.name, "Muscle name")
        named(self.kind, "Muscle kind")
        truth(self.active, f"Muscle {self.name} active")
        what = f"Muscle {self.name}: its path must be points such as PathPoint"
        object.__setattr__(self, "path", all_of(self.path, (PathPoint, ConditionalPathPoint, MovingPathPoint), what))
        object.__setattr__(self, "wraps", all_of(self.wraps, PathWrap, f"Muscle {self.name}: wraps must be PathWraps"))
        if len(self.path) < 2:
            raise ValueError(f"Muscle {self.name}: a path needs at least two points, got {len(self.path)}")
        for key in FIGURES:
            if getattr(self, key) is not None:
                object.__setattr__(self, key, finite(getattr(self, key), f"Muscle {self.name}: {key}"))
        given = _pairs(self.parameters, f"Muscle {self.name}: parameters")
        pairs = sorted((named(k, "name of a parameter"), finite(x, f"{self.name}: {k}")) for k, x in given)
        object.__setattr__(self, "parameters", tuple(pairs))
        given = _pairs(self.functions, f"Muscle {self.name}: functions")
        curves = sorted(((named(k, "name of a function"), f) for k, f in given), key=lambda pair: pair[0])
        all_of([f for _, f in curves], ScalarFunction, f"Muscle {self.name}: functions must be such as SimmSpline")
        object.__setattr__(self, "functions", tuple(curves))


def _pairs(given: Any, what: str) -> tuple[Any, ...]:
    """Names with their values, of a dict or of a list of pairs."""
    found = tuple(given.items()) if isinstance(given, Mapping) else given
    if not isinstance(found, (tuple, list)) or not all(map(is_pair, found)):
        raise TypeError(f"{what} must be a dict, or pairs (name, value), got {repr_in_message(given)}")
    return tuple(found)


FIGURES = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle")
"""Numbers of a `Muscle` that most classes have."""
LENGTHS = ("optimal_fiber_length", "tendon_slack_length")
