"""The front in which every vertex of a pattern is eliminated: entries of x after their last use, rows as early as they
can be.

The elimination of a front makes a clique of all that it couples to. This is right if any two vertices that meet lie on
one path to the root of the tree.
"""

from __future__ import annotations

import numpy as np

from ....._base.types import Indices
from .pattern import ProgramPattern
from .tree import FrontTree


def fronts_of(pattern: ProgramPattern, tree: FrontTree) -> Indices:
    """The front of every vertex, -1 for inequality rows, which are eliminated with their slacks before all fronts.

    An entry of x belongs to the front of the last interval that uses it. Entries of an inequality row, and two entries
    with a second derivative, lie on one path: those that do not are moved up. An equality row belongs to the deepest
    front of its entries, or, if these lie on several branches, to the front where the branches meet.
    """
    front = _last_uses(pattern, tree)
    _place_others(pattern, tree, front)
    keys = np.arange(tree.size), tree.mirrored
    front = min((_on_paths(pattern, tree, front, key) for key in keys), key=lambda moved: int(np.sum(moved != front)))
    row, entry = _equality(pattern)
    low, high = _range(pattern.size, row, front[entry], tree.size)
    rows = np.flatnonzero(np.concatenate([np.zeros(pattern.nx, dtype=bool), pattern.equal]))
    empty = rows[high[rows] < 0]  # all entries are fixed
    low[empty] = high[empty] = tree.size - 1
    apart = ~tree.above(low[row], front[entry])
    meet = low.copy()
    np.maximum.at(meet, row[apart], tree.meet(low[row[apart]], front[entry[apart]]))
    front[rows] = meet[rows]
    return front


def _equality(pattern: ProgramPattern) -> tuple[Indices, Indices]:
    """Pairs of an equality row and an entry."""
    at = pattern.one >= pattern.nx
    return pattern.one[at], pattern.other[at]


def _range(size: int, at: Indices, value: Indices, top: int) -> tuple[Indices, Indices]:
    """Lowest and highest value at every index; `top` and -1 without any."""
    low, high = np.full(size, top), np.full(size, -1)
    np.minimum.at(low, at, value)
    np.maximum.at(high, at, value)
    return low, high


def _last_uses(pattern: ProgramPattern, tree: FrontTree) -> Indices:
    """The front where the paths of all intervals that use an entry have met, -1 if none does."""
    low, high = _range(pattern.size, pattern.used, pattern.interval, pattern.intervals)
    seen = high >= 0
    front = np.full(pattern.size, -1)
    front[seen] = tree.meet(tree.front[low[seen]], tree.front[high[seen]])
    return front


def _place_others(pattern: ProgramPattern, tree: FrontTree, front: Indices) -> None:
    """Places entries that no interval uses: in the deepest front of the entries that they meet if these lie on one
    path, else where their paths meet; in the root if they meet none."""
    row, entry = (np.concatenate(pair) for pair in zip(_equality(pattern), (pattern.row, pattern.member), strict=True))
    square = pattern.one < pattern.nx
    one, other = pattern.one[square], pattern.other[square]
    while np.any(front[: pattern.nx] < 0):
        known = front[entry] >= 0
        of_row = _range(pattern.size, row[known], front[entry[known]], tree.size)
        low, high = np.full(pattern.size, tree.size), np.full(pattern.size, -1)
        np.minimum.at(low, entry, of_row[0][row])
        np.maximum.at(high, entry, of_row[1][row])
        for a, b in ((one, other), (other, one)):
            known = front[b] >= 0
            np.minimum.at(low, a[known], front[b[known]])
            np.maximum.at(high, a[known], front[b[known]])
        new = np.flatnonzero((front[: pattern.nx] < 0) & (high[: pattern.nx] >= 0))
        if not new.size:
            front[: pattern.nx][front[: pattern.nx] < 0] = tree.size - 1
            return
        meet = tree.meet(low[new], high[new])
        front[new] = np.where(meet == high[new], low[new], meet)


def _on_paths(pattern: ProgramPattern, tree: FrontTree, front: Indices, key: Indices) -> Indices:
    """The fronts after the moves that put entries of an inequality row, and two entries with a second derivative, on
    one path.

    Of entries on several branches those above the front with the lowest key stay. key: a numbering of the fronts in
    which the front deepest on its branch comes first.
    """
    by_key = np.argsort(key)
    square = pattern.one < pattern.nx
    one, other = pattern.one[square], pattern.other[square]
    while True:
        at = front[pattern.member]
        lowest = np.full(pattern.size, tree.size - 1)
        np.minimum.at(lowest, pattern.row, key[at])
        stay = by_key[lowest[pattern.row]]
        bad = ~tree.above(stay, at)
        new = front.copy()
        np.maximum.at(new, pattern.member[bad], tree.meet(at[bad], stay[bad]))
        f, g = front[one], front[other]
        bad = ~tree.above(f, g) & ~tree.above(g, f)
        leave = np.where(key[f[bad]] > key[g[bad]], one[bad], other[bad])
        np.maximum.at(new, leave, tree.meet(f[bad], g[bad]))
        if np.array_equal(new, front):
            return new
        front = new
