#!/usr/bin/env python3
"""Build times of walks, and memory: from the statement of the problem to the start of the solver.

    python scripts/bench_build.py [--urdf FILE --left-foot L --right-foot R] [--repeats 3] [--intervals 30 120]

Every case runs in processes of its own: `first` with an empty cache, `cached` with what the first left there, `next` is
another problem in the process of `first`, at another speed; all are processor time, which does not wait for other
programs. `tables` is the time that compile=True takes after `first`: the library of tapes, and the tapes of all functions.
Medians of the repeats; the peak is of the whole process, imports included.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SHARES = (0.13, 0.1, 0.53)
"""Shares of the intervals on the first three phases of the human's step."""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--urdf", help="also build the walk of this humanoid")
    arguments.add_argument("--left-foot", default="left_sole_link", help="frame of its left sole")
    arguments.add_argument("--right-foot", default="right_sole_link", help="frame of its right sole")
    arguments.add_argument("--repeats", type=int, default=3, help="runs of every case (default 3)")
    arguments.add_argument(
        "--intervals", type=int, nargs="+", default=[30, 120], help="numbers of intervals (default 30 120)"
    )
    arguments.add_argument("--case", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.case:
        print(json.dumps(_measure(options.case, options.intervals[0], options)))
        return 0
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    )
    print(
        f"{'problem':18s} {'intervals':>9s} {'first s':>8s} {'tables s':>8s} {'cached s':>8s} {'next s':>8s} {'peak MB':>8s}"
    )
    for case in ["human 18 dof", "human 29 dof", *(["robot"] if options.urdf else [])]:
        for intervals in options.intervals:
            runs = [_run(case, intervals) for _ in range(options.repeats)]
            row = [statistics.median(run[k] for run in runs) for k in range(5)]
            seconds = " ".join(f"{value:8.2f}" for value in row[:4])
            print(f"{case:18s} {intervals:9d} {seconds} {row[4]:8.0f}", flush=True)
    return 0


def _run(case: str, intervals: int) -> tuple[float, ...]:
    """Times `first`, `tables`, `cached` and `next` [s], and the peak of memory [MB]."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, *sys.argv[1:], "--case", case, "--intervals", str(intervals)]
        environment = os.environ | {"XDG_CACHE_HOME": cache, "PYTHONPATH": str(ROOT)}
        first, again = (
            json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
            for _ in range(2)
        )
    return first["first"], first["first tables"], again["first"], first["next"], first["peak"]


def _measure(case: str, intervals: int, options: argparse.Namespace) -> dict[str, float]:
    from ocp_dyn.ocp.nlp.machine_code import SOLVED_WITH, use_machine_code
    from ocp_dyn.ocp.workflows.solve import prepare, starting_point

    seconds = {}
    robot = _robot(options) if case == "robot" else None
    for name, faster in (("first", 0.0), ("next", 0.1)):
        begin = time.process_time()
        t, program = prepare(_problem(case, intervals, robot, faster))
        starting_point(t, None, None, {})
        built = time.process_time()
        use_machine_code(program, True, lambda text: None, SOLVED_WITH["exact"])
        seconds |= {name: built - begin, f"{name} tables": time.process_time() - built}
    return seconds | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _robot(options: argparse.Namespace) -> Any:
    from problems import robot_walk

    return robot_walk.load(options.urdf, options.left_foot, options.right_foot)


def _problem(case: str, intervals: int, robot: Any, faster: float) -> Any:
    from problems import human_walk, robot_walk

    if robot is not None:
        double = round(0.27 * intervals)
        return robot_walk.problem(0.5 + faster, robot, intervals=(double, intervals - double))
    counts = [max(2, round(share * intervals)) for share in SHARES]
    return human_walk.problem(1.2 + faster, intervals=(*counts, intervals - sum(counts)), still=case == "human 18 dof")


if __name__ == "__main__":
    sys.exit(main())
