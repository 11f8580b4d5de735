"""Path constraints and objectives by name. Each is data with one method; a user's own is a class or a function.

`where` says what a path constraint needs: "node" (q, v), at the nodes inside a phase; "interval" (also a, tau and
contact wrenches), at every interval; "wrench" (contact wrenches), at every interval and on the impulse of an impact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import casadi as ca
import numpy as np

from .._types import Array, Expr, Vector
from ..joints import FloatingBase, Planar
from ..kinematics import point_position
from ..model import Model
from .stage import Stage

WHERE = ("node", "interval", "wrench")

Bounded = tuple[Expr, Any, Any]
"""An expression with its lower and upper bounds."""


@runtime_checkable
class PathConstraint(Protocol):
    """Rows that hold all along a phase."""

    @property
    def where(self) -> str: ...

    def rows(self, stage: Stage) -> Bounded: ...


@runtime_checkable
class Objective(Protocol):
    """An integrand [unit of the cost per second]; its integral over the motion is a cost term."""

    @property
    def weight(self) -> float: ...

    def integrand(self, stage: Stage) -> Expr: ...


@runtime_checkable
class RateObjective(Protocol):
    """An integrand of the rate of the torques."""

    @property
    def weight(self) -> float: ...

    def rate_integrand(self, tau_rate: Expr) -> Expr: ...


@dataclass(frozen=True)
class Unilateral:
    """f_z >= minimum [N]: contacts push and never pull."""

    minimum: float = 0.0
    where: ClassVar[str] = "wrench"

    def rows(self, stage: Stage) -> Bounded:
        return _stack([w[5] for w in stage.wrenches.values()], self.minimum, np.inf)


@dataclass(frozen=True)
class FrictionCone:
    """|f_x|, |f_y| <= mu / sqrt(2) f_z (the pyramid inside the cone) and |n_z| <= mu_yaw f_z [m] on flat feet."""

    mu: float = 0.7
    mu_yaw: float = 0.03
    where: ClassVar[str] = "wrench"

    def rows(self, stage: Stage) -> Bounded:
        rows = []
        for foothold, w in stage.wrenches.items():
            limit = self.mu / math.sqrt(2) * w[5]
            rows += [limit - w[3], limit + w[3], limit - w[4], limit + w[4]]
            if foothold.contact.axes is None:
                rows += [self.mu_yaw * w[5] - w[2], self.mu_yaw * w[5] + w[2]]
        return _stack(rows, 0.0, np.inf)


@dataclass(frozen=True)
class CentreOfPressure:
    """The centre of pressure of every flat foot stays inside its sole, `margin` [m] from the edge."""

    margin: float = 0.005
    where: ClassVar[str] = "wrench"

    def rows(self, stage: Stage) -> Bounded:
        rows = []
        for foothold, w in stage.wrenches.items():
            if foothold.contact.axes is not None:
                continue
            if min(foothold.half_length, foothold.half_width) <= self.margin:
                raise ValueError(
                    f"CentreOfPressure: the sole of {foothold.name!r} is no larger than the margin of {self.margin} m, "
                    f"got Foothold(half_length={foothold.half_length}, half_width={foothold.half_width}): give its size"
                )
            c, s = ca.cos(stage.places[foothold][2]), ca.sin(stage.places[foothold][2])
            nx, ny = c * w[0] + s * w[1], -s * w[0] + c * w[1]
            for moment, half in ((ny, foothold.half_length), (nx, foothold.half_width)):
                rows += [(half - self.margin) * w[5] - moment, (half - self.margin) * w[5] + moment]
        return _stack(rows, 0.0, np.inf)


@dataclass(frozen=True)
class Clearance:
    """Points of a swinging foot stay above the ground: z >= height sin(pi s)^2 [m], s the fraction of the phase."""

    points: Sequence[tuple[str, Vector]]
    height: float = 0.03
    where: ClassVar[str] = "node"

    def rows(self, stage: Stage) -> Bounded:
        need = self.height * ca.sin(math.pi * stage.s) ** 2
        return _stack([_position(stage, *point)[2] - need for point in self.points], 0.0, np.inf)


@dataclass(frozen=True)
class Separation:
    """Points of the left stay `distance` [m] to the left of points of the right, seen along the walk (world y)."""

    pairs: Sequence[tuple[tuple[str, Vector], tuple[str, Vector]]]
    distance: float
    where: ClassVar[str] = "node"

    def rows(self, stage: Stage) -> Bounded:
        gaps = [_position(stage, *left)[1] - _position(stage, *right)[1] for left, right in self.pairs]
        return _stack(gaps, self.distance, np.inf)


@dataclass(frozen=True)
class Path:
    """A user's own path constraint: lower <= function(stage) <= upper, at every "node" or "interval", or "wrench".

    ends: for "node", at the first and the last node of the phase too.
    """

    function: Callable[[Stage], Expr]
    lower: Any = 0.0
    upper: Any = 0.0
    where: str = "node"
    ends: bool = False

    def __post_init__(self) -> None:
        if self.where not in WHERE:
            raise ValueError(f"Path: where must be one of {', '.join(WHERE)}, got {self.where!r}")

    def rows(self, stage: Stage) -> Bounded:
        value = self.function(stage)
        if value is None:
            raise ValueError(
                f"Path: the function returned None at a {self.where!r} stage: return an expression; tau and a are known "
                'with where="interval" only'
            )
        return value, self.lower, self.upper


@dataclass(frozen=True)
class TorqueSquared:
    """sum of (tau / scale)^2 [(N m)^2 for scale 1]; scale: a number, or one per entry of tau."""

    weight: float = 1.0
    scale: Any = 1.0

    def integrand(self, stage: Stage) -> Expr:
        return ca.sumsqr(stage.tau / _per_dof(self.scale, stage.tau.shape[0], "TorqueSquared scale"))


@dataclass(frozen=True)
class TorqueRateSquared:
    """sum of (d(tau)/dt / scale)^2 [(N m/s)^2 for scale 1], from interval to interval and on into the next phase.

    In a periodic motion the last interval's torques lead on to the first one's.
    """

    weight: float = 1.0
    scale: Any = 1.0
    name: ClassVar[str] = "TorqueRateSquared"

    def rate_integrand(self, tau_rate: Expr) -> Expr:
        return ca.sumsqr(tau_rate / _per_dof(self.scale, tau_rate.shape[0], "TorqueRateSquared scale"))


@dataclass(frozen=True)
class AccelerationSquared:
    """sum of qdd^2 [rad^2/s^4, m^2/s^4]; base=True: with those of a floating or planar root."""

    weight: float = 1.0
    base: bool = False

    def integrand(self, stage: Stage) -> Expr:
        first = 0 if self.base else _base_size(stage.model)
        return ca.sumsqr(stage.a[first:])


@dataclass(frozen=True)
class JointAngleSquared:
    """sum of (stiffness * angle)^2 over the joints, from neutral: the squared torque of passive tissue [(N m)^2].

    stiffness [N m/rad]: a number, or one per entry of qd. A floating or planar root does not count.
    """

    weight: float = 1.0
    stiffness: Any = 1.0

    def integrand(self, stage: Stage) -> Expr:
        model = stage.model
        k = _per_dof(self.stiffness, model.nv, "JointAngleSquared stiffness")[_base_size(model) :]
        first = 2 if _base_size(model) else 1
        angles = [
            joint.difference(ca.DM(joint.neutral()), q)
            for joint, q in zip(model.joints[first:], model.split_q(stage.q)[first:], strict=True)
        ]
        return ca.sumsqr(ca.DM(k) * ca.vertcat(*angles))


@dataclass(frozen=True)
class ForceSquared:
    """sum of (f / scale)^2 over the contact wrenches."""

    weight: float = 1.0
    scale: float = 1.0

    def integrand(self, stage: Stage) -> Expr:
        return sum((ca.sumsqr(w) for w in stage.wrenches.values()), start=ca.SX(0)) / self.scale**2


@dataclass(frozen=True)
class Integral:
    """A user's own objective: the integral of function(stage) over time."""

    function: Callable[[Stage], Expr]
    weight: float = 1.0
    name: str = "integral"

    def integrand(self, stage: Stage) -> Expr:
        return self.function(stage)


def objective_name(objective: Objective | RateObjective) -> str:
    """What a cost term is called in reports."""
    return str(getattr(objective, "name", type(objective).__name__))


def _base_size(model: Model) -> int:
    """Degrees of freedom of a root that moves freely; 0 if the root is a joint like the others."""
    return model.joints[1].nv if isinstance(model.joints[1], (FloatingBase, Planar)) else 0


def _per_dof(value: Any, size: int, what: str) -> Array:
    """One number, or one per degree of freedom, as `size` numbers."""
    numbers = np.asarray(value, dtype=float).ravel()
    if numbers.size not in (1, size):
        raise ValueError(f"{what}: give one number, or nv = {size}, got {numbers.size}")
    return np.array(np.broadcast_to(numbers, (size,)))


def _stack(rows: list[Expr], lower: float, upper: float) -> Bounded:
    return ca.vertcat(ca.SX(0, 1), *rows), lower, upper


def _position(stage: Stage, frame: str, point: Vector) -> Expr:
    return point_position(stage.model, frame, stage.q, point)
