"""Validation of the human walk: gaits at several speeds and slopes, held beside measurements of people.

Walks at all speeds on level ground, and on slopes at the speeds of --slope-speeds, each from the library's own guess;
one that is not found starts once more from the nearest gait. Joint angles, forces, moments and powers are compared with
published bands: adults at their natural cadence (Winter 1991) for walks within 0.2 m/s of theirs, and children and
adolescents of the same speed relative to the length of their legs (Schwartz et al. 2008); cadence, step width, double
support, peaks and the metabolic cost (`human_walk.metabolism`) with the figures of several publications, interpolated to
the speed of the walk. With three speeds or more the report tells at which the metabolic cost per distance is least.

    python -m problems.validate [--speeds 0.7 0.9 1.1 1.3 1.6 2.0] [--slopes -0.08 0 0.08] [--data FILE.csv]
                                [--mass 73] [--height 1.741] [--sex male] [--quick] [--json] [--out DIR]

DIR gets report.md with all tables and pictures, a picture of every walk with its bands, and every walk as .npz.

--data FILE.csv: walks as this subject does, by mass, stature, sex, speed and slope of the file, beside its curves. The
file begins with lines such as `# mass: 68 kg`, `# stature: 1.71 m`, `# sex: female`, `# speed: 1.25 m/s`, `# slope: 0`,
`# cadence: 112 steps/min`; then follow a line with the names of columns, `percent,knee flexion mean,knee flexion sd,
vertical force,...`, and the numbers. Names, units and signs of the curves: `ocp_dyn.ocp.Gait`; a column without mean and
sd is a single measured curve.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ocp_dyn import ocp
from ocp_dyn.cli.report import as_json

from . import human_walk
from ._command import INTERRUPTED, asked, attempt, keep, parser
from ._validation_report import draw_speeds, write_report

SPEEDS = (0.7, 0.9, 1.1, 1.3, 1.6, 2.0)
"""Speeds on level ground [m/s]."""

SLOPES = (-0.08, 0.0, 0.08)
"""Slopes, rise per distance; those of Koelewijn et al. (2019)."""

SLOPE_SPEEDS = (0.8, 1.3)
"""Speeds on slopes [m/s], those of the same study."""

NATURAL = 0.2
"""Largest difference from the speed of Winter's adults [m/s] at which their bands are drawn."""

BY_SIZE = tuple(f"schwartz_{name}" for name in ("very_slow", "slow", "free", "fast", "very_fast"))

LEVEL = 0.005
"""Slopes below this value are level: the bands were measured on level ground."""


@dataclass(frozen=True)
class Body:
    """The walker: mass [kg], stature [m], sex."""

    mass: float = 73.0
    height: float = 1.741
    sex: str = "male"


@dataclass(frozen=True)
class Case:
    """One walk: speed [m/s] and slope."""

    speed: float
    slope: float = 0.0

    @property
    def name(self) -> str:
        return f"walk_{self.speed:.2f}" + (f"_slope_{100 * self.slope:+.0f}" if self.slope else "")

    @property
    def title(self) -> str:
        return f"{self.speed:.2f} m/s" + (f", slope {100 * self.slope:+.3g} %" if self.slope else "")

    def distance(self, other: Case) -> float:
        """Distance between two walks, in steps of 0.2 m/s and of a slope of 0.1."""
        return abs(self.speed - other.speed) / 0.2 + abs(self.slope - other.slope) / 0.1


@dataclass(frozen=True, eq=False)
class Walk:
    """A solved case beside its measurements; gait and comparisons are None and () if the solver did not converge.

    start: the case from whose solution the solver started, None for the library's own guess. seconds: time to build the
    program and to solve it.
    """

    case: Case
    solution: ocp.Solution
    seconds: float
    start: Case | None
    gait: ocp.Gait | None
    comparisons: tuple[ocp.GaitComparison, ...]

    @property
    def iterations(self) -> int:
        return int(self.solution.stats.get("iterations", 0))


def problem(speed: float, body: Body = Body(), *, quick: bool = False) -> ocp.Problem:
    """The human walk with a parameter `slope` [rad]."""
    intervals = human_walk.QUICK if quick else human_walk.INTERVALS
    sex: Any = body.sex
    walk = human_walk.problem(speed, body.mass, body.height, sex, intervals=intervals)
    return replace(walk, parameters=(*walk.parameters, ocp.Parameter("slope", 0.0)))


def cases(speeds: Sequence[float], slopes: Sequence[float], slope_speeds: Sequence[float]) -> list[Case]:
    """Level walks at all speeds, those nearest to the middle first; then the slopes."""
    level = [Case(v) for v in speeds] if any(abs(s) < LEVEL for s in slopes) else []
    steep = [Case(v, s) for v in slope_speeds for s in slopes if abs(s) >= LEVEL]
    middle = Case(float(np.median(speeds)))
    return [*sorted(dict.fromkeys(level), key=middle.distance), *sorted(dict.fromkeys(steep), key=middle.distance)]


def references(gait: ocp.Gait, subject: ocp.GaitReference | None = None) -> list[ocp.GaitReference]:
    """The measured gaits to hold a walk against: the subject's, and on level ground the published ones of its speed."""
    found = [] if subject is None else [subject]
    if abs(gait.figures["slope"]) >= LEVEL:
        return found
    winter = ocp.gait_reference("winter")
    if abs(gait.figures["speed_m_per_s"] - winter.numbers["speed"]) <= NATURAL:
        found.append(winter)
    groups = [ocp.gait_reference(name) for name in BY_SIZE]
    speed = gait.figures["dimensionless_speed"]
    return [*found, min(groups, key=lambda group: abs(group.numbers["dimensionless_speed"] - speed))]


def walks(
    wanted: Sequence[Case],
    make: Callable[[float], ocp.Problem],
    subject: ocp.GaitReference | None = None,
    *,
    progress: bool = False,
    **solve: Any,
) -> Iterator[Walk]:
    """Solves the cases one after the other; `make(speed)` makes their problem, with a parameter `slope`."""
    found: list[Walk] = []
    for k, case in enumerate(wanted):
        begin = time.perf_counter()
        statement = make(case.speed)
        values = {"slope": float(np.arctan(case.slope))}
        solution, start = statement.solve(values=values, progress=False, **solve), None
        near = sorted((w for w in found if w.solution.converged), key=lambda w: case.distance(w.case))
        if not solution.converged and solution.status != "Interrupted" and near:
            again = statement.solve(values=values, progress=False, start=near[0].solution, **solve)
            solution, start = (again, near[0].case) if again.converged else (solution, None)
        walk = _beside(case, solution, time.perf_counter() - begin, start, subject)
        if progress:
            _tell(walk, f"{k + 1}/{len(wanted)}")
        found.append(walk)
        yield walk
        if solution.status == "Interrupted":
            return


def _beside(
    case: Case, solution: ocp.Solution, seconds: float, start: Case | None, subject: ocp.GaitReference | None
) -> Walk:
    if not solution.converged:
        return Walk(case, solution, seconds, start, None, ())
    gait = solution.gait()
    gross = human_walk.metabolism(solution).gross
    rates = {"metabolic_rate_W_per_kg": gross, "metabolic_cost_J_per_kg_m": gross / case.speed}
    gait = replace(gait, figures={**gait.figures, **rates})
    comparisons = tuple(gait.compare(reference) for reference in references(gait, subject))
    return Walk(case, solution, seconds, start, gait, comparisons)


def _tell(walk: Walk, count: str) -> None:
    how = f"{walk.iterations} iterations" if walk.solution.converged else f"NOT FOUND, {walk.solution.status}"
    start = f", from {walk.start.title}" if walk.start is not None else ""
    agreement = ""
    for comparison in walk.comparisons[:1]:
        sagittal = [a for a in comparison.curves if a.unit == "degrees"][:3]
        agreement = "; " + ", ".join(f"{a.curve.split()[0]} {a.rmse:.1f}" for a in sagittal) + " degrees RMSE"
    print(
        f"  {count:>5s}  {walk.case.title}: {how}, {walk.seconds:.1f} s{start}{agreement}", file=sys.stderr, flush=True
    )


def preferred_speed(found: Sequence[Walk]) -> float | None:
    """Speed [m/s] of the least metabolic cost per distance on level ground: the lowest point of the parabola through the
    cheapest walk and its two neighbors. None if the cheapest walk is the slowest or the fastest."""
    level = sorted((w for w in found if w.gait is not None and not w.case.slope), key=lambda w: w.case.speed)
    costs = [w.gait.figures["metabolic_cost_J_per_kg_m"] for w in level if w.gait is not None]
    k = int(np.argmin(costs)) if costs else 0
    if not 0 < k < len(costs) - 1:
        return None
    a, b, _ = np.polyfit([w.case.speed for w in level[k - 1 : k + 2]], costs[k - 1 : k + 2], 2)
    return float(-b / (2 * a))


def numbers(found: Sequence[Walk]) -> dict[str, Any]:
    """All numbers of the report, walk by walk."""
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
        result[walk.case.name] = entry
    return result


# Command line


def _asked(options: argparse.Namespace) -> tuple[list[Case], Body, ocp.GaitReference | None]:
    subject = None if options.data is None else ocp.gait_reference(options.data)
    told = {} if subject is None else subject.numbers
    if subject is not None and options.speeds is None and "speed" not in told:
        raise ValueError(
            f"{options.data}: the speed of the subject is missing: add a line '# speed: 1.25 m/s', or --speeds"
        )
    body = Body(
        told.get("mass", Body.mass) if options.mass is None else options.mass,
        told.get("stature", Body.height) if options.height is None else options.height,
        options.sex or (subject.sex if subject is not None and subject.sex else Body.sex),
    )  # fmt: skip
    if subject is not None and options.speeds is None and options.slopes is None:
        wanted = [Case(told["speed"], told.get("slope", 0.0))]
    else:
        quick = (1.3,) if options.quick else SPEEDS
        speeds = options.speeds or ((told["speed"],) if "speed" in told else quick)
        slopes = options.slopes or ((0.0,) if options.quick else SLOPES)
        wanted = cases(speeds, slopes, options.slope_speeds)
    for case in wanted:
        if not abs(case.slope) <= 0.3:
            raise ValueError(
                f"slopes must lie between -0.3 and 0.3, where people walk on flat feet, got {case.slope:g}"
            )
    problem(wanted[0].speed, body, quick=True)
    for case in wanted:
        if not 0.5 <= case.speed <= 2.2:
            raise ValueError(f"speeds must lie between 0.5 and 2.2 m/s, got {case.speed:g}")
    return wanted, body, subject


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speeds", type=float, nargs="+", help="speeds on level ground [m/s], default 0.7 to 2.0")
    arguments.add_argument("--slopes", type=float, nargs="+", help="rise per distance, default -0.08 0 0.08")
    arguments.add_argument("--slope-speeds", type=float, nargs="+", default=SLOPE_SPEEDS, help="speeds on slopes [m/s]")
    arguments.add_argument("--data", type=Path, metavar="FILE.csv", help="measured curves of a subject")
    arguments.add_argument("--mass", type=float, help="body mass [kg], default 73 or the subject's")
    arguments.add_argument("--height", type=float, help="stature [m], default 1.741 or the subject's")
    arguments.add_argument("--sex", choices=("male", "female"), help="default male or the subject's")
    options, (wanted, body, subject) = asked(arguments, argv, _asked)
    begin, found = time.perf_counter(), []

    def make(speed: float) -> ocp.Problem:
        return problem(speed, body, quick=options.quick)

    if not options.quiet:
        who = f"{body.sex}, {body.mass:g} kg, {body.height:g} m"
        print(f"{len(wanted)} walk{'s' * (len(wanted) > 1)} of a human, {who}", file=sys.stderr, flush=True)
    for walk in walks(wanted, make, subject, progress=not options.quiet):
        found.append(walk)
        keep(options, walk.solution, f"{walk.case.name}.npz")
        if options.out is not None and walk.gait is not None:
            _picture(walk, options.out, subject)
    if options.out is not None:
        attempt("speeds.png", lambda: draw_speeds(found, options.out / "speeds.png"))
        write_report(found, body, subject, options.out / "report.md", preferred_speed(found))
        if not options.quiet:
            print(f"wrote {options.out / 'report.md'}", file=sys.stderr)
    for walk in found:
        print(f"{walk.case.title}: {'' if walk.solution.converged else 'not '}converged")
        for k, comparison in enumerate(walk.comparisons):
            shown = replace(comparison, figures=()) if k else comparison  # the figures of the tables only once
            print("\n".join(f"  {line}".rstrip() for line in str(shown).splitlines()) + "\n")
    if options.json:
        print(as_json(numbers(found) | {"seconds": round(time.perf_counter() - begin, 3)}))
    if found[-1].solution.status == "Interrupted":
        return INTERRUPTED
    return 0 if all(walk.solution.converged for walk in found) else 1


def _picture(walk: Walk, out: Path, subject: ocp.GaitReference | None) -> None:
    gait = walk.gait
    assert gait is not None
    chosen = references(gait, subject)
    picture = out / f"{walk.case.name}.png"
    attempt(picture.name, lambda: walk.solution.plot(picture, reference=chosen) if chosen else gait.plot(picture))


if __name__ == "__main__":
    sys.exit(main())
