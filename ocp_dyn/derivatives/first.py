"""Analytic first derivatives of inverse and forward dynamics, by recursion.

Derivatives by q are along the tangent: column k is d/d(delta_k) at `integrate(q, delta)`, so that quaternions
have three columns. A joint's tangent directions are its velocity directions: delta_k turns and shifts the whole
subtree of joint j by its column s_k of S. With the rigid part of that motion split off, body i of the subtree has

    d(v_i) = s_k x v_i + psi_k,                    psi_k = v_p x s_k + d(vJ),
    d(a_i) = s_k x a_i + psi_k x v_i + phi_k,      phi_k = a_p x s_k + v_p x psi_k + v_j x d(vJ) + d(aJ),
    d(f_i) = s_k x* f_i + 2 B_i psi_k + I_i phi_k,

v_p, a_p the motion of the parent, d(vJ), d(aJ) terms of the joint itself, where S depends on q, B the Coriolis
inertia. psi_k and phi_k are the same for the whole subtree, so composite inertias Ic, Bc and one walk to the
root per joint give all blocks; so do s_k and `chi_k = (v_p + v_j) x s_k + d(cJ)/d(qd_k)` for derivatives by qd:
`d(f_i) = 2 B_i s_k + I_i chi_k`. The rigid part drops out of tau where the joint of tau is in the subtree.

After S. Singh, R. Russell & P. Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial
vector algebra, IEEE RA-L 7, 2022, here in body coordinates, for any S(q), and with external forces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
from casadi import DM, SX

from .._base.autodiff import apply_template
from .._base.types import Expr, M, Numbers, as_type, cast_to_matrix
from ..dynamics.coriolis import CoriolisInertia
from ..dynamics.invertible import check_invertible
from ..dynamics.joint_space import articulated_answers
from ..dynamics.passive_torques import passive_derivatives, with_armature
from ..dynamics.recursions import (
    States,
    accelerations,
    composite,
    composite_forces,
    joint_states,
    minus_gravity,
    velocities,
    without_drift,
)
from ..dynamics.rnea_crba_aba import bias_force, body_wrenches, factor, forward_dynamics, mass_matrix
from ..dynamics.subtrees import beside, square_matrix
from ..joints.subspace_derivatives import JointDerivatives, joint_derivatives
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.loads import NO_LOADS, Loads
from ..spatial_algebra.linalg import symmetric
from ..spatial_algebra.spatial import Inertia, Transform, crf, crm

DEEP = 20
"""Mean number of ancestors of a dof above which articulated bodies take fewer operations than the factor of H, 62 for
every dof of a column beside 4 for every ancestor: chains of more than 41 links."""


class JointColumns(NamedTuple):
    """Columns (6 x nv each) of the dofs of one joint, in its moved frame: S, and the changes of its subtree's
    motion."""

    S: Expr
    psi: Expr
    phi: Expr
    chi: Expr

    @staticmethod
    def of(S: Expr, vp: Expr, ap: Expr, v: Expr, joint: JointDerivatives) -> JointColumns:
        """The columns from the motion vp, ap of the parent and the velocity v of the body, in moved coordinates."""
        carried = crm(vp, S)
        psi = carried + joint.vJ
        phi = crm(ap, S) + crm(vp, psi) + crm(v, joint.vJ) + joint.aJ
        # vJ x s = 0 where there is one s
        turning = carried if S.shape[1] == 1 else crm(v, S)
        return JointColumns(S, psi, phi, carried + turning + joint.cJ_qd)


class Composite(NamedTuple):
    """Sums over the subtree of every body, in its coordinates: inertias, 2 B, forces f, and wrenches from outside."""

    Ic: list[Inertia]
    B2: list[CoriolisInertia]
    F: list[Expr]
    W: list[Expr]


class Outward(NamedTuple):
    """Results of the outward pass, by body: joint states, velocity v and acceleration a of the body; columns and
    dS/d(delta_k) of its joint (6 x nv per direction)."""

    states: States
    v: dict[int, Expr]
    a: dict[int, Expr]
    columns: dict[int, JointColumns]
    dS: dict[int, list[Expr]]


class PassResults(NamedTuple):
    """Results of the outward pass, as in `Outward`, and of the inward pass, by body.

    f = I a + v x* I v and 2 B are those of the body alone; composite holds the sums over subtrees.
    """

    states: States
    v: dict[int, Expr]
    a: dict[int, Expr]
    columns: dict[int, JointColumns]
    dS: dict[int, list[Expr]]
    f: list[Expr]
    B2: list[CoriolisInertia]
    composite: Composite


@checks_arguments(frames=False)
def inverse_dynamics_derivatives(
    model: Model,
    q: M | Numbers,
    qd: M | Numbers,
    qdd: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> tuple[M, M, M]:
    """(d tau/dq, d tau/d qd, H) of tau = ID(q, qd, qdd); d tau/d qdd = H [Singh, Russell & Wensing 2022].

    nv x nv each, rows tau, columns tangent directions of q, entries of qd, of qdd. External wrenches (6 x k, fixed in
    the world), loads as in `inverse_dynamics`. Structurally zero between separate branches. O(nb depth).

    >>> od.inverse_dynamics_derivatives(rod, [0.0], [0.0], [0.0])  # m g l/2, no damping, m l^2 / 3
    (DM(4.905), DM(0), DM(0.333333))
    """
    sweep = swept(model, q, qd, qdd, f_ext, loads.external)
    wrenches = DM() if f_ext is None else ca.vec(f_ext)
    buffer = type(ca.vertcat(q, qd, qdd, wrenches))  # numbers and symbols may mix
    dq, dqd, H = inverse_dynamics_blocks(model, sweep, buffer)
    if loads.passive:
        passive_dq, passive_dqd = passive_derivatives(
            model, cast_to_matrix(q), cast_to_matrix(qd), slip_speed=loads.slip_speed
        )
        dq, dqd = dq - passive_dq, dqd - passive_dqd
    return dq, dqd, with_armature(model, H) if loads.armature else H


def inverse_dynamics_blocks(model: Model, sweep: PassResults, buffer: type[Expr]) -> tuple[Expr, Expr, Expr]:
    """(d tau/dq, d tau/d qd, H) from both passes, in matrices of the type `buffer`."""
    Ic, B2, F, W = sweep.composite
    beyond = [_CarriedDerivatives(DM(6, 0), DM(6, 0), DM(6, 0), DM(6, 0), DM(3, 0))] * (model.nb + 1)
    rows: dict[int, _Blocks] = {}
    below: dict[int, _Blocks] = {}
    for i, p in reversed(list(model.edges)):
        # Columns (dS/d(delta_k))' f
        turning = ca.horzcat(*(direction.T @ (F[i] - W[i]) for direction in sweep.dS[i]))
        carried, diagonal = apply_template(_at_joint, Ic[i], B2[i], F[i], W[i], sweep.columns[i])
        above, below[i] = _products(sweep.columns[i], beyond[i])
        rows[i] = beside(_Blocks(diagonal.dq + turning, diagonal.dqd, diagonal.H), above)
        if p:
            beyond[p] = beside(beside(carried, beyond[i]).to_parent(sweep.states[i].XJ), beyond[p])
    dq, dqd, H = (
        square_matrix(model, *({i: blocks[k] for i, blocks in x.items()} for x in (rows, below))) for k in range(3)
    )
    return of_type(buffer, dq), of_type(buffer, dqd), of_type(buffer, H)


def of_type(buffer: type[Expr], A: Expr) -> Expr:
    """A as an SX, MX or DM; in an SX structural zeros replace the zeros that come from templates."""
    return ca.sparsify(buffer(A)) if buffer is SX else buffer(A)


class _Blocks(NamedTuple):
    """Blocks of d tau/dq, d tau/d qd and H: rows of one joint, columns of another."""

    dq: Expr
    dqd: Expr
    H: Expr


class _CarriedDerivatives(NamedTuple):
    """Matrices of a subtree that cross joints towards the root, with a column for each of its dofs.

    Fq, Fqd: the forces that q and qd change, for tau at and above a joint. IS, WS, BS: the rows, for directions at and
    above it: Ic S, S x* W of the wrenches that do not turn with it, and the angular half of 2 Bc' S.
    """

    Fq: Expr
    Fqd: Expr
    IS: Expr
    WS: Expr
    BS: Expr

    def to_parent(self, X: Transform) -> _CarriedDerivatives:
        moved = X.apply_transpose(ca.horzcat(self.Fq, self.Fqd, self.IS, self.WS))
        Fq, Fqd, IS, WS = ca.horzsplit(moved, self.IS.shape[1])
        return _CarriedDerivatives(Fq, Fqd, IS, WS, X.E.T @ self.BS)


def _at_joint(
    Ic: Inertia, B2: CoriolisInertia, F: Expr, W: Expr, columns: JointColumns
) -> tuple[_CarriedDerivatives, _Blocks]:
    """The matrices that joint i passes towards the root, and its diagonal blocks of the derivatives.

    Ic, B2, F, W: composite inertia, Coriolis inertia, force and moment of its subtree.
    """
    S, psi, phi, chi = columns
    IS, BS, WS = Ic.apply(S), B2.apply_transpose(S), crf(S, W)
    Fq = B2.apply(psi[:3, :]) + Ic.apply(phi)
    Fqd = B2.apply(S[:3, :]) + Ic.apply(chi)
    blocks = _Blocks(S.T @ Fq - WS.T @ S, S.T @ Fqd, symmetric(S.T @ IS))
    return _CarriedDerivatives(Fq + crf(S, F), Fqd, IS, WS, BS), blocks


def _products(columns: JointColumns, beyond: _CarriedDerivatives) -> tuple[_Blocks, _Blocks]:
    """The blocks of a joint and the dofs beyond it: with the rows of the joint, and with its columns."""
    S, psi, phi, chi = columns
    Fq, Fqd, IS, WS, BS = beyond
    H = IS.T @ S
    below = _Blocks(IS.T @ phi + BS.T @ psi[:3, :] - WS.T @ S, IS.T @ chi + BS.T @ S[:3, :], H)
    return _Blocks(S.T @ Fq, S.T @ Fqd, H.T), below


@checks_arguments(frames=False)
def forward_dynamics_derivatives(
    model: Model,
    q: M | Numbers,
    qd: M | Numbers,
    tau: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> tuple[M, M, M]:
    """(d qdd/dq, d qdd/d qd, H^-1) of qdd = FD(q, qd, tau); d qdd/d tau = H^-1.

    From `H qdd + C = tau`: d qdd/dx = -H^-1 d tau/dx at constant qdd [J. Carpentier & N. Mansard, Analytical
    derivatives of rigid body dynamics algorithms, RSS 2018], by the branch-sparse L'DL factor of H, O(nb depth nv), or
    on long chains by articulated bodies, O(nb nv). nv x nv each, columns as in `inverse_dynamics_derivatives`.

    >>> od.forward_dynamics_derivatives(rod, [0.0], [0.0], [0.0])[0]  # -3/2 g/l, the square of the frequency
    DM(-14.715)
    """
    check_invertible(model, loads=loads)
    if mean_ancestors(model) > DEEP:
        return _by_articulated_bodies(model, q, qd, tau, f_ext, loads)
    H = factor(model, mass_matrix(model, q, loads=loads))
    qdd = H.solve(tau - bias_force(model, q, qd, f_ext, loads=loads))
    dq, dqd, _ = inverse_dynamics_derivatives(model, q, qd, qdd, f_ext, loads=loads)
    return H.solve(-dq), H.solve(-dqd), as_type(H.inverse_matrix(), q)


def mean_ancestors(model: Model) -> float:
    """The mean number of dofs between a dof and the root: entries of a row of the L'DL factor of H."""
    tree = model.dof_parent
    depth: list[int] = []
    for parent in tree:
        depth.append(depth[parent] + 1 if parent >= 0 else 0)
    return sum(depth) / len(depth)


def _by_articulated_bodies(
    model: Model, q: Expr, qd: Expr, tau: Expr, f_ext: Expr | None, loads: Loads
) -> tuple[Expr, Expr, Expr]:
    """`forward_dynamics_derivatives`: -H^-1 d tau/dx and H^-1 as accelerations of articulated bodies, a column each."""
    qdd = forward_dynamics(model, q, qd, tau, f_ext, loads=loads)
    dq, dqd, _ = inverse_dynamics_derivatives(model, q, qd, qdd, f_ext, loads=loads)
    forces = ca.horzcat(-dq, -dqd, DM.eye(model.nv))
    answers, _ = articulated_answers(model, q, forces, loads=loads)
    by_q, by_qd, inverse = ca.horzsplit(answers, model.nv)
    return by_q, by_qd, as_type(symmetric(inverse), q)


def outward_pass(model: Model, q: Expr, qd: Expr, qdd: Expr, ground: Expr | None = None) -> Outward:
    """Velocities and accelerations of all bodies, and the columns of their joints; ground: as in `accelerations`."""
    states = joint_states(model, q, qd)
    at = list(zip(model.joints, model.split_q(q), model.split_qd(qd), model.split_qd(qdd, "qdd"), strict=True))
    v, vp = velocities(model, states)
    a, ap = accelerations(model, states, v, qdd, ground)
    joints = {i: joint_derivatives(*at[i]) for i in states}
    columns = {
        i: apply_template(JointColumns.of, state.S, vp[i], ap[i], v[i], joints[i]) for i, state in states.items()
    }
    return Outward(states, v, a, columns, {i: joint.dS for i, joint in joints.items()})


def swept(
    model: Model, q: Expr, qd: Expr, qdd: Expr, f_ext: Expr | None = None, external: Sequence[str] = ()
) -> PassResults:
    """The outward pass, with gravity; then the forces of all bodies, and the inward pass: sums over subtrees."""
    outward = outward_pass(model, q, without_drift(model, qd), qdd, minus_gravity(model))
    states, v, a, _, _ = outward
    f = [body.force(v[i], a[i]) for i, body in enumerate(model.I)]
    # by twice the inertia: so that no product is doubled one by one
    B2 = [CoriolisInertia.of(body + body, v[i]) for i, body in enumerate(model.I)]
    wrenches = body_wrenches(model, states, f_ext, external)
    (Ic, _), (B2c, _) = composite(model, states, model.I), composite(model, states, B2)
    sums = Composite(Ic, B2c, *(composite_forces(model, states, x) for x in (f, wrenches)))
    return PassResults(*outward, f, B2, sums)
