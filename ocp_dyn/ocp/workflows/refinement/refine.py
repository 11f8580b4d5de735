"""Refinement of the grid of a problem until the errors of all intervals are below an accuracy.

solve -> errors of all intervals -> split, join or raise the order -> the iterate on the new grid -> solve -> ...

The error of an interval of length h grows like h^(p+1) for an integrator of order p. An interval is split into the
least number of equal parts that brings it below the accuracy, with a margin [J. T. Betts & W. P. Huffman, Mesh
refinement in direct transcription methods for optimal control, Optim. Control Appl. Meth. 19, 1998]. Parts of an
interval of the problem are joined again where the joined error is far below the accuracy [F. Liu, W. W. Hager & A. V.
Rao, Adaptive mesh refinement method for optimal control using nonsmoothness detection and mesh size reduction,
J. Franklin Inst. 352, 2015]; the intervals of the problem are not, since they are the resolution of its torques.

The order is raised where fewer stages in all are needed then [M. A. Patterson, W. W. Hager & A. V. Rao, A ph mesh
refinement method for optimal control, Optim. Control Appl. Meth. 36, 2015]. Along a smooth motion the error is about
A x^(p+1), with A the change of the configuration in the interval and x its length by the time scale of the motion, so
that the error at one order predicts those at higher orders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...._base.checks import choice, positive
from ...._base.types import Array, Indices
from ....integrators import ALIASES, FAMILIES, LARGEST_STAGE_COUNT, Scheme, scheme
from ...analysis.interval_errors import IntervalErrors, interval_errors
from ...analysis.refinement import Refinement, Round
from ...solution import Solution
from ...statement.grids import Intervals
from ...statement.statement import Statement
from ..attempt import Attempt
from ..restarts import STOPPED, solve_with_restarts
from .carried_solve import for_starts, on_grids, solved_on
from .ladder import climbed

WAYS = ("auto", "split", "order")
"""Ways to refine a grid: "auto" takes the cheaper one."""

MOST_ROUNDS = 8
"""Largest number of grids after the first one."""

MOST_PARTS = 6
"""Largest number of parts into which one round splits an interval."""

MOST_GROWTH = 40
"""Largest number of intervals, as a multiple of those of the problem."""

SHORTEST = 1e-4
"""Smallest share of an interval in its phase that a split leaves."""

MARGIN = 0.5
"""Error that a new interval is to have, beside the accuracy; where one interval is split, so are all with a larger one,
since the errors change with the motion."""

FAR_BELOW = 0.1
"""Error that a joined interval may have at most, beside the accuracy."""

WORTH_JOINING = 0.75
"""Ratio of intervals up to which a grid that is accurate enough is exchanged for a coarser one."""

WORTH_RAISING = 0.5
"""Ratio of stages up to which the order is raised: a new order needs new functions, a new grid does not."""


@dataclass(frozen=True)
class Plan:
    """The next grid: the intervals of every phase, the integrator, and what was done in words; stages: their number in
    the end, when all intervals are split as far as needed."""

    grids: tuple[Intervals, ...]
    integrator: str | Scheme
    stages: float
    change: str = ""

    @property
    def count(self) -> int:
        return sum(grid.count for grid in self.grids)


def on_grid_of(problem: Statement, solution: Solution) -> Statement:
    """The problem on the grid and with the integrator of a solution; ValueError for other phases."""
    names = [phase.name for phase in problem.phases], [phase.name for phase in solution.phases]
    if names[0] != names[1]:
        raise ValueError(
            f"a grid is that of a solution of this problem, with the phases {', '.join(names[0])}; got one with "
            f"{', '.join(names[1])}"
        )
    grids = tuple(phase.grid for phase in solution.phases)
    return on_grids(problem, grids, solution.stats.get("integrator", problem.resolved.integrator))


Aim = tuple[float, str]
"""Largest error of an interval [rad, m], and the way to get there."""


def check_aim(problem: Statement, accuracy: Any, way: Any) -> Aim | None:
    """The accuracy and the way, checked; None without an accuracy. ValueError for a way that the integrator does not
    have."""
    choice(way, WAYS, "refine")
    if accuracy is None:
        return None
    if way == "order" and _family(problem.resolved.integrator) is None:
        raise ValueError(
            f"refine='order' needs an integrator of a family, {', '.join(f'{name}:s' for name in FAMILIES)}, whose "
            f"number of stages can grow, got {scheme(problem.resolved.integrator).name!r}: write refine='split'"
        )
    return positive(accuracy, "accuracy [rad, m]"), way


def refined(
    attempt: Attempt,
    aim: Aim | None,
    guess: Solution | None,
    start: Solution | None,
    restarts: tuple[tuple[str, ...], int],
    ladder: bool | str,
) -> Solution:
    """A solution all of whose intervals err by no more than the accuracy [rad, m], or the last that was found; without
    an aim that on the grid of the problem. restarts, ladder: of the solve on the first
    grid."""
    given = attempt.problem
    if aim is None:
        return solve_with_restarts(climbed(attempt, guess, start, ladder), *restarts, attempt)
    accuracy, way = aim
    attempt = replace(attempt, problem=given if start is None else on_grid_of(given, start))
    solution = solve_with_restarts(climbed(attempt, guess, start, ladder), *restarts, attempt)
    attempt = for_starts(attempt, given)
    before = {key: solution.stats[key] for key in ("ladder",) if key in solution.stats}
    rounds: list[Round] = []
    while solution.converged:
        errors = interval_errors(solution)
        plan = next_grid(given, attempt.problem, solution, errors, accuracy, way)
        rounds.append(_round(solution, errors, "" if plan is None else plan.change))
        attempt.say(f"grid {len(rounds)}: {_told(rounds[-1])}")
        if plan is None or len(rounds) > MOST_ROUNDS:
            return _recorded(solution, accuracy, _verdict(given, errors, rounds, accuracy), rounds)
        found, attempt = solved_on(attempt, on_grids(attempt.problem, plan.grids, plan.integrator), solution)
        if not found.converged and found.status != STOPPED:  # a motion on its bounds can be a worse guess than none
            found = attempt.solved(guess)
        if not found.converged:
            break
        solution = replace(found, stats=found.stats | before)
    told = (
        "so its errors mean nothing" if not rounds else f"and this is the one on grid {len(rounds)}: try refine='split'"
    )
    status = found.status if rounds else solution.status
    return _recorded(
        solution, accuracy, f"the motion on grid {len(rounds) + 1} was not found ({status}), {told}", rounds
    )


def next_grid(
    given: Statement, problem: Statement, solution: Solution, errors: IntervalErrors, accuracy: float, way: str
) -> Plan | None:
    """The next grid; None if this one is accurate enough, or there is no other.

    given: the problem as it was stated; problem: on the present grid.
    """
    order, known = problem.scheme.order, problem.resolved.integrator
    grids = tuple(_split(given, problem, errors, accuracy, order))
    split = Plan(grids, known, problem.scheme.stages * float(np.sum(_wanted(errors.error, accuracy, order))))
    count = sum(phase.grid.count for phase in problem.phases)
    if errors.largest <= accuracy:
        pays = split.count <= WORTH_JOINING * count
        return replace(split, change=f"joined to {split.count} intervals") if pays else None
    most = MOST_GROWTH * sum(phase.grid.count for phase in given.phases)
    raised = [] if way == "split" else list(_raised(problem, solution, errors, accuracy))
    plans = [split] if way != "order" and split.count != count else []
    plans = [plan for plan in plans + raised if plan.count <= most]
    if not plans:
        return None
    best = min(plans, key=lambda plan: plan.stages)
    if way == "auto" and split in plans and best.stages > WORTH_RAISING * split.stages:
        best = split
    words = [f"raised to {best.integrator}"] if best.integrator != known else []
    words += [f"split to {best.count} intervals"] if best.count != count or not words else []
    return replace(best, change=", ".join(words))


def _split(
    given: Statement, problem: Statement, errors: IntervalErrors, accuracy: float, order: int
) -> Iterator[Intervals]:
    """The grids with intervals split where they err too much, and joined where they err far too little."""
    for p, (stated, phase) in enumerate(zip(given.phases, problem.phases, strict=True)):
        yield _split_phase(stated.grid, phase.grid, errors.error[errors.phase == p], accuracy, order)


def _split_phase(base: Intervals, grid: Intervals, error: Array, accuracy: float, order: int) -> Intervals:
    """The grid of one phase; base: that of the problem, whose intervals are not joined."""
    shares, home = grid.shares, [base.find(float(s))[0] for s in (grid.nodes[:-1] + grid.nodes[1:]) / 2]
    lengths: list[float] = []
    k = 0
    while k < grid.count:
        parts = 1
        if error[k] > MARGIN * accuracy:
            most = max(1.0, min(MOST_PARTS, float(shares[k]) // SHORTEST))
            parts = int(min(float(_wanted(error[k], accuracy, order)), most))
        elif k + 1 < grid.count and home[k] == home[k + 1]:
            width = shares[k] + shares[k + 1]
            joined = max(error[i] * (width / shares[i]) ** (order + 1) for i in (k, k + 1))
            if joined <= FAR_BELOW * accuracy:
                lengths.append(float(width))
                k += 2
                continue
        lengths += [float(shares[k]) / parts] * parts
        k += 1
    return Intervals.through(np.cumsum([0.0, *lengths]))


def _wanted(error: Array, accuracy: float, order: int) -> Array:
    """Numbers of parts that bring intervals of these errors below the accuracy, with a margin; 1 where none is
    needed."""
    with np.errstate(all="ignore"):
        parts = np.ceil((error / (MARGIN * accuracy)) ** (1 / (order + 1)) - 1e-9)
    return np.asarray(np.where(error <= MARGIN * accuracy, 1.0, np.maximum(parts, 2.0)))


def _raised(problem: Statement, solution: Solution, errors: IntervalErrors, accuracy: float) -> Iterator[Plan]:
    """The plans with one and with two stages more, and the intervals that are still to be split then."""
    family = _family(problem.resolved.integrator)
    if family is None:
        return
    name, stages = family
    amplitude = np.concatenate([_changes(solution, p) for p in range(len(solution.phases))])
    order = problem.scheme.order
    for more in (1, 2):
        if stages + more > LARGEST_STAGE_COUNT:
            return
        chosen = f"{name}:{stages + more}"
        with np.errstate(all="ignore"):
            x = np.minimum((errors.error / amplitude) ** (1 / (order + 1)), 1.0)
            predicted = np.where(np.isfinite(errors.error), amplitude * x ** (scheme(chosen).order + 1), np.inf)
        predicted[errors.error <= accuracy] = 0.0
        parts = _wanted(predicted, accuracy, scheme(chosen).order)
        here = np.minimum(parts, MOST_PARTS).astype(int)
        grids = (_divided(phase.grid, here[errors.phase == p]) for p, phase in enumerate(problem.phases))
        yield Plan(tuple(grids), chosen, scheme(chosen).stages * float(parts.sum()))


def _divided(grid: Intervals, parts: Indices) -> Intervals:
    """The grid with every interval in so many equal parts."""
    lengths = [x / n for x, n in zip(grid.shares.tolist(), parts.tolist(), strict=True) for _ in range(n)]
    return Intervals.through(np.cumsum([0.0, *lengths]))


def _changes(solution: Solution, p: int) -> Array:
    """The largest change of a dof over every interval of a phase [rad, m]."""
    phase, model = solution.phases[p], solution.model
    found = [
        np.abs(np.array(model.difference(a, b).full())).max() for a, b in zip(phase.q[:-1], phase.q[1:], strict=True)
    ]
    return np.asarray(np.maximum(np.array(found), 1e-12))


def _family(integrator: str | Scheme) -> tuple[str, int] | None:
    """Family and number of stages of an integrator by name; None for others, explicit ones and tableaus."""
    if isinstance(integrator, Scheme):
        return None
    name, _, stages = ALIASES.get(integrator, integrator).partition(":")
    return (name, int(stages)) if name in FAMILIES else None


def _round(solution: Solution, errors: IntervalErrors, change: str) -> Round:
    k, used = int(np.argmax(errors.error)), solution.stats["integrator"]
    return Round(
        integrator=used if isinstance(used, str) else used.name,
        nodes=tuple(tuple(phase.t.tolist()) for phase in solution.phases),
        angle=tuple(errors.angle.tolist()),
        length=tuple(errors.length.tolist()),
        phase=errors.phases[int(errors.phase[k])],
        dof=errors.worst[k],
        at=float(errors.start[k]),
        iterations=int(solution.stats["iterations"]),
        seconds=float(solution.stats["build_seconds"] + solution.stats["solve_seconds"]),
        objective=float(solution.objective),
        change=change,
    )


def _told(one: Round) -> str:
    """A round in words, for the progress."""
    count = " + ".join(map(str, one.intervals))
    then = f"; {one.change}" if one.change else ""
    return (
        f"{sum(one.intervals)} intervals ({count}), {one.integrator}, {one.iterations} iterations, largest error "
        f"{one.error.max():.2g} ({one.dof} in {one.phase} at {one.at:.3f} s){then}"
    )


def _verdict(given: Statement, errors: IntervalErrors, rounds: list[Round], accuracy: float) -> str:
    """Whether the accuracy is reached, and if not where it fails and what to do."""
    k = int(np.argmax(errors.error))
    unit = "rad" if errors.angle[k] >= errors.length[k] else "m"
    if errors.largest <= accuracy:
        return f"all intervals err by at most {errors.largest:.2g} {unit}, within the accuracy {accuracy:g}"
    family = _family(given.resolved.integrator)
    higher = "a higher order, such as integrator='gauss:3'" if family else "an integrator of higher order, as 'gauss:3'"
    if not np.isfinite(errors.error[k]):
        return (
            f"the accuracy {accuracy:g} cannot be judged: no integrator reaches the end of the interval from "
            f"{errors.start[k]:.4f} s in phase {errors.phases[int(errors.phase[k])]!r}. Look there for equations that "
            "are stiff or have no solution"
        )
    return (
        f"the accuracy {accuracy:g} is not reached after {len(rounds)} grids with {len(errors.error)} intervals: the "
        f"interval from {errors.start[k]:.4f} s in phase {errors.phases[int(errors.phase[k])]!r} errs by "
        f"{errors.error[k]:.2g} {unit} at {errors.worst[k]}. Look there for what is not smooth (friction, stops, a "
        f"contact that is touched), ask for less, or give the problem more intervals or {higher}"
    )


def _recorded(solution: Solution, accuracy: float, verdict: str, rounds: list[Round]) -> Solution:
    found = Refinement(accuracy, verdict, tuple(rounds))
    return replace(solution, stats=solution.stats | {"refinement": found.plain()})
