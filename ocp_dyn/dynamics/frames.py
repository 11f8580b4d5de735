"""Velocity, acceleration and Jacobian of a frame as spatial vectors, in one of three references [RBDA, ch. 2 and 4].

| reference | axes | the linear half is that of | as in Pinocchio |
|---|---|---|---|
| "local" | the frame's | the frame's origin | LOCAL |
| "world" | the world's | the body's point that is at the world's origin | WORLD |
| "local_world_aligned" | the world's | the frame's origin | LOCAL_WORLD_ALIGNED |

6-D vectors are [angular; linear], angular first (Pinocchio: linear first). `point_velocity_6d` and its neighbors in
`kinematics` give the same in the third reference, for any point of a body.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
from casadi import DM

from .._base.checks import choice
from .._base.types import Expr, M, Numbers, as_type
from ..mechanism import Frame, Model
from ..mechanism.boundary import checks_arguments
from ..spatial_algebra.spatial import Transform, halves
from .kinematics import body_motion, point_jacobian_6d, point_jacobian_dot_6d, point_velocity_6d, pose, resolve
from .recursions import joint_states, poses

REFERENCES = ("local", "world", "local_world_aligned")
ALIGNED = "local_world_aligned"


@checks_arguments()
def frame_velocity(model: Model, frame: Frame | str, q: M | Numbers, qd: M | Numbers, *, reference: str = ALIGNED) -> M:
    """v (6) = [angular velocity [rad/s]; linear velocity [m/s]] of a frame: `frame_jacobian qd`.

    reference: "local", "world" or "local_world_aligned", see this module. ValueError for another. O(depth).

    >>> od.frame_velocity(rod, "tip", [0.0], [1.0])  # the tip moves towards -x
    DM([00, 1, 00, -1, 00, 0])
    >>> od.frame_velocity(rod, "tip", [0.0], [1.0], reference="world")  # the hinge, at the world's origin, does not
    DM([00, 1, 00, 00, 00, 00])
    """
    choice(reference, REFERENCES, "reference")
    f = resolve(model, frame)
    X0, v, _ = body_motion(model, f.body, q, qd)
    return as_type(_expressed(f, X0, v, reference), q)


@checks_arguments()
def frame_acceleration(
    model: Model,
    frame: Frame | str,
    q: M | Numbers,
    qd: M | Numbers,
    qdd: M | Numbers | None = None,
    *,
    reference: str = ALIGNED,
    classical: bool = False,
) -> M:
    """a (6) = [angular acceleration [rad/s^2]; linear acceleration [m/s^2]] of a frame, without gravity; `qdd=None`
    means qdd = 0.

    The spatial acceleration, which is the rate of the six numbers of `frame_velocity` in "local" and in "world"
    [RBDA, 2.11]. classical: the linear half is the true acceleration of the point instead, a_O + omega x v_O; what
    an accelerometer at the frame measures is that, in "local", less gravity. O(depth).

    >>> od.frame_acceleration(rod, "tip", [0.0], [2.0], classical=True)  # l qd^2 towards the hinge
    DM([00, 00, 00, 00, 00, 4])
    """
    choice(reference, REFERENCES, "reference")
    f = resolve(model, frame)
    X0, v, a = body_motion(model, f.body, q, qd, qdd)
    v, a = _expressed(f, X0, v, reference), _expressed(f, X0, a, reference)
    if classical:
        (w, vo), (dw, ao) = halves(v), halves(a)
        a = ca.vertcat(dw, ao + ca.cross(w, vo))
    return as_type(a, q)


@checks_arguments()
def frame_jacobian(model: Model, frame: Frame | str, q: M | Numbers, *, reference: str = ALIGNED) -> M:
    """J (6 x nv) with `frame_velocity = J qd`, in the same reference. Structurally zero outside the supporting path.

    O(depth).

    >>> od.frame_jacobian(rod, "tip", [0.0]).T
    DM([[00, 1, 00, -1, 00, 0]])
    >>> od.frame_jacobian(rod, "tip", [0.0], reference="world").T  # the hinge does not move
    DM([[00, 1, 00, 0, 00, 0]])
    """
    choice(reference, REFERENCES, "reference")
    J = point_jacobian_6d(model, frame, q)
    if reference == ALIGNED:
        return J
    R, p = pose(model, frame, q)

    def column(k: int) -> Expr:
        j, l = halves(J[:, k])
        return ca.vertcat(R.T @ j, R.T @ l) if reference == "local" else ca.vertcat(j, l + ca.cross(p, j))

    return as_type(_by_path(model, frame, column), q)


@checks_arguments()
def frame_jacobian_dot(
    model: Model, frame: Frame | str, q: M | Numbers, qd: M | Numbers, *, reference: str = ALIGNED
) -> M:
    """dJ/dt (6 x nv) of `frame_jacobian` along dq/dt = q_dot(q, qd), entry by entry.

    J qdd + dJ/dt qd is the rate of `frame_velocity`: `frame_acceleration` in "local" and "world", and with
    classical=True in "local_world_aligned". With R, p the pose of the frame, omega its angular velocity and J, dJ/dt
    those in "local_world_aligned", by columns [j; l],

        local: R' (dJ/dt - omega x J),   world: [dj/dt; dl/dt + dp/dt x j + p x dj/dt].

    O(depth).

    >>> od.frame_jacobian_dot(rod, "tip", [0.0], [2.0]).T  # times qd: l qd^2
    DM([[00, 00, 00, 00, 00, 2]])
    """
    choice(reference, REFERENCES, "reference")
    J_dot = point_jacobian_dot_6d(model, frame, q, qd)
    if reference == ALIGNED:
        return J_dot
    J = point_jacobian_6d(model, frame, q)
    R, p = pose(model, frame, q)
    w, p_dot = halves(point_velocity_6d(model, frame, q, qd))

    def column(k: int) -> Expr:
        (j, l), (dj, dl) = halves(J[:, k]), halves(J_dot[:, k])
        if reference == "local":
            return ca.vertcat(R.T @ (dj - ca.cross(w, j)), R.T @ (dl - ca.cross(w, l)))
        return ca.vertcat(dj, dl + ca.cross(p_dot, j) + ca.cross(p, dj))

    return as_type(_by_path(model, frame, column), q)


@checks_arguments()
def body_poses(model: Model, q: M | Numbers) -> tuple[M, M]:
    """(R, p): rotations (3 x 3 nb) and origins [m] (3 x nb) of all moving bodies in the world, in the order of
    `body_names`.

    R = [R_1 R_2 ...], each active: its columns are the body's axes in the world. One pass, O(nb); `pose` is for one
    frame.

    >>> od.body_poses(arm, [0.0, 0.0])[1]  # a column per body
    DM(
    [[00, 0],
     [00, 00],
     [00, -1]])
    """
    X0 = poses(model, joint_states(model, q))
    rotations = ca.horzcat(DM(3, 0), *(X0[i].E.T for i, _ in model.edges))
    origins = ca.horzcat(DM(3, 0), *(X0[i].r for i, _ in model.edges))
    return as_type(rotations, q), as_type(origins, q)


def _expressed(f: Frame, X0: Transform, m: Expr, reference: str) -> Expr:
    """A motion vector in coordinates of the body that carries frame f, expressed in a reference of the frame."""
    if reference == "world":
        return X0.apply_inverse(m)
    local = f.X.apply(m)
    if reference == "local":
        return local
    w, vo = halves(local)
    R = (f.X.E @ X0.E).T
    return ca.vertcat(R @ w, R @ vo)


def _by_path(model: Model, frame: Frame | str, column: Callable[[int], Expr]) -> Expr:
    """The matrix (6 x nv) of the columns of the dofs that move a frame; the others are structurally zero."""
    columns: list[Expr] = [DM(6, 1)] * model.nv
    for i in model.path(resolve(model, frame).body):
        for k in model.dofs_of(i):
            columns[k] = column(k)
    return ca.horzcat(*columns)
