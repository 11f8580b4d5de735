"""Copies of a model with loads that its bodies carry and with springs at its joints; documented at `Model`'s methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from .._arguments import finite, not_negative
from .._types import Array, ModelError, Vector, is_one_of, listed, meant, shown
from .parts import DofData, body_inertia
from .tree import Tree

T = TypeVar("T", bound=Tree)
"""A tree or a model: an edited copy is of the class of the original."""


def with_load(model: T, to: str, mass: float, com: Vector, inertia: object) -> T:
    frame = model.frame(to)
    if not frame.body:
        raise ModelError(f"with_load: the frame {shown(to)} is fixed to the ground, where a load has no effect")
    added = body_inertia(mass, com, inertia, f"load on {shown(to)}", check=inertia is not None)
    bodies = list(model.I)
    bodies[frame.body] = bodies[frame.body] + added.to_parent(frame.X)
    return replace(model, I=tuple(bodies))


def with_springs(model: T, stiffness: Mapping[str, float], rest: object, damping: object) -> T:
    dofs = vars(model.dofs) | {
        "stiffness": _changed(model, "stiffness", stiffness, "N m/rad, N/m"),
        "damping": _changed(model, "damping", {} if damping is None else damping, "N m s/rad, N s/m"),
        "rest": _changed(model, "rest", {} if rest is None else rest, "rad, m"),
    }
    return replace(model, dofs=DofData(**dofs))


def _changed(model: Tree, field: str, values: Any, unit: str) -> Array:
    """The data of one field of the dofs, with other values at some of its entries."""
    if not isinstance(values, Mapping):
        raise TypeError(f"with_springs: {field} must be a dict of values by names of dofs, got {shown(values)}")
    found = np.array(getattr(model.dofs, field))
    check = finite if field == "rest" else not_negative
    for name, value in values.items():
        joint, entry = _entry(model, name, field)
        found[entry] = check(value, f"with_springs: {field} of {shown(name)} [{unit}]")
        if model.joints[joint].nq != model.joints[joint].nv:
            raise ModelError(
                f"with_springs: the joint of {shown(name)} turns by a quaternion, which no spring can act on; springs "
                "need coordinates that are angles or lengths"
            )
    return found


def _entry(model: Tree, name: str, field: str) -> tuple[int, int]:
    """The joint (a number from 1), and the entry of the field, that a name of a dof stands for."""
    if not is_one_of(name, model.qd_names):
        hint = meant(str(name), model.qd_names) or f"; dofs are: {listed(model.qd_names)}"
        raise KeyError(f"with_springs: {field}: no dof {shown(name)}{hint}")
    k = model.qd_names.index(name)
    joint = next(i for i in range(1, len(model.joints)) if k in model.dofs_of(i))
    place = k - model.qd_slice(model.joint_names[joint - 1]).start
    return joint, model.q_slice(model.joint_names[joint - 1]).start + place if field == "rest" else k
