"""Tasks of a sweep: what a process needs to solve one point, without access to the folder, and what it returns."""

from __future__ import annotations

import gc
import pickle
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....native.provenance import made_with
from ...solution import Solution
from ...statement.statement import Statement
from ..attempt import prepare
from ..origin import name_problem, program_digest
from ..solve import solution_of
from .library import figures_of

FIRST_BARRIER = 1e-3
"""First barrier parameter of IPOPT for a solve from a guess: a neighbor's solution of another variant, without its
multipliers."""

PROBLEMS_KEPT = 2
"""Number of problems that a process keeps: one of a human takes 100 MB with its tables."""


@dataclass(frozen=True)
class Task:
    """The point to solve, with everything that a process needs for it and without access to the folder.

    make: the pickled function that makes the problem; variant, arguments: those of its call, by order and by name.
    values: of the problem's parameters. options: of the solve. start: the file of a solution from which to start, as
    bytes. joints, constraints: classes of the user's own ones in this file.
    """

    point: Any
    make: bytes
    variant: tuple[Any, ...] = ()
    arguments: tuple[tuple[str, Any], ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    start: bytes | None = None
    joints: Any = ()
    constraints: Any = ()

    @property
    def build(self) -> tuple[Any, ...]:
        """The ingredients of the problem: tasks that agree in them share a problem."""
        return self.make, self.variant, self.arguments


@dataclass(frozen=True)
class Found:
    """The result of a task: the solution as the bytes of its file, and figures for its record, see `figures_of`."""

    content: bytes
    figures: Mapping[str, Any]


def find(task: Task) -> Found:
    """The solution of a task; if a solve from the start does not converge, the problem is solved from the library's
    first guess."""
    begin = time.process_time()
    problem = _problem(task)
    options: dict[str, Any] = {"progress": False, "threads": 1, **task.options, "values": dict(task.values)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "solution.npz")
        solution = None
        if task.start is not None:
            path.write_bytes(task.start)
            near = Solution.load(path, joints=task.joints, constraints=task.constraints)
            solution = _solved_from(problem, near, {key: value for key, value in options.items() if key != "guess"})
        iterations = solution.stats["iterations"] if solution is not None else 0
        if solution is None or not solution.converged:
            solution = solution_of(problem, **options)
            iterations += solution.stats["iterations"]
        solution.save(path)
        figures = figures_of(solution) | {
            "all_iterations": iterations,
            "processor_seconds": round(time.process_time() - begin, 3),
            "problem": program_digest(*prepare(problem, options["threads"])),
            "made_with": made_with(),
        }
        return Found(path.read_bytes(), figures)


def _solved_from(problem: Statement, near: Solution, options: dict[str, Any]) -> Solution:
    """A solve from a neighbor: with its multipliers if its program has the same variables and constraints, else from
    its motion alone. With an accuracy the solve begins on the refined grid of the neighbor."""
    if options.get("accuracy") is not None:
        try:
            return solution_of(problem, **options, start=near)
        except ValueError:  # of another program; faults of the options are told by the solve below
            return _solved_from_motion(problem, near, options)
    program = prepare(problem, options["threads"])[0].program
    sizes = program.size, sum(block.lower.size * len(block.instances) for block in program.blocks)
    got = tuple(near.iterate[key].size for key in ("x", "lam_g")) if near.iterate else None
    if got == sizes:
        return solution_of(problem, **options, start=near)
    return _solved_from_motion(problem, near, options)


def _solved_from_motion(problem: Statement, near: Solution, options: dict[str, Any]) -> Solution:
    by_ipopt = options.get("solver", "ipopt") == "ipopt"
    barrier = {"mu_init": FIRST_BARRIER} if by_ipopt else {}
    return solution_of(problem, **barrier | options, guess=near)


_problems: OrderedDict[tuple[Any, ...], Statement] = OrderedDict()
_lock = threading.RLock()


def _problem(task: Task) -> Statement:
    """The problem of a task, made once in a process and used for the tasks that follow with the same arguments."""
    with _lock:
        if task.build not in _problems:
            if len(_problems) >= PROBLEMS_KEPT:
                _problems.popitem(last=False)
                gc.collect()  # programs and their blocks refer to each other
            _problems[task.build] = _made(task)
        _problems.move_to_end(task.build)
        return _problems[task.build]


def _made(task: Task) -> Statement:
    make = pickle.loads(task.make)
    problem = make(*task.variant, **dict(task.arguments))
    if not isinstance(problem, Statement):
        told = ", ".join([*map(repr, task.variant), *(f"{key}={value!r}" for key, value in task.arguments)])
        raise TypeError(f"make must return a Problem, got {type(problem).__name__} from make({told})")
    name_problem(problem, make, task.variant, dict(task.arguments))
    return problem
