"""The posture of a person who stands, found by inverse kinematics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from casadi import DM

from ..._base.types import Array
from ...dynamics.inverse_kinematics import OrientationTarget, PointTarget, inverse_kinematics
from ...dynamics.kinematics import point_position
from ...dynamics.momentum import center_of_mass
from ..person import Person, Side

BALANCED = 4
"""Moves of the pelvis that bring the center of mass over its place: each leaves a hundredth of the distance."""


def standing_posture(
    person: Person, bent: float = math.radians(8.0), ahead: float = 0.05, elbows: float = 0.0
) -> Array:
    """q (nq) of a person who stands on flat feet, side by side under the hips: pelvis upright, the angle `bent` [rad]
    between thighs and vertical (straight legs are singular), the center of mass `ahead` [m] of the ankles, the elbows
    flexed by `elbows` [rad].

    `ValueError` if the feet are out of reach.

    >>> walker = od.walking.person(still=True)
    >>> q = od.walking.standing_posture(walker)
    >>> round(float(od.point_position(walker.model, "heel_l", q)[2]), 6)
    0.0
    """
    model = person.model
    q = np.array(model.neutral(), dtype=float)
    for side in "lr":
        for joint, angle in (("knee", 2 * bent), ("ankle", -bent)):
            q[model.q_slice(f"{joint}_{side}")] = angle
        q[model.q_slice(f"hip_{side}").start] = -bent
        if f"elbow_{side}" in model.joint_names:
            q[model.q_slice(f"elbow_{side}")] = -elbows
    q[2] = person.pelvis_height(bent)
    for _ in range(BALANCED):
        q = _on_feet(person, q)
        ankle = float(point_position(model, "foot_l", DM(q))[0])
        q[0] += ahead - (float(center_of_mass(model, DM(q))[0]) - ankle)
    return _on_feet(person, q)


def _on_feet(person: Person, q: Array) -> Array:
    """The posture near q that has the pelvis of q, and both feet flat on the ground."""
    targets: list[Any] = [PointTarget("pelvis", q[:3]), OrientationTarget("pelvis", np.eye(3))]
    sides: list[tuple[Side, float]] = [("l", 1.0), ("r", -1.0)]
    for side, out in sides:
        yaw = person.feet_at(side, 0.0, 0.0).flat.yaw[0]
        c, s = math.cos(yaw), math.sin(yaw)
        R, middle = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), person.sole_middle
        place = [0.0, out * person.size.hip_spacing / 2, 0.0] - R @ [middle, 0.0, 0.0]
        targets += [PointTarget(f"heel_{side}", place), OrientationTarget(f"heel_{side}", R)]
    found = inverse_kinematics(person.model, targets, q)
    if not found.reached:
        raise ValueError(f"model {person.model.name!r} cannot stand on flat feet with its pelvis {q[2]:.3g} m high")
    return np.asarray(found.q)
