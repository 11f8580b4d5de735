"""Walks of a model with muscles and compliant spheres on its feet: a recorded half stride followed, and one predicted.

    python -m scripts.bench.muscle_walk MODEL.osim [--speed 1.2] [--coordinates TABLE.sto --forces LOADS.xml]
        [--range NAME LOW HIGH ...] [--weaken MUSCLE=FACTOR ...]

Prints a line of JSON for each solve: converged, iterations, seconds of processor time, cost by term. With --coordinates
the recorded motion is followed; without, the walk of least effort at the speed starts from the measured angles of
people. --range: limits of a coordinate [degrees, or m].
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from scripts.common import command_line


def main(arguments: list[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("model")
    parser.add_argument("--speed", type=float, default=1.2)
    parser.add_argument("--coordinates")
    parser.add_argument("--forces")
    parser.add_argument("--steepness", type=float, default=0.1)
    parser.add_argument("--range", nargs=3, action="append", default=[])
    parser.add_argument("--weaken", action="append", default=[])
    options = parser.parse_args(arguments)
    model, spheres = od.load(options.model), od.io.osim_spheres(options.model)
    turning = [name for name in model.q_names if not name.endswith(("tx", "ty", "tz"))]
    for name, low, high in options.range:
        unit = np.pi / 180 if name in turning else 1.0
        model = model.with_limits(lower={name: unit * float(low)}, upper={name: unit * float(high)})
    muscles = ocp.Muscles(excitations="linear", steepness=options.steepness)
    if options.coordinates:
        table = od.recordings.read(options.coordinates)
        forces = od.recordings.read_external_loads(options.forces) if options.forces else None
        problem = od.walking.muscle_tracking(model, table, forces, spheres, muscles=muscles)
    else:
        weaken = {name: float(factor) for name, factor in (pair.split("=") for pair in options.weaken)}
        problem = od.walking.muscle_walk(
            model, options.speed, spheres, muscles=muscles, weaken=weaken, intervals=24, integrator="hermite_simpson"
        )
    begin = time.process_time()
    found = problem.solve(progress=False, threads=1)
    print(json.dumps({
        "converged": found.converged, "iterations": found.stats["iterations"],
        "seconds": round(time.process_time() - begin, 2), "cost": found.objective, "costs": dict(found.cost),
        "duration_s": found.duration, "step_length_m": found.step_length,
    }))  # fmt: skip
    return 0 if found.converged else 1


if __name__ == "__main__":
    sys.exit(main())
