"""Which entries of a program's x meet in which rows and second derivatives, as IPOPT sees it: without fixed entries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...._types import Array, Indices
from ...nlp.assembled import Assembled
from ...nlp.stage_orders import GAPS, Mask


@dataclass(frozen=True, eq=False)
class Kind:
    """The instances of one kind of block.

    entries[i, j]: number among the free entries of the j-th variable of instance i, -1 if it is fixed; row: the first
    row of the first instance; rows: number of rows of each instance; jacobian: pairs (row, variable) of one instance;
    interval: whether its rows lead from one state to the next.
    """

    entries: Indices
    row: int
    rows: int
    jacobian: tuple[Indices, Indices]
    interval: bool


@dataclass(frozen=True, eq=False)
class Pattern:
    """The structure of a program whose fixed entries are taken out.

    nx: number of free entries; equal: mask of the rows whose bounds are equal; row, column: entries of the Jacobian;
    one, other: pairs of different entries with a second derivative; all as numbers of rows, or among the free entries.
    """

    nx: int
    equal: Mask
    row: Indices
    column: Indices
    one: Indices
    other: Indices
    kinds: list[Kind]


def pattern_of(program: Assembled, lower: Array, upper: Array) -> Pattern:
    """The structure of a program of which the entries with lower == upper are fixed."""
    free = np.asarray(lower) != np.asarray(upper)
    number = np.where(free, np.cumsum(free) - 1, -1)
    kinds, first = [], 0
    row, column, one, other = [], [], [], []
    for b in program.blocks:
        if not b.instances:
            continue
        entries, rows = number[b.gather], int(b.lower.size)
        i, j = _pairs(b.jacobian_pattern)
        kinds.append(Kind(entries, first, rows, (i, j), any(name in GAPS for name in b.row_names)))
        count = len(b.instances)
        row.append((first + rows * np.arange(count)[:, None] + i[None, :]).ravel())
        column.append(entries[:, j].ravel())
        i, j = _pairs(b.hessian_pattern)
        one.append(entries[:, i].ravel())
        other.append(entries[:, j].ravel())
        first += rows * count
    at, to = _joined(row, column, 1)
    i, j = _joined(one, other, 2)
    off = i < j
    return Pattern(int(free.sum()), program.row_lower == program.row_upper, at, to, i[off], j[off], kinds)


def _pairs(sparsity: object) -> tuple[Indices, Indices]:
    row, column = sparsity.get_triplet()  # type: ignore[attr-defined]
    return np.array(row, dtype=np.int64), np.array(column, dtype=np.int64)


def _joined(first: list[Indices], second: list[Indices], free: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs whose second (free=1), or both (free=2), are free entries."""
    a, b = (np.concatenate([np.zeros(0, dtype=np.int64), *parts]) for parts in (first, second))
    keep = (b >= 0) if free == 1 else (a >= 0) & (b >= 0)
    return a[keep], b[keep]
