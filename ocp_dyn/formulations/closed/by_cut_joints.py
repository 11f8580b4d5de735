"""Dynamics of closed chains by velocity transformations, Formulation B with cut joints [GJB94, 8.3].

The open chain has H = R'MR and C = R'(M Sc + C - Q), see `velocity_transformations`; the cut joints add
Phi_z qdd = gamma, see `cut_joints`:

| method | equations | redundant rows |
|---|---|---|
| multipliers | H qdd + C = tau + Phi_z' lam, Phi_z qdd = gamma (8.114) | left out, lam = 0 |
| penalty | (H + alpha Phi_z' Phi_z) qdd = tau - C - alpha Phi_z' (2 Omega mu Phi_z qd + Omega^2 Phi - gamma) | shared |
| independent | R2' H R2 qdd_i = R2' (tau - C - H S2 gamma), qdd = R2 qdd_i + S2 gamma (8.120) | dropped, lam = 0 |

The penalty equation is (8.115). alpha, Omega, mu: penalty, natural frequency and damping ratio of the penalty system
(5.36); one alpha, or one per row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from casadi import DM

from ..._base.checks import choice, positive
from ..._base.types import (
    Expr,
    M,
    Numbers,
    as_type,
    cast_to_matrix,
    numbers,
    repr_in_message,
)
from ...constrained_motion.independent_rows import ConstraintRows
from ...constrained_motion.solvers import RangeSpace
from ...constraints import Constraints, constraint_position
from ...dynamics.invertible import check_invertible
from ...mechanism import Model
from ...mechanism.boundary import checks_arguments
from ...mechanism.loads import NO_LOADS, Loads
from ...spatial_algebra.linalg import elimination_tree, ltdl, solve_spd, symmetric
from ..cut_joints import Closing
from ..velocity_transformations import elements, open_chain, projected
from .independent_coordinates import IndependentCoordinates, Transformation

METHODS = ("multipliers", "penalty", "independent")
PENALTY = {"alpha": 1e7, "omega": 10.0, "mu": 1.0}
"""Defaults of the penalty method: alpha, omega [rad/s], mu."""
Solution = tuple[Expr, Expr]


@checks_arguments(own=("mu",))
def closed_chain_dynamics(
    model: Model,
    constraints: Constraints,
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
    independent: IndependentCoordinates | None = None,
    loads: Loads = NO_LOADS,
) -> tuple[M, M]:
    """(qdd, lam) with `H qdd + C = tau + Phi_z' lam`, `Phi_z qdd = gamma`, Formulation B [GJB94, 8.114-8.120].

    constraints: the cut joints, one `Loop` or a tuple; other constraints are taken by their G and gamma. Rows, signs
    and lam (m) [N; N m] are those of `constrained_dynamics`. qdd (nv) [rad/s^2, m/s^2].

    method: "multipliers" (8.114), "penalty" (8.115) with alpha (default 1e7), omega (10 rad/s), mu (1), or
    "independent" (8.120) in the coordinates `independent` that `independent_coordinates` chose; inf or nan where these
    are singular. baumgarte: (omega [rad/s], xi), which adds -2 xi omega Phi_z qd - omega^2 Phi to gamma; not with the
    penalty method, which has these terms. All methods take redundant rows; the penalty method also goes through
    singular positions, its errors shrink as 1/alpha, and its lam is -alpha (Phi_z qdd - gamma + 2 omega mu Phi_z qd +
    omega^2 Phi). loads as in `inverse_dynamics`.

    >>> bar = od.models.n_four_bar(1)
    >>> state = bar.q, bar.qd, np.zeros(3)
    >>> qdd, lam = od.formulations.closed_chain_dynamics(bar.model, bar.loops, *state)
    >>> float(ca.norm_inf(qdd - od.constrained_dynamics(bar.model, bar.loops, *state)[0])) < 1e-9
    True
    """
    options = Options.of(method, alpha, omega, mu, baumgarte, independent)
    open = open_chain(model, q, qd)
    H, C = projected(model, cast_to_matrix(q), qd, elements(model, open, f_ext, loads=loads), loads)
    closing = Closing.of(model, constraints, open, q, qd)
    f, position = cast_to_matrix(tau) - C, partial(constraint_position, model, constraints, q)
    if options.method == "independent":
        choice = Transformation.of(model, constraints, closing.Phi_z, independent)
        qdd, lam = by_independent_coordinates(H, options.stabilized(closing, position), f, choice)
    else:
        if options.method == "multipliers":
            check_invertible(model, loads=loads)
        rows = ConstraintRows.of(model, constraints, cast_to_matrix(q), G=closing.Phi_z)
        qdd, lam = options.solve(H, model.dof_parent, f, closing, position, rows)
    return as_type(qdd, q), as_type(lam, q)


@dataclass(frozen=True)
class Options:
    """Options of methods for closed chains, checked."""

    method: str
    alpha: Any
    omega: float
    mu: float
    baumgarte: tuple[float, float] | None

    @staticmethod
    def of(method: Any, alpha: Any, omega: Any, mu: Any, baumgarte: Any, independent: Any = None) -> Options:
        """The options with the defaults of the penalty method filled in; ValueError for those that have no effect."""
        _check(method, baumgarte, independent)
        given = {"alpha": alpha, "omega": omega, "mu": mu}
        idle = [name for name, value in given.items() if value is not None and method != "penalty"]
        if idle:
            raise ValueError(
                f"{', '.join(idle)}: for method='penalty' only, got method={repr_in_message(method)}: leave out "
                f"{', '.join(idle)}, or stabilize by baumgarte=(omega, xi)"
            )
        alpha, omega, mu = (PENALTY[name] if value is None else value for name, value in given.items())
        if baumgarte is not None:
            what = ("baumgarte omega", "baumgarte xi")
            baumgarte = (positive(baumgarte[0], what[0]), positive(baumgarte[1], what[1]))
        return Options(method, alpha, positive(omega, "omega [rad/s]"), positive(mu, "mu"), baumgarte)

    def stabilized(self, closing: Closing, position: Callable[[], Expr]) -> Closing:
        """The conditions with Baumgarte's terms, or with those of the penalty method; position(): Phi."""
        if self.method == "penalty":
            return closing.stabilized(position(), self.omega, self.mu)
        return closing if self.baumgarte is None else closing.stabilized(position(), *self.baumgarte)

    def solve(
        self,
        H: Expr,
        tree: Sequence[int],
        f: Expr,
        closing: Closing,
        position: Callable[[], Expr],
        rows: ConstraintRows,
    ) -> Solution:
        """(zdd, lam) by multipliers or penalty, for H with the sparsity of a tree; rows: those of Phi_z."""
        system = self.stabilized(closing, position)
        if self.method == "penalty":
            return by_penalty(H, system, f, _penalties(self.alpha, system.gamma.shape[0]))
        return RangeSpace.on(H, tree, rows).solve(f, system.gamma)


def by_penalty(H: Expr, system: Closing, f: Expr, alpha: DM) -> Solution:
    """(qdd, lam) of (8.115), by a factor of H + Phi_z' alpha Phi_z that follows the loops along the branches."""
    weighted = alpha * system.Phi_z
    A = H + symmetric(system.Phi_z.T @ weighted)
    qdd = ltdl(A, elimination_tree(A)).solve(f + weighted.T @ system.gamma)
    return qdd, alpha * (system.gamma - system.Phi_z @ qdd)


def by_independent_coordinates(H: Expr, closing: Closing, f: Expr, transformation: Transformation) -> Solution:
    """(qdd, lam) of (8.120); lam from the rows of the dependent coordinates."""
    R2, S2 = transformation.matrices(H)
    known = S2 @ closing.gamma
    qdd = R2 @ solve_spd(symmetric(R2.T @ (H @ R2)), R2.T @ (f - H @ known)) + known
    return qdd, transformation.forces(H @ qdd - f)


def _check(method: Any, baumgarte: Any, independent: Any) -> None:
    """Raises errors about options that do not belong together."""
    choice(method, METHODS, "method")
    if baumgarte is not None and method == "penalty":
        raise ValueError("the penalty method is stabilized by omega and mu already: leave out baumgarte")
    if baumgarte is not None and (not isinstance(baumgarte, (tuple, list)) or len(baumgarte) != 2):
        raise ValueError(f"baumgarte must be (omega [rad/s], xi) or None, got {repr_in_message(baumgarte)}")
    if (independent is not None) != (method == "independent"):
        got = f"method={repr_in_message(method)}, independent={repr_in_message(independent)}"
        raise ValueError(
            "method='independent' goes with independent=, a choice by od.formulations.independent_coordinates, got "
            f"{got}"
        )


def _penalties(alpha: Any, rows: int) -> DM:
    """alpha for every row (m)."""
    values = numbers(alpha)
    if values.size == 1 and np.isfinite(values[0]):
        values = np.repeat(values, rows)
    if values.size != rows or not np.all(np.isfinite(values)):
        raise ValueError(f"alpha must be one finite number or {rows}, one per row, got {repr_in_message(alpha)}")
    if not min(values) > 0:
        raise ValueError(f"alpha must be positive, got {repr_in_message(alpha)}")
    return DM(values)
