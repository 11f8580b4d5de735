"""Derivatives of a Function under the names by which CasADi finds them beside it in a library."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import casadi as ca

from ..._types import is_one_of, sequence, shown

KINDS = ("jac", "fwd1", "adj1", "jac_adj1")
"""Jacobian; forward and reverse derivative along one direction; Jacobian of the latter, for Hessians."""


def kinds(derivatives: bool | Iterable[str]) -> tuple[str, ...]:
    """`derivatives` of an export as names: True for all."""
    if isinstance(derivatives, bool):
        return KINDS if derivatives else ()
    given = sequence(derivatives, "derivatives must be True or a tuple of names")
    for kind in given:
        if not is_one_of(kind, KINDS):
            raise ValueError(f"derivatives are {', '.join(map(repr, KINDS))}, got {shown(kind)}")
    listed = tuple(dict.fromkeys(given))
    if "jac_adj1" in listed and "adj1" not in listed:
        raise ValueError("the derivative 'jac_adj1' is of use beside 'adj1' only: ask for both")
    return listed


def differentiated(f: ca.Function, kind: str) -> ca.Function:
    """The derivative `kind` of f with CasADi's name, inputs and outputs.

    With x the inputs and y the outputs of f, and out_y, which only tells the shape of y:

    jac_f(x, out_y) -> dy/dx, a block for every pair of output and input;
    fwd1_f(x, out_y, fwd_x) -> fwd_y = dy/dx fwd_x;
    adj1_f(x, out_y, adj_y) -> adj_x = (dy/dx)' adj_y;
    jac_adj1_f(x, out_y, adj_y, out_adj_x) -> derivatives of adj_x by x, out_y and adj_y.

    fwd_y and adj_x have the pattern of y and x, as CasADi demands of what it loads.
    """
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
