"""Inverse dynamics under constraints, for models that are not actuated at every dof."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import ROUNDING, Expr, M, Numbers, finite, repr_in_message, sequence
from ..constraints import Constraints, constraint_hessian
from ..dynamics.rnea_crba_aba import bias_force, mass_matrix
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments, column_of_numbers
from ..mechanism.loads import NO_LOADS, Loads
from .independent_rows import ConstraintRows, IndependentRows, OrthogonalRows
from .reflections import Reflections, lengths, solve_upper, solve_upper_transposed
from .solvers import RangeSpace

Actuated = Sequence[bool] | Sequence[str] | None


@checks_arguments()
def constrained_inverse_dynamics(
    model: Model,
    constraints: Constraints,
    q: M | Numbers,
    qd: M | Numbers,
    qdd: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    actuated: Actuated = None,
    relaxed: bool | None = None,
    t: Any = None,
    loads: Loads = NO_LOADS,
) -> tuple[M, M, M]:
    """(tau, lam, qdd_c): `H qdd_c + C = tau + G' lam`, `G qdd_c = gamma`, tau = 0 where unactuated.

    actuated: names of joints, or nv truth values; None: all but a root that floats, in space or in a plane. a and u
    stand for the two kinds of dofs, S for their rows of the identity.

    Exact (relaxed=False; the default with at least as many rows as unactuated dofs): of all accelerations that keep
    the constraints, qdd_c is the nearest to qdd on the actuated dofs, equal there if qdd can be kept at all; lam is
    the least that satisfies the unactuated rows. By orthogonal factors of G_u and of what it leaves of G_a, so that
    errors grow with the condition of G_u, not with its square. Needs a fully actuated system, rank(G_u) = u, at
    every q where it is used; redundant rows of G do no harm. Called with numbers (a DM for q) it raises ValueError
    where the rank is lower; a Function gives nan there. `is_fully_actuated` tests it beforehand, and relaxed=True
    needs no rank.

    Relaxed (relaxed=True; the default with fewer rows): the wanted accelerations of the actuated dofs are rows like
    those of the constraints, after them, and their torques are the forces of these rows. The unactuated dofs go
    where the equations of motion send them. If the constraints and earlier dofs already determine an actuated dof's
    acceleration, its torque is zero and its wanted acceleration is ignored.

    loads as in `inverse_dynamics`.
    tau, qdd_c (nv) [N m, N; rad/s^2, m/s^2], lam (m) [N, N m]. O(nv^3) at worst.

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("robot", od.FloatingBase(), mass=2, inertia=(1, 1, 1))
    >>> rest = [0, 0, 0, 0, 0, 0, 1], [0] * 6, [0] * 6
    >>> tau, lam, qdd = od.constrained_inverse_dynamics(builder.build(), [od.Contact("robot")], *rest)
    >>> lam.T  # [moment; force]: the ground carries m g
    DM([[0, 0, 0, 0, 0, 19.62]])
    """
    a, u = actuated_dofs(model, actuated)
    rows = ConstraintRows.of(model, constraints, q, t)
    m = rows.G.shape[0]
    gamma = constraint_hessian(model, constraints, q, qd, t=t)
    C = bias_force(model, q, qd, f_ext, loads=loads)
    if len(u) > m if relaxed is None else relaxed:
        return _relaxed(model, q, rows, gamma, C, qdd, a, loads)
    if len(u) > m:
        raise ValueError(
            f"{m} constraint rows cannot actuate {len(u)} unactuated dofs: leave relaxed out or set it to True"
        )
    H = mass_matrix(model, q, loads=loads)
    _check_actuation(rows, H, u)
    return _exact(rows, H, gamma, C, qdd, a, u)


def _check_actuation(rows: ConstraintRows, H: Expr, u: list[int]) -> None:
    """Raises where numbers show that the constraint forces do not reach every unactuated dof."""
    if not isinstance(rows.G, DM) or not u:
        return
    rank = _rank(rows, H, None, u)
    if rank < len(u):
        raise ValueError(
            f"not fully actuated at this q: {rows.G.shape[0]} constraint rows reach {rank} of {len(u)} unactuated dofs "
            "(rank of G_u), so not every wanted acceleration has torques; set relaxed=True, or add constraints"
        )


def _exact(
    rows: ConstraintRows, H: Expr, gamma: Expr, C: Expr, qdd: Expr, a: list[int], u: list[int]
) -> tuple[Expr, Expr, Expr]:
    """The acceleration x with G x = gamma that is nearest to qdd on the actuated dofs a, and the least forces lam that
    satisfy the equations of motion of the unactuated dofs u.

    With G_u = Q [R; 0] and Q = [Y Z] by columns:

        Z' G_a (x_a - qdd_a) = Z' (gamma - G_a qdd_a), the least solution;   R x_u = Y' (gamma - G_a x_a),

        lam = Y R'^-1 (H x + C)_u.

    If there are as many rows as unactuated dofs, Z is empty and lam is unique. The rows are then scaled to a common
    size, so that newtons and newton meters have equal weight.
    """
    m, k = rows.G.shape[0], len(u)
    unit = 1 / lengths(rows.magnitudes @ ca.diag(1 / ca.sqrt(ca.diag(H)))) if k == m else rows.common_scale(ca.diag(H))
    G, magnitudes = unit * rows.G, unit * rows.magnitudes
    kind: type[Expr] = type(ca.vertcat(gamma, C, qdd))  # numbers and symbols may mix
    x: Expr = kind(qdd.shape[0], 1)
    if a:
        x[a] = qdd[a]
    lam: Expr = kind.zeros(m, 1)
    lacking = unit * gamma - G[:, a] @ qdd[a] if a else unit * gamma
    Q = Reflections.of(ca.densify(G[:, u]), lengths(magnitudes[:, u].T)) if u else None
    if k < m and a:
        turned = ca.horzcat(G[:, a], lacking) if Q is None else Q.apply_transpose(ca.horzcat(G[:, a], lacking))[k:, :]
        sizes = lengths(magnitudes[:, a]) if Q is None else ca.repmat(ca.norm_fro(magnitudes[:, a]), m - k, 1)
        scaled = ca.diag(1 / sizes) @ turned
        limit, apart = rows.largest_limit(ca.diag(H)), all(group.certain for group in rows.groups)
        independent = OrthogonalRows.of(scaled[:, :-1], limit, min(m - k, len(a)), in_order=apart)
        step = ca.vertcat(*independent.Q).T @ independent.right_side(scaled[:, -1])
        x[a] = qdd[a] + step
        lacking = lacking - G[:, a] @ step
    if Q is not None:
        x[u] = solve_upper(Q.R, Q.apply_transpose(lacking)[:k])
    force = H @ x + C
    if Q is not None:
        forces = solve_upper_transposed(Q.R, force[u])
        lam = unit * Q.apply(ca.vertcat(forces, DM(m - k, 1)))
    tau: Expr = kind(qdd.shape[0], 1)
    if a:
        tau[a] = (force - rows.G.T @ lam)[a]
    return tau, lam, x


def _relaxed(
    model: Model, q: Expr, rows: ConstraintRows, gamma: Expr, C: Expr, qdd: Expr, a: list[int], loads: Loads
) -> tuple[Expr, Expr, Expr]:
    """H x + C = G' lam + S_a' tau_a, G x = gamma, S_a x = qdd_a: actuated dofs as rows after those of the
    constraints."""
    n, m = model.nv, rows.G.shape[0]
    H = mass_matrix(model, q, loads=loads)
    together = IndependentRows.of(rows, ca.diag(H))
    tau: Expr = type(C)(n, 1)
    if not a:
        x, lam = RangeSpace.on(H, model.dof_parent, together).solve(-C, gamma)
        return tau, lam, x
    together = together.followed_by(DM.eye(n)[a, :])
    x, forces = RangeSpace.on(H, model.dof_parent, together).solve(-C, ca.vertcat(gamma, qdd[a]))
    tau[a] = forces[m:, :]
    return tau, forces[:m, :], x


def actuated_dofs(model: Model, actuated: Actuated = None) -> tuple[list[int], list[int]]:
    """Indices of the actuated and of the unactuated dofs.

    None: every dof but those of `model.floating_joints`. Names: the dofs of these joints.
    """
    if actuated is None:
        floats = {k for name in model.floating_joints for k in range(model.nv)[model.qd_slice(name)]}
        mask = [k not in floats for k in range(model.nv)]
    else:
        mask = _mask(model, sequence(actuated, "actuated must be a sequence of joint names or of truth values"))
    return [k for k, yes in enumerate(mask) if yes], [k for k, yes in enumerate(mask) if not yes]


def _mask(model: Model, actuated: list[Any]) -> list[bool]:
    """Whether each dof is actuated: from names of joints, or as given."""
    if actuated and all(isinstance(name, str) for name in actuated):
        dofs = {k for name in actuated for k in range(model.nv)[model.qd_slice(name)]}
        return [k in dofs for k in range(model.nv)]
    if len(actuated) != model.nv:
        raise ValueError(
            f"actuated must hold {model.nv} truth values, one per dof, or joint names; got {len(actuated)}"
        )
    for value in actuated:
        if not isinstance(value, (bool, np.bool_, int, float, np.number)) or value not in (0, 1):
            raise TypeError(
                f"actuated must hold truth values, one per dof, or joint names; got {repr_in_message(value)} in it"
            )
    return [bool(value) for value in actuated]


@checks_arguments(own=("q",))
def is_fully_actuated(
    model: Model,
    constraints: Constraints,
    q: Any,
    actuated: Actuated = None,
    *,
    tolerance: float | None = None,
    t: Any = None,
) -> bool:
    """Whether the constraint forces reach every unactuated dof at q (numbers): rank(G_u) = number of them.

    Then `constrained_inverse_dynamics` is exact: any accelerations that keep the constraints have torques. tolerance
    as in `constraint_rank`.

    >>> od.is_fully_actuated(arm, [od.Contact("tip", axes="x")], [0.1, 0.2], actuated=["joint2"])
    True
    """
    _, u = actuated_dofs(model, actuated)
    rows, H = _at(model, constraints, q, t)
    return _rank(rows, H, tolerance, u) == len(u)


@checks_arguments(own=("q",))
def constraint_rank(
    model: Model, constraints: Constraints, q: Any, *, tolerance: float | None = None, t: Any = None
) -> int:
    """Rank of G at q (numbers): the number of independent rows.

    Rows are divided by the sizes of their terms and dofs by those of their inertias, so that units do not matter, and
    made orthogonal to each other, largest remainder first; remainders up to the tolerance count as zero. None: the
    limit of the solvers of the dynamics, 3e-9 or twice the angle that a loop is open by, so that a loop that is
    slightly open can still move.

    >>> twice = [od.Contact("tip", axes="x"), od.Contact("tip", axes="xz")]
    >>> od.constraint_rank(arm, twice, [0.1, 0.2])  # three rows, two of them independent
    2
    """
    return _rank(*_at(model, constraints, q, t), tolerance)


def _at(model: Model, constraints: Constraints, q: Any, t: Any) -> tuple[ConstraintRows, DM]:
    """The rows of the constraints and H at q, in numbers."""
    at = column_of_numbers(q, model.nq, "q", model.q_names)
    return ConstraintRows.of(model, constraints, at, t), mass_matrix(model, at)


def _rank(rows: ConstraintRows, H: DM, tolerance: float | None, columns: list[int] | None = None) -> int:
    """Rank of these columns of G, its rows divided by their sizes before terms cancel."""
    if tolerance is not None and not 0 <= finite(tolerance, "tolerance") < 1:
        raise ValueError(f"tolerance must be a fraction, 0 or more and less than 1, got {repr_in_message(tolerance)}")
    A = rows.scaled(ca.diag(H))
    if columns is not None:
        A = A[:, columns]
    if 0 in A.shape:
        return 0
    if not A.is_regular():
        raise ValueError("the rows of the constraints are not finite at this q: a quaternion must not be zero")
    limit = rows.largest_limit(ca.diag(H)) if tolerance is None else max(tolerance, ROUNDING)
    return OrthogonalRows.of(A, limit, min(A.shape)).rank
