"""Workers of a sweep: the task of finding one solution, and the processes, on this machine or a cluster, that run
it."""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from ..solution import Solution
from ..statement.statement import Statement
from .solve import solve as solve_problem

FIRST_BARRIER = 1e-3
"""First barrier parameter of IPOPT for a solve from a guess: a neighbor's solution of another variant, without its
multipliers."""


@dataclass(frozen=True)
class Task:
    """The point to solve, with everything that a process needs for it and without access to the folder.

    make: the pickled function that makes the problem of the point's variant. start: the file of a solution from which
    to start, as bytes; same: whether that solution is of the same variant, so that its multipliers can be used too.
    joints, constraints: classes of the user's own ones in this file.
    """

    point: Any
    make: bytes
    options: Mapping[str, Any] = field(default_factory=dict)
    start: bytes | None = None
    same: bool = False
    joints: Any = ()
    constraints: Any = ()


def find(task: Task) -> bytes:
    """The solution of a task, as the bytes of its file; if a solve from the start does not converge, the problem is
    solved from the library's first guess."""
    problem = _problem(task.make, task.point.variant)
    options: dict[str, Any] = {"progress": False, "threads": 1, **task.options, "values": dict(task.point.values)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "solution.npz")
        solution = None
        if task.start is not None:
            path.write_bytes(task.start)
            by_ipopt = options.get("solver", "ipopt") == "ipopt"
            near: dict[str, Any] = {"mu_init": FIRST_BARRIER} if by_ipopt and not task.same else {}
            begin = {
                "start" if task.same else "guess": Solution.load(path, joints=task.joints, constraints=task.constraints)
            }
            rest = {key: value for key, value in options.items() if key != "guess"}
            solution = solve_problem(problem, **near | rest | begin)
        if solution is None or not solution.converged:
            solution = solve_problem(problem, **options)
        solution.save(path)
        return path.read_bytes()


@cache
def _problem(make: bytes, variant: tuple[Any, ...]) -> Statement:
    """The problem of a variant, built once in a process and used for all its points."""
    problem = pickle.loads(make)(*variant)
    if not isinstance(problem, Statement):
        raise TypeError(f"make must return a Problem, got {type(problem).__name__} for the variant {variant}")
    return problem


def explained(error: BaseException) -> BaseException:
    """The error of a process that ended, with its likely reasons; any other error as it is."""
    if not isinstance(error, BrokenProcessPool):
        return error
    made = BrokenProcessPool(
        "a process of the sweep ended before its solution was found. In a script the sweep must stand under "
        "`if __name__ == '__main__':`, because every process imports the script; else the process was killed, perhaps "
        "for want of memory: try fewer jobs. Solutions in the folder are kept, and a second run continues"
    )
    made.__cause__ = error
    return made


@contextmanager
def workers(jobs: int, scheduler: str, tasks: int) -> Iterator[tuple[Executor, int]]:
    """An executor and the number of tasks that it runs at a time: on this machine, or on the cluster of a Dask
    scheduler.

    tasks: number of tasks, which limits the number of processes.
    """
    if scheduler:
        executor, count = cluster(scheduler)
        with executor:
            yield executor, count
        return
    count = max(1, min(jobs or os.cpu_count() or 1, tasks))
    with _one_thread_each(), ProcessPoolExecutor(count, get_context("spawn"), initializer=_follow_parent) as executor:
        yield executor, count


def cluster(address: str) -> tuple[Executor, int]:
    """An executor on the workers of a Dask scheduler, and the number of their threads.

    The workers need this package and the module of the function that makes the problem, but no access to the folder:
    starts and solutions are sent as bytes. RuntimeError without the extra `cluster`, OSError if no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise RuntimeError(
            "a scheduler needs Dask: pip install 'ocp_dyn[cluster]'; without a scheduler, processes of this machine "
            "are used"
        ) from error
    client = Client(address, timeout="10s")
    return client.get_executor(pure=False), max(1, sum(client.nthreads().values()))


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Within this context, new processes use one thread for linear algebra: several would wait for each other."""
    name = "OPENBLAS_NUM_THREADS"  # read at the start of a process
    already_set = name in os.environ
    os.environ.setdefault(name, "1")
    try:
        yield
    finally:
        if not already_set:
            os.environ.pop(name, None)


def _follow_parent() -> None:
    """Ends this process when its parent ends for any reason."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
