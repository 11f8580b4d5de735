"""A population whose processes are killed at random, beside one that is left alone: no gait lost, none solved twice.

    python -m scripts.checks.killed_sweep [--gaits N] [--jobs N] [--worker S] [--sweep S] [--seed N] [--out DIR]

Every `--worker` seconds on average a process that solves gaits is killed by SIGKILL, and every `--sweep` seconds the
sweep itself, which is then started again. The population is that of the five-link biped of
`scripts.bench.growth.gaits`. Prints the counts; the exit status is 1 if a gait is missing, was written twice, or if one
of `--again` gaits solved anew without a disturbance differs.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ocp_dyn import ocp
from scripts.bench.growth.gaits import CASES, biped
from scripts.common import command_line, machine


def points_of(gaits: int) -> Sequence[ocp.SweepPoint]:
    return ocp.latin_hypercube(CASES["biped"][1], gaits, seed=0)


def serve(folder: Path, gaits: int, jobs: int) -> None:
    """Runs the sweep, and adds the name of every gait to a log once it is written."""
    with (folder / "written.log").open("a", buffering=1) as log:
        for point, _ in ocp.Sweep(biped, points_of(gaits), folder / "gaits", jobs=jobs, keep_going=True):
            log.write(f"{point.name}\n")


def children(process: int) -> list[int]:
    """Processes that a process has started, those that are ending left out; by Linux's /proc."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += map(int, task.read_text().split())
        except OSError:
            continue
    return found


def disturbed(folder: Path, options: argparse.Namespace) -> Counter[str]:
    """Runs the sweep to its end with random kills; their counts."""
    rng, kills = np.random.default_rng(options.seed), Counter[str]()
    command = [sys.executable, "-m", __spec__.name, "--serve", str(folder), "--gaits", str(options.gaits), "--jobs",
               str(options.jobs)]  # fmt: skip
    while True:
        sweep = subprocess.Popen(command)
        end = time.monotonic() + rng.exponential(options.sweep)
        while sweep.poll() is None and time.monotonic() < end:
            time.sleep(min(rng.exponential(options.worker), max(0.0, end - time.monotonic()) + 0.1))
            victims = children(sweep.pid)
            if sweep.poll() is None and victims and time.monotonic() < end:
                os.kill(int(rng.choice(victims)), signal.SIGKILL)
                kills["processes of the sweep killed"] += 1
        if sweep.poll() is None:
            sweep.kill()
            kills["sweeps killed"] += 1
        if sweep.wait() == 0:
            return kills


def compared(folder: Path, points: Sequence[ocp.SweepPoint], again: int) -> float:
    """The largest difference of the cost of gaits from those that an undisturbed sweep over all points finds, among the
    first that it solves; relative."""
    kept = ocp.Sweep(biped, points, folder / "gaits").library
    worst, calm = 0.0, ocp.Sweep(biped, points, folder / "calm", jobs=1)
    for k, (point, solution) in enumerate(calm):
        worst = max(worst, abs(kept.load(point).objective / solution.objective - 1))
        if k + 1 >= again:
            break
    return worst


def main(argv: list[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("--gaits", type=int, default=1000, help="points of the population (default 1000)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--worker", type=float, default=10.0, help="seconds between kills of a process (default 10)")
    parser.add_argument("--sweep", type=float, default=90.0, help="seconds between kills of the sweep (default 90)")
    parser.add_argument("--again", type=int, default=20, help="gaits that are solved again undisturbed (default 20)")
    parser.add_argument("--seed", type=int, default=0, help="of the kills (default 0)")
    parser.add_argument("--out", type=Path, help="folder of the sweep (default: a temporary one)")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.serve:
        serve(options.serve, options.gaits, options.jobs)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        begin, load = time.monotonic(), os.getloadavg()[0]
        kills = disturbed(folder, options)
        seconds = time.monotonic() - begin
        points = points_of(options.gaits)
        written = Counter((folder / "written.log").read_text().split())
        records = ocp.Sweep(biped, points, folder / "gaits").library.records(points)
        missing = [point.name for point in points if "converged" not in records.get(point.name, {})]
        twice = [name for name, count in written.items() if count > 1]
        worst = compared(folder, points, options.again)
        print(f"{machine()}; load {load:.1f} to {os.getloadavg()[0]:.1f}")
        cpu = [record["processor_seconds"] for record in records.values() if "processor_seconds" in record]
        for name, value in {
            "gaits": len(points), "converged": sum(bool(r.get("converged")) for r in records.values()), **kills,
            "missing": len(missing), "written twice": len(twice), "seconds": round(seconds),
            "processor seconds of a gait, median": float(np.median(cpu)), "sum": round(float(np.sum(cpu))),
            "files [MB]": round(1e-6 * sum(r.get("bytes", 0) for r in records.values()), 1),
            "largest relative difference of cost, undisturbed": worst,
        }.items():  # fmt: skip
            print(f"{name}: {value}")
    return int(bool(missing or twice or worst > 0))


if __name__ == "__main__":
    sys.exit(main())
