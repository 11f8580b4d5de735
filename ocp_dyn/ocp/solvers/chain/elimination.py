"""Sizes of fronts: which vertices are eliminated in each, and how many above them they couple to."""

from __future__ import annotations

import numpy as np

from ...._types import Array, Indices
from ...nlp.stage_orders import Mask
from .pattern import Pattern


def own_and_boundary(pattern: Pattern, front: Indices, tile: Indices, parent: Indices) -> tuple[Indices, Indices]:
    """Numbers of vertices that are eliminated in every front after its tiles, and of vertices above it that it couples
    to."""
    boundary = np.zeros(parent.size, dtype=np.int64)
    table = couplings(pattern, front, parent.size)
    for f, up in enumerate(parent):
        above = table[f] & (front > f)
        boundary[f] = np.count_nonzero(above)
        if up >= 0:
            table[up] |= above
    ordinary = (front >= 0) & (tile < 0)
    place, rest = rest_of_tiles(pattern, front, tile)
    own = np.bincount(front[ordinary], minlength=parent.size) + np.bincount(place, np.abs(rest), parent.size)
    return own.astype(np.int64), boundary


def couplings(pattern: Pattern, group: Indices, groups: int) -> Mask:
    """table[g, v]: whether a vertex of group g meets vertex v, slacks eliminated; -1: a vertex of no group.

    Groups that share an inequality row: the lowest meets all entries of the row.
    """
    table = np.zeros((groups, group.size), dtype=bool)
    for one, other in ((pattern.one, pattern.other), (pattern.other, pattern.one)):
        inside = group[one] >= 0
        table[group[one[inside]], other[inside]] = True
    of_row = np.full(group.size, groups)
    inside = group[pattern.member] >= 0
    np.minimum.at(of_row, pattern.row[inside], group[pattern.member[inside]])
    inside = of_row[pattern.row] < groups
    table[of_row[pattern.row[inside]], pattern.member[inside]] = True
    return table


def rest_of_tiles(pattern: Pattern, front: Indices, tile: Indices) -> tuple[Indices, Indices]:
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
