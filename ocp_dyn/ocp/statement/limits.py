"""Path constraints for motors, joints and balance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from ..._arguments import all_positive, not_negative, positive, truth
from ...dynamics.momentum import zero_moment_point
from ...mechanism import Model
from .instant import Instant
from .objectives import base_size, capture_point, middle_of_feet, per_dof
from .path_constraints import Bounded


@dataclass(frozen=True)
class PowerLimit:
    """-maximum <= tau qd <= maximum [W] in every joint; maximum: a number, or one per entry of tau (inf: no limit).

    >>> weak = turn(ocp.TorqueSquared(), path=[ocp.PowerLimit(3.0)]).solve(progress=False)
    >>> round(float(np.abs(weak.tau * (weak.qd[1:] + weak.qd[:-1]) / 2).max()), 3)  # 4.5 W without it
    3.0
    """

    maximum: Any
    where: ClassVar[str] = "interval"

    def __post_init__(self) -> None:
        all_positive(self.maximum, "PowerLimit maximum [W], inf for none,", infinite=True)

    def check(self, model: Model, feet: Sequence[str]) -> None:
        per_dof(self.maximum, model.nv, "PowerLimit maximum")

    def rows(self, instant: Instant) -> Bounded:
        first = base_size(instant.model)
        limit = per_dof(self.maximum, instant.model.nv, "PowerLimit maximum")[first:]
        return (instant.tau * instant.qd)[first:], -limit, limit


@dataclass(frozen=True)
class TorqueSpeedCurve:
    """|tau| / tau_max + (speed in the direction of tau) / qd_max <= 1: no torque at a motor's no-load speed.

    The curve is linear in all four quadrants. The curve alone would allow a braking torque above tau_max; the bounds of
    the model exclude it. tau_max [N m], qd_max [rad/s]: a number or one per dof; None: the model's own limits. Joints
    without both limits have no rows.

    >>> ocp.TorqueSpeedCurve(tau_max=5.0, qd_max=4.0).rows(instant)  # 3 / 5 + 1 / 4, between -1 and 1
    (SX(0.85), -1.0, 1.0)
    """

    tau_max: Any = None
    qd_max: Any = None
    where: ClassVar[str] = "interval"

    def __post_init__(self) -> None:
        for key in ("tau_max", "qd_max"):
            if getattr(self, key) is not None:
                all_positive(getattr(self, key), f"TorqueSpeedCurve {key}", infinite=True)

    def check(self, model: Model, feet: Sequence[str]) -> None:
        for key in ("tau_max", "qd_max"):
            if getattr(self, key) is not None:
                per_dof(getattr(self, key), model.nv, f"TorqueSpeedCurve {key}")

    def rows(self, instant: Instant) -> Bounded:
        model = instant.model
        dofs = model.dofs
        torque = per_dof(dofs.tau_max if self.tau_max is None else self.tau_max, model.nv, "TorqueSpeedCurve tau_max")
        speed = per_dof(dofs.qd_max if self.qd_max is None else self.qd_max, model.nv, "TorqueSpeedCurve qd_max")
        limited = [k for k in range(base_size(model), model.nv) if np.isfinite(torque[k]) and np.isfinite(speed[k])]
        drive = [instant.tau[k] / float(torque[k]) + instant.qd[k] / float(speed[k]) for k in limited]
        return ca.vertcat(ca.SX(0, 1), *drive), -1.0, 1.0


@dataclass(frozen=True)
class JointMargin:
    """Joint positions stay at least `margin` [rad, m] away from the model's finite limits, at the nodes.

    ends: also at the first and the last node of the phase.

    >>> tight = ocp.Instant(rod.with_limits(lower=-1.0, upper=2.0), ca.SX.sym("q"), ca.SX.sym("qd"))
    >>> ocp.JointMargin(0.1).rows(tight)
    (SX(q), array([-0.9]), array([1.9]))
    """

    margin: float
    ends: bool = True
    where: ClassVar[str] = "node"

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


@dataclass(frozen=True)
class CaptureMargin:
    """The capture point stays within `radius` [m] of the middle of the feet on the ground, so that the walker could
    come to rest.

    >>> ocp.CaptureMargin(radius=0.2).rows(instant)[0]  # 0.113^2 / 0.2, below the radius
    SX(0.0637105)
    """

    radius: float
    where: ClassVar[str] = "interval"
    needs_places: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive(self.radius, "CaptureMargin radius [m]")

    def rows(self, instant: Instant) -> Bounded:
        return _within(instant, capture_point(instant), self.radius)


@dataclass(frozen=True)
class ZeroMomentPointMargin:
    """The zero-moment point stays within `radius` [m] of the middle of the feet on the ground.

    >>> ocp.ZeroMomentPointMargin(radius=0.05).rows(instant)[2]
    0.05
    """

    radius: float
    where: ClassVar[str] = "interval"
    needs_places: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive(self.radius, "ZeroMomentPointMargin radius [m]")

    def rows(self, instant: Instant) -> Bounded:
        return _within(instant, zero_moment_point(instant.model, instant.q, instant.qd, instant.qdd)[:2], self.radius)


def _within(instant: Instant, point: Any, radius: float) -> Bounded:
    """Squared distance from the middle of the feet, divided by the radius: a row in meters. No rows in flight."""
    if not instant.places:
        return ca.SX(0, 1), 0.0, 0.0
    return ca.sumsqr(point - middle_of_feet(instant)) / radius, -np.inf, radius
