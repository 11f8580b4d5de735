"""The dynamics of a kinematic tree, `H(q) qdd + C(q, qd) = tau`: RNEA, CRBA, ABA [RBDA, ch. 5-7].

| algorithm | computes | function | book |
|---|---|---|---|
| recursive Newton-Euler, RNEA | tau = ID(q, qd, qdd) | `inverse_dynamics` | table 5.1 |
| composite rigid bodies, CRBA | H(q) | `mass_matrix` | table 6.2 |
| articulated bodies, ABA | qdd = FD(q, qd, tau) | `forward_dynamics` | table 7.1 |

Each function is one recursion over (model, q, qd, ...), on SX, MX or DM, made of the passes in `recursions`. p is the
parent of body i, the book's lambda(i), and X[i] its i_X_lambda(i). Body quantities v[i], a[i], f[i] are in body
coordinates; entry 0 is the ground. External forces `f_ext` (6 x k) act on the frames that `loads.external` names:
wrench on the body, [moment about the world origin [N m]; force [N]], world axes.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
from casadi import DM

from .._base.types import Expr, M, Numbers, as_type, is_one_of, repr_in_message, suggestion
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.loads import NO_LOADS, Loads
from ..spatial_algebra.linalg import LTDL, ltdl, ltl, solve_cholesky
from .invertible import check_invertible
from .passive_torques import armature_force, passive_force, with_armature
from .recursions import (
    States,
    articulated_bodies,
    classical_accelerations,
    composite,
    composite_forces,
    joint_states,
    minus_gravity,
    poses,
    velocity_products,
    without_drift,
)
from .subtrees import symmetric_matrix

Names = Sequence[str]
METHODS = ("ltdl", "ltl", "cholesky")
"""Factors of H in `forward_dynamics_crba`."""


@checks_arguments(frames=False)
def inverse_dynamics(
    model: Model,
    q: M | Numbers,
    qd: M | Numbers,
    qdd: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> M:
    """tau = ID(q, qd, qdd) = H qdd + C, by the recursive Newton-Euler algorithm [RBDA, table 5.1].

    The book's recursion, with v[0] = 0 and a[0] = -gravity,

        v[i] = X[i] v[p] + S[i] qd[i],
        a[i] = X[i] a[p] + S[i] qdd[i] + cJ[i] + v[i] x S[i] qd[i],
        f[i] = I[i] a[i] + v[i] x* I[i] v[i] - X0[i]* f_ext[i],
        tau[i] = S[i]' f[i],
        f[p] = f[p] + X[i]' f[i],

    runs here in classical accelerations of the bodies' origins [Luh, Walker & Paul 1980]: the forces f[i] are the same,
    and no linear velocity is needed. tau (nv) [N m, N]. External forces enter as `tau = H qdd + C - J' f_ext`; with
    loads.passive less `passive_force(q, qd)`, with loads.armature more by `diag(armature) qdd`, see `Loads`. O(nb).

    >>> od.inverse_dynamics(rod, [np.pi / 6], [0.0], [0.0])  # m g l/2 sin(30 degrees)
    DM(2.4525)
    >>> od.inverse_dynamics(rod, [0.0], [0.0], [1.0])  # m l^2 / 3
    DM(0.333333)
    """
    states = joint_states(model, q, without_drift(model, qd))
    a = classical_accelerations(model, states, qdd, ground=-model.gravity_vector)
    wrenches = body_wrenches(model, states, f_ext, loads.external)
    f = [body.newton_euler(a[i].a, a[i].U) - wrenches[i] for i, body in enumerate(model.I)]
    F = composite_forces(model, states, f)
    total = as_type(ca.vertcat(*(states[i].S.T @ F[i] for i, _ in model.edges)), q)
    if loads.armature:
        total = total + armature_force(model, qdd)
    return total - passive_force(model, q, qd, slip_speed=loads.slip_speed) if loads.passive else total


@checks_arguments()
def bias_force(
    model: Model, q: M | Numbers, qd: M | Numbers, f_ext: M | Numbers | None = None, *, loads: Loads = NO_LOADS
) -> M:
    """C(q, qd) = ID(q, qd, 0): Coriolis, centrifugal and gravity terms [RBDA, 6.1]. C (nv) [N m, N]. O(nb).

    With loads.passive less `passive_force(q, qd)`.

    >>> od.bias_force(arm, [0.0, np.pi / 2], [1.0, 0.0])
    DM([4.905, 5.405])
    """
    return inverse_dynamics(model, q, qd, model.rest(q), f_ext, loads=loads)


@checks_arguments()
def gravity_force(model: Model, q: M | Numbers) -> M:
    """tau_g(q) = ID(q, 0, 0): the forces that hold the model still [N m, N] (nv). O(nb).

    >>> od.gravity_force(rod, [np.pi / 2])  # m g l/2, held level
    DM(4.905)
    """
    rest = model.rest(q)
    return inverse_dynamics(model, q, rest, rest)


@checks_arguments()
def static_torque(model: Model, q: M | Numbers, f_ext: M | Numbers | None = None, *, loads: Loads = NO_LOADS) -> M:
    """tau = ID(q, 0, 0, f_ext) = tau_g(q) - J' f_ext: the forces that hold the model still under gravity and external
    wrenches [N m, N] (nv).

    loads as in `inverse_dynamics`: with loads.passive less the forces of springs. O(nb).

    >>> hand = od.Loads(external=["tip"])
    >>> od.static_torque(rod, [0.0], np.array([[0.0], [-1.0], [0.0], [1.0], [0.0], [0.0]]), loads=hand)
    DM(1)
    """
    rest = model.rest(q)
    return inverse_dynamics(model, q, rest, rest, f_ext, loads=loads)


@checks_arguments(frames=False)
def mass_matrix(model: Model, q: M | Numbers, *, loads: Loads = NO_LOADS) -> M:
    """H(q), joint-space inertia, by the composite-rigid-body algorithm [RBDA, table 6.2].

        Ic[p] = Ic[p] + X[i]' Ic[i] X[i],
        F = Ic[i] S[i],   H[i, i] = S[i]' F,
        then from j = i to the root:   F = X[j]' F,   j = p(j),   H[j, i] = S[j]' F = H[i, j]'.

    The forces F of all dofs of a subtree cross a joint together, see `ocp_dyn.dynamics.subtrees`. Symmetric (nv x nv),
    positive definite, structurally zero between separate branches; with loads.armature plus diag(armature). O(nb
    depth).

    >>> od.mass_matrix(arm, [0.0, np.pi / 2])  # the outer rod alone: m l^2 / 3
    DM(
    [[1.66667, 0.333333],
     [0.333333, 0.333333]])
    """
    states = joint_states(model, q)
    Ic, Ip = composite(model, states, model.I)
    beyond: list[Expr] = [DM(6, 0)] * (model.nb + 1)
    rows: dict[int, Expr] = {}
    for i, p in reversed(list(model.edges)):
        X, S = states[i].XJ, states[i].S
        F = Ic[i].apply(S)
        rows[i] = S.T @ ca.horzcat(F, beyond[i])
        if p:
            # both expressions are the force on the parent; a single axis S has constant entries there, so Ip S is cheap
            in_parent = Ip[i].apply(X.apply_inverse(S)) if S.shape[1] == 1 else X.apply_transpose(F)
            beyond[p] = ca.horzcat(in_parent, X.apply_transpose(beyond[i]), beyond[p])
    H = as_type(symmetric_matrix(model, rows), q)
    return with_armature(model, H) if loads.armature else H


@checks_arguments(frames=False)
def forward_dynamics(
    model: Model,
    q: M | Numbers,
    qd: M | Numbers,
    tau: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> M:
    """qdd = FD(q, qd, tau) = H^-1 (tau - C), by the articulated-body algorithm [RBDA, table 7.1].

    The book's three passes: outward c[i] and pA[i] (`velocity_products`); inward (`articulated_bodies`)

        U = IA S,   D = S' U,   u = tau - S' pA,
        IA[p] = IA[p] + X' (IA - U D^-1 U') X,   pA[p] = pA[p] + X' (pA + (IA - U D^-1 U') c + U D^-1 u);

    outward a' = X a[p] + c, qdd = D^-1 (u - U' a'), a = a' + S qdd. They run here in classical accelerations, as in
    `inverse_dynamics`: c is the acceleration due to the parent's rotation and the joint's velocity, pA the force due to
    the body's rotation. qdd (nv) [rad/s^2, m/s^2]. loads as in `inverse_dynamics`: armatures add to D, passive forces
    to tau. O(nb). `od.function` replaces it by `forward_dynamics_crba` if that takes fewer operations, as on small
    models with many branches. ModelError for a joint that moves no inertia.

    >>> od.forward_dynamics(rod, [np.pi / 2], [0.0], [0.0])  # let go when level: -3/2 g/l
    DM(-14.715)
    """
    check_invertible(model, loads=loads)
    states = joint_states(model, q, without_drift(model, qd))
    turning, c = velocity_products(model, states)
    wrenches = body_wrenches(model, states, f_ext, loads.external)
    pA = [body.newton_euler(turning[i].a, turning[i].U) - wrenches[i] for i, body in enumerate(model.I)]
    total = tau + passive_force(model, q, qd, slip_speed=loads.slip_speed) if loads.passive else tau
    bodies = articulated_bodies(model, states, total, c, pA, loads=loads)
    return as_type(bodies.accelerations(model, states, c, ground=minus_gravity(model)), q)


@checks_arguments(frames=False)
def forward_dynamics_crba(
    model: Model,
    q: M | Numbers,
    qd: M | Numbers,
    tau: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    loads: Loads = NO_LOADS,
    method: str = "ltdl",
) -> M:
    """qdd = H^-1 (tau - C) from CRBA, RNEA and a factor of H [RBDA, 6.5].

    method: "ltdl" or "ltl", the branch-sparse L'DL or L'L factor, O(nb depth^2); "cholesky", a dense L L' that
    ignores the branches, O(nv^3). All give the same qdd (nv); ABA takes fewer operations on most robots. loads as in
    `inverse_dynamics`.

    >>> od.forward_dynamics_crba(rod, [np.pi / 2], [0.0], [0.0], method="cholesky")
    DM(-14.715)
    """
    if not is_one_of(method, METHODS):
        raise ValueError(
            f"method must be 'ltdl', 'ltl' or 'cholesky', got {repr_in_message(method)}{suggestion(method, METHODS)}"
        )
    check_invertible(model, loads=loads)
    H = mass_matrix(model, q, loads=loads)
    b = tau - bias_force(model, q, qd, f_ext, loads=loads)
    if method == "cholesky":
        return as_type(solve_cholesky(H, b), q)
    return as_type((ltl(H, model.dof_parent) if method == "ltl" else factor(model, H)).solve(b), q)


def factor(model: Model, H: Expr) -> LTDL:
    """H = L' D L, keeping the branch-induced sparsity of H [RBDA, table 6.3]."""
    return ltdl(H, model.dof_parent)


def body_wrenches(model: Model, states: States, f_ext: Expr | None, external: Names) -> list[Expr]:
    """X0[i]* f_ext summed by body: world wrenches in body coordinates, structurally zero where there are none."""
    W: list[Expr] = [DM(6, 1)] * (model.nb + 1)
    wrenches = world_wrenches(model, f_ext, external)
    X0 = poses(model, states) if wrenches else {}
    for body, wrench in wrenches.items():
        W[body] = X0[body].apply_force(wrench)
    return W


def world_wrenches(model: Model, f_ext: Expr | None, external: Names) -> dict[int, Expr]:
    """f_ext summed by body: {body: [moment about the world origin; force]}, world axes; bodies without one are left
    out."""
    if f_ext is None:
        if external:
            raise ValueError(
                f"loads.external={repr_in_message(external)} names frames but no f_ext (6 x {len(external)}) is given"
            )
        return {}
    if f_ext.shape != (6, len(external)):
        raise ValueError(f"f_ext must be 6 x {len(external)}, a column per name in loads.external, got {f_ext.shape}")
    W: dict[int, Expr] = {}
    for name, wrench in zip(external, ca.horzsplit(f_ext), strict=True):
        body = model.frame(name).body
        W[body] = W[body] + wrench if body in W else wrench
    return W
