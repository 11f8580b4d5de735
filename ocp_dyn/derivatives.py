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

from functools import partial
from typing import NamedTuple

import casadi as ca
from casadi import DM

from ._types import Expr, M, as_type
from .coriolis import CoriolisInertia, each, put
from .dynamics import Names, bias_force, body_wrenches, factor, mass_matrix, minus_gravity
from .joint_derivatives import JointDerivatives, joint_derivatives
from .joints import JointState
from .kinematics import joint_states, without_drift
from .model import Model
from .passive import passive_derivatives, with_armature
from .spatial import crf, crm


class Columns(NamedTuple):
    """What the dofs of one joint do to the motion of their subtree (6 x nv each), in the joint's moved frame."""

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


class Sweep(NamedTuple):
    """The outward pass, by body: motion, f = I a + v x* I v of the body alone, wrenches on it, B, and the columns."""

    states: dict[int, JointState]
    v: list[Expr]
    a: list[Expr]
    f: list[Expr]
    wrenches: list[Expr]
    B: list[CoriolisInertia]
    columns: dict[int, Columns]


def inverse_dynamics_derivatives(
    model: Model,
    q: M,
    qd: M,
    qdd: M,
    f_ext: M | None = None,
    *,
    external: Names = (),
    passive: bool = False,
    armature: bool = False,
) -> tuple[M, M, M]:
    """(d tau/dq, d tau/d qd, H) of tau = ID(q, qd, qdd); d tau/d qdd = H [Singh, Russell & Wensing 2022].

    nv x nv each, rows tau, columns tangent directions of q, entries of qd, of qdd. External wrenches (6 x k, fixed in
    the world), passive and armature as in `inverse_dynamics`. Structurally zero between separate branches. O(nb depth).
    """
    sweep = outward(model, q, qd, qdd, f_ext, external)
    states, F, W = sweep.states, list(sweep.f), list(sweep.wrenches)
    Ic = list(model.I)
    # 2 B, by twice the inertia: so that no product is doubled one by one
    B2 = [CoriolisInertia.zero()] + [CoriolisInertia.of(model.I[i] + model.I[i], sweep.v[i]) for i, _ in model.edges]
    buffer = type(ca.vertcat(q, qd, qdd))  # numbers and symbols may mix
    dq, dqd, H = (buffer(model.nv, model.nv) for _ in range(3))
    for i, p in reversed(list(model.edges)):
        X, S, own = states[i].XJ, states[i].S, sweep.columns[i]
        # rows of joint i, for directions at and above it: Ic S, 2 Bc' S, and the wrenches that do not turn with it
        IS, BS, WS = each(Ic[i].apply, S), each(B2[i].apply_transpose, S), each(partial(_turned, W[i]), S)
        # columns of joint i, for forces at and above it
        Fq = each(B2[i].apply, own.psi[:3, :]) + each(Ic[i].apply, own.phi)
        Fqd = each(B2[i].apply, S[:3, :]) + each(Ic[i].apply, own.chi)
        put(dq, model, i, i, S.T @ Fq + _own_turning(own.dS, F[i] - W[i]) - WS.T @ S)
        put(dqd, model, i, i, S.T @ Fqd)
        put(H, model, i, i, ca.triu2symm(ca.triu(S.T @ IS)))
        Fq = Fq + each(partial(_turned, F[i]), S)
        j = i
        while model.parent[j]:
            up = states[j].XJ.apply_transpose
            Fq, Fqd, IS, WS, BS = each(up, Fq), each(up, Fqd), each(up, IS), each(up, WS), states[j].XJ.E.T @ BS
            j = model.parent[j]
            S, other = states[j].S, sweep.columns[j]
            put(dq, model, j, i, S.T @ Fq)
            put(dqd, model, j, i, S.T @ Fqd)
            put(dq, model, i, j, IS.T @ other.phi + BS.T @ other.psi[:3, :] - WS.T @ S)
            put(dqd, model, i, j, IS.T @ other.chi + BS.T @ S[:3, :])
            put(H, model, i, j, IS.T @ S)
            put(H, model, j, i, (IS.T @ S).T)
        if p:
            Ic[p] = Ic[p] + Ic[i].to_parent(X)
            B2[p] = B2[p] + B2[i].to_parent(X)
            F[p] = F[p] + X.apply_transpose(F[i])
            W[p] = W[p] + X.apply_transpose(W[i])
    if passive:
        passive_dq, passive_dqd = passive_derivatives(model, q, qd)
        dq, dqd = dq - passive_dq, dqd - passive_dqd
    return dq, dqd, with_armature(model, H) if armature else H


def forward_dynamics_derivatives(
    model: Model,
    q: M,
    qd: M,
    tau: M,
    f_ext: M | None = None,
    *,
    external: Names = (),
    passive: bool = False,
    armature: bool = False,
) -> tuple[M, M, M]:
    """(d qdd/dq, d qdd/d qd, H^-1) of qdd = FD(q, qd, tau); d qdd/d tau = H^-1.

    From `H qdd + C = tau`: d qdd/dx = -H^-1 d tau/dx at constant qdd [J. Carpentier & N. Mansard, Analytical
    derivatives of rigid body dynamics algorithms, RSS 2018], by the branch-sparse L'DL factor of H. nv x nv each,
    columns as in `inverse_dynamics_derivatives`. O(nb depth nv).
    """
    H = factor(model, mass_matrix(model, q, armature=armature))
    qdd = H.solve(tau - bias_force(model, q, qd, f_ext, external=external, passive=passive))
    dq, dqd, _ = inverse_dynamics_derivatives(model, q, qd, qdd, f_ext, external=external, passive=passive)
    inverse = as_type(ca.triu2symm(ca.triu(H.solve(type(q)(DM.eye(model.nv))))), q)
    return H.solve(-dq), H.solve(-dqd), inverse


def outward(model: Model, q: Expr, qd: Expr, qdd: Expr, f_ext: Expr | None, external: Names) -> Sweep:
    """Velocities, accelerations, forces and columns of all bodies, from the ground outwards."""
    qd = without_drift(model, qd)
    states = joint_states(model, q, qd)
    at = list(zip(model.joints, model.split_q(q), model.split_v(qd), model.split_v(qdd, "qdd"), strict=True))
    v, a, f = [DM(6, 1)], [minus_gravity(model)], [DM(6, 1)]
    B, columns = [CoriolisInertia.zero()], dict[int, Columns]()
    for i, p in model.edges:
        X, S, vJ, cJ = states[i]
        vp, ap = X.apply(v[p]), X.apply(a[p])
        v.append(vp + vJ)
        a.append(ap + S @ at[i][3] + cJ + crm(v[i], vJ))
        f.append(model.I[i].force(v[i], a[i]))
        B.append(CoriolisInertia.of(model.I[i], v[i]))
        columns[i] = Columns.of(S, vp, ap, v[i], joint_derivatives(at[i][0], S, *at[i][1:]))
    return Sweep(states, v, a, f, body_wrenches(model, states, f_ext, external), B, columns)


def _turned(f: Expr, s: Expr) -> Expr:
    """s x* f: the change of a force that turns with s."""
    return crf(s, f)


def _own_turning(dS: list[Expr], f: Expr) -> Expr:
    """Columns (dS/d(delta_k))' f."""
    return ca.horzcat(*(direction.T @ f for direction in dS))
