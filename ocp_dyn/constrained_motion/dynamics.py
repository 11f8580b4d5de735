"""Accelerations, impacts and matrices of constrained motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Expr, M, Numbers, numbers, repr_in_message
from ..constraints import Constraints, constraint_hessian, constraint_jacobian, constraint_velocity
from ..dynamics.rnea_crba_aba import bias_force, mass_matrix
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.loads import NO_LOADS, Loads
from .independent_rows import ConstraintRows
from .solvers import solver_of


@checks_arguments()
def constrained_dynamics(
    model: Model,
    constraints: Constraints,
    q: M | Numbers,
    qd: M | Numbers,
    tau: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    residual: bool = False,
    solver: str = "range",
    t: Any = None,
    loads: Loads = NO_LOADS,
) -> tuple[M, ...]:
    """(qdd, lam) with `H qdd + C = tau + G' lam`, `G qdd = gamma` [F16, eq. 7].

    qdd (nv); lam (m) [N; N m for angular rows], acting on the robot. With residual=True a third output,
    `G qdd - gamma` (m), is nonzero if rows contradict each other. solver: "range", "kkt", "null",
    "aba" or "proximal", see `ocp_dyn.constrained_motion.solvers`. t: time [s], for constraints on time. loads
    as in `inverse_dynamics`. O(nb depth^2 + m^2 nv + m^3) with "range".

    >>> pin = [od.Contact("tip", axes="z")]  # the rod, level, is held at its tip: half of its weight
    >>> od.constrained_dynamics(rod, pin, [np.pi / 2], [0.0], [0.0])
    (DM(0), DM(4.905))
    """
    solve = solver_of(solver)
    rows = ConstraintRows.of(model, constraints, q, t)
    gamma = constraint_hessian(model, constraints, q, qd, t=t)
    C = bias_force(model, q, qd, f_ext, loads=loads)
    qdd, lam = solve(model, q, rows, tau - C, gamma, loads)
    return (qdd, lam, rows.G @ qdd - gamma) if residual else (qdd, lam)


@checks_arguments()
def impact(
    model: Model,
    constraints: Constraints,
    q: M | Numbers,
    qd: M | Numbers,
    e: Any = 0.0,
    *,
    residual: bool = False,
    solver: str = "range",
    t: Any = None,
    loads: Loads = NO_LOADS,
) -> tuple[M, ...]:
    """(qd_plus, Lam) with `H (qd_plus - qd) = G' Lam`, `G qd_plus = -e G qd` [F16, eqs. 10-12].

    qd_plus (nv); Lam (m) [N s; N m s], acting on the robot. e: restitution, 0 plastic, 1 elastic; a number, or a
    sequence or column with one per row. Kinetic energy never grows for a single e in [0, 1]. Redundant sets, solvers
    and residual (the third output: velocity error after the impact plus e times that before) as in
    `constrained_dynamics`. Of the loads only the armature counts. Constraints on time: `G qd` is the velocity error,
    dphi/dt at fixed q in it.

    >>> wall = [od.Contact("tip", axes="x")]  # the tip strikes a wall at 3 m/s
    >>> od.impact(rod, wall, [0.0], [-3.0], e=0.5)
    (DM(1.5), DM(-1.5))
    """
    solve = solver_of(solver)
    rows = ConstraintRows.of(model, constraints, q, t)
    before = constraint_velocity(model, constraints, q, qd, t=t)
    wanted = -(1 + restitution(e, rows.G.shape[0])) * before
    jump, Lam = solve(model, q, rows, model.rest(q), wanted, loads)
    return (qd + jump, Lam, rows.G @ jump - wanted) if residual else (qd + jump, Lam)


@checks_arguments()
def constrained_equations(
    model: Model,
    constraints: Constraints,
    q: M | Numbers,
    qd: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    t: Any = None,
    loads: Loads = NO_LOADS,
) -> tuple[M, M, M, M]:
    """(H, C, G, gamma) of `H qdd + C = tau + G' lam`, `G qdd = gamma`. As a Function they share their kinematics.

    >>> H, C, G, gamma = od.constrained_equations(rod, [od.Contact("tip", axes="x")], [0.0], [0.0])
    >>> G
    DM(-1)
    """
    return (
        mass_matrix(model, q, loads=loads),
        bias_force(model, q, qd, f_ext, loads=loads),
        constraint_jacobian(model, constraints, q, t=t),
        constraint_hessian(model, constraints, q, qd, t=t),
    )


def restitution(e: float | Sequence[float] | Expr, rows: int) -> Expr:
    """e as a number, or as a column with an entry per row."""
    if isinstance(e, (ca.SX, ca.MX)):
        if e.shape not in ((1, 1), (rows, 1)):
            raise ValueError(f"restitution e must be one value or {rows}, one per row, got shape {e.shape}")
        return e
    values = numbers(e)
    if values.size not in (1, rows):
        raise ValueError(f"restitution e must be one number or {rows}, one per row, got {values.size}")
    if not np.all((values >= 0) & (values <= 1)):
        raise ValueError(f"restitution e must lie in [0, 1], a number or one per row, got {repr_in_message(e)}")
    return float(values[0]) if values.size == 1 else DM(values)
