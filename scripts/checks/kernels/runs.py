"""Runs of one ready problem from first guesses that differ by noise, in a process whose environment names a BLAS
kernel.

    python -m scripts.checks.kernels.runs NAME FIRST COUNT SIZE quick|full

Prints a line of JSON for every run, with the fields of `Run`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np

from ocp_dyn import ocp
from ocp_dyn.ocp.solvers.interface import Start
from ocp_dyn.ocp.workflows import attempt as solving
from problems import compliant_walk

from .ready import ready

OPTIONS: dict[str, dict[str, Any]] = {"five_link_diary": {"mu_init": 1e-2}}
"""Options that the commands of problems pass to the solver."""


@dataclass(frozen=True)
class Run:
    """The end of one run."""

    status: str
    objective: float
    iterations: int
    seconds: float


def runs(name: str, seeds: range, size: float, quick: bool) -> Iterator[Run]:
    """One run for every seed; seed 0 starts at the problem's first guess itself."""
    problem = ready(name, quick)
    guess = compliant_walk.first_guess() if name == "compliant_walk" else None
    for seed in seeds:
        begin = time.perf_counter()
        with patch.object(solving, "starting_point", _noisy(solving.starting_point, seed, size)):
            found: ocp.Solution = problem.solve(guess=guess, progress=False, **OPTIONS.get(name, {}))
        yield Run(found.status, found.objective, found.stats["iterations"], time.perf_counter() - begin)


def _noisy(starting_point: Callable[..., Start], seed: int, size: float) -> Callable[..., Start]:
    """The same starting point with noise in the scale of the program, whose variables are about 1."""

    def noisy(*arguments: Any, **options: Any) -> Start:
        start = starting_point(*arguments, **options)
        noise = size * np.random.default_rng(seed).standard_normal(start.x.size) * np.maximum(1.0, np.abs(start.x))
        return replace(start, x=np.clip(start.x + noise, start.lower, start.upper)) if seed else start

    return noisy


def main(name: str, first: str, count: str, size: str, grid: str) -> None:
    for run in runs(name, range(int(first), int(first) + int(count)), float(size), grid == "quick"):
        print(json.dumps(asdict(run)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
