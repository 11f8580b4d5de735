"""Muscles in the viewer: cylinders along the lines of their paths, with the colors and the thickness of pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._base.types import Array
from ..muscles import MuscleShapes, colors_of, thickness_of
from .track import PoseTrack, between

EVERY = 2
"""Samples of a track from one shape of the muscles to the next; between them their points move straight."""


@dataclass(frozen=True, eq=False)
class MuscleFilm:
    """Pieces of the lines of all muscles of a track: ends (K, n, 2, 3) [m] at the times t (K) [s], in the coordinates
    of a cycle; colors (K, n, 3) and radii (K, n) [m]."""

    t: Array
    ends: Array
    colors: Array
    radii: Array

    @classmethod
    def of(cls, track: PoseTrack) -> MuscleFilm:
        """The lines of a track; without activations they are those of muscles at rest."""
        rows = np.unique(np.append(np.arange(0, len(track.t), EVERY), len(track.t) - 1))
        shapes = MuscleShapes(track.model)
        active = np.zeros((len(rows), len(track.model.muscles)))
        if track.activations is not None:
            active = track.activations[rows]
        colors, radii = colors_of(active)[:, shapes.pieces], thickness_of(track.model, active)[:, shapes.pieces]
        return cls(track.t[rows], shapes.places(track.q[rows]).reshape(len(rows), -1, 2, 3), colors, radii)

    def cylinders(self, local: float) -> dict[str, Array]:
        """Places, rotations, scales and colors of cylinders along z, of radius and length 1, at a time of the cycle."""
        k, j, s = between(self.t, local)
        ends, colors, radii = ((1 - s) * x[k] + s * x[j] for x in (self.ends, self.colors, self.radii))
        along = ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(along, axis=1)
        x, y, z = (along / np.maximum(length, 1e-12)[:, None]).T
        w = np.stack([1 + z, -y, x, np.zeros(len(z))], axis=1)  # the least turn of z to the line
        w[z < -1 + 1e-9] = 0.0, 1.0, 0.0, 0.0
        return {
            "batched_positions": ends.mean(axis=1),
            "batched_wxyzs": w / np.linalg.norm(w, axis=1, keepdims=True),
            "batched_scales": np.stack([radii, radii, length], axis=1),
            "batched_colors": np.round(255 * colors).astype(np.uint8),
        }
