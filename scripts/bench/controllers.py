"""The table of controllers in MuJoCo: robots, and what they walk through, each by `python -m problems.control`.

    python -m scripts.bench.controllers [g1 h1 human go2 anymal_c] [--tests walk changing push mass ...]
        [--seeds 0] [--jobs 1] [--out out/controllers.jsonl]

walk: 60 s of standing, 0.4 m/s, and a stop. changing: commands that change every 2 s, for 30 s. push: forward and
sideways at 8 phases of a stride, 0.25 m/s on two feet and 0.5 m/s on four. mass, friction, delay, steps, slope, noise:
trials of 30 s, of which the controller is not told. stairs, stones: grounds that it knows. The seeds are those of
changing commands and of noise.

Every run is a process of its own, whose last line goes to the file of --out; runs that are there already are not
repeated. A row per run: how it ends, its time, error of the mean speed and of the turn, largest torque over its limit,
processor time of an update [ms] (median, 99 %), simulated over processor time.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from scripts.common import ROOT, Table, command_line, in_process

ROBOTS = {"g1": 0.25, "h1": 0.25, "human": 0.25, "go2": 0.5, "anymal_c": 0.5}
"""Robots, and the change of their speed by a push [m/s]."""

TRIALS = ("mass", "friction", "delay", "steps", "slope", "noise")
TESTS: dict[str, list[str]] = {
    "walk": ["--seconds", "60"],
    "changing": ["--changing", "--seconds", "30"],
    "push": ["--push"],
    **{name: ["--trial", name, "--seconds", "30"] for name in TRIALS},
    "stairs": ["--terrain", "stairs", "--seconds", "15", "--command", "0.3"],
    "stones": ["--terrain", "stones", "--seconds", "20", "--command", "0.3"],
}
"""Options of every test."""

SEEDED = ("changing", "noise")

COLUMNS = {
    "robot": "<10s", "test": "<10s", "seed": "4d", "end": "<10s", "s": "7.1f", "speed error": "9.3f",
    "turn error": "9.3f", "torque": "8.2f", "ms": "8.2f", "99 %": "8.2f", "factor": "8.2f",
}  # fmt: skip


def measured(key: tuple[str, str, int]) -> dict[str, Any]:
    """The figures of a run, or its fault."""
    robot, test, seed = key
    pushed = [str(ROBOTS[robot])] if test == "push" else []
    arguments = [robot, *TESTS[test], *pushed, "--seed", str(seed), "--json", "--quiet"]
    lines, fault = in_process("problems.control", arguments, limit=3600)
    found = {"fault": fault} if fault else json.loads(lines[-1])
    return {"key": list(key)} | found


def ending(found: dict[str, Any]) -> str:
    """End of a run in words."""
    if found["pushes"]:
        return f"{found['stood']} of {found['pushes']}"
    return "falls" if found["fell"] else "stands"


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("robots", nargs="*", default=list(ROBOTS), metavar="ROBOT", help="default: all")
    parser.add_argument("--tests", nargs="+", default=list(TESTS), choices=list(TESTS), help="default: all")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="of changing commands and of noise")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "controllers.jsonl", help="file of the runs")
    o = parser.parse_args()
    unknown = set(o.robots) - set(ROBOTS)
    if unknown:
        parser.error(f"robots must be some of {', '.join(ROBOTS)}, got {', '.join(sorted(unknown))}")
    o.out.parent.mkdir(parents=True, exist_ok=True)
    lines = o.out.read_text().splitlines() if o.out.exists() else []
    done = {tuple(run["key"]): run for run in map(json.loads, lines)}
    keys = [(r, t, s) for r in o.robots for t in o.tests for s in (o.seeds if t in SEEDED else [0])]
    table = Table(COLUMNS)
    with ThreadPoolExecutor(o.jobs) as pool, o.out.open("a") as file:
        for key, found in zip(keys, pool.map(lambda k: done.get(k) or measured(k), keys), strict=True):
            if "fault" in found:
                table.row(*key, "fault", after=found["fault"])
                continue
            if key not in done:
                print(json.dumps(found), file=file, flush=True)
            table.row(
                *key, ending(found), found["seconds"], found["speed_error"], found["turn_error"], found["peak_torque"],
                found["solve_ms"]["median"], found["solve_ms"]["p99"], found["real_time_factor"],
            )  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
