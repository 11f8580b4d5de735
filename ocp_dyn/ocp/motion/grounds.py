"""Planes and terrain of a solved motion as plain data, for files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._types import Array, shown
from ..statement.ground.heights import HeightTable
from ..statement.ground.planes import Plane
from ..statement.ground.room import Patch
from ..statement.ground.terrain import Terrain

MARGIN = 2.0
"""Distance around a motion up to which a file keeps a ground that is a function [m]."""


def plane_to_list(plane: Plane) -> list[Any]:
    """Point and normal of a plane; of a patch also its length, width and name."""
    more = [plane.length, plane.width, plane.name] if isinstance(plane, Patch) else []
    return [list(plane.point), list(plane.normal), *more]


def plane_from_list(saved: Any) -> Plane:
    """The plane or patch of `plane_to_list`; ValueError if it is malformed."""
    try:
        return _plane(saved)
    except TypeError as error:
        raise ValueError(str(error)) from None


def _plane(saved: Any) -> Plane:
    if not isinstance(saved, list) or len(saved) not in (2, 5):
        raise ValueError(f"a point and a normal of a plane are expected, got {shown(saved)}")
    point, normal = (_numbers(part, 3) for part in saved[:2])
    if len(saved) == 2:
        return Plane((point[0], point[1], point[2]), normal)
    length, width = _numbers(saved[2:4], 2)
    return Patch((point[0], point[1], point[2]), normal, length=length, width=width, name=saved[4])


def terrain_to_dict(terrain: Terrain | None, near: Array) -> dict[str, Any] | None:
    """Patches, ground and smoothing of a terrain; a ground that is a function as a table of heights.

    near (n, 2) [m]: horizontal positions of the motion, around which the table is made.
    """
    if terrain is None:
        return None
    ground: Any = terrain.ground
    if callable(ground):
        base = Terrain(ground=ground)
        table = ground if isinstance(ground, HeightTable) else HeightTable.of(
            base.height, near.min(axis=0) - MARGIN, near.max(axis=0) + MARGIN
        )  # fmt: skip
        ground = {"x": table.x.tolist(), "y": table.y.tolist(), "z": table.z.tolist()}
    return {
        "patches": [plane_to_list(patch) for patch in terrain.patches],
        "ground": ground,
        "smoothing": terrain.smoothing,
    }


def terrain_from_dict(saved: Any) -> Terrain | None:
    """The terrain of `terrain_to_dict`; ValueError if it is malformed."""
    if saved is None:
        return None
    if not isinstance(saved, Mapping) or not {"patches", "ground", "smoothing"} <= saved.keys():
        raise ValueError(f"a terrain of 'patches', 'ground' and 'smoothing' is expected, got {shown(saved)}")
    planes = [plane_from_list(patch) for patch in saved["patches"]] if isinstance(saved["patches"], list) else [None]
    patches = [plane for plane in planes if isinstance(plane, Patch)]
    if len(patches) < len(planes):
        raise ValueError(f"a list of patches is expected, got {shown(saved['patches'])}")
    ground = saved["ground"]
    if isinstance(ground, Mapping):
        x, y, z = (np.array(ground.get(key, ()), dtype=float) for key in "xyz")
        grid = min(x.size, y.size) > 1 and z.shape == (x.size, y.size)
        if not grid or np.any(np.diff(x) <= 0) or np.any(np.diff(y) <= 0):
            raise ValueError("the table of the ground's heights must have ascending x and y, and a z for each pair")
        ground = HeightTable(x, y, z)
    try:
        return Terrain(patches, ground, saved["smoothing"])
    except TypeError as error:
        raise ValueError(str(error)) from None


def _numbers(values: Any, count: int) -> tuple[float, ...]:
    if not isinstance(values, list) or len(values) != count or not all(isinstance(x, (int, float)) for x in values):
        raise ValueError(f"{count} numbers are expected, got {shown(values)}")
    return tuple(float(x) for x in values)
