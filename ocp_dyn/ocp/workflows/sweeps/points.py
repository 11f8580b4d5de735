"""Points of a sweep: grids, Latin hypercube samples, neighborhoods."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np

from ...._base.checks import numbers, whole
from ...._base.types import Array, repr_in_message, sequence

DIGITS = 4
"""Least number of digits of a sampled number, counted from the first digit of the width of its range."""

MARGIN = 0.025
"""Least distance of a sample from the ends of its part of a range, in widths of the part: half the last digit."""

OTHER_WORD = 0.5
"""Distance between points with different words, in widths of the ranges of numbers."""

Value = float | str


class SweepPoint(Protocol):
    """A point of a sweep, such as `GridPoint`. A class that a user writes is a frozen dataclass in a module."""

    @property
    def name(self) -> str:
        """Name of the point's file without the ending, different for every point."""

    @property
    def values(self) -> Mapping[str, Any]:
        """Values of the problem's parameters by name."""

    @property
    def variant(self) -> tuple[Any, ...]:
        """Arguments of the function that makes the problem: points of one variant share a problem."""

    def distance(self, other: Any) -> float:
        """Distance to another point; every point starts from the nearest one that comes before it."""

    def relaxes(self, other: Any) -> bool:
        """Whether every motion that is admissible at the other point is admissible at this one, so that the optimum at
        this point costs no more."""


@dataclass(frozen=True)
class GridPoint:
    """A point of a grid or a sample: coordinates (name, number or word), and for each the unit of distances, the step
    of the grid or the width of the range.

    Coordinates that are arguments of the function that makes the problem go there; all others are values of the
    problem's parameters, see `Sweep`.

    >>> ocp.grid(speed=[1.0, 1.2])[0].values
    {'speed': 1.2}
    """

    coordinates: tuple[tuple[str, Value], ...]
    steps: tuple[float, ...]

    @property
    def name(self) -> str:
        return "_".join(
            f"{name}_{value if isinstance(value, str) else repr(value)}" for name, value in self.coordinates
        )

    @property
    def values(self) -> dict[str, Any]:
        return dict(self.coordinates)

    @property
    def variant(self) -> tuple[Any, ...]:
        return ()

    def distance(self, other: GridPoint) -> float:
        pairs = zip(self.coordinates, other.coordinates, self.steps, strict=True)
        return sum(_apart(mine, theirs) / step for (_, mine), (_, theirs), step in pairs)

    def relaxes(self, other: GridPoint) -> bool:
        return False


def _apart(one: Value, other: Value) -> float:
    if isinstance(one, str) or isinstance(other, str):
        return float(one != other)
    return abs(one - other)


def grid(**values: Sequence[Value]) -> list[GridPoint]:
    """All combinations of the values of some parameters, points in the middle of the grid first.

    The distance between points is the sum over all parameters of the difference, divided by the median step of the
    grid. Values are numbers, or words such as "female" for arguments of the function that makes the problem; different
    words are one step apart.

    >>> [point.name for point in ocp.grid(speed=[0.9, 1.1, 1.3])]  # the middle first
    ['speed_1.1', 'speed_1.3', 'speed_0.9']
    """
    axes: dict[str, list[Any]] = {}
    for name, given in values.items():
        words = _words(given, f"grid: {name}")
        axes[name] = words or sorted({float(x) for x in numbers(given, f"grid: {name}")})
        if not axes[name] or not (words or np.all(np.isfinite(axes[name]))):
            raise ValueError(f"grid: {name} must be finite numbers, one or more, got {repr_in_message(given)}")
    if not axes:
        raise ValueError("grid needs values of at least one parameter, such as speed=[1.0, 1.2]")
    counted = {name: axis for name, axis in axes.items() if not isinstance(axis[0], str)}
    steps = tuple(
        float(np.median(np.diff(axis))) if name in counted and len(axis) > 1 else 1.0 for name, axis in axes.items()
    )
    points = [GridPoint(tuple(zip(axes, point, strict=True)), steps) for point in product(*axes.values())]
    middle = GridPoint(
        tuple((name, float(np.median(axis)) if name in counted else axis[0]) for name, axis in axes.items()), steps
    )
    return sorted(points, key=middle.distance)


def latin_hypercube(ranges: Mapping[str, Sequence[Value]], n: int, seed: int = 0) -> list[GridPoint]:
    """A Latin hypercube sample: n points, of which each n-th part of every range holds exactly one (McKay, Beckman,
    Conover, Technometrics 21, 1979); the point nearest to the middle first.

    ranges: by name, (low, high) of a number, or a list of words, each of which as many points get, up to one. Numbers
    are rounded to 4 digits of the width of their range, or to a twentieth of a part. The distance between points is the
    sum of the differences, in widths of the ranges, and 0.5 for every different word. The same arguments give the same
    points.

    >>> bodies = ocp.latin_hypercube({"mass": (50, 100), "height": (1.5, 1.9), "sex": ["female", "male"]}, 4)
    >>> [sorted(p.values[name] for p in bodies) for name in ("mass", "sex")]
    [[50.31, 72.67, 75.51, 98.91], ['female', 'female', 'male', 'male']]
    """
    if not isinstance(ranges, Mapping) or not ranges:
        raise TypeError(
            f"latin_hypercube: ranges must be a dict such as {{'mass': (50, 100)}}, got {repr_in_message(ranges)}"
        )
    count, rng = whole(n, "latin_hypercube: n", least=1), np.random.default_rng(whole(seed, "latin_hypercube: seed", 0))
    columns: list[list[Value]] = []
    widths: list[float] = []
    middle: list[Value] = []
    for name, given in ranges.items():
        fractions = (rng.permutation(count) + np.clip(rng.uniform(size=count), MARGIN, 1 - MARGIN)) / count
        if words := _words(given, f"latin_hypercube: {name}"):
            columns.append([words[min(int(x * len(words)), len(words) - 1)] for x in fractions])
            widths.append(1 / OTHER_WORD)
            middle.append(words[0])
            continue
        low, high = _range(given, name)
        width = high - low
        decimals = max(
            DIGITS - 1 - math.floor(math.log10(width)), math.ceil(math.log10(count / (2 * MARGIN * width) / (1 - 1e-9)))
        )
        columns.append([round(float(low + x * width), decimals) for x in fractions])
        widths.append(width)
        middle.append((low + high) / 2)
    points = [GridPoint(tuple(zip(ranges, row, strict=True)), tuple(widths)) for row in zip(*columns, strict=True)]
    center = GridPoint(tuple(zip(ranges, middle, strict=True)), tuple(widths))
    return sorted(points, key=center.distance)


def _range(given: Any, name: str) -> tuple[float, float]:
    low_high = [float(x) for x in numbers(given, f"latin_hypercube: {name}")]
    if len(low_high) != 2 or not np.all(np.isfinite(low_high)) or not low_high[0] < low_high[1]:
        raise ValueError(
            f"latin_hypercube: {name} must be (low, high), two finite numbers in this order, or a list of words, got "
            f"{repr_in_message(given)}"
        )
    return low_high[0], low_high[1]


def _words(given: Any, what: str) -> list[str]:
    """The words of a list of words, in their order and each once; none if it holds numbers."""
    if isinstance(given, str):
        raise TypeError(f"{what} must be a list, got {given!r}: write [{given!r}]")
    found = sequence(given, f"{what} must be a list of numbers or words")
    if not any(isinstance(x, str) for x in found):
        return []
    for word in found:
        if not isinstance(word, str) or not re.fullmatch(r"\w[\w.+-]{0,40}", word):
            raise ValueError(
                f"{what} must be numbers or words of letters, digits and . + - _, which names of files can hold, got "
                f"{repr_in_message(word)}"
            )
    return list(dict.fromkeys(found))


def neighborhoods(points: Sequence[Any], size: int) -> list[list[Any]]:
    """Parts of a grid or a sample of at most `size` points, in which neighbors are together: a part is halved along its
    largest extent, in the units of distances, until there are as few parts as can be, all nearly equal.

    Each part is a sweep of its own, with a folder of its own, so that a very large population needs no process that
    knows all of it. The same points give the same parts, in whatever order they come.

    >>> [len(part) for part in ocp.neighborhoods(ocp.grid(speed=[0.9, 1.0, 1.1, 1.2, 1.3]), 2)]
    [1, 2, 2]
    """
    most = whole(size, "neighborhoods: size", least=1)
    listed = sorted(sequence(points, "neighborhoods: points must be a list of points"), key=lambda point: point.name)
    numbered = _numbered(listed, "neighborhoods")

    def halved(part: Any, count: int) -> list[Any]:
        if count < 2:
            return [part]
        axis, left = int(np.argmax(np.ptp(numbered[part], axis=0))), count // 2
        order = part[np.argsort(numbered[part, axis], kind="stable")]
        cut = len(part) * left // count
        return [*halved(order[:cut], left), *halved(order[cut:], count - left)]

    parts = halved(np.arange(len(listed)), -(-len(listed) // most)) if listed else []
    return [[listed[k] for k in sorted(part)] for part in parts]


def _numbered(points: Sequence[Any], what: str) -> Array:
    """Coordinates of grid points in their units of distance, words by their numbers: (points, coordinates)."""
    if not points:
        return np.zeros((0, 0))
    names = [[name for name, _ in getattr(point, "coordinates", ())] for point in points]
    if any(found != names[0] or not found for found in names):
        raise TypeError(f"{what}: points must have the same coordinates, as those of grid and latin_hypercube have")
    columns = list(zip(*([value for _, value in point.coordinates] for point in points), strict=True))
    numbered = []
    for column, step in zip(columns, points[0].steps, strict=True):
        words = sorted({value for value in column if isinstance(value, str)})
        numbered.append([words.index(x) / step if isinstance(x, str) else x / step for x in column])
    return np.array(numbered, dtype=float).reshape(-1, len(points)).T


def distances(points: Sequence[Any]) -> Any:
    """A function of k: distances of all points from point k, an array."""
    try:
        numbered = _numbered(points, "")
    except TypeError:
        return lambda k: np.array([float(point.distance(points[k])) for point in points])
    if not points:
        return lambda k: np.zeros(0)
    worded = np.array([isinstance(value, str) for _, value in points[0].coordinates], dtype=bool)
    steps = np.array(points[0].steps)

    def from_point(k: int) -> Array:
        gaps = np.abs(numbered - numbered[k])
        gaps[:, worded] = (gaps[:, worded] > 0) / steps[worded]
        found: Array = gaps.sum(axis=1)
        return found

    return from_point
