"""A robot walks: one periodic, mirrored step of least effort for any humanoid, by its name in `od.robots` or from a URDF.

The step has double support on two flat feet, single support, and a landing without impact (or `--impact`); the time of
single support and the step width are free, forces lie in friction cones, centers of pressure inside the soles. The time
of double support is chosen (`--double-support`), because least effort leaves none: see `DOUBLE_SUPPORT`. The first
guess is the robot standing with bent knees. Robots as built are not quite symmetric: the gait is that of the symmetric twin, and the
report gives the difference of the two.

    python -m problems.robot_walk talos
    python -m problems.robot_walk my_robot.urdf --left-foot left_sole_link --right-foot right_sole_link

    [--speed 0.5] [--double-support 0.1] [--sole-height 0] [--sole HALF_LENGTH HALF_WIDTH] [--intervals 6 20] [--impact]
    [--ignore-limits] [--compile] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp

from ._command import asked, finish, parser
from ._robots import LOADS, about, add_robot, as_built, asked_robot, symmetric

SIDES = ("left", "right")
SOLE = (0.09, 0.05)
"""Half length and half width of a sole [m], if nothing is known about the robot's."""
DOUBLE_SUPPORT = 0.1
"""Time on both feet [s]: about a fifth of a step, as in people (10 to 12 % of a stride; Perry & Burnfield, Gait
Analysis, 2010).

It is a choice and no result. To carry the body from one foot to the other costs no torque, however fast it happens, so
the cost falls all the way as the double support becomes shorter: that of TALOS at 0.5 m/s (coarse grid) from
7.8 with 0.1 s to 5.0 with 0.01 s, and at every length in between the shortest time allowed is the best. A real robot needs the time to move
its center of pressure from foot to foot.
"""
BEND = 0.04
"""Lowering of the base by bent legs in the standing posture, as a fraction of its height on straight legs."""


def load(urdf: str | Path, left_foot: str, right_foot: str, sole_height: float = 0.0) -> od.Model:
    """The robot's symmetric twin, on a floating base, with frames `left_sole` and `right_sole` under its feet.

    sole_height [m]: height of the feet's frames above the ground. When all joints are at zero the robot must stand on
    flat feet; the frames of the soles then have the world's axes.
    """
    model = symmetric(urdf, left_foot, right_foot)
    q = DM(model.neutral())
    for side, foot in zip(SIDES, (left_foot, right_foot), strict=True):
        R = np.array(od.pose(model, foot, q)[0].full())
        model = model.with_frame(f"{side}_sole", foot, origin=R.T @ [0.0, 0.0, -sole_height], rotation=R.T)
    return model


def standing(model: od.Model, limits: bool = True) -> np.ndarray:
    """Standing posture: soles on the ground, as far apart as with all joints at zero, knees bent within their range."""
    dofs = model.dofs
    q = np.array(model.neutral())
    places = [np.array(od.point_position(model, f"{side}_sole", DM(q)).full()).ravel() for side in SIDES]
    height = -places[0][2]
    q[2] = (1 - BEND) * height
    targets: list[Any] = [
        od.PointTarget(model.body_names[0], q[:3]),
        od.OrientationTarget(model.body_names[0], np.eye(3)),
    ]
    for side, place in zip(SIDES, places, strict=True):
        targets.append(od.PointTarget(f"{side}_sole", (place[0], place[1], 0.0)))
        targets.append(od.OrientationTarget(f"{side}_sole", np.eye(3)))
    lower, upper = (np.clip(bound[7:], -np.pi, np.pi) for bound in (dofs.q_lower, dofs.q_upper))
    for bend in (0.1, 0.3, 0.02):  # towards the middle of the ranges, so that a straight knee bends into its range
        begin = np.concatenate([q[:7], q[7:] + np.clip((lower + upper) / 2, -bend, bend)])
        found = od.inverse_kinematics(model, targets, begin, limits=limits)
        if found.reached:
            return np.asarray(found.q)
    raise ValueError(
        f"{model!r} cannot stand on flat feet with its base {q[2]:.3g} m high: check the names of the feet, "
        "--sole-height, and the limits of joints in the file (--ignore-limits leaves them out)"
    )


def problem(
    speed: float,
    model: od.Model,
    *,
    sole: tuple[float, float] = SOLE,
    intervals: tuple[int, int] = (6, 20),
    clearance: float = 0.04,
    double_support: float | tuple[float, float] = DOUBLE_SUPPORT,
    limits: bool = True,
    impact: bool = False,
) -> ocp.Problem:
    """One step of a model with frames `left_sole` and `right_sole`, from the right foot's touchdown to the left's, at a
    speed [m/s].

    sole [m]: half length and half width of the flat foot about those frames. double_support [s]: time on both feet, or
    its bounds. limits: whether limits of joints in the
    file hold. impact: the foot may hit the ground; solvers then need longer. Except in singular postures the impulse is
    zero: the other foot stays on the ground and cannot be pulled, so no impulse on the landing foot is admissible.
    """
    posture = standing(model, limits)
    spread = abs(float(od.point_position(model, "left_sole", DM(posture))[1]))
    size: dict[str, Any] = {"half_length": sole[0], "half_width": sole[1]}
    right = ocp.Foothold(od.Contact("right_sole"), x=0.0, y=(-2.5 * spread, -0.4 * spread), **size)
    left = ocp.Foothold(od.Contact("left_sole"), **size)
    contact = (ocp.FrictionCone(), ocp.CenterOfPressure())  # a friction pyramid admits no pulling force
    corners = [("left_sole", (x, y, 0.0)) for x in (-sole[0], sole[0]) for y in (-sole[1], sole[1])]
    ends = (-sole[0], sole[0])
    apart = ocp.Separation(
        [(("left_sole", (x, 0, 0)), ("right_sole", (u, 0, 0))) for x in ends for u in ends],
        2 * sole[1] + 0.02,
        ends=False,  # both feet stand at the ends: their footholds determine the distance
    )
    effort = _effort(model)
    swing = (*contact, ocp.Clearance(corners, clearance), apart)
    return ocp.Problem(
        model,
        [
            ocp.Phase("double_support", intervals[0], double_support, (right, left), contact, effort),
            ocp.Phase("single_support", intervals[1], (0.3, 1.0), (right,), swing, effort),
        ],
        periodic=ocp.Periodic(
            speed,
            transition=ocp.Impact(weight=1e-3) if impact else ocp.Continuous(),
            step_length=(0.05, 2 * float(posture[2])),
        ),  # legs reach no farther
        posture=posture,
        limits=limits,
        integrator="gauss:2",  # with as many intervals the midpoint rule errs by 2 % in cost and 0.2 degrees per node
        torque="linear",
        loads=LOADS,
        options={"mu_init": 1e-2},  # a tenth of IPOPT's default: halves the iterations of some robots
    )


def _effort(model: od.Model) -> tuple[Any, ...]:
    """Square of torque over its limit; small terms for a smooth motion with joints near mid-range."""
    return (
        ocp.TorqueSquared(weight=100.0, scale=model.dofs.strength(unlimited=100.0)),
        ocp.AccelerationSquared(weight=1e-3),
        ocp.JointAngleSquared(weight=1.0),
    )


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: the robot, and the width of its step."""
    return {**about(solution.model), "step_width_m": 2 * abs(float(solution.phases[0].places["right_sole"][1]))}


def _problem(options: argparse.Namespace) -> ocp.Problem:
    options.urdf, robot = asked_robot(options)
    known = robot if robot and robot.sole else None
    left, right = (
        given or (known.feet[k] if known else "") for k, given in enumerate((options.left_foot, options.right_foot))
    )
    if not left or not right:
        raise ValueError("the names of both feet are needed: --left-foot NAME --right-foot NAME, links or frames")
    height = options.sole_height if options.sole_height is not None else known.sole_height if known else 0.0
    sole = tuple(options.sole or (known.sole if known and known.sole else SOLE))
    model = load(options.urdf, left, right, height)
    intervals = (2, 8) if options.quick else tuple(options.intervals)
    limits = not options.ignore_limits
    return problem(
        options.speed, model, sole=sole, intervals=intervals, limits=limits, impact=options.impact,
        double_support=options.double_support,
    )  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add_robot(arguments)
    arguments.add_argument("--left-foot", metavar="NAME", help="link or frame of the left sole; robots by name have it")
    arguments.add_argument("--right-foot", metavar="NAME", help="link or frame of the right sole")
    arguments.add_argument("--speed", type=float, default=0.5, help="walking speed [m/s]")
    arguments.add_argument("--double-support", type=float, default=DOUBLE_SUPPORT, metavar="S",
                           help="time on both feet [s]; least effort leaves none, so it is chosen")  # fmt: skip
    arguments.add_argument("--sole-height", type=float, help="height of those frames above the ground [m]")
    arguments.add_argument("--sole", type=float, nargs=2, metavar=("LENGTH", "WIDTH"),
                           help="half length and half width of the sole [m]")  # fmt: skip
    arguments.add_argument(
        "--intervals", type=int, nargs=2, default=(6, 20), help="numbers of intervals in double and in single support"
    )
    arguments.add_argument("--impact", action="store_true", help="the foot may hit the ground")
    arguments.add_argument(
        "--ignore-limits", action="store_true", help="leave out limits of joints in the file, if they are wrong"
    )
    arguments.add_argument(
        "--compile", action="store_true", help="compile the functions of the program first; the cache keeps them"
    )
    options, walk = asked(arguments, argv, _problem)
    solution = walk.solve(progress=not options.quiet, compile=True if options.compile else "auto")

    def figures() -> dict[str, Any]:
        apart = ocp.asymmetry(as_built(options.urdf))
        return numbers(solution) | {f"asymmetry_{key}": value for key, value in apart.items()}

    return finish(options, solution, figures, f"{walk.model.name} walks at {options.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(main())
