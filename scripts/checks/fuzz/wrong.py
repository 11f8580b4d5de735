"""Wrong values for arguments: other types, shapes, sizes; numbers that are none; objects that misbehave."""

from __future__ import annotations

import datetime
import fractions
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np


class Series:
    """Values with labels, as of pandas: an array by protocol, and no sequence."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self.index, self.values = list(values), np.array(list(values.values()))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, key: Any) -> float:
        return float(self.values[self.index.index(key)])


class Broken:
    """An object whose length, iteration, truth, text, comparison and conversion raise."""

    def fails(self, *arguments: Any, **options: Any) -> Any:
        raise OSError("a broken object")

    __len__ = __iter__ = __bool__ = __repr__ = __eq__ = __float__ = __array__ = __getitem__ = __hash__ = fails


class Long(Broken):
    """An object that says it is longer than any memory."""

    def __len__(self) -> int:
        return 2**62


def itself() -> list[Any]:
    """A list that holds itself."""
    found: list[Any] = []
    found.append(found)
    return found


def _raises(*arguments: Any) -> Any:
    raise ZeroDivisionError("a function of the user")


WRONG: list[Any] = [
    None, True, 0, -1, 1, 3.5, float("nan"), float("inf"), -float("inf"), 10**400, -(10**400), 1e308, 1e-320, 10**9, "",
    "x",
    "a" * 100_000, b"x", (), [], {}, {"x": 1}, (1, 2), [None], ["x"], [float("nan")] * 3, [10**400] * 3, (0, 0, 0),
    (1e308,) * 3,
    object(), 1j, np.zeros((2, 2)), np.zeros(0), np.zeros((3, 3)), np.full((3, 3), np.nan), np.array(["a", "b"]),
    np.zeros(1000),
    ca.DM(), ca.DM(3, 1), ca.DM([1, 2, np.nan]), ca.SX.sym("x"), ca.SX.sym("x", 3), ca.MX.sym("x", 3), {1: 2}, set(),
    int,
    np.eye(3), np.random.default_rng(0), ((0, 0, 1, 0, 0, 0),), "xyz", "xx", ("tip",), slice(3), range(3),
    np.float64("nan"), np.bool_(True), np.array([True, False, True]), fractions.Fraction(1, 3),
    np.zeros(3, dtype=complex), "\ud800", "\x00",
    datetime.date(2020, 1, 1), np.array(None), np.array([{}, {}]), np.array([1, 2, 3], dtype="datetime64[s]"),
    (1, (2, (3,))), [[1], [2, 3]], lambda: 0, _raises, {"tip_joint": float("nan")},
    Ellipsis, NotImplemented, type, -0.0, 2**63, np.iinfo(np.int64).min, "tip\n", frozenset({1}), memoryview(b"abc"),
    np.zeros((2, 3, 4)), Long(),
]  # fmt: skip
"""Values that few arguments take."""

MISTAKEN: list[Any] = [np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]),
                       Series({"tip_joint": 1.0, "rod": 2.0, "root": 3.0}), Broken(),
                       itself()]  # fmt: skip
"""Values that look right and are not."""


def misspelled(name: str, rng: np.random.Generator) -> str:
    """A name with a letter lost, doubled or exchanged."""
    k = int(rng.integers(len(name)))
    return (name + "s", name[:k] + name[k + 1 :] or "x_", name[:k] + name[k] + name[k:], name[::-1] + "_")[
        int(rng.integers(4))
    ]


def has_nan(value: Any) -> bool:
    """Whether a value is, or holds, a number that is none."""
    if isinstance(value, Mapping):
        return any(has_nan(one) for one in value.values())
    if isinstance(value, (list, tuple)) and value is not MISTAKEN[3]:
        return any(has_nan(one) for one in value)
    if isinstance(value, ca.DM):
        value = value.full()
    return (
        isinstance(value, (float, np.ndarray)) and np.asarray(value).dtype.kind == "f" and bool(np.isnan(value).any())
    )
