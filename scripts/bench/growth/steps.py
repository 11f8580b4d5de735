"""Section `steps`: a walk of 10, 30, 100 steps from standing to standing, every step with phases of its own."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator

from ocp_dyn.ocp.workflows.attempt import prepare, starting_point
from problems import many_steps

from .section import Row, Section, apart, peak, plain

ITERATIONS = 5
"""Iterations of the solves whose time is measured: all cost the same, and the way to the solution does not count."""


def measure(steps: int, still: bool = True, iterations: int = ITERATIONS) -> Row:
    """Time of the build and of an iteration, and memory above that of the imports; of the first problem of a process.

    The body is the human with trunk and arms locked, unless `still` is False.
    """
    empty, begin = peak(), time.process_time()
    problem = many_steps.problem(steps, still=still)
    transcription, _ = prepare(problem)
    starting_point(transcription, None, None, {})
    built = time.process_time() - begin
    problem.solve(progress=False, threads=1, max_iterations=0)
    begin = time.process_time()
    solution = problem.solve(progress=False, threads=1, max_iterations=iterations)
    each = (time.process_time() - begin) / max(solution.stats["iterations"], 1)
    memory = peak() - empty
    figures = {"phases": len(problem.phases), "build s": built, "ms per iteration": 1e3 * each, "MB": memory}
    return Row("human18" if still else "human", steps, figures)


def _rows(options: argparse.Namespace) -> Iterator[Row]:
    for steps in options.steps:
        yield apart("scripts.bench.growth.steps", str(steps))


SECTION = Section(
    title="Longer motions",
    size="steps",
    columns={"phases": ".0f", "build s": ".2f", "ms per iteration": ".1f", "MB": ".0f"},
    plotted=("build s", "ms per iteration", "MB"),
    rows=_rows,
    arguments=lambda parser: parser.add_argument(
        "--steps", type=int, nargs="+", default=[10, 30, 100], help="numbers of steps (default 10 30 100)"
    ),
)  # fmt: skip

if __name__ == "__main__":
    print(json.dumps(plain([measure(int(sys.argv[1]))])))
