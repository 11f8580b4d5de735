"""Workers of a Dask scheduler that solve the tasks of a sweep: a cluster of any kind, by the scheduler's address.

Dask itself gives the task of a worker that ended to another one, and after four such workers calls the task deadly. If
the scheduler is gone, its tasks are told as lost, and the crew connects again, as soon as a scheduler answers at the
address.
"""

from __future__ import annotations

import queue
import time
import uuid
from collections.abc import Callable
from concurrent.futures import CancelledError
from importlib import import_module
from types import TracebackType
from typing import Any, Self

from .crews import Outcome
from .tasks import Task, find

AHEAD = 2
"""Tasks per thread of a worker: one that runs, and one that waits there while the result of the first travels."""

FIRST_ANSWER = "10s"
"""Time within which a scheduler must answer at first."""

ANSWER = 60.0
"""Time within which a finished result must arrive [s]."""

GONE = ("lost", "cancelled")
"""States of a task of which the scheduler knows nothing any more."""


class ClusterCrew:
    """The workers of the scheduler at an address. patience: time to wait for a scheduler that is gone [s]; say: tells
    that it is waited for.

    The workers need this package and the module of the function that makes the problem, but no access to the folder:
    starts and solutions are sent as bytes. RuntimeError without the extra `cluster`, OSError if no scheduler answers.
    """

    def __init__(self, address: str, patience: float, say: Callable[[str], object] = lambda text: None) -> None:
        try:
            distributed: Any = import_module("distributed")
        except ImportError as error:
            raise RuntimeError(
                "a scheduler needs Dask: pip install 'ocp_dyn[cluster]'; without a scheduler, processes of this "
                "machine are used"
            ) from error
        self._client_of = distributed.Client
        self.address, self.patience, self.say = address, patience, say
        self.client = self._client_of(address, timeout=FIRST_ANSWER)
        self.running: dict[Any, Task] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self.running and self.client.status == "running":
            self.client.cancel(list(self.running))
        self.client.close(timeout=5)

    def room(self) -> int:
        """More than the workers can do at once, so that none waits; workers may come and go."""
        if self.client.status != "running":
            return 0
        try:
            threads: int = sum(self.client.nthreads().values())
        except OSError:  # the scheduler has just gone, which `wait` tells
            return 0
        return AHEAD * max(1, threads) - len(self.running)

    def busy(self) -> int:
        return len(self.running)

    def submit(self, task: Task) -> None:
        name = f"{task.point.name[:80]}-{uuid.uuid4().hex[:8]}"
        future = self.client.submit(find, task, key=name, pure=False)
        self.running[future] = task
        future.add_done_callback(self._done.put)

    def wait(self, longest: float) -> list[Outcome]:
        futures = set()
        try:
            futures.add(self._done.get(timeout=longest))
            while True:
                futures.add(self._done.get_nowait())
        except queue.Empty:
            pass
        outcomes = [self._outcome(future) for future in futures if future in self.running]
        if self.client.status != "running":
            outcomes += self._connect_again()
        return outcomes

    def _outcome(self, future: Any) -> Outcome:
        task = self.running.pop(future)
        if future.status in GONE:
            return Outcome(task, lost="the scheduler does not know it any more", deadly=False)
        try:
            error = future.exception(timeout=ANSWER)
            if error is None:
                return Outcome(task, future.result(timeout=ANSWER))
        except (OSError, CancelledError):  # TimeoutError is one of OSError
            return Outcome(task, lost="its result is gone", deadly=False)
        if type(error).__name__ == "KilledWorker":
            return Outcome(task, error=RuntimeError(f"every worker that solved it ended: {error}"))
        return Outcome(task, error=error)

    def _connect_again(self) -> list[Outcome]:
        """Waits for a scheduler at the address; all running tasks are lost. OSError if none answers in time."""
        lost = [Outcome(task, lost="the scheduler is gone", deadly=False) for task in self.running.values()]
        self.running.clear()
        self._done = queue.SimpleQueue()
        self.say(f"the scheduler {self.address} is gone; waiting up to {self.patience:g} s for it ...")
        self.client.close(timeout=1)
        end = time.monotonic() + self.patience
        while True:
            try:
                self.client = self._client_of(self.address, timeout="2s")
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(1.0)
            else:
                self.say(f"the scheduler {self.address} is back; {len(lost)} tasks are sent anew")
                return lost
