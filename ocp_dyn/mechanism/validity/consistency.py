"""Consistency of the data of a model: kinds, numbers of entries and names fit each other, whoever has put them
together.

Builders and readers say more about what they are given; here a model is checked that is made of finished parts, as by
`dataclasses.replace`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._base.types import ModelError, is_whole, name_fault, repr_in_message, suggestion, text_fault
from ...joints import Joint
from ...spatial_algebra.spatial import Inertia, Transform
from ..annotations import Annotations
from ..parts import SIZE_NQ, CoordinateNames, DofData, FileJoint, Frame, KeptConstraint, Mimic, ShapeFile

PARTS: dict[str, tuple[type, str]] = {
    "joints": (Joint, "joints such as od.Revolute('z')"),
    "X_tree": (Transform, "od.Transforms"),
    "I": (Inertia, "od.Inertias"),
}
"""Fields with a part for every body, the ground included."""

NOTES: dict[str, type] = {"mimics": Mimic, "file_joints": FileJoint, "shape_files": ShapeFile,
    "coordinate_names": CoordinateNames, "constraints": KeptConstraint}  # fmt: skip


def check_consistency(tree: Any) -> None:
    """ModelError unless the parts of a `Tree` fit each other."""
    if not isinstance(tree.name, str) or text_fault(tree.name):
        raise ModelError(f"the name of a model must be a text{text_fault(tree.name)}, got {repr_in_message(tree.name)}")
    where = f"model {repr_in_message(tree.name)}"
    gravity = tree.gravity
    if not isinstance(gravity, Sequence) or isinstance(gravity, str) or len(gravity) != 3:
        raise ModelError(f"{where}: gravity must be three numbers [m/s^2], got {repr_in_message(gravity)}")
    _check_bodies(tree, where)
    _check_names(tree, where)
    _check_frames(tree, where)
    _check_dofs(tree, where)
    for field, kind in NOTES.items():
        notes = getattr(tree, field)
        if not isinstance(notes, Sequence) or not all(isinstance(note, kind) for note in notes):
            raise ModelError(f"{where}: {field} must be a tuple of {kind.__name__}s, got {repr_in_message(notes)}")
    _check_coordinates(tree, where)
    if not isinstance(tree.annotations, Annotations):
        raise ModelError(f"{where}: annotations must be od.Annotations, got {repr_in_message(tree.annotations)}")


def _check_coordinates(tree: Any, where: str) -> None:
    """Names of coordinates fit their joints and are unique among all entries of q and qd."""
    if not tree.coordinate_names:
        return
    sizes = {name: (joint.nq, joint.nv) for name, joint in zip(tree.joint_names, tree.joints[1:], strict=True)}
    for joint, names in tree.coordinate_names:
        if sizes.get(joint) != (len(names), len(names)):
            raise ModelError(
                f"{where}: joint {repr_in_message(joint)} cannot have the names {repr_in_message(names)} for its "
                f"coordinates{suggestion(joint, sizes)}: a joint of the model is needed with as many entries of q, and "
                "of qd, as there are names"
            )
        for name in names:
            check_name(name, "coordinate")
    for names in (tree.q_names, tree.qd_names):
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise ModelError(f"{where}: two coordinates are called {repr_in_message(twice)}; names must be unique")


def _check_bodies(tree: Any, where: str) -> None:
    """Parents come before children, and every body has a joint, a transform and an inertia."""
    parent = tree.parent
    whole = isinstance(parent, Sequence) and all(is_whole(p, -1) for p in parent)
    if not whole or not parent or parent[0] != -1 or not all(0 <= p < i for i, p in enumerate(parent) if i):
        raise ModelError(
            f"{where}: parent must hold -1 for the ground and, for every body, the number of an earlier one, got "
            f"{repr_in_message(parent)}"
        )
    for field, (kind, words) in PARTS.items():
        values = getattr(tree, field)
        if not isinstance(values, Sequence) or not all(isinstance(value, kind) for value in values):
            raise ModelError(f"{where}: {field} must be a tuple of {words}, got {repr_in_message(values)}")
        if len(values) != len(parent):
            raise ModelError(
                f"{where}: {field} has {len(values)} entries, expected {len(parent)}: the ground and {len(parent) - 1} "
                "bodies"
            )


def _check_names(tree: Any, where: str) -> None:
    for field, what in (("body_names", "body"), ("joint_names", "joint")):
        names = getattr(tree, field)
        if not isinstance(names, Sequence) or isinstance(names, str) or len(names) != len(tree.parent) - 1:
            raise ModelError(
                f"{where}: {field} must be {len(tree.parent) - 1} names, one per body, got {repr_in_message(names)}"
            )
        for name in names:
            check_name(name, what)
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise ModelError(f"{where}: {field} holds {repr_in_message(twice)} twice; names must be unique")


def check_name(name: Any, what: str) -> None:
    """ModelError for a name that not every file of a model can hold; what: "body", "joint" or "frame"."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"{what}: a name must be a non-empty string, got {repr_in_message(name)}")
    if fault := name_fault(name):
        raise ModelError(f"{what} {repr_in_message(name)}: a name {fault}")


def _check_frames(tree: Any, where: str) -> None:
    if not isinstance(tree.frames, Mapping):
        raise ModelError(
            f"{where}: frames must be a dict of od.Frames by their names, got {repr_in_message(tree.frames)}"
        )
    for name, frame in tree.frames.items():
        check_name(name, "frame")
        if not isinstance(frame, Frame):
            raise ModelError(
                f"{where}: the frame {repr_in_message(name)} must be an od.Frame, got {repr_in_message(frame)}"
            )
        if frame.name != name or frame.body >= len(tree.parent):
            raise ModelError(
                f"{where}: the frame {repr_in_message(name)} must have this name and be fixed to one of the bodies 0 "
                f"to {len(tree.parent) - 1}, got {repr_in_message(frame)}{suggestion(name, (frame.name,))}"
            )


def _check_dofs(tree: Any, where: str) -> None:
    if not isinstance(tree.dofs, DofData):
        raise ModelError(f"{where}: dofs must be a DofData, such as model.dofs, got {repr_in_message(tree.dofs)}")
    sizes = {size: sum(getattr(joint, size) for joint in tree.joints) for size in ("nq", "nv")}
    for key, values in vars(tree.dofs).items():
        size = "nq" if key in SIZE_NQ else "nv"
        if values.size != sizes[size]:
            raise ModelError(
                f"{where}: {key} of its dofs has {values.size} numbers, expected {size} = {sizes[size]}, those of the "
                "joints"
            )
