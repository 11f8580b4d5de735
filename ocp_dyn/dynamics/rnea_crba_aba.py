"""The dynamics of a kinematic tree, `H(q) qdd + C(q, qd) = tau`: RNEA, CRBA, ABA [RBDA, ch. 5-7].

Each function is one textbook recursion over (model, q, qd, ...), on SX, MX or DM. Body quantities
v[i], a[i], f[i] are in body coordinates; entry 0 is the ground. External forces `f_ext` (6 x k) act on the
frames that `loads.external` names: wrench on the body, [moment about the world origin [N m]; force [N]], world axes.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
from casadi import DM

from .._types import Expr, M, as_type, exact, is_one_of, shown
from ..joints import JointState
from ..mechanism import Model
from ..mechanism.boundary import boundary
from ..mechanism.invertible import check_invertible
from ..mechanism.loads import NO_LOADS, Loads
from ..spatial_algebra.linalg import LTDL, ltdl, ltl, solve_cholesky, solve_spd
from ..spatial_algebra.spatial import ArticulatedInertia, Inertia, Transform
from .kinematics import Acceleration, joint_states, without_drift
from .passive import armature_force, passive_force, with_armature

Names = Sequence[str]


@boundary()
def inverse_dynamics(
    model: Model,
    q: M,
    qd: M,
    qdd: M,
    f_ext: M | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> M:
    """tau = ID(q, qd, qdd) = H qdd + C, by the recursive Newton-Euler algorithm [RBDA, table 5.1].

    In classical accelerations of the bodies' origins [Luh, Walker & Paul 1980], which need no linear velocities.
    tau (nv) [N m, N]. External forces enter as `tau = H qdd + C - J' f_ext`; with loads.passive
    less `passive_force(q, qd)`, with loads.armature more by `diag(armature) qdd`, see `Loads`. O(nb).
    """
    states = joint_states(model, q, without_drift(model, qd))
    accelerations = model.split_v(qdd, "qdd")
    bodies = [Acceleration(DM(3, 1), DM(3, 1), -model.gravity_vector)]
    for i, p in model.edges:
        bodies.append(bodies[p].next(states[i], accelerations[i]))
    f = [DM(6, 1)] + [model.I[i].newton_euler(bodies[i].a, bodies[i].U) for i, _ in model.edges]
    _subtract_external(model, f, states, f_ext, loads.external)
    tau = []
    for i, p in reversed(list(model.edges)):
        tau.append(states[i].S.T @ f[i])
        if p:
            f[p] = f[p] + states[i].XJ.apply_transpose(f[i])
    total = _column(tau[::-1], q)
    if loads.armature:
        total = total + armature_force(model, qdd)
    return total - passive_force(model, q, qd, slip_speed=loads.slip_speed) if loads.passive else total


@boundary()
def bias_force(model: Model, q: M, qd: M, f_ext: M | None = None, *, loads: Loads = NO_LOADS) -> M:
    """C(q, qd) = ID(q, qd, 0): Coriolis, centrifugal and gravity terms [RBDA, 6.1]. C (nv) [N m, N]. O(nb).

    With loads.passive less `passive_force(q, qd)`.
    """
    return inverse_dynamics(model, q, qd, model.rest(q), f_ext, loads=loads)


@boundary()
def gravity_force(model: Model, q: M) -> M:
    """tau_g(q) = ID(q, 0, 0): the forces that hold the model still [N m, N] (nv). O(nb)."""
    rest = model.rest(q)
    return inverse_dynamics(model, q, rest, rest)


@boundary()
def mass_matrix(model: Model, q: M, *, loads: Loads = NO_LOADS) -> M:
    """H(q), joint-space inertia, by the composite-rigid-body algorithm [RBDA, table 6.2].

    Symmetric (nv x nv), positive definite, structurally zero between separate branches; with loads.armature plus
    diag(armature). O(nb depth).
    """
    states = joint_states(model, q)
    Ic: list[Inertia] = list(model.I)
    Ic_in_parent: dict[int, Inertia] = {}
    for i, p in reversed(list(model.edges)):
        if p:
            Ic_in_parent[i] = Ic[i].to_parent(states[i].XJ)
            Ic[p] = Ic[p] + Ic_in_parent[i]
    H = type(q)(model.nv, model.nv)
    for i, _ in model.edges:
        S = states[i].S
        F = ca.horzcat(*(Ic[i].apply(s) for s in ca.horzsplit(S)))
        _write(H, model, i, i, ca.triu2symm(ca.triu(S.T @ F)))
        j = i
        while model.parent[j]:
            X = states[j].XJ
            if j == i and S.shape[1] == 1:
                # the same force, and the axis of a joint lies still in its parent: S is constant there
                F = Ic_in_parent[i].apply(X.apply_inverse(S))
            else:
                F = ca.horzcat(*(X.apply_transpose(f) for f in ca.horzsplit(F)))
            j = model.parent[j]
            _write(H, model, i, j, F.T @ states[j].S)
    return with_armature(model, H) if loads.armature else H


@boundary()
def forward_dynamics(
    model: Model,
    q: M,
    qd: M,
    tau: M,
    f_ext: M | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> M:
    """qdd = FD(q, qd, tau) = H^-1 (tau - C), by the articulated-body algorithm [RBDA, table 7.1].

    In classical accelerations, as `inverse_dynamics`: c holds what the parent's rotation and the joint's own velocity
    accelerate, pA the force of the body's rotation. qdd (nv) [rad/s^2, m/s^2]. loads as in
    `inverse_dynamics`: armatures add to D, passive forces to tau. O(nb). `od.function` takes
    `forward_dynamics_crba` in its place where that is shorter, on small models of many branches. ModelError for a
    joint that moves no inertia.
    """
    check_invertible(model, loads=loads)
    states = joint_states(model, q, without_drift(model, qd))
    driven = tau + passive_force(model, q, qd, slip_speed=loads.slip_speed) if loads.passive else tau
    forces = model.split_v(driven, "tau")
    c: list[Expr] = [DM(6, 1)]
    bodies = [Acceleration(*[DM(3, 1)] * 3)]
    for i, p in model.edges:
        bias = bodies[p].next(states[i], DM(model.joints[i].nv, 1))
        c.append(ca.vertcat(bias.dw, bias.a))
        bodies.append(Acceleration(bias.w, DM(3, 1), DM(3, 1)))
    pA = [DM(6, 1)] + [model.I[i].newton_euler(bodies[i].a, bodies[i].U) for i, _ in model.edges]
    _subtract_external(model, pA, states, f_ext, loads.external)

    IA = [ArticulatedInertia.of(body) for body in model.I]
    U: dict[int, Expr] = {}
    UDinv: dict[int, Expr] = {}
    Dinv_u: dict[int, Expr] = {}
    for i, p in reversed(list(model.edges)):
        X, S = states[i].XJ, states[i].S
        U[i] = IA[i].apply(S)
        D = ca.triu2symm(ca.triu(S.T @ U[i]))
        if loads.armature:
            D = D + ca.diag(exact(model.dofs.armature[model.dofs_of(i)]))
        u = forces[i] - S.T @ pA[i]
        solved = solve_spd(D, ca.horzcat(u, U[i].T))
        Dinv_u[i], UDinv[i] = solved[:, 0], solved[:, 1:].T
        if p:
            Ia = IA[i].downdate(U[i], UDinv[i])
            pa = pA[i] + Ia.apply(c[i]) + U[i] @ Dinv_u[i]
            IA[p] = IA[p] + Ia.to_parent(X)
            pA[p] = pA[p] + X.apply_transpose(pa)

    a = [minus_gravity(model)]
    qdd = []
    for i, p in model.edges:
        a_i = states[i].XJ.apply(a[p]) + c[i]
        qdd.append(Dinv_u[i] - UDinv[i].T @ a_i)
        a.append(a_i + states[i].S @ qdd[-1])
    return _column(qdd, q)


@boundary()
def forward_dynamics_crba(
    model: Model,
    q: M,
    qd: M,
    tau: M,
    f_ext: M | None = None,
    *,
    loads: Loads = NO_LOADS,
    method: str = "ltdl",
) -> M:
    """qdd = H^-1 (tau - C) from CRBA, RNEA and a factor of H [RBDA, 6.5].

    method: "ltdl" or "ltl", the branch-sparse L'DL or L'L factor, O(nb depth^2); "cholesky", a dense L L' that
    knows of no branches, O(nv^3). All equal; ABA alone takes fewer operations on most robots. qdd (nv). loads as
    in `inverse_dynamics`.
    """
    if not is_one_of(method, ("ltdl", "ltl", "cholesky")):
        raise ValueError(f"method must be 'ltdl', 'ltl' or 'cholesky', got {shown(method)}")
    check_invertible(model, loads=loads)
    H = mass_matrix(model, q, loads=loads)
    b = tau - bias_force(model, q, qd, f_ext, loads=loads)
    if method == "cholesky":
        return as_type(solve_cholesky(H, b), q)
    return as_type((ltl(H, model.dof_parent) if method == "ltl" else factor(model, H)).solve(b), q)


def factor(model: Model, H: Expr) -> LTDL:
    """H = L' D L, keeping the branch-induced sparsity of H [RBDA, table 6.3]."""
    return ltdl(H, model.dof_parent)


def minus_gravity(model: Model) -> Expr:
    """Acceleration of the ground that stands for gravity."""
    return ca.vertcat(DM(3, 1), -model.gravity_vector)


def body_wrenches(model: Model, states: dict[int, JointState], f_ext: Expr | None, external: Names) -> list[Expr]:
    """X0[i]* f_ext summed by body: world wrenches in body coordinates, structurally zero where there are none."""
    W: list[Expr] = [DM(6, 1)] * (model.nb + 1)
    if f_ext is None:
        if external:
            raise ValueError(
                f"loads.external={shown(external)} names frames but no f_ext (6 x {len(external)}) is given"
            )
        return W
    if f_ext.shape != (6, len(external)):
        raise ValueError(f"f_ext must be 6 x {len(external)}, a column per name in loads.external, got {f_ext.shape}")
    for name, wrench in zip(external, ca.horzsplit(f_ext), strict=True):
        body = model.frame(name).body
        X0 = Transform.identity()
        for i in model.path(body):
            X0 = states[i].XJ @ X0
        W[body] = W[body] + X0.apply_force(wrench)
    return W


def _subtract_external(
    model: Model, f: list[Expr], states: dict[int, JointState], f_ext: Expr | None, external: Names
) -> None:
    """f[i] -= the wrenches on body i."""
    f[:] = [force - wrench for force, wrench in zip(f, body_wrenches(model, states, f_ext, external), strict=True)]


def _write(H: Expr, model: Model, i: int, j: int, block: Expr) -> None:
    """Block (i, j) of H and, for i != j, its transpose."""
    rows, columns = model.dofs_of(i), model.dofs_of(j)
    H[rows.start : rows.stop, columns.start : columns.stop] = block
    if i != j:
        H[columns.start : columns.stop, rows.start : rows.stop] = block.T


def _column(parts: list[Expr], like: M) -> M:
    return as_type(ca.vertcat(*parts), like)
