"""Equations of motion in natural coordinates [GJB94, 8.5.1]: M xdd + Phi_x' lam = Q, Phi(x) = 0.

M is constant, Phi is quadratic and Phi_x linear in x; no velocity enters the inertia forces. With the point O and the
directions D_k of a body, p = O + sum_k c_k(p) D_k, and the integral over the body

    T = 1/2 integral of pd . pd dm = 1/2 sum_kl J_kl Dd_k . Dd_l,   J = integral of [1; c] [1; c]' dm   (4x4),

with D_0 = O. In the plane c is complex, and J = [m, h'; h, I] holds the in-plane moments of mass alone.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Expr, M, Numbers, as_type, exact
from ..dynamics.passive_torques import passive_force
from ..mechanism import Model
from ..mechanism.loads import NO_LOADS, Loads
from ..spatial_algebra.spatial import Inertia, halves
from .joint_coordinates import checks_natural_arguments, joint_rates, q_near_rest, qd_of
from .natural_coordinates import NaturalCoordinates, RigidElement


@checks_natural_arguments
def natural_mass_matrix(model: Model, natural: NaturalCoordinates, x: M | Numbers) -> M:
    """M (n x n), constant and sparse: the kinetic energy is xd' M xd / 2 [GJB94, 8.5.1; ch. 4].

    By bodies: W' (J kron 1) W with [O; D] = W x + w. Symbolic masses and inertias enter; x gives the type alone.
    Singular where a coordinate moves no mass (massless bodies); positive definite on the velocities that the conditions
    allow if H is. O(nb).

    >>> natural = od.formulations.natural(rod)
    >>> x = od.formulations.natural_from_q(rod, natural, [0.0])
    >>> od.formulations.natural_mass_matrix(rod, natural, x)
    DM(
    [[0.333333, 00],
     [00, 0.333333]])
    """
    tree = natural.split(model)
    total: Expr = DM(natural.n, natural.n)
    for i, _ in tree.edges:
        W = natural.bodies[i].field
        total = total + W.T @ element_mass(natural.bodies[i], tree.I[i]) @ W
    return as_type(total, x)


@checks_natural_arguments
def natural_constraints(model: Model, natural: NaturalCoordinates, x: M | Numbers) -> M:
    """Phi(x) (m) [m^2; m; 1]: inner products that stay constant, conditions of joints and loops, surplus elements.

    Names and order in `natural.constraint_names`. Quadratic in x. O(m).

    >>> natural = od.formulations.natural(rod)
    >>> x = od.formulations.natural_from_q(rod, natural, [0.3])
    >>> float(ca.norm_inf(od.formulations.natural_constraints(rod, natural, x))) < 1e-12
    True
    """
    natural.split(model)  # the lengths must be those of the model
    return as_type(natural.conditions.value(x), x)


@checks_natural_arguments
def natural_jacobian(model: Model, natural: NaturalCoordinates, x: M | Numbers) -> M:
    """Phi_x (m x n), sparse and linear in x. O(m).

    >>> natural = od.formulations.natural(rod)
    >>> x = od.formulations.natural_from_q(rod, natural, [0.0])
    >>> od.formulations.natural_jacobian(rod, natural, x)
    DM([[2, 0]])
    """
    natural.split(model)
    return as_type(natural.conditions.jacobian(x), x)


@checks_natural_arguments
def natural_jacobian_rate(model: Model, natural: NaturalCoordinates, x: M | Numbers, xd: M | Numbers) -> M:
    """c = -d(Phi_x)/dt xd (m): accelerations keep the conditions if Phi_x xdd = c. x gives the type alone. O(m).

    >>> natural = od.formulations.natural(rod)
    >>> x = od.formulations.natural_from_q(rod, natural, [0.0])
    >>> od.formulations.natural_jacobian_rate(rod, natural, x, [0.0, -2.0])
    DM(-8)
    """
    natural.split(model)
    return as_type(natural.conditions.rate(xd), x)


@checks_natural_arguments
def natural_force(
    model: Model,
    natural: NaturalCoordinates,
    x: M | Numbers,
    xd: M | Numbers,
    tau: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> M:
    """Q (n): gravity, torques of the joints, and loads, such that Q' xd is their power.

    Gravity: W' J [g; 0] of every body, constant. Torques tau (nv) [N m, N]: B' tau with qd = B(x) xd, see
    `joint_rates`; with loads.passive springs, tissue, damping and friction of the joints add to tau. x does not count
    turns: springs and tissue act as if they were wound by at most half a turn from the joint's rest position, and
    torques of Euler angles belong to the angles of `q_from_natural`, whose middle one is at most a right angle. f_ext
    (6 x k): wrenches on the frames that loads.external names, [moment about the world origin [N m]; force [N]], world
    axes.

    loads.armature: ValueError, because rotors would make the mass matrix depend on x: model a rotor as a body of its
    own, or use Formulation B. O(nb).

    >>> natural = od.formulations.natural(rod)
    >>> x = od.formulations.natural_from_q(rod, natural, [0.0])
    >>> od.formulations.natural_force(rod, natural, x, ca.DM.zeros(natural.n), [0.0])
    DM([4.905, 0])
    """
    if loads.armature:
        raise ValueError(
            "natural coordinates have a constant mass matrix, loads.armature would make it depend on x: leave armature "
            "out, give rotors bodies of their own, or use Formulation B"
        )
    tree = natural.split(model)
    total: Expr = DM(natural.n, 1)
    g = exact(natural.plane.T) @ tree.gravity_vector
    for i, _ in tree.edges:
        body = natural.bodies[i]
        J = element_mass(body, tree.I[i])
        total = total + body.field.T @ (J[:, : natural.dimension] @ g)
    torques = tau
    if loads.passive:
        q = q_near_rest(natural, tree, model.dofs.rest, x)
        qd = qd_of(natural, tree, x, xd)
        torques = tau + passive_force(model, q, qd, slip_speed=loads.slip_speed)
    total = total + joint_rates(natural, tree, x).T @ torques
    return as_type(total + _external(natural, tree, x, f_ext, loads), x)


def element_mass(element: RigidElement, body: Inertia) -> Expr:
    """J kron 1 of a body in its element's point and directions: 12 x 12, in the plane 4 x 4."""
    P, o, inverse = (exact(part) for part in (element.frame, element.o, element.inverse))
    h = P.T @ body.h
    moved = h - body.m * o
    c = inverse @ moved
    second = P.T @ body.second_moments @ P - h @ o.T - o @ moved.T
    if element.frame.shape[1] == 2:
        G = ca.vertcat(ca.horzcat(c[0], -c[1]), ca.horzcat(c[1], c[0]))
        I = ca.trace(second) * float(np.abs(np.linalg.det(element.inverse)))
        return ca.blockcat([[body.m * DM.eye(2), G], [G.T, I * DM.eye(2)]])
    J = ca.blockcat([[body.m, c.T], [c, inverse @ second @ inverse.T]])
    return ca.kron(J, DM.eye(3))


def _external(natural: NaturalCoordinates, tree: Model, x: Expr, f_ext: Expr | None, loads: Loads) -> Expr:
    """Forces of wrenches: with the force f and the moment n - O x f about O, their power is f . Od + (n - O x f) . w,
    and w = 1/2 sum_k e_k x ed_k for the axes e_k of the body."""
    names = tuple(loads.external)
    if f_ext is None:
        if names:
            raise ValueError(f"loads.external={names!r} names frames but no f_ext (6 x {len(names)}) is given")
        return DM(natural.n, 1)
    if f_ext.shape != (6, len(names)):
        raise ValueError(f"f_ext must be 6 x {len(names)}, a column per name in loads.external, got {f_ext.shape}")
    total: Expr = DM(natural.n, 1)
    P = exact(natural.plane)
    for name, wrench in zip(names, ca.horzsplit(f_ext), strict=True):
        element = natural.bodies[tree.frame(name).body]
        moment, force = halves(wrench)
        about = moment - ca.cross(P @ element.origin(x), force)
        total = total + element.origin.A.T @ (P.T @ force)
        for e in element.frame.T:
            axis = element.direction(e)
            share = 0.5 * ca.cross(about, P @ axis(x))
            total = total + axis.A.T @ (P.T @ share)
    return total
