"""Values of attributes of MJCF, each checked: numbers, words and switches, with the defaults of its class."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from ..._base.types import LARGEST_MAGNITUDE, Array, repr_in_message, suggestion
from ..xml import XmlElement

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
SWITCH = {"true": True, "false": False}
"""Words of a switch; a third one, "auto", leaves a choice to the file."""


class Values:
    """The attributes of one element: its own before those of its default class."""

    def __init__(self, element: XmlElement, defaults: Mapping[str, str] | None = None) -> None:
        self.element = element
        self.own = element.attributes
        self.all: dict[str, str] = {**(defaults or {}), **element.attributes}

    def __contains__(self, key: str) -> bool:
        return key in self.all

    @property
    def name(self) -> str:
        return self.own.get("name", "")

    def text(self, key: str, default: str = "") -> str:
        return self.all.get(key, default)

    def numbers(
        self, key: str, least: int, most: int | None = None, default: Sequence[float] = (), infinite: bool = False
    ) -> Array:
        """The numbers of an attribute, from `least` to `most` of them; those of `default` if it is absent."""
        if key not in self.all:
            return np.array(default, dtype=float)
        words, most = self.all[key].split(), least if most is None else most
        if not least <= len(words) <= most:
            count = f"{least}" if least == most else f"{least} to {most}"
            plural = "number" if count == "1" else "numbers"
            raise self.element.fault(
                f"{key}={repr_in_message(self.all[key])} has {len(words)} values, expected {count} {plural}"
            )
        return np.array([self._number(key, word, infinite) for word in words])

    def number(self, key: str, default: float = 0.0) -> float:
        return float(self.numbers(key, 1, default=(default,))[0])

    def vector(self, key: str, default: Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
        return self.numbers(key, 3, default=default)

    def _number(self, key: str, word: str, infinite: bool) -> float:
        if infinite and INFINITE.fullmatch(word):
            return -math.inf if word.startswith("-") else math.inf
        if not NUMBER.fullmatch(word):
            hint = "; write a point, not a comma, before decimals" if "," in word else ""
            raise self.element.fault(
                f"{key}={repr_in_message(self.all[key])}: expected finite decimal numbers, got "
                f"{repr_in_message(word)}{hint}"
            )
        value = float(word)
        if abs(value) > LARGEST_MAGNITUDE:
            raise self.element.fault(
                f"{key}={repr_in_message(self.all[key])}: {repr_in_message(word)} is larger than "
                f"{LARGEST_MAGNITUDE:g}, no physical value; correct it"
            )
        return value

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        value = self.number(key, default)
        if value != int(value) or not least <= value <= most:
            raise self.element.fault(
                f"{key}={repr_in_message(self.all.get(key))} must be a whole number from {least} to {most}"
            )
        return int(value)

    def word(self, key: str, known: Sequence[str], default: str) -> str:
        value = self.all.get(key, default)
        if value not in known:
            raise self.element.fault(
                f"{key}={repr_in_message(value)}, expected one of {', '.join(known)}{suggestion(value, known)}"
            )
        return value

    def switch(self, key: str, default: bool = False) -> bool:
        return SWITCH[self.word(key, ("true", "false"), str(default).lower())]

    def range_of(self, key: str, limited: str, auto: bool) -> Array | None:
        """The numbers of a range if it counts: by the switch `limited`, or by itself where that is "auto".

        A range whose first number is not below the second counts only if the switch says so, and is then wrong.
        """
        found = self.numbers(key, 2, default=(0.0, 0.0), infinite=True)
        state = self.word(limited, ("true", "false", "auto"), "auto")
        if state == "auto" and key in self.all and not auto:
            raise self.element.fault(
                f'{key} without {limited} is refused where <compiler autolimits="false">: write {limited}="true" or '
                '"false"'
            )
        if state == "false" or (state == "auto" and not found[0] < found[1]):
            return None
        if not found[0] < found[1]:
            raise self.element.fault(
                f"{key}={repr_in_message(self.text(key))}: the first number must be below the second"
            )
        return found

    def reference(self, key: str, known: Mapping[str, object], what: str) -> str:
        """The name that an attribute gives, of something that the file has."""
        name = self.text(key)
        if name not in known:
            raise self.element.fault(
                f"{key}={repr_in_message(name)}: the file has no {what} of this name{suggestion(name, known)}"
            )
        return name
