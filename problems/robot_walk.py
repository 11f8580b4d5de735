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
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp

from ._command import asked, finish, parser
from ._robots import (
    LOADS, about, add_robot, as_built, asked_robot, check_speed, leg_length, light_joints, loaded, locked_at_rest,
    pendulum_time, symmetric,
)  # fmt: skip

SIDES = ("left", "right")
SOLES = ("left_sole", "right_sole")
SOLE = (0.09, 0.05)
"""Half length and half width of a sole [m], if nothing is known about the robot's."""

SPEED = 0.17
"""Speed of a robot for which none is given, in sqrt(g l): 0.5 m/s for TALOS. People choose 0.45."""

DOUBLE, SINGLE = (0.05, 1.5), (0.7, 4.0)
"""Bounds on the times on both feet and on one foot, in sqrt(l/g), the time of a pendulum as long as the leg, l. People
at their own speed take 0.4 and 1.4 (step time 0.53 s, a fifth of it on both feet, l = 0.9 m; Perry & Burnfield, Gait
Analysis, 2010); the half period of a leg that swings as a straight rod is pi sqrt(2/3) = 2.6."""

TRANSFER = 0.25
"""Effort of moving the load from foot to foot: a rate of one weight per sqrt(l/g) costs as much as TRANSFER^2 of the
strength of one joint. Without it least effort leaves no double support, because moving the load fast costs no torque;
with it the time on both feet is a compromise, 15 to 25 % of a step, as in people."""

LEAST_LOAD = 0.8
"""Least load on both feet together in double support, in weights: the robot does not fall from foot to foot."""

REACH = 1.6
"""Largest step length, in lengths of the leg."""

BEND = 0.04
"""Lowering of the base by bent legs in the standing posture, as a fraction of its height on straight legs."""

CLEARANCE = 0.045
"""Height of the swinging foot in the middle of its swing, in lengths of the leg: 4 cm for TALOS."""

OWN = {"heel_spring_biped": od.models.heel_spring_biped}
"""Robots of the library itself, by name."""


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


def by_name(name: str) -> tuple[od.Model | od.models.ClosedChain, tuple[float, float] | None]:
    """The robot of that name with the frames of its soles, and half length and half width of these; None: points."""
    if name in OWN:
        return OWN[name](), SOLE_OF_OWN
    robot = od.robots.describe(name)
    if len(robot.feet) != len(SIDES):
        walkers = [n for n in od.robots.names() if len(od.robots.describe(n).feet) == len(SIDES)]
        raise ValueError(f"robot {name!r} has no two feet in the library's table; those that walk: {', '.join(walkers)}")
    path = od.robots.path(name)
    return load(path, *robot.feet, robot.sole_height, ahead=robot.sole_ahead, up=robot.up), robot.sole


SOLE_OF_OWN = (0.08, 0.04)
"""Half length and half width of the soles of the library's own robots [m]."""


def standing(model: od.Model, limits: bool = True, flat: bool = True) -> np.ndarray:
    """Standing posture: feet on the ground, as far apart as with all joints at zero, knees bent within their range.

    flat: the soles lie flat; otherwise they are points.
    """
    dofs = model.dofs
    q = np.array(model.neutral())
    places = [np.array(od.point_position(model, sole, DM(q)).full()).ravel() for sole in SOLES]
    bend = BEND if flat else 2 * BEND
    q[2] = -(1 - bend) * places[0][2]
    targets: list[Any] = [
        od.PointTarget(model.body_names[0], q[:3]),
        od.OrientationTarget(model.body_names[0], np.eye(3)),
    ]
    for sole, place in zip(SOLES, places, strict=True):
        targets.append(od.PointTarget(sole, (place[0], place[1], 0.0)))
        targets += [od.OrientationTarget(sole, np.eye(3))] if flat else []
    for begin in _bent(model, q, dofs.q_lower, dofs.q_upper):
        found = od.inverse_kinematics(model, targets, begin, limits=limits)
        if found.reached:
            return np.asarray(found.q)
    raise ValueError(
        f"{model!r} cannot stand on {'flat' if flat else 'its'} feet with its base {q[2]:.3g} m high: check the names "
        "of the feet, --sole-height, and the limits of joints in the file (--ignore-limits leaves them out)"
    )


def _bent(model: od.Model, q: np.ndarray, low: np.ndarray, high: np.ndarray) -> Iterable[np.ndarray]:
    """Postures from which to search: bent towards the middle of the ranges, so that a straight knee bends into its
    range; for knees that bend both ways also forward by themselves."""
    middle = (np.clip(low[7:], -np.pi, np.pi) + np.clip(high[7:], -np.pi, np.pi)) / 2
    for bend in (0.1, 0.3, 0.02):
        yield np.concatenate([q[:7], q[7:] + np.clip(middle, -bend, bend)])
    knees = q.copy()
    for sole in SOLES:
        hip, knee = model.path(model.frame(sole).body)[-2:]
        knees[model.q_index[hip]], knees[model.q_index[knee]] = 0.4, -0.8
    yield knees


class Walker:
    """What the parts of a problem ask about a robot: model, loops, posture, feet, length and time of its legs."""

    def __init__(
        self, given: od.Model | od.models.ClosedChain, sole: tuple[float, float] | None, locked: Any, load: float,
        limits: bool,
    ) -> None:  # fmt: skip
        chain = given if isinstance(given, od.models.ClosedChain) else None
        self.sole, self.limits = sole, limits
        self.model = loaded(chain.model if chain else given, load, SOLES)
        self.loops = tuple(chain.loops) if chain else ()
        if self.loops and locked:
            raise ValueError("locked joints: not for a robot with closed chains, lock them in its model")
        self.model = locked_at_rest(self.model, locked)
        self.posture = np.array(chain.q) if chain else standing(self.model, limits, sole is not None)
        self.spread = abs(float(od.point_position(self.model, SOLES[0], DM(self.posture))[1]))
        self.leg = leg_length(self.model, SOLES[0])
        self.time = pendulum_time(self.leg, self.model.gravity)
        idle = self.model.dofs.tau_max == 0
        passive = [n for n in self.model.joint_names if idle[self.model.qd_slice(n)].all()] if chain else []
        self.unactuated = [*self.model.floating_joints, *(n for n in passive if n not in self.model.floating_joints)]

    @property
    def mirrored(self) -> bool:
        """Whether left and right are mirror images, so that one step is a period."""
        try:
            ocp.mirror_map(self.model)
        except od.ModelError:
            return False
        return True

    def foothold(self, sole: str, **place: Any) -> ocp.Foothold:
        if self.sole is None:
            return ocp.Foothold(od.Contact(sole, axes="xyz"), **place)
        return ocp.Foothold(od.Contact(sole), half_length=self.sole[0], half_width=self.sole[1], **place)

    def beside(self, sole: str, width: float | None) -> Any:
        """Bounds of a sole's y [m]: left feet left of the middle, right feet right of it."""
        side = 1.0 if sole == SOLES[0] else -1.0
        near, far = (width / 2,) * 2 if width is not None else (0.4 * self.spread, 2.5 * self.spread)
        return tuple(sorted((side * near, side * far)))

    def corners(self, sole: str) -> list[tuple[str, tuple[float, float, float]]]:
        length, width = self.sole or (0.0, 0.0)
        return list(dict.fromkeys((sole, (x, y, 0.0)) for x in (-length, length) for y in (-width, width)))

    def apart(self) -> ocp.Separation:
        """Feet that pass each other side by side. Not at the ends of a swing: footholds determine the distance there."""
        length, width = self.sole or (0.0, 0.0)
        ends = list(dict.fromkeys((-length, length)))
        pairs = [((SOLES[0], (x, 0, 0)), (SOLES[1], (u, 0, 0))) for x in ends for u in ends]
        return ocp.Separation(pairs, 2 * width + 0.024 * self.leg, ends=False)

    def transfer(self) -> tuple[ocp.Rate, ocp.Path]:
        """The effort of moving the load from the old foot to the new one, which starts with none and ends with all."""
        weight = self.model.weight

        def loads(instant: ocp.Instant) -> Any:
            return ca.vertcat(*(wrench[5] for wrench in instant.wrenches.values())) / weight

        def gradual(instant: ocp.Instant) -> Any:
            new, old = ca.vertsplit(loads(instant))
            return ca.vertcat(2 * instant.s - new, 2 * (1 - instant.s) - old, new + old - LEAST_LOAD)

        cost = ocp.Rate(loads, weight=100.0 * (TRANSFER * self.time) ** 2, name="load transfer")
        return cost, ocp.Path(gradual, 0.0, np.inf, where="interval")

    def effort(self) -> tuple[Any, ...]:
        """Square of torque over its limit; small terms for a smooth motion with joints near mid-range.

        Limits beyond the moment of the whole weight at the leg's length say nothing about the robot.
        """
        strength = np.minimum(self.model.dofs.strength(unlimited=100.0), self.model.weight * self.leg)
        return (
            ocp.TorqueSquared(weight=100.0, scale=np.where(strength > 0, strength, 1.0)),
            ocp.AccelerationSquared(weight=1e-3),
            ocp.JointAngleSquared(weight=1.0),
        )


def problem(
    speed: float | None = None,
    model: od.Model | od.models.ClosedChain | str = "talos",
    *,
    sole: tuple[float, float] | str | None = "known",
    intervals: tuple[int, int] = (6, 20),
    clearance: float | None = None,
    double_support: float | tuple[float, float] | None = None,
    limits: bool = True,
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
    foot. double_support [s]: time on both feet, or its bounds. limits: whether limits of joints in the file hold.
    impact: the foot may hit the ground; solvers then need longer. Except in singular postures the impulse is zero: the
    other foot stays on the ground and cannot be pulled, so no impulse on the landing foot is admissible.

    guess: as that of a Problem. step_length [m], step_width [m] between the soles' middles, step_time [s]: free by
    default. load [kg] on the trunk. locked: joints that hold still, by name or with their positions. slope: rise per
    distance, negative downhill. steps: in a period, which is mirrored for odd numbers; by default 1, or 2 for a robot
    whose sides differ.
    """
    known: tuple[float, float] | None = SOLE
    if isinstance(model, str):
        model, known = by_name(model)
    elif isinstance(model, od.models.ClosedChain):
        known = SOLE_OF_OWN
    walker = Walker(model, known if isinstance(sole, str) else sole, locked, load, limits)
    count = _count(walker, steps)
    step, speed = _step(walker, speed, step_length, step_time)
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
        options={"mu_init": 1e-2},  # a tenth of IPOPT's default: halves the iterations of some robots
    )  # fmt: skip


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


def _step(
    walker: Walker, speed: float | None, length: float | None, time: float | None
) -> tuple[tuple[float, float], float]:
    """Bounds of the step length [m] and the speed [m/s], from which of speed, length and time are given."""
    g = float(np.linalg.norm(walker.model.gravity))
    for name, value in (("speed", speed), ("step_length", length), ("step_time", time)):
        if value is not None and not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be positive, got {value!r} (backward=True walks backward)")
    if length is not None and length > REACH * walker.leg:
        raise ValueError(
            f"step_length {length:.3g} m is out of reach: legs of {walker.leg:.3g} m take steps of at most "
            f"{REACH * walker.leg:.3g} m"
        )
    if length is not None and time is not None:
        if speed is not None and abs(speed * time - length) > 1e-6 * length:
            raise ValueError(
                f"speed {speed:g} m/s, step_length {length:g} m and step_time {time:g} s contradict each other: speed "
                "times time is the length; leave out one"
            )
        speed = length / time
    speed = SPEED * math.sqrt(g * walker.leg) if speed is None else speed
    check_speed(speed, walker.leg, walker.model)
    if length is not None or time is not None:
        fixed = length if length is not None else speed * float(time or 0.0)
        return (fixed, fixed), speed
    return (0.02 * walker.leg, REACH * walker.leg), speed


def _phases(
    walker: Walker, count: int, intervals: tuple[int, int], clearance: float | None, double: Any, width: float | None
) -> list[ocp.Phase]:
    """The phases of all steps; right feet land first, third, ..."""
    flat = walker.sole is not None
    contact = (ocp.FrictionCone(), *([ocp.CenterOfPressure()] if flat else []))  # a friction pyramid admits no pulling
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


def _model(options: argparse.Namespace) -> tuple[Any, tuple[float, float] | None]:
    """The robot of the command line and its sole."""
    if options.robot in OWN and not options.urdf:
        options.urdf = None
        model, sole = by_name(options.robot)
        return model, tuple(options.sole) if options.sole else sole
    options.urdf, robot = asked_robot(options)
    known = robot if robot and len(robot.feet) == len(SIDES) else None
    left, right = (
        given or (known.feet[k] if known else "") for k, given in enumerate((options.left_foot, options.right_foot))
    )
    if not left or not right:
        raise ValueError("the names of both feet are needed: --left-foot NAME --right-foot NAME, links or frames")
    height = options.sole_height if options.sole_height is not None else known.sole_height if known else 0.0
    sole = tuple(options.sole) if options.sole else known.sole if known else SOLE
    place: dict[str, Any] = {"ahead": known.sole_ahead, "up": known.up} if known else {}
    return load(options.urdf, left, right, height, **place), sole


def _problem(options: argparse.Namespace) -> ocp.Problem:
    model, sole = _model(options)
    locked = [*(options.lock or ()), *(light_joints(model, SOLES) if options.lock_light else ())]
    intervals = (2, 8) if options.quick else tuple(options.intervals)
    return problem(
        options.speed, model, sole=sole, intervals=intervals, limits=not options.ignore_limits, impact=options.impact,
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
        if options.urdf is None:
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
    number("--speed", f"walking speed [m/s]; default: {SPEED} sqrt(g l) with legs of length l", "V")
    add("--backward", action="store_true", help="walk backward")
    number("--slope", "rise per distance, negative downhill", "S", 0.0)
    add("--steps", type=int, metavar="N", help="steps in a period, odd: mirrored; default 1, or 2 if the sides differ")
    number("--step-length", "length of a step [m]; free by default")
    number("--step-width", "distance of the soles' middles across [m]; free by default")
    number("--step-time", "time of a step [s]; free by default", "S")
    number("--load", "mass at the trunk's mass center [kg]", "KG", 0.0)
    add("--lock", nargs="+", metavar="JOINT", help="joints that hold still")
    add("--lock-light", action="store_true", help="lock fingers, eyes and other joints that move less than 0.5 %% of the mass")
    number("--double-support", "time on both feet [s]; free by default", "S")
    number("--sole-height", "height of those frames above the ground [m]")
    add("--sole", type=float, nargs=2, metavar=("LENGTH", "WIDTH"), help="half length and half width of the sole [m]")
    add("--intervals", type=int, nargs=2, default=(6, 20), help="numbers of intervals in double and in single support")
    add("--impact", action="store_true", help="the foot may hit the ground")
    add("--ignore-limits", action="store_true", help="leave out limits of joints in the file, if they are wrong")
    add("--compile", action="store_true", help="compile the functions of the program first; the cache keeps them")


if __name__ == "__main__":
    sys.exit(main())
