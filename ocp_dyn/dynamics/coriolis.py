"""The Coriolis matrix by composite inertias [S. Echeandia & P. Wensing, J. Comput. Nonlinear Dyn. 16, 2021].

With `dJ_i/dt` the rate of body i's Jacobian and `B_i = 1/2 (v x* I + (I v) x^ - I v x)`, where `h x^ m = m x* h`,

    C(q, qd) = sum of J_i' (I_i dJ_i/dt + B_i J_i),        C qd + tau_g = bias force,

and `dH/dt - 2 C` is skew-symmetric because `h x^` is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
from casadi import DM

from .._base.autodiff import apply_template
from .._base.types import Expr, M, Numbers, as_type
from ..joints.subspace_derivatives import subspace_rate
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..spatial_algebra.spatial import Inertia, Transform, congruence, crm, cross, halves, skew
from .recursions import ByBody, States, composite, joint_states, velocities
from .subtrees import beside, square_matrix


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
        return apply_template(_coriolis_inertia, body.m, body.h, body.second_moments, v)

    def __add__(self, other: CoriolisInertia) -> CoriolisInertia:
        return CoriolisInertia(self.K + other.K, self.p + other.p)

    def apply(self, w: Expr) -> Expr:
        """B m (6) of a motion with angular half w."""
        return -ca.vertcat(self.K @ w, cross(self.p, w))

    def apply_transpose(self, m: Expr) -> Expr:
        """The angular half (3) of B' m; the linear half is zero."""
        w, v = halves(m)
        return cross(self.p, v) - self.K.T @ w

    def to_parent(self, X: Transform) -> CoriolisInertia:
        """X' B X: in the coordinates of frame A of X: A -> B."""
        p = X.E.T @ self.p
        rp = p @ X.r.T - ca.dot(p, X.r) * DM.eye(3)
        return CoriolisInertia(congruence(X.E, self.K) + rp, p)

    def matrix(self) -> Expr:
        """The 6x6 matrix [-K, 0; -p x, 0]."""
        return -ca.blockcat([[self.K, DM(3, 3)], [skew(self.p), DM(3, 3)]])


def _coriolis_inertia(m: Expr, h: Expr, J: Expr, v: Expr) -> CoriolisInertia:
    w, vo = halves(v)
    return CoriolisInertia(skew(w) @ J + vo @ h.T - ca.dot(vo, h) * DM.eye(3), m * vo - ca.cross(h, w))


def motion_subspace_rates(model: Model, states: States, v: ByBody, q: Expr, qd: Expr) -> dict[int, Expr]:
    """dS[i]/dt = v[i] x S[i] + apparent rate of S[i] (6 x nv of the joint), by body, in its coordinates."""
    positions, rates = model.split_q(q), model.split_qd(qd)
    return {
        i: crm(v[i], state.S) + subspace_rate(model.joints[i], positions[i], rates[i]) for i, state in states.items()
    }


@checks_arguments(frames=False)
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
    beyond = [_Carried(DM(6, 0), DM(6, 0), DM(3, 0))] * (model.nb + 1)
    rows: dict[int, Expr] = {}
    columns: dict[int, Expr] = {}
    for i, p in reversed(list(model.edges)):
        X, S = states[i].XJ, states[i].S
        own = _Carried(Ic[i].apply(S_rate[i]) + Bc[i].apply(S[:3, :]), Ic[i].apply(S), Bc[i].apply_transpose(S))
        rows[i] = S.T @ ca.horzcat(own.F, beyond[i].F)
        columns[i] = beyond[i].IS.T @ S_rate[i] + beyond[i].BS.T @ S[:3, :]
        if p:
            beyond[p] = beside(beside(own, beyond[i]).to_parent(X), beyond[p])
    return as_type(square_matrix(model, rows, columns), q)


class _Carried(NamedTuple):
    """Matrices of a subtree that cross joints towards the root, with a column for each of its dofs.

    F: the forces of its columns of C, from the diagonal upwards. IS, BS: the same for its rows, leftwards: Ic S, and
    the angular half of Bc' S.
    """

    F: Expr
    IS: Expr
    BS: Expr

    def to_parent(self, X: Transform) -> _Carried:
        return _Carried(X.apply_transpose(self.F), X.apply_transpose(self.IS), X.E.T @ self.BS)
