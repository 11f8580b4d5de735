"""Masses and moments of inertia of the shapes of MJCF, solid or of their surface alone, as MuJoCo computes them.

Formulas of solids and shells of revolution are those of any handbook, with the caps of a capsule as halves of a sphere.
The surface of an ellipsoid is Thomsen's approximation, with p = 1.6075, and its moments those of a thin layer of equal
thickness: the difference of two solid ellipsoids whose axes differ by 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._base.types import Array

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
"""Numbers of sizes of the shapes that have a mass: radius; radius and half length; half axes."""
MASSLESS = ("plane", "hfield")
LAYER = 1e-6
THOMSEN = 1.6075


def volume(kind: str, size: Array, shell: bool) -> float:
    """The volume [m^3] of a shape, or its surface [m^2]."""
    return float((SURFACES if shell else VOLUMES)[kind](size))


def moments(kind: str, size: Array, mass: float, shell: bool) -> Array:
    """Moments of inertia [kg m^2] about the axes of a shape."""
    return mass * (SHELLS if shell else SOLIDS)[kind](size)


def _revolved(axial: float, lateral: float) -> Array:
    return np.array([lateral, lateral, axial])


def _squares(size: Array) -> Array:
    """The sums of the squares of the two other sizes, per axis."""
    return np.asarray((size**2).sum() - size**2)


def _ellipsoid_volume(size: Array) -> float:
    return float(4 * np.pi / 3 * np.prod(size))


def _ellipsoid_surface(size: Array) -> float:
    a, b, c = size**THOMSEN
    return float(4 * np.pi * ((a * b + b * c + c * a) / 3) ** (1 / THOMSEN))


def _box_surface(size: Array) -> float:
    a, b, c = size
    return float(8 * (a * b + b * c + c * a))


VOLUMES: dict[str, Callable[[Array], float]] = {
    "sphere": lambda s: 4 * np.pi / 3 * s[0] ** 3,
    "capsule": lambda s: np.pi * s[0] ** 2 * (2 * s[1] + 4 * s[0] / 3),
    "cylinder": lambda s: 2 * np.pi * s[0] ** 2 * s[1],
    "ellipsoid": _ellipsoid_volume,
    "box": lambda s: 8 * float(np.prod(s)),
}
SURFACES: dict[str, Callable[[Array], float]] = {
    "sphere": lambda s: 4 * np.pi * s[0] ** 2,
    "capsule": lambda s: 4 * np.pi * s[0] * (s[0] + s[1]),
    "cylinder": lambda s: 2 * np.pi * s[0] * (s[0] + 2 * s[1]),
    "ellipsoid": _ellipsoid_surface,
    "box": _box_surface,
}


def _solid_capsule(size: Array) -> Array:
    r, h = size[0], 2 * size[1]
    caps = 4 * r / (4 * r + 3 * h)
    tube = 1 - caps
    around = 2 * caps * r**2 / 5
    lateral = tube * (3 * r**2 + h**2) / 12 + around + caps * h * (3 * r + 2 * h) / 8
    return _revolved(tube * r**2 / 2 + around, lateral)


def _shell_capsule(size: Array) -> Array:
    r, h = size[0], 2 * size[1]
    caps = 2 * r / (2 * r + h)
    tube = 1 - caps
    around = 2 * caps * r**2 / 3
    lateral = tube * (6 * r**2 + h**2) / 12 + around + caps * h * (h + 2 * r) / 4
    return _revolved(tube * r**2 + around, lateral)


def _shell_cylinder(size: Array) -> Array:
    r, h = size[0], 2 * size[1]
    lids = r / (r + h)
    tube = 1 - lids
    lateral = tube * (6 * r**2 + h**2) / 12 + lids * (r**2 + h**2) / 4
    return _revolved(tube * r**2 + lids * r**2 / 2, lateral)


def _shell_ellipsoid(size: Array) -> Array:
    inner, outer = _ellipsoid_volume(size), _ellipsoid_volume(size + LAYER)
    return np.asarray((outer * _squares(size + LAYER) - inner * _squares(size)) / (5 * (outer - inner)))


def _shell_box(size: Array) -> Array:
    """Moments of six plates: two each across every axis."""
    areas = 8 * np.prod(size) / size  # of the two plates across each axis
    total = np.zeros(3)
    for axis in range(3):
        half = np.where(np.arange(3) == axis, 0.0, size)
        shift = np.where(np.arange(3) == axis, size, 0.0)
        total += areas[axis] * (_squares(half) / 3 + _squares(shift))
    return np.asarray(total / areas.sum())


SOLIDS: dict[str, Callable[[Array], Array]] = {
    "sphere": lambda s: np.full(3, 2 * s[0] ** 2 / 5),
    "capsule": _solid_capsule,
    "cylinder": lambda s: _revolved(s[0] ** 2 / 2, (3 * s[0] ** 2 + 4 * s[1] ** 2) / 12),
    "ellipsoid": lambda s: _squares(s) / 5,
    "box": lambda s: _squares(s) / 3,
}
SHELLS: dict[str, Callable[[Array], Array]] = {
    "sphere": lambda s: np.full(3, 2 * s[0] ** 2 / 3),
    "capsule": _shell_capsule,
    "cylinder": _shell_cylinder,
    "ellipsoid": _shell_ellipsoid,
    "box": _shell_box,
}
"""Moments of inertia per mass [m^2]."""
