"""A body as a controller sees it: its feet, its dynamics at a measured state, its model in MuJoCo."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._base.checks import choice
from .._base.types import Array
from ..constrained_motion import constrained_equations
from ..constraints import Contact
from ..dynamics.inverse_kinematics import OrientationTarget, PointTarget, inverse_kinematics
from ..dynamics.kinematics import point_position, pose
from ..dynamics.momentum import center_of_mass
from ..dynamics.passive_torques import passive_force
from ..io import Ball, Box
from ..mechanism import Model
from ..models import robots
from ..walking import biped, person, quadruped, standing_posture

SLIP_SPEED = 0.2
"""Speed over which dry friction of joints changes its sign [rad/s], as of `walking.robots.LOADS`."""

UNREAL = 10.0
"""Moments of the weight at the height of the center of mass above which a limit of torque in a file is taken for
none."""

THIN = 0.01
"""Half thickness of the boxes that touch the ground [m]."""


@dataclass(frozen=True)
class Foot:
    """A foot: a ball about the origin of a frame, or a flat sole in the plane z = 0 of a frame, about its origin.

    frame: its name. radius [m] of the ball; half_length, half_width [m] of the sole.

    >>> od.control.Foot("FL_foot", radius=0.02).corners.shape
    (1, 3)
    """

    frame: str
    radius: float = 0.0
    half_length: float = 0.0
    half_width: float = 0.0

    @property
    def flat(self) -> bool:
        """Whether the foot is a sole."""
        return self.half_length > 0

    @property
    def corners(self) -> Array:
        """Points at which the ground acts, in the frame (4, 3); of a ball the center, above the point of contact."""
        if not self.flat:
            return np.zeros((1, 3))
        return np.array([(a * self.half_length, b * self.half_width, 0.0) for a in (-1, 1) for b in (-1, 1)])

    @property
    def shape(self) -> Ball | Box:
        """The shape that touches the ground in MuJoCo."""
        if not self.flat:
            return Ball(self.frame, self.radius)
        return Box(self.frame, (self.half_length, self.half_width, THIN), center=(0.0, 0.0, THIN))


class Seen(NamedTuple):
    """Dynamics at a state, of n dofs and feet in the body's order.

    H (n, n), bias force C (n) [gravity included], force of springs and losses (n); G (feet, 6, n), gamma (feet, 6):
    rows of the feet's frames, [angular; linear], world axes; R (feet, 3, 3), p (feet, 3): their poses; com (3), base
    (3, 3): center of mass, rotation of the first body.

    >>> human = od.control.body("human")
    >>> human.see(human.posture, np.zeros(29)).G.shape
    (2, 6, 29)
    """

    H: Array
    bias: Array
    passive: Array
    G: Array
    gamma: Array
    R: Array
    p: Array
    com: Array
    base: Array


@dataclass(frozen=True, eq=False)
class Body:
    """A body that a controller moves: model on a floating base, its feet, a posture in which it stands (nq).

    Feet of two-legged bodies: left, right; of four-legged ones: front left, front right, hind left, hind right.
    limits: whether the limits of its joints hold.

    >>> od.control.body("human").feet[0].flat
    True
    """

    name: str
    model: Model
    feet: tuple[Foot, ...]
    posture: Array
    limits: bool = True

    @cached_property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.model.mass)

    @cached_property
    def height(self) -> float:
        """Height of the center of mass above the ground in the posture [m]."""
        return float(center_of_mass(self.model, DM(self.posture))[2])

    @cached_property
    def strength(self) -> Array:
        """Limits of the motors' torques (n) [N m], infinite where the file has none; none act on the root."""
        known = self.model.dofs.strength(unlimited=math.inf)
        found = np.where(known <= UNREAL * self.model.weight * self.height, known, math.inf)
        found[:6] = 0.0
        return np.asarray(found)

    @cached_property
    def hips(self) -> Array:
        """Places of the feet's contacts below the base in the posture (feet, 2) [m], in the axes of the base."""
        places = [np.array(point_position(self.model, f.frame, DM(self.posture)).full()).ravel() for f in self.feet]
        return np.array([p[:2] - self.posture[:2] for p in places])

    @cached_property
    def see(self) -> Callable[[Array, Array], Seen]:
        """(q, qd) -> `Seen`."""
        return _Sight(self)

    @cached_property
    def shapes(self) -> tuple[Ball | Box, ...]:
        """The shapes of the feet."""
        return tuple(foot.shape for foot in self.feet)


class _Sight:
    """The Function of `Seen` with arrays of its own: a call of some tens of microseconds."""

    def __init__(self, body: Body) -> None:
        model, feet = body.model, body.feet
        q, qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
        contacts = tuple(Contact(foot.frame) for foot in feet)
        H, C, G, gamma = constrained_equations(model, contacts, q, qd)
        poses = [pose(model, foot.frame, q) for foot in feet]
        rest = passive_force(model, q, qd, slip_speed=SLIP_SPEED) if model.passive else SX(model.nv, 1)
        R = ca.vertcat(*(ca.vec(R.T) for R, _ in poses))
        outputs = [
            H, C, rest, G.T, gamma, R, ca.vertcat(*(p for _, p in poses)), center_of_mass(model, q),
            ca.vec(pose(model, model.body_names[0], q)[0].T),
        ]  # fmt: skip
        self.function = ca.Function("see", [q, qd], [ca.densify(x) for x in outputs], {"cse": True})
        n, f = model.nv, len(feet)
        self.shapes = ((n, n), (n,), (n,), (f, 6, n), (f, 6), (f, 3, 3), (f, 3), (3,), (3, 3))
        self.given = np.zeros(model.nq), np.zeros(n)
        self.found = [np.zeros(int(np.prod(shape))) for shape in self.shapes]
        buffer: Any
        buffer, self.evaluate = self.function.buffer()
        self.buffer = buffer  # it must live as long as the call
        for place, arrays in ((buffer.set_arg, self.given), (buffer.set_res, self.found)):
            for i, x in enumerate(arrays):
                place(i, memoryview(x))  # type: ignore[arg-type]  # an array has a buffer

    def __call__(self, q: Array, qd: Array) -> Seen:
        self.given[0][:], self.given[1][:] = q, qd
        self.evaluate()
        return Seen(*(x.reshape(shape).copy() for x, shape in zip(self.found, self.shapes, strict=True)))


NAMES = ("g1", "talos", "human", "go2", "anymal_c")
"""Bodies that `problems.control` moves; others that `od.robots` has are taken as well."""


def _within_limits(model: Model, posture: Array, feet: Sequence[str]) -> Array:
    """The posture, with knees that bend to the side that the limits of their joints allow."""
    dofs, q = model.dofs, posture.copy()
    targets: list[Any] = [PointTarget(model.body_names[0], q[:3]), OrientationTarget(model.body_names[0], np.eye(3))]
    for foot in feet:
        targets.append(PointTarget(foot, np.array(point_position(model, foot, DM(posture)).full()).ravel()))
        hip, knee = (model.q_index[i] for i in model.path(model.frame(foot).body)[-2:])
        if not dofs.q_lower[knee] <= q[knee] <= dofs.q_upper[knee]:
            q[hip], q[knee] = -q[hip], -q[knee]
    found = inverse_kinematics(model, targets, q)
    if not found.reached:
        raise ValueError(f"{model.name!r} cannot stand within the limits of its joints on bent legs")
    return np.asarray(found.q)


BENT = math.radians(20.0)
"""Angle between the thighs of the human who stands and the vertical: straight knees leave no way to lift the body."""


def _human() -> Body:
    """The human of the library on flat feet, from the heel to the ball."""
    walker = person()
    posture = standing_posture(walker, bent=BENT)
    model, feet = walker.model, []
    sides: list[tuple[Literal["l", "r"], str]] = [("l", "left_sole"), ("r", "right_sole")]
    for side, name in sides:
        flat = walker.feet(side).flat
        assert isinstance(flat.contact, Contact)
        model = model.with_frame(name, f"heel_{side}", origin=flat.contact.point)
        feet.append(Foot(name, half_length=float(flat.half_length), half_width=float(flat.half_width)))
    return Body("human", model, tuple(feet), posture)


def body(name: str) -> Body:
    """The body of a robot's name in `od.robots`, or the human of the library.

    Fingers, eyes and other light joints of two-legged robots are locked. Robots on four points stand on balls about the
    frames of their feet, those on two legs on the soles that `od.walking.biped` gives them, the human on flat feet.

    `KeyError` for names that `od.robots` does not have; `ValueError` for robots without two or four feet.

    >>> od.control.body("human").model.nv
    29
    """
    if name == "human":
        return _human()
    entry = robots.describe(name)
    if len(entry.feet) == 4:
        walker = quadruped(name)
        radius = entry.sole_height or 0.02
        feet = tuple(Foot(frame, radius=radius) for frame in entry.feet)
        return Body(name, walker.model, feet, _within_limits(walker.model, walker.posture, entry.feet), entry.limits)
    two = biped(name, lock_light=True)
    if two.sole is None:
        choice(name, NAMES, "robot")
    length, width = two.sole or (0.0, 0.0)
    soles = tuple(Foot(f, half_length=length, half_width=width) for f in ("left_sole", "right_sole"))
    return Body(name, two.model, soles, two.posture, limits=two.limits)
