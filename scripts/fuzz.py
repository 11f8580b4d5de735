#!/usr/bin/env python3
"""Hands mutated files and wrong arguments to the library, and lists inputs that fail without an error of the library.

    python scripts/fuzz.py [--seconds 300] [--count 100000] [--seed 0] [--only urdf json npz api] [--repeat KIND NUMBER]

Planted mistakes test this script: --only crash fault hang hog.

The library may accept an input, or refuse it by a ModelError, ValueError, TypeError or KeyError that a `raise` of
ocp_dyn raises with a message of several words. Anything else is a finding: another exception or a warning, a crash,
more than --limit seconds, more memory than --memory megabytes. The exit status is 1 if there is a finding. An input
depends only on its seed, kind and number: --repeat runs it again and does not catch its exception.
"""

from __future__ import annotations

import argparse
import collections
import linecache
import multiprocessing as mp
import resource
import sys
import time
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scripts.fuzzing import inputs

LONGEST = 3000
"""Largest number of characters of a message."""
OWN = (ValueError, TypeError, KeyError)
BATCH = 50
"""Inputs that a worker takes at once."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=300.0, help="time limit of the whole run (default 300)")
    parser.add_argument("--count", type=int, default=100_000, help="largest number of inputs (default 100000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of all inputs (default 0)")
    parser.add_argument("--only", nargs="+", choices=(*inputs.KINDS, *inputs.PLANTED), default=list(inputs.KINDS),
                        help="kinds of inputs; default: all but planted mistakes")  # fmt: skip
    parser.add_argument("--workers", type=int, default=2, help="number of processes (default 2)")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds that one input may take")
    parser.add_argument("--memory", type=int, default=4096, help="megabytes that a worker may use")
    parser.add_argument("--start", choices=("spawn", "fork"), default="spawn", help="how workers are started")
    parser.add_argument("--repeat", nargs=2, metavar=("KIND", "NUMBER"), help="run one input again")
    options = parser.parse_args(arguments)
    if options.repeat:
        made = case(options.seed, options.repeat[0], int(options.repeat[1]))
        print(made.text)
        print(made.run())
        return 0
    counts, findings = run(options)
    report(counts, findings, options.seed)
    return 1 if findings else 0


def case(seed: int, kind: str, number: int) -> inputs.Case:
    """The input of that kind and number."""
    kinds = inputs.KINDS | inputs.PLANTED
    return kinds[kind](np.random.default_rng([seed, *kind.encode(), number]))


def judged(seed: int, kind: str, number: int) -> tuple[str, str]:
    """Verdict "accepted", "refused" or "finding", and a description."""
    made = case(seed, kind, number)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made.run()
    except OWN as error:
        message = str(error.args[0]) if error.args else ""
        own = _raised_by_us(error.__traceback__)
        if own and " " in message and len(message) <= LONGEST:
            return "refused", ""
        what = "" if own else "not raised by ocp_dyn: "
        return (
            "finding",
            f"{what}{type(error).__name__}: {message[:200]} ({len(message)} characters) | {made.text[:400]}",
        )
    except Exception as error:  # noqa: BLE001, to find any other is what this is for
        return "finding", f"{type(error).__name__}: {str(error)[:200]} | {made.text[:400]}"
    return "accepted", ""


def _raised_by_us(traceback: TracebackType | None) -> bool:
    """Whether the innermost line is a `raise` in the library."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return False
    path = traceback.tb_frame.f_code.co_filename
    return str(ROOT / "ocp_dyn") in path and "raise" in linecache.getline(path, traceback.tb_lineno)


def work(pipe: Any, seed: int, at: Any, memory: int) -> None:
    """Judges batches (kind, first, last) until None comes; `at` tells the number and the start of the input at hand."""
    resource.setrlimit(resource.RLIMIT_AS, (memory * 2**20, memory * 2**20))
    while (task := pipe.recv()) is not None:
        kind, first, last = task
        tally: collections.Counter[str] = collections.Counter()
        found = []
        for number in range(first, last):
            at[0], at[1] = number, time.monotonic()
            verdict, text = judged(seed, kind, number)
            tally[verdict] += 1
            if verdict == "finding":
                found.append((kind, number, text))
        at[1] = 0.0
        pipe.send((tally, found))


class Worker:
    """A process that judges batches; it is started again where an input ends it or takes too long.

    slow: inputs, of all workers, that took too long once. It may have been the machine: they are tried again, alone.
    """

    def __init__(self, options: argparse.Namespace, slow: set[tuple[str, int]]) -> None:
        self.options, self.task, self.process, self.slow = options, None, None, slow
        self.broken_off: list[tuple[str, int, int]] = []

    def _start(self) -> None:
        context = mp.get_context(self.options.start)
        self.at = context.Array("d", 2)
        self.pipe, theirs = context.Pipe()
        arguments = (theirs, self.options.seed, self.at, self.options.memory)
        self.process = context.Process(target=work, args=arguments, daemon=True)
        self.process.start()
        theirs.close()  # so that the end of the process is the end of the pipe

    def give(self, kind: str, first: int, last: int) -> None:
        if self.process is None:
            self._start()
        self.task = (kind, first, last)
        self.at[0] = first
        self.pipe.send(self.task)

    def result(self) -> tuple[collections.Counter[str], list[tuple[str, int, str]]] | None:
        """Results of the batch, None while it runs; inputs of a batch that ended early are in `broken_off`."""
        assert self.task is not None
        assert self.process is not None
        kind, first, last = self.task
        try:
            if self.pipe.poll(0.02):
                tally, found = self.pipe.recv()
                self.task = None
                return tally, found
        except EOFError:
            pass
        hangs = self.at[1] and time.monotonic() - self.at[1] > self.options.limit
        if self.process.is_alive() and not hangs:
            return None
        number = int(self.at[0])
        what = (
            f"took more than {self.options.limit:g} s, twice"
            if hangs
            else f"ended the process ({self.process.exitcode})"
        )
        self.process.kill()
        self.process.join()
        self.process = self.task = None
        # what was found before it in the batch is lost with the process
        parts = ((kind, first, number), (kind, number + 1, last))
        self.broken_off += [part for part in parts if part[1] < part[2]]
        if hangs and (kind, number) not in self.slow:
            self.slow.add((kind, number))
            self.broken_off.append((kind, number, number + 1))
            return collections.Counter(), []
        return collections.Counter(finding=1), [(kind, number, what)]


def run(options: argparse.Namespace) -> tuple[dict[str, collections.Counter[str]], list[tuple[str, int, str]]]:
    """Counts by kind, and findings."""
    counts = {kind: collections.Counter() for kind in options.only}
    findings: list[tuple[str, int, str]] = []
    for kind in options.only:
        case(options.seed, kind, 0)  # a mistake in the making of inputs ends the run here
    each = -(-options.count // len(options.only))
    tasks = [(kind, k, min(k + BATCH, each)) for k in range(0, each, BATCH) for kind in options.only][::-1]
    slow: set[tuple[str, int]] = set()
    workers = [Worker(options, slow) for _ in range(options.workers)]
    end = time.monotonic() + options.seconds
    while True:
        for worker in workers:
            if worker.task is None and tasks and time.monotonic() < end:
                worker.give(*tasks.pop())
            if worker.task is not None:
                kind = worker.task[0]
                done = worker.result()
                if done is not None:
                    counts[kind].update(done[0])
                    findings += done[1]
                    tasks += worker.broken_off
                    worker.broken_off = []
        if all(worker.task is None for worker in workers) and (not tasks or time.monotonic() >= end):
            break
    for worker in workers:
        if worker.process is not None:
            worker.pipe.send(None)
            worker.process.join()
    return counts, findings


def report(counts: dict[str, collections.Counter[str]], findings: list[tuple[str, int, str]], seed: int) -> None:
    print(f"{'kind':8}{'tried':>10}{'refused':>10}{'accepted':>10}{'findings':>10}")
    for kind, tally in counts.items():
        print(f"{kind:8}{tally.total():10}{tally['refused']:10}{tally['accepted']:10}{tally['finding']:10}")
    groups: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for kind, number, text in findings:
        groups.setdefault((kind, text.split(" | ")[0][:60] + text.split(" | ")[-1].split("(")[0][:30]), []).append(
            (number, text)
        )
    for (kind, _), members in sorted(groups.items(), key=lambda item: -len(item[1])):
        number, text = members[0]
        print(f"\n{len(members)} x {kind}, e.g. --seed {seed} --repeat {kind} {number}\n    {text}")


if __name__ == "__main__":
    sys.exit(main())
