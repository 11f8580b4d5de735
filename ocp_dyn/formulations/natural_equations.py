"""The equations of motion in natural coordinates as functions of x and xd, and the units of their rows.

    M xdd = Q(x, xd) + Phi_x' lam,   Phi(x) = 0

lam has the sign of the library: it acts on the mechanism. The multipliers of [GJB94] have the opposite sign.

A penalty factor is the stiffness of a spring along a row of Phi. So that one number means the same on a watch and on a
crane, it is given for a mechanism whose bodies have a mass of 1 kg and a length of 1 m, and scaled from there:

    alpha_k = alpha m0 L0^2 / s_k^2,

with m0 and L0 the mean mass and extent of the bodies, see `Scales`, and s_k the unit of row k: L0^2 for a row of the
dimension m^2, as the constant distance of two points, L0 for m, 1 for a row between unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._base.autodiff import on_symbols
from .._base.checks import all_positive
from .._base.types import Array, Expr, names_in_message
from ..mechanism import Model
from ..mechanism.loads import Loads
from .natural_coordinates import NaturalCoordinates
from .natural_dynamics import (
    natural_constraints,
    natural_force,
    natural_jacobian,
    natural_jacobian_rate,
    natural_mass_matrix,
)

Force = Callable[[Expr, Expr], Expr]
LARGEST_COUNT = 1000
"""Largest number of iterations of a step: every one adds its operations to the graph."""
WEIGHTLESS = 1e-14
"""Least eigenvalue of the inertia, relative to the largest, that counts as inertia."""


class Scales(NamedTuple):
    """Mass m0 [kg] and length L0 [m] of a mechanism, and the units of its coordinates (n) and rows (m)."""

    mass: float
    length: float
    coordinates: Array
    rows: Array

    @staticmethod
    def of(natural: NaturalCoordinates) -> Scales:
        """m0: mean mass of the bodies that have one. L0: mean extent of the bodies that have one, the largest distance
        of their points and centers of mass. Coordinates of points have the unit L0, those of vectors 1. Masses are
        those of the model that natural coordinates were made of; masses that are expressions do not count."""
        tree, is_point = natural.tree, natural.lengths
        masses = [_number(body.m) for body in tree.I[1:]]
        found = [extent for extent in map(_extent, _points_of_bodies(natural)) if extent > 0]
        length = float(np.mean(found)) if found else natural.size
        mass = float(np.mean([m for m in masses if m > 0])) if any(masses) else 1.0
        return Scales(mass, length, np.where(is_point, length, 1.0), length ** np.array(natural.powers))

    def penalties(self, alpha: Any) -> Expr:
        """alpha_k (m): from one number or expression for a mechanism of 1 kg and 1 m, or m numbers as they are.

        ValueError for other numbers of them, or if one is not positive.
        """
        if isinstance(alpha, (SX, DM)) and alpha.numel() == 1:
            return alpha * DM(self.mass * self.length**2 / self.rows**2)
        values = all_positive(alpha, "alpha")
        if values.size not in (1, len(self.rows)):
            raise ValueError(
                f"alpha must be one number or {len(self.rows)}, one per row of the constraints, got {values.size}"
            )
        return DM(values) if values.size > 1 else self.penalties(DM(values))


def _points_of_bodies(natural: NaturalCoordinates) -> list[Array]:
    """Every moving body's basic points and its center of mass (k x 3, in the plane k x 2) [m]."""
    tree = natural.tree
    found: list[list[Array]] = [[] for _ in tree.I]
    for i, body in enumerate(tree.I[1:], 1):
        if _number(body.m) and SX(body.h).is_constant():
            com = np.asarray(DM(SX(body.h)).full()).ravel() / _number(body.m)
            found[i].append(natural.bodies[i].frame.T @ com)
    for point in natural.points:
        for name, r in zip(point.bodies, point.local, strict=True):
            if name in tree.body_names:
                found[1 + tree.body_names.index(name)].append(np.array(r))
    return [np.array(points).reshape(len(points), natural.dimension) for points in found[1:]]


def _number(mass: Expr) -> float:
    """A mass as a number; 0 for an expression."""
    return float(SX(mass)) if SX(mass).is_constant() else 0.0


def _extent(points: Array) -> float:
    """The largest distance of two points."""
    return float(np.linalg.norm(points[:, None] - points[None], axis=-1).max(initial=0.0))


@dataclass(frozen=True)
class NaturalEquations:
    """M (n x n), constant; Phi, Phi_x, c = -Phi_x_dot xd and Q as functions of x, xd.

    tau (nv), or a function of x, xd that returns it; f_ext (6 x k), None without external loads. ValueError without
    coordinates.
    """

    model: Model
    natural: NaturalCoordinates
    tau: Expr | Force
    f_ext: Expr | None
    loads: Loads

    def __post_init__(self) -> None:
        if not self.natural.n:
            raise ValueError(
                "the mechanism cannot move, its loops tie all bodies to the ground and lock the joints "
                f"{names_in_message(self.natural.tree.joint_names)}: there are no natural coordinates; leave out a loop"
            )

    @cached_property
    def M(self) -> Expr:
        """Mass matrix (n x n)."""
        return natural_mass_matrix(self.model, self.natural, SX(self.natural.n, 1))

    @cached_property
    def scales(self) -> Scales:
        """Units of coordinates and rows."""
        return Scales.of(self.natural)

    def Phi(self, x: Expr) -> Expr:
        """Errors of the constraints (m)."""
        return natural_constraints(self.model, self.natural, x)

    def Phi_x(self, x: Expr) -> Expr:
        """Jacobian of the constraints (m x n)."""
        return natural_jacobian(self.model, self.natural, x)

    def c(self, x: Expr, xd: Expr) -> Expr:
        """-Phi_x_dot xd (m), the right-hand side of Phi_x xdd = c."""
        return natural_jacobian_rate(self.model, self.natural, x, xd)

    def Q(self, x: Expr, xd: Expr) -> Expr:
        """Applied forces (n)."""
        torques = self.tau(x, xd) if callable(self.tau) else self.tau
        return natural_force(self.model, self.natural, x, xd, torques, self.f_ext, loads=self.loads)

    def stiffness(self, x: Expr, xd: Expr, h: Expr) -> Expr:
        """The symmetric part of Q_x + (2/h) Q_xd (n x n), of passive forces and of torques that are functions.

        By automatic differentiation. Given torques turn with the joints, too; their part is small, as that of Phi_xx.
        """
        if not callable(self.tau) and not self.loads.passive:
            return SX(self.natural.n, self.natural.n)
        loads = replace(self.loads, external=())
        tau = self.tau if callable(self.tau) else DM(self.model.nv, 1)
        inner = NaturalEquations(self.model, self.natural, tau, None, loads)

        def tangent(x: Expr, xd: Expr) -> list[Expr]:
            Q = SX(inner.Q(x, xd))
            K = ca.jacobian(Q, x) + 2 / h * ca.jacobian(Q, xd)
            return [(K + K.T) / 2]

        return on_symbols(tangent, x, xd)[0]


def check_resisted(what: str, natural: NaturalCoordinates, scales: Scales, A: DM, Phi_x: DM) -> None:
    """ValueError, with the names of a coordinate and its bodies, if A (n x n, the mass matrix, with springs or without)
    does not resist a motion that the constraints allow, so that A + Phi_x' Phi_x is singular."""
    unit = scales.coordinates
    J = np.asarray(DM(Phi_x).full()) * unit / scales.rows[:, None]
    inertia = np.asarray(DM(A).full()) * np.outer(unit, unit) / (scales.mass * scales.length**2) + J.T @ J
    if not natural.n or not np.all(np.isfinite(inertia)):
        return
    values, vectors = np.linalg.eigh(inertia)
    if values[0] <= WEIGHTLESS * np.abs(values).max():
        name = natural.names[int(np.argmax(np.abs(vectors[:, 0])))]
        bodies = natural.element(name.rpartition(".")[0]).bodies
        raise ValueError(
            f"{what}: no inertia resists a motion of {name}, which belongs to {names_in_message(bodies)}: give the "
            "body mass and inertia, or lock its joint"
        )


@dataclass(frozen=True)
class SparseFactor:
    """A = L D L' of a symmetric SX matrix, in an order of few fill-ins, without pivoting.

    A must be positive definite, or quasi-definite: [E F'; F -G] with E, G positive definite has such a factor in every
    order [R. J. Vanderbei, Symmetric quasidefinite matrices, SIAM J. Optim. 5, 1995].
    """

    D: Expr
    Lt: Expr
    order: Sequence[int]

    @staticmethod
    def of(A: Expr) -> SparseFactor:
        """The factor of A."""
        return SparseFactor(*ca.ldl(A, True))

    def solve(self, b: Expr) -> Expr:
        """A^-1 b."""
        return ca.ldl_solve(ca.densify(b), self.D, self.Lt, self.order)
