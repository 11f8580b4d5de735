"""Whole-body inverse dynamics: accelerations, contact forces and torques of one instant by a quadratic program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from .._base.on_arrays import in_place
from .._base.types import Array
from .bodies import Body, Foot, Seen

FRICTION = 0.35
"""Share of the normal force that a tangential force may have along each of two axes; along a diagonal it is 0.49, so
that the forces hold on a ground with the coefficient 0.5."""

CONE = np.array([(1.0, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1)])
CONE_UP = np.outer([1.0, 1, 1, 1, 0], [0, 0, 1])
"""CONE + mu CONE_UP: rows that are not negative for a force in the pyramid."""

NONE, LEAST = 1e20, 1e-6
"""A bound that is none; weight of accelerations that no task asks for."""

LOOSE = 0.05
"""Violation of a row [N m, shares of the weight] above which a solution is none."""

VIOLENT = 300.0
"""Acceleration of a joint [rad/s^2] that no limit of a joint is worth: feet would leave the ground."""

DAMPED = 0.1
"""Damping of the joints when there is no solution [strengths s/rad]."""


@dataclass(frozen=True)
class TaskWeights:
    """Weights of the tasks: squares of accelerations [1/(rad/s^2)^2, 1/(m/s^2)^2], and of forces over the weight.

    contact: no acceleration of feet that stand; swing: of feet that do not, pitch: that of their soles, so that the
    heel lifts before the ankle ends at its limit and the knee of the other leg pays for it; linear, vertical: of the
    center of mass, which goes first; tilt, turn: of the body; posture: of the joints; force: of each force over the
    weight.

    >>> od.control.TaskWeights().contact
    100.0
    """

    contact: float = 100.0
    swing: float = 2.0
    pitch: float = 0.2
    linear: float = 50.0
    vertical: float = 50.0
    tilt: float = 2.0
    turn: float = 1.0
    posture: float = 0.02
    force: float = 1e-3


class Wanted(NamedTuple):
    """Accelerations that the tasks want: center of mass (3) [m/s^2], base (3) [rad/s^2, its own axes], rows of every
    foot (feet, 6), joints (n - 6). standing: share of its sole on which every foot stands, 0 for those in the air.

    >>> still = np.zeros(3), np.zeros(3), np.zeros((2, 6)), np.zeros(23)
    >>> od.control.Wanted(*still, standing=np.ones(2)).standing.all()
    np.True_
    """

    linear: Array
    angular: Array
    feet: Array
    joints: Array
    standing: Array


class Found(NamedTuple):
    """Torques (n), accelerations (n), forces of the ground at the corners of every foot (feet, corners, 3) [N], and
    whether the program was solved.

    >>> nothing = np.zeros(29)
    >>> od.control.Found(nothing, nothing, np.zeros((2, 4, 3)), solved=False).solved
    False
    """

    tau: Array
    qdd: Array
    forces: Array
    solved: bool


@dataclass(eq=False)
class WholeBody:
    """The quadratic program of a body,

        min  sum_i w_i |A_i qdd - b_i|^2 + w_f |f|^2
        s.t. rows of the root:  H qdd + C = passive + G' f,
             |f_x|, |f_y| <= mu f_z,  f_z >= 0,
             tau_min <= H qdd + C - passive - G' f <= tau_max,

    in the accelerations and the forces of the feet that stand; contacts are tasks of great weight, so that the program
    always has a solution. Joint limits bound the accelerations of the joints, see `horizon`, unless no torque can keep
    a joint within them.

    friction: mu. horizon [s]: time within which a joint must be able to stop before its limit.

    [Herzog 2016] A. Herzog et al., Momentum control with hierarchical inverse dynamics on a torque-controlled humanoid,
    Autonomous Robots 40.

    >>> human = od.control.body("human")
    >>> still = np.zeros(human.model.nv)
    >>> wanted = od.control.Wanted(np.zeros(3), np.zeros(3), np.zeros((2, 6)), np.zeros(23), np.ones(2))
    >>> found = od.control.WholeBody(human)(human.posture, still, human.see(human.posture, still), wanted)
    >>> round(found.forces[:, :, 2].sum() / human.model.weight, 2)
    np.float64(1.0)
    """

    body: Body
    weights: TaskWeights = TaskWeights()
    friction: float = FRICTION
    horizon: float = 0.1
    solvers: dict[tuple[int, int], Any] = field(default_factory=dict)

    def __call__(self, q: Array, qd: Array, seen: Seen, wanted: Wanted) -> Found:
        body, n = self.body, self.body.model.nv
        feet = [k for k in range(len(body.feet)) if wanted.standing[k]]
        J = np.vstack([np.zeros((0, n)), *(_corner_rows(body, seen, k, wanted.standing[k]) for k in feet)])
        scale, size = body.model.weight, J.shape[0]
        motion = np.hstack([seen.H, -scale * J.T])  # tau = motion z + rest
        rest = seen.bias - seen.passive
        P, g = self._tasks(seen, wanted, n + size)
        cones = size // 3 * len(CONE)
        rows = np.zeros((n + cones, n + size))
        rows[:n] = motion
        for k in range(size // 3):
            rows[n + len(CONE) * k :, n + 3 * k : n + 3 * k + 3][: len(CONE)] = CONE + self.friction * CONE_UP
        lower = np.concatenate([-body.strength - rest, np.zeros(cones)])
        upper = np.concatenate([body.strength - rest, np.full(cones, NONE)])
        z, solved = self._solve(P, g, rows, lower, upper, self._joint_bounds(q, qd, n + size))
        if not solved or np.abs(z[6:n]).max() > VIOLENT:  # no torque stops a joint in time: MuJoCo's stop will
            free = np.full(n + size, NONE)
            z, solved = self._solve(P, g, rows, lower, upper, (-free, free))
        if not solved:
            return self._damped(qd)
        forces = np.zeros((len(body.feet), len(body.feet[0].corners), 3))
        forces[feet] = scale * z[n:].reshape(len(feet), *forces.shape[1:])
        tau = motion @ z + rest
        tau[:6] = 0.0
        return Found(np.clip(tau, -body.strength, body.strength), z[:n], forces, solved)

    def _damped(self, qd: Array) -> Found:
        """Torques that slow the joints down: what acts when there is no solution."""
        body, n = self.body, self.body.model.nv
        known = np.where(np.isfinite(body.strength), body.strength, 0.0)
        tau = np.clip(np.nan_to_num(-DAMPED * known * qd), -known, known)
        return Found(tau, np.zeros(n), np.zeros((len(body.feet), len(body.feet[0].corners), 3)), False)

    def _tasks(self, seen: Seen, wanted: Wanted, total: int) -> tuple[Array, Array]:
        """P (total, total) and g (total) of all tasks, 1/2 z' P z + g' z."""
        body, w, n = self.body, self.weights, self.body.model.nv
        gravity = body.mass * np.asarray(body.model.gravity, dtype=float)
        # the first rows of the equations of motion are the rate of the linear momentum, but for gravity
        linear, drift = seen.H[:3] / body.mass, (seen.bias[:3] + gravity) / body.mass
        tasks = [(linear, wanted.linear - drift, np.array([w.linear, w.linear, w.vertical]))]
        for k, foot in enumerate(body.feet):
            share = wanted.standing[k]
            part, G, gamma = _held(foot, seen.R[k]), seen.G[k].copy(), seen.gamma[k].copy()
            weight = np.full(len(part), w.contact if share else w.swing)
            tilts = slice(0, max(len(part) - 4, 0))  # about the axes along and across the sole
            if share:
                weight[tilts] *= share**2
            elif foot.flat:
                weight[tilts.stop - 1] = w.pitch
            if share and not foot.flat:  # a ball that rolls without slip
                arm = _cross(np.array([0.0, 0.0, -foot.radius]))
                G[3:] -= arm @ G[:3]
                gamma[3:] -= arm @ gamma[:3]
            tasks.append((part @ G, part @ (wanted.feet[k] + gamma), weight))
        A, b, weights = (np.concatenate(parts) for parts in zip(*tasks, strict=True))
        P, g = np.zeros((total, total)), np.zeros(total)
        P[:n, :n], g[:n] = (A.T * weights) @ A, -A.T @ (weights * b)
        own = np.array([w.tilt, w.tilt, w.turn, *np.full(n - 6, w.posture)])  # accelerations that are unknowns
        g[3:n] -= own * np.concatenate([wanted.angular, wanted.joints])
        P[np.arange(total), np.arange(total)] += np.concatenate([np.zeros(3), own, np.full(total - n, w.force)])
        P[np.arange(n), np.arange(n)] += LEAST
        return P, g

    def _joint_bounds(self, q: Array, qd: Array, total: int) -> tuple[Array, Array]:
        """Bounds of z: accelerations with which the joints stay within their limits."""
        lower, upper = np.full(total, -NONE), np.full(total, NONE)
        if self.body.limits:
            (least, most), h, n = self.body.reach, self.horizon, self.body.model.nv
            upper[6:n] = np.clip(2 * (most - q[7:] - h * qd[6:]) / h**2, -500.0, NONE)
            lower[6:n] = -np.clip(2 * (q[7:] - least + h * qd[6:]) / h**2, -500.0, NONE)
            crossed = lower > upper
            lower[crossed] = upper[crossed] = 0.0
        return lower, upper

    def _solve(self, P: Array, g: Array, A: Array, lower: Array, upper: Array, bounds: Any) -> tuple[Array, bool]:
        lower, upper = np.maximum(lower, -NONE), np.minimum(upper, NONE)
        if not (np.all(np.isfinite(P)) and np.all(np.isfinite(A)) and np.all(lower <= upper)):
            return np.zeros(P.shape[0]), False
        shape = P.shape[0], A.shape[0]
        if shape not in self.solvers:
            self.solvers[shape] = _Quadratic(*shape)
        z = self.solvers[shape](P, g, A, lower, upper, *bounds)
        held = A @ z
        off = float(np.maximum(lower - held, held - upper).max())
        return z, bool(np.all(np.isfinite(z))) and off < LOOSE


class _Quadratic:
    """min 1/2 z' P z + g' z, lower <= A z <= upper, low <= z <= high, by DAQP [Arnstrom 2022, IEEE Trans. Autom.
    Control 67], with arrays of its own in place of matrices of CasADi."""

    def __init__(self, n: int, m: int) -> None:
        patterns = {"h": ca.Sparsity.dense(n, n), "a": ca.Sparsity.dense(m, n)}
        solver = ca.conic("whole_body", "daqp", patterns, {"error_on_fail": False})
        self.given = [np.zeros(x) for x in ((n, n), n, (n, m), m, m, n, n)]  # A by columns
        self.z = np.zeros(n)
        self.evaluate = in_place(solver, self.given, [self.z])

    def __call__(self, P: Array, g: Array, A: Array, *bounds: Array) -> Array:
        for place, x in zip(self.given, (P, g, A.T, *bounds), strict=True):
            place[...] = x
        self.evaluate()
        return self.z.copy()


def _corner_rows(body: Body, seen: Seen, k: int, share: float) -> Array:
    """Jacobians (3 corners, n) of the points of foot k at which the ground acts, corners of a share of the sole: the
    lowest point of a ball."""
    foot = body.feet[k]
    angular, linear = seen.G[k, :3], seen.G[k, 3:]
    up = np.array([0.0, 0.0, foot.radius])  # the lowest points of a ball or a capsule lie below its axis
    arms = (share * foot.corners + (foot.flat * up)) @ seen.R[k].T - up
    return np.vstack([linear - _cross(arm) @ angular for arm in arms])


def _held(foot: Foot, R: Array) -> Array:
    """Rows of [angular; linear] that the ground holds: all of a sole, about its own axes; not the tilt about a line,
    nor about a point."""
    linear = np.hstack([np.zeros((3, 3)), np.eye(3)])
    first = 0 if foot.half_width else 1 if foot.flat else 3
    return np.vstack([np.hstack([R.T[first:], np.zeros((3 - first, 3))]), linear])


def _cross(r: Array) -> Array:
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
