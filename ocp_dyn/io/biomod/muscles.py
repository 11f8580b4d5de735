"""Muscles of a bioMod file: groups, origins and insertions, points and half cylinders between them, all numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._base.types import Array, ModelError, repr_in_message, suggestion
from ...mechanism.annotations import Muscle, PathPoint, PathWrap, WrapObject
from .placements import read_placement
from .tokens import Words

KINDS = {
    "idealizedactuator": "IdealizedActuator", "hill": "Hill",
    **dict.fromkeys(
        [f"{start}{end}" for start in ("hillthelen", "thelen") for end in ("", "active", "fatigable")],
        "Thelen2003Muscle",
    ),
    **dict.fromkeys(
        [f"{start}{end}" for start in ("hilldegroote", "degroote") for end in ("", "active", "fatigable")],
        "DeGrooteFregly2016Muscle",
    ),
}  # fmt: skip
"""Types of muscles in the file, and the class whose curves they have."""
STATES = ("buchanan", "degroote", "default")
"""Words for the dynamics of activation, which are checked and not kept."""
FATIGUE = ("fatiguerate", "recoveryrate", "developfactor", "recoveryfactor")
FIGURES = {
    "maximalforce": "max_isometric_force", "optimallength": "optimal_fiber_length",
    "tendonslacklength": "tendon_slack_length", "pennationangle": "pennation_angle",
}  # fmt: skip
"""Entries with a field of their own in `Muscle`."""
NUMBERS = {
    "maxvelocity": "max_contraction_velocity", "maximalvelocity": "max_contraction_velocity",
    "maximalexcitation": "max_excitation", "pcsa": "pcsa", "shapefactor": "shape_factor",
}  # fmt: skip
"""Other numbers of a muscle, and their names in `Muscle.parameters`."""
ENDLESS = 1e3
"""Length [m] of a half cylinder that has none in its file: biorbd's has no ends."""


@dataclass
class Path:
    """A muscle, and what lies on its path."""

    name: str
    line: int
    group: str = ""
    kind: str = "Hill"
    origin: Array = field(default_factory=lambda: np.zeros(3))
    insertion: Array = field(default_factory=lambda: np.zeros(3))
    figures: dict[str, float] = field(default_factory=dict)
    parameters: dict[str, float] = field(default_factory=dict)
    points: list[PathPoint] = field(default_factory=list)
    wraps: list[str] = field(default_factory=list)


@dataclass
class OnPath:
    """A point or a half cylinder on the path of a muscle."""

    parent: str = ""
    muscle: str = ""
    group: str = ""
    position: Array = field(default_factory=lambda: np.zeros(3))
    R: Array = field(default_factory=lambda: np.eye(3))
    p: Array = field(default_factory=lambda: np.zeros(3))
    as_matrix: bool = False
    kind: str = ""
    radius: float = 0.0
    length: float = 0.0


Read = Callable[[Any, Words], object]


def _set(key: str, read: Callable[[Words], Any]) -> Read:
    return lambda owner, words: setattr(owner, key, read(words))


def _word(key: str, what: str) -> Read:
    return _set(key, lambda words: words.word(what))


def _vector(key: str, what: str) -> Read:
    return _set(key, lambda words: words.numbers(3, what))


def _number(holder: str, key: str, what: str) -> Read:
    return lambda path, words: getattr(path, holder).__setitem__(key, words.number(what))


def _item(key: str, what: str) -> Read:
    return lambda found, words: found.__setitem__(key, words.word(what))


def _choice(words: Words, what: str, known: Iterable[str]) -> str:
    word, known = words.word(what), tuple(known)
    if word.lower() not in known:
        raise words.fault(
            f"{what}: unknown word {repr_in_message(word)}; known are {', '.join(known)}{suggestion(word, known)}"
        )
    return word.lower()


def _fatigue(path: Path, words: Words) -> None:
    while (key := _choice(words, "fatigueparameters", ("type", *FATIGUE, "endfatigueparameters"))) in (
        "type",
        *FATIGUE,
    ):
        if key == "type":
            _choice(words, "type of fatigue", ("simple", "xia"))
        else:
            path.parameters[f"fatigue.{key}"] = words.number(key)


MUSCLE: dict[str, Read] = {
    "musclegroup": _word("group", "a group of muscles"),
    "type": lambda path, words: setattr(path, "kind", KINDS[_choice(words, "type of a muscle", KINDS)]),
    "statetype": lambda path, words: _choice(words, "statetype", STATES),
    "usedamping": _number("parameters", "use_damping", "useDamping"),
    "originposition": _vector("origin", "originposition"),
    "insertionposition": _vector("insertion", "insertionposition"),
    **{key: _number("figures", name, key) for key, name in FIGURES.items()},
    **{key: _number("parameters", name, key) for key, name in NUMBERS.items()},
    "fatigueparameters": _fatigue,
}
"""Entries of a muscle."""
ON_PATH: dict[str, Read] = {
    "parent": _word("parent", "a parent"),
    "muscle": _word("muscle", "a muscle"),
    "musclegroup": _word("group", "a group of muscles"),
}
POINT: dict[str, Read] = {**ON_PATH, "position": _vector("position", "position")}
WRAPPING: dict[str, Read] = {
    **ON_PATH,
    "type": _set("kind", lambda words: _choice(words, "type of a wrapping object", ("halfcylinder",))),
    "rtinmatrix": _set("as_matrix", lambda words: bool(words.number("RTinMatrix"))),
    "rt": read_placement,
    "radius": _set("radius", lambda words: words.number("radius")),
    "length": _set("length", lambda words: words.number("length")),
}


class MuscleBlocks:
    """The muscles of a file, read block by block. segments: names that exist; ground: that of the ground."""

    def __init__(self, words: Words, segments: Mapping[str, object], ground: str) -> None:
        self.words, self.segments, self.ground = words, segments, ground
        self.groups: dict[str, tuple[str, str]] = {}
        self.paths: dict[str, Path] = {}
        self.wraps: dict[str, WrapObject] = {}
        self.on_ground = False
        self.readers = {
            "musclegroup": self._group, "muscle": self._muscle, "viapoint": self._point, "wrapping": self._wrapping,
        }  # fmt: skip

    def muscles(self) -> tuple[Muscle, ...]:
        """All muscles, in the order of the file."""
        return tuple(map(self._made, self.paths.values()))

    def _entries(self, block: str, name: str, owner: Any, entries: dict[str, Read]) -> None:
        what = f"{block} {repr_in_message(name)}"
        while (key := self.words.word(f"end{block}").lower()) != f"end{block}":
            if key not in entries:
                raise self.words.fault(
                    f"{what}: unknown entry {repr_in_message(key)}; known are {', '.join(entries)}"
                    f"{suggestion(key, entries)}"
                )
            entries[key](owner, self.words)

    def _segment(self, name: str, what: str) -> str:
        """A segment, or the ground."""
        if name in self.segments:
            return name
        if name.lower() == self.ground:
            self.on_ground = True
            return self.ground
        raise self.words.fault(f"{what}: no segment {repr_in_message(name)}{suggestion(name, self.segments)}")

    def _group(self) -> None:
        name = self.words.word("the name of a group of muscles")
        ends = {"origin": self.ground, "insertion": self.ground}
        entries = {f"{end}parent": _item(end, "a parent") for end in ends}
        self._entries("musclegroup", name, ends, entries)
        what = f"musclegroup {repr_in_message(name)}"
        self.groups[name] = self._segment(ends["origin"], what), self._segment(ends["insertion"], what)

    def _muscle(self) -> None:
        name, line = self.words.word("the name of a muscle"), self.words.line
        what = f"muscle {repr_in_message(name)}"
        if name in self.paths:
            raise self.words.fault(f"{what}: the name is taken; names must be unique, rename it")
        path = Path(name, line)
        self._entries("muscle", name, path, MUSCLE)
        self._check_group(what, path.group)
        self.paths[name] = path

    def _check_group(self, what: str, group: str) -> None:
        if group not in self.groups:
            hint = suggestion(group, self.groups)
            raise self.words.fault(f"{what}: no group of muscles {repr_in_message(group)} yet{hint}")

    def _on_path(self, block: str, entries: dict[str, Read]) -> tuple[str, OnPath, Path]:
        name = self.words.word(f"the name of a {block}")
        what, found = f"{block} {repr_in_message(name)}", OnPath(as_matrix=self.words.matrices)
        self._entries(block, name, found, entries)
        self._check_group(what, found.group)
        path = self.paths.get(found.muscle)
        if path is None or path.group != found.group:
            known = [one.name for one in self.paths.values() if one.group == found.group]
            raise self.words.fault(
                f"{what}: no muscle {repr_in_message(found.muscle)} in the group {repr_in_message(found.group)}"
                f"{suggestion(found.muscle, known)}"
            )
        found.parent = self._segment(found.parent, what)
        return name, found, path

    def _point(self) -> None:
        name, found, path = self._on_path("viapoint", POINT)
        path.points.append(PathPoint(name, found.parent, tuple(map(float, found.position))))

    def _wrapping(self) -> None:
        """A half cylinder about z, on whose side x > 0 the muscle passes."""
        name, found, path = self._on_path("wrapping", WRAPPING)
        what = f"wrapping {repr_in_message(name)}"
        if not found.kind:
            raise self.words.fault(f"{what}: it has no type; write halfcylinder")
        own = name if name not in self.wraps else f"{name}_{path.name}"
        if own in self.wraps:
            raise self.words.fault(f"{what}: the name is taken; names must be unique, rename it")
        sizes = (found.radius, found.length or ENDLESS)
        try:
            self.wraps[own] = WrapObject(
                own, "cylinder", found.parent, sizes, tuple(found.p), tuple(np.ravel(found.R)), "x"
            )
        except ValueError as error:
            raise self.words.fault(f"{what}: {error}") from None
        path.wraps.append(own)

    def _made(self, path: Path) -> Muscle:
        origin, insertion = self.groups[path.group]
        points = (
            PathPoint(f"{path.name}_origin", origin, tuple(map(float, path.origin))),
            *path.points,
            PathPoint(f"{path.name}_insertion", insertion, tuple(map(float, path.insertion))),
        )
        wraps = tuple(map(PathWrap, path.wraps))
        try:
            return Muscle(path.name, path.kind, points, wraps, parameters=path.parameters, **path.figures)  # type: ignore[arg-type]
        except ValueError as error:
            raise ModelError(f"{self.words.source}, line {path.line}: {error}") from None
