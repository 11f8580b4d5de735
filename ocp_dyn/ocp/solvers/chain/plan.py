"""The plan of a factorization: in which front of a tree every row of IPOPT's augmented matrix is eliminated.

IPOPT orders the rows: free entries x, slacks s of inequality rows, equality rows c, inequality rows d.

1. Every slack and its inequality row are eliminated alone (role 1).
2. Tiles (roles 2, 3) are eliminated by small blocks inside the front of their interval.
3. All other rows are eliminated in dense fronts, one for every interval, from both ends of the chain to the middle. An
   entry of x belongs to the front of the last interval that uses it; an equality row to the earliest front among those
   of its entries, unless that front has too few entries of x to determine all its rows: these then wait for the next.

A front that is eliminated makes a clique of all rows it couples to. This is right if every pair of coupled rows lies on
one path to the root of the tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...._types import Array, Indices
from ...nlp.assembled import Assembled
from .matching import unmatched
from .pattern import Pattern, pattern_of
from .tiles import tiles_of
from .tree import Tree, tree_of

ORDINARY, PAIR, PRIMAL, DUAL = range(4)
"""Roles of rows: eliminated in a front, slack or inequality row, variable of a tile, equality row of a tile."""


@dataclass(frozen=True, eq=False)
class ChainPlan:
    """The front, role and tile of every row of IPOPT's augmented matrix, and the tree of the fronts.

    front: -1 for role 1; role: 0 ordinary, 1 slack or inequality row, 2 variable of a tile, 3 equality row of a tile;
    tile: number of the tile, -1 for roles 0 and 1; parent: of every front, -1 for the root; thread: number of the
    subtree that one thread works through, -1 for fronts above the subtrees. nx_free, ns, nc, nd: numbers of free
    entries of x, slacks, equality rows and inequality rows. own, boundary: number of rows of every front that are
    eliminated in it, and of rows that they couple to above.
    """

    front: NDArray[np.int32]
    role: NDArray[np.int32]
    tile: NDArray[np.int32]
    parent: NDArray[np.int32]
    thread: NDArray[np.int32]
    nx_free: int
    ns: int
    nc: int
    nd: int
    threads: int
    own: Indices
    boundary: Indices

    @property
    def work(self) -> float:
        """Multiply-adds of the dense fronts, n^3/3 + n^2 m + n m^2 each."""
        n, m = self.own.astype(float), self.boundary.astype(float)
        return float(np.sum(n**3 / 3 + n**2 * m + n * m**2))

    def describe(self) -> str:
        """Describes the plan in one sentence of numbers."""
        subtrees = self.thread.max() + 1
        return (
            f"{self.front.size} rows ({self.nx_free} variables, {self.ns} slacks, {self.nc} equality and {self.nd} "
            f"inequality rows) in {self.parent.size} fronts and {self.tile.max(initial=-1) + 1} tiles, {subtrees} "
            f"subtrees; fronts have {np.median(self.own):.0f} rows and {np.median(self.boundary):.0f} coupled rows "
            f"(median), at most {(self.own + self.boundary).max()} together; {self.work / 1e6:.1f} million multiply-adds"
        )


def chain_plan(program: Assembled, lower: Array, upper: Array, threads: int = 2) -> ChainPlan:
    """The plan for a program of which the entries with lower == upper are fixed.

    ValueError, with the reason, if the program is no chain of intervals that fits.
    """
    pattern = pattern_of(program, lower, upper)
    intervals = sum(len(kind.entries) for kind in pattern.kinds if kind.interval)
    if not intervals:
        raise ValueError("no rows of the program lead from one state to the next")
    pieces = min(2, intervals)
    tree = tree_of([round(k * intervals / pieces) for k in range(pieces + 1)])
    return _Fronts(pattern, tree).plan(threads)


class _Fronts:
    """Assigns rows to fronts; all numbers of rows and entries as of the pattern."""

    def __init__(self, pattern: Pattern, tree: Tree) -> None:
        self.pattern, self.tree = pattern, tree
        self.m = pattern.equal.size
        self.of_x = self._last_uses()
        self._place_others()
        self._keep_on_paths(tree.mirrored)
        self.of_row = self._deepest()
        self._find_tiles()
        self._shift()

    def _last_uses(self) -> Indices:
        """The front of the last interval that uses an entry, -1 if none does."""
        nx = self.pattern.nx
        low, high = np.full(nx, np.iinfo(np.int64).max), np.full(nx, -1)
        first = 0
        for kind in self.pattern.kinds:
            if kind.interval:
                count, width = kind.entries.shape
                number = np.repeat(first + np.arange(count), width)
                entry = kind.entries.ravel()
                used = entry >= 0
                np.minimum.at(low, entry[used], number[used])
                np.maximum.at(high, entry[used], number[used])
                first += count
        front = np.full(nx, -1)
        seen = high >= 0
        front[seen] = self.tree.meet(self.tree.front[low[seen]], self.tree.front[high[seen]])
        return front

    def _place_others(self) -> None:
        """Places an entry that no interval uses in the deepest front of the entries it meets."""
        p, root = self.pattern, self.tree.size - 1
        while np.any(self.of_x < 0):
            low, high = np.full(p.nx, self.tree.size), np.full(p.nx, -1)
            row_low, row_high = np.full(self.m, self.tree.size), np.full(self.m, -1)
            at = self.of_x[p.column]
            known = at >= 0
            np.minimum.at(row_low, p.row[known], at[known])
            np.maximum.at(row_high, p.row[known], at[known])
            np.minimum.at(low, p.column, row_low[p.row])
            np.maximum.at(high, p.column, row_high[p.row])
            for a, b in ((p.one, p.other), (p.other, p.one)):
                known = self.of_x[b] >= 0
                np.minimum.at(low, a[known], self.of_x[b[known]])
                np.maximum.at(high, a[known], self.of_x[b[known]])
            new = (self.of_x < 0) & (high >= 0)
            if not np.any(new):
                self.of_x[self.of_x < 0] = root
                return
            meet = self.tree.meet(low[new], high[new])
            self.of_x[new] = np.where(meet == high[new], low[new], meet)

    def _keep_on_paths(self, key: Indices) -> None:
        """Moves entries up until all entries of an inequality row, and all pairs with a second derivative, lie on one
        path.

        Of the entries of a row on several branches those on the branch of the front with the lowest key stay. An
        equality row needs no such moves: it goes up itself, to a front above all its entries.
        """
        p, tree = self.pattern, self.tree
        pair = ~p.equal[p.row]
        rows, columns = p.row[pair], p.column[pair]
        by_key = np.argsort(key)
        while True:
            at = self.of_x[columns]
            lowest = np.full(self.m, tree.size - 1)
            np.minimum.at(lowest, rows, key[at])
            stay = by_key[lowest[rows]]
            bad = ~tree.above(stay, at)
            new = self.of_x.copy()
            np.maximum.at(new, columns[bad], tree.meet(at[bad], stay[bad]))
            one, other = self.of_x[p.one], self.of_x[p.other]
            bad_pair = ~tree.above(one, other) & ~tree.above(other, one)
            leave = np.where(key[one] > key[other], p.one, p.other)[bad_pair]
            np.maximum.at(new, leave, tree.meet(one[bad_pair], other[bad_pair]))
            if np.array_equal(new, self.of_x):
                return
            self.of_x = new

    def _deepest(self) -> Indices:
        """The deepest front of the entries of every row if they lie on one path, else the front where their paths
        meet; the root for rows without any."""
        p = self.pattern
        at = self.of_x[p.column]
        low, meet = np.full(self.m, self.tree.size - 1), np.full(self.m, -1)
        np.minimum.at(low, p.row, at)
        apart = ~self.tree.above(low[p.row], at)
        np.maximum.at(meet, p.row[apart], self.tree.meet(low[p.row[apart]], at[apart]))
        return np.where(meet >= 0, meet, low)

    def _find_tiles(self) -> None:
        p = self.pattern
        uses = np.zeros(p.nx, dtype=np.int64)
        for kind in p.kinds:
            entry = kind.entries.ravel()
            np.add.at(uses, entry[entry >= 0], 1)
        self.tile_x, self.tile_row = np.full(p.nx, -1), np.full(self.m, -1)
        count, interval = 0, 0
        for kind in p.kinds:
            if not kind.interval:
                continue
            for members, of_column, of_row in tiles_of(p, kind, uses == 1):
                size = int(of_column.max(initial=-1)) + 1
                for k in members:
                    inside = of_column >= 0
                    self.tile_x[kind.entries[k, inside]] = count + of_column[inside]
                    rows = kind.row + k * kind.rows + np.flatnonzero(of_row >= 0)
                    self.tile_row[rows] = count + of_row[of_row >= 0]
                    count += size
            interval += len(kind.entries)
        self.tiles = count

    def _coupled(self) -> NDArray[np.bool_]:
        """table[f, r]: whether a row of front f meets row r, numbered as entries, then equality rows."""
        p, tree = self.pattern, self.tree
        table = np.zeros((tree.size, p.nx + self.m), dtype=bool)
        at = self.of_x[p.column]
        equal = p.equal[p.row]
        clique = self._deepest()
        pairs = p.row[~equal], p.column[~equal]
        table[clique[pairs[0]], pairs[1]] = True
        row = self.of_row[p.row[equal]]
        table[row, p.column[equal]] = True
        table[at[equal], p.nx + p.row[equal]] = True
        for a, b in ((p.one, p.other), (p.other, p.one)):
            table[self.of_x[a], b] = True
        return table

    def _shift(self) -> None:
        """Moves equality rows up to the next front until every front has entries of x to determine its rows.

        A row that waits meets all that its old front meets.
        """
        p, tree = self.pattern, self.tree
        ordinary = p.equal & (self.tile_row < 0)
        rest, joint = self._rest_of_tiles()
        waiting: list[int] = []
        for f in range(tree.size - 1):
            rows = np.flatnonzero(ordinary & (self.of_row == f))
            entries = np.flatnonzero((self.of_x == f) & (self.tile_x < 0))
            tiles = np.flatnonzero(self.of_tile == f)
            meets, kept = self._meets(rows, entries, tiles, rest, joint)
            late = np.isin(rows, waiting)
            meets[kept:][late] = True
            left = np.array([rows[i - kept] for i in unmatched(meets) if i >= kept], dtype=np.int64)
            self.of_row[left] = tree.parent[f]
            waiting += left.tolist()

    def _rest_of_tiles(self) -> tuple[Indices, tuple[Indices, Indices, Indices, Indices]]:
        """Rows less variables of every tile; pairs (tile, entry of x) and (tile, row) that meet."""
        p = self.pattern
        x_count, row_count = (np.bincount(t[t >= 0], minlength=self.tiles) for t in (self.tile_x, self.tile_row))
        self.of_tile = np.zeros(self.tiles, dtype=np.int64)
        self.of_tile[self.tile_x[self.tile_x >= 0]] = self.of_x[self.tile_x >= 0]
        out = (self.tile_row[p.row] >= 0) & (self.tile_x[p.column] < 0)
        back = (self.tile_row[p.row] < 0) & (self.tile_x[p.column] >= 0) & p.equal[p.row]
        return row_count - x_count, (
            self.tile_row[p.row[out]], p.column[out], self.tile_x[p.column[back]], p.row[back],
        )  # fmt: skip

    def _meets(
        self,
        rows: Indices,
        entries: Indices,
        tiles: Indices,
        rest: Indices,
        joint: tuple[Indices, Indices, Indices, Indices],
    ) -> tuple[NDArray[np.bool_], int]:
        """Whether the rows of a front meet its entries, tiles eliminated: first the rows that tiles leave, and their
        number, then `rows`; a column for every entry, then for every variable that tiles leave."""
        p = self.pattern
        row_at, entry_at, tile_at = (np.full(size, -1) for size in (self.m, p.nx, self.tiles))
        row_at[rows], entry_at[entries], tile_at[tiles] = (
            np.arange(rows.size),
            np.arange(entries.size),
            np.arange(tiles.size),
        )
        direct = np.zeros((rows.size, entries.size), dtype=bool)
        i, j = row_at[p.row], entry_at[p.column]
        both = (i >= 0) & (j >= 0)
        direct[i[both], j[both]] = True
        to_x, to_row = np.zeros((tiles.size, entries.size), dtype=bool), np.zeros((rows.size, tiles.size), dtype=bool)
        i, j = tile_at[joint[0]], entry_at[joint[1]]
        both = (i >= 0) & (j >= 0)
        to_x[i[both], j[both]] = True
        i, j = row_at[joint[3]], tile_at[joint[2]]
        both = (i >= 0) & (j >= 0)
        to_row[i[both], j[both]] = True
        direct |= (to_row.astype(np.float32) @ to_x.astype(np.float32)) > 0
        over = np.repeat(np.arange(tiles.size), np.maximum(rest[tiles], 0))
        under = np.repeat(np.arange(tiles.size), np.maximum(-rest[tiles], 0))
        below = np.concatenate([direct, to_row[:, under]], axis=1)
        above = np.concatenate([to_x[over], np.zeros((over.size, under.size), dtype=bool)], axis=1)
        return np.concatenate([above, below]), over.size

    def sizes(self) -> tuple[Indices, Indices]:
        """Numbers of own rows of every front, and of rows above that they couple to."""
        p, tree = self.pattern, self.tree
        table = self._coupled()
        front = np.concatenate([self.of_x, np.where(p.equal, self.of_row, -1)])
        tile = np.concatenate([self.tile_x, self.tile_row])
        own, boundary = np.zeros(tree.size, dtype=np.int64), np.zeros(tree.size, dtype=np.int64)
        # leftover rows or variables of a tile are eliminated as ordinary rows
        rest = np.bincount(self.of_tile, np.abs(self._rest_of_tiles()[0]), tree.size)
        for f in range(tree.size):
            above = front > f
            boundary[f] = np.count_nonzero(table[f] & above)
            own[f] = np.count_nonzero((front == f) & (tile < 0)) + int(rest[f])
            if tree.parent[f] >= 0:
                table[tree.parent[f]] |= table[f] & above
        return own, boundary

    def plan(self, threads: int) -> ChainPlan:
        """The plan, by the row numbers of IPOPT's augmented matrix."""
        p, tree = self.pattern, self.tree
        nd = int(np.count_nonzero(~p.equal))
        nc, pairs = self.m - nd, np.full(nd, -1)
        equal = p.equal
        front = np.concatenate([self.of_x, pairs, self.of_row[equal], pairs])
        tile = np.concatenate([self.tile_x, pairs, self.tile_row[equal], pairs])
        inside = np.where(self.tile_x >= 0, PRIMAL, ORDINARY), np.where(self.tile_row[equal] >= 0, DUAL, ORDINARY)
        role = np.concatenate([inside[0], np.full(nd, PAIR), inside[1], np.full(nd, PAIR)])
        own, boundary = self.sizes()
        arrays = [np.asarray(a, dtype=np.int32) for a in (front, role, tile, tree.parent, tree.thread)]
        return ChainPlan(*arrays, p.nx, nd, nc, nd, threads, own, boundary)
