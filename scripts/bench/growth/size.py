"""Section `size`: Functions of larger mechanisms, up to 400 dofs: time to make them, operations, one evaluation."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import ocp_dyn as od

from .crowd import carriers
from .section import Row, Section, apart, peak, plain


def truck_fleet(trucks: int) -> tuple[od.Model, od.ConstraintSet]:
    """Heavy trucks beside each other, 48 coordinates and 39 rows of loops each."""
    one = od.models.heavy_truck()
    model, held = one.model, []
    for k in range(1, trucks):
        model = model.attach(one.model, "world", prefix=f"truck{k}_")
    for k in range(trucks):
        prefix = f"truck{k}_" if k else ""
        held += [od.Loop(prefix + loop.predecessor, prefix + loop.successor, loop.axes, loop.predecessor_pose,
                         loop.successor_pose) for loop in one.loops]  # fmt: skip
    return model, od.ConstraintSet(held)


ALGORITHMS = {"ID": od.inverse_dynamics, "FD": od.forward_dynamics, "H": od.mass_matrix}
CASES: dict[str, tuple[Callable[[int], Any], tuple[int, ...]]] = {
    **{
        f"{name}, {kind}": (lambda n, a=a, b=b: od.function(a, od.models.chain(n, b)), (50, 100, 200, 400))
        for kind, b in (("chain", 1.0), ("tree", 2.0)) for name, a in ALGORITHMS.items()
    },
    "dFD, chain": (lambda n: od.function(od.forward_dynamics_derivatives, od.models.chain(n)), (25, 50, 100, 200)),
    "FDc, people": (lambda n: od.function(od.constrained_dynamics, *carriers(n)[:2]), (1, 2, 5, 13)),
    "FDc, trucks": (lambda n: od.function(od.constrained_dynamics, *truck_fleet(n)), (1, 2, 4, 8)),
}  # fmt: skip
"""Cases by name: what makes a Function, and the sizes: links, people of 29 dofs who carry a beam of 6, trucks of 48."""


def measure(case: str, size: int) -> Row:
    """The row of a case: making of its model and Function, and the least time of twenty evaluations."""
    empty, begin = peak(), time.process_time()
    f = CASES[case][0](size)
    made = time.process_time() - begin
    rng = np.random.default_rng(0)
    x = [rng.uniform(-0.5, 0.5, f.size1_in(k)) for k in range(f.n_in())]
    times = []
    for _ in range(20):
        begin = time.process_time()
        f(*x)
        times.append(time.process_time() - begin)
    figures = {"operations": f.n_instructions(), "made s": made, "ms per call": 1e3 * min(times), "MB": peak() - empty}
    return Row(case, f.size1_in(1 if f.n_in() > 1 else 0), figures)


def _rows(options: argparse.Namespace) -> Iterator[Row]:
    for case in options.mechanisms or CASES:
        for size in CASES[case][1][: options.sizes]:
            yield apart("scripts.bench.growth.size", case, str(size))


def _arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("size")
    group.add_argument("--mechanisms", nargs="+", choices=CASES, help="default: all")
    group.add_argument("--sizes", type=int, default=4, help="how many sizes of each, the smallest first (default 4)")


SECTION = Section(
    title="Larger mechanisms",
    size="dofs",
    columns={"operations": ".0f", "made s": ".2f", "ms per call": ".3f", "MB": ".0f"},
    plotted=("operations", "made s", "ms per call"),
    rows=_rows,
    arguments=_arguments,
)


if __name__ == "__main__":
    print(json.dumps(plain([measure(sys.argv[1], int(sys.argv[2]))])))
