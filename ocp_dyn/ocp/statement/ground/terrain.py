"""Terrain: the ground of a motion as flat patches, such as stairs, and as a height function for swinging feet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ...._base.checks import call_user, expression, finite, name_among, numbers, positive
from ...._base.types import Array, Expr, finite_vector, is_whole, repr_in_message, sequence
from .planes import Plane
from .room import Patch

STEEPEST = 0.05
"""Least z component of the normal of a patch that has a height at (x, y): steeper patches are walls."""

ROUNDED = 0.25
"""Height within which two patches that cross are rounded, as a fraction of the smoothing length."""

SMOOTHING = 0.02
"""Default of `Terrain.smoothing` [m]."""


@dataclass(frozen=True, eq=False)
class HeightTable:
    """Height [m] between the points of a grid, bilinear, and constant beyond; x (n), y (m) [m], z (n, m) [m].

    A function of x and y: numbers and MX expressions.
    """

    x: Array
    y: Array
    z: Array

    def __call__(self, x: Any, y: Any) -> Expr:
        """The height at (x, y) [m]; TypeError for SX expressions, which cannot look up a table."""
        if isinstance(x, SX) or isinstance(y, SX):
            raise TypeError("a ground that was read from a file is a table, which has no SX expression; use MX")
        x = ca.fmin(ca.fmax(x, self.x[0]), self.x[-1])
        y = ca.fmin(ca.fmax(y, self.y[0]), self.y[-1])
        table = ca.interpolant("ground", "linear", [self.x.tolist(), self.y.tolist()], self.z.ravel(order="F").tolist())
        found: Expr = table(ca.horzcat(x, y).T).T
        return found if isinstance(found, ca.MX) else DM(found)

    @staticmethod
    def of(height: Any, low: Array, high: Array, points: int = 81) -> HeightTable:
        """The table of a function of numbers x and y, on a grid from `low` (2) to `high` (2) [m]."""
        x, y = (np.linspace(a, b, points) for a, b in zip(low, high, strict=True))
        X, Y = np.meshgrid(x, y, indexing="ij")
        z = np.array(DM(height(DM(X.ravel()), DM(Y.ravel()))).full()).reshape(points, points)
        return HeightTable(x, y, z)


@dataclass(frozen=True, eq=False)
class Terrain:
    """A ground as data: flat patches on which feet stand, above a base ground.

    patches: `Patch`es, found by `terrain.plane(name)` or `terrain.plane(number)`; a `Foothold` on one keeps its whole
    sole on it. ground: height of the base ground [m], a number, or a smooth function of x and y [m] by CasADi's
    functions. smoothing [m]: width of the band around a patch within which `height` falls from the patch to what lies
    beside it.

    Makers: `stairs`, `ramp`, `stepping_stones`. A terrain is also a function of x and y, its height, and so goes to
    `Clearance(points, terrain=terrain)`. Pictures draw the patches, and the base ground.

    >>> table = ocp.Terrain([ocp.Patch((1.0, 0.0, 0.7), length=0.6, width=1.2, name="table")])
    >>> [float(table.height(x, 0.0)) for x in (0.5, 1.0, 1.29)]  # beside it, in its middle, near its edge
    [0.0, 0.7, 0.7]
    """

    patches: Sequence[Patch] = ()
    ground: float | Callable[[Expr, Expr], Expr] = 0.0
    smoothing: float = SMOOTHING

    def __post_init__(self) -> None:
        patches = tuple(sequence(self.patches, "Terrain patches must be a sequence of ocp.Patch"))
        for patch in patches:
            if not isinstance(patch, Patch):
                raise TypeError(
                    "Terrain patches must be ocp.Patch(point, normal, length=..., width=...), got "
                    f"{repr_in_message(patch)}"
                )
        names = [patch.name for patch in patches if patch.name]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"Terrain patches must have different names, got {min(twice)!r} twice")
        object.__setattr__(self, "patches", patches)
        if not callable(self.ground):
            object.__setattr__(self, "ground", finite(self.ground, "Terrain ground [m], a number or a function,"))
        positive(self.smoothing, "Terrain smoothing [m]")

    def plane(self, which: int | str) -> Patch:
        """The patch of a name or a number, on which a foothold stands: `Foothold(..., plane=terrain.plane("stair 2"))`.

        KeyError for a name that no patch has, IndexError for a number that there is not.

        >>> ocp.stairs(rise=0.17, tread=0.29, count=3).plane("stair 2").point
        (0.435, 0.0, 0.34)
        """
        if isinstance(which, str):
            names = [patch.name for patch in self.patches]
            return self.patches[names.index(name_among(which, names, "Terrain plane", "patch"))]
        if not is_whole(which) or which >= len(self.patches):
            raise IndexError(
                f"Terrain plane: the terrain has {len(self.patches)} patches, numbered from 0, got "
                f"{repr_in_message(which)}"
            )
        return self.patches[which]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the patches, "" for those without a name."""
        return tuple(patch.name for patch in self.patches)

    def height(self, x: Any, y: Any) -> Expr:
        """Height of the ground at (x, y) [m], twice continuously differentiable, for numbers and CasADi expressions.

        Exact on a patch, and beside all patches from the distance `smoothing` on; between, it falls smoothly from the
        edge to the ground there: it is never below the ground, and a point above it is above the ground. Where two
        tilted patches cross, and where one meets the ground, it is at most 5 % of `smoothing` too high. Patches steeper
        than 87 degrees have no height; they are walls. Cost: about 40 operations a patch.

        >>> stairs = ocp.stairs(rise=0.17, tread=0.29, count=3)
        >>> [round(float(stairs.height(x, 0.0)), 3) for x in (-0.5, -0.01, 0.0, 0.28, 0.3)]
        [0.0, 0.085, 0.17, 0.255, 0.34]
        """
        x, y = (_coordinates(v, f"Terrain height: {name} [m]") for v, name in ((x, "x"), (y, "y")))
        h = self._base(x, y)
        for patch in sorted(self.patches, key=lambda patch: patch.point[2]):
            if patch.normal[2] < STEEPEST or (patch.level and patch.point[2] == self.ground):
                continue
            z, u, v = _on_patch(patch, x, y)
            weight = ca.SX(1) if isinstance(z, SX) else 1
            for place, size in ((u, patch.length), (v, patch.width)):
                weight = weight * _fade((ca.fabs(place) - size / 2) / self.smoothing)
            h = h + weight * _positive_part(z - h, ROUNDED * self.smoothing)
        return h

    __call__ = height

    def tangent(self, x: float, y: float) -> Plane:
        """The plane that touches the ground at (x, y) [m], for a foothold on a ground that is a function.

        >>> hills = ocp.Terrain(ground=lambda x, y: 0.1 * ca.sin(x))
        >>> hills.tangent(0.0, 0.5).normal
        (-0.09950371902099893, 0.0, 0.9950371902099893)
        """
        p = SX.sym("p", 2)
        place = [finite(x, "tangent: x [m]"), finite(y, "tangent: y [m]")]
        height = self.height(p[0], p[1])
        z, slope = ca.Function("tangent", [p], [height, ca.gradient(height, p)])(place)
        dx, dy = np.array(DM(slope).full()).ravel()
        return Plane((place[0], place[1], float(z)), (-dx, -dy, 1.0))

    def _base(self, x: Expr, y: Expr) -> Expr:
        if not callable(self.ground):
            return 0 * x + self.ground
        if isinstance(self.ground, HeightTable):
            return self.ground(x, y)
        if isinstance(x, DM):
            u, v = SX.sym("x"), SX.sym("y")
            found = ca.Function("ground", [u, v], [_one(call_user("Terrain ground", self.ground, u, v))])(x.T, y.T)
            return DM(found).T
        return _one(call_user("Terrain ground", self.ground, x, y))


def _coordinates(value: Any, what: str) -> Expr:
    """A coordinate, or several, as a CasADi matrix; TypeError for what is no number, ValueError for NaN."""
    if isinstance(value, (SX, ca.MX, DM)):
        return value
    found, shape = numbers(value, what), np.shape(value)
    if len(shape) > 2:
        raise ValueError(f"{what} must be a number, or numbers in rows and columns, got {repr_in_message(value)}")
    return DM(found.reshape(shape or 1))


def _one(height: Any) -> Expr:
    found: Expr = height if isinstance(height, ca.MX) else expression(height, "Terrain ground")
    if found.shape != (1, 1):
        raise ValueError(f"Terrain ground must return one height [m], got shape {found.shape}")
    return found


def _on_patch(patch: Patch, x: Expr, y: Expr) -> tuple[Expr, Expr, Expr]:
    """(z, u, v): height of the patch's plane at (x, y), and the place there in the coordinates of the patch [m]."""
    (px, py, pz), (a, b, c) = patch.point, patch.normal
    dx, dy = x - px, y - py
    dz = -(a * dx + b * dy) / c
    R = np.array(patch.R.full())
    u, v = (R[0, k] * dx + R[1, k] * dy + R[2, k] * dz for k in (0, 1))
    return pz + dz, u, v


def _fade(t: Expr) -> Expr:
    """Falls from 1 at t <= 0 to 0 at t >= 1, with two continuous derivatives."""
    t = ca.fmin(ca.fmax(t, 0), 1)
    return 1 - t * t * t * (10 - t * (15 - 6 * t))


def _positive_part(a: Expr, width: float) -> Expr:
    """max(a, 0), from -width to width a polynomial of degree 4 above it, with two continuous derivatives."""
    t = ca.fmin(ca.fmax(a / width, -1), 1)
    return ca.fmax(a - width, 0) + width * (3 + t * (8 + t * (6 - t * t))) / 16


def stairs(
    rise: float,
    tread: float,
    count: int,
    *,
    width: float = 1.2,
    landing: float = 1.0,
    x: float = 0.0,
    z: float = 0.0,
    smoothing: float = SMOOTHING,
) -> Terrain:
    """Stairs along x: patches "floor", "stair 1", ..., the last of which is a landing.

    x, z [m]: place of the first edge, and height of the floor before it. rise [m]: height of a stair, negative for
    stairs that go down; tread [m]: its depth; width [m]; landing [m]: length of the floor and of the last stair.

    >>> down = ocp.stairs(rise=-0.17, tread=0.29, count=2)
    >>> [(patch.name, round(patch.point[2], 2)) for patch in down.patches]
    [('floor', 0.0), ('stair 1', -0.17), ('stair 2', -0.34)]
    """
    rise = finite(rise, "stairs rise [m]")
    positive(tread, "stairs tread [m]")
    positive(landing, "stairs landing [m]")
    if not rise:
        raise ValueError("stairs rise [m] must not be 0; level ground needs no terrain")
    if not is_whole(count, 1):
        raise ValueError(f"stairs count must be a whole number of at least 1, got {repr_in_message(count)}")
    x, z = finite(x, "stairs x [m]"), finite(z, "stairs z [m]")
    found = [Patch((x - landing / 2, 0.0, z), length=landing, width=width, name="floor")]
    for k in range(1, count + 1):
        depth = tread if k < count else landing
        middle = x + (k - 1) * tread + depth / 2
        found.append(Patch((middle, 0.0, z + k * rise), length=depth, width=width, name=f"stair {k}"))
    return Terrain(found, ground=z + min(0.0, count * rise), smoothing=smoothing)


def ramp(
    angle: float,
    length: float,
    *,
    width: float = 1.2,
    landing: float = 1.0,
    x: float = 0.0,
    smoothing: float = SMOOTHING,
) -> Terrain:
    """A ramp along x: patches "floor", "ramp" and "top".

    angle [rad]: negative downhill; length [m]: along the ramp; it begins at x [m] and at height 0. landing [m]: length
    of the floor before it, and of the top after it.

    >>> steep = ocp.ramp(np.radians(30.0), length=2.0)
    >>> steep.plane("top").point[2].__round__(3)
    1.0
    """
    if not abs(finite(angle, "ramp angle [rad]")) < 1.5:
        raise ValueError(f"ramp angle is in rad, between -1.5 and 1.5, got {angle!r}")
    positive(length, "ramp length [m]")
    positive(landing, "ramp landing [m]")
    x = finite(x, "ramp x [m]")
    c, s = float(np.cos(angle)), float(np.sin(angle))
    found = [
        Patch((x - landing / 2, 0.0, 0.0), length=landing, width=width, name="floor"),
        Patch((x + c * length / 2, 0.0, s * length / 2), (-s, 0.0, c), length=length, width=width, name="ramp"),
        Patch((x + c * length + landing / 2, 0.0, s * length), length=landing, width=width, name="top"),
    ]
    return Terrain(found, ground=min(0.0, s * length), smoothing=smoothing)


def stepping_stones(
    points: Any,
    normals: Any = None,
    *,
    length: float = 0.4,
    width: float = 0.3,
    ground: float | None = None,
    smoothing: float = SMOOTHING,
) -> Terrain:
    """Stones at `points` (n, 3) [m], each with its own normal (n, 3) (None: level): patches "stone 1", "stone 2", ...

    length, width [m]: of every stone along its x and y axes (see `Plane`). ground: height of what is between them;
    None: 0.3 m below the lowest one.

    >>> brook = ocp.stepping_stones([(0, 0.1, 0), (0.5, -0.1, 0.05)], normals=[(0, 0, 1), (0.2, 0.1, 1)])
    >>> brook.names, float(brook.height(0.25, 0.0))
    (('stone 1', 'stone 2'), -0.3)
    """
    places = _rows(points, "stepping_stones points [m]")
    up = _rows(np.tile((0.0, 0.0, 1.0), (len(places), 1)) if normals is None else normals, "stepping_stones normals")
    if len(up) != len(places):
        raise ValueError(f"stepping_stones: {len(places)} points need as many normals, got {len(up)}")
    found = [
        Patch(tuple(p), tuple(n), length=length, width=width, name=f"stone {k}")
        for k, (p, n) in enumerate(zip(places, up, strict=True), start=1)
    ]
    below = float(places[:, 2].min()) - 0.3 if ground is None else ground
    return Terrain(found, ground=below, smoothing=smoothing)


def _rows(values: Any, what: str) -> Array:
    """The values as an array (n, 3), n at least 1."""
    rows = sequence(values, f"{what} must be rows of three numbers")
    try:
        found = [finite_vector(row, 3, what) for row in rows]
    except ValueError:
        found = []
    if not found:
        raise ValueError(f"{what} must be rows of three finite numbers, got {repr_in_message(values)}")
    return np.array(found)
