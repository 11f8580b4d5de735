"""Channels: the quantities of a motion over time. The mechanics has five; components add others.

| kind | variables in the program | examples |
|---|---|---|
| state | at the nodes, with a derivative at the stages of every interval | q, qd, the temperature of a motor |
| control | one value on every interval; with a rate: at the nodes, and linear between them | tau, an excitation |
| algebraic | at the stages of every interval | qdd, lam |

`MECHANICS` declares the five channels of the equations of motion; all other modules take their names from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from casadi import DM

from ...._base.checks import all_positive, bounds, choice, given_name, is_pair, not_negative, number, numbers, truth
from ...._base.types import Array, is_whole, names_in_message, repr_in_message, sequence

KINDS = ("state", "control", "algebraic")

IMAGES = ("same", "signed", "unsigned")
"""Mirror images by a word; see `Channel`."""

MOST_ENTRIES = 10_000


class Mechanical(NamedTuple):
    """A channel of the equations of motion: its kind, the name of its size, and a word for one of its entries."""

    kind: str
    size: str
    word: str


MECHANICS = {
    "q": Mechanical("state", "nq", "position"),
    "qd": Mechanical("state", "nv", "velocity"),
    "qdd": Mechanical("algebraic", "nv", "acceleration"),
    "tau": Mechanical("control", "nv", "torque or force"),
    "lam": Mechanical("algebraic", "rows", "contact force"),
}
"""The five channels of the equations of motion. q lies on the configuration manifold of the model."""

RESERVED = (*MECHANICS, "inner", "T", "k", "s", "speed", "time", "Lam", "qd_plus", "t", "phase", "impulse")
"""Names that no channel of a component can have; nor can it be called T0, T1, ..., as the durations of the phases."""


@dataclass(frozen=True)
class Channel:
    """A quantity of the motion over time that a `Component` declares, with one or several entries.

    | field | meaning |
    |---|---|
    | name | an identifier, such as "heat": `instant["heat"]`, `solution["heat"]` |
    | kind | "state": has a derivative; "control": chosen freely; "algebraic": follows from rows at every instant |
    | labels | names of the entries, such as names of dofs; or their number |
    | unit | for tables and plots, such as "K" |
    | scale | typical magnitude, one number or one per entry |
    | bounds | (lower, upper), each one number or one per entry; they hold at all nodes, stages or intervals |
    | neutral | first guess, one number or one per entry; by default 0, or the bound that is next to 0 |
    | mirror | mirror image, for mirrored periods: "same", "signed", "unsigned", or a dict, see below |
    | rate | largest magnitude of the derivative, may be inf; a control with a rate is continuous |
    | periodic | whether it repeats with a periodic motion |

    The mirror image of an entry is that of its dof, "signed" for angles and torques, "unsigned" for temperatures and
    activations; or given by a dict {label: (label of the image, sign)}. A control with a rate is linear along the
    intervals.

    >>> ocp.Channel("heat", labels=["knee", "hip"], unit="K", bounds=(0, 80), mirror="unsigned").size
    2
    """

    name: str
    kind: str = "state"
    labels: Any = 1
    unit: str = ""
    scale: Any = 1.0
    bounds: Any = (-np.inf, np.inf)
    neutral: Any = None
    mirror: Any = None
    rate: float | None = None
    periodic: bool = True

    def __post_init__(self) -> None:
        here = f"Channel {repr_in_message(given_name(self.name, 'Channel name'))}"
        taken = self.name in RESERVED or (self.name[0] == "T" and self.name[1:].isdecimal())
        if not self.name.isidentifier() or taken:
            reason = "is a name of the library" if taken else "is no identifier, such as 'heat'"
            raise ValueError(f"{here}: the name {reason}: give another one")
        choice(self.kind, KINDS, f"{here}: kind")
        if not isinstance(self.unit, str):
            raise TypeError(f"{here}: unit must be a text, such as 'K', got {repr_in_message(self.unit)}")
        self._put("labels", _labels(self.labels, here))
        self._put("scale", self._entries(all_positive(self.scale, f"{here}: scale"), f"{here}: scale"))
        if not is_pair(self.bounds):
            raise ValueError(f"{here}: bounds must be (lower, upper), got {repr_in_message(self.bounds)}")
        limits = bounds(self.bounds[0], self.bounds[1], f"{here}: bounds")
        self._put("bounds", tuple(self._entries(limit, f"{here}: bounds") for limit in limits))
        nearest = np.clip(0.0, *(np.array(limit) for limit in self.bounds))
        neutral = nearest if self.neutral is None else numbers(self.neutral, f"{here}: neutral")
        if not np.all(np.isfinite(neutral)):
            raise ValueError(f"{here}: neutral must be finite, got {repr_in_message(self.neutral)}")
        self._put("neutral", self._entries(neutral, f"{here}: neutral"))
        self._check_rate(here)
        self._check_mirror(here)
        truth(self.periodic, f"{here}: periodic")

    def _put(self, key: str, value: Any) -> None:
        object.__setattr__(self, key, value)

    def _entries(self, found: Array, what: str) -> tuple[float, ...]:
        """One number per entry."""
        if found.size not in (1, self.size):
            raise ValueError(f"{what}: give one number, or {self.size} (one per entry), got {found.size}")
        return tuple(np.broadcast_to(found, (self.size,)).tolist())

    def _check_rate(self, here: str) -> None:
        if self.rate is None:
            return
        if self.kind == "algebraic":
            raise ValueError(
                f"{here}: an algebraic channel has no rate: leave rate out, or make it a state or a control"
            )
        rate = number(self.rate, f"{here}: rate")
        self._put("rate", rate if rate == np.inf else not_negative(rate, f"{here}: rate"))

    def _check_mirror(self, here: str) -> None:
        if self.mirror is None or (isinstance(self.mirror, str) and choice(self.mirror, IMAGES, f"{here}: mirror")):
            return
        given = self.mirror
        if isinstance(given, tuple):  # a copy has the checked form
            given = {name: pair for name, *pair in given}
        if not isinstance(given, Mapping):
            raise TypeError(
                f"{here}: mirror must be one of {', '.join(IMAGES)} or a dict {{label: (label, sign)}}, got "
                f"{repr_in_message(self.mirror)}"
            )
        pairs = {name: tuple(pair) for name, pair in given.items()}
        images = [pair[0] for pair in pairs.values() if len(pair) == 2 and pair[1] in (1, -1)]
        if sorted(pairs) != sorted(self.labels) or sorted(images) != sorted(self.labels):
            raise ValueError(
                f"{here}: mirror must give every label one image and a sign, 1 or -1: {{label: (label, sign)}} over "
                f"{names_in_message(self.labels)}, got {repr_in_message(self.mirror)}"
            )
        uneven = [name for name, (image, sign) in pairs.items() if pairs[image] != (name, sign)]
        if uneven:
            image, sign = pairs[uneven[0]]
            raise ValueError(
                f"{here}: mirror must be a reflection, whose image is the original, and the image of {uneven[0]!r} is "
                f"{(image, sign)}, that of {image!r} {pairs[image]}: give {image!r} the image {(uneven[0], sign)}"
            )
        self._put("mirror", tuple((name, *pairs[name]) for name in self.labels))

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.labels)

    @property
    def at_nodes(self) -> bool:
        """Whether the channel has a value at every node: states, and controls with a rate."""
        return self.kind == "state" or (self.kind == "control" and self.rate is not None)

    def names(self) -> tuple[str, ...]:
        """Names of the entries for tables and messages: "heat knee"; of an only entry without a label "heat"."""
        return tuple(f"{self.name} {label}".rstrip() for label in self.labels)

    def to_dict(self) -> dict[str, Any]:
        """The channel as plain data, for a file: `channel_of_dict` makes an equal one."""
        plain = asdict(self)
        if isinstance(self.mirror, tuple):
            plain["mirror"] = {name: [image, sign] for name, image, sign in self.mirror}
        return plain

    def image(self, images: Mapping[str, tuple[str, float]]) -> DM:
        """The matrix (size, size) that maps the channel to its mirror image; images: those of the dofs, see
        `MirrorMap`.

        ValueError if labels are dofs and the channel does not say how they are mirrored, or an image is missing.
        """
        pairs = self._pairs(images)
        matrix = DM(self.size, self.size)
        for k, (image, sign) in enumerate(pairs):
            matrix[self.labels.index(image), k] = sign
        return matrix

    def mirrored_bounds(self, images: Mapping[str, tuple[str, float]]) -> tuple[Array, Array]:
        """(lower, upper) of the channel and of its mirror image together, which is the next period; images: as for
        `image`. ValueError if no value lies within both."""
        low, high = (np.array(limit) for limit in self.bounds)
        image = np.array(self.image(images).full())
        partner, sign = np.argmax(np.abs(image), axis=1), image.sum(axis=1)
        other = np.where(sign > 0, low[partner], -high[partner]), np.where(sign > 0, high[partner], -low[partner])
        both = np.maximum(low, other[0]), np.minimum(high, other[1])
        for k in np.flatnonzero(both[0] > both[1]):
            one, its = (f" of {self.labels[i]!r}" if self.labels[i] else "" for i in (k, partner[k]))
            raise ValueError(
                f"Channel {self.name!r}: in a mirrored period the bounds{one}, {low[k]:g} to {high[k]:g}, and the "
                f"mirrored ones{its}, {other[0][k]:g} to {other[1][k]:g}, hold together, and no value lies within "
                "both: give other bounds or another mirror, or write Periodic(mirror=False)"
            )
        return both

    def _pairs(self, images: Mapping[str, tuple[str, float]]) -> list[tuple[str, float]]:
        """The label of the image of every entry, and the sign."""
        if isinstance(self.mirror, tuple):
            return [(image, float(sign)) for _, image, sign in self.mirror]
        here, dofs = f"Channel {self.name!r}", [label for label in self.labels if label in images]
        if self.mirror == "same" or (self.mirror is None and not dofs):
            return [(label, 1.0) for label in self.labels]
        if self.mirror is None:
            raise ValueError(
                f"{here} has entries of dofs, such as {dofs[0]!r}, and the motion is mirrored: give mirror='signed' "
                "(angles, torques), 'unsigned' (temperatures, activations) or 'same'"
            )
        found = []
        for label in self.labels:
            image, sign = images.get(label, ("", 1.0))
            if not image or image not in self.labels:
                own = f"{label!r} is no dof" if label else "it has no labels, which would be dofs"
                what = f"{image!r}, the mirror image of {label!r}, is no label of it" if image else own
                raise ValueError(f"{here}: {what}: give mirror={{label: (label, sign)}}, or other labels")
            found.append((image, sign if self.mirror == "signed" else 1.0))
        return found


def _labels(given: Any, here: str) -> tuple[str, ...]:
    """Labels of the entries: those given, or numbers; an only entry has none."""
    if is_whole(given):
        if not 1 <= given <= MOST_ENTRIES:
            raise ValueError(f"{here}: labels must be names, or their number from 1 to {MOST_ENTRIES}, got {given!r}")
        return ("",) if given == 1 else tuple(str(k) for k in range(given))
    if isinstance(given, (set, frozenset, Mapping)):
        raise TypeError(f"{here}: labels must be a list of names, as their order counts, got {repr_in_message(given)}")
    names = tuple(sequence(given, f"{here}: labels must be a sequence of names, or their number"))
    if names == ("",):  # as a file, or a copy, gives it
        return names
    names = tuple(given_name(name, f"{here}: each label") for name in names)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"{here}: labels must be different names, one or more, got {repr_in_message(given)}")
    return names


def channel_of_dict(saved: Mapping[str, Any]) -> Channel:
    """The channel that `Channel.to_dict` wrote; ValueError for other data."""
    try:
        return Channel(**saved)
    except TypeError as error:
        raise ValueError(f"it is not a channel: {error}") from None


def distinct(channels: Sequence[Channel]) -> tuple[Channel, ...]:
    """The channels as a tuple; ValueError if two have one name."""
    names = [channel.name for channel in channels]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"two components declare the channel {twice!r}: let one component take all its joints, or give the "
            "channels different names"
        )
    return tuple(channels)
