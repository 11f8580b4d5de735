"""Constraints on the motion: phi(q) = 0, G qd = 0, G qdd = gamma [F16, sec. 2.4].

    G = dphi/dq (along qd),   gamma = -(dG/dt) qd,   H qdd + C = tau + G' lam,

`lam` acts on the robot. A constraint set is a tuple of constraints; its rows are stacked in that order.
One protocol, `Constraint`, serves every algorithm; a new kind of constraint is a new class.

[F16] M. Felis, RBDL: an efficient rigid-body dynamics library, Autonomous Robots 2016.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import casadi as ca
import numpy as np
from casadi import DM

from ._types import Expr, M, Vector, as_type, finite_vector, sparse
from .kinematics import point_acceleration_6d, point_jacobian_6d, pose, resolve
from .model import Frame, Model
from .rotations import AXES, matrix_quaternion
from .spatial import vee


@runtime_checkable
class Constraint(Protocol):
    """What an algorithm asks of a constraint; `rows` names its rows."""

    @property
    def rows(self) -> tuple[str, ...]: ...

    def position(self, model: Model, q: Expr) -> Expr:
        """phi (m)."""

    def jacobian(self, model: Model, q: Expr) -> Expr:
        """G (m x nv)."""

    def hessian(self, model: Model, q: Expr, qd: Expr) -> Expr:
        """gamma (m) of `G qdd = gamma`."""


@dataclass(frozen=True)
class Contact:
    """A point of a body, or the whole body, held in the world.

    body: a frame of the model (`model.body(name)`) or its name. point [m], in that frame's coordinates.
    axes: None, six rows [angular; linear] at the point; "xyz" or any subset, or a sequence of directions
    in the world (normalised): linear rows only. reference: pose (R, p) at which phi = 0; `at(model, q)`
    takes it from a configuration. phi: R R_ref' by the vee of its skew part [sine of the angle], then p - p_ref [m].

    `G qd = d(phi)/dt` holds everywhere for linear rows, at phi = 0 for angular ones; gamma is minus the
    point's true acceleration at qdd = 0.
    """

    body: Frame | str
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    axes: Any = None
    reference: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.body, (Frame, str)):
            raise TypeError(f"Contact needs a frame (model.body(name)) or a name, got {self.body!r}")
        x, y, z = (float(c) for c in finite_vector(self.point, 3, "Contact point"))
        object.__setattr__(self, "point", (x, y, z))
        object.__setattr__(self, "axes", None if self.axes is None else _directions(self.axes))
        if self.reference is not None:
            if not isinstance(self.reference, (tuple, list)) or len(self.reference) != 2:
                raise ValueError(f"Contact reference must be (R, p), a rotation and a position, got {self.reference!r}")
            R = finite_vector(self.reference[0], 9, "Contact reference rotation (3x3)")
            p = finite_vector(self.reference[1], 3, "Contact reference position")
            matrix_quaternion(R.reshape(3, 3))  # raises unless R is a rotation
            object.__setattr__(self, "reference", (tuple(map(float, R)), tuple(map(float, p))))

    @property
    def name(self) -> str:
        """The name of the frame in contact."""
        return self.body if isinstance(self.body, str) else self.body.name

    @property
    def rows(self) -> tuple[str, ...]:
        if self.axes is None:
            return tuple(f"{self.name}.{kind}{k}" for kind in ("r", "t") for k in "xyz")
        return tuple(f"{self.name}.t{_direction_name(axis)}" for axis in self.axes)

    def at(self, model: Model, q: Any) -> Contact:
        """The same contact with the pose it has at q (numbers) as its reference."""
        R, p = self._pose(model, model.column(DM(q), model.nq, "q"))
        return replace(self, reference=(tuple(R.full().ravel()), tuple(p.full().ravel())))

    def position(self, model: Model, q: Expr) -> Expr:
        if self.reference is None:
            raise ValueError(
                f"contact at {self.name!r} has no reference pose, so no phi: "
                "give Contact(..., reference=(R, p)) or take it from a configuration with contact.at(model, q)"
            )
        return self.position_from(model, q, sparse(np.reshape(self.reference[0], (3, 3))), sparse(self.reference[1]))

    def position_from(self, model: Model, q: Expr, R_ref: Expr, p_ref: Expr) -> Expr:
        """phi against a reference pose that may be symbolic."""
        R, p = self._pose(model, q)
        return self._select(ca.vertcat(vee(R @ R_ref.T), p - p_ref))

    def jacobian(self, model: Model, q: Expr) -> Expr:
        return self._select(point_jacobian_6d(model, resolve(model, self.body), q, self.point))

    def hessian(self, model: Model, q: Expr, qd: Expr) -> Expr:
        return -self._select(point_acceleration_6d(model, resolve(model, self.body), q, qd, point=self.point))

    def _pose(self, model: Model, q: Expr) -> tuple[Expr, Expr]:
        R, p = pose(model, resolve(model, self.body), q)
        return R, p + R @ sparse(self.point)

    def _select(self, x: Expr) -> Expr:
        return x if self.axes is None else sparse(self.axes) @ x[3:, :]


Constraints = Sequence[Constraint]


def constraint_position(model: Model, constraints: Constraints, q: M) -> M:
    """phi(q) (m): position-level error of every constraint, stacked [m; sine of an angle]."""
    return as_type(ca.vertcat(*(c.position(model, q) for c in as_set(constraints))), q)


def constraint_jacobian(model: Model, constraints: Constraints, q: M) -> M:
    """G(q) (m x nv): `G qd` is the velocity along every row; zero outside supporting paths [F16, eq. 6]."""
    return as_type(ca.vertcat(*(c.jacobian(model, q) for c in as_set(constraints))), q)


def constraint_hessian(model: Model, constraints: Constraints, q: M, qd: M) -> M:
    """gamma(q, qd) = -(dG/dt) qd (m): the right-hand side of `G qdd = gamma` [F16, eq. 8]."""
    return as_type(ca.vertcat(*(c.hessian(model, q, qd) for c in as_set(constraints))), q)


def constraint_rows(constraints: Constraints) -> tuple[str, ...]:
    """A name for every row of phi, G, gamma, lam."""
    return tuple(row for c in as_set(constraints) for row in c.rows)


def as_set(constraints: Any) -> tuple[Constraint, ...]:
    """A constraint set as a tuple; one constraint alone is a set too."""
    if isinstance(constraints, Constraint):
        return (constraints,)
    if not isinstance(constraints, Iterable) or isinstance(constraints, str):
        raise TypeError(f"constraints must be a tuple of constraints such as Contact, got {constraints!r}")
    members = tuple(constraints)
    for member in members:
        if not isinstance(member, Constraint):
            raise TypeError(f"constraints must be a tuple of constraints such as Contact, got {member!r} in it")
    if not members:
        raise ValueError("the constraint set is empty: use forward_dynamics for an unconstrained model")
    return members


def _directions(axes: str | Sequence[Vector]) -> tuple[tuple[float, ...], ...]:
    wrong = ValueError(f"Contact axes must be a subset of 'xyz' or a sequence of directions, got {axes!r}")
    if isinstance(axes, str):
        if not axes or set(axes) - set(AXES) or len(set(axes)) != len(axes):
            raise wrong
        return tuple(AXES[k] for k in axes)
    if not isinstance(axes, Iterable):
        raise wrong
    rows = []
    for axis in axes:
        a = finite_vector(axis, 3, "a contact direction (axes is a subset of 'xyz' or a sequence of them)")
        if np.linalg.norm(a) < 1e-9:
            raise ValueError("a contact direction must not be zero")
        rows.append(tuple(float(x) for x in a / np.linalg.norm(a)))
    if not rows:
        raise ValueError("Contact axes must not be empty; leave axes out for all six rows")
    return tuple(rows)


def _direction_name(axis: tuple[float, ...]) -> str:
    return next((k for k, unit in AXES.items() if axis == unit), "(" + " ".join(f"{x:.3g}" for x in axis) + ")")
