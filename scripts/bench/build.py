"""Build times of the human's walk, and memory: from the statement of the problem to the start of the solver.

    python -m scripts.bench.build [--repeats 3] [--intervals 30 120] [--operations]

Every case runs in processes of its own: `first` with an empty cache, `cached` with what the first left there, `next` is
another problem in the process of `first`, at another speed; all are processor time, which does not wait for other
programs. `tables` is the time that all tables take after `first`.
Medians of the repeats; the peak is of the whole process, imports included. --operations: in place of times, the
operations of values, first and second derivatives of every kind of block of the human with 29 dofs.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import tempfile
import time

from scripts.common import Table, command_line, in_process, machine

SHARES = (0.13, 0.1, 0.53)
"""Shares of the intervals on the first three phases of the human's step."""
CASES = {"human, 18 dofs": True, "human, 29 dofs": False}
"""Whether arms and head are still."""


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="runs of every case (default 3)")
    parser.add_argument(
        "--intervals", type=int, nargs="+", default=[30, 120], help="numbers of intervals (default 30 120)"
    )
    parser.add_argument("--operations", action="store_true", help="operations of the blocks, in place of times")
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(measure(options.case, options.intervals[0])))
        return 0
    if options.operations:
        operations()
        return 0
    print(f"{machine()}, medians of {options.repeats}")
    columns = dict.fromkeys(("first s", "tables s", "cached s", "next s"), "10.2f")
    table = Table({"problem": "<16s", "intervals": "9d"} | columns | {"peak MB": "9.0f"})
    for case in CASES:
        for intervals in options.intervals:
            runs = [_run(case, intervals) for _ in range(options.repeats)]
            table.row(case, intervals, *(statistics.median(figures) for figures in zip(*runs, strict=True)))
    return 0


def operations() -> None:
    """Prints the operations of all kinds of blocks, and of all instances together."""
    from ocp_dyn.ocp.workflows.attempt import prepare
    from problems import human_walk

    levels = ("values", "first", "second")
    table = Table({"block": "<40s", "instances": "9d"} | dict.fromkeys(levels, "10,"))
    total = dict.fromkeys(levels, 0)
    for block in prepare(human_walk.problem())[1].blocks:
        count = len(block.instances)
        each = {level: block.derivatives.size(level) for level in levels}
        total = {level: total[level] + count * each[level] for level in levels}
        table.row(block.name, count, *each.values())
    table.row("all", 1, *total.values())


def _run(case: str, intervals: int) -> tuple[float, ...]:
    """Times `first`, `tables`, `cached` and `next` [s], and the peak of memory [MB]."""
    with tempfile.TemporaryDirectory() as cache:
        found = []
        for _ in range(2):
            arguments = ["--case", case, "--intervals", str(intervals)]
            lines, fault = in_process("scripts.bench.build", arguments, XDG_CACHE_HOME=cache)
            if fault:
                raise SystemExit(f"{case}: {fault}")
            found.append(json.loads(lines[-1]))
    first, again = found
    return first["first"], first["first tables"], again["first"], first["next"], first["peak"]


def measure(case: str, intervals: int) -> dict[str, float]:
    """Seconds of a problem and of the next one in this process, and of their tables; the peak."""
    from ocp_dyn.native.libraries import TABLES
    from ocp_dyn.ocp.nlp.function_tables import SOLVED_WITH, use_tables
    from ocp_dyn.ocp.workflows.attempt import prepare, starting_point
    from problems import human_walk

    counts = [max(2, round(share * intervals)) for share in SHARES]
    counts.append(intervals - sum(counts))
    seconds = {}
    for name, speed in (("first", 1.2), ("next", 1.3)):
        begin = time.process_time()
        t, program = prepare(human_walk.problem(speed, intervals=tuple(counts), still=CASES[case]))
        starting_point(t, None, None, {})
        built = time.process_time()
        TABLES.obtain(wait=True)
        use_tables(program, lambda text: None, SOLVED_WITH["exact"], complete=True)
        seconds |= {name: built - begin, f"{name} tables": time.process_time() - built}
    return seconds | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


if __name__ == "__main__":
    sys.exit(main())
