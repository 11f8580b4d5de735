"""Table of the nonlinear program behind a solution: names, bounds and values of its variables and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..._base.types import Array, Indices
from .schema import Field, checked

INDEXED = {
    "variable": ("variables", 0),
    "label": ("labels", -1),
    "x_phase": ("phases", -1),
    "row": ("rows", 0),
    "g_phase": ("phases", -1),
}
"""Fields that hold indices: the field of names that each refers to, and the lowest index."""

COUNTED = ("entry", "instance", "sizes")
"""Fields that hold counts, which are never negative."""

_X, _G = ("entries of x",), ("rows of g",)
FIELDS = {
    **dict.fromkeys(("variable", "entry", "label", "x_phase"), Field(_X, integers=True)),
    "x_time": Field(_X, rule="any"),
    "scale": Field(_X, rule="positive"),
    **dict.fromkeys(("lower", "upper"), Field(_X, rule="bounds")),
    **dict.fromkeys(("row", "instance", "g_phase"), Field(_G, integers=True)),
    "g_time": Field(_G, rule="any"),
    "value": Field(_G),
    **dict.fromkeys(("row_lower", "row_upper"), Field(_G, rule="bounds")),
    "sizes": Field(("parameters",), integers=True),
    "values": Field(("values of parameters",)),
}
"""Fields that hold arrays, with their rules. Times of what belongs to no instant need not be finite."""


@dataclass(frozen=True, eq=False, repr=False)
class ProgramTable:
    """Names and numbers of a nonlinear program at one point x, with constraints row_lower <= g(x) <= row_upper.

    One entry for every entry of x: `variable` (index into `variables`) and `entry` within this variable; `label` (index
    into `labels`, the names of dofs; -1: none); `x_phase` (index into `phases`; -1: none) and `x_time` [s]; `scale`;
    the bounds `lower` and `upper` in physical units.

    One entry for every row of g: `row` (index into `rows`, names "block: row"); `instance` of its block; `g_phase` and
    `g_time`; `value` and the bounds `row_lower` and `row_upper`, in the scale of the row.

    parameters: names of the parameters; `sizes` of each, and `values` of all, one after the other.
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

    def __repr__(self) -> str:
        return (
            f"ProgramTable: {self.scale.size} variables under {self.value.size} constraints; Solution.variables(), "
            "multipliers() and active() show them"
        )

    def names(self) -> dict[str, Any]:
        """The fields that hold names, for a file."""
        return {key: list(value) for key, value in self._all() if isinstance(value, tuple)}

    def arrays(self) -> dict[str, Array]:
        """The fields that hold arrays, for a file."""
        return {key: value for key, value in self._all() if isinstance(value, np.ndarray)}

    def _all(self) -> Iterable[tuple[str, Any]]:
        return ((f.name, getattr(self, f.name)) for f in fields(self))

    @staticmethod
    def of_file(names: Mapping[str, Sequence[str]], arrays: dict[str, Array]) -> ProgramTable:
        """The table with these `names` and `arrays`; ValueError if they do not fit each other."""
        saved, expected = {*names, *arrays}, {f.name for f in fields(ProgramTable)}
        if saved != expected:
            lacking, unknown = (", ".join(sorted(x)) for x in (expected - saved, saved - expected))
            parts = [f"lacks {lacking}"] if lacking else []
            parts += [f"has unknown fields {unknown}"] if unknown else []
            raise ValueError(f"the record of its program {' and '.join(parts)}")
        values: dict[str, Any] = {key: tuple(value) for key, value in names.items()} | arrays
        return ProgramTable(**values)

    def __post_init__(self) -> None:
        """Checks that fields of one kind have one length, and that indices are in range; ValueError if not."""
        sizes = {"parameters": len(self.parameters)}
        for key, field in FIELDS.items():
            object.__setattr__(self, key, checked(f"record_{key}", getattr(self, key), field, sizes))
        for key, (names, lowest) in INDEXED.items():
            index, size = getattr(self, key), len(getattr(self, names))
            if np.any((index < lowest) | (index >= size)):
                raise ValueError(
                    f"'record_{key}' holds indices from {index.min()} to {index.max()}, expected {lowest} to "
                    f"{size - 1} for {size} {names}"
                )
        for key in COUNTED:
            if np.any(getattr(self, key) < 0):
                raise ValueError(f"'record_{key}' holds negative counts")
        if self.sizes.sum() != self.values.size:
            raise ValueError(
                f"'record_values' has {self.values.size} numbers, expected {self.sizes.sum()}, the sum of "
                "'record_sizes'"
            )
