"""Mass centre, momentum, energy and zero-moment point of the whole mechanism. World axes, SI units."""

from __future__ import annotations

import casadi as ca
from casadi import DM

from ._types import Expr, M, as_type, sparse
from .kinematics import joint_states
from .model import Model
from .spatial import crm, halves


def center_of_mass(model: Model, q: M) -> M:
    """Position of the centre of mass [m] (3). O(nb)."""
    states = joint_states(model, q)
    m = [body.m for body in model.I]
    h: list[Expr] = [body.h for body in model.I]
    for i, p in reversed(list(model.edges)):
        X = states[i].XJ
        m[p] = m[p] + m[i]
        h[p] = h[p] + X.E.T @ h[i] + m[i] * X.r
    _check_mass(model)
    return as_type(h[0] / model.mass, q)


def center_of_mass_velocity(model: Model, q: M, qd: M) -> M:
    """Velocity of the centre of mass [m/s] (3)."""
    _check_mass(model)
    return linear_momentum(model, q, qd) / model.mass


def center_of_mass_acceleration(model: Model, q: M, qd: M, qdd: M) -> M:
    """Acceleration of the centre of mass [m/s^2] (3)."""
    _check_mass(model)
    return as_type(halves(_momentum_rate(model, q, qd, qdd))[1] / model.mass, q)


def momentum(model: Model, q: M, qd: M) -> M:
    """[angular momentum about the world origin [N m s]; linear momentum [N s]] (6)."""
    states = joint_states(model, q, qd)
    v = [DM(6, 1)]
    for i, p in model.edges:
        v.append(states[i].XJ.apply(v[p]) + states[i].vJ)
    h = [DM(6, 1)] + [model.I[i].apply(v[i]) for i, _ in model.edges]
    for i, p in reversed(list(model.edges)):
        h[p] = h[p] + states[i].XJ.apply_transpose(h[i])
    return as_type(h[0], q)


def linear_momentum(model: Model, q: M, qd: M) -> M:
    """Linear momentum [N s] (3)."""
    return as_type(halves(momentum(model, q, qd))[1], q)


def angular_momentum(model: Model, q: M, qd: M) -> M:
    """Angular momentum about the world origin [N m s] (3)."""
    return as_type(halves(momentum(model, q, qd))[0], q)


def centroidal_momentum(model: Model, q: M, qd: M) -> M:
    """h_com = [angular momentum about the centre of mass [N m s]; linear momentum [N s]] (6)."""
    return as_type(_about_com(model, q, momentum(model, q, qd)), q)


def centroidal_momentum_rate(model: Model, q: M, qd: M, qdd: M) -> M:
    """d(h_com)/dt (6): the resultant of all external forces, gravity included, about the centre of mass."""
    return as_type(_about_com(model, q, _momentum_rate(model, q, qd, qdd)), q)


def kinetic_energy(model: Model, q: M, qd: M) -> M:
    """T = 1/2 qd' H qd = sum of 1/2 v[i]' I v[i] [J]."""
    states = joint_states(model, q, qd)
    v, T = [DM(6, 1)], DM(0)
    for i, p in model.edges:
        v.append(states[i].XJ.apply(v[p]) + states[i].vJ)
        T = T + ca.dot(v[i], model.I[i].apply(v[i])) / 2
    return as_type(T, q)


def potential_energy(model: Model, q: M) -> M:
    """V = -m g . com [J], zero when the centre of mass is at the world origin."""
    return as_type(-model.mass * ca.dot(sparse(model.gravity), center_of_mass(model, q)), q)


def zero_moment_point(model: Model, q: M, qd: M, qdd: M) -> M:
    """Point of the plane z = 0 about which `d(momentum)/dt - m g` has no moment along x and y [m] (3).

    Where all contact lies in that plane this is the centre of pressure. Infinite in free fall.
    """
    weight = model.mass * sparse(model.gravity)
    n, f = halves(_momentum_rate(model, q, qd, qdd))
    n, f = n - ca.cross(center_of_mass(model, q), weight), f - weight
    return as_type(ca.vertcat(-n[1] / f[2], n[0] / f[2], 0), q)


def _momentum_rate(model: Model, q: M, qd: M, qdd: M) -> Expr:
    """d/dt of [angular momentum about the world origin; linear momentum]."""
    states = joint_states(model, q, qd)
    accelerations = model.split_v(qdd, "qdd")
    v, a = [DM(6, 1)], [DM(6, 1)]
    for i, p in model.edges:
        X, S, vJ, cJ = states[i]
        v.append(X.apply(v[p]) + vJ)
        a.append(X.apply(a[p]) + S @ accelerations[i] + cJ + crm(v[i], vJ))
    f = [DM(6, 1)] + [model.I[i].force(v[i], a[i]) for i, _ in model.edges]
    for i, p in reversed(list(model.edges)):
        f[p] = f[p] + states[i].XJ.apply_transpose(f[i])
    return f[0]


def _about_com(model: Model, q: Expr, f: Expr) -> Expr:
    """A momentum or force about the world origin, taken about the centre of mass."""
    n, fl = halves(f)
    return ca.vertcat(n - ca.cross(center_of_mass(model, q), fl), fl)


def _check_mass(model: Model) -> None:
    if model.mass <= 0:
        raise ValueError(f"{model!r} has no mass, so no centre of mass: give its bodies masses")
