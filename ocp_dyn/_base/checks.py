"""Checks of user input: numbers, names, bounds, and the results of the user's functions.

A check that fails raises one exception with the expected value, the given value and, if there is one, the remedy. A
check that succeeds returns the value, numbers as plain Python floats and ints: the call can replace the value.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar, cast

import casadi as ca
import numpy as np
from casadi import DM, SX

from . import types as _types
from .types import Array, name_fault, positional, repr_in_message, sequence, suggestion

C = TypeVar("C")
F = TypeVar("F", bound=Callable[..., Any])

CONVERSION_ERRORS = (TypeError, ValueError, ArithmeticError, AttributeError, RuntimeError)
"""Exceptions that CasADi and numpy raise if an object cannot be converted to a matrix."""

truth = _types.truth

ROOT = __name__.partition(".")[0]

NAMES_LISTED = 12
"""Largest number of names that a message lists."""


def numbers(value: Any, what: str, names: Sequence[str] = ()) -> Array:
    """`value` as a flat array of floats, which may be infinite; TypeError if it holds anything else, ValueError for
    NaN. names: of the entries, see `_types.positional`."""
    value = positional(value, what, names)
    if isinstance(value, (SX, ca.MX)):
        raise TypeError(f"{what} must be a number, or numbers, got the expression {repr_in_message(value)}")
    try:
        given = np.asarray(value.full() if isinstance(value, DM) else value)
        if given.dtype.kind in "USc":
            raise TypeError("text, or complex numbers")
        found = np.array([float(x) for x in given.ravel()]) if given.dtype == object else given.astype(float).ravel()
    except OverflowError:
        raise ValueError(f"{what} must hold numbers that fit into a float, got {repr_in_message(value)}") from None
    except CONVERSION_ERRORS:
        raise TypeError(f"{what} must be a number, or numbers, got {repr_in_message(value)}") from None
    if np.any(np.isnan(found)):
        raise ValueError(f"{what} must not hold NaN, got {repr_in_message(value)}")
    return np.asarray(found, dtype=np.float64)


def number(value: Any, what: str) -> float:
    """One number, perhaps infinite."""
    found = numbers(value, what)
    if found.size != 1:
        raise TypeError(f"{what} must be one number, got {repr_in_message(value)}")
    return float(found[0])


def finite(value: Any, what: str) -> float:
    """One finite number."""
    found = number(value, what)
    if not math.isfinite(found):
        raise ValueError(f"{what} must be finite, got {repr_in_message(value)}")
    return found


def positive(value: Any, what: str) -> float:
    """One finite number above zero."""
    found = finite(value, what)
    if not found > 0:
        raise ValueError(f"{what} must be positive, got {repr_in_message(value)}")
    return found


def not_negative(value: Any, what: str, remedy: str = "") -> float:
    """One finite number, zero or above."""
    found = finite(value, what)
    if not found >= 0:
        raise ValueError(f"{what} must not be negative, got {repr_in_message(value)}{remedy}")
    return found


def whole(value: Any, what: str, least: int = 0, most: int = 2**31 - 1) -> int:
    """A whole number between `least` and `most`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        limit = f" and at most {most}" if isinstance(value, (int, np.integer)) and value > most else ""
        raise ValueError(f"{what} must be at least {least}{limit}, a whole number, got {repr_in_message(value)}")
    return int(value)


def within(value: Any, low: float, high: float, must: str) -> float:
    """`value` as a number from low to high; TypeError if it is no number, ValueError outside. must: what it has to be,
    with which the message begins."""
    if isinstance(value, bool) or not isinstance(value, (Real, np.number)):
        raise TypeError(f"{must}, got {value!r}: give one number")
    if not low <= float(value) <= high:
        raise ValueError(f"{must}, got {value}")
    return float(value)


def all_positive(value: Any, what: str, infinite: bool = False) -> Array:
    """One number or several, all above zero; `infinite` allows inf."""
    found = numbers(value, what)
    if not found.size or not np.all(found > 0) or not (infinite or np.all(np.isfinite(found))):
        raise ValueError(f"{what} must be positive{'' if infinite else ' and finite'}, got {repr_in_message(value)}")
    return found


def sides(lower: Any, upper: Any) -> tuple[Any, Any]:
    """Both sides of bounds; a side that is None is free."""
    return (-math.inf if lower is None else lower), (math.inf if upper is None else upper)


def bounds(lower: Any, upper: Any, what: str) -> tuple[Array, Array]:
    """Lower and upper limits as arrays of one or several numbers, lower <= upper; -inf, inf and None mean no limit."""
    lower, upper = sides(lower, upper)
    low, high = numbers(lower, f"{what}: the lower limit"), numbers(upper, f"{what}: the upper limit")
    if np.any(low == np.inf) or np.any(high == -np.inf):
        raise ValueError(
            f"{what}: a lower limit of inf, or an upper limit of -inf, allows no value, got {repr_in_message(lower)} "
            f"and {repr_in_message(upper)}: for no limit write lower=-inf, upper=inf"
        )
    if (low.size in (1, high.size) or high.size == 1) and not np.all(low <= high):
        raise ValueError(f"{what}: needs lower <= upper, got {repr_in_message(lower)} and {repr_in_message(upper)}")
    return low, high


def label(value: Any, what: str) -> str:
    """A name: a string that is not empty."""
    if not isinstance(value, str) or not value:
        raise TypeError(f"{what} must be a name, a string that is not empty, got {repr_in_message(value)}")
    return value


def given_name(value: Any, what: str) -> str:
    """A name that the user gives to something: files bring it back."""
    if fault := name_fault(label(value, what)):
        raise ValueError(f"{what} {repr_in_message(value)}: a name {fault}")
    return str(value)


def choice(value: Any, known: Iterable[str], what: str) -> str:
    """One of a few words."""
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        listed = ", ".join(word or "''" for word in words)
        raise ValueError(f"{what} must be one of {listed}, got {repr_in_message(value)}{suggestion(value, words)}")
    return value


def some_of(values: Any, known: Iterable[str], what: str) -> tuple[str, ...]:
    """One or more of a few words, given as a sequence or as one text; ValueError for any other."""
    words = tuple(known)
    given = (values,) if isinstance(values, str) else tuple(sequence(values, f"{what} must be names"))
    wrong = [value for value in given if not isinstance(value, str) or value not in words]
    if wrong or not given:
        near = suggestion(wrong[0], words) if wrong else ""
        raise ValueError(
            f"{what} must be some of {', '.join(words)}, got {repr_in_message(wrong[0]) if wrong else 'none'}{near}"
        )
    return given


def is_pair(value: Any) -> bool:
    """Whether a value is a tuple, a list or an array of two entries."""
    sized = isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.ndim > 0)
    return sized and len(value) == 2


def name_among(name: Any, names: Iterable[str], what: str, kind: str) -> str:
    """The name, if it is one of `names`; else KeyError, which suggests the most similar ones."""
    valid = tuple(dict.fromkeys(names))
    if isinstance(name, str) and name in valid:
        return name
    label(name, f"{what}: the name of a {kind}")
    near = suggestion(name, valid)
    rest = f", {len(valid) - NAMES_LISTED} more" if len(valid) > NAMES_LISTED else ""
    listed = near if near else f"; there are: {', '.join(valid[:NAMES_LISTED]) or 'none'}{rest}"
    raise KeyError(f"{what}: no {kind} {repr_in_message(name)}{listed}")


def all_known(names: Iterable[Any], valid: Iterable[str], what: str, kind: str) -> None:
    """Raises one KeyError for all names that are not among the valid ones: its `args` are a sentence for each."""
    valid, faults = tuple(valid), []
    for name in names:
        try:
            name_among(name, valid, what, kind)
        except KeyError as error:
            faults.append(error.args[0])
    if faults:
        raise KeyError(*faults)


def listed_names(value: Any, what: str) -> tuple[str, ...]:
    """Several names; one string is refused, because its letters would be taken for names."""
    names = sequence(value, f"{what} must be a sequence of names, such as ['foot']")
    return tuple(label(name, f"{what}: each") for name in names)


def function(value: Any, what: str, remedy: str = "") -> Callable[..., Any]:
    """An object that can be called; TypeError for any other."""
    if not callable(value):
        raise TypeError(f"{what} must be a function, got {repr_in_message(value)}{remedy}")
    called: Callable[..., Any] = value
    return called


def point(value: Any, what: str) -> Array:
    """Three finite numbers, a point [m]."""
    found = numbers(value, what)
    if found.size != 3 or not np.all(np.isfinite(found)):
        raise ValueError(f"{what} must be 3 finite numbers, got {repr_in_message(value)}")
    return found


def framed_points(value: Any, what: str) -> tuple[tuple[str, Any], ...]:
    """Pairs (frame, point in it)."""
    remedy = "must be a sequence of (frame, point) pairs, such as [('toe', (0, 0, 0))]"
    found = []
    for pair in sequence(value, f"{what} {remedy}"):
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise TypeError(f"{what} {remedy}, got {repr_in_message(pair)} among them")
        label(pair[0], f"{what}: the frame")
        if not isinstance(pair[1], (ca.SX, ca.MX)):
            point(pair[1], f"{what}: the point in {pair[0]!r}")
        found.append((pair[0], pair[1]))
    return tuple(found)


def call_user(what: str, f: Callable[..., Any], *arguments: Any, values: Iterable[str] = ()) -> Any:
    """Calls a function of the user, f(*arguments); any exception that it raises becomes a ValueError that names the
    function.

    values: names in `instant.values`; the message lists them if the function used another name.
    """
    try:
        return f(*arguments)
    except ValueError as error:  # raised by a check: its message is complete
        text, last = _text(error), what.rpartition(": ")[2]
        raise ValueError(f"{what}{text[len(last) :] if text.startswith(last) else f': {text}'}") from error
    except KeyError as error:
        key = error.args[0] if error.args else ""
        valid = tuple(values)
        hint = suggestion(key, valid) or (f"; instant.values holds {', '.join(valid[:NAMES_LISTED])}" if valid else "")
        cause = key if isinstance(key, str) and " " in key else f"KeyError: {repr_in_message(key)}{hint}"
        raise ValueError(f"{what}: the function raised {cause}") from error
    except Exception as error:
        missing = suggestion(error.name, dir(error.obj)) if isinstance(error, AttributeError) else ""
        hint = _on_symbols(error) or missing
        raise ValueError(f"{what}: the function raised {type(error).__name__}: {_text(error)}{hint}") from error


BRANCH = "a symbol has no value yet: write casadi.if_else(condition, a, b), casadi.fmin or casadi.fmax"
NUMPY = (
    "functions of NumPy and math, and float(), take numbers, and here they meet CasADi's symbols: use casadi.sin, "
    "casadi.norm_2, casadi.vertcat, ... instead"
)
"""Remedy where Python's branches, or the functions of NumPy and math, meet a symbol."""


def _on_symbols(error: BaseException) -> str:
    """The end of a message, if an error comes from Python or NumPy that met a CasADi symbol."""
    text = str(error)
    if "truth value" in text:
        return f"; {BRANCH}"
    met = any(word in text for word in ("SX", "MX", "casadi", "ufunc", "dtype('O')", "dtype=object"))
    return f"; {NUMPY}" if met and isinstance(error, (TypeError, NotImplementedError, AttributeError)) else ""


def expression(value: Any, what: str, remedy: str = "") -> SX:
    """Result of a user's function as an SX; ValueError if it is no expression, or a number that is not finite."""
    found: SX | None = None
    try:
        if isinstance(value, (SX, DM, int, float, np.number)):
            found = SX(cast(Any, value))
        elif isinstance(value, np.ndarray) and value.dtype.kind in "iufb":
            found = SX(DM(value))
        elif isinstance(value, (list, np.ndarray)):
            found = ca.vertcat(SX(0, 1), *(SX(x) for x in value))
    except CONVERSION_ERRORS:  # their messages do not name the term
        found = None
    if found is None:
        raise ValueError(f"{what} must return an expression of the instant (SX), got {repr_in_message(value)}{remedy}")
    if found.is_constant() and not found.is_regular():
        hint = f"; {NUMPY}" if isinstance(value, (float, np.floating)) and math.isnan(value) else ""
        raise ValueError(f"{what} must return finite numbers, got {repr_in_message(value)}{hint}")
    return found


def scalar(value: Any, what: str) -> SX:
    """Result of a user's cost function as one number; ValueError for any other shape."""
    found = expression(value, what)
    if found.shape != (1, 1):
        raise ValueError(f"{what} must be one number, got shape {found.shape}: sum it, for example by casadi.sumsqr")
    return found


def divide_by_scale(value: Any, scale: Any, what: str) -> Any:
    """A column divided by its scale, which is one number or one per entry, or symbols."""
    if isinstance(scale, SX):
        return value / scale
    found = numbers(scale, what)
    if found.size not in (1, value.shape[0]):
        raise ValueError(
            f"{what}: give one number, or one per entry of the quantity, {value.shape[0]}, got {found.size}"
        )
    return value if np.all(found == 1) else value / DM(found)


def rows_and_bounds(value: Any, what: str) -> tuple[SX, Any, Any]:
    """Result of a user's function of conditions as (column, lower limit, upper limit)."""
    if not isinstance(value, (tuple, list)) or len(value) != 3:
        raise ValueError(f"{what} must return (expression, lower, upper), got {repr_in_message(value)}")
    found = expression(value[0], f"{what}: the first of the three")
    if found.numel() and found.shape[1] != 1:
        raise ValueError(f"{what} must be a column, got shape {found.shape}: casadi.vec makes it one")
    for limit in bounds(value[1], value[2], what):
        if limit.size not in (1, found.numel()) and found.numel():
            raise ValueError(
                f"{what} has {found.numel()} rows but {limit.size} bounds: give one number, or {found.numel()}"
            )
    return found, *sides(value[1], value[2])


def _text(error: BaseException) -> str:
    """Message of an exception in one line. CasADi's messages have several lines; the last one names the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[-1] if lines and isinstance(error, (RuntimeError, NotImplementedError)) else " ".join(lines)
    return text if len(text) <= 400 else f"{text[:200]} ... {text[-150:]}"


def as_bounds(value: Any, what: str) -> tuple[float, float]:
    """(lower, upper) of one number, or of two; a side that is None is free."""
    if isinstance(value, (tuple, list)) and len(value) == 2 and any(side is None for side in value):
        value = sides(*value)
    value = positional(value, what)
    try:
        found = numbers(value, what)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.size not in (1, 2) or not found[0] <= found[-1] or found[0] == np.inf or found[-1] == -np.inf:
        raise ValueError(f"{what} must be a number or (lower, upper) with lower <= upper, got {repr_in_message(value)}")
    return float(found[0]), float(found[-1])


def optional_package(name: str, method: str) -> Any:
    """A package that tables are converted to; ImportError that tells how to install it, and what needs none."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(
            f"{method} needs the package {name}, which is not installed: pip install {name}; to_csv needs none"
        ) from None


def warn_user(message: str, category: type[Warning]) -> None:
    """A warning at the line of the user's own code, however many functions of the library lie between."""
    root = str(Path(__file__).parent.parent)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(root):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
