"""Assignment of anatomical angles to entries of q: flexions found by name and axis, or the angles of all joints."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from casadi import DM

from .._types import Array
from ..dynamics.kinematics import point_jacobian_6d
from ..mechanism import Model
from .skeleton import Side, sides

FLEXION = {"hip": -1.0, "knee": 1.0, "ankle": -1.0, "shoulder": -1.0, "elbow": -1.0, "lumbar": 1.0}
"""Sign, by joint, of a rotation about +y (to the walker's left) that flexes, of a body that walks along x.

It carries what hangs below the joint backwards, what stands above it forwards; dorsiflexion is called flexion.
"""

LEGS = ("hip", "knee", "ankle")


@dataclass(frozen=True)
class Coordinate:
    """One entry of q and its entry of qd: side, whether it is a rotation or a translation, sign as anatomical angle."""

    label: str
    q: int
    v: int
    side: Side
    turns: bool = True
    sign: float = 1.0


def coordinates(model: Model) -> list[Coordinate]:
    """All joint entries with as many positions as velocities (not quaternions), in order."""
    side, axes = sides(model), _axes(model)
    found = []
    for i, _ in model.edges:
        joint = model.joints[i]
        if joint.nq != joint.nv:
            continue
        for k, v in enumerate(model.dofs_of(i)):
            label = model.qd_names[v].replace("_", " ").replace(".", " ")
            turns = bool(np.linalg.norm(axes[v]) > 1e-9)
            found.append(Coordinate(label, model.q_index[i] + k, v, side[i], turns))
    return found


def gait_coordinates(model: Model) -> dict[str, list[Coordinate]]:
    """Flexions by joint: hip, knee, ankle, and shoulder, elbow, lumbar where there are; {} unless both legs have all.

    A joint is found by the word in its name (`hip_l`, `left_knee_pitch`), its flexion among its entries by the axis
    nearest to y in the neutral posture; of several joints with one name the one nearest to y.
    """
    side, axes = sides(model), _axes(model)
    found: dict[str, list[Coordinate]] = {}
    for name, sign in FLEXION.items():
        for wanted in ("left", "right") if name != "lumbar" else ("middle",):
            entries = [
                (float(axes[v][1]), model.q_index[i] + k, v, i)
                for i, _ in model.edges
                if name in re.split(r"[\W_]+", model.joint_names[i - 1].lower())
                and side[i] == wanted
                and model.joints[i].nq == model.joints[i].nv
                for k, v in enumerate(model.dofs_of(i))
            ]
            if not entries:
                continue
            y, q, v, i = max(entries, key=lambda entry: abs(entry[0]))
            if abs(y) < 0.7:
                continue
            label = "flexion" if name == "lumbar" else ""
            found.setdefault(name, []).append(Coordinate(label, q, v, side[i], True, sign * float(np.sign(y))))
    if any(len(found.get(name, [])) != 2 for name in LEGS):
        return {}
    if "lumbar" in found:
        found["lumbar"] += _beside(model, found["lumbar"][0], axes)
    return found


def _beside(model: Model, flexion: Coordinate, axes: list[Array]) -> list[Coordinate]:
    """The other entries of the joint that flexes: bend to the right about x, turn to the left about z."""
    joint = next(i for i, _ in model.edges if flexion.v in model.dofs_of(i))
    found = []
    for k, v in enumerate(model.dofs_of(joint)):
        if v != flexion.v:
            axis = int(np.argmax(np.abs(axes[v])))
            label = ("bend right", "", "turn left")[axis]
            sign = float(np.sign(axes[v][axis]))
            found.append(Coordinate(label, model.q_index[joint] + k, v, flexion.side, True, sign))
    return found


def _axes(model: Model) -> list[Array]:
    """World axis of rotation of every dof in the neutral posture; zero for one that slides."""
    q = DM(model.neutral())
    found: list[Array] = [np.zeros(3)] * model.nv
    for i, _ in model.edges:
        J = np.array(DM(point_jacobian_6d(model, model.body_names[i - 1], q)).full())
        for v in model.dofs_of(i):
            found[v] = J[:3, v]
    return found
