"""Derivatives of a Function under the names that CasADi looks for in a library."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import casadi as ca

from ..._base.types import is_one_of, repr_in_message, sequence, suggestion
from ...functions.description import describe

DERIVATIVE_KINDS = ("jac", "fwd1", "adj1", "jac_adj1")
"""Jacobian; forward and reverse derivative along one direction; Jacobian of the reverse derivative, for Hessians."""


def kinds(derivatives: bool | Iterable[str]) -> tuple[str, ...]:
    """The option `derivatives` of an export as names, without duplicates; True means all kinds."""
    if isinstance(derivatives, bool):
        return DERIVATIVE_KINDS if derivatives else ()
    given = sequence(derivatives, "derivatives must be True or a tuple of names")
    for kind in given:
        if not is_one_of(kind, DERIVATIVE_KINDS):
            known = ", ".join(map(repr, DERIVATIVE_KINDS))
            raise ValueError(
                f"derivatives are {known}, got {repr_in_message(kind)}{suggestion(kind, DERIVATIVE_KINDS)}"
            )
    names = tuple(dict.fromkeys(given))
    if "jac_adj1" in names and "adj1" not in names:
        raise ValueError("the derivative 'jac_adj1' is the Jacobian of 'adj1': choose both, ('adj1', 'jac_adj1')")
    return names


def differentiated(f: ca.Function, kind: str) -> ca.Function:
    """The derivative `kind` of f with CasADi's name, inputs and outputs.

    With x the inputs and y the outputs of f, and out_y inputs of the shape of y whose values are not used:

    jac_f(x, out_y) -> dy/dx, one block for every pair of output and input;
    fwd1_f(x, out_y, fwd_x) -> fwd_y = dy/dx fwd_x;
    adj1_f(x, out_y, adj_y) -> adj_x = (dy/dx)' adj_y;
    jac_adj1_f(x, out_y, adj_y, out_adj_x) -> derivatives of adj_x by x, out_y and adj_y.

    fwd_y has the sparsity pattern of y, and adj_x that of x, as CasADi requires from a library. Functions that
    `od.function` made of algorithms with known derivatives get these, which are far shorter.
    """
    description = describe(f)
    known = description.derivatives.of(f, kind) if description and description.derivatives else None
    if known is not None:
        return known
    if kind == "jac":
        return f.jacobian()
    if kind == "jac_adj1":
        return differentiated(f, "adj1").jacobian()
    made, patterns = (
        (f.forward(1), [f.sparsity_out(j) for j in range(f.n_out())])
        if kind == "fwd1"
        else (f.reverse(1), [f.sparsity_in(i) for i in range(f.n_in())])
    )
    scalar = made.is_a("SXFunction")
    symbols: Any = made.sx_in() if scalar else made.mx_in()
    outputs: Any = made.call(symbols, True, False) if scalar else made.call(symbols)
    projected = [ca.project(y, pattern) for y, pattern in zip(outputs, patterns, strict=True)]
    return ca.Function(f"{kind}_{f.name()}", symbols, projected, made.name_in(), made.name_out())
