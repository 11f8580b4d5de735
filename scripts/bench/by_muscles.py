"""Ready motions of the human by 86 muscles, each from its motion by motors.

    python -m scripts.bench.by_muscles [walk rise jump run ...]

walk: on rigid feet at 1.2 m/s. rise: from a chair. jump: a squat jump whose lower back is locked, as in the motion by
motors. run: at 3 m/s. A row per motion: iterations by motors and by muscles; wall time [s] of the motion by motors, of
building and of solving that by muscles, and of all together; the cost.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from problems import jump, run, sit_to_stand
from scripts.common import Table, command_line


def body() -> od.Model:
    """The human with muscles, on a floating base."""
    return od.models.human(muscles=True, root=od.FloatingBase())


def walk() -> tuple[ocp.Problem, od.Model]:
    problem = od.walking.human_walk(od.walking.person(model=body()), 1.2)
    return problem, problem.model


def rise() -> tuple[ocp.Problem, od.Model]:
    return sit_to_stand.problem(), od.walking.person(model=body()).model


def squat_jump() -> tuple[ocp.Problem, od.Model]:
    limits = {q: -x for q, x in jump.LEAN.items()}
    model = body().lock_joints({"lumbar": np.zeros(3)})
    return jump.problem(), model.with_limits(lower=limits, upper=jump.LEAN, velocity={"root": jump.SPEEDS})


def at_three_meters_per_second() -> tuple[ocp.Problem, od.Model]:
    return run.problem(3.0), od.walking.person(model=body()).model


MOTIONS: dict[str, Callable[[], tuple[ocp.Problem, od.Model]]] = {
    "walk": walk, "rise": rise, "jump": squat_jump, "run": at_three_meters_per_second,
}  # fmt: skip


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("motions", nargs="*", metavar="MOTION", help=" ".join(MOTIONS))
    chosen = parser.parse_args().motions or list(MOTIONS)
    if unknown := set(chosen) - set(MOTIONS):
        parser.error(f"no motion {', '.join(sorted(unknown))}; there are {', '.join(MOTIONS)}")
    seconds = dict.fromkeys(("motors, s", "build, s", "solve, s", "all, s"), "9.1f")
    table = Table({"motion": "<6s", "motors": "6d", "muscles": "7d"} | seconds | {"cost": "9.2f"})
    solved = True
    for name in chosen:
        begin = time.perf_counter()
        by_motors, model = MOTIONS[name]()
        first = by_motors.solve(progress=False)
        middle = time.perf_counter()
        found = od.walking.muscle_driven(by_motors, model=model).solve(guess=first, progress=False)
        stats, end = found.stats, time.perf_counter()
        table.row(
            name, first.stats["iterations"], stats["iterations"], middle - begin, stats["build_seconds"],
            stats["solve_seconds"], end - begin, found.objective, after="" if found.converged else found.status,
        )  # fmt: skip
        solved = solved and found.converged
    return 0 if solved else 1


if __name__ == "__main__":
    sys.exit(main())
