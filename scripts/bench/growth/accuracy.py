"""Section `accuracy`: grids refined until all intervals err by no more than an accuracy, beside the coarse solve."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from .grid import CASES
from .section import Row, Section


def measure(name: str, accuracy: float, threads: int = 1) -> Row:
    """The row of a case at an accuracy [rad, m]; processor time of building and solving with kept tables, by that of
    the coarse solve alone."""
    seconds = []
    solution = None
    for asked in (None, None, accuracy, accuracy):  # the first one of each fills the caches of tables
        problem = CASES[name](1)
        begin = time.process_time()
        solution = problem.solve(progress=False, threads=threads, accuracy=asked)
        seconds.append(time.process_time() - begin)
    assert solution is not None
    told = solution.refinement
    figures = {
        "first intervals": float(sum(told.rounds[0].intervals)),
        "last intervals": float(sum(told.rounds[-1].intervals)),
        "grids": float(len(told.rounds)),
        "first error": float(told.rounds[0].error.max()),
        "last error": float(told.rounds[-1].error.max()),
        "iterations": float(told.rounds[0].iterations),
        "more iterations": float(sum(one.iterations for one in told.rounds[1:])),
        "coarse s": seconds[1],
        "s": seconds[3],
        "ratio": seconds[3] / seconds[1],
    }
    return Row(f"{name}, {told.rounds[-1].integrator}", 1 / accuracy, figures, "" if told.reached else told.verdict)


def _rows(options: argparse.Namespace) -> Iterator[Row]:
    for name in options.cases or ("human",):
        for accuracy in options.accuracies:
            yield measure(name, accuracy)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--accuracies", nargs="+", type=float, default=[1e-4, 1e-5, 1e-6], metavar="RAD")


SECTION = Section(
    title="Refinement of the grid to an accuracy",
    size="1 / accuracy",
    columns={
        "first intervals": ".0f", "last intervals": ".0f", "grids": ".0f", "first error": ".1e", "last error": ".1e",
        "iterations": ".0f", "more iterations": ".0f", "coarse s": ".2f", "s": ".2f", "ratio": ".2f",
    },
    plotted=("last intervals", "s"),
    rows=_rows,
    arguments=_arguments,
)  # fmt: skip
