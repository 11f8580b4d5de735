"""Microseconds per state of batches, by layout of arrays and form of results.

    python -m scripts.bench.batches [--states 512] [--quantities ID C H FD FDc] [--precision double single]
        [--pinocchio]

Columns: `rows`, arrays with a state per row, dense results; `nonzeros` and `distinct`, rows with sparse results;
`lanes`, lane-major arguments and dense results; `lanes, nonzeros` and `lanes, distinct`, both; with `--pinocchio` that
library in C++, one state after the other, which is compiled once and takes minutes. Results are written to arrays that
exist (`out=`), on one thread; figures are medians of repetitions, in processor time of the thread. The robots are
TALOS, if example-robot-data is installed, and the human.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable

import ocp_dyn as od
from scripts.common import Table, command_line

from .dynamics import ours, pinocchio_cpp
from .dynamics.peers import measured
from .dynamics.robots import Robot, robot, states

COLUMNS = {
    "rows": ("rows", False), "nonzeros": ("rows", True), "distinct": ("rows", "distinct"),
    "lanes": ("lanes", False), "lanes, nonzeros": ("lanes", True), "lanes, distinct": ("lanes", "distinct"),
}  # fmt: skip
"""Layout of the arrays and form of the results by column."""


def robots() -> dict[str, Robot | None]:
    return {"TALOS": robot("talos_reduced"), "human": robot("human")}


def measure(robot: Robot, quantities: Iterable[str], count: int, precision: str) -> dict[str, dict[str, float]]:
    """Microseconds per state by quantity and column."""
    drawn = states(robot.model, count)
    functions = ours.functions(robot, tuple(quantities))
    rows: dict[str, dict[str, float]] = {name: {} for name in functions}
    for column, (layout, sparse) in COLUMNS.items():
        fast = od.codegen.compile(
            functions.values(), layout=layout, sparse=sparse, precision=precision, threads=1, single=False
        )
        for name in functions:
            rows[name][column] = ours.batch(fast[name], drawn)
    return rows


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--states", type=int, default=512, help="states of a batch")
    parser.add_argument(
        "--quantities", nargs="+", default=["ID", "C", "H", "FD", "FDc"], choices=[*ours.FREE, *ours.CONTACT]
    )
    parser.add_argument("--precision", nargs="+", default=["double", "single"], choices=["double", "single"])
    parser.add_argument("--pinocchio", action="store_true", help="a column of Pinocchio in C++")
    options = parser.parse_args()
    peers = {"Pinocchio": pinocchio_cpp.measure} if options.pinocchio else {}
    for (title, made), precision in itertools.product(robots().items(), options.precision):
        if made is None:
            continue
        peer = measured(peers, made, states(made.model))
        print(
            f"\n{title}, {made.model.nv} dofs, {options.states} states, {precision} precision, microseconds per state"
        )
        table = Table({"": "<8s"} | dict.fromkeys((*COLUMNS, *peer), "17.4f"))
        for name, row in measure(made, options.quantities, options.states, precision).items():
            table.row(name, *row.values(), *(column.get(name) for column in peer.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
