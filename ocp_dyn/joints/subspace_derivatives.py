"""Derivatives of a joint's S, vJ and cJ along the joint's velocity and tangent directions.

They vanish for a joint whose motion subspace S is constant in its moved frame. For the others (Euler angles, a
floating base with world-linear velocities, a user's class) `jcalc` of that one joint is differentiated: a
function of a few variables, whatever the size of the model.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import casadi as ca
from casadi import DM

from .._base.autodiff import derivatives, is_constant
from .._base.types import Expr, split
from . import Joint


class JointDerivatives(NamedTuple):
    """Tangent derivatives d/d(delta_k) at `integrate(q, delta)`, in moved coordinates; columns are directions k.

    dS: one 6 x nv matrix per direction. vJ, aJ (6 x nv): of `S qd` and of `S qdd + cJ`. cJ_qd (6 x nv): of cJ by qd.
    """

    dS: list[Expr]
    vJ: Expr
    aJ: Expr
    cJ_qd: Expr


def has_constant_subspace(joint: Joint) -> bool:
    """Whether S does not depend on q. Tested with symbols: S at numbers, even in an SX, is always constant."""
    return is_constant(partial(_subspace, joint), joint.nq)


def _subspace(joint: Joint, q: Expr) -> Expr:
    return joint.jcalc(q, type(q)(joint.nv, 1)).S


def subspace_rate(joint: Joint, q: Expr, qd: Expr) -> Expr:
    """The apparent dS/dt (6 x nv) of a joint at q, qd: `subspace_rate qd = cJ`."""
    if has_constant_subspace(joint):
        return DM(6, joint.nv)
    return ca.reshape(derivatives(partial(_subspace, joint), q, qd, joint.q_dot).jacobian @ qd, 6, joint.nv)


def joint_derivatives(joint: Joint, q: Expr, qd: Expr, qdd: Expr) -> JointDerivatives:
    """Tangent derivatives of a joint at q, qd, qdd; structurally zero where S is constant."""
    nq, n = joint.nq, joint.nv
    if has_constant_subspace(joint):
        return JointDerivatives([DM(6, n)] * n, DM(6, n), DM(6, n), DM(6, n))

    def quantities(x: Expr) -> Expr:
        q, qd, qdd = split(x, nq, n, n)
        _, S, vJ, cJ = joint.jcalc(q, qd)
        return ca.vertcat(ca.vec(S), vJ, S @ qdd, cJ)

    def rate(x: Expr, step: Expr) -> Expr:
        """dx/dt of x = (q, qd, qdd) for a step in the tangent directions of q and in qd."""
        delta, d_qd = split(step, n, n)
        return ca.vertcat(joint.q_dot(x[:nq], delta), d_qd, type(x)(n, 1))

    J = derivatives(quantities, ca.vertcat(q, qd, qdd), DM(2 * n, 1), rate).jacobian
    by_q, by_qd = ca.horzsplit(J, n)
    dS, vJ, aJ, cJ = split(by_q, 6 * n, 6, 6, 6)
    directions = [ca.reshape(direction, 6, n) for direction in ca.horzsplit(dS)]
    return JointDerivatives(directions, vJ, aJ + cJ, split(by_qd, 6 * n + 12, 6)[1])
