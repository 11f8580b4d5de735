"""Inverse dynamics under constraints, for models that are not actuated at every dof."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from .._types import Expr, M, sparse
from ..constraints import Constraints, constraint_hessian, constraint_jacobian
from ..dynamics import Names, bias_force, mass_matrix
from ..linalg import solve_semidefinite, solve_spd
from ..model import Model
from .solvers import range_space

RANK_TOLERANCE = 1e-9
"""Singular values of G, its rows normalised, below this fraction of the largest count as zero."""
Actuated = Sequence[bool] | Sequence[str] | None


def constrained_inverse_dynamics(
    model: Model,
    constraints: Constraints,
    q: M,
    qd: M,
    qdd: M,
    f_ext: M | None = None,
    *,
    actuated: Actuated = None,
    relaxed: bool | None = None,
    external: Names = (),
    t: Any = None,
    passive: bool = False,
    armature: bool = False,
) -> tuple[M, M, M]:
    """(tau, lam, qdd_c): `H qdd_c + C = tau + G' lam`, `G qdd_c = gamma`, tau = 0 where unactuated.

    actuated: names of joints, or nv truth values; None: all but a root that floats, in space or in a plane. a and u
    stand for the two kinds of dofs, S for their rows of the identity.

    Exact (relaxed=False; the default with at least as many rows as unactuated dofs): of all accelerations that keep
    the constraints, qdd_c is the nearest to qdd on the actuated dofs, equal there if qdd can be kept at all; lam is
    the least that satisfies the unactuated rows. Needs a fully actuated system, rank(G_u) = u, at every q where it is
    used; redundant rows of G do no harm. Called with numbers (a DM for q) it raises ValueError where the rank is
    lower; with symbols nothing can be checked: a Function divides by a vanishing pivot there and gives nan or huge
    numbers. `is_fully_actuated` tells beforehand, and relaxed=True needs no rank.

    Relaxed (relaxed=True; the default with fewer rows): the torques that give the actuated dofs the wanted
    accelerations, `(S_a K S_a') tau_a = qdd_a - free_a` with K the compliance of the constrained system; the
    unactuated dofs go where the equations of motion send them. An actuated dof whose acceleration the constraints
    and those before it fix gets no torque and keeps no wish.

    passive and armature as in `inverse_dynamics`.
    tau, qdd_c (nv) [N m, N; rad/s^2, m/s^2], lam (m) [N, N m]. O(nv^3) at worst.
    """
    a, u = actuated_dofs(model, actuated)
    G = constraint_jacobian(model, constraints, q, t=t)
    gamma = constraint_hessian(model, constraints, q, qd, t=t)
    C = bias_force(model, q, qd, f_ext, external=external, passive=passive)
    if len(u) > G.shape[0] if relaxed is None else relaxed:
        return _relaxed(model, q, G, gamma, C, qdd, a, armature)
    if len(u) > G.shape[0]:
        raise ValueError(
            f"{G.shape[0]} constraint rows cannot actuate {len(u)} unactuated dofs: leave relaxed out or set it to True"
        )
    _check_actuation(G, u)
    qdd_c = _nearest(G, gamma, qdd, a, u)
    force = mass_matrix(model, q, armature=armature) @ qdd_c + C
    lam: M = type(q).zeros(G.shape[0], 1)
    if u:
        Gu = G[:, u]
        lam = Gu @ solve_spd(Gu.T @ Gu, force[u])
    tau = sparse(_mask(model, a)) * (force - G.T @ lam)
    return tau, lam, qdd_c


def _check_actuation(G: Expr, u: list[int]) -> None:
    """Raises where numbers show that the constraint forces do not reach every unactuated dof."""
    if not isinstance(G, DM) or not u:
        return
    rank = _rank(G, RANK_TOLERANCE, u)
    if rank < len(u):
        raise ValueError(
            f"not fully actuated at this q: {G.shape[0]} constraint rows reach {rank} of {len(u)} unactuated dofs "
            "(rank of G_u), so not every wanted acceleration has torques; set relaxed=True, or add constraints"
        )


def _nearest(G: Expr, gamma: Expr, qdd: Expr, a: list[int], u: list[int]) -> Expr:
    """The x with G x = gamma that is nearest to qdd on the dofs a, by its multipliers mu:

    x_a = qdd_a + G_a' mu,  G_u' mu = 0,  G G' mu + G_u x_u = gamma - G_a qdd_a   (G_u G_u' mu = 0 was added).
    """
    Ga, Gu = G[:, a], G[:, u]
    lacking = gamma - Ga @ qdd[a]
    solved = solve_semidefinite(ca.triu2symm(ca.triu(G @ G.T)), ca.horzcat(lacking, Gu))
    first, rest = solved[:, 0], solved[:, 1:]
    mu = first
    x: Expr = type(qdd)(qdd.shape[0], 1)
    if u:
        x[u] = solve_semidefinite(ca.triu2symm(ca.triu(Gu.T @ rest)), Gu.T @ first)
        mu = first - rest @ x[u]
    x[a] = qdd[a] + Ga.T @ mu
    return x


def _relaxed(
    model: Model, q: Expr, G: Expr, gamma: Expr, C: Expr, qdd: Expr, a: list[int], armature: bool
) -> tuple[Expr, Expr, Expr]:
    """Free motion and the answers to a unit torque on each actuated dof, as columns of one solve."""
    n, m, k = model.nv, G.shape[0], len(a)
    forces, wanted = ca.horzcat(-C, DM.eye(n)[:, a]), ca.horzcat(gamma, DM(m, k))
    X, Lam = range_space(model, q, G, forces, wanted, armature)
    answers = X[a, 1:]
    tau_a = solve_semidefinite(ca.triu2symm(ca.triu(answers)), qdd[a] - X[a, 0])
    tau: Expr = type(q)(n, 1)
    tau[a] = tau_a
    weights = ca.vertcat(1, tau_a)
    return tau, Lam @ weights, X @ weights


def actuated_dofs(model: Model, actuated: Actuated = None) -> tuple[list[int], list[int]]:
    """Indices of the actuated and of the unactuated dofs.

    None: every dof but those of `model.floating_joints`. Names: the dofs of these joints.
    """
    if actuated is None:
        floats = {k for name in model.floating_joints for k in range(model.nv)[model.qd_slice(name)]}
        mask = [k not in floats for k in range(model.nv)]
    elif isinstance(actuated, str):
        raise TypeError(f"actuated must be a sequence of joint names or of truth values, got the string {actuated!r}")
    elif len(actuated) and all(isinstance(name, str) for name in actuated):
        dofs = {k for name in actuated for k in range(model.nv)[model.qd_slice(str(name))]}
        mask = [k in dofs for k in range(model.nv)]
    else:
        mask = [bool(value) for value in actuated]
        if len(mask) != model.nv:
            raise ValueError(
                f"actuated must hold {model.nv} truth values, one per dof, or joint names; got {len(mask)}"
            )
    return [k for k, yes in enumerate(mask) if yes], [k for k, yes in enumerate(mask) if not yes]


def is_fully_actuated(
    model: Model,
    constraints: Constraints,
    q: Any,
    actuated: Actuated = None,
    *,
    tolerance: float = RANK_TOLERANCE,
    t: Any = None,
) -> bool:
    """Whether the constraint forces reach every unactuated dof at q (numbers): rank(G_u) = number of them.

    Then `constrained_inverse_dynamics` is exact: any accelerations that keep the constraints have torques.
    """
    _, u = actuated_dofs(model, actuated)
    G = constraint_jacobian(model, constraints, model.column(DM(q), model.nq, "q"), t=t)
    return _rank(G, tolerance, u) == len(u)


def constraint_rank(
    model: Model, constraints: Constraints, q: Any, *, tolerance: float = RANK_TOLERANCE, t: Any = None
) -> int:
    """Rank of G at q (numbers): the number of independent rows. Rows are normalised, so units do not matter."""
    return _rank(constraint_jacobian(model, constraints, model.column(DM(q), model.nq, "q"), t=t), tolerance)


def _rank(G: DM, tolerance: float, columns: Any = slice(None)) -> int:
    """Rank of these columns of G, whose rows are brought to unit length as they are in the whole G."""
    A = np.array(G.full())
    length = np.linalg.norm(A, axis=1, keepdims=True)
    A = (A / np.where(length > 0, length, 1.0))[:, columns]
    if not A.size:
        return 0
    singular = np.linalg.svd(A, compute_uv=False)
    return int(np.sum(singular > tolerance * max(1.0, singular[0])))


def _mask(model: Model, a: list[int]) -> Any:
    mask = np.zeros(model.nv)
    mask[a] = 1.0
    return mask
