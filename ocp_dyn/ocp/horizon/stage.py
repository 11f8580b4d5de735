"""One stage of the quadratic program of a horizon, by inverse dynamics: accelerations and contact forces are controls.

    H(q) qdd + C(q, qd) = [0; tau] + sum_i J_i' w_i,      contact i:  J_i qdd + dJ_i/dt qd + damping v_i + ... = 0

The state is (q, qd), the control (qdd, w), so the motion is a double integrator, and the torques are rows
(S. Katayama & T. Ohtsuka, Efficient solution method based on inverse dynamics for optimal control problems of rigid
body systems, ICRA 2021). Derivatives by q are along the tangent, from `od.inverse_dynamics_derivatives`. With wrenches
that act on points of the robot, moments about the world origin change as the points move; that adds, per foot,

    J_a' [f]x J_l  (fixed world axes);   + J_a' [m]x J_a + J_l' [f]x J_a  (axes that turn with the foot).

Everything is linear about (q, qd, qdd, w): increments z = (dq, dqd, dqdd, dw). Rows of contacts that are open set their
forces to zero, so that the sizes of the program never change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import SX

from ...derivatives.first import inverse_dynamics_derivatives
from ...dynamics.kinematics import (
    point_acceleration_6d,
    point_jacobian_6d,
    point_position,
    point_velocity_6d,
    pose,
)
from ...dynamics.rnea_crba_aba import inverse_dynamics
from ...mechanism.loads import Loads
from ...spatial_algebra.spatial import skew
from ..statement.instant import Instant
from .feet import FLAT, POINT, Body, cone_rows

ABSENT = 1e20
"""Bound, or price, that is not there."""

OUTPUTS = ("d", "g", "C", "c", "w", "lower", "upper", "price", "E", "e", "zlower", "zupper", "zprice")
"""Outputs of the function of a stage; C and E are transposed, so that their rows lie one after the other."""


class Rows(NamedTuple):
    """Rows C z + c: their weights, bounds and prices."""

    C: SX
    c: SX
    w: SX
    lower: SX
    upper: SX
    price: SX

    @staticmethod
    def stacked(rows: Sequence[Rows]) -> Rows:
        return Rows(*(ca.vertcat(*part) for part in zip(*rows, strict=True)))


class State(NamedTuple):
    """Symbols of a stage, and the tangent map dq/d(delta) at q."""

    body: Body
    q: SX
    qd: SX
    qdd: SX
    force: SX
    p: dict[str, SX]
    tangent: SX

    def linear(self, expression: SX) -> SX:
        """Derivatives of an expression by z (rows, nz)."""
        by_q = ca.jacobian(expression, self.q) @ self.tangent
        rest = (ca.jacobian(expression, x) for x in (self.qd, self.qdd, self.force))
        return ca.horzcat(by_q, *rest)

    def forces(self, i: int) -> SX:
        begin = self.body.begins[i]
        return self.force[begin : begin + self.body.feet[i].size]


class Kinematics(NamedTuple):
    """A foot: Jacobian, velocity and acceleration [angular; linear], place, axes of its forces."""

    J: SX
    v: SX
    a: SX
    place: SX
    R: SX
    axes: SX


def state_of(body: Body) -> State:
    """Symbols of a stage."""
    model = body.model
    q, qd, qdd = SX.sym("q", model.nq), SX.sym("qd", body.nv), SX.sym("qdd", body.nv)
    force, p = SX.sym("force", body.nf), SX.sym("p", body.node.size)
    delta = SX.sym("delta", body.nv)
    tangent = ca.substitute(ca.jacobian(model.integrate(q, delta), delta), delta, SX.zeros(body.nv))
    return State(body, q, qd, qdd, force, body.node.split(p) | {"": p}, ca.sparsify(tangent))


def stage(body: Body, loads: Loads, constraints: Sequence[Any], costs: Sequence[Callable[[Any], Any]]) -> ca.Function:
    """stage(q, qd, qdd, force, p) -> OUTPUTS: costs and rows of one stage, linear about these values."""
    at = state_of(body)
    feet = [_kinematics(at, i) for i in range(len(body.feet))]
    tau, by_z = _torques(at, feet, loads)
    E = ca.vertcat(by_z[:6, :], *(_contact(at, i, foot)[0] for i, foot in enumerate(feet)))
    e = ca.vertcat(tau[:6], *(_contact(at, i, foot)[1] for i, foot in enumerate(feet)))
    rows = [_torque_rows(at, tau[6:], by_z[6:, :])]
    rows += [_cone(at, i) for i in range(len(feet))]
    rows += [_swing(at, i, foot) for i, foot in enumerate(feet)]
    rows += _own_rows(at, tau, constraints, costs)
    C, c, w, lower, upper, price = Rows.stacked(rows)
    d, g = _diagonal(at)
    bounds = _bounds(at)
    outputs = [d, g, ca.sparsify(C).T, c, w, lower, upper, price, ca.sparsify(E).T, e, *bounds]
    outputs = [x if name in "CE" else ca.densify(x) for name, x in zip(OUTPUTS, outputs, strict=True)]
    names = ["q", "qd", "qdd", "force", "p"]
    return ca.Function("stage", [at.q, at.qd, at.qdd, at.force, at.p[""]], outputs, names, list(OUTPUTS), {"cse": True})


def _kinematics(at: State, i: int) -> Kinematics:
    model, foot = at.body.model, at.body.feet[i]
    R, _ = pose(model, foot.frame, at.q)
    axes = R if foot.size == FLAT else _axes(at.p["normal"][i, :].T)
    where = foot.frame, at.q
    return Kinematics(
        point_jacobian_6d(model, *where, foot.point),
        point_velocity_6d(model, *where, at.qd, foot.point),
        point_acceleration_6d(model, *where, at.qd, at.qdd, foot.point),
        ca.densify(point_position(model, *where, foot.point)),
        R,
        axes,
    )


def _axes(normal: SX) -> SX:
    """Axes of a plane (columns, the last one its normal): those of the world, turned the shortest way."""
    x, y, z = ca.vertsplit(normal)
    f = 1 / (1 + z)
    return ca.vertcat(
        ca.horzcat(1 - x * x * f, -x * y * f, x),
        ca.horzcat(-x * y * f, 1 - y * y * f, y),
        ca.horzcat(-x, -y, z),
    )


def _torques(at: State, feet: Sequence[Kinematics], loads: Loads) -> tuple[SX, SX]:
    """tau (nv) and its derivatives by z: inverse dynamics with the forces of the feet."""
    body, wrenches, more, by_force = at.body, [], SX(at.body.nv, at.body.nv), []
    for i, (foot, k) in enumerate(zip(body.feet, feet, strict=True)):
        angular, linear = k.J[:3, :], k.J[3:, :]
        if foot.size == POINT:
            m, f = SX(3, 1), k.axes @ at.forces(i)
            by_force.append(-linear.T @ k.axes)
        else:
            m, f = k.axes @ at.forces(i)[:3], k.axes @ at.forces(i)[3:]
            by_force += [-angular.T @ k.axes, -linear.T @ k.axes]
            more += angular.T @ (skew(m) @ angular) + linear.T @ (skew(f) @ angular)
        more += angular.T @ (skew(f) @ linear)
        wrenches.append(ca.vertcat(m + ca.cross(k.place, f), f))
    f_ext = ca.horzcat(*wrenches)
    at_feet = Loads(loads.passive, loads.armature, tuple(f.frame for f in body.feet), loads.slip_speed)
    tau = inverse_dynamics(body.model, at.q, at.qd, at.qdd, f_ext, loads=at_feet)
    dq, dqd, H = inverse_dynamics_derivatives(body.model, at.q, at.qd, at.qdd, f_ext, loads=at_feet)
    return ca.densify(tau), ca.horzcat(dq + more, dqd, H, *by_force)


def _contact(at: State, i: int, k: Kinematics) -> tuple[SX, SX]:
    """Rows of the contact of a foot, (E, e): its acceleration brings it to rest on its plane; open: forces are zero."""
    foot, on, p = at.body.feet[i], at.p["contact"][i], at.p
    normal = p["normal"][i, :].T
    height = ca.dot(normal, k.place - p["hold"][i, :].T)
    linear = k.a[3:] + p["damping"] * k.v[3:] + p["stiffness"] * height * normal
    rows = linear
    if foot.size == FLAT:
        tilt = ca.cross(normal, k.R[:, 2])
        rows = ca.vertcat(k.a[:3] + p["damping"] * k.v[:3] + p["stiffness"] * tilt, linear)
    scale = 1.0 / at.body.model.mass
    open_ = scale * ca.jacobian(at.forces(i), at.force)
    E = on * at.linear(rows) + (1 - on) * ca.horzcat(SX(foot.size, 3 * at.body.nv), open_)
    return E, on * rows + (1 - on) * scale * at.forces(i)


def _torque_rows(at: State, tau: SX, by_z: SX) -> Rows:
    nj, p = at.body.nj, at.p
    low, high = (np.asarray(x)[6:] for x in (at.body.model.dofs.tau_min, at.body.model.dofs.tau_max))
    lower, upper = (_absent_at_end(p, p["torque_share"] * _finite(x)) for x in (low, high))
    return Rows(by_z, tau, p["tau"], lower, upper, ca.repmat(p["torque_price"], nj))


def _finite(limits: Any) -> SX:
    return SX(np.clip(np.nan_to_num(limits, posinf=ABSENT, neginf=-ABSENT), -ABSENT, ABSENT))


def _absent_at_end(p: dict[str, SX], bound: SX) -> SX:
    """The bound, which the last node does not have."""
    return ca.if_else(p["last"] > 0.5, ABSENT * ca.sign(bound), bound)


def _cone(at: State, i: int) -> Rows:
    """Friction pyramid, yaw moment and center of pressure while the foot is on the ground."""
    foot, p = at.body.feet[i], at.p
    D = cone_rows(foot, p["mu"], p["mu_yaw"])
    n, begin = D.shape[0], 3 * at.body.nv + at.body.begins[i]
    C = ca.horzcat(SX(n, begin), D, SX(n, 3 * at.body.nv + at.body.nf - begin - foot.size))
    lower = ca.if_else(ca.logic_and(p["contact"][i] > 0.5, p["last"] < 0.5), 0.0, -ABSENT)
    return Rows(
        C, D @ at.forces(i), SX.zeros(n), ca.repmat(lower, n), SX.ones(n) * ABSENT, ca.repmat(p["cone_price"], n)
    )


def _swing(at: State, i: int, k: Kinematics) -> Rows:
    """Rows v - v_ref + gain (p - p_ref) of a swinging foot; of a flat one also those of its orientation."""
    foot, p = at.body.feet[i], at.p
    error = k.v[3:] - p["speed"][i, :].T + p["foot_gain"] * (k.place - p["place"][i, :].T)
    w = p["swing"][i] * ca.vertcat(p["foot_xy"], p["foot_xy"], p["foot_z"])
    if foot.size == FLAT:
        level, c, s = _axes(p["normal"][i, :].T), ca.cos(p["yaw"][i]), ca.sin(p["yaw"][i])
        heading = ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))
        D = k.R @ (level @ heading).T
        turned = ca.vertcat(D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]) / 2
        spin = p["yaw_rate"][i] * p["normal"][i, :].T
        error = ca.vertcat(error, k.v[:3] - spin + p["foot_gain"] * turned)
        w = ca.vertcat(w, p["swing"][i] * ca.repmat(p["foot_turn"], 3))
    return free_rows(at.linear(error), error, w)


def free_rows(C: SX, c: SX, w: SX) -> Rows:
    """Rows with weights and no bounds."""
    n = c.shape[0]
    return Rows(C, c, w, -ABSENT * SX.ones(n), ABSENT * SX.ones(n), ABSENT * SX.ones(n))


def _own_rows(at: State, tau: SX, constraints: Sequence[Any], costs: Sequence[Callable[[Any], Any]]) -> list[Rows]:
    """Rows of the user: path constraints at the price of joint limits, and residuals whose squares are costs."""
    instant = Instant(at.body.model, at.q, at.qd, qdd=at.qdd, tau=ca.vertcat(SX.zeros(6), tau[6:]))
    rows = []
    for constraint in constraints:
        value, lower, upper = constraint.rows(instant)
        value = ca.densify(SX(value))
        n = value.shape[0]
        low, high = (ca.densify(SX(x)) for x in (_finite(lower), _finite(upper)))
        low, high = (ca.repmat(x, n // x.shape[0]) for x in (low, high))
        rows.append(Rows(at.linear(value), value, SX.zeros(n), low, high, ca.repmat(at.p["joint_price"], n)))
    for cost in costs:
        value = ca.densify(ca.vec(SX(cost(instant))))
        rows.append(free_rows(at.linear(value), value, ca.repmat(at.p["h"], value.shape[0])))
    return rows


def _diagonal(at: State) -> tuple[SX, SX]:
    """(d, g): the costs of the state, accelerations and forces, which are diagonal."""
    p = at.p
    error = ca.vertcat(
        at.body.model.difference(p["q_ref"], at.q), at.qd - p["qd_ref"], at.qdd, at.force - p["force_ref"]
    )
    d = ca.vertcat(p["q"], p["qd"], p["qdd"], p["force"])
    return d, d * error


def _bounds(at: State) -> tuple[SX, SX, SX]:
    """Bounds of z, and their prices: limits of joints and speeds; normal forces push."""
    body, p, dofs = at.body, at.p, at.body.model.dofs
    low, high = (_finite(np.asarray(x)) for x in (dofs.q_lower, dofs.q_upper))
    free = ABSENT * SX.ones(6)
    q = at.q[7:]
    lower_q, upper_q = ca.vertcat(-free, _from(low[-body.nj :], q)), ca.vertcat(free, _from(high[-body.nj :], q))
    speed = _finite(np.asarray(dofs.qd_max))[6:]
    lower_v = ca.vertcat(-free, _from(-speed, at.qd[6:], p["speed_share"]))
    upper_v = ca.vertcat(free, _from(speed, at.qd[6:], p["speed_share"]))
    lower_f = []
    for i, foot in enumerate(body.feet):
        push = ca.if_else(ca.logic_and(p["contact"][i] > 0.5, p["last"] < 0.5), -at.forces(i)[-1], -ABSENT)
        lower_f.append(ca.vertcat(-ABSENT * SX.ones(foot.size - 1), push))
    nothing = ABSENT * SX.ones(body.nv)
    price = ca.vertcat(
        ca.repmat(p["joint_price"], body.nv), ca.repmat(p["speed_price"], body.nv), nothing,
        ca.repmat(p["cone_price"], body.nf),
    )  # fmt: skip
    zlower = ca.vertcat(lower_q, lower_v, -nothing, *lower_f)
    return zlower, ca.vertcat(upper_q, upper_v, nothing, ABSENT * SX.ones(body.nf)), price


def _from(limits: SX, values: SX, share: Any = 1.0) -> SX:
    """Distances from values to limits; limits that are not there stay so."""
    distance = share * limits - values
    return ca.vertcat(*(limits[k] if abs(float(limits[k])) >= ABSENT else distance[k] for k in range(limits.shape[0])))


def motion(body: Body) -> tuple[ca.Function, ca.Function, ca.Function]:
    """defect(q, qd, qdd, h, q_next, qd_next) -> b, move(q, qd, dz) -> (q', qd'), error(q0, qd0, q1, qd1) -> x1 - x0."""
    model, nv = body.model, body.nv
    q, q1 = SX.sym("q", model.nq), SX.sym("q_next", model.nq)
    qd, qd1, qdd, h = SX.sym("qd", nv), SX.sym("qd_next", nv), SX.sym("qdd", nv), SX.sym("h")
    moved = model.integrate(q, h * qd + h * h / 2 * qdd)
    b = ca.vertcat(model.difference(q1, moved), qd + h * qdd - qd1)
    names = ["q", "qd", "qdd", "h", "q_next", "qd_next"]
    defect = ca.Function("defect", [q, qd, qdd, h, q1, qd1], [b], names, ["b"], {"cse": True})
    dx = SX.sym("dx", 2 * nv)
    move = ca.Function(
        "move", [q, qd, dx], [model.integrate(q, dx[:nv]), qd + dx[nv:]], ["q", "qd", "dx"], ["q_next", "qd_next"]
    )
    error = ca.Function(
        "error", [q, qd, q1, qd1], [ca.vertcat(model.difference(q, q1), qd1 - qd)], ["q", "qd", "q_next", "qd_next"],
        ["dx"],
    )  # fmt: skip
    return defect, move, error
