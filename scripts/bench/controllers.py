"""The table of controllers in MuJoCo: robots, and what they walk through.

    python -m scripts.bench.controllers [g1 h1 human go2 anymal_c] [--tests walk changing push mass ...]
        [--seconds 30] [--speed 0.4] [--seed 0]

walk: stands, follows the speed, stops. changing: commands that change every 2 s. push: forward and sideways at 8 phases
of a stride, 0.25 m/s on two feet and 0.5 m/s on four. The others are the trials of `od.control.trial`, and grounds that
the controller knows. The seed is that of changing commands and of noise. A row per run: the time to the fall or of the
whole run, error of the mean speed and of the turn, largest torque over its limit, processor time of an update [ms],
simulated over processor time.
"""

from __future__ import annotations

from typing import Any

import ocp_dyn as od
from ocp_dyn import ocp
from scripts.common import Table, command_line

ROBOTS = ("g1", "h1", "human", "go2", "anymal_c")
TRIALS = ("mass", "friction", "delay", "steps", "slope", "noise")
TERRAINS = ("stairs", "stones")
TESTS = ("walk", "changing", "push", *TRIALS, *TERRAINS)
PUSHES = {2: 0.25, 4: 0.5}
"""Change of speed by a push [m/s], by the number of feet."""


def measured(body: Any, test: str, seconds: float, speed: float, seed: int) -> tuple[str, Any]:
    """The end of a run in words, and the run."""
    command = ocp.Command(speed)
    ground = od.control.terrain(test) if test in TERRAINS else None
    control = od.control.controller(body, ground)
    if test == "push":
        given = od.control.pushes(PUSHES[len(body.feet)])
        runs, stood = od.control.pushed(control, command, given, seed=seed)
        return f"{sum(up for _, up in stood)} of {len(given)}", runs[-1]
    wanted = od.control.changing(seed) if test == "changing" else od.control.walk_and_stop(command, seconds)
    options = od.control.trial(test)[1] if test in TRIALS else {"world": od.control.World(terrain=ground)}
    run = control.simulate(wanted, seconds, seed=seed, **options)
    return "falls" if run.fell else "stands", run


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("robots", nargs="*", default=ROBOTS, help="names of od.control.body")
    parser.add_argument("--tests", nargs="+", default=TESTS, choices=TESTS, help="default: all")
    parser.add_argument("--seconds", type=float, default=30.0, help="time of a run (default 30)")
    parser.add_argument("--speed", type=float, default=0.4, help="forward [m/s] (default 0.4)")
    parser.add_argument("--seed", type=int, default=0, help="of changing commands and of noise")
    o = parser.parse_args()
    names = {
        "speed error": "9.3f",
        "turn error": "9.3f",
        "torque": "8.2f",
        "ms": "8.2f",
        "99 %": "8.2f",
        "factor": "8.2f",
    }
    table = Table({"robot": "<10s", "test": "<10s", "end": "<10s", "s": "7.1f"} | names)
    for name in o.robots:
        body = od.control.body(name)
        for test in o.tests:
            end, run = measured(body, test, o.seconds, o.speed, o.seed)
            found = run.figures()
            table.row(
                name, test, end, run.seconds, found["speed_error"], found["turn_error"], found["peak_torque"],
                found["solve_ms"]["median"], found["solve_ms"]["p99"], found["real_time_factor"],
            )  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
