#!/usr/bin/env python3
"""Linear solvers of IPOPT and other solvers, side by side: iterations, factorizations, evaluations, totals.

    python scripts/bench_solvers.py [TABLE ...] [--quick] [--cases five-link human18 human29 talos trot]
        [--linear-solvers chain mumps] [--threads 1 2] [--factors 1 2 4] [--repeats 3] [--limit 600] [--only NAME ...]
        [--interpreted] [--json FILE]

Tables: `linear` (time of a factorization and its parts, at N, 2 N and 4 N intervals), `solvers` (IPOPT, FATROP, SQP, Uno
and others), `same` (optima of every problem of `problems/` by the two linear solvers), `neighbors` (another speed from a
solution), `gaits` (a library of 24), `build` (until the solver starts), `compile` (an empty cache). Without names:
linear and solvers. `--quick` takes coarse grids, interprets the functions and solves once: every table ends within
minutes, and times are no measure.

Each problem is solved in a process of its own, which its number of threads is told to; the linear solvers take turns
there, so that whatever else runs on the machine counts for both. Blocks are compiled first, untimed. Figures are those
of the repeat of median time. IPOPT times the linear solvers: `factor` is the time of a factorization with the assembly
of its matrix, `solve` the time of the substitutions that follow it, `evaluate` all function evaluations of an
iteration, each in ms; `MB` is the size of the factor.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from scripts.bench.solver_cases import CASES, SMALL, WALKS, missing, names
from scripts.bench.solver_runs import Record, in_process, linear_solvers

Options = argparse.Namespace
Row = dict[str, Any]

WAYS: dict[str, dict[str, Any]] = {
    "ipopt": {"solver": "ipopt", "options": {}},
    "fatrop": {"solver": "fatrop", "options": {}},
    "sqp": {"solver": "sqp", "options": {}},
    "uno": {"solver": "uno", "options": {"preset": "ipopt"}},
    "uno filtersqp": {"solver": "uno", "options": {"preset": "filtersqp"}},
}
"""Ways to solve a problem, beside IPOPT with each linear solver."""

GRID = ([0.9, 1.1, 1.3, 1.5], [-0.1, 0.0, 0.1], [None, 0.6])
"""Speeds, slopes and step lengths of the 24 gaits: those of `problems.gait_library`."""

QUICK_GRID = ([1.1, 1.3], [0.0], [None])
SAME = 1e-8
"""Relative difference of two costs that count as the same."""

SPEEDS = (1.1, 1.3)
"""Speeds of the neighbors [m/s]; they begin at 1.2."""


def main() -> int:
    options = _options()
    options.linear_solvers, told = linear_solvers(options.linear_solvers)
    how = "interpreted" if options.interpreted else "compiled"
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    )
    print(f"functions {how}, median of {options.repeats}{', coarse grids' if options.quick else ''}")
    for line in told:
        print(line, file=sys.stderr)
    if not options.linear_solvers:
        return 2
    found: dict[str, list[Row]] = {}
    for table in options.tables:
        print(f"\n{table}: {TITLES[table]}")
        found[table] = list(TABLES[table](options))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    return 0


def _options() -> Options:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("tables", nargs="*", metavar="TABLE", help=f"tables: {', '.join(TABLES)}")
    arguments.add_argument("--quick", action="store_true", help="coarse grids, interpreted, one solve each")
    arguments.add_argument("--cases", nargs="+", choices=CASES, help="problems of linear and solvers")
    arguments.add_argument(
        "--linear-solvers", nargs="+", default=["chain", "mumps"], help="default: chain mumps; spral"
    )
    arguments.add_argument("--threads", type=_count, nargs="+", default=[1, 2], help="numbers of threads (default 1 2)")
    arguments.add_argument(
        "--factors", type=_count, nargs="+", default=[1, 2, 4], help="multiples of N (default 1 2 4)"
    )
    arguments.add_argument("--repeats", type=_count, default=3, help="solves of everything (default 3)")
    arguments.add_argument("--limit", type=float, default=600.0, help="seconds for one process (default 600)")
    arguments.add_argument("--only", nargs="+", help="problems of `same`, solvers of `solvers`")
    arguments.add_argument("--interpreted", action="store_true", help="do not compile the functions")
    arguments.add_argument("--json", type=Path, help="also write all figures to this file")
    options = arguments.parse_args()
    for table in options.tables:
        if table not in TABLES:
            arguments.error(f"there is no table {table!r}: choose from {', '.join(TABLES)}")
    for name in (options.only or []) if "same" in options.tables else []:
        if name not in names() and "solvers" not in options.tables:
            arguments.error(f"there is no problem {name!r}: choose from {', '.join(names())}")
    options.tables = options.tables or ["linear", "solvers"]
    if options.quick:
        options.interpreted, options.repeats = True, 1
    return options


def _count(text: str) -> int:
    """A whole number from 1 on; argparse tells of any other text."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, got {text!r}")
    return number


def _task(options: Options, task: str, **more: Any) -> dict[str, Any]:
    how = {"quick": options.quick, "compile": not options.interpreted, "repeats": options.repeats}
    return {"task": task, **how, **more}


def _cases(options: Options, default: Sequence[str]) -> Iterator[str]:
    """Names of the cases that can be measured here; a line for every other."""
    for name in options.cases or default:
        reason = missing(CASES[name])
        if reason:
            print(f"{name} is left out: {reason}", file=sys.stderr)
        else:
            yield name


def _header(*titles: str) -> None:
    print(f"{titles[0]:22s}{titles[1]:>15s}" + "".join(f" {title:>10s}" for title in titles[2:]), flush=True)


def _print(label: str, second: str, cells: Sequence[Any]) -> None:
    texts = [f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in cells]
    print(f"{label:22s}{second:>15s}" + "".join(f" {text:>10s}" for text in texts), flush=True)


def _linear(options: Options) -> Iterator[Row]:
    """Each case at N, 2 N, 4 N intervals, by each linear solver; the growth of the time per iteration."""
    _header("problem", "linear solver", "intervals", "threads", "iterations", "factor.s", "factor", "solve", "evaluate",
            "ms/iter", "growth", "MB", "s")  # fmt: skip
    for name, threads in product(_cases(options, WALKS), options.threads):
        before: dict[str, float] = {}
        for factor in options.factors:
            ways = {s: {"solver": "ipopt", "options": {"linear_solver": s}} for s in options.linear_solvers}
            found = in_process(_task(options, "solve", case=name, factor=factor, ways=ways), threads, options.limit)
            if isinstance(found, str):
                _print(CASES[name].title, "", [f"{factor} N", threads, found])
                yield {"case": name, "factor": factor, "threads": threads, "error": found}
                continue
            for solver, r in found.items():
                each = float(r["per_iteration_ms"])
                growth = each / before[solver] if solver in before else ""
                cells = [f"{factor} N", threads, r["iterations"], r["factorizations"], r["factorization_ms"],
                         r["substitution_ms"], r["evaluation_ms"], each, growth, r["factor_MB"], r["seconds"]]  # fmt: skip
                _print(CASES[name].title, _used(solver, r), cells)
                before[solver] = each
                yield {"case": name, "factor": factor, "threads": threads, "asked": solver, **r}


def _used(asked: str, record: Record) -> str:
    """The linear solver that was used, marked if it is not the one asked for, or if it did not converge."""
    used = record["linear_solver"] or asked
    return used + ("" if used == asked else f" for {asked}") + ("" if record["converged"] else " !")


def _solvers(options: Options) -> Iterator[Row]:
    """Each small problem by every solver, one process each, since some do not end."""
    _header("problem", "solver", "iterations", "s", "ms/iter", "cost", "  status")
    ways = {f"ipopt {s}": {"solver": "ipopt", "options": {"linear_solver": s}} for s in options.linear_solvers}
    ways |= {name: way for name, way in WAYS.items() if name != "ipopt"}
    asked = options.only or list(ways)
    for name, label in product(_cases(options, SMALL), asked):
        way = ways.get(label) or WAYS.get(label) or {"solver": label, "options": {}}
        task = _task(options, "solve", case=name, ways={label: way})
        found = in_process(task, options.threads[0], options.limit)
        if isinstance(found, str):
            _print(CASES[name].title, label, ["", "", "", "", f"  {found}"])
            yield {"case": name, "solver": label, "error": found}
            continue
        r = found[label]
        seconds, each, cost = (float(r[key]) for key in ("seconds", "per_iteration_ms", "objective"))
        _print(CASES[name].title, label, [r["iterations"], seconds, each, f"{cost:.7g}", f"  {r['status']}"])
        yield {"case": name, "solver": label, **r}


def _same(options: Options) -> Iterator[Row]:
    """Cost and iterations of every problem by every linear solver; the first is compared with the last."""
    _header("problem", "", *(f"{s}" for s in options.linear_solvers), *("iterations" for _ in options.linear_solvers),
            "rel. diff.", "  status")  # fmt: skip
    rows: list[tuple[float, bool]] = []
    for name in options.only or names():
        ways = {s: {"solver": "ipopt", "options": {"linear_solver": s}} for s in options.linear_solvers}
        task = _task(options, "solve", case=name, ready=True, ways=ways) | {"repeats": 1}
        found = in_process(task, options.threads[-1], options.limit)
        if isinstance(found, str):
            _print(name, "", [found])
            yield {"case": name, "error": found}
            continue
        records = list(found.values())
        costs = [float(r["objective"]) for r in records]
        difference = abs(costs[0] - costs[-1]) / max(abs(costs[-1]), 1e-12)
        status = ", ".join(dict.fromkeys(r["status"] for r in records))
        cells = [*(f"{cost:.7g}" for cost in costs), *(r["iterations"] for r in records)]
        _print(name, "", [*cells, f"{difference:.1e}", f"  {status}"])
        counts = [int(r["iterations"]) for r in records]
        rows.append((difference, abs(counts[0] - counts[-1]) <= 0.1 * counts[-1]))
        yield {"case": name, "difference": difference, "records": found}
    close = sum(difference <= SAME for difference, _ in rows)
    alike = sum(alike for _, alike in rows)
    print(f"{close} of {len(rows)} costs within {SAME:g}, iterations within 10 %: {alike} of {len(rows)}")


def _neighbors(options: Options) -> Iterator[Row]:
    """The human at other speeds, from the solution at 1.2 m/s."""
    _header("linear solver", "speed", "iterations", "ms/iter", "s", "cost")
    for name in options.cases or (["human18"] if options.quick else ["human29"]):
        task = _task(options, "neighbors", case=name, linear_solvers=options.linear_solvers, speeds=SPEEDS)
        found = in_process(task, options.threads[-1], options.limit)
        if isinstance(found, str):
            _print(CASES[name].title, "", [found])
            yield {"case": name, "error": found}
            continue
        for label, r in found.items():
            solver, _, speed = label.partition(" ")
            cells = [r["iterations"], float(r["per_iteration_ms"]), float(r["seconds"]), f"{r['objective']:.7g}"]
            _print(_used(solver, r), f"{speed} m/s", cells)
            yield {"case": name, "linear_solver": solver, "speed": float(speed), **r}


def _gaits(options: Options) -> Iterator[Row]:
    """A library of gaits, from nothing."""
    _header("linear solver", "processes", "gaits", "converged", "iterations", "s")
    grid, model = (QUICK_GRID, "legs") if options.quick else (GRID, "human")
    for solver in options.linear_solvers:
        task = _task(options, "gaits", grid=grid, model=model, linear_solver=solver)
        processes = options.threads[-1]
        r = in_process(task | {"threads": processes}, 1, options.limit)
        if isinstance(r, str):
            _print(solver, str(processes), [r])
            yield {"linear_solver": solver, "error": r}
            continue
        _print(solver, str(processes), [r["gaits"], r["converged"], r["iterations"], float(r["seconds"])])
        yield {"linear_solver": solver, **r}


def _build(options: Options, empty: bool = False) -> Iterator[Row]:
    """Building of the human's problem; empty: with an empty cache of machine code, whose compilation is timed."""
    _header("problem", "cache", "first s", "cpu s", "again s", "cpu s", *(["compile s"] if empty else []))
    for name in options.cases or ["human18", *([] if options.quick else ["human29"])]:
        task = _task(options, "build", case=name) | {"compile": empty}
        runs = []
        for _ in range(1 if empty else options.repeats):
            with tempfile.TemporaryDirectory() as folder:
                cache = {"XDG_CACHE_HOME": folder} if empty else None
                runs.append(in_process(task, options.threads[-1], options.limit, cache))
        errors = [run for run in runs if isinstance(run, str)]
        if errors:
            _print(CASES[name].title, "", [errors[0]])
            yield {"case": name, "error": errors[0]}
            continue
        r = sorted(runs, key=lambda run: float(run["first_cpu_s"]))[len(runs) // 2]
        cells = [r["first_s"], r["first_cpu_s"], r["again_s"], r["again_cpu_s"], *([r["compile_s"]] if empty else [])]
        _print(CASES[name].title, "empty" if empty else "as it is", cells)
        yield {"case": name, **r}


def _compile(options: Options) -> Iterator[Row]:
    return _build(options, empty=True)


TITLES = {
    "linear": "linear solvers of IPOPT",
    "solvers": "solvers",
    "same": "the same optima",
    "neighbors": "another speed from a solution",
    "gaits": "a library of gaits",
    "build": "building a problem",
    "compile": "compiling its functions once",
}
TABLES: dict[str, Callable[[Options], Iterator[Row]]] = {
    "linear": _linear, "solvers": _solvers, "same": _same, "neighbors": _neighbors, "gaits": _gaits, "build": _build,
    "compile": _compile,
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
