"""Recorded quantities that put several calls of the library together, one Function each."""

from __future__ import annotations

from typing import Any

import casadi as ca

import ocp_dyn as od
from ocp_dyn.dynamics.rnea_crba_aba import factor


def q_dot(model: od.Model, q: Any, qd: Any) -> Any:
    return model.q_dot(q, qd)


def minv_tau(model: od.Model, q: Any, tau: Any) -> Any:
    return factor(model, od.mass_matrix(model, q)).solve(tau)


def body_pose(model: od.Model, name: str, q: Any) -> Any:
    R, p = od.pose(model, name, q)
    return R.T, p


POINT_OUTPUTS = ("pos", "vel", "acc", "acc_qddot0", "vel6", "acc6", "acc6_qddot0", "J", "J6", "J_body_spatial")


def point(model: od.Model, name: str, q: Any, qd: Any, qdd: Any, p: Any) -> Any:
    E, _ = body_pose(model, name, q)
    return (
        od.point_position(model, name, q, p),
        od.point_velocity(model, name, q, qd, p),
        od.point_acceleration(model, name, q, qd, qdd, p),
        od.point_acceleration(model, name, q, qd, point=p),
        od.point_velocity_6d(model, name, q, qd, p),
        od.point_acceleration_6d(model, name, q, qd, qdd, p),
        od.point_acceleration_6d(model, name, q, qd, point=p),
        od.point_jacobian(model, name, q, p),
        od.point_jacobian_6d(model, name, q, p),
        ca.diagcat(E, E) @ od.point_jacobian_6d(model, name, q),
    )


CENTROIDAL_OUTPUTS = (
    "com", "com_vel", "com_acc", "angular_momentum_com", "angular_momentum_rate_com", "kinetic_energy",
    "potential_energy", "zmp_plane_z0",
)  # fmt: skip


def centroidal(model: od.Model, q: Any, qd: Any, qdd: Any) -> Any:
    return (
        od.center_of_mass(model, q),
        od.center_of_mass_velocity(model, q, qd),
        od.center_of_mass_acceleration(model, q, qd, qdd),
        od.centroidal_momentum(model, q, qd)[:3],
        od.centroidal_momentum_rate(model, q, qd, qdd)[:3],
        od.kinetic_energy(model, q, qd),
        od.potential_energy(model, q),
        od.zero_moment_point(model, q, qd, qdd),
    )


def rate(model: od.Model, contacts: tuple[od.Contact, ...], q: Any, qd: Any, tau: Any) -> Any:
    """(dq/dt, qdd), free or in contact."""
    free = not contacts
    qdd = od.forward_dynamics(model, q, qd, tau) if free else od.constrained_dynamics(model, contacts, q, qd, tau)[0]
    return model.q_dot(q, qd), qdd


def energy(model: od.Model, q: Any, qd: Any) -> Any:
    return od.kinetic_energy(model, q, qd) + od.potential_energy(model, q)
