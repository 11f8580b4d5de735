"""Types shared by every room: CasADi's matrix types, plain numbers, structurally sparse constants."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from reprlib import Repr
from typing import Any, TypeVar

import casadi as ca
import numpy as np
from casadi import DM, MX, SX
from numpy.typing import NDArray

M = TypeVar("M", SX, MX, DM)
"""One of CasADi's matrix types; an algorithm returns the type it is given."""

Expr = Any
"""A DM, SX or MX. A union would not type-check: SX and MX never meet in one expression."""

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Vector = Sequence[float] | Array
"""What a user may write for a vector of numbers."""


ROUNDING = 1e-12
"""What rounding, of the figures in a file too, leaves of a number at most, beside the numbers that it was made from."""


def sparse(values: Any) -> DM:
    """Pure numbers, entries of rotations and unit vectors, as a structurally sparse DM: 0 and +-1 where next to them.

    Structural zeros are what keeps expression graphs small, so every constant of a model passes here, or through
    `sparse_beside` if it has a unit.
    """
    x = np.array(values, dtype=float)
    x[np.abs(x) < ROUNDING] = 0.0
    for unit in (1.0, -1.0):
        x[np.abs(x - unit) < ROUNDING] = unit
    return exact(x)


def sparse_beside(values: Any, size: Any = None) -> DM:
    """Numbers of one unit as a structurally sparse DM: 0 where they are nothing beside `size`.

    A length of 1e-12 m is rounding on a crane and a part of a micro-robot: only the numbers that it stands beside, or
    was summed from, can tell. size: the largest of these, for all values or entry by entry; None: the largest of the
    values. Nothing becomes +-1, for 1 kg is a mass like any other.
    """
    x = np.array(values, dtype=float)
    limit = ROUNDING * np.array(np.abs(x).max(initial=0.0) if size is None else size)
    x[np.abs(x) < limit] = 0.0
    return exact(x)


def exact(values: Any) -> DM:
    """Numbers as a structurally sparse DM, bit for bit: numbers each of a unit of its own, or kept in a file."""
    return ca.sparsify(DM(np.array(values, dtype=float)))


def split(x: Expr, *sizes: int) -> list[Expr]:
    """x cut by rows into blocks of the given sizes; without sizes, into single rows.

    CasADi's own split, with a type: cutting an MX this way costs one node, indexing one per element.
    """
    parts: Any = ca.vertsplit(x, [0, *accumulate(sizes)]) if sizes else ca.vertsplit(x)
    return list(parts)


def as_type(x: Expr, like: M) -> M:
    """x as the type of `like` where x is still numbers; expressions pass.

    So numbers for q and symbols for qd mix: forcing the SX result into the DM of q would make it nan.
    """
    typed: M = type(like)(x) if isinstance(x, DM) else x
    return typed


SHOWN = 200
"""Characters of a value that a message repeats."""


def shown(value: object) -> str:
    """A value for a message: its repr, cut where it is long, so that no message repeats megabytes of input."""
    short = Repr()
    short.maxstring = short.maxother = short.maxlong = 120
    text = short.repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 40]} ... {text[-30:]}"


def finite_vector(values: Any, size: int, what: str, error: type[ValueError] = ValueError) -> Array:
    """`values` as `size` finite floats, or an error that says what was got."""
    try:
        x = np.asarray(values, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        raise error(f"{what} must be {size} numbers, got {values!r}") from None
    if x.size != size or not np.all(np.isfinite(x)):
        raise error(f"{what} must be {size} finite numbers, got {values!r}")
    return x


class ModelError(ValueError):
    """Something is wrong in a model or in the file it comes from: what, where, and what to do."""
