"""Stages of Formulations A and B as expressions, so that their operations can be counted as in [GJB94, tables 8.3 and
8.4]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca
from casadi import DM

from .._base.types import Expr, M, Numbers, cast_to_matrix
from ..constrained_motion.independent_rows import ConstraintRows
from ..constrained_motion.solvers import RangeSpace
from ..constraints import Constraints
from ..dynamics.rnea_crba_aba import factor
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..spatial_algebra.linalg import elimination_tree, symmetric
from .closed.branches import Branches, OpenedChain, check_opened
from .cut_joints import Closing
from .formulation_a import elements_at, open_tree, products, transformation
from .joint_coordinates import checks_natural_arguments
from .natural_coordinates import NaturalCoordinates
from .natural_dynamics import natural_force, natural_mass_matrix
from .velocity_transformations import assembled, elements, open_chain, summed


class Stages(NamedTuple):
    """Results of the stages, one column each, in the order of computation and of table 8.3.

    Operations of a stage are those that a Function of this stage and of all before it takes more than a Function of
    those before it. Of symmetric matrices the upper triangles are given. closing_jacobian, closing_products: Phi2_q R
    and c2 - Phi2_q Sc of closed chains (table 8.4), empty without loops; linear_equations: the accelerations, with
    loops also lam of (8.114).

    >>> od.formulations.stages(rod, ca.DM([np.pi / 2]), ca.DM([0.0]), ca.DM([0.0])).linear_equations  # qdd
    DM(-14.715)
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


@checks_arguments()
def stages(model: Model, q: M | Numbers, qd: M | Numbers, tau: M | Numbers, *, constraints: Constraints = ()) -> Stages:
    """The stages of Formulation B without loads of the joints (8.38); with constraints, cut joints, (8.114).

    Each as in the book: R'M, kept from R'MR, times Sc, and R' (Q - C) apart from it. `projected_equations` takes
    R' (M Sc + C - Q) at once, in fewer operations.

    >>> od.formulations.stages(rod, ca.DM([0.0]), ca.DM([0.0]), ca.DM([0.0])).RtMR  # m l^2 / 3
    DM(0.333333)
    """
    open = open_chain(model, q, qd)
    at, moving = open.at, open.moving
    bodies = elements(model, open)
    MR = [body.momenta(body.R) for body in bodies]
    RtMR = [(body.dofs, body.R.T @ P) for body, P in zip(bodies, MR, strict=True)]
    RtMSc = [(body.dofs, P.T @ body.Sc) for body, P in zip(bodies, MR, strict=True)]
    RtQ = [(body.dofs, body.R.T @ (body.Q - body.C)) for body in bodies]
    at_q: Expr = cast_to_matrix(q)
    H = assembled(model, at_q, RtMR)
    b = summed(model, at_q, RtQ) - summed(model, at_q, RtMSc)
    jacobian, rates, solution = type(at_q)(0, 1), type(at_q)(0, 1), factor(model, H).solve(tau + b)
    if not isinstance(constraints, (tuple, list)) or constraints:
        closing = Closing.of(model, constraints, open, q, qd)
        rows = ConstraintRows.of(model, constraints, at_q, G=closing.Phi_z)
        solution = ca.vertcat(*RangeSpace.on(H, model.dof_parent, rows).solve(tau + b, closing.gamma))
        jacobian, rates = _stored(closing.Phi_z), closing.gamma
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
        jacobian,
        rates,
        _column([_upper(H), -b]),
        solution,
    )


@checks_natural_arguments
def stages_a(
    model: Model,
    natural: NaturalCoordinates,
    q: M | Numbers,
    qd: M | Numbers,
    tau: M | Numbers,
    *,
    opened: OpenedChain | None = None,
) -> Stages:
    """The stages of Formulation A without loads of the joints (8.38); with a removed body, `opened`, (8.114).

    natural: coordinates of an open chain, or `opened.natural`. The mass matrix is constant and taken as a whole, so
    there is no stage M, no C, and nothing to assemble but the sum of R' Q and -R' M Sc.

    >>> natural = od.formulations.natural(rod)
    >>> od.formulations.stages_a(rod, natural, ca.DM([0.0]), ca.DM([0.0]), ca.DM([0.0])).RtMR  # m l^2 / 3
    DM(0.333333)
    """
    if opened is not None:
        check_opened(opened)
        if natural is not opened.natural:
            raise ValueError("natural and opened must belong together: give opened.natural as the natural coordinates")
    if opened is None:
        tree = open_tree(model, natural)
        open = open_chain(tree, q, qd)
        x, xd = elements_at(natural, natural.chosen, open)
        R, Sc = transformation(natural, tree, open), products(natural, open)
    else:
        open = open_chain(opened.natural.split(model), q, qd)
        x, xd, R, Sc = Branches.of(model, opened, q, qd)
    mass = natural_mass_matrix(model, natural, x)
    MR = mass @ R
    RtMR, RtMSc = symmetric(R.T @ MR), MR.T @ Sc
    Q = natural_force(model, natural, x, xd, tau if opened else model.rest(q))
    RtQ = R.T @ Q if opened else tau + R.T @ Q
    empty: Expr = type(cast_to_matrix(q))(0, 1)
    jacobian, rates, parts = empty, empty, (RtQ - RtMSc,)
    if opened is None:
        solution = factor(model, RtMR).solve(*parts)
    else:
        J = natural.conditions.jacobian(x)[list(opened.rows), :]
        Phi_z, rates = J @ R, natural.conditions.rate(xd)[list(opened.rows)] - J @ Sc
        phi = natural.conditions.value(x)[list(opened.rows)]
        rows = ConstraintRows.by_pattern(Phi_z, ca.fabs(J) @ ca.fabs(R), phi)
        solution = ca.vertcat(*RangeSpace.on(RtMR, elimination_tree(RtMR), rows).solve(*parts, rates))
        jacobian = _stored(Phi_z)
    return Stages(
        ca.vertcat(_column(open.at.A[1:]), x), xd, Sc, empty, empty, _stored(R), _stored(ca.triu(RtMR)), RtMSc, RtQ,
        jacobian, rates, parts[0], solution,
    )  # fmt: skip


def _upper(A: Expr) -> Expr:
    """The upper triangle by columns."""
    return ca.vertcat(*(A[: k + 1, k] for k in range(A.shape[0])))


def _stored(A: Expr) -> Expr:
    """The entries that a matrix stores, in one column."""
    rows, columns = A.sparsity().row(), A.sparsity().get_col()
    return ca.vertcat(*(A[i, j] for i, j in zip(rows, columns, strict=True)), DM(0, 1))


def _column(*parts: Sequence[Any]) -> Expr:
    """Matrices one below the other in one column."""
    return ca.vertcat(*(ca.vec(matrix) for part in parts for matrix in part))
