"""A robot on two feet: its symmetric twin, its soles, its standing posture; its footholds, constraints and costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from .._base.checks import all_positive, is_pair, listed_names, truth
from .._base.display import Brief
from .._base.types import Array, ModelError, repr_in_message
from ..constraints import Contact
from ..dynamics.inverse_kinematics import OrientationTarget, PointTarget, inverse_kinematics
from ..dynamics.kinematics import point_position
from ..dynamics.momentum import center_of_mass, center_of_mass_jacobian
from ..mechanism import Model
from ..models import ClosedChain, heel_spring_biped, robots
from ..ocp import AccelerationSquared, Foothold, Instant, JointAngleSquared, Rate, Separation, TorqueSquared
from ..ocp import Path as PathConstraint
from ..symmetry.mirror import mirror_map
from .found_feet import UnknownSole, twin_on_soles
from .robots import as_built, check_robot, leg_length, light_joints, loaded, locked_at_rest, pendulum_time, twin_on_feet

SOLES = ("left_sole", "right_sole")
"""Frames in the middle of the soles, or at the points on which the robot stands."""

SOLE = (0.09, 0.05)
"""Half length and half width of a sole [m], if nothing is known about the robot's."""

OWN = {"heel_spring_biped": (heel_spring_biped, (0.08, 0.04))}
"""Robots of the library itself by name: what makes them, half length and half width of their soles [m]."""

TRANSFER = 0.25
"""Effort of moving the load from foot to foot: a rate of one weight per sqrt(l/g) costs as much as TRANSFER^2 of the
strength of one joint. Without it least effort leaves no double support, because moving the load fast costs no torque;
with it the time on both feet is a compromise, 15 to 25 % of a step, as in people."""

LEAST_LOAD = 0.8
"""Least load on both feet together in double support, in weights: the robot does not fall from foot to foot."""

BEND = 0.04
"""Lowering of the base by bent legs in the standing posture, as a fraction of its height on straight legs."""


@dataclass(frozen=True, eq=False, repr=False)
class Biped(Brief):
    """A robot on two feet, as `biped` makes one; its methods give the footholds, constraints and costs of a motion.

    model: with the frames `left_sole` and `right_sole`. posture (nq): standing on both feet. sole: half length and half
    width of the flat feet about those frames [m], None for point feet. limits: whether the limits of its joints hold.
    loops: closed chains of its legs, which hold in every phase. unactuated: joints without a motor.

    >>> robot = od.walking.biped("heel_spring_biped")
    >>> robot.sole, len(robot.loops), round(robot.leg, 2)
    ((0.08, 0.04), 2, 0.95)
    """

    model: Model
    posture: Array
    sole: tuple[float, float] | None = SOLE
    limits: bool = True
    loops: tuple[Any, ...] = ()
    unactuated: tuple[str, ...] = ("root",)

    @cached_property
    def leg(self) -> float:
        """Length of the legs [m]."""
        return leg_length(self.model, SOLES[0])

    @cached_property
    def time(self) -> float:
        """sqrt(l/g) [s], the time of a pendulum as long as the leg."""
        return pendulum_time(self.leg, self.model.gravity)

    @cached_property
    def spread(self) -> float:
        """Distance of the feet from the middle in the standing posture [m]."""
        return abs(float(point_position(self.model, SOLES[0], DM(self.posture))[1]))

    @property
    def gap(self) -> float:
        """Least distance between the feet as they pass each other [m]; above a point foot is a shank."""
        return (0.024 if self.sole else 0.1) * self.leg

    @cached_property
    def mirrored(self) -> bool:
        """Whether left and right are mirror images, so that one step is a period."""
        try:
            mirror_map(self.model)
        except ModelError:
            return False
        return True

    def foothold(self, sole: str, **place: Any) -> Foothold:
        """The foothold of a foot by its frame; place: `x`, `y`, `yaw` as in `ocp.Foothold`."""
        if self.sole is None:
            return Foothold(Contact(sole, axes="xyz"), **place)
        return Foothold(Contact(sole), half_length=self.sole[0], half_width=self.sole[1], **place)

    def beside(self, sole: str, width: float | None = None) -> Any:
        """Bounds of a sole's y [m]: left feet left of the middle, right feet right of it. width: distance of both."""
        side = 1.0 if sole == SOLES[0] else -1.0
        least = 0.4 * self.spread if self.sole else self.gap / 2
        near, far = (width / 2,) * 2 if width is not None else (least, 2.5 * self.spread)
        return tuple(sorted((side * near, side * far)))

    def corners(self, sole: str) -> list[tuple[str, tuple[float, float, float]]]:
        """The corners of a sole, or its point, as `ocp.Clearance` takes them."""
        length, width = self.sole or (0.0, 0.0)
        return list(dict.fromkeys((sole, (x, y, 0.0)) for x in (-length, length) for y in (-width, width)))

    def separation(self) -> Separation:
        """Feet that pass each other side by side. Not at the ends of a swing: footholds determine the distance
        there."""
        length, width = self.sole or (0.0, 0.0)
        ends = list(dict.fromkeys((-length, length)))
        pairs = [((SOLES[0], (x, 0, 0)), (SOLES[1], (u, 0, 0))) for x in ends for u in ends]
        return Separation(pairs, 2 * width + self.gap, ends=False)

    def transfer(self) -> tuple[Rate, PathConstraint]:
        """The effort of moving the load from the old foot to the new one, which starts with none and ends with all."""
        weight = self.model.weight

        def loads(instant: Instant) -> Any:
            return ca.vertcat(*(wrench[5] for wrench in instant.wrenches.values())) / weight

        def gradual(instant: Instant) -> Any:
            new, old = ca.vertsplit(loads(instant))
            return ca.vertcat(2 * instant.s - new, 2 * (1 - instant.s) - old, new + old - LEAST_LOAD)

        cost = Rate(loads, weight=100.0 * (TRANSFER * self.time) ** 2, name="load transfer")
        return cost, PathConstraint(gradual, 0.0, np.inf, where="interval")

    def effort(self) -> tuple[Any, ...]:
        """The usual costs: square of torque over its limit; small terms for a smooth motion with joints near mid-range.

        Limits beyond the moment of the whole weight at the leg's length say nothing about the robot.
        """
        strength = np.minimum(self.model.dofs.strength(unlimited=100.0), self.model.weight * self.leg)
        return (
            TorqueSquared(weight=100.0, scale=np.where(strength > 0, strength, 1.0)),
            AccelerationSquared(weight=1e-3),
            JointAngleSquared(weight=1.0),
        )


class _Known(NamedTuple):
    """A robot and what is known about it."""

    model: Model | ClosedChain
    sole: tuple[float, float] | None = SOLE
    limits: bool = True


def biped(
    robot: Model | ClosedChain | str | Path,
    feet: Sequence[str | None] | None = None,
    *,
    sole: tuple[float, float] | str | None = "known",
    sole_height: float | None = None,
    locked: Iterable[str] | Mapping[str, Any] = (),
    lock_light: bool = False,
    load: float = 0.0,
    limits: bool | None = None,
) -> Biped:
    """A robot on two feet.

    robot: a model on a floating base, the path of a file that `od.load` reads, a name of `od.robots`, or a
    `ClosedChain`, whose joints without strength have no motor. Constraints of the model hold in every phase. feet:
    links or frames of the left and of the right foot; robots by name have theirs, and a model may have the frames
    `left_sole` and `right_sole` already; of others `find_feet` finds them. When all joints are at zero the robot must
    stand on flat feet; sole_height [m] is the height of the frames of the feet above the ground then, by default that
    of the shapes in the file. Robots as built are not quite symmetric: from the names of the feet, the symmetric twin
    is made; joints that move no mass are locked.

    sole [m]: half length and half width of the flat feet about those frames, None for point feet, "known": that of the
    robot's name, else that of the shapes in its file, else (0.09, 0.05). locked: joints that hold still, by name or
    with their positions; lock_light: also fingers, eyes and other joints that move less than 0.5 % of the mass. load
    [kg] on the trunk. limits: whether limits of joints in the file hold; by default they do, unless the table of robots
    says that they are wrong.

    `ValueError` for robots that cannot stand on their feet.

    >>> od.walking.biped("heel_spring_biped", load=5.0).mirrored
    True
    """
    if sole is not None and not (sole == "known" if isinstance(sole, str) else is_pair(sole)):
        raise ValueError(f"sole must be (half length, half width) [m], None for point feet, or 'known', got {sole!r}")
    check_robot(robot, "biped", (Model, ClosedChain, str, Path))
    lock_light = truth(lock_light, "lock_light")
    limits = None if limits is None else truth(limits, "limits")
    known = _known(robot, feet, sole_height, measured=isinstance(sole, str))
    chain = known.model if isinstance(known.model, ClosedChain) else None
    tree = known.model.model if isinstance(known.model, ClosedChain) else known.model
    held = _held(tree, locked, lock_light)
    if chain and held:
        raise ValueError("locked joints: not for a robot with closed chains, lock them in its model")
    size: Any = known.sole if isinstance(sole, str) else sole
    if size is not None:
        all_positive(size, "sole")
    given = known.limits if limits is None else limits
    model = locked_at_rest(loaded(_floating(tree), load, SOLES), held)
    posture = np.array(chain.q) if chain else standing(model, given, size is not None)
    if size is not None and not chain:
        _check_sideways(model, posture, size[1])
    idle = model.dofs.tau_max == 0
    passive = [
        n for n in model.joint_names if chain and idle[model.qd_slice(n)].all() and n not in model.floating_joints
    ]
    loops = tuple(chain.loops) if chain else tuple(model.constraints)
    return Biped(model, posture, size, given, loops, (*model.floating_joints, *passive))


def _held(model: Model, locked: Iterable[str] | Mapping[str, Any], light: bool) -> dict[str, Any]:
    """The joints that hold still, with their positions where these are given; light: and those that move little."""
    if isinstance(locked, Mapping):
        held = dict(locked)
    else:
        held = dict.fromkeys(listed_names((locked,) if isinstance(locked, str) else locked, "locked"))
    return dict.fromkeys([*held, *light_joints(model, SOLES)]) | held if light else held


def _check_sideways(model: Model, q: Array, half_width: float) -> None:
    """ValueError for a body that stands on one flat foot without being able to move its center of mass over it."""
    place = DM(q)
    for sole in SOLES:
        foot = np.array(Contact(sole).jacobian(model, place))
        sway = np.array(center_of_mass_jacobian(model, place))[1]
        held = np.linalg.lstsq(foot.T, sway, rcond=None)[0]  # sway that the standing foot forbids
        beside = abs(float(center_of_mass(model, place)[1] - point_position(model, sole, place)[1]))
        if np.abs(sway - foot.T @ held).max() < SWAY * max(1.0, beside) and beside > half_width:
            raise ValueError(
                f"model {model.name!r} cannot walk in 3-D on flat feet: it has no joints that move it sideways, and "
                f"its center of mass stays {beside:.3g} m beside the foot that stands, whose half width is "
                f"{half_width:g} m. Add joints about x (forward) at hips and ankles; point feet (sole=None) need none "
                "at the ankles"
            )


SWAY = 1e-6
"""Sideways motion of the center of mass [m/rad] below which no joint moves it."""


def _known(robot: Any, feet: Sequence[str | None] | None, height: float | None, measured: bool) -> _Known:
    """The robot with frames under its feet, and what is known about it; measured: soles that are not given, and not
    known, are those of the shapes in its file."""
    if feet is not None and not is_pair(feet):
        raise ValueError(f"feet must be two names, (left, right), got {repr_in_message(feet)}")
    given = (None, None) if feet is None else tuple(feet)
    wrong = [name for name in given if name is not None and not isinstance(name, str)]
    if wrong:
        raise TypeError(f"feet must be two names, (left, right), got {repr_in_message(wrong[0])} among them")
    if isinstance(robot, (Model, ClosedChain)) and height is not None and (feet is None or given == SOLES):
        raise ValueError(
            f"sole_height is the height of the frames in feet=(left, right) above the soles; the frames {SOLES} of "
            f"{robot!r} lie on them already, got {height!r}: give feet, or leave it out"
        )
    if isinstance(robot, ClosedChain):
        return _Known(robot)
    if isinstance(robot, Model):
        marked = given == SOLES or (feet is None and (not robot.shape_files or {*SOLES} <= {*robot.frame_names}))
        return _Known(robot) if marked else _by_shapes(robot, given, height, measured)
    if robot in OWN:
        if any(given) or height is not None:
            raise ValueError(f"feet and sole_height are for robots from files, and {robot} is built here")
        make, sole = OWN[robot]
        return _Known(make(), sole)
    if Path(robot).suffix or Path(robot).is_file():
        return _by_shapes(as_built(robot), given, height, measured)
    entry = robots.describe(str(robot))
    if len(entry.feet) != len(SOLES):
        if all(given):
            return _Known(_on_soles(robot, given, height or 0.0))
        walkers = robots.names(feet=len(SOLES))
        raise ValueError(
            f"robot {robot!r} has no two feet in the library's table; those that walk: {', '.join(walkers)}. Of "
            "others, name the links or frames of the feet: feet=(left, right)"
        )
    named = tuple(name or usual for name, usual in zip(given, entry.feet, strict=True))
    height = entry.sole_height if height is None else height
    return _Known(_on_soles(robot, named, height, ahead=entry.sole_ahead, up=entry.up), entry.sole, entry.limits)


def _by_shapes(robot: Model, feet: Sequence[str | None], height: float | None, measured: bool) -> _Known:
    """A robot of a file, whose shapes show what is not given."""
    if robot.shape_files and height is None and (measured or not any(feet)):
        try:
            return _Known(*twin_on_soles(robot, SOLES, [str(name) for name in feet] if all(feet) else None))
        except UnknownSole:
            if not all(feet):
                raise
    return _Known(_on_soles(robot, feet, height or 0.0))


def _on_soles(robot: Any, feet: Sequence[str | None], height: float, **place: Any) -> Model:
    """The robot with frames under its two feet."""
    if len(feet) != len(SOLES) or not all(feet):
        name = robot.name if isinstance(robot, Model) else robot
        raise ValueError(f"{name}: the links or frames of both feet are needed, feet=(left, right), got {feet}")
    return twin_on_feet(robot, dict(zip(SOLES, map(str, feet), strict=True)), height=height, **place)


def _floating(model: Model) -> Model:
    """The model, which has the frames of both soles and a root of position and quaternion."""
    missing = [name for name in SOLES if name not in model.frame_names]
    if missing:
        raise ValueError(
            f"model {model.name!r} has no frame {' and no frame '.join(missing)}: name the links or frames of its "
            "feet, feet=(left, right)"
        )
    if not model.floating_joints or model.q_slice(model.joint_names[0]) != slice(0, 7):
        raise ValueError(
            f"model {model.name!r} needs the root od.FloatingBase(), a position and a quaternion, to walk freely"
        )
    return model


def standing(model: Model, limits: bool = True, flat: bool = True) -> Array:
    """Standing posture (nq): feet on the ground, as far apart as with all joints at zero, knees bent within their
    range.

    flat: the soles lie flat; otherwise they are points.
    """
    dofs = model.dofs
    q = np.array(model.neutral())
    places = [np.array(point_position(model, sole, DM(q)).full()).ravel() for sole in SOLES]
    bend = BEND if flat else 2 * BEND
    q[2] = -(1 - bend) * places[0][2]
    targets: list[Any] = [
        PointTarget(model.body_names[0], q[:3]),
        OrientationTarget(model.body_names[0], np.eye(3)),
    ]
    for sole, place in zip(SOLES, places, strict=True):
        targets.append(PointTarget(sole, (place[0], place[1], 0.0)))
        targets += [OrientationTarget(sole, np.eye(3))] if flat else []
    # a leg with a locked joint may not stand below its hip: then the base moves to where its legs allow, and tilts last
    for given in (targets, targets[1:], targets[2:]):
        for begin in _bent(model, q, dofs.q_lower, dofs.q_upper):
            found = inverse_kinematics(model, given, begin, limits=limits)
            if found.reached:
                return np.asarray(found.q)
    raise ValueError(
        f"{model!r} cannot stand on {'flat' if flat else 'its'} feet with its base {q[2]:.3g} m high: check the names "
        "of the feet, the height of their frames (sole_height), and the limits of joints in the file (limits=False "
        "leaves them out)"
    )


def _bent(model: Model, q: Array, low: Array, high: Array) -> Iterator[Array]:
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
