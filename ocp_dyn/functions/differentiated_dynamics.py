"""Inverse dynamics with its first and second derivatives as one Function, for the blocks of nonlinear programs."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from ..derivatives.second import inverse_dynamics_both_orders
from ..mechanism import Model
from ..mechanism.equal_models import kept_per_model
from ..mechanism.reduction import split_joints
from .cheapest_equivalent import cheapest_equivalent
from .raw_coordinates import by_entries, tangent_map


@kept_per_model
def dynamics_derivatives(model: Model) -> ca.Function:
    """(q, qd, qdd, mu) -> (d tau, gradient and Hessian of mu' tau) by (q, qd, qdd) side by side, made once per model.

    Common subexpressions are not merged: that takes longer than everything else, and saves 2 % of a block's operations.
    """
    sizes = model.nq, *[model.nv] * 3
    symbols = [SX.sym(name, size) for name, size in zip(("q", "qd", "qdd", "mu"), sizes, strict=True)]
    return ca.Function("ID_differentiated", symbols, inverse_dynamics_differentiated(model, *symbols))


def inverse_dynamics_differentiated(model: Model, q: SX, qd: SX, qdd: SX, mu: SX) -> tuple[SX, SX, SX]:
    """dtau (nv x n), and gradient (n) and Hessian (n x n) of mu' tau, by the n entries of (q, qd, qdd) side by side.

    The same derivatives that a Function with derivatives=2 finds, here as expressions. They are computed on the
    dynamically equivalent model with the fewest operations.
    """
    model = split_joints(cheapest_equivalent(model))
    T = tangent_map(model, q)
    first, second = inverse_dynamics_both_orders(model, q, qd, qdd, mu)
    gradient, H = by_entries(model, q, second, T)
    return SX(ca.horzcat(first[0] @ T, *first[1:])), SX(ca.vertcat(*gradient)), SX(ca.blockcat(H))
