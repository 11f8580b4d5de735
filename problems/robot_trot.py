"""A quadruped, by its name in `od.robots` or from a URDF, trots on diagonal pairs of point feet: one periodic, mirrored
half of the gait of least effort.

The half begins as one pair of feet touches down (an impact) and ends as the other pair touches down, in the mirror
image of the start. Between the stances of the pairs may be a flight (`--flight`) or a time on all four feet
(`--overlap`).

    python -m problems.robot_trot solo12
    python -m problems.robot_trot my_robot.urdf --feet FL_FOOT FR_FOOT HL_FOOT HR_FOOT

    [--speed V] [--backward] [--slope 0] [--step-length L] [--step-time T] [--load KG] [--lock JOINT ...]
    [--foot-radius 0] [--flight S | --overlap S] [--intervals 16] [--compile] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp

from ._command import asked, finish, parser
from ._robots import (
    LOADS,
    Steps,
    about,
    add_gait,
    add_robot,
    asked_robot,
    check_slope,
    leg_length,
    loaded,
    locked_at_rest,
    pendulum_time,
    symmetric,
)  # fmt: skip

NAMES = ("front_left", "front_right", "hind_left", "hind_right")
BEND = 0.25
"""Lowering of the base by bent legs in the standing posture, as a fraction of its height on straight legs."""


SPEED = 0.23
"""Speed of a robot for which none is given, in sqrt(g l): 0.4 m/s for Solo."""

FASTEST = 2.5
"""Largest Froude number v^2 / (g l) of a trot: above it animals gallop (Alexander, Physiol. Rev. 69, 1989)."""

STANCE = (0.35, 1.6)
"""Bounds on the time of a stance, in sqrt(l/g), the time of a pendulum as long as the leg, l."""


def load(urdf: str | Path, feet: tuple[str, ...], foot_radius: float = 0.0) -> od.Model:
    """The robot's symmetric twin on a floating base, with point frames `front_left` ... under its feet.

    foot_radius [m]: height of the feet's frames above the ground when all joints are at zero and legs straight down.
    """
    model = symmetric(urdf, feet[0], feet[1])
    q = DM(model.neutral())
    for name, foot in zip(NAMES, feet, strict=True):
        R = np.array(od.pose(model, foot, q)[0].full())
        model = model.with_frame(name, foot, origin=R.T @ [0.0, 0.0, -foot_radius])
    return model


def by_name(name: str) -> od.Model:
    """The robot of that name in `od.robots`, with the frames of its feet."""
    robot = od.robots.describe(name)
    if len(robot.feet) != len(NAMES):
        walkers = [n for n in od.robots.names() if len(od.robots.describe(n).feet) == len(NAMES)]
        raise ValueError(
            f"robot {name!r} has no four feet in the library's table; those that trot: {', '.join(walkers)}"
        )
    return load(od.robots.path(name), robot.feet, robot.sole_height)


def standing(model: od.Model) -> np.ndarray:
    """Standing posture: feet below their places at zero joint angles, front knees bent backward, hind knees forward."""
    q = np.array(model.neutral())
    places = {name: np.array(od.point_position(model, name, DM(q)).full()).ravel() for name in NAMES}
    height = -min(place[2] for place in places.values())
    q[2] = (1 - BEND) * height
    root = model.body_names[0]
    targets: list[Any] = [od.PointTarget(root, q[:3]), od.OrientationTarget(root, np.eye(3))]
    targets += [od.PointTarget(name, (place[0], place[1], 0.0)) for name, place in places.items()]
    for name in NAMES:  # knees: the last joint of a leg bends by twice the angle of the one above
        hip, knee = model.path(model.frame(name).body)[-2:]
        sign = 1.0 if name.startswith("front") else -1.0
        q[model.q_index[hip]], q[model.q_index[knee]] = 0.7 * sign, -1.4 * sign
    found = od.inverse_kinematics(model, targets, q, limits=False)
    if not found.reached:
        raise ValueError(f"{model!r} cannot stand with its base {q[2]:.3g} m high on feet below its hips: check --feet")
    return np.asarray(found.q)


def problem(
    speed: float | None = None,
    model: od.Model | str = "solo12",
    *,
    flight: float = 0.0,
    intervals: int = 16,
    overlap: float = 0.0,
    guess: Any = None,
    step_length: float | None = None,
    step_time: float | None = None,
    load: float = 0.0,
    locked: Iterable[str] | Mapping[str, float] = (),
    backward: bool = False,
    slope: float = 0.0,
) -> ocp.Problem:
    """Half a trot of a model with frames `front_left` and so on; it begins as front left and hind right touch down.

    speed [m/s]: by default SPEED sqrt(g l), l the length of the legs. model: or the name of a robot. flight [s]:
    shortest time in the air; overlap [s]: shortest time on all four feet; 0: none. guess: as that of a Problem.
    step_length [m], step_time [s]: of this half of the gait, free by default. load [kg] on the trunk. locked: joints
    that hold still, by name or with their positions. slope: rise per distance, negative downhill.
    """
    for name, duration in (("flight", flight), ("overlap", overlap)):
        if not 0 <= duration < math.inf:
            raise ValueError(f"{name} [s] must be 0 or more, got {duration}")
    if flight and overlap:
        raise ValueError(f"a trot has a flight or an overlap between its two stances, got {flight} s and {overlap} s")
    model = loaded(locked_at_rest(by_name(model) if isinstance(model, str) else model, locked), load, NAMES)
    posture, leg = standing(model), leg_length(model, NAMES[0])
    time = pendulum_time(leg, model.gravity)
    given = Steps(model.name, leg, float(np.linalg.norm(model.gravity)), SPEED, FASTEST)
    step, speed = given.of(speed, step_length, step_time)
    feet = {
        name: ocp.Foothold(od.Contact(name, axes="xyz"), x=(-3 * leg, 3 * leg), y=(-2 * leg, 2 * leg)) for name in NAMES
    }
    pair, other = ("front_left", "hind_right"), ("front_right", "hind_left")
    contact = (ocp.FrictionCone(0.6),)  # a friction pyramid admits no pulling force
    check_slope(slope, *contact)
    swing = ocp.Clearance([(name, (0.0, 0.0, 0.0)) for name in other], 0.1 * posture[2])
    effort = _effort(model, posture)
    down = tuple(feet[name] for name in pair)
    stance = (STANCE[0] * time, STANCE[1] * time)
    phases = [ocp.Phase("stance", intervals, stance, down, (*contact, swing), effort)]
    if overlap:
        still = tuple(feet[name] for name in other)
        phases.insert(
            0, ocp.Phase("overlap", max(2, intervals // 4), (overlap, 5 * overlap), down + still, contact, effort)
        )
    if flight:
        phases.append(ocp.Phase("flight", max(2, intervals // 4), (flight, 3 * flight), (), (), effort))
    sign = -1.0 if backward else 1.0
    lengths = tuple(sorted(sign * x for x in step))
    return ocp.Problem(
        model,
        phases,
        periodic=ocp.Periodic(sign * speed, transition=ocp.Impact(weight=1e-2), step_length=lengths),
        boundary=[ocp.Boundary(_at_origin, "base starts at the origin")],
        posture=posture,
        guess=guess,
        limits=False,
        loads=LOADS,
        parameters=(ocp.Parameter("slope", math.atan(slope)),) if slope else (),
    )


def _at_origin(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
    return start.q[0], 0.0, 0.0


def _effort(model: od.Model, posture: np.ndarray) -> tuple[Any, ...]:
    """Square of torque over a tenth of weight times leg length; small terms for accelerations and posture."""
    scale = 0.1 * model.weight * float(posture[2])
    bent = ocp.TrackJoints(lambda s: posture, weight=0.3, joints=model.joint_names[1:])
    return (ocp.TorqueSquared(weight=1.0, scale=scale), ocp.AccelerationSquared(weight=1e-5), bent)


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: the robot."""
    return about(solution.model)


def _problem(options: argparse.Namespace) -> ocp.Problem:
    urdf, robot = asked_robot(options)
    known = robot if robot and len(robot.feet) == len(NAMES) else None
    feet = tuple(options.feet or (known.feet if known else ()))
    if len(feet) != len(NAMES):
        raise ValueError("the names of four feet are needed: --feet FRONT_LEFT FRONT_RIGHT HIND_LEFT HIND_RIGHT")
    radius = options.foot_radius if options.foot_radius is not None else known.sole_height if known else 0.0
    model = load(urdf, feet, radius)
    intervals = 8 if options.quick else options.intervals
    return problem(
        options.speed, model, flight=options.flight, intervals=intervals, overlap=options.overlap,
        step_length=options.step_length, step_time=options.step_time, load=options.load, locked=options.lock or (),
        backward=options.backward, slope=options.slope,
    )  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add_robot(arguments)
    arguments.add_argument("--feet", nargs=4, metavar="NAME",
                           help="links or frames of the feet: front left, front right, hind left, hind right; "
                                "robots by name have them")  # fmt: skip
    add_gait(arguments.add_argument, SPEED)
    arguments.add_argument("--foot-radius", type=float, help="height of those frames above the ground [m]")
    between = arguments.add_mutually_exclusive_group()
    between.add_argument("--flight", type=float, default=0.0, help="shortest time off the ground [s]")
    between.add_argument("--overlap", type=float, default=0.0, help="shortest time on all four feet [s]")
    arguments.add_argument("--intervals", type=int, default=16, help="intervals of a stance (default 16)")
    arguments.add_argument(
        "--compile", action="store_true", help="make all tables for machine code first; the cache keeps them"
    )
    options, trot = asked(arguments, argv, _problem)
    solution = trot.solve(progress=not options.quiet, compile=True if options.compile else "auto")
    speed = abs(solution.step_length) / solution.duration
    return finish(options, solution, lambda: numbers(solution), f"{trot.model.name} trots at {speed:.3g} m/s")


if __name__ == "__main__":
    sys.exit(main())
