"""Mass center, momentum, energy and zero-moment point of the whole mechanism. World axes, SI units."""

from __future__ import annotations

from typing import cast

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import (
    Expr,
    M,
    Numbers,
    Vector,
    as_type,
    cast_to_matrix,
    finite_vector,
    matrix,
    numbers,
    repr_in_message,
)
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..spatial_algebra.spatial import halves, largest, skew
from .coriolis import CoriolisInertia, motion_subspace_rates
from .kinematics import as_point
from .recursions import accelerations, composite, composite_forces, joint_states, poses, velocities


@checks_arguments(frames=False)
def center_of_mass(model: Model, q: M | Numbers) -> M:
    """Position of the center of mass [m] (3). O(nb).

    >>> od.center_of_mass(rod, [0.0])
    DM([0, 00, -0.5])
    """
    _check_mass(model)
    Ic, _ = composite(model, joint_states(model, q), model.I)
    return as_type(Ic[0].h / model.mass, q)


@checks_arguments()
def center_of_mass_velocity(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """Velocity of the center of mass [m/s] (3).

    >>> od.center_of_mass_velocity(rod, [0.0], [2.0])  # l/2 times 2 rad/s, towards -x
    DM([-1, 00, 0])
    """
    _check_mass(model)
    return linear_momentum(model, q, qd) / model.mass


@checks_arguments(frames=False)
def center_of_mass_acceleration(model: Model, q: M | Numbers, qd: M | Numbers, qdd: M | Numbers) -> M:
    """Acceleration of the center of mass [m/s^2] (3).

    >>> od.center_of_mass_acceleration(rod, [0.0], [2.0], [0.0])  # towards the hinge: l/2 qd^2
    DM([0, 00, 2])
    """
    _check_mass(model)
    return as_type(halves(_momentum_rate(model, q, qd, qdd))[1] / model.mass, q)


@checks_arguments(frames=False)
def momentum(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """[angular momentum about the world origin [N m s]; linear momentum [N s]] (6).

    >>> od.momentum(rod, [0.0], [3.0])
    DM([00, 1, 00, -1.5, 00, 0])
    """
    states = joint_states(model, q, qd)
    v, _ = velocities(model, states)
    h = [body.apply(v[i]) for i, body in enumerate(model.I)]
    return as_type(composite_forces(model, states, h)[0], q)


@checks_arguments()
def linear_momentum(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """Linear momentum [N s] (3).

    >>> od.linear_momentum(rod, [0.0], [3.0])
    DM([-1.5, 00, 0])
    """
    return as_type(halves(momentum(model, q, qd))[1], q)


@checks_arguments()
def angular_momentum(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """Angular momentum about the world origin [N m s] (3).

    >>> od.angular_momentum(rod, [0.0], [3.0])  # m l^2 / 3 qd
    DM([00, 1, 00])
    """
    return as_type(halves(momentum(model, q, qd))[0], q)


@checks_arguments(frames=False)
def centroidal_momentum(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """h_com = [angular momentum about the center of mass [N m s]; linear momentum [N s]] (6).

    >>> od.centroidal_momentum(rod, [0.0], [12.0])  # m l^2 / 12 qd, m l/2 qd
    DM([00, 1, 00, -6, 00, 0])
    """
    return as_type(_about_com(model, q, momentum(model, q, qd)), q)


@checks_arguments(frames=False)
def centroidal_momentum_rate(model: Model, q: M | Numbers, qd: M | Numbers, qdd: M | Numbers) -> M:
    """d(h_com)/dt (6): the resultant of all external forces, gravity included, about the center of mass.

    >>> od.centroidal_momentum_rate(rod, [0.0], [2.0], [0.0])  # m l/2 qd^2 = hinge force - weight
    DM([00, 0, 00, 0, 00, 2])
    """
    return as_type(_about_com(model, q, _momentum_rate(model, q, qd, qdd)), q)


@checks_arguments()
def center_of_mass_jacobian(model: Model, q: M | Numbers) -> M:
    """J_com (3 x nv): velocity of the center of mass = J_com qd, world axes. O(nb).

    >>> od.center_of_mass_jacobian(arm, [0.0, 0.0])
    DM(
    [[-1, -0.25],
     [00, 00],
     [0, 0]])
    """
    _check_mass(model)
    return as_type(halves(momentum_matrix(model, q))[1] / model.mass, q)


@checks_arguments(frames=False)
def momentum_matrix(model: Model, q: M | Numbers) -> M:
    """A_O (6 x nv): [angular momentum about the world origin; linear momentum] = A_O qd.

    Column k is `X0[i]' Ic[i] s_k`: the composite inertia of the joint's subtree in motion s_k. O(nb).

    >>> od.momentum_matrix(rod, [0.0]).T
    DM([[00, 0.333333, 00, -0.5, 00, 0]])
    """
    states = joint_states(model, q)
    X0 = poses(model, states)
    Ic, _ = composite(model, states, model.I)
    A = [X0[i].apply_transpose(Ic[i].apply(state.S)) for i, state in states.items()]
    return as_type(ca.horzcat(*A), q)


@checks_arguments(frames=False)
def centroidal_momentum_matrix(model: Model, q: M | Numbers) -> M:
    """A_G (6 x nv): h_com = A_G qd [D. Orin, A. Goswami & S.-H. Lee, Auton. Robots 35, 2013]. World axes. O(nb).

    >>> od.centroidal_momentum_matrix(rod, [0.0]).T
    DM([[00, 0.0833333, 00, -0.5, 00, 0]])
    """
    n, f = halves(momentum_matrix(model, q))
    return as_type(ca.vertcat(n - skew(center_of_mass(model, q)) @ f, f), q)


@checks_arguments(frames=False)
def momentum_matrix_dot(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """dA_O/dt (6 x nv) of `momentum_matrix` along dq/dt = q_dot(q, qd).

    Column k is `X0[i]' (dIc[i]/dt s_k + Ic[i] ds_k/dt)`, where `dIc/dt = Bc + Bc'` with the B of `coriolis_matrix`:
    v x* I - I v x, summed over the subtree. O(nb).

    >>> od.momentum_matrix_dot(rod, [0.0], [2.0]).T
    DM([[00, 0, 00, 0, 00, 1]])
    """
    states = joint_states(model, q, qd)
    X0, (v, _) = poses(model, states), velocities(model, states)
    Ic, _ = composite(model, states, model.I)
    Bc, _ = composite(model, states, [CoriolisInertia.of(body, v[i]) for i, body in enumerate(model.I)])
    S_rate = motion_subspace_rates(model, states, v, q, qd)

    def turning(i: int, s: Expr) -> Expr:
        """dIc[i]/dt s."""
        return Bc[i].apply(halves(s)[0]) + ca.vertcat(Bc[i].apply_transpose(s), DM(3, s.shape[1]))

    rates = [X0[i].apply_transpose(turning(i, state.S) + Ic[i].apply(S_rate[i])) for i, state in states.items()]
    return as_type(ca.horzcat(DM(6, 0), *rates), q)


@checks_arguments(frames=False)
def centroidal_momentum_matrix_dot(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """dA_G/dt (6 x nv) of `centroidal_momentum_matrix` along dq/dt = q_dot(q, qd).

    d(h_com)/dt = A_G qdd + dA_G/dt qd; the last term is `centroidal_momentum_bias`. World axes. O(nb).

    >>> od.centroidal_momentum_matrix_dot(rod, [0.0], [2.0]).T
    DM([[00, 0, 00, 0, 00, 1]])
    """
    (_, f), (dn, df) = halves(momentum_matrix(model, q)), halves(momentum_matrix_dot(model, q, qd))
    com, com_rate = center_of_mass(model, q), center_of_mass_velocity(model, q, qd)
    return as_type(ca.vertcat(dn - skew(com_rate) @ f - skew(com) @ df, df), q)


@checks_arguments()
def centroidal_momentum_bias(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """dA_G/dt qd (6): d(h_com)/dt = A_G qdd + this [N m; N]. O(nb).

    >>> od.centroidal_momentum_bias(rod, [0.0], [2.0])
    DM([00, 0, 00, 0, 00, 2])
    """
    return centroidal_momentum_rate(model, q, qd, model.rest(q))


@checks_arguments(frames=False)
def kinetic_energy(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """T = 1/2 qd' H qd = sum of 1/2 v[i]' I v[i] [J].

    >>> od.kinetic_energy(rod, [0.0], [6.0])  # m l^2 / 6 qd^2
    DM(6)
    """
    states = joint_states(model, q, qd)
    v, _ = velocities(model, states)
    return as_type(sum((ca.dot(v[i], body.apply(v[i])) / 2 for i, body in enumerate(model.I)), start=DM(0)), q)


@checks_arguments()
def potential_energy(model: Model, q: M | Numbers) -> M:
    """V = -m g . com [J], zero when the center of mass is at the world origin.

    >>> od.potential_energy(rod, [0.0])  # -m g l/2
    DM(-4.905)
    """
    return as_type(-model.mass * ca.dot(model.gravity_vector, center_of_mass(model, q)), q)


@checks_arguments(frames=False)
def zero_moment_point(
    model: Model,
    q: M | Numbers,
    qd: M | Numbers,
    qdd: M | Numbers,
    *,
    point: Vector | Expr = (0.0, 0.0, 0.0),
    normal: Vector | Expr = (0.0, 0.0, 1.0),
) -> M:
    """Point of a plane about which `d(momentum)/dt - m g` has no moment except along the plane's normal [m] (3).

    The plane goes through `point` across `normal` (of any length), world axes; without them it is z = 0. Where
    all contact lies in the plane this is the center of pressure. Infinite in free fall.

    >>> od.zero_moment_point(rod, [np.pi / 6], [0.0], [0.0])  # at rest: below the center of mass
    DM([-0.25, 0, 0])
    """
    weight = model.mass * model.gravity_vector
    n, f = halves(_momentum_rate(model, q, qd, qdd))
    n, f = n - ca.cross(center_of_mass(model, q), weight), f - weight
    wrench: Expr = ca.vertcat(n, f)
    return as_type(center_of_pressure(wrench, point=point, normal=normal), q)


def center_of_pressure(
    wrench: M, *, point: Vector | Expr = (0.0, 0.0, 0.0), normal: Vector | Expr = (0.0, 0.0, 1.0)
) -> M:
    """Point of a plane where a wrench is a force and a moment along the normal: `p + N x (n - p x f) / (N . f)` [m]
    (3).

    wrench (6): [moment about the world origin [N m]; force [N]], such as the sum of all contact forces. The plane
    goes through `point` across `normal` (of any length). Infinite where the force lies in the plane.

    >>> od.center_of_pressure([0.0, -20.0, 0.0, 0.0, 0.0, 100.0])  # 100 N up at x = 0.2 m
    DM([0.2, 0, 0])
    """
    p, N = as_point(point), as_point(normal)
    if isinstance(N, DM) and not largest(N):
        raise ValueError(f"the normal of the plane must not be zero, got {repr_in_message(normal)}")
    column = matrix(wrench, "wrench")
    if column.shape != (6, 1):
        raise ValueError(f"a wrench must be a column of 6 entries, got {repr_in_message(wrench)}")
    n, f = halves(column)
    place: Expr = ca.densify(p + ca.cross(N, n - ca.cross(p, f)) / ca.dot(N, f))
    return as_type(place, cast(M, column))


@checks_arguments(several=("qd", "tau"))
def joint_power(model: Model, qd: M | Numbers, tau: M | Numbers) -> M:
    """P = tau qd, dof by dof (nv) [W]: positive where the joint drives. The sum is the power of all joints.

    >>> od.joint_power(arm, [2.0, 1.0], [10.0, -3.0])  # the first joint drives, the second brakes
    DM([20, -3])
    """
    model.split_qd(tau, "tau")
    model.split_qd(qd)
    return as_type(cast_to_matrix(tau) * cast_to_matrix(qd), qd)


@checks_arguments(several=("qd", "tau"), own=("t",))
def joint_work(model: Model, t: Vector, qd: M | Numbers, tau: M | Numbers) -> tuple[M, M]:
    """(W+, W-): work done and work absorbed by every joint over a motion (nv each) [J]; W- <= 0.

    t: N increasing times [s]. qd, tau (nv x N): a column per time. Trapezoidal rule on max(P, 0) and min(P, 0), so the
    error falls with the square of the step. The net work is W+ + W-.

    >>> od.joint_work(rod, [0.0, 1.0, 2.0], ca.DM([[1.0, 1.0, -1.0]]), ca.DM([[2.0, 2.0, 2.0]]))
    (DM(3), DM(-1))
    """
    steps = np.diff(finite_vector(t, numbers(t, "t").size, "t"))
    shapes = cast_to_matrix(qd).shape, cast_to_matrix(tau).shape
    if shapes[0] != shapes[1] or shapes[0][1] != steps.size + 1 or np.any(steps <= 0):
        raise ValueError(
            f"t must hold N increasing times and qd, tau a column for each, got {steps.size + 1} times, "
            f"qd {shapes[0]}, tau {shapes[1]}"
        )
    weights = DM((np.append(steps, 0) + np.append(0, steps)) / 2)
    P = joint_power(model, qd, tau)
    return as_type(ca.fmax(P, 0) @ weights, qd), as_type(ca.fmin(P, 0) @ weights, qd)


def _momentum_rate(model: Model, q: M | Numbers, qd: M | Numbers, qdd: M | Numbers) -> Expr:
    """d/dt of [angular momentum about the world origin; linear momentum]."""
    states = joint_states(model, q, qd)
    v, _ = velocities(model, states)
    a, _ = accelerations(model, states, v, qdd)
    f = [body.force(v[i], a[i]) for i, body in enumerate(model.I)]
    return composite_forces(model, states, f)[0]


def _about_com(model: Model, q: Expr, f: Expr) -> Expr:
    """A momentum or force about the world origin, taken about the center of mass."""
    n, fl = halves(f)
    return ca.vertcat(n - ca.cross(center_of_mass(model, q), fl), fl)


def _check_mass(model: Model) -> None:
    if isinstance(model.mass, float) and model.mass <= 0:
        raise ValueError(f"{repr_in_message(model)} has no mass, so no center of mass: give its bodies masses")
