"""Base class of the families of curves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.extensible import Extensible
from ..._base.types import Expr
from ...mechanism.annotations import Muscle


class MuscleCurves(Extensible):
    """The curves of n muscles: functions of columns (n), numbers or expressions; see `ocp_dyn.muscles.curves`.

    A family of your own derives from this class, as a frozen dataclass.

    >>> curves = od.muscles.DeGrooteFreglyCurves(tendon_strain=[0.049])
    >>> round(float(curves.force_velocity(ca.DM([0.0]), ca.DM([0.5]))), 12), float(curves.tendon_force(ca.DM([1.049])))
    (1.0, 1.0)
    """

    @abstractmethod
    def active_force_length(self, length: Expr) -> Expr:
        """Force of fully active fibers that stand still."""

    @abstractmethod
    def passive_force_length(self, length: Expr) -> Expr:
        """Force of fibers without activation."""

    @abstractmethod
    def force_velocity(self, speed: Expr, activation: Expr) -> Expr:
        """Factor of the active force at a speed; 1 at rest, 0 at the largest speed of shortening."""

    @abstractmethod
    def fiber_speed(self, force: Expr, active: Expr, damping: Expr, activation: Expr) -> Expr:
        """The speed v at which active force_velocity(v) + damping v = force; active: activation times the force at the
        length."""

    @abstractmethod
    def tendon_force(self, length: Expr) -> Expr:
        """Force of the tendon."""

    def tendon_length(self, force: Expr) -> Expr:
        """The length at which the tendon bears a force; NotImplementedError where a slack tendon makes it
        ambiguous."""
        raise NotImplementedError(
            f"{type(self).__name__}: a slack tendon has a force of zero at many lengths, so that its force cannot be "
            "the state: take the fiber length as the state, or the curves of De Groote and Fregly"
        )

    def tendon_stiffness(self, force: Expr) -> Expr:
        """Slope of the tendon's force over its length, at a force; only together with `tendon_length`."""
        raise NotImplementedError(f"{type(self).__name__} has no tendon_stiffness")

    def least_length(self, size: int) -> Expr | None:
        """The fiber lengths (n) below which fibers are held and bear no force, 0 where there is none; None if no muscle
        has any."""
        return None

    @classmethod
    def of(cls, muscles: Sequence[Muscle]) -> MuscleCurves:
        """The curves with the numbers of these muscles, which are data of a model."""
        raise NotImplementedError(f"{cls.__name__} are not made from data of muscles")


def parameter(muscles: Sequence[Muscle], names: Mapping[str, float] | str, default: float = 0.0) -> DM:
    """A number of every muscle (n): the first of these names among its parameters, or a default.

    names: one name, or names of several classes, each with the default of its class; the default of the class of a
    muscle is that whose key `CLASS:NAME` begins with its kind.
    """
    return DM(np.array([_parameter(muscle, names, default) for muscle in muscles]))


def _parameter(muscle: Muscle, names: Mapping[str, float] | str, default: float) -> float:
    given = dict(muscle.parameters)
    if isinstance(names, str):
        return float(given.get(names, default))
    for key, value in names.items():
        kind, _, name = key.partition(":")
        if muscle.kind.startswith(kind):
            return float(given.get(name, value))
    return default


def choose(condition: Expr, yes: Expr, no: Expr) -> Expr:
    """yes where the condition holds, else no, entry by entry; both must be finite."""
    return ca.if_else(condition, yes, no)


def column(value: Any, size: int) -> Expr:
    """A number, or one per muscle, as a column."""
    found = value if hasattr(value, "numel") else DM(np.array(value, dtype=float).reshape(-1, 1))
    return ca.repmat(found, size) if found.numel() == 1 and size > 1 else found
