"""Constraints as plain data, for the files of solutions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from casadi import DM

from .._types import ModelError
from ..constraints import Constraint, Contact, JointCoupling, LockedJoint, Loop, RollingContact
from ..mechanism import Frame, Model

KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Contact, RollingContact, Loop, JointCoupling, LockedJoint)}
"""Constraints that consist of names and numbers."""


def constraint_to_dict(constraint: Constraint) -> dict[str, Any]:
    """The kind and the fields of a constraint, with frames by name; ValueError for a constraint that holds a
    function."""
    kind: Any = type(constraint)
    values = {f.name: getattr(constraint, f.name) for f in fields(kind)} if kind in KINDS.values() else {}
    if not values or any(callable(value) for value in values.values()):
        raise ValueError(f"a solution under the constraint {constraint!r} cannot be saved: a file holds no functions")
    named = {key: value.name if isinstance(value, Frame) else value for key, value in values.items()}
    return {"kind": kind.__name__} | named


def constraint_from_dict(saved: Any, model: Model) -> Constraint:
    """The constraint of `constraint_to_dict`. Raises ModelError for one that is malformed or does not fit the model."""
    if not isinstance(saved, Mapping) or not isinstance(saved.get("kind"), str) or saved["kind"] not in KINDS:
        raise ModelError(f"a constraint must be an object with a kind of {', '.join(KINDS)}")
    kind = saved["kind"]
    if not finite(saved):
        raise ModelError(f"the {kind} holds numbers that are not finite")
    try:
        constraint: Constraint = KINDS[kind](**{key: _tuples(x) for key, x in saved.items() if key != "kind"})
        G = np.array(DM(constraint.jacobian(model, DM(model.neutral()))).full())
    except Exception as error:  # noqa: BLE001, whatever a constructor or CasADi says to values of any kind
        raise ModelError(f"the {kind} cannot be made or does not fit the model: {str(error)[:200]}") from None
    if G.shape != (len(constraint.rows), model.nv) or not np.all(np.isfinite(G)):
        raise ModelError(f"the {kind} does not fit the model: its rows are {G.shape}, of {model.nv} velocities")
    return constraint


def finite(value: Any) -> bool:
    """Whether all floating-point numbers in plain data are finite."""
    if isinstance(value, Mapping):
        return all(finite(x) for x in value.values())
    if isinstance(value, (list, tuple)):
        return all(finite(x) for x in value)
    return not isinstance(value, float) or math.isfinite(value)


def _tuples(value: Any) -> Any:
    """Converts JSON's lists back to tuples."""
    return tuple(_tuples(x) for x in value) if isinstance(value, list) else value
