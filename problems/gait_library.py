"""A library of gaits: walking over a grid of speeds, slopes and step lengths, each gait from a solved neighbor.

The first gait, in the middle of the grid, is solved from the library's own guess; every other starts from the nearest
solved gait. Each solution is written to its own file, complete or not at all, so that a stopped sweep continues where
it was and solves no gait twice. Gaits are solved in several processes, or on a cluster by Dask's scheduler.

    python -m ocp_dyn.problems.gait_library --out DIR [--speeds 0.9 1.1 1.3 1.5] [--slopes -0.1 0 0.1]
                                    [--steps free 0.6] [--model NAME] [--jobs N | --scheduler ADDRESS] [--quick]
                                    [--json]

`--model legs`: trunk and arms do not move; `module:function` names another maker of problems. DIR gets a file per gait,
`table.csv` and `library.png`: cost of transport and step length against speed, beside the step length that people
choose, proportional to the power 0.42 of speed (Grieve and Gear, 1966).
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ocp_dyn import ocp
from ocp_dyn.cli.examples import asked, attempt, function_named, number_or, parser, print_numbers, run_command, within
from ocp_dyn.walking import GaitPoint, gait_grid, plot_gait_table, write_gait_table

from . import human_walk

FREE = None
"""A step length that the walker chooses."""


def walk(free: bool, quick: bool, still: bool) -> ocp.Problem:
    """The walk, with bounds on the durations of its phases that are wide enough for all speeds."""
    found = human_walk.problem(1.2, intervals=human_walk.QUICK if quick else human_walk.INTERVALS, still=still)
    assert found.periodic is not None
    periodic = found.periodic if free else replace(found.periodic, step_length=0.66)
    phases = [replace(phase, duration=(0.6 * phase.duration[0], 1.5 * phase.duration[1])) for phase in found.phases]
    return replace(found, phases=phases, periodic=periodic, parameters=(ocp.Parameter("slope", 0.0),))


MODELS: dict[str, Callable[[bool, bool], ocp.Problem]] = {
    name: functools.partial(walk, still=name == "legs") for name in ("legs", "human")
}
"""Functions of (step length is free, quick) that make a problem with parameters `speed`, `slope`, `step_length` (only a
fixed one)."""


def make(model: str, quick: bool, free: bool) -> ocp.Problem:
    """The problem of a model by name, or of "module:function", with free or fixed step length."""
    found: ocp.Problem = function_named(model, MODELS)(free, quick)
    return found


def run(
    folder: Path, gaits: Sequence[GaitPoint], *, model: str = "human", quick: bool = False, progress: bool = True,
    **sweep: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """Solves those of the gaits that the library in `folder` does not have, writes its table and picture; the table.
    sweep: options of `ocp.Sweep`, such as jobs, scheduler, executor, again."""
    function_named(model, MODELS)
    work = ocp.Sweep(functools.partial(make, model, quick), gaits, folder,
                     settings={"model": model, "quick": quick}, **sweep)  # fmt: skip
    begin = time.perf_counter()
    if progress and work.done:
        print(f"{len(work.done)} of {len(gaits)} gaits are in the folder already", file=sys.stderr, flush=True)
    for gait, solution in work:
        how = f"{solution.stats['iterations']} iterations" if solution.converged else f"NOT FOUND, {solution.status}"
        step = f"step {solution.step_length:.2f} m" + ("" if gait.free else " (fixed)")
        text = f"{gait.speed:.2f} m/s, slope {100 * gait.slope:+.3g} %, {step}: {how}"
        if progress:
            count = f"{len(work.done)}/{len(gaits)}"
            print(f"  {count:>7s}  {text}, {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    rows = write_gait_table(work.library, gaits)
    if any(r["converged"] for r in rows):
        attempt("library.png", lambda: plot_gait_table(rows, folder / "library.png"))
    return rows


def _grid(o: argparse.Namespace) -> list[GaitPoint]:
    if o.out is None:
        raise ValueError("--out DIR is needed: a library is a folder of gaits")
    if o.jobs < 0:
        raise ValueError(f"--jobs must not be negative, got {o.jobs}")
    for what, low, high in (("speeds", 0.5, 2.2), ("slopes", -0.4, 0.4), ("steps", 0.1, 1.5)):
        for value in getattr(o, what):
            within(low if value is FREE else value, low, high, f"{what} must lie between {low:g} and {high:g}")
    return gait_grid(o.speeds, o.slopes, o.steps)


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add = arguments.add_argument
    add("--speeds", type=float, nargs="+", default=[0.9, 1.1, 1.3, 1.5], help="speeds [m/s]")
    add("--slopes", type=float, nargs="+", default=[-0.1, 0.0, 0.1], help="slopes, rise per distance")
    add("--steps", type=number_or("free"), nargs="+", default=[FREE, 0.6], help='step lengths [m], or "free"')
    add("--model", default="human", help="human, legs (trunk and arms do not move), or module:function")
    add("--jobs", type=int, default=0, help="number of processes; default: one per core")
    add("--scheduler", default="", metavar="ADDRESS", help="address of a Dask scheduler, for a cluster")
    add("--again", action="store_true", help="solve gaits that were not found once more")
    options, gaits = asked(arguments, argv, _grid, resumes=True)
    begin, sweep = time.perf_counter(), {name: getattr(options, name) for name in ("jobs", "scheduler", "again")}
    try:
        rows = run(options.out, gaits, model=options.model, quick=options.quick, progress=not options.quiet, **sweep)
    except (ValueError, RuntimeError, OSError) as error:
        arguments.error(str(error))
    missing = [r["file"] for r in rows if not r["converged"]]
    seconds = round(time.perf_counter() - begin, 2)
    print_numbers(options, {"gaits": len(rows), "found": len(rows) - len(missing), "not_found": missing,
                            "seconds": seconds, "table": str(options.out / "table.csv")})  # fmt: skip
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(run_command(main))
