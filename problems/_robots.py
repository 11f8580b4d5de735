"""Parts common to the problems of robots: the symmetric twin from a file, and the numbers of a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ocp_dyn as od
from ocp_dyn import ocp

LOADS = od.Loads(passive=True, armature=True, slip_speed=0.2)
"""All that a file says of joints; their friction changes sign over 0.2 rad/s.

Joints of gaits turn at some 1 rad/s. TALOS needs 24 iterations with this speed, 65 over half this speed, and over a twentieth of it IPOPT
finds no gait within 500.
"""


def as_built(urdf: str | Path) -> od.Model:
    """The robot of the file on a floating base, mimicking joints left free."""
    return od.load_urdf(urdf, root=od.FloatingBase(), mimic="free", inertia="keep")


def symmetric(urdf: str | Path, left: str, right: str) -> od.Model:
    """Its symmetric twin, facing along x: the frame `left` lies on the left of the frame `right`."""
    return ocp.symmetric_twin(ocp.facing_forward(as_built(urdf), left, right))


def about(model: od.Model) -> dict[str, Any]:
    """Numbers of the report on a robot itself."""
    return {"robot": model.name, "dofs": model.nv, "mass_kg": float(model.mass)}
