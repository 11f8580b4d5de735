"""Processes of this machine that solve the tasks of a sweep.

A process that is killed takes only its own task with it: the task is told as lost, and another process takes the place.
Python's ProcessPoolExecutor ends all processes and all their tasks then.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Self

from .crews import ENDED, Outcome
from .tasks import Task, find

THREADS = "OPENBLAS_NUM_THREADS"

BUILDS = 12
"""Number of problems that a process makes before a fresh one takes its place: caches of models and functions grow by
about 100 MB for each body of a human."""

BROKEN_STARTS = 3
"""Number of processes, one after the other, that may end before they are ready."""


class Worker:
    """A process and its pipe. ready: whether it has said that it runs; builds: what its problems are made from."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()  # so that the pipe ends with the process
        self.ready = False
        self.task: Task | None = None
        self.builds: list[Any] = []

    def give(self, task: Task) -> None:
        self.task = task
        if task.build not in self.builds:
            self.builds.append(task.build)
        with suppress(OSError):  # it has just ended: `wait` tells
            self.pipe.send(task)

    def end(self) -> None:
        self.pipe.close()
        self.process.terminate()
        self.process.join()


class ProcessCrew:
    """Several processes, started when they are needed. builds: problems that each makes before it is replaced."""

    def __init__(self, count: int, builds: int = BUILDS) -> None:
        self.count, self.builds = count, builds
        self.workers: list[Worker] = []
        self._broken = 0

    def __enter__(self) -> Self:
        """Starts the first process: where none can be started, as in a script without a guard that a process imports,
        Python says so before any point is taken."""
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self.workers:
            worker.end()
        self.workers.clear()

    def room(self) -> int:
        return self.count - self.busy()

    def busy(self) -> int:
        return sum(worker.task is not None for worker in self.workers)

    def submit(self, task: Task) -> None:
        """Gives a task to an idle process, if possible to one that has made its problem."""
        idle = [worker for worker in self.workers if worker.task is None]
        for worker in [w for w in idle if task.build not in w.builds and len(w.builds) >= self.builds]:
            idle.remove(worker)
            self._dismiss(worker)
        idle.sort(key=lambda worker: task.build not in worker.builds[-1:])
        if not idle:
            idle = [self._start()]
        idle[0].give(task)

    def _start(self) -> Worker:
        with one_thread_each():
            self.workers.append(fresh := Worker())
        return fresh

    def _dismiss(self, worker: Worker) -> None:
        worker.end()
        self.workers.remove(worker)

    def wait(self, longest: float) -> list[Outcome]:
        by_end: dict[Any, Worker] = {worker.pipe: worker for worker in self.workers if worker.task is not None}
        outcomes = []
        for pipe in wait(list(by_end), longest):
            outcome = self._heard(by_end[pipe])
            outcomes += [] if outcome is None else [outcome]
        return outcomes

    def _heard(self, worker: Worker) -> Outcome | None:
        """Message of a process: that it is ready, a result, or, by the end of its pipe, that it is gone."""
        task = worker.task
        assert task is not None
        try:
            kind, content = worker.pipe.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            worker.process.join()
            code = worker.process.exitcode
            self._dismiss(worker)
            if not worker.ready:
                self._broken += 1
                if self._broken >= BROKEN_STARTS:
                    raise BrokenProcessPool(ENDED) from None
            return Outcome(task, lost=f"its process ended with {_code(code)}")
        if kind == "ready":
            worker.ready, self._broken = True, 0
            return None
        worker.task = None
        return Outcome(task, error=content) if kind == "error" else Outcome(task, content)


def _code(code: int | None) -> str:
    """An exit code in words: "signal SIGKILL"."""
    if code is None or code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"signal {signal.Signals(-code).name}"
    return f"signal {-code}"


def _serve(pipe: Connection) -> None:
    """The main function of a process: tasks come, results go, until the pipe or the parent ends."""
    follow_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes; the parent ends the others
    with suppress(OSError):  # the parent is gone: so says the next line that reads
        pipe.send(("ready", None))
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: tuple[str, Any] = "found", find(task)
        except Exception as error:  # noqa: BLE001, whatever it is, the parent tells it
            answer = "error", _portable(error)
        pipe.send(answer)


def _portable(error: Exception) -> Exception:
    """An error that another process can read: itself, or its text."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001, classes of users may raise anything
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Within this context, new processes use one thread for linear algebra: several would wait for each other."""
    already_set = THREADS in os.environ  # read at the start of a process
    os.environ.setdefault(THREADS, "1")
    try:
        yield
    finally:
        if not already_set:
            os.environ.pop(THREADS, None)


def follow_parent() -> None:
    """Ends this process when its parent ends for any reason."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
