"""`Annotations`: all data that a model carries beside its equations, as one value that follows its edits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.types import ModelError, finite_vector, repr_in_message, suggestion
from .edits import Renaming, held_muscle, renamed, scaled
from .kinds import Marker, Muscle, WrapObject, all_of, named
from .motions import PrescribedMotion

KINDS = {"markers": Marker, "muscles": Muscle, "wraps": WrapObject, "prescribed": PrescribedMotion}
"""Lists of `Annotations`, and the class of their entries."""


@dataclass(frozen=True)
class Annotations:
    """Markers, muscles, wrap objects, named configurations and prescribed motions of a model, and notes on what the
    reader of its file left out or turned; `Model` has them under these names."""

    markers: tuple[Marker, ...] = ()
    muscles: tuple[Muscle, ...] = ()
    wraps: tuple[WrapObject, ...] = ()
    configurations: tuple[tuple[str, tuple[float, ...]], ...] = ()
    prescribed: tuple[PrescribedMotion, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for what, kind in KINDS.items():
            found = all_of(list(getattr(self, what)), kind, f"{what} must be a tuple of od.{kind.__name__}")
            names = [one.name for one in found]
            if len(set(names)) < len(names):
                twice = next(name for k, name in enumerate(names) if name in names[:k])
                raise ModelError(f"{what}: {repr_in_message(twice)} stands there twice; names must be unique")
            object.__setattr__(self, what, found)
        rows = self.configurations.items() if isinstance(self.configurations, Mapping) else self.configurations
        rows = tuple(
            (named(name, "name of a configuration"), tuple(map(float, finite_vector(q, np.size(q), f"{name}"))))
            for name, q in rows
        )
        if len({name for name, _ in rows}) < len(rows):
            raise ModelError("configurations: a name stands there twice; names must be unique")
        object.__setattr__(self, "configurations", rows)
        object.__setattr__(self, "notes", all_of(self.notes, str, "notes must be a tuple of texts"))

    def __bool__(self) -> bool:
        return bool(self.markers or self.muscles or self.wraps or self.configurations or self.prescribed or self.notes)

    def check(self, frames: Iterable[str], coordinates: Iterable[str], nq: int, where: str) -> None:
        """ModelError unless all frames, coordinates and wrap objects that are named exist."""
        frames, names = set(frames), set(coordinates)
        surfaces = {wrap.name for wrap in self.wraps}
        for part in (*self.markers, *self.wraps, *(p for m in self.muscles for p in m.path)):
            if part.body not in frames:
                raise _unknown(where, part, "frame", part.body, frames)
            own = getattr(part, "coordinates", (getattr(part, "coordinate", None),))
            for coordinate in filter(None, own):
                if coordinate not in names:
                    raise _unknown(where, part, "coordinate", coordinate, names)
        for muscle in self.muscles:
            for wrap in muscle.wraps:
                if wrap.wrap not in surfaces:
                    raise _unknown(where, muscle, "wrap object", wrap.wrap, surfaces)
                if max(wrap.first, wrap.last) > len(muscle.path):
                    raise ModelError(
                        f"{where}: muscle {repr_in_message(muscle.name)} has {len(muscle.path)} points, and its wrap "
                        f"{repr_in_message(wrap.wrap)} names point {max(wrap.first, wrap.last)}"
                    )
        for motion in self.prescribed:
            if motion.name not in names:
                raise _unknown(where, motion, "coordinate", motion.name, names)
        for name, q in self.configurations:
            if len(q) != nq:
                raise ModelError(
                    f"{where}: the configuration {repr_in_message(name)} has {len(q)} numbers, expected {nq}"
                )

    def renamed(self, name: Renaming) -> Annotations:
        """The data of a model whose names have changed."""
        return Annotations(
            renamed(self.markers, name), renamed(self.muscles, name), renamed(self.wraps, name),
            tuple((name(key), q) for key, q in self.configurations), renamed(self.prescribed, name),
            self.notes,
        )  # fmt: skip

    def scaled(self, length: float, coordinates: Mapping[str, float], factors: Any) -> Annotations:
        """The data of a model `length` times as large; factors: of the entries of q."""
        markers, muscles, wraps = (
            scaled(part, length, coordinates) for part in (self.markers, self.muscles, self.wraps)
        )
        rows = tuple((name, tuple(np.array(q) * factors)) for name, q in self.configurations)
        moved = tuple(one.scaled(coordinates) for one in self.prescribed)
        return Annotations(markers, muscles, wraps, rows, moved, self.notes)

    def within(self, frames: Iterable[str], values: Mapping[str, float], q: list[int]) -> Annotations:
        """The part of the data that these frames keep, where some coordinates are held, and of q these entries stay."""
        left = set(frames)
        wraps = tuple(wrap for wrap in self.wraps if wrap.body in left)
        surfaces = {wrap.name for wrap in wraps}
        whole = [
            muscle for muscle in self.muscles
            if {point.body for point in muscle.path} <= left and {wrap.wrap for wrap in muscle.wraps} <= surfaces
        ]  # fmt: skip
        muscles = [held_muscle(muscle, values) for muscle in whole]
        rows = tuple((name, tuple(row[k] for k in q)) for name, row in self.configurations)
        markers = tuple(marker for marker in self.markers if marker.body in left)
        moved = tuple(motion for motion in self.prescribed if motion.name not in values)
        left_muscles = tuple(muscle for muscle in muscles if muscle is not None)
        return Annotations(markers, left_muscles, wraps, rows, moved, self.notes)

    def joined(self, other: Annotations, own_q: Any, other_q: Any) -> Annotations:
        """The data of a model and of another one that is attached to it; own_q, other_q: neutral positions, which
        complete the configurations of the other one."""
        rows = [(name, (*q, *other_q)) for name, q in self.configurations]
        rows += [(name, (*own_q, *q)) for name, q in other.configurations]
        return Annotations(
            self.markers + other.markers,
            self.muscles + other.muscles,
            self.wraps + other.wraps,
            tuple(rows),
            self.prescribed + other.prescribed,
            tuple(dict.fromkeys(self.notes + other.notes)),
        )


def _unknown(where: str, part: Any, what: str, name: str, known: Iterable[str]) -> ModelError:
    kind = type(part).__name__
    return ModelError(
        f"{where}: {kind} {repr_in_message(part.name)} is on the {what} {repr_in_message(name)}, which the model does "
        f"not have{suggestion(name, known)}"
    )


def counted_out(kinds: Counter[str], what: str = "left out") -> tuple[str, ...]:
    """A line of notes on what a model does not have of its file, ("left out: 2 plugin, 1 sensor",), or nothing."""
    return (f"{what}: {', '.join(f'{count} {kind}' for kind, count in kinds.items())}",) if kinds else ()
