"""The words of a bioMod file, with their lines, without comments; numbers among them, plain and computed ones."""

from __future__ import annotations

import re

import numpy as np
from casadi import DM

from ..._base.files import decoded
from ..._base.formulas import formula
from ..._base.types import LARGEST_MAGNITUDE, Array, ModelError, repr_in_message, suggestion

COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
COMPUTED = re.compile(r"pi\b|[-+*/()$]", re.IGNORECASE)
"""Signs of a number that is computed, beside those of a plain one."""
PI = re.compile(r"\bpi\b", re.IGNORECASE)
VARIABLE = re.compile(r"\$([A-Za-z_]\w*)", re.ASCII)
MATRICES_BEFORE = 3
"""Version before which places of segments are matrices where they don't say."""


class Words:
    """The words of a file, read one after the other."""

    def __init__(self, text: str | bytes, source: str) -> None:
        plain = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), decoded(text, source))
        self.source = source
        self.words = [(word, k) for k, line in enumerate(plain.split("\n"), 1) for word in line.split()]
        self.next = 0
        self.variables: dict[str, float] = {}
        self.matrices = False
        """Whether places are matrices where they don't say."""

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

    def leave_out(self, count: int) -> None:
        """Goes on behind so many words."""
        for _ in range(count):
            self.word("a word")

    def number(self, what: str) -> float:
        """A number, or what is computed from numbers, pi and variables of the file: `-2*pi`, `$length/2`."""
        word = self.word(what)
        if not NUMBER.fullmatch(word) and not COMPUTED.search(word):
            raise self.fault(f"{what}: expected a finite decimal number, got {repr_in_message(word)}")
        value = float(word) if NUMBER.fullmatch(word) else self._computed(word, what)
        if not abs(value) <= LARGEST_MAGNITUDE:
            raise self.fault(f"{what}: {repr_in_message(word)} is larger than {LARGEST_MAGNITUDE:g}; correct it")
        return value

    def _computed(self, word: str, what: str) -> float:
        values = {f"v_{name}": DM(x) for name, x in self.variables.items()}
        for name in VARIABLE.findall(word):
            if name not in self.variables:
                raise self.fault(
                    f"{what}: no variable {repr_in_message('$' + name)} stands before it, in a block variables $NAME "
                    f"VALUE endvariables{suggestion(name, self.variables)}"
                )
        try:
            return float(formula(VARIABLE.sub(r"v_\1", PI.sub("pi", word)), values | {"pi": DM(np.pi)}))
        except ValueError as error:
            raise self.fault(f"{what}: {error}") from None

    def read_variables(self) -> None:
        """A block of variables, up to its end."""
        first = self.line
        while (word := self.word("endvariables")).lower() != "endvariables":
            found = VARIABLE.fullmatch(word)
            if not found or found[1] in self.variables:
                what = "is given twice" if found else "is no name such as $mass"
                raise self.fault(f"the variable {repr_in_message(word)} {what}, in the block of line {first}")
            self.variables[found[1]] = self.number(word)

    def numbers(self, count: int, what: str) -> Array:
        return np.array([self.number(what) for _ in range(count)])

    def skip_to(self, end: str) -> None:
        """Leaves out all words up to one of this name."""
        first = self.line
        while self.more():
            if self.word(end).lower() == end:
                return
        raise ModelError(f"{self.source}, line {first}: it has no {end}")
