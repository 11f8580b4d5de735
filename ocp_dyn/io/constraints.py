"""Constraints as plain data, for the files of solutions; joints that follow others as mimics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from casadi import DM

from .._base.types import ModelError, repr_in_message
from ..constraints import (
    Constraint,
    Contact,
    CoordinateCoupling,
    JointCoupling,
    LockedJoint,
    Loop,
    PointDistance,
    RollingContact,
)
from ..mechanism import Frame, Mimic, Model
from ..mechanism.parts import checked_mimics
from .plain_classes import as_data, class_called, field_names, from_data, is_own_dataclass, known_classes

CONSTRAINT_CLASSES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (Contact, RollingContact, Loop, JointCoupling, LockedJoint, CoordinateCoupling, PointDistance)
}
"""The library's classes of constraints that consist of names and numbers."""


def known_constraints(given: Any = ()) -> dict[str, Any]:
    """The classes of constraints that a file may name: the library's and those given."""
    return known_classes(CONSTRAINT_CLASSES, given, "constraints", lambda kind: issubclass(kind, Constraint))


def constraint_to_dict(constraint: Constraint) -> dict[str, Any]:
    """The kind and the fields of a constraint, with frames by name; ValueError for a constraint that holds a
    function."""
    kind = type(constraint)
    cannot = f"a solution under the constraint {repr_in_message(constraint)} cannot be saved: "
    if not is_own_dataclass(kind):
        raise ValueError(f"{cannot}its class is not a frozen dataclass")
    if CONSTRAINT_CLASSES.get(kind.__name__, kind) is not kind:
        raise ValueError(f"{cannot}its class has the name of one of the library's, {kind.__name__}: rename it")
    named = {"kind": kind.__name__}
    for key in field_names(kind):
        value = getattr(constraint, key)
        try:
            named[key] = value.name if isinstance(value, Frame) else as_data(value)
        except TypeError:
            why = "a file holds no functions, such as" if callable(value) else "a file holds frames, numbers, texts and"
            why += "" if callable(value) else " tuples of these, unlike"
            raise ValueError(f"{cannot}{why} its {key} = {repr_in_message(value)}") from None
    return named


def constraint_from_dict(saved: Any, model: Model, kinds: Mapping[str, Any] = CONSTRAINT_CLASSES) -> Constraint:
    """The constraint of `constraint_to_dict`. Raises ModelError for one that is malformed or does not fit the model.

    kinds: the classes that it may name, by name, as `known_constraints` gives them.
    """
    if not isinstance(saved, Mapping) or not isinstance(saved.get("kind"), str):
        raise ModelError(
            f"a constraint must be an object with a kind of {', '.join(kinds)}, got {repr_in_message(saved)}"
        )
    kind = saved["kind"]
    made = class_called(kind, kinds, "constraints", "a phase's contacts")
    if not finite(saved):
        raise ModelError(f"the {kind} holds numbers that are not finite")
    try:
        constraint: Constraint = made(**{key: from_data(x) for key, x in saved.items() if key != "kind"})
        G = np.array(DM(constraint.jacobian(model, DM(model.neutral()))).full())
    except Exception as error:  # noqa: BLE001, whatever a constructor or CasADi says to values of any kind
        raise ModelError(f"the {kind} cannot be made or does not fit the model: {str(error)[:200]}") from None
    if G.shape != (len(constraint.rows), model.nv) or not np.all(np.isfinite(G)):
        raise ModelError(
            f"the {kind} does not fit the model: its G has the shape {G.shape}, expected "
            f"{(len(constraint.rows), model.nv)}"
        )
    return constraint


def finite(value: Any) -> bool:
    """Whether all floating-point numbers in plain data are finite."""
    if isinstance(value, Mapping):
        return all(finite(x) for x in value.values())
    if isinstance(value, (list, tuple)):
        return all(finite(x) for x in value)
    return not isinstance(value, float) or math.isfinite(value)


def with_mimics(model: Model, constraints: Iterable[object]) -> Model:
    """The model with the linear couplings of joints as mimics, as far as no joint follows two and none follow in a
    ring."""
    mimics: list[Mimic] = []
    dofs = {name: model.joints[i].nv for i, name in enumerate(model.joint_names, 1)}
    for each in constraints:
        if isinstance(each, JointCoupling) and each.function is None:
            try:
                mimics = list(checked_mimics([*mimics, Mimic(each.joint, each.other, each.ratio, each.offset)], dofs))
            except ModelError:
                continue
    return replace(model, mimics=tuple(mimics)) if mimics else model
