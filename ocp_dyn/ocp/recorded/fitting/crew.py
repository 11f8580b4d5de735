"""The motions of a fit, in this process or side by side in several."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Self

import numpy as np

from ...._base.types import Array
from ...solution import Solution
from ...workflows.sweeps.processes import follow_parent, one_thread_each
from .motions import Motion


class Crew:
    """Motions by name, and whoever works on them: this process for `jobs` of 1, else as many others.

    A motion always stays with the same process, which keeps its program and its last solution.
    """

    def __init__(self, motions: Mapping[str, Motion], jobs: int) -> None:
        self.names = list(motions)
        self._local = dict(motions) if jobs <= 1 else None
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        self._of: dict[str, int] = {}
        if self._local is None:
            parts = [self.names[k::jobs] for k in range(min(jobs, len(self.names)))]
            self._of = {name: k for k, part in enumerate(parts) for name in part}
            for sent in [_pickled({name: motions[name] for name in part}) for part in parts]:
                self._start(sent)

    def _start(self, motions: bytes) -> None:
        context = get_context("spawn")
        pipe, other = context.Pipe()
        with one_thread_each():
            process = context.Process(target=_serve, args=(other, motions), daemon=True)
            process.start()
        other.close()
        self._pipes.append(pipe)
        self._processes.append(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pipe, process in zip(self._pipes, self._processes, strict=True):
            pipe.close()
            process.terminate()
            process.join()

    def attempt(self, values: Array, names: Sequence[str]) -> dict[str, tuple[Array | None, str]]:
        """Residuals and status of these motions for the parameters."""
        return self._ask("attempt", names, values)

    def keep(self, names: Sequence[str]) -> None:
        self._ask("keep", names)

    def jacobian(self, names: Sequence[str]) -> dict[str, tuple[Array, float]]:
        return self._ask("jacobian", names)

    def solutions(self) -> dict[str, Solution | None]:
        """The kept solutions."""
        return self._ask("kept", self.names)

    def start_from(self, solutions: Mapping[str, Solution]) -> None:
        """Solves start from these solutions."""
        self._ask("start_from", list(solutions), solutions)

    def work(self) -> dict[str, float]:
        """Sums over all motions: solves, their iterations, linear systems, seconds of processor time."""
        each = self._ask("work", self.names)
        return {key: sum(work[key] for work in each.values()) for key in next(iter(each.values()))}

    def _ask(self, what: str, names: Sequence[str], *arguments: Any) -> dict[str, Any]:
        if self._local is not None:
            return {name: _ACTIONS[what](self._local[name], name, *arguments) for name in names}
        asked = sorted({self._of[name] for name in names})
        for k in asked:
            self._pipes[k].send((what, [name for name in names if self._of[name] == k], arguments))
        found: dict[str, Any] = {}
        faults: list[BaseException] = []
        for k in asked:
            try:
                kind, answer = self._pipes[k].recv()
            except (EOFError, OSError):
                raise RuntimeError(
                    "a process of the fit ended. In a script the fit must stand under `if __name__ == '__main__':`, "
                    "because every process imports the script; else the process was killed, perhaps for want of "
                    "memory: try jobs=1"
                ) from None
            if kind == "error":
                faults.append(answer)
            else:
                found |= answer
        if faults:
            raise faults[0]
        return {name: found[name] for name in names}


def _pickled(motions: Mapping[str, Motion]) -> bytes:
    """Problems and data for another process. TypeError for those that hold functions which cannot be sent there."""
    try:
        return pickle.dumps(dict(motions))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"problems and data must be picklable for other processes, and {', '.join(motions)} cannot be sent there "
            f"({error}): define their functions in a module, with def, or give jobs=1"
        ) from None


def _start_from(motion: Motion, name: str, solutions: Mapping[str, Solution]) -> None:
    motion.kept = solutions[name]


_ACTIONS: dict[str, Callable[..., Any]] = {
    "attempt": lambda motion, name, values: motion.attempt(values),
    "keep": lambda motion, name: motion.keep(),
    "jacobian": lambda motion, name: motion.jacobian(),
    "kept": lambda motion, name: motion.kept,
    "work": lambda motion, name: motion.work,
    "start_from": _start_from,
}


def _serve(pipe: Connection, motions: bytes) -> None:
    """The main function of a process: questions come, answers go, until the pipe or the parent ends."""
    follow_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes; the parent ends the others
    mine: dict[str, Motion] | None = None
    while True:
        try:
            what, names, arguments = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            mine = pickle.loads(motions) if mine is None else mine
            answer: tuple[str, Any] = "found", {name: _ACTIONS[what](mine[name], name, *arguments) for name in names}
        except Exception as error:  # noqa: BLE001, whatever it is, the parent tells it
            answer = "error", error
        with suppress(OSError):
            try:
                pipe.send(answer)
            except (pickle.PicklingError, TypeError, AttributeError):
                pipe.send(("error", RuntimeError(str(answer[1]))))


def stacked(parts: Mapping[str, Array], names: Sequence[str]) -> Array:
    """Residuals or Jacobians of motions, one below the other."""
    return np.concatenate([parts[name] for name in names])
