"""A watch over the iterates of a solver, which proves a program infeasible while the solver still tries.

The solver's violation stagnates in infeasible programs, but for a while in feasible ones too. So stagnation is only a
suspicion: a search for feasibility from the iterate of least violation, and another one from the solver's start, decide.
The solver is not disturbed: it goes on unless both searches end at points of positive violation, the first of them
stationary.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._types import Array
from ..nlp.assembled import Assembled
from ..solvers.interface import Start
from .least_violation import MET, LeastViolation, least_violation, residual

FIRST = 24
"""Number of iterations before the first suspicion."""

WINDOW = 12
"""Iterations in which phi, half the squared violation, must fall to SHARE of its value."""

SHARE = 0.5

SEARCH, SECOND = 200, 40
"""Largest numbers of iterations of the two searches. A search that ends open goes on at the next suspicion."""

MOST = 800
"""Largest number of iterations of all first searches of a run."""

LATER = 1.5
"""Factor from the number of iterations at one suspicion to that at which the next is allowed."""

NOISE = 0.1
"""Standard deviation by which the second search begins off the solver's start, in the scale of the program."""

LARGEST_SHARE = 0.2
"""The second search refutes the first one if it comes below this share of its violation."""


class Watch:
    """Sees every iterate of a solver; `found` is the point of least violation once the program is proved infeasible.

    searches: number of searches so far.
    """

    def __init__(self, program: Assembled, start: Start, say: Callable[[str], None]) -> None:
        self._program, self._start, self._say = program, start, say
        self._least: list[float] = []
        self._best, self._next, self._busy = start.x, FIRST, False
        self._lowest: LeastViolation | None = None
        self._used = 0
        self.found: LeastViolation | None = None
        self.searches = 0

    def __call__(self, x: Array, g: Array) -> bool:
        """Whether the solver is to stop at this iterate, because the program is infeasible."""
        if self._busy:
            return False
        r = residual(self._program, g)
        phi = float(r @ r) / 2 if np.all(np.isfinite(r)) else np.inf
        if not self._least or phi < self._least[-1]:
            self._best = x
        self._least.append(min(phi, self._least[-1] if self._least else np.inf))
        k = len(self._least)
        if k < self._next or not self._stagnates(r):
            return False
        self._busy, self._next = True, int(LATER * k)
        try:
            self._search()
        finally:
            self._busy = False
        return self.found is not None

    def conclude(self, x: Array) -> None:
        """Searches from x, at which the solver has given up."""
        self._best = x
        self._search()

    def _stagnates(self, r: Array) -> bool:
        """Whether no iterate was nearly feasible, and the least violation has hardly fallen within the window."""
        before, now = self._least[-1 - WINDOW], self._least[-1]
        return now > MET**2 / 2 and np.abs(r).max(initial=0.0) > MET and now > SHARE * before

    def _search(self) -> None:
        self._say(f"the violation stagnates after {len(self._least)} iterates: searches for any feasible point")
        self.searches += 1
        lowest, now = self._lowest, self._least[-1] if self._least else np.inf
        begin = lowest.x if lowest is not None and lowest.violation < now else self._best
        first = least_violation(self._program, self._start, begin, min(SEARCH, MOST - self._used))
        self._lowest, self._used = first, self._used + first.iterations
        if first.finding == "stationary":
            self.searches += 1
            noise = np.random.default_rng(0).normal(0.0, NOISE, self._start.x.size)
            second = least_violation(self._program, self._start, self._start.x + noise, SECOND)
            if second.finding != "feasible" and second.violation > LARGEST_SHARE * first.violation:
                self.found = first
                return
        if first.finding == "feasible" or self._used >= MOST:
            self._next = np.iinfo(np.int64).max  # nothing is left to prove, or not in reasonable time
        self._say("a feasible point exists: goes on" if first.finding == "feasible" else "nothing is proved: goes on")
