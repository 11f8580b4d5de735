"""Common parts of benchmarks and checks: one clock, the machine in words, tables, processes, command lines."""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

REPETITIONS = 15
LEAST = 2e-3
"""Seconds of one repetition: far above the resolution of the clock."""


def microseconds(run: Callable[[], object], states: int = 1, repetitions: int = REPETITIONS) -> float:
    """Microseconds per state of a `run` that computes so many: the median over the repetitions, in processor time of
    this thread, so that whatever else runs on the machine does not count."""
    run()  # whatever is made on first use, and into the caches
    begin = time.thread_time()
    run()
    inner = max(1, round(LEAST / max(time.thread_time() - begin, 1e-7)))
    times = []
    for _ in range(repetitions):
        begin = time.thread_time()
        for _ in range(inner):
            run()
        times.append(time.thread_time() - begin)
    return statistics.median(times) / (inner * states) * 1e6


def machine() -> str:
    """The processor, the number of processors and the version of Python, in words."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} processors, Python {platform.python_version()}"


class Table:
    """Rows that are printed as they come, under the titles of their columns.

    columns: title -> width and format of its cells, such as "9.2f", or "<20s" to begin on the left; a column is at
    least two wider than its title. Texts are printed as they are, and None as "-".
    """

    def __init__(self, columns: Mapping[str, str]) -> None:
        parts = [re.fullmatch(r"(<?)(\d+)(.*)", form) for form in columns.values()]
        self.sides, widths, self.formats = zip(*(part.groups() for part in parts if part), strict=True)
        self.widths = [max(int(width), len(title) + 2) for width, title in zip(widths, columns, strict=True)]
        self.row(*columns)

    def row(self, *cells: Any, after: str = "") -> None:
        """Prints a row, of which last cells may be missing; after: a remark behind it."""
        line = ""
        for cell, side, width, form in zip(cells, self.sides, self.widths, self.formats, strict=False):
            text = cell if isinstance(cell, str) else "-" if cell is None else format(cell, form)
            line += f"{text:{side or '>'}{width}s}"
        print((line + ("  " + after if after else "")).rstrip(), flush=True)


def command_line(doc: str | None) -> argparse.ArgumentParser:
    """The parser of a command, whose help is the docstring of its module."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def in_process(
    module: str, arguments: list[str], limit: float | None = None, **variables: str
) -> tuple[list[str], str]:
    """Lines that `python -m module` prints in a process of its own, and a fault: "" if it ended well within the
    limit [s]. variables: of its environment."""
    command, environment = [sys.executable, "-m", module, *arguments], os.environ | {"PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment | variables, capture_output=True, text=True,
                              timeout=limit, check=False)  # fmt: skip
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode().splitlines(), f"more than {limit:g} s"
    fault = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1] if done.returncode else ""
    return done.stdout.splitlines(), fault
