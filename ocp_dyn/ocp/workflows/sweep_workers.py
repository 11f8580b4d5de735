"""Workers of a sweep: the task of finding one solution, and the processes, here or on a cluster, that do such tasks."""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from ..solution import Solution
from ..statement.statement import Statement
from .solve import solve_as_stated

BARRIER = 1e-3
"""Initial barrier parameter of IPOPT for a solve that begins at a neighbour.

The smaller value that suits small changes of a problem fails over a whole step of a grid.
"""


@dataclass(frozen=True)
class Task:
    """The solution to find, with everything that a process needs for it and nothing of the folder.

    make: the pickled maker of problems; variant: its arguments. start: the file of a solution to begin at, as bytes;
    same: whether that solution is of the same variant, so that its multipliers serve too.
    """

    point: Any
    make: bytes
    options: Mapping[str, Any] = field(default_factory=dict)
    start: bytes | None = None
    same: bool = False


def find(task: Task) -> bytes:
    """The solution of a task, as the bytes of its file; found from the library's own guess if the start leads nowhere."""
    problem = _problem(task.make, task.point.variant)
    options: dict[str, Any] = {"progress": False, "threads": 1, **task.options, "values": dict(task.point.values)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "solution.npz")
        solution = None
        if task.start is not None:
            path.write_bytes(task.start)
            near: dict[str, Any] = {"mu_init": BARRIER} if options.get("solver", "ipopt") == "ipopt" else {}
            begin = {"start" if task.same else "guess": Solution.load(path)}
            solution = solve_as_stated(problem, **near | options | begin)
        if solution is None or not solution.converged:
            solution = solve_as_stated(problem, **options)
        solution.save(path)
        return path.read_bytes()


@cache
def _problem(make: bytes, variant: tuple[Any, ...]) -> Statement:
    """The problem of a variant, built once in a process and solved again and again."""
    problem = pickle.loads(make)(*variant)
    if not isinstance(problem, Statement):
        raise TypeError(f"make must return a Problem, got {type(problem).__name__} for the variant {variant}")
    return problem


@contextmanager
def workers(jobs: int, scheduler: str, tasks: int) -> Iterator[tuple[Executor, int]]:
    """An executor and how many tasks it does at a time: on this machine, or on the cluster of Dask's scheduler."""
    if scheduler:
        executor, count = cluster(scheduler)
        with executor:
            yield executor, count
        return
    count = max(1, min(jobs or os.cpu_count() or 1, tasks))
    with _one_thread_each(), ProcessPoolExecutor(count, get_context("spawn"), initializer=_follow_parent) as executor:
        yield executor, count


def cluster(address: str) -> tuple[Executor, int]:
    """An executor on the workers of a Dask scheduler, and how many threads they have.

    The workers need this package and the module of the maker, and nothing of the folder: starts and solutions travel as
    bytes. RuntimeError without the extra `cluster`, OSError if no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise RuntimeError(
            "a scheduler needs Dask: pip install 'ocp_dyn[cluster]'; without one, processes of this machine do the work"
        ) from error
    client = Client(address, timeout="10s")
    return client.get_executor(pure=False), max(1, sum(client.nthreads().values()))


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that start meanwhile do their linear algebra on one thread: more would wait for each other."""
    name = "OPENBLAS_NUM_THREADS"  # read as a process starts
    given = name in os.environ
    os.environ.setdefault(name, "1")
    try:
        yield
    finally:
        if not given:
            os.environ.pop(name, None)


def _follow_parent() -> None:
    """Ends this process when its parent ends, however that ends."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
