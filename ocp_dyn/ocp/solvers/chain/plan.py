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
from .elimination import own_and_boundary, work
from .fronts import fronts_of
from .pattern import Pattern, pattern_of
from .pivots import shifted, with_leaves
from .tiles import tiles_of
from .tree import Tree, cuts_of, tree_of

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
        return float(np.sum(work(self.own, self.boundary)))

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
    intervals = pattern.intervals
    if not intervals:
        raise ValueError("no rows of the program lead from one state to the next")
    weights, closed = pattern.weights()
    tree = tree_of(cuts_of(weights, threads, closed))
    front = fronts_of(pattern, tree)
    tile = tiles_of(pattern, front)
    front, tree, leaf = with_leaves(pattern, front, tile, tree)
    front = shifted(pattern, front, tile, tree, leaf)
    return _numbered(pattern, front, tile, tree, threads)


def _numbered(pattern: Pattern, front: Indices, tile: Indices, tree: Tree, threads: int) -> ChainPlan:
    """The plan, by the row numbers of IPOPT's augmented matrix."""
    nx, equal = pattern.nx, nx_rows(pattern)
    nd = int(np.count_nonzero(~pattern.equal))
    pairs = np.full(nd, -1)
    own, boundary = own_and_boundary(pattern, front, tile, tree.parent)
    role_x, role_c = np.where(tile[:nx] >= 0, PRIMAL, ORDINARY), np.where(tile[equal] >= 0, DUAL, ORDINARY)
    rows = (
        np.concatenate([front[:nx], pairs, front[equal], pairs]),
        np.concatenate([role_x, np.full(nd, PAIR), role_c, np.full(nd, PAIR)]),
        np.concatenate([tile[:nx], pairs, tile[equal], pairs]),
        tree.parent,
        tree.thread,
    )
    arrays = [np.asarray(a, dtype=np.int32) for a in rows]
    return ChainPlan(*arrays, nx, nd, equal.size, nd, threads, own, boundary)


def nx_rows(pattern: Pattern) -> Indices:
    """The vertices of the equality rows."""
    return pattern.nx + np.flatnonzero(pattern.equal)
