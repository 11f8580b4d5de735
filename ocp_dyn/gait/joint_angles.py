"""Joint coordinates to plot: anatomical flexions, found by joint name and axis, or the coordinates of all joints."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from casadi import DM

from .._base.types import Array
from ..dynamics.kinematics import point_jacobian_6d
from ..mechanism import Model
from ..mechanism.equal_models import kept_per_model
from .bodies import Side, sides

FLEXION = {"hip": -1.0, "knee": 1.0, "ankle": -1.0, "shoulder": -1.0, "elbow": -1.0, "lumbar": 1.0}
"""Sign of the rotation about +y (the walker's left) that is flexion, by joint, for a body that walks along x.

A positive rotation about +y moves a limb below the joint backwards and a limb above it forwards. Flexion of the ankle
is dorsiflexion.
"""

LEGS = ("hip", "knee", "ankle")

NEAR = 0.7
"""Least part of an axis along that of a plane, by which a joint turns in this plane."""


@dataclass(frozen=True)
class Coordinate:
    """One joint coordinate: its indices in q and in qd, its side, and whether it is a rotation or a translation.

    sign: factor (1 or -1) that makes q the anatomical angle. name: the entry of `model.qd_names`.
    """

    label: str
    q_index: int
    qd_index: int
    side: Side
    is_rotation: bool = True
    sign: float = 1.0
    name: str = ""


def coordinates(model: Model) -> list[Coordinate]:
    """The coordinates of all joints with as many positions as velocities (no quaternions), in order."""
    side, axes = sides(model), _axes(model)
    found = []
    for i, _ in model.edges:
        joint = model.joints[i]
        if joint.nq != joint.nv:
            continue
        for k, dof in enumerate(model.dofs_of(i)):
            label = model.qd_names[dof].replace("_", " ").replace(".", " ")
            is_rotation = bool(np.linalg.norm(axes[dof]) > 1e-9)
            name = model.qd_names[dof]
            found.append(Coordinate(label, model.q_index[i] + k, dof, side[i], is_rotation, name=name))
    return found


def gait_coordinates(model: Model) -> dict[str, list[Coordinate]]:
    """Flexions by joint: hip, knee and ankle, and shoulder, elbow and lumbar joint if the model has them.

    {} unless both legs have hip, knee and ankle. A joint is found by the word in its name (`hip_l`, `left_knee_pitch`);
    its flexion is the coordinate with the axis nearest to y in the neutral posture, over all joints with that word.
    """
    side, axes = sides(model), _axes(model)
    found: dict[str, list[Coordinate]] = {}
    for name, sign in FLEXION.items():
        for wanted_side in ("left", "right") if name != "lumbar" else ("middle",):
            entries = [
                (float(axes[dof][1]), model.q_index[i] + k, dof, i)
                for i, _ in model.edges
                if name in re.split(r"[\W_]+", model.joint_names[i - 1].lower())
                and side[i] == wanted_side
                and model.joints[i].nq == model.joints[i].nv
                for k, dof in enumerate(model.dofs_of(i))
            ]
            if not entries:
                continue
            y, q_index, qd_index, i = max(entries, key=lambda entry: abs(entry[0]))
            if abs(y) < NEAR:
                continue
            label = "flexion" if name == "lumbar" else ""
            sign_of_q = sign * float(np.sign(y))
            found.setdefault(name, []).append(Coordinate(label, q_index, qd_index, side[i], True, sign_of_q))
    if any(len(found.get(name, [])) != 2 for name in LEGS):
        return {}
    if "lumbar" in found:
        found["lumbar"] += _beside(model, found["lumbar"][0], axes)
    return found


def hip_planes(model: Model, flexion: Coordinate) -> dict[str, Coordinate]:
    """The other coordinates of a hip, by name: "adduction", about the axis nearest to x, and "internal rotation", about
    the one nearest to z, of all joints on this side with the word hip; those that the model has.

    flexion: of this hip, from `gait_coordinates`. Abduction and external rotation of a left leg are positive rotations
    about x and z, of a right leg negative ones.
    """
    side, axes = sides(model), _axes(model)
    inward = -1.0 if flexion.side == "left" else 1.0
    entries = [
        (axes[dof], model.q_index[i] + k, dof)
        for i, _ in model.edges
        if "hip" in re.split(r"[\W_]+", model.joint_names[i - 1].lower())
        and side[i] == flexion.side
        and model.joints[i].nq == model.joints[i].nv
        for k, dof in enumerate(model.dofs_of(i))
        if dof != flexion.qd_index
    ]
    found = {}
    for name, k in (("adduction", 0), ("internal rotation", 2)):
        near = [entry for entry in entries if abs(entry[0][k]) >= NEAR]
        if near:
            axis, q_index, qd_index = max(near, key=lambda entry: abs(entry[0][k]))
            sign = inward * float(np.sign(axis[k]))
            found[name] = Coordinate(name, q_index, qd_index, flexion.side, True, sign)
    return found


def _beside(model: Model, flexion: Coordinate, axes: list[Array]) -> list[Coordinate]:
    """The other coordinates of the flexing joint: bend to the right about x, turn to the left about z."""
    joint = next(i for i, _ in model.edges if flexion.qd_index in model.dofs_of(i))
    found = []
    for k, dof in enumerate(model.dofs_of(joint)):
        if dof != flexion.qd_index:
            axis = int(np.argmax(np.abs(axes[dof])))
            label = ("bend right", "", "turn left")[axis]
            sign = float(np.sign(axes[dof][axis]))
            found.append(Coordinate(label, model.q_index[joint] + k, dof, flexion.side, True, sign))
    return found


@kept_per_model
def _axes(model: Model) -> list[Array]:
    """World axis of rotation of every dof in the neutral posture; zero for a translation."""
    q = DM(model.neutral())
    axes: list[Array] = [np.zeros(3)] * model.nv
    for i, _ in model.edges:
        J = np.array(DM(point_jacobian_6d(model, model.body_names[i - 1], q)).full())
        for dof in model.dofs_of(i):
            axes[dof] = J[:3, dof]
    return axes
