"""Section `grid`: the same motion on grids of 1, 2, 4, ... times as many intervals, from the library's own guess."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import ocp_dyn as od
from ocp_dyn import ocp
from problems import compliant_walk, five_link, human_walk, robot_walk, run, stairs

from .section import Row, Section

Make = Callable[[int], ocp.Problem]
"""A problem with a multiple of its usual number of intervals."""


def _times(factor: int, counts: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(factor * count for count in counts)


def _human(**options: object) -> Make:
    return lambda k: human_walk.problem(intervals=_times(k, human_walk.INTERVALS), **options)


CASES: dict[str, Make] = {
    "human": _human(),
    "human18": _human(still=True),
    "talos": lambda k: robot_walk.problem(0.5, intervals=_times(k, (6, 20)), margins=None),
    "run": lambda k: run.problem(intervals=_times(k, run.INTERVALS)),
    "stairs": lambda k: stairs.problem(intervals=_times(k, stairs.INTERVALS)),
    "compliant": lambda k: compliant_walk.problem(intervals=k * compliant_walk.INTERVALS),
    "gauss:1": _human(integrator="gauss:1"),
    "gauss:3": _human(integrator="gauss:3"),
    "radau:2": _human(integrator="radau:2"),
    "rk4": _human(form="explicit", integrator="rk4", still=True),
    "five-link": lambda k: five_link.problem(intervals=k * five_link.INTERVALS),
    "five-link, midpoint": lambda k: five_link.problem("implicit", k * five_link.INTERVALS, "midpoint"),
}
"""Cases by name: the human of 29 dofs, 18 with trunk and arms locked, TALOS with 38; then the human by other schemes
(gauss:2 is the usual one; gauss:1 is the implicit midpoint rule); the five-link biped has torques that are constant in
an interval."""

GUESSES: dict[str, Callable[[], ocp.Solution]] = {"compliant": compliant_walk.first_guess}
"""First guesses of the cases whose commands have one of their own."""


def measure(name: str, factor: int, threads: int = 1, limit: int = 1000, ladder: bool | str = "auto") -> Row:
    """The row of a case with `factor` times its usual number of intervals; a second solve of a solved problem would
    find its tables ready, so the building of the problem is not in the times, but that of coarser grids of a ladder is.

    work: iterations on all grids of the ladder, each counted by its share of the intervals."""
    problem, guess = CASES[name](factor), GUESSES[name]() if name in GUESSES else None
    problem.solve(progress=False, guess=guess, threads=threads, max_iterations=0, ladder=False)
    begin = time.process_time()
    solution = problem.solve(progress=False, guess=guess, threads=threads, max_iterations=limit, ladder=ladder)
    seconds = time.process_time() - begin
    stats, count = solution.stats, max(solution.stats["iterations"], 1)
    figures = {"iterations": count, "work": count, "s": seconds, "cost": solution.objective}
    if "ladder" in stats:
        finest = sum(stats["ladder"][-1]["intervals"])
        figures["work"] = sum(one["iterations"] * sum(one["intervals"]) for one in stats["ladder"]) / finest
    else:
        figures["ms per iteration"] = 1e3 * seconds / count
    linear = stats["linear_solver_figures"]
    if linear:
        pivots = linear["factorizations"] * (stats["variables"] + stats["constraints"])
        figures |= {
            "factorizations": linear["factorizations"],
            "delayed pivots": linear["delayed_pivots"],
            "1e6 multiply-adds": linear["multiply_adds"] / 1e6,
            "backward error": linear["backward_error"],
            "% of pivots": 100 * linear["delayed_pivots"] / max(pivots, 1),
        }
    note = "" if solution.converged else solution.status
    return Row(name, sum(phase.grid.count for phase in problem.phases), figures, note)


def _rows(options: argparse.Namespace) -> Iterator[Row]:
    for name in options.cases or CASES:
        if name == "talos" and not od.robots.installed():
            print(f"{name} is left out: it needs pip install example-robot-data")
            continue
        for factor in options.factors:
            yield measure(name, factor, options.threads, options.limit, "auto" if options.ladder else False)


def _arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("grid")
    group.add_argument("--cases", nargs="+", choices=CASES, help="default: all")
    group.add_argument("--factors", type=int, nargs="+", default=[1, 2, 4, 8], help="multiples of the usual intervals")
    group.add_argument("--threads", type=int, default=1, help="of the solver (default 1)")
    group.add_argument("--limit", type=int, default=1000, help="of iterations (default 1000)")
    group.add_argument("--no-ladder", dest="ladder", action="store_false", help="no coarser grids before the fine ones")


SECTION = Section(
    title="Finer grids",
    size="intervals",
    columns={"iterations": ".0f", "work": ".1f", "factorizations": ".0f", "delayed pivots": ".0f", "% of pivots": ".2f",
             "1e6 multiply-adds": ".0f", "backward error": ".0e",
             "ms per iteration": ".1f", "s": ".2f", "cost": ".4f"},
    plotted=("work", "ms per iteration", "s"),
    rows=_rows,
    arguments=_arguments,
)  # fmt: skip
