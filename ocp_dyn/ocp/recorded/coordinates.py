"""Joints that follow others, constraints that hold in every phase, and joints without a motor, of a loaded model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from ...constraints import Constraint, CoordinateCoupling, JointCoupling, mimic_constraints
from ...mechanism import Model
from ..statement.state.dependent import DependentJoints

FREE_DOFS = 3
"""Least number of dofs with which a chain of joints from the ground is the free root of a body."""


def held_couplings(model: Model) -> tuple[tuple[DependentJoints, ...], tuple[Constraint, ...]]:
    """The constraints of a model and its mimic joints: as dependent joints where one joint of one dof follows others,
    and as constraints of the phases otherwise."""
    dependent: list[DependentJoints] = []
    others: list[Any] = []
    for one in (*mimic_constraints(model), *model.constraints):
        found = _following(model, one)
        taken = {joint for member in dependent for joint in member.joints}
        if found is None or taken & {*found.joints, *found.of} or _leads(found, dependent):
            others.append(one)
        else:
            dependent.append(found)
    return tuple(dependent), tuple(others)


def _leads(found: DependentJoints, others: list[DependentJoints]) -> bool:
    """Whether a joint that others follow would itself follow."""
    return bool({*found.joints} & {joint for member in others for joint in member.of})


def _following(model: Model, one: Any) -> DependentJoints | None:
    if isinstance(one, JointCoupling):
        return DependentJoints(one, [one.joint], [one.other], _ratio(one))
    if not isinstance(one, CoordinateCoupling):
        return None
    joint = _joint_of(model, one.coordinate)
    if model.joints[model.joint_names.index(joint) + 1].nq != 1:
        return None
    of = list(dict.fromkeys(_joint_of(model, name) for name in one.others))
    entries = [k for name in of for k in range(model.nq)[model.q_slice(name)]]
    at = [entries.index(model.q_names.index(name)) for name in one.others]
    return DependentJoints(one, [joint], of, _function(one, at))


def _ratio(one: JointCoupling) -> Callable[[Any], Any]:
    own = one.function or (lambda q: q)
    return lambda q: one.ratio * own(q) + one.offset


def _function(one: CoordinateCoupling, at: list[int]) -> Callable[[Any], Any]:
    return lambda q: ca.vertcat(one.scale * one.function.at(*(q[k] for k in at)))


def _joint_of(model: Model, coordinate: str) -> str:
    k = model.q_names.index(coordinate)
    return next(name for name in model.joint_names if k in range(model.nq)[model.q_slice(name)])


def free_root(model: Model) -> tuple[str, ...]:
    """Joints without a motor: those between the ground and the first body with mass, if together they have at least
    three dofs; otherwise the model's floating joints."""
    chain, body = [], 0
    while True:
        following = [i for i, parent in model.edges if parent == body]
        if len(following) != 1:
            break
        body = following[0]
        chain.append(body)
        if float(model.I[body].m) > 0:
            break
    dofs = sum(model.joints[i].nv for i in chain)
    return tuple(model.joint_names[i - 1] for i in chain) if dofs >= FREE_DOFS else model.floating_joints
