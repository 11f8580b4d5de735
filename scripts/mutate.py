#!/usr/bin/env python3
"""Mutation tests: one line of the library is made wrong, and the tests of its room must fail. Run by hand, not in CI.

    python scripts/mutate.py [--only derivatives] [--jobs 2] [--sample 20 --seed 1] [--allow 5] [--list]

mutations.toml beside this script lists the mutations: a file, a text that occurs in it exactly once (or `nth`, the
number of the occurrence), its replacement, and the tests that should fail then. The checkout is not changed: every
worker has a copy of it in a temporary directory, applies one mutation after the other there, and runs its quick tests
until one fails. Before that, the same tests run without mutations, because a test that fails then shows nothing.

The script prints a line per mutation, with the test that failed, and at the end the mutations that are alive: those
that no test noticed. Mutations marked `accepted` in the table cannot be noticed, for the reason given there, and do not
count. The exit status is 1 if more than --allow others are alive.
"""

from __future__ import annotations

import argparse
import compileall
import os
import py_compile
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name("mutations.toml")
COPIED = (
    "ocp_dyn", "tests", "problems", "scripts", "docs",
    "pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "LICENSE",
)  # fmt: skip
"""Files and folders that a run of the tests reads."""


class TableError(ValueError):
    """Raised where an entry of the table cannot be used."""


QUICK = ("-m", "not slow")
NONE_SELECTED = 5
"""The exit status of pytest if it runs no test."""


@dataclass(frozen=True)
class Mutation:
    """Occurrence `nth` of `old` in `file` becomes `new`; then `tests` should fail, unless it is `accepted`."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    nth: int = 0
    accepted: str = ""

    @property
    def name(self) -> str:
        place = f" [{self.nth}]" if self.nth else ""
        return f"{self.file}: {self.old}{place} -> {self.new or '(nothing)'}".replace("\n", " ")

    def apply(self, text: str) -> str:
        """The text of the file with the mutation. TableError where `old` does not say which place is meant."""
        parts = text.split(self.old)
        found = len(parts) - 1
        if not self.nth and found != 1:
            raise TableError(
                f"{self.name}: the text occurs {found} times, expected once: correct it, or give nth = 1, ..."
            )
        if not 0 <= self.nth <= found:
            raise TableError(f"{self.name}: the text occurs {found} times, so there is no occurrence {self.nth}")
        if self.old == self.new:
            raise TableError(f"{self.name}: changes nothing")
        k = max(self.nth, 1)
        return self.old.join(parts[:k]) + self.new + self.old.join(parts[k:])


@dataclass(frozen=True)
class Outcome:
    """Result of a mutation: the test that noticed it ("" if none did), and the seconds of its tests."""

    mutation: Mutation
    killer: str
    seconds: float

    @property
    def alive(self) -> bool:
        return not self.killer

    def __str__(self) -> str:
        fate = self.killer or ("accepted" if self.mutation.accepted else "ALIVE")
        return f"{self.seconds:5.1f} s  {self.mutation.name}\n         {fate}"


def read(table: Path = TABLE) -> list[Mutation]:
    """All mutations of a table. TableError for entries with missing or unknown keys."""
    mutations = []
    for room in tomllib.loads(table.read_text(encoding="utf-8"))["file"]:
        for entry in room["mutations"]:
            known: dict[str, Any] = {"tests": room["tests"]} | entry
            try:
                mutations.append(Mutation(room["path"], **known | {"tests": tuple(known["tests"])}))
            except TypeError as error:
                raise TableError(f"{room['path']}: {entry}: {error}") from None
    return mutations


def stale(mutations: list[Mutation]) -> list[str]:
    """Messages about mutations that do not fit the library any more."""
    messages = []
    for mutation in mutations:
        path = ROOT / mutation.file
        try:
            if not path.is_file():
                raise TableError(f"{mutation.name}: there is no such file")
            mutation.apply(path.read_text(encoding="utf-8"))
        except TableError as error:
            messages.append(str(error))
    return messages


class Copy:
    """A copy of the checkout to work in."""

    def __init__(self, parent: Path) -> None:
        self.root = Path(tempfile.mkdtemp(dir=parent, prefix="tree-"))
        unwanted = shutil.ignore_patterns("__pycache__", ".*", "build")
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, self.root / name, ignore=unwanted)
            elif source.exists():
                shutil.copy2(source, self.root / name)
        # by their digests, not by their times: a file that changes twice within a second is not taken for the old one
        compileall.compile_dir(self.root, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)

    def try_out(self, mutation: Mutation, limit: float) -> Outcome:
        """Applies a mutation, runs its tests, and takes it back."""
        path = self.root / mutation.file
        text = path.read_text(encoding="utf-8")
        begin = time.perf_counter()
        path.write_text(mutation.apply(text), encoding="utf-8")
        try:
            killer = self.first_failure(mutation.tests, limit)
        finally:
            path.write_text(text, encoding="utf-8")
        return Outcome(mutation, killer, time.perf_counter() - begin)

    def first_failure(self, tests: tuple[str, ...], limit: float, selection: tuple[str, ...] = QUICK) -> str:
        """The first of these tests that fails, or what else kept them from passing; "" if all pass.

        The quick ones of them run; where all are slow, all run.
        """
        options = ("-x", "-q", "-n", "0", *selection, "-p", "no:cacheprovider")
        with tempfile.TemporaryDirectory(dir=self.root, prefix=".cache-") as cache:
            # no machine code is kept from one mutation to the next, and no byte code
            made = {"XDG_CACHE_HOME": cache, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *options, *tests],
                cwd=self.root, env=os.environ | made, text=True, errors="replace", start_new_session=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            try:
                output, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                return f"no end within {limit:g} s"
            finally:
                _end(process)
        if process.returncode == 0:
            return ""
        if process.returncode == NONE_SELECTED and selection:
            return self.first_failure(tests, limit, ())
        failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)
        return failed[1] if failed else f"pytest ended with {process.returncode}: {' '.join(output.split())[-200:]}"


def _end(process: subprocess.Popen[str]) -> None:
    """Ends a process that still runs, and what it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def chosen(mutations: list[Mutation], options: argparse.Namespace) -> list[Mutation]:
    """Those of the mutations that the options ask for, in the order of the table."""
    found = [m for m in mutations if re.search(options.only, m.name)] if options.only else list(mutations)
    if options.sample is not None and options.sample < len(found):
        kept = set(random.Random(options.seed).sample(range(len(found)), options.sample))
        found = [m for k, m in enumerate(found) if k in kept]
    return found


def run(mutations: list[Mutation], options: argparse.Namespace) -> list[Outcome]:
    """Tries out all mutations in several processes and prints each result. SystemExit if tests fail without them."""
    with tempfile.TemporaryDirectory(prefix="mutate-") as parent:
        copies: queue.Queue[Copy] = queue.Queue()
        for _ in range(options.jobs):
            copies.put(Copy(Path(parent)))

        def one(mutation: Mutation) -> Outcome:
            copy = copies.get()
            try:
                outcome = copy.try_out(mutation, options.limit)
            finally:
                copies.put(copy)
            print(outcome, flush=True)
            return outcome

        def sound(tests: tuple[str, ...]) -> str:
            copy = copies.get()
            try:
                return copy.first_failure(tests, 10 * options.limit)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(options.jobs) as pool:
            if not options.trust:
                alone = sorted({test for m in mutations for test in m.tests})
                parts = [tuple(alone[k :: options.jobs]) for k in range(min(options.jobs, len(alone)))]
                for failure in pool.map(sound, parts):
                    if failure:
                        raise SystemExit(f"without any mutation: {failure} fails, so nothing can be told")
            return list(pool.map(one, mutations))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--only", metavar="PATTERN", help='a regular expression on "file: old -> new"')
    arguments.add_argument("--sample", type=int, metavar="N", help="so many of them, drawn by --seed")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--jobs", type=int, default=2, help="mutations at once")
    arguments.add_argument("--limit", type=float, default=120.0, help="seconds for the tests of one mutation")
    arguments.add_argument("--allow", type=int, default=5, help="so many may be alive")
    arguments.add_argument("--trust", action="store_true", help="do not run the tests on the library as it is first")
    arguments.add_argument("--list", action="store_true", help="print the mutations and run nothing")
    options = arguments.parse_args()
    mutations = read()
    wrong = stale(mutations)
    if wrong:
        raise TableError("\n".join(wrong))
    mutations = chosen(mutations, options)
    if options.list:
        for m in mutations:
            print(f"{m.name}\n    by {' '.join(m.tests)}" + (f"\n    accepted: {m.accepted}" if m.accepted else ""))
        print(f"{len(mutations)} mutations")
        return 0
    begin = time.perf_counter()
    outcomes = run(mutations, options)
    alive = [o.mutation for o in outcomes if o.alive and not o.mutation.accepted]
    accepted = [o.mutation for o in outcomes if o.mutation.accepted]
    print(
        f"\n{len(outcomes)} mutations in {time.perf_counter() - begin:.0f} s: {sum(not o.alive for o in outcomes)} killed"
    )
    for m in accepted:
        print(f"accepted: {m.name}\n    {m.accepted}")
    for m in alive:
        print(f"ALIVE: {m.name}\n    in spite of {' '.join(m.tests)}")
    return int(len(alive) > options.allow)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except TableError as error:
        sys.exit(f"{TABLE.name}: {error}")
