"""Limbs of a body that somebody else modeled: joints by their names, strengths and ranges of people about their axes.

Coordinates of other libraries turn about axes of their own, with signs of their own. The axis of a coordinate in the
upright posture tells to which of the axes of `od.models.human` it belongs, and with which sign.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from casadi import DM

from ...dynamics.kinematics import all_poses_and_axes
from ...mechanism import Model
from ...models import HumanDimensions
from ...models.joint_limits import CALF, DIRECTIONS, RANGES, SPEEDS, strengths

PARTS = {
    "hip": ("hip",), "knee": ("knee",), "subtalar": ("subtalar",), "ankle": ("ankle",),
    "lumbar": ("lumbar", "back", "lumbosacral"), "shoulder": ("shoulder", "acromial", "glenohumeral"),
    "elbow": ("elbow",),
}  # fmt: skip
"""Joints that a walk moves, by words in their names."""

STRANGERS = ("patell", "radioulnar", "wrist", "toe", "mtp")
"""Words in names of joints that are none of these, whatever else the name says."""

UNKNOWN = 0.5
"""Strength about an axis that no dynamometer measures [N m/kg]."""


class Turn(NamedTuple):
    """A dof that turns a joint of people: its index, the joint, the index of its axis among y, x, z, and the sign with
    which it turns about that axis of the left limb."""

    dof: int
    joint: str
    axis: int
    sign: float


def part_of(joint: str) -> str | None:
    """The joint of people that a name means; None for others."""
    name = joint.lower()
    if any(word in name for word in STRANGERS):
        return None
    return next((part for part, words in PARTS.items() if any(word in name for word in words)), None)


def turns_of(model: Model) -> Iterator[Turn]:
    """The dofs that turn joints of people, in the upright posture, in which all coordinates are zero."""
    places = all_poses_and_axes(model, DM(model.neutral()))
    for i, _ in model.edges:
        joint = part_of(model.joint_names[i - 1])
        if joint is None or model.joint_names[i - 1] in model.floating_joints:
            continue
        side = float(DM(places.X0[i].r)[1])  # [m] left of the middle
        for dof in model.dofs_of(i):
            w = np.array(DM(places.w[dof]).full()).ravel()
            axis = (1, 0, 2)[int(np.argmax(np.abs(w)))]
            sign = float(np.sign(w[int(np.argmax(np.abs(w)))])) or 1.0
            mirrored = axis > 0 and side < 0 and joint != "lumbar"  # about x and z limbs turn outwards on both sides
            yield Turn(dof, joint, axis, -sign if mirrored else sign)


def equipped(model: Model, size: HumanDimensions, dependent: tuple[str, ...]) -> Model:
    """The model with limits of people where it has none: torques for its mass and stature, ranges, speeds.

    Joints that depend on others have no motor.
    """
    table = strengths(model.mass, size.height, "male" if size.sex == "male" else "female")
    dofs = model.dofs
    effort, lower, upper, speed = dofs.effort.copy(), dofs.q_lower.copy(), dofs.q_upper.copy(), dofs.qd_max.copy()
    at_q = {v: q for _, (q, v) in _entries(model).items()}
    for dof, joint, axis, sign in turns_of(model):
        q = at_q[dof]
        known = _row(DIRECTIONS[joint], axis)
        most = UNKNOWN * model.mass
        torque = table[joint][known] if known is not None else (-most, most)
        if joint == "ankle" and known == 0:
            torque = (torque[0], CALF * model.mass)
        effort[dof] = np.where(np.isfinite(effort[dof]), effort[dof], _turned(torque, sign))
        if known is None:
            continue
        low, high = _turned([math.radians(x) for x in RANGES[joint][known]], sign)
        low, high = max(low, lower[q]), min(high, upper[q])
        if low < high:
            lower[q], upper[q] = low, high
        speed[dof] = min(speed[dof], SPEEDS[joint][known])
    idle = dict.fromkeys(dependent, 0.0)
    root = model.joint_names[0]
    model = model.with_limits(lower=lower, upper=upper, velocity=speed, effort=effort)
    return model.with_limits(effort=idle | {root: float("inf")})


def _entries(model: Model) -> dict[int, tuple[int, int]]:
    """Entry of q and of qd of every dof of a joint with as many of both."""
    found: dict[int, tuple[int, int]] = {}
    for i, _ in model.edges:
        if model.joints[i].nq == model.joints[i].nv:
            found |= {v: (model.q_index[i] + k, v) for k, v in enumerate(model.dofs_of(i))}
    return found


def _row(axes: tuple[tuple[str, str], ...], axis: int) -> int | None:
    """The row of a table of a joint about y, x, z; about x alone for the subtalar joint."""
    if axes is DIRECTIONS["subtalar"]:
        return 0 if axis == 1 else None
    return axis if axis < len(axes) else None


def _turned(limits: tuple[float, float] | list[float], sign: float) -> tuple[float, float]:
    low, high = limits
    return (low, high) if sign > 0 else (-high, -low)
