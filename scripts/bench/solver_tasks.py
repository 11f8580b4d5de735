"""What a process of the benchmark of solvers does: `python -m scripts.bench.solver_tasks TASK`, a JSON object."""

from __future__ import annotations

import functools
import json
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from ocp_dyn import ocp
from scripts.bench.solver_cases import CASES, ready
from scripts.bench.solver_runs import Record, median, solved

Task = dict[str, Any]


def _made(task: Task) -> ocp.Problem:
    name, quick = task["case"], task["quick"]
    return ready(name, quick) if task.get("ready") else CASES[name].make(task.get("factor", 1), quick)


def _given(task: Task) -> dict[str, Any]:
    return {"threads": task["threads"], "compile": task["compile"]}


def solve(task: Task) -> dict[str, Record]:
    """The median record of each way to solve a problem, which is built once: the ways take turns."""
    problem = _made(task)
    records: dict[str, list[Record]] = {name: [] for name in task["ways"]}
    for _ in range(task["repeats"]):
        for name, way in task["ways"].items():
            records[name].append(solved(problem, way["solver"], way["options"], **_given(task))[1])
    return {name: median(found) for name, found in records.items()}


def neighbors(task: Task) -> dict[str, Record]:
    """Records of the walk at 1.2 m/s, and of its neighbors from that solution, by linear solver and speed."""
    problem, found = _made(task), {}
    for name in task["linear_solvers"]:
        options = {"linear_solver": name}
        base, found[f"{name} 1.2"] = solved(problem, "ipopt", options, **_given(task))
        for speed in task["speeds"]:
            given = {"values": {"speed": speed}, "start": base, **_given(task)}
            runs = [solved(problem, "ipopt", options, **given)[1] for _ in range(task["repeats"])]
            found[f"{name} {speed:g}"] = median(runs)
    return found


def gaits(task: Task) -> Record:
    """Seconds of a library of gaits, in one process per thread asked for, and how many of them converged."""
    from problems._gaits import grid, make

    points = grid(*task["grid"])
    with tempfile.TemporaryDirectory() as folder:
        how = {"compile": task["compile"], "linear_solver": task["linear_solver"]}
        begin = time.perf_counter()
        sweep = ocp.Sweep(
            functools.partial(make, task["model"], task["quick"]), points, folder, jobs=task["threads"], solve=how
        )
        solutions = [solution for _, solution in sweep]
        seconds = time.perf_counter() - begin
    counts = [solution.stats["iterations"] for solution in solutions]
    return {
        "gaits": len(solutions),
        "converged": sum(solution.converged for solution in solutions),
        "seconds": seconds,
        "iterations": sum(counts),
    }


def build(task: Task) -> Record:
    """Seconds and processor seconds until the solver could start: of the first problem of this process, and of
    another at another speed; compile: first, seconds to compile its blocks."""
    from ocp_dyn.ocp.nlp.machine_code import use_machine_code
    from ocp_dyn.ocp.workflows.solve import prepare, starting_point
    from problems import human_walk

    figures: Record = {}
    counts = human_walk.QUICK if task["quick"] else human_walk.INTERVALS
    for name, speed in (("first", 1.2), ("again", 1.3)):
        wall, cpu = time.perf_counter(), time.process_time()
        t, program = prepare(human_walk.problem(speed, intervals=counts, still=task["case"] == "human18"))
        starting_point(t, None, None, {})
        figures |= {f"{name}_s": time.perf_counter() - wall, f"{name}_cpu_s": time.process_time() - cpu}
        if task["compile"] and name == "first":
            wall = time.perf_counter()
            figures["evaluated_by"] = use_machine_code(program, True, lambda text: None)
            figures["compile_s"] = time.perf_counter() - wall
    return figures


TASKS: dict[str, Callable[[Task], Any]] = {"solve": solve, "neighbors": neighbors, "gaits": gaits, "build": build}


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(TASKS[asked["task"]](asked)))
