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

    length, width [m]: half of the sole. Feet are taken to point along the x axes of the patches. apart: whether gaps
    lie all around one of several patches, as around a stepping stone.
    """

    def __init__(self, terrain: Terrain, length: float = 0.0, width: float = 0.0) -> None:
        half = [(p.length / 2 - length - MARGIN, p.width / 2 - width - MARGIN) for p in terrain.patches]
        kept = [k for k, room in enumerate(half) if min(room) >= 0]
        if not kept:
            raise ValueError("no patch of the terrain has room for a foot: make the patches larger")
        self.half = np.array(half)[kept]
        self.center = np.array([terrain.patches[k].point for k in kept])
        self.R = np.array([terrain.patches[k].R.full() for k in kept])
        self.apart = len(kept) > 1 and not bool(self._beside(terrain, kept).all())

    def _beside(self, terrain: Terrain, kept: list[int]) -> Array:
        """Whether another patch lies at an edge (patches)."""
        size = np.array([(p.length / 2, p.width / 2) for p in terrain.patches])[kept]
        outwards = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)]) * (size[:, None] + GAP)
        places = self.center[:, None] + np.einsum("kij,kej->kei", self.R[..., :2], outwards)
        local = np.einsum("keni,nij->kenj", places[:, :, None] - self.center, self.R[..., :2])
        return np.asarray((np.abs(local) <= size).all(axis=-1).any(axis=(1, 2)))

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
        the sums of squares by which they differ from the wanted ones.

        steps (n, 2): the wanted ones, one after the other from the place where patches are apart, so that a foot which
        has to go far does not hurry all that follow; else from the foothold before, as treads follow each other.
        least (n, 2): directions in which steps must go at least as far as these vectors, so that feet do not meet.
        """
        ways, first, cost = np.zeros((1, 0, 3)), np.zeros(0, int), np.zeros(1)
        for step, after, side in zip(steps, place + np.cumsum(steps, axis=0), least, strict=True):
            last = ways[:, -1, :2] if ways.shape[1] else place[None]
            wanted = np.tile(after, (len(last), 1)) if self.apart else last + step
            found = self.every(wanted)
            off = np.sum((found[..., :2] - wanted[:, None]) ** 2, axis=-1)
            off[(found[..., :2] - last[:, None]) @ side < side @ side] = np.inf
            total = (cost[:, None] + off).ravel()
            kept = np.argsort(total)[:WAYS]
            kept = kept[np.isfinite(total[kept])]
            if not len(kept):
                kept = np.argsort(off.ravel())[:1]
            of, patch = np.divmod(kept, len(self.half))
            ways = np.concatenate([ways[of], found[of, patch][:, None]], axis=1)
            first, cost = (first[of] if len(first) else patch), total[kept]
        return ways, first, cost
