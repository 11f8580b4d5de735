"""Footholds on a terrain that a controller knows."""

from __future__ import annotations

import numpy as np

from .._base.types import Array
from ..ocp import Terrain

MARGIN = 0.03
"""Least distance of a foot from the edge of its patch [m]."""


class Footing:
    """The places of a terrain's patches on which a foot stands as a whole.

    length, width [m]: half of the sole. Feet are taken to point along the x axes of the patches.
    """

    def __init__(self, terrain: Terrain, length: float = 0.0, width: float = 0.0) -> None:
        half = [(p.length / 2 - length - MARGIN, p.width / 2 - width - MARGIN) for p in terrain.patches]
        kept = [k for k, room in enumerate(half) if min(room) >= 0]
        if not kept:
            raise ValueError("no patch of the terrain has room for a foot: make the patches larger")
        self.half = np.array(half)[kept]
        self.center = np.array([terrain.patches[k].point for k in kept])
        self.R = np.array([terrain.patches[k].R.full() for k in kept])

    def nearest(self, places: Array) -> Array:
        """Places (n, 3) on the patches that are nearest to places (n, 2) on the map [m]."""
        way = places[:, None, :] - self.center[:, :2]
        normal = self.R[:, :, 2]
        rise = -np.sum(way * normal[:, :2], axis=2) / normal[:, 2]
        local = np.einsum("knj,kji->kni", np.moveaxis(np.dstack([way, rise]), 1, 0), self.R[:, :, :2])
        local = np.clip(local, -self.half[:, None, :], self.half[:, None, :])
        found = np.einsum("kij,knj->nki", self.R[:, :, :2], local) + self.center
        best = np.argmin(np.sum((found[:, :, :2] - places[:, None, :]) ** 2, axis=2), axis=1)
        return np.asarray(found[np.arange(len(places)), best])
