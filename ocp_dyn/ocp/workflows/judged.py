"""A run of a solver with a verdict: contradictions before it, a watch along it, a suspicion after it has failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..._types import shown
from ..nlp.assembled import Assembled
from ..solvers.feasibility.least_violation import LeastViolation, least_violation
from ..solvers.feasibility.linear_rows import contradiction
from ..solvers.feasibility.watch import SEARCH, Watch
from ..solvers.interface import SolverResult, Start
from ..solvers.monitor import Monitor
from ..transcription.variables import Transcription
from .restarts import PROVED
from .verdict import SEARCHED, SUSPECTED, infeasible, suspicion, verdict_of_bounds, verdict_of_search

GAVE_UP = ("Infeasible_Problem_Detected", "Restoration_Failed")
"""Statuses of IPOPT after which a search for feasibility tells why."""

Run = Callable[[], SolverResult]

Judged = tuple[SolverResult, str, str]
"""A result, the verdict on an infeasible program, and its proof: PROVED, SEARCHED or SUSPECTED; "" if there is none."""


def unjudged(solver: Run) -> Judged:
    """The result of a run, without a verdict."""
    return solver(), "", ""


def judged(
    transcription: Transcription, program: Assembled, start: Start, monitor: Monitor, hasty: bool, solver: Run
) -> Judged:
    """The result of a run, after a look at the bounds and under a watch; hasty: a suspicion ends the run."""
    conflict = contradiction(program, start)
    if conflict is not None:
        least = least_violation(program, start, start.x, SEARCH)
        (verdict,) = guarded(lambda: [verdict_of_bounds(transcription, program, least.x, conflict)])
        return infeasible(0, least), verdict, PROVED
    watch = monitor.watch = Watch(program, start, monitor.say, hasty)
    result = solver()
    if result.status in GAVE_UP and watch.found is None:
        watch.conclude(result.x)
    found, lowest = watch.found, watch.lowest
    if result.converged:
        return result, "", ""
    if found is not None:
        (verdict,) = guarded(lambda: [verdict_of_search(transcription, program, found)])
        return _ended_at(found, result), verdict, SEARCHED
    if lowest is None or lowest.finding == "feasible":
        return result, "", ""
    (verdict,) = guarded(lambda: [suspicion(transcription, program, lowest)])
    return (_ended_at(lowest, result) if watch.ended else result), verdict, SUSPECTED


def _ended_at(least: LeastViolation, result: SolverResult) -> SolverResult:
    """The result of a run that the watch has ended, at the point of least violation."""
    ended = infeasible(result.iterations, least)
    return replace(ended, linear_solver=result.linear_solver, warm_start=result.warm_start)


def guarded(diagnosis: Callable[[], list[str]]) -> list[str]:
    """The findings of a diagnosis; a sentence on the error if it fails, so that the result of the run is not lost."""
    try:
        return diagnosis()
    except (ArithmeticError, LookupError, MemoryError, RuntimeError, TypeError, ValueError) as error:
        return [f"this diagnosis failed: {type(error).__name__}: {shown(str(error))}"]
