"""Table of runs from guesses that differ by rounding: statuses, costs, iterations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .runs import Run

HEAD = ("problem", "runs", "status", "cost", "spread", "optima", "iterations: least", "median", "most", "s per run")
SAME = 1e-6
"""Relative difference of costs below which two runs have found the same optimum."""


def optima(costs: Sequence[float]) -> list[tuple[float, int]]:
    """Costs that differ by more than `SAME`, with the number of runs that found each, the least first."""
    found: list[tuple[float, int]] = []
    for cost in sorted(costs):
        if found and cost - found[-1][0] <= SAME * max(abs(cost), 1e-300):
            found[-1] = found[-1][0], found[-1][1] + 1
        else:
            found.append((cost, 1))
    return found


def alike(runs: Sequence[Run]) -> bool:
    """Whether all runs ended with one status and one cost."""
    return len({run.status for run in runs}) == 1 and len(optima([run.objective for run in runs])) == 1


def row(name: str, runs: Sequence[Run]) -> tuple[str, ...]:
    """The row of a problem, with the entries of `HEAD`."""
    statuses = Counter(run.status for run in runs)
    costs, iterations = [run.objective for run in runs], [run.iterations for run in runs]
    different, spread = optima(costs), (max(costs) - min(costs)) / max(abs(min(costs)), 1e-300)
    told = [f"{status} {count}" if len(statuses) > 1 else status for status, count in statuses.most_common()]
    found = "1" if len(different) == 1 else " ".join(f"{cost:.6g} ({count})" for cost, count in different)
    seconds = f"{np.median([run.seconds for run in runs]):.1f}"
    return (name, str(len(runs)), ", ".join(told), f"{min(costs):.8g}", f"{spread:.1e}", found, str(min(iterations)),
            f"{np.median(iterations):g}", str(max(iterations)), seconds)  # fmt: skip


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """The rows as a table."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (HEAD, ["---"] * len(HEAD), *rows))
