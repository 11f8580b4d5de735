"""Velocity transformations of open chains, Formulation B [GJB94, 8.2]: centers of gravity and angular velocities.

Dependent velocities are, body by body, [velocity of the center of gravity; angular velocity], world axes, linear half
first as in the book. They follow from the independent velocities, the book's z-dot, here qd:

    v = R qd,   dv/dt = R qdd + Sc,   R' M R qdd = R' (Q - C - M Sc),                          (8.34, 8.35, 8.38)

| stage of table 8.3 | result | function |
|---|---|---|
| z -> q | rotations, steps between origins, levers to the centers of gravity | `positions` |
| R | rows of R of every body, without their zero columns (8.99-8.105) | `columns`, `body_rows` |
| z. -> q. | angular velocities, velocities of origins and of centers of gravity (8.89-8.94) | `velocities` |
| Sc | their accelerations at qdd = 0 (8.95-8.98) | `acceleration_products` |
| M | m 1 and A J A' (8.88, 8.106) | `world_inertias` |
| C, Q | [0; omega x J omega]; gravity and external wrenches | `elements` |
| R'MR, R'M Sc, R'(Q - C) | sums over the bodies, only the columns that move each (8.107) | `projected_equations` |
| linear equations | (8.38) by the branch-sparse factor L'DL | `forward_dynamics_formulation_b` |

Every joint is taken: the columns come from its S(q), of which (8.100) to (8.105) are special cases. p is the parent of
body i, A[i] its rotation, r[i] its origin, g[i] its center of gravity.

[GJB94] J. Garcia de Jalon and E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer 1994, ch. 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Expr, M, ModelError, Numbers, as_type, cast_to_matrix, repr_in_message, sparse, sparse_beside
from ..dynamics.invertible import check_invertible
from ..dynamics.passive_torques import passive_force, with_armature
from ..dynamics.recursions import States, joint_states, poses, without_drift
from ..dynamics.rnea_crba_aba import factor, world_wrenches
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.loads import NO_LOADS, Loads
from ..spatial_algebra.linalg import symmetric
from ..spatial_algebra.spatial import FarInertia, Inertia, acceleration_field, congruence, halves, skew

NOTHING = DM(3, 1)


class Positions(NamedTuple):
    """Positions of bodies, by body with the ground first: A the rotation (3x3), r the origin [m], d the step from the
    parent's origin to the body's, s the lever from the origin to the center of gravity; world axes.

    Sums of steps round in proportion to the mechanism, differences of r in proportion to its distance from the world's
    origin.
    """

    A: list[Expr]
    r: list[Expr]
    d: list[Expr]
    s: list[Expr]


class VelocityColumns(NamedTuple):
    """Velocities per unit velocity of each dof (3 each), by dof: w the angular velocity of the body behind the joint, v
    the velocity of its origin; world axes, structurally zero where the joint has none."""

    w: list[Expr]
    v: list[Expr]


class Velocities(NamedTuple):
    """Velocities of bodies (3 each), by body with the ground first: w angular, v of the origin, g of the center of
    gravity; world axes."""

    w: list[Expr]
    v: list[Expr]
    g: list[Expr]


class Accelerations(NamedTuple):
    """Accelerations of bodies at qdd = 0, by body with the ground first: a of the origin (3), dw angular (3), U (3x3),
    so that a point at the lever r from the origin accelerates by a + U r; turn, slide (3 each): the parts of dw and a
    that are due to the velocity of the body's joint; world axes."""

    dw: list[Expr]
    a: list[Expr]
    U: list[Expr]
    turn: list[Expr]
    slide: list[Expr]


@dataclass(frozen=True)
class OpenChain:
    """Kinematics of an open chain."""

    model: Model
    at: Positions
    by: VelocityColumns
    moving: Velocities
    products: Accelerations

    @cached_property
    def R(self) -> list[Expr]:
        """Rows of R by body, the ground first: see `body_rows`."""
        return [DM(6, 0), *(body_rows(self.model, self.at, self.by, i) for i, _ in self.model.edges)]

    @cached_property
    def Sc(self) -> list[Expr]:
        """Sc by body (6 each), the ground first."""
        s, by = self.at.s, self.products
        return [DM(6, 1), *(ca.vertcat(by.a[i] + by.U[i] @ s[i], by.dw[i]) for i, _ in self.model.edges)]


class BodyTerms(NamedTuple):
    """Terms of one body in (8.38): dofs, those that move it; R, its rows of R in their columns (6 x len(dofs)); m [kg]
    and J (3x3) [kg m^2], the blocks of its mass matrix (8.88); Sc, C, Q (6 each), linear half first, world axes."""

    dofs: list[int]
    R: Expr
    m: Expr
    J: Expr
    Sc: Expr
    C: Expr
    Q: Expr

    def momenta(self, R: Expr) -> Expr:
        """M R of 6-vectors in columns."""
        v, w = halves(R)
        return ca.vertcat(self.m * v, self.J @ w)


# Stages


def positions(model: Model, states: States) -> Positions:
    """The stage z -> q (8.39-8.42)."""
    X0 = poses(model, states)
    A, r = [X.E.T for X in X0.values()], [X.r for X in X0.values()]
    d, s = [NOTHING], [NOTHING]
    for i, p in model.edges:
        d.append(A[p] @ states[i].XJ.r)
        s.append(A[i] @ central(model, i)[1])
    return Positions(A, r, d, s)


def columns(model: Model, states: States, at: Positions) -> VelocityColumns:
    """World axes of all dofs: A S_w and A S_v. Translations along directions that the parent carries are taken along
    these, so that those of a floating base are constant."""
    w: list[Expr] = []
    v: list[Expr] = []
    for i, p in model.edges:
        joint, S = model.joints[i], states[i].S
        n = joint.leading_translations
        carried = sparse(joint.jcalc(DM(joint.neutral()), DM(joint.nv, 1)).S[3:, :n]) if n else DM(3, 0)
        A = at.A[p] @ model.X_tree[i].E.T if n else at.A[i]
        w += ca.horzsplit(at.A[i] @ S[:3, :])
        v += ca.horzsplit(ca.horzcat(A @ carried, at.A[i] @ S[3:, n:]))
    return VelocityColumns(w, v)


def body_rows(model: Model, at: Positions, by: VelocityColumns, b: int) -> Expr:
    """Rows of R of body b (6 x number of dofs that support it): v + w x (g_b - r_i) and w of each (8.99-8.105)."""
    return ca.horzcat(*(ca.vertcat(v, w) for v, w in columns_at(model, at, by, b, at.s[b])))


def columns_at(model: Model, at: Positions, by: VelocityColumns, b: int, lever: Expr) -> list[tuple[Expr, Expr]]:
    """(velocity of a point of body b, angular velocity) per unit velocity of each dof that supports the body, from the
    root outwards; lever: from the body's origin to the point."""
    found = []
    for i in reversed(model.path(b)):
        for k in reversed(model.dofs_of(i)):
            found.append((by.v[k] + ca.cross(by.w[k], lever), by.w[k]))
        lever = lever + at.d[i]
    return found[::-1]


def velocities(model: Model, at: Positions, by: VelocityColumns, qd: Expr) -> Velocities:
    """The stage z. -> q. (8.89-8.94), from the root outwards."""
    rates = ca.vertsplit(qd)
    w, v, g = [NOTHING], [NOTHING], [NOTHING]
    for i, p in model.edges:
        dofs = model.dofs_of(i)
        w.append(_combined(by.w, rates, dofs, w[p]))
        v.append(_combined(by.v, rates, dofs, v[p] + ca.cross(w[p], at.d[i])))
        g.append(v[i] + ca.cross(w[i], at.s[i]))
    return Velocities(w, v, g)


def acceleration_products(
    model: Model, states: States, at: Positions, by: VelocityColumns, w: list[Expr], qd: Expr
) -> Accelerations:
    """The stage Sc: accelerations at qdd = 0 (8.95-8.98), by the classical accelerations a of the origins,

        dw_i = dw_p + A cJ_w + w_p x w_J,   a_i = a_p + U_p d + A cJ_v + (w_p + w_i) x v_J,   U = dw x + w x w x,

    where w_J, v_J is the velocity of the joint: no linear velocity of a body enters.
    """
    rates = ca.vertsplit(qd)
    dw, a, U = [NOTHING], [NOTHING], [DM(3, 3)]
    turn, slide = [NOTHING], [NOTHING]
    for i, p in model.edges:
        dofs, A = model.dofs_of(i), at.A[i]
        cw, cv = halves(states[i].cJ)
        w_J, v_J = (_combined(axes, rates, dofs, NOTHING) for axes in by)
        turn.append(A @ cw + ca.cross(w[p], w_J))
        slide.append(A @ cv + ca.cross(w[p] + w[i], v_J))
        dw.append(dw[p] + turn[i])
        a.append(a[p] + U[p] @ at.d[i] + slide[i])
        U.append(acceleration_field(w[i], dw[i]))
    return Accelerations(dw, a, U, turn, slide)


def world_inertias(model: Model, at: Positions) -> list[Expr]:
    """A J A' of every body, the ground first (8.106)."""
    bodies = ((at.A[i], central(model, i)[2]) for i in range(model.nb + 1))
    return [symmetric(congruence(A.T, J)) for A, J in bodies]


def open_chain(model: Model, q: Expr, qd: Expr) -> OpenChain:
    """The kinematics of an open chain. Accelerations do not depend on velocities that translate a whole tree, so these
    are left out of them."""
    drifting = without_drift(model, qd)
    states = joint_states(model, q, drifting)
    at = positions(model, states)
    by = columns(model, states, at)
    moving = velocities(model, at, by, qd)
    return OpenChain(model, at, by, moving, acceleration_products(model, states, at, by, moving.w, drifting))


def elements(model: Model, open: OpenChain, f_ext: Expr | None = None, *, loads: Loads = NO_LOADS) -> list[BodyTerms]:
    """The terms of all moving bodies in (8.38)."""
    at, w, J = open.at, open.moving.w, world_inertias(model, open.at)
    wrenches = world_wrenches(model, f_ext, loads.external)
    found = []
    for i, _ in model.edges:
        m = model.I[i].m
        C = ca.vertcat(NOTHING, ca.cross(w[i], J[i] @ w[i]))
        moment, force = halves(wrenches[i]) if i in wrenches else (NOTHING, NOTHING)
        Q = ca.vertcat(m * model.gravity_vector + force, moment - ca.cross(at.r[i] + at.s[i], force))
        found.append(BodyTerms(supporting_dofs(model, i), open.R[i], m, J[i], open.Sc[i], C, Q))
    return found


def supporting_dofs(model: Model, b: int) -> list[int]:
    """Indices of the dofs that move body b, from the root outwards."""
    return list(chain.from_iterable(model.dofs_of(i) for i in model.path(b)))


def in_all_columns(model: Model, rows: Expr, b: int) -> Expr:
    """Rows of body b, given in the columns of the dofs that move it, in all columns (nv)."""
    full: list[Expr] = [DM(rows.shape[0], 1)] * model.nv
    for k, column in zip(supporting_dofs(model, b), ca.horzsplit(rows), strict=True):
        full[k] = column
    return ca.horzcat(*full)


def central(model: Model, i: int) -> tuple[Expr, Expr, Expr]:
    """(m, c, J): mass, center of gravity and inertia about it, body axes; numbers structurally sparse.

    The center of a body without mass is its origin. ModelError for a first moment without mass, as `od.reduce` leaves.
    A mass that is a symbol divides the first moment: it must not be zero.
    """
    body: Inertia = model.I[i]
    m, h, I = body.m, body.h, body.I
    if isinstance(m, DM) and not float(m):
        if isinstance(h, DM) and not h.nnz():
            return m, NOTHING, I
        raise ModelError(
            f"body {repr_in_message(model.body_names[i - 1])} has a first moment but no mass, so it has no center of "
            "gravity, as Formulation B needs: give the model with the inertias of real bodies, before od.reduce"
        )
    if isinstance(body, FarInertia):
        return m, *body.central()
    c = h / m
    shift = m * (skew(c) @ skew(c))
    if not all(isinstance(x, DM) for x in (m, h, I)):
        return m, c, I + shift
    size = np.abs(I.full()) + np.abs(DM(shift).full())
    return m, c, sparse_beside((I + shift).full(), size)


def _combined(axes: list[Expr], rates: list[Expr], dofs: range, start: Expr) -> Expr:
    """start + the sum of axis times rate over dofs."""
    return sum((axes[k] * rates[k] for k in dofs if axes[k].nnz() and rates[k].nnz()), start=start)


# Algorithms


@checks_arguments()
def velocity_transformation(model: Model, q: M | Numbers) -> M:
    """R(q) (6 nb x nv): [velocity of the center of gravity; angular velocity] of all bodies = R qd [GJB94, 8.34].

    World axes [m/s, rad/s], linear half first, body by body. Structurally zero wherever a dof does not move a body.
    O(nb depth).

    >>> od.formulations.velocity_transformation(rod, [0.0])  # [velocity of the middle; angular velocity] per rad/s
    DM([-0.5, 00, 0, 00, 1, 00])
    """
    R = open_chain(model, q, model.rest(q)).R
    return as_type(ca.vertcat(*(in_all_columns(model, R[i], i) for i, _ in model.edges)), q)


@checks_arguments()
def dependent_velocity(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """R qd (6 nb), by recursion [GJB94, 8.89-8.94]: [velocity of the center of gravity; angular velocity] of all
    bodies, world axes [m/s, rad/s]. O(nb).

    >>> od.formulations.dependent_velocity(rod, [0.0], [2.0])
    DM([-1, 00, 0, 00, 2, 00])
    """
    moving = open_chain(model, q, qd).moving
    return as_type(ca.vertcat(*chain.from_iterable(zip(moving.g[1:], moving.w[1:], strict=True))), q)


@checks_arguments()
def velocity_products(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """Sc(q, qd) (6 nb): the accelerations of all bodies at qdd = 0, so that dv/dt = R qdd + Sc [GJB94, 8.35].

    [acceleration of the center of gravity; angular acceleration] of all bodies, world axes [m/s^2, rad/s^2], without
    gravity. O(nb).

    >>> od.formulations.velocity_products(rod, [0.0], [2.0])  # l/2 qd^2, upwards
    DM([0, 00, 2, 00, 00, 00])
    """
    return as_type(ca.vertcat(*open_chain(model, q, qd).Sc[1:]), q)


@checks_arguments()
def projected_equations(
    model: Model, q: M | Numbers, qd: M | Numbers, f_ext: M | Numbers | None = None, *, loads: Loads = NO_LOADS
) -> tuple[M, M]:
    """(H, C) of `H qdd + C = tau` as H = R' M R, C = R' (M Sc + C - Q), Formulation B [GJB94, 8.38, 8.107].

    Sums over the bodies; each adds to the rows and columns of the dofs that move it. H (nv x nv) and C (nv) equal those
    of `equations_of_motion`; f_ext and loads as in `inverse_dynamics`. ModelError for a first moment without mass.
    O(nb depth^2).

    >>> od.formulations.projected_equations(rod, [np.pi / 6], [0.0])  # m l^2 / 3, m g l/2 sin(30 degrees)
    (DM(0.333333), DM(2.4525))
    """
    return projected(model, cast_to_matrix(q), qd, elements(model, open_chain(model, q, qd), f_ext, loads=loads), loads)


@checks_arguments()
def forward_dynamics_formulation_b(
    model: Model,
    q: M | Numbers,
    qd: M | Numbers,
    tau: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> M:
    """qdd of (8.38), R' M R qdd = tau + R' (Q - C - M Sc), Formulation B [GJB94, 8.2].

    By the branch-sparse factor L'DL. qdd (nv) [rad/s^2, m/s^2]; loads as in `inverse_dynamics`. ModelError for a joint
    that moves no inertia, and for a first moment without mass. O(nb depth^2).

    >>> od.formulations.forward_dynamics_formulation_b(rod, [np.pi / 2], [0.0], [0.0])  # -3/2 g/l
    DM(-14.715)
    """
    check_invertible(model, loads=loads)
    H, C = projected_equations(model, q, qd, f_ext, loads=loads)
    return as_type(factor(model, H).solve(tau - C), q)


def projected(model: Model, q: M, qd: Expr, bodies: list[BodyTerms], loads: Loads) -> tuple[M, M]:
    """H = R' M R and C = R' (M Sc + C - Q), with the loads of the joints."""
    H = assembled(model, q, [(body.dofs, body.R.T @ body.momenta(body.R)) for body in bodies])
    forces = [body.momenta(body.Sc) + body.C - body.Q for body in bodies]
    C = summed(model, q, [(body.dofs, body.R.T @ force) for body, force in zip(bodies, forces, strict=True)])
    if loads.passive:
        C = C - passive_force(model, q, qd, slip_speed=loads.slip_speed)
    return as_type(with_armature(model, H) if loads.armature else H, q), as_type(C, q)


def assembled(model: Model, q: M, parts: list[tuple[list[int], Expr]]) -> M:
    """The symmetric sum (nv x nv) of matrices that stand in the rows and columns of some dofs; only their upper
    triangles are computed."""
    H: Expr = _kind(q, parts)(model.nv, model.nv)
    for dofs, part in parts:
        H[dofs, dofs] = H[dofs, dofs] + ca.triu(part)
    return as_type(ca.triu2symm(H), q)


def summed(model: Model, q: M, parts: list[tuple[list[int], Expr]]) -> M:
    """The sum (nv) of columns that stand in the rows of some dofs."""
    C: Expr = _kind(q, parts)(model.nv, 1)
    for dofs, part in parts:
        C[dofs, 0] = C[dofs, 0] + part
    return as_type(C, q)


def _kind(q: Expr, parts: list[tuple[list[int], Expr]]) -> type[Expr]:
    """The type of sums of parts: that of q, or of expressions among the parts where q holds numbers."""
    return next((type(part) for _, part in parts if not isinstance(part, DM)), type(q))
