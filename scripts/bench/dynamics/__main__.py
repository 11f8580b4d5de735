"""Microseconds of the dynamics of robots beside other libraries.

    python -m scripts.bench.dynamics [--json] [--quick]

Columns: `machine`, our function on CasADi's virtual machine; `one`, as C, one state after the other; `lanes`, a
batch of 512, transposes and the call from Python included (python -m scripts.bench.batches has its other layouts);
`casadi C`, the function of the model as it is by CasADi's own generator, with -O2; `Pinocchio` in C++ at its best, of
two conventions the better; `Pinocchio, Python` and `MuJoCo` by their Python bindings, calls included; `adam`,
adam-robotics' functions on the virtual machine.

Everybody computes at the same random states, kinematics inside, on one thread, in double precision; figures are medians
of repetitions, in processor time of the thread. What differs: ours writes dense results, zeros included,
Pinocchio's H is its upper triangle and its dFD leaves H^-1 as a triangle. A library that is not installed
is left out, with a line that says how to get it. Pinocchio's side is compiled once, which takes minutes.
"""

from __future__ import annotations

import json
import sys

from ocp_dyn.native.toolchain import find_compiler
from scripts.common import Table, command_line, machine

from .columns import COLUMNS, RATIOS, Rows, rows
from .robots import robot

ROBOTS = ("talos_reduced", "simple_humanoid")
TABLE = ("ID", "C", "H", "FD", "G", "gamma", "FDc", "dID", "dFD")
QUICK = ("ID", "C", "G")


def show(found: Rows) -> None:
    """Prints a table."""
    used = [c for c in (*COLUMNS, *(f"{a}/{b}" for a, b in RATIOS)) if any(c in row for row in found.values())]
    table = Table({"": "<8s"} | {c: "9d" if c == "instructions" else "9.3f" for c in used})
    for name, row in found.items():
        table.row(name, *(row.get(c) for c in used))


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object, the last line")
    parser.add_argument("--quick", action="store_true", help="a few quantities of ours alone, in seconds")
    options = parser.parse_args()
    robots = {name: made for name in ROBOTS if (made := robot(name))} or {"human": robot("human")}
    tables = {}
    for name, made in list(robots.items())[-1:] if options.quick else robots.items():
        print(f"\n{name}, {made.model.nv} dofs")
        tables[name] = rows(made, QUICK if options.quick else TABLE, peers=not options.quick)
        show(tables[name])
    compiler = find_compiler()
    print(f"\nmicroseconds per state, medians, one thread; {machine()}, {compiler.name if compiler else 'no compiler'}")
    if options.json:
        print(json.dumps(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
