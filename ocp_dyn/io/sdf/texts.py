"""Values in the text of SDF elements, each checked."""

from __future__ import annotations

import math
import re

import numpy as np

from ..._base.types import LARGEST_MAGNITUDE, Array, repr_in_message
from ..xml import XmlElement

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
ENDLESS = 1e16
"""Number from which on a limit is none, by the format's defaults."""


def numbers_in(element: XmlElement, count: int) -> Array:
    """The finite numbers in the text of an element."""
    words = element.text.split()
    if len(words) != count:
        raise element.fault(f"{repr_in_message(element.text.strip())} has {len(words)} values, expected {count}")
    return np.array([_number(element, word) for word in words])


def _number(element: XmlElement, word: str) -> float:
    if not NUMBER.fullmatch(word):
        hint = "; write a point, not a comma, before decimals" if "," in word else ""
        raise element.fault(f"expected finite decimal numbers, got {repr_in_message(word)}{hint}")
    value = float(word)
    if abs(value) > LARGEST_MAGNITUDE:
        raise element.fault(f"{repr_in_message(word)} is larger than {LARGEST_MAGNITUDE:g}, no physical value")
    return value


def number(parent: XmlElement | None, tag: str, default: float = 0.0) -> float:
    """The number in a child; the default without the child."""
    child = None if parent is None else parent.child(tag)
    return default if child is None else float(numbers_in(child, 1)[0])


def limit(parent: XmlElement | None, tag: str, default: float) -> float:
    """The number in a child that is a limit: infinite from `ENDLESS` on."""
    child = None if parent is None else parent.child(tag)
    if child is None:
        return default
    word = child.text.strip()
    value = (-math.inf if word.startswith("-") else math.inf) if INFINITE.fullmatch(word) else _number(child, word)
    return math.copysign(math.inf, value) if abs(value) >= ENDLESS else value


def switch(parent: XmlElement, tag: str, default: bool = False) -> bool:
    """The truth value in a child."""
    child = parent.child(tag)
    if child is None:
        return default
    text = child.text.strip().lower()
    if text not in ("true", "false", "1", "0"):
        raise child.fault(f"expected true or false, got {repr_in_message(text)}")
    return text in ("true", "1")


def name_of(element: XmlElement, taken: dict[str, XmlElement]) -> str:
    """The name of an element, which no other one in the model has."""
    name = element.get("name").strip()
    if not name:
        raise element.fault('it has no name="..."; give it a unique one')
    if name.startswith("__") or name == "world":
        raise element.fault(f"the name {repr_in_message(name)} is reserved; rename it")
    if name in taken:
        raise element.fault(f"the name {repr_in_message(name)} is taken by line {taken[name].line}; rename one of them")
    taken[name] = element
    return name
