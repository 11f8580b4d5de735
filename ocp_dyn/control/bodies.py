"""A body as a controller sees it: its feet, its dynamics at a measured state, its model in MuJoCo."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._base.on_arrays import in_place
from .._base.types import Array
from ..constrained_motion import constrained_equations
from ..constraints import Contact
from ..dynamics.kinematics import point_position, pose
from ..dynamics.momentum import center_of_mass
from ..dynamics.passive_torques import passive_force
from ..io import Ball, Box, Cylinder
from ..mechanism import Model
from ..mechanism.loads import Loads

SLIP_SPEED = 0.2
"""Speed over which dry friction of joints changes its sign [rad/s], as of `walking.robots.LOADS`."""

UNREAL = 10.0
"""Moments of the weight at the height of the center of mass above which a limit of torque in a file is taken for
none."""

THIN = 0.01
"""Half thickness of the boxes that touch the ground [m]."""


@dataclass(frozen=True)
class Foot:
    """A foot: a ball about the origin of a frame, a flat sole in the plane z = 0 of a frame about its origin, or a sole
    without width, the lowest line of a capsule along x: legs without a joint that tilts the foot sideways stand on it.

    frame: its name. radius [m] of the ball or capsule; half_length, half_width [m] of the sole.

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
        """Points at which the ground acts, in the frame (4, 3), of a line (2, 3); of a ball the center, above the point
        of contact."""
        if not self.flat:
            return np.zeros((1, 3))
        sides = (-1, 1) if self.half_width else (0,)
        return np.array([(a * self.half_length, b * self.half_width, 0.0) for a in (-1, 1) for b in sides])

    @property
    def shape(self) -> Ball | Box | Cylinder:
        """The shape that touches the ground in MuJoCo."""
        if not self.flat:
            return Ball(self.frame, self.radius)
        if self.half_width:
            return Box(self.frame, (self.half_length, self.half_width, THIN), center=(0.0, 0.0, THIN))
        along, center = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), (0.0, 0.0, self.radius)
        return Cylinder(self.frame, self.radius, self.half_length, center=center, rotation=along, rounded=True)


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
    def reach(self) -> tuple[Array, Array]:
        """Limits of the angles of the joints (n - 6) [rad]: least, most."""
        return self.model.dofs.q_lower[7:], self.model.dofs.q_upper[7:]

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
    def shapes(self) -> tuple[Ball | Box | Cylinder, ...]:
        """The shapes of the feet."""
        return tuple(foot.shape for foot in self.feet)


class _Sight:
    """The Function of `Seen` with arrays of its own: a call of some tens of microseconds."""

    def __init__(self, body: Body) -> None:
        model, feet = body.model, body.feet
        q, qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
        contacts = tuple(Contact(foot.frame) for foot in feet)
        H, C, G, gamma = constrained_equations(model, contacts, q, qd, loads=Loads(armature=True))
        poses = [pose(model, foot.frame, q) for foot in feet]
        rest = passive_force(model, q, qd, slip_speed=SLIP_SPEED)
        R = ca.vertcat(*(ca.vec(R.T) for R, _ in poses))
        outputs = [
            H, C, rest, G.T, gamma, R, ca.vertcat(*(p for _, p in poses)), center_of_mass(model, q),
            ca.vec(pose(model, model.body_names[0], q)[0].T),
        ]  # fmt: skip
        function = ca.Function("see", [q, qd], [ca.densify(x) for x in outputs], {"cse": True})
        n, f = model.nv, len(feet)
        self.shapes = ((n, n), (n,), (n,), (f, 6, n), (f, 6), (f, 3, 3), (f, 3), (3,), (3, 3))
        self.given = np.zeros(model.nq), np.zeros(n)
        self.found = [np.zeros(int(np.prod(shape))) for shape in self.shapes]
        self.evaluate = in_place(function, self.given, self.found)

    def __call__(self, q: Array, qd: Array) -> Seen:
        self.given[0][:], self.given[1][:] = q, qd
        self.evaluate()
        return Seen(*(x.reshape(shape).copy() for x, shape in zip(self.found, self.shapes, strict=True)))
