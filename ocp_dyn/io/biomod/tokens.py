"""The words of a bioMod file, with their lines, without comments; and numbers among them."""

from __future__ import annotations

import re

import numpy as np

from ..._base.files import decoded
from ..._base.types import LARGEST_MAGNITUDE, Array, ModelError, repr_in_message

COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
PI = re.compile(r"([+-]?)pi", re.IGNORECASE)


class Words:
    """The words of a file, read one after the other."""

    def __init__(self, text: str | bytes, source: str) -> None:
        plain = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), decoded(text, source))
        self.source = source
        self.words = [(word, k) for k, line in enumerate(plain.split("\n"), 1) for word in line.split()]
        self.next = 0

    @property
    def line(self) -> int:
        """The line of the word that was read last."""
        return self.words[self.next - 1][1] if self.next else 1

    def fault(self, message: str) -> ModelError:
        return ModelError(f"{self.source}, line {self.line}: {message}")

    def more(self) -> bool:
        return self.next < len(self.words)

    def peek(self) -> str:
        return self.words[self.next][0] if self.more() else ""

    def word(self, what: str) -> str:
        if not self.more():
            raise self.fault(f"the file ends where {what} is expected")
        self.next += 1
        return self.words[self.next - 1][0]

    def rest_of_line(self) -> list[str]:
        """The words that are left on the line of the last one."""
        line, found = self.line, []
        while self.more() and self.words[self.next][1] == line:
            found.append(self.word("a word"))
        return found

    def number(self, what: str) -> float:
        word = self.word(what)
        if PI.fullmatch(word):
            return -np.pi if word.startswith("-") else np.pi
        if not NUMBER.fullmatch(word):
            computed = any(sign in word for sign in "$*/()")
            hint = "; a file that computes is not read: write the value" if computed else ""
            raise self.fault(f"{what}: expected a finite decimal number, got {repr_in_message(word)}{hint}")
        value = float(word)
        if abs(value) > LARGEST_MAGNITUDE:
            raise self.fault(f"{what}: {repr_in_message(word)} is larger than {LARGEST_MAGNITUDE:g}; correct it")
        return value

    def numbers(self, count: int, what: str) -> Array:
        return np.array([self.number(what) for _ in range(count)])

    def skip_to(self, end: str) -> None:
        """Leaves out all words up to one of this name."""
        first = self.line
        while self.more():
            if self.word(end).lower() == end:
                return
        raise ModelError(f"{self.source}, line {first}: it has no {end}")
