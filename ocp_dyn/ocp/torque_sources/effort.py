"""Costs of effort: torques as fractions of the strengths, and the metabolic energy of positive and negative work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..._base.checks import is_pair, not_negative, number, positive
from ..._base.types import Expr, repr_in_message
from ...mechanism import Model
from ..statement.instant import Instant
from ..statement.objectives import Cost, LeastSquares, SlackCost, base_size, own_name, per_dof
from ..statement.values.parameters import Parameter
from .strengths import check_strength, fraction, limited, strengths, varies
from .tendons import Tendon, check_tendons, muscle_power

CORNER = 1e-3
"""Activation below which odd powers are rounded."""


@dataclass(frozen=True)
class TorquePower(LeastSquares):
    """sum of (|tau| / strength)^power [1]: activations to a power, which shares the work among muscles.

    power >= 2. With the power 2 it is activation squared; with 3 it stands for the endurance of muscles [Crowninshield
    and Brand, A physiologically based criterion of muscle force prediction in locomotion, J. Biomech. 14 (1981)]; high
    powers spare the most loaded joint. Powers that are not even, or that are a `Parameter`, are rounded below
    activations of 0.001.

    strength [N m, N]: a number, one per entry of tau, or pairs (lower, upper) with lower < 0 < upper, one per entry of
    tau; None: the torque limits of the model. A `Parameter` serves both directions. A `TorqueCapacity`, or a function
    of the instant that returns both magnitudes (nv), makes it depend on angle and speed. The change from one direction
    to the other is rounded over 1 % of the strength.

    >>> ocp.TorquePower(3, strength=[(-10.0, 6.0)]).integrand(instant)  # 3 N m of at most 6 N m: 0.5^3
    DM(0.124977)
    """

    power: Any = 3.0
    weight: float | Parameter = 1.0
    strength: Any = None
    name: str = own_name()
    changing = ("power", "strength")

    def __post_init__(self) -> None:
        super().__post_init__()
        power = number(self.number_of("power"), "TorquePower power")
        if not 2 <= power < np.inf:
            raise ValueError(f"TorquePower power must be at least 2 and finite, so that it is smooth, got {power}")
        check_strength(self.number_of("strength"), "TorquePower strength")

    def check(self, model: Model, feet: Sequence[str]) -> None:
        if "strength" in self.parameters:
            per_dof(self.number_of("strength"), model.nv, "TorquePower strength")
        elif not varies(self.strength):
            strengths(model, self.strength, "TorquePower strength")

    def residual(self, instant: Instant) -> Expr:
        dofs, lower, upper = limited(instant, self.strength, "TorquePower strength")
        a = fraction(instant.tau[dofs], lower, upper)
        if self._even:
            return a ** int(self.power / 2)
        return (a**2 + CORNER**2) ** (self.power / 4)

    def integrand(self, instant: Instant) -> Expr:
        offset = 0.0 if self._even else CORNER**self.power
        residual = self.residual(instant)
        return ca.sumsqr(residual) - offset * residual.numel()

    @property
    def _even(self) -> bool:
        """Whether the power is an even number, which needs no rounding; that of a parameter may become any."""
        return not isinstance(self.power, ca.SX) and self.power % 2 == 0


@dataclass(frozen=True, eq=False)
class JointWork(SlackCost):
    """Metabolic energy of the work of the joints: sum of P+ / efficiency+ + P- / |efficiency-| [J], P = tau qd.

    P+ and P- are the positive and the negative power as magnitudes. efficiency: of positive work, above zero, and of
    negative work, below zero; the defaults are those of human muscle [Margaria, Positive and negative work performances
    and their efficiencies in human locomotion, Int. Z. angew. Physiol. 25 (1968)]: work done costs four times its
    amount, work taken up 0.83 times. -inf makes negative work free.

    tendons: `Tendon` objects; in their joints the power is that of the muscle, without what the tendon stores and
    returns. They need torque="linear". smoothing [W]: rounds the change of sign; the cost is zero without power, never
    negative, and exact where |P| is much larger. 10 W suits people, whose joints reach 100 W and more; smaller values
    make problems harder to solve. None: exact, by one non-negative variable per dof and interval, as in `SlackWork`; it
    bounds the power at all stages of its interval.

    `weight=1/(m g)` with `per_distance=True` makes it a cost of transport; `RestingRate` adds the rest.

    >>> exact = turn(ocp.TorqueSquared(1e-2), ocp.JointWork(smoothing=None)).solve(progress=False)
    >>> done, taken = exact.mechanical_work()  # [J]
    >>> round(exact.cost["JointWork"] - (done / 0.25 - taken / 1.2), 4)
    0.0
    """

    efficiency: Any = (0.25, -1.2)
    weight: float | Parameter = 1.0
    smoothing: float | None = 10.0
    tendons: Sequence[Tendon] = ()
    name: str = own_name()
    scale = 100.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_pair(self.efficiency):
            raise ValueError(
                "JointWork efficiency must be a pair (of positive work, of negative work), got "
                f"{repr_in_message(self.efficiency)}"
            )
        up, down = (number(x, "JointWork efficiency") for x in self.efficiency)
        if not (0 < up < np.inf and down < 0):
            raise ValueError(
                "JointWork efficiency must be positive for positive work and negative for negative work, such as "
                f"(0.25, -1.2), got {repr_in_message(self.efficiency)}"
            )
        if self.smoothing is not None:
            positive(self.smoothing, "JointWork smoothing [W] (None: exact)")
        object.__setattr__(self, "tendons", check_tendons(self.tendons, "JointWork"))

    @property
    def needs_tau_rate(self) -> bool:
        """Whether the cost uses the rate of the torques."""
        return bool(self.tendons)

    def check(self, model: Model, feet: Sequence[str]) -> None:
        for tendon in self.tendons:
            tendon.index(model)

    def slack_size(self, model: Model) -> int:
        return model.nv - base_size(model) if self.smoothing is None else 0

    def slack_rows(self, instant: Instant) -> Expr:
        """Rows that must not be negative."""
        if self.smoothing is not None:
            return ca.SX(0, 1)
        power, s, (up, down) = self.powers(instant), instant.slacks[self], self._prices
        return ca.vertcat(s - up * power, *([s + down * power] if down else []))

    def integrand(self, instant: Instant) -> Expr:
        if self.smoothing is None:
            return ca.sum1(instant.slacks[self])
        power, (up, down) = self.powers(instant), self._prices
        root = ca.sqrt(power**2 + self.smoothing**2)
        price = (up + down) / 2 + (up - down) / 2 * power / root
        return ca.sum1(price * power**2 / root)

    def rates(self, instant: Instant) -> Expr:
        """Metabolic rates (nv) [W], without rounding; zero for a floating or planar root."""
        power, (up, down) = self.powers(instant), self._prices
        return ca.vertcat(ca.DM(base_size(instant.model), 1), up * ca.fmax(power, 0) + down * ca.fmax(-power, 0))

    def powers(self, instant: Instant) -> Expr:
        """Mechanical powers [W] of the muscles of all dofs but those of a floating or planar root."""
        return muscle_power(instant, self.tendons)[base_size(instant.model) :]

    @property
    def _prices(self) -> tuple[float, float]:
        """Metabolic energy per positive work and per magnitude of negative work."""
        return 1 / float(self.efficiency[0]), -1 / float(self.efficiency[1])


@dataclass(frozen=True)
class RestingRate(Cost):
    """Metabolic energy at rest, watts_per_kg times the mass of the model [J]: the longer a motion takes, the more.

    1.2 W/kg is the rate of standing people [Umberger, Gerritsen and Martin, A model of human muscle energy expenditure,
    Comput. Methods Biomech. Biomed. Eng. 6 (2003), p. 105]. With `per_distance=True` and a cost that grows with the
    speed, such as `JointWork`, there is a speed of least cost per distance.

    >>> solution = turn(ocp.TorqueSquared(1e-3), ocp.RestingRate()).solve(progress=False)
    >>> round(solution.cost["RestingRate"], 3)  # 1 kg, 1 s
    1.2
    """

    watts_per_kg: float = 1.2
    weight: float | Parameter = 1.0
    name: str = own_name()

    def __post_init__(self) -> None:
        not_negative(self.watts_per_kg, "RestingRate watts_per_kg")
        super().__post_init__()

    def integrand(self, instant: Instant) -> Expr:
        return ca.SX(self.watts_per_kg * instant.model.mass)
