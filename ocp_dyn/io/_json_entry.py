"""Objects of a JSON file whose every access is checked, with their place in the file for messages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import LARGEST_MAGNITUDE, ModelError, repr_in_message


class JsonEntry:
    """A JSON object with its place in the file: every access is checked."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, Mapping):
            raise ModelError(f"{where} must be an object, got {repr_in_message(data)}")
        self.data, self.where = data, where

    def __getitem__(self, key: str) -> Any:
        if key not in self.data:
            raise ModelError(f"{self.where}: {repr_in_message(key)} is missing; write the file with save_model")
        return self.data[key]

    def fail(self, key: str, expected: str) -> ModelError:
        return ModelError(f"{self.where}: {repr_in_message(key)} must be {expected}, got {repr_in_message(self[key])}")

    def entry(self, key: str) -> JsonEntry:
        return JsonEntry(self[key], f"{self.where}: {repr_in_message(key)}")

    def items(self, key: str) -> list[Any]:
        if not isinstance(self[key], list):
            raise self.fail(key, "a list")
        return list(self[key])

    def text(self, key: str) -> str:
        if not isinstance(self[key], str):
            raise self.fail(key, "a string")
        return str(self[key])

    def texts(self, key: str) -> tuple[str, ...]:
        if not all(isinstance(x, str) for x in self.items(key)):
            raise self.fail(key, "a list of strings")
        return tuple(self.items(key))

    def flag(self, key: str) -> bool:
        if not isinstance(self[key], bool):
            raise self.fail(key, "true or false")
        return bool(self[key])

    def index(self, key: str, below: int) -> int:
        value = self[key]
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < below:
            raise self.fail(key, f"a body index from 0 (the ground) to {below - 1}")
        return value

    def number(self, key: str) -> float:
        value = as_float(self[key], infinite=False)
        if value is None:
            raise self.fail(key, "a finite number")
        return value

    def vector(self, key: str, size: int, infinite: bool = False) -> list[float]:
        value = self[key]
        numbers = [as_float(x, infinite) for x in value] if isinstance(value, list) else []
        if len(numbers) != size or not isinstance(value, list) or None in numbers:
            raise self.fail(key, f"a list of {size} {'' if infinite else 'finite '}numbers")
        return [x for x in numbers if x is not None]

    def matrix(self, key: str) -> DM:
        """A 3x3 matrix, structurally sparse as in a model; not rounded: every number is as in the file."""
        rows = self[key]
        if not isinstance(rows, list) or len(rows) != 3:
            raise self.fail(key, "3 rows of 3 numbers")
        return as_sparse([JsonEntry({key: row}, self.where).vector(key, 3) for row in rows])


def as_float(x: Any, infinite: bool) -> float | None:
    if isinstance(x, str):
        return {"inf": math.inf, "-inf": -math.inf}.get(x) if infinite else None
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        return None
    try:
        value = float(x)
    except OverflowError:
        return None
    return value if abs(value) <= LARGEST_MAGNITUDE else None


def as_sparse(values: Any) -> DM:
    return ca.sparsify(DM(np.array(values)))
