"""Faces of the ground under a motion: its terrain's patches, and those on which its contacts stand, period after
period."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from casadi import DM

from ..._base.types import Array
from ...gait.bodies import size

AHEAD, MOST_AHEAD = 4.0, 40
"""Distance before and after a periodic motion that still has its faces, in sizes of the model, and in periods."""

PLATE = 0.12
"""Half the size of the face drawn around a contact on a plane without a size, as a fraction of the model's size."""

RAIL = 0.12
"""Width [m] below which a face is a rail or a rung, with nothing below it."""


@dataclass(frozen=True, eq=False)
class Face:
    """A rectangle, corners (4, 3) [m] in the world. solid: whether the ground below it is filled, as below a stair."""

    corners: Array
    solid: bool

    @property
    def span(self) -> tuple[float, float]:
        """The least and the largest x [m]."""
        return float(self.corners[:, 0].min()), float(self.corners[:, 0].max())

    @property
    def normal(self) -> Array:
        """Normal of the face (3), as long as its area [m^2]."""
        a, b, _, d = self.corners
        return np.cross(b - a, d - a)

    @property
    def tilts(self) -> bool:
        """Whether the face is seen from the side as an area."""
        return bool(abs(self.normal[1]) > 0.02 * np.linalg.norm(self.normal))

    def height(self, x: float) -> float:
        """Height of the face's plane at x, in the middle of its width [m]."""
        normal, middle = self.normal, self.corners.mean(axis=0)
        return float(middle[2] - normal[0] * (x - middle[0]) / normal[2])


def faces_of(motion: Any, steps: int = 1) -> list[Face]:
    """The faces under `steps` periods of a motion; a motion without terrain on the level ground has none."""
    found = [_face(np.asarray(patch.corners), isinstance(patch, _Plate)) for patch in _patches(motion)]
    if not motion.repeats:
        return found
    seen: dict[tuple[float, ...], Face] = {}
    way = abs(motion.distance) or size(motion.model)
    ahead = min(MOST_AHEAD, 1 + int(AHEAD * size(motion.model) / way)) if found else 0
    for k in range(-ahead, steps + ahead):
        image = motion.repetition(k)
        for face in found:
            corners = np.asarray(image.points(face.corners))
            if image.mirror is not None:
                corners = corners[::-1]  # counterclockwise again
            key = np.round(corners, 4) + 0.0
            seen.setdefault(tuple(key[np.lexsort(key.T)].ravel().tolist()), Face(corners, face.solid))
    return list(seen.values())


def _face(corners: Array, plate: bool) -> Face:
    a, b, d = corners[0], corners[1], corners[3]
    normal = np.cross(b - a, d - a)
    wide = min(float(np.linalg.norm(b - a)), float(np.linalg.norm(d - a))) > RAIL
    return Face(corners, bool((wide or plate) and normal[2] > 0.5 * np.linalg.norm(normal)))


def _patches(motion: Any) -> Iterator[Any]:
    """Patches of the terrain, patches under contacts, and plates around contacts on other planes."""
    terrain = getattr(motion, "terrain", None)
    known = list(terrain.patches) if terrain is not None else []
    yield from known
    bare: dict[Any, list[Array]] = {}
    for phase in motion.phases:
        for name, plane in phase.planes.items():
            if hasattr(plane, "corners"):
                if plane not in known:
                    known.append(plane)
                    yield plane
            elif name in phase.places:
                bare.setdefault(plane, []).append(np.array(phase.places[name][:2], dtype=float))
    half = PLATE * size(motion.model)
    for plane, places in bare.items():
        if not any(_same(plane, other) for other in known):
            yield _Plate(plane, np.min(places, axis=0) - half, np.max(places, axis=0) + half)


def _same(plane: Any, patch: Any) -> bool:
    """Whether a plane is that of a patch."""
    normal = np.array(plane.normal)
    gap = abs(normal @ np.subtract(plane.point, patch.point))
    return bool(gap < 1e-6 and np.abs(normal - patch.normal).max() < 1e-9)


@dataclass(frozen=True, eq=False)
class _Plate:
    """A part of a plane, from the corner `low` to `high` (2) in its coordinates [m]."""

    plane: Any
    low: Array
    high: Array

    @property
    def corners(self) -> Array:
        (a, b), (c, d) = self.low, self.high
        points = DM([(a, b, 0.0), (c, b, 0.0), (c, d, 0.0), (a, d, 0.0)]).T
        return np.array([np.array(DM(self.plane.to_world(points[:, k])).full()).ravel() for k in range(4)])


def base_of(motion: Any, faces: list[Face]) -> float:
    """Height of the level ground around the faces [m]."""
    terrain = getattr(motion, "terrain", None)
    if terrain is not None and not callable(terrain.ground):
        return float(terrain.ground)
    return min([0.0, *(float(face.corners[:, 2].min()) for face in faces)])
