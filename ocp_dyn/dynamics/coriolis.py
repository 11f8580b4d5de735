"""The Coriolis matrix by composite inertias [S. Echeandia & P. Wensing, J. Comput. Nonlinear Dyn. 16, 2021].

With `dJ_i/dt` the rate of body i's Jacobian and `B_i = 1/2 (v x* I + (I v) x^ - I v x)`, where `h x^ m = m x* h`,

    C(q, qd) = sum of J_i' (I_i dJ_i/dt + B_i J_i),        C qd + tau_g = bias force,

and `dH/dt - 2 C` is skew-symmetric because `h x^` is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import casadi as ca
from casadi import DM

from .._types import Expr, M, Numbers, as_type
from ..joints.derivatives import subspace_rate
from ..mechanism import Model
from ..mechanism.boundary import boundary
from ..spatial_algebra.linalg import put
from ..spatial_algebra.spatial import Inertia, Transform, congruence, crm, each, halves, skew
from .recursions import ByBody, States, composite, joint_states, velocities


@dataclass(frozen=True)
class CoriolisInertia:
    """B of one or more bodies: `B m = -[K w; p x w]` for a motion m = [w; v].

    K = w x Sigma + h x v x (3x3) with Sigma = tr(I)/2 - I the second moments of mass; p the linear momentum (3).
    B depends on twelve numbers and acts only on the angular half of m.
    """

    K: Expr
    p: Expr

    @staticmethod
    def zero() -> CoriolisInertia:
        return CoriolisInertia(DM(3, 3), DM(3, 1))

    @staticmethod
    def of(body: Inertia, v: Expr) -> CoriolisInertia:
        """B of a body of velocity v."""
        w, vo = halves(v)
        K = skew(w) @ body.second_moments + vo @ body.h.T - ca.dot(vo, body.h) * DM.eye(3)
        return CoriolisInertia(K, body.m * vo - ca.cross(body.h, w))

    def __add__(self, other: CoriolisInertia) -> CoriolisInertia:
        return CoriolisInertia(self.K + other.K, self.p + other.p)

    def apply(self, w: Expr) -> Expr:
        """B m (6) of a motion with angular half w."""
        return -ca.vertcat(self.K @ w, ca.cross(self.p, w))

    def apply_transpose(self, m: Expr) -> Expr:
        """The angular half (3) of B' m; the linear half is zero."""
        w, v = halves(m)
        return ca.cross(self.p, v) - self.K.T @ w

    def to_parent(self, X: Transform) -> CoriolisInertia:
        """X' B X: in the coordinates of frame A of X: A -> B."""
        p = X.E.T @ self.p
        rp = p @ X.r.T - ca.dot(p, X.r) * DM.eye(3)
        return CoriolisInertia(congruence(X.E, self.K) + rp, p)

    def matrix(self) -> Expr:
        """The 6x6 matrix [-K, 0; -p x, 0]."""
        return -ca.blockcat([[self.K, DM(3, 3)], [skew(self.p), DM(3, 3)]])


def motion_subspace_rates(model: Model, states: States, v: ByBody, q: Expr, qd: Expr) -> dict[int, Expr]:
    """dS[i]/dt = v[i] x S[i] + apparent rate of S[i] (6 x nv of the joint), by body, in its coordinates."""
    positions, rates = model.split_q(q), model.split_qd(qd)
    return {
        i: each(partial(crm, v[i]), state.S) + subspace_rate(model.joints[i], positions[i], rates[i])
        for i, state in states.items()
    }


@boundary()
def coriolis_matrix(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """C(q, qd) (nv x nv) with `C qd = bias_force - gravity_force` and `dH/dt - 2 C` skew-symmetric.

    The rate dH/dt is along the motion, dq/dt = q_dot(q, qd). [Echeandia & Wensing 2021, alg. 1], here with any
    S(q). Structurally zero between separate branches. [N m s/rad and the like]. O(nb depth).

    >>> od.coriolis_matrix(arm, [0.0, np.pi / 2], [1.0, 1.0]) @ [1.0, 1.0]
    DM([-1.5, 0.5])
    >>> od.bias_force(arm, [0.0, np.pi / 2], [1.0, 1.0]) - od.gravity_force(arm, [0.0, np.pi / 2])
    DM([-1.5, 0.5])
    """
    states = joint_states(model, q, qd)
    v, _ = velocities(model, states)
    S_rate = motion_subspace_rates(model, states, v, q, qd)
    Ic, _ = composite(model, states, model.I)
    Bc, _ = composite(model, states, [CoriolisInertia.of(body, v[i]) for i, body in enumerate(model.I)])
    C = type(ca.vertcat(q, qd))(model.nv, model.nv)  # numbers and symbols may mix
    for i, _ in model.edges:
        S = states[i].S
        F = each(Ic[i].apply, S_rate[i]) + each(
            Bc[i].apply, S[:3, :]
        )  # S_j' F: column i of C, from the diagonal upwards
        IS, BS = each(Ic[i].apply, S), each(Bc[i].apply_transpose, S)  # the same for row i, leftwards
        put(C, model.dofs_of(i), model.dofs_of(i), S.T @ F)
        j = i
        while model.parent[j]:
            X = states[j].XJ
            F, IS, BS = each(X.apply_transpose, F), each(X.apply_transpose, IS), X.E.T @ BS
            j = model.parent[j]
            S = states[j].S
            put(C, model.dofs_of(j), model.dofs_of(i), S.T @ F)
            put(C, model.dofs_of(i), model.dofs_of(j), IS.T @ S_rate[j] + BS.T @ S[:3, :])
    return as_type(C, q)
