"""Path constraints for motors, joints and balance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..._base.checks import all_positive, not_negative, positive, truth
from ..._base.types import Array, Expr
from ...mechanism import Model
from .instant import Instant
from .objectives import base_size, capture_gap, check_magnitudes, own_name, per_direction, per_dof, zero_moment_gap
from .path_constraints import Bounded, PathConstraint


@dataclass(frozen=True)
class PowerLimit(PathConstraint):
    """-maximum <= tau qd <= maximum [W] in every joint; maximum: a number, or one per entry of tau (inf: no limit).

    >>> weak = turn(ocp.TorqueSquared(), path=[ocp.PowerLimit(3.0)]).solve(progress=False)
    >>> round(float(np.abs(weak.tau * (weak.qd[1:] + weak.qd[:-1]) / 2).max()), 3)  # 4.5 W without it
    3.0
    """

    maximum: Any
    name: str = own_name()
    where = "interval"

    def __post_init__(self) -> None:
        all_positive(self.maximum, "PowerLimit maximum [W], inf for none,", infinite=True)

    def check(self, model: Model, feet: Sequence[str]) -> None:
        per_dof(self.maximum, model.nv, "PowerLimit maximum")

    def rows(self, instant: Instant) -> Bounded:
        first = base_size(instant.model)
        limit = per_dof(self.maximum, instant.model.nv, "PowerLimit maximum")[first:]
        return (instant.tau * instant.qd)[first:], -limit, limit


@dataclass(frozen=True)
class TorqueSpeedCurve(PathConstraint):
    """|tau| / tau_max + (speed in the direction of tau) / qd_max <= 1: no torque at a motor's no-load speed.

    The curve is linear in all four quadrants. The curve alone would allow a braking torque above tau_max; the bounds of
    the model exclude it. tau_max [N m], qd_max [rad/s]: a number or one per dof; None: the model's own limits. tau_max
    may also be pairs (lower, upper) with lower < 0 < upper, one per dof; if a dof's limits differ in size, it has a row
    for each direction. A direction without both limits has no row.

    >>> ocp.TorqueSpeedCurve(tau_max=5.0, qd_max=4.0).rows(instant)  # 3 / 5 + 1 / 4, between -1 and 1
    (SX(0.85), -1.0, 1.0)
    """

    tau_max: Any = None
    qd_max: Any = None
    name: str = own_name()
    where = "interval"

    def __post_init__(self) -> None:
        if self.tau_max is not None:
            check_magnitudes(self.tau_max, "TorqueSpeedCurve tau_max", infinite=True)
        if self.qd_max is not None:
            all_positive(self.qd_max, "TorqueSpeedCurve qd_max", infinite=True)

    def check(self, model: Model, feet: Sequence[str]) -> None:
        self._limits(model)

    def _limits(self, model: Model) -> tuple[Array, Array, Array]:
        """Largest negative and positive torque, as magnitudes, and speed of every dof."""
        dofs = model.dofs
        below, above = -dofs.tau_min, dofs.tau_max
        if self.tau_max is not None:
            below, above = per_direction(self.tau_max, model.nv, "TorqueSpeedCurve tau_max")
        speed = per_dof(dofs.qd_max if self.qd_max is None else self.qd_max, model.nv, "TorqueSpeedCurve qd_max")
        return below, above, speed

    def rows(self, instant: Instant) -> Bounded:
        model = instant.model
        below, above, speed = self._limits(model)
        drive, lower, upper = [], [], []
        for k in range(base_size(model), model.nv):
            same = below[k] == above[k]
            for torque, low, high in (
                (above[k], -1.0 if same else -np.inf, 1.0),
                (np.inf if same else below[k], -1.0, np.inf),
            ):
                if torque and np.isfinite(torque) and np.isfinite(speed[k]):
                    drive.append(instant.tau[k] / float(torque) + instant.qd[k] / float(speed[k]))
                    lower.append(low)
                    upper.append(high)
        rows = ca.vertcat(ca.SX(0, 1), *drive)
        if all(limit == -1.0 for limit in lower) and all(limit == 1.0 for limit in upper):
            return rows, -1.0, 1.0
        return rows, np.array(lower), np.array(upper)


@dataclass(frozen=True)
class JointMargin(PathConstraint):
    """Joint positions stay at least `margin` [rad, m] away from the model's finite limits, at the nodes.

    ends: also at the first and the last node of the phase.

    >>> tight = ocp.Instant(rod.with_limits(lower=-1.0, upper=2.0), ca.SX.sym("q"), ca.SX.sym("qd"))
    >>> ocp.JointMargin(0.1).rows(tight)
    (SX(q), array([-0.9]), array([1.9]))
    """

    margin: float
    ends: bool = True
    name: str = own_name()
    where = "node"

    def __post_init__(self) -> None:
        not_negative(self.margin, "JointMargin", ": it is inside the limits")
        truth(self.ends, "JointMargin ends")

    def rows(self, instant: Instant) -> Bounded:
        lower, upper = instant.model.dofs.q_lower, instant.model.dofs.q_upper
        limited = [k for k in range(instant.model.nq) if np.isfinite(lower[k]) or np.isfinite(upper[k])]
        narrow = [k for k in limited if upper[k] - lower[k] < 2 * self.margin]
        if narrow:
            names = ", ".join(instant.model.q_names[k] for k in narrow)
            raise ValueError(
                f"JointMargin of {self.margin}: nothing is left of the range of {names}: make the margin smaller"
            )
        q = ca.vertcat(ca.SX(0, 1), *(instant.q[k] for k in limited))
        return q, lower[limited] + self.margin, upper[limited] - self.margin


class _Margin(PathConstraint):
    """A point on the ground stays within `radius` [m] of the middle of the feet: a row in meters, none in flight."""

    radius: float
    where = "interval"
    needs_places = True

    @abstractmethod
    def _gap(self, instant: Instant) -> Expr:
        """The way (2) [m] along the ground from the middle of the feet to the point."""

    def __post_init__(self) -> None:
        positive(self.radius, f"{type(self).__name__} radius [m]")

    def rows(self, instant: Instant) -> Bounded:
        if not instant.places:
            return ca.SX(0, 1), 0.0, 0.0
        return ca.sumsqr(self._gap(instant)) / self.radius, -np.inf, self.radius


@dataclass(frozen=True)
class CaptureMargin(_Margin):
    """The capture point stays within `radius` [m] of the middle of the feet on the ground, so that the walker could
    come to rest.

    >>> ocp.CaptureMargin(radius=0.2).rows(instant)[0]  # 0.113^2 / 0.2, below the radius
    SX(0.0637105)
    """

    radius: float
    name: str = own_name()

    def _gap(self, instant: Instant) -> Expr:
        return capture_gap(instant)


@dataclass(frozen=True)
class ZeroMomentPointMargin(_Margin):
    """The zero-moment point stays within `radius` [m] of the middle of the feet on the ground.

    >>> ocp.ZeroMomentPointMargin(radius=0.05).rows(instant)[2]
    0.05
    """

    radius: float
    name: str = own_name()

    def _gap(self, instant: Instant) -> Expr:
        return zero_moment_gap(instant)
