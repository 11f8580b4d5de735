"""The program behind a solution, in names and numbers: meaning, bounds and values of every entry of x and every row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..._types import Array, Indices

INDEXED = {
    "variable": ("variables", 0),
    "label": ("labels", -1),
    "x_phase": ("phases", -1),
    "row": ("rows", 0),
    "g_phase": ("phases", -1),
}
"""Fields of a record that are indices: the field of names that they point into, and the lowest index."""

COUNTED = ("entry", "instance", "sizes")
"""Fields of a record that are counts."""


@dataclass(frozen=True, eq=False)
class Record:
    """Names and numbers of a program at one point.

    For every entry of x: variable (index into `variables`) and entry within it, label (index into `labels`, of a degree
    of freedom; -1: none), phase (index into `phases`; -1: of no phase) and time [s], scale, bounds in physical units.
    For every row of g: row (index into `rows`, names "block: row"), instance of its block, phase and time, value; value
    and bounds are in the scale of the row. parameters: names, with sizes and values.
    """

    variables: tuple[str, ...]
    labels: tuple[str, ...]
    phases: tuple[str, ...]
    rows: tuple[str, ...]
    parameters: tuple[str, ...]
    variable: Indices
    entry: Indices
    label: Indices
    x_phase: Indices
    x_time: Array
    scale: Array
    lower: Array
    upper: Array
    row: Indices
    instance: Indices
    g_phase: Indices
    g_time: Array
    value: Array
    row_lower: Array
    row_upper: Array
    sizes: Indices
    values: Array

    def names(self) -> dict[str, Any]:
        """The fields that are names, for a file."""
        return {key: list(value) for key, value in self._all() if isinstance(value, tuple)}

    def arrays(self) -> dict[str, Array]:
        """The fields that are arrays, for a file."""
        return {key: value for key, value in self._all() if isinstance(value, np.ndarray)}

    def _all(self) -> Iterable[tuple[str, Any]]:
        return ((f.name, getattr(self, f.name)) for f in fields(self))

    @staticmethod
    def of_file(names: Mapping[str, Sequence[str]], arrays: dict[str, Array]) -> Record:
        """The record whose `names` and `arrays` these are; ValueError if they do not fit each other."""
        given, expected = {*names, *arrays}, {f.name for f in fields(Record)}
        if given != expected:
            raise ValueError(f"its record lacks or has too much of {', '.join(sorted(given ^ expected))}")
        made: dict[str, Any] = {key: tuple(value) for key, value in names.items()}
        for key, value in arrays.items():
            if value.ndim != 1 or value.dtype.kind != ("i" if key in INDEXED or key in COUNTED else "f"):
                raise ValueError(f"'record_{key}' holds {value.dtype} of the shape {value.shape}")
            made[key] = value
        found = Record(**made)
        found._check()
        return found

    def _check(self) -> None:
        """Checks that fields of one kind have one length, and that indices are in range; ValueError if not."""
        by_x = ("entry", "label", "x_phase", "x_time", "scale", "lower", "upper")
        by_row = ("instance", "g_phase", "g_time", "value", "row_lower", "row_upper")
        for first, others in (("variable", by_x), ("row", by_row)):
            size = getattr(self, first).size
            for key in others:
                if getattr(self, key).size != size:
                    raise ValueError(f"'record_{key}' has {getattr(self, key).size} numbers, expected {size}")
        for key, (names, lowest) in INDEXED.items():
            index, size = getattr(self, key), len(getattr(self, names))
            if np.any((index < lowest) | (index >= size)):
                raise ValueError(f"'record_{key}' points to what is not there: of {names} there are {size}")
        if any(np.any(np.isnan(getattr(self, key))) for key in ("lower", "upper", "row_lower", "row_upper")):
            raise ValueError("its record holds bounds that are no numbers")
        if any(np.any(getattr(self, key) < 0) for key in COUNTED) or len(self.sizes) != len(self.parameters):
            raise ValueError("its record counts wrongly")
        if self.sizes.sum() != self.values.size:
            raise ValueError(f"'record_values' has {self.values.size} numbers, expected {self.sizes.sum()}")
