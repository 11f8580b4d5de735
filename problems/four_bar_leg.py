"""Jump of a leg with a four-bar knee, solved twice: with the loop held by multipliers, and in independent coordinates.

Two crossed bars join thigh and shank, as the cruciate ligaments do in a human knee, here at twice the human size. A
motor turns the front bar; the shank and the rear bar follow. The leg starts at rest, bent, on heel and toe, rolls over
the toe and flies up to its apex, where its joints are bent as at the start. The height of the apex is given, and the
solver minimizes squared torques.

"multipliers": every phase holds the loop by `od.Loop`; all joint angles and the forces in the loop's pin are variables.
"independent": `ocp.DependentJoints` gives the angles of the shank's pin and of the rear bar by the front bar's angle;
the loop needs no variables and no rows. Both have one optimum. On a coarse grid the costs differ, because the two
discretizations differ: the first integrates all angles, the second only independent ones.

    python -m problems.four_bar_leg [--height 0.25] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp

from ._command import asked, finish, keep, parser

INTERVALS = (32, 16, 12)
"""Numbers of intervals: on heel and toe, on the toe, in flight up to the apex."""

QUICK = (12, 6, 5)

THIGH, SHANK = 0.28, 0.22
"""Lengths: hip to knee, knee to ankle [m]."""

FRONT = ((-0.024, 0.0), (0.024, -0.064))
"""Pins (x, z) of the bar whose lower end is in front, in the straight knee: on the thigh, on the shank [m]."""

REAR = ((0.020, -0.016), (-0.032, -0.060))

BAR_MASS = 0.15

START = {"pitch": 0.2, "knee": 0.45, "ahead": 0.03}
"""Posture at the start: lean of the trunk and angle of the front bar [rad], mass center ahead of the ankle [m]."""

LEAN = 0.4
"""Lean of the trunk in the first guess, beyond that of the start [rad]."""

INDEPENDENT = ("root", "hip", "knee", "ankle")

LOOP = od.Loop("rear_end", "shank_pin", axes=[(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)])
"""The rear bar's lower end is on its pin on the shank: two rows, in the plane."""

FORMULATIONS = ("multipliers", "independent")


def leg() -> od.Model:
    """The leg as a tree, cut at the lower pin of the rear bar."""
    root = od.MultiDof([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1), (0, 1, 0, 0, 0, 0)])  # along x and z, about y
    hinge = od.Revolute("y")
    fast: dict[str, Any] = {"effort": 80.0, "velocity": 20.0}
    builder = od.ModelBuilder("four_bar_leg")
    bounds: dict[str, Any] = {"lower": (-2.0, 0.0, -0.05), "upper": (2.0, 2.0, 1.0)}
    builder.add_body("trunk", root, mass=10, com=(0, 0, 0.15), inertia=(0.2, 0.2, 0.1), joint_name="root", **bounds)
    thigh: dict[str, Any] = {
        "mass": 2.0,
        "com": (0, 0, -0.12),
        "inertia": (0.015, 0.015, 0.002),
        "lower": -1.8,
        "upper": 0.1,
    }
    builder.add_body("thigh", hinge, "trunk", joint_name="hip", **thigh, **fast)
    builder.add_frame("above_knee", "thigh", (0, 0, -THIGH))
    bar = _bar(FRONT) | {"lower": 0.0, "upper": 1.35, "effort": 120.0, "velocity": 20.0}
    builder.add_body("front_bar", hinge, "above_knee", origin=_in_plane(FRONT[0]), joint_name="knee", **bar)
    x, z = FRONT[1]
    shank: dict[str, Any] = {"mass": 1.2, "com": (-x, 0, -0.1 - z), "inertia": (0.008, 0.008, 0.001)}
    builder.add_body("shank", hinge, "front_bar", origin=_along(FRONT), joint_name="pin", **shank)
    builder.add_frame("shank_pin", "shank", _along((FRONT[1], REAR[1])))
    builder.add_body("rear_bar", hinge, "above_knee", origin=_in_plane(REAR[0]), joint_name="rear", **_bar(REAR))
    builder.add_frame("rear_end", "rear_bar", _along(REAR))
    foot: dict[str, Any] = {
        "mass": 0.5,
        "com": (0.03, 0, -0.03),
        "inertia": (0.001, 0.002, 0.002),
        "lower": -1.2,
        "upper": 1.0,
    }
    builder.add_body("foot", hinge, "shank", origin=(-x, 0, -SHANK - z), joint_name="ankle", **foot, **fast)
    builder.add_frame("heel", "foot", (-0.05, 0, -0.05))
    builder.add_frame("toe", "foot", (0.11, 0, -0.05))
    return builder.build()


Pins = tuple[tuple[float, float], tuple[float, float]]


def _in_plane(point: Sequence[float]) -> tuple[float, float, float]:
    return point[0], 0.0, point[1]


def _along(pins: Pins) -> tuple[float, float, float]:
    """The vector from the first pin to the second."""
    return _in_plane(np.subtract(pins[1], pins[0]).tolist())


def _bar(pins: Pins) -> dict[str, Any]:
    """Mass, com and inertia of a thin straight bar between two pins, in a frame at the first."""
    r = np.array(_along(pins))
    across = (r @ r) * np.eye(3) - np.outer(r, r)
    return {"mass": BAR_MASS, "com": tuple(r / 2), "inertia": BAR_MASS / 12 * across}


def shank_pose(front: Any) -> tuple[Any, Any, Any]:
    """(pin on the front bar (x, z), unit vector from it to the other pin of the shank, vector along the rear bar), in
    the thigh, for the angle of the front bar.

    The shank's other pin is the intersection of two circles, about the pin on the front bar and about the upper pin of
    the rear bar, on the side of the straight knee.
    """
    (a, b), (d, c) = np.array(FRONT), np.array(REAR)
    cos, sin, arm = ca.cos(front), ca.sin(front), b - a
    pin = DM(a) + ca.vertcat(cos * arm[0] + sin * arm[1], cos * arm[1] - sin * arm[0])
    shank, rear = float(np.hypot(*(c - b))), float(np.hypot(*(c - d)))
    gap = DM(d) - pin
    along = (ca.sumsqr(gap) + shank**2 - rear**2) / 2
    side = np.sign((d - b)[0] * (c - b)[1] - (d - b)[1] * (c - b)[0])
    across = side * ca.sqrt(shank**2 * ca.sumsqr(gap) - along**2)
    link = (along * gap + across * ca.vertcat(-gap[1], gap[0])) / ca.sumsqr(gap)
    return pin, link / shank, link - gap


def following(front: Any) -> Any:
    """Angles of the joints "pin" and "rear" for the angle of the joint "knee"."""
    _, link, rear = shank_pose(front)
    return ca.vertcat(_turn(_along((FRONT[1], REAR[1])), link) - front, _turn(_along(REAR), rear))


def _turn(before: Sequence[float], after: Any) -> Any:
    """The angle about y by which a vector (x, 0, z) of the straight knee has turned to (x, z)."""
    x, _, z = before
    return ca.atan2(z * after[0] - x * after[1], x * after[0] + z * after[1])


def entries(model: od.Model, joints: Sequence[str] = INDEPENDENT) -> list[int]:
    """Indices into q, and into qd, of the entries of joints."""
    return [k for name in joints for k in range(*model.q_slice(name).indices(model.nq))]


def start(model: od.Model) -> np.ndarray:
    """The configuration at the start: heel and toe on the ground, the heel 0.05 m behind the origin."""
    x = ca.SX.sym("x", 6)
    q = ca.SX(model.nq, 1)
    q[entries(model)] = x
    q[entries(model, ("pin", "rear"))] = following(x[4])
    heel, toe, ankle = (od.point_position(model, name, q) for name in ("heel", "toe", "foot"))
    ahead = od.center_of_mass(model, q)[0] - ankle[0] - START["ahead"]
    rows = ca.vertcat(heel[2], toe[2], heel[0] + 0.05, x[2] - START["pitch"], x[4] - START["knee"], ahead)
    solved = ca.rootfinder("posture", "newton", {"x": x, "g": rows})(x0=[0, 0.5, 0.2, -0.6, START["knee"], -0.3])
    return np.array(ca.Function("q", [x], [q])(solved["x"]).full()).ravel()


def problem(
    formulation: str = "multipliers",
    *,
    height: float = 0.25,
    intervals: tuple[int, int, int] = INTERVALS,
    **options: Any,
) -> ocp.Problem:
    """The jump. height: of the mass center at the apex above its height at the start [m]; options: of `ocp.Problem`."""
    if not 0.1 <= height <= 0.4:
        raise ValueError(f"height must lie between 0.1 and 0.4 m, got {height}")
    if formulation not in FORMULATIONS:
        raise ValueError(f"formulation must be one of {', '.join(FORMULATIONS)}, got {formulation!r}")
    model = leg()
    held = (LOOP,) if formulation == "multipliers" else ()
    dependent = () if held else (ocp.DependentJoints(LOOP, ("pin", "rear"), ["knee"], following),)
    heel = ocp.Foothold(od.Contact("heel", axes="z"), y=0)
    toe = ocp.Foothold(od.Contact("toe", axes="xz"), x=0.11, y=0)
    push, effort = (ocp.Unilateral(),), _effort(model)
    flat, toes, flight = intervals
    posture = start(model)
    return ocp.Problem(
        model,
        [
            ocp.Phase("flat", flat, (0.2, 0.4), (heel, toe), push, effort, held),
            ocp.Phase("toe", toes, (0.05, 0.12), (toe,), push, effort, held),
            ocp.Phase("flight", flight, (0.05, 0.5), objective=effort, constraints=held),
        ],
        boundary=(_at_rest(model, posture), _apex(model, posture, height)),
        unactuated=["root", "pin", "rear"],
        posture=posture,
        guess=_guess(model, posture, height),
        dependent=dependent,
        **({"integrator": "gauss:3", "torque": "linear"} | options),
    )


def _guess(model: od.Model, posture: np.ndarray, height: float) -> Callable[[float], tuple[np.ndarray, np.ndarray]]:
    """The posture, with a trunk that leans forward and returns; in the last part of the motion it rises."""
    z, pitch, hip = entries(model)[1:4]

    def state(s: float) -> tuple[np.ndarray, np.ndarray]:
        q = posture.copy()
        lean = LEAN * np.sin(np.pi * s)
        q[pitch] += lean
        q[hip] -= lean
        q[z] += height * max(0.0, (s - 0.6) / 0.4)
        return q, np.zeros(model.nv)

    return state


def _effort(model: od.Model) -> tuple[Any, ...]:
    """Squares of torques and their rates, and small squares of the accelerations of the motors' joints."""
    motors = entries(model, INDEPENDENT[1:])
    return (
        ocp.TorqueSquared(scale=30.0),
        ocp.TorqueRateSquared(1e-3, scale=30.0),
        ocp.Integral(lambda instant: ca.sumsqr(instant.qdd[motors]), 1e-6, "acceleration"),
    )


def _at_rest(model: od.Model, posture: np.ndarray) -> ocp.Boundary:
    """Rest at the start: heel and toe stand, so the pose of the trunk determines the leg."""
    root = entries(model, ("root",))
    return ocp.Boundary(
        lambda first, last: (ca.vertcat(first.q[root] - posture[root], first.qd[root]), 0, 0), "at rest"
    )


def _apex(model: od.Model, posture: np.ndarray, height: float) -> ocp.Boundary:
    """Apex: the mass center at its highest, right above its last place, no spin, trunk and joints as at the start."""
    level = float(od.center_of_mass(model, DM(posture))[2])
    shape = entries(model)[2:]

    def rows(first: ocp.Instant, last: ocp.Instant) -> tuple[Any, float, float]:
        speed = od.center_of_mass_velocity(model, last.q, last.qd)
        rise = od.center_of_mass(model, last.q)[2] - level
        spin = od.centroidal_momentum(model, last.q, last.qd)[1]
        return ca.vertcat(speed[0], speed[2], rise - height, spin, last.q[shape] - posture[shape]), 0.0, 0.0

    return ocp.Boundary(rows, "apex")


def difference(one: ocp.Solution, other: ocp.Solution) -> float:
    """Largest difference of independent coordinates at the nodes [rad, m]; both motions on one grid."""
    q, q_other = (solution.q[:, entries(solution.model)] for solution in (one, other))
    return float(np.abs(q - q_other).max())


def table(solutions: dict[str, ocp.Solution]) -> str:
    """Cost, iterations, times and sizes of the formulations, a line each."""
    heads = ("formulation", "cost", "iterations", "solve [s]", "per iteration [ms]", "variables", "constraints")
    lines = ["  ".join(heads)]
    for name, solution in solutions.items():
        stats = solution.stats
        each = 1e3 * stats["solve_seconds"] / max(stats["iterations"], 1)
        cells = [name, f"{solution.objective:.8f}", str(stats["iterations"]), f"{stats['solve_seconds']:.2f}"]
        cells += [f"{each:.1f}", str(stats["variables"]), str(stats["constraints"])]
        lines.append("  ".join(cell.ljust(len(head)) for cell, head in zip(cells, heads, strict=True)))
    return "\n".join(lines)


def _problems(options: argparse.Namespace) -> dict[str, ocp.Problem]:
    intervals = QUICK if options.quick else INTERVALS
    return {name: problem(name, height=options.height, intervals=intervals) for name in FORMULATIONS}


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--height", type=float, default=0.25, help="rise of the mass center up to the apex [m]")
    options, problems = asked(arguments, argv, _problems)
    solutions = {}
    for name, jump in problems.items():
        solutions[name] = jump.solve(progress=not options.quiet, tolerance=1e-9)
        keep(options, solutions[name], f"{name}.npz")
    one, other = solutions.values()
    print(table(solutions))

    def figures() -> dict[str, Any]:
        found = {
            f"{name}_{key}": solution.stats[key]
            for name, solution in solutions.items()
            for key in ("iterations", "solve_seconds", "variables", "constraints")
        }
        return found | {
            "other_converged": one.converged,
            "cost_multipliers": one.objective,
            "cost_independent": other.objective,
            "relative_difference_of_costs": abs(one.objective / other.objective - 1),
            "largest_difference_of_motions": difference(one, other),
            "knee_flexion_rad": float(other.q[:, entries(other.model, ("knee", "pin"))].sum(axis=1).max()),
        }

    return finish(options, other, figures, "Jump of a leg with a four-bar knee")


if __name__ == "__main__":
    sys.exit(main())
