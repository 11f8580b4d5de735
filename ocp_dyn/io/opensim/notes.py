"""Notes on what the reader of an OpenSim model leaves out or turns, as lines of `model.notes`."""

from __future__ import annotations

from collections import Counter

from ...mechanism.annotations import counted_out
from .document import Components
from .forces import CONTACT, IDLE, applies

TURNED = "the ground of the file has y up, here z: its point (x, y, z) is (x, -z, y)"


def notes_of(parts: Components, turned: bool) -> tuple[str, ...]:
    """Notes on a file. turned: whether the ground has another axis up."""
    idle = [force.tag for force in parts.forces if force.tag in IDLE and applies(force)]
    left = Counter([*idle, *(part.tag for part in (*parts.controllers, *parts.probes))])
    contacts = Counter(force.tag for force in parts.forces if force.tag in CONTACT and applies(force))
    found = [TURNED] if turned else []
    found += counted_out(left)
    return (*found, *counted_out(contacts, "left out, but for od.io.osim_spheres"))
