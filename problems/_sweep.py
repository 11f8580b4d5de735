"""The work of a library of gaits: files, the order in which gaits are found, processes and clusters that find them."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import product
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from ocp_dyn import ocp
from ocp_dyn.io import whole_file

from ._gaits import Gait, Task, solve


@dataclass(frozen=True)
class Library:
    """A folder of gaits."""

    folder: Path

    def path(self, gait: Gait) -> Path:
        return self.folder / f"{gait.name}.npz"

    def load(self, gait: Gait) -> ocp.Solution:
        return ocp.Solution.load(self.path(gait))

    def converged(self, gait: Gait) -> bool | None:
        """Whether the gait was found; None: not done yet, or its file is damaged."""
        try:
            return self.load(gait).converged
        except (FileNotFoundError, ValueError):
            return None

    def write(self, path: Path, content: bytes) -> None:
        """The file appears complete or not at all."""
        with whole_file(path) as partial:
            partial.write_bytes(content)


@dataclass
class Sweep:
    """The gaits that are still to do, handed out from the middle of the grid outwards."""

    library: Library
    model: str
    quick: bool
    compile: bool | str
    waiting: list[Gait]
    done: dict[Gait, bool]
    settled: set[Gait] = field(init=False)
    """Gaits that are not tried again: those of an earlier sweep, and those that have been."""

    def __post_init__(self) -> None:
        self.settled = set(self.done)

    def next(self, busy: int) -> Task | None:
        """The gait nearest to one that was found, to begin at that; the first of all goes alone."""
        found = [gait for gait, converged in self.done.items() if converged]
        if not self.waiting or (not found and busy):
            return None
        if not found:
            return Task(self._taken(self.waiting[0]), self.model, self.quick, compile=self.compile)
        gait, near = min(product(self.waiting, found), key=lambda pair: pair[0].distance(pair[1]))
        start = self.library.path(near).read_bytes()
        return Task(self._taken(gait), self.model, self.quick, start, gait.free == near.free)

    def _taken(self, gait: Gait) -> Gait:
        self.waiting.remove(gait)
        return gait

    def keep(self, gait: Gait, content: bytes) -> ocp.Solution:
        """Writes a gait's file, unless there is a better one already."""
        path, before = self.library.path(gait), self.library.load(gait) if self.done.get(gait) else None
        with tempfile.TemporaryDirectory() as folder:
            fresh = Path(folder, path.name)
            fresh.write_bytes(content)
            found = ocp.Solution.load(fresh)
        if before is not None and not (found.converged and found.objective < before.objective):
            return before
        self.library.write(path, content)
        self.done[gait] = found.converged
        return found

    def another_try(self, gait: Gait) -> Task | None:
        """A gait whose step is free, but that costs more than with its step held: once more, from there."""
        same = [g for g, found in self.done.items() if found and (g.speed, g.slope) == (gait.speed, gait.slope)]
        free = next((g for g in same if g.free), None)
        if free is None or free in self.settled:
            return None
        cheapest = min(same, key=lambda g: self.library.load(g).objective)
        if cheapest.free:
            return None
        self.settled.add(free)
        start = self.library.path(cheapest).read_bytes()
        return Task(free, self.model, self.quick, start, same=False, compile=self.compile)


def sweep(work: Sweep, executor: Any, jobs: int) -> Iterator[tuple[Gait, ocp.Solution]]:
    """Solves what is waiting, `jobs` at a time, and yields each gait when its file is written.

    Where one raises, those that run are still waited for and written; then it is raised.

    executor: anything with `submit` that returns futures, such as `ProcessPoolExecutor` or Dask's `get_executor()`.
    """
    running: dict[Future[bytes], Gait] = {}
    failed: list[BaseException] = []
    while True:
        while not failed and len(running) < jobs and (task := work.next(len(running))) is not None:
            running[executor.submit(solve, task)] = task.gait
        if not running:
            break
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            gait = running.pop(future)
            if (error := future.exception()) is not None:
                failed.append(error)
                continue
            solution = work.keep(gait, future.result())
            if not failed and (task := work.another_try(gait)) is not None:
                running[executor.submit(solve, task)] = task.gait
            yield gait, solution
    if failed:
        raise failed[0]


def cluster(address: str) -> tuple[Executor, int]:
    """An executor on the workers of a Dask scheduler, and how many threads they have.

    The workers need this package and nothing of the folder: starts and solutions travel as bytes.
    RuntimeError without the extra `cluster`, OSError if no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise RuntimeError(
            "--scheduler needs Dask: pip install 'ocp_dyn[cluster]'; without it --jobs N uses this machine's processes"
        ) from error
    client = Client(address, timeout="10s")
    return client.get_executor(pure=False), max(1, sum(client.nthreads().values()))


def processes(jobs: int) -> Executor:
    """Processes on this machine, each with one thread; they end when this one does, however it ends."""
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_follow_parent)


def _follow_parent() -> None:
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def local(jobs: int, gaits: int) -> tuple[Executor, int]:
    """Processes on this machine, no more than there are gaits, and their number."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read as they start: threads of theirs would only wait
    workers = min(jobs or os.cpu_count() or 1, gaits)
    return processes(workers), workers
