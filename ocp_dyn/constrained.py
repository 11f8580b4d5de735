"""Dynamics under constraints: accelerations, constraint forces, impacts [RBDA, ch. 8; F16, sec. 2.4-2.6].

    [ H  G' ] [ qdd  ]   [ tau - C ]
    [ G  0  ] [ -lam ] = [ gamma   ]

is solved by block elimination on the branch-sparse factor `H = L' D L`: with `W = L'^-1 G'` the forces
follow from `(W' D^-1 W) lam = gamma - G H^-1 (tau - C)`. Redundant constraint sets (a flat foot held at four
points) make that matrix singular: rows that depend on the rows before them get no force, so qdd is right
and lam is one of the possible distributions; `residual=True` returns how well every row is kept.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from ._types import Expr, M
from .constraints import Constraints, constraint_hessian, constraint_jacobian
from .dynamics import Names, bias_force, factor, mass_matrix
from .linalg import LTDL, solve_semidefinite
from .model import Model


class _Range(NamedTuple):
    """Constraints in the range space of H: W = L'^-1 G' and A = G H^-1 G'."""

    factor: LTDL
    W: Expr
    A: Expr

    @staticmethod
    def of(model: Model, G: Expr, q: Expr) -> _Range:
        f = factor(model, mass_matrix(model, q))
        W = f.solve_Lt(G.T)
        return _Range(f, W, ca.triu2symm(ca.triu(W.T @ f.scale(W))))

    def raise_back(self, y: Expr) -> Expr:
        """L^-1 D^-1 y: from the factor's coordinates to joint space."""
        return self.factor.solve_L(self.factor.scale(y))


def constrained_dynamics(
    model: Model,
    constraints: Constraints,
    q: M,
    qd: M,
    tau: M,
    f_ext: M | None = None,
    *,
    external: Names = (),
    residual: bool = False,
) -> tuple[M, ...]:
    """(qdd, lam) with `H qdd + C = tau + G' lam`, `G qdd = gamma` [F16, eq. 10].

    qdd (nv); lam (m) [N; N m for angular rows], acting on the robot. With residual=True a third output,
    `G qdd - gamma` (m), tells what a redundant or contradictory set leaves over. O(nb depth^2 + m^2 nv + m^3).
    """
    G = constraint_jacobian(model, constraints, q)
    gamma = constraint_hessian(model, constraints, q, qd)
    space = _Range.of(model, G, q)
    y = space.factor.solve_Lt(tau - bias_force(model, q, qd, f_ext, external=external))
    lam = solve_semidefinite(space.A, gamma - space.W.T @ space.factor.scale(y))
    qdd = space.raise_back(y + space.W @ lam)
    return (qdd, lam, G @ qdd - gamma) if residual else (qdd, lam)


def impact(model: Model, constraints: Constraints, q: M, qd: M, e: float | M = 0.0) -> tuple[M, M]:
    """(qd_plus, Lam) with `H (qd_plus - qd) = G' Lam`, `G qd_plus = -e G qd` [F16, eq. 14].

    qd_plus (nv); Lam (m) [N s; N m s], acting on the robot. e: restitution, 0 plastic, 1 elastic. Kinetic
    energy never grows for e in [0, 1]. Redundant sets as in `constrained_dynamics`.
    """
    if not isinstance(e, (ca.SX, ca.MX)) and not 0 <= float(e) <= 1:
        raise ValueError(f"restitution e must lie in [0, 1], got {e}")
    G = constraint_jacobian(model, constraints, q)
    space = _Range.of(model, G, q)
    Lam = solve_semidefinite(space.A, -(1 + e) * (G @ qd))
    return qd + space.raise_back(space.W @ Lam), Lam
