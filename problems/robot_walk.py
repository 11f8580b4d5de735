"""A robot walks: one periodic, mirrored step of least effort for any humanoid that comes as a URDF.

Double support on two flat feet, single support, a soft landing (or `--impact`); free durations and step width, friction
cones, centres of pressure inside the soles; the first guess is the robot standing with bent knees. Robots as built
are not quite symmetric: the gait is that of the symmetric twin, and the report says how far the two are apart.

    python -m problems.robot_walk --urdf talos_reduced.urdf --left-foot left_sole_link --right-foot right_sole_link

    [--speed 0.5] [--sole-height 0] [--sole HALF_LENGTH HALF_WIDTH] [--intervals 6 20] [--impact] [--ignore-limits] [--compile]
    [--quick] [--json] [--out DIR]
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
from ._robots import LOADS, about, as_built, symmetric

SIDES = ("left", "right")
BEND = 0.04
"""Lowering of the base by bent legs in the standing posture, as a fraction of its height on straight legs."""


def load(urdf: str | Path, left_foot: str, right_foot: str, sole_height: float = 0.0) -> od.Model:
    """The robot's symmetric twin, on a floating base, with frames `left_sole` and `right_sole` under its feet.

    sole_height [m]: from the frames named to the ground below them. The soles have the world's axes when all joints
    are at zero, where the robot must stand on flat feet.
    """
    model = symmetric(urdf, left_foot, right_foot)
    q = DM(model.neutral())
    for side, foot in zip(SIDES, (left_foot, right_foot), strict=True):
        R = np.array(od.pose(model, foot, q)[0].full())
        model = model.with_frame(f"{side}_sole", foot, origin=R.T @ [0.0, 0.0, -sole_height], rotation=R.T)
    return model


def standing(model: od.Model, limits: bool = True) -> np.ndarray:
    """Both soles on the ground as far apart as with all joints at zero, knees bent the way they can."""
    dofs = model.dofs
    q = np.array(model.neutral())
    places = [np.array(od.point_position(model, f"{side}_sole", DM(q)).full()).ravel() for side in SIDES]
    height = -places[0][2]
    q[2] = (1 - BEND) * height
    # a straight knee bends into its range, not out of it
    targets: list[Any] = [
        od.PointTarget(model.body_names[0], q[:3]),
        od.OrientationTarget(model.body_names[0], np.eye(3)),
    ]
    for side, place in zip(SIDES, places, strict=True):
        targets.append(od.PointTarget(f"{side}_sole", (place[0], place[1], 0.0)))
        targets.append(od.OrientationTarget(f"{side}_sole", np.eye(3)))
    lower, upper = (np.clip(bound[7:], -np.pi, np.pi) for bound in (dofs.q_lower, dofs.q_upper))
    for bend in (0.1, 0.3, 0.02):  # towards the middle of the ranges: a straight knee bends into its own, not out of it
        begin = np.concatenate([q[:7], q[7:] + np.clip((lower + upper) / 2, -bend, bend)])
        found = od.inverse_kinematics(model, targets, begin, limits=limits)
        if found.reached:
            return np.asarray(found.q)
    raise ValueError(
        f"{model!r} cannot stand on flat feet with its base {q[2]:.3g} m high: wrong feet, sole height, or limits of "
        "joints in the file (--ignore-limits)?"
    )


def problem(
    model: od.Model,
    speed: float = 0.5,
    sole: tuple[float, float] = (0.09, 0.05),
    intervals: tuple[int, int] = (6, 20),
    clearance: float = 0.04,
    limits: bool = True,
    impact: bool = False,
) -> ocp.Problem:
    """One step of a model with frames `left_sole` and `right_sole`, from the right foot's touch-down to the left's.

    sole [m]: half length and half width of the flat foot about those frames. limits: those of the file's joints.
    impact: the foot may hit the ground. Except in singular postures the impulse then comes out as zero: the other foot
    stays on the ground and cannot be pulled, so no impulse on the landing foot is admissible. Solvers need longer.
    """
    posture = standing(model, limits)
    spread = abs(float(od.point_position(model, "left_sole", DM(posture))[1]))
    size: dict[str, Any] = {"half_length": sole[0], "half_width": sole[1]}
    right = ocp.Foothold(od.Contact("right_sole"), x=0.0, y=(-2.5 * spread, -0.4 * spread), **size)
    left = ocp.Foothold(od.Contact("left_sole"), **size)
    contact = (ocp.FrictionCone(), ocp.CentreOfPressure())  # the pyramid pushes by itself
    corners = [("left_sole", (x, y, 0.0)) for x in (-sole[0], sole[0]) for y in (-sole[1], sole[1])]
    ends = (-sole[0], sole[0])
    apart = ocp.Separation(
        [(("left_sole", (x, 0, 0)), ("right_sole", (u, 0, 0))) for x in ends for u in ends],
        2 * sole[1] + 0.02,
        ends=False,  # where both feet stand, their footholds say how far apart
    )
    effort = _effort(model)
    swing = (*contact, ocp.Clearance(corners, clearance), apart)
    return ocp.Problem(
        model,
        [
            ocp.Phase("double_support", intervals[0], (0.1, 0.4), (right, left), contact, effort),
            ocp.Phase("single_support", intervals[1], (0.3, 1.0), (right,), swing, effort),
        ],
        periodic=ocp.Periodic(speed, transition=ocp.Impact(weight=1e-3) if impact else ocp.Continuous()),
        posture=posture,
        limits=limits,
        integrator="gauss:2",  # on as many intervals the midpoint rule misses TALOS by 2 %, and every node by 0.2 degrees
        torque="linear",
        loads=LOADS,
        options={"mu_init": 1e-2},  # a tenth of IPOPT's own: half the iterations of some robots
    )


def _effort(model: od.Model) -> tuple[Any, ...]:
    """Torque over its limit, squared; small terms that keep joints calm and near the middle."""
    return (
        ocp.TorqueSquared(weight=100.0, scale=model.dofs.strength(unlimited=100.0)),
        ocp.AccelerationSquared(weight=1e-3),
        ocp.JointAngleSquared(weight=1.0),
    )


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: the robot, and the width of its step."""
    return {**about(solution.model), "step_width_m": 2 * abs(float(solution.phases[0].places["right_sole"][1]))}


def _problem(options: argparse.Namespace) -> ocp.Problem:
    model = load(options.urdf, options.left_foot, options.right_foot, options.sole_height)
    intervals = (2, 8) if options.quick else tuple(options.intervals)
    sole, limits = tuple(options.sole), not options.ignore_limits
    return problem(model, options.speed, sole, intervals, limits=limits, impact=options.impact)


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--urdf", type=Path, required=True, metavar="FILE", help="the robot")
    arguments.add_argument("--left-foot", required=True, metavar="NAME", help="link or frame of the left sole")
    arguments.add_argument("--right-foot", required=True, metavar="NAME", help="link or frame of the right sole")
    arguments.add_argument("--speed", type=float, default=0.5, help="walking speed [m/s]")
    arguments.add_argument("--sole-height", type=float, default=0.0, help="from those frames down to the ground [m]")
    arguments.add_argument("--sole", type=float, nargs=2, default=(0.09, 0.05), metavar=("LENGTH", "WIDTH"),
                           help="half length and half width of the sole [m]")  # fmt: skip
    arguments.add_argument("--intervals", type=int, nargs=2, default=(6, 20), help="in double and in single support")
    arguments.add_argument("--impact", action="store_true", help="the foot may hit the ground")
    arguments.add_argument("--ignore-limits", action="store_true", help="of joints in the file, where they are wrong")
    arguments.add_argument("--compile", action="store_true", help="compile the blocks first; the cache keeps them")
    options, walk = asked(arguments, argv, _problem)
    solution = walk.solve(progress=not options.quiet, compile=True if options.compile else "auto")

    def figures() -> dict[str, Any]:
        apart = ocp.asymmetry(as_built(options.urdf))
        return numbers(solution) | {f"asymmetry_{key}": value for key, value in apart.items()}

    return finish(options, solution, figures, f"{walk.model.name} walks at {options.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(main())
