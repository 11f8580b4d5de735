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

FEW_ITERATIONS = 36
"""Iterations after which the iterate of another grid is given up; those that succeed take 1 to 29."""

VERY_FINE = 150
"""Number of intervals from which on a start is the central iterate first. To 248 intervals from 124 a walk by gauss:2
takes 24 to 28 iterations from there, and more than 30 from close to the solution; by gauss:1 27 and 24. A run of 60
intervals takes 23 from close to the solution, and more than 30 from the central iterate."""


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
    solution; if that fails from its central iterate, on a very fine grid the other way round, and then from the motion
    alone. attempt, solution: on this grid.
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
    brief = replace(following, settings=short, early_verdict=False)
    ways = [from_solution, from_central] if solution.central else [from_solution]
    very_fine = sum(phase.grid.count for phase in other.phases) >= VERY_FINE
    for carry in reversed(ways) if very_fine else ways:
        found = brief.solved(carry=carry)
        if found.converged:
            return _with_central(found, *starts[0]), following
        if found.status == STOPPED:
            return found, following
    return following.solved(guess=solution), following


def _with_central(found: Solution, side: Side, start: Start) -> Solution:
    """The solution with the central iterate of its start, moved by what lies between both."""
    end = Iterate(*(found.iterate[key] for key in Iterate._fields))
    central = carried(side.program, start, end, side.share)
    return replace(found, central={} if central is None else central._asdict())
