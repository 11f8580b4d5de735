"""Linear solvers of IPOPT and other solvers, side by side: iterations, factorizations, evaluations, totals.

    python -m scripts.bench.solvers [TABLE ...] [--quick] [--cases five-link human18 human29 talos trot]
        [--linear-solvers block_ldl mumps] [--threads 1 2] [--factors 1 2 4] [--repeats 3] [--limit 600]
        [--only NAME ...] [--json FILE]

Tables: `linear` (time of a factorization and its parts, at N, 2 N and 4 N intervals) and `solvers` (IPOPT, SQP, and
those of CasADi's plugins that `--only` names). Without names: both. `--quick` takes coarse grids and solves once: every
table ends within minutes, and times are no measure.

Each problem is solved in a process of its own, which its number of threads is told to; the linear solvers take turns
there, so that whatever else runs on the machine counts for both. Figures are those
of the repeat of median time. IPOPT times the linear solvers: `factor` is the time of a factorization with the assembly
of its matrix, `solve` the time of the substitutions that follow it, `evaluate` all function evaluations of an
iteration, each in ms; `MB` is the size of the factor.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from ocp_dyn.ocp.solvers.by_name import check_options
from scripts.common import Table, command_line, in_process, machine

from .cases import CASES, SMALL, WALKS, missing
from .runs import Record

Options = argparse.Namespace
Row = dict[str, Any]


def main() -> int:
    options = _options()
    options.linear_solvers = list(_at_hand(options.linear_solvers))
    if not options.linear_solvers:
        return 2
    print(f"{machine()}, median of {options.repeats}{', coarse grids' if options.quick else ''}")
    found = {}
    for table in options.tables:
        title, rows = TABLES[table]
        print(f"\n{table}: {title}")
        found[table] = list(rows(options))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    return 0


def _options() -> Options:
    parser = command_line(__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"tables: {', '.join(TABLES)}")
    parser.add_argument("--quick", action="store_true", help="coarse grids, one solve each")
    parser.add_argument("--cases", nargs="+", choices=CASES, help="problems of linear and solvers")
    parser.add_argument("--linear-solvers", nargs="+", default=["block_ldl", "mumps"], help="default: block_ldl mumps")
    parser.add_argument("--threads", type=_count, nargs="+", default=[1, 2], help="numbers of threads (default 1 2)")
    parser.add_argument("--factors", type=_count, nargs="+", default=[1, 2, 4], help="multiples of N (default 1 2 4)")
    parser.add_argument("--repeats", type=_count, default=3, help="solves of everything (default 3)")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one process (default 600)")
    parser.add_argument("--only", nargs="+", help="solvers of `solvers`")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    options = parser.parse_args()
    for table in options.tables:
        if table not in TABLES:
            parser.error(f"there is no table {table!r}: choose from {', '.join(TABLES)}")
    options.tables = options.tables or list(TABLES)
    options.repeats = 1 if options.quick else options.repeats
    return options


def _count(text: str) -> int:
    """A whole number from 1 on; argparse tells of any other text."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, got {text!r}")
    return number


def _at_hand(asked: Sequence[str]) -> Iterator[str]:
    """The linear solvers of IPOPT that this installation has; a line for every other."""
    for name in asked:
        try:
            check_options("ipopt", {"linear_solver": name})
            yield name
        except (ValueError, RuntimeError) as error:
            print(f"{name} is left out: {str(error).splitlines()[0]}", file=sys.stderr)


def _cases(options: Options, default: Sequence[str]) -> Iterator[str]:
    """Names of the cases that can be measured here; a line for every other."""
    for name in options.cases or default:
        if reason := missing(CASES[name]):
            print(f"{name} is left out: {reason}", file=sys.stderr)
        else:
            yield name


def _records(options: Options, name: str, threads: int, **task: Any) -> dict[str, Record] | str:
    """Records of the ways of a task, solved in a process of its own; the reason, if there are none."""
    task |= {"case": name, "quick": options.quick, "repeats": options.repeats, "threads": threads}
    variables = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    lines, fault = in_process("scripts.bench.solvers.runs", [json.dumps(task)], options.limit, **variables)
    return fault or json.loads(lines[-1])


def _ipopt(options: Options) -> dict[str, Row]:
    """IPOPT by each linear solver."""
    return {s: {"solver": "ipopt", "options": {"linear_solver": s}} for s in options.linear_solvers}


OF_LINEAR = {"problem": "<20s", "linear solver": "22s", "grid": "6s", "threads": "9d", "iterations": "12d",
             "factor.s": "10d", "factor": "8.3f", "solve": "8.3f", "evaluate": "10.3f", "ms/iter": "9.2f",
             "growth": "8.2f", "MB": "8.2f", "s": "8.2f"}  # fmt: skip
TOLD = ("iterations", "factorizations", "factorization_ms", "substitution_ms", "evaluation_ms", "per_iteration_ms")


def _linear(options: Options) -> Iterator[Row]:
    """Each case at N, 2 N, 4 N intervals, by each linear solver; the growth of the time per iteration."""
    table = Table(OF_LINEAR)
    for name, threads in product(_cases(options, WALKS), options.threads):
        before: dict[str, float] = {}
        for factor in options.factors:
            at, grid = {"case": name, "factor": factor, "threads": threads}, f"{factor} N"
            found = _records(options, name, threads, factor=factor, ways=_ipopt(options))
            if isinstance(found, str):
                table.row(CASES[name].title, "", grid, threads, after=found)
                yield at | {"error": found}
                continue
            for solver, r in found.items():
                each = r["per_iteration_ms"]
                growth = each / before[solver] if solver in before else None
                table.row(CASES[name].title, _used(solver, r), grid, threads, *(r[key] for key in TOLD), growth,
                          r["factor_MB"], r["seconds"])  # fmt: skip
                before[solver] = each
                yield at | {"asked": solver, **r}


def _used(asked: str, record: Record) -> str:
    """The linear solver that was used, marked if it is not the one asked for, or if it did not converge."""
    used = record["linear_solver"] or asked
    return used + ("" if used == asked else f" for {asked}") + ("" if record["converged"] else " !")


OF_SOLVERS = {"problem": "<20s", "solver": "20s", "iterations": "12d", "s": "9.3f", "ms/iter": "9.2f", "cost": "12.7g"}


def _solvers(options: Options) -> Iterator[Row]:
    """Each small problem by every solver, one process each, since some do not end."""
    table = Table(OF_SOLVERS)
    ways = {f"ipopt {s}": way for s, way in _ipopt(options).items()} | {"sqp": {"solver": "sqp", "options": {}}}
    for name, label in product(_cases(options, SMALL), options.only or list(ways)):
        way = ways.get(label) or {"solver": label, "options": {}}
        found = _records(options, name, options.threads[0], ways={label: way})
        if isinstance(found, str):
            table.row(CASES[name].title, label, after=found)
            yield {"case": name, "solver": label, "error": found}
            continue
        r = found[label]
        table.row(CASES[name].title, label, r["iterations"], r["seconds"], r["per_iteration_ms"], r["objective"],
                  after=r["status"])  # fmt: skip
        yield {"case": name, "solver": label, **r}


TABLES: dict[str, tuple[str, Callable[[Options], Iterator[Row]]]] = {
    "linear": ("linear solvers of IPOPT; factor, solve and evaluate in ms", _linear),
    "solvers": ("solvers", _solvers),
}


if __name__ == "__main__":
    sys.exit(main())
