"""Analytic first derivatives of inverse and forward dynamics, by recursion.

Derivatives by q are along the tangent: column k is d/d(delta_k) at `integrate(q, delta)`, so that quaternions
have three columns. A joint's tangent directions are its velocity directions: delta_k turns and shifts the whole
subtree of joint j by its column s_k of S. With the rigid part of that motion split off, body i of the subtree has

    d(v_i) = s_k x v_i + psi_k,                    psi_k = v_p x s_k + d(vJ),
    d(a_i) = s_k x a_i + psi_k x v_i + phi_k,      phi_k = a_p x s_k + v_p x psi_k + v_j x d(vJ) + d(aJ),
    d(f_i) = s_k x* f_i + 2 B_i psi_k + I_i phi_k,

v_p, a_p the motion of the parent, d(vJ), d(aJ) what the joint itself adds where S depends on q, B the Coriolis
inertia. psi_k and phi_k are the same for the whole subtree, so composite inertias Ic, Bc and one walk to the
root per joint give all blocks; so do s_k and `chi_k = (v_p + v_j) x s_k + d(cJ)/d(qd_k)` for derivatives by qd:
`d(f_i) = 2 B_i s_k + I_i chi_k`. The rigid part drops out of tau where the joint of tau is in the subtree.

After S. Singh, R. Russell & P. Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial
vector algebra, IEEE RA-L 7, 2022, here in body coordinates, for any S(q), and with external forces.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import casadi as ca
from casadi import DM, SX

from .._autodiff import repeated
from .._types import Expr, M, as_type
from ..dynamics.coriolis import CoriolisInertia, each, put
from ..dynamics.kinematics import joint_states, without_drift
from ..dynamics.passive import passive_derivatives, with_armature
from ..dynamics.rnea_crba_aba import bias_force, body_wrenches, factor, mass_matrix, minus_gravity
from ..joints import JointState
from ..joints.derivatives import JointDerivatives, joint_derivatives
from ..mechanism import Model
from ..mechanism.boundary import boundary
from ..mechanism.invertible import check_invertible
from ..mechanism.loads import NO_LOADS, Loads
from ..spatial_algebra.spatial import Inertia, Transform, crf, crm


class Columns(NamedTuple):
    """Columns (6 x nv each) of the dofs of one joint, in its moved frame: changes of the motion of its subtree."""

    psi: Expr
    phi: Expr
    chi: Expr
    dS: list[Expr]
    """6 x nv per direction: the joint's own dS/d(delta_k)."""

    @staticmethod
    def of(S: Expr, vp: Expr, ap: Expr, v: Expr, own: JointDerivatives) -> Columns:
        """From the motion vp, ap of the parent and the velocity v of the moved body, in moved coordinates."""
        carried = each(partial(crm, vp), S)
        psi = carried + own.vJ
        phi = each(partial(crm, ap), S) + each(partial(crm, vp), psi) + each(partial(crm, v), own.vJ) + own.aJ
        # vJ x s = 0 where there is one s
        turning = carried if S.shape[1] == 1 else each(partial(crm, v), S)
        return Columns(psi, phi, carried + turning + own.cJ_qd, own.dS)


class Composite(NamedTuple):
    """Sums over the subtree of every body, in its coordinates: inertias, 2 B, forces f, and wrenches from outside."""

    Ic: list[Inertia]
    B2: list[CoriolisInertia]
    F: list[Expr]
    W: list[Expr]


class Sweep(NamedTuple):
    """Results of the outward and the inward pass, by body.

    Joint states, velocity v and acceleration a; f = I a + v x* I v and 2 B of the body alone; columns of its joint; and
    the sums over subtrees.
    """

    states: dict[int, JointState]
    v: list[Expr]
    a: list[Expr]
    f: list[Expr]
    B2: list[CoriolisInertia]
    columns: dict[int, Columns]
    composite: Composite


@boundary()
def inverse_dynamics_derivatives(
    model: Model,
    q: M,
    qd: M,
    qdd: M,
    f_ext: M | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> tuple[M, M, M]:
    """(d tau/dq, d tau/d qd, H) of tau = ID(q, qd, qdd); d tau/d qdd = H [Singh, Russell & Wensing 2022].

    nv x nv each, rows tau, columns tangent directions of q, entries of qd, of qdd. External wrenches (6 x k, fixed in
    the world), loads as in `inverse_dynamics`. Structurally zero between separate branches. O(nb depth).
    """
    sweep = swept(model, q, qd, qdd, f_ext, loads.external)
    wrenches = DM() if f_ext is None else ca.vec(f_ext)
    buffer = type(ca.vertcat(q, qd, qdd, wrenches))  # numbers and symbols may mix
    dq, dqd, H = inverse_dynamics_blocks(model, sweep, buffer)
    if loads.passive:
        passive_dq, passive_dqd = passive_derivatives(model, q, qd, slip_speed=loads.slip_speed)
        dq, dqd = dq - passive_dq, dqd - passive_dqd
    return dq, dqd, with_armature(model, H) if loads.armature else H


def inverse_dynamics_blocks(model: Model, sweep: Sweep, buffer: type[Expr]) -> tuple[Expr, Expr, Expr]:
    """(d tau/dq, d tau/d qd, H) from both passes, in matrices of the type `buffer`."""
    dq, dqd, H = (buffer(model.nv, model.nv) for _ in range(3))
    Ic, B2, F, W = sweep.composite
    for i, _ in model.edges:
        S, own = sweep.states[i].S, sweep.columns[i]
        found = repeated(_own, *_parts(Ic[i]), *_parts(B2[i]), F[i], W[i], S, own.psi, own.phi, own.chi)
        carried, (by_q, by_qd, by_qdd) = found[:5], found[5:]
        put(dq, model, i, i, by_q + _own_turning(own.dS, F[i] - W[i]))
        put(dqd, model, i, i, by_qd)
        put(H, model, i, i, by_qdd)
        j = i
        while model.parent[j]:
            X, j = sweep.states[j].XJ, model.parent[j]
            other = sweep.columns[j]
            found = repeated(_above, X.E, X.r, *carried, sweep.states[j].S, other.psi, other.phi, other.chi)
            carried, blocks = found[:5], found[5:]
            for A, above, below in zip((dq, dqd, H), blocks[::2], blocks[1::2], strict=True):
                put(A, model, j, i, above)
                put(A, model, i, j, below)
    dq, dqd, H = (ca.sparsify(A) if buffer is SX else A for A in (dq, dqd, H))
    return dq, dqd, H


def _parts(of: Inertia | CoriolisInertia) -> tuple[Expr, ...]:
    return (of.m, of.h, of.I) if isinstance(of, Inertia) else (of.K, of.p)


def _own(
    m: Expr, h: Expr, I: Expr, K: Expr, p: Expr, F: Expr, W: Expr, S: Expr, psi: Expr, phi: Expr, chi: Expr
) -> Sequence[Expr]:
    """The forces and rows that joint i passes towards the root, and its diagonal blocks of dq, dqd and H.

    Arguments: the composite inertias and forces of its subtree, and its columns.
    """
    Ic, B2 = Inertia(m, h, I), CoriolisInertia(K, p)
    # rows of joint i, for directions at and above it: Ic S, 2 Bc' S, and the wrenches that do not turn with it
    IS, BS, WS = each(Ic.apply, S), each(B2.apply_transpose, S), each(partial(_turned, W), S)
    # columns of joint i, for forces at and above it
    Fq = each(B2.apply, psi[:3, :]) + each(Ic.apply, phi)
    Fqd = each(B2.apply, S[:3, :]) + each(Ic.apply, chi)
    blocks = S.T @ Fq - WS.T @ S, S.T @ Fqd, ca.triu2symm(ca.triu(S.T @ IS))
    return Fq + each(partial(_turned, F), S), Fqd, IS, WS, BS, *blocks


def _above(
    E: Expr, r: Expr, Fq: Expr, Fqd: Expr, IS: Expr, WS: Expr, BS: Expr, S: Expr, psi: Expr, phi: Expr, chi: Expr
) -> Sequence[Expr]:
    """Rows and columns of joint i transformed across a joint by X = (E, r), to the moved frame of its parent joint j.

    Then the blocks (j, i) and (i, j) of dq, dqd and H, from these and from the columns of joint j.
    """
    up = Transform(E, r).apply_transpose
    Fq, Fqd, IS, WS, BS = each(up, Fq), each(up, Fqd), each(up, IS), each(up, WS), E.T @ BS
    by_q, by_qd, H = IS.T @ phi + BS.T @ psi[:3, :] - WS.T @ S, IS.T @ chi + BS.T @ S[:3, :], IS.T @ S
    return Fq, Fqd, IS, WS, BS, S.T @ Fq, by_q, S.T @ Fqd, by_qd, H.T, H


@boundary()
def forward_dynamics_derivatives(
    model: Model,
    q: M,
    qd: M,
    tau: M,
    f_ext: M | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> tuple[M, M, M]:
    """(d qdd/dq, d qdd/d qd, H^-1) of qdd = FD(q, qd, tau); d qdd/d tau = H^-1.

    From `H qdd + C = tau`: d qdd/dx = -H^-1 d tau/dx at constant qdd [J. Carpentier & N. Mansard, Analytical
    derivatives of rigid body dynamics algorithms, RSS 2018], by the branch-sparse L'DL factor of H. nv x nv each,
    columns as in `inverse_dynamics_derivatives`. O(nb depth nv).
    """
    check_invertible(model, loads=loads)
    H = factor(model, mass_matrix(model, q, loads=loads))
    qdd = H.solve(tau - bias_force(model, q, qd, f_ext, loads=loads))
    dq, dqd, _ = inverse_dynamics_derivatives(model, q, qd, qdd, f_ext, loads=loads)
    inverse = as_type(ca.triu2symm(ca.triu(H.solve(type(q)(DM.eye(model.nv))))), q)
    return H.solve(-dq), H.solve(-dqd), inverse


def swept(model: Model, q: Expr, qd: Expr, qdd: Expr, f_ext: Expr | None = None, external: Sequence[str] = ()) -> Sweep:
    """Outward pass: velocities, accelerations, forces and columns of all bodies; inward pass: sums over subtrees."""
    qd = without_drift(model, qd)
    states = joint_states(model, q, qd)
    at = list(zip(model.joints, model.split_q(q), model.split_v(qd), model.split_v(qdd, "qdd"), strict=True))
    v, a, f = [DM(6, 1)], [minus_gravity(model)], [DM(6, 1)]
    B2, columns = [CoriolisInertia.zero()], dict[int, Columns]()
    for i, p in model.edges:
        X, S, vJ, cJ = states[i]
        vp, ap = X.apply(v[p]), X.apply(a[p])
        v.append(vp + vJ)
        a.append(ap + S @ at[i][3] + cJ + crm(v[i], vJ))
        f.append(model.I[i].force(v[i], a[i]))
        # by twice the inertia: so that no product is doubled one by one
        B2.append(CoriolisInertia.of(model.I[i] + model.I[i], v[i]))
        columns[i] = Columns.of(S, vp, ap, v[i], joint_derivatives(at[i][0], *at[i][1:]))
    wrenches = body_wrenches(model, states, f_ext, external)
    return Sweep(states, v, a, f, B2, columns, _composed(model, states, f, B2, wrenches))


def _composed(
    model: Model, states: dict[int, JointState], f: list[Expr], B2: list[CoriolisInertia], wrenches: list[Expr]
) -> Composite:
    Ic, B2, F, W = list(model.I), list(B2), list(f), list(wrenches)
    for i, p in reversed(list(model.edges)):
        if p:
            X = states[i].XJ
            Ic[p], B2[p] = Ic[p] + Ic[i].to_parent(X), B2[p] + B2[i].to_parent(X)
            F[p], W[p] = F[p] + X.apply_transpose(F[i]), W[p] + X.apply_transpose(W[i])
    return Composite(Ic, B2, F, W)


def _turned(f: Expr, s: Expr) -> Expr:
    """s x* f: the change of a force that turns with s."""
    return crf(s, f)


def _own_turning(dS: list[Expr], f: Expr) -> Expr:
    """Columns (dS/d(delta_k))' f."""
    return ca.horzcat(*(direction.T @ f for direction in dS))
