"""Poses, velocities, accelerations and Jacobians of bodies, frames and points [RBDA, ch. 4].

World axes throughout. 6-D quantities are [angular; linear] at a material point of the body; accelerations
are classical (the true acceleration of the point), without gravity.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import casadi as ca
from casadi import DM

from .._base.autodiff import apply_template, as_function
from .._base.types import Expr, M, Numbers, Vector, as_type, finite_vector, repr_in_message, sparse_beside
from ..joints.subspace_derivatives import subspace_rate
from ..mechanism import Frame, Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.equal_models import kept_per_model
from ..spatial_algebra.spatial import Transform, crm, halves
from .recursions import accelerations, classical_accelerations, joint_states, poses, velocities, without_drift


def body_transforms(model: Model, q: Expr) -> list[Transform]:
    """X0[i], ground to body i, for every body (entry 0: the ground)."""
    return list(poses(model, joint_states(model, q)).values())


class BodyMotion(NamedTuple):
    """Motion of one body: X0 from ground to body; v, a the spatial velocity and acceleration, body axes."""

    X0: Transform
    v: Expr
    a: Expr


def body_motion(model: Model, body: int, q: Expr, qd: Expr, qdd: Expr | None = None) -> BodyMotion:
    """Pose, velocity and acceleration (without gravity) of one body, along its supporting path only.

    `qdd=None` gives the velocity-product acceleration (qdd = 0). Cost: O(depth).
    """
    states = joint_states(model, q, qd, model.path(body))
    v, _ = velocities(model, states)
    a, _ = accelerations(model, states, v, model.rest(q) if qdd is None else qdd)
    return BodyMotion(poses(model, states)[body], v[body], a[body])


class PosesAndAxes(NamedTuple):
    """Poses of bodies and their velocities per unit velocity of each dof.

    X0 by body: transform from ground to body. step (3) by body: from the parent's origin to the body's origin, world
    axes. w, v (3) by dof: angular and linear velocity of the body behind the dof, world axes. Sums of steps round in
    proportion to the robot; differences of positions round in proportion to its distance from the world's origin.
    """

    X0: dict[int, Transform]
    step: dict[int, Expr]
    w: dict[int, Expr]
    v: dict[int, Expr]


def poses_and_axes(model: Model, body: int, q: Expr) -> PosesAndAxes:
    """Poses and columns along the supporting path of a body."""
    path = model.path(body)
    if not (path and q.shape == (model.nq, 1) and _of_numbers(model)) or isinstance(q, ca.MX):
        return _poses_and_axes(model, path, q)
    if isinstance(q, DM):
        last, numbers = _last_of_path(model, body), tuple(q.nonzeros())
        if numbers not in last:
            last.clear()
            last[numbers] = _poses_and_axes(model, path, q)
        return last[numbers]
    of_trunk = _of_trunk(model, path[0])
    if of_trunk.has_free():  # symbols in a custom joint must stay visible to differentiation
        return _poses_and_axes(model, path, q)
    recent = _recent_of_trunk(model, path[0])
    for seen, known in tuple(recent):
        if ca.is_equal(seen, q):
            return known
    trunk, found = _bodies_beyond(model, path[0]), iter(of_trunk.call([q]))
    X0 = {0: Transform.identity()} | {i: Transform(next(found), next(found)) for i in trunk}
    step = {i: next(found) for i in trunk}
    result = PosesAndAxes(X0, step, *({k: next(found) for i in trunk for k in model.dofs_of(i)} for _ in "wv"))
    recent.appendleft((ca.SX(q), result))  # a copy, because users may assign to entries of q
    return result


RECENT = 4
"""Number of configurations whose poses are kept for each mechanism: all feet, costs and path constraints of an interval
use those at its stages."""


@kept_per_model
def _last_of_path(model: Model, body: int) -> dict[tuple[float, ...], PosesAndAxes]:
    """The last numbers for which the path of a body was asked, with its poses: all rows of a foot use them."""
    return {}


@kept_per_model
def _recent_of_trunk(model: Model, first: int) -> deque[tuple[ca.SX, PosesAndAxes]]:
    """The last configurations of a body on the ground and all that it carries, with their poses."""
    return deque(maxlen=RECENT)


def all_poses_and_axes(model: Model, q: Expr) -> PosesAndAxes:
    """Poses and columns of all bodies, in one pass."""
    return _poses_and_axes(model, range(1, model.nb + 1), q)


@kept_per_model
def _bodies_beyond(model: Model, first: int) -> tuple[int, ...]:
    """A body on the ground and all that it carries."""
    beyond = {first}
    for i, p in model.edges:
        if p in beyond:
            beyond.add(i)
    return tuple(sorted(beyond))


@kept_per_model
def _of_trunk(model: Model, first: int) -> ca.Function:
    """q -> all entries of a `PosesAndAxes` of a body on the ground and all that it carries, in a model without symbols.

    Kept because expressions need it often. Mechanisms that stand beside each other have one each: a constraint of one
    costs the same, however many others there are.
    """
    return _of_bodies(model, _bodies_beyond(model, first))


@kept_per_model
def of_all_bodies(model: Model) -> ca.Function:
    """q -> all entries of a `PosesAndAxes` of a model without symbols."""
    return _of_bodies(model, range(1, model.nb + 1))


def _of_bodies(model: Model, bodies: Iterable[int]) -> ca.Function:
    return as_function(lambda q: _flat(_poses_and_axes(model, bodies, q)), model.nq)


def _poses_and_axes(model: Model, path: Iterable[int], q: Expr) -> PosesAndAxes:
    states = joint_states(model, q, bodies=path)
    X0 = poses(model, states)
    step: dict[int, Expr] = {}
    w: dict[int, Expr] = {}
    v: dict[int, Expr] = {}
    for i, state in states.items():
        step[i] = X0[model.parent[i]].E.T @ state.XJ.r
        R = X0[i].E.T
        for k, column in zip(model.dofs_of(i), ca.horzsplit(state.S), strict=True):
            Sw, Sv = halves(column)
            w[k], v[k] = R @ Sw, R @ Sv
    return PosesAndAxes(X0, step, w, v)


def _flat(all_bodies: PosesAndAxes) -> list[Expr]:
    X0 = [part for i, X in all_bodies.X0.items() if i for part in (X.E, X.r)]
    return [*X0, *all_bodies.step.values(), *all_bodies.w.values(), *all_bodies.v.values()]


def _of_numbers(model: Model) -> bool:
    return all(isinstance(X.E, DM) and isinstance(X.r, DM) for X in model.X_tree)


@checks_arguments()
def pose(model: Model, frame: Frame | str, q: M | Numbers) -> tuple[M, M]:
    """(R, p): active rotation (3x3) and origin [m] of a frame in the world.

    >>> R, p = od.pose(rod, "tip", [0.0])
    >>> p
    DM([0, 00, -1])
    """
    f = resolve(model, frame)
    X = f.X @ poses_and_axes(model, f.body, q).X0[f.body]
    return as_type(X.E.T, q), as_type(X.r, q)


@checks_arguments()
def point_position(model: Model, frame: Frame | str, q: M | Numbers, point: Vector | Expr = (0.0, 0.0, 0.0)) -> M:
    """World position [m] of a point given in frame coordinates.

    >>> od.point_position(arm, "link2", [np.pi / 2, -np.pi / 2], (0, 0, -0.5))  # the middle of the outer rod
    DM([-1, 00, -0.5])
    """
    f = resolve(model, frame)
    X0 = poses_and_axes(model, f.body, q).X0[f.body]
    return as_type(X0.point(f.X.point(as_point(point))), q)


@checks_arguments()
def point_velocity(
    model: Model, frame: Frame | str, q: M | Numbers, qd: M | Numbers, point: Vector | Expr = (0.0, 0.0, 0.0)
) -> M:
    """World velocity [m/s] of a material point.

    >>> od.point_velocity(rod, "tip", [0.0], [2.0])
    DM([-2, 00, 0])
    """
    return as_type(point_velocity_6d(model, frame, q, qd, point)[3:], q)


@checks_arguments()
def point_velocity_6d(
    model: Model, frame: Frame | str, q: M | Numbers, qd: M | Numbers, point: Vector | Expr = (0.0, 0.0, 0.0)
) -> M:
    """[angular velocity of the body [rad/s]; velocity of the point [m/s]], world axes.

    >>> od.point_velocity_6d(rod, "tip", [0.0], [2.0])
    DM([00, 2, 00, -2, 00, 0])
    """
    f = resolve(model, frame)
    X0, v, _ = body_motion(model, f.body, q, qd)
    w, vo = halves(v)
    R = X0.E.T
    return as_type(ca.vertcat(R @ w, R @ (vo + ca.cross(w, f.X.point(as_point(point))))), q)


@checks_arguments()
def point_acceleration(
    model: Model,
    frame: Frame | str,
    q: M | Numbers,
    qd: M | Numbers,
    qdd: M | Numbers | None = None,
    point: Vector | Expr = (0.0, 0.0, 0.0),
) -> M:
    """True (classical) world acceleration [m/s^2] of a material point; `qdd=None` means qdd = 0.

    >>> od.point_acceleration(rod, "tip", [0.0], [2.0])  # l qd^2 towards the hinge
    DM([0, 00, 4])
    """
    return as_type(point_acceleration_6d(model, frame, q, qd, qdd, point)[3:], q)


@checks_arguments()
def point_acceleration_6d(
    model: Model,
    frame: Frame | str,
    q: M | Numbers,
    qd: M | Numbers,
    qdd: M | Numbers | None = None,
    point: Vector | Expr = (0.0, 0.0, 0.0),
) -> M:
    """[angular acceleration [rad/s^2]; classical acceleration of the point [m/s^2]], world axes.

    >>> od.point_acceleration_6d(rod, "tip", [0.0], [2.0], [1.0])
    DM([00, 1, 00, -1, 00, 4])
    """
    f = resolve(model, frame)
    states = joint_states(model, q, without_drift(model, qd), model.path(f.body))
    R = poses(model, states)[f.body].E.T
    body = classical_accelerations(model, states, model.rest(q) if qdd is None else qdd)[f.body]
    return as_type(ca.vertcat(R @ body.dw, R @ (body.a + body.U @ f.X.point(as_point(point)))), q)


@checks_arguments()
def point_jacobian(model: Model, frame: Frame | str, q: M | Numbers, point: Vector | Expr = (0.0, 0.0, 0.0)) -> M:
    """J (3 x nv): velocity of the point = J qd. Structurally zero outside the supporting path.

    >>> od.point_jacobian(arm, "tip", [0.0, 0.0])  # 2 m and 1 m below the joints
    DM(
    [[-2, -1],
     [00, 00],
     [0, 0]])
    """
    return as_type(point_jacobian_6d(model, frame, q, point)[3:, :], q)


@checks_arguments()
def point_jacobian_6d(model: Model, frame: Frame | str, q: M | Numbers, point: Vector | Expr = (0.0, 0.0, 0.0)) -> M:
    """J (6 x nv): [angular velocity; velocity of the point] = J qd, world axes.

    >>> od.point_jacobian_6d(rod, "tip", [0.0]).T
    DM([[00, 1, 00, -1, 00, 0]])
    """
    f = resolve(model, frame)
    X0, step, w, v = poses_and_axes(model, f.body, q)
    lever = ca.densify(X0[f.body].E.T @ f.X.point(as_point(point)))  # the pattern shows every dof of the path
    path = model.path(f.body)[::-1]
    columns = apply_template(_columns, lever, [(step[i], [(w[k], v[k]) for k in model.dofs_of(i)]) for i in path])
    J: list[Expr] = [DM(6, 1)] * model.nv
    for k, column in zip([k for i in path for k in model.dofs_of(i)], columns, strict=True):
        J[k] = column
    return as_type(ca.horzcat(*J), q)


def _columns(lever: Expr, bodies: list[tuple[Expr, list[tuple[Expr, Expr]]]]) -> list[Expr]:
    """Columns of `point_jacobian_6d` from the tip to the root, from the steps and axes of the bodies on the way."""
    columns = []
    for step, axes in bodies:
        columns += [ca.vertcat(w, v + ca.cross(w, lever)) for w, v in axes]
        lever = lever + step
    return columns


def point_jacobian_magnitudes(
    model: Model, frame: Frame | str, q: M, point: Vector | Expr = (0.0, 0.0, 0.0)
) -> tuple[Expr, Expr]:
    """Sizes of the angular and the linear half of the columns of `point_jacobian_6d` (1 x nv each), before terms
    cancel:
    |w| and |v| + |w| times the length of the way along the bodies from the joint to the point.

    Entries of J round in proportion to these, whether or not they cancel. Sums of absolute values stand for lengths;
    mostly constants, since a revolute joint moves no origin. O(depth).
    """
    f = resolve(model, frame)
    path = model.path(f.body)
    states = joint_states(model, q, bodies=path)
    way = _size(f.X.r) + _size(as_point(point))
    angular: list[Expr] = [DM(1, 1)] * model.nv
    linear: list[Expr] = [DM(1, 1)] * model.nv
    for i in reversed(path):
        for k, s in zip(model.dofs_of(i), ca.horzsplit(states[i].S), strict=True):
            Sw, Sv = halves(s)
            angular[k], linear[k] = _size(Sw), _size(Sv) + _size(Sw) * way
        way = way + _size(states[i].XJ.r)
    return ca.horzcat(*angular), ca.horzcat(*linear)


def _size(x: Expr) -> Expr:
    """The sum of the absolute values of a column."""
    return ca.sum1(ca.fabs(x))


@checks_arguments()
def point_jacobian_dot(
    model: Model, frame: Frame | str, q: M | Numbers, qd: M | Numbers, point: Vector | Expr = (0.0, 0.0, 0.0)
) -> M:
    """dJ/dt (3 x nv) of `point_jacobian` along dq/dt = q_dot(q, qd): acceleration of the point = J qdd + dJ/dt qd.

    >>> od.point_jacobian_dot(rod, "tip", [0.0], [2.0])
    DM([00, 00, 2])
    """
    return as_type(point_jacobian_dot_6d(model, frame, q, qd, point)[3:, :], q)


@checks_arguments()
def point_jacobian_dot_6d(
    model: Model, frame: Frame | str, q: M | Numbers, qd: M | Numbers, point: Vector | Expr = (0.0, 0.0, 0.0)
) -> M:
    """dJ/dt (6 x nv) of `point_jacobian_6d`: [d(omega)/dt; acceleration of the point] = J qdd + dJ/dt qd, world axes.

    A column s of S moves with its body, `ds/dt = v x s + apparent ds/dt`, and the point with velocity u adds
    `omega(s) x u` to the linear half. Structurally zero outside the supporting path. O(depth).

    >>> od.point_jacobian_dot_6d(rod, "tip", [0.0], [2.0]).T
    DM([[00, 00, 00, 00, 00, 2]])
    """
    f = resolve(model, frame)
    path = model.path(f.body)
    states = joint_states(model, q, qd, path)
    positions, rates = model.split_q(q), model.split_qd(qd)
    X0, (v, _) = poses(model, states), velocities(model, states)
    r, (w, vo) = f.X.point(as_point(point)), halves(v[f.body])
    u = X0[f.body].E.T @ (vo + ca.cross(w, r))
    lever = X0[f.body].E.T @ r
    J: list[Expr] = [DM(6, 1)] * model.nv
    for i in reversed(path):
        R = X0[i].E.T
        apparent = subspace_rate(model.joints[i], positions[i], rates[i])
        for k, s, ds in zip(model.dofs_of(i), ca.horzsplit(states[i].S), ca.horzsplit(apparent), strict=True):
            dw, dv = halves(crm(v[i], s) + ds)
            dw = R @ dw
            J[k] = ca.vertcat(dw, R @ dv + ca.cross(dw, lever) + ca.cross(R @ halves(s)[0], u))
        lever = lever + X0[model.parent[i]].E.T @ states[i].XJ.r
    return as_type(ca.horzcat(*J), q)


def resolve(model: Model, frame: Frame | str) -> Frame:
    """The model's frame of that name, or the one that equals the given one or stands for it."""
    if isinstance(frame, str):
        return model.frame(frame)
    if not isinstance(frame, Frame):
        raise TypeError(f"a frame of the model (model.frame(name)) or its name is needed, got {repr_in_message(frame)}")
    found = original = model.frames.get(frame.name)
    while original is not None and original != frame:
        original = original.stands_for
    if found is None or original is None:
        raise ValueError(
            f"{repr_in_message(frame)} belongs to another model than {repr_in_message(model)}: take it from "
            "model.frame(...)"
        )
    return found


def as_point(point: Vector | Expr) -> Expr:
    """Numbers as a structurally sparse column; expressions pass."""
    if isinstance(point, (ca.SX, ca.MX, ca.DM)):
        if point.shape != (3, 1):
            raise ValueError(f"a point must be 3x1, got shape {point.shape}")
        if isinstance(point, ca.DM) and not point.is_regular():
            raise ValueError(f"a point must be three finite numbers, got {repr_in_message(point)}")
        return point
    return sparse_beside(finite_vector(point, 3, "a point"))
