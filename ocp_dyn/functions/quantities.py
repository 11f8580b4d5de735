"""Quantities that algorithms take and return: units or meaning, names of rows and columns, sizes.

Signatures name them, so that an exported header, a checked call and a user's algorithm describe one quantity
in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._base.files import csv_rows
from .._base.types import is_whole, names_in_message, repr_in_message, suggestion, truth
from ..dynamics.regressor import parameter_names
from ..mechanism import Model
from ..mechanism.parameters import check_value
from .laws import Law
from .static_arguments import Static, independent_of, natural_of, opened_of, rows_of_constraints

Frames = tuple[str, ...]
"""Names of the frames that external wrenches act on."""
Names = tuple[str, ...]

AXES: dict[str, Callable[[Model, Static, Frames], Names]] = {
    "coordinates": lambda model, static, frames: model.q_names,
    "dofs": lambda model, static, frames: model.qd_names,
    "constraints": lambda model, static, frames: rows_of_constraints(static),
    "parameters": lambda model, static, frames: parameter_names(model),
    "bodies": lambda model, static, frames: model.body_names,
    "frames": lambda model, static, frames: frames,
    "natural coordinates": lambda model, static, frames: natural_of(static).names,
    "natural constraints": lambda model, static, frames: natural_of(static).constraint_names,
    "closing conditions": lambda model, static, frames: opened_of(static).conditions,
    "independent dofs": lambda model, static, frames: independent_of(static).names,
    "muscles": lambda model, static, frames: model.muscle_names,
}
"""Kinds of rows and columns, each with their names: entries of q, dofs, rows of the constraints, inertial parameters of
the bodies, moving bodies, frames that external wrenches act on, entries of natural coordinates x, their conditions,
conditions that close an opened chain, independent dofs of closed chains, muscles."""

SYMBOLS = {"coordinates": "nq", "dofs": "nv"}
"""Symbols of the numbers of rows or columns, by kind."""

LARGEST_SIZE = 1_000_000
"""Largest number of rows or columns; more are taken for a mistake."""

Axis = str | int | tuple[str, ...] | None
"""Rows or columns of a quantity: one of AXES, a number of them, or a name for each; None if nothing is known."""


class InputRows(NamedTuple):
    """Rows of an input: the symbol of their number, such as "nq" ("" if it has none), and their names. parameter: the
    name of the parameter of the model or of a constraint that the input is, such as "mass:foot", or ""."""

    symbol: str
    names: tuple[str, ...]
    parameter: str = ""

    def check(self, values: Any, what: str) -> None:
        """Raises ValueError for values of a parameter, a row each, that it cannot have."""
        if self.parameter:
            check_value(self.parameter, values, what, ValueError)

    @property
    def text(self) -> str:
        """Number and names at the end of a message: ": nq = 2, hip, knee"; "" without names."""
        count = f"{self.symbol} = {len(self.names)}, " if self.symbol else ""
        return f": {count}{names_in_message(self.names, 6)}" if self.names else ""


NO_ROWS, UNKNOWN_Q = InputRows("", ()), InputRows("nq", ())
"""Rows of an input, and of a configuration, of which nothing else is known."""


class Label(NamedTuple):
    """Units of an input or output, and the names of its rows and columns; empty if they have no names."""

    units: str
    rows: Names = ()
    columns: Names = ()


@dataclass(frozen=True)
class Quantity:
    """An input or output of algorithms.

    name: as in signatures. units: units or meaning, for headers and reports. rows, columns: their kind, one of
    "coordinates", "dofs", "constraints", "parameters", "bodies", "frames", "natural coordinates", "natural
    constraints", "closing conditions", "independent dofs", "muscles"; or a name for each; or their number. An input
    needs rows; None leaves an output's size to the algorithm. per_row: as an option it may also be "rows", one entry
    per row of the constraints. law: how the quantity changes with units and axes, such as "E/dof" for a torque, see
    `laws`; "": not known.

    >>> od.Quantity("E", "J").units
    'J'
    """

    name: str
    units: str = ""
    rows: Axis = None
    columns: Axis = None
    per_row: bool = False
    law: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise ValueError(f'the name of a quantity is a word such as "q", got {repr_in_message(self.name)}')
        if not isinstance(self.units, str):
            raise TypeError(f"quantity {self.name}: units must be a string, got {repr_in_message(self.units)}")
        truth(self.per_row, f"quantity {self.name}: per_row")
        if not isinstance(self.law, str) or self.law:
            Law.parse(self.law)
        for what in ("rows", "columns"):
            object.__setattr__(self, what, _axis(getattr(self, what), f"quantity {self.name}: {what}"))

    @property
    def sized(self) -> bool:
        """Whether the quantity has a size, so that it may be an input."""
        return self.rows is not None

    def size(self, model: Model, static: Static, frames: Frames) -> tuple[int, int]:
        """(rows, columns) of an input."""
        rows, columns = (
            len(_names(axis, model, static, frames)) if isinstance(axis, (str, tuple)) else axis
            for axis in (self.rows, self.columns)
        )
        return 1 if rows is None else rows, 1 if columns is None else columns

    def label(self, model: Model, static: Static, frames: Frames) -> Label:
        """Units, and the names of rows and columns in a model with the constraints of an algorithm."""
        return Label(self.units, *(_names(axis, model, static, frames) for axis in (self.rows, self.columns)))


def _axis(axis: Axis, what: str) -> Axis:
    """The rows or columns of a quantity, checked."""
    if isinstance(axis, str):
        if axis not in AXES:
            raise ValueError(
                f"{what} must be one of {names_in_message(tuple(AXES))}, a number or names, got "
                f"{repr_in_message(axis)}{suggestion(axis, AXES)}"
            )
        return axis
    if axis is None or is_whole(axis):
        if isinstance(axis, (int, np.integer)) and axis > LARGEST_SIZE:
            raise ValueError(f"{what} must be at most {LARGEST_SIZE}, got {repr_in_message(axis)}")
        return axis
    names = tuple(axis) if isinstance(axis, (tuple, list)) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(
            f"{what} must be one of {names_in_message(tuple(AXES))}, a number or names, got {repr_in_message(axis)}"
        )
    return names


def _names(axis: Axis, model: Model, static: Static, frames: Frames) -> Names:
    """Names of rows or columns; empty if they have none."""
    if isinstance(axis, str):
        return AXES[axis](model, static, frames)
    return axis if isinstance(axis, tuple) else ()


def rows_of(
    quantities: Iterable[Quantity], labels: Mapping[str, Label | None], parameters: Mapping[str, str]
) -> dict[str, InputRows]:
    """Rows of labeled inputs by name; the symbol of their number is known for configurations and for dofs. parameters:
    their names by those of the inputs."""
    kinds = {quantity.name: quantity.rows for quantity in quantities}
    symbols = {name: SYMBOLS.get(kind, "") for name, kind in kinds.items() if isinstance(kind, str)}
    return {
        name: InputRows(symbols.get(name, ""), label.rows, parameters.get(name, ""))
        for name, label in labels.items()
        if label
    }


def by_name(quantities: Iterable[Quantity]) -> dict[str, Quantity]:
    """Quantities by their names. ValueError if two have one name."""
    found: dict[str, Quantity] = {}
    for quantity in quantities:
        if not isinstance(quantity, Quantity):
            raise TypeError(f'quantities are od.Quantity("E", "J"), got {repr_in_message(quantity)}')
        if quantity.name in found:
            raise ValueError(f"two quantities are called {quantity.name}")
        found[quantity.name] = quantity
    return found


def _described(row: Mapping[str, str]) -> Quantity:
    """A line of the table: rows and columns are those of the law, `rows` of them where these have no names."""
    rows, columns = Law.parse(row["law"]).axes
    size = int(row["rows"]) if row["rows"] else rows
    return Quantity(row["name"], row["units"], size, columns, bool(row["per_row"]), row["law"])


QUANTITIES = by_name(map(_described, csv_rows(Path(__file__).with_name("quantities.csv"))))
"""The quantities of the registry: name, units or meaning, law, number of rows without names."""
