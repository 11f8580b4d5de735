"""The verdict on an infeasible problem, and runs of a solver that end with one: which constraints stay violated, by how
much, and which bounds hold them so.

`solution.stats["proof"]` tells on what a verdict rests. "bounds": the bounds of variables and the linear rows
contradict each other, which is found by a linear program before the run, or footholds are out of reach at all places
and steps within their bounds, see `unreachable`; both hold for every motion. "search": the violation of a run
stagnated, and three searches for any feasible point, from its best iterate, from its start and from a later iterate,
ended at the same positive violation, each with a certificate that the linearized rows contradict each other there; this
holds near the iterates of the run. "suspicion": the run failed by itself, with its own status, and a search had found
no feasible point. Otherwise verdict and proof are "".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..._base.rounding import ordinal
from ..._base.types import Array, names_in_message, repr_in_message
from ..analysis.deciding import NAMED, DecidingBound, deciding
from ..nlp.assembled import Assembled
from ..solution import Solution
from ..solvers.feasibility.least_violation import LeastViolation, least_violation
from ..solvers.feasibility.linear_rows import Contradiction, contradiction
from ..solvers.feasibility.watch import SEARCH, Watch
from ..solvers.interface import SolverResult, Start
from ..transcription.collect import collect
from ..transcription.tracks import FORCE_SCALE
from ..transcription.variables import Transcription
from .diagnosis import ViolatedRows, faults, names_and_places, row_places
from .unreachable import unreachable

INFEASIBLE = "Infeasible"
"""Status of a run that ends with a verdict."""

PROVED, SEARCHED, SUSPECTED = "bounds", "search", "suspicion"
"""Proofs of verdicts: one that holds for every motion, and those that rest on searches."""

SHOWN = 4
"""Largest number of constraints, and of phases with bounds, that a verdict names."""

SMALL = 0.1
"""Violations below this share of the largest one are not named."""

PRESS = 1e9
"""A multiplier that marks a bound as one of those that contradict each other."""

ANGLE, RATE = "rad or m", "rad/s or m/s"
UNITS: dict[str, tuple[float, str]] = {
    "speed": (1.0, "m"),
    "position step": (1.0, ANGLE),
    "periodic position": (1.0, ANGLE),
    "pose": (1.0, ANGLE),
    "velocity": (1.0, RATE),
    "velocity step": (1.0, RATE),
    "periodic velocity": (1.0, RATE),
    "contact velocity": (1.0, RATE),
    "rest": (1.0, RATE),
    "feet at rest": (1.0, RATE),
    "Clearance": (1.0, "m"),
    "Separation": (1.0, "m"),
    "force": (FORCE_SCALE, "N"),
    "Unilateral": (FORCE_SCALE, "N"),
    "FrictionCone": (FORCE_SCALE, "N"),
    "CenterOfPressure": (FORCE_SCALE, "N m"),
    "continuous torque": (FORCE_SCALE, "N m"),
    "impact": (10.0, "N m s or N s"),
}
"""Factor from the scale of a row to its unit, and the unit, by the row's name up to " of"."""


def infeasible(iterations: int, least: LeastViolation) -> SolverResult:
    """The result of a run that found its program to be infeasible: the point of least violation."""
    return SolverResult(least.x, least.lam_x, -least.residual, INFEASIBLE, False, iterations)


def verdict_of_search(transcription: Transcription, program: Assembled, least: LeastViolation) -> str:
    """The sentence on a program whose least violation is positive."""
    what, remedy = _shortages(transcription, program, least)
    return (
        "no motion near the solver's iterates satisfies all constraints: the least violation, at which three searches "
        f"ended, leaves {what}. To make it feasible {remedy} less of the violated constraints (a lower speed, more "
        "time, other places); if you know of such a motion give it as guess=..., or try restarts=..."
    )


def suspicion(transcription: Transcription, program: Assembled, least: LeastViolation) -> str:
    """The sentence on a program whose run failed, after a search without a feasible point."""
    what, remedy = _shortages(transcription, program, least)
    return (
        "no feasible point was found nearby, which proves nothing: the least violation of a search leaves "
        f"{what}. If the problem is infeasible, {remedy} less of the violated constraints; else try another guess=... "
        "or restarts=..."
    )


def _shortages(transcription: Transcription, program: Assembled, least: LeastViolation) -> tuple[str, str]:
    """Constraints that stay violated, with the bounds that hold them so; and a remedy up to "ask"."""
    found = faults(transcription, program, least.x)
    named = [fault for fault in found if fault.violation >= SMALL * found[0].violation][:SHOWN]
    rows = "; ".join(_shortage(transcription, fault) for fault in named)
    held = sorted(_bounds(transcription, program, least.x, least.lam_x), key=lambda bound: -ordinal(bound.worth))
    limits = f", against {_listed(held)}" if held else ""
    remedy = f"widen these bounds, the first of which holds most ({held[0].text}), or ask" if held else "ask"
    return f"{rows}{limits}", remedy


def verdict_of_bounds(
    transcription: Transcription, program: Assembled, x: Array, conflict: Contradiction
) -> str:  # fmt: skip
    """The sentence on a program whose bounds contradict each other through linear rows."""
    described = row_places(transcription, program, x)
    names = names_and_places([described[row] for row in conflict.rows])
    mark = np.zeros(program.n)
    mark[list(conflict.upper)] = PRESS
    mark[list(conflict.lower)] = -PRESS
    held = list(_bounds(transcription, program, x, mark))
    what = [f"the bounds of {_listed(held)}"] if held else []
    what += [f"the constraints {names_in_message(names, SHOWN)}"] if names else []
    return (
        f"no motion satisfies {' and '.join(what)}: they miss each other by {conflict.gap:.3g} in all, in the scale of "
        "the variables, whatever the solver does; change one of these bounds or constraints, or give the motion more "
        "time"
    )


def _bounds(transcription: Transcription, program: Assembled, x: Array, lam_x: Array) -> Iterable[DecidingBound]:
    """Bounds of durations, joints, places and parameters that have a multiplier; worth: their share of the
    violation."""
    stats: dict[str, Any] = {"converged": False}
    solution: Solution = collect(transcription, program, x, stats)
    iterate = {"x": x, "lam_x": lam_x, "lam_g": np.zeros(program.row_lower.size)}
    return deciding(replace(solution, iterate=iterate), least=0.0)


def _listed(bounds: list[DecidingBound]) -> str:
    """The first bounds, each with the phases in which it holds."""
    shown = [f"{b.text}{' in ' + names_in_message(b.phases, SHOWN) if b.phases else ''}" for b in bounds[:NAMED]]
    return ", ".join(shown) + (f" and {len(bounds) - NAMED} more bounds" if len(bounds) > NAMED else "")


def _shortage(transcription: Transcription, fault: ViolatedRows) -> str:
    """A violated constraint, with the amount in its unit if the library knows it."""
    name = fault.rows.rpartition(": ")[2]
    factor, unit = UNITS.get(name.partition(" of ")[0], (1.0, "in its own unit"))
    if name.startswith("dynamics"):
        explicit = transcription.problem.form == "explicit"
        factor, unit = (1.0, "rad/s^2 or m/s^2") if explicit else (FORCE_SCALE, "N m or N")
    when = f" at t = {fault.time:.3f} s of {fault.phase}" if fault.phase and not fault.rows.startswith("ends") else ""
    more = f", {fault.count} rows in all" if fault.count > 1 else ""
    return f"{fault.rows}: short by {factor * fault.violation:.2g} {unit}{when}{more}"


# Runs with a verdict

GAVE_UP = ("Infeasible_Problem_Detected", "Restoration_Failed")
"""Statuses of IPOPT after which a search for feasibility tells why."""

Judged = tuple[SolverResult, str, str]
"""A result, the verdict on an infeasible program, and its proof: PROVED, SEARCHED or SUSPECTED; "" if there is none."""


def proved_infeasible(transcription: Transcription, program: Assembled, start: Start) -> Judged | None:
    """The verdict on a program that needs no run to be proved infeasible; None for any other."""
    conflict = contradiction(program, start)
    if conflict is not None:
        least = least_violation(program, start, start.x, SEARCH)
        (verdict,) = findings_or_error(lambda: [verdict_of_bounds(transcription, program, least.x, conflict)])
        return infeasible(0, least), verdict, PROVED
    if told := unreachable(transcription):
        none = SolverResult(start.x, 0 * start.x, np.zeros(program.row_lower.size), INFEASIBLE, False, 0)
        return none, told, PROVED
    return None


def judged(transcription: Transcription, program: Assembled, result: SolverResult, watch: Watch | None) -> Judged:
    """The result of a run, or the point at which its watch has ended it; without a verdict if nothing has watched."""
    if watch is None or result.converged:
        return result, "", ""
    if result.status in GAVE_UP and watch.found is None:
        watch.conclude(result.x)
    found, lowest = watch.found, watch.lowest
    if found is not None:
        (verdict,) = findings_or_error(lambda: [verdict_of_search(transcription, program, found)])
        return _ended_at(found, result), verdict, SEARCHED
    if lowest is None or lowest.finding == "feasible":
        return result, "", ""
    (verdict,) = findings_or_error(lambda: [suspicion(transcription, program, lowest)])
    return (_ended_at(lowest, result) if watch.ended else result), verdict, SUSPECTED


def _ended_at(least: LeastViolation, result: SolverResult) -> SolverResult:
    """The result of a run that the watch has ended, at the point of least violation."""
    ended = infeasible(result.iterations, least)
    return replace(ended, linear_solver=result.linear_solver, warm_start=result.warm_start)


def findings_or_error(diagnosis: Callable[[], list[str]]) -> list[str]:
    """The findings of a diagnosis; a sentence on the error if it fails, so that the result of the run is not lost."""
    try:
        return diagnosis()
    except (ArithmeticError, LookupError, MemoryError, RuntimeError, TypeError, ValueError) as error:
        return [f"this diagnosis failed: {type(error).__name__}: {repr_in_message(str(error))}"]
