"""The curves of De Groote, Kinney, Rao and Fregly: smooth, each in closed form, the default.

    f_l(l) = sum of b1 exp(-((x - b2) / (b3 + b4 x))^2 / 2), x = 1 + (l - 1) / width_scale
    f_p(l) = (exp(4 (l - 1) / e0) - c) / (exp(4) - c), c = exp(4 (0.2 - 1) / e0)
    f_v(v) = d1 asinh(d2 v + d3) + d4
    f_T(l) = (exp(k (l - 1)) - 1) / 5, k = log(6) / tendon_strain

Source: De Groote, Kinney, Rao & Fregly, Evaluation of direct collocation optimal control problem formulations for
solving the muscle redundancy problem, Ann. Biomed. Eng. 44, 2016, with the constants of OpenSim 4.6, by which f_l(1) =
1, f_p(0.2) = 0, f_v(0) = 1, f_v(-1) = 0, f_T(1) = 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..._base.types import Expr
from ...mechanism.annotations import Muscle
from .family import MuscleCurves, parameter

BELLS = (
    (0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465),
    (0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188),
    (0.1, 1.0, 0.5 * 0.5**0.5, 0.0),
)
"""b1 to b4 of the active force over the length."""
D1, D2, D3, D4 = -0.3211346127989808, -8.149, -0.374, 0.8825327733249912
STIFFNESS, SHORTEST = 4.0, 0.2
"""Shape of the passive force, and the fiber length at which it vanishes."""
C1 = 0.2
"""Force of a tendon that is pushed together, and the scale of its exponential."""

STEPS = 7
"""Newton steps for the speed of damped fibers: the error is below 1e-14 (`tests/muscles/test_curves.py`)."""

PASSIVE_STRAINS = {
    "Millard2012Equilibrium:FiberForceLengthCurve.strain_at_one_norm_force": 0.7,
    "Thelen2003:FmaxMuscleStrain": 0.6,
    "DeGrooteFregly2016:passive_fiber_strain_at_one_norm_force": 0.6,
}
TENDON_STRAINS = {
    "Millard2012Equilibrium:TendonForceLengthCurve.strain_at_one_norm_force": 0.049,
    "Thelen2003:FmaxTendonStrain": 0.04,
    "DeGrooteFregly2016:tendon_strain_at_one_norm_force": 0.049,
}


@dataclass(frozen=True, eq=False)
class DeGrooteFreglyCurves(MuscleCurves):
    """The smooth curves of De Groote et al. (2016); formulas: `ocp_dyn.muscles.curves.de_groote_fregly`.

    width_scale: of the active force over the length, at least 1. passive_strain: of the fibers, and tendon_strain: of
    the tendon, at which each bears the maximum isometric force. passive: 1, or 0 without passive force. Each is one
    number, or one per muscle; expressions are allowed.

    >>> curves = od.muscles.DeGrooteFreglyCurves()
    >>> [round(float(f), 12) for f in (curves.active_force_length(ca.DM(1.0)), curves.passive_force_length(ca.DM(1.6)))]
    [1.0, 1.0]
    """

    width_scale: Any = 1.0
    passive_strain: Any = 0.6
    tendon_strain: Any = 0.049
    passive: Any = 1.0

    @classmethod
    def of(cls, muscles: Sequence[Muscle]) -> DeGrooteFreglyCurves:
        return cls(
            parameter(muscles, "active_force_width_scale", 1.0),
            parameter(muscles, PASSIVE_STRAINS, 0.6),
            parameter(muscles, TENDON_STRAINS, 0.049),
            1 - parameter(muscles, "ignore_passive_fiber_force", 0.0),
        )

    def active_force_length(self, length: Expr) -> Expr:
        x = (length - 1) / _of(self.width_scale) + 1
        total: Expr = 0.0
        for b1, b2, b3, b4 in BELLS:
            total = total + b1 * ca.exp(-0.5 * ((x - b2) / (b3 + b4 * x)) ** 2)
        return total

    def passive_force_length(self, length: Expr) -> Expr:
        strain = _of(self.passive_strain)
        zero = ca.exp(STIFFNESS * (SHORTEST - 1) / strain)
        rise = ca.exp(STIFFNESS * (length - 1) / strain) - zero
        return _of(self.passive) * rise / (math.exp(STIFFNESS) - zero)

    def force_velocity(self, speed: Expr, activation: Expr) -> Expr:
        return D1 * ca.asinh(D2 * speed + D3) + D4

    def fiber_speed(self, force: Expr, active: Expr, damping: Expr, activation: Expr) -> Expr:
        """With s = asinh(d2 v + d3): A s + B sinh(s) = c. Newton's method falls to the solution from beyond it, as both
        terms grow and are convex for s > 0; without damping s = c / A."""
        B = damping / -D2
        if isinstance(damping, ca.DM) and not np.any(damping.full()):
            return (ca.sinh((force / active - D4) / D1) - D3) / D2
        A, c = -D1 * active, D4 * active - force - D3 / D2 * damping
        size = ca.fabs(c)
        s = ca.fmin(size / (A + B), ca.asinh(size / (B + 1e-300)))
        s = ca.if_else(c < 0, -s, s)
        for _ in range(STEPS):
            s = s - (A * s + B * ca.sinh(s) - c) / (A + B * ca.cosh(s))
        return (ca.sinh(s) - D3) / D2

    def tendon_force(self, length: Expr) -> Expr:
        return C1 * (ca.exp(math.log(1 / C1 + 1) / _of(self.tendon_strain) * (length - 1)) - 1)

    def tendon_length(self, force: Expr) -> Expr:
        return ca.log(force / C1 + 1) * _of(self.tendon_strain) / math.log(1 / C1 + 1) + 1

    def tendon_stiffness(self, force: Expr) -> Expr:
        return math.log(1 / C1 + 1) / _of(self.tendon_strain) * (force + C1)


def _of(value: Any) -> Expr:
    """A constant of the curves as it enters formulas."""
    return value if hasattr(value, "numel") else ca.DM(np.array(value, dtype=float).reshape(-1, 1))
