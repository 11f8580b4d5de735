"""A leg with a four-bar knee: two crossed bars join thigh and shank, as the cruciate ligaments do in a human knee."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from ...constraints import Loop
from ...joints import MultiDof, Revolute
from ...mechanism.builder import ModelBuilder
from ..closed_chain import ClosedChain

THIGH, SHANK = 0.28, 0.22
"""Lengths: hip to knee, knee to ankle [m]."""

FRONT = ((-0.024, 0.0), (0.024, -0.064))
"""Pins (x, z) of the bar whose lower end is in front, in the straight knee: on the thigh, on the shank [m]."""

REAR = ((0.020, -0.016), (-0.032, -0.060))

BAR_MASS = 0.15


def four_bar_leg() -> ClosedChain:
    """A leg in the x-z plane with a four-bar knee at twice the human size, its knee straight.

    Joints: `root` (along x and z, about y), `hip`, `knee` (turns the front bar), `pin` (front bar to shank), `rear`
    (rear bar), `ankle`; a motor turns hip, front bar and ankle, shank and rear bar follow (`four_bar_knee`). The loop
    holds the lower end of the rear bar on its pin on the shank. Frames: `heel`, `toe`.

    >>> chain = od.models.four_bar_leg()
    >>> chain.model.nv, len(chain.loops), round(float(chain.model.mass), 1)
    (8, 1, 14.0)
    """
    root = MultiDof([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1), (0, 1, 0, 0, 0, 0)])  # along x and z, about y
    hinge = Revolute("y")
    fast: dict[str, Any] = {"effort": 80.0, "velocity": 20.0}
    builder = ModelBuilder("four_bar_leg")
    bounds: dict[str, Any] = {"lower": (-2.0, 0.0, -0.05), "upper": (2.0, 2.0, 1.0)}
    builder.add_body("trunk", root, mass=10, com=(0, 0, 0.15), inertia=(0.2, 0.2, 0.1), joint_name="root", **bounds)
    thigh: dict[str, Any] = {
        "mass": 2.0,
        "com": (0, 0, -0.12),
        "inertia": (0.015, 0.015, 0.002),
        "lower": -1.8,
        "upper": 0.1,
    }
    builder.add_body("thigh", hinge, "trunk", joint_name="hip", **thigh, **fast)
    builder.add_frame("above_knee", "thigh", (0, 0, -THIGH))
    bar = _bar(FRONT) | {"lower": 0.0, "upper": 1.35, "effort": 120.0, "velocity": 20.0}
    builder.add_body("front_bar", hinge, "above_knee", origin=_in_plane(FRONT[0]), joint_name="knee", **bar)
    x, z = FRONT[1]
    shank: dict[str, Any] = {"mass": 1.2, "com": (-x, 0, -0.1 - z), "inertia": (0.008, 0.008, 0.001)}
    builder.add_body("shank", hinge, "front_bar", origin=_along(FRONT), joint_name="pin", **shank)
    builder.add_frame("shank_pin", "shank", _along((FRONT[1], REAR[1])))
    builder.add_body("rear_bar", hinge, "above_knee", origin=_in_plane(REAR[0]), joint_name="rear", **_bar(REAR))
    builder.add_frame("rear_end", "rear_bar", _along(REAR))
    foot: dict[str, Any] = {
        "mass": 0.5,
        "com": (0.03, 0, -0.03),
        "inertia": (0.001, 0.002, 0.002),
        "lower": -1.2,
        "upper": 1.0,
    }
    builder.add_body("foot", hinge, "shank", origin=(-x, 0, -SHANK - z), joint_name="ankle", **foot, **fast)
    builder.add_frame("heel", "foot", (-0.05, 0, -0.05))
    builder.add_frame("toe", "foot", (0.11, 0, -0.05))
    model = builder.build()
    loop = Loop("rear_end", "shank_pin", axes=[(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)])
    return ClosedChain(model, (loop,), np.array(model.neutral(), dtype=float), np.zeros(model.nv))


def four_bar_knee(front: Any) -> Any:
    """Angles of the joints `pin` and `rear` of `four_bar_leg` (2) that close its loop, for the angle of the front bar
    `knee` [rad].

    >>> od.models.four_bar_knee(ca.DM(0.5)).full().ravel().round(3)
    array([0.367, 0.437])
    """
    _, link, rear = shank_pose(front)
    return ca.vertcat(_turn(_along((FRONT[1], REAR[1])), link) - front, _turn(_along(REAR), rear))


Pins = tuple[tuple[float, float], tuple[float, float]]


def _in_plane(point: Sequence[float]) -> tuple[float, float, float]:
    return point[0], 0.0, point[1]


def _along(pins: Pins) -> tuple[float, float, float]:
    """The vector from the first pin to the second."""
    return _in_plane(np.subtract(pins[1], pins[0]).tolist())


def _bar(pins: Pins) -> dict[str, Any]:
    """Mass, com and inertia of a thin straight bar between two pins, in a frame at the first."""
    r = np.array(_along(pins))
    across = (r @ r) * np.eye(3) - np.outer(r, r)
    return {"mass": BAR_MASS, "com": tuple(r / 2), "inertia": BAR_MASS / 12 * across}


def shank_pose(front: Any) -> tuple[Any, Any, Any]:
    """(pin on the front bar (x, z), unit vector from it to the other pin of the shank, vector along the rear bar), in
    the thigh, for the angle of the front bar.

    The shank's other pin is the intersection of two circles, about the pin on the front bar and about the upper pin of
    the rear bar, on the side of the straight knee.
    """
    (a, b), (d, c) = np.array(FRONT), np.array(REAR)
    cos, sin, arm = ca.cos(front), ca.sin(front), b - a
    pin = DM(a) + ca.vertcat(cos * arm[0] + sin * arm[1], cos * arm[1] - sin * arm[0])
    shank, rear = float(np.hypot(*(c - b))), float(np.hypot(*(c - d)))
    gap = DM(d) - pin
    along = (ca.sumsqr(gap) + shank**2 - rear**2) / 2
    side = np.sign((d - b)[0] * (c - b)[1] - (d - b)[1] * (c - b)[0])
    across = side * ca.sqrt(shank**2 * ca.sumsqr(gap) - along**2)
    link = (along * gap + across * ca.vertcat(-gap[1], gap[0])) / ca.sumsqr(gap)
    return pin, link / shank, link - gap


def _turn(before: Sequence[float], after: Any) -> Any:
    """The angle about y by which a vector (x, 0, z) of the straight knee has turned to (x, z)."""
    x, _, z = before
    return ca.atan2(z * after[0] - x * after[1], x * after[0] + z * after[1])
