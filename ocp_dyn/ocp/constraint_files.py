"""Constraints as plain data, for the files of solutions."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..constraints import Constraint, Contact, JointCoupling, LockedJoint, Loop, RollingContact
from ..model import Frame

KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Contact, RollingContact, Loop, JointCoupling, LockedJoint)}
"""Constraints that consist of names and numbers."""


def constraint_to_dict(constraint: Constraint) -> dict[str, Any]:
    """Its kind and its fields, frames by name; ValueError for a constraint that holds a function."""
    kind: Any = type(constraint)
    values = {f.name: getattr(constraint, f.name) for f in fields(kind)} if kind in KINDS.values() else {}
    if not values or any(callable(value) for value in values.values()):
        raise ValueError(f"a solution under the constraint {constraint!r} cannot be saved: a file holds no functions")
    named = {key: value.name if isinstance(value, Frame) else value for key, value in values.items()}
    return {"kind": kind.__name__} | named


def constraint_from_dict(saved: dict[str, Any]) -> Constraint:
    """The constraint of `constraint_to_dict`."""
    constraint: Constraint = KINDS[saved["kind"]](**{key: _tuples(x) for key, x in saved.items() if key != "kind"})
    return constraint


def _tuples(value: Any) -> Any:
    """JSON's lists as tuples again."""
    return tuple(_tuples(x) for x in value) if isinstance(value, list) else value
