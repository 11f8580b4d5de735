"""Times of a real-time iteration on the legs of Talos, 18 dofs, 53 intervals, beside Crocoddyl's iteration.

    python -m scripts.bench.rti [--repetitions 300] [--no-inequalities] [--quick] [--json]

Ours: `prepare` linearizes and, with "riccati", factors; `feedback` takes the measured state and gives the torques.
Crocoddyl's: one iteration of FDDP (derivatives, backward pass, one forward pass) of its own benchmark, two steps of its
`SimpleBipedGaitProblem` on the same robot; see `bench/walk_of_legs.py` for what differs. Both take turns in one
process, round by round, so that whatever else runs on the machine counts for both; figures are wall-clock minima and
medians. Native libraries are made first, where the package has none; "virtual machine" is the same without them.

Crocoddyl is left out, with a line that says so, where it cannot be imported: pip install crocoddyl "pin==4.0.0"
example-robot-data, in an environment of its own if another pin is in use.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from ocp_dyn import ocp
from ocp_dyn.native.libraries import BLOCK_LDL, RICCATI, TABLES
from ocp_dyn.native.library import NativeLibrary
from scripts.common import Table, command_line

from .dynamics.robots import Array, urdf
from .walk_of_legs import HEIGHT, KNOTS, STEP, TIME, legs, standing, walk

ROUND = 20
"""Iterations of one library before the next library has its turn."""

NOISE = 0.01
"""Standard deviation of the measured velocities [m/s, rad/s]."""

Lap = Callable[[], tuple[float, ...]]


def ours(control: ocp.RealTimeIteration, q: Array, noise: float = NOISE) -> Lap:
    """One iteration at a noisy state: seconds of prepare and of feedback."""
    rng = np.random.default_rng(0)

    def lap() -> tuple[float, ...]:
        v = noise * rng.normal(size=control.problem.model.nv)
        control.prepare()
        control.feedback(q0=q, v0=v)
        if not control.solved:
            raise RuntimeError("a QP of the benchmark failed")
        return control.seconds

    return lap


def crocoddyls() -> tuple[dict[str, Lap], str] | None:
    """Iterations of Crocoddyl's walk by number of threads, and a description; None, with a line, without Crocoddyl."""
    try:
        import crocoddyl
        import example_robot_data
        from crocoddyl.utils.biped import SimpleBipedGaitProblem
    except ImportError as error:
        remedy = 'pip install crocoddyl "pin==4.0.0" example-robot-data'
        print(f"Crocoddyl is left out ({error}): {remedy}", file=sys.stderr)
        return None
    robot = example_robot_data.load("talos_legs").model
    x = np.concatenate([robot.referenceConfigurations["half_sitting"], np.zeros(robot.nv)])
    gait = SimpleBipedGaitProblem(robot, "right_sole_link", "left_sole_link")
    problem = gait.createWalkingProblem(x, STEP, HEIGHT, TIME, KNOTS, 1)
    solver = crocoddyl.SolverFDDP(problem)
    xs, us = [x] * (problem.T + 1), problem.quasiStatic([x] * problem.T)

    def lap(threads: int) -> tuple[float, ...]:
        problem.nthreads = threads
        begin = time.perf_counter()
        solver.solve(xs, us, 1, False, 0.1)
        return (time.perf_counter() - begin,)

    counts = dict.fromkeys((problem.nthreads, 1))
    laps = {f"Crocoddyl, {count} thread{'s' * (count > 1)}": partial(lap, count) for count in counts}
    mass = sum(inertia.mass for inertia in robot.inertias)
    return laps, f"Crocoddyl {crocoddyl.__version__}: {robot.nv} dofs, {mass:.3f} kg, {problem.T} intervals"


def measure(laps: dict[str, Lap], repetitions: int) -> dict[str, dict[str, float]]:
    """Minima and medians of the parts of an iteration and of their sum [ms]; the libraries take turns."""
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in laps}
    for lap in laps.values():
        lap()  # allocations on first use are not timed
    for _ in range(max(1, repetitions // ROUND)):
        for name, lap in laps.items():
            found[name] += [lap() for _ in range(min(ROUND, repetitions))]
    return {name: figures(1e3 * np.array(seconds)) for name, seconds in found.items()}


def figures(times: Array) -> dict[str, float]:
    parts = dict(zip(("prepare", "feedback"), times.T, strict=False)) if times.shape[1] == 2 else {}
    return {f"{name} {kind}": float(of(values)) for name, values in (parts | {"total": times.sum(axis=1)}).items()
            for kind, of in (("min", np.min), ("median", np.median))}  # fmt: skip


def show(rows: dict[str, dict[str, float]]) -> None:
    columns = [f"{part} {kind}" for part in ("prepare", "feedback", "total") for kind in ("min", "median")]
    table = Table({"ms": "<42s"} | dict.fromkeys(columns, "12.2f"))
    for name, row in rows.items():
        table.row(name, *(row.get(column) for column in columns))


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--repetitions", type=int, default=300, help="timed iterations of each (default 300)")
    parser.add_argument("--no-inequalities", action="store_true", help="without friction cones and centers of pressure")
    parser.add_argument("--quick", action="store_true", help="40 repetitions at most, and only what is in C")
    parser.add_argument("--json", action="store_true", help="one JSON object, the last line")
    options = parser.parse_args()
    path = urdf("talos_reduced")
    if path is None:
        return 1
    for library in (BLOCK_LDL, RICCATI, TABLES):
        library.obtain(wait=True)
    model = legs(path)
    problem, q = walk(model, not options.no_inequalities), standing(model)
    plan = problem.solve(progress=False)
    print(f"ours: {model.nv} dofs, {float(model.mass):.3f} kg, {plan.stats['variables']} variables, {plan.status}")
    peers, told = crocoddyls() or ({}, "")
    if told:
        print(told)
    repetitions = min(40, options.repetitions) if options.quick else options.repetitions
    own = "riccati, in C"
    rows = measure({own: ours(problem.rti(plan, qp="riccati"), q)} | peers, repetitions)
    result: dict[str, Any] = {"rows": rows}
    for kind in ("min", "median") if peers else ():
        result[f"ratio {kind}"] = rows[own][f"total {kind}"] / min(rows[name][f"total {kind}"] for name in peers)
    show(rows | ({} if options.quick else slower(problem, plan, q)))
    if peers:
        print(f"ours / Crocoddyl's best: {result['ratio min']:.2f} (min), {result['ratio median']:.2f} (median)")
    if options.json:
        print(json.dumps(result))
    return 0


def slower(problem: ocp.Problem, plan: ocp.Solution, q: Array) -> dict[str, dict[str, float]]:
    """The same without native libraries, and the whole QP by an interior-point solver, with tables.

    The latter starts at rest: measured velocities that move standing feet make its QP infeasible.
    """
    with mock.patch.object(NativeLibrary, "obtain", return_value=(None, "left out")):
        interpreted = ours(problem.rti(plan, qp="riccati"), q)
    laps = {"riccati, virtual machine and numpy": interpreted,
            "piqp, tables": ours(problem.rti(plan, qp="piqp"), q, noise=0.0)}  # fmt: skip
    return measure(laps, ROUND)


if __name__ == "__main__":
    sys.exit(main())
