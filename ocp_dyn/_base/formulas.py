"""Formulas of files: arithmetic with variables and functions, read as text and evaluated; nothing of Python is run.

    sum     = product (("+" | "-") product)*
    product = power (("*" | "/") power)*
    power   = "-" power | "+" power | atom ["^" power]
    atom    = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"

`-x^2` is -(x^2), and `2^3^2` is 2^9. After the formula, names for parts of it may stand, each behind a semicolon:
"2*y + 1; y = x^2"; a part may use those that follow it. This is the language of Lepton, in which OpenSim has formulas.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import casadi as ca
from casadi import DM

from .types import Expr, repr_in_message, suggestion

MOST_CHARACTERS, MOST_DEPTH = 10_000, 50
"""Length and depth of brackets, signs and powers beyond which a formula is refused."""
TOKEN = re.compile(r"\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)|([-+*/^(),]))", re.ASCII)
BLANK = re.compile(r"\s*\Z")

FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "sqrt": (1, ca.sqrt), "exp": (1, ca.exp), "log": (1, ca.log), "abs": (1, ca.fabs),
    "sin": (1, ca.sin), "cos": (1, ca.cos), "tan": (1, ca.tan),
    "sec": (1, lambda x: 1 / ca.cos(x)), "csc": (1, lambda x: 1 / ca.sin(x)), "cot": (1, lambda x: 1 / ca.tan(x)),
    "asin": (1, ca.asin), "acos": (1, ca.acos), "atan": (1, ca.atan), "atan2": (2, ca.atan2),
    "sinh": (1, ca.sinh), "cosh": (1, ca.cosh), "tanh": (1, ca.tanh),
    "erf": (1, ca.erf), "erfc": (1, lambda x: 1 - ca.erf(x)),
    "step": (1, lambda x: x >= 0), "delta": (1, lambda x: x == 0),
    "square": (1, lambda x: x * x), "cube": (1, lambda x: x * x * x), "recip": (1, lambda x: 1 / x),
    "min": (2, ca.fmin), "max": (2, ca.fmax), "floor": (1, ca.floor), "ceil": (1, ca.ceil),
    "select": (3, lambda x, y, z: ca.if_else(x == 0, z, y)),
}  # fmt: skip
"""Functions by their names: the number of arguments, and what computes them."""


def formula(text: str, values: Mapping[str, Expr]) -> Expr:
    """The value of a formula, where its variables have these values, numbers or expressions.

    ValueError, with the place, for a formula that is not whole, for unknown names, and for one that is too long or too
    deep.

    >>> from casadi import DM
    >>> from ocp_dyn._base.formulas import formula
    >>> formula("-x^2 + 3*y; y = max(x, 1)", {"x": DM(2.0)})
    DM(2)
    """
    if not isinstance(text, str):
        raise TypeError(f"a formula must be a text, got {repr_in_message(text)}")
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"a formula of {len(text)} characters; at most {MOST_CHARACTERS} are read")
    whole, *parts = text.split(";")
    known = dict(values)
    for part in reversed(parts):
        name, sign, rest = part.partition("=")
        if not part.strip():
            continue
        if not sign or not name.strip().isidentifier():
            raise ValueError(f"{repr_in_message(part.strip())}: a part of a formula must read name = formula")
        known[name.strip()] = _Formula(rest, known).value()
    return _Formula(whole, known).value()


class _Formula:
    """One formula, evaluated as it is read."""

    def __init__(self, text: str, values: Mapping[str, Expr]) -> None:
        self.text, self.values, self.at, self.depth = text, values, 0, 0
        self.token = ""
        self._next()

    def value(self) -> Expr:
        found = self._sum()
        if self.token:
            self._fail(f"{repr_in_message(self.token)} stands where the formula could end or go on")
        return found

    def _fail(self, message: str) -> NoReturn:
        raise ValueError(f"{message}; in the formula {repr_in_message(self.text.strip())}")

    def _next(self) -> str:
        """The present token, after which the next one is present; "" at the end."""
        before = self.token
        found = TOKEN.match(self.text, self.at)
        if found is None and not BLANK.match(self.text, self.at):
            self._fail(f"{repr_in_message(self.text[self.at :].strip()[:1])} is no part of a formula")
        self.token = found[0].strip() if found else ""
        self.at = found.end() if found else len(self.text)
        return before

    def _sum(self) -> Expr:
        found = self._product()
        while self.token in ("+", "-"):
            found = found + self._product() if self._next() == "+" else found - self._product()
        return found

    def _product(self) -> Expr:
        found = self._power()
        while self.token in ("*", "/"):
            found = found * self._power() if self._next() == "*" else found / self._power()
        return found

    def _power(self) -> Expr:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self._fail(f"brackets, signs and powers are more than {MOST_DEPTH} deep")
        if self.token in ("-", "+"):
            found = -self._power() if self._next() == "-" else self._power()
        else:
            found = self._atom()
            if self.token == "^":
                self._next()
                found = _raised(found, self._power())
        self.depth -= 1
        return found

    def _atom(self) -> Expr:
        token = self._next()
        if token == "(":
            found = self._sum()
            self._closed()
            return found
        if token[:1].isdigit() or token[:1] == ".":
            number = float(token)
            return DM(number) if math.isfinite(number) else self._fail(f"{token} is too large")
        if not token or not (token[0].isalpha() or token[0] == "_"):
            what = repr_in_message(token) if token else "the end"
            self._fail(f"{what} stands where a number, a name or a bracket is expected")
        return self._call(token) if self.token == "(" else self._named(token)

    def _named(self, name: str) -> Expr:
        if name not in self.values:
            self._fail(
                f"there is no variable {repr_in_message(name)}{suggestion(name, self.values)}; there are "
                f"{', '.join(self.values)}"
            )
        return self.values[name]

    def _call(self, name: str) -> Expr:
        if name not in FUNCTIONS:
            self._fail(f"there is no function {repr_in_message(name)}{suggestion(name, FUNCTIONS)}")
        self._next()
        arguments = [self._sum()]
        while self.token == ",":
            self._next()
            arguments.append(self._sum())
        self._closed()
        size, function = FUNCTIONS[name]
        if len(arguments) != size:
            self._fail(f"{name} has {len(arguments)} arguments, expected {size}")
        found: Expr = function(*arguments)
        return found

    def _closed(self) -> None:
        if self._next() != ")":
            self._fail("a bracket is not closed")


def _raised(base: Expr, exponent: Expr) -> Expr:
    """base^exponent; small whole powers as products, whose derivatives are finite at zero."""
    if isinstance(exponent, DM) and float(exponent) == int(float(exponent)) and 1 <= float(exponent) <= 8:
        found = base
        for _ in range(int(float(exponent)) - 1):
            found = found * base
        return found
    return base**exponent
