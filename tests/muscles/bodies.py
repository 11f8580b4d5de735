"""Small models with muscles over all kinds of wrap objects."""

from __future__ import annotations

from functools import cache

import numpy as np

import ocp_dyn as od


@cache
def leg() -> od.Model:
    """A thigh and a shank of three and one dofs, with limits, on the ground."""
    builder = od.ModelBuilder("leg")
    builder.add_body("thigh", od.Euler("zyx"), joint_name="hip", mass=8, com=(0, 0, -0.2), inertia=(0.1, 0.1, 0.02))
    builder.add_body(
        "shank", od.Revolute("y"), "thigh", joint_name="knee", origin=(0, 0, -0.4), mass=3, com=(0, 0, -0.2),
        inertia=(0.05, 0.05, 0.01),
    )  # fmt: skip
    builder.add_frame("ground", "world")
    limits = {"hip": (-0.4, -0.6, -0.3), "knee": -0.2}
    return builder.build().with_limits(lower=limits, upper={"hip": (0.4, 0.9, 0.3), "knee": 1.9})


def point(name: str, body: str, x: float, y: float, z: float) -> od.PathPoint:
    return od.PathPoint(name, body, (x, y, z))


TURN = tuple(od.rpy_matrix((np.pi / 2 - 0.1, 0.05, 0.2)).ravel())
"""Axes of a wrap object whose z axis lies near the y axis of its body, in general position."""

WRAPS = {
    "cylinder": od.WrapObject("W", "cylinder", "thigh", (0.03, 0.3), (0.0, 0.01, -0.41), TURN),
    "one half": od.WrapObject("W", "cylinder", "thigh", (0.03, 0.3), (0.0, 0.01, -0.41), TURN, "x"),
    "sphere": od.WrapObject("W", "sphere", "thigh", (0.04,), (0.0, 0.004, -0.4)),
    "ellipsoid": od.WrapObject("W", "ellipsoid", "thigh", (0.03, 0.05, 0.04), (0.0, 0.004, -0.4), TURN),
    "half an ellipsoid": od.WrapObject("W", "ellipsoid", "thigh", (0.03, 0.05, 0.04), (0.0, 0.004, -0.4), TURN, "x"),
}


def extensor(kind: str) -> od.Model:
    """A muscle in front of the knee, over one wrap object."""
    path = (point("P1", "thigh", 0.045, 0.01, -0.1), point("P2", "shank", 0.02, -0.02, -0.15))
    return leg().with_muscles([od.Muscle("extensor", "PathSpring", path, (od.PathWrap("W"),))], [WRAPS[kind]])


def two_joints() -> od.Model:
    """A muscle from the ground to the shank over a cylinder at the hip and an ellipsoid at the knee."""
    wraps = [
        od.WrapObject("hip", "cylinder", "ground", (0.05, 0.4), (0.0, 0.0, -0.01), TURN, "x"),
        od.WrapObject("knee", "ellipsoid", "thigh", (0.035, 0.05, 0.045), (0.002, 0.004, -0.4), TURN, "x"),
    ]
    path = (point("P1", "ground", -0.02, 0.01, 0.12), point("P2", "shank", 0.01, -0.02, -0.18))
    over = (od.PathWrap("hip"), od.PathWrap("knee"))
    return leg().with_muscles([od.Muscle("long", "PathSpring", path, over)], wraps)


def all_points() -> od.Model:
    """A muscle with a via point, a moving point and a conditional point."""
    ramp = od.SimmSpline((-0.5, 0.0, 0.7, 2.0), (0.04, 0.045, 0.035, 0.02))
    moving = od.MovingPathPoint(
        "P3", "shank", (ramp, od.ConstantFunction(0.01), od.LinearFunction(0.01, -0.02)), ("knee", None, "knee")
    )
    conditional = od.ConditionalPathPoint("P2", "thigh", (0.05, 0.0, -0.35), "knee", 0.8, 1.5)
    path = (point("P0", "ground", 0.05, 0.0, 0.1), point("P1", "thigh", 0.04, 0, -0.2), conditional, moving,
            point("P4", "shank", 0.02, 0, -0.2))  # fmt: skip
    return leg().with_muscles([od.Muscle("points", "PathSpring", path)])


def states(model: od.Model, count: int) -> np.ndarray:
    """Configurations in the box of the ranges."""
    rng = np.random.default_rng(3)
    low, high = model.dofs.q_lower, model.dofs.q_upper
    return low + (high - low) * rng.uniform(size=(count, model.nq))
