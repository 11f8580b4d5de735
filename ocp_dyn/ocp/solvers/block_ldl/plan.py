"""The plan of a factorization: in which front of a tree every row of IPOPT's augmented matrix is eliminated.

IPOPT orders the rows: free entries x, slacks s of inequality rows, equality rows c, inequality rows d.

1. Every slack and its inequality row are eliminated alone (role 1).
2. Tiles (roles 2, 3) are eliminated by small blocks inside the front of their interval.
3. All other rows are eliminated in dense fronts, one for every interval, from both ends of the sequence to its middle.
   An entry of x belongs to the front of the last interval that uses it; an equality row to the earliest front among
   those of its entries, unless that front has too few entries of x to determine all its rows: these then wait for the
   next.

A front that is eliminated makes a clique of all rows it couples to. This is right if every pair of coupled rows lies on
one path to the root of the tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...._base.types import Array, Indices
from ...nlp.assembled import Assembled
from .planning.elimination import own_and_boundary, work
from .planning.fronts import fronts_of
from .planning.pattern import ProgramPattern, pattern_of
from .planning.pivots import shifted, with_leaves
from .planning.tiles import tiles_of
from .planning.tree import FrontTree, cuts_of, tree_of

ORDINARY, PAIR, PRIMAL, DUAL = range(4)
"""Roles of rows: eliminated in a front, slack or inequality row, variable of a tile, equality row of a tile."""

SMALL = 300
"""Largest number of rows that one dense front takes if a program is no sequence of intervals."""

DENSE_RATE, FRONT_SECONDS, SPARSE_RATE = 1e10, 5e-6, 3e6
"""Multiply-adds per second in dense fronts, time to assemble a front [s], and entries of a KKT matrix per second in a
sparse factorization: measured orders of magnitude, to refuse plans that are no sequences."""


@dataclass(frozen=True, eq=False)
class LdlPlan:
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
    def primal(self) -> int:
        """Number of the rows that are variables or slacks; they come first, and all others are multipliers."""
        return self.nx_free + self.ns

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
            f"(median), at most {(self.own + self.boundary).max()} together; {self.work / 1e6:.1f} million "
            "multiply-adds"
        )


def ldl_plan(program: Assembled, lower: Array, upper: Array, threads: int = 2) -> LdlPlan:
    """The plan for a program of which the entries with lower == upper are fixed, for so many threads.

    ValueError, with the reason, if the program is no sequence of intervals that fits. Takes about 0.2 us for every
    entry of the KKT matrix.
    """
    pattern = pattern_of(program, lower, upper)
    nothing = np.full(pattern.size, -1)
    if not pattern.intervals:
        rows = pattern.nx + int(np.count_nonzero(pattern.equal))
        if rows > SMALL:
            raise ValueError(
                f"none of its {rows} rows lead from one state to the next, so it is no sequence of intervals"
            )
        front = np.where(np.concatenate([np.zeros(pattern.nx, dtype=bool), ~pattern.equal]), -1, 0)
        return _numbered(pattern, front, nothing, np.array([-1]), np.array([-1]), threads)
    weights, closed = pattern.weights()
    tree = tree_of(cuts_of(weights, threads, closed))
    front = fronts_of(pattern, tree)
    tile = tiles_of(pattern, front)
    front, tree, leaf = with_leaves(pattern, front, tile, tree)
    front = shifted(pattern, front, tile, tree, leaf)
    plan = _numbered(pattern, *_without_empty(front, tile, tree), threads)
    _check_work(plan, pattern)
    return plan


def _without_empty(front: Indices, tile: Indices, tree: FrontTree) -> tuple[Indices, Indices, Indices, Indices]:
    """Fronts of vertices, tiles, and parents and threads of the fronts that have vertices."""
    full = np.bincount(front[front >= 0], minlength=tree.size) > 0
    number = np.where(full, np.cumsum(full) - 1, -1)
    up = tree.parent.copy()
    for f in range(tree.size - 1, -1, -1):  # parents before children
        if up[f] >= 0 and not full[up[f]]:
            up[f] = up[up[f]]
    parent = np.where(up >= 0, number[up], -1)[full]
    threads = tree.thread[full]
    kept = np.unique(threads[threads >= 0])
    return (
        np.where(front >= 0, number[front], -1),
        tile,
        parent,
        np.where(threads >= 0, np.searchsorted(kept, threads), -1),
    )


def _check_work(plan: LdlPlan, pattern: ProgramPattern) -> None:
    """Raises ValueError if a sparse factorization of the same matrix is likely to be faster."""
    entries = pattern.one.size + pattern.member.size + 2 * pattern.size
    dense, sparse = plan.work / DENSE_RATE + plan.parent.size * FRONT_SECONDS, entries / SPARSE_RATE
    if dense > sparse:
        raise ValueError(
            f"its fronts are too wide, up to {(plan.own + plan.boundary).max()} rows: {plan.work / 1e6:.0f} million "
            f"multiply-adds for {entries} entries of the KKT matrix, more than a sparse factorization needs"
        )


def _numbered(
    pattern: ProgramPattern, front: Indices, tile: Indices, parent: Indices, thread: Indices, threads: int
) -> LdlPlan:
    """The plan, by the row numbers of IPOPT's augmented matrix."""
    nx, equal = pattern.nx, pattern.nx + np.flatnonzero(pattern.equal)
    nd = int(np.count_nonzero(~pattern.equal))
    pairs = np.full(nd, -1)
    own, boundary = own_and_boundary(pattern, front, tile, parent)
    role_x, role_c = np.where(tile[:nx] >= 0, PRIMAL, ORDINARY), np.where(tile[equal] >= 0, DUAL, ORDINARY)
    rows = (
        np.concatenate([front[:nx], pairs, front[equal], pairs]),
        np.concatenate([role_x, np.full(nd, PAIR), role_c, np.full(nd, PAIR)]),
        np.concatenate([tile[:nx], pairs, tile[equal], pairs]),
        parent,
        thread,
    )
    fronts, roles, tiles, parents, subtrees = (np.asarray(a, dtype=np.int32) for a in rows)
    sizes = nx, nd, int(equal.size), nd
    return LdlPlan(fronts, roles, tiles, parents, subtrees, *sizes, threads, own, boundary)
