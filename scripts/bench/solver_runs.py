"""Runs of solvers in processes of their own, and what IPOPT tells about the time of its linear algebra."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
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
    and of all evaluations, from what IPOPT wrote; `figures`: those of the chain solver, which counts itself.

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


def solved(problem: Any, solver: str, options: Mapping[str, Any], **given: Any) -> tuple[Any, Record]:
    """The solution of a problem, and its record."""
    ours = {"solver": solver, "progress": False, **given}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ipopt.txt"
        write = STATISTICS | {"output_file": str(file)} if solver == "ipopt" else {}
        cpu = time.process_time()
        solution = problem.solve(**ours, **write, **options)
        cpu = time.process_time() - cpu
        text = file.read_text() if file.exists() else ""
    stats = solution.stats
    record = {
        "status": solution.status,
        "converged": solution.converged,
        "iterations": stats["iterations"],
        "seconds": stats["solve_seconds"],
        "cpu_seconds": cpu,
        "objective": solution.objective,
        "infeasibility": stats["infeasibility"],
        "variables": stats["variables"],
        "linear_solver": stats.get("linear_solver", "mumps") if solver == "ipopt" else "",
    }
    record["per_iteration_ms"] = 1e3 * record["seconds"] / max(record["iterations"], 1)
    if text:
        record |= linear_algebra(text, stats.get("linear_solver_figures", {}))
        record["evaluation_ms"] = 1e3 * record.pop("evaluation_s") / max(record["iterations"], 1)
    return solution, record


def median(records: Sequence[Record]) -> Record:
    """The record of the repeat whose seconds are the median: its figures belong together."""
    return sorted(records, key=lambda record: record["seconds"])[len(records) // 2]


def in_process(
    task: Mapping[str, Any], threads: int, limit: float, environment: Mapping[str, str] | None = None
) -> Any:
    """The result of `scripts.bench.solver_tasks.TASKS[task["task"]]` in a process of its own, which uses so many
    threads; an error's last line, or "more than LIMIT s", as text."""
    variables = os.environ | {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    variables |= {"PYTHONPATH": str(ROOT)} | dict(environment or {})
    command = [sys.executable, "-m", "scripts.bench.solver_tasks", json.dumps(dict(task) | {"threads": threads})]
    try:
        done = subprocess.run(
            command, env=variables, cwd=ROOT, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return f"more than {limit:g} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
    return json.loads(done.stdout.strip().splitlines()[-1])


def linear_solvers(asked: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those of the linear solvers of IPOPT that this installation has, and sentences on the others."""
    from ocp_dyn.ocp.solvers.by_name import check_options

    found, told = [], []
    for name in asked:
        try:
            check_options("ipopt", {"linear_solver": name})
            found.append(name)
        except (ValueError, RuntimeError) as error:
            told.append(f"{name} is left out: {str(error).splitlines()[0]}")
    return found, told
