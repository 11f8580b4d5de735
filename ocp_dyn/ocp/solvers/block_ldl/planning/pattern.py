"""Entries of a program's x that meet in rows and second derivatives, as IPOPT sees it: without fixed entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....._base.types import Array, Indices
from ....nlp.assembled import Assembled
from ....nlp.scatter import row_tables
from ....nlp.stage_orders import Mask


@dataclass(frozen=True, eq=False)
class ProgramPattern:
    """The structure of a program without its fixed entries, over vertices: the free entries of x, 0, ..., nx - 1, and
    after them the rows of the program, in order.

    equal: mask of the rows whose bounds are equal. one, other: pairs of vertices with an entry in the KKT matrix: two
    different entries of x with a second derivative, or an equality row and an entry of x. row, member: pairs of an
    inequality row and an entry of x; the entries of such a row meet each other once the row is eliminated. interval:
    number of the interval, in time, that a use of an entry belongs to, and used: the entry, for all uses in intervals;
    only: mask of the entries that one instance of one block alone uses.
    """

    nx: int
    equal: Mask
    one: Indices
    other: Indices
    row: Indices
    member: Indices
    interval: Indices
    used: Indices
    only: Mask

    @property
    def size(self) -> int:
        """Number of vertices."""
        return self.nx + int(self.equal.size)

    @property
    def intervals(self) -> int:
        """Number of intervals."""
        return int(self.interval.max(initial=-1)) + 1

    def lowest(self, front: Indices) -> Indices:
        """The lowest number among the fronts of the vertices that each vertex meets, in inequality rows too; the number
        of vertices if there is none."""
        low = np.full(self.size, self.size)
        np.minimum.at(low, self.one, front[self.other])
        np.minimum.at(low, self.other, front[self.one])
        of_row = np.full(self.size, self.size)
        np.minimum.at(of_row, self.row, front[self.member])
        np.minimum.at(low, self.member, of_row[self.row])
        return low

    def weights(self) -> tuple[Array, bool]:
        """The work that each interval takes, up to a factor, and whether rows tie the ends of the motion together."""
        first, last = np.full(self.size, self.intervals), np.full(self.size, -1)
        np.minimum.at(first, self.used, self.interval)
        np.maximum.at(last, self.used, self.interval)
        near = (last >= 0) & (last - first <= 1)
        one, other = self.one[near[self.other]], self.other[near[self.other]]
        begin, end = np.full(self.size, self.intervals), np.full(self.size, -1)
        row = one >= self.nx
        np.minimum.at(begin, one[row], first[other[row]])
        np.maximum.at(end, one[row], first[other[row]])
        begin[: self.nx], end[: self.nx] = first[: self.nx], first[: self.nx]
        known = (end >= 0) & (end < self.intervals)
        count = np.bincount(end[known], minlength=self.intervals)
        return count.astype(float) ** 2 + 1.0, bool(np.any((end - begin)[known] > self.intervals / 2))


def pattern_of(program: Assembled, lower: Array, upper: Array) -> ProgramPattern:
    """The structure of a program of which the entries with lower == upper are fixed."""
    free = np.asarray(lower) != np.asarray(upper)
    number = np.where(free, np.cumsum(free) - 1, -1)
    nx, equal = int(free.sum()), program.row_lower == program.row_upper
    begun, parts = 0, _Parts()
    uses = np.zeros(nx, dtype=np.int64)
    for b, table in zip(program.blocks, row_tables(program.blocks), strict=True):
        count = len(b.instances)
        if not count:
            continue
        entries = number[b.gather]
        i, j = _pairs(b.jacobian_pattern)
        at = nx + table[:, i].ravel()
        parts.rows(at, entries[:, j].ravel(), equal[at - nx])
        i, j = _pairs(b.hessian_pattern)
        off = i < j
        parts.squares(entries[:, i[off]].ravel(), entries[:, j[off]].ravel())
        if not b.onto:  # else they are those of the blocks whose rows these are
            np.add.at(uses, entries[entries >= 0], 1)
        if any(name in program.gaps for name in b.row_names):
            parts.uses(np.repeat(begun + np.arange(count), entries.shape[1]), entries.ravel())
            begun += count
    one, other, row, member, interval, used = (np.concatenate([number[:0], *part]) for part in parts.all)
    return ProgramPattern(nx, equal, one, other, row, member, interval, used, uses == 1)


class _Parts:
    """Collects pairs of vertices, of free entries only."""

    def __init__(self) -> None:
        self.all: list[list[Indices]] = [[] for _ in range(6)]

    def _add(self, kind: int, first: Indices, second: Indices, keep: Mask) -> None:
        self.all[2 * kind].append(first[keep])
        self.all[2 * kind + 1].append(second[keep])

    def rows(self, row: Indices, entry: Indices, equal: Mask) -> None:
        """Adds entries of the Jacobian."""
        self._add(0, row, entry, (entry >= 0) & equal)
        self._add(1, row, entry, (entry >= 0) & ~equal)

    def squares(self, one: Indices, other: Indices) -> None:
        """Adds second derivatives."""
        self._add(0, one, other, (one >= 0) & (other >= 0) & (one != other))

    def uses(self, interval: Indices, entry: Indices) -> None:
        """Adds uses of entries in intervals."""
        self._add(2, interval, entry, entry >= 0)


def _pairs(sparsity: Any) -> tuple[Indices, Indices]:
    return np.array(sparsity.row(), dtype=np.int64), np.array(sparsity.get_col(), dtype=np.int64)
