"""The verdict on an infeasible problem: which constraints stay violated, by how much, and which bounds hold them so.

`solution.stats["proof"]` tells on what a verdict rests. "bounds": the bounds of variables and the linear rows contradict
each other, which is found by a linear program before the run and holds for every motion. "search": the violation of a
run stagnated, and three searches for any feasible point, from its best iterate, from its start and from a later iterate,
ended at the same positive violation, each with a certificate that the linearized rows contradict each other there; this
holds near the iterates of the run. "suspicion": the run failed by itself, with its own status, and a search had found no
feasible point. Otherwise verdict and proof are "".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..._types import Array, listed
from ..analysis.deciding import NAMED, DecidingBound, deciding
from ..nlp.assembled import Assembled
from ..solution import Solution
from ..solvers.feasibility.least_violation import LeastViolation
from ..solvers.feasibility.linear_rows import Contradiction
from ..solvers.interface import SolverResult
from ..transcription.collect import collect
from ..transcription.variables import FORCE_SCALE, Transcription
from .diagnosis import Fault, faults, names_and_places, row_places

INFEASIBLE = "Infeasible"
"""Status of a run that ends with a verdict."""

SEARCHED, SUSPECTED = "search", "suspicion"
"""Proofs of verdicts that rest on searches."""

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
        f"ended, leaves {what}. To make it feasible {remedy} less of the violated constraints (a lower speed, more time, "
        "other places); if you know of such a motion give it as guess=..., or try restarts=..."
    )


def suspicion(transcription: Transcription, program: Assembled, least: LeastViolation) -> str:
    """The sentence on a program whose run failed, after a search without a feasible point."""
    what, remedy = _shortages(transcription, program, least)
    return (
        "no feasible point was found nearby, which proves nothing: the least violation of a search leaves "
        f"{what}. If the problem is infeasible, {remedy} less of the violated constraints; else try another guess=... or "
        "restarts=..."
    )


def _shortages(transcription: Transcription, program: Assembled, least: LeastViolation) -> tuple[str, str]:
    """Constraints that stay violated, with the bounds that hold them so; and a remedy up to "ask"."""
    found = faults(transcription, program, least.x)
    named = [fault for fault in found if fault.violation >= SMALL * found[0].violation][:SHOWN]
    rows = "; ".join(_shortage(transcription, fault) for fault in named)
    held = sorted(_bounds(transcription, program, least.x, least.lam_x), key=lambda bound: -bound.worth)
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
    what += [f"the constraints {listed(names, SHOWN)}"] if names else []
    return (
        f"no motion satisfies {' and '.join(what)}: they miss each other by {conflict.gap:.3g} in all, in the scale of "
        "the variables, whatever the solver does; change one of these bounds or constraints, or give the motion more time"
    )


def _bounds(transcription: Transcription, program: Assembled, x: Array, lam_x: Array) -> Iterable[DecidingBound]:
    """Bounds of durations, joints, places and parameters that have a multiplier; worth: their share of the violation."""
    stats: dict[str, Any] = {"converged": False}
    solution: Solution = collect(transcription, program, x, stats)
    iterate = {"x": x, "lam_x": lam_x, "lam_g": np.zeros(program.row_lower.size)}
    return deciding(replace(solution, iterate=iterate), least=0.0)


def _listed(bounds: list[DecidingBound]) -> str:
    """The first bounds, each with the phases in which it holds."""
    shown = [f"{b.text}{' in ' + listed(b.phases, SHOWN) if b.phases else ''}" for b in bounds[:NAMED]]
    return ", ".join(shown) + (f" and {len(bounds) - NAMED} more bounds" if len(bounds) > NAMED else "")


def _shortage(transcription: Transcription, fault: Fault) -> str:
    """A violated constraint, with the amount in its unit if the library knows it."""
    name = fault.rows.rpartition(": ")[2]
    factor, unit = UNITS.get(name.partition(" of ")[0], (1.0, "in its own unit"))
    if name.startswith("dynamics"):
        explicit = transcription.problem.form == "explicit"
        factor, unit = (1.0, "rad/s^2 or m/s^2") if explicit else (FORCE_SCALE, "N m or N")
    when = f" at t = {fault.time:.3f} s of {fault.phase}" if fault.phase and not fault.rows.startswith("ends") else ""
    more = f", {fault.count} rows in all" if fault.count > 1 else ""
    return f"{fault.rows}: short by {factor * fault.violation:.2g} {unit}{when}{more}"
