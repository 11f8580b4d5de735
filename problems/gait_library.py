"""A library of gaits: walking over a grid of speeds, slopes and step lengths, each gait from a neighbour that is done.

The first gait is found from scratch, in the middle of the grid; every other begins at the nearest that is finished.
Each is written to its own file as soon as it is found, whole or not at all, so that a sweep that was stopped goes on where it was:
what is finished is never done again. Gaits are spread over processes, or over a cluster by Dask's scheduler.

    python -m problems.gait_library --out DIR [--speeds 0.9 1.1 1.3 1.5] [--slopes -0.1 0 0.1] [--steps free 0.6]
                                    [--model NAME] [--jobs N | --scheduler ADDRESS] [--compile] [--quick] [--json]

`--model legs` holds trunk and arms still, `human` does not; `module:function` names another factory of problems. DIR gets a file per gait, `table.csv` and `library.png`: cost of transport and step length
against speed, beside what people choose: step length as the power 0.42 of speed (Grieve and Gear, 1966).
"""

from __future__ import annotations

import csv
import functools
import importlib
import io
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import product
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np

from ocp_dyn import ocp

from . import human_walk
from ._command import parser, prepare

FREE = None
"""A step length that the walker chooses."""


@dataclass(frozen=True)
class Gait:
    """A point of the grid: speed [m/s], slope (rise per distance, negative downhill), step length [m] or FREE."""

    speed: float
    slope: float
    step: float | None = FREE

    @property
    def free(self) -> bool:
        return self.step is None

    @property
    def name(self) -> str:
        step = "free" if self.step is None else f"{self.step:.3f}"
        return f"speed_{self.speed:.3f}_slope_{self.slope:+.3f}_step_{step}"

    @property
    def values(self) -> dict[str, float]:
        """Of the problem's parameters."""
        found = {"speed": self.speed, "slope": float(np.arctan(self.slope))}
        return found if self.step is None else found | {"step_length": self.step}

    def distance(self, other: Gait) -> float:
        """How far two gaits are apart, in steps of a usual grid."""
        change = 0.0 if self.step == other.step else 1.0
        if self.step is not None and other.step is not None:
            change = abs(self.step - other.step) / 0.1
        return abs(self.speed - other.speed) / 0.2 + abs(self.slope - other.slope) / 0.1 + change


BARRIER = 1e-2
"""Of the interior-point method at the start: a step of the grid is too far for the tiny one that suits small changes."""

Factory = Callable[[bool, bool], ocp.Problem]
"""Makes a model's problem of (step length free, quick), with parameters `speed`, `slope` and, if held, `step_length`."""


def _walk(free: bool, quick: bool, still: bool) -> ocp.Problem:
    walk = human_walk.problem(1.2, intervals=human_walk.QUICK if quick else human_walk.INTERVALS, still=still)
    assert walk.periodic is not None
    periodic = walk.periodic if free else replace(walk.periodic, step_length=0.66)
    return replace(walk, periodic=periodic, parameters=(ocp.Parameter("slope", 0.0),))


MODELS: dict[str, Factory] = {
    "legs": functools.partial(_walk, still=True),
    "human": functools.partial(_walk, still=False),
}


def factory(model: str) -> Factory:
    """That of a model by name, or the one that "module:function" says; ValueError if there is none."""
    if model in MODELS:
        return MODELS[model]
    module, _, name = model.partition(":")
    try:
        found: Factory = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"model must be one of {', '.join(MODELS)}, or module:function, got {model!r}: {error}"
        ) from error
    return found


@functools.cache
def _problem(model: str, free: bool, quick: bool) -> ocp.Problem:
    """One problem of each kind in a process: built once, solved again and again."""
    return factory(model)(free, quick)


@dataclass(frozen=True)
class Task:
    """What a worker is given: the gait, and the file of a solution to begin at, as bytes; same: of the same problem."""

    gait: Gait
    model: str
    quick: bool
    start: bytes | None = None
    same: bool = False
    compile: bool | str = "auto"


def solve(task: Task) -> bytes:
    """The gait's solution, as the bytes of its file; from scratch if the start leads nowhere."""
    problem = _problem(task.model, task.gait.free, task.quick)
    options: dict[str, Any] = {"values": task.gait.values, "progress": False, "threads": 1, "compile": task.compile}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "gait.npz")
        start = None
        if task.start is not None:
            path.write_bytes(task.start)
            start = ocp.Solution.load(path)
        begin: dict[str, Any] = {"start" if task.same else "guess": start, "mu_init": BARRIER} if start else {}
        solution = problem.solve(**options, **begin)
        if start is not None and not solution.converged:
            solution = problem.solve(**options)
        solution.save(path)
        return path.read_bytes()


@dataclass(frozen=True)
class Library:
    """A folder of gaits."""

    folder: Path

    def path(self, gait: Gait) -> Path:
        return self.folder / f"{gait.name}.npz"

    def load(self, gait: Gait) -> ocp.Solution:
        return ocp.Solution.load(self.path(gait))

    def converged(self, gait: Gait) -> bool | None:
        """Whether the gait was found; None: not done yet, or its file is damaged."""
        try:
            return self.load(gait).converged
        except (FileNotFoundError, ValueError):
            return None

    def write(self, path: Path, content: bytes) -> None:
        """The file appears whole or not at all."""
        partial = path.with_name(path.name + ".part")
        partial.write_bytes(content)
        partial.replace(path)


@dataclass
class Sweep:
    """The gaits that are still to do, handed out from the middle of the grid outwards."""

    library: Library
    model: str
    quick: bool
    compile: bool | str
    waiting: list[Gait]
    done: dict[Gait, bool]
    settled: set[Gait] = field(init=False)
    """Gaits that are not tried again: those of an earlier sweep, and those that have been."""

    def __post_init__(self) -> None:
        self.settled = set(self.done)

    def next(self, busy: int) -> Task | None:
        """The gait nearest to one that was found, to begin at that; the first of all goes alone."""
        found = [gait for gait, converged in self.done.items() if converged]
        if not self.waiting or (not found and busy):
            return None
        if not found:
            return Task(self._taken(self.waiting[0]), self.model, self.quick, compile=self.compile)
        gait, near = min(product(self.waiting, found), key=lambda pair: pair[0].distance(pair[1]))
        start = self.library.path(near).read_bytes()
        return Task(self._taken(gait), self.model, self.quick, start, gait.free == near.free)

    def _taken(self, gait: Gait) -> Gait:
        self.waiting.remove(gait)
        return gait

    def keep(self, gait: Gait, content: bytes) -> ocp.Solution:
        """Writes a gait's file, unless there is a better one already."""
        path, before = self.library.path(gait), self.library.load(gait) if self.done.get(gait) else None
        self.library.write(path.with_suffix(".new"), content)
        found = ocp.Solution.load(path.with_suffix(".new"))
        if before is not None and not (found.converged and found.objective < before.objective):
            path.with_suffix(".new").unlink()
            return before
        path.with_suffix(".new").replace(path)
        self.done[gait] = found.converged
        return found

    def another_try(self, gait: Gait) -> Task | None:
        """A gait whose step is free and that costs more than with its step held: once from there, to a better minimum."""
        same = [g for g, found in self.done.items() if found and (g.speed, g.slope) == (gait.speed, gait.slope)]
        free = next((g for g in same if g.free), None)
        if free is None or free in self.settled:
            return None
        cheapest = min(same, key=lambda g: self.library.load(g).objective)
        if cheapest.free:
            return None
        self.settled.add(free)
        start = self.library.path(cheapest).read_bytes()
        return Task(free, self.model, self.quick, start, same=False, compile=self.compile)


def sweep(work: Sweep, executor: Any, jobs: int) -> Iterator[tuple[Gait, ocp.Solution]]:
    """Solves what is waiting, `jobs` at a time, and yields each gait when its file is written.

    executor: anything with `submit` that returns futures, such as `ProcessPoolExecutor` or Dask's `get_executor()`.
    """
    running: dict[Future[bytes], Gait] = {}
    while True:
        while len(running) < jobs and (task := work.next(len(running))) is not None:
            running[executor.submit(solve, task)] = task.gait
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            gait = running.pop(future)
            solution = work.keep(gait, future.result())
            if (task := work.another_try(gait)) is not None:
                running[executor.submit(solve, task)] = task.gait
            yield gait, solution


def grid(speeds: Sequence[float], slopes: Sequence[float], steps: Sequence[float | None]) -> list[Gait]:
    """All combinations, those in the middle first."""
    gaits = [Gait(*point) for point in product(speeds, slopes, steps)]
    middle = Gait(float(np.median(speeds)), float(np.median(slopes)), FREE if FREE in steps else steps[0])
    return sorted(dict.fromkeys(gaits), key=middle.distance)


COLUMNS = (
    "speed_m_per_s", "slope", "step_length_asked_m", "converged", "iterations", "solve_seconds", "step_length_m",
    "step_duration_s", "cost_of_transport", "positive_work_J", "negative_work_J", "objective", "file",
)  # fmt: skip


def row(gait: Gait, solution: ocp.Solution, library: Library) -> dict[str, Any]:
    """A line of the table."""
    positive, negative = solution.mechanical_work()
    values = (
        gait.speed, gait.slope, "free" if gait.free else gait.step, solution.converged, solution.stats["iterations"],
        round(solution.stats["solve_seconds"], 3), solution.step_length, solution.duration, solution.cost_of_transport(),
        positive, negative, solution.objective, library.path(gait).name,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def write_table(library: Library, rows: Sequence[dict[str, Any]]) -> Path:
    """table.csv in the library's folder."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    library.write(library.folder / "table.csv", text.getvalue().encode())
    return library.folder / "table.csv"


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Cost of transport and step length against speed: a line per slope, and per step length that was asked for."""
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
        colour = COLOURS[slopes.index(slope) % len(COLOURS)]
        style = {"color": colour, "marker": marks[step], "linestyle": "-" if step == "free" else "--", "markersize": 5}
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
    length.plot(speeds, people, color="0.4", linewidth=3, alpha=0.5, label="people (Grieve and Gear 1966)")
    length.set_ylabel("step length where it is free [m]")
    cost.set_ylabel("positive joint work per weight and distance")
    cost.legend(fontsize=7, frameon=False)
    length.legend(fontsize=8, frameon=False)
    for axes in (cost, length):
        axes.set_xlabel("speed [m/s]")
        axes.spines[["top", "right"]].set_visible(False)
    cost.set_ylim(bottom=0)
    figure.savefig(path, dpi=150)


COLOURS = ("#0072b2", "#444444", "#d55e00", "#009e73", "#cc79a7")


def _words(slope: float) -> str:
    return f"slope {100 * slope:+.3g} %" if slope else "level"


def _speed(r: dict[str, Any]) -> float:
    return float(r["speed_m_per_s"])


def cluster(address: str) -> tuple[Executor, int]:
    """An executor on the workers of a Dask scheduler, and how many threads they have.

    The workers need this package and nothing of the folder: starts and solutions travel as bytes.
    RuntimeError without the extra `cluster`, OSError if no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise RuntimeError(
            "--scheduler needs Dask: pip install 'ocp_dyn[cluster]'; without it --jobs N uses this machine's processes"
        ) from error
    client = Client(address, timeout="10s")
    return client.get_executor(pure=False), max(1, sum(client.nthreads().values()))


def processes(jobs: int) -> Executor:
    """Processes on this machine, each with one thread; they end when this one does, however it ends."""
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_follow_parent)


def _follow_parent() -> None:
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run(
    folder: Path,
    gaits: Sequence[Gait],
    *,
    model: str = "legs",
    jobs: int = 0,
    scheduler: str = "",
    executor: Executor | None = None,
    quick: bool = False,
    compile: bool = False,
    again: bool = False,
    progress: bool = True,
) -> list[dict[str, Any]]:
    """Makes what the library in `folder` lacks of these gaits, its table and picture, and returns the table.

    jobs: processes, 0 for one per core. scheduler: address of Dask's, instead. executor: the user's own, with
    `jobs` workers. again: gaits that were not found are tried again.
    """
    factory(model)
    folder.mkdir(parents=True, exist_ok=True)
    library = Library(folder)
    _keep_settings(library, {"model": model, "quick": quick})
    done = {gait: state for gait in gaits if (state := library.converged(gait)) is not None and (state or not again)}
    work = Sweep(library, model, quick, compile or "auto", [gait for gait in gaits if gait not in done], done)
    total, begin = len(gaits), time.perf_counter()
    if progress and done:
        print(f"{len(done)} of {total} gaits are there already", file=sys.stderr, flush=True)
    if work.waiting:
        if executor is not None:
            workers = max(1, jobs)
        else:
            executor, workers = cluster(scheduler) if scheduler else _local(jobs, len(work.waiting))
        with executor:
            for gait, solution in sweep(work, executor, workers):
                if progress:
                    _tell(gait, solution, f"{len(work.done)}/{total}", time.perf_counter() - begin)
    rows = [row(gait, library.load(gait), library) for gait in sorted(gaits, key=lambda g: g.name)]
    write_table(library, rows)
    if any(r["converged"] for r in rows):
        draw(rows, folder / "library.png")
    return rows


def _local(jobs: int, gaits: int) -> tuple[Executor, int]:
    workers = min(jobs or os.cpu_count() or 1, gaits)
    return processes(workers), workers


def _keep_settings(library: Library, settings: dict[str, Any]) -> None:
    """Writes what all gaits of the folder share; ValueError if they are of another kind."""
    path = library.folder / "library.json"
    if not path.exists():
        library.write(path, json.dumps(settings).encode())
    found = json.loads(path.read_text())
    if found != settings:
        raise ValueError(f"{library.folder} holds gaits of {found}, not {settings}: give --out another folder")


def _tell(gait: Gait, solution: ocp.Solution, count: str, seconds: float) -> None:
    step = f"step {solution.step_length:.2f} m" + ("" if gait.free else " (held)")
    how = f"{solution.stats['iterations']} iterations" if solution.converged else f"NOT FOUND, {solution.status}"
    print(
        f"  {count:>7s}  {gait.speed:.2f} m/s, {_words(gait.slope)}, {step}: {how}, {seconds:.0f} s",
        file=sys.stderr,
        flush=True,
    )


def _step(text: str) -> float | None:
    return FREE if text == "free" else float(text)


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speeds", type=float, nargs="+", default=[0.9, 1.1, 1.3, 1.5], help="[m/s]")
    arguments.add_argument("--slopes", type=float, nargs="+", default=[-0.1, 0.0, 0.1], help="rise per distance")
    arguments.add_argument("--steps", type=_step, nargs="+", default=[FREE, 0.6], help='step lengths [m], or "free"')
    arguments.add_argument(
        "--model", default="legs", help="legs (trunk and arms held still), human, or module:function"
    )
    arguments.add_argument("--jobs", type=int, default=0, help="processes; default: one per core")
    arguments.add_argument("--scheduler", default="", metavar="ADDRESS", help="of Dask, for a cluster")
    arguments.add_argument("--compile", action="store_true", help="compile the blocks first; the cache keeps them")
    arguments.add_argument("--again", action="store_true", help="try again what was not found")
    options = arguments.parse_args(argv)
    if options.out is None:
        arguments.error("--out DIR is needed: a library is a folder of gaits")
    if (
        options.jobs < 0
        or not all(0.5 <= v <= 2.2 for v in options.speeds)
        or any(abs(x) > 0.4 for x in options.slopes)
    ):
        arguments.error(
            "--jobs must not be negative, speeds lie between 0.5 and 2.2 m/s and slopes between -0.4 and 0.4"
        )
    prepare(options, arguments)
    gaits = grid(options.speeds, options.slopes, options.steps)
    begin = time.perf_counter()
    try:
        rows = run(
            options.out, gaits, model=options.model, jobs=options.jobs, scheduler=options.scheduler, quick=options.quick,
            compile=options.compile, again=options.again, progress=not options.quiet,
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


if __name__ == "__main__":  # by the module's own name, so that workers elsewhere find what they are sent
    sys.exit(importlib.import_module("problems.gait_library").main())
