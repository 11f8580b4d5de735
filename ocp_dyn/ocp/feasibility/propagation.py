"""Bounds that contradict each other through linear rows, found by propagating intervals, without a solver.

A row `lower <= a x <= upper` bounds each of its variables by the bounds of the others [Savelsbergh, Preprocessing and
probing techniques for mixed integer programming, ORSA J. Comput. 6, 1994]. Rows are linear if their slopes are the same
at several points; so the steps of a motion of fixed duration are, and conditions such as `end.q - 1`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._types import Array, Indices
from ..nlp.assembled import Assembled
from ..solvers.interface import Start

PROBES = 3
"""Number of points, beside the start, at which slopes of rows are compared."""

ROUNDS = 200
"""Largest number of passes over all rows; a bound needs one pass per interval to reach the other end of a motion."""

TOLERANCE = 1e-6
"""Crossing of two bounds, in the scale of the program and relative to their size, that counts as a contradiction."""

CHANGE = 1e-7
"""Passes end when no bound moves by more than this, relative to its size."""


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Linear rows and bounds that cannot hold together: indices of rows in g, and of entries of x whose given bounds,
    lower or upper, take part. row: the row, or else the entry of x, at which the contradiction appears; gap: by which
    its bounds miss each other, in the scale of the program."""

    rows: tuple[int, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    gap: float


class _Linear:
    """The linear rows of a program at parameters p: entries (row, column, slope), and bounds of the sums a x."""

    def __init__(self, program: Assembled, start: Start) -> None:
        e, p = program.evaluator, start.p
        rng = np.random.default_rng(0)
        pattern = e.jacobian_pattern
        row, column = np.array(pattern.row(), dtype=int), np.array(pattern.get_col(), dtype=int)
        x0 = start.x
        g0, slopes = e.constraints(x0, p).copy(), e.jacobian(x0, p).copy()
        bad = ~np.isfinite(g0)
        bad[row[~np.isfinite(slopes)]] = True
        with np.errstate(invalid="ignore", over="ignore"):
            for _ in range(PROBES):
                x = x0 + rng.normal(size=x0.size) * (1 + np.abs(x0))
                there = e.jacobian(x, p).copy()
                bad[row[~(np.abs(there - slopes) <= 1e-9 * (1 + np.abs(slopes)))]] = True
                moved = np.bincount(row, slopes * (x - x0)[column], g0.size)
                size = np.bincount(row, np.abs(slopes * (x - x0)[column]), g0.size)
                bad |= ~(np.abs(e.constraints(x, p) - g0 - moved) <= 1e-9 * (1 + np.abs(g0) + size))
        kept = ~bad[row] & (slopes != 0)
        self.row, self.column, self.slope = row[kept], column[kept], slopes[kept]
        offset = g0 - np.bincount(self.row, self.slope * x0[self.column], g0.size)
        free = np.full(g0.size, np.inf)
        self.lower = np.where(bad, -free, program.row_lower - offset)
        self.upper = np.where(bad, free, program.row_upper - offset)


def contradiction(program: Assembled, start: Start) -> Contradiction | None:
    """The first contradiction among the bounds of x and the linear rows; None if there is none that intervals show."""
    linear = _Linear(program, start)
    state = _Intervals(linear, start.lower.copy(), start.upper.copy())
    for _ in range(ROUNDS):
        found = state.crossing()
        if found is not None:
            return found
        if not state.tighten():
            return None
    return state.crossing()


class _Intervals:
    """Intervals of x under propagation; `low_from`, `high_from`: the row that gave a bound, -1 for a given bound."""

    def __init__(self, linear: _Linear, low: Array, high: Array) -> None:
        self.linear, self.low, self.high = linear, low, high
        self.low_from, self.high_from = (np.full(low.size, -1) for _ in range(2))

    def _terms(self) -> tuple[Array, Array]:
        """Least and largest value of every term of every row."""
        a, j = self.linear.slope, self.linear.column
        with np.errstate(invalid="ignore"):
            one, other = a * self.low[j], a * self.high[j]
        return np.minimum(one, other), np.maximum(one, other)

    def _sums(self, terms: Array) -> tuple[Array, Indices]:
        """Sums of the finite terms of every row, and the numbers of infinite ones."""
        m, finite = self.linear.lower.size, np.isfinite(terms)
        row = self.linear.row
        total = np.bincount(row, np.where(finite, terms, 0.0), m)
        return np.asarray(total, dtype=np.float64), np.bincount(row[~finite], minlength=m).astype(np.int64)

    def crossing(self) -> Contradiction | None:
        """The worst contradiction of the present intervals."""
        found: list[tuple[float, list[int], list[int]]] = []
        gap = self.low - self.high
        size = 1 + np.minimum(np.abs(self.low), np.abs(self.high))
        for k in np.flatnonzero(gap > TOLERANCE * size)[:1]:
            found.append((float(gap[k]), [], [int(k)]))
        least, most = self._terms()
        for terms, sign, bound in ((least, 1.0, self.linear.upper), (most, -1.0, self.linear.lower)):
            total, infinite = self._sums(terms)
            over = np.where((infinite == 0) & np.isfinite(bound), sign * (total - bound), -np.inf)
            k = int(np.argmax(over)) if over.size else -1
            if k >= 0 and over[k] > TOLERANCE * (1 + abs(bound[k])):
                found.append((float(over[k]), [k], []))
        if not found:
            return None
        worst, rows, entries = max(found, key=lambda one: one[0])
        return self._explained(worst, rows, entries)

    def _explained(self, gap: float, rows: list[int], entries: list[int]) -> Contradiction:
        """The rows and given bounds from which a contradiction follows, found by going back from it."""
        seen, low, high, todo = dict.fromkeys(rows), set[int](), set[int](), list(rows)

        def reach(k: int) -> None:
            for source, given in ((self.low_from[k], low), (self.high_from[k], high)):
                if source < 0:
                    bound = (self.low if given is low else self.high)[k]
                    if np.isfinite(bound):
                        given.add(k)
                elif source not in seen:
                    seen[int(source)] = None
                    todo.append(int(source))

        for k in entries:
            reach(k)
        while todo:
            row = todo.pop(0)
            for k in self.linear.column[self.linear.row == row]:
                reach(int(k))
        return Contradiction(tuple(seen), tuple(sorted(low)), tuple(sorted(high)), gap)

    def tighten(self) -> bool:
        """One pass over all rows; whether a bound has moved."""
        a, i = self.linear.slope, self.linear.row
        least, most = self._terms()
        new_low, new_high = [], []
        for terms, bound in ((least, self.linear.upper), (most, self.linear.lower)):
            total, infinite = self._sums(terms)
            finite = np.isfinite(terms)
            with np.errstate(invalid="ignore"):
                others = np.where(finite, total[i] - np.where(finite, terms, 0.0), total[i])
                known = (infinite[i] - ~finite == 0) & np.isfinite(bound[i])
                limit = np.where(known, (bound[i] - others) / a, np.nan)
            upper_side = (a > 0) == (bound is self.linear.upper)
            new_high.append(np.where(upper_side, limit, np.nan))
            new_low.append(np.where(upper_side, np.nan, limit))
        moved = False
        for limits, sign in ((new_low, 1.0), (new_high, -1.0)):
            for limit in limits:
                moved |= self._set(limit, sign)
        return moved

    def _set(self, limit: Array, sign: float) -> bool:
        """Takes the tightest of these limits of the entries' variables; sign: 1 for lower bounds, -1 for upper ones."""
        bounds, source = (self.low, self.low_from) if sign > 0 else (self.high, self.high_from)
        j, i = self.linear.column, self.linear.row
        with np.errstate(invalid="ignore"):
            step = CHANGE * (1 + np.abs(limit))
            better = np.flatnonzero(sign * limit > sign * bounds[j] + step)
        order = better[np.argsort(sign * limit[better], kind="stable")]  # the tightest is written last
        bounds[j[order]], source[j[order]] = limit[order], i[order]
        return bool(order.size)
