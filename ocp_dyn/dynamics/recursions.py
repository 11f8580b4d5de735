"""Passes over the tree of bodies, outward and inward, of which RNEA, CRBA, ABA and the other algorithms are made.

| pass | recursion [RBDA, ch. 4-7] | function |
|---|---|---|
| outward | X0[i] = X[i] X0[p] | `poses` |
| outward | v[i] = X[i] v[p] + vJ[i] | `velocities` |
| outward | a[i] = X[i] a[p] + S[i] qdd[i] + cJ[i] + v[i] x vJ[i] | `accelerations` |
| outward | classical accelerations of the bodies' origins instead of a[i] | `classical_accelerations` |
| inward | F[i] = f[i] + sum of X[j]' F[j] | `composite_forces` |
| inward | Ic[i] = I[i] + sum of X[j]' Ic[j] X[j] | `composite` |
| inward | IA[i] = I[i] + sum of X[j]' (IA[j] - U D^-1 U') X[j], U = IA S, D = S' U | `articulated_bodies` |

RNEA [RBDA, table 5.1] is `classical_accelerations` and `composite_forces`; CRBA [table 6.2] is `composite`; ABA
[table 7.1] is `velocity_products`, `articulated_bodies` and `ArticulatedBodies.accelerations`: see `rnea_crba_aba`.

p is the parent of body i, the book's lambda(i); j are the children of i. X[i] transforms from p to i, X0[i] from the
ground to i. Entry 0 is the ground; quantities of a body are in its coordinates. An outward pass visits the bodies of
`states`: all of them, or one supporting path. Most passes return two results: the quantity of every body, and the same
quantity on the other side of the joint (X[i] v[p], or X[i]' Ic[i] X[i]).

There are two recursions for accelerations. Spatial accelerations add and differentiate like velocities; derivatives,
regressors and momentum rates need them. Classical accelerations need no linear velocity, so inverse dynamics, forward
dynamics and accelerations of points take fewer operations by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, Self, TypeVar

import casadi as ca
from casadi import DM

from .._base.autodiff import apply_template
from .._base.types import Expr, exact
from ..joints import JointState
from ..mechanism import Model
from ..mechanism.loads import NO_LOADS, Loads
from ..spatial_algebra.linalg import solve_spd, symmetric
from ..spatial_algebra.spatial import ArticulatedInertia, Transform, acceleration_field, crm, halves

States = Mapping[int, JointState]
"""Joint states by body, from the root outwards: see `joint_states`."""
ByBody = Mapping[int, Expr]


def joint_states(
    model: Model, q: Expr, qd: Expr | None = None, bodies: Iterable[int] | None = None
) -> dict[int, JointState]:
    """`jcalc` of the joints of `bodies` (default: all), by body; its XJ is replaced by X = XJ X_tree (parent to body).

    Without qd the velocities are structurally zero, so that the expressions they enter vanish from the graph.
    """
    positions, rates = model.split_q(q), model.split_qd(model.rest(q) if qd is None else qd, "qd")
    states = {}
    for i in range(1, model.nb + 1) if bodies is None else bodies:
        state = model.joints[i].jcalc(positions[i], rates[i])
        states[i] = state._replace(XJ=apply_template(Transform.__matmul__, state.XJ, model.X_tree[i]))
    return states


# Outward: motions


def poses(model: Model, states: States) -> dict[int, Transform]:
    """X0[i] = X[i] X0[p], from ground to body."""
    X0 = {0: Transform.identity()}
    for i, state in states.items():
        X0[i] = apply_template(Transform.__matmul__, state.XJ, X0[model.parent[i]])
    return X0


def velocities(model: Model, states: States, vJ: ByBody | None = None) -> tuple[dict[int, Expr], dict[int, Expr]]:
    """(v, vp): spatial velocities v[i] = vp[i] + vJ[i], and those of the parents, vp[i] = X[i] v[p].

    vJ: joint velocities other than those of the states.
    """
    v: dict[int, Expr] = {0: DM(6, 1)}
    vp: dict[int, Expr] = {}
    for i, state in states.items():
        vp[i] = apply_template(Transform.apply, state.XJ, v[model.parent[i]])
        v[i] = vp[i] + (state.vJ if vJ is None else vJ[i])
    return v, vp


def accelerations(
    model: Model, states: States, v: ByBody, qdd: Expr, ground: Expr | None = None
) -> tuple[dict[int, Expr], dict[int, Expr]]:
    """(a, ap): spatial accelerations a[i] = ap[i] + S[i] qdd[i] + cJ[i] + v[i] x vJ[i], and ap[i] = X[i] a[p].

    v: the velocities. ground: the acceleration of the ground (6); `minus_gravity(model)` in place of the bodies'
    weights.
    """
    joint_accelerations = model.split_qd(qdd, "qdd")
    a: dict[int, Expr] = {0: DM(6, 1) if ground is None else ground}
    ap: dict[int, Expr] = {}
    for i, (X, S, vJ, cJ) in states.items():
        ap[i] = apply_template(Transform.apply, X, a[model.parent[i]])
        a[i] = ap[i] + S @ joint_accelerations[i] + cJ + apply_template(crm, v[i], vJ)
    return a, ap


def minus_gravity(model: Model) -> Expr:
    """The acceleration of the ground that stands for gravity (6)."""
    return ca.vertcat(DM(3, 1), -model.gravity_vector)


@dataclass(frozen=True)
class Acceleration:
    """Classical acceleration of a body, body axes: a point p accelerates by `a + U p`, with `U = dw x + w x w x`.

    w, dw: angular velocity [rad/s] and acceleration [rad/s^2]; a: acceleration of the origin [m/s^2].
    """

    w: Expr
    dw: Expr
    a: Expr

    @cached_property
    def U(self) -> Expr:
        """Matrix (3x3) that gives a point's acceleration relative to the origin's: U p."""
        return acceleration_field(self.w, self.dw)

    def next(self, state: JointState, qdd: Expr) -> Acceleration:
        """The acceleration of the body behind a joint [Luh, Walker & Paul 1980].

        No linear velocity enters except that of the joint itself, u:

        w_i = w + omega,   dw_i = dw + S qdd + cJ + w x omega,   a_i = (a + U r) + S qdd + cJ + (w + w_i) x u.
        """
        X, S, vJ, cJ = state
        (omega, u), (domega, du) = halves(vJ), halves(S @ qdd + cJ)
        w = X.E @ self.w
        return Acceleration(
            w + omega,
            X.E @ self.dw + domega + ca.cross(w, omega),
            X.E @ (self.a + self.U @ X.r) + du + ca.cross(w + w + omega, u),
        )


def classical_accelerations(
    model: Model, states: States, qdd: Expr, ground: Expr | None = None
) -> dict[int, Acceleration]:
    """Classical accelerations of all bodies, see `Acceleration.next`; ground: that of the ground's origin (3).

    Velocities of translations along fixed axes have no part in them: leave them out by `without_drift`.
    """
    joint_accelerations = model.split_qd(qdd, "qdd")
    bodies = {0: Acceleration(DM(3, 1), DM(3, 1), DM(3, 1) if ground is None else ground)}
    for i, state in states.items():
        bodies[i] = apply_template(Acceleration.next, bodies[model.parent[i]], state, joint_accelerations[i])
    return bodies


def velocity_products(model: Model, states: States) -> tuple[list[Acceleration], list[Expr]]:
    """(turning, c) for forward dynamics in classical accelerations, `[dw; a] = X [dw_p; a_p] + c + S qdd` in each body.

    turning[i]: the motion of a body that rotates at its angular velocity, while neither its origin nor its rotation
    accelerates. c[i] (6): the acceleration of body i that is due to the rotation of its parent and the velocity of its
    joint.
    """
    v, _ = velocities(model, states)
    turning = [Acceleration(halves(v[i])[0], DM(3, 1), DM(3, 1)) for i in range(model.nb + 1)]
    c: list[Expr] = [DM(6, 1)]
    for i, p in model.edges:
        body = turning[p].next(states[i], DM(model.joints[i].nv, 1))
        c.append(ca.vertcat(body.dw, body.a))
    return turning, c


def without_drift(model: Model, qd: Expr) -> Expr:
    """qd with structural zeros for the rates of translations along fixed world axes, at the root of a tree.

    Classical accelerations, and so all forces, are equal in all frames that move uniformly (Galileo). They do not
    depend on a velocity that these translations give to all bodies of the tree alike.
    """
    rates = model.split_qd(qd)
    drifting = {0}  # the ground, and bodies that only translate
    for i, p in model.edges:
        n = model.joints[i].leading_translations if p in drifting else 0
        if n and n == model.joints[i].nv:
            drifting.add(i)
        rates[i] = ca.vertcat(type(qd)(n, qd.shape[1]), rates[i][n:, :])
    return ca.vertcat(*rates)


# Inward: inertias and forces


class Moved(Protocol):
    """A property of bodies that is summed over a subtree: inertias of all kinds, and forces."""

    def __add__(self, other: Self, /) -> Self: ...

    def to_parent(self, X: Transform) -> Self:
        """The same in the coordinates of frame A of X: A -> B."""


Part = TypeVar("Part", bound=Moved)


def composite(model: Model, states: States, parts: Sequence[Part]) -> tuple[list[Part], dict[int, Part]]:
    """(Ic, Ip): sums over the subtree of every body, Ic[i] = I[i] + sum of Ip[j], and Ip[i] = X[i]' Ic[i] X[i] [RBDA,
    6.7].

    parts: I, one per body, the ground's first. Ic[0] is the sum over all bodies, about the world's origin; Ip[i] is
    Ic[i] in the coordinates of the parent.
    """
    found, in_parent = list(parts), {}
    for i, p in reversed(list(model.edges)):
        in_parent[i] = apply_template(_in_parent, found[i], states[i].XJ)
        found[p] = found[p] + in_parent[i]
    return found, in_parent


def _in_parent(part: Part, X: Transform) -> Part:
    return part.to_parent(X)


def composite_forces(model: Model, states: States, f: Sequence[Expr]) -> list[Expr]:
    """F[i] = f[i] + sum of X[j]' F[j]: the forces on the subtree of every body, and so the force across its joint.

    f: one force (6) per body, the ground's first. F[0] is the sum of all forces, about the world's origin.
    """
    F = list(f)
    for i, p in reversed(list(model.edges)):
        F[p] = F[p] + apply_template(Transform.apply_transpose, states[i].XJ, F[i])
    return F


class ArticulatedBodies(NamedTuple):
    """Results of the inward pass of the articulated-body algorithm, by body.

    D = S' IA S (n x n): the inertia seen by the joint's dofs while the joints beyond it move freely. U D^-1 (6 x n),
    and D^-1 u (n x k) for k right-hand sides. In `Joint.basis`, where there is one.
    """

    D: dict[int, Expr]
    UDinv: dict[int, Expr]
    Dinv_u: dict[int, Expr]

    def of_dofs(self, model: Model, states: States, i: int) -> Expr:
        """D of joint i (n x n) by its dofs, whatever basis it was solved in."""
        basis = model.joints[i].basis(states[i].S)
        if basis is None:
            return self.D[i]
        back = ca.solve(basis, DM.eye(basis.shape[0]))
        return back.T @ self.D[i] @ back

    def accelerations(self, model: Model, states: States, c: Sequence[Expr], ground: Expr) -> Expr:
        """The third pass, outward: a' = X a_p + c, qdd = D^-1 (u - U' a'), a = a' + S qdd; returns qdd (nv x k)."""
        a, qdd = [ground], []
        for i, p in model.edges:
            X, S, B = states[i].XJ, states[i].S, model.joints[i].basis(states[i].S)
            before = X.apply(a[p]) + c[i]
            accelerations = self.Dinv_u[i] - self.UDinv[i].T @ before
            qdd.append(accelerations if B is None else B @ accelerations)
            a.append(before + (S if B is None else S @ B) @ accelerations)
        return ca.vertcat(*qdd)


def articulated_bodies(
    model: Model, states: States, tau: Expr, c: Sequence[Expr], pA: Sequence[Expr], *, loads: Loads = NO_LOADS
) -> ArticulatedBodies:
    """The second pass of the articulated-body algorithm, inward [RBDA, table 7.1]:

        U = IA S,   D = S' U,   u = tau - S' pA,   Ia = IA - U D^-1 U',   pa = pA + Ia c + U D^-1 u,

        IA[p] += X' Ia X,   pA[p] += X' pa.

    tau (nv x k); c, pA: the velocity-product accelerations and the bias forces of all bodies (6 x k each). With
    loads.armature the motors' rotors add to D.
    """
    forces, k = model.split_qd(tau, "tau"), tau.shape[1]
    IA, pA = [ArticulatedInertia.of(body) for body in model.I], list(pA)
    found = ArticulatedBodies({}, {}, {})
    for i, p in reversed(list(model.edges)):
        X, S, B = states[i].XJ, states[i].S, model.joints[i].basis(states[i].S)
        armature = ca.diag(exact(model.dofs.armature[model.dofs_of(i)])) if loads.armature else None
        if B is not None:
            S, forces[i], armature = S @ B, B.T @ forces[i], armature if armature is None else B.T @ armature @ B
        U = IA[i].apply(S)
        D = symmetric(S.T @ U)
        if armature is not None:
            D = D + armature
        u = forces[i] - S.T @ pA[i]
        solved = solve_spd(D, ca.horzcat(u, U.T))
        found.D[i], found.Dinv_u[i], found.UDinv[i] = D, solved[:, :k], solved[:, k:].T
        if p:
            Ia = IA[i].downdate(U, found.UDinv[i])
            pa = pA[i] + Ia.apply(c[i]) + U @ found.Dinv_u[i]
            IA[p] = IA[p] + Ia.to_parent(X)
            pA[p] = pA[p] + X.apply_transpose(pa)
    return found
