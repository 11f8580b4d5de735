"""Section `gaits`: a population of bodies, speeds and slopes on 1, 2, 4, ... processes: throughput and efficiency."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from problems import five_link, human_walk

from .section import Row, Section


def human(mass: float, height: float, sex: Any) -> ocp.Problem:
    """A person who walks on the coarse grid; speed and slope are parameters."""
    walk = human_walk.problem(1.2, mass, height, sex, intervals=human_walk.QUICK)
    phases = [replace(phase, duration=(0.6 * phase.duration[0], 1.5 * phase.duration[1])) for phase in walk.phases]
    return replace(walk, phases=phases, parameters=[ocp.Parameter("slope", 0.0)])


def pendulum(length: float) -> ocp.Problem:
    """A pendulum turns by an angle, a parameter, from rest to rest: a task that takes hardly any time."""
    builder = od.ModelBuilder("pendulum")
    builder.add_body("bob", od.Revolute("y"), mass=1.0, com=(0, 0, -length))
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - end.values["angle"], end.qd), 0, 0))
    phase = ocp.Phase("swing", 4, 1.0, objective=[ocp.TorqueSquared()])
    return ocp.Problem(builder.build(), [phase], boundary=[ends], parameters=[ocp.Parameter("angle", 0.5)])


def biped() -> ocp.Problem:
    """A step of the five-link biped on 15 intervals; the length of the step [m] and the slope are parameters."""
    walk = five_link.problem("implicit", five_link.QUICK, "gauss:2", "linear")

    def lands(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, Any, Any]:
        foot = od.point_position(end.model, "swing_foot", end.q)
        rates = [od.point_velocity(i.model, "swing_foot", i.q, i.qd)[2] for i in (start, end)]
        return ca.vertcat(foot[0] - end.values["step"], foot[2], *rates), [0, 0, 0, -np.inf], [0, 0, np.inf, 0]

    impact, _ = walk.boundary
    parameters = [ocp.Parameter("step", five_link.STEP_LENGTH), ocp.Parameter("slope", 0.0)]
    return replace(walk, boundary=(impact, ocp.Boundary(lands, "swing foot")), parameters=parameters)


PEOPLE = {
    "mass": (50, 100), "height": (1.5, 1.95), "sex": ["female", "male"], "speed": (0.8, 1.6), "slope": (-0.08, 0.08),
}  # fmt: skip
CASES: dict[str, tuple[Callable[..., ocp.Problem], dict[str, Any], int]] = {
    "human": (human, PEOPLE, 1),
    "biped": (biped, {"step": (0.3, 0.6), "slope": (-0.08, 0.08)}, 5),
    "pendulum": (pendulum, {"length": (0.5, 1.5), "angle": (0.1, 0.9)}, 10),
}
"""The function that makes the problem, the ranges of the sample, and how many times --gaits points are taken."""


def measure(case: str, processes: int, gaits: int) -> dict[str, float]:
    """Figures of a sweep over a sample. `driver` is the processor time of the process that runs the sweep, for each
    gait: processes beyond the ratio of the two times would wait for it."""
    make, ranges, times = CASES[case]
    points = ocp.latin_hypercube(ranges, gaits * times)
    with tempfile.TemporaryDirectory() as folder:
        sweep = ocp.Sweep(make, points, folder, jobs=processes, keep_going=True)
        begin, own = time.perf_counter(), time.process_time()
        sweep.run(progress=False)
        seconds, own = time.perf_counter() - begin, time.process_time() - own
        records = sweep.library.records(points).values()
    solved = [record for record in records if record.get("converged")]
    return {
        "gaits per hour": 3600 * len(solved) / seconds,
        "processor s per gait": sum(record["processor_seconds"] for record in solved) / len(solved),
        "iterations": sum(record["all_iterations"] for record in solved) / len(solved),
        "driver ms per gait": 1e3 * own / len(points),
        "MB per gait": 1e-6 * sum(record["bytes"] for record in solved) / len(solved),
        "converged": len(solved) / len(points),
    }


def rows(options: argparse.Namespace) -> Iterator[Row]:
    """A row for each case and number of processes; the efficiency is the throughput per process, beside that of the
    first number."""
    for case in options.populations:
        first: float | None = None
        for processes in options.processes:
            figures = measure(case, processes, options.gaits)
            first = first or figures["gaits per hour"] / processes
            yield Row(case, processes, figures | {"efficiency": figures["gaits per hour"] / processes / first})


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    counts = [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= (os.cpu_count() or 1)]
    add("--processes", nargs="+", type=int, default=counts, metavar="N", help="numbers of processes")
    add("--gaits", type=int, default=12, metavar="N", help="points of the population")
    add("--populations", nargs="+", default=list(CASES), choices=list(CASES), metavar="CASE", help=", ".join(CASES))


SECTION = Section(
    title="A population on several processes",
    size="processes",
    columns={
        "gaits per hour": ".0f", "efficiency": ".2f", "processor s per gait": ".2f", "iterations": ".1f",
        "driver ms per gait": ".1f", "MB per gait": ".2f", "converged": ".2f",
    },
    plotted=("gaits per hour", "processor s per gait"),
    rows=rows,
    arguments=arguments,
)  # fmt: skip
