"""Closed chains in Formulation A: loops opened by removing the rigid-body conditions of a body [GJB94, 8.3, fig. 8.16].

The points and vectors that the removed body shares with the bodies on its two sides move with these, which are open
branches then; elements of its own move freely. So xd = R1 z1-dot for all natural coordinates, and the mass of the
removed body stays in M; its conditions, lengths and angles between its elements, close the loop:

    [R1' M R1  R1' Phi2_x'] [z1dd]   [R1' (Q - M S1c1)]
    [Phi2_x R1      0     ] [-lam] = [c2 - Phi2_x S1c1],     xdd = R1 z1dd + S1c1.                        (8.111, 8.114)

Bodies that the tree carried beyond the removed body hang on the loop's other end: their joints are passed in reverse.
z1-dot holds the rates of the joints that remain, those of reversed joints unchanged, those along the free axes of loops
that serve as joints, and the rates of the removed body's own elements.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import casadi as ca
from casadi import DM

from ..._base.autodiff import as_function
from ..._base.types import Expr, M, Numbers, as_type
from ...constrained_motion.independent_rows import ConstraintRows
from ...dynamics.invertible import check_invertible
from ...mechanism import Model
from ...mechanism.boundary import checks_arguments
from ...mechanism.loads import NO_LOADS, Loads
from ...spatial_algebra.linalg import elimination_tree, symmetric
from ..cut_joints import Closing
from ..joint_coordinates import joint_rates, qd_of
from ..natural_coordinates import NaturalCoordinates
from ..natural_dynamics import natural_force, natural_mass_matrix
from .branches import Branches, OpenedChain, check_opened
from .by_cut_joints import Options


@checks_arguments(own=("mu",))
def closed_chain_dynamics_a(
    model: Model,
    opened: OpenedChain,
    q: M | Numbers,
    qd: M | Numbers,
    tau: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    method: str = "multipliers",
    alpha: Any = None,
    omega: float | None = None,
    mu: float | None = None,
    baumgarte: tuple[float, float] | None = None,
    loads: Loads = NO_LOADS,
) -> tuple[M, M, M]:
    """(qdd, lam, xdd) of a closed chain in natural coordinates, by removed rigid-body conditions [GJB94, 8.114].

    opened: by `open_by_removing`. q (nq), qd (nv): closed, as the model has them. qdd (nv) [rad/s^2, m/s^2], xdd (n)
    [m/s^2, 1/s^2]. lam: forces of the conditions `opened.conditions`, Phi2_x' lam acts on the coordinates. method:
    "multipliers" or "penalty", the other options as in `closed_chain_dynamics`; redundant conditions are allowed.
    loads.armature is refused, as by `natural_force`.

    >>> bar = od.models.n_four_bar(1)
    >>> opened = od.formulations.open_by_removing(bar.model, bar.loops, "coupler1")
    >>> od.formulations.closed_chain_dynamics_a(bar.model, opened, bar.q, bar.qd, np.zeros(3))[0]
    DM([0, 0, 0])
    """
    check_opened(opened)
    if method == "independent":
        raise ValueError(
            "method='independent' is for cut joints: use closed_chain_dynamics, 'multipliers' or 'penalty'"
        )
    options = Options.of(method, alpha, omega, mu, baumgarte)
    check_invertible(model, loads=loads)
    natural, rows = opened.natural, list(opened.rows)
    tree = natural.split(model)
    x, xd, R, Sc = Branches.of(model, opened, q, qd)
    mass = natural_mass_matrix(model, natural, x)
    Q = natural_force(model, natural, x, xd, tau, f_ext, loads=loads)
    J = natural.conditions.jacobian(x)[rows, :]
    closing = Closing(J @ R, natural.conditions.rate(xd)[rows] - J @ Sc, J @ xd)
    H, f = symmetric(R.T @ (mass @ R)), R.T @ (Q - mass @ Sc)
    position = partial(_position, natural, x, rows)
    closed = ConstraintRows.by_pattern(closing.Phi_z, ca.fabs(J) @ ca.fabs(R), position())
    zdd, lam = options.solve(H, elimination_tree(H), f, closing, position, closed)
    xdd = R @ zdd + Sc
    qdd = joint_rates(natural, tree, x) @ xdd + _rates_of_rates(natural, tree, x, xd)
    return as_type(qdd, q), as_type(lam, q), as_type(xdd, q)


def _position(natural: NaturalCoordinates, x: Expr, rows: list[int]) -> Expr:
    """Phi2 (m2)."""
    return natural.conditions.value(x)[rows]


def _rates_of_rates(natural: NaturalCoordinates, tree: Model, x: Expr, xd: Expr) -> Expr:
    """(dB/dt) xd (nv) of qd = B(x) xd."""
    n = natural.n

    def product(both: Expr) -> list[Expr]:
        rates = qd_of(natural, tree, both[:n], both[n:])
        return [ca.jtimes(rates, both, ca.vertcat(both[n:], DM(n, 1)))]

    return as_function(product, 2 * n)(ca.vertcat(x, xd))
