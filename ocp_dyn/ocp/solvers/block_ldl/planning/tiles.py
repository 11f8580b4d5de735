"""Tiles: small groups of variables and of the equality rows that determine them, eliminated before their front.

The accelerations of an interval meet the rows that lead from one state to the next dof by dof: the Jacobian of these
rows by the accelerations consists of many small blocks B. With P the variables and Q the rows of a block, and R all
other rows of the KKT matrix K, the elimination of (P, Q) leaves K_RR - C_P Z - Z' C_P' + Z' H_PP Z with Z = B^-1 C_Q',
for little work, because Z is sparse.
"""

from __future__ import annotations

import numpy as np

from ....._base.types import Indices
from ....nlp.stage_orders import Mask
from .matching import unmatched
from .pattern import ProgramPattern

SPARSE = 16, 0.5
"""Largest number of entries of a row of a tile, as a number and as a part of the entries that an interval uses."""

LARGEST = 32
"""Largest number of variables of a tile."""


def tiles_of(pattern: ProgramPattern, front: Indices) -> Indices:
    """The number of the tile of every vertex, -1 for most.

    A vertex of a tile meets nothing that is eliminated in a deeper front. A tile may have more variables than rows,
    or, where the pattern does not tell which rows determine the variables (the four rows of a quaternion), more rows:
    the factorization chooses, and eliminates the rest in the front.
    """
    size = pattern.size
    local = pattern.lowest(front) >= front
    at = pattern.one >= pattern.nx
    row, column = pattern.one[at], pattern.other[at]
    count = np.bincount(row, minlength=size)
    most = min(SPARSE[0], SPARSE[1] * pattern.used.size / max(pattern.intervals, 1))
    near = (front[row] == front[column]) & local[column] & local[row] & (count[row] <= most)
    inside = np.concatenate([pattern.only, np.zeros(size - pattern.nx, dtype=bool)])
    # first accelerations and the like; then variables on both sides of a row that ties two intervals
    first = _components(size, row, column, near & inside[column], count)
    taken = np.bincount(column, first[row] >= 0, size) > 0  # variables that meet rows of these tiles, and rows that
    taken |= np.bincount(row, first[column] >= 0, size) > 0  # meet their variables
    second = _components(size, row, column, near & ~taken[column] & ~taken[row], count)
    tile = np.where(first >= 0, first, np.where(second >= 0, second + first.max(initial=-1) + 1, -1))
    return np.asarray(np.where(tile >= 0, np.unique(tile, return_inverse=True)[1].ravel() - int(np.any(tile < 0)), -1))


def _components(size: int, row: Indices, column: Indices, chosen: Mask, count: Indices) -> Indices:
    """Tiles of the chosen entries of the Jacobian: connected components without rows that the rest already determine.

    Rows that meet many of the variables are left out where a component would be too large. count: entries of every row.
    """
    row, column = row[chosen], column[chosen]
    while True:
        label = _labels(size, row, column)
        columns = np.unique(column)
        large = np.bincount(label[columns], minlength=size) > LARGEST
        if not np.any(large):
            break
        inside = np.bincount(row, minlength=size)
        most = np.zeros(size, dtype=np.int64)
        np.maximum.at(most, label[row], inside[row])
        keep = ~large[label[row]] | (inside[row] < most[label[row]])
        row, column = row[keep], column[keep]
    rows = np.unique(row)
    tile = np.full(size, -1)
    tile[columns], tile[rows] = label[columns], label[rows]
    tile[_determined(size, row, column, label, count)] = -1
    return tile


def _labels(size: int, row: Indices, column: Indices) -> Indices:
    """The same number for all vertices of a connected component."""
    label = np.arange(size)
    while True:
        before = label.copy()
        np.minimum.at(label, row, label[column])
        np.minimum.at(label, column, label[row])
        if np.array_equal(before, label):
            return label


def _determined(size: int, row: Indices, column: Indices, label: Indices, count: Indices) -> Indices:
    """The rows of a component with more rows than variables that are not needed: those with few entries determine the
    variables. A row that is like one of these, by its variables and its number of entries, is kept beside it."""
    rows, columns = np.unique(row), np.unique(column)
    over = np.bincount(label[rows], minlength=size) > np.bincount(label[columns], minlength=size)
    one = over & (np.bincount(label[columns], minlength=size) == 1)
    least = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(least, label[rows], count[rows])
    spare = [rows[one[label[rows]] & (count[rows] > least[label[rows]])]]
    several = np.flatnonzero((over & ~one)[label[row]])
    several = several[np.argsort(label[row[several]], kind="stable")]
    starts = np.flatnonzero(np.diff(label[row[several]], prepend=-1))
    for edges in np.split(several, starts[1:]) if several.size else []:
        spare.append(_spare(row[edges], column[edges], count))
    return np.concatenate(spare)


def _spare(row: Indices, column: Indices, count: Indices) -> Indices:
    """The rows of one component that are neither needed nor like those needed."""
    rows, at = np.unique(row, return_inverse=True)
    columns, to = np.unique(column, return_inverse=True)
    meets = np.zeros((rows.size, columns.size), dtype=bool)
    meets[at, to] = True
    order = np.argsort(count[rows], kind="stable")
    left = order[unmatched(meets[order])]
    needed = {(meets[i].tobytes(), count[rows[i]]) for i in np.setdiff1d(order, left)}
    return rows[[i for i in left if (meets[i].tobytes(), count[rows[i]]) not in needed]]
