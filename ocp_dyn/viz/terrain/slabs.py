"""Faces of the ground as slabs, a mesh for the viewer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._base.types import Array
from .faces import Face

THICK, THIN = 0.25, 0.02
"""Thickness of a slab with ground below it: more than the rise of a stair; and of others [m]."""

BESIDE = 1e-3
"""Distance from an edge at which the face beside it is looked for [m]."""

QUADS = ((0, 1, 2, 3), (7, 6, 5, 4), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0))
"""Sides of a box by the numbers of its corners: four above, then four below."""


def slabs(faces: Sequence[Face]) -> tuple[Array, Array]:
    """Vertices (n, 3) [m] and triangles (m, 3) of boxes below the faces."""
    vertices, triangles = [], []
    for k, face in enumerate(faces):
        down = np.array([0.0, 0.0, -THICK]) if face.solid else -THIN * face.normal / np.linalg.norm(face.normal)
        vertices += [face.corners, face.corners + down]
        for i, j, m, n in QUADS:
            triangles += [(8 * k + i, 8 * k + j, 8 * k + m), (8 * k + i, 8 * k + m, 8 * k + n)]
    return np.concatenate(vertices), np.array(triangles, dtype=np.uint32)


def edges(faces: Sequence[Face]) -> Array:
    """Segments (n, 2, 3) [m] along the edges of the faces."""
    return np.concatenate([np.stack([face.corners, np.roll(face.corners, -1, axis=0)], axis=1) for face in faces])


def risers(faces: Sequence[Face]) -> list[Array]:
    """Upright quadrilaterals (4, 3) [m] from the edges of solid faces down to the faces beside them."""
    found = []
    solid = [face for face in faces if face.solid]
    for face in solid:
        middle = face.corners.mean(axis=0)
        for p, q in zip(face.corners, np.roll(face.corners, -1, axis=0), strict=True):
            center = (p + q) / 2
            beside = center + BESIDE * (center - middle) / max(float(np.linalg.norm(center - middle)), BESIDE)
            heights = [z for other in solid if other is not face and (z := _height(other, beside)) is not None]
            drop = THICK if not heights else float(center[2]) - max(heights)
            if drop > BESIDE:
                down = np.array([0.0, 0.0, min(drop, THICK)])
                found.append(np.array([p, q, q - down, p - down]))
    return found


def _height(face: Face, p: Array) -> float | None:
    """Height of the face above or below the point p [m], None beside the face."""
    a, b, d = face.corners[0], face.corners[1], face.corners[3]
    u, v = np.linalg.solve(np.column_stack([(b - a)[:2], (d - a)[:2]]), (p - a)[:2])
    return float((a + u * (b - a) + v * (d - a))[2]) if 0 <= u <= 1 and 0 <= v <= 1 else None
