"""Texts with places for values, each in a file of its own language beside the module that fills it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

PLACE = re.compile(r"@(\w+)@")


@cache
def _lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8").splitlines())


def lines_of(path: Path, **values: Any) -> list[str]:
    """The lines of a text with `@NAME@` replaced by the value NAME.

    A line that is only `@NAME@` gives place to the lines of a list. The lines from `@if NAME` to `@else` stand for a
    true value, those from there to `@end` for any other.
    """
    found: list[str] = []
    stays = True
    for line in _lines(path):
        word, _, name = line.partition(" ")
        if word == "@if":
            stays = bool(values[name])
        elif word == "@else":
            stays = not stays
        elif word == "@end":
            stays = True
        elif stays:
            place = PLACE.fullmatch(line)
            value = values[place[1]] if place else None
            found += value if isinstance(value, list) else [PLACE.sub(lambda m: str(values[m[1]]), line)]
    return found


def text_of(path: Path, **values: Any) -> str:
    """The text of `lines_of`, without blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in lines_of(path, **values)) + "\n"
