"""Joints of SDF: their kinds, axes, limits and springs, in the tree or as the loops that they close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.types import Array, repr_in_message, suggestion
from ...constraints import Loop
from ...joints import Fixed, Joint, Prismatic, Revolute, Spherical, Universal
from ..xml import XmlElement
from .frames import Frames, Pose
from .texts import limit, number, numbers_in, switch

KINDS = ("revolute", "continuous", "prismatic", "ball", "universal", "fixed")
OTHERS = {
    "screw": "od.Helical is such a joint: build the model by od.ModelBuilder",
    "gearbox": "use two revolute joints and od.JointCoupling",
    "revolute2": "use a universal joint",
}
LOOPS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "ball": "ball", "fixed": "fixed"}


@dataclass
class JointData:
    """A joint: the links that it joins, "world" for the ground, its pose in the model, its axes in the model."""

    name: str
    kind: str
    parent: str
    child: str
    pose: Pose
    axes: list[Array]
    options: dict[str, Any]
    element: XmlElement


def read_joint(element: XmlElement, name: str, frames: Frames, version: int) -> JointData:
    kind = element.get("type")
    if kind not in KINDS:
        remedy = f"it is not read: {OTHERS[kind]}" if kind in OTHERS else f"expected one of {', '.join(KINDS)}"
        raise element.fault(f"type={repr_in_message(kind)}: {remedy}{suggestion(kind, KINDS)}")
    ends = []
    for tag in ("parent", "child"):
        end = element.child(tag)
        if end is None or not end.text.strip():
            raise element.fault(f"it has no <{tag}>; it needs one")
        ends.append(frames.link(end, end.text.strip()))
    parent, child = ("world" if end in ("", "__model__") else end for end in ends)
    if child == "world" or parent == child:
        raise element.fault(f"it moves {repr_in_message(child)} in {repr_in_message(parent)}, and joins two links")
    pose = frames.pose(name)
    tags = {"universal": ("axis", "axis2"), "ball": (), "fixed": ()}.get(kind, ("axis",))
    parts = [element.child(tag) for tag in tags]
    axes = [_axis(part, pose, frames, version, element) for part in parts]
    return JointData(name, kind, parent, child, pose, axes, _options(parts, kind), element)


def _axis(part: XmlElement | None, pose: Pose, frames: Frames, version: int, joint: XmlElement) -> Array:
    """The axis of a joint in the axes of the model."""
    xyz = None if part is None else part.child("xyz")
    if part is None or xyz is None:
        return np.asarray(pose.R[:, 2])
    a = numbers_in(xyz, 3)
    length = float(np.linalg.norm(a))
    if not length > 1e-12:
        raise xyz.fault("an axis of length zero has no direction")
    within = xyz.get("expressed_in")
    if version < 7 and switch(part, "use_parent_model_frame"):
        within = "__model__"
    R = pose.R if not within else (np.eye(3) if within == "__model__" else frames.pose(_frame(xyz, within, frames)).R)
    return np.asarray(R @ a / length)


def _frame(element: XmlElement, name: str, frames: Frames) -> str:
    if name not in frames.elements:
        raise element.fault(f"the model has no frame {repr_in_message(name)}{suggestion(name, frames.elements)}")
    return name


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
    if joint.kind == "universal":
        return Universal(axes[0], axes[1])
    return (Prismatic if joint.kind == "prismatic" else Revolute)(axes[0])


def loop_of(joint: JointData, parent: Pose, child: Pose, names: tuple[str, str]) -> Loop:
    """The loop that a joint closes: its frame in both links, with z along its axis. names: of both links."""
    if joint.kind not in LOOPS:
        raise joint.element.fault(
            f"it closes a loop, and a loop is closed by {', '.join(LOOPS)}: let the loop close at another joint, by "
            "their order in the file"
        )
    R = joint.pose.R if not joint.axes else _z_along(joint.axes[0])
    at = Pose(R, joint.pose.p)
    first, second = parent.inverse() @ at, child.inverse() @ at
    return Loop(
        *names, LOOPS[joint.kind], (tuple(first.R.ravel()), tuple(first.p)), (tuple(second.R.ravel()), tuple(second.p)),
        label=joint.name,
    )  # fmt: skip


def _z_along(axis: Array) -> Array:
    """A rotation whose third column is a unit vector."""
    x = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])
