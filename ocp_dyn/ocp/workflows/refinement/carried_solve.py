"""Solves on another grid, from a motion on this one."""

from __future__ import annotations

from dataclasses import replace

from ....integrators import Scheme
from ...nlp.program import Assembled
from ...solution import Solution
from ...solvers.interface import Iterate, Start
from ...solvers.warm_start import carried
from ...statement.grids import Intervals
from ...statement.statement import Statement
from ...transcription.variables import Transcription
from ..attempt import LINEAR_SOLVER_OPTIONS, Attempt, prepare
from ..restarts import STOPPED
from .other_grid import Side, close_to, start_on

FEW_ITERATIONS = 30
"""Iterations after which the iterate of another grid is given up; those that succeed take 1 to 28."""


def on_grids(problem: Statement, grids: tuple[Intervals, ...], integrator: str | Scheme) -> Statement:
    """The problem on these grids, one of each phase, with this integrator."""
    phases = [replace(phase, intervals=grid) for phase, grid in zip(problem.phases, grids, strict=True)]
    return replace(problem, phases=phases, integrator=integrator)


def for_starts(attempt: Attempt, given: Statement) -> Attempt:
    """The attempt without those options of the problem that are for starts from a guess."""
    options = attempt.settings.options
    kept = {k: x for k, x in options.items() if k not in given.options or k in LINEAR_SOLVER_OPTIONS}
    return replace(attempt, settings=replace(attempt.settings, options=kept))


def solved_on(attempt: Attempt, other: Statement, solution: Solution) -> tuple[Solution, Attempt]:
    """The motion of the problem on another grid, and the attempt there: from the iterate on this grid, close to its
    solution; if that fails from its central iterate, and then from the motion alone. attempt, solution: on this grid.
    """
    old = Side(*prepare(attempt.problem, attempt.threads))
    following = replace(attempt, problem=other)
    starts: list[tuple[Side, Start]] = []

    def from_central(t: Transcription, program: Assembled) -> Start:
        if not starts:
            new = Side(t, program)
            starts.append((new, start_on(old, new, solution)))
        return starts[0][1]

    def from_solution(t: Transcription, program: Assembled) -> Start:
        return close_to(Side(t, program), from_central(t, program))

    settings = attempt.settings
    short = replace(settings, max_iterations=min(FEW_ITERATIONS, settings.max_iterations))
    found = replace(following, settings=short, early_verdict=False).solved(carry=from_solution)
    if found.converged:
        new, start = starts[0]
        end = Iterate(*(found.iterate[key] for key in Iterate._fields))
        central = carried(new.program, start, end, new.share)
        found = replace(found, central={} if central is None else central._asdict())
    if _failed(found) and solution.central:
        found = following.solved(carry=from_central)
    if _failed(found):
        found = following.solved(guess=solution)
    return found, following


def _failed(solution: Solution) -> bool:
    """Whether a run did not converge, and the user has not stopped it."""
    return not solution.converged and solution.status != STOPPED
