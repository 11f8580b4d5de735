"""A biped with a bird's legs: a rod with a spring, behind the shank, couples the tarsus to the knee."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...constraints import Loop
from ...joints import FloatingBase, Prismatic, Revolute
from ...mechanism.builder import ModelBuilder
from ..closed_chain import ClosedChain

HIP = 0.11
"""Distance of the legs from the middle [m]."""

KNEE, HEEL, ANKLE = (0.16, -0.30), (-0.10, -0.62), (0.05, -0.88)
"""Joints of the assembled leg, (x, z) from the hip [m]: between thigh and shank, shank and tarsus, tarsus and foot."""

ROD = ((0.09, -0.24), (-0.17, -0.58))
"""Pins (x, z) of the rod on the thigh and on the heel, the end of the tarsus behind its joint [m]."""

SOLE = 0.07
"""Height of the ankle above the sole [m]."""

STIFFNESS, DAMPING = 6.0e4, 600.0
"""Spring in the rod [N/m] and its losses [N s/m]: a walk at 0.5 m/s stretches the rod by up to 8 mm."""

EFFORT = {
    "hip_roll": 120.0,
    "hip_yaw": 60.0,
    "hip_pitch": 150.0,
    "knee": 180.0,
    "ankle_pitch": 60.0,
    "ankle_roll": 30.0,
}
"""Torques of the motors [N m]."""

X_Z_ROWS = ((0.0, 0.0, 0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
"""Rows of a loop in the x-z plane: two points coincide."""


def heel_spring_biped() -> ClosedChain:
    """A biped of 34 kg and 24 dofs with a closed chain in each leg: thigh, shank, tarsus, and a rod with a spring.

    Its sizes are invented; it is no copy of a robot. Six motors a leg: hip roll, yaw and pitch, knee, ankle pitch and
    roll. The joint of the tarsus, the pin of the rod on the thigh and the spring in the rod (joints `tarsus`, `rod`,
    `spring`) have none, their effort limits are zero; the loops `heel_l` and `heel_r` leave one of these three free, so
    that the spring gives. At `q` the robot stands with bent legs on flat feet, springs at rest; frames `left_sole` and
    `right_sole` lie under the ankles. `python -m problems.robot_walk heel_spring_biped` makes it walk.

    >>> biped = od.models.heel_spring_biped()
    >>> biped.model.nv, biped.model.nv - od.constraint_rank(biped.model, biped.loops, biped.q)
    (24, 20)
    """
    builder = ModelBuilder("heel_spring_biped")
    builder.add_body("pelvis", FloatingBase(), mass=18.0, com=(0.0, 0.0, 0.15), inertia=(0.30, 0.25, 0.15))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        _add_leg(builder, side, sign)
    model = builder.build()
    q = np.array(model.neutral())
    q[2] = SOLE - ANKLE[1]
    loops = tuple(Loop(f"rod_end_{s}", f"heel_pin_{s}", X_Z_ROWS, label=f"heel_{s}") for s in "lr")
    return ClosedChain(model, loops, q)


def _add_leg(builder: ModelBuilder, side: str, sign: float) -> None:
    s, roll, yaw, pitch = side[0], Revolute("x"), Revolute("z"), Revolute("y")

    def add(body: str, joint: Any, name: str, parent: str, origin: Any, mass: float = 0.0, **given: Any) -> None:
        options: dict[str, Any] = {"mass": mass, "effort": EFFORT.get(name, 0.0)} | given
        builder.add_body(f"{body}_{s}", joint, parent, origin=origin, joint_name=f"{name}_{s}", **options)

    rod = _in_plane(ROD[1]) - _in_plane(ROD[0])
    heel = _in_plane(ROD[1]) - _in_plane(HEEL)
    add("hip_bracket", roll, "hip_roll", "pelvis", (0.0, sign * HIP, 0.0), 1.2, inertia=(2e-3, 2e-3, 2e-3),
        lower=-0.5, upper=0.5, velocity=12.0)  # fmt: skip
    add("hip_block", yaw, "hip_yaw", f"hip_bracket_{s}", (0.0, 0.0, 0.0), 1.0, inertia=(2e-3, 2e-3, 2e-3),
        lower=-0.6, upper=0.6, velocity=12.0)  # fmt: skip
    add("thigh", pitch, "hip_pitch", f"hip_block_{s}", (0.0, 0.0, 0.0), lower=-1.2, upper=1.0, velocity=12.0,
        **_beam((0.0, 0.0), KNEE, 3.0))  # fmt: skip
    add("shank", pitch, "knee", f"thigh_{s}", _in_plane(KNEE), lower=-0.8, upper=0.9, velocity=12.0,
        **_beam(KNEE, HEEL, 1.0))  # fmt: skip
    add("tarsus", pitch, "tarsus", f"shank_{s}", _in_plane(HEEL) - _in_plane(KNEE), **_beam(HEEL, ANKLE, 0.8))
    builder.add_frame(f"heel_pin_{s}", f"tarsus_{s}", heel)
    add("foot", pitch, "ankle_pitch", f"tarsus_{s}", _in_plane(ANKLE) - _in_plane(HEEL), 0.2,
        inertia=(1e-4, 1e-4, 1e-4), lower=-1.0, upper=1.0, velocity=12.0)  # fmt: skip
    add("toes", roll, "ankle_roll", f"foot_{s}", (0.0, 0.0, 0.0), 0.5, com=(0.01, 0.0, -0.05),
        inertia=(5e-4, 2e-3, 2e-3), lower=-0.4, upper=0.4, velocity=12.0)  # fmt: skip
    builder.add_frame(f"{side}_sole", f"toes_{s}", (0.0, 0.0, -SOLE))
    add("rod", pitch, "rod", f"thigh_{s}", _in_plane(ROD[0]), **_beam(ROD[0], ROD[1], 0.2))
    along = rod / np.linalg.norm(rod)
    add("rod_slide", Prismatic(tuple(along)), "spring", f"rod_{s}", 0.5 * rod,
        **_beam((0.0, 0.0), 0.5 * rod[[0, 2]], 0.1),
        stiffness=STIFFNESS, damping=DAMPING)  # fmt: skip
    builder.add_frame(f"rod_end_{s}", f"rod_slide_{s}", 0.5 * rod)


def _in_plane(point: Any) -> Any:
    return np.array([point[0], 0.0, point[1]])


def _beam(begin: Any, end: Any, mass: float) -> dict[str, Any]:
    """Mass, com and inertia of a straight beam of 4 cm width between two points of the plane, in a frame at the
    first."""
    r = _in_plane(end) - _in_plane(begin)
    inertia = mass / 12 * ((r @ r) * np.eye(3) - np.outer(r, r)) + mass * 0.04**2 / 6 * np.eye(3)
    return {"mass": mass, "com": tuple(r / 2), "inertia": inertia}
