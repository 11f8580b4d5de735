"""Costs that the user defines: integrals, rates, peaks, costs of the first and last state, soft path constraints."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..._base.checks import (
    all_positive,
    choice,
    function,
    given_name,
    not_negative,
    number,
    rows_and_bounds,
    scalar,
    truth,
)
from ..._base.extensible import Extensible, derive
from ..._base.types import Expr, repr_in_message
from ...mechanism import Model
from .instant import Instant
from .objectives import MAXIMIZED, Cost, LeastSquares, RateSquared, Weighed, own_name
from .path_constraints import PathConstraint
from .values.parameters import Parameter, number_of_weight


@dataclass(frozen=True)
class Integral(Cost):
    """A cost that the user defines: the integral of function(instant) over time.

    >>> power = ocp.Integral(lambda instant: ca.sumsqr(instant.tau * instant.qd), name="power")
    >>> round(turn(power, ocp.TorqueSquared(1e-3)).solve(progress=False).cost["power"], 2)
    3.64
    """

    function: Callable[[Instant], Expr]
    weight: float | Parameter = 1.0
    name: str = "integral"

    def __post_init__(self) -> None:
        _check_term(self)

    def integrand(self, instant: Instant) -> Expr:
        return scalar(self.function(instant), f"cost {self.name!r}")


@dataclass(frozen=True)
class ChannelPower(Cost):
    """sum of |x|^power of the entries of a channel, such as activations: with the power 10 their fatigue.

    channel: its name. power: at least 1; one that is not even is rounded below magnitudes of 0.001.

    >>> tired = ocp.Instant(rod, instant.q, instant.qd, channels={"activation": ca.DM([0.5, 0.1])})
    >>> round(float(ocp.ChannelPower("activation", 2).integrand(tired)), 12)
    0.26
    """

    channel: str
    power: float = 2.0
    weight: float | Parameter = 1.0
    name: str = own_name()

    def __post_init__(self) -> None:
        super().__post_init__()
        given_name(self.channel, "ChannelPower channel")
        if not 1 <= number(self.power, "ChannelPower power") < np.inf:
            raise ValueError(f"ChannelPower power must be at least 1 and finite, got {self.power}")

    @property
    def usual_name(self) -> str:
        return f"ChannelPower {self.channel}"

    def integrand(self, instant: Instant) -> Expr:
        x = instant[self.channel]
        if self.power % 2 == 0:
            return ca.sum1(x ** int(self.power))
        return ca.sum1((x**2 + CORNER**2) ** (self.power / 2) - CORNER**self.power)

    def residual(self, instant: Instant) -> Expr | None:
        x = instant[self.channel]
        return x ** int(self.power / 2) if self.power % 2 == 0 else None


@dataclass(frozen=True)
class ChannelRateSquared(LeastSquares):
    """sum of (dx/dt)^2 of the entries of a channel: a state, or a control with a rate, such as activations.

    channel: its name.

    >>> now = ocp.Instant(rod, instant.q, instant.qd, rates={"activation": ca.DM([3.0, -4.0])})
    >>> ocp.ChannelRateSquared("activation").integrand(now)
    DM(25)
    """

    channel: str
    weight: float | Parameter = 1.0
    name: str = own_name()

    def __post_init__(self) -> None:
        super().__post_init__()
        given_name(self.channel, "ChannelRateSquared channel")

    @property
    def usual_name(self) -> str:
        return f"ChannelRateSquared {self.channel}"

    def residual(self, instant: Instant) -> Expr:
        return instant.rates[self.channel]


CORNER = 1e-3
"""Value of a channel below which powers that are not even are rounded."""


@dataclass(frozen=True)
class Rate(RateSquared):
    """A cost of the rate of any quantity: the integral of sum of (d(function(instant))/dt / scale)^2 over a phase.

    function(instant) returns a number or a column: a torque, a contact force, the velocity of the mass center. scale: a
    number, or one per entry. The rates are difference quotients over the intervals, see
    `ocp_dyn.ocp.transcription.quantity_costs`.

    >>> speed = ocp.Rate(lambda instant: instant.q, name="speed")
    >>> round(turn(speed, ocp.TorqueSquared(1e-5)).solve(progress=False).cost["speed"], 2)  # 1 rad in 1 s, at least 1
    1.0
    """

    function: Callable[[Instant], Expr]
    weight: float | Parameter = 1.0
    scale: Any = 1.0
    name: str = "rate"

    def __post_init__(self) -> None:
        function(self.function, "Rate")
        not_negative(number_of_weight(self.weight, "Rate weight"), "Rate weight")
        all_positive(self.scale, "Rate scale")
        given_name(self.name, "Rate name")

    def quantity(self, instant: Instant) -> Expr:
        return self.function(instant)


@dataclass(frozen=True, eq=False)
class Peak(Weighed):
    """A cost of the largest magnitude of a quantity: weight * s, with |function(instant)| / scale <= s at all times.

    function(instant) returns a number or a column, such as the torques. s is one variable for all entries; with
    each=True there is one s per entry, and the cost is their sum. kind: "absolute"; or "positive", the largest value
    above zero. scale: typical size, a number or one per entry. The same Peak object in several phases is one peak over
    all of them.

    >>> weakest = turn(ocp.Peak(lambda instant: instant.tau)).solve(progress=False)
    >>> round(weakest.objective, 3)  # full torque forwards, then backwards: 4 N m
    4.0
    """

    function: Callable[[Instant], Expr]
    weight: float | Parameter = 1.0
    scale: Any = 1.0
    each: bool = False
    kind: str = "absolute"
    name: str = "peak"

    def __post_init__(self) -> None:
        function(self.function, "Peak")
        not_negative(number_of_weight(self.weight, "Peak weight"), "Peak weight")
        all_positive(self.scale, "Peak scale")
        truth(self.each, "Peak each")
        choice(self.kind, ("absolute", "positive"), "Peak kind")
        given_name(self.name, "Peak name")


class TerminalCost(Extensible):
    """Base class of costs of the first and the last state (Mayer terms); `Terminal` makes one of a function.

    >>> class Late(ocp.TerminalCost):
    ...     weight = 100.0
    ...     def value(self, start, end):
    ...         return (end.q - 1) ** 2 + end.qd**2
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> start = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd), 0, 0))
    >>> solution = ocp.Problem(wheel, [push], boundary=[start], terminal=[Late()]).solve(progress=False)
    >>> {name: round(value, 2) for name, value in solution.cost.items()}
    {'TorqueSquared': 9.1, 'Late': 1.36}
    """

    weight: float | Parameter = 1.0

    @property
    def name(self) -> str:
        """The name in reports: that of the class, unless the class gives another one."""
        return type(self).__name__

    @abstractmethod
    def value(self, start: Instant, end: Instant) -> Expr:
        """The cost, one number, of the first and the last instant."""


@dataclass(frozen=True)
class Terminal(TerminalCost):
    """A cost of the first and the last state (Mayer term) that the user defines: function(start, end).

    For `Problem(terminal=...)`. start, end: the first and the last `Instant`, with the values `time` and `step_length`.

    >>> late = ocp.Terminal(lambda start, end: (end.q - 1) ** 2 + end.qd**2, weight=100.0)
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> start = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd), 0, 0))
    >>> solution = ocp.Problem(wheel, [push], boundary=[start], terminal=[late]).solve(progress=False)
    >>> {name: round(value, 2) for name, value in solution.cost.items()}
    {'TorqueSquared': 9.1, 'terminal': 1.36}
    """

    function: Callable[[Instant, Instant], Expr]
    weight: float | Parameter = 1.0
    name: str = "terminal"

    def __post_init__(self) -> None:
        _check_term(self)

    def value(self, start: Instant, end: Instant) -> Expr:
        return self.function(start, end)


@dataclass(frozen=True)
class Soft(Cost):
    """A soft path constraint: it may be violated, at the cost of the integral of the squared violations of its rows.

    >>> slow = ocp.Soft(ocp.Path(lambda instant: instant.qd, -np.inf, 1.2), weight=1e3)
    >>> solution = turn(ocp.TorqueSquared(), slow).solve(progress=False)
    >>> round(float(solution.qd.max()), 2)  # 1.5 rad/s without the term
    1.23
    """

    constraint: PathConstraint
    weight: float | Parameter = 1.0
    name: str = own_name()

    def __post_init__(self) -> None:
        if not isinstance(self.constraint, PathConstraint):
            raise TypeError(
                f"Soft needs a path constraint, such as ocp.PowerLimit(200), got {repr_in_message(self.constraint)}"
                f"{derive(self.constraint, (PathConstraint,))}"
            )
        self.constraint._check_members("Soft")
        super().__post_init__()

    def check(self, model: Model, feet: Sequence[str]) -> None:
        self.constraint.check(model, feet)

    @property
    def usual_name(self) -> str:
        return f"Soft {self.constraint.name}"

    @property
    def needs_places(self) -> bool:
        return self.constraint.needs_places

    @property
    def needs_tau_rate(self) -> bool:
        return self.constraint.needs_tau_rate

    @property
    def needs_torque_bounds(self) -> bool:
        return self.constraint.needs_torque_bounds

    def integrand(self, instant: Instant) -> Expr:
        value, lower, upper = rows_and_bounds(self.constraint.rows(instant), self.name)
        cost = ca.SX(0)
        for bound, sign in ((lower, 1.0), (upper, -1.0)):
            limit = np.broadcast_to(np.asarray(bound, dtype=float).ravel(), (value.shape[0],))
            limited = [k for k in range(value.shape[0]) if np.isfinite(limit[k])]
            if limited:
                cost = cost + ca.sumsqr(ca.fmax(0, sign * (ca.DM(limit[limited]) - value[limited])))
        return cost


def _check_term(term: Integral | Terminal) -> None:
    """Checks a term that the user defines."""
    what = type(term).__name__
    function(term.function, what)
    not_negative(number_of_weight(term.weight, f"{what} weight"), f"{what} weight", MAXIMIZED)
    given_name(term.name, f"{what} name")
