"""The tree of fronts over a chain of intervals: subtrees that threads work through side by side, and what joins them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...._types import Indices


@dataclass(frozen=True, eq=False)
class Tree:
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


def tree_of(cuts: list[int]) -> Tree:
    """The tree over the intervals cuts[0], ..., cuts[-1] - 1, one subtree for every piece between two cuts.

    The first piece is worked through forward in time and all others backward, so that the two halves of a motion meet in
    the middle. Fronts above the pieces join neighbors two by two.
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
    return Tree(front, up, np.array(thread), low, _mirrored(up, low))


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
