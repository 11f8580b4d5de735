"""Footholds on a terrain that a controller knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.types import Array
from ..ocp import Terrain

MARGIN = 0.03
"""Least distance of a foot from the edge of its patch [m]."""


GAP = 0.02
"""Distance of two patches from which on there is a gap between them [m]."""

WAYS = 24
"""Sequences of footholds that are compared."""


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
        self.size = np.array([(p.length / 2, p.width / 2) for p in terrain.patches])[kept]

    @property
    def apart(self) -> bool:
        """Whether gaps lie all around one of several patches, as around a stepping stone."""
        edges = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])
        beyond = edges * (self.size[:, None] + GAP)  # of every patch
        places = self.center[:, None] + np.einsum("kij,kej->kei", self.R[..., :2], beyond)
        way = places[:, :, None] - self.center
        inside = np.abs(np.einsum("keni,nij->kenj", way, self.R[..., :2])) <= self.size
        return len(self.size) > 1 and not bool(inside.all(axis=-1).any(axis=(1, 2)).all())

    def onto(self, patches: Any, places: Array) -> Array:
        """Places (..., 3) on the patches of these numbers (...) that are nearest to places (..., 2) on the map [m]."""
        center, R, half = self.center[patches], self.R[patches], self.half[patches]
        way, normal = places - center[..., :2], R[..., 2]
        rise = -np.sum(way * normal[..., :2], axis=-1) / normal[..., 2]
        local = np.einsum("...j,...ji->...i", np.concatenate([way, rise[..., None]], axis=-1), R[..., :2])
        return np.asarray(center + np.einsum("...ij,...j->...i", R[..., :2], np.clip(local, -half, half)))

    def every(self, places: Array) -> Array:
        """The nearest places (n, patches, 3) on every patch."""
        return self.onto(np.arange(len(self.half)), places[:, None, :])

    def nearest(self, places: Array) -> Array:
        """Places (n, 3) on the patches that are nearest to places (n, 2) on the map [m]."""
        found = self.every(places)
        best = np.argmin(np.sum((found[..., :2] - places[:, None, :]) ** 2, axis=-1), axis=-1)
        return np.asarray(found[np.arange(len(places)), best])

    def ways(self, place: Array, steps: Array, least: Array) -> tuple[Array, Array, Array]:
        """Ways over the patches from a foot at a place (2): footholds (m, n, 3), the patches of the first ones (m), and
        the sums of squares by which they differ from places at the wanted steps (n, 2), one after the other.

        least (n, 2): directions in which steps must go at least as far as these vectors, so that feet do not meet.
        """
        ways, first, cost = np.zeros((1, 0, 3)), np.zeros(0, int), np.zeros(1)
        for wanted, side in zip(place + np.cumsum(steps, axis=0), least, strict=True):
            last = ways[:, -1, :2] if ways.shape[1] else place[None]
            found = self.every(wanted[None])[0]
            off = np.sum((found[:, :2] - wanted) ** 2, axis=-1)
            total = cost[:, None] + off
            total[(found[:, :2] - last[:, None]) @ side < side @ side] = np.inf
            kept = np.argsort(total.ravel())[:WAYS]
            kept = kept[np.isfinite(total.ravel()[kept])]
            if not len(kept):
                kept = np.array([np.argmin(off)])
            of, patch = np.divmod(kept, len(self.half))
            ways = np.concatenate([ways[of], found[patch][:, None]], axis=1)
            first, cost = (first[of] if len(first) else patch), cost[of] + off[patch]
        return ways, first, cost
