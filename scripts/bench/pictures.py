"""Processor time of pictures, of the viewer, of a second build, and of changed weights, on the human's quick walk.

    python -m scripts.bench.pictures [--frames 200]

One process after the other on one thread; the first solve fills the cache of compiled code, which is not measured.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from problems import human_walk
from scripts.common import Table, command_line, machine

WEIGHT = "weight of AccelerationSquared"
FACTORS = (1.02, 1.1, 1.5)
TABLE = {"what": "<56s", "s": "8.3f", "iterations": "10s"}


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--frames", type=int, default=200, help="postures that the viewer draws (default 200)")
    options = parser.parse_args()
    print(machine())
    table = Table(TABLE)

    def row(what: str, run: Callable[[], Any], count: int = 1) -> Any:
        begin = time.process_time()
        found = run()
        seconds = (time.process_time() - begin) / count
        table.row(what, seconds, str(found.stats["iterations"]) if isinstance(found, ocp.Solution) else "")
        return found

    problem = human_walk.problem(intervals=human_walk.QUICK)
    solution = row("first problem: build and solve", lambda: problem.solve(progress=False))
    again = human_walk.problem(1.3, intervals=human_walk.QUICK)
    row("the same at another speed, from the first motion", lambda: again.solve(progress=False, start=solution))
    _weights(row, problem, solution)
    with tempfile.TemporaryDirectory() as folder:
        row("animate to a gif", lambda: solution.animate(Path(folder, "walk.gif")))
        row("plot, the first", lambda: solution.plot(Path(folder, "walk.png")))
        row("stick figure", lambda: od.viz.stick_figure(solution, Path(folder, "figure.png")))
    _viewer(row, options.frames)
    return 0


def _weights(row: Callable[..., Any], problem: ocp.Problem, solution: ocp.Solution) -> None:
    """A weight that changes, from the neighbor, and the derivatives of the walk by all weights."""
    usual = float(problem.weights["AccelerationSquared"])
    for factor in FACTORS:
        values = {WEIGHT: usual * factor}
        row(
            f"weight of accelerations + {factor - 1:.0%}",
            lambda values=values: problem.solve(progress=False, values=values, start=solution),
        )
    names = [f"weight of {name}" for name in problem.weights]
    row(f"derivatives by {len(names)} weights", lambda: ocp.sensitivities(problem, solution, *names))


def _viewer(row: Callable[..., Any], frames: int) -> None:
    """Postures of the whole body in the viewer; the server's part, without a browser."""
    model = od.models.human(muscles=True, root=od.FloatingBase())
    rng = np.random.default_rng(0)
    postures = [model.random_q(rng) for _ in range(8)]
    with model.show() as viewer:
        row(
            f"a frame of the viewer, {model.nv} dofs and {len(model.muscles)} muscles",
            lambda: [viewer.update(postures[k % 8]) for k in range(frames)],
            frames,
        )


if __name__ == "__main__":
    sys.exit(main())
