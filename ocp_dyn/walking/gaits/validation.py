"""Walks held beside measurements of people: the cases, their solutions, the measured gaits that fit each of them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._base.convergence import NotConvergedWarning
from ...gait.compare import ExpectedFigures
from ...ocp import Gait, GaitComparison, GaitReference, Problem, Solution, gait_reference
from ..by_muscles.muscle_timing import MuscleTiming, timing_if_known
from ..report_figures import metabolism

NATURAL = 0.2
"""Largest difference from the speed of measured adults [m/s] at which their curves are drawn."""

ADULTS = ("winter", "rajagopal")

BY_SIZE = tuple(f"schwartz_{name}" for name in ("very_slow", "slow", "free", "fast", "very_fast"))

LEVEL = 0.005
"""Slopes below this value are level: the bands were measured on level ground."""


@dataclass(frozen=True)
class WalkCase:
    """One walk: speed [m/s] and slope, the rise per distance.

    >>> od.walking.WalkCase(1.3, 0.08).title
    '1.30 m/s, slope +8 %'
    """

    speed: float
    slope: float = 0.0

    @property
    def name(self) -> str:
        """A name for files."""
        return f"walk_{self.speed:.2f}" + (f"_slope_{100 * self.slope:+.0f}" if self.slope else "")

    @property
    def title(self) -> str:
        """A title for tables."""
        return f"{self.speed:.2f} m/s" + (f", slope {100 * self.slope:+.3g} %" if self.slope else "")

    def distance(self, other: WalkCase) -> float:
        """Distance between two walks, in steps of 0.2 m/s and of a slope of 0.1."""
        return abs(self.speed - other.speed) / 0.2 + abs(self.slope - other.slope) / 0.1


@dataclass(frozen=True, eq=False)
class ValidatedWalk:
    """A solved case beside its measurements; gait and comparisons are None and () if the solver did not converge.

    activity: when muscles are active, beside electromyograms, for walks by muscles; see `muscle_timing`.
    start: the case from whose solution the solver started, None for the library's own guess. seconds: time to build the
    program and to solve it.
    """

    case: WalkCase
    solution: Solution
    seconds: float
    start: WalkCase | None
    gait: Gait | None
    comparisons: tuple[GaitComparison, ...]
    activity: Mapping[str, MuscleTiming] = field(default_factory=dict)

    @property
    def iterations(self) -> int:
        """Number of iterations of the solver."""
        return int(self.solution.stats.get("iterations", 0))

    @property
    def line(self) -> str:
        """The walk in a line: iterations, seconds, errors of the angles of the first measured gait."""
        how = f"{self.iterations} iterations" if self.solution.converged else f"NOT FOUND, {self.solution.status}"
        start = f", from {self.start.title}" if self.start is not None else ""
        errors = [
            f"{a.curve.split()[0]} {a.rmse:.1f}" for c in self.comparisons[:1] for a in c.curves if a.unit == "degrees"
        ]
        agreement = f"; {', '.join(errors[:3])} degrees RMSE" if errors else ""
        return f"{self.case.title}: {how}, {self.seconds:.1f} s{start}{agreement}"

    def plot(self, path: Any, subject: GaitReference | None = None) -> None:
        """Draws the curves of the walk over the bands of `fitting_references`, and writes the picture; none for a walk
        that was not found."""
        if self.gait is not None:
            bands = fitting_references(self.gait, subject)
            if bands:
                self.solution.plot(path, reference=bands)
            else:
                self.gait.plot(path)

    def __str__(self) -> str:
        told = [f"{self.case.title}: {'' if self.solution.converged else 'not '}converged"]
        for k, comparison in enumerate(self.comparisons):
            shown = (
                replace(comparison, figures=ExpectedFigures()) if k else comparison
            )  # the figures of the tables only once
            told += [*(f"  {line}".rstrip() for line in str(shown).splitlines()), ""]
        return "\n".join(told)


def bodies_of(
    mass: Sequence[float] = (73.0,), height: Sequence[float] = (1.741,), sex: Sequence[str] = ("male",)
) -> list[dict[str, Any]]:
    """Bodies by mass [kg], height [m] and sex, as keywords of `person`: lists of one length, or of a single entry that
    stands for all.

    ValueError for lists of different lengths.

    >>> od.walking.bodies_of([55.0, 110.0], [1.6, 2.0])[1]
    {'mass': 110.0, 'height': 2.0, 'sex': 'male'}
    """
    lists = {"mass": mass, "height": height, "sex": sex}
    count = max(len(values) for values in lists.values())
    for name, values in lists.items():
        if len(values) not in (1, count):
            raise ValueError(
                f"{name}: give one value for all bodies, or {count}, as many as the longest list, got {len(values)}"
            )
    return [{name: values[k % len(values)] for name, values in lists.items()} for k in range(count)]


def walk_cases(speeds: Sequence[float], slopes: Sequence[float], slope_speeds: Sequence[float]) -> list[WalkCase]:
    """Level walks at all speeds, those nearest to the middle first; then those on slopes, at their own speeds.

    >>> [case.name for case in od.walking.walk_cases([0.8, 1.3, 1.7], [0.0, 0.08], [1.3])]
    ['walk_1.30', 'walk_1.70', 'walk_0.80', 'walk_1.30_slope_+8']
    """
    level = [WalkCase(v) for v in speeds] if any(abs(s) < LEVEL for s in slopes) else []
    steep = [WalkCase(v, s) for v in slope_speeds for s in slopes if abs(s) >= LEVEL]
    middle = WalkCase(float(np.median(speeds)))
    return [*sorted(dict.fromkeys(level), key=middle.distance), *sorted(dict.fromkeys(steep), key=middle.distance)]


def fitting_references(gait: Gait, subject: GaitReference | None = None) -> list[GaitReference]:
    """The measured gaits to hold a walk against: the subject's, and on level ground the published ones of its speed."""
    found = [] if subject is None else [subject]
    if abs(gait.figures["slope"]) >= LEVEL:
        return found
    adults = [gait_reference(name) for name in ADULTS]
    adults = [a for a in adults if abs(gait.figures["speed_m_per_s"] - a.numbers["speed"]) <= NATURAL]
    groups = [gait_reference(name) for name in BY_SIZE]
    speed = gait.figures["dimensionless_speed"]
    return [*found, *adults, min(groups, key=lambda group: abs(group.numbers["dimensionless_speed"] - speed))]


def validated_walks(
    wanted: Sequence[WalkCase],
    make: Callable[[float], Problem],
    subject: GaitReference | None = None,
    **solve: Any,
) -> Iterator[ValidatedWalk]:
    """An iterator that solves the cases one after the other and holds each beside measurements.

    `make(speed)` makes the problem of a case, with a parameter `slope` [rad] where it is not level. A walk that is not
    found starts once more from the nearest one. subject: a measured gait of yours, beside the published ones. solve:
    options of `Problem.solve`. It ends when Ctrl-C stops a solver.
    """
    found: list[ValidatedWalk] = []
    for case in wanted:
        begin = time.perf_counter()
        statement = make(case.speed)
        inclined = any(parameter.name == "slope" for parameter in statement.parameters)
        values = {"slope": float(np.arctan(case.slope))} if inclined or case.slope else {}
        solution, start = _solved(statement, values=values, **solve), None
        near = sorted((w for w in found if w.solution.converged), key=lambda w: case.distance(w.case))
        if not solution.converged and solution.status != "Interrupted" and near:
            again = _solved(statement, values=values, start=near[0].solution, **solve)
            solution, start = (again, near[0].case) if again.converged else (solution, None)
        walk = _beside(case, solution, time.perf_counter() - begin, start, subject)
        found.append(walk)
        yield walk
        if solution.status == "Interrupted":
            return


def _solved(statement: Problem, **options: Any) -> Solution:
    """The solution, also one that did not converge; Ctrl-C returns the best iterate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)  # the report tells it
        return statement.solve(progress=False, interrupt="return", **options)


def _beside(
    case: WalkCase, solution: Solution, seconds: float, start: WalkCase | None, subject: GaitReference | None
) -> ValidatedWalk:
    if not solution.converged:
        return ValidatedWalk(case, solution, seconds, start, None, ())
    gait = solution.gait()
    gross = metabolism(solution).gross
    rates = {"metabolic_rate_W_per_kg": gross, "metabolic_cost_J_per_kg_m": gross / case.speed}
    gait = replace(gait, figures={**gait.figures, **rates})
    comparisons = tuple(gait.compare(reference) for reference in fitting_references(gait, subject))
    return ValidatedWalk(case, solution, seconds, start, gait, comparisons, timing_if_known(solution))


def preferred_speed(found: Sequence[ValidatedWalk]) -> float | None:
    """Speed [m/s] of the least metabolic cost per distance on level ground: the lowest point of the parabola through
    the cheapest walk and its two neighbors. None if the cheapest walk is the slowest or the fastest.

    >>> od.walking.preferred_speed([]) is None
    True
    """
    level = sorted((w for w in found if w.gait is not None and not w.case.slope), key=lambda w: w.case.speed)
    costs = [w.gait.figures["metabolic_cost_J_per_kg_m"] for w in level if w.gait is not None]
    k = int(np.argmin(costs)) if costs else 0
    if not 0 < k < len(costs) - 1:
        return None
    a, b, _ = np.polyfit([w.case.speed for w in level[k - 1 : k + 2]], costs[k - 1 : k + 2], 2)
    return float(-b / (2 * a))


def validation_numbers(found: Sequence[ValidatedWalk]) -> dict[str, Any]:
    """All numbers of walks beside their measurements, walk by walk, as JSON holds them."""
    result: dict[str, Any] = {"walks": len(found), "converged": sum(w.solution.converged for w in found)}
    result["speed_of_least_metabolic_cost_m_per_s"] = preferred_speed(found)
    for walk in found:
        entry: dict[str, Any] = {
            "converged": walk.solution.converged, "status": walk.solution.status, "iterations": walk.iterations,
            "seconds": round(walk.seconds, 3), "own_guess": walk.start is None,
        }  # fmt: skip
        if walk.gait is not None:
            entry["figures"] = walk.gait.numbers()
            entry["curves"] = {c.caption: c.numbers() for c in walk.comparisons}
            entry["measured"] = [
                {"figure": e.figure, "value": e.value, "mean": e.mean, "source": e.source}
                | ({"sd": e.sd} if np.isfinite(e.sd) else {})
                for e in walk.gait.expected()
            ]
            if walk.activity:
                entry["activity"] = {muscle: timing.numbers() for muscle, timing in walk.activity.items()}
        result[walk.case.name] = entry
    return result
