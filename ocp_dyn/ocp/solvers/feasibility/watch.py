"""A watch over the iterates of a solver, which proves a program infeasible while the solver still tries.

The solver's violation stagnates in infeasible programs, but for long times in feasible ones too. So stagnation is only
a suspicion, upon which a search for the point of least violation begins from the iterate nearest to feasibility. The
solver is not disturbed: it goes on, unless the search ends at a certified point of positive violation, a search from
the solver's start ends at the same violation, and so does a third one, from an iterate that is PATIENCE iterations
later. One search that ends elsewhere refutes the others: then the violation has several minima, and there may be a
motion near another. What was found is told once the run has failed, as a suspicion; a hasty watch ends the run at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...._base.types import Array
from ...nlp.assembled import Assembled
from ..interface import Start
from .least_violation import MET, LeastViolation, least_violation, residual

FIRST = 40
"""Number of iterations before the first suspicion."""

WINDOW = 20
"""Iterations in which phi, half the squared violation, must fall to SHARE of its value."""

SHARE = 0.5

PATIENCE = 15
"""Number of iterations from a certified point to the last search, in which the run may still get better."""

SEARCH = 340
"""Largest number of iterations of a search; during a run at most EFFORT times those of the run so far."""

EFFORT = 2

LATER = 2.0
"""Factor from the number of iterations at one suspicion to that at which the next is allowed."""

NOISE = 0.02
"""Standard deviation by which the second search begins off the solver's start, in the scale of the program."""

ALIKE = 1.1
"""Largest ratio of two violations that count as the same."""


class Watch:
    """Sees every iterate of a solver; `found` is the point of least violation once the program is proved infeasible.

    lowest: the best point of all searches, None before the first one; searches: their number. hasty: the first search
    without a feasible point ends the run, `ended`, although it proves nothing.
    """

    def __init__(self, program: Assembled, start: Start, say: Callable[[str], None], hasty: bool = False) -> None:
        self._program, self._start, self._say, self._hasty = program, start, say, hasty
        self.ended = False
        self._least: list[float] = []
        self._best, self._next, self._busy = start.x, FIRST, False
        self._agreed: list[LeastViolation] = []
        self.found: LeastViolation | None = None
        self.lowest: LeastViolation | None = None
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
        if k >= self._next and self._stagnates(r):
            self._step(x, min(SEARCH, EFFORT * k))
        return self.found is not None or self.ended

    def conclude(self, x: Array) -> None:
        """Searches from x, at which the solver has given up."""
        self._best = x
        self._step(x, SEARCH)
        if self._agreed:
            self._step(x + self._noise(), SEARCH)

    def _noise(self) -> Array:
        return np.asarray(np.random.default_rng(0).normal(0.0, NOISE, self._start.x.size))

    def _stagnates(self, r: Array) -> bool:
        """Whether no iterate was nearly feasible, and the least violation has hardly fallen within the window."""
        before, now = self._least[-1 - WINDOW], self._least[-1]
        return now > MET**2 / 2 and np.abs(r).max(initial=0.0) > MET and now > SHARE * before

    def _step(self, x: Array, most: int) -> None:
        """A first search and one from the solver's start, or, if these agree, the last one, from the iterate x."""
        self._busy, self._next = True, int(LATER * len(self._least))
        try:
            if self._agreed:
                self.found = self.lowest if self._agrees(x, most) else None
                self._agreed = []
            elif self._agrees(self._best, most) and self._agrees(self._start.x + self._noise(), most):
                self._next = len(self._least) + PATIENCE
            else:
                self._agreed = []
        finally:
            self._busy = False
        if self.lowest is not None and self.lowest.finding == "feasible":
            self._next = np.iinfo(np.int64).max

    def _agrees(self, x: Array, most: int) -> bool:
        """Whether a search from x ends at a certified point, with the violation of the earlier ones."""
        self._say(f"the violation stagnates after {len(self._least)} iterates: searches for any feasible point")
        self.searches += 1
        end = least_violation(self._program, self._start, x, most)
        if self.lowest is None or end.violation < self.lowest.violation:
            self.lowest = end
        self._agreed.append(end)
        sizes = [one.violation for one in self._agreed]
        if end.finding == "stationary" and max(sizes) <= ALIKE * min(sizes):
            return True
        if end.finding == "feasible":
            self._say("a feasible point exists: goes on")
        else:
            self.ended = self._hasty
            then = "ends" if self.ended else "goes on (Ctrl-C ends it)"
            self._say(
                "no feasible point was found nearby, the largest violation is "
                f"{np.abs(end.residual).max(initial=0.0):.1g}: nothing is proved, the run {then}"
            )
        return False
