"""A ladder of grids: a fine grid is reached by way of coarser ones.

An iteration on a grid of N intervals costs N units. Far from the solution as many are needed on a coarse grid as on a
fine one, or fewer; near it few are left. So the motion is found on a grid of half, a quarter, ... of the intervals, and
the solve goes on to the next finer one with the multipliers: the nested iteration of multigrid methods [W. Hackbusch,
Multi-Grid Methods and Applications, 1985, chapter 5]; for optimal control [J. T. Betts & W. P. Huffman, Mesh refinement
in direct transcription methods for optimal control, Optim. Control Appl. Meth. 19, 1998]. scripts/MEASUREMENTS.md has
what it saves.

If a motion is not found on one of the grids, the solve begins on the grid of the problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...._base.types import is_one_of, repr_in_message
from ...solution import Solution
from ...statement.grids import Intervals
from ...statement.statement import Statement
from ..attempt import Attempt
from ..restarts import STOPPED
from .carried_solve import for_starts, on_grids, solved_on

AUTO = "auto"
"""Value of the argument ladder that leaves the choice to the library."""

FINE = 56
"""Number of intervals from which on a ladder is chosen: with 60 to 124 it takes 0.3 to 0.9 of the work of a solve from
the guess, on walks and runs by gauss:1 and gauss:2."""

LEAST, LEAST_PER_PHASE = 24, 6
"""Smallest number of intervals of a grid, and of one of its phases in the mean, that a chosen ladder begins with."""

LEAST_ITERATIONS = 100
"""Iterations that a grid before the last may take at least; it may take as many as all grids before it, too. On such a
grid a motion is found from the coarser one in a few tens of them, or not at all."""

FEWEST = 4
"""Smallest number of intervals of a grid that a ladder begins with where the user asks for it."""


def check_ladder(ladder: Any, start: Solution | None) -> bool | str:
    """The argument, checked; ValueError for a ladder from a start, which has a grid of its own."""
    if not isinstance(ladder, bool) and not is_one_of(ladder, (AUTO,)):
        raise TypeError(f"ladder must be True, False or {AUTO!r}, got {repr_in_message(ladder)}")
    if ladder is True and start is not None:
        raise ValueError(
            "ladder=True begins on a coarser grid, and a start has the grid of the problem: give it as guess"
        )
    return bool(ladder) if isinstance(ladder, bool) else AUTO


def climbed(attempt: Attempt, guess: Solution | None, start: Solution | None, ladder: bool | str) -> Solution:
    """The motion on the grid of the problem, by way of coarser grids where that is chosen.

    `stats["ladder"]` tells all grids that were solved. Ctrl-C on a coarser grid ends with the best iterate there.
    """
    coarser = _coarser_grids(attempt, guess, start, ladder)
    if not coarser:
        return attempt.solved(guess, start)
    given, integrator = attempt.problem, attempt.problem.resolved.integrator
    problems = [*(on_grids(given, grids, integrator) for grids in coarser), given]
    here = replace(attempt, problem=problems[0])
    attempt.say(f"ladder of grids: {', '.join(str(_count(problem)) for problem in problems)} intervals")
    solution = here.solved(guess)
    rungs = [_rung(here.problem, solution)]
    here = for_starts(here, given)
    for problem in problems[1:]:
        if not solution.converged:
            break
        most = max(LEAST_ITERATIONS, sum(one["iterations"] for one in rungs))
        try:
            solution, _ = solved_on(here if problem is given else _within(here, most), problem, solution)
        except ValueError as error:  # a plugin that cannot go on from this start, such as one for convex QPs
            attempt.say(f"the solver cannot go on from the coarser grid: {error}")
            solution = replace(solution, stats=solution.stats | {"converged": False})
            break
        here = replace(here, problem=problem)
        rungs.append(_rung(problem, solution))
    if not solution.converged and solution.status != STOPPED:  # a coarser motion can be a worse guess than none
        attempt.say(f"no motion on {_count(here.problem)} intervals: begins on {_count(given)}")
        solution = attempt.solved(guess)
        rungs.append(_rung(given, solution))
    return replace(solution, stats=solution.stats | {"ladder": rungs})


def _within(attempt: Attempt, most: int) -> Attempt:
    """The attempt with at most so many iterations."""
    options = dict(attempt.settings.options)
    most = min(most, options.pop("max_iter", attempt.settings.max_iterations))
    return replace(attempt, settings=replace(attempt.settings, max_iterations=most, options=options))


def _coarser_grids(
    attempt: Attempt, guess: Solution | None, start: Solution | None, ladder: bool | str
) -> list[tuple[Intervals, ...]]:
    """The grids before that of the problem, the coarsest first; none without a ladder."""
    grids = tuple(phase.grid for phase in attempt.problem.phases)
    asked = ladder is True
    if not asked:
        unfit = attempt.solver != "ipopt" or guess is not None or start is not None
        if not ladder or unfit or sum(grid.count for grid in grids) < FINE:
            return []
    least = FEWEST if asked else max(LEAST, LEAST_PER_PHASE * len(grids))
    return list(_halvings(grids, least))[::-1]


def _halvings(grids: tuple[Intervals, ...], least: int) -> Iterator[tuple[Intervals, ...]]:
    """Grids with half, a quarter, ... of the intervals of every phase, down to a number of intervals in all."""
    while True:
        coarser = tuple(_halved(grid) for grid in grids)
        count = sum(grid.count for grid in coarser)
        if count < least or count == sum(grid.count for grid in grids):
            return
        yield coarser
        grids = coarser


def _halved(grid: Intervals) -> Intervals:
    """The grid whose intervals are pairs of those of this one, or as many of one length; one of 3 intervals or fewer
    stays."""
    if grid.count < 4:
        return grid
    if grid.is_even:
        return Intervals.even((grid.count + 1) // 2)
    return Intervals.through(np.unique(np.append(grid.nodes[::2], 1.0)))


def _count(problem: Statement) -> int:
    return sum(phase.grid.count for phase in problem.phases)


def _rung(problem: Statement, solution: Solution) -> dict[str, Any]:
    """Entries of `stats["ladder"]` about a grid."""
    stats = solution.stats
    return {
        "intervals": [phase.grid.count for phase in problem.phases],
        "iterations": int(stats["iterations"]),
        "seconds": float(stats["build_seconds"] + stats["solve_seconds"]),
        "objective": float(solution.objective),
        "status": solution.status,
    }
