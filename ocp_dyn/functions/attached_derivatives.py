"""Analytic derivatives attached to a Function, where CasADi looks for them when a call is differentiated.

A CasADi Function f: (q, qd, x) -> y finds the Functions jac_f, adj1_f and, of the latter, jac_adj1_f in its cache.
Calls look there; a Function mapped over many points by CasADi's `map` does not. Derivatives by q are by its entries,
see `raw_coordinates`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import casadi as ca
from casadi import SX

from .._base.types import Expr, repr_in_message
from ..derivatives.second import SecondOrder
from ..mechanism import Model
from ..mechanism.loads import NO_LOADS, Loads
from ..mechanism.reduction import split_joints
from .raw_coordinates import by_entries, tangent_map


class AttachedDerivatives(NamedTuple):
    """The analytic derivatives of an algorithm (q, qd, x) -> y, x being qdd or tau.

    first(model, q, qd, x): dy/dq, dy/dqd, dy/dx, q along its tangent; both(model, q, qd, x, mu): these, and the second
    derivatives of mu' y.
    """

    first: Callable[..., Any]
    both: Callable[..., tuple[tuple[Any, Any, Any], SecondOrder]]


class SymbolicCall(NamedTuple):
    """A Function f: (q, qd, x) -> y to be, its inputs as SX symbols: x is qdd or tau; weights are those of y (nv)."""

    name: str
    inputs: dict[str, SX]
    output: str
    weights: SX


def derivative_options(
    derivatives: AttachedDerivatives, model: Model, call: SymbolicCall, order: int, *, loads: Loads = NO_LOADS
) -> dict[str, Any]:
    """Options that give the Function of a call derivatives up to an order (1 or 2) for CasADi to find.

    jac_penalty tells CasADi from how many directions on to take a whole Jacobian: more than one, and a tenth of the
    outputs.
    """
    if order not in (1, 2):
        raise ValueError(f"derivatives is the highest order, 1 or 2, got {repr_in_message(order)}")
    model = split_joints(model)
    penalty = max(0.1, 1.2 / max(model.nv, 1))
    y, labels = call.output, list(call.inputs)
    q, qd, x = call.inputs.values()
    T = tangent_map(model, q)
    second = None
    if order == 1:
        first = derivatives.first(model, q, qd, x, loads=loads)
    else:
        first, second = derivatives.both(model, q, qd, x, call.weights, loads=loads)
    J = [first[0] @ T, *first[1:]]
    empty = SX(model.nv, 1)
    inputs = [*call.inputs.values(), empty]
    names = [*labels, f"out_{y}"]
    cache = {f"jac_{call.name}": _function(f"jac_{call.name}", inputs, J, names, [f"jac_{y}_{z}" for z in labels])}
    if second is not None:
        cache[f"adj1_{call.name}"] = _adjoint(call, model, second, T, J)
    return {"cache": cache, "jac_penalty": penalty}


def _adjoint(call: SymbolicCall, model: Model, second: SecondOrder, T: Expr, J: Sequence[Expr]) -> ca.Function:
    """adj1_f: (q, qd, x, out_y, adj_y) -> (adj_q, adj_qd, adj_x), the gradient of weights' y, with its own Jacobian.

    The whole Jacobian (the Hessian of weights' y) costs no more than a few of its columns by sweeps of CasADi;
    therefore jac_penalty is low.
    """
    labels, y = list(call.inputs), call.output
    gradient, H = by_entries(model, call.inputs["q"], second, T)
    empty = SX(model.nv, 1)
    blocks = [b for row, block in zip(H, J, strict=True) for b in (*row, SX(row[0].shape[0], model.nv), block.T)]
    name, inputs = f"adj1_{call.name}", [*call.inputs.values(), empty, call.weights]
    names, outputs = [*labels, f"out_{y}", f"adj_{y}"], [f"adj_{z}" for z in labels]
    jacobian = _function(
        f"jac_{name}",
        [*inputs, *(SX(g.shape[0], 1) for g in gradient)],
        blocks,
        [*names, *(f"out_{z}" for z in outputs)],
        [f"jac_{g}_{z}" for g in outputs for z in names],
    )
    options = {"cache": {f"jac_{name}": jacobian}, "jac_penalty": 0.02}
    return _function(name, inputs, [ca.densify(g) for g in gradient], names, outputs, options)


def _function(
    name: str, inputs: list[SX], results: list[Expr], names: list[str], outputs: list[str], options: Any = None
) -> ca.Function:
    return ca.Function(name, inputs, [SX(r) for r in results], names, outputs, {"cse": True} | (options or {}))
