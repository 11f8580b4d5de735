"""Choice of the dynamically equivalent model with the fewest operations, by counting them.

Only operations that depend on the choice of frames are counted: those of the offsets r and of general rotations E, and
of every body whose acceleration field U = dw x + w x w x is needed. For forces, r and E count once per body. For H they
count once per dof at or beyond the joint, because each column of H passes every joint up to the root. The equivalent
models are kept as long as the original model lives.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import DM

from ..constraints import (
    Baumgarte,
    Constraint,
    Contact,
    CustomConstraint,
    JointCoupling,
    LockedJoint,
    Loop,
    RollingContact,
    as_set,
)
from ..joints import Revolute
from ..mechanism import Model
from ..mechanism.equal_models import kept_per_model
from ..mechanism.near import near
from ..mechanism.reduction import variants

_BY_FRAMES = (Contact, Loop, RollingContact, JointCoupling, CustomConstraint)
"""Constraints that use only frames and one-dof joints of a model: they hold on a model whose joints are split, too."""


def cheapest_equivalent(
    model: Model, static: tuple[Any, ...] = (), *, velocities: bool = True, split: bool = True
) -> Model:
    """The equivalent model with the fewest operations for H, or for ID where there are velocities.

    static: constraint sets that must hold on it. The model is returned unchanged if one of them is of a user's class,
    which may use any part of a model, or if its inertias or positions hold symbols. split: joints may be split
    into simpler ones, which changes bodies and joints' names, see `reduction.variants`.
    """
    members = [_stabilized(member) for argument in static for member in as_set(argument)]
    if not all(isinstance(member, (*_BY_FRAMES, LockedJoint)) for member in members) or model.symbolic_bodies:
        return model
    if near(model) is not model:  # moving inertias to other bodies would cost their digits
        return model
    split = split and not any(isinstance(member, LockedJoint) for member in members)
    return min(_equivalents(model, split), key=_cost_of_forces if velocities else _cost_of_inertia)


@kept_per_model
def _equivalents(model: Model, split: bool) -> tuple[Model, ...]:
    return tuple(variants(model, split))


def _stabilized(constraint: Constraint) -> Constraint:
    """The constraint inside Baumgarte's stabilization, or the constraint itself if it is not stabilized."""
    return _stabilized(constraint.constraint) if isinstance(constraint, Baumgarte) else constraint


def _cost_of_forces(model: Model) -> int:
    """Operations of ID that depend on the choice of frames."""
    moving = {i for i, _ in model.edges if model.I[i].h.nnz() or model.I[i].I.nnz()}
    moving |= {
        p for i, p in model.edges if p and model.X_tree[i].r.nnz()
    }  # they carry a joint that is not at their origin
    return 15 * len(moving) + sum(_weight(model, i) for i, _ in model.edges)


def _cost_of_inertia(model: Model) -> int:
    """Operations of H that depend on the choice of frames."""
    beyond = [joint.nv for joint in model.joints]  # dofs at and beyond every joint
    for i, p in reversed(list(model.edges)):
        beyond[p] += beyond[i]
    return sum(beyond[i] * _weight(model, i) for i, _ in model.edges)


def _weight(model: Model, i: int) -> int:
    """Operations of moving a force from body i to its parent, without the rotation about a coordinate axis."""
    joint, X = model.joints[i], model.X_tree[i]
    general = any(abs(x) != 1 for x in X.E.nonzeros())
    if general and isinstance(joint, Revolute):
        # a fixed rotation about the joint's axis and the joint's rotation make one: no zero is lost
        general = float(ca.norm_inf(DM(joint.axis).T @ X.E)) < 1 - 1e-9
    return 4 * int(X.r.nnz()) + 16 * general
