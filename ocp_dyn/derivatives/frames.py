"""First and second derivatives of the motion of a frame, contracted with weights; world axes.

The power of a wrench W on velocities x (nv),

    L = W' J x = n . w + f . v + t . (w x e),

w the angular velocity, v that of a point of the frame, e a vector fixed in the frame, and the couple n, the force f and
the force t on the arm e constant in the world, serves twice: with x = mu it is the weighted force mu' (J' W), with
W = mu the weighted velocity mu' (J x).

A tangent direction delta_m turns and shifts all that lies behind its joint by the column s_m = (a_m, p_m) of J. Split
w = o_m + w_m into the velocities of the dofs before the joint of m and of the others, and v and w x e too. Then

    c_m = a_m x w_m,    d_m = a_m x v_m + o_m x p_m,    dL/d(delta_m) = n . c_m + f . d_m,

where t and e add the terms of f with the velocity w x e in place of v. If n, f, t and o_l turned too, delta_l of a dof
at or before m would change nothing, so these count with the other sign,

    d2L/d(delta_l) d(delta_m) = -a_l . (n x c_m + f x d_m) - (a_l x o_l) . (p_m x f).

Two dofs of one joint act at once: their block is the symmetric part. Products of few vectors for every pair of dofs,
where automatic differentiation of the columns of J takes four times the operations.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._base.types import Expr, Vector, split
from ..dynamics.kinematics import as_point, point_jacobian_6d, pose, resolve
from ..joints.subspace_derivatives import has_constant_subspace
from ..mechanism import Frame, Model
from ..spatial_algebra.linalg import symmetric_part
from ..spatial_algebra.spatial import cross, halves, skew


class FramePower(NamedTuple):
    """Derivatives of L = W' J x: J (9 x nv) with J x = [w; v; w x e]; of J x (9 x nv) and of J' W (nv x nv) by tangent
    directions of q; gradient (nv) and Hessian (nv x nv) of L by these."""

    J: Expr
    Jx_q: Expr
    JW_q: Expr
    L_q: Expr
    L_qq: Expr


def frame_power(
    model: Model, frame: Frame | str, q: Expr, x: Expr, W: Expr, point: Vector, arm: Vector = (0.0, 0.0, 0.0)
) -> FramePower:
    """The derivatives of the power of W = [n; f; t] (9) on the velocities x; point and arm e in frame coordinates.

    ValueError for a joint on the path whose S depends on q: `split_joints` leaves few of these. O(depth^2).
    """
    f = resolve(model, frame)
    if not all(has_constant_subspace(model.joints[i]) for i in model.path(f.body)):
        raise ValueError(f"frame {f.name!r}: derivatives of its motion need joints whose S does not depend on q")
    e = pose(model, f, q)[0] @ as_point(arm)
    a, p = halves(point_jacobian_6d(model, f, q, point))
    J = ca.vertcat(a, p, -skew(e) @ a)
    before, behind = _split_velocities(model, J, x)
    (n, *forces), (w, *_), (o, *_) = split(W, 3, 3, 3), split(behind, 3, 3, 3), split(before, 3, 3, 3)
    rates = [cross(a, w)]
    turned, pull = skew(n) @ rates[0], SX(3, model.nv)
    for force, columns, velocities in zip(forces, split(J, 3, 3, 3)[1:], split(behind, 3, 3, 3)[1:], strict=True):
        rates.append(cross(a, velocities) + cross(o, columns))
        turned += skew(force) @ rates[-1]
        pull += skew(force) @ columns
    Jx_q = ca.vertcat(*rates)
    first, same = _order(model)
    pairs = cross(a, o).T @ pull - a.T @ turned
    upper = first * pairs
    JW_q = first * (-a.T @ pull) - (first.T + same) * ((skew(n) @ a + pull).T @ a)
    return FramePower(J, Jx_q, JW_q, Jx_q.T @ W, upper + upper.T + symmetric_part(same * pairs))


def _split_velocities(model: Model, J: Expr, x: Expr) -> tuple[Expr, Expr]:
    """J x by the dofs before the joint of a dof, and by the others: a column (9) per dof."""
    shares = [J[:, dofs] @ x[dofs] for dofs in (slice(*model.v_index[i : i + 2]) for i, _ in model.edges)]
    *sums, total = accumulate(shares, initial=DM(J.shape[0], 1))
    before = [one for one, (i, _) in zip(sums, model.edges, strict=True) for _ in model.dofs_of(i)]
    return ca.horzcat(*before), ca.horzcat(*(total - one for one in before))


def _order(model: Model) -> tuple[DM, DM]:
    """Pairs of dofs: 1 where that of the row comes before that of the column, and where both are of one joint."""
    joint = np.array([i for i, _ in model.edges for _ in model.dofs_of(i)])
    first, same = (ca.sparsify(DM(x.astype(float))) for x in (joint[:, None] < joint, joint[:, None] == joint))
    return first, same
