"""Speed and robustness of walks: iterations and seconds of the problems of MEASUREMENTS.md.

    python -m scripts.bench.walking [speeds] [refine] [neighbors] [robot] [--repeats 3]
                                    [--urdf FILE --left-foot L --right-foot R]

speeds: the human from 0.8 to 2.0 m/s, each from the library's own guess. refine: N and 2N intervals. neighbors: other
speeds from the solution at 1.2 m/s. robot: a humanoid from standing still, and from eight noisy guesses (0.05 rad, 0.2
rad/s). Tables are used wherever they pay.
Seconds are those of the solver, medians of the repeats.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ocp_dyn import ocp
from problems import human_walk, robot_walk
from scripts.common import Table, command_line, machine

NOISE = (0.05, 0.2)
"""Standard deviations of every joint angle [rad] and position [m], and of their rates."""


Solve = Callable[..., ocp.Solution]
"""A function of a label, a problem and options of `solve` that prints a row."""


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("what", nargs="*", choices=[*MEASURED, []], default=["speeds", "refine", "neighbors"],
                        metavar="WHAT", help="measurements: speeds, refine, neighbors, robot")  # fmt: skip
    parser.add_argument("--urdf", help="a humanoid, for robot")
    parser.add_argument("--left-foot", default="left_sole_link", help="frame of its left sole")
    parser.add_argument("--right-foot", default="right_sole_link", help="frame of its right sole")
    parser.add_argument("--repeats", type=int, default=3, help="solves of every problem (default 3)")
    options = parser.parse_args()
    if "robot" in options.what and not options.urdf:
        parser.error("robot needs --urdf FILE")
    print(f"{machine()}, median of {options.repeats}")
    table = Table(COLUMNS)

    def solve(label: str, walk: ocp.Problem, **given: Any) -> ocp.Solution:
        runs = [walk.solve(progress=False, **given) for _ in range(options.repeats)]
        seconds = statistics.median(run.stats["solve_seconds"] for run in runs)
        found, defects, count = runs[-1], runs[-1].defects(), runs[-1].stats["iterations"]
        table.row(label, found.status, count, seconds, 1e3 * seconds / max(count, 1), found.objective,
                  np.degrees(defects.angle), 1e3 * defects.length)  # fmt: skip
        return found

    for what in options.what:
        MEASURED[what](solve, options)
    return 0


COLUMNS = {"": "<30s", "status": "16s", "iterations": "10d", "s": "7.2f", "ms each": "8.1f", "cost": "10.4f",
           "defect deg": "8.4f", "defect mm": "7.4f"}  # fmt: skip


def _speeds(solve: Solve, _: argparse.Namespace) -> None:
    for speed in np.arange(8, 21) / 10:
        solve(f"human, {speed:.1f} m/s", human_walk.problem(float(speed)))


def _refine(solve: Solve, _: argparse.Namespace) -> None:
    costs = []
    for factor in (1, 2):
        intervals = tuple(factor * n for n in human_walk.INTERVALS)
        costs.append(solve(f"human, {sum(intervals)} intervals", human_walk.problem(intervals=intervals)).objective)
    print(f"cost changes by {100 * abs(costs[1] / costs[0] - 1):.2f} %")


def _neighbors(solve: Solve, _: argparse.Namespace) -> None:
    walk = human_walk.problem()
    start = walk.solve(progress=False)
    for speed in (0.9, 1.1, 1.25, 1.3, 1.5):
        solve(f"human, from 1.2 to {speed:g} m/s", walk, start=start, values={"speed": speed})


def _robot(solve: Solve, options: argparse.Namespace) -> None:
    walk = robot_walk.problem(0.5, options.urdf, feet=(options.left_foot, options.right_foot), margins=None)
    still = solve(f"{walk.model.name}, from standing", walk)
    q0 = np.array(still.model.neutral() if walk.posture is None else walk.posture)
    for seed in range(8):
        noisy = replace(walk, guess=_noisy(walk, q0, np.random.default_rng(seed)))
        solve(f"{walk.model.name}, noisy guess {seed}", noisy)


def _noisy(walk: ocp.Problem, q0: np.ndarray, rng: np.random.Generator) -> Callable[[float], Any]:
    """The standing robot, moved forward at 0.5 m/s for about a second, with noise."""

    def state(s: float) -> tuple[np.ndarray, np.ndarray]:
        angle, rate = (rng.normal(0.0, sigma, walk.model.nv) for sigma in NOISE)
        forward = 0.45 * (s - 0.5) * np.eye(walk.model.nq)[0]
        return np.array(walk.model.integrate(q0 + forward, angle)).ravel(), rate + 0.5 * np.eye(walk.model.nv)[0]

    return state


MEASURED = {"speeds": _speeds, "refine": _refine, "neighbors": _neighbors, "robot": _robot}


if __name__ == "__main__":
    sys.exit(main())
