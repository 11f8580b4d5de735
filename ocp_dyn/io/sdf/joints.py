"""Joints of SDF: their kinds, axes, limits and springs, in the tree or as the loops that they close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.types import Array, repr_in_message, suggestion
from ...constraints import Loop
from ...joints import Fixed, Helical, Joint, Prismatic, Revolute, Spherical, Universal
from ...spatial_algebra.poses import Pose
from ..xml import XmlElement
from .frames import MODEL, Frames
from .texts import limit, number, numbers_in, switch

AXES = {
    "revolute": 1, "continuous": 1, "prismatic": 1, "screw": 1, "ball": 0, "universal": 2, "revolute2": 2, "fixed": 0,
}  # fmt: skip
"""Kinds of joints, and how many axes they have."""
OTHERS = {"gearbox": "use two revolute joints and od.JointCoupling"}
LOOPS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "ball": "ball", "fixed": "fixed"}


@dataclass
class JointData:
    """A joint: the links that it joins, "" for the ground, its pose and its axes in the world.

    pitch: of a screw [m/rad]. follows: the joint that it mimics, the ratio and the offset of their positions, or None.
    """

    name: str
    kind: str
    parent: str
    child: str
    pose: Pose
    axes: list[Array]
    options: dict[str, Any]
    element: XmlElement
    pitch: float
    follows: tuple[str, float, float] | None


def read_joint(element: XmlElement, name: str, frames: Frames, version: int) -> JointData:
    kind, scope = element.get("type"), frames.parts[name].scope
    if kind not in AXES:
        remedy = f"it is not read: {OTHERS[kind]}" if kind in OTHERS else f"expected one of {', '.join(AXES)}"
        raise element.fault(f"type={repr_in_message(kind)}: {remedy}{suggestion(kind, AXES)}")
    ends = []
    for tag in ("parent", "child"):
        end = element.child(tag)
        if end is None or not end.text.strip():
            raise element.fault(f"it has no <{tag}>; it needs one")
        ends.append(frames.link(end, end.text.strip(), scope))
    parent, child = ends
    if not child or parent == child:
        raise element.fault(
            f"it moves {repr_in_message(child or 'world')} in {repr_in_message(parent or 'world')}, and joins two links"
        )
    parts = [element.child(tag) for tag in ("axis", "axis2")[: AXES[kind]]]
    axes = [_axis(part, name, frames, version, element) for part in parts]
    follows = _followed(parts, scope, frames) if kind in ("revolute", "continuous", "prismatic", "screw") else None
    return JointData(
        name, kind, parent, child, frames.pose(name), axes, _options(parts, kind), element,
        _pitch(element) if kind == "screw" else 0.0, follows,
    )  # fmt: skip


def _axis(part: XmlElement | None, name: str, frames: Frames, version: int, joint: XmlElement) -> Array:
    """The axis of a joint in the axes of the world."""
    xyz = None if part is None else part.child("xyz")
    if part is None or xyz is None:
        return np.asarray(frames.pose(name).R[:, 2])
    a = numbers_in(xyz, 3)
    length = float(np.linalg.norm(a))
    if not length > 1e-12:
        raise xyz.fault("an axis of length zero has no direction")
    within = xyz.get("expressed_in")
    if version < 7 and switch(part, "use_parent_model_frame"):
        within = MODEL
    base = frames.named(xyz, within, frames.parts[name].scope, "frame") if within else name
    return np.asarray(frames.pose(base).R @ a / length)


def _pitch(element: XmlElement) -> float:
    """The way per angle of a screw [m/rad]; its older element has the angle per way, with the other sign."""
    old = element.child("thread_pitch")
    if element.child("screw_thread_pitch") is None and old is not None:
        value = number(element, "thread_pitch")
        if not value:
            raise old.fault("it must not be zero, the angle per way of a screw [rad/m]")
        return -1 / value
    return number(element, "screw_thread_pitch", 1.0) / (2 * np.pi)


def _followed(parts: list[XmlElement | None], scope: str, frames: Frames) -> tuple[str, float, float] | None:
    """The joint that a joint mimics, with position = ratio (other - reference) + offset: its name, ratio, offset."""
    mimic = parts[0].child("mimic") if parts and parts[0] is not None else None
    if mimic is None:
        return None
    other = frames.named(mimic, mimic.get("joint") or "?", scope, "joint")
    if not other or frames.parts[other].element.tag != "joint" or mimic.get("axis", "axis") != "axis":
        raise mimic.fault("it names a joint of one axis, joint=..., whose position it follows")
    ratio = number(mimic, "multiplier", 1.0)
    return other, ratio, number(mimic, "offset") - ratio * number(mimic, "reference")


def _options(parts: list[XmlElement | None], kind: str) -> dict[str, Any]:
    """Options of `ModelBuilder.add_body` for the dofs of a joint, one number per axis."""
    if not parts:
        return {}
    rows = []
    for part in parts:
        limits = None if part is None else part.child("limit")
        dynamics = None if part is None else part.child("dynamics")
        free = kind == "continuous"
        effort, velocity = limit(limits, "effort", np.inf), limit(limits, "velocity", np.inf)
        rows.append(
            {
                "lower": -np.inf if free else limit(limits, "lower", -np.inf),
                "upper": np.inf if free else limit(limits, "upper", np.inf),
                "effort": np.inf if effort < 0 else effort,
                "velocity": np.inf if velocity < 0 else velocity,
                "damping": number(dynamics, "damping"),
                "friction": number(dynamics, "friction"),
                "stiffness": number(dynamics, "spring_stiffness"),
                "rest": number(dynamics, "spring_reference"),
            }
        )
    return {key: [row[key] for row in rows] if len(rows) > 1 else rows[0][key] for key in rows[0]}


def joint_of(joint: JointData, link: Pose) -> Joint:
    """The joint with its axes in the axes of the link that it moves."""
    axes = [link.R.T @ axis for axis in joint.axes]
    if joint.kind == "fixed":
        return Fixed()
    if joint.kind == "ball":
        return Spherical()
    if AXES[joint.kind] == 2:
        return Universal(axes[0], axes[1])
    if joint.kind == "screw":
        return Helical(axes[0], joint.pitch)
    return (Prismatic if joint.kind == "prismatic" else Revolute)(axes[0])


def loop_of(joint: JointData, parent: Pose, child: Pose, names: tuple[str, str]) -> Loop:
    """The loop that a joint closes: its frame in both links, with z along its axis. names: of both links."""
    if joint.kind not in LOOPS:
        raise joint.element.fault(
            f"it closes a loop, and a loop is closed by {', '.join(LOOPS)}: let the loop close at another joint, by "
            "their order in the file"
        )
    R = joint.pose.R if not joint.axes else _z_along(joint.axes[0])
    first, second = (end.inverse() @ Pose(R, joint.pose.p) for end in (parent, child))
    return Loop(
        *names, LOOPS[joint.kind], (tuple(first.R.ravel()), tuple(first.p)), (tuple(second.R.ravel()), tuple(second.p)),
        label=joint.name,
    )  # fmt: skip


def _z_along(axis: Array) -> Array:
    """A rotation whose third column is a unit vector."""
    x = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])
