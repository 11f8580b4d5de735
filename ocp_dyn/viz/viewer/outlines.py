"""Outlines of feet on the ground."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..._base.types import Array


def outline(points: Array) -> Array:
    """The convex hull (n, 2) of points (N, 2), counterclockwise [Andrew's monotone chain]."""
    ordered = np.unique(np.round(points, 6), axis=0)
    if len(ordered) < 3:
        return ordered

    def chain(rows: Array) -> list[Array]:
        found: list[Array] = []
        for row in rows:
            while len(found) > 1 and _turn(found[-2], found[-1], row) <= 0:
                found.pop()
            found.append(row)
        return found[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def edges_of(loop: Array) -> Array:
    """The segments (n, 2, 3) of a closed line through points (n, 3)."""
    closed = [*loop, loop[0]]
    return np.array(list(pairwise(closed))).reshape(-1, 2, 3)
