"""The tree of fronts over a sequence of intervals: subtrees that threads work through side by side, and what joins
them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....._base.rounding import largest
from ....._base.types import Array, Indices
from ....nlp.stage_orders import Mask


@dataclass(frozen=True, eq=False)
class FrontTree:
    """Fronts in postorder: the descendants of front f are first[f], ..., f - 1.

    front: the front of every interval; parent: -1 for the root; thread: number of the subtree, -1 above them; mirrored:
    the number of every front in the postorder that visits children the other way round.
    """

    front: Indices
    parent: Indices
    thread: Indices
    first: Indices
    mirrored: Indices

    @property
    def size(self) -> int:
        """Number of fronts."""
        return int(self.parent.size)

    def above(self, f: Indices, g: Indices) -> Indices:
        """Whether g is f or an ancestor of f."""
        return np.asarray((self.first[g] <= f) & (f <= g))

    def meet(self, f: Indices, g: Indices) -> Indices:
        """The lowest front that is f, g or an ancestor of both."""
        low, high = np.minimum(f, g), np.maximum(f, g).copy()
        while True:
            apart = self.first[high] > low
            if not np.any(apart):
                return high
            high[apart] = self.parent[high[apart]]

    def with_leaves(self, split: Mask) -> FrontTree:
        """The tree with a further child, just before it, for every front of `split`."""
        number = np.arange(self.size) + np.cumsum(split)
        size = int(number[-1]) + 1
        parent, thread, first = (np.zeros(size, dtype=np.int64) for _ in range(3))
        parent[number] = np.where(self.parent >= 0, number[self.parent], -1)
        thread[number] = self.thread
        leaf = number[split] - 1
        parent[leaf], thread[leaf] = leaf + 1, self.thread[split]
        first[number] = number[self.first] - split[self.first]
        first[leaf] = leaf
        return FrontTree(number[self.front], parent, thread, first, _mirrored(parent, first))


INNER = 2.2
"""Work in a piece of a sequence with borders at both ends, relative to one with a border at one end."""

FEWEST = 4
"""Fewest intervals of a piece if there are more than two pieces."""


def cuts_of(weights: Array, threads: int, closed: bool) -> list[int]:
    """The first interval of every piece, and the number of intervals, so that all pieces are about the same work.

    weights: work of every interval; closed: whether the last interval is tied to the first. Two pieces at least (one
    thread works through both), and a power of two.
    """
    pieces = 2
    while 2 * pieces <= threads and 2 * pieces * FEWEST <= weights.size:
        pieces *= 2
    if weights.size < 2:
        return [0, weights.size]
    share = np.full(pieces, 1.0)
    if not closed and pieces > 2:
        share[1:-1] /= INNER
    done = np.cumsum(weights) / np.sum(weights)
    cuts = [0, *(largest(-np.abs(done - part)) + 1 for part in np.cumsum(share / share.sum())[:-1]), weights.size]
    for k in range(1, pieces):  # no piece is empty
        cuts[k] = min(max(cuts[k], cuts[k - 1] + 1), weights.size - pieces + k)
    return cuts


def tree_of(cuts: list[int]) -> FrontTree:
    """The tree over the intervals cuts[0], ..., cuts[-1] - 1, one subtree for every piece between two cuts.

    The first piece is worked through forward in time and all others backward, so that the two halves of a motion meet
    in the middle. Fronts above the pieces join neighbors two by two.
    """
    parent: list[int] = []
    thread: list[int] = []
    first: list[int] = []
    front = np.zeros(cuts[-1], dtype=np.int64)

    def piece(t: int) -> int:
        begin = len(parent)
        intervals = list(range(cuts[t], cuts[t + 1]))
        for k in intervals if t == 0 else reversed(intervals):
            front[k] = len(parent)
            parent.append(len(parent) + 1)
            thread.append(t)
            first.append(begin)
        return len(parent) - 1

    def joined(low: int, high: int) -> int:
        if high - low == 1:
            return piece(low)
        middle = (low + high) // 2
        begin = len(parent)
        tops = joined(low, middle), joined(middle, high)
        for top in tops:
            parent[top] = len(parent)
        parent.append(-1)
        thread.append(-1)
        first.append(begin)
        return len(parent) - 1

    joined(0, len(cuts) - 1)
    if len(cuts) == 2:  # one piece: a root for what all intervals share
        parent.append(-1)
        thread.append(-1)
        first.append(0)
    up, low = np.array(parent), np.array(first)
    return FrontTree(front, up, np.array(thread), low, _mirrored(up, low))


def _mirrored(parent: Indices, first: Indices) -> Indices:
    """Postorder numbers when the children of every front are visited in the opposite order."""
    size = np.arange(parent.size) + 1 - first
    number, begin = np.zeros(parent.size, dtype=np.int64), np.zeros(parent.size, dtype=np.int64)
    number[-1] = parent.size - 1
    for f in range(parent.size - 2, -1, -1):
        begin[f] = begin[parent[f]]
        begin[parent[f]] += size[f]
        number[f] = begin[f] + size[f] - 1
    return number
