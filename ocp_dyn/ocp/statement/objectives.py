"""Objectives: their protocols, the base classes of the library's cost terms, and quantities that several terms use.

Each objective is data with one method. If a cost is a sum of squares, the method is `residual`, the vector that is
squared, which Gauss-Newton methods use; `integrand` follows from it. A cost term is `weight` times the integral over
time. A weight of zero switches a term off. Only terms that the user defines may have a negative weight, which maximizes
the term.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

import casadi as ca
import numpy as np

from ..._arguments import all_positive, number, numbers, positive, scaled
from ..._types import Array, Expr, shown
from ...dynamics.momentum import center_of_mass, center_of_mass_velocity
from ...mechanism import Model
from .instant import Instant


@runtime_checkable
class Objective(Protocol):
    """An integrand [unit of the cost per second]; its integral over the motion is a cost term.

    An objective may also have: `residual(instant)`, if the integrand is its sum of squares; `slack_size(model)` and
    `slack_rows(instant)`, for non-negative variables `instant.slacks[self]` and rows that constrain them;
    `reference_size(model)` and `reference(s)`, for reference values `instant.references[self]` at the fraction s of the
    phase; `check(model, feet)`, see `Weighed.check`.
    """

    @property
    def weight(self) -> float: ...

    def integrand(self, instant: Instant) -> Expr: ...


@runtime_checkable
class RateObjective(Protocol):
    """An integrand of the rate of a quantity of the instant, such as its torques, within a phase.

    It may also have `rate_residual(rate)`, if the integrand is its sum of squares, and `continues = True` if the
    quantity is the torques and the cost also counts their change from a phase to the next one. See
    `ocp_dyn.ocp.transcription.rate_costs`.
    """

    @property
    def weight(self) -> float: ...

    def quantity(self, instant: Instant) -> Expr: ...

    def rate_integrand(self, rate: Expr) -> Expr: ...


class Weighed:
    """Base class of the library's cost terms: checks their weight and scale.

    `of_dofs` names the attributes that are one number or one per entry of qd: their size is checked against the model.
    """

    of_dofs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        what = type(self).__name__
        if not 0 <= number(getattr(self, "weight", 1.0), f"{what} weight") < np.inf:
            raise ValueError(
                f"{what} weight must be finite and not negative, got {shown(getattr(self, 'weight', 1.0))}"
            )
        self._check_scale()

    def _check_scale(self) -> None:
        check = all_positive if "scale" in self.of_dofs else positive
        check(getattr(self, "scale", 1.0), f"{type(self).__name__} scale")

    def check(self, model: Model, feet: Sequence[str]) -> None:
        """Raises KeyError for names, ValueError for sizes that do not fit the model; feet: names of the footholds."""
        for key in self.of_dofs:
            per_dof(getattr(self, key), model.nv, f"{type(self).__name__} {key}")


class LeastSquares(Weighed):
    """An objective that is the sum of squares of its residual."""

    def residual(self, instant: Instant) -> Expr:
        raise NotImplementedError

    def integrand(self, instant: Instant) -> Expr:
        return ca.sumsqr(self.residual(instant))


class RateSquared(Weighed):
    """A cost of the squared rate of a quantity over its scale: one number, or one per entry."""

    def quantity(self, instant: Instant) -> Expr:
        raise NotImplementedError

    def rate_residual(self, rate: Expr) -> Expr:
        return scaled(rate, getattr(self, "scale", 1.0), f"{type(self).__name__} scale")

    def rate_integrand(self, rate: Expr) -> Expr:
        return ca.sumsqr(self.rate_residual(rate))


def objective_name(objective: Any) -> str:
    """Name of a cost term in reports."""
    return str(getattr(objective, "name", type(objective).__name__))


def capture_point(instant: Instant) -> Expr:
    """c + c' / omega (2) [m], omega^2 = g / c_z: the point at which the inverted pendulum comes to rest."""
    c = center_of_mass(instant.model, instant.q)
    speed = center_of_mass_velocity(instant.model, instant.q, instant.qd)
    g = float(np.linalg.norm(instant.model.gravity))
    return c[:2] + speed[:2] * ca.sqrt(c[2] / g)


def base_size(model: Model) -> int:
    """Number of degrees of freedom of a floating root joint; 0 if the root joint does not float."""
    return model.joints[1].nv if model.joint_names[0] in model.floating_joints else 0


def per_dof(value: Any, size: int, what: str) -> Array:
    """One number, or one per degree of freedom, as an array of `size` numbers."""
    found = numbers(value, what)
    if found.size not in (1, size):
        raise ValueError(f"{what}: give one number, or nv = {size} (one per dof), got {found.size}")
    return np.array(np.broadcast_to(found, (size,)))


def per_direction(value: Any, size: int, what: str) -> tuple[Array, Array]:
    """Magnitudes (size each) for negative and for positive torques.

    value: one number, or one per dof, for both directions; or pairs (lower, upper) with lower < 0 < upper, one per dof
    (size x 2); the pair of a single dof may stand alone.
    """
    found = numbers(value, what)
    shape = np.shape(value.full() if isinstance(value, ca.DM) else value)
    if found.size == 2 * size and (size == 1 or shape == (size, 2)):
        lower, upper = found.reshape(size, 2).T
        if np.any(lower >= 0) or np.any(upper <= 0):
            raise ValueError(f"{what}: a pair (lower, upper) needs lower < 0 < upper, got {shown(value)}")
        return -lower, upper.copy()
    if found.size not in (1, size):
        raise ValueError(
            f"{what}: give one number, or nv = {size} (one per dof), got {found.size}; directions that differ need "
            f"{size} pairs (lower, upper)"
        )
    if np.any(found <= 0):
        raise ValueError(
            f"{what}: numbers for both directions must be positive, got {shown(value)}; directions that differ need "
            f"{size} pairs (lower, upper), one per dof"
        )
    both = np.array(np.broadcast_to(found, (size,)))
    return both, both


def check_magnitudes(value: Any, what: str, infinite: bool = False) -> None:
    """Raises unless the numbers are positive, or rows of pairs (lower, upper), for `per_direction`."""
    found = numbers(value, what)
    paired = found.size and found.size % 2 == 0 and np.all(found[::2] < 0) and np.all(found[1::2] > 0)
    all_positive(np.abs(found) if paired else value, what, infinite)


def middle_of_feet(instant: Instant) -> Expr:
    """Mean (x, y) [m] of the places on which feet stand."""
    places = [foothold.origin(place)[:2] for foothold, place in instant.places.items()]
    return sum(places, start=ca.SX(2, 1)) / len(places)
