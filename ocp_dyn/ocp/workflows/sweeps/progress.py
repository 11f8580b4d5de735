"""Lines of progress of a sweep."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any


class Pace:
    """Counts what was solved, and foresees when the rest will be. total: number of points; before: those that an
    earlier run has solved."""

    def __init__(self, total: int, before: int) -> None:
        self.total, self.before, self.begin = total, before, time.monotonic()
        self.count = self.missed = 0

    def line(self, name: str, record: Mapping[str, Any] | None, error: str, done: int) -> str:
        """The line of a point: how it went, and how long the rest takes at the pace so far."""
        self.count += 1
        if error or record is None:
            told = error or "no solution"
        elif record["converged"]:
            told = f"{record['iterations']} iterations, cost {record['objective']:.5g}"
        else:
            told = f"NOT FOUND, {record['status']}"
        self.missed += bool(error) or record is None or not record["converged"]
        seconds = time.monotonic() - self.begin
        rest = max(0, self.total - max(done, self.before + self.count)) * seconds / self.count
        missed = f", {self.missed} not found" if self.missed else ""
        return f"  {done:>{len(str(self.total))}}/{self.total}  {name}: {told}{missed}; {duration(rest)} left"


def duration(seconds: float) -> str:
    """A time in words: "45 s", "12 min", "3.2 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
