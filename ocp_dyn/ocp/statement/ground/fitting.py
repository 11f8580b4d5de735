"""Checks that a contact can hold a foot on a plane."""

from __future__ import annotations

import numpy as np

from ....constraints import Contact, RollingContact
from .planes import LEVEL, Plane

PLACED = "_placed"
"""Mark of an edge whose normal a foothold has set, so that `dataclasses.replace(foothold, plane=...)` may change it."""


def check_point(contact: Contact, plane: Plane) -> None:
    """ValueError if the axes of a point contact do not hold it along the normal of the plane."""
    if contact.axes is None or plane.level:
        return
    A, n = np.array(contact.axes), np.array(plane.normal)
    if np.linalg.norm(A.T @ np.linalg.pinv(A.T) @ n - n) > 1e-9:
        raise ValueError(
            f"Foothold {contact.name!r}: a contact along {', '.join(contact.rows)} does not hold a point on "
            f"a plane with the normal {plane.normal}: give the contact all axes, 'xyz'"
        )


def check_edge(edge: RollingContact, plane: Plane) -> None:
    """ValueError unless an edge can roll on the plane: its axis in the frame's x-y plane, its normal free."""
    known_normal = tuple(edge.normal) in (LEVEL, plane.normal) or hasattr(edge, PLACED)
    if edge.axis is None or abs(edge.axis[2]) > 1e-9 or not known_normal or edge.height:
        raise ValueError(
            f"Foothold over an edge at {edge.name!r} needs od.RollingContact(frame, radius, center, axis=(0, 1, 0)) "
            f"with an axis in the frame's x-y plane, normal z and height 0, got axis {edge.axis}, normal "
            f"{edge.normal}, height {edge.height}: other planes go to Foothold(plane=ocp.Plane(...))"
        )
