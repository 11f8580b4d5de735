"""Notes on what the reader of an OpenSim model leaves out or turns, as lines of `model.notes`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..._base.types import names_in_message
from ...mechanism.annotations import counted_out
from ..xml import XmlElement
from .document import Components, text_of
from .forces import CONTACT, FORMULA, IDLE, LIMIT, SPRING, applies
from .joints import coordinates_of

TURNED = "the ground of the file has y up, here z: its point (x, y, z) is (x, -z, y)"
BY_ANGULAR_VELOCITY = ("BallJoint", "FreeJoint", "EllipsoidJoint", "ScapulothoracicJoint")
"""Joints whose first three speeds are an angular velocity in OpenSim, and rates of angles here."""


def notes_of(parts: Components, joints: Iterable[XmlElement], turned: bool) -> tuple[str, ...]:
    """Notes on a file. joints: all, also those of old documents. turned: whether the ground has another axis up."""
    idle = [force.tag for force in parts.forces if force.tag in IDLE and applies(force)]
    left = Counter([*idle, *(part.tag for part in (*parts.controllers, *parts.probes))])
    contacts = Counter(force.tag for force in parts.forces if force.tag in CONTACT and applies(force))
    found = [TURNED] if turned else []
    found += counted_out(left)
    angles = {c.name for joint in joints if joint.tag in BY_ANGULAR_VELOCITY for c in coordinates_of(joint)[:3]}
    at_angles = [
        force.get("name") or force.tag
        for force in parts.forces
        if force.tag in (SPRING, LIMIT, FORMULA) and applies(force)
        and text_of(force, "coordinate").rpartition("/")[2] in angles
    ]  # fmt: skip
    if at_angles:
        found.append(
            f"{names_in_message(at_angles, 6)}: torques along rates of angles, which OpenSim applies along the angular "
            "velocity of the joint"
        )
    return (*found, *counted_out(contacts, "left out, but for od.io.osim_spheres"))
