"""Edits of annotations: each takes one object, and gives its edited copy, or None where it does not exist any more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from ...joints import ConstantFunction
from .kinds import LENGTHS, AnyPathPoint, ConditionalPathPoint, MovingPathPoint, Muscle, PathPoint

Renaming = Callable[[str], str]


def renamed(part: Any, name: Renaming) -> Any:
    """A part with all names of its own, of frames, coordinates and wrap objects renamed; names of points stay."""
    if isinstance(part, (tuple, list)):
        return tuple(renamed(one, name) for one in part)
    points = isinstance(part, (PathPoint, ConditionalPathPoint, MovingPathPoint))
    changes: dict[str, Any] = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if field.name in ("body", "coordinate", "wrap") or (field.name == "name" and not points):
            changes[field.name] = name(value)
        elif field.name == "coordinates":
            changes[field.name] = tuple(None if one is None else name(one) for one in value)
        elif field.name in ("path", "wraps"):
            changes[field.name] = renamed(value, name)
    return replace(part, **changes)


def scaled(part: Any, length: float, coordinates: Mapping[str, float]) -> Any:
    """A part of a mechanism `length` times as large; coordinates: factors of those that are lengths, 1 for angles."""
    if isinstance(part, (tuple, list)):
        return tuple(scaled(one, length, coordinates) for one in part)
    changes: dict[str, Any] = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if field.name in ("point", "origin", "sizes"):
            changes[field.name] = tuple(length * x for x in value)
        elif field.name in LENGTHS and value is not None:
            changes[field.name] = length * value
        elif field.name == "path":
            changes[field.name] = scaled(value, length, coordinates)
    if isinstance(part, ConditionalPathPoint):
        factor = coordinates[part.coordinate]
        changes |= {"lower": factor * part.lower, "upper": factor * part.upper}
    if isinstance(part, MovingPathPoint):
        changes["functions"] = tuple(
            f.with_scaled_coordinates([1.0 if c is None else coordinates[c]]).times(length)
            for f, c in zip(part.functions, part.coordinates, strict=True)
        )
    return replace(part, **changes)


RANGE_SLACK = 1e-5
"""Distance from the range of a conditional point within which it still is part of the path [rad or m], as in
OpenSim."""


def held(point: AnyPathPoint, values: Mapping[str, float]) -> AnyPathPoint | None:
    """A point of a path where some coordinates are held at values; None if it is then no part of the path."""
    if isinstance(point, ConditionalPathPoint) and point.coordinate in values:
        at = values[point.coordinate]
        inside = point.lower - RANGE_SLACK <= at <= point.upper + RANGE_SLACK
        return PathPoint(point.name, point.body, point.point) if inside else None
    if isinstance(point, MovingPathPoint) and any(c in values for c in point.coordinates):
        pairs = [
            (ConstantFunction(float(f.at(values[c]))), None) if c is not None and c in values else (f, c)
            for f, c in zip(point.functions, point.coordinates, strict=True)
        ]
        if all(c is None for _, c in pairs):
            return PathPoint(point.name, point.body, tuple(float(f.at()) for f, _ in pairs))
        return replace(point, functions=tuple(f for f, _ in pairs), coordinates=tuple(c for _, c in pairs))
    return point


def held_muscle(muscle: Muscle, values: Mapping[str, float]) -> Muscle | None:
    """A muscle where some coordinates are held; None if fewer than two points of its path are left."""
    points = [held(point, values) for point in muscle.path]
    left = [point for point in points if point is not None]
    if len(left) == len(points):
        return replace(muscle, path=tuple(left))
    before = [sum(point is None for point in points[:k]) for k in range(len(points) + 1)]

    def moved(k: int, last: bool) -> int:
        """The new number of a point; of the next one inwards where it is gone."""
        return k and max(1, min(len(left), k - before[min(k if last else k - 1, len(points))]))

    wraps = tuple(replace(wrap, first=moved(wrap.first, False), last=moved(wrap.last, True)) for wrap in muscle.wraps)
    return replace(muscle, path=tuple(left), wraps=wraps) if len(left) > 1 else None
