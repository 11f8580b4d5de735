"""Objectives by name: integrands over the motion, costs of rates, terminal costs.

Each objective is data with one method. If a cost is a sum of squares, the method is `residual`, the vector that is
squared, which Gauss-Newton methods use; `integrand` follows from it. A cost term is `weight` times the integral over
time. A weight of zero switches a term off. Only terms that the user defines may have a negative weight, which maximizes
the term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import casadi as ca
import numpy as np

from ..._arguments import (
    all_positive,
    finite,
    known,
    label,
    not_negative,
    number,
    numbers,
    point,
    positive,
    scaled,
    truth,
)
from ..._types import Array, Expr, Vector, meant, shown
from ...dynamics.kinematics import point_acceleration_6d
from ...dynamics.momentum import center_of_mass, center_of_mass_velocity, centroidal_momentum, zero_moment_point
from ...mechanism import Model
from .instant import Instant


@runtime_checkable
class Objective(Protocol):
    """An integrand [unit of the cost per second]; its integral over the motion is a cost term.

    An objective may also have: `residual(instant)`, if the integrand is its sum of squares; `slack_size(model)` and
    `slack_rows(instant)`, for non-negative variables `instant.slacks[self]` and rows that constrain them;
    `reference_size(model)` and `reference(s)`, for reference values `instant.references[self]` at the fraction s of the
    phase; `check(model, feet)`, see `Weighed.check`.
    """

    @property
    def weight(self) -> float: ...

    def integrand(self, instant: Instant) -> Expr: ...


@runtime_checkable
class RateObjective(Protocol):
    """An integrand of the rate of a quantity of the instant, such as its torques, within a phase.

    It may also have `rate_residual(rate)`, if the integrand is its sum of squares, and `continues = True` if the
    quantity is the torques and the cost also counts their change from a phase to the next one. See
    `ocp_dyn.ocp.transcription.rate_costs`.
    """

    @property
    def weight(self) -> float: ...

    def quantity(self, instant: Instant) -> Expr: ...

    def rate_integrand(self, rate: Expr) -> Expr: ...


class Weighed:
    """Base class of the library's cost terms: checks their weight and scale.

    `of_dofs` names the attributes that are one number or one per entry of qd: their size is checked against the model.
    """

    of_dofs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        what = type(self).__name__
        if not 0 <= number(getattr(self, "weight", 1.0), f"{what} weight") < np.inf:
            raise ValueError(
                f"{what} weight must be finite and not negative, got {shown(getattr(self, 'weight', 1.0))}"
            )
        check = all_positive if "scale" in self.of_dofs else positive
        check(getattr(self, "scale", 1.0), f"{what} scale")

    def check(self, model: Model, feet: Sequence[str]) -> None:
        """Raises KeyError for names, ValueError for sizes that do not fit the model; feet: names of the footholds."""
        for key in self.of_dofs:
            per_dof(getattr(self, key), model.nv, f"{type(self).__name__} {key}")


class LeastSquares(Weighed):
    """An objective that is the sum of squares of its residual."""

    def residual(self, instant: Instant) -> Expr:
        raise NotImplementedError

    def integrand(self, instant: Instant) -> Expr:
        return ca.sumsqr(self.residual(instant))


class RateSquared(Weighed):
    """A cost of the squared rate of a quantity over its scale: one number, or one per entry."""

    def quantity(self, instant: Instant) -> Expr:
        raise NotImplementedError

    def rate_residual(self, rate: Expr) -> Expr:
        return scaled(rate, getattr(self, "scale", 1.0), f"{type(self).__name__} scale")

    def rate_integrand(self, rate: Expr) -> Expr:
        return ca.sumsqr(self.rate_residual(rate))


@dataclass(frozen=True)
class TorqueSquared(LeastSquares):
    """sum of (tau / scale)^2 [(N m)^2 for scale 1]; scale: a number, or one per entry of tau."""

    weight: float = 1.0
    scale: Any = 1.0
    of_dofs: ClassVar[tuple[str, ...]] = ("scale",)

    def residual(self, instant: Instant) -> Expr:
        return instant.tau / per_dof(self.scale, instant.tau.shape[0], "TorqueSquared scale")


@dataclass(frozen=True)
class TorqueRateSquared(RateSquared):
    """sum of (d(tau)/dt / scale)^2 [(N m/s)^2 for scale 1], between intervals and from a phase to the next one.

    In a periodic motion the first interval follows the last one.
    """

    weight: float = 1.0
    scale: Any = 1.0
    name: ClassVar[str] = "TorqueRateSquared"
    continues: ClassVar[bool] = True
    of_dofs: ClassVar[tuple[str, ...]] = ("scale",)

    def quantity(self, instant: Instant) -> Expr:
        return instant.tau


@dataclass(frozen=True)
class AccelerationSquared(LeastSquares):
    """sum of qdd^2 [rad^2/s^4, m^2/s^4]; base=True: including the dofs of a floating or planar root."""

    weight: float = 1.0
    base: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        truth(self.base, "AccelerationSquared base")

    def residual(self, instant: Instant) -> Expr:
        return instant.qdd[0 if self.base else base_size(instant.model) :]


@dataclass(frozen=True)
class JerkSquared(RateSquared):
    """sum of (d(qdd)/dt)^2 [rad^2/s^6, m^2/s^6] over all dofs, from interval to interval within a phase.

    Jumps of the accelerations across an impact are not counted.
    """

    weight: float = 1.0
    name: ClassVar[str] = "JerkSquared"

    def quantity(self, instant: Instant) -> Expr:
        return instant.qdd


@dataclass(frozen=True)
class JointAngleSquared(LeastSquares):
    """sum of (stiffness * angle)^2 over the joints, from neutral: the squared torque of passive tissue [(N m)^2].

    stiffness [N m/rad]: a number, or one per entry of qd. A floating or planar root is left out.
    """

    weight: float = 1.0
    stiffness: Any = 1.0
    of_dofs: ClassVar[tuple[str, ...]] = ("stiffness",)

    def __post_init__(self) -> None:
        super().__post_init__()
        stiffness = numbers(self.stiffness, "JointAngleSquared stiffness")
        if not np.all((stiffness >= 0) & np.isfinite(stiffness)):
            raise ValueError(
                f"JointAngleSquared stiffness must be finite and not negative, got {shown(self.stiffness)}"
            )

    def residual(self, instant: Instant) -> Expr:
        model = instant.model
        k = per_dof(self.stiffness, model.nv, "JointAngleSquared stiffness")[base_size(model) :]
        first = 2 if base_size(model) else 1
        angles = [
            joint.difference(ca.DM(joint.neutral()), q)
            for joint, q in zip(model.joints[first:], model.split_q(instant.q)[first:], strict=True)
        ]
        return ca.DM(k) * ca.vertcat(*angles)


@dataclass(frozen=True)
class ForceSquared(LeastSquares):
    """sum of (f / scale)^2 over the contact wrenches [moment; force]."""

    weight: float = 1.0
    scale: float = 1.0

    def residual(self, instant: Instant) -> Expr:
        return ca.vertcat(ca.SX(0, 1), *instant.wrenches.values()) / self.scale


@dataclass(frozen=True)
class ForceRateSquared(RateSquared):
    """sum of (d(lam)/dt / scale)^2 over the contact rows, from interval to interval within a phase."""

    weight: float = 1.0
    scale: float = 1.0
    name: ClassVar[str] = "ForceRateSquared"

    def quantity(self, instant: Instant) -> Expr:
        return instant.lam


@dataclass(frozen=True)
class MechanicalWork(Weighed):
    """Work of the joints, sum of sqrt((tau qd)^2 + smoothing^2) - smoothing [J]: |power|, rounded where it changes
    sign.

    kind: "absolute"; or "positive", only the work that the joints add (tau qd > 0). smoothing [W]. Divided by weight
    and distance it is the mechanical cost of transport: `weight=1/(m g)` with `per_distance=True`. `SlackWork` is the
    same cost without rounding.
    """

    weight: float = 1.0
    kind: str = "absolute"
    smoothing: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_kind(self.kind)
        positive(self.smoothing, "MechanicalWork smoothing [W] (SlackWork needs none)")

    def integrand(self, instant: Instant) -> Expr:
        power = instant.tau * instant.qd
        magnitude = ca.sum1(ca.sqrt(power**2 + self.smoothing**2) - self.smoothing)
        return magnitude if self.kind == "absolute" else (magnitude + ca.sum1(power)) / 2


@dataclass(frozen=True, eq=False)
class SlackWork(Weighed):
    """Work of the joints, exact: sum of s with s >= |tau qd| (kind "absolute") or s >= tau qd, s >= 0 ("positive") [J].

    One non-negative variable per dof and interval; a floating or planar root does no work. This is the form of linear
    terms in |power| that suits interior-point solvers best.
    """

    weight: float = 1.0
    kind: str = "absolute"
    scale: ClassVar[float] = 100.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_kind(self.kind)

    def slack_size(self, model: Model) -> int:
        return model.nv - base_size(model)

    def slack_rows(self, instant: Instant) -> Expr:
        """Rows that must not be negative."""
        first = base_size(instant.model)
        power, s = (instant.tau * instant.qd)[first:], instant.slacks[self]
        return ca.vertcat(s - power, s + power) if self.kind == "absolute" else s - power

    def integrand(self, instant: Instant) -> Expr:
        return ca.sum1(instant.slacks[self])


@dataclass(frozen=True)
class AngularMomentumSquared(LeastSquares):
    """|angular momentum about the center of mass / scale|^2 [(kg m^2/s)^2 for scale 1]; people keep it small when they
    walk."""

    weight: float = 1.0
    scale: float = 1.0

    def residual(self, instant: Instant) -> Expr:
        return centroidal_momentum(instant.model, instant.q, instant.qd)[:3] / self.scale


@dataclass(frozen=True)
class HeadStabilization(LeastSquares):
    """|linear acceleration|^2 + (arm |angular acceleration|)^2 of a point of the head [m^2/s^4].

    frame: of the head; point [m] in it, such as the eyes; arm [m]: weight of angular against linear acceleration.
    """

    frame: str = "head"
    weight: float = 1.0
    point: Vector = (0.0, 0.0, 0.0)
    arm: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        label(self.frame, "HeadStabilization frame")
        point(self.point, "HeadStabilization point [m]")
        not_negative(self.arm, "HeadStabilization arm [m]")

    def check(self, model: Model, feet: Sequence[str]) -> None:
        known(self.frame, model.frame_names, "HeadStabilization", "frame")

    def residual(self, instant: Instant) -> Expr:
        a = point_acceleration_6d(instant.model, self.frame, instant.q, instant.qd, instant.qdd, point=self.point)
        return ca.vertcat(self.arm * a[:3], a[3:])


@dataclass(frozen=True)
class CapturePointSquared(LeastSquares):
    """|capture point - middle of the feet|^2 [m^2], in the ground plane; the capture point is c + c' / omega, omega^2 =
    g / c_z.

    Small if the walker could come to rest over the feet it stands on [J. Pratt et al., Capture point: a step toward
    humanoid push recovery, Humanoids 2006]. No cost in phases without a foot on the ground.
    """

    weight: float = 1.0

    def residual(self, instant: Instant) -> Expr:
        return capture_point(instant) - middle_of_feet(instant) if instant.places else ca.SX(0, 1)


@dataclass(frozen=True)
class ZeroMomentPointSquared(LeastSquares):
    """|zero-moment point - middle of the feet|^2 [m^2]: a small value means a large margin of balance. No cost
    in flight."""

    weight: float = 1.0

    def residual(self, instant: Instant) -> Expr:
        if not instant.places:
            return ca.SX(0, 1)
        return zero_moment_point(instant.model, instant.q, instant.qd, instant.qdd)[:2] - middle_of_feet(instant)


@dataclass(frozen=True)
class Duration:
    """Duration of the phase [s]; as an objective of every phase, the duration of the motion."""

    weight: float = 1.0

    def __post_init__(self) -> None:
        finite(self.weight, "Duration weight")

    def integrand(self, instant: Instant) -> Expr:
        return ca.SX(1)


def objective_name(objective: Any) -> str:
    """Name of a cost term in reports."""
    return str(getattr(objective, "name", type(objective).__name__))


def capture_point(instant: Instant) -> Expr:
    """c + c' / omega (2) [m], omega^2 = g / c_z: the point at which the inverted pendulum comes to rest."""
    c = center_of_mass(instant.model, instant.q)
    speed = center_of_mass_velocity(instant.model, instant.q, instant.qd)
    g = float(np.linalg.norm(instant.model.gravity))
    return c[:2] + speed[:2] * ca.sqrt(c[2] / g)


def base_size(model: Model) -> int:
    """Number of degrees of freedom of a floating root joint; 0 if the root joint does not float."""
    return model.joints[1].nv if model.joint_names[0] in model.floating_joints else 0


def per_dof(value: Any, size: int, what: str) -> Array:
    """One number, or one per degree of freedom, as an array of `size` numbers."""
    found = numbers(value, what)
    if found.size not in (1, size):
        raise ValueError(f"{what}: give one number, or nv = {size} (one per dof), got {found.size}")
    return np.array(np.broadcast_to(found, (size,)))


def middle_of_feet(instant: Instant) -> Expr:
    """Mean (x, y) [m] of the places on which feet stand."""
    places = [foothold.origin(place)[:2] for foothold, place in instant.places.items()]
    return sum(places, start=ca.SX(2, 1)) / len(places)


def _check_kind(kind: str) -> None:
    if not isinstance(kind, str) or kind not in ("absolute", "positive"):
        hint = meant(kind, ("absolute", "positive"))
        raise ValueError(f"kind of work must be 'absolute' or 'positive', got {shown(kind)}{hint}")
