"""Generalized forces and energies of `Model.bushings`."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Expr, sparse
from ..mechanism import Bushing, Model
from ..mechanism.parts import WORLD
from ..mechanism.passive import Pose
from .kinematics import point_jacobian_6d, point_velocity_6d, pose


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
    f = -DM(bushing.stiffness) * at.x - DM(bushing.damping) * at.rate
    force = at.R[0] @ f[3:]
    moment = at.R[1] @ (at.N.T @ f[:3])
    on_first = ca.vertcat(-moment - ca.cross(at.apart, force), -force)
    return on_first, ca.vertcat(moment, force)


def bushing_force(model: Model, q: Expr, qd: Expr) -> Expr:
    """(dx/dq)' (-K x - D dx/dt), summed over the bushings of the model (nv) [N m, N]; structurally zero without any."""
    total: Expr = DM(model.nv, 1)
    for bushing in model.bushings:
        wrenches = bushing_wrenches(model, bushing, q, qd)
        for end, wrench in zip(_ends(bushing), wrenches, strict=True):
            name, (_, p) = end
            if name != WORLD:
                total = total + point_jacobian_6d(model, name, q, point=p).T @ wrench
    return total


def bushing_energy(model: Model, q: Expr) -> Expr:
    """1/2 x' K x, summed over the bushings [J]."""
    energy: Expr = DM(1, 1)
    for bushing in model.bushings:
        x = _deflection(model, bushing, q, DM(model.nv, 1)).x
        energy = energy + ca.dot(DM(bushing.stiffness) * x, x) / 2
    return energy


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
