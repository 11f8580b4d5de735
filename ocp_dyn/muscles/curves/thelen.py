"""The curves of Thelen 2003: closed forms in pieces, whose slopes are continuous except where the tendon goes slack.

    f_l(l) = exp(-(l - 1)^2 / gamma)
    f_p(l) = (exp(k_pe (l - 1) / e0) - 1) / (exp(k_pe) - 1) for l > 1, else 0
    v = (1/4 + 3/4 a) (f - 1) / (1 + f / A_f) for f = f_v <= 1,
        (1/4 + 3/4 a) (f - 1) (F - 1) / ((2 + 2 / A_f) (F - f)) above
    f_T: an exponential up to a force of 0.33, then a line

with the largest force F of lengthening fibers; v(f) goes on as a line below f = 0 and above 0.95 F. Source: Thelen,
Adjustment of muscle mechanics model parameters to simulate dynamic contractions in older adults, J. Biomech. Eng. 125,
2003; the lines as in OpenSim 4.6.
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
from .family import MuscleCurves, choose, parameter

TOE_SHAPE, TOE_FORCE = 3.0, 0.33
"""Exponent of the toe of the tendon's curve, and the force at which it ends."""


@dataclass(frozen=True, eq=False)
class ThelenCurves(MuscleCurves):
    """The curves of Thelen (2003); formulas: `ocp_dyn.muscles.curves.thelen`.

    Each field is one number, or one per muscle. tendon_strain, passive_strain: at the maximum isometric force; gamma,
    k_pe: shapes of the active and the passive force; hill: A_f; largest: F; last: the part of F beyond which the curve
    is a line.

    >>> curves = od.muscles.ThelenCurves()
    >>> float(curves.force_velocity(ca.DM([-1.0]), ca.DM([1.0]))), round(float(curves.tendon_force(ca.DM([1.04]))), 12)
    (0.0, 1.0)
    """

    tendon_strain: Any = 0.04
    passive_strain: Any = 0.6
    gamma: Any = 0.45
    k_pe: Any = 5.0
    hill: Any = 0.25
    largest: Any = 1.4
    last: Any = 0.95

    @classmethod
    def of(cls, muscles: Sequence[Muscle]) -> ThelenCurves:
        names = {
            "FmaxTendonStrain": 0.04, "FmaxMuscleStrain": 0.6, "KshapeActive": 0.45, "KshapePassive": 5.0, "Af": 0.25,
            "Flen": 1.4, "fv_linear_extrap_threshold": 0.95,
        }  # fmt: skip
        return cls(*(parameter(muscles, name, default) for name, default in names.items()))

    def active_force_length(self, length: Expr) -> Expr:
        return ca.exp(-((length - 1) ** 2) / self.gamma)

    def passive_force_length(self, length: Expr) -> Expr:
        stretch = ca.fmax(length - 1, 0)
        return (ca.exp(self.k_pe * stretch / self.passive_strain) - 1) / (ca.exp(self.k_pe) - 1)

    def force_velocity(self, speed: Expr, activation: Expr) -> Expr:
        s, top, hill = speed / (0.25 + 0.75 * activation), self.largest, self.hill
        steep = 2 + 2 / hill
        end = self.last * top
        s_end = (end - 1) * (top - 1) / (steep * (top - end))
        shorter, longer = ca.fmax(ca.fmin(s, 0), -1), ca.fmax(ca.fmin(s, s_end), 0)
        concentric = (1 + shorter) / (1 - shorter / hill)
        eccentric = (top - 1 + steep * top * longer) / (top - 1 + steep * longer)
        below = (s + 1) / (1 + 1 / hill)
        above = end + (s - s_end) * steep * (top - end) ** 2 / (top - 1) ** 2
        return choose(s <= 0, choose(s < -1, below, concentric), choose(s > s_end, above, eccentric))

    def fiber_speed(self, force: Expr, active: Expr, damping: Expr, activation: Expr) -> Expr:
        """The formula of v(f); ValueError with damping, which the source does not have."""
        if isinstance(damping, ca.DM) and np.any(damping.full()):
            raise ValueError(
                "muscles with Thelen's curves have no fiber_damping in the explicit form: set it to zero, or give a "
                "fiber_rate (the implicit form)"
            )
        f, top, hill = force / active, self.largest, self.hill
        steep = 2 + 2 / hill
        end = self.last * top
        weak, strong = ca.fmax(ca.fmin(f, 1), 0), ca.fmax(ca.fmin(f, end), 1)
        concentric = (weak - 1) / (1 + weak / hill)
        eccentric = (strong - 1) * (top - 1) / (steep * (top - strong))
        below = -1 + f * (1 + 1 / hill)
        s_end = (end - 1) * (top - 1) / (steep * (top - end))
        above = s_end + (f - end) * (top - 1) ** 2 / (steep * (top - end) ** 2)
        s = choose(f <= 1, choose(f < 0, below, concentric), choose(f > end, above, eccentric))
        return s * (0.25 + 0.75 * activation)

    def tendon_force(self, length: Expr) -> Expr:
        x, whole = length - 1, math.exp(TOE_SHAPE)
        toe = self.tendon_strain * 99 * whole / (166 * whole - 67)
        stiff = (1 - TOE_FORCE) / (self.tendon_strain - toe)
        inside = ca.fmin(ca.fmax(x, 0), toe)
        curved = TOE_FORCE * (ca.exp(TOE_SHAPE * inside / toe) - 1) / (whole - 1)
        return curved + stiff * ca.fmax(x - toe, 0)
