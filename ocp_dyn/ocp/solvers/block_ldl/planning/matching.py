"""Rows of a front that find a variable of their own: a matching of rows and variables that meet."""

from __future__ import annotations

import numpy as np

from ....nlp.stage_orders import Mask


def unmatched(meets: Mask) -> list[int]:
    """The rows that find no column of their own, where meets[i, j] says whether row i may take column j.

    Rows are matched in order, and a row once matched stays so: rows that are named late are left over. Augmenting
    paths, Kuhn 1955.
    """
    rows, columns = meets.shape
    if rows == 0:
        return []
    options = [np.flatnonzero(line).tolist() for line in meets]
    owner = [-1] * columns
    left = []
    for i in range(rows):
        if not _taken(i, options, owner):
            left.append(i)
    return left


def _taken(start: int, options: list[list[int]], owner: list[int]) -> bool:
    """Whether a path of exchanges gives row `start` a column; the exchanges are made then."""
    for j in options[start]:
        if owner[j] < 0:
            owner[j] = start
            return True
    came: dict[int, int] = {}  # column -> the row that asks for it
    queue = [start]
    while queue:
        i = queue.pop()
        for j in options[i]:
            if j in came:
                continue
            came[j] = i
            if owner[j] >= 0:
                queue.append(owner[j])
                continue
            _exchange(j, start, came, owner)
            return True
    return False


def _exchange(j: int, start: int, came: dict[int, int], owner: list[int]) -> None:
    """Gives column j to the row that asks for it, that row's column to the next one, back to the row `start`."""
    taken = {row: column for column, row in enumerate(owner) if row >= 0}
    while True:
        i = came[j]
        owner[j] = i
        if i == start:
            return
        j = taken[i]
