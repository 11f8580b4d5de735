"""Analytic derivatives of constrained dynamics and of impacts, by the implicit function theorem.

The equations that hold at the solution qdd, lam,

    ID(q, qd, qdd) - tau_p - G' lam = tau,     G qdd = gamma,

are differentiated at constant qdd and lam: ID by its recursion (`ocp_dyn.derivatives.first`), G' lam and G qdd - gamma
by those on the motion of frames (`rows`). The unknown derivatives solve the equations that qdd and lam solve,

    [ H  G' ] [  d(qdd)/dx ]   [ -d(ID - tau_p - G' lam)/dx ]
    [ G  0  ] [ -d(lam)/dx ] = [ -d(G qdd - gamma)/dx       ],

for all x at once, with the same factors of H = L'DL and of G H^-1 G'. As J. Carpentier & N. Mansard do without
constraints (Analytical derivatives of rigid body dynamics algorithms, RSS 2018).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
from casadi import DM

from .._base.types import Expr, M, Numbers, as_type
from ..constraints import Constraints, as_set, constraint_hessian, constraint_velocity
from ..constraints.sets import Constraint
from ..derivatives.first import inverse_dynamics_derivatives
from ..dynamics.rnea_crba_aba import bias_force
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.loads import NO_LOADS, Loads
from ..spatial_algebra.linalg import symmetric
from .contact_frames import Motions
from .dynamics import restitution
from .independent_rows import ConstraintRows
from .rows import acceleration_derivatives, force_derivatives, velocity_derivatives
from .solvers import RangeSpace


@checks_arguments()
def constrained_dynamics_derivatives(
    model: Model,
    constraints: Constraints,
    q: M | Numbers,
    qd: M | Numbers,
    tau: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    t: Any = None,
    loads: Loads = NO_LOADS,
) -> tuple[M, M, M, M, M, M]:
    """(d qdd/dq, d qdd/d qd, d qdd/d tau, d lam/dq, d lam/d qd, d lam/d tau) of `constrained_dynamics`.

    d qdd/dx (nv x nv), d lam/dx (m x nv); columns by q are tangent directions: d/d(delta) at `integrate(q, delta)`.
    External wrenches (fixed in the world), t and loads as in `constrained_dynamics`; solver "range".
    The derivatives by tau: `d qdd/d tau` is symmetric and `G d qdd/d tau = 0`.

    Redundant rows: d qdd/dx is that of the one qdd; a row that depends on others has no force, so its rows of
    d lam/dx are zero. The set must stay redundant around q (a flat foot does): where rank(G) changes there is no
    derivative. O(nb depth^2 + m nv^2).

    >>> lock = od.LockedJoint("joint2")
    >>> od.constrained_dynamics_derivatives(arm, [lock], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0])[2]  # d qdd/d tau: 3/8
    DM(
    [[0.375, 0],
     [0, 0]])
    """
    members = as_set(constraints, t)
    given = ConstraintRows.of(model, members, q)
    space = RangeSpace.of(model, given, q, loads)
    C = bias_force(model, q, qd, f_ext, loads=loads)
    qdd, lam = space.solve(tau - C, constraint_hessian(model, members, q, qd))
    at = Motions(model, q, qd, qdd)
    by_q, by_qd, _ = inverse_dynamics_derivatives(model, q, qd, qdd, f_ext, loads=loads)
    rows = _stacked(acceleration_derivatives, members, at)
    forces = ca.horzcat(_forces(members, at, lam) - by_q, -by_qd)
    # by tau: unit forces; they and the inverse of A then give all other d(lam) at the price of products
    independent = space.rows.G.shape[0]
    qdd_tau, mu_tau = space.independent(DM.eye(model.nv), DM(independent, model.nv))
    A_inverse = symmetric(space.multipliers(DM.eye(independent)))
    Mu = mu_tau @ forces - A_inverse @ space.rows.right_side(rows)
    X, Lam = space.raise_back(space.factor.solve_Lt(forces) + space.W @ Mu), space.rows.forces(Mu)
    qdd_q, qdd_qd, lam_q, lam_qd = (as_type(x, q) for y in (X, Lam) for x in ca.horzsplit(y, model.nv))
    return qdd_q, qdd_qd, as_type(symmetric(qdd_tau), q), lam_q, lam_qd, as_type(space.rows.forces(mu_tau), q)


@checks_arguments()
def impact_derivatives(
    model: Model,
    constraints: Constraints,
    q: M | Numbers,
    qd: M | Numbers,
    e: Any = 0.0,
    *,
    t: Any = None,
    loads: Loads = NO_LOADS,
) -> tuple[M, M, M, M]:
    """(d qd_plus/dq, d qd_plus/d qd, d Lam/dq, d Lam/d qd) of `impact`.

    d qd_plus/dx (nv x nv), d Lam/dx (m x nv); columns by q are tangent directions: d/d(delta) at `integrate(q, delta)`.
    e, t, loads as in `impact`; solver "range", redundant rows as in `constrained_dynamics_derivatives`. With the
    jump u = qd_plus - qd held constant, H u = G' Lam is differentiated as ID(q, 0, u) without gravity, and the
    rows as those of the velocity error after the impact plus e times those before. O(nb depth^2 + m nv^2).

    >>> stop = [od.Contact("tip", axes="x")]  # a wall stops the tip, whatever its speed
    >>> od.impact_derivatives(rod, stop, [0.0], [3.0])[1]
    DM(0)
    """
    members, nv = as_set(constraints, t), model.nv
    given = ConstraintRows.of(model, members, q)
    G, space = given.G, RangeSpace.of(model, given, q, loads)
    factor: Expr = restitution(e, G.shape[0])
    before = constraint_velocity(model, members, q, qd)
    jump, Lam = space.solve(model.rest(q), -(1 + factor) * before)
    weightless = replace(model, gravity=(0.0, 0.0, 0.0))
    rest = model.rest(q)
    by_q, _, _ = inverse_dynamics_derivatives(weightless, q, rest, jump)
    after, first = (
        _stacked(velocity_derivatives, members, Motions(model, q, v, rest))[:, :nv] for v in (qd + jump, qd)
    )
    factor = factor if isinstance(factor, float) else ca.repmat(factor, G.shape[0] // factor.shape[0], nv)
    forces = ca.horzcat(_forces(members, Motions(model, q, rest, rest), Lam) - by_q, DM(nv, nv))
    rows = ca.horzcat(after + factor * first, G + factor * G)
    X, dLam = space.solve(forces, -rows)
    u_q, u_qd = ca.horzsplit(X, nv)
    Lam_q, Lam_qd = ca.horzsplit(dLam, nv)
    return as_type(u_q, q), as_type(DM.eye(nv) + u_qd, q), as_type(Lam_q, q), as_type(Lam_qd, q)


def _stacked(rows: Callable[[Constraint, Motions], Expr], members: tuple[Constraint, ...], at: Motions) -> Expr:
    return ca.vertcat(*(rows(c, at) for c in members))


def _forces(members: tuple[Constraint, ...], at: Motions, lam: Expr) -> Expr:
    """d(G' lam)/dq (nv x nv), the sum over all constraints."""
    total: Expr = DM(at.model.nv, at.model.nv)
    start = 0
    for c in members:
        total = total + force_derivatives(c, at, lam[start : start + len(c.rows)])
        start += len(c.rows)
    return total
