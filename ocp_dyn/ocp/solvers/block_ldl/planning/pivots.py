"""Rows and the variables that determine them: what a front can eliminate, and what part of it earlier, in a leaf.

An equality row has no pivot of its own: a front needs a variable for each. Rows without one wait for the front above.
Variables that only one interval uses, and the rows that find one of them, meet none of the vertices that the border of
the sequence adds to a front: in a leaf of their own, below the front, they cost less.
"""

from __future__ import annotations

import itertools

import numpy as np

from ....._base.types import Indices
from ....nlp.stage_orders import Mask
from .elimination import couplings, own_and_boundary, rest_of_tiles, work
from .matching import unmatched
from .pattern import ProgramPattern
from .tree import FrontTree

GAIN, PER_FRONT = 0.75, 30_000.0
"""A leaf is made if the work of both fronts is less than this part of that of one: not for less, because its rows have
fewer pivots to choose from, and solutions are less accurate for it (residuals of 1e-9 instead of 1e-11 on a walk); and
the multiply-adds that take as long as the assembly of a further front."""


class PivotSearch:
    """Finds which rows of a front find a variable. front, tile: of every vertex; see `fronts_of`, `tiles_of`."""

    def __init__(self, pattern: ProgramPattern, front: Indices, tile: Indices, fronts: int) -> None:
        nx = pattern.nx
        at = pattern.one >= nx
        row, entry = pattern.one[at], pattern.other[at]
        same = front[row] == front[entry]
        row, entry = row[same], entry[same]
        inside, outside = tile[row] >= 0, tile[entry] >= 0
        self._direct = _grouped(front[row], fronts, ~inside & ~outside, row, entry)
        self._from_tile = _grouped(front[row], fronts, inside & ~outside, tile[row], entry)
        self._to_tile = _grouped(front[row], fronts, ~inside & outside, row, tile[entry])
        place, self._rest = rest_of_tiles(pattern, front, tile)
        self.tiles = _grouped(place, fronts, place >= 0, np.arange(place.size))
        vertex, ordinary = np.arange(front.size), (front >= 0) & (tile < 0)
        self.rows = _grouped(front, fronts, ordinary & (vertex >= nx), vertex)
        self.entries = _grouped(front, fronts, ordinary & (vertex < nx), vertex)
        self._numbers = [np.full(size, -1) for size in (front.size, front.size, place.size)]
        self._known: dict[tuple[bytes, tuple[int, ...]], list[int]] = {}

    def meets(self, f: int, rows: Indices, entries: Indices) -> tuple[Mask, Mask, Mask]:
        """Whether these rows and entries of front f meet, its tiles eliminated; whether its tiles meet the entries; and
        whether the rows meet its tiles."""
        tiles = self.tiles[f][0]
        row_at, entry_at, tile_at = self._numbers
        for numbers, members in zip(self._numbers, (rows, entries, tiles), strict=True):
            numbers[:] = -1
            numbers[members] = np.arange(members.size)
        direct = _matrix(row_at, entry_at, self._direct[f], (rows.size, entries.size))
        tile_entry = _matrix(tile_at, entry_at, self._from_tile[f], (tiles.size, entries.size))
        row_tile = _matrix(row_at, tile_at, self._to_tile[f], (rows.size, tiles.size))
        direct |= row_tile.astype(np.float32) @ tile_entry.astype(np.float32) > 0
        return direct, tile_entry, row_tile

    def rest(self, f: int) -> tuple[Indices, Indices]:
        """The tile, by its number in front f, for every row that the tiles leave, and for every variable."""
        rest = self._rest[self.tiles[f][0]]
        tile = np.arange(rest.size)
        return np.repeat(tile, np.maximum(rest, 0)), np.repeat(tile, np.maximum(-rest, 0))

    def unmatched(self, meets: Mask) -> list[int]:
        """The function `unmatched`; equal fronts are matched once."""
        key = (np.packbits(meets).tobytes(), meets.shape)
        if key not in self._known:
            self._known[key] = unmatched(meets)
        return self._known[key]


def _grouped(group: Indices, groups: int, chosen: Mask, *values: Indices) -> list[tuple[Indices, ...]]:
    """The chosen values of every group."""
    at = np.flatnonzero(chosen)
    at = at[np.argsort(group[at], kind="stable")]
    bounds = np.searchsorted(group[at], np.arange(groups + 1))
    return [tuple(v[at[a:b]] for v in values) for a, b in itertools.pairwise(bounds)]


def _matrix(at: Indices, to: Indices, pairs: tuple[Indices, ...], shape: tuple[int, int]) -> Mask:
    i, j = at[pairs[0]], to[pairs[1]]
    both = (i >= 0) & (j >= 0)
    matrix = np.zeros(shape, dtype=bool)
    matrix[i[both], j[both]] = True
    return matrix


def shifted(pattern: ProgramPattern, front: Indices, tile: Indices, tree: FrontTree, leaf: Mask) -> Indices:
    """The fronts after rows that find no variable have moved to the front above.

    leaf: fronts that are leaves, whose rows all have one. A row meets all entries that a front below couples to if this
    front couples to the row.
    """
    pivots = PivotSearch(pattern, front, tile, tree.size)
    table, front = couplings(pattern, front, tree.size), front.copy()
    below: list[list[tuple[Mask, int]]] = [[] for _ in range(tree.size)]
    late: list[list[Indices]] = [[] for _ in range(tree.size)]
    for f, up in enumerate(tree.parent[:-1]):
        rows, entries = np.concatenate([pivots.rows[f][0], *late[f]]), pivots.entries[f][0]
        meets, from_tile, to_tile = pivots.meets(f, rows, entries)
        over, under = pivots.rest(f)
        rest = [from_tile[over]]
        for reached, leaves in below[f]:
            meets |= np.outer(reached[rows], reached[entries])
            rest.append(np.repeat(reached[None, entries], leaves, axis=0))
        first = np.concatenate(rest)
        if not leaf[f]:
            right = np.concatenate([np.zeros((len(first), under.size), dtype=bool), to_tile[:, under]])
            all_meets = np.concatenate([np.concatenate([first, meets]), right], axis=1)
            left = rows[[i - len(first) for i in pivots.unmatched(all_meets) if i >= len(first)]]
            front[left] = up
            table[f, left] = True
            late[up].append(left)
        table[up] |= table[f] & (front > up)
        below[up].append((table[f], over.size if leaf[f] else 0))
    return front


def with_leaves(
    pattern: ProgramPattern, front: Indices, tile: Indices, tree: FrontTree
) -> tuple[Indices, FrontTree, Mask]:
    """Fronts and their tree after leaves are split off where this saves work, and the mask of the leaves."""
    local = pattern.lowest(front) >= front
    own, boundary = own_and_boundary(pattern, front, tile, tree.parent)
    place, rest = rest_of_tiles(pattern, front, tile)
    spare = np.bincount(place, np.maximum(-rest, 0), tree.size).astype(np.int64)
    # most rows that a leaf can have: its variables, and a row for each; the rest is left to do in any case
    lone = np.flatnonzero(local & (front >= 0) & (tile < 0))
    most = 2 * (np.bincount(front[lone[lone < pattern.nx]], minlength=tree.size) + spare)
    one, least = work(own, boundary), work(np.maximum(own - most, 0), boundary)
    has = (np.bincount(tree.parent[:-1], minlength=tree.size) > 0) & (tree.thread >= 0) & (least < GAIN * one)
    if not np.any(has):
        return front, tree, has
    inside = _inside(pattern, front, tile, has, local)
    own_leaf = np.bincount(front[inside & (tile < 0)], minlength=tree.size) + spare
    number, moved = _split(front, inside, has)
    above = np.zeros(tree.size, dtype=np.int64)
    above[has] = np.count_nonzero(couplings(pattern, moved, number[-1] + 1)[number[has] - 1], axis=1)
    two = work(own_leaf, above) + work(own - own_leaf, boundary) + PER_FRONT
    split = has & (own_leaf > 0) & (two < GAIN * one)
    number, moved = _split(front, inside, split)
    leaf = np.zeros(number[-1] + 1, dtype=bool)
    leaf[number[split] - 1] = True
    return moved, tree.with_leaves(split), leaf


def _inside(pattern: ProgramPattern, front: Indices, tile: Indices, has: Mask, local: Mask) -> Mask:
    """The vertices that leaves of the fronts of `has` can take: local variables, rows that find one, and tiles."""
    pivots = PivotSearch(pattern, front, tile, has.size)
    inside = (tile >= 0) & has[front]
    for f in np.flatnonzero(has).tolist():
        rows, entries = (part[local[part]] for part in (pivots.rows[f][0], pivots.entries[f][0]))
        meets, _, to_tile = pivots.meets(f, rows, entries)
        left = pivots.unmatched(np.concatenate([meets, to_tile[:, pivots.rest(f)[1]]], axis=1))
        inside[entries] = True
        inside[np.delete(rows, left)] = True
    return inside


def _split(front: Indices, inside: Mask, split: Mask) -> tuple[Indices, Indices]:
    """The new numbers of fronts, and the front of every vertex, when `inside` moves to leaves just before its
    fronts."""
    number = np.arange(split.size) + np.cumsum(split)
    return number, np.where(front >= 0, number[front] - (inside & split[front]), -1)
