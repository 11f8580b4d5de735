"""Objectives by name: integrands over the motion, costs of rates, see `objectives`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.checks import (
    all_positive,
    divide_by_scale,
    label,
    name_among,
    not_negative,
    numbers,
    point,
    positive,
    truth,
)
from ..._base.types import Expr, Vector, repr_in_message, suggestion
from ...dynamics.kinematics import point_acceleration_6d
from ...dynamics.momentum import centroidal_momentum
from ...mechanism import Model
from .instant import Instant
from .objectives import (
    Cost,
    LeastSquares,
    RateSquared,
    SlackCost,
    base_size,
    capture_gap,
    check_magnitudes,
    own_by_speed,
    own_name,
    per_direction,
    per_dof,
    zero_moment_gap,
)
from .values.parameters import Parameter


@dataclass(frozen=True)
class TorqueSquared(LeastSquares):
    """sum of (tau / scale)^2 [(N m)^2 for scale 1]; scale: a number, or one per entry of tau.

    For motors that are stronger in one direction: pairs (lower, upper) with lower < 0 < upper, one per entry of tau, of
    which negative torques are divided by the first and positive ones by the second; or "strength", the torque limits of
    the model, `model.dofs.strength(directed=True)`. The square has a continuous gradient, also at tau = 0; there its
    second derivative jumps from 2 / lower^2 to 2 / upper^2, which an interior-point solver with exact Hessians takes
    well, because both are positive. A `Parameter` as scale serves both directions.

    >>> round(turn(ocp.TorqueSquared(weight=0.5)).solve(progress=False).cost["TorqueSquared"], 2)  # half of 12
    6.02
    >>> ocp.TorqueSquared(scale=[(-2.0, 6.0)]).integrand(instant)  # (3 N m / 6 N m)^2
    DM(0.25)
    """

    weight: float | Parameter = 1.0
    scale: Any = 1.0
    name: str = own_name()
    of_dofs: ClassVar[tuple[str, ...]] = ("scale",)
    changing: ClassVar[tuple[str, ...]] = ("scale",)

    def _check_scale(self) -> None:
        if isinstance(self.scale, str) and self.scale != STRENGTH:
            raise ValueError(f"TorqueSquared scale must be numbers or {STRENGTH!r}, got {repr_in_message(self.scale)}")
        if not isinstance(self.scale, str):
            check_magnitudes(self.number_of("scale"), "TorqueSquared scale")

    def _magnitudes(self, model: Model) -> tuple[Any, Any]:
        value = model.dofs.strength(directed=True) if isinstance(self.scale, str) else self.scale
        return per_direction(value, model.nv, "TorqueSquared scale")

    def check(self, model: Model, feet: Sequence[str]) -> None:
        if self.parameters:
            super().check(model, feet)
        else:
            self._magnitudes(model)

    def residual(self, instant: Instant) -> Expr:
        below, above = self._magnitudes(instant.model)
        whole = instant.tau / above
        if isinstance(above, ca.SX):
            return whole
        uneven = np.flatnonzero(below != above)
        if not uneven.size:
            return whole
        more = DM(1 / below - 1 / above)
        more[np.flatnonzero(below == above).tolist()] = 0
        return whole + ca.sparsify(more) * ca.fmin(instant.tau, 0)


STRENGTH = "strength"
"""Scale of torques that stands for the model's torque limits."""


@dataclass(frozen=True)
class TorqueRateSquared(RateSquared):
    """sum of (d(tau)/dt / scale)^2 [(N m/s)^2 for scale 1], between intervals and from a phase to the next one.

    In a periodic motion the first interval follows the last one. scale: a number, or one per entry of tau, such as
    `model.dofs.strength()`, the strength of the stronger direction. One number serves both directions: a scale that
    changed with the sign of the torque would give the rate a jump where the torque passes zero.

    >>> smooth = turn(ocp.TorqueRateSquared()).solve(progress=False)
    >>> round(float(smooth.tau[0, 0]), 2)  # from 6 N m for ever shorter intervals, falling steadily
    4.99
    """

    weight: float | Parameter = 1.0
    scale: Any = 1.0
    name: str = own_name()
    by_speed: tuple[float, float] | None = own_by_speed()
    continues = True
    of_dofs: ClassVar[tuple[str, ...]] = ("scale",)
    changing: ClassVar[tuple[str, ...]] = ("scale",)

    def quantity(self, instant: Instant) -> Expr:
        return instant.tau


@dataclass(frozen=True)
class AccelerationSquared(LeastSquares):
    """sum of (qdd / scale)^2 [rad^2/s^4, m^2/s^4 for scale 1]; base=True: including the dofs of a floating or planar
    root.

    scale: a number, or one per entry of qd; inf leaves a dof out.

    >>> round(turn(ocp.AccelerationSquared()).solve(progress=False).objective, 2)  # a wheel of 1 kg m^2: as of torques
    12.03
    """

    weight: float | Parameter = 1.0
    base: bool = False
    scale: Any = 1.0
    name: str = own_name()
    by_speed: tuple[float, float] | None = own_by_speed()
    of_dofs: ClassVar[tuple[str, ...]] = ("scale",)

    def __post_init__(self) -> None:
        super().__post_init__()
        truth(self.base, "AccelerationSquared base")

    def _check_scale(self) -> None:
        all_positive(self.scale, "AccelerationSquared scale", infinite=True)

    def residual(self, instant: Instant) -> Expr:
        begin = 0 if self.base else base_size(instant.model)
        scale = per_dof(self.scale, instant.model.nv, "AccelerationSquared scale")
        counted = [k for k in range(begin, scale.size) if np.isfinite(scale[k])]
        return divide_by_scale(instant.qdd[counted], scale[counted], "AccelerationSquared scale")


@dataclass(frozen=True)
class JerkSquared(RateSquared):
    """sum of (d(qdd)/dt)^2 [rad^2/s^6, m^2/s^6] over all dofs, from interval to interval within a phase.

    Jumps of the accelerations across an impact are not counted.

    >>> smooth = turn(ocp.JerkSquared()).solve(progress=False)
    >>> round(float(smooth.phases[0].qdd[0, 0]), 2)
    4.99
    """

    weight: float | Parameter = 1.0
    name: str = own_name()

    def quantity(self, instant: Instant) -> Expr:
        return instant.qdd


@dataclass(frozen=True)
class JointAngleSquared(LeastSquares):
    """sum of (stiffness * angle)^2 over the joints, from neutral: the squared torque of passive tissue [(N m)^2].

    stiffness [N m/rad]: a number, or one per entry of qd. A floating or planar root is left out.

    >>> costs = ocp.JointAngleSquared(stiffness=2.0), ocp.TorqueSquared(1e-3)
    >>> round(turn(*costs).solve(progress=False).cost["JointAngleSquared"], 3)
    0.533
    """

    weight: float | Parameter = 1.0
    stiffness: Any = 1.0
    name: str = own_name()
    by_speed: tuple[float, float] | None = own_by_speed()
    of_dofs: ClassVar[tuple[str, ...]] = ("stiffness",)
    changing: ClassVar[tuple[str, ...]] = ("stiffness",)

    def __post_init__(self) -> None:
        super().__post_init__()
        stiffness = numbers(self.number_of("stiffness"), "JointAngleSquared stiffness")
        if not np.all((stiffness >= 0) & np.isfinite(stiffness)):
            raise ValueError(
                f"JointAngleSquared stiffness must be finite and not negative, got {repr_in_message(self.stiffness)}"
            )

    def residual(self, instant: Instant) -> Expr:
        model = instant.model
        k = per_dof(self.stiffness, model.nv, "JointAngleSquared stiffness")[base_size(model) :]
        first = 2 if base_size(model) else 1
        angles = [
            joint.difference(ca.DM(joint.neutral()), q)
            for joint, q in zip(model.joints[first:], model.split_q(instant.q)[first:], strict=True)
        ]
        return (k if isinstance(k, ca.SX) else ca.DM(k)) * ca.vertcat(*angles)


@dataclass(frozen=True)
class ForceSquared(LeastSquares):
    """sum of (f / scale)^2 over the contact wrenches [moment; force].

    >>> ocp.ForceSquared(scale=10.0).integrand(instant)  # (2^2 + 30^2 + 100^2) / 10^2
    SX(109.04)
    """

    weight: float | Parameter = 1.0
    scale: float = 1.0
    name: str = own_name()
    of_one: ClassVar[tuple[str, ...]] = ("scale",)
    changing: ClassVar[tuple[str, ...]] = ("scale",)

    def residual(self, instant: Instant) -> Expr:
        return ca.vertcat(ca.SX(0, 1), *instant.wrenches.values()) / self.scale


@dataclass(frozen=True)
class ForceRateSquared(RateSquared):
    """sum of (d(lam)/dt / scale)^2 over the contact rows, from interval to interval within a phase.

    >>> ocp.ForceRateSquared(scale=2.0).rate_integrand(ca.DM([2.0, 4.0]))  # of rates of 2 and 4 N/s
    DM(5)
    """

    weight: float | Parameter = 1.0
    scale: float = 1.0
    name: str = own_name()
    of_one: ClassVar[tuple[str, ...]] = ("scale",)
    changing: ClassVar[tuple[str, ...]] = ("scale",)

    def quantity(self, instant: Instant) -> Expr:
        return instant.lam


@dataclass(frozen=True)
class MechanicalWork(Cost):
    """Work of the joints, sum of sqrt((tau qd)^2 + smoothing^2) - smoothing [J]: |power|, rounded where it changes
    sign.

    kind: "absolute"; or "positive", only the work that the joints add (tau qd > 0). smoothing [W]. Divided by weight
    and distance it is the mechanical cost of transport: `weight=1/(m g)` with `per_distance=True`. `SlackWork` is the
    same cost without rounding.

    >>> work = turn(ocp.TorqueSquared(1e-2), ocp.MechanicalWork(smoothing=0.01)).solve(progress=False)
    >>> round(work.cost["MechanicalWork"], 2)  # the kinetic energy comes and goes
    1.19
    """

    weight: float | Parameter = 1.0
    kind: str = "absolute"
    smoothing: float = 1.0
    name: str = own_name()

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_kind(self.kind)
        positive(self.smoothing, "MechanicalWork smoothing [W] (SlackWork needs none)")

    def integrand(self, instant: Instant) -> Expr:
        power = instant.tau * instant.qd
        magnitude = ca.sum1(ca.sqrt(power**2 + self.smoothing**2) - self.smoothing)
        return magnitude if self.kind == "absolute" else (magnitude + ca.sum1(power)) / 2


@dataclass(frozen=True, eq=False)
class SlackWork(SlackCost):
    """Work of the joints, exact: sum of s with s >= |tau qd| (kind "absolute") or s >= tau qd, s >= 0 ("positive") [J].

    One non-negative variable per dof and interval; a floating or planar root does no work. This is the form of linear
    terms in |power| that suits interior-point solvers best.

    >>> exact = turn(ocp.TorqueSquared(1e-2), ocp.SlackWork()).solve(progress=False)
    >>> round(exact.cost["SlackWork"], 2)
    1.19
    """

    weight: float | Parameter = 1.0
    kind: str = "absolute"
    name: str = own_name()
    scale = 100.0

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
    walk.

    >>> ocp.AngularMomentumSquared().integrand(instant)  # (m l^2 / 12 qd)^2
    DM(0.00694444)
    """

    weight: float | Parameter = 1.0
    scale: float = 1.0
    name: str = own_name()
    of_one: ClassVar[tuple[str, ...]] = ("scale",)
    changing: ClassVar[tuple[str, ...]] = ("scale",)

    def residual(self, instant: Instant) -> Expr:
        return centroidal_momentum(instant.model, instant.q, instant.qd)[:3] / self.scale


@dataclass(frozen=True)
class HeadStabilization(LeastSquares):
    """|linear acceleration|^2 + (arm |angular acceleration|)^2 of a point of the head [m^2/s^4].

    frame: of the head; point [m] in it, such as the eyes; arm [m]: weight of angular against linear acceleration.

    >>> ocp.HeadStabilization(frame="tip").integrand(instant)  # the tip's l qd^2, squared
    DM(1)
    """

    frame: str = "head"
    weight: float | Parameter = 1.0
    point: Vector = (0.0, 0.0, 0.0)
    arm: float = 0.1
    name: str = own_name()

    def __post_init__(self) -> None:
        super().__post_init__()
        label(self.frame, "HeadStabilization frame")
        point(self.point, "HeadStabilization point [m]")
        not_negative(self.arm, "HeadStabilization arm [m]")

    def check(self, model: Model, feet: Sequence[str]) -> None:
        name_among(self.frame, model.frame_names, "HeadStabilization", "frame")

    def residual(self, instant: Instant) -> Expr:
        a = point_acceleration_6d(instant.model, self.frame, instant.q, instant.qd, instant.qdd, point=self.point)
        return ca.vertcat(self.arm * a[:3], a[3:])


@dataclass(frozen=True)
class CapturePointSquared(LeastSquares):
    """|capture point - middle of the feet|^2 [m^2], in the ground plane; the capture point is c + c' / omega, omega^2 =
    g / h, with the height h of the center of mass c above the middle of the feet.

    Small if the walker could come to rest over the feet it stands on [J. Pratt et al., Capture point: a step toward
    humanoid push recovery, Humanoids 2006]. No cost in phases without a foot on the ground.

    >>> ocp.CapturePointSquared().integrand(instant)  # 0.5 m/s sqrt(0.5 m / g) ahead of the foot, squared
    SX(0.0127421)
    """

    weight: float | Parameter = 1.0
    name: str = own_name()
    needs_places = True

    def residual(self, instant: Instant) -> Expr:
        return capture_gap(instant) if instant.places else ca.SX(0, 1)


@dataclass(frozen=True)
class ZeroMomentPointSquared(LeastSquares):
    """|zero-moment point - middle of the feet|^2 [m^2], at the height of the feet; no cost in flight.

    A small value means a large margin of balance.

    >>> round(float(ocp.ZeroMomentPointSquared().integrand(instant)), 9)  # below the rod, and so is the foot
    0.0
    """

    weight: float | Parameter = 1.0
    name: str = own_name()
    needs_places = True

    def residual(self, instant: Instant) -> Expr:
        return zero_moment_gap(instant) if instant.places else ca.SX(0, 1)


@dataclass(frozen=True)
class Duration(Cost):
    """Duration of the phase [s]; as an objective of every phase, the duration of the motion.

    >>> fast = ocp.Phase("turn", 20, (0.1, 5.0), objective=[ocp.Duration()])
    >>> strong = wheel.with_limits(effort=2.0)
    >>> solution = ocp.Problem(strong, [fast], boundary=[rest]).solve(progress=False)
    >>> round(solution.duration, 3)  # 2 sqrt(I angle / torque)
    1.414
    """

    weight: float | Parameter = 1.0
    name: str = own_name()

    def integrand(self, instant: Instant) -> Expr:
        return ca.SX(1)


def _check_kind(kind: str) -> None:
    if not isinstance(kind, str) or kind not in ("absolute", "positive"):
        hint = suggestion(kind, ("absolute", "positive"))
        raise ValueError(f"kind of work must be 'absolute' or 'positive', got {repr_in_message(kind)}{hint}")
