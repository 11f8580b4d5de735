"""The inertia of a body of MJCF: given, or the sum of those of its shapes, then bounded as `<compiler>` says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..._base.types import Array
from ...spatial_algebra.poses import cross
from .elements import GeomData, InertiaData
from .settings import Settings
from .tree import BodyData
from .values import Values

SMALLEST = 1e-15
"""Mass [kg] of shapes below which they count as none, MuJoCo's mjMINVAL."""
ROUNDING = 1e-12


def of_body(body: BodyData, settings: Settings, from_meshes: Callable[[GeomData], InertiaData]) -> InertiaData:
    """The inertia of a body. from_meshes: called with the first shape whose mass follows from a mesh, if one counts.

    A body without mass has its center at the numbers of its own pos=, as in MuJoCo; they matter under a least mass.
    """
    found = body.inertial
    if settings.inertia_from_geom == "true" or (found is None and settings.inertia_from_geom == "auto"):
        counting = [geom for geom in body.geoms if geom.counts]
        fitted = next((geom for geom in counting if geom.mass is None), None)
        if fitted is not None:
            return from_meshes(fitted)
        found = _sum_of(counting) or (None if counting else found)
    return _bounded(found or InertiaData(0.0, Values(body.element).vector("pos"), np.zeros((3, 3))), settings)


def _sum_of(geoms: Sequence[GeomData]) -> InertiaData | None:
    masses = np.array([geom.mass or 0.0 for geom in geoms])
    total = float(masses.sum())
    if total < SMALLEST:
        return None
    com = sum((m * geom.pose.p for m, geom in zip(masses, geoms, strict=True)), np.zeros(3)) / total
    I = np.zeros((3, 3))
    for m, geom in zip(masses, geoms, strict=True):
        arm = cross(geom.pose.p - com)
        I += geom.pose.R @ np.diag(geom.moments) @ geom.pose.R.T - m * arm @ arm
    return InertiaData(total, com, I)


def _bounded(inertia: InertiaData, settings: Settings) -> InertiaData:
    """Mass and principal moments not below their bounds, and moments that no body has made equal if that is asked."""
    mass, I = max(inertia.mass, settings.bound_mass), inertia.I
    low, least = settings.bound_inertia, np.linalg.eigvalsh(I)
    impossible = least[0] + least[1] < least[2] * (1 - ROUNDING)
    if (low > 0 and least[0] < low) or (settings.balance and impossible):
        values, axes = _principal(I)
        values = np.maximum(values, low)
        a, b, c = np.sort(values)
        if settings.balance and a + b < c:
            values = np.full(3, values.mean())
        I = axes @ np.diag(values) @ axes.T
    return InertiaData(mass, inertia.com, I)


def _principal(I: Array) -> tuple[Array, Array]:
    values, axes = np.linalg.eigh((I + I.T) / 2)
    return np.asarray(values), np.asarray(axes)
