"""Descriptions of Functions: model, joints, and units and names of their arguments; and their display in notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca

from .._display import heading, table
from ..joints import Joint
from .analytic_derivatives import AnalyticDerivatives
from .conventions import Conventions
from .quantities import Label

NAMES_SHOWN = 3
"""Largest number of names of rows that a notebook shows before and after an ellipsis."""


class Description(NamedTuple):
    """Description of a Function's model and arguments. It holds no Model, so that the model's memory can be freed while
    the Function lives on.

    gravity_is_input: whether gravity is a parameter of the Function. forces: (name, sentence) for every constraint, see
    `conventions.forces_of`. loads: a sentence on what acts at the joints, "" if nothing does. derivatives: those that
    recursions give, for exports.
    """

    model: str
    joints: tuple[Joint, ...]
    labels: Mapping[str, Label]
    conventions: Conventions
    gravity_is_input: bool
    forces: tuple[tuple[str, str], ...]
    loads: str
    derivatives: AnalyticDerivatives | None


descriptions: WeakKeyDictionary[ca.Function, Description] = WeakKeyDictionary()
"""The descriptions of all Functions that `function` made."""


def describe(f: ca.Function) -> Description | None:
    """Model name, joints and labels of the inputs and outputs of a Function made by `function`; None for others."""
    return descriptions.get(f)


def card_html(f: ca.Function) -> str:
    """Signature, sizes, units and number of operations of a Function, as HTML."""
    described = describe(f)
    labels = described.labels if described else {}
    rows = []
    for side, names, pattern in (
        ("input", f.name_in(), f.sparsity_in),
        ("output", f.name_out(), f.sparsity_out),
    ):
        for k, name in enumerate(names):
            label = labels.get(name, Label(""))
            rows.append((side, name, size_of(pattern(k)), label.units, _ends(label.rows)))
    signature = f": ({', '.join(f.name_in())}) → ({', '.join(f.name_out())})"
    of_model = f" of {described.model}" if described and described.model else ""
    count = f"{f.n_instructions():,} operations{of_model}".replace(",", " ")
    head = heading(f.name(), signature) + f"<div>{count}</div>"
    return head + table(("", "name", "size", "units", "rows"), rows)


def size_of(pattern: ca.Sparsity) -> str:
    """The size of a matrix as a text, with the number of its nonzeros unless it is dense."""
    rows, columns = pattern.shape
    size = f"{rows}" if columns == 1 else f"{rows} × {columns}"
    return size if pattern.is_dense() else f"{size}, {pattern.nnz()} nonzeros"


def _ends(names: tuple[str, ...]) -> str:
    """Names for a cell of a table: the first and the last ones."""
    if len(names) <= 2 * NAMES_SHOWN:
        return ", ".join(names)
    return ", ".join([*names[:NAMES_SHOWN], "…", *names[-NAMES_SHOWN:]])
