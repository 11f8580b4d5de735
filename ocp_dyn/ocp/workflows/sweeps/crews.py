"""Crews: whoever solves the tasks of a sweep. Processes of this machine are in `processes`, a cluster in `cluster`."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from typing import Protocol

from .tasks import Found, Task, find

ENDED = (
    "a process of the sweep ended before its solution was found. In a script the sweep must stand under "
    "`if __name__ == '__main__':`, because every process imports the script; else the process was killed, perhaps "
    "for want of memory: try fewer jobs. Solutions in the folder are kept, and a second run continues"
)


@dataclass(frozen=True)
class Outcome:
    """Result of a task: its solution, the error that it raised, or, without either, the reason why whoever worked
    on it is gone; deadly: whether the task may be the cause."""

    task: Task
    found: Found | None = None
    error: BaseException | None = None
    lost: str = ""
    deadly: bool = True


class Crew(Protocol):
    """Whoever solves tasks, within a `with` block."""

    def room(self) -> int:
        """Number of further tasks that it takes now."""

    def submit(self, task: Task) -> None:
        """Gives it a task."""

    def busy(self) -> int:
        """Number of tasks that it has."""

    def wait(self, longest: float) -> list[Outcome]:
        """The tasks that are done, one or more; none after `longest` seconds."""


class ExecutorCrew:
    """An executor of the user's, with `count` workers. If its processes are gone, it cannot go on."""

    def __init__(self, executor: Executor, count: int) -> None:
        self.executor, self.count = executor, count
        self.running: dict[Future[Found], Task] = {}

    def room(self) -> int:
        return self.count - len(self.running)

    def submit(self, task: Task) -> None:
        self.running[self.executor.submit(find, task)] = task

    def busy(self) -> int:
        return len(self.running)

    def wait(self, longest: float) -> list[Outcome]:
        outcomes = []
        for future in wait(self.running, longest, FIRST_COMPLETED).done:
            task = self.running.pop(future)
            error = future.exception()
            if error is None:
                outcomes.append(Outcome(task, future.result()))
            else:
                outcomes.append(Outcome(task, error=explained(error)))
        return outcomes


def explained(error: BaseException) -> BaseException:
    """The error of a process that ended, with its likely reasons; any other error as it is."""
    if not isinstance(error, BrokenExecutor):
        return error
    made = type(error)(ENDED)
    made.__cause__ = error
    return made
