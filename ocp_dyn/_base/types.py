"""Types and helpers that all rooms share: CasADi's matrix types, structurally sparse constants, checks of plain values,
texts for messages."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import accumulate, pairwise
from typing import Any, TypeVar, cast
from unicodedata import category

import casadi as ca
import numpy as np
from casadi import DM, MX, SX
from numpy.typing import NDArray

M = TypeVar("M", DM, SX, MX)
"""One of CasADi's matrix types. An algorithm returns the type that it is given, and a DM for numbers alone."""

Numbers = NDArray[Any] | Sequence[float] | Sequence[Sequence[float]]
"""Numbers that may stand for a matrix of an algorithm: arrays, lists and tuples."""

MatrixLike = DM | SX | MX | Numbers
"""Any matrix, as numbers or as an expression."""

Expr = Any
"""A DM, SX or MX. A union would not type-check: SX and MX never meet in one expression."""

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Vector = Sequence[float] | Array
"""Types that a user may pass as a vector of numbers."""


ROUNDING = 1e-12
"""Largest residue of rounding, relative to the numbers that a result was computed from.

It includes the rounding of decimal figures in files. Residues below it are taken as zero.
"""


def sparse(values: Any) -> DM:
    """Numbers without a unit (entries of rotations and unit vectors) as a structurally sparse DM.

    Values that differ from 0 or +-1 by rounding only become 0 or +-1. Structural zeros keep expression graphs small, so
    every constant of a model passes through this function, or through `sparse_beside` if it has a unit.
    """
    x = np.array(values, dtype=float)
    x[np.abs(x) < ROUNDING] = 0.0
    for unit in (1.0, -1.0):
        x[np.abs(x - unit) < ROUNDING] = unit
    return exact(x)


def sparse_beside(values: Any, size: Any = None) -> DM:
    """Numbers of one unit as a structurally sparse DM: structural zeros replace rounding errors, relative to `size`.

    A length of 1e-12 m is a rounding error on a crane, but may be the size of a part of a micro-robot. Therefore it is
    compared with the numbers beside it, or with the terms that were summed. size: the largest of these numbers, one for
    all values or one per entry; None: the largest of the values. Values near +-1 are not rounded: 1 kg is a mass like
    any other.
    """
    x = np.array(values, dtype=float)
    limit = ROUNDING * np.array(np.abs(x).max(initial=0.0) if size is None else size)
    x[np.abs(x) < limit] = 0.0
    return exact(x)


def exact(values: Any) -> DM:
    """Numbers as a structurally sparse DM, bit for bit: for numbers of different units, or from a file."""
    return ca.sparsify(DM(np.array(values, dtype=float)))


def split(x: Expr, *sizes: int) -> list[Expr]:
    """x cut by rows into blocks of the given sizes; without sizes, into single rows.

    `casadi.vertsplit` with a type. It costs one node of an MX graph, where indexing costs one per element; of the other
    types, blocks are faster by indexing, because a call with a list of cuts first tries all kinds of matrices.
    """
    cuts = [0, *accumulate(sizes)]
    if sizes and not isinstance(x, MX):
        return [x[start:end, :] for start, end in pairwise(cuts)]
    parts: Any = ca.vertsplit(x, cuts) if sizes else ca.vertsplit(x)
    return list(parts)


def as_type(x: Expr, like: M | Numbers) -> M:
    """x converted to the type of `like` if x holds numbers; expressions are returned unchanged. like: a matrix, as the
    boundary of the algorithms makes it of numbers.

    This allows numbers for q together with symbols for qd: to convert the SX result to q's type, DM, would give nan.
    """
    typed: M = type(cast_to_matrix(like))(x) if isinstance(x, DM) else x
    return typed


def cast_to_matrix(x: M | Numbers) -> M:
    """x, of which the boundary of the algorithms has made a matrix: a statement for type checkers, without any
    effect."""
    return cast(M, x)


def matrix(values: Any, what: str, names: Sequence[str] = ()) -> Expr:
    """`values` as a CasADi matrix: SX, MX and DM pass; numbers (lists, arrays, SciPy's sparse matrices) become a DM, a
    column if they are flat. TypeError for anything else. names: of the rows, see `positional`.

    The DM is dense: what is computed from numbers is a table of numbers, in which a structural zero has no use.
    """
    if isinstance(values, (SX, MX, DM)):
        return values
    if hasattr(values, "tocsc"):
        return DM(values)
    values = positional(values, what, names)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, NotImplementedError, RuntimeError, OverflowError):  # rows of unequal length, symbols
        array = np.asarray(None)
    if array.dtype.kind not in "biuf" or array.ndim > 2:
        several = isinstance(values, (list, tuple)) and any(isinstance(x, (SX, MX, DM)) for x in values)
        remedy = f": write casadi.vertcat(*{what})" if several else ""
        if isinstance(values, np.ndarray) and any(isinstance(x, (SX, MX, DM)) for x in values.flat):
            remedy = f": a NumPy array cannot hold CasADi's symbols; write casadi.vertcat(*{what}) of a list of them"
        raise TypeError(f"{what} must be numbers, or a casadi SX, MX or DM, got {repr_in_message(values)}{remedy}")
    return DM(array.astype(float))


def check_kind(*values: Expr) -> None:
    """Raises TypeError if both SX and MX are among the values; numbers mix with either."""
    if any(isinstance(x, SX) for x in values) and any(isinstance(x, MX) for x in values):
        raise TypeError("expressions must be of one kind, got SX and MX: make all of them SX, or all MX")


class _Shown(reprlib.Repr):
    """repr with long strings, numbers and containers cut before they are written out."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxtuple, self.maxlist, self.maxdict, self.maxset = 4, 12, 12, 6, 6
        self.maxstring, self.maxother = 120, 160

    def repr_int(self, x: int, level: int) -> str:
        """An integer; one of thousands of digits, which Python refuses to write, by its size."""
        return f"<an integer of {x.bit_length()} bits>" if x.bit_length() > 256 else repr(x)

    def repr_instance(self, x: Any, level: int) -> str:
        """The object's repr, shortened; for large arrays and matrices, whose repr is slow, type and shape instead."""
        if isinstance(x, np.ndarray) and x.size > 12:
            return f"<array of {x.dtype}, shape {x.shape}>"
        if isinstance(x, (DM, SX, MX)) and x.numel() > 12:
            return f"<{type(x).__name__} of shape {x.shape}>"
        if isinstance(x, (bytes, bytearray)):
            return repr(x[:60]) + ("..." if len(x) > 60 else "")
        try:
            text = repr(x)
        except Exception:  # noqa: BLE001, a message about a bad value must not fail over its repr
            return f"<{type(x).__name__}>"
        return text if len(text) <= self.maxother else text[: self.maxother - 3] + "..."


_shown = _Shown()
_LONGEST = 200


def repr_in_message(value: object) -> str:
    """repr of a value for a message, of some 200 characters at most, however large the value is."""
    text = _shown.repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


_UNWRITABLE = {
    "Cc": "a control character",
    "Cs": "half of a character",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}
"""Kinds of characters that a file cannot hold, or from which no reader brings back a name, by their category in
Unicode."""


def text_fault(text: str) -> str:
    """The end of a message about a text that not every file can hold, as XML cannot: " without ..."; "" if all can."""
    for letter in text:
        kind = _UNWRITABLE.get(category(letter)) or ("no character" if letter in "\ufffe\uffff" else "")
        if kind:
            return f" without {letter!a}, {kind}, which files of models cannot hold"
    return ""


def name_fault(name: str) -> str:
    """The rest of the sentence "a name must be a text ..." about a text that cannot be the name of a part of a model,
    because not every file brings it back; "" if it can."""
    if not name.isprintable() and (fault := text_fault(name)):
        return f"must be a text{fault}: {_instead(name)}"
    if name != name.strip():
        return f"must not begin or end with a blank, which readers of files leave out: {_instead(name)}"
    return ""


def _instead(name: str) -> str:
    written = "".join("_" if text_fault(letter) else letter for letter in name.strip()) or "name"
    return f"write {repr_in_message(written)}, for example"


LARGEST_MAGNITUDE = 1e100
"""Upper bound of lengths, masses and inertias, whatever their units; products of such numbers stay finite."""


def sequence(values: Any, what: str) -> list[Any]:
    """The entries of a tuple, list or array as a list. TypeError for text, expressions and single values."""
    single = isinstance(values, (str, bytes, DM, SX, MX)) or (isinstance(values, np.ndarray) and not values.ndim)
    if single or not isinstance(values, Iterable):
        raise TypeError(f"{what}, got {repr_in_message(values)}")
    return list(values)


def is_one_of(value: Any, choices: Iterable[str]) -> bool:
    """Whether a value is one of some words; anything else, arrays too, is not."""
    return isinstance(value, str) and value in choices


def is_whole(value: Any, least: int = 0) -> bool:
    """Whether a value is an integer, `least` or more; True and False do not count."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= least


def truth(value: Any, what: str) -> bool:
    """The value as a bool; TypeError for anything but True and False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} must be True or False, got {repr_in_message(value)}")
    return bool(value)


PLAIN = frozenset([float, int, np.ndarray, DM, SX, MX, np.float64, bool, str, type(None)])
"""Types whose objects have neither labels nor masks nor units."""

LABELS_SHOWN = 6
"""Largest number of labels that a message lists."""


def positional(values: Any, what: str, names: Sequence[str] = (), depth: int = 0) -> Any:
    """`values` for a place that takes numbers by position: nothing that an object says about its numbers is ignored.

    Numbers with labels, such as a pandas Series whose index holds names of joints, are put into the order of `names`,
    the names of the entries that are expected; TypeError if there are none, or for a table. Labels 0, 1, 2, ... are
    positions. ValueError for masked entries and for labels that are not the names, TypeError for numbers with units.
    """
    kind = type(values)
    if kind in PLAIN:
        return values
    if kind in (list, tuple):
        plain = depth > 32 or PLAIN.issuperset(map(type, values))  # deeper than arrays: a list that holds itself
        return values if plain else kind(positional(x, what, (), depth + 1) for x in values)
    if isinstance(values, np.ma.MaskedArray):
        return _unmasked(values, what)
    if hasattr(values, "magnitude") or (hasattr(values, "to_value") and hasattr(values, "unit")):
        raise TypeError(
            f"{what}: plain numbers in SI units are needed, got the quantity {repr_in_message(values)}: convert it, "
            "and give its numbers"
        )
    axes = _labels(values)
    if all(labels == list(range(len(labels))) for labels in axes):
        return np.asarray(values) if axes else values
    return _ordered(values, axes, what, list(names))


def _unmasked(values: Any, what: str) -> Any:
    """The data of a masked array that masks nothing."""
    count = int(np.sum(np.ma.getmaskarray(values)))
    if count:
        raise ValueError(
            f"{what}: {count} of {values.size} numbers are masked, which says that they are not known: give numbers "
            "for them (x.filled(...)), or leave them out (x.compressed())"
        )
    return values.data


def _labels(values: Any) -> list[list[Any]]:
    """The labels of each axis of pandas' Series and DataFrames and of xarray's DataArrays, and of objects like them;
    none for others."""
    if hasattr(values, "coords") and hasattr(values, "dims"):
        return [
            np.asarray(values.coords[dim]).tolist() if dim in values.coords else list(range(size))
            for dim, size in zip(values.dims, values.shape, strict=True)
        ]
    found = (getattr(values, key, None) for key in ("index", "columns"))
    return [list(labels) for labels in found if isinstance(labels, Iterable) and not callable(labels)]


def _ordered(values: Any, axes: list[list[Any]], what: str, names: list[str]) -> Any:
    """The numbers of a column with labels, in the order of the names."""
    labels = next(found for found in axes if found != list(range(len(found))))
    got = f"the labels {names_in_message([str(label) for label in labels], LABELS_SHOWN)}"
    if len(axes) != 1 or not names:
        raise TypeError(
            f"{what}: numbers count by their position here, got {'a table' if len(axes) > 1 else 'numbers'} with "
            f"{got}: put them in the order {names_in_message(names, LABELS_SHOWN) if names else 'that is meant'} and "
            "write .to_numpy(), or .to_dict() where a dict by name is taken"
        )
    wrong = [label for label in labels if label not in names] + [name for name in names if name not in labels]
    if wrong or len(labels) != len(names):
        raise ValueError(
            f"{what}: the labels must be {names_in_message(names, LABELS_SHOWN)}, each once, in any order, got {got}"
            f"{suggestion(wrong[0], names) if wrong and wrong[0] in labels else ''}"
        )
    column = np.asarray(values)
    return column[[labels.index(name) for name in names]]


def numbers(values: Any, what: str = "numbers") -> Array:
    """`values` as a flat array of floats; a single NaN for anything else: text, None, expressions, 10**400. what: the
    values, for the message about labels and masks, see `positional`."""
    values = positional(values, what)
    try:
        array = np.asarray(values)
        if array.dtype.kind in "USc":
            return np.full(1, np.nan)
        return np.asarray(array.astype(float).reshape(-1))
    except (TypeError, ValueError, OverflowError, NotImplementedError, RuntimeError):  # the last two from symbols
        return np.full(1, np.nan)


def finite_vector(
    values: Any, size: int, what: str, error: type[ValueError] = ValueError, names: Sequence[str] = ()
) -> Array:
    """`values` as `size` finite floats, or an error that says what was got. names: of the entries, see `positional`."""
    x = numbers(positional(values, what, names), what)
    if x.size != size or not np.all(np.isfinite(x)):
        raise error(f"{what} must be {size} finite numbers, got {repr_in_message(values)}")
    if np.any(np.abs(x) > LARGEST_MAGNITUDE):
        raise error(
            f"{what} must be {size} numbers of size {LARGEST_MAGNITUDE:g} at most, got {repr_in_message(values)}"
        )
    return x


def finite(value: Any, what: str, error: type[ValueError] = ValueError) -> float:
    """`value` as one finite float, or an error that says what was got."""
    return float(finite_vector(value, 1, what, error)[0])


def names_in_message(names: Sequence[str], most: int = 12) -> str:
    """Names for a message: the first of them, each cut to its first 60 characters, and how many there are."""
    short = ", ".join(name if len(name) <= 60 else name[:57] + "..." for name in names[:most])
    return short + (f", ... ({len(names)} in all)" if len(names) > most else "") or "(none)"


def suggestion(name: object, names: Iterable[str]) -> str:
    """The end of a message about an unknown name: the names that are nearest to it, if any are near.

    Near are similar spellings, names that begin alike, the same words in another order, of which "l" and "r" stand for
    the sides, "sole_l" for "left_sole", and names with a long word in common.
    """
    words = [word for word in dict.fromkeys(names) if isinstance(word, str)]
    near: list[str] = []
    if isinstance(name, str) and name:
        near = get_close_matches(name, words, 3, 0.6)
        near = near or [word for word in words if len(name) > 1 and word.lower().startswith(name.lower())][:3]
        near = near or [word for word in words if set() < _parts(name) <= _parts(word)][:3]
        near = near or [word for word in words if any(len(part) > 4 for part in _parts(name) & _parts(word))][:3]
    return f": did you mean {' or '.join(map(repr_in_message, near))}?" if near else ""


SIDES = {"l": "left", "r": "right"}


def _parts(name: str) -> set[str]:
    """The words that a name such as "sole_l" is made of."""
    return {SIDES.get(word, word) for word in re.findall(r"[a-z]+|\d+", name.lower())}


class ModelWarning(UserWarning):
    """A warning about a model that is valid but may not be meant: a humanoid bolted to the ground, a joint locked
    outside its limits.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     locked = arm.with_limits(upper=1.0).lock_joints({"joint2": 2.0})
    >>> print(found[0].message)
    lock_joints: joint2 is locked at 2, outside its limits -inf to 1
    """


class ModelError(ValueError):
    """An error in a model or in its file; the message says what is wrong, where, and the remedy.

    >>> rod.with_gravity((0, 0))
    Traceback (most recent call last):
        ...
    ocp_dyn._base.types.ModelError: gravity must be 3 finite numbers, got (0, 0)
    """


@dataclass
class Collected:
    """Messages of the faults of a file, in the order in which they are met; `raising` raises the first instead.

    >>> from ocp_dyn._base.types import Collected
    >>> faults = Collected()
    >>> for word in ("1", "one", "two"):
    ...     with faults.each():
    ...         if not word.isdigit():
    ...             raise od.ModelError(f"{word} is not a number")
    >>> faults.messages
    ['one is not a number', 'two is not a number']
    """

    raising: bool = False
    messages: list[str] = field(default_factory=list)

    @contextmanager
    def each(self) -> Iterator[None]:
        """A part that is read alone: its fault is noted, and what comes after the part goes on."""
        try:
            yield
        except ModelError as error:
            if self.raising:
                raise
            self.messages.append(str(error))
