"""Tables of a Lua file, read as data: constructors, constants, and arithmetic on numbers; no Lua is run.

    chunk  = {statement} ["return" value]
    statement = ["local"] name {"." name | "[" value "]"} "=" value; print(values), which does nothing
    value  = sum of products of powers of: number, text, true, false, nil, table, name with its fields, "(" value ")",
             math.pi, math.sqrt(value) and the like

Functions, loops, conditions and calls are refused: such a file computes, and only Lua can say what.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from ..._base.files import decoded
from ..._base.types import LARGEST_MAGNITUDE, ModelError, repr_in_message, suggestion

MOST_DEPTH = 60
TOKEN = re.compile(
    r"""(?P<comment>--\[(?P<a>=*)\[.*?\](?P=a)\]|--(?!\[=*\[)[^\n]*)|(?P<blank>\s+)
    |(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z_]\w*)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\[(?P<b>=*)\[.*?\](?P=b)\])
    |(?P<sign>\.\.\.?|[=~<>]=|[-+*/^%#={}\[\]();:,.<>])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
COMPUTES = ("function", "for", "while", "repeat", "if", "do", "goto", "and", "or", "not", "end", "then", "else")
REMEDY = "no Lua is run here: write the values as tables and numbers, such as Lua itself prints them"
MATH: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos,
    "atan": math.atan, "rad": math.radians, "deg": math.degrees, "abs": abs, "exp": math.exp, "log": math.log,
}  # fmt: skip
SIGNS: dict[str, tuple[int, Callable[[float, float], float]]] = {
    "+": (1, lambda x, y: x + y), "-": (1, lambda x, y: x - y), "*": (2, lambda x, y: x * y),
    "/": (2, lambda x, y: x / y), "%": (2, lambda x, y: x % y), "^": (4, lambda x, y: x**y),
}  # fmt: skip
"""Operators of two numbers: how tightly they bind, and what they do. A sign before a number binds as 3."""


@dataclass
class LuaTable:
    """A table: its list, its named fields, and the lines in which it and its fields begin."""

    line: int
    items: list[Any] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def put(self, key: Any, value: Any, line: int) -> bool:
        """Whether the key is one that tables of models have: a text, or the next number of the list."""
        if isinstance(key, str):
            self.fields[key], self.lines[key] = value, line
        elif key == len(self.items) + 1:
            self.items.append(value)
        elif isinstance(key, float) and 1 <= key <= len(self.items) and key == int(key):
            self.items[int(key) - 1] = value
        else:
            return False
        return True


class Token(NamedTuple):
    kind: str
    text: str
    line: int


def lua_value(text: str | bytes, source: str, name: str) -> Any:
    """The value that a Lua file returns; of a file that returns nothing its variable of this name.

    Numbers are floats, texts str, nil None, tables `LuaTable`. ModelError, with the line, for a file that computes,
    is not whole, too large or too deep.

    >>> from ocp_dyn.io.rbdl.lua import lua_value
    >>> lua_value("l = 0.4  model = {r = {0, 0, -l/2}}", "leg.lua", "model").fields["r"].items
    [0.0, 0.0, -0.2]
    """
    return _Chunk(_tokens(decoded(text, source), source), source).value(name)


def _tokens(text: str, source: str) -> list[Token]:
    found, line, at = [], 1, 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise ModelError(f"{source}, line {line}: {repr_in_message(text[at : at + 1])} is no Lua, or is not closed")
        kind = str(match.lastgroup)
        if match["comment"] is None and match["blank"] is None:
            kind = next(k for k in ("number", "name", "text", "sign") if match[k] is not None)
            found.append(Token(kind, match[0], line))
        line, at = line + match[0].count("\n"), match.end()
    return [*found, Token("end", "", line)]


class _Chunk:
    """The statements of a file, read one after the other, and the variables that they set."""

    def __init__(self, tokens: list[Token], source: str) -> None:
        self.tokens, self.source, self.at, self.depth = tokens, source, 0, 0
        self.variables: dict[str, Any] = {}

    def value(self, name: str) -> Any:
        while self.token.kind != "end":
            if self._take(";"):
                continue
            if self._take("return"):
                found = self._value()
                self._take(";")
                if self.token.kind != "end":
                    self._fail("nothing may follow what the file returns")
                return found
            self._statement()
        if name not in self.variables:
            raise ModelError(f"{self.source} returns nothing, and has no table {name!r}; end it by: return {name}")
        return self.variables[name]

    # Reading

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def _fail(self, message: str) -> NoReturn:
        raise ModelError(f"{self.source}, line {self.token.line}: {message}")

    def _take(self, text: str) -> bool:
        """Whether this sign or word comes next, and is then behind us."""
        if self.token.text != text or self.token.kind not in ("sign", "name"):
            return False
        self.at += 1
        return True

    def _need(self, text: str) -> None:
        if not self._take(text):
            got = repr_in_message(self.token.text) if self.token.text else "the end of the file"
            self._fail(f"expected {text!r}, got {got}")

    def _name(self) -> str:
        if self.token.kind != "name":
            self._fail(f"expected a name, got {repr_in_message(self.token.text or 'the end of the file')}")
        if self.token.text in COMPUTES:
            self._fail(f"{self.token.text!r} is not read: {REMEDY}")
        self.at += 1
        return self.tokens[self.at - 1].text

    def _statement(self) -> None:
        self._take("local")
        line, name = self.token.line, self._name()
        if name == "print" and self._take("("):
            while not self._take(")"):
                self._value()
                self._take(",")
            return
        path: list[Any] = []
        while not self._take("="):
            if self.token.text in ("(", ":", "{") or self.token.kind == "text":
                self._fail(f"the call of {name!r} is not read: {REMEDY}")
            path.append(self._key())
        value = self._value()
        if not path:
            self.variables[name] = value
            return
        table = self._found(name)
        for key in path[:-1]:
            table = self._field(table, key)
        if not isinstance(table, LuaTable) or not table.put(path[-1], value, line):
            self._fail(f"{repr_in_message(path[-1])} cannot be set there: it is no table, or the key is none of a list")

    def _key(self) -> Any:
        """.name or [value]."""
        if self._take("."):
            return self._name()
        self._need("[")
        key = self._value()
        self._need("]")
        return key

    def _found(self, name: str) -> Any:
        if name not in self.variables:
            self._fail(f"no variable {repr_in_message(name)} is set{suggestion(name, self.variables)}; {REMEDY}")
        return self.variables[name]

    def _field(self, table: Any, key: Any) -> Any:
        if not isinstance(table, LuaTable):
            self._fail(f"{repr_in_message(key)} is asked of what is no table")
        if isinstance(key, float) and 1 <= key <= len(table.items) and key == int(key):
            return table.items[int(key) - 1]
        if key not in table.fields:
            self._fail(f"the table has no {repr_in_message(key)}{suggestion(str(key), table.fields)}")
        return table.fields[key]

    # Values

    def _value(self, tightness: int = 0) -> Any:
        """A value, with the operators that bind more tightly than this."""
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self._fail(f"tables and brackets are more than {MOST_DEPTH} deep")
        found = self._number(self._value(3), "-") * -1 if self._take("-") else self._simple()
        while self.token.kind == "sign" and self.token.text in SIGNS:
            binds, apply = SIGNS[self.token.text]
            if binds <= tightness and not (binds == 4 and tightness == 4):  # a power of a power: from the right
                break
            sign = self._sign()
            other = self._value(binds if sign != "^" else 3)
            found = self._applied(apply, sign, found, other)
        if self.token.text in ("..", "==", "~=", "<", ">", "<=", ">=", "#", "and", "or"):
            self._fail(f"{self.token.text!r} is not read: {REMEDY}")
        self.depth -= 1
        return found

    def _sign(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1].text

    def _number(self, value: Any, sign: str) -> float:
        if not isinstance(value, float):
            self._fail(f"{sign!r} needs numbers, got {repr_in_message(value)[:60]}")
        return value

    def _applied(self, apply: Callable[..., Any], what: str, *values: Any) -> float:
        numbers = [self._number(value, what) for value in values]
        try:
            found = apply(*numbers)
        except (ArithmeticError, ValueError):
            found = math.nan
        if isinstance(found, complex) or not abs(found) <= LARGEST_MAGNITUDE:
            self._fail(f"{what!r} of {', '.join(f'{x:g}' for x in numbers)} is no number that a model can have")
        return float(found)

    def _simple(self) -> Any:
        token = self.token
        if token.kind == "number":
            self.at += 1
            number = float(int(token.text, 16)) if token.text[:2] in ("0x", "0X") else float(token.text)
            return self._applied(lambda x: x, "the number", min(number, 1e308))
        if token.kind == "text":
            self.at += 1
            return _text(token.text)
        if self._take("("):
            found = self._value()
            self._need(")")
            return found
        if token.text == "{" and token.kind == "sign":
            return self._table()
        for word, constant in (("true", True), ("false", False), ("nil", None)):
            if self._take(word):
                return constant
        return self._variable(self._name())

    def _variable(self, name: str) -> Any:
        if name == "math" and name not in self.variables:
            self._need(".")
            return self._of_math(self._name())
        found = self._found(name)
        while self.token.text in (".", "["):
            found = self._field(found, self._key())
        if self.token.text in ("(", ":"):
            self._fail(f"the call of {name!r} is not read: {REMEDY}")
        return found

    def _of_math(self, name: str) -> float:
        if name == "pi":
            return math.pi
        if name not in MATH:
            self._fail(f"math.{name} is not read{suggestion(name, MATH)}; {REMEDY}")
        self._need("(")
        value = self._value()
        self._need(")")
        return self._applied(MATH[name], f"math.{name}", value)

    def _table(self) -> LuaTable:
        table = LuaTable(self.token.line)
        self._need("{")
        while not self._take("}"):
            line, after = self.token.line, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
            if self.token.text == "[" and self.token.kind == "sign":
                self._need("[")
                key = self._value()
                self._need("]")
                self._need("=")
            elif self.token.kind == "name" and after.text == "=" and after.kind == "sign":
                key = self._name()
                self._need("=")
            else:
                key = float(len(table.items) + 1)
            if not table.put(key, self._value(), line):
                self._fail(f"the key {repr_in_message(key)} is neither a name nor the next number of a list")
            if not self._take(",") and not self._take(";") and self.token.text != "}":
                self._need("}")
        return table


def _text(written: str) -> str:
    """The text between its quotes or brackets."""
    if written[0] != "[":
        return ESCAPE.sub(lambda found: ESCAPED.get(found[1], found[1]), written[1:-1])
    size = written.index("[", 1) + 1
    return written[size:-size].removeprefix("\n")
