#!/usr/bin/env python3
"""Speed and robustness of walks: iterations and seconds of the problems of MEASUREMENTS.md.

    python scripts/bench_walking.py [speeds] [refine] [neighbors] [robot] [--compile] [--repeats 3]
                                    [--urdf FILE --left-foot L --right-foot R]

speeds: the human from 0.8 to 2.0 m/s, each from the library's own guess. refine: N and 2N intervals. neighbors: other
speeds from the solution at 1.2 m/s. robot: a humanoid from standing still, and from eight noisy guesses (0.05 rad, 0.2
rad/s). Without --compile everything is evaluated by the virtual machine; with it, tables are made first, untimed.
Seconds are those of the solver, medians of the repeats.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from ocp_dyn import ocp
from problems import human_walk, robot_walk

NOISE = (0.05, 0.2)
"""Standard deviations of every joint angle [rad] and position [m], and of their rates."""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("what", nargs="*", choices=[*MEASURED, []], default=["speeds", "refine", "neighbors"], metavar="WHAT",
                           help="measurements: speeds, refine, neighbors, robot")  # fmt: skip
    arguments.add_argument("--urdf", help="a humanoid, for robot")
    arguments.add_argument("--left-foot", default="left_sole_link", help="frame of its left sole")
    arguments.add_argument("--right-foot", default="right_sole_link", help="frame of its right sole")
    arguments.add_argument(
        "--compile", action="store_true", help="evaluate by machine code instead of CasADi's virtual machine"
    )
    arguments.add_argument("--repeats", type=int, default=3, help="solves of every problem (default 3)")
    options = arguments.parse_args()
    if "robot" in options.what and not options.urdf:
        arguments.error("robot needs --urdf FILE")
    how = "machine code" if options.compile else "virtual machine"
    print(f"{platform.machine()}, {os.cpu_count()} processors, {how}, median of {options.repeats}")
    print(f"{'':34s} {'status':16s} {'iterations':>10s} {'s':>7s} {'ms each':>8s} {'cost':>10s} {'defect':>18s}")
    for what in options.what:
        MEASURED[what](options)
    return 0


def _speeds(options: argparse.Namespace) -> None:
    for speed in np.arange(8, 21) / 10:
        _row(f"human, {speed:.1f} m/s", human_walk.problem(float(speed)), options)


def _refine(options: argparse.Namespace) -> None:
    costs = []
    for factor in (1, 2):
        intervals = tuple(factor * n for n in human_walk.INTERVALS)
        costs.append(
            _row(f"human, {sum(intervals)} intervals", human_walk.problem(intervals=intervals), options).objective
        )
    print(f"{'':34s} cost changes by {100 * abs(costs[1] / costs[0] - 1):.2f} %")


def _neighbors(options: argparse.Namespace) -> None:
    walk = human_walk.problem()
    start = walk.solve(progress=False, compile=options.compile)
    for speed in (1.1, 1.25, 1.3):
        _row(f"human, from 1.2 to {speed:g} m/s", walk, options, start=start, values={"speed": speed})


def _robot(options: argparse.Namespace) -> None:
    model = robot_walk.load(options.urdf, options.left_foot, options.right_foot)
    walk = robot_walk.problem(0.5, model)
    still = _row(f"{model.name}, from standing", walk, options)
    q0 = np.array(still.model.neutral() if walk.posture is None else walk.posture)
    for seed in range(8):
        noisy = replace(walk, guess=_noisy(walk, q0, np.random.default_rng(seed)))
        _row(f"{model.name}, noisy guess {seed}", noisy, options)


def _noisy(walk: ocp.Problem, q0: np.ndarray, rng: np.random.Generator) -> Callable[[float], Any]:
    """The standing robot, moved forward at 0.5 m/s for about a second, with noise."""

    def state(s: float) -> tuple[np.ndarray, np.ndarray]:
        angle, rate = (rng.normal(0.0, sigma, walk.model.nv) for sigma in NOISE)
        forward = 0.45 * (s - 0.5) * np.eye(walk.model.nq)[0]
        return np.array(walk.model.integrate(q0 + forward, angle)).ravel(), rate + 0.5 * np.eye(walk.model.nv)[0]

    return state


def _row(label: str, walk: ocp.Problem, options: argparse.Namespace, **given: Any) -> ocp.Solution:
    """Solves the problem `--repeats` times, prints a line and returns the solution."""
    runs = [walk.solve(progress=False, compile=options.compile, **given) for _ in range(options.repeats)]
    seconds = statistics.median(run.stats["solve_seconds"] for run in runs)
    found, defects = runs[-1], runs[-1].defects()
    count = found.stats["iterations"]
    print(
        f"{label:34s} {found.status:16.16s} {count:10d} {seconds:7.2f} {1e3 * seconds / max(count, 1):8.1f} "
        f"{found.objective:10.4f} {np.degrees(defects.angle):8.4f} deg {1e3 * defects.length:7.4f} mm",
        flush=True,
    )
    return found


MEASURED = {"speeds": _speeds, "refine": _refine, "neighbors": _neighbors, "robot": _robot}


if __name__ == "__main__":
    sys.exit(main())
