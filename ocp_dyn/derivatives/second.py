"""Second derivatives of inverse and forward dynamics, contracted with weights, by recursion.

The scalar L = mu' ID(q, qd, qdd) is the power of all forces f on the virtual velocities u that mu makes,

    L = sum of u_i' f_i,    u_i = X u_p + S_i mu_i,    f_i = I_i a_i + v_i x* I_i v_i.

Derivatives by q are along the tangent, as in `derivatives`. Its columns psi_k, phi_k, chi_k say how dof k moves v and a
of its whole subtree, the rigid motion split off; U_k = u_p x s_k + d(uJ) does so for u. In body coordinates

    d(F) = 2 Bc psi_k + Ic phi_k,    d(G) = 2 Bc' U_k - 2 Bu' psi_k,    d(h) = Ic U_k

are the changes by dof k of the composite force F, the couple G = 2 sum of B_i' u_i (3) and the momentum
h = sum of I_i u_i of a subtree below; Ic, Bc are its composite inertia and Coriolis inertia, Bu the Coriolis inertia
with u in place of v. The gradient contains F, G, h only; for a dof m,

    dL/dq = U_m' F + psi_m' G + phi_m' h,    dL/d(qd) = s_m' G + chi_m' h,    dL/d(qdd) = s_m' h.

A dof k above m also changes the columns of m: U_m by U_k x s_m, psi_m by psi_k x s_m, chi_m by 2 psi_k x s_m and phi_m
by phi_k x s_m + 2 psi_k x psi_m. Sorted by U_k, psi_k and phi_k every second derivative is a product of the columns of
k with rows of m, which one walk to the root carries. Three numbers suffice for psi_k: `m x* h - Bu m = -Bu' m`, a
couple. Two dofs of one joint act at once, not one after the other: their block is the symmetric part of the same
products.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import casadi as ca
from casadi import DM

from .._base.autodiff import apply_template, derivatives
from .._base.types import Expr, M, Numbers, split
from ..dynamics.coriolis import CoriolisInertia
from ..dynamics.invertible import check_invertible
from ..dynamics.passive_torques import armature_force, with_armature
from ..dynamics.recursions import composite, velocities
from ..dynamics.rnea_crba_aba import bias_force, factor, mass_matrix
from ..dynamics.subtrees import beside, square_matrix, symmetric_matrix
from ..joints import Joint
from ..joints.subspace_derivatives import has_constant_subspace
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.loads import NO_LOADS, Loads, refuse_all_but_armature
from ..mechanism.reduction import split_joints
from ..spatial_algebra.linalg import symmetric, symmetric_part
from ..spatial_algebra.spatial import Inertia, Transform, crf, crm, skew
from .first import (
    PassResults,
    forward_dynamics_derivatives,
    inverse_dynamics_blocks,
    inverse_dynamics_derivatives,
    of_type,
    swept,
)


class SecondOrder(NamedTuple):
    """L = mu' ID(q, qd, x), or mu' FD(q, qd, x): gradient (nv each) and nonzero blocks of the Hessian (nv x nv
    each)."""

    L_q: Expr
    L_qd: Expr
    L_x: Expr
    L_qq: Expr
    L_q_qd: Expr
    L_qd_qd: Expr
    L_q_x: Expr


@checks_arguments(frames=False)
def inverse_dynamics_second_derivatives(
    model: Model, q: M | Numbers, qd: M | Numbers, qdd: M | Numbers, mu: M | Numbers
) -> tuple[M, M, M, M]:
    """(L_qq, L_q_qd, L_qd_qd, L_q_qdd): second derivatives of L = mu' ID(q, qd, qdd) at constant mu (nv).

    nv x nv each; the blocks qd-qdd and qdd-qdd vanish. Directions of q are tangent: derivatives by delta of L at
    `integrate(q, delta)`, at delta = 0, so that L_qq is symmetric on quaternions too. mu are the multipliers of an
    optimizer whose constraint is tau = ID(q, qd, qdd). Structurally zero between separate branches. Without
    external forces; armatures change nothing. O(nb depth).

    >>> od.inverse_dynamics_second_derivatives(rod, [np.pi / 2], [0.0], [0.0], [1.0])[0]  # -m g l/2
    DM(-4.905)
    """
    return inverse_dynamics_second_order(model, q, qd, qdd, mu)[3:]


@checks_arguments(frames=False)
def forward_dynamics_second_derivatives(
    model: Model, q: M | Numbers, qd: M | Numbers, tau: M | Numbers, mu: M | Numbers, *, loads: Loads = NO_LOADS
) -> tuple[M, M, M, M]:
    """(L_qq, L_q_qd, L_qd_qd, L_q_tau): second derivatives of L = mu' FD(q, qd, tau) at constant mu (nv).

    nv x nv each; the blocks qd-tau and tau-tau vanish. From `ID(q, qd, FD(q, qd, tau)) = tau`: with N the Hessian
    of w' ID(q, qd, qdd) at w = H^-1 mu held constant, and A = N_q_qdd H^-1,

        L_qq = A dtau/dq + (A dtau/dq)' - N_qq,    L_q_qd = A dtau/dqd - N_q_qd,    L_qd_qd = -N_qd_qd,    L_q_tau = -A.

    Directions of q and sparsity as in `inverse_dynamics_second_derivatives`, but L_qq, L_q_qd and L_q_tau are full
    where branches are joined. With loads.armature as in `forward_dynamics`; ValueError for other loads. O(nb depth nv +
    nv^2 depth).

    >>> od.forward_dynamics_second_derivatives(rod, [np.pi / 2], [0.0], [0.0], [1.0])[0]  # 3/2 g/l
    DM(14.715)
    """
    return forward_dynamics_second_order(model, q, qd, tau, mu, loads=loads)[3:]


def inverse_dynamics_second_order(
    model: Model, q: Expr, qd: Expr, qdd: Expr, mu: Expr, *, loads: Loads = NO_LOADS
) -> SecondOrder:
    """Gradient and Hessian of L = mu' ID(q, qd, qdd), as in `inverse_dynamics_second_derivatives`. O(nb depth)."""
    refuse_all_but_armature(loads)
    model = split_joints(model)
    return _second_order(model, swept(model, q, qd, qdd), q, qd, qdd, mu, loads)


def inverse_dynamics_both_orders(
    model: Model, q: Expr, qd: Expr, qdd: Expr, mu: Expr, *, loads: Loads = NO_LOADS
) -> tuple[tuple[Expr, Expr, Expr], SecondOrder]:
    """`inverse_dynamics_derivatives` and `inverse_dynamics_second_order`, from one pass over the model."""
    refuse_all_but_armature(loads)
    model = split_joints(model)
    sweep = swept(model, q, qd, qdd)
    dq, dqd, H = inverse_dynamics_blocks(model, sweep, type(ca.vertcat(q, qd, qdd)))
    second = _second_order(model, sweep, q, qd, qdd, mu, loads)
    return (dq, dqd, with_armature(model, H) if loads.armature else H), second


def _second_order(
    model: Model, sweep: PassResults, q: Expr, qd: Expr, qdd: Expr, mu: Expr, loads: Loads
) -> SecondOrder:
    virtual = _virtual(model, sweep, mu)
    rates = (model.split_qd(x, name) for x, name in ((qd, "qd"), (qdd, "qdd"), (mu, "mu")))
    inputs = list(zip(model.split_q(q), *rates, strict=True))
    beyond = [_ForceFactors(DM(6, 0), DM(3, 0), DM(6, 0), DM(6, 0), DM(3, 0), DM(6, 0))] * (model.nb + 1)
    blocks: dict[int, _SecondBlocks] = {}
    for i, p in reversed(list(model.edges)):
        subtree = virtual.subtrees[i]
        rows, diagonal = apply_template(_at_joint, subtree)
        bending = _bending(model, sweep, virtual, i, inputs[i])
        blocks[i] = beside(_on_diagonal(diagonal, bending), _products(subtree.columns, beyond[i]))
        if p:
            beyond[p] = beside(beside(rows, beyond[i]).to_parent(sweep.states[i].XJ), beyond[p])
    buffer = type(ca.vertcat(q, qd, qdd, mu))  # numbers and symbols may mix
    by_q, by_qd, by_qdd = _gradient(model, virtual, buffer)
    if loads.armature:
        by_qdd = by_qdd + armature_force(model, mu)
    return SecondOrder(by_q, by_qd, by_qdd, *(of_type(buffer, A) for A in _hessian(model, blocks)))


def _gradient(model: Model, virtual: _Virtual, buffer: type[Expr]) -> list[Expr]:
    """L_q, L_qd, L_qdd (nv each)."""
    gradient: list[Expr] = [buffer(model.nv, 1) for _ in range(3)]
    for i, _ in model.edges:
        columns, *_, forces = virtual.subtrees[i]
        for derivative, entries in zip(gradient, apply_template(_first, columns, forces), strict=True):
            derivative[model.dofs_of(i).start : model.dofs_of(i).stop] = entries
    return gradient


def _hessian(model: Model, blocks: Mapping[int, _SecondBlocks]) -> tuple[Expr, ...]:
    """L_qq, L_q_qd, L_qd_qd, L_q_qdd (nv x nv each) from the blocks of all joints with the dofs of their subtrees."""
    q_q, q_qd, qd_qd, q_qdd = ({i: found[k] for i, found in blocks.items()} for k in range(4))
    qd_q, qdd_q = ({i: found[k][:, found[k].shape[0] :].T for i, found in blocks.items()} for k in (4, 5))
    return (
        symmetric_matrix(model, q_q),
        square_matrix(model, q_qd, qd_q),
        symmetric_matrix(model, qd_qd),
        square_matrix(model, q_qdd, qdd_q),
    )


def forward_dynamics_second_order(
    model: Model, q: Expr, qd: Expr, tau: Expr, mu: Expr, *, loads: Loads = NO_LOADS
) -> SecondOrder:
    """Gradient and Hessian of L = mu' FD(q, qd, tau), as in `forward_dynamics_second_derivatives`."""
    refuse_all_but_armature(loads)
    check_invertible(model, loads=loads)
    H = factor(model, mass_matrix(model, q, loads=loads))
    qdd = H.solve(tau - bias_force(model, q, qd))
    weights = H.solve(mu)
    inverse = inverse_dynamics_second_order(model, q, qd, qdd, weights)
    tau_q, tau_qd, _ = inverse_dynamics_derivatives(model, q, qd, qdd)
    A = H.solve(inverse.L_q_x.T).T
    qq = A @ tau_q
    return SecondOrder(
        -inverse.L_q,
        -inverse.L_qd,
        weights,
        symmetric(qq + qq.T - inverse.L_qq),
        A @ tau_qd - inverse.L_q_qd,
        -inverse.L_qd_qd,
        -A,
    )


def forward_dynamics_both_orders(
    model: Model, q: Expr, qd: Expr, tau: Expr, mu: Expr, *, loads: Loads = NO_LOADS
) -> tuple[tuple[Expr, Expr, Expr], SecondOrder]:
    """`forward_dynamics_derivatives` and `forward_dynamics_second_order`."""
    first = forward_dynamics_derivatives(model, q, qd, tau, loads=loads)
    return first, forward_dynamics_second_order(model, q, qd, tau, mu, loads=loads)


# Outward pass: quantities that depend on mu, in addition to those of the first derivatives


class _Columns(NamedTuple):
    """Columns (6 x nv each) of the dofs of one joint, in its moved frame: changes of the motions of its subtree."""

    S: Expr
    U: Expr
    psi: Expr
    phi: Expr
    chi: Expr


@dataclass(frozen=True)
class _Forces:
    """F (6), G (3) and h (6) of a body, or of its subtree."""

    F: Expr
    G: Expr
    h: Expr

    @staticmethod
    def of(body: Inertia, B2: CoriolisInertia, f: Expr, u: Expr) -> _Forces:
        return _Forces(f, B2.apply_transpose(u), body.apply(u))

    def __add__(self, other: _Forces) -> _Forces:
        return _Forces(self.F + other.F, self.G + other.G, self.h + other.h)

    def to_parent(self, X: Transform) -> _Forces:
        return _Forces(X.apply_transpose(self.F), X.E.T @ self.G, X.apply_transpose(self.h))


class _Subtree(NamedTuple):
    """The columns of a joint, and sums over the bodies behind it: all that its derivatives are made of."""

    columns: _Columns
    Ic: Inertia
    B2: CoriolisInertia
    Bu: CoriolisInertia
    forces: _Forces


class _Virtual(NamedTuple):
    """Quantities that depend on mu, by body: the virtual velocity u, and the subtree."""

    u: dict[int, Expr]
    subtrees: dict[int, _Subtree]


def _virtual(model: Model, sweep: PassResults, mu: Expr) -> _Virtual:
    """Virtual velocities of all bodies and the quantities that depend on them; Bu is B with u in place of v."""
    weights, states = model.split_qd(mu, "mu"), sweep.states
    u, up = velocities(model, states, {i: state.S @ weights[i] for i, state in states.items()})
    bodies = list(zip(model.I, u.values(), sweep.f, sweep.B2, strict=True))
    Bu, _ = composite(model, states, [CoriolisInertia.of(I, u_i) for I, u_i, _, _ in bodies])
    forces, _ = composite(model, states, [apply_template(_Forces.of, I, B2, f, u_i) for I, u_i, f, B2 in bodies])
    Ic, B2, _, _ = sweep.composite
    subtrees = {}
    for i, _ in model.edges:
        own, S = sweep.columns[i], states[i].S
        bent = ca.horzcat(*(direction @ weights[i] for direction in sweep.dS[i]))
        columns = _Columns(S, apply_template(crm, up[i], S) + bent, own.psi, own.phi, own.chi)
        subtrees[i] = _Subtree(columns, Ic[i], B2[i], Bu[i], forces[i])
    return _Virtual(u, subtrees)


# Inward pass: rows, their products with columns, and the blocks


class _ForceFactors(NamedTuple):
    """Factors of the second derivatives with respect to the dofs m of a subtree and a dof k above it; a column per m.

    L_qq = U_k' WU + psi_k' Wpsi + phi_k' Wphi,  L_q_qd = U_k' RU + psi_k' Rpsi,  L_q_qdd = U_k' Ic S. WU, Wpsi, Wphi
    are the changes of F, G, h along q_m; RU and -Rpsi are those of F and G along qd_m. Only the angular halves of psi
    and G enter.
    """

    WU: Expr
    Wpsi: Expr
    Wphi: Expr
    RU: Expr
    Rpsi: Expr
    IS: Expr

    def to_parent(self, X: Transform) -> _ForceFactors:
        n = self.IS.shape[1]
        WU, Wphi, RU, IS = ca.horzsplit(X.apply_transpose(ca.horzcat(self.WU, self.Wphi, self.RU, self.IS)), n)
        Wpsi, Rpsi = ca.horzsplit(X.E.T @ ca.horzcat(self.Wpsi, self.Rpsi), n)
        return _ForceFactors(WU, Wpsi, Wphi, RU, Rpsi, IS)


class _SecondBlocks(NamedTuple):
    """Second derivatives by a variable of dofs k (rows) and one of dofs m (columns), k at or above m."""

    q_q: Expr
    q_qd: Expr
    qd_qd: Expr
    q_qdd: Expr
    qd_q: Expr
    qdd_q: Expr


def _products(columns: _Columns, rows: _ForceFactors) -> _SecondBlocks:
    """The blocks of the columns of k and the rows of m, in one frame."""
    S, U, psi, phi, chi = columns
    psi, w = psi[:3, :], S[:3, :]
    return _SecondBlocks(
        q_q=U.T @ rows.WU + psi.T @ rows.Wpsi + phi.T @ rows.Wphi,
        q_qd=U.T @ rows.RU + psi.T @ rows.Rpsi,
        qd_qd=w.T @ rows.Rpsi,
        q_qdd=U.T @ rows.IS,
        qd_q=w.T @ rows.Wpsi + chi.T @ rows.Wphi,
        qdd_q=S.T @ rows.Wphi,
    )


def _at_joint(subtree: _Subtree) -> tuple[_ForceFactors, _SecondBlocks]:
    """The rows of a joint, in its moved frame, and their products with the columns of the same joint."""
    (S, U, psi, phi, chi), Ic, B2, Bu, forces = subtree
    turned = _turned(S, forces)
    rows = _ForceFactors(
        WU=B2.apply(psi[:3, :]) + Ic.apply(phi) + turned.F,
        Wpsi=B2.apply_transpose(U) - Bu.apply_transpose(2 * psi) + turned.G,
        Wphi=Ic.apply(U) + turned.h,
        RU=B2.apply(S[:3, :]) + Ic.apply(chi),
        Rpsi=-Bu.apply_transpose(2 * S),
        IS=Ic.apply(S),
    )
    return rows, _products(subtree.columns, rows)


def _first(columns: _Columns, forces: _Forces) -> tuple[Expr, Expr, Expr]:
    """The gradient's entries of one joint: by q, qd and qdd."""
    S, U, psi, phi, chi = columns
    F, G, h = forces.F, forces.G, forces.h
    return U.T @ F + psi[:3, :].T @ G + phi.T @ h, S[:3, :].T @ G + chi.T @ h, S.T @ h


def _on_diagonal(blocks: _SecondBlocks, bending: tuple[Expr, ...]) -> _SecondBlocks:
    """The blocks of a joint with itself: symmetric parts, and the terms from an S that depends on q."""
    q_q, q_qd, qd_qd, q_qdd = bending
    return blocks._replace(
        q_q=symmetric_part(blocks.q_q) + q_q,
        q_qd=blocks.q_qd + q_qd,
        qd_qd=symmetric_part(blocks.qd_qd) + qd_qd,
        q_qdd=blocks.q_qdd + q_qdd,
    )


def _turned(S: Expr, forces: _Forces) -> _Forces:
    """s x* F, s x* G and s x* h, a column per s: the changes of forces that turn with the joint."""
    F, G, h = forces.F, forces.G, forces.h
    return _Forces(crf(S, F), -skew(G) @ S[:3, :], crf(S, h))


# Joints whose S depends on q


def _bending(model: Model, sweep: PassResults, virtual: _Virtual, i: int, inputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Terms of joint i's diagonal blocks (q_q, q_qd, qd_qd, q_qdd) from the dependence of S on q; zero if S is
    constant.

    AD of `_power` of this joint alone gives them, less those that the products of columns already contain.
    """
    joint, n, p = model.joints[i], model.joints[i].nv, model.parent[i]
    if has_constant_subspace(joint):
        return (DM(n, n),) * 4
    own, forces = virtual.subtrees[i].columns, virtual.subtrees[i].forces
    above = [model.X_tree[i].apply(motion[p]) for motion in (virtual.u, sweep.v, sweep.a)]
    q, qd, qdd, mu = inputs
    along = DM(2 * n, 1), partial(_state_rate, joint)

    def gradient(x: Expr) -> Expr:
        return derivatives(partial(_power, joint), x, *along).jacobian.T

    x = ca.vertcat(q, qd, *above, sweep.v[i], forces.F, forces.G, forces.h, qdd, mu)
    by_q, by_qd = split(derivatives(gradient, x, *along).jacobian, n, n)
    turned = _turned(own.S, forces)
    counted = own.U.T @ turned.F + own.psi[:3, :].T @ turned.G + own.phi.T @ turned.h
    bent = ca.vertcat(*((direction.T @ forces.h).T for direction in sweep.dS[i]))
    return symmetric_part(by_q[:, :n] - counted), by_q[:, n:] - own.psi.T @ turned.h, by_qd[:, n:], bent


def _power(joint: Joint, x: Expr) -> Expr:
    """F' u + G' v + h' (a - v x v_i) of the motions u, v, a of a joint at fixed F, G, h: all second derivatives of u,
    v and a.

    x: q, qd, the motions u, v, a of the parent, v_i, F, G, h, qdd and mu.
    """
    n = joint.nv
    q, qd, u_p, v_p, a_p, v_i, F, G, h, qdd, mu = split(x, joint.nq, n, 6, 6, 6, 6, 6, 3, 6, n, n)
    X, S, vJ, cJ = joint.jcalc(q, qd)
    v = X.apply(v_p) + vJ
    a = X.apply(a_p) + S @ qdd + cJ + crm(v, vJ - v_i)
    return ca.dot(F, X.apply(u_p) + S @ mu) + ca.dot(G, v[:3]) + ca.dot(h, a)


def _state_rate(joint: Joint, x: Expr, step: Expr) -> Expr:
    """dx/dt of the x of `_power` for a step in the tangent directions of q and in qd."""
    delta, d_qd = split(step, joint.nv, joint.nv)
    rest = x.shape[0] - joint.nq - joint.nv
    return ca.vertcat(joint.q_dot(x[: joint.nq], delta), d_qd, type(x)(rest, 1))
