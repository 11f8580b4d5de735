"""A casadi.Function that checks the number, kind and shape of its arguments, with messages that name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from .._base.types import PLAIN, positional, repr_in_message, suggestion
from .description import Description, card_html
from .quantities import NO_ROWS, UNKNOWN_Q, InputRows

Shape = tuple[int, ...]


class CheckedFunction(ca.Function):
    """The casadi.Function that `od.function` returns; it behaves as one, and checks the arguments of every call.

    A plain casadi.Function copies a single number to all entries of an input and sets missing inputs to zero, also
    quaternions, for which zero gives NaN. Here every input must be given in its full size: as a column, as a row, or as
    k columns side by side for k evaluations at once. The number 0 stands for zeros in every input but a configuration
    q. Numbers give a DM, of which `.full()` makes an array.

    rows: by input, for messages.
    """

    description: Description | None = None
    """Model and arguments, if `od.function` made it; the results of `map`, copies and pickles have none."""

    def __init__(self, *args: Any, rows: Mapping[str, InputRows] | None = None, repeats: bool = False) -> None:
        super().__init__(*args)
        self.rows, self._repeats = dict(rows or {}), repeats

    def map(self, *args: Any, **options: Any) -> CheckedFunction:
        """`casadi.Function.map`; the arguments of the result are checked too. Fewer columns than evaluations are
        repeated."""
        return CheckedFunction(super().map(*args, **options), rows=self.rows, repeats=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not args and self.n_in():
            missing = [name for name in self.name_in() if name not in kwargs]
            if missing and all(name in self.name_in() for name in kwargs):  # `call` reports wrong names
                raise TypeError(f"{self.name()}: {_listed(missing)} not given; inputs are {_listed(self.name_in())}")
        if args and kwargs:
            raise TypeError(f"{self.name()}: give all arguments in order, or all by name")
        return super().__call__(*args, **kwargs)

    def _repr_html_(self) -> str:
        """Signature, sizes, units and number of operations, for notebooks."""
        return card_html(self)

    def call(self, arguments: Any, *inlining: Any) -> Any:
        """`casadi.Function.call`, its arguments checked: a sequence, or a mapping by names of inputs."""
        names = self.name_in()
        if isinstance(arguments, Mapping):
            unknown = [name for name in arguments if name not in names]
            if unknown:
                hint = suggestion(unknown[0], names)
                raise TypeError(f"{self.name()}: no input {_listed(unknown)}; inputs are {_listed(names)}{hint}")
            given = [(names.index(name), value) for name, value in arguments.items()]
        else:
            arguments = values = _sequence(self, arguments)
            if len(values) != len(names):
                raise TypeError(f"{self.name()} takes {len(names)} arguments ({_listed(names)}), got {len(values)}")
            given = list(enumerate(values))
        given, arguments = self._by_position(given, arguments)
        self._check(given)
        try:
            return super().call(arguments, *inlining)
        except NotImplementedError:  # how CasADi says that no overload fits
            kinds = ", ".join(type(value).__name__ for _, value in given)
            raise TypeError(
                f"{self.name()}: arguments must be numbers, or expressions of one kind (SX or MX), got {kinds}"
            ) from None

    def _by_position(self, given: list[tuple[int, Any]], arguments: Any) -> tuple[list[tuple[int, Any]], Any]:
        """The arguments without labels, in the order of the rows of their inputs, see `positional`."""
        if PLAIN.issuperset(type(value) for _, value in given):
            return given, arguments
        names, none = self.name_in(), NO_ROWS
        plain = [
            (i, positional(value, f"{self.name()}: {names[i]}", self.rows.get(names[i], none).names))
            for i, value in given
        ]
        return plain, {names[i]: value for i, value in plain} if isinstance(arguments, Mapping) else [
            x for _, x in plain
        ]

    def _check(self, given: list[tuple[int, Any]]) -> None:
        """Checks that every argument fits its input, and that all hold equally many evaluations."""
        counts: dict[str, int] = {}
        for i, value in given:
            name, expected = self.name_in(i), self.size_in(i)
            got = _shape(value)
            if got is None:
                raise TypeError(f"{self.name()}: {name} must be numbers or an expression, got {repr_in_message(value)}")
            count = _evaluations(got, expected)
            rows = self.rows.get(name, UNKNOWN_Q if name == "q" else NO_ROWS)
            if count is None and self._repeats and len(got) == 2 and got[0] == expected[0] and got[1]:
                count = 1 if expected[1] % got[1] == 0 else None
            if count is None and got in ((), (1, 1)) and rows.symbol != "nq" and _is_zero(value):
                count = 1
            if count is None:
                remedy = _remedy(rows.symbol) if got in ((), (1, 1)) else ""
                raise ValueError(f"{self.name()}: {name} has the shape {got}, expected {expected}{rows.text}{remedy}")
            if count > 1:
                counts[name] = count
            if rows.parameter and not isinstance(value, (SX, MX)):
                rows.check(_evaluated(value, expected[0]), f"{self.name()}: {name}")
        if len(set(counts.values())) > 1:
            got_counts = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise ValueError(
                f"{self.name()}: arguments for several evaluations at once must hold equally many, got {got_counts}"
            )


def _sequence(f: ca.Function, arguments: Any) -> list[Any]:
    if isinstance(arguments, (str, DM, SX, MX)) or not isinstance(arguments, Iterable):
        raise TypeError(
            f"{f.name()}: call takes a list of arguments or a dict by name, got {repr_in_message(arguments)}"
        )
    return list(arguments)


def _shape(value: Any) -> Shape | None:
    """The shape of an argument; None if it is neither numbers nor an expression."""
    if isinstance(value, (DM, SX, MX)) or (hasattr(value, "tocsc") and hasattr(value, "shape")):
        return tuple(value.shape)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, NotImplementedError, RuntimeError, OverflowError):
        return None
    return array.shape if array.dtype.kind in "biuf" else None


def _evaluations(got: Shape, expected: tuple[int, int]) -> int | None:
    """Number of evaluations that an argument of shape `got` asks for; None if the shape does not fit the input."""
    rows, columns = expected
    if len(got) > 2:
        return None
    r, c = (*got, 1, 1)[:2] if len(got) < 2 else got
    if (r, c) == (rows, columns) or (0 in (r, c) and 0 in expected):
        return 1
    if columns == 1 and (r, c) == (1, rows):
        return 1
    return c // columns if r == rows and columns and c and c % columns == 0 else None


def _evaluated(value: Any, size: int) -> np.ndarray:
    """Numbers of an input of `size` entries, a row for each evaluation."""
    x = np.asarray(DM(value).full() if hasattr(value, "tocsc") or isinstance(value, DM) else value, dtype=float)
    if x.size == 1:
        return np.full((1, size), x.item())
    return x.T if x.ndim == 2 and x.shape[0] == size else x.reshape(-1, size)


def _is_zero(value: Any) -> bool:
    """Whether one entry is the number 0."""
    return not isinstance(value, (SX, MX)) and float(value) == 0


def _remedy(symbol: str) -> str:
    """The end of a message: arguments to write in place of one number."""
    if symbol == "nq":
        return (
            "; one number does not stand for all entries: model.neutral() is the configuration in which no joint is "
            "displaced"
        )
    return "; one number does not stand for all entries, except 0"


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names))
