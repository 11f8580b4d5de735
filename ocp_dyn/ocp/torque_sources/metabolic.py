"""Metabolic rate of torque sources, after Minetti and Alexander."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..._base.checks import all_positive, positive
from ..._base.types import Expr, names_in_message
from ...mechanism import Model
from ..statement.instant import Instant
from ..statement.objectives import Cost, own_name, per_dof
from ..statement.values.parameters import Parameter
from .strengths import check_strength, limited, magnitude, strengths, varies
from .tendons import Tendon, check_tendons, muscle_speed

LENGTHENING_FORCE = 1.8
"""Largest force of a lengthening muscle over its isometric force [Minetti and Alexander 1997]."""

ROUNDED_SPEED = 0.02
"""Part of the largest speed over which the change from shortening to lengthening is rounded."""

SMALLEST_FORCE = 0.02
"""Width of the rounding that keeps forces near and above the largest speed positive."""

LARGEST_SPEED = 3.0
"""Speed, over the largest one, at which the rate per activation stops changing: beyond all muscles."""


@dataclass(frozen=True)
class MetabolicRate(Cost):
    """Metabolic energy of the muscles: sum of a strength speed Phi(v) [J] over both directions of every dof.

    v = muscle speed / speed in the direction of the muscle, positive where it shortens; a is the activation.
    Phi(v) = (0.054 + 0.506 v + 2.46 v^2) / (1 - 1.13 v + 12.8 v^2 - 1.64 v^3), heat and work of an active muscle, was
    fitted to measurements and is a model of torques in its original form [Minetti and Alexander, A theory of metabolic
    costs for bipedal gaits, J. Theor. Biol. 186 (1997)]. A muscle that holds a torque costs 0.054 speed |tau|.

    The muscle in the direction of tau works alone: a = |tau| / (strength f(v)), with Hill's curve f = (1 - v) / (1 + v
    / hill) for v >= 0, and a hyperbola of the same slope at v = 0 that rises to 1.8 for lengthening. The original curve
    of lengthening is steeper at v = 0; here the slope continues, so that second derivatives exist everywhere. f is
    rounded near v = 1, where it vanishes: faster muscles cost much, but not endlessly much.

    strength [N m, N]: isometric, a number, one per entry of tau, or pairs (lower, upper) with lower < 0 < upper, one
    per entry of tau; None: the torque limits of the model. speed [rad/s, m/s]: largest speed of the muscles, a number
    or one per entry of qd; None: the model's limits of velocity. hill: force over isometric force that curves f, 0.25
    for human muscle. capacity: a `TorqueCapacity`, or a function of the instant that returns the magnitudes (nv) of the
    torques at full activation in negative and positive direction; it replaces strength f(v) in a. tendons: see
    `JointWork`.

    smoothing: part of the strength below which |tau| is rounded; the rate is zero without torque. Small values make
    problems harder to solve: 0.05 to 0.2 suit a whole body.

    >>> still = ocp.Instant(rod, instant.q, ca.DM([0.0]), tau=instant.tau)
    >>> cost = ocp.MetabolicRate(strength=10.0, speed=20.0)
    >>> round(float(cost.integrand(still)), 1)  # 0.054 times 20 rad/s times 3 N m
    3.2
    """

    weight: float | Parameter = 1.0
    strength: Any = None
    speed: Any = None
    hill: float = 0.25
    capacity: Any = None
    tendons: Sequence[Tendon] = ()
    smoothing: float = 0.05
    name: str = own_name()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_strength(self.strength, "MetabolicRate strength")
        if varies(self.strength):
            raise TypeError("MetabolicRate strength must be numbers: a function of the instant goes to capacity=")
        if self.capacity is not None and not varies(self.capacity):
            raise TypeError("MetabolicRate capacity must be a function of the instant: numbers go to strength=")
        if self.speed is not None:
            all_positive(self.speed, "MetabolicRate speed [rad/s]")
        positive(self.hill, "MetabolicRate hill")
        positive(self.smoothing, "MetabolicRate smoothing")
        object.__setattr__(self, "tendons", check_tendons(self.tendons, "MetabolicRate"))

    @property
    def needs_tau_rate(self) -> bool:
        """Whether the cost uses the rate of the torques."""
        return bool(self.tendons)

    def check(self, model: Model, feet: Sequence[str]) -> None:
        strengths(model, self.strength, "MetabolicRate strength")
        if self.speed is not None:
            per_dof(self.speed, model.nv, "MetabolicRate speed")
        for tendon in self.tendons:
            tendon.index(model)

    def integrand(self, instant: Instant) -> Expr:
        return ca.sum1(self._rates(instant, self.smoothing))

    def rates(self, instant: Instant) -> Expr:
        """Metabolic rates (nv) [W], without rounding of |tau|; zero for a floating or planar root and for dofs without
        a motor."""
        return self._rates(instant, 0.0)

    def _rates(self, instant: Instant, smoothing: float) -> Expr:
        dofs, lower, upper = limited(instant, self.strength, "MetabolicRate strength")
        if self.capacity is not None:
            able, able_back, able_ahead = limited(instant, self.capacity, "MetabolicRate capacity")
            both = [k for k in dofs if k in able]
            lower, upper = (x[[dofs.index(k) for k in both]] for x in (lower, upper))
            able_back, able_ahead = (x[[able.index(k) for k in both]] for x in (able_back, able_ahead))
            dofs = both
        largest = self._speeds(instant.model, dofs)
        v = muscle_speed(instant, self.tendons)[dofs] / largest
        if self.capacity is None:
            able_back, able_ahead = lower * force(-v, self.hill), upper * force(v, self.hill)
        backward = largest * lower * heat(-v) / able_back  # rates per torque
        forward = largest * upper * heat(v) / able_ahead
        tau = instant.tau[dofs]
        size = magnitude(tau, smoothing * 2 * lower * upper / (lower + upper)) if smoothing else ca.fabs(tau)
        found = ca.SX(instant.model.nv, 1)
        found[dofs] = size * (forward + backward) / 2 + tau * (forward - backward) / 2
        return found

    def _speeds(self, model: Model, dofs: list[int]) -> ca.DM:
        given = per_dof(model.dofs.qd_max if self.speed is None else self.speed, model.nv, "MetabolicRate speed")[dofs]
        endless = [model.qd_names[k] for k, x in zip(dofs, given, strict=True) if not 0 < x < np.inf]
        if endless:
            raise ValueError(
                f"MetabolicRate: the model has no largest speed of {names_in_message(endless)}: give speed= in rad/s, "
                "or a model with_limits(velocity=...)"
            )
        return ca.DM(given)


def heat(v: Expr) -> Expr:
    """Phi(v) [1]: metabolic power of a fully active muscle over isometric torque times largest speed; v > 0 shortens.

    The fit holds for |v| <= 1; further out v is bent to stay below `LARGEST_SPEED`, where the denominator is positive.
    """
    v = v * (1 + (v / LARGEST_SPEED) ** 8) ** (-1 / 8)
    return (0.054 + 0.506 * v + 2.46 * v**2) / (1 - 1.13 * v + 12.8 * v**2 - 1.64 * v**3)


def force(v: Expr, hill: float) -> Expr:
    """f(v) [1]: force over isometric force, Hill's curve for v > 0 (shortening), rising to 1.8 for v < 0; positive."""
    root = ca.sqrt(v**2 + ROUNDED_SPEED**2)
    shorter, longer = (root + v) / 2, (root - v) / 2
    slope, rise = 1 + 1 / hill, LENGTHENING_FORCE - 1
    f = (1 - shorter) / (1 + shorter / hill) + rise * slope * longer / (rise + slope * longer)
    return (f + ca.sqrt(f**2 + SMALLEST_FORCE**2)) / 2
