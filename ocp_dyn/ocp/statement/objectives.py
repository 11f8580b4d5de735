"""Terms of a problem: their base classes, and quantities that several terms use.

A term is data with methods. A cost is `weight` times the integral of its integrand over time. If it is a sum of
squares, `residual` gives the vector that is squared, which Gauss-Newton methods use. A weight of zero switches a term
off; no weight is negative. A term that shall be large returns its negative.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np

from ..._base.checks import all_positive, divide_by_scale, function, not_negative, number, numbers, positive
from ..._base.extensible import Extensible, check_members
from ..._base.types import Expr, repr_in_message
from ...dynamics.momentum import center_of_mass, center_of_mass_velocity, zero_moment_point
from ...mechanism import Model
from .instant import Instant
from .values.parameters import Parameter, number_in, number_of_weight

MAXIMIZED = "; to make a quantity large, return its negative"
"""The remedy for a negative weight."""

READ_IN = {
    "continues": "RateCost",
    "ends": "PathConstraint",
    "at_interval_ends": "PathConstraint",
    "slack_size": "SlackCost",
    "slack_rows": "SlackCost",
    "reference_size": "TrackingCost",
}
"""Members that one base class of terms has: in a class without this base class nobody would read them."""


class TermName:
    """The attribute `name` of a term: the name that it was given, else that of its class, or another usual one."""

    def __get__(self, term: Term | None, kind: type[Term]) -> str:
        return "" if term is None else str(vars(term).get("name") or term.usual_name)

    def __set__(self, term: Term, name: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{type(term).__name__}: name must be a text, got {repr_in_message(name)}")
        vars(term)["name"] = name


def own_name() -> Any:
    """The field `name` of a term, given by keyword; `TermName` reads it."""
    return field(default="", kw_only=True, repr=False)


def own_by_speed() -> Any:
    """The field `by_speed` of a cost, given by keyword; `Weighed` tells what it means."""
    return field(default=None, kw_only=True, repr=False)


def name_terms(package: dict[str, Any]) -> None:
    """Gives the terms of a package their attribute `name`; package: `globals()` of it, at the end of its
    `__init__.py`. Before, dataclasses have made the empty default of the field the attribute of the class."""
    for kind in package.values():
        if isinstance(kind, type) and issubclass(kind, Term) and vars(kind).get("name") == "":
            kind.name = TermName()  # type: ignore[method-assign, assignment]


class Term(Extensible):
    """Base class of costs and path constraints: members that all of them have.

    needs_places: the term is about the places of the feet. needs_tau_rate: it uses `instant.tau_rate`, so the problem
    must have torque="linear". needs_torque_bounds: it holds only together with the bounds of the torques.
    needs_component: the component that the term reads, which the problem must have; None if it reads none. of_dofs:
    names of attributes that are one number, or one per entry of qd.
    """

    of_dofs: ClassVar[tuple[str, ...]] = ()

    def number_of(self, key: str) -> Any:
        """The number, or numbers, of an attribute."""
        return getattr(self, key)

    @property
    def name(self) -> str:
        """The name in reports: that of the class, unless the class or the user gives another one."""
        return self.usual_name

    @property
    def usual_name(self) -> str:
        """The name of a term to which the user gives none."""
        return type(self).__name__

    @property
    def needs_places(self) -> bool:
        return False

    @property
    def needs_tau_rate(self) -> bool:
        return False

    @property
    def needs_torque_bounds(self) -> bool:
        return False

    @property
    def needs_component(self) -> Any:
        return None

    def check(self, model: Model, feet: Sequence[str]) -> None:
        """Raises KeyError for names, ValueError for sizes that do not fit the model; feet: names of the footholds.

        It is called when the problem is made.
        """
        for key in self.of_dofs:
            per_dof(self.number_of(key), model.nv, f"{type(self).__name__} {key}")

    def _check_members(self, here: str) -> None:
        """Raises TypeError or ValueError for members that are misspelled, missing, of a wrong kind, or without
        effect."""
        what = f"{here}: {type(self).__name__}"
        check_members(self, what)
        bases = [base.__name__ for base in type(self).__mro__]
        for name, base in READ_IN.items():
            if hasattr(self, name) and base not in bases:
                raise TypeError(
                    f"{what}: {name} has no effect on such a term: leave it out, or derive the class from ocp.{base}"
                )


class Weighed(Term):
    """A term with a weight, a number or a `Parameter`, which must be finite and not negative. of_one: names of
    attributes that are one number. changing: names of attributes that may be a `Parameter` too.

    by_speed: (reference [m/s], exponent): in a period with a speed the weight is multiplied by
    max(|speed| / reference, 0.1)^exponent, which stays finite for steps in place; None: it is not. A speed that
    `solve(values=...)` changes changes it, too.
    """

    weight: float | Parameter
    by_speed: tuple[float, float] | None = None
    of_one: ClassVar[tuple[str, ...]] = ()
    changing: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        what = type(self).__name__
        weight = number_of_weight(self.weight, f"{what} weight")
        if not 0 <= number(weight, f"{what} weight") < np.inf:
            raise ValueError(f"{what} weight must be finite and not negative, got {repr_in_message(weight)}")
        for key, parameter in self.parameters.items():
            if parameter.free:
                raise ValueError(
                    f"{what} {key}: Parameter {repr_in_message(parameter.name)} is free between its bounds, and the "
                    "solver would choose the bound that costs least: give it a value without bounds; ocp.fit finds "
                    "parameters from measured motions"
                )
        for key in self.of_one:
            positive(self.number_of(key), f"{what} {key}")
        if self.by_speed is not None:
            here = f"{what} by_speed, (reference [m/s], exponent)"
            pair = numbers(self.by_speed, here)
            if pair.size != 2 or not pair[0] > 0 or not np.all(np.isfinite(pair)):
                raise ValueError(
                    f"{here}: give two finite numbers, the first one positive, got {repr_in_message(self.by_speed)}"
                )
        self._check_scale()

    def _check_scale(self) -> None:
        for key in self.of_dofs:
            if key == "scale":
                all_positive(self.number_of(key), f"{type(self).__name__} {key}")

    def number_of(self, key: str) -> Any:
        """The number, or numbers, of an attribute: of a parameter, its value."""
        value = getattr(self, key)
        return number_in(value) if key in self.changing else value

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The attributes other than the weight that are parameters, by their names."""
        found = {key: getattr(self, key) for key in self.changing}
        return {key: value for key, value in found.items() if isinstance(value, Parameter)}

    def with_values(self, values: Mapping[str, Any]) -> Self:
        """The term with values, by the names of the parameters, in the place of its parameters."""
        parameters = self.parameters
        if not parameters:
            return self
        found = copy.copy(self)
        for key, parameter in parameters.items():
            object.__setattr__(found, key, values[parameter.name])
        return found

    def _check_members(self, here: str) -> None:
        super()._check_members(here)
        what = f"{here}: weight of {type(self).__name__}"
        not_negative(number_of_weight(self.weight, what), what, MAXIMIZED)


class Cost(Weighed):
    """Base class of costs: weight times the integral of the integrand [unit of the cost per second] over the motion.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Speed(ocp.Cost):
    ...     weight: float = 1.0
    ...     def integrand(self, instant):
    ...         return ca.sumsqr(instant.qd)
    >>> round(turn(Speed(), ocp.TorqueSquared(1e-5)).solve(progress=False).cost["Speed"], 2)  # 1 rad in 1 s: at least 1
    1.0
    """

    @abstractmethod
    def integrand(self, instant: Instant) -> Expr:
        """The integrand at an instant: one number."""

    def residual(self, instant: Instant) -> Expr | None:
        """The vector of which the integrand is the sum of squares; None if it is no such sum."""
        return None


class LeastSquares(Cost):
    """Base class of costs that are the sum of squares of their residual.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Speed(ocp.LeastSquares):
    ...     weight: float = 1.0
    ...     def residual(self, instant):
    ...         return instant.qd
    >>> Speed().integrand(instant)
    DM(1)
    """

    @abstractmethod
    def residual(self, instant: Instant) -> Expr:
        """The vector that is squared."""

    def integrand(self, instant: Instant) -> Expr:
        return ca.sumsqr(self.residual(instant))


class SlackCost(Cost):
    """Base class of costs of non-negative variables of their own, `instant.slacks[self]`, which rows constrain.

    scale: typical size of the variables.

    >>> isinstance(ocp.SlackWork(), ocp.SlackCost)
    True
    """

    scale: Any

    @abstractmethod
    def slack_size(self, model: Model) -> int:
        """Number of the variables, per interval."""

    @abstractmethod
    def slack_rows(self, instant: Instant) -> Expr:
        """Rows that must not be negative."""


class TrackingCost(LeastSquares):
    """Base class of costs of the distance to reference values, `instant.references[self]`.

    reference: a function of the fraction s of the phase that returns `reference_size(model)` numbers.

    >>> isinstance(ocp.TrackForces(["foot"], ocp.recording([0, 1], np.zeros((2, 3)))), ocp.TrackingCost)
    True
    """

    reference: Callable[[float], Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = ": ocp.recording(times, values) makes a function of s from samples"
        function(self.reference, f"{type(self).__name__} reference", remedy)

    @abstractmethod
    def reference_size(self, model: Model) -> int:
        """Number of the reference values."""


class RateCost(Weighed):
    """Base class of costs of the rate of a quantity of the instant, such as its torques, within a phase.

    continues: the quantity is the torques, and the cost also counts their change from a phase to the next one. See
    `ocp_dyn.ocp.transcription.quantity_costs`.

    >>> isinstance(ocp.Rate(lambda instant: instant.tau), ocp.RateCost)
    True
    """

    @property
    def continues(self) -> bool:
        return False

    @abstractmethod
    def quantity(self, instant: Instant) -> Expr:
        """The quantity at an instant."""

    @abstractmethod
    def rate_integrand(self, rate: Expr) -> Expr:
        """The integrand: one number."""

    def rate_residual(self, rate: Expr) -> Expr | None:
        """The vector of which the integrand is the sum of squares; None if it is no such sum."""
        return None


class RateSquared(RateCost):
    """A cost of the squared rate of a quantity over its scale: one number, or one per entry."""

    scale: Any = 1.0

    def rate_residual(self, rate: Expr) -> Expr:
        return divide_by_scale(rate, self.scale, f"{type(self).__name__} scale")

    def rate_integrand(self, rate: Expr) -> Expr:
        return ca.sumsqr(self.rate_residual(rate))


def capture_point(instant: Instant) -> Expr:
    """c + c' / omega (2) [m], omega^2 = g / h with the height h above the feet: the point at which the inverted
    pendulum comes to rest."""
    c = center_of_mass(instant.model, instant.q)
    height = c[2] - middle_of_feet(instant)[2]
    speed = center_of_mass_velocity(instant.model, instant.q, instant.qd)
    g = float(np.linalg.norm(instant.model.gravity))
    return c[:2] + speed[:2] * ca.sqrt(height / g)


def base_size(model: Model) -> int:
    """Number of degrees of freedom of a floating root joint; 0 if the root joint does not float."""
    return model.joints[1].nv if model.joint_names[0] in model.floating_joints else 0


def per_dof(value: Any, size: int, what: str) -> Any:
    """One number, or one per degree of freedom, as an array of `size` numbers; a column of symbols for symbols."""
    if isinstance(value, ca.SX):
        return value if value.numel() == size else ca.repmat(value, size)
    found = numbers(value, what)
    if found.size not in (1, size):
        raise ValueError(f"{what}: give one number, or nv = {size} (one per dof), got {found.size}")
    return np.array(np.broadcast_to(found, (size,)))


def per_direction(value: Any, size: int, what: str) -> tuple[Any, Any]:
    """Magnitudes (size each) for negative and for positive torques.

    value: one number, or one per dof, for both directions; or pairs (lower, upper) with lower < 0 < upper, one per dof
    (size x 2); the pair of a single dof may stand alone. Symbols serve both directions.
    """
    if isinstance(value, ca.SX):
        return (per_dof(value, size, what),) * 2
    found = numbers(value, what)
    shape = np.shape(value.full() if isinstance(value, ca.DM) else value)
    if found.size == 2 * size and (size == 1 or shape == (size, 2)):
        lower, upper = found.reshape(size, 2).T
        if np.any(lower >= 0) or np.any(upper <= 0):
            raise ValueError(f"{what}: a pair (lower, upper) needs lower < 0 < upper, got {repr_in_message(value)}")
        return -lower, upper.copy()
    if found.size not in (1, size):
        raise ValueError(
            f"{what}: give one number, or nv = {size} (one per dof), got {found.size}; directions that differ need "
            f"{size} pairs (lower, upper)"
        )
    if np.any(found <= 0):
        raise ValueError(
            f"{what}: numbers for both directions must be positive, got {repr_in_message(value)}; directions that "
            f"differ need {size} pairs (lower, upper), one per dof"
        )
    both = np.array(np.broadcast_to(found, (size,)))
    return both, both


def check_magnitudes(value: Any, what: str, infinite: bool = False) -> None:
    """Raises unless the numbers are positive, or rows of pairs (lower, upper), for `per_direction`."""
    found = numbers(value, what)
    paired = found.size and found.size % 2 == 0 and np.all(found[::2] < 0) and np.all(found[1::2] > 0)
    all_positive(np.abs(found) if paired else value, what, infinite)


def middle_of_feet(instant: Instant) -> Expr:
    """Mean (3) [m] of the places on which feet stand."""
    places = [foothold.origin(place) for foothold, place in instant.places.items()]
    return sum(places, start=ca.SX(3, 1)) / len(places)


def zero_moment_gap(instant: Instant) -> Expr:
    """Way (2) [m], along the ground, from the middle of the feet to the zero-moment point at their height."""
    middle = middle_of_feet(instant)
    ground = ca.vertcat(ca.SX(2, 1), middle[2])
    return (zero_moment_point(instant.model, instant.q, instant.qd, instant.qdd, point=ground) - middle)[:2]


def capture_gap(instant: Instant) -> Expr:
    """Way (2) [m], along the ground, from the middle of the feet to the capture point."""
    return capture_point(instant) - middle_of_feet(instant)[:2]
