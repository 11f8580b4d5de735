"""Motions of coordinates that a file prescribes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..._base.types import repr_in_message
from ...joints import ScalarFunction
from .kinds import named


@dataclass(frozen=True)
class PrescribedMotion:
    """The motion of a coordinate as a function of time [s], as data: no equation of motion uses it.

    name: that of the coordinate, an entry of `model.q_names`. `motion.function.at(t)` is its value [rad or m].

    >>> od.PrescribedMotion("joint1", od.SineFunction(amplitude=0.3, omega=2.0)).function.at(0.0)
    0.0
    """

    name: str
    function: ScalarFunction

    def __post_init__(self) -> None:
        named(self.name, "PrescribedMotion name")
        if not isinstance(self.function, ScalarFunction):
            raise TypeError(
                f"PrescribedMotion {self.name}: function must be one such as od.SimmSpline, got "
                f"{repr_in_message(self.function)}"
            )

    def scaled(self, coordinates: Mapping[str, float]) -> PrescribedMotion:
        """The motion of a mechanism of another size; coordinates: factors of those that are lengths, 1 for angles."""
        return replace(self, function=self.function.times(coordinates[self.name]))
