"""Joint coordinates of any model by limb, those of the left and of the right in pairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._base.types import names_in_message, repr_in_message, sequence, suggestion
from ..mechanism import Model
from .bodies import LEFT, RIGHT, neutral_places, sides, size
from .joint_angles import Coordinate, coordinates

LEGS, ARMS = {"leg", "hip", "knee", "ankle", "thigh"}, {"arm", "shoulder", "elbow", "wrist"}
"""Words in the names of joints that tell the limb."""

TRUNK = "trunk and head"
"""Name of the joints that belong to no limb."""

JOINTS = "joints"
"""Name of all joints of a model without limbs."""


@dataclass(frozen=True)
class Pair:
    """Coordinates of one panel: of the left and of the right, or a single one."""

    label: str
    members: tuple[Coordinate, ...]


@dataclass(frozen=True)
class Limb:
    """The pairs of a limb and of its twin on the other side, or those of the trunk; bodies: all bodies of both."""

    name: str
    pairs: tuple[Pair, ...]
    bodies: frozenset[int]


def limbs(model: Model) -> list[Limb]:
    """The joint coordinates of a model, limb by limb: those with feet or legs as the file has them, then the trunk.

    A limb is all that a body of the left or right side carries, if its parent belongs to neither. Its twin has the same
    joint names but for the words of the sides, or lies at the mirrored place. A root without motors is left out.
    """
    # The body that every dof moves
    side, joint_of = sides(model), [i for i, _ in model.edges for _ in model.dofs_of(i)]
    root = {model.joint_names.index(name) + 1 for name in model.floating_joints}
    limb_of = _limb_roots(model, side)
    pairs: dict[int, list[Pair]] = {}
    unpaired = [c for c in coordinates(model) if joint_of[c.qd_index] not in root]
    twins = _twins(model, unpaired, joint_of)
    for c in unpaired:
        other = twins.get(c)
        if other is not None and c.side == "right":
            continue  # drawn with its twin
        members = (c,) if other is None else (c, other)
        pairs.setdefault(limb_of[joint_of[c.qd_index]], []).append(Pair(_common([m.label for m in members]), members))
    found = []
    for start, members_of in pairs.items():
        roots = {limb_of[joint_of[m.qd_index]] for pair in members_of for m in pair.members}
        bodies = frozenset(i for i, _ in model.edges if limb_of[i] in roots)
        rest = TRUNK if len(pairs) > 1 else JOINTS
        found.append(Limb(_name(members_of) if start else rest, tuple(members_of), bodies))
    names = Counter(limb.name for limb in found)
    found = [limb if names[limb.name] == 1 else replace(limb, name=_told_apart(limb)) for limb in found]
    return sorted(found, key=lambda limb: limb.name == TRUNK)


def chosen(limbs_of_model: Sequence[Limb], joints: Sequence[str]) -> list[Limb]:
    """The limbs with only those coordinates that are named: by limb or pair, with both sides; by joint or coordinate,
    with the named side alone. KeyError for others."""
    wanted = sequence(joints, "joints must be a sequence of names of joints or limbs")
    known = dict.fromkeys(name for limb in limbs_of_model for pair in limb.pairs for name in _names(limb, pair))
    for name in wanted:
        if not isinstance(name, str) or name not in known:
            raise KeyError(
                f"no joint or limb {repr_in_message(name)}; there are "
                f"{names_in_message(tuple(known), 40)}{suggestion(name, known)}"
            )
    found = [
        Limb(limb.name, tuple(p for pair in limb.pairs for p in _wanted(limb, pair, set(wanted))), limb.bodies)
        for limb in limbs_of_model
    ]
    return [limb for limb in found if limb.pairs]


def _wanted(limb: Limb, pair: Pair, wanted: set[str]) -> Iterator[Pair]:
    """The pair, or that member of it which is named; none if neither is."""
    if wanted & {limb.name, pair.label}:
        yield pair
        return
    members = tuple(c for c in pair.members if wanted & {c.name, c.name.partition(".")[0]})
    if len(members) == len(pair.members):
        yield pair
    elif members:
        yield Pair(f"{pair.label}, {members[0].side}", members)


def _names(limb: Limb, pair: Pair) -> list[str]:
    """All names by which a pair can be chosen."""
    of_coordinates = [name for c in pair.members for name in (c.name, c.name.partition(".")[0])]
    return [limb.name, pair.label, *of_coordinates]


def _limb_roots(model: Model, side: tuple[str, ...]) -> list[int]:
    """First body of the limb of every body; 0 for the trunk."""
    found = [0]
    for i, p in model.edges:
        found.append(0 if side[i] == "middle" else found[p] if side[p] == side[i] else i)
    return found


def _twins(model: Model, unpaired: list[Coordinate], joint_of: list[int]) -> dict[Coordinate, Coordinate]:
    """The coordinate on the other side for every coordinate that has one."""
    places, near = neutral_places(model), 1e-2 * size(model)
    right = [c for c in unpaired if c.side == "right"]
    found: dict[Coordinate, Coordinate] = {}
    for c in unpaired:
        if c.side != "left":
            continue
        free = [other for other in right if other not in found and other.is_rotation == c.is_rotation]
        same = [other for other in free if _plain(other.label) == _plain(c.label)]
        x, y, z = places[joint_of[c.qd_index]]
        depth = len(model.path(joint_of[c.qd_index]))
        mirrored = [
            other
            for other in free
            if len(model.path(joint_of[other.qd_index])) == depth
            and np.abs(places[joint_of[other.qd_index]] - [x, -y, z]).max() < near
        ]
        for other in (same or mirrored)[:1]:
            found[c], found[other] = other, c
    return found


def _words(label: str) -> list[str]:
    return [word for word in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", label) if word]


def _plain(label: str) -> tuple[str, ...]:
    """The words of a label without those of the sides and the word "joint"."""
    return tuple(w for w in _words(label) if w.lower() not in LEFT | RIGHT | {"joint"})


def _common(labels: list[str]) -> str:
    """The label of a pair: the words that all its labels have, without those of the sides."""
    first, *others = (_plain(label) for label in labels)
    kept = [word for word in first if all(word in other for other in others)]
    return " ".join(kept) or " / ".join(labels)


def _name(pairs: list[Pair]) -> str:
    """The name of a limb, by words in the names of its joints."""
    words = [{w.lower() for w in _words(pair.label)} for pair in pairs]
    for name, known in (("legs", LEGS), ("arms", ARMS)):
        if sum(bool(w & known) for w in words) * 2 > len(words):
            return name
    ends = _ends(pairs[0])
    if ends:  # LF HAA and RF HAA
        return ends
    first, count = Counter(_words(pair.label)[0] for pair in pairs).most_common(1)[0]
    return first if 2 * count > len(pairs) else f"{pairs[0].label} to {pairs[-1].label}"


def _ends(pair: Pair) -> str:
    """The words that open the labels of a pair, if they differ and are no plain words of the sides: "FL and FR"."""
    first = [_words(m.label)[0] for m in pair.members]
    plain = len(set(first)) == 1 or {word.lower() for word in first} <= LEFT | RIGHT
    return "" if plain else " and ".join(first)


def _told_apart(limb: Limb) -> str:
    """The name of a limb where several have one: with the words of the sides, "legs, FL and FR", or the first joint."""
    return f"{limb.name}, {_ends(limb.pairs[0]) or limb.pairs[0].label}"
