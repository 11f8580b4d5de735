"""A library of gaits: walking over a grid of speeds, slopes and step lengths, each gait from a solved neighbor.

The first gait, in the middle of the grid, is solved from the library's own guess; every other starts from the nearest
solved gait. Each solution is written to its own file, complete or not at all, so that a stopped sweep continues where
it was and solves no gait twice. Gaits are solved in several processes, or on a cluster by Dask's scheduler.

    python -m problems.gait_library --out DIR [--speeds 0.9 1.1 1.3 1.5] [--slopes -0.1 0 0.1] [--steps free 0.6]
                                    [--model NAME] [--jobs N | --scheduler ADDRESS] [--compile] [--quick] [--json]

`--model legs`: trunk and arms do not move; `module:function` names another maker of problems. DIR gets a file per gait,
`table.csv` and `library.png`: cost of transport and step length against speed, beside the step length that people
choose, proportional to the power 0.42 of speed (Grieve and Gear, 1966).
"""

from __future__ import annotations

import argparse
import csv
import functools
import io
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ocp_dyn import ocp
from ocp_dyn.io import whole_file

from . import human_walk
from ._command import asked, attempt, parser
from ._gaits import FREE, Gait, factory, grid, make

COLUMNS = (
    "speed_m_per_s", "slope", "step_length_asked_m", "converged", "iterations", "solve_seconds", "step_length_m",
    "step_duration_s", "cost_of_transport", "positive_work_J", "negative_work_J", "objective", "file",
)  # fmt: skip


def row(gait: Gait, solution: ocp.Solution, library: ocp.Library) -> dict[str, Any]:
    """A line of the table."""
    positive, negative = solution.mechanical_work()
    values = (
        gait.speed, gait.slope, "free" if gait.free else gait.step, solution.converged, solution.stats["iterations"],
        round(solution.stats["solve_seconds"], 3), solution.step_length, solution.duration,
        solution.cost_of_transport(), positive, negative, solution.objective, library.path(gait).name,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def write_table(library: ocp.Library, rows: Sequence[dict[str, Any]]) -> Path:
    """Writes table.csv in the library's folder."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return library.write("table.csv", text.getvalue().encode())


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Plots cost of transport and step length against speed: a line per slope and requested step length."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    cost, length = figure.subplots(1, 2)
    found = [r for r in rows if r["converged"]]
    slopes = sorted({r["slope"] for r in found})
    marks = dict(zip(sorted({str(r["step_length_asked_m"]) for r in found}, reverse=True), "os^Dvx", strict=False))
    for slope, step in product(slopes, marks):
        line = sorted((r for r in found if (r["slope"], str(r["step_length_asked_m"])) == (slope, step)), key=_speed)
        if not line:
            continue
        color = COLORS[slopes.index(slope) % len(COLORS)]
        style = {"color": color, "marker": marks[step], "linestyle": "-" if step == "free" else "--", "markersize": 5}
        asked = "free step" if step == "free" else f"step {float(step):.2g} m"
        cost.plot(
            [_speed(r) for r in line],
            [r["cost_of_transport"] for r in line],
            label=f"{_words(slope)}, {asked}",
            **style,
        )
        if step == "free":
            length.plot([_speed(r) for r in line], [r["step_length_m"] for r in line], **style)
    speeds = np.linspace(min(map(_speed, found)) - 0.05, max(map(_speed, found)) + 0.05, 50)
    people = [human_walk.step_length(v, 1.741) for v in speeds]
    length.plot(
        speeds, people, color="0.4", linewidth=3, alpha=0.5, label="people, level ground (Grieve and Gear 1966)"
    )
    length.set_ylabel("step length where it is free [m]")
    cost.set_ylabel("positive joint work per weight and distance")
    cost.legend(fontsize=7, frameon=False)
    length.legend(fontsize=8, frameon=False)
    for axes in (cost, length):
        axes.set_xlabel("speed [m/s]")
        axes.spines[["top", "right"]].set_visible(False)
    cost.set_ylim(bottom=0)
    with whole_file(path) as partial:
        figure.savefig(partial, format=path.suffix[1:], dpi=150)


COLORS = ("#0072b2", "#444444", "#d55e00", "#009e73", "#cc79a7")


def _words(slope: float) -> str:
    return f"slope {100 * slope:+.3g} %" if slope else "level"


def _speed(r: dict[str, Any]) -> float:
    return float(r["speed_m_per_s"])


def run(
    folder: Path,
    gaits: Sequence[Gait],
    *,
    model: str = "human",
    jobs: int = 0,
    scheduler: str = "",
    executor: Executor | None = None,
    quick: bool = False,
    compile: bool = False,
    again: bool = False,
    progress: bool = True,
) -> list[dict[str, Any]]:
    """Solves those of the gaits that the library in `folder` does not have, writes its table and picture; the table.

    jobs: number of processes, 0 for one per core. scheduler: address of a Dask scheduler, instead of processes.
    executor: an executor of the user, with `jobs` workers. again: solve gaits that were not found once more.
    """
    factory(model)
    work = ocp.Sweep(
        functools.partial(make, model, quick), gaits, folder, jobs=jobs, scheduler=scheduler, executor=executor,
        solve={"compile": compile or "auto"}, settings={"model": model, "quick": quick}, again=again,
    )  # fmt: skip
    library, begin = work.library, time.perf_counter()
    if progress and work.done:
        print(f"{len(work.done)} of {len(gaits)} gaits are in the folder already", file=sys.stderr, flush=True)
    for gait, solution in work:
        if progress:
            _tell(gait, solution, f"{len(work.done)}/{len(gaits)}", time.perf_counter() - begin)
    rows = [row(gait, library.load(gait), library) for gait in sorted(gaits, key=lambda g: g.name)]
    write_table(library, rows)
    if any(r["converged"] for r in rows):
        attempt("library.png", lambda: draw(rows, folder / "library.png"))
    return rows


def _tell(gait: Gait, solution: ocp.Solution, count: str, seconds: float) -> None:
    step = f"step {solution.step_length:.2f} m" + ("" if gait.free else " (fixed)")
    how = f"{solution.stats['iterations']} iterations" if solution.converged else f"NOT FOUND, {solution.status}"
    print(
        f"  {count:>7s}  {gait.speed:.2f} m/s, {_words(gait.slope)}, {step}: {how}, {seconds:.0f} s",
        file=sys.stderr,
        flush=True,
    )


def _step(text: str) -> float | None:
    return FREE if text == "free" else float(text)


def _grid(options: argparse.Namespace) -> list[Gait]:
    if options.out is None:
        raise ValueError("--out DIR is needed: a library is a folder of gaits")
    if (
        options.jobs < 0
        or not all(0.5 <= v <= 2.2 for v in options.speeds)
        or any(abs(x) > 0.4 for x in options.slopes)
    ):
        raise ValueError(
            "--jobs must not be negative, speeds must lie between 0.5 and 2.2 m/s, slopes between -0.4 and 0.4, got "
            f"{options.jobs} jobs, speeds {options.speeds}, slopes {options.slopes}"
        )
    return grid(options.speeds, options.slopes, options.steps)


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speeds", type=float, nargs="+", default=[0.9, 1.1, 1.3, 1.5], help="speeds [m/s]")
    arguments.add_argument(
        "--slopes", type=float, nargs="+", default=[-0.1, 0.0, 0.1], help="slopes, rise per distance"
    )
    arguments.add_argument("--steps", type=_step, nargs="+", default=[FREE, 0.6], help='step lengths [m], or "free"')
    arguments.add_argument(
        "--model", default="human", help="human, legs (trunk and arms do not move), or module:function"
    )
    arguments.add_argument("--jobs", type=int, default=0, help="number of processes; default: one per core")
    arguments.add_argument(
        "--scheduler", default="", metavar="ADDRESS", help="address of a Dask scheduler, for a cluster"
    )
    arguments.add_argument(
        "--compile", action="store_true", help="make all tables for machine code first; the cache keeps them"
    )
    arguments.add_argument("--again", action="store_true", help="solve gaits that were not found once more")
    options, gaits = asked(arguments, argv, _grid)
    begin = time.perf_counter()
    try:
        rows = run(
            options.out, gaits, model=options.model, jobs=options.jobs, scheduler=options.scheduler,
            quick=options.quick, compile=options.compile, again=options.again, progress=not options.quiet,
        )  # fmt: skip
    except (ValueError, RuntimeError, OSError) as error:
        arguments.error(str(error))
    missing = [r["file"] for r in rows if not r["converged"]]
    numbers = {
        "gaits": len(rows), "found": len(rows) - len(missing), "not_found": missing,
        "seconds": round(time.perf_counter() - begin, 2), "table": str(options.out / "table.csv"),
    }  # fmt: skip
    for key, value in numbers.items():
        print(f"  {key:28s} {value}")
    if options.json:
        print(json.dumps(numbers))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
