#!/usr/bin/env python3
"""Microseconds per state of batches, by layout of arrays and form of results.

    python scripts/bench_batches.py [--states 512] [--quantities ID C H FD FDc] [--precision double single]
        [--pinocchio]

Columns: `rows`, arrays with a state per row, dense results; `nonzeros` and `distinct`, rows with sparse results; `lanes`,
lane-major arguments and dense results; `lanes, nonzeros` and `lanes, distinct`, both; with `--pinocchio` that library in
C++, one state after the other, which is compiled once and takes minutes. Results are written to arrays that exist (`out=`), on one thread; figures are medians of repetitions,
in processor time of the thread. The robots are TALOS, if example-robot-data is installed, and the human.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import ocp_dyn as od
from ocp_dyn.codegen import Lanes
from scripts.bench import ours, pinocchio_cpp
from scripts.bench.robots import FEET, Array, Robot, states, urdf
from scripts.bench.timing import microseconds

FORMS = {False: "", True: "nonzeros", "distinct": "distinct"}
COLUMNS = tuple(
    ", ".join(filter(None, (layout if layout == "lanes" or not form else "", form)))
    for layout, form in itertools.product(("rows", "lanes"), FORMS.values())
)


def robots() -> dict[str, Robot]:
    path = urdf("talos_reduced")
    talos = {"TALOS": Robot(od.load_urdf(path, od.FloatingBase()), FEET["talos_reduced"])} if path else {}
    return talos | {"human": Robot(od.models.human(), ("sole_l", "sole_r"))}


def measure(robot: Robot, quantities: Iterable[str], count: int, precision: str) -> dict[str, dict[str, float]]:
    """Microseconds per state by quantity and column."""
    drawn = states(robot.model, count)
    functions = ours.functions(robot, tuple(quantities))
    rows: dict[str, dict[str, float]] = {name: {} for name in functions}
    for column, (layout, sparse) in zip(COLUMNS, itertools.product(("rows", "lanes"), FORMS), strict=True):
        fast = od.codegen.compile(
            functions.values(), layout=layout, sparse=sparse, precision=precision, threads=1, single=False
        )
        for name in functions:
            rows[name][column] = _one(fast[name], drawn, count)
    return rows


def _one(f: od.codegen.CompiledFunction, drawn: dict[str, Array], count: int) -> float:
    inputs = [np.ascontiguousarray(drawn[name], f.dtype) for name in f.name_in]
    if f.layout == "rows":
        return microseconds(f.runner(inputs, [np.zeros((count, *shape), f.dtype) for shape in f.shape_out]), count)
    outputs = [Lanes.empty(count, shape, f.lanes, f.dtype) for shape in f.shape_out]
    return microseconds(f.runner([Lanes.of(x) for x in inputs], outputs), count)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=512, help="states of a batch")
    parser.add_argument(
        "--quantities", nargs="+", default=["ID", "C", "H", "FD", "FDc"], choices=[*ours.FREE, *ours.CONTACT]
    )
    parser.add_argument("--precision", nargs="+", default=["double", "single"], choices=["double", "single"])
    parser.add_argument("--pinocchio", action="store_true", help="a column of Pinocchio in C++")
    options = parser.parse_args()
    programs = pinocchio_cpp.programs() if options.pinocchio else []
    for title, robot in robots().items():
        try:
            peer = pinocchio_cpp.measure(robot, states(robot.model), programs) if programs else {}
        except TypeError as error:  # a joint that the benchmark does not translate
            print(f"Pinocchio is left out: {error}", file=sys.stderr)
            peer = {}
        for precision in options.precision:
            print(f"\n{title}, {robot.model.nv} dof, {options.states} states, {precision} precision")
            heads = (*COLUMNS, *(["Pinocchio"] if peer else []))
            print(f"{'':8s}" + "".join(f"{head:>17s}" for head in heads))
            for name, row in measure(robot, options.quantities, options.states, precision).items():
                cells = [*row.values(), *([peer[name]] if name in peer else [])]
                print(f"{name:8s}" + "".join(f"{x:17.4f}" for x in cells), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
