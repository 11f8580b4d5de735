"""One clock for all: processor time of this thread, so that whatever else runs on the machine does not count."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

REPETITIONS = 15
LEAST = 2e-3
"""Seconds of one repetition: far above the resolution of the clock."""


def microseconds(run: Callable[[], object], states: int = 1, repetitions: int = REPETITIONS) -> float:
    """Microseconds per state of a `run` that computes so many: the median over the repetitions."""
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
