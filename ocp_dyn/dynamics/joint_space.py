"""Matrices of the joint-space equation of motion together, and the inverse of the inertia matrix."""

from __future__ import annotations

import casadi as ca
from casadi import DM

from .._base.types import Expr, M, Numbers, as_type, cast_to_matrix, is_whole, repr_in_message
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.loads import NO_LOADS, Loads
from ..mechanism.near import near
from .invertible import check_invertible
from .recursions import articulated_bodies, joint_states
from .rnea_crba_aba import bias_force, factor, mass_matrix


@checks_arguments()
def equations_of_motion(
    model: Model,
    q: M | Numbers,
    qd: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> tuple[M, M]:
    """(H, C) of `H qdd + C = tau` by CRBA and RNEA [RBDA, ch. 5-6].

    H (nv x nv), C (nv) with gravity; f_ext and loads as in `inverse_dynamics`. O(nb depth). As a Function
    it is shorter than the Functions of H and C together, because both share the kinematics.

    >>> od.equations_of_motion(rod, [np.pi / 6], [0.0])  # m l^2 / 3, m g l/2 sin(30 degrees)
    (DM(0.333333), DM(2.4525))
    """
    C = bias_force(model, q, qd, f_ext, loads=loads)
    return mass_matrix(model, q, loads=loads), C


@checks_arguments(several=("tau",), frames=False)
def mass_matrix_inverse_product(
    model: Model, q: M | Numbers, tau: M | Numbers, *, columns: int | None = None, loads: Loads = NO_LOADS
) -> M:
    """H^-1 tau (nv x k) for k right-hand sides tau (nv x k), by the articulated-body operator [RBDA, table 7.1].

    Accelerations caused by the forces tau alone, without velocity and gravity. The articulated inertias are computed
    once; then each column costs O(nb). columns: k, needed only by `od.function`, whose input tau then has k columns;
    direct calls take k from tau.

    >>> od.mass_matrix_inverse_product(rod, [0.0], [1.0])  # 3 / (m l^2)
    DM(3)
    """
    shape = cast_to_matrix(tau).shape
    if columns is not None and not (is_whole(columns, 1) and shape[1] == columns):
        raise ValueError(f"tau must have columns={repr_in_message(columns)} columns, got shape {shape}")
    check_invertible(model, loads=loads)
    return as_type(articulated_answers(model, q, tau, loads=loads)[0], tau)


def articulated_answers(model: Model, q: Expr, tau: Expr, *, loads: Loads = NO_LOADS) -> tuple[Expr, Expr]:
    """(H^-1 tau, D): D (nv) the articulated inertia along each dof, the other dofs of its joint locked."""
    model = near(model)
    states, none = joint_states(model, q), [DM(6, tau.shape[1])] * (model.nb + 1)
    bodies = articulated_bodies(model, states, tau, none, none, loads=loads)
    D = ca.vertcat(*(ca.diag(bodies.of_dofs(model, states, i)) for i, _ in model.edges))
    return bodies.accelerations(model, states, none, ground=none[0]), D


@checks_arguments(frames=False)
def mass_matrix_inverse(model: Model, q: M | Numbers, *, loads: Loads = NO_LOADS) -> M:
    """H^-1 (nv x nv), symmetric, by the branch-sparse L'DL factor of H [RBDA, 6.5]. O(nb depth nv).

    >>> od.mass_matrix_inverse(rod, [0.0])  # 3 / (m l^2)
    DM(3)
    """
    check_invertible(model, loads=loads)
    H = factor(model, mass_matrix(model, q, loads=loads))
    return as_type(H.inverse_matrix(), q)
