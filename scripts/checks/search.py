"""Searches for faults in random mechanisms and states; they found what tests now hold.

    python -m scripts.checks.search NAME [--seed 0] [--count 20]

laws: every algorithm of the registry, of a random mechanism in another description of the world, see `tests/laws/`; one
change at a time: units, turned, mirrored and moved worlds, frames elsewhere, other orders, joints split.
growth: cost of every algorithm in numbers, against the number of joints of a chain, n for vectors, n^2 for matrices. A
finding is a time that grows by a larger power: run it on a machine that does nothing else.

Every finding is a line; the exit status is 1 if there is one.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import time
from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn.functions.registry import REGISTRY
from scripts.common import command_line
from tests.laws.cases import OtherElements
from tests.laws.checks import ONE_BY_ONE, UNITS, cases, check

SIZES = (50, 100, 200)
SLACK = 0.6
"""Largest excess of a measured exponent over its power."""
TAKEN = {"q", "qd", "qdd", "tau", "v", "q0", "q1", "mu", "s"}
CUBIC = {"FD_HC", "ddID", "ddFD", "dFD"}
"""Entries whose matrices are products of matrices."""


def laws(seed: int) -> Iterator[str]:
    for algorithm in REGISTRY:
        for old in cases(algorithm, seed):
            for name, change in {**ONE_BY_ONE, **UNITS}.items():
                with contextlib.suppress(OtherElements):
                    try:
                        check(algorithm, old, change)
                    except AssertionError as error:
                        yield f"{name}: {error}"


def growth(seed: int) -> Iterator[str]:
    models = [od.models.chain(n) for n in SIZES]
    for algorithm, signature in REGISTRY.items():
        names = [one.name for one in signature.inputs]
        if set(names) <= TAKEN and list(inspect.signature(algorithm).parameters)[1] in TAKEN:
            times = [_time(algorithm, model, names, seed) for model in models]
            exponent = float(np.polyfit(np.log(SIZES[-2:]), np.log(times[-2:]), 1)[0])
            matrix = any(one.columns is not None for one in signature.outputs)
            power = 3 if signature.name in CUBIC else 2 if matrix else 1
            if exponent > power + SLACK and times[-1] > 0.05:
                took = ", ".join(f"{1e3 * t:.0f} ms at {n}" for n, t in zip(SIZES, times, strict=True))
                yield f"{signature.name} grows with n^{exponent:.1f}: {took} joints"


def _time(algorithm: Any, model: od.Model, names: list[str], seed: int) -> float:
    """Seconds of one call, the least of three."""
    rng = np.random.default_rng([seed, model.nv])
    given = [ca.DM(0.3) if name == "s" else ca.DM(rng.uniform(-1, 1, model.nv)) for name in names]
    best = np.inf
    for _ in range(3):
        start = time.process_time()
        algorithm(model, *given)
        best = min(best, time.process_time() - start)
    return best


SEARCHES = {"laws": laws, "growth": growth}


def main(arguments: list[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("name", choices=SEARCHES, help="what is searched for")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case; each has the next (default 0)")
    parser.add_argument("--count", type=int, default=20, help="number of cases (default 20)")
    options = parser.parse_args(arguments)
    count = 0
    for seed in range(options.seed, options.seed + options.count):
        for finding in SEARCHES[options.name](seed):
            print(f"seed {seed}: {finding}", flush=True)
            count += 1
    print(f"{options.count} cases, {count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
