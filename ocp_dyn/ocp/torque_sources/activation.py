"""Activation of torque sources: how fast muscles can switch on and off, without a state of their own.

Every dof has two opposed muscles that cannot push. One alone is active: its activation is a = |tau| / strength in the
direction of tau, between 0 and 1. It follows the excitation e of its muscle, 0 <= e <= 1, in first order:

    da/dt = (e - a) / T,    T = rise while a grows, T = fall while it decays.

An excitation exists if and only if -a / fall <= da/dt <= (1 - a) / rise (De Groote et al. 2009). When the torque turns,
the active muscle decays at most at the rate a / fall, and the opposed one begins to grow at most at the rate 1 / rise.
Together, for strengths s+ and s- in both directions and rise <= fall, the rate of the torque has an upper limit

    tau >= 0:  (s+ - tau) / rise,        tau <= 0:  s+ / rise - tau / fall,

which is the smaller one of both expressions everywhere, and a lower limit of the same form. So the set of possible
(tau, d(tau)/dt) is convex, and four linear inequalities describe it exactly:

    -s- <= tau + rise d(tau)/dt <= s+,    -s- <= (rise / fall) tau + rise d(tau)/dt <= s+.

The least excitations that a torque needs follow from the same limits. With p and n the torque in positive and negative
direction, w = max(0, d(tau)/dt - n / fall) - max(0, -d(tau)/dt - p / fall) is the part of the rate that no decay
explains, and E = tau + fall d(tau)/dt - (fall - rise) w is the excitation times the strength in its direction.

Sources: Thelen, Adjustment of muscle mechanics model parameters to simulate dynamic contractions in older adults,
J. Biomech. Eng. 125 (2003): rise 0.015 s, fall 0.050 s for young adults. De Groote et al., Evaluation of direct
collocation optimal control problem formulations for solving the muscle redundancy problem, Ann. Biomed. Eng. 44 (2016):
0.015 s and 0.060 s, the defaults here. De Groote et al., A physiology based inverse dynamic analysis of human gait:
potential and perspectives, Comput. Methods Biomech. Biomed. Eng. 12 (2009): the inequalities of one muscle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..._base.checks import positive
from ..._base.types import Expr, repr_in_message
from ...mechanism import Model
from ..statement.instant import Instant
from ..statement.objectives import LeastSquares, own_name
from ..statement.path_constraints import Bounded, PathConstraint
from ..statement.values.parameters import Parameter
from .strengths import (
    ROUNDED_PART,
    check_strength,
    driven,
    fraction,
    is_number,
    limited,
    strengths,
    strengths_at,
    varies,
)


@dataclass(frozen=True)
class Activation(PathConstraint):
    """Torques follow excitations between 0 and 1 in first order, so that they cannot jump: a path constraint.

    -s- <= tau + rise d(tau)/dt <= s+ and -s- <= (rise / fall) tau + rise d(tau)/dt <= s+, for the strengths s- and s+
    in negative and positive direction: a pair of opposed muscles, one of them active, that is switched on with the time
    constant `rise` and off with `fall` [s], rise <= fall [Thelen 2003; De Groote et al. 2009 and 2016; derived at the
    top of `ocp_dyn.ocp.torque_sources.activation`]. fall: 0.06 s; for young adults Thelen gives 0.05 s.

    strength [N m, N]: a number, one per entry of tau, or pairs (lower, upper) with lower < 0 < upper, one per entry of
    tau; None: the torque limits of the model. A `TorqueCapacity`, or a function of the instant that returns both
    magnitudes (nv), makes it depend on the state; the rate of the strength itself is then neglected. Dofs without
    limits in both directions have no rows. The problem needs torque="linear"; its torques are continuous from phase to
    phase, and the rows hold along whole intervals. At the start of a motion that is not periodic the activations are
    free.

    >>> strong = wheel.with_limits(effort=8.0)
    >>> free = ocp.Phase("turn", 20, (0.5, 2.0), objective=[ocp.Duration()], path=[ocp.Activation(rise=0.1, fall=0.2)])
    >>> slow = ocp.Problem(strong, [free], boundary=[rest], torque="linear").solve(progress=False)
    >>> round(slow.duration, 2)  # a torque that jumps needs 2 sqrt(I angle / torque) = 0.71 s
    0.74
    """

    strength: Any = None
    rise: float = 0.015
    fall: float = 0.060
    name: str = own_name()
    where = "interval"
    at_interval_ends = True
    needs_tau_rate = True

    def __post_init__(self) -> None:
        check_strength(self.strength, "Activation strength")
        check_time_constants(self.rise, self.fall, "Activation")

    @property
    def needs_torque_bounds(self) -> bool:
        """Whether the rows suffice only together with the bounds of the torques."""
        return self.strength is None

    def check(self, model: Model, feet: Sequence[str]) -> None:
        if varies(self.strength):
            return
        if not np.any(np.isfinite(np.add(*strengths(model, self.strength, "Activation strength")))):
            raise ValueError(
                "Activation: no torque of the model has a limit, so nothing would be constrained: give strength= in N "
                "m, or a model with_limits(effort=...)"
            )

    def rows(self, instant: Instant) -> Bounded:
        dofs, tau, rate = driven(instant), instant.tau, tau_rate(instant, "Activation")
        lower, upper = strengths_at(instant, self.strength, "Activation strength")
        drives = [c * tau + self.rise * rate for c in dict.fromkeys((1.0, self.rise / self.fall))]
        if self.strength is not None:  # else the limits of the model are bounds of the torques
            drives.append(tau)
        if varies(self.strength):
            opposed = [(sign, k) for sign in (1, -1) for k in dofs]
            left = [_part_left(sign * x[k], *(upper[k], lower[k])[::sign]) for x in drives for sign, k in opposed]
            return ca.vertcat(ca.SX(0, 1), *left), 0.0, np.inf
        dofs = [k for k in dofs if np.isfinite(lower[k] + upper[k]) and lower[k] + upper[k] > 0]
        low, high = lower[dofs], upper[dofs]
        size = np.maximum(low, high)
        rows = ca.vertcat(ca.SX(0, 1), *(x[dofs] / ca.DM(size) for x in drives))
        return rows, np.tile(-low / size, len(drives)), np.tile(high / size, len(drives))


@dataclass(frozen=True)
class ExcitationSquared(LeastSquares):
    """sum of e^2 [1]: the squared excitations that the torques and their rates need, as in `Activation`.

    e is at most 1 in magnitude if and only if `Activation` with the same arguments holds; it has the sign of the muscle
    that is excited. A torque that is held costs its activation squared. Corners of e, where the time constant and the
    muscle change, are rounded over 1 % of the strength.

    With rise < fall short pulses of excitation hold a mean torque at a lower cost than a steady excitation, so that
    torques ripple from interval to interval. rise = fall, or `TorqueRateSquared` beside this cost, keeps them smooth.

    >>> from dataclasses import replace
    >>> rising, falling = (replace(instant, tau_rate=ca.DM([rate])) for rate in (20.0, -20.0))  # of 3 N m [N m/s]
    >>> cost = ocp.ExcitationSquared(strength=10.0)
    >>> [round(float(cost.residual(x)), 2) for x in (rising, falling)]  # (3 + 0.015 20) / 10, (3 - 0.060 20) / 10
    [0.33, 0.18]
    """

    weight: float | Parameter = 1.0
    strength: Any = None
    rise: float = 0.015
    fall: float = 0.060
    name: str = own_name()
    needs_tau_rate = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_strength(self.strength, "ExcitationSquared strength")
        check_time_constants(self.rise, self.fall, "ExcitationSquared")

    def check(self, model: Model, feet: Sequence[str]) -> None:
        if not varies(self.strength):
            strengths(model, self.strength, "ExcitationSquared strength")

    def residual(self, instant: Instant) -> Expr:
        dofs, lower, upper = limited(instant, self.strength, "ExcitationSquared strength")
        rate = tau_rate(instant, "ExcitationSquared")[dofs]
        return excitation(instant.tau[dofs], rate, lower, upper, self.rise, self.fall)


def _part_left(drive: Expr, strength: Any, opposed: Any) -> Expr:
    """The part of a direction's strength that `drive` leaves, which must not be negative; no row where there is no
    limit of it, and where no direction has a strength, so that the torque is zero. Without a strength in this
    direction: the drive in the other one, as a part of its strength."""
    if is_number(strength, np.inf):
        return ca.SX(0, 1)
    if not is_number(strength, 0):
        return 1 - drive / strength
    return ca.SX(0, 1) if is_number(opposed, 0) or is_number(opposed, np.inf) else -drive / opposed


def excitation(tau: Expr, rate: Expr, lower: Expr, upper: Expr, rise: float, fall: float) -> Expr:
    """The least excitation of the two muscles of every dof, with the sign of its direction; see the top of this
    file."""
    width = ROUNDED_PART * 2 * lower * upper / (lower + upper)
    p, n = _positive_part(tau, width), _positive_part(-tau, width)
    grown = _positive_part(rate - n / fall, width / fall) - _positive_part(-rate - p / fall, width / fall)
    return fraction(tau + fall * rate - (fall - rise) * grown, lower, upper)


def tau_rate(instant: Instant, what: str) -> Expr:
    """The rate of the torques at an instant; ValueError if it has none."""
    if instant.tau_rate is None:
        raise ValueError(
            f'{what} needs the rate of the torques: give Problem(torque="linear"), or Instant(tau_rate=...)'
        )
    return instant.tau_rate


def check_time_constants(rise: Any, fall: Any, what: str) -> None:
    """ValueError unless 0 < rise <= fall."""
    if positive(rise, f"{what} rise [s]") > positive(fall, f"{what} fall [s]"):
        raise ValueError(
            f"{what}: muscles switch on faster than off: needs rise <= fall [s], got rise={repr_in_message(rise)} and "
            f"fall={repr_in_message(fall)}"
        )


def _positive_part(x: Expr, width: Expr) -> Expr:
    """max(0, x), rounded within `width` of zero."""
    return (x + ca.sqrt(x**2 + width**2)) / 2
