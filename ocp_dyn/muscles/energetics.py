"""Metabolic rates of muscles, from excitation, activation, speed and force of their fibers.

Every model is data with a method `rates`: rates [W] of the muscles, positive where energy is used. A rate is a heat
rate, of activation and maintenance and of shortening or lengthening, and the work rate -F v of the active force. Rates
of a whole body add a basal rate, `body_rate`.

Sharp changes of the published formulas, at a speed of zero, at the optimal length, at limits of rates, are exact with
steepness=None, or rounded: each becomes left + (right - left) (1 + tanh(b x)) / 2, with b = steepness and the condition
x in its own unit (m/s, W, W/kg, or none), as in Falisse et al., J. R. Soc. Interface 16, 2019. Rounded ones have
derivatives of all orders and suit optimization.

| class | source |
|---|---|
| `Bhargava2004` | Bhargava, Pandy & Anderson, J. Biomech. 37, 2004 |
| `Umberger2003` | Umberger, Gerritsen & Martin, Comput. Methods Biomech. Biomed. Eng. 6, 2003 |
| `Umberger2010` | Umberger, J. R. Soc. Interface 7, 2010: less heat of lengthening, no negative work |
| `Uchida2016` | Uchida, Hicks, Dembia & Delp, PLoS ONE 11, 2016: orderly recruitment, no rate below zero |
| `Margaria1968` | Margaria, Int. Z. angew. Physiol. 25, 1968: efficiencies of work |
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from .._base.checks import all_positive, finite, not_negative, positive
from .._base.extensible import Extensible
from .._base.types import Expr
from ..mechanism import Model
from .activation import columns
from .contraction import MuscleForces
from .hill_muscles import HillMuscles

SPECIFIC_TENSION, DENSITY = 0.25e6, 1059.7
"""Maximum isometric force per cross-section of a muscle [N/m^2], and density [kg/m^3]."""

BASAL_RATE = 1.2
"""Basal rate of a body [W/kg]."""

MAINTENANCE = ((0.0, 0.5), (0.5, 0.5), (1.0, 1.0), (1.5, 0.0))
"""Points of the factor of Bhargava's maintenance heat over the fiber length, which is linear between them."""


class MuscleEnergetics(Extensible):
    """A model of the metabolic rates of muscles; a model of your own derives from this class.

    >>> class Heat(od.muscles.MuscleEnergetics):
    ...     def rates(self, muscles, excitation, activation, forces):
    ...         return 100 * od.muscles.muscle_mass(muscles) * activation
    >>> Heat().rates(hill, None, ca.DM([0.5, 0.1]), None).full().round(1).ravel()
    array([23.7,  4.2])
    """

    @abstractmethod
    def rates(self, muscles: HillMuscles, excitation: Expr, activation: Expr, forces: MuscleForces) -> Expr:
        """Metabolic rates (n) [W] of muscles with these excitations and activations (n), without a basal rate."""


def muscle_mass(muscles: HillMuscles, specific_tension: float = SPECIFIC_TENSION, density: float = DENSITY) -> Expr:
    """Masses of the muscles (n) [kg], density F0 l0 / specific_tension.

    >>> od.muscles.muscle_mass(hill).full().round(3).ravel()  # of 800 N and 0.14 m, and of 1000 N and 0.1 m
    array([0.475, 0.424])
    """
    return (density / specific_tension) * muscles.max_isometric_force * muscles.optimal_fiber_length


def body_rate(model: Model, rates: Expr, basal: float = BASAL_RATE) -> Expr:
    """The metabolic rate [W] of a body with these rates of its muscles: their sum, and basal [W/kg] times its mass.

    >>> round(float(od.muscles.body_rate(elbow, ca.DM([20.0, 5.0]))), 9)  # 25 W and 1.2 W/kg of 1.5 kg
    26.8
    """
    total: Expr = ca.sum1(rates)
    return basal * model.mass + total


@dataclass(frozen=True)
class Bhargava2004(MuscleEnergetics):
    """Activation, maintenance, shortening and work [Bhargava, Pandy and Anderson 2004]; at least 1 W/kg of heat.

    slow_twitch: the part of slow fibers, one number or one per muscle. force_dependent: shortening heat that depends on
    the isometric force and exists for lengthening too. negative_work: whether work taken up lowers the rate. steepness:
    of rounded changes; None: exact. The decay of the activation heat is left out, as in OpenSim 4.6.

    >>> found = od.muscles.rigid_tendon(hill, path_length, ca.DM([-0.1, 0.1]), ca.DM([0.5, 0.1]))
    >>> od.muscles.Bhargava2004().rates(hill, ca.DM([0.5, 0.1]), ca.DM([0.5, 0.1]), found).full().round(1).ravel()
    array([77.3,  0. ])
    """

    slow_twitch: Any = 0.5
    force_dependent: bool = False
    negative_work: bool = True
    steepness: float | None = None

    def __post_init__(self) -> None:
        _check(self.slow_twitch, self.steepness, type(self).__name__)

    def rates(self, muscles: HillMuscles, excitation: Expr, activation: Expr, forces: MuscleForces) -> Expr:
        e, a = columns(muscles.size, excitation=excitation, activation=activation)
        mass, v, b = muscle_mass(muscles), forces.fiber_speed, self.steepness
        slow, fast = _recruited(e, self.slow_twitch)
        length = forces.fiber_length / muscles.optimal_fiber_length
        kept = mass * (40 * slow + 133 * fast) + mass * _maintenance(length) * (74 * slow + 111 * fast)
        total = forces.active_force + forces.passive_force
        if self.force_dependent:
            isometric = a * forces.active_multiplier * muscles.max_isometric_force
            price = _branch(v, 0.16 * isometric + 0.18 * total, 0.157 * total, b)
        else:
            price = _branch(v, 0.25 * total, 0 * total, b)
        work = -forces.active_force * v
        if not self.negative_work:
            work = _branch(v, work, 0 * work, b)
        sum_ = kept - price * v + work
        heat = kept - price * v - _branch(-sum_, 0 * sum_, sum_, b)
        return _branch(mass - heat, heat, mass, b) + work


@dataclass(frozen=True)
class _Umberger(MuscleEnergetics):
    """Common part of the models after Umberger; rates per mass inside."""

    slow_twitch: Any = 0.5
    aerobic: float = 1.5
    steepness: float | None = None

    def __post_init__(self) -> None:
        _check(self.slow_twitch, self.steepness, type(self).__name__)
        positive(self.aerobic, f"{type(self).__name__} aerobic")

    def _heat_of_lengthening(self) -> float:
        """Over the heat of shortening of slow fibers."""
        return 4.0

    def _orderly(self) -> bool:
        """Whether slow fibers are recruited first, and rates are not negative."""
        return False

    def _negative_work(self) -> bool:
        return True

    def rates(self, muscles: HillMuscles, excitation: Expr, activation: Expr, forces: MuscleForces) -> Expr:
        e, a = columns(muscles.size, excitation=excitation, activation=activation)
        mass, v, b, S = muscle_mass(muscles), forces.fiber_speed, self.steepness, self.aerobic
        A = _branch(e - a, (e + a) / 2, e, b)
        r: Expr = self.slow_twitch if isinstance(self.slow_twitch, float) else ca.DM(np.array(self.slow_twitch))
        if self._orderly():
            slow, fast = _recruited(e, self.slow_twitch)
            r = (slow + 1e-15) / (slow + fast + 1e-15)  # 1 without excitation
        length = forces.fiber_length / muscles.optimal_fiber_length
        by_length = forces.active_multiplier
        basic = 128 * (1 - r) + 25
        maintained = S * A**0.6 * _branch(length - 1, basic, basic * (0.4 + 0.6 * by_length), b)
        s = v / muscles.optimal_fiber_length
        slow_price, fast_price = 250 / muscles.max_contraction_velocity, 153 / muscles.max_contraction_velocity
        limited = _branch(-slow_price * s - 100, -slow_price * s, 0 * s + 100, b)
        shorter = S * A**2 * (limited * r - fast_price * s * (1 - r))
        longer = S * A * self._heat_of_lengthening() * slow_price * s
        moved = _branch(s, shorter, longer, b)
        moved = _branch(length - 1, moved, moved * by_length, b)
        work = -forces.active_force * v / mass
        if not self._negative_work():
            work = _branch(s, work, 0 * work, b)
        heat = maintained + moved
        if self._orderly():
            sum_ = heat + work
            heat = heat - _branch(-sum_, 0 * sum_, sum_, b)
        return mass * (_branch(1 - heat, heat, 0 * heat + 1, b) + work)


@dataclass(frozen=True)
class Umberger2003(_Umberger):
    """Activation, maintenance, shortening and lengthening [Umberger, Gerritsen and Martin 2003].

    slow_twitch: the part of slow fibers, one number or one per muscle. aerobic: 1.5, or 1 for anaerobic efforts.
    steepness: of rounded changes; None: exact. Negative work lowers the rate; the heat rate is at least 1 W/kg.

    >>> found = od.muscles.rigid_tendon(hill, path_length, ca.DM([-0.1, 0.1]), ca.DM([0.5, 0.1]))
    >>> od.muscles.Umberger2003().rates(hill, ca.DM([0.5, 0.1]), ca.DM([0.5, 0.1]), found).full().round(1).ravel()
    array([77. ,  8.7])
    """


@dataclass(frozen=True)
class Umberger2010(_Umberger):
    """`Umberger2003` with 0.3 instead of 4 in the heat of lengthening, and without negative work [Umberger 2010].

    >>> found = od.muscles.rigid_tendon(hill, path_length, ca.DM([-0.1, 0.1]), ca.DM([0.5, 0.1]))
    >>> od.muscles.Umberger2010().rates(hill, ca.DM([0.5, 0.1]), ca.DM([0.5, 0.1]), found).full().round(1).ravel()
    array([77. , 14.7])
    """

    def _heat_of_lengthening(self) -> float:
        return 0.3

    def _negative_work(self) -> bool:
        return False


@dataclass(frozen=True)
class Uchida2016(_Umberger):
    """`Umberger2003` with orderly recruitment, slow fibers first, and rates that are not negative [Uchida et al. 2016].

    Heat of shortening is raised until heat and work together are not below zero; then heat is at least 1 W/kg.

    >>> found = od.muscles.rigid_tendon(hill, path_length, ca.DM([-0.1, 0.1]), ca.DM([0.5, 0.1]))
    >>> od.muscles.Uchida2016().rates(hill, ca.DM([0.5, 0.1]), ca.DM([0.5, 0.1]), found).full().round(1).ravel()
    array([64.8,  0. ])
    """

    def _orderly(self) -> bool:
        return True


@dataclass(frozen=True)
class Margaria1968(MuscleEnergetics):
    """Work at fixed efficiencies [Margaria 1968]: 4 times positive work, 0.83 times the magnitude of negative work.

    positive, negative: efficiencies. The work is that of the active force. steepness [1/W]: of the rounded change at
    zero power; None: exact.

    >>> found = od.muscles.rigid_tendon(hill, path_length, ca.DM([-0.1, 0.1]), ca.DM([0.5, 0.1]))
    >>> rates = od.muscles.Margaria1968().rates(hill, ca.DM([0.5, 0.1]), ca.DM([0.5, 0.1]), found)
    >>> bool(ca.norm_inf(rates + ca.vertcat(4, -1 / 1.2) * found.active_force * found.fiber_speed) < 1e-12)
    True
    """

    positive: float = 0.25
    negative: float = 1.2
    steepness: float | None = None

    def __post_init__(self) -> None:
        positive(self.positive, "Margaria1968 positive")
        positive(self.negative, "Margaria1968 negative")
        _check(0.5, self.steepness, "Margaria1968")

    def rates(self, muscles: HillMuscles, excitation: Expr, activation: Expr, forces: MuscleForces) -> Expr:
        power = -forces.active_force * forces.fiber_speed
        return _branch(power, -power / self.negative, power / self.positive, self.steepness)


def _recruited(e: Expr, slow_twitch: Any) -> tuple[Expr, Expr]:
    """Excitations of slow and of fast fibers, times their parts of the muscle."""
    r = ca.DM(np.array(slow_twitch, dtype=float).reshape(-1, 1))
    return r * ca.sin(np.pi / 2 * e), (1 - r) * (1 - ca.cos(np.pi / 2 * e))


def _maintenance(length: Expr) -> Expr:
    """The factor of Bhargava's maintenance heat."""
    total: Expr = MAINTENANCE[0][1] + 0 * length
    for (x0, y0), (x1, y1) in pairwise(MAINTENANCE):
        total = total + (y1 - y0) * ca.fmin(ca.fmax((length - x0) / (x1 - x0), 0), 1)
    return total


def _branch(x: Expr, left: Expr, right: Expr, steepness: float | None) -> Expr:
    """left where x <= 0, right above; rounded if steepness is given."""
    if steepness is None:
        return ca.if_else(x > 0, right, left)
    return left + (right - left) * (0.5 + 0.5 * ca.tanh(steepness * x))


def _check(slow_twitch: Any, steepness: Any, kind: str) -> None:
    parts = np.array(slow_twitch, dtype=float).ravel()
    for part in parts.tolist():
        if not_negative(finite(part, f"{kind} slow_twitch"), f"{kind} slow_twitch") > 1:
            raise ValueError(f"{kind} slow_twitch must be a part between 0 and 1, got {part:g}")
    if steepness is not None:
        all_positive(steepness, f"{kind} steepness")
