"""Curves of muscles given as splines: those of Schutte 1993, and of muscles whose tendon is always rigid.

Both take the functions of the muscle's file, and the default tables of OpenSim 4.6 where it has none. Sources: Schutte,
Using musculoskeletal models to explore strategies for improving performance in electrical stimulation-induced leg cycle
ergometry, PhD thesis, Stanford University, 1993; tables of Zajac, Muscle and tendon, Crit. Rev. Biomed. Eng. 17, 1989.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..._base.types import Expr
from ...joints import ScalarFunction, SimmSpline
from ...mechanism.annotations import Muscle
from .family import MuscleCurves, choose

ACTIVE = SimmSpline(
    (-5.307692, -4.307692, -1.923077, -0.884615, -0.269231, 0.230769, 0.461538, 0.52725, 0.62875, 0.71875, 0.86125,
     1.045, 1.2175, 1.43875, 1.5, 1.615385, 2.0, 2.961538, 3.692308, 5.461538, 9.901902),
    (0.012188, 0.021899, 0.036466, 0.052493, 0.075312, 0.114158, 0.157859, 0.226667, 0.636667, 0.856667, 0.95, 0.993333,
     0.77, 0.246667, 0.193821, 0.133252, 0.072683, 0.044417, 0.036341, 0.021899, 0.007332),
)  # fmt: skip
PASSIVE = SimmSpline(
    (-5.0, 0.998, 0.999, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.601, 1.602, 5.0),
    (0.0, 0.0, 0.0, 0.0, 0.035, 0.12, 0.26, 0.55, 1.17, 2.0, 2.0, 2.0, 2.0),
)
TENDON = SimmSpline(
    (-10.0, -0.002, -0.001, 0.0, 0.00131, 0.00281, 0.00431, 0.00581, 0.00731, 0.00881, 0.0103, 0.0118, 0.0123, 9.2,
     9.201, 9.202, 20.0),
    (0.0, 0.0, 0.0, 0.0, 0.0108, 0.0257, 0.0435, 0.0652, 0.0915, 0.123, 0.161, 0.208, 0.227, 345.0, 345.0, 345.0,
     345.0),
)  # fmt: skip
"""Force of the tendon over its strain."""

HILL, LARGEST, ECCENTRIC = 0.15, 1.4, 0.13 * 0.15 / 1.15
"""Force over the largest force that bends Schutte's curve of shortening, largest force of lengthening, and the speed
that bends its curve."""


def _zajac() -> SimmSpline:
    """The table of force over speed: hyperbolas at 41 speeds, to six digits."""
    v = np.round(np.arange(-20, 21) / 20, 2)
    eccentric = (0.0329851 + 1.8 * v) / np.where(v > 0, 0.0329851 + v, 1.0)
    y = np.round(np.where(v > 0, eccentric, (1 + v) / (1 - np.minimum(v, 0) / 0.25)), 6)
    return SimmSpline((-1.001, *v), (0.0, *y))


SPEED = _zajac()


def _of(muscles: Sequence[Muscle], name: str, default: ScalarFunction | None) -> tuple[ScalarFunction | None, ...]:
    return tuple(dict(muscle.functions).get(name, default) for muscle in muscles)


def _each(functions: Sequence[ScalarFunction | None], x: Expr, otherwise: Callable[[Expr], Expr] | None = None) -> Expr:
    """The value of every muscle's function at its entry of x."""
    parts = ca.vertsplit(x)
    if len(functions) == 1 and len(parts) > 1:
        functions = [functions[0]] * len(parts)
    values = []
    for function, one in zip(functions, parts, strict=True):
        if function is not None:
            values.append(function.at(one))
        elif otherwise is not None:
            values.append(otherwise(one))
    return ca.vertcat(*values)


@dataclass(frozen=True, eq=False)
class SchutteCurves(MuscleCurves):
    """The curves of Schutte (1993): splines of lengths, hyperbolas of the speed, an exponential passive force.

    active, passive, tendon: a function for every muscle; None among the passive ones: exp(8 (l - 1) - 4). The speed
    is over the optimal length per time scale, 0.1 s.

    >>> curves = od.muscles.SchutteCurves()
    >>> round(float(curves.passive_force_length(ca.DM([1.5]))), 12), float(curves.force_velocity(ca.DM([0.0]), 1.0))
    (1.0, 1.0)
    """

    active: Sequence[ScalarFunction | None] = (ACTIVE,)
    passive: Sequence[ScalarFunction | None] = (None,)
    tendon: Sequence[ScalarFunction | None] = (TENDON,)

    @classmethod
    def of(cls, muscles: Sequence[Muscle]) -> SchutteCurves:
        return cls(
            _of(muscles, "active_force_length_curve", ACTIVE),
            _of(muscles, "passive_force_length_curve", None),
            _of(muscles, "tendon_force_length_curve", TENDON),
        )

    def active_force_length(self, length: Expr) -> Expr:
        return ca.fmax(_each(self.active, length), 0)

    def passive_force_length(self, length: Expr) -> Expr:
        return _each(self.passive, length, lambda one: ca.exp(8 * (one - 1) - 4))

    def force_velocity(self, speed: Expr, activation: Expr) -> Expr:
        shorter, longer = ca.fmax(ca.fmin(speed, 0), -1), ca.fmax(speed, 0)
        concentric = (1 + shorter) / (1 - shorter / HILL)
        return choose(speed <= 0, concentric, (ECCENTRIC + LARGEST * longer) / (ECCENTRIC + longer))

    def fiber_speed(self, force: Expr, active: Expr, damping: Expr, activation: Expr) -> Expr:
        """Roots of the quadratic equations of the two hyperbolas with damping; damping alone beyond the largest speed
        of shortening."""
        weak, strong = ca.fmax(ca.fmin(force, active), -damping), ca.fmax(force, active)
        b = -(weak + HILL * (active + damping)) / damping
        shorter = (-b - ca.sqrt(b**2 - 4 * HILL * (weak - active) / damping)) / 2
        b = -(strong - LARGEST * active) / damping + ECCENTRIC
        longer = (-b + ca.sqrt(b**2 + 4 * ECCENTRIC * (strong - active) / damping)) / 2
        return choose(force < active, choose(force < -damping, force / damping, shorter), longer)

    def tendon_force(self, length: Expr) -> Expr:
        return choose(length < 1, 0 * length, _each(self.tendon, length - 1))


@dataclass(frozen=True, eq=False)
class RigidTendonCurves(MuscleCurves):
    """The splines of muscles whose tendon is always rigid: active, passive and speed, a function for every muscle.

    >>> curves = od.muscles.RigidTendonCurves()
    >>> float(curves.force_velocity(ca.DM([0.0]), 1.0)), round(float(curves.passive_force_length(ca.DM([1.5]))), 12)
    (1.0, 1.17)
    """

    active: Sequence[ScalarFunction | None] = (ACTIVE,)
    passive: Sequence[ScalarFunction | None] = (PASSIVE,)
    speed: Sequence[ScalarFunction | None] = (SPEED,)

    @classmethod
    def of(cls, muscles: Sequence[Muscle]) -> RigidTendonCurves:
        return cls(
            _of(muscles, "active_force_length_curve", ACTIVE),
            _of(muscles, "passive_force_length_curve", PASSIVE),
            _of(muscles, "force_velocity_curve", SPEED),
        )

    def active_force_length(self, length: Expr) -> Expr:
        return _each(self.active, length)

    def passive_force_length(self, length: Expr) -> Expr:
        return _each(self.passive, length)

    def force_velocity(self, speed: Expr, activation: Expr) -> Expr:
        return _each(self.speed, speed)

    def fiber_speed(self, force: Expr, active: Expr, damping: Expr, activation: Expr) -> Expr:
        raise NotImplementedError(_RIGID)

    def tendon_force(self, length: Expr) -> Expr:
        raise NotImplementedError(_RIGID)


_RIGID = "muscles of the class RigidTendonMuscle have no compliant tendon: take the curves of another family"
