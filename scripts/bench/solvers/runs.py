"""Runs of solvers, and what IPOPT tells about the time of its linear algebra.

`python -m scripts.bench.solvers.runs TASK`, a JSON object, prints the records of its ways.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .cases import CASES

Record = dict[str, Any]
"""Figures of one solve: status, iterations, seconds, objective; from IPOPT also ms of its parts."""

TIMED = {
    "solving": "StdAugSystemSolverMultiSolve", "structure": "LinearSystemSymbolicFactorization",
    "substitution": "LinearSystemBackSolve", "evaluation": "Function Evaluations", "in all": "OverallAlgorithm",
}  # fmt: skip
"""Lines of IPOPT's timing statistics."""

STATISTICS = {"print_timing_statistics": "yes", "file_print_level": 6}
"""Options that make IPOPT write its statistics, and a line for each factorization by MUMPS."""

ENTRIES = re.compile(r"doubles for MUMPS to hold factorization \(INFO\(9\)\) = (\d+)")
TRIALS = re.compile(r"Number of trial factorizations performed: (\d+)")


def linear_algebra(text: str, figures: Mapping[str, Any]) -> Record:
    """Number of factorizations, and ms per factorization (assembly and scaling included), per solve with the factors,
    and of all evaluations, from what IPOPT wrote; `figures`: those of the block LDL solver, which counts itself.

    IPOPT times every linear solver from outside and alike. It has no line for factorizations by MUMPS, so their time is
    the difference of all and of the lines for structure and substitution.
    """
    found = {name: _wall(text, line) for name, line in TIMED.items()}
    sizes = [int(size) for size in ENTRIES.findall(text)]
    count = int(figures.get("factorizations", 0)) or len(sizes) or 1 + sum(map(int, TRIALS.findall(text)))
    factoring = max(found["solving"] - found["structure"] - found["substitution"], 0.0)
    entries = figures.get("factor_entries", 0) or max(sizes, default=0)
    return {
        "factorizations": count,
        "factorization_ms": 1e3 * factoring / max(count, 1),
        "substitution_ms": 1e3 * found["substitution"] / max(count, 1),
        "structure_ms": 1e3 * found["structure"],
        "evaluation_s": found["evaluation"],
        "factor_MB": 8e-6 * float(entries),
    }


def _wall(text: str, line: str) -> float:
    match = re.search(rf"^ *{re.escape(line)}\.*: .*wall: *([\d.]+)\)", text, re.MULTILINE)
    return float(match.group(1)) if match else 0.0


def solved(problem: Any, solver: str, options: Mapping[str, Any], threads: int) -> Record:
    """The record of a problem's solution."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ipopt.txt"
        write = STATISTICS | {"output_file": str(file)} if solver == "ipopt" else {}
        solution = problem.solve(solver=solver, progress=False, threads=threads, **write, **options)
        text = file.read_text() if file.exists() else ""
    stats = solution.stats
    record = {
        "status": solution.status, "converged": solution.converged, "iterations": stats["iterations"],
        "seconds": stats["solve_seconds"], "objective": solution.objective, "infeasibility": stats["infeasibility"],
        "linear_solver": stats.get("linear_solver", "mumps") if solver == "ipopt" else "",
    }  # fmt: skip
    each = 1e3 / max(record["iterations"], 1)
    record["per_iteration_ms"] = each * record["seconds"]
    if text:
        record |= linear_algebra(text, stats.get("linear_solver_figures", {}))
        record["evaluation_ms"] = each * record.pop("evaluation_s")
    return record


def median(records: Sequence[Record]) -> Record:
    """The record of the repeat whose seconds are the median: its figures belong together."""
    return sorted(records, key=lambda record: record["seconds"])[len(records) // 2]


def solve(task: Mapping[str, Any]) -> dict[str, Record]:
    """The median record of each way to solve a problem, which is built once: the ways take turns."""
    problem = CASES[task["case"]].make(task.get("factor", 1), task["quick"])
    records: dict[str, list[Record]] = {name: [] for name in task["ways"]}
    for _ in range(task["repeats"]):
        for name, way in task["ways"].items():
            records[name].append(solved(problem, way["solver"], way["options"], task["threads"]))
    return {name: median(found) for name, found in records.items()}


if __name__ == "__main__":
    print(json.dumps(solve(json.loads(sys.argv[1]))))
