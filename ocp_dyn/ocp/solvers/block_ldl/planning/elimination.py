"""Sizes of fronts: which vertices are eliminated in each, and how many above them they couple to."""

from __future__ import annotations

import numpy as np

from ....._base.types import Array, Indices
from ....nlp.stage_orders import Mask
from .pattern import ProgramPattern


def own_and_boundary(
    pattern: ProgramPattern, front: Indices, tile: Indices, parent: Indices
) -> tuple[Indices, Indices]:
    """Numbers of vertices that are eliminated in every front after its tiles, and of vertices above it that it couples
    to."""
    boundary = np.zeros(parent.size, dtype=np.int64)
    table = couplings(pattern, front, parent.size)
    for f, up in enumerate(parent):
        boundary[f] = np.count_nonzero(table[f])
        if up >= 0:
            table[up] |= table[f] & (front > up)
    ordinary = (front >= 0) & (tile < 0)
    place, rest = rest_of_tiles(pattern, front, tile)
    own = np.bincount(front[ordinary], minlength=parent.size) + np.bincount(place, np.abs(rest), parent.size)
    return own.astype(np.int64), boundary


def couplings(pattern: ProgramPattern, front: Indices, fronts: int) -> Mask:
    """table[f, v]: whether a vertex of front f meets vertex v of a higher front, slacks eliminated."""
    table = np.zeros((fronts, front.size), dtype=bool)
    f, g = front[pattern.one], front[pattern.other]
    up, down = np.flatnonzero(f < g), np.flatnonzero(f > g)
    flat = table.reshape(-1)
    flat[f[up] * front.size + pattern.other[up]] = True
    flat[g[down] * front.size + pattern.one[down]] = True
    at = front[pattern.member]
    of_row = np.full(front.size, fronts)
    np.minimum.at(of_row, pattern.row, at)
    deepest = of_row[pattern.row]
    up = np.flatnonzero(deepest < at)
    flat[deepest[up] * front.size + pattern.member[up]] = True
    return table


def rest_of_tiles(pattern: ProgramPattern, front: Indices, tile: Indices) -> tuple[Indices, Indices]:
    """The front of every tile, and the number of its rows less that of its variables."""
    members = np.flatnonzero(tile >= 0)
    count = int(tile.max(initial=-1)) + 1
    place = np.zeros(count, dtype=np.int64)
    place[tile[members]] = front[members]
    sign = np.where(members < pattern.nx, -1, 1)
    return place, np.bincount(tile[members], sign, count).astype(np.int64)


def work(own: Indices, boundary: Indices) -> Array:
    """Multiply-adds of the elimination of dense fronts with n own rows and m rows above: n^3/3 + n^2 m + n m^2."""
    n, m = own.astype(float), boundary.astype(float)
    return np.asarray(n**3 / 3 + n**2 * m + n * m**2)
