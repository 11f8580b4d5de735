"""Descriptions of Functions: model, joints, and units and names of their arguments; and their display in notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from .._base.display import heading, table
from .._base.types import Array
from ..mechanism import Model
from ..mechanism.loads import Loads
from .analytic_derivatives import AnalyticDerivatives, analytic_derivatives
from .conventions import Conventions, conventions, forces_of, loads_text
from .quantities import Label
from .signature import Signature

NAMES_SHOWN = 3
"""Largest number of names of rows that a notebook shows before and after an ellipsis."""


@dataclass(frozen=True, eq=False)
class Description:
    """Description of a Function's model and arguments, found out when it is asked for.

    source: a copy of the model, which keeps no other model alive. labels: of inputs and outputs. static, loads,
    parameters, options: as in `od.function`.
    """

    source: Model
    spec: Signature
    labels: Mapping[str, Label]
    static: tuple[Any, ...]
    given_loads: Loads
    parameters: tuple[str, ...]
    options: Mapping[str, Any]

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.source.name

    @property
    def nv(self) -> int:
        """Size of a step on the manifold of configurations."""
        return self.source.nv

    @property
    def neutral(self) -> list[float]:
        """The neutral configuration."""
        return [x for joint in self.source.joints for x in joint.neutral()]

    def configuration(self, step: Array) -> Array:
        """The configuration that a step (nv,) leads to from the neutral one."""
        parts, start = [np.zeros(0)], 0
        for joint in self.source.joints:
            if joint.nv:
                turned = joint.integrate(ca.DM(joint.neutral()), ca.DM(step[start : start + joint.nv]))
                parts.append(ca.DM(turned).full().ravel())
            start += joint.nv
        return np.concatenate(parts)

    @property
    def gravity_is_input(self) -> bool:
        """Whether gravity is a parameter of the Function."""
        return "gravity" in self.parameters

    @cached_property
    def conventions(self) -> Conventions:
        """The meaning of the numbers of q, qd and tau, and a digest of the model."""
        return conventions(self.source)

    @property
    def forces(self) -> tuple[tuple[str, str], ...]:
        """(name, sentence) for every constraint, see `forces_of`."""
        return forces_of(self.static)

    @property
    def loads(self) -> str:
        """A sentence on what acts at the joints, "" if nothing does."""
        return loads_text(self.given_loads, self.source)

    @cached_property
    def derivatives(self) -> AnalyticDerivatives | None:
        """Derivatives that recursions give, for exports; None if there are none."""
        if self.parameters:
            return None
        return analytic_derivatives(self.spec, self.source, self.static, self.given_loads, self.options)


def describe(f: ca.Function) -> Description | None:
    """Model name, joints and labels of the inputs and outputs of a Function made by `function`; None for others."""
    found: Description | None = getattr(f, "description", None)
    return found


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
