"""Facts about the rows of constraint sets: which of them have one unit, and by how much they are violated."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
from casadi import DM

from .._base.autodiff import as_function
from .._base.types import Expr
from ..constraints import (
    Baumgarte,
    Constraint,
    Contact,
    CustomConstraint,
    JointCoupling,
    LockedJoint,
    Loop,
    RollingContact,
)
from ..mechanism import Model

ANGULAR, LINEAR = 0, 1
"""Numbers of the units of moments and of forces; rows of other units have numbers of their own."""


def units_of(members: Sequence[Constraint]) -> list[int]:
    """A number for every row, equal for rows whose forces have one unit: moments, forces, and each other row alone."""
    units: list[int] = []
    for member in members:
        known = _known_units(_inner(member))
        first = LINEAR + 1 + len(units)
        units += [first + k if unit is None else unit for k, unit in enumerate(known or [None] * len(member.rows))]
    return units


def _known_units(member: Constraint) -> list[int | None] | None:
    if isinstance(member, Contact):
        turns = 0 if member.axes is not None else len(member.rows) // 2
        return [*[ANGULAR] * turns, *[LINEAR] * (len(member.rows) - turns)]
    if isinstance(member, RollingContact):
        sides = member.sides.shape[0]
        return [*[LINEAR] * sides, *[ANGULAR] * (len(member.rows) - sides)]
    if isinstance(member, Loop):
        return [None if any(a[:3]) and any(a[3:]) else ANGULAR if any(a[:3]) else LINEAR for a in member.axes]
    return None


def openings_of(model: Model, members: Sequence[Constraint], q: Expr) -> Expr:
    """|phi| of all rows whose directions change where they are violated (m); structural zeros for the others.

    Zero, too, for contacts and locks without a reference, which hold wherever they are.
    """
    return ca.vertcat(*(_opening(model, member, q) for member in members))


def _opening(model: Model, member: Constraint, q: Expr) -> Expr:
    inner = _inner(member)
    if (isinstance(inner, Contact) and inner.reference is None) or _is_linear(model, inner):
        return DM(len(member.rows), 1)
    return ca.fabs(inner.position(model, q))


def _is_linear(model: Model, member: Constraint) -> bool:
    """Whether the rows of a lock, a coupling or a user's function are the same in every posture."""
    if isinstance(member, LockedJoint):
        return True
    if isinstance(member, JointCoupling):
        return member.function is None
    if not isinstance(member, CustomConstraint) or member.timed:
        return False
    rows = as_function(lambda q: [member.jacobian(model, q)], model.nq)
    return rows.jac_sparsity(0, 0).nnz() == 0


def _inner(member: Constraint) -> Constraint:
    return member.constraint if isinstance(member, Baumgarte) else member
