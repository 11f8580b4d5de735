"""Costs of muscles of a model: metabolic energy, and activations near measured ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..._base.checks import listed_names, name_among
from ..._base.types import Expr, repr_in_message
from ...mechanism import Model
from ...muscles import Bhargava2004, MuscleEnergetics
from ..statement.instant import Instant
from ..statement.objectives import Cost, TrackingCost, own_name
from ..statement.values.parameters import Parameter
from .model_muscles import Muscles

ROUNDED = Bhargava2004(steepness=10.0)
"""Energetics, if no other are given."""


@dataclass(frozen=True)
class MuscleMetabolicRate(Cost):
    """Metabolic energy of the muscles [J], the integral of their rates; `RestingRate` adds the basal rate.

    power: of every rate before they are added, 1 or 2; squares spare the muscles that consume most, and are no energy
    but W^2 s. muscles: the component of the problem. energetics: a model of `od.muscles`, rounded by default.
    Activations stand for the excitations where there are none. `weight=1/m` with `per_distance=True` makes it a cost
    per mass and distance [J/(kg m)].

    >>> still = ocp.Instant(elbow, ca.DM([0.5]), ca.DM([0.0]), channels={"activation": ca.DM([0.2, 0.2])})
    >>> cost = ocp.MuscleMetabolicRate(ocp.Muscles(activation="limits"), od.muscles.Umberger2010())
    >>> round(float(cost.integrand(still)), 1)
    45.7
    """

    muscles: Muscles
    energetics: MuscleEnergetics = ROUNDED
    weight: float | Parameter = 1.0
    power: int = 1
    name: str = own_name()

    def __post_init__(self) -> None:
        super().__post_init__()
        for value, kind in ((self.muscles, Muscles), (self.energetics, MuscleEnergetics)):
            if not isinstance(value, kind):
                raise TypeError(f"MuscleMetabolicRate needs a {kind.__name__}, got {repr_in_message(value)}")
        if self.power not in (1, 2):
            raise ValueError(f"MuscleMetabolicRate power must be 1 or 2, got {repr_in_message(self.power)}")

    @property
    def needs_component(self) -> Muscles:
        return self.muscles

    def integrand(self, instant: Instant) -> Expr:
        return ca.sum1(self.rates(instant) ** self.power)

    def residual(self, instant: Instant) -> Expr | None:
        return self.rates(instant) if self.power == 2 else None

    def rates(self, instant: Instant) -> Expr:
        """Metabolic rates of the muscles (n) [W]."""
        part = self.muscles
        excitation = instant["activation" if part.activation == "limits" else "excitation"]
        muscles = part.hill_at(instant)
        return self.energetics.rates(muscles, excitation, instant["activation"], part.contraction(instant))


@dataclass(frozen=True, eq=False)
class TrackActivations(TrackingCost):
    """sum of (a - a_ref)^2 over chosen muscles: activations near measured ones, such as envelopes of EMG.

    muscles: the component of the problem. names: of the k muscles that are measured; reference: s -> their activations
    (k), such as `ocp.recording(times, values)` of envelopes over their largest value.

    >>> part = ocp.Muscles()
    >>> emg = ocp.TrackActivations(part, ["biceps"], ocp.recording([0, 1], [[0.1], [0.3]]))
    >>> now = ocp.Instant(elbow, ca.DM([0.5]), ca.DM([0.0]), channels={"activation": ca.DM([0.4, 0.2])})
    >>> now.references[emg] = ca.DM(emg.reference(0.5))
    >>> round(float(emg.integrand(now)), 12)
    0.04
    """

    muscles: Muscles
    names: Sequence[str]
    reference: Callable[[float], Any]
    weight: float = 1.0
    name: str = own_name()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.muscles, Muscles):
            raise TypeError(f"TrackActivations needs a Muscles, got {repr_in_message(self.muscles)}")
        object.__setattr__(self, "names", listed_names(self.names, "TrackActivations names"))

    @property
    def needs_component(self) -> Muscles:
        return self.muscles

    def check(self, model: Model, feet: Sequence[str]) -> None:
        for name in self.names:
            name_among(name, self.muscles.hill(model).names, "TrackActivations", "muscle")
        super().check(model, feet)

    def reference_size(self, model: Model) -> int:
        return len(self.names)

    def residual(self, instant: Instant) -> Expr:
        known = self.muscles.hill(instant.model).names
        return instant["activation"][[known.index(name) for name in self.names]] - instant.references[self]
