"""Springs along lines through points of bodies, or along sums of coordinates: tendons with forces of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._base.checks import finite, label
from ..._base.types import finite_vector, repr_in_message, sequence
from .bushings import UPRIGHT, BodySpring, Placing

DEGREES = 3


@dataclass(frozen=True)
class PathSpring(BodySpring):
    """T = k1 x + k2 x^2 + k3 x^3 + d1 L' + d2 L' |L'| + d3 L'^3: a tension along a length L, x how far it is stretched.

    L [m or rad]: of the line through `points`, ((frame, (x, y, z)), ...), frames of the model or "world"; or the sum of
    `along`, {entry of qd_names: factor}, kept as pairs, factors times coordinates. x = L - rest, or outside two rest
    lengths (lower, upper), between which it is zero. stiffness (k1, k2, k3), damping (d1, d2, d3): one to three
    numbers each. The generalized force is -(dL/dq)' T, and counts with `od.Loads(passive=True)`. A line through two
    points is the PointToPointSpring of OpenSim; both kinds are tendons of MuJoCo, spatial and fixed ones.

    ValueError or TypeError for numbers that are not finite, rest lengths in the wrong order, and for anything but two
    points or more, or coordinates.

    >>> spring = od.PathSpring([("world", (1, 0, -1)), ("tip", (0, 0, 0))], stiffness=100.0, rest=0.5)
    >>> od.passive_force(rod.with_bushings([spring]), [0.0], [0.0])  # 50 N at the tip, 1 m below the hinge about y
    DM(-50)
    >>> both = od.PathSpring(along={"joint1": 2.0}, stiffness=10.0)
    >>> od.passive_force(rod.with_bushings([both]), [0.1], [0.0])  # 2 * 10 * 2 * 0.1
    DM(-4)
    """

    points: Any = ()
    stiffness: Any = 0.0
    rest: Any = 0.0
    damping: Any = 0.0
    along: Any = ()
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"PathSpring name must be a text, got {repr_in_message(self.name)}")
        object.__setattr__(self, "points", _points(self.points))
        object.__setattr__(self, "along", _along(self.along))
        for key in ("stiffness", "damping"):
            given = _numbers(getattr(self, key), DEGREES, key)
            object.__setattr__(self, key, (*given, *(0.0,) * (DEGREES - len(given))))
        rest = _numbers(self.rest, 2, "rest")
        if rest[0] > rest[-1]:
            raise ValueError(f"PathSpring rest must be one length, or two that rise, got {repr_in_message(self.rest)}")
        object.__setattr__(self, "rest", (rest[0], rest[-1]))
        if bool(self.points) == bool(self.along) or len(self.points) == 1:
            raise ValueError("PathSpring needs two points or more, or coordinates: points=[...] or along={...}")

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames of the points."""
        return tuple(name for name, _ in self.points)

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        """The coordinates whose sum is the length."""
        return tuple(name for name, _ in self.along)

    def placed(self, place: Placing) -> PathSpring:
        made = [place(name, (UPRIGHT[0], point)) for name, point in self.points]
        return replace(self, points=[(name, point) for name, (_, point) in made])

    def times(self, factor: float) -> PathSpring:
        stiffness, damping = (tuple(factor * x for x in values) for values in (self.stiffness, self.damping))
        return replace(self, stiffness=stiffness, damping=damping)

    def scaled(self, length: float, mass: float, factors: Mapping[str, float]) -> PathSpring:
        if self.along:
            return replace(self, along=[(name, x / factors[name]) for name, x in self.along])
        points = [(name, tuple(length * x for x in point)) for name, point in self.points]
        return replace(self, points=points, rest=tuple(length * x for x in self.rest))

    def renamed(self, name: Callable[[str], str]) -> PathSpring:
        return replace(
            self, points=[(name(frame), point) for frame, point in self.points],
            along=[(name(dof), x) for dof, x in self.along], name=self.name and name(self.name),
        )  # fmt: skip

    def mirrored(self, images: Mapping[str, tuple[str, float]]) -> PathSpring:
        return replace(self, along=[(images[name][0], images[name][1] * x) for name, x in self.along])

    def folded(self, held: Mapping[str, float]) -> PathSpring | None:
        gone = [x * held[name] for name, x in self.along if name in held]
        left = [(name, x) for name, x in self.along if name not in held]
        if self.along and not left:
            return None
        return replace(self, along=left, rest=tuple(x - sum(gone) for x in self.rest))


def _points(given: Any) -> tuple[tuple[str, tuple[float, ...]], ...]:
    what = "PathSpring points must be a list such as [('hand', (0, 0, 0)), ('world', (0, 0, 1))]"
    found = []
    for one in sequence(given, what):
        if not isinstance(one, (tuple, list)) or len(one) != 2:
            raise ValueError(f"{what}, got {repr_in_message(one)} in it")
        place = finite_vector(one[1], 3, "PathSpring points [m]")
        found.append((label(one[0], "PathSpring points: the name of a frame"), tuple(map(float, place))))
        if found[-2:-1] == found[-1:]:
            raise ValueError(f"PathSpring points must differ from the ones before, got {repr_in_message(one)} twice")
    return tuple(found)


def _along(given: Any) -> tuple[tuple[str, float], ...]:
    what = "PathSpring along must be {name of a dof: factor}"
    pairs = list(given.items()) if isinstance(given, Mapping) else sequence(given, what)
    if any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in pairs):
        raise ValueError(f"{what}, got {repr_in_message(given)}")
    found = tuple((label(name, what), finite(x, f"PathSpring factor of {name}")) for name, x in pairs)
    if len({name for name, _ in found}) < len(found):
        raise ValueError(f"{what}, each once, got {repr_in_message(given)}")
    return found


def _numbers(given: Any, most: int, what: str) -> tuple[float, ...]:
    """One number, or up to `most` of them."""
    values = [given] if np.ndim(given) == 0 else sequence(given, f"PathSpring {what} must be a number or several")
    if not 1 <= len(values) <= most:
        raise ValueError(f"PathSpring {what} must be one to {most} numbers, got {repr_in_message(given)}")
    return tuple(finite(x, f"PathSpring {what}") for x in values)
