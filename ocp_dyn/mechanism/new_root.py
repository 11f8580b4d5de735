"""Exchange of the joint between the world and a model; documented at `Model.with_root`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from .._base.types import Array, ModelError, names_in_message, repr_in_message
from ..joints import FloatingBase, Joint
from ..spatial_algebra.spatial import Transform
from .annotations import Annotations
from .parts import SIZE_NQ, DofData
from .passive import without_joints
from .tree import Tree

T = TypeVar("T", bound=Tree)
"""A tree or a model: an edited copy is of the class of the original."""

ENDLESS = ("q_upper", "qd_max", "tau_max")
"""Limits of a new root: none."""


def with_root(model: T, joint: Joint) -> T:
    if not isinstance(joint, Joint) or not joint.nv:
        raise TypeError(f"with_root needs a joint that moves, such as od.FloatingBase(), got {repr_in_message(joint)}")
    roots = [name for name, parent in zip(model.joint_names, model.parent[1:], strict=True) if not parent]
    if len(roots) != 1:
        raise ModelError(
            f"with_root: {len(roots)} bodies of model {model.name!r} are joined to the ground, "
            f"{names_in_message(roots)}: only the root of a model of one tree can be exchanged"
        )
    name = joint.name if isinstance(joint, FloatingBase) else roots[0]
    if name in model.joint_names[1:]:
        raise ModelError(
            f"with_root: the model has a joint {name!r} already: give the root another name, "
            f"od.FloatingBase(name={name + '_joint'!r})"
        )
    old = model.joints[1]
    held = dict(zip(model.q_names[: old.nq], old.neutral().tolist(), strict=True))
    frames = [*model.frames]
    left = (*model.joint_names[1:], *model.q_names[old.nq :])
    kept = (one.within(frames, held, left) for one in model.constraints)
    dofs = {dof: float(old.neutral()[at]) for dof, (at, v) in model.passive_entries.items() if v < old.nv}
    return replace(
        model,
        joints=(model.joints[0], joint, *model.joints[2:]),
        joint_names=(name, *model.joint_names[1:]),
        X_tree=(model.X_tree[0], Transform.identity(), *model.X_tree[2:]),
        dofs=_dofs(model, joint),
        passive=without_joints(model.passive, dofs)[0],
        constraints=tuple(one for one in kept if one is not None),
        coordinate_names=tuple(noted for noted in model.coordinate_names if noted.joint != roots[0]),
        file_joints=tuple(noted for noted in model.file_joints if noted.joint != roots[0]),
        annotations=_annotations(model, joint, held),
    )


def _dofs(model: Tree, joint: Joint) -> DofData:
    """The data of the dofs: those of the root have neither limits nor springs nor losses."""
    old = model.joints[1]
    found: dict[str, Array] = {}
    for key, values in vars(model.dofs).items():
        in_q = key in SIZE_NQ
        first = np.full(joint.nq if in_q else joint.nv, np.inf if key in ENDLESS else 0.0)
        first = -np.full(first.size, np.inf) if key in ("q_lower", "tau_min") else first
        first = joint.neutral() if key == "rest" else first
        found[key] = np.concatenate([first, values[(old.nq if in_q else old.nv) :]])
    return DofData(**found)


def _annotations(model: Tree, joint: Joint, held: Mapping[str, float]) -> Annotations:
    """Markers, muscles and configurations; in these the new root is neutral."""
    found = model.annotations.within(model.frames, held, list(range(model.joints[1].nq, model.nq)))
    rows = tuple((name, (*joint.neutral().tolist(), *row)) for name, row in found.configurations)
    return replace(found, configurations=rows)
