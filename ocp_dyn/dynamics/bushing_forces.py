"""Generalized forces and energies of `Model.bushings`: bushings, springs along paths, supported weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from .._base.formulas import formula
from .._base.types import Expr, sparse
from ..mechanism import Bushing, Model
from ..mechanism.parts import WORLD
from ..mechanism.passive import DEFLECTIONS, PathSpring, Pose, WeightSupport
from .kinematics import point_jacobian, point_jacobian_6d, point_position, point_velocity_6d, pose


class Deflection(NamedTuple):
    """The relative pose of a bushing's frames: x (6), and what turns forces dual to it into wrenches."""

    x: Expr
    rate: Expr
    N: Expr
    """dx/dt of the angles per angular velocity in axes of the second frame (3x3)."""
    R: tuple[Expr, Expr]
    apart: Expr
    """From the first origin to the second [m], world axes."""


def bushing_wrenches(model: Model, bushing: Bushing, q: Expr, qd: Expr) -> tuple[Expr, Expr]:
    """[moment about the frame's origin; force] (6) on the first and on the second frame of a bushing, world axes."""
    at = _deflection(model, bushing, q, qd)
    f = -DM(bushing.stiffness) * at.x - DM(bushing.damping) * at.rate - _by_laws(bushing, at.x)
    force = at.R[0] @ f[3:]
    moment = at.R[1] @ (at.N.T @ f[:3])
    on_first = ca.vertcat(-moment - ca.cross(at.apart, force), -force)
    return on_first, ca.vertcat(moment, force)


def _by_laws(bushing: Bushing, x: Expr) -> Expr:
    """The moments and forces of the laws (6)."""
    if not bushing.laws:
        return DM(6, 1)
    entries = [x[k] for k in range(6)]
    known = dict(zip(DEFLECTIONS, entries, strict=True))
    return ca.vertcat(*(formula(law, known) if isinstance(law, str) else law.at(own)
                        for law, own in zip(bushing.laws, entries, strict=True)))  # fmt: skip


def bushing_force(model: Model, q: Expr, qd: Expr) -> Expr:
    """The sum of the springs' generalized forces (nv) [N m, N]; structurally zero without any."""
    total: Expr = DM(model.nv, 1)
    for one in model.bushings:
        total = total + LAWS[type(one)][0](model, one, q, qd)
    return total


def bushing_energy(model: Model, q: Expr) -> Expr:
    """The sum of the springs' energies [J]."""
    energy: Expr = DM(1, 1)
    for one in model.bushings:
        energy = energy + LAWS[type(one)][1](model, one, q)
    return energy


def _bushing_energy(model: Model, bushing: Bushing, q: Expr) -> Expr:
    """1/2 x' K x."""
    x = _deflection(model, bushing, q, DM(model.nv, 1)).x
    return ca.dot(DM(bushing.stiffness) * x, x) / 2


def _of_bushing(model: Model, bushing: Bushing, q: Expr, qd: Expr) -> Expr:
    """(dx/dq)' (-K x - D dx/dt)."""
    total: Expr = DM(model.nv, 1)
    for end, wrench in zip(_ends(bushing), bushing_wrenches(model, bushing, q, qd), strict=True):
        name, (_, p) = end
        if name != WORLD:
            total = total + point_jacobian_6d(model, name, q, point=p).T @ wrench
    return total


def _ends(bushing: Bushing) -> tuple[tuple[str, Pose], tuple[str, Pose]]:
    return (bushing.first, bushing.first_pose), (bushing.second, bushing.second_pose)


def _deflection(model: Model, bushing: Bushing, q: Expr, qd: Expr) -> Deflection:
    places: list[tuple[Expr, Expr]] = []
    twists: list[Expr] = []
    for name, (axes, p) in _ends(bushing):
        own = sparse(np.reshape(axes, (3, 3)))
        if name == WORLD:
            places.append((own, sparse(p)))
            twists.append(DM(6, 1))
            continue
        Rb, xb = pose(model, name, q)
        places.append((Rb @ own, xb + Rb @ sparse(p)))
        twists.append(point_velocity_6d(model, name, q, qd, point=p))
    (R1, p1), (R2, p2) = places
    w1, w2 = twists[0][:3], twists[1][:3]
    R = R1.T @ R2
    cb = ca.sqrt(R[0, 0] ** 2 + R[0, 1] ** 2)
    sb, sc, cc = R[0, 2], -R[0, 1] / cb, R[0, 0] / cb
    angles = ca.vertcat(ca.atan2(-R[1, 2], R[2, 2]), ca.atan2(sb, cb), ca.atan2(-R[0, 1], R[0, 0]))
    N = ca.vertcat(
        ca.horzcat(cc / cb, -sc / cb, DM(1, 1)), ca.horzcat(sc, cc, DM(1, 1)),
        ca.horzcat(-sb * cc / cb, sb * sc / cb, DM(1)),
    )  # fmt: skip
    apart = p2 - p1
    turn = N @ (R2.T @ (w2 - w1))
    slide = R1.T @ (twists[1][3:] - twists[0][3:] - ca.cross(w1, apart))
    return Deflection(ca.vertcat(angles, R1.T @ apart), ca.vertcat(turn, slide), N, (R1, R2), apart)


# Springs along paths, and supported weights


def _path_force(model: Model, spring: PathSpring, q: Expr, qd: Expr) -> Expr:
    """-(dL/dq)' T (nv)."""
    length, slope = _length(model, spring, q)
    x, v = _stretch(spring, length), ca.mtimes(slope.T, qd)
    k, d = spring.stiffness, spring.damping
    elastic = x * (k[0] + x * (k[1] + x * k[2]))
    viscous = v * (d[0] + ca.fabs(v) * d[1] + v * v * d[2])
    return -slope * (elastic + viscous)


def _path_energy(model: Model, spring: PathSpring, q: Expr) -> Expr:
    """The integral of the elastic tension along the path [J]."""
    x = _stretch(spring, _length(model, spring, q)[0])
    return sum((k / n * x**n for n, k in enumerate(spring.stiffness, 2)), DM(0))


def _stretch(spring: PathSpring, length: Expr) -> Expr:
    """Distance of the length from the rest lengths."""
    low, high = spring.rest
    if low == high:
        return length - low
    return ca.fmax(length - high, 0) + ca.fmin(length - low, 0)


def _length(model: Model, spring: PathSpring, q: Expr) -> tuple[Expr, Expr]:
    """The length, and its slope along qd (nv)."""
    slope: Expr = DM(model.nv, 1)
    length: Expr = DM(0)
    if spring.along:
        for name, factor in spring.along:
            length = length + factor * q[model.coordinate_entries[name]]
            slope[model.qd_names.index(name)] = factor
        return length, slope
    places, jacobians = [], []
    for name, point in spring.points:
        places.append(sparse(point) if name == WORLD else point_position(model, name, q, point))
        jacobians.append(DM(3, model.nv) if name == WORLD else point_jacobian(model, name, q, point))
    for k in range(len(places) - 1):
        apart = places[k + 1] - places[k]
        way = ca.norm_2(apart)
        length = length + way
        slope = slope + (jacobians[k + 1] - jacobians[k]).T @ (apart / way)
    return length, slope


def _weight_force(model: Model, support: WeightSupport, q: Expr, qd: Expr) -> Expr:
    """J' (-mass g) (nv)."""
    if support.frame == WORLD:
        return DM(model.nv, 1)
    return point_jacobian(model, support.frame, q, support.point).T @ sparse(-support.mass * np.array(model.gravity))


def _weight_energy(model: Model, support: WeightSupport, q: Expr) -> Expr:
    """mass g' p [J]."""
    if support.frame == WORLD:
        return DM(1, 1)
    return support.mass * ca.dot(DM(model.gravity), point_position(model, support.frame, q, support.point))


LAWS: dict[type, tuple[Any, Any]] = {
    Bushing: (_of_bushing, _bushing_energy),
    PathSpring: (_path_force, _path_energy),
    WeightSupport: (_weight_force, _weight_energy),
}
"""Generalized force and energy of every kind of spring between bodies."""
