"""Stages of Formulation B as expressions, so that their operations can be counted as in [GJB94, tables 8.3 and 8.4]."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca

from .._types import Expr, M
from ..dynamics.rnea_crba_aba import factor
from ..mechanism import Model
from ..mechanism.boundary import boundary
from .velocity_transformations import assembled, elements, open_chain, summed


class Stages(NamedTuple):
    """Results of the stages, one column each, in the order of computation and of table 8.3.

    Operations of a stage are those that a Function of this stage and of all before it takes more than a Function of
    those before it. Of symmetric matrices the upper triangles are given. closing_jacobian, closing_products: Phi2_q R
    and c2 - Phi2_q Sc of closed chains (table 8.4), empty without loops.
    """

    positions: Expr
    velocities: Expr
    Sc: Expr
    M: Expr
    C: Expr
    R: Expr
    RtMR: Expr
    RtMSc: Expr
    RtQ: Expr
    closing_jacobian: Expr
    closing_products: Expr
    assembly: Expr
    linear_equations: Expr


@boundary()
def stages(model: Model, q: M, qd: M, tau: M) -> Stages:
    """The stages of (8.38) without loads of the joints, each as in the book: R'M, kept from R'MR, times Sc, and R' (Q - C)
    apart from it. `projected_equations` takes R' (M Sc + C - Q) at once, in fewer operations."""
    kinematics = open_chain(model, q, qd)
    at, moving = kinematics.at, kinematics.moving
    bodies = elements(model, kinematics)
    MR = [body.momenta(body.R) for body in bodies]
    RtMR = [(body.dofs, body.R.T @ P) for body, P in zip(bodies, MR, strict=True)]
    RtMSc = [(body.dofs, P.T @ body.Sc) for body, P in zip(bodies, MR, strict=True)]
    RtQ = [(body.dofs, body.R.T @ (body.Q - body.C)) for body in bodies]
    H = assembled(model, q, RtMR)
    b = summed(model, q, RtQ) - summed(model, q, RtMSc)
    return Stages(
        _column(at.A[1:], at.d[1:], at.s[1:]),
        _column(moving.g[1:], moving.w[1:]),
        _column([body.Sc for body in bodies]),
        _column([_upper(body.J) for body in bodies]),
        _column([body.C for body in bodies]),
        _column([body.R for body in bodies]),
        _column([_upper(part) for _, part in RtMR]),
        _column([part for _, part in RtMSc]),
        _column([part for _, part in RtQ]),
        type(q)(0, 1),
        type(q)(0, 1),
        _column([_upper(H), -b]),
        factor(model, H).solve(tau + b),
    )


def _upper(A: Expr) -> Expr:
    """The upper triangle by columns."""
    return ca.vertcat(*(A[: k + 1, k] for k in range(A.shape[0])))


def _column(*parts: list[Any]) -> Expr:
    """Matrices one below the other in one column."""
    return ca.vertcat(*(ca.vec(matrix) for part in parts for matrix in part))
