"""Bounds that contradict each other through linear rows, found by a linear program, without a run of the solver.

Rows are linear if their slopes are the same at several points; so the steps of a motion of fixed duration are, and
conditions such as `end.q - 1`. The linear program

    minimize sum(s + t)   over x in its bounds, and s, t >= 0, such that lower <= a x - s + t <= upper

is zero if they can hold together; if not, its multipliers are a proof by Farkas' lemma [Nocedal & Wright, Numerical
Optimization, 2006, 12.9]: the rows and bounds with a multiplier contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...nlp.assembled import Assembled
from ..interface import Start

PROBES = 3
"""Number of points, beside the start, at which slopes of rows are compared."""

TOLERANCE = 1e-5
"""Shortage, in the scale of the variables, from which on rows and bounds contradict each other."""

PRESS = 1e-6
"""Multiplier from which on a row or a bound takes part in a contradiction; those of rows lie between -1 and 1."""


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Linear rows and bounds that cannot hold together: indices of rows in g, and of entries of x whose lower or upper
    bound takes part. gap: the least sum of the distances of all rows from their bounds, in the scale of the variables
    with the largest slopes."""

    rows: tuple[int, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    gap: float


class _Linear:
    """The linear rows of a program at parameters p: entries (row, column, slope), and bounds of the sums a x."""

    def __init__(self, program: Assembled, start: Start) -> None:
        e, p = program.evaluator, start.p
        rng = np.random.default_rng(0)
        row, column = e.jacobian_entries
        x0 = start.x
        g0, slopes = e.constraints(x0, p).copy(), e.jacobian(x0, p).copy()
        bad = ~np.isfinite(g0)
        bad[row[~np.isfinite(slopes)]] = True
        at = np.flatnonzero(slopes)  # entries of rows that may be linear; after the first probe few are left
        with np.errstate(invalid="ignore", over="ignore"):
            for _ in range(PROBES):
                x = x0 + rng.normal(size=x0.size) * (1 + np.abs(x0))
                same = np.abs(e.jacobian(x, p) - slopes) <= 1e-9 * (1 + np.abs(slopes))
                bad[row[~same]] = True
                at = at[~bad[row[at]]]
                moves = slopes[at] * (x - x0)[column[at]]
                moved, size = (np.bincount(row[at], part, g0.size) for part in (moves, np.abs(moves)))
                bad |= ~(np.abs(e.constraints(x, p) - g0 - moved) <= 1e-9 * (1 + np.abs(g0) + size))
        kept = at[~bad[row[at]]]
        self.row, self.column, self.slope = row[kept], column[kept], slopes[kept]
        offset = g0 - np.bincount(self.row, self.slope * x0[self.column], g0.size)
        free = np.full(g0.size, np.inf)
        self.lower = np.where(bad, -free, program.row_lower - offset)
        self.upper = np.where(bad, free, program.row_upper - offset)


def contradiction(program: Assembled, start: Start) -> Contradiction | None:
    """A contradiction among the bounds of x and the linear rows at the start's parameters; None if there is none."""
    linear = _Linear(program, start)
    rows, i = np.unique(linear.row, return_inverse=True)
    columns, j = np.unique(linear.column, return_inverse=True)
    m, n = rows.size, columns.size
    if not m or not ca.has_conic("highs"):
        return None
    size = np.zeros(m)
    np.maximum.at(size, i, np.abs(linear.slope))
    slopes = ca.DM.triplet(i.tolist(), j.tolist(), ca.DM(linear.slope / size[i]), m, n)
    a = ca.horzcat(slopes, -ca.DM.eye(m), ca.DM.eye(m))
    options: dict[str, Any] = {"error_on_fail": False, "highs": {"output_flag": False}}
    solver = ca.conic("contradiction", "highs", {"a": a.sparsity(), "h": ca.Sparsity(n + 2 * m, n + 2 * m)}, options)
    found = solver(
        g=np.concatenate([np.zeros(n), np.ones(2 * m)]), a=a,
        lba=linear.lower[rows] / size, uba=linear.upper[rows] / size,
        lbx=np.concatenate([start.lower[columns], np.zeros(2 * m)]),
        ubx=np.concatenate([start.upper[columns], np.full(2 * m, np.inf)]),
    )  # fmt: skip
    gap = float(found["cost"])
    if not solver.stats()["success"] or not gap > TOLERANCE:
        return None
    lam_a, lam_x = (np.array(found[key]).ravel() for key in ("lam_a", "lam_x"))
    taking, low, high = np.abs(lam_a) > PRESS, lam_x[:n] < -PRESS, lam_x[:n] > PRESS
    sides = [tuple(map(int, part)) for part in (rows[taking], columns[low], columns[high])]
    return Contradiction(sides[0], sides[1], sides[2], gap)
