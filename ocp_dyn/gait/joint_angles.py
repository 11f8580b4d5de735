"""Joint coordinates to plot: anatomical flexions, found by joint name and axis, or the coordinates of all joints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

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

DIRECTIONS = {
    **dict.fromkeys(("hip", "knee"), ("flexion", "extension")),
    "ankle": ("dorsiflexion", "plantar flexion"),
}
"""Sense of a positive angle of a joint of the leg, and of a positive torque: of the muscles that carry the body."""

OUTWARD = {"adduction": "abduction", "internal rotation": "external rotation"}
"""Sense of a positive torque of a hip in the other planes, by that of a positive angle."""

AXES = "xyz"
NEARLY = 0.9
"""Least component along an axis of the world with which a joint turns about this axis, or slides along it."""


@dataclass(frozen=True)
class Coordinate:
    """One joint coordinate: its indices in q and in qd, its side, and whether it is a rotation or a translation.

    sign: factor (1 or -1) that makes q the anatomical angle. name: the entry of `model.qd_names`. positive: what a
    positive angle is, such as "flexion", or "about -y" for a rotation about this axis of the world in the neutral
    posture; effort: the same of a positive torque. joint: "hip", "knee", ... of an anatomical angle.
    """

    label: str
    q_index: int
    qd_index: int
    side: Side
    is_rotation: bool = True
    sign: float = 1.0
    name: str = ""
    positive: str = ""
    effort: str = ""
    joint: str = ""

    @property
    def effort_sign(self) -> float:
        """Factor that makes tau positive in the direction of `effort`."""
        return self.sign if self.effort == self.positive else -self.sign


def directed(unit: str, words: Sequence[str]) -> str:
    """The label of an ordinate: the unit, and what is positive; words: of all curves of the panel."""
    told = [word for word in dict.fromkeys(words) if word]
    return f"{unit} (+ {told[0]})" if len(told) == 1 else f"{unit} (+ {' or '.join(told)})" if told else unit


def coordinates(model: Model) -> list[Coordinate]:
    """The coordinates of all joints with as many positions as velocities (no quaternions), in order.

    Flexions of a body with hips, knees and ankles on both sides have the signs of `gait_coordinates`, its hips in the
    other planes those of `hip_planes`.
    """
    side, axes, slides = sides(model), *_axes(model)
    known_joints = gait_coordinates(model)
    anatomical = {c.qd_index: c for group in known_joints.values() for c in group if c.positive}
    for flexion in known_joints.get("hip", ()):
        anatomical |= {c.qd_index: c for c in hip_planes(model, flexion).values()}
    found = []
    for i, _ in model.edges:
        joint = model.joints[i]
        if joint.nq != joint.nv:
            continue
        for k, dof in enumerate(model.dofs_of(i)):
            label = model.qd_names[dof].replace("_", " ").replace(".", " ")
            is_rotation = bool(np.linalg.norm(axes[dof]) > 1e-9)
            name = model.qd_names[dof]
            way = f"about {_axis(axes[dof])}" if is_rotation else f"along {_axis(slides[dof])}"
            c = Coordinate(label, model.q_index[i] + k, dof, side[i], is_rotation, 1.0, name, way, way)
            known = anatomical.get(dof)
            found.append(c if known is None else replace(known, label=label, name=name))
    return found


def _axis(direction: Array) -> str:
    """The axis of the world along a direction, such as "-y", or "its axis"."""
    k = int(np.argmax(np.abs(direction)))
    if abs(direction[k]) < NEARLY * max(float(np.linalg.norm(direction)), 1e-12):
        return "its axis"
    return ("-" if direction[k] < 0 else "") + AXES[k]


def gait_coordinates(model: Model) -> dict[str, list[Coordinate]]:
    """Flexions by joint: hip, knee and ankle, and shoulder, elbow and lumbar joint if the model has them.

    {} unless both legs have hip, knee and ankle. A joint is found by the word in its name (`hip_l`, `left_knee_pitch`);
    its flexion is the coordinate with the axis nearest to y in the neutral posture, over all joints with that word.
    """
    side, (axes, _) = sides(model), _axes(model)
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
            positive, effort = DIRECTIONS.get(name, ("flexion", "flexion"))
            c = Coordinate(label, q_index, qd_index, side[i], True, sign_of_q, "", positive, effort, name)
            found.setdefault(name, []).append(c)
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
    side, (axes, _) = sides(model), _axes(model)
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
            ways = f"hip {name}", OUTWARD[name]
            found[name] = Coordinate(name, q_index, qd_index, flexion.side, True, sign, "", name, ways[1], ways[0])
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
            name, way = model.qd_names[dof], label
            found.append(Coordinate(label, model.q_index[joint] + k, dof, flexion.side, True, sign, name, way, way))
    return found


@kept_per_model
def _axes(model: Model) -> tuple[list[Array], list[Array]]:
    """World axis of rotation of every dof in the neutral posture, zero for a translation; and the velocity of the
    body's origin."""
    q = DM(model.neutral())
    axes: list[Array] = [np.zeros(3)] * model.nv
    slides: list[Array] = [np.zeros(3)] * model.nv
    for i, _ in model.edges:
        J = np.array(DM(point_jacobian_6d(model, model.body_names[i - 1], q)).full())
        for dof in model.dofs_of(i):
            axes[dof], slides[dof] = J[:3, dof], J[3:, dof]
    return axes, slides
