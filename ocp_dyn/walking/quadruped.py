"""A robot on four point feet, and its trot on diagonal pairs: half of the gait of least effort, mirrored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from casadi import DM

from .._base.checks import listed_names, truth, whole, within
from .._base.display import Brief
from .._base.types import Array, repr_in_message
from ..constraints import Contact
from ..dynamics.inverse_kinematics import OrientationTarget, PointTarget, inverse_kinematics
from ..dynamics.kinematics import point_position
from ..mechanism import Model
from ..models import robots
from ..ocp import (
    AccelerationSquared,
    Boundary,
    Clearance,
    Foothold,
    FrictionCone,
    Impact,
    Instant,
    Parameter,
    Periodic,
    Phase,
    Problem,
    TorqueSquared,
    TrackJoints,
)
from .found_feet import twin_on_soles
from .margins import Margins, check_margins, leg_coordinates
from .robots import (
    LOADS,
    check_gravity,
    check_robot,
    leg_length,
    loaded,
    locked_at_rest,
    one_number,
    pendulum_time,
    twin_on_feet,
)
from .strides import Strides, check_slope

PAWS = ("front_left", "front_right", "hind_left", "hind_right")
"""Frames at the points on which the robot stands."""

BEND = 0.25
"""Lowering of the base by bent legs in the standing posture, as a fraction of its height on straight legs."""

SPEED = 0.23
"""Speed of a robot for which none is given, in sqrt(g l): 0.4 m/s for Solo."""

FASTEST = 2.5
"""Largest Froude number v^2 / (g l) of a trot: above it animals gallop (Alexander, Physiol. Rev. 69, 1989)."""

STEP = 0.1
"""Height of the swinging feet in the middle of their swing without margins, in heights of the standing base."""

TROT = Margins(clearance=0.1)
"""Margins of a trot for which none are given: its feet, which are points, pass higher over the ground than soles."""

STANCE = (0.35, 1.6)
"""Bounds on the time of a stance, in sqrt(l/g), the time of a pendulum as long as the leg, l."""


@dataclass(frozen=True, eq=False, repr=False)
class Quadruped(Brief):
    """A robot on four point feet, as `quadruped` makes one; its methods give the footholds and costs of a motion.

    model: with the frames `front_left`, `front_right`, `hind_left`, `hind_right`. posture (nq): standing on bent legs.

    >>> robot = od.walking.quadruped("solo12")  # doctest: +SKIP
    >>> sorted(robot.footholds())  # doctest: +SKIP
    ['front_left', 'front_right', 'hind_left', 'hind_right']
    """

    model: Model
    posture: Array

    @cached_property
    def leg(self) -> float:
        """Length of the legs [m]."""
        return leg_length(self.model, PAWS[0])

    @cached_property
    def time(self) -> float:
        """sqrt(l/g) [s], the time of a pendulum as long as the leg."""
        return pendulum_time(self.leg, self.model.gravity)

    def footholds(self) -> dict[str, Foothold]:
        """The footholds of the four feet by their frames, anywhere near."""
        reach, aside = 3 * self.leg, 2 * self.leg
        return {n: Foothold(Contact(n, axes="xyz"), x=(-reach, reach), y=(-aside, aside)) for n in PAWS}

    def effort(self) -> tuple[Any, ...]:
        """Square of torque over a tenth of weight times leg length; small terms for accelerations and posture."""
        scale = 0.1 * self.model.weight * float(self.posture[2])
        bent = TrackJoints(lambda s: self.posture, weight=0.3, joints=self.model.joint_names[1:])
        return (TorqueSquared(weight=1.0, scale=scale), AccelerationSquared(weight=1e-5), bent)


def quadruped(
    robot: Model | str | Path,
    feet: Sequence[str] | None = None,
    *,
    foot_radius: float | None = None,
    locked: Iterable[str] | Mapping[str, Any] = (),
    load: float = 0.0,
) -> Quadruped:
    """A robot on four point feet.

    robot: a model on a floating base, the path of its file, or a name of `od.robots`. feet: links or frames of the
    feet, front left, front right, hind left, hind right; robots by name have theirs, a model may have frames of these
    names already, and `find_feet` finds those of other files. foot_radius [m]: height of the feet's frames above the
    ground when all joints are at zero and legs straight down. locked: joints that hold still, by name or with their
    positions. load [kg] on the trunk.

    >>> round(od.walking.quadruped("solo12").leg, 2)  # doctest: +SKIP
    0.32
    """
    model = locked_at_rest(_on_paws(robot, feet, foot_radius), locked)
    model = loaded(model, load, PAWS)
    return Quadruped(model, standing(model))


def _on_paws(robot: Model | str | Path, feet: Sequence[str] | None, radius: float | None) -> Model:
    """The robot with frames under its feet."""
    check_robot(robot, "quadruped", (Model, str, Path))
    if feet is not None:
        feet = listed_names(feet, "feet")
    of_file = isinstance(robot, Model) or bool(Path(robot).suffix)
    if of_file and feet is None and radius is not None:
        raise ValueError(
            f"foot_radius is the height of the frames in feet=({', '.join(PAWS)}), which are not given, got {radius!r}"
        )
    if isinstance(robot, Model) and feet is None:
        missing = [name for name in PAWS if name not in robot.frame_names]
        if missing and not robot.shape_files:
            raise ValueError(f"model {robot.name!r} has no frame {missing[0]}: name its feet, feet=({', '.join(PAWS)})")
        return twin_on_soles(robot, PAWS)[0] if missing else robot
    height = radius
    if of_file and feet is None:
        return twin_on_soles(robot, PAWS)[0]
    if feet is None and not Path(str(robot)).suffix:
        entry = robots.describe(str(robot))
        if len(entry.feet) != len(PAWS):
            walkers = [n for n in robots.names() if len(robots.describe(n).feet) == len(PAWS)]
            raise ValueError(
                f"robot {robot!r} has no four feet in the library's table; those that trot: {', '.join(walkers)}. Of "
                "others, name the links or frames of the feet"
            )
        feet, height = entry.feet, entry.sole_height if radius is None else radius
    if feet is None or len(feet) != len(PAWS):
        raise ValueError(f"feet must be four names: front left, front right, hind left, hind right, got {feet}")
    return twin_on_feet(
        robot, dict(zip(PAWS, feet, strict=True)), height=height or 0.0, level=False, what="foot_radius"
    )


def standing(model: Model) -> Array:
    """Standing posture (nq): feet below their places at zero joint angles, front knees bent backward, hind knees
    forward, or to the other side where the limits of a joint demand it."""
    q, dofs = np.array(model.neutral()), model.dofs
    places = {name: np.array(point_position(model, name, DM(q)).full()).ravel() for name in PAWS}
    height = -min(place[2] for place in places.values())
    q[2] = (1 - BEND) * height
    root = model.body_names[0]
    targets: list[Any] = [PointTarget(root, q[:3]), OrientationTarget(root, np.eye(3))]
    targets += [PointTarget(name, (place[0], place[1], 0.0)) for name, place in places.items()]
    for name in PAWS:  # knees: the last joint of a leg bends by twice the angle of the one above
        hip, knee = model.path(model.frame(name).body)[-2:]
        at = [model.q_index[hip], model.q_index[knee]]
        bent = np.array([0.7, -1.4]) if name.startswith("front") else np.array([-0.7, 1.4])
        fits = dofs.q_lower[at[1]] <= bent[1] <= dofs.q_upper[at[1]]
        q[at] = bent if fits else -bent
    found = inverse_kinematics(model, targets, q, limits=False)
    if not found.reached:
        raise ValueError(
            f"{model!r} cannot stand with its base {q[2]:.3g} m high on feet below its hips: check the names of its "
            "feet"
        )
    return np.asarray(found.q)


def trot(
    robot: Quadruped,
    speed: float | None = None,
    *,
    flight: float = 0.0,
    overlap: float = 0.0,
    step_length: float | None = None,
    step_time: float | None = None,
    backward: bool = False,
    slope: float = 0.0,
    clearance: float | None = None,
    margins: Margins | None = TROT,
    intervals: int = 16,
    guess: Any = None,
) -> Problem:
    """Half a trot at a speed [m/s], by default 0.23 sqrt(g l) with legs of length l.

    It begins as front left and hind right touch down (an impact), and ends as the other pair touches down, in the
    mirror image of the start. flight [s]: shortest time in the air; overlap [s]: shortest time on all four feet; 0:
    none. step_length [m], step_time [s]: of this half of the gait, free by default. slope: rise per distance, negative
    downhill. clearance [m] of the swinging feet: by default that of the margins. margins: those of an operator, with a
    tenth of the leg between feet and ground; None: no limits of joints. intervals: in a stance. guess: that
    of a Problem.

    >>> walk = od.walking.trot(od.walking.quadruped("solo12"), 0.5, flight=0.05)  # doctest: +SKIP
    >>> [phase.name for phase in walk.phases]  # doctest: +SKIP
    ['stance', 'flight']
    """
    _check(robot, flight, overlap)
    check_margins(margins)
    backward, intervals = truth(backward, "backward"), whole(intervals, "intervals", 1)
    cone = FrictionCone(0.6)  # a friction pyramid admits no pulling force
    check_slope(slope, cone)
    gravity = float(np.linalg.norm(robot.model.gravity))
    step, speed = Strides(robot.model.name, robot.leg, gravity, SPEED, FASTEST).at(speed, step_length, step_time)
    sign = -1.0 if backward else 1.0
    lengths = tuple(sorted(sign * x for x in step))
    bounds = (cone, *(() if margins is None else margins.path(robot)))
    return Problem(
        robot.model if margins is None else margins.narrowed(_limited_legs(robot.model), PAWS),
        _phases(robot, flight, overlap, intervals, bounds, _clearance(robot, clearance, margins)),
        periodic=Periodic(sign * speed, transition=Impact(weight=1e-2), step_length=lengths),
        boundary=[Boundary(_at_origin, "base starts at the origin")],
        posture=robot.posture,
        guess=guess,
        limits=margins is not None,
        loads=LOADS,
        parameters=(Parameter("slope", math.atan(slope)),) if slope else (),
    )


def _clearance(robot: Quadruped, wanted: float | None, margins: Margins | None) -> float:
    """Clearance [m] of the swinging feet: the wanted one, else that of the margins."""
    if wanted is not None:
        within(wanted, 0.0, robot.leg, f"clearance must lie between 0 and {robot.leg:.3g} m, the length of a leg")
        return wanted
    return STEP * float(robot.posture[2]) if margins is None else margins.clearance * robot.leg


def _limited_legs(model: Model) -> Model:
    """The model without limits of positions but those of the legs: an arm holds its posture by its cost alone, which in
    the mirror image of the step is the opposite one, perhaps out of its range."""
    lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    for at in leg_coordinates(model, PAWS):
        lower[at], upper[at] = model.dofs.q_lower[at], model.dofs.q_upper[at]
    return model.with_limits(lower=lower, upper=upper)


def _check(robot: Any, flight: float, overlap: float) -> None:
    """TypeError for anything but a Quadruped; ValueError without gravity, and for times between the stances that no
    trot has."""
    if not isinstance(robot, Quadruped):
        raise TypeError(
            "trot needs an od.walking.Quadruped, such as od.walking.quadruped(model, feet), got "
            f"{repr_in_message(robot)}"
        )
    check_gravity(robot.model)
    for name, duration in (("flight", flight), ("overlap", overlap)):
        if not 0 <= one_number(duration, name) < math.inf:
            raise ValueError(f"{name} [s] must be 0 or more, got {duration}")
    if flight and overlap:
        raise ValueError(f"a trot has a flight or an overlap between its two stances, got {flight} s and {overlap} s")


def _phases(
    robot: Quadruped, flight: float, overlap: float, intervals: int, bounds: tuple[Any, ...], height: float
) -> list[Phase]:
    """Stance of a diagonal pair; before it a time on all feet, or after it a flight."""
    feet, effort = robot.footholds(), robot.effort()
    down, lifted = (feet["front_left"], feet["hind_right"]), (feet["front_right"], feet["hind_left"])
    swing = Clearance([(name, (0.0, 0.0, 0.0)) for name in ("front_right", "hind_left")], height)
    stance = (STANCE[0] * robot.time, STANCE[1] * robot.time)
    loops: Any = robot.model.constraints
    phases = [Phase("stance", intervals, stance, down, (*bounds, swing), effort, loops)]
    few = max(2, intervals // 4)
    if overlap:
        phases.insert(0, Phase("overlap", few, (overlap, 5 * overlap), down + lifted, bounds, effort, loops))
    if flight:
        phases.append(Phase("flight", few, (flight, 3 * flight), (), bounds[1:], effort, loops))
    return phases


def _at_origin(start: Instant, end: Instant) -> tuple[Any, float, float]:
    return start.q[0], 0.0, 0.0
