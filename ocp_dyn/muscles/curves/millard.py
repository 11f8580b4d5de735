"""The curves of Millard 2012: monotone Bezier curves through knots with given slopes.

Source: Millard, Uchida, Seth & Delp, Flexing computational muscle: modeling and simulation of musculotendon dynamics,
J. Biomech. Eng. 135, 2013; the knots as OpenSim 4.6 places them for its parameters, with its defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from casadi import DM

from ..._base.types import Expr
from ...mechanism.annotations import Muscle
from .bezier import BezierCurves, Knot
from .family import MuscleCurves

Numbers = Mapping[str, float]

ACTIVE = {
    "min_norm_active_fiber_length": 0.47 - 0.0259, "transition_norm_fiber_length": 0.73,
    "max_norm_active_fiber_length": 1.8123, "shallow_ascending_slope": 0.8616, "minimum_value": 0.1,
}  # fmt: skip
PASSIVE = {"strain_at_zero_force": 0.0, "strain_at_one_norm_force": 0.7}
SPEED = {
    "concentric_slope_at_vmax": 0.0, "concentric_slope_near_vmax": 0.25, "isometric_slope": 5.0,
    "eccentric_slope_at_vmax": 0.0, "eccentric_slope_near_vmax": 0.15, "max_eccentric_velocity_force_multiplier": 1.4,
    "concentric_curviness": 0.6, "eccentric_curviness": 0.9,
}  # fmt: skip
TENDON = {"strain_at_one_norm_force": 0.049}

UNDAMPED = 0.001
"""Damping below which the speed of fibers has no equation in this model."""


@dataclass(frozen=True, eq=False)
class MillardCurves(MuscleCurves):
    """The curves of Millard et al. (2013); `MillardCurves.default(n)` for n muscles without data of their own.

    >>> curves = od.muscles.MillardCurves.default()
    >>> [round(float(curves.active_force_length(ca.DM([l]))), 12) for l in (0.4441, 1.0)]
    [0.1, 1.0]
    """

    active: BezierCurves
    passive: BezierCurves
    speed: BezierCurves
    tendon: BezierCurves

    @staticmethod
    def default(n: int = 1) -> MillardCurves:
        """The curves with their default numbers, for n muscles."""
        return _made([{}] * n)

    @classmethod
    def of(cls, muscles: Sequence[Muscle]) -> MillardCurves:
        return _made([dict(muscle.parameters) for muscle in muscles])

    def active_force_length(self, length: Expr) -> Expr:
        return self.active.value(length)

    def passive_force_length(self, length: Expr) -> Expr:
        return self.passive.value(length)

    def force_velocity(self, speed: Expr, activation: Expr) -> Expr:
        return self.speed.value(speed)

    def fiber_speed(self, force: Expr, active: Expr, damping: Expr, activation: Expr) -> Expr:
        """By the curve active f_v(v) + damping v, which is a Bezier curve too; ValueError without damping."""
        if isinstance(damping, DM) and np.any(damping.full() < UNDAMPED):
            raise ValueError(
                "muscles with Millard's curves need fiber_damping of at least 0.001 for an explicit fiber speed, as "
                "their force does not grow with the speed at its ends: give damping, or a fiber_rate (the implicit "
                "form)"
            )
        return self.speed.damped_inverse(force, active, damping)

    def tendon_force(self, length: Expr) -> Expr:
        return self.tendon.value(length)

    def least_length(self, size: int) -> Expr | None:
        return DM(self.active.x[:, 0, 0])


def _made(given: Sequence[Mapping[str, float]]) -> MillardCurves:
    """The curves of muscles with these parameters, by the names of their files, "CURVE.NAME"."""
    active = [_numbers(one, "ActiveForceLengthCurve", ACTIVE) for one in given]
    passive = [_numbers(one, "FiberForceLengthCurve", PASSIVE) for one in given]
    speed = [_numbers(one, "ForceVelocityCurve", SPEED) for one in given]
    tendon = [_numbers(one, "TendonForceLengthCurve", TENDON) for one in given]
    for one in passive:
        one.setdefault("stiffness_at_low_force", 0.2)
        one.setdefault("stiffness_at_one_norm_force",
                       2 / (one["strain_at_one_norm_force"] - one["strain_at_zero_force"]))  # fmt: skip
        one.setdefault("curviness", 0.75)
    for one in tendon:
        one.setdefault("stiffness_at_one_norm_force", 1.375 / one["strain_at_one_norm_force"])
        one.setdefault("norm_force_at_toe_end", 2 / 3)
        one.setdefault("curviness", 0.5)
    bends = [(x["concentric_curviness"],) * 2 + (x["eccentric_curviness"],) * 2 for x in speed]
    return MillardCurves(
        BezierCurves.through([_active(x) for x in active], [(1.0,) * 5] * len(active)),
        BezierCurves.through([_passive(x) for x in passive], [(x["curviness"],) * 2 for x in passive]),
        BezierCurves.through([_speed(x) for x in speed], bends),
        BezierCurves.through([_tendon(x) for x in tendon], [(x["curviness"],) * 2 for x in tendon]),
    )


def _numbers(given: Mapping[str, float], curve: str, defaults: Numbers) -> dict[str, float]:
    own = {name.split(".", 1)[1]: x for name, x in given.items() if name.startswith(f"{curve}.")}
    return {**defaults, **own}


def _active(p: Numbers) -> list[Knot]:
    """Ascending, shallow, to the top at 1, descending."""
    x0, x1, x2 = p["min_norm_active_fiber_length"], p["transition_norm_fiber_length"], 1.0
    x3, low, shallow = p["max_norm_active_fiber_length"], p["minimum_value"], p["shallow_ascending_slope"]
    aside = 0.05 * x2
    xs = x2 - aside
    y1 = 1 - shallow * (xs - x1)
    falling = -1 / ((x3 - aside) - (x2 + aside))
    return [
        Knot(x0, low, 0.0),
        Knot((x0 + x1) / 2, y1 / 2, 1.25 * y1 / (x1 - x0)),
        Knot((x1 + xs) / 2, (1 + y1) / 2, shallow),
        Knot(x2, 1.0, 0.0),
        Knot((x2 + aside + x3) / 2, 0.5, falling),
        Knot(x3, low, 0.0),
    ]


def _passive(p: Numbers) -> list[Knot]:
    start, end = p["strain_at_zero_force"], p["strain_at_one_norm_force"]
    stiff, low = p["stiffness_at_one_norm_force"], p["stiffness_at_low_force"]
    step = 0.1 * min(1 / stiff, end - start)
    return [
        Knot(1 + start, 0.0, 0.0), Knot(1 + start + step, low * step / 2, low), Knot(1 + end, 1.0, stiff)
    ]  # fmt: skip


def _speed(p: Numbers) -> list[Knot]:
    top = p["max_eccentric_velocity_force_multiplier"]
    slope, near = p["concentric_slope_at_vmax"], p["concentric_slope_near_vmax"]
    last, nearly = p["eccentric_slope_at_vmax"], p["eccentric_slope_near_vmax"]
    return [
        Knot(-1.0, 0.0, slope),
        Knot(-0.9, 0.05 * (near + slope), near),
        Knot(0.0, 1.0, p["isometric_slope"]),
        Knot(0.9, top - 0.05 * (nearly + last), nearly),
        Knot(1.0, top, last),
    ]


def _tendon(p: Numbers) -> list[Knot]:
    strain, stiff, toe = p["strain_at_one_norm_force"], p["stiffness_at_one_norm_force"], p["norm_force_at_toe_end"]
    x_toe = (toe - 1) / stiff + 1 + strain
    x_foot = 1 + (x_toe - 1) / 10
    y_mid = toe / 2
    slope = y_mid / ((y_mid - 1) / stiff + 1 + strain - x_foot)
    x_control = (x_foot + (y_mid - 1) / stiff + 1 + strain) / 2
    return [Knot(1.0, 0.0, 0.0), Knot(x_control, slope * (x_control - x_foot), slope), Knot(x_toe, toe, stiff)]
