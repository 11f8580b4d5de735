"""Tiles: small groups of variables of one interval and of equality rows that determine them from one another.

The accelerations of an interval meet the rows that lead from one state to the next dof by dof: the Jacobian of these
rows by the accelerations consists of many small blocks. Each is eliminated for little work before its front is factored.
"""

from __future__ import annotations

import numpy as np

from ...._types import Indices
from ...nlp.stage_orders import Mask
from .pattern import Kind, Pattern

SPARSE = 16
"""Largest number of entries of a row of a tile."""

LARGEST = 12
"""Largest number of variables of a tile."""


def tiles_of(pattern: Pattern, kind: Kind, interior: Mask) -> list[tuple[Indices, Indices, Indices]]:
    """Tiles of the instances of one kind: instances with the same structure, and for them the tile of every variable of
    an instance and of every row, -1 where there is none.

    interior: mask of the free entries that one instance alone uses.
    """
    entries = kind.entries
    own = (entries >= 0) & interior[np.maximum(entries, 0)]
    equal = pattern.equal[kind.row + np.arange(entries.shape[0] * kind.rows)].reshape(-1, kind.rows)
    masks = np.concatenate([own, entries >= 0, equal], axis=1)
    alike, which = np.unique(masks, axis=0, return_inverse=True)
    found, width = [], entries.shape[1]
    for number, mask in enumerate(alike):
        inside, free, equality = mask[:width], mask[width : 2 * width], mask[2 * width :]
        tiles = _tiles(kind, inside, free, equality)
        found.append((np.flatnonzero(which.ravel() == number), *tiles))
    return found


def _tiles(kind: Kind, interior: Mask, free: Mask, equal: Mask) -> tuple[Indices, Indices]:
    """The tile of every variable and of every row of one instance."""
    row, column = kind.jacobian
    count = np.bincount(row[free[column]], minlength=kind.rows)
    sparse = equal & (count <= SPARSE)
    # rows with many interior variables would join what is small: they are left out until all tiles are small
    inside = np.bincount(row[interior[column]], minlength=kind.rows)
    for most in sorted(set(inside[sparse].tolist()), reverse=True):
        rows = sparse & (inside <= most) & (inside > 0)
        edge = rows[row] & interior[column]
        of_column, of_row = _components(row[edge], column[edge], kind.rows, interior.size)
        if of_column.size and np.bincount(of_column[of_column >= 0], minlength=1).max() <= LARGEST:
            return of_column, of_row
    return np.full(interior.size, -1), np.full(kind.rows, -1)


def _components(row: Indices, column: Indices, rows: int, columns: int) -> tuple[Indices, Indices]:
    """Connected components of a bipartite graph, numbered from 0, of the columns and of the rows; -1 without edges."""
    of_column, of_row = np.arange(columns), np.full(rows, columns)
    while True:
        before = of_column.copy()
        np.minimum.at(of_row, row, of_column[column])
        np.minimum.at(of_column, column, of_row[row])
        if np.array_equal(before, of_column):
            break
    used = np.zeros(columns, dtype=bool)
    used[column] = True
    members, dense = np.unique(of_column[used], return_inverse=True)
    number = np.full(columns + 1, -1)
    number[members] = np.arange(members.size)
    found = np.full(columns, -1)
    found[used] = dense.ravel()
    return found, np.asarray(number[of_row])
