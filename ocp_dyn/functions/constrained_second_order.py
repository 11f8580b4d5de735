"""Second derivatives of constrained dynamics as the Function jac_adj1_FDc that CasADi looks for in a library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import casadi as ca
from casadi import SX

from .._base.types import Expr
from ..constrained_motion.derivatives import constrained_dynamics_derivatives
from ..constrained_motion.second_derivatives import Multipliers, multipliers, weighted_rows
from ..derivatives.second import inverse_dynamics_both_orders
from ..mechanism import Model
from ..mechanism.loads import Loads
from ..mechanism.reduction import split_joints
from .raw_coordinates import by_entries, tangent_map


class RowDerivatives(NamedTuple):
    """Derivatives of the scalar c of the rows by the entries of q and by qd, qdd and lam."""

    c_qq: Expr
    c_q_qd: Expr
    c_qd_qd: Expr
    c_q_qdd: Expr
    c_q_lam: Expr


def jacobian_of_adjoint(
    name: str, symbols: Mapping[str, SX], model: Model, constraints: Any, loads: Loads, options: Mapping[str, Any]
) -> ca.Function:
    """Derivatives of adj_x = (d(qdd, lam)/dx)' (adj_qdd, adj_lam), x = q, qd and tau by their entries.

    name: of the Function FDc; symbols: its inputs. They are the Hessian of `constrained_motion.second_derivatives` and,
    by adj_qdd and adj_lam, the first derivatives.
    """
    q, qd, tau = symbols.values()
    simple = split_joints(model)
    T = tangent_map(simple, q)
    first = constrained_dynamics_derivatives(model, constraints, q, qd, tau, loads=loads, **options)
    Z = [SX(ca.horzcat(by_q @ T, by_qd, by_tau)) for by_q, by_qd, by_tau in (first[:3], first[3:])]
    weights = [SX.sym(f"adj_{y}", z.shape[0]) for y, z in zip(("qdd", "lam"), Z, strict=True)]
    at = multipliers(model, constraints, q, qd, tau, (weights[0], weights[1]), loads=loads, **options)
    rows = row_derivatives(model, constraints, q, qd, at, options)
    _, second = inverse_dynamics_both_orders(simple, q, qd, at.qdd, at.mu, loads=loads)
    _, H = by_entries(simple, q, second, T)
    P_q = (H[0][2] + rows.c_q_qdd) @ Z[0] + rows.c_q_lam @ Z[1]
    sizes = [x.shape[0] for x in symbols.values()]
    P = ca.vertcat(P_q, SX(sum(sizes[1:]), sum(sizes)))
    L_q_qd = H[0][1] + rows.c_q_qd
    L_xx = ca.diagcat(
        ca.blockcat([[H[0][0] + rows.c_qq, L_q_qd], [L_q_qd.T, H[1][1] + rows.c_qd_qd]]), SX(sizes[2], sizes[2])
    )
    hessian = -(L_xx + P + P.T)
    return _function(
        name, symbols, weights, _blocks(hessian, sizes, sizes), [_blocks(z.T, sizes, [z.shape[0]]) for z in Z]
    )


def row_derivatives(
    model: Model, constraints: Any, q: SX, qd: SX, at: Multipliers, options: Mapping[str, Any]
) -> RowDerivatives:
    """Second derivatives of `weighted_rows` at constant mu and nu, by automatic differentiation."""
    Q, Qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
    free = Multipliers(*(SX.sym(name, x.shape[0]) for name, x in zip(Multipliers._fields, at, strict=True)))
    c = weighted_rows(model, constraints, Q, Qd, free, **options)
    both = ca.vertcat(Q, Qd)
    H, gradient = ca.hessian(c, both)
    mixed = ca.jacobian(gradient[: model.nq], ca.vertcat(free.qdd, free.lam))
    (qq, q_qd), (_, qd_qd) = ca.blocksplit(H, [0, model.nq, both.shape[0]], [0, model.nq, both.shape[0]])
    q_qdd, q_lam = ca.horzsplit(mixed, [0, model.nv, mixed.shape[1]])
    f = ca.Function("rows", [Q, Qd, *free], [qq, q_qd, qd_qd, q_qdd, q_lam], {"cse": True})
    return RowDerivatives(*f.call([q, qd, *(SX(value) for value in at)], True, False))


def _blocks(matrix: Expr, rows: list[int], columns: list[int]) -> list[list[Expr]]:
    """A matrix in blocks of the given numbers of rows and columns."""
    at = [[sum(sizes[:k]) for k in range(len(sizes) + 1)] for sizes in (rows, columns)]
    return [list(row) for row in ca.blocksplit(SX(matrix), *at)]


def _function(
    name: str, symbols: Mapping[str, SX], weights: list[SX], hessian: list[list[Expr]], mixed: list[list[list[Expr]]]
) -> ca.Function:
    """The Function with the inputs and outputs that CasADi gives the Jacobian of adj1_FDc."""
    outputs = ("qdd", "lam")
    empty = {f"out_{y}": SX(*w.shape) for y, w in zip(outputs, weights, strict=True)}
    given = {**symbols, **empty, **{f"adj_{y}": w for y, w in zip(outputs, weights, strict=True)}}
    unused = {f"out_adj_{x}": SX(*value.shape) for x, value in symbols.items()}
    results: dict[str, SX] = {}
    for k, (x, value) in enumerate(symbols.items()):
        blocks = [*hessian[k], *(SX(value.shape[0], w.shape[0]) for w in weights), *(z[k][0] for z in mixed)]
        results |= {f"jac_adj_{x}_{z}": SX(block) for z, block in zip(given, blocks, strict=True)}
    inputs = given | unused
    return ca.Function(
        f"jac_adj1_{name}", list(inputs.values()), list(results.values()), list(inputs), list(results), {"cse": True}
    )
