"""A robot walks: one periodic, mirrored step of least effort for any humanoid or biped, by its name in `od.robots`, from
a URDF, or as a model with closed chains in its legs.

On flat feet the step has double support, single support, and a landing without impact (or `--impact`). On point feet
it has single support only: as the swinging foot hits the ground the other leaves it. The durations and the step
width are free, forces lie in friction cones, centers of pressure inside the soles. Sizes and bounds follow from the
length of the legs. The first guess is the robot standing with bent knees. Robots as built are not quite symmetric: the
gait is that of the symmetric twin, and the report gives the difference of the two. Joints that move no mass are locked.

    python -m problems.robot_walk talos
    python -m problems.robot_walk bolt --speed 0.5
    python -m problems.robot_walk my_robot.urdf --left-foot left_sole_link --right-foot right_sole_link
    python -m problems.robot_walk heel_spring_biped

    [--speed V] [--backward] [--slope 0] [--steps 1] [--step-length L] [--step-width W] [--step-time T] [--load KG]
    [--lock JOINT ...] [--lock-light] [--double-support S] [--sole-height 0] [--sole HALF_LENGTH HALF_WIDTH]
    [--intervals 6 20] [--impact] [--ignore-limits] [--compile] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp

from ._command import asked, finish, parser
from ._robot_steps import SOLES, Walker
from ._robots import (
    LOADS,
    Steps,
    about,
    add_gait,
    add_robot,
    as_built,
    asked_robot,
    check_slope,
    leg_length,
    light_joints,
    symmetric,
)

SIDES = ("left", "right")
SOLE = (0.09, 0.05)
"""Half length and half width of a sole [m], if nothing is known about the robot's."""

SPEED = 0.17
"""Speed of a robot for which none is given, in sqrt(g l): 0.5 m/s for TALOS. People choose 0.45."""

DOUBLE, SINGLE = (0.05, 1.5), (0.7, 4.0)
"""Bounds on the times on both feet and on one foot, in sqrt(l/g), the time of a pendulum as long as the leg, l. People
at their own speed take 0.4 and 1.4 (step time 0.53 s, a fifth of it on both feet, l = 0.9 m; Perry & Burnfield, Gait
Analysis, 2010); the half period of a leg that swings as a straight rod is pi sqrt(2/3) = 2.6."""

FASTEST = 1.0
"""Largest Froude number v^2 / (g l) of a walk. Above it the weight cannot hold the body on its arc over a stiff leg
(Alexander, Physiol. Rev. 69, 1989); people begin to run at 0.5."""

CLEARANCE = 0.045
"""Height of the swinging foot in the middle of its swing, in lengths of the leg: 4 cm for TALOS."""


def load(
    urdf: str | Path, left_foot: str, right_foot: str, sole_height: float = 0.0, *, ahead: float = 0.0, up: str = "z"
) -> od.Model:
    """The robot's symmetric twin, on a floating base, with frames `left_sole` and `right_sole` under its feet.

    sole_height [m]: height of the feet's frames above the ground; ahead [m]: of the middle of the soles in front of
    them. When all joints are at zero the robot must stand on flat feet; the frames of the soles then have the world's
    axes. up: the axis of the file's base that points up.
    """
    model = symmetric(urdf, left_foot, right_foot, up)
    q = DM(model.neutral())
    for side, foot in zip(SIDES, (left_foot, right_foot), strict=True):
        R = np.array(od.pose(model, foot, q)[0].full())
        model = model.with_frame(f"{side}_sole", foot, origin=R.T @ [ahead, 0.0, -sole_height], rotation=R.T)
    return model


SLOW = 0.6
"""Speed limit of a joint of the legs, in sqrt(g/l), below which limits of speed hold all through a walk: Romeo's hips
turn by 18 degrees/s. IPOPT then starts with a larger barrier, 0.03 instead of 0.01: Romeo takes 55 instead of 107
iterations with it, TALOS 94 instead of 32."""

OWN = {"heel_spring_biped": (od.models.heel_spring_biped, (0.08, 0.04))}
"""Robots of the library itself by name: what makes them, half length and half width of their soles [m]."""


class Known(NamedTuple):
    """A robot and what is known about it: its model with the frames of its soles, their half length and half width [m] (None:
    points), and whether its limits of joints are right."""

    model: od.Model | od.models.ClosedChain
    sole: tuple[float, float] | None = SOLE
    limits: bool = True


def by_name(name: str) -> Known:
    """The robot of that name in `od.robots`, or of the library itself."""
    if name in OWN:
        make, sole = OWN[name]
        return Known(make(), sole)
    robot = od.robots.describe(name)
    if len(robot.feet) != len(SIDES):
        walkers = [n for n in od.robots.names() if len(od.robots.describe(n).feet) == len(SIDES)]
        raise ValueError(
            f"robot {name!r} has no two feet in the library's table; those that walk: {', '.join(walkers)}"
        )
    path = od.robots.path(name)
    model = load(path, robot.feet[0], robot.feet[1], robot.sole_height, ahead=robot.sole_ahead, up=robot.up)
    return Known(model, robot.sole, robot.limits)


def problem(
    speed: float | None = None,
    model: od.Model | od.models.ClosedChain | str = "talos",
    *,
    sole: tuple[float, float] | str | None = "known",
    intervals: tuple[int, int] = (6, 20),
    clearance: float | None = None,
    double_support: float | tuple[float, float] | None = None,
    limits: bool | None = None,
    impact: bool = False,
    guess: Any = None,
    step_length: float | None = None,
    step_width: float | None = None,
    step_time: float | None = None,
    load: float = 0.0,
    locked: Iterable[str] | Mapping[str, float] = (),
    backward: bool = False,
    slope: float = 0.0,
    steps: int | None = None,
) -> ocp.Problem:
    """Steps of a robot with frames `left_sole` and `right_sole`, the first from the right foot's touchdown on.

    speed [m/s]: by default SPEED sqrt(g l). model: a robot's name, a model, or a `ClosedChain` whose loops hold in
    every phase and whose joints without strength have no motor. sole [m]: half length and half width of the flat feet
    about those frames, None for point feet, "known": that of the robot's name, or SOLE. clearance [m] of the swinging
    foot. double_support [s]: time on both feet, or its bounds. limits: whether limits of joints in the file hold; by
    default they do, unless the table of robots says that they are wrong. impact: the foot may hit the ground; solvers then need longer. Except in singular postures the impulse is zero: the
    other foot stays on the ground and cannot be pulled, so no impulse on the landing foot is admissible.

    guess: as that of a Problem. step_length [m], step_width [m] between the soles' middles, step_time [s]: free by
    default. load [kg] on the trunk. locked: joints that hold still, by name or with their positions. slope: rise per
    distance, negative downhill. steps: in a period, which is mirrored for odd numbers; by default 1, or 2 for a robot
    whose sides differ.
    """
    known = by_name(model) if isinstance(model, str) else Known(model)
    if isinstance(sole, str) and sole != "known":
        raise ValueError(f"sole must be (half length, half width) [m], None for point feet, or 'known', got {sole!r}")
    size = known.sole if isinstance(sole, str) else sole
    limits = known.limits if limits is None else limits
    walker = Walker(known.model, size, locked, load, limits)
    _check(walker, double_support, step_width)
    check_slope(slope, ocp.FrictionCone())
    count = _count(walker, steps)
    given = Steps(walker.model.name, walker.leg, float(np.linalg.norm(walker.model.gravity)), SPEED, FASTEST)
    step, speed = given.of(speed, step_length, step_time)
    flat = walker.sole is not None
    transition = ocp.Continuous() if flat and not impact else ocp.Impact(weight=1e-3 if flat else 1e-2)
    phases = _phases(walker, count, intervals, clearance, double_support, step_width)
    sign = -1.0 if backward else 1.0
    lengths = tuple(sorted(sign * count * x for x in step))
    return ocp.Problem(
        walker.model,
        phases,
        transitions=[transition if flat and k % 2 else ocp.Continuous() if flat else transition
                     for k in range(len(phases) - 1)],
        periodic=ocp.Periodic(sign * speed, mirror=count % 2 == 1, transition=transition, step_length=lengths),
        unactuated=walker.unactuated,
        posture=walker.posture,
        guess=guess,
        limits=limits,
        integrator="gauss:2",  # with as many intervals the midpoint rule errs by 2 % in cost and 0.2 degrees per node
        torque="linear",
        loads=LOADS,
        parameters=(ocp.Parameter("slope", math.atan(slope)),) if slope else (),
        options=_options(walker),
    )  # fmt: skip


def _options(walker: Walker) -> dict[str, Any]:
    """Options of IPOPT: a first barrier below its default, 0.1, halves the iterations of some robots."""
    legs = {body for sole in SOLES for body in walker.model.path(walker.model.frame(sole).body)[1:]}
    dofs = [dof for body in legs for dof in walker.model.dofs_of(body)]
    slow = walker.limits and float(walker.model.dofs.qd_max[dofs].min()) * walker.time < SLOW
    return {"mu_init": 3e-2 if slow else 1e-2}


def _check(walker: Walker, double_support: Any, width: float | None) -> None:
    """ValueError for a time on both feet that points do not have, and for feet that would stand on each other."""
    if walker.sole is None and double_support is not None:
        raise ValueError(
            f"double_support: {walker.model.name} stands on points here, and goes from one to the other without a time on "
            "both: leave it out, or give the half length and half width of a sole"
        )
    least = 2 * walker.sole[1] if walker.sole else 0.0
    if width is not None and not (math.isfinite(width) and width > least):
        raise ValueError(
            f"step_width must be more than the width of a sole, {least:g} m, or the feet stand on each other, got {width:g}"
        )


def _count(walker: Walker, steps: int | None) -> int:
    """Steps of a period; ValueError for an odd number of steps of a robot whose sides differ."""
    if steps is not None and (not isinstance(steps, int) or steps < 1):
        raise ValueError(f"steps must be a whole number, 1 or more, got {steps!r}")
    if steps is not None and steps % 2 == 0:
        return steps
    mirrored = walker.mirrored
    if steps is not None and not mirrored:
        raise ValueError(
            f"steps must be even for {walker.model.name}, whose left and right side differ, got {steps}: after an odd "
            "number of steps the period is a mirror image"
        )
    return steps or (1 if mirrored else 2)


def _phases(
    walker: Walker, count: int, intervals: tuple[int, int], clearance: float | None, double: Any, width: float | None
) -> list[ocp.Phase]:
    """The phases of all steps; right feet land first, third, ..."""
    flat = walker.sole is not None
    contact: tuple[Any, ...] = (
        ocp.FrictionCone(),
        *([ocp.CenterOfPressure()] if flat else []),
    )  # a friction pyramid admits no pulling
    height = CLEARANCE * walker.leg if clearance is None else clearance
    effort, (transfer, gradual) = walker.effort(), walker.transfer()
    old = walker.foothold(SOLES[0])
    phases = []
    for k in range(count):
        here, other = (SOLES[1], SOLES[0]) if k % 2 == 0 else SOLES
        place = {"x": 0.0} if k == 0 else {}
        if k == 0 or (k == 1 and (count % 2 == 0)) or width is not None:
            place |= {"y": walker.beside(here, width)}
        new = walker.foothold(here, **place)
        label = "" if count == 1 else f"_{k + 1}"
        swing = (*contact, ocp.Clearance(walker.corners(other), height), walker.apart())
        if flat:
            bounds = tuple(walker.time * x for x in DOUBLE) if double is None else double
            # a chosen time needs no cost
            soft = isinstance(bounds, tuple)
            phases.append(ocp.Phase(
                f"double_support{label}", intervals[0], bounds, (new, old), (*contact, *([gradual] if soft else [])),
                (*effort, *([transfer] if soft else [])), walker.loops,
            ))  # fmt: skip
        single = tuple(walker.time * x for x in SINGLE)
        phases.append(ocp.Phase(f"single_support{label}", intervals[1], single, (new,), swing, effort, walker.loops))
        old = new
    return phases


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: the robot, the size of its step, its times relative to a pendulum's."""
    model = solution.model
    length = leg_length(model, SOLES[0])
    double = sum(phase.duration for phase in solution.phases if phase.name.startswith("double_support"))
    speed = abs(solution.step_length) / solution.duration
    return {
        **about(model),
        "step_width_m": _width(solution),
        "leg_length_m": length,
        "froude_number": speed**2 / (float(np.linalg.norm(model.gravity)) * length),
        "double_support_percent_of_step": 100 * double / solution.duration,
    }


def _width(solution: ocp.Solution) -> float:
    """Distance of the feet across the direction of walking [m]."""
    if solution.mirror() is not None:
        return 2 * abs(float(solution.phases[0].places[SOLES[1]][1]))
    y = {name: float(place[1]) for phase in solution.phases for name, place in phase.places.items()}
    return y[SOLES[0]] - y[SOLES[1]]


def _known(options: argparse.Namespace) -> Known:
    """The robot of the command line."""
    if options.robot in OWN and not options.urdf:
        if options.left_foot or options.right_foot or options.sole_height is not None:
            raise ValueError(
                f"--left-foot, --right-foot and --sole-height are for robots from files, and {options.robot} is built here"
            )
        return by_name(options.robot)
    options.urdf, robot = asked_robot(options)
    known = robot if robot and len(robot.feet) == len(SIDES) else None
    left, right = (
        given or (known.feet[k] if known else "") for k, given in enumerate((options.left_foot, options.right_foot))
    )
    if not left or not right:
        raise ValueError("the names of both feet are needed: --left-foot NAME --right-foot NAME, links or frames")
    height = options.sole_height if options.sole_height is not None else known.sole_height if known else 0.0
    place: dict[str, Any] = {"ahead": known.sole_ahead, "up": known.up} if known else {}
    model = load(options.urdf, left, right, height, **place)
    return Known(model, known.sole, known.limits) if known else Known(model)


def _problem(options: argparse.Namespace) -> ocp.Problem:
    known = _known(options)
    tree = known.model.model if isinstance(known.model, od.models.ClosedChain) else known.model
    locked = [*(options.lock or ()), *(light_joints(tree, SOLES) if options.lock_light else ())]
    intervals = (2, 8) if options.quick else tuple(options.intervals)
    sole = tuple(options.sole) if options.sole else known.sole
    return problem(
        options.speed, known.model, sole=sole, intervals=intervals, impact=options.impact,
        limits=known.limits and not options.ignore_limits,
        double_support=options.double_support, step_length=options.step_length, step_width=options.step_width,
        step_time=options.step_time, load=options.load, locked=list(dict.fromkeys(locked)), backward=options.backward,
        slope=options.slope, steps=options.steps,
    )  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add_robot(arguments)
    _add_options(arguments.add_argument)
    options, walk = asked(arguments, argv, _problem)
    solution = walk.solve(progress=not options.quiet, compile=True if options.compile else "auto")

    def figures() -> dict[str, Any]:
        if options.robot in OWN:
            return numbers(solution)
        built = as_built(options.urdf)
        locked = sorted(set(built.joint_names) - set(walk.model.joint_names))
        try:
            apart: Mapping[str, float] = ocp.asymmetry(built)
        except od.ModelError:  # no twin
            apart = {}
        return (
            numbers(solution)
            | ({"locked_joints": ", ".join(locked)} if locked else {})
            | {f"asymmetry_{key}": value for key, value in apart.items()}
        )

    speed = abs(solution.step_length) / solution.duration
    return finish(options, solution, figures, f"{walk.model.name} walks at {speed:.3g} m/s")


def _add_options(add: Callable[..., Any]) -> None:
    def number(name: str, text: str, unit: str = "M", default: float | None = None) -> None:
        add(name, type=float, default=default, metavar=unit, help=text)

    add("--left-foot", metavar="NAME", help="link or frame of the left sole; robots by name have it")
    add("--right-foot", metavar="NAME", help="link or frame of the right sole")
    add_gait(add, SPEED)
    add("--steps", type=int, metavar="N", help="steps in a period, odd: mirrored; default 1, or 2 if the sides differ")
    number("--step-width", "distance of the soles' middles across [m]; free by default")
    add(
        "--lock-light",
        action="store_true",
        help="lock fingers, eyes and other joints that move less than 0.5 %% of the mass",
    )
    number("--double-support", "time on both feet [s]; free by default", "S")
    number("--sole-height", "height of those frames above the ground [m]")
    add("--sole", type=float, nargs=2, metavar=("LENGTH", "WIDTH"), help="half length and half width of the sole [m]")
    add("--intervals", type=int, nargs=2, default=(6, 20), help="numbers of intervals in double and in single support")
    add("--impact", action="store_true", help="the foot may hit the ground")
    add("--ignore-limits", action="store_true", help="leave out limits of joints in the file, if they are wrong")
    add("--compile", action="store_true", help="make all tables for machine code first; the cache keeps them")


if __name__ == "__main__":
    sys.exit(main())
