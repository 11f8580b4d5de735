#!/usr/bin/env python3
"""Microseconds of the dynamics beside other libraries: the measurements of [F16] section 8, and two robots.

    python scripts/bench_dynamics.py [--json] [--plot FILE.png] [--quick] [--packing]

Columns: `machine`, our function on CasADi's virtual machine; `one`, as C, one state after the other; `lanes`, a
batch of 512, transposes and the call from Python included; `lane-major`, the same between arrays that stay in the
order of vectors; `distinct`, so without zeros and repeated entries; `single, distinct`, so in single precision, 16
states in a vector; `casadi C`, the function of the model as it is by CasADi's own generator, with -O2; `Pinocchio` in
C++ at its best, of two conventions the better; `Pinocchio, Python` and `MuJoCo` by their Python bindings, calls
included; `adam`, adam-robotics' functions on the virtual machine.

Everybody computes at the same random states, kinematics inside, on one thread, in double precision; figures are
medians of repetitions, in processor time of the thread. What differs: ours writes dense results, zeros included (but
`distinct`), Pinocchio's H is its upper triangle and its dFD leaves H^-1 as a triangle. A library that is not installed is left out,
with a line that says how to get it. Pinocchio's side is compiled once, which takes minutes.

--packing shows another table alone, in five minutes: code for one state whose isomorphic operations share vector
statements (the default of `compile`) beside plain code, by gcc and by clang. Columns: operations; statements that
compute them when packed; share of the operations in vectors; times, where the same function is called again and again,
and where ID, C, H, FD, G, gamma and FDc are called in turn, as in a controller, so that each finds the cache of
instructions full of others' code; size of the instructions; processor time of the compiler and of our writer of C.

Section 8 of [F16]: 1, a floating base of six joints or of one; 2, chains; 3, what contact dynamics need.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import ocp_dyn as od
from ocp_dyn.codegen.machine_code.toolchain import find_compiler
from scripts.bench import figures, others, ours, packing, packing_tables, pinocchio_cpp
from scripts.bench.figures import Rows
from scripts.bench.robots import Robot, emulated, packed_robots, robots, states

TABLE = ("ID", "C", "H", "FD", "G", "gamma", "FDc", "dID", "dFD", *figures.FIGURE_3, *figures.FIGURE_1)
QUICK = ("ID", "C", "G")
PACKED = ("ID", "C", "H", "FD", "dID", "dFD", "FDc", "G", "gamma")
COLUMNS = (
    *("instructions", "machine", "one", "lanes", *ours.LANE_MAJOR),
    *("casadi C", "Pinocchio", "Pinocchio, Python", "MuJoCo", "adam"),
)
RATIOS = ("one/Pinocchio", "Pinocchio/lanes", "Pinocchio/distinct", "one/casadi C")
CHAINS = (5, 10, 20, 35, 50, 75, 100)
LARGEST_INVERSE = 35
"""Dofs of the longest chain whose H^-1 is compiled: its code grows with their cube."""


class Bench:
    """Measurement of one robot by this library and by all others."""

    def __init__(self, peers: bool) -> None:
        self.peers = peers
        self.programs = pinocchio_cpp.programs() if peers else []
        self.missing: set[str] = set()

    def rows(self, robot: Robot, quantities: Iterable[str], others_too: bool = True) -> Rows:
        """All columns of a robot; others_too=False: only ours and Pinocchio's."""
        chosen = tuple(dict.fromkeys(quantities))
        drawn = states(robot.model)
        rows = ours.measure(robot, drawn, chosen, self.peers and others_too)
        columns = {"Pinocchio": pinocchio_cpp.measure(robot, drawn, self.programs)} if self.programs else {}
        if columns:  # Pinocchio's ABA is its forward dynamics
            columns["Pinocchio"]["FD_ABA"] = columns["Pinocchio"]["FD"]
        if self.peers and others_too:
            columns |= others.measure(robot, drawn, self.missing)
        for column, values in columns.items():
            for name in rows.keys() & values.keys():
                rows[name][column] = values[name]
        for row in rows.values():
            row |= _ratios(row)
        return rows


def _ratios(row: Mapping[str, float]) -> dict[str, float]:
    found = {}
    if "Pinocchio" in row and "one" in row:
        found = {"one/Pinocchio": row["one"] / row["Pinocchio"], "Pinocchio/lanes": row["Pinocchio"] / row["lanes"]}
        found["Pinocchio/distinct"] = row["Pinocchio"] / row["distinct"]
    if "casadi C" in row and "one" in row:
        found["one/casadi C"] = row["one"] / row["casadi C"]
    return found


def show(title: str, rows: Rows, published: Mapping[str, Mapping[str, float]] | None = None) -> None:
    """A table; published: columns of the paper."""
    used = [c for c in (*COLUMNS, *RATIOS) if any(c in r for r in rows.values())]
    paper = published or {}
    widths = [max(9, len(c) + 2) for c in (*used, *paper)]
    print(f"\n{title}\n{'':8s}" + "".join(f"{c:>{w}s}" for c, w in zip((*used, *paper), widths, strict=True)))
    for name, row in rows.items():
        cells = [row.get(c) for c in used] + [values.get(name) for values in paper.values()]
        print(f"{name:8s}" + "".join(f"{_cell(x):>{w}s}" for x, w in zip(cells, widths, strict=True)))


def _cell(x: float | None) -> str:
    return "-" if x is None else str(x) if isinstance(x, int) else f"{x:.3f}"


def picked(rows: Rows, quantities: Iterable[str]) -> Rows:
    return {name: rows[name] for name in quantities if name in rows}


def report(bench: Bench, quick: bool) -> tuple[dict[str, Any], dict[str, Rows], dict[int, Rows], Rows]:
    """Measures and prints; everything by name, and the rows of the three figures."""
    found = robots()
    if quick:
        found = dict([list(found.items())[-1]])
    tables = {name: bench.rows(robot, QUICK if quick else TABLE) for name, robot in found.items()}
    for name, rows in tables.items():
        show(f"{name}, {found[name].model.nv} dof", rows)
    name = "simple_humanoid" if "simple_humanoid" in found else next(iter(found))
    bases, humanoid = {}, tables[name]
    if not quick:
        six = bench.rows(emulated(found[name]), figures.FIGURE_1, others_too=False)
        bases = {"six joints": six, "one joint": picked(humanoid, figures.FIGURE_1)}
    for base, rows in bases.items():
        show(f"Figure 1: {name} on a base of {base}", rows, {"paper": figures.PAPER_1[base]})
    chains = {}
    for n in CHAINS[:1] if quick else CHAINS:
        wanted = figures.FIGURE_2 if n <= LARGEST_INVERSE else tuple(figures.FIGURE_2)[:2]
        chains[n] = bench.rows(Robot(od.models.chain(n)), wanted, others_too=False)
        show(f"Figure 2: chain of {n}", chains[n])
    show(f"Figure 3: {name}", picked(humanoid, figures.FIGURE_3), figures.PAPER_3)
    return {**tables, "figure 1": bases, "figure 2": chains}, bases, chains, picked(humanoid, figures.FIGURE_3)


def report_packing(quick: bool) -> tuple[dict[str, dict[str, Rows]], dict[str, int]]:
    """Measures and prints packed beside plain code; rows by robot and compiler, and dofs by robot."""
    found, compilers = packed_robots(), packing.compilers()
    if quick:
        found = {"human": found["human"]}
    programs = [] if quick else pinocchio_cpp.programs()
    table: dict[str, dict[str, Rows]] = {}
    for name, robot in found.items():
        table[name] = packing.measure(robot, QUICK if quick else PACKED, compilers)
        theirs = _theirs(robot, programs)
        for compiler, rows in table[name].items():
            for quantity in rows.keys() & theirs.keys():
                rows[quantity]["Pinocchio"] = theirs[quantity]
            print()
            for line in packing_tables.lines(name, robot.model.nv, compiler, rows):
                print(line, flush=True)
    missed = packing_tables.misses(table)
    print("\ngoals missed:", *(missed or ["none"]), sep="\n    ")
    return table, {name: robot.model.nv for name, robot in found.items()}


def _theirs(robot: Robot, programs: list[Path]) -> dict[str, float]:
    """Pinocchio's times of this robot; none of a robot with joints that the benchmark does not translate."""
    alike = robot if robot.axes is None else robot._replace(feet=())  # their contacts are those of two flat feet
    try:
        return pinocchio_cpp.measure(alike, states(robot.model), programs) if programs else {}
    except TypeError as error:
        print(f"Pinocchio is left out for {robot.model.name}: {error}", file=sys.stderr)
        return {}


def write_packing(page: Path, table: packing_tables.Table, dofs: Mapping[str, int]) -> None:
    """Replaces the tables between the lines <!-- packing --> and <!-- end of packing --> of a Markdown page."""
    from scripts.bench.evaluation_times import machine
    from scripts.bench_report import inserted

    missed = packing_tables.misses(table)
    lines = [
        f"Measured on {datetime.date.today().isoformat()}; {machine()}.",
        *packing_tables.markdown(table, dofs),
        "",
    ]
    lines += ["Goals missed: " + ("; ".join(missed) or "none") + "."]
    page.write_text(inserted(page.read_text(encoding="utf-8"), "packing", "\n".join(lines)), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object, the last line")
    parser.add_argument("--plot", metavar="FILE.png", type=Path, help="a figure of three panels like the paper's")
    parser.add_argument("--quick", action="store_true", help="a few quantities of ours alone, in seconds")
    parser.add_argument("--packing", action="store_true", help="packed beside plain code alone, by gcc and by clang")
    parser.add_argument(
        "--write", metavar="FILE.md", type=Path, help="write packing's tables between the marks of a page"
    )
    options = parser.parse_args()
    if options.packing:
        table, dofs = report_packing(options.quick)
        if options.plot:
            packing_tables.plot(options.plot, table)
        if options.write:
            write_packing(options.write, table, dofs)
        if options.json:
            print(json.dumps(table))
        return 0
    everything, bases, chains, humanoid = report(Bench(not options.quick), options.quick)
    compiler = find_compiler()
    where = f"{platform.machine()}, {compiler.name if compiler else 'no compiler'}"
    print(f"\nmicroseconds per state, medians, one thread; columns of the paper: [F16] on an i7-3770; here {where}")
    if options.plot:
        figures.plot(options.plot, bases, chains, humanoid, "Rigid-body dynamics after [F16], section 8")
    if options.json:
        print(json.dumps(everything))
    return 0


if __name__ == "__main__":
    sys.exit(main())
