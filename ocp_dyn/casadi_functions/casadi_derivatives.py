"""Derivatives of ID and FD by the entries of q themselves, in the shape CasADi looks for when a call is differentiated.

The analytic derivatives are by tangent steps delta. An expression that calls ID or FD has raw q, quaternions included,

    delta = T(q) dq,    T = 2/|r|^2 [w 1 - v x, -v] for a quaternion r = (v, w),

and to second order `delta = T dq - (r' dr / |r|^2) T dr`. Both vanish along r: the scale of a quaternion turns nothing.
A CasADi Function f: (q, qd, x) -> y finds the Functions jac_f, adj1_f and, of the latter, jac_adj1_f in its cache. Calls
look there; a Function mapped over many points by CasADi's `map` does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import casadi as ca
from casadi import DM, SX

from .._types import Expr, shown, split
from ..derivatives.second import SecondOrder, inverse_dynamics_both_orders
from ..joints import Joint, Spherical
from ..mechanism import Model
from ..mechanism.loads import NO_LOADS, Loads
from ..mechanism.reduction import split_joints
from ..spatial_algebra.spatial import skew
from .cheapest import cheapest_equivalent


class Derivatives(NamedTuple):
    """The analytic derivatives of an algorithm (q, qd, x) -> y, x being qdd or tau.

    first(model, q, qd, x): dy/dq, dy/dqd, dy/dx, q along its tangent; both(model, q, qd, x, mu): these, and the second
    derivatives of mu' y.
    """

    first: Callable[..., Any]
    both: Callable[..., tuple[tuple[Any, Any, Any], SecondOrder]]


class Call(NamedTuple):
    """A Function f: (q, qd, x) -> y to be, its inputs as SX symbols: x is qdd or tau; weights are those of y (nv)."""

    name: str
    inputs: dict[str, SX]
    output: str
    weights: SX


def derivative_options(
    derivatives: Derivatives, model: Model, call: Call, order: int, *, loads: Loads = NO_LOADS
) -> dict[str, Any]:
    """Options that give the Function of a call derivatives up to an order (1 or 2) for CasADi to find.

    jac_penalty tells CasADi from how many directions on to take a whole Jacobian: more than one, and a tenth of the
    outputs.
    """
    if order not in (1, 2):
        raise ValueError(f"derivatives is the highest order, 1 or 2, got {shown(order)}")
    model = split_joints(model)
    penalty = max(0.1, 1.2 / max(model.nv, 1))
    y, labels = call.output, list(call.inputs)
    q, qd, x = call.inputs.values()
    T = _tangent_map(model, q)
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


def _adjoint(call: Call, model: Model, second: SecondOrder, T: Expr, J: Sequence[Expr]) -> ca.Function:
    """adj1_f: (q, qd, x, out_y, adj_y) -> (adj_q, adj_qd, adj_x), the gradient of weights' y, with its own Jacobian.

    The whole Jacobian (the Hessian of weights' y) costs no more than a few of its columns by sweeps of CasADi;
    therefore jac_penalty is low.
    """
    labels, y = list(call.inputs), call.output
    gradient, H = _raw(model, call.inputs["q"], second, T)
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


def _raw(model: Model, q: Expr, second: SecondOrder, T: Expr) -> tuple[list[Expr], list[list[Expr]]]:
    """Gradient and Hessian by the entries of q themselves, of qd and of x."""
    none = SX(model.nv, model.nv)
    H = [
        [_chained(model, q, second, T), T.T @ second.L_q_qd, T.T @ second.L_q_x],
        [second.L_q_qd.T @ T, second.L_qd_qd, none],
        [second.L_q_x.T @ T, none, none],
    ]
    return [T.T @ second.L_q, second.L_qd, second.L_x], H


def inverse_dynamics_differentiated(model: Model, q: SX, qd: SX, qdd: SX, mu: SX) -> tuple[SX, SX, SX]:
    """dtau (nv x n), and gradient (n) and Hessian (n x n) of mu' tau, by the n entries of (q, qd, qdd) side by side.

    The same derivatives that a Function with derivatives=2 finds, here as expressions. They are computed on the
    dynamically equivalent model with the fewest operations.
    """
    model = split_joints(cheapest_equivalent(model))
    T = _tangent_map(model, q)
    first, second = inverse_dynamics_both_orders(model, q, qd, qdd, mu)
    gradient, H = _raw(model, q, second, T)
    return SX(ca.horzcat(first[0] @ T, *first[1:])), SX(ca.vertcat(*gradient)), SX(ca.blockcat(H))


def _function(
    name: str, inputs: list[SX], results: list[Expr], names: list[str], outputs: list[str], options: Any = None
) -> ca.Function:
    return ca.Function(name, inputs, [SX(r) for r in results], names, outputs, {"cse": True} | (options or {}))


# Raw coordinates


def _tangent_map(model: Model, q: Expr) -> Expr:
    """T(q) (nv x nq): the tangent step `delta = T dq` of a small change of q, zero along a quaternion's scale."""
    blocks = []
    for joint, position in zip(model.joints, model.split_q(q), strict=True):
        if _is_quaternion(joint):
            v, w = split(position, 3, 1)
            blocks.append(2 / ca.sumsqr(position) * ca.horzcat(w * DM.eye(3) - skew(v), -v))
        else:
            blocks.append(DM.eye(joint.nq))
    return ca.diagcat(*blocks)


def _chained(model: Model, q: Expr, second: SecondOrder, T: Expr) -> Expr:
    """Second derivatives by q from those by tangent steps: T' H T, and what the second order of delta adds."""
    H = T.T @ second.L_qq @ T
    for i, _ in model.edges:
        if _is_quaternion(model.joints[i]):
            place, dofs = slice(*model.q_index[i : i + 2]), slice(*model.v_index[i : i + 2])
            along = q[place] / ca.sumsqr(q[place]) @ (second.L_q[dofs].T @ T[dofs, place])
            H[place, place] -= along + along.T
    return H


def _is_quaternion(joint: Joint) -> bool:
    """Whether the q of a joint of a model with split joints are a quaternion; if not they are plain coordinates, qd their rates."""
    if isinstance(joint, Spherical):
        return True
    if type(joint).q_dot is Joint.q_dot:
        return False
    raise ValueError(
        f"{shown(joint)} has velocities of its own, derivatives by its q are not known: leave out derivatives="
    )
