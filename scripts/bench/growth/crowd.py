"""Section `lift`: optimal control of people who stand side by side and lift a beam: closed loops from feet to hands."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp

from .section import Row, Section, apart, peak, plain

APART, BEAM_MASS = 0.8, 10.0
"""Distance of two people along the beam [m]; mass of the beam for each of them [kg]."""
STANDING = {"hip": (-0.5, 0, 0), "knee": 1.0, "ankle": -0.5, "shoulder": (-0.4, 0, 0), "elbow": -0.9}
"""Angles of the joints of both sides [rad]: bent knees, the forearms ahead."""


def carriers(people: int) -> tuple[od.Model, od.ConstraintSet, np.ndarray]:
    """The model, a beam with six freedoms and people of 29, with feet that hold and hands on the beam, and its q."""
    one = od.models.human(root=od.FloatingBase("euler_zyx"), tissue=False)
    posture = np.zeros(one.nq)
    for name, angles in STANDING.items():
        for side in "lr":
            posture[one.q_slice(f"{name}_{side}")] = angles
    at = {side: np.array(od.point_position(one, f"hand_{side}", DM(posture)).full()).ravel() for side in "lr"}
    length = APART * people
    builder = od.ModelBuilder(f"{people} people with a beam")
    slender = BEAM_MASS * people * length**2 / 12
    builder.add_body("beam", od.FloatingBase("euler_zyx", name="beam"), mass=BEAM_MASS * people,
                     inertia=(slender, 0.1 * people, slender))  # fmt: skip
    places = APART * (np.arange(people) - (people - 1) / 2)
    for k, y in enumerate(places):
        for side in "lr":
            builder.add_frame(f"p{k}_grip_{side}", "beam", (0.0, y + at[side][1], 0.0))
    model = builder.build()
    for k, y in enumerate(places):
        model = model.attach(one, "world", prefix=f"p{k}_", origin=(0.0, y, 0.0))
    q = np.concatenate([[at["l"][0], 0.0, at["l"][2], 0, 0, 0], *[posture] * people])
    held: list[od.Constraint] = []
    for k in range(people):
        for side in "lr":
            held += [od.Contact(f"p{k}_foot_{side}").at(model, DM(q)),
                     od.Loop(f"p{k}_hand_{side}", f"p{k}_grip_{side}", "ball")]  # fmt: skip
    return model, od.ConstraintSet(held), q


def lift(people: int, intervals: int = 5, height: float = 0.2, seconds: float = 0.8) -> ocp.Problem:
    """The beam rises by a height [m], from rest to rest, with the least squared torques."""
    model, held, q = carriers(people)
    goal = q[:6] + np.array([0, 0, height, 0, 0, 0])

    def ends(first: ocp.Instant, last: ocp.Instant) -> tuple[object, float, float]:
        rows = (first.q - q, first.qd, last.q[:6] - goal, last.qd)
        return ca.vertcat(*rows), 0.0, 0.0

    effort = (ocp.TorqueSquared(scale=30.0),
              ocp.Integral(lambda at: ca.sumsqr(at.qdd) / 100 + ca.sumsqr(at.q - q), 0.1, "steadiness"))  # fmt: skip
    roots = ["beam", *(f"p{k}_root" for k in range(people))]
    return ocp.Problem(
        model, [ocp.Phase("lift", intervals, seconds, objective=effort, constraints=held)],
        boundary=ocp.Boundary(ends, "from rest to rest"), unactuated=roots, posture=q,
        guess=lambda s: (q, np.zeros(model.nv)), integrator="gauss:1",
    )  # fmt: skip


def measure(people: int, intervals: int = 4, limit: int = 300) -> Row:
    """The row of a lift: time from the statement to the solution, of the process and its first problem."""
    empty, begin = peak(), time.process_time()
    problem = lift(people, intervals)
    solution = problem.solve(progress=False, threads=1, max_iterations=limit)
    seconds, stats = time.process_time() - begin, solution.stats
    figures = {"people": people, "variables": stats["variables"], "iterations": stats["iterations"], "s": seconds,
               "MB": peak() - empty, "cost": solution.objective}  # fmt: skip
    return Row("lift", problem.model.nv, figures, "" if solution.converged else solution.status)


def _rows(options: argparse.Namespace) -> Iterator[Row]:
    for people in options.people:
        yield apart("scripts.bench.growth.crowd", str(people))


SECTION = Section(
    title="Larger problems of optimal control",
    size="dofs",
    columns={"people": ".0f", "variables": ".0f", "iterations": ".0f", "s": ".1f", "MB": ".0f", "cost": ".3f"},
    plotted=("s", "MB"),
    rows=_rows,
    arguments=lambda parser: parser.add_argument(
        "--people", type=int, nargs="+", default=[1, 2, 5], help="numbers of people who lift (default 1 2 5)"
    ),
)


if __name__ == "__main__":
    print(json.dumps(plain([measure(int(sys.argv[1]))])))
