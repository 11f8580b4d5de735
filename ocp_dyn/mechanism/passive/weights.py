"""Forces that hold up weight, as data of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..._base.checks import finite, label
from ..._base.types import Vector, finite_vector, repr_in_message
from .bushings import UPRIGHT, BodySpring, Placing


@dataclass(frozen=True)
class WeightSupport(BodySpring):
    """f = -mass g at a point of a body, g the gravity of the model: the weight of a mass that is held up, as a body in
    water or a balanced arm is. `gravcomp` of MuJoCo's files is the same.

    frame: name of a frame of the model; mass [kg]; point (x, y, z) [m] in the frame. It counts with
    `od.Loads(passive=True)`, and its energy is mass g' p.

    >>> held = rod.with_bushings([od.WeightSupport("tip", mass=2.0)])
    >>> od.passive_force(held, [0.1], [0.0]), od.spring_energy(held, [0.0])  # 2 * 9.81 * sin 0.1, at z = -1 m
    (DM(1.95873), DM(19.62))
    """

    frame: str
    mass: float
    point: Vector = (0.0, 0.0, 0.0)
    name: str = ""

    def __post_init__(self) -> None:
        label(self.frame, "WeightSupport frame")
        if not isinstance(self.name, str):
            raise TypeError(f"WeightSupport name must be a text, got {repr_in_message(self.name)}")
        object.__setattr__(self, "mass", finite(self.mass, "WeightSupport mass [kg]"))
        point = finite_vector(self.point, 3, "WeightSupport point [m]")
        object.__setattr__(self, "point", tuple(map(float, point)))

    @property
    def frames(self) -> tuple[str, ...]:
        """The frame that is held up."""
        return (self.frame,)

    def placed(self, place: Placing) -> WeightSupport:
        name, (_, point) = place(self.frame, (UPRIGHT[0], tuple(self.point)))
        return replace(self, frame=name, point=point)

    def times(self, factor: float) -> WeightSupport:
        return replace(self, mass=factor * self.mass)

    def scaled(self, length: float, mass: float, factors: Mapping[str, float]) -> WeightSupport:
        return replace(self, mass=mass * self.mass, point=tuple(length * x for x in self.point))
