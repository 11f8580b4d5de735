"""Markers and sensors on the bodies of a model, over all frames of a recording at once.

    cost(q) = 1/2 sum over markers of w |p(q) - y|^2 + 1/2 sum over sensors of w |angle between R(q) and R_measured|^2

Its gradient and Gauss-Newton matrix H = J' W J need no Jacobian J of the markers. H is the mass matrix of a mechanism
whose masses are the weights, at the markers, and the gradient is the generalized force of w (p - y) there: composite
inertias [RBDA, sec. 6.2] of the subtrees, a few numbers for each dof, give both. All frames are rows of one array.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.on_arrays import in_place
from ..._base.types import Array, ModelError
from ...codegen import compile as machine_code
from ...dynamics.kinematics import of_all_bodies
from ...mechanism import Model
from ...mechanism.equal_models import kept_per_model


@dataclass(frozen=True)
class Measured:
    """Measured places and orientations, frame by frame, and where they belong on the model.

    bodies (m), points (m, 3): of markers, in coordinates of their bodies. y (N, m, 3): their places [m], weights (N,
    m); 0 where they are missing. turned (s), sensors (s, 3, 3): bodies of sensors and their axes in those of the body;
    R (N, s, 3, 3): measured axes in the world; turn_weights (N, s) [m^2].
    """

    bodies: Any
    points: Array
    y: Array
    weights: Array
    turned: Any
    sensors: Array
    R: Array
    turn_weights: Array

    def frames(self, k: Any) -> Measured:
        """Those of some frames."""
        of_frames = (self.y[k], self.weights[k], self.R[k], self.turn_weights[k])
        y, w, R, t = of_frames
        return Measured(self.bodies, self.points, y, w, self.turned, self.sensors, R, t)


@dataclass(frozen=True)
class Normal:
    """Value (N), gradient (N, nv) and Gauss-Newton matrix (N, nv, nv) of the cost; errors (N, m, 3) of markers and (N,
    s, 3) of sensors, as rotation vectors in world axes."""

    cost: Array
    gradient: Array
    matrix: Array
    errors: Array
    turns: Array


class Placed:
    """A model as functions of many configurations: poses of its bodies, steps, constraints."""

    def __init__(self, model: Model, constraints: Any = (), compiled: bool = False) -> None:
        all_bodies = of_all_bodies(model)
        if all_bodies.has_free():
            raise ModelError(f"model '{model.name}' holds symbols; give it numbers: with_parameters(model, values)")
        self.model, self.nb, self.nv = model, model.nb, model.nv
        functions = [*functions_of(model)]
        if constraints:
            from ...constraints import constraint_jacobian, constraint_position

            q = SX.sym("q", model.nq)
            rows = [constraint_position(model, constraints, q), constraint_jacobian(model, constraints, q)]
            functions.append(ca.Function("rows", [q], [ca.densify(SX(row)) for row in rows], {"cse": True}))
        run: dict[str, Callable[..., Any]] = {f.name(): partial(interpreted, f) for f in functions}
        if compiled:
            code = machine_code(functions, lanes=8, single=False)
            run = {f.name(): code[f.name()] for f in functions}
        self._run = run
        self.dof_body = np.array([i for i, _ in model.edges for _ in model.dofs_of(i)], dtype=int)
        above = np.zeros((model.nb + 1, model.nb + 1), dtype=bool)
        for i, p in model.edges:
            above[:, i] = above[:, p]
            above[i, i] = True
        self.above = above
        """above[i, j]: whether body i is body j, or one that carries it."""
        self.turning = turning_dofs(model)
        self.pairs = above[self.dof_body][:, self.dof_body]

    def bodies(self, q: Array) -> tuple[Array, Array, Array, Array]:
        """(R (N, nb + 1, 3, 3), p (N, nb + 1, 3), w (N, nv, 3), s (N, nv, 3)): poses of bodies, the ground first, and
        velocities [angular; linear at the world's origin] per unit of each dof, world axes."""
        nb, nv, N = self.nb, self.nv, len(q)
        flat = self.flat(q)
        X = flat[:, : 12 * nb].reshape(N, nb, 12)
        R = np.empty((N, nb + 1, 3, 3))
        p = np.zeros((N, nb + 1, 3))
        R[:, 0] = np.eye(3)
        R[:, 1:] = X[..., :9].reshape(N, nb, 3, 3)  # E column by column is R = E' row by row
        p[:, 1:] = X[..., 9:]
        w, v = flat[:, 15 * nb :].reshape(N, 2, nv, 3).swapaxes(0, 1)
        return R, p, w, v - cross(w, p[:, self.dof_body])

    def flat(self, q: Array) -> Array:
        """Numbers (N, 15 nb + 6 nv): R row by row and p of every body, their velocities, w and v of every dof."""
        return np.asarray(self._run["bodies"](q).reshape(len(q), -1))

    def moved(self, q: Array, v: Array) -> Array:
        """Configurations (N, nq) moved by steps (N, nv)."""
        return np.asarray(self._run["moved"](q, v)).reshape(q.shape)

    def without_rows(self) -> Placed:
        """The same without constraints."""
        found = copy(self)
        found._run = {name: run for name, run in self._run.items() if name != "rows"}
        return found

    @property
    def constrained(self) -> bool:
        """Whether there are constraints."""
        return "rows" in self._run

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Errors (N, c) and Jacobians (N, c, nv) of the constraints; c = 0 without any."""
        if not self.constrained:
            return np.zeros((len(q), 0)), np.zeros((len(q), 0, self.nv))
        phi, G = self._run["rows"](q)
        return np.asarray(phi).reshape(len(q), -1), np.asarray(G).reshape(len(q), -1, self.nv)

    def normal(self, q: Array, measured: Measured) -> Normal:
        """The cost and its derivatives at configurations (N, nq). Cost: O(N (m + nv) nb), without any Jacobian."""
        R, p, w, s = self.bodies(q)
        P, e, t, cost = self._misfit(R, p, measured)
        W, T = measured.weights[..., None], measured.turn_weights[..., None]
        # moments of the weights of each subtree, at every dof: mass, first moments, second moments, and forces
        squares = P[..., [0, 1, 2, 0, 0, 1]] * P[..., [0, 1, 2, 1, 2, 2]]
        force = W * e
        parts = np.concatenate([W, W * P, W * squares, cross(P, force), force], axis=2)
        carried = self.above[self.dof_body][:, measured.bodies].astype(float)
        sums = np.matmul(carried, parts)
        m, h, Q, n, f = np.split(sums, [1, 4, 10, 13], axis=2)
        spin = np.zeros_like(m)
        if measured.turned.size:
            under = self.above[self.dof_body][:, measured.turned].astype(float)
            turning = np.matmul(under, np.concatenate([T, T * t], axis=2))
            spin, n = turning[..., :1], n + turning[..., 1:]
        gradient = np.sum(w * n + s * f, axis=2)
        momentum = m * s + cross(w, h)
        moment = cross(h, s) + (Q[..., :3].sum(axis=2, keepdims=True) + spin) * w - _symmetric(Q, w)
        products = np.matmul(np.concatenate([w, s], axis=2), np.concatenate([moment, momentum], axis=2).swapaxes(1, 2))
        upper = np.where(self.pairs, products, 0.0)
        matrix = np.where(self.pairs, upper, upper.swapaxes(1, 2))
        return Normal(cost, gradient, matrix, e, t)

    def errors(self, q: Array, measured: Measured) -> tuple[Array, Array, Array]:
        """(cost (N), errors of markers (N, m, 3) and of sensors (N, s, 3)) at configurations: those of `normal`."""
        R, p, _, _ = self.bodies(q)
        _, e, t, cost = self._misfit(R, p, measured)
        return cost, e, t

    def _misfit(self, R: Array, p: Array, measured: Measured) -> tuple[Array, Array, Array, Array]:
        """Places of markers, errors of markers and sensors, and the cost."""
        P = self.markers(R, p, measured)
        W, T = measured.weights[..., None], measured.turn_weights[..., None]
        e = np.where(W > 0, P - measured.y, 0.0)
        t = self._turns(R, measured)
        return P, e, t, 0.5 * (np.sum(W * e * e, axis=(1, 2)) + np.sum(T * t * t, axis=(1, 2)))

    @staticmethod
    def markers(R: Array, p: Array, measured: Measured) -> Array:
        """Places (N, m, 3) of the markers on bodies at given poses."""
        found = p[:, measured.bodies]
        for axis in range(3):
            found += R[..., axis][:, measured.bodies] * measured.points[:, axis, None]
        return found

    def _turns(self, R: Array, measured: Measured) -> Array:
        """Rotation vectors (N, s, 3) from the measured axes of sensors to those on the bodies, world axes."""
        if not measured.turned.size:
            return np.zeros((len(R), 0, 3))
        off = np.matmul(np.matmul(R[:, measured.turned], measured.sensors), measured.R.swapaxes(2, 3))
        return np.where(measured.turn_weights[..., None] > 0, rotation_vectors(off), 0.0)


def interpreted(f: ca.Function, *arguments: Array) -> Any:
    """Outputs of a Function of dense inputs and outputs for many states, in CasADi's virtual machine: arrays (N, n) in,
    (N, n) out; (N, r, c) for matrices."""
    given = [np.ascontiguousarray(a, dtype=float) for a in arguments]
    N = len(given[0])
    one = [np.zeros(f.numel_in(k)) for k in range(f.n_in())]
    out = [np.zeros(f.numel_out(k)) for k in range(f.n_out())]
    evaluate = in_place(f, one, out)
    found: list[Any] = [np.empty((N, x.size)) for x in out]
    for n in range(N):
        for x, rows in zip(one, given, strict=True):
            x[:] = rows[n]
        evaluate()
        for x, rows in zip(out, found, strict=True):
            rows[n] = x
    for k, flat in enumerate(found):
        height, width = f.size_out(k)
        if width != 1:
            found[k] = flat.reshape(N, width, height).swapaxes(1, 2)
    return found[0] if len(found) == 1 else found


@kept_per_model
def functions_of(model: Model) -> tuple[ca.Function, ca.Function]:
    """q -> all poses and axes in one column, and (q, v) -> q moved by v."""
    q, v = SX.sym("q", model.nq), SX.sym("v", model.nv)
    parts = [ca.densify(part) for part in of_all_bodies(model).call([q])]
    return (
        ca.Function("bodies", [q], [ca.vertcat(*map(ca.vec, parts))], {"cse": True}),
        ca.Function("moved", [q, v], [ca.densify(model.integrate(q, v))], {"cse": True}),
    )


def turning_dofs(model: Model) -> Any:
    """Whether each dof (nv) is an angle: its body turns about as fast as it changes, in the neutral configuration.

    A parameter that moves and turns its body by other functions of it is none: OpenSim writes it as it is, not in
    degrees. A knee that also turns a little about other axes is one.
    """
    parts = of_all_bodies(model).call([ca.DM(np.array(model.neutral()).ravel())])
    w = [np.array(ca.DM(x).full()).ravel() for x in parts[3 * model.nb : 3 * model.nb + model.nv]]
    return np.abs(np.linalg.norm(np.array(w).reshape(-1, 3), axis=1) - 1) < 0.2


def rotation_vectors(R: Array) -> Array:
    """Rotation vectors (..., 3) of rotation matrices (..., 3, 3), of at most half a turn."""
    axis = np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    sine = np.linalg.norm(axis, axis=-1, keepdims=True) / 2
    cosine = (np.trace(R, axis1=-2, axis2=-1)[..., None] - 1) / 2
    angle = np.arctan2(sine, cosine)
    small = sine < 1e-7
    found = np.where(small, 0.5, angle / np.where(small, 1.0, 2 * sine)) * axis
    turned = (small & (cosine < 0))[..., 0]
    if turned.any():  # half a turn: the axis is in the symmetric part, R = 2 a a' - 1
        S = (R[turned] + np.eye(3)) / 2
        k = np.argmax(np.diagonal(S, axis1=-2, axis2=-1), axis=-1)
        a = np.take_along_axis(S, k[:, None, None], axis=2)[..., 0]
        found[turned] = np.pi * a / np.linalg.norm(a, axis=-1, keepdims=True)
    return np.asarray(found)


def cross(a: Array, b: Array) -> Array:
    """a x b along the last axis; numpy's own takes three times as long."""
    x = np.empty(np.broadcast_shapes(a.shape, b.shape))
    x[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    x[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    x[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return x


def _symmetric(Q: Array, w: Array) -> Array:
    """Products with symmetric matrices of entries xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = np.moveaxis(Q, -1, 0)
    x, y, z = np.moveaxis(w, -1, 0)
    return np.stack([xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z], axis=-1)
