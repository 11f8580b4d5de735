"""Processes that judge inputs, and survive what these do. They are started by the name of this module."""

from __future__ import annotations

import argparse
import collections
import multiprocessing as mp
import resource
import time
from collections.abc import Iterator
from typing import Any

from .verdicts import case, judged

Verdict = tuple[str, int, str, str]
"""Kind and number of an input, its verdict "accepted", "refused" or "finding", and a description."""
BATCH = 50
"""Inputs that a worker takes at once."""


def work(pipe: Any, seed: int, memory: int) -> None:
    """Judges batches (kind, first, last) until None comes; sends (kind, number, verdict, description) of each input,
    and None as soon as it is ready."""
    resource.setrlimit(resource.RLIMIT_AS, (memory * 2**20, memory * 2**20))
    pipe.send(None)
    for kind, first, last in iter(pipe.recv, None):
        for number in range(first, last):
            pipe.send((kind, number, *judged(seed, kind, number)))


class Worker:
    """A process that judges batches; it is started again where an input ends it or takes too long.

    batch: what is left of the batch at hand, None without one. slow: inputs, of all workers, that took too long once.
    It may have been the machine: they are tried again, alone.
    """

    def __init__(self, options: argparse.Namespace, slow: set[tuple[str, int]]) -> None:
        self.options, self.slow = options, slow
        self.batch: tuple[str, int, int] | None = None
        self.process: Any = None

    def _start(self) -> None:
        context = mp.get_context(self.options.start)
        self.pipe, theirs = context.Pipe()
        arguments = (theirs, self.options.seed, self.options.memory)
        self.process = context.Process(target=work, args=arguments, daemon=True)
        self.process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self.pipe.recv()

    def give(self, batch: tuple[str, int, int]) -> None:
        if self.process is None:
            self._start()
        self.batch, self.since = batch, time.monotonic()
        self.pipe.send(batch)

    def verdicts(self) -> Iterator[Verdict]:
        """Verdicts on inputs of the batch that are there by now."""
        while self.batch is not None:
            kind, number, last = self.batch
            try:
                if not self.pipe.poll(0.02):
                    if time.monotonic() - self.since > self.options.limit:
                        yield from self._hangs(kind, number, last)
                    return
                yield self.pipe.recv()
                self._goes_on(kind, number + 1, last)
            except EOFError:
                self.process.join()
                yield kind, number, "finding", f"ended the process ({self.process.exitcode})"
                self.process = None
                self._goes_on(kind, number + 1, last)

    def _goes_on(self, kind: str, number: int, last: int) -> None:
        self.batch, self.since = (kind, number, last) if number < last else None, time.monotonic()
        if self.process is None and self.batch is not None:
            self.give(self.batch)

    def _hangs(self, kind: str, number: int, last: int) -> Iterator[Verdict]:
        self.process.kill()
        self.process.join()
        self.process = None
        if (kind, number) in self.slow:
            yield kind, number, "finding", f"took more than {self.options.limit:g} s, twice"
        else:
            self.slow.add((kind, number))
            number -= 1
        self._goes_on(kind, number + 1, last)


def run(options: argparse.Namespace) -> tuple[dict[str, collections.Counter[str]], list[tuple[str, int, str]]]:
    """Counts by kind, and findings."""
    counts = {kind: collections.Counter[str]() for kind in options.only}
    findings: list[tuple[str, int, str]] = []
    for kind in options.only:
        case(options.seed, kind, 0)  # a mistake in the making of inputs ends the run here
    each = -(-options.count // len(options.only))
    batches = [(kind, k, min(k + BATCH, each)) for k in range(0, each, BATCH) for kind in options.only][::-1]
    slow: set[tuple[str, int]] = set()
    workers = [Worker(options, slow) for _ in range(options.workers)]
    end = time.monotonic() + options.seconds
    while any(worker.batch for worker in workers) or (batches and time.monotonic() < end):
        for worker in workers:
            if worker.batch is None and batches and time.monotonic() < end:
                worker.give(batches.pop())
            for kind, number, verdict, text in worker.verdicts():
                counts[kind][verdict] += 1
                findings += [(kind, number, text)] if verdict == "finding" else []
    for worker in workers:
        if worker.process is not None:
            worker.pipe.send(None)
            worker.process.join()
    return counts, findings
