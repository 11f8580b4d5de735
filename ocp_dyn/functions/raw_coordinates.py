"""Derivatives by the entries of q, quaternions included, from derivatives by tangent steps delta of q.

The analytic derivatives are by delta. An expression that calls ID or FD has the entries of q as its variables,

    delta = T(q) dq,    T = 2/|r|^2 [w 1 - v x, -v] for a quaternion r = (v, w),

and to second order `delta = T dq - (r' dr / |r|^2) T dr`. Both vanish along r: the scale of a quaternion turns nothing.
"""

from __future__ import annotations

import casadi as ca
from casadi import DM, SX

from .._base.types import Expr, repr_in_message, split
from ..derivatives.second import SecondOrder
from ..joints import Joint, Spherical
from ..mechanism import Model
from ..spatial_algebra.spatial import skew


def tangent_map(model: Model, q: Expr) -> Expr:
    """T(q) (nv x nq): the tangent step `delta = T dq` of a small change of q, zero along a quaternion's scale."""
    blocks = []
    for joint, position in zip(model.joints, model.split_q(q), strict=True):
        if _is_quaternion(joint):
            v, w = split(position, 3, 1)
            blocks.append(2 / ca.sumsqr(position) * ca.horzcat(w * DM.eye(3) - skew(v), -v))
        else:
            blocks.append(DM.eye(joint.nq))
    return ca.diagcat(*blocks)


def by_entries(model: Model, q: Expr, second: SecondOrder, T: Expr) -> tuple[list[Expr], list[list[Expr]]]:
    """Gradient and blocks of the Hessian by the entries of q, qd and x, from those by tangent steps; T:
    `tangent_map`."""
    zero = SX(model.nv, model.nv)
    H = [
        [hessian_by_entries(model, q, second.L_q, second.L_qq, T), T.T @ second.L_q_qd, T.T @ second.L_q_x],
        [second.L_q_qd.T @ T, second.L_qd_qd, zero],
        [second.L_q_x.T @ T, zero, zero],
    ]
    return [T.T @ second.L_q, second.L_qd, second.L_x], H


def hessian_by_entries(model: Model, q: Expr, L_q: Expr, L_qq: Expr, T: Expr) -> Expr:
    """Second derivatives by q from those by tangent steps: T' L_qq T, and the term from the second order of delta."""
    H = T.T @ L_qq @ T
    for i, _ in model.edges:
        if _is_quaternion(model.joints[i]):
            place, dofs = slice(*model.q_index[i : i + 2]), slice(*model.v_index[i : i + 2])
            along = q[place] / ca.sumsqr(q[place]) @ (L_q[dofs].T @ T[dofs, place])
            H[place, place] -= along + along.T
    return H


def _is_quaternion(joint: Joint) -> bool:
    """Whether q of a joint of a model with split joints is a quaternion; if not, qd must be dq/dt."""
    if isinstance(joint, Spherical):
        return True
    if type(joint).q_dot is Joint.q_dot:
        return False
    raise ValueError(
        f"the velocities of {repr_in_message(joint)} are not the rates of its q, so that derivatives by the entries of "
        "q are not known: leave out derivatives="
    )
