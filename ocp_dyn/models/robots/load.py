"""Finding and loading the robots of the table."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from ..._base.checks import choice, whole
from ..._base.types import ModelError, Vector, names_in_message, repr_in_message, suggestion
from ...constraints import Contact
from ...io import Ball, Box, load_urdf
from ...joints import Fixed, FloatingBase, Joint
from ...mechanism import Model
from .table import ROBOTS, Kind, Robot

PACKAGE = "example-robot-data"
INSTALL = 'pip install "ocp_dyn[robots]"'
BY_NAME = {robot.name: robot for robot in ROBOTS}
KINDS = get_args(Kind)
POINT_RADIUS, SOLE_THICKNESS = 0.02, 0.01
"""Radius of a foot whose radius is not known; height of the box that stands for a sole [m]."""


def names(kind: Kind | None = None, *, feet: int | None = None) -> tuple[str, ...]:
    """Names of all robots, or of those of a kind, or with so many feet, in alphabetical order.

    kind: "arm", "biped" (point feet), "flying", "hand", "humanoid" (flat feet), "mechanism", "mobile" (arms on
    wheels) or "quadruped". The names are known without the package of the files.

    >>> od.robots.names("biped")
    ('bolt',)
    >>> "talos" in od.robots.names(feet=2)
    True
    """
    if kind is not None:
        choice(kind, KINDS, "kind")
    count = None if feet is None else whole(feet, "feet", 0)
    found = (robot for robot in ROBOTS if kind in (None, robot.kind) and count in (None, len(robot.feet)))
    return tuple(sorted(robot.name for robot in found))


def describe(name: str) -> Robot:
    """The entry of a robot in the library's table: kind, file, feet. KeyError with the nearest name for an unknown one.

    >>> od.robots.describe("solo12").feet
    ('FL_FOOT', 'FR_FOOT', 'HL_FOOT', 'HR_FOOT')
    """
    if name not in BY_NAME:
        near = suggestion(name, BY_NAME) or f"; od.robots.names() lists all {len(BY_NAME)}"
        raise KeyError(f"no robot {repr_in_message(name)}{near}")
    return BY_NAME[name]


def installed() -> bool:
    """Whether the package of the robots' files is there."""
    return any(folder.is_dir() for folder in _folders())


def folder() -> Path:
    """The folder of all URDFs of the package; ModuleNotFoundError, which says how to install it, if it is not there."""
    found = next((folder for folder in _folders() if folder.is_dir()), None)
    if found is None:
        raise ModuleNotFoundError(f"the files of robots come with the package {PACKAGE}: {INSTALL}", name=PACKAGE)
    return found


def path(name: str) -> Path:
    """The URDF of a robot. Its meshes stand beside it, where viewers find them.

    KeyError with the nearest name for an unknown one; ModuleNotFoundError, which says how to install the package of
    the files, if it is not there; FileNotFoundError if the installed version lacks this robot.
    """
    robot = describe(name)  # an unknown name is told first, whether there are files or not
    file = folder() / robot.file
    if not file.is_file():
        raise FileNotFoundError(f"robot {name!r}: the installed {PACKAGE} has no {file}: {INSTALL} --upgrade")
    return file


def _folders() -> Iterator[Path]:
    """Places of the robots' files: of the package from PyPI, of conda, of ROS and CMake installations."""
    try:
        files = importlib.metadata.distribution(PACKAGE)
        yield Path(str(files.locate_file(f"cmeel.prefix/share/{PACKAGE}/robots")))
    except importlib.metadata.PackageNotFoundError:
        pass
    prefixes = [sys.prefix]
    for variable in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH"):
        prefixes += filter(None, os.environ.get(variable, "").split(os.pathsep))
    yield from (Path(prefix) / "share" / PACKAGE / "robots" for prefix in prefixes)


def load(
    name: str,
    root: Joint | None = None,
    *,
    gravity: Vector = (0.0, 0.0, -9.81),
    mimic: Literal["refuse", "free", "couple"] = "free",
    inertia: Literal["refuse", "keep"] = "keep",
) -> Model:
    """The model of a robot of example-robot-data, by name.

    root: by default a `FloatingBase()` for robots that walk or fly, and `Fixed()` for arms, hands and robots on wheels.
    gravity [m/s^2]; mimic, inertia: as in `load_urdf`. By default joints of grippers that follow others are free, and
    inertias that no body can have, which some of the files hold, are kept. `model.show()` shows the robot's meshes.

    Raises KeyError with the nearest name for an unknown one, ModuleNotFoundError if the files are not installed.

    >>> od.robots.load("panda").nv    # doctest: +SKIP
    9
    """
    robot = describe(name)
    own = FloatingBase() if robot.free else Fixed()
    return load_urdf(path(name), own if root is None else root, gravity=gravity, mimic=mimic, inertia=inertia)


def contacts(name: str) -> tuple[Contact, ...]:
    """Contacts of the robot's feet with the ground, left before right and front before hind.

    Flat feet have six rows at the middle of the sole as far as the table knows it, feet that are points three rows at
    the center of the foot. The constraint set of a robot that stands:

        FDc = od.function(od.constrained_dynamics, od.robots.load("talos"), od.robots.contacts("talos"))

    ModelError for a robot without feet, or whose file does not tell where they touch the ground.
    """
    robot = describe(name)
    if not robot.feet:
        known = [other.name for other in ROBOTS if other.feet]
        raise ModelError(
            f"robot {name!r} has no feet in the library's table: make od.Contact(frame) of frames of the model; "
            f"robots with feet: {names_in_message(known, len(known))}"
        )
    if robot.sole is None:
        return tuple(Contact(foot, axes="xyz") for foot in robot.feet)
    point = dict.fromkeys("xyz", 0.0) | {robot.up: -robot.sole_height}
    point["x"] += robot.sole_ahead
    return tuple(Contact(foot, point=(point["x"], point["y"], point["z"])) for foot in robot.feet)


def shapes(name: str) -> tuple[Box | Ball, ...]:
    """Shapes of the robot's feet for `od.io.write_mjcf` and `od.io.write_urdf`, in the order of `contacts`.

    A box of the size of the sole, 1 cm high, under a flat foot; a ball around the frame of a foot that is a point, of
    2 cm where the table has no radius. ModelError for a robot without feet.

    >>> od.robots.shapes("talos")[0].frame, od.robots.shapes("solo12")[0].size
    ('left_sole_link', (0.016,))
    """
    contacts(name)  # raises for a robot without feet
    robot = describe(name)
    if robot.sole is None:
        return tuple(Ball(foot, robot.sole_height or POINT_RADIUS) for foot in robot.feet)
    length, width = robot.sole
    half = (length, SOLE_THICKNESS / 2, width) if robot.up == "y" else (length, width, SOLE_THICKNESS / 2)
    soles = []
    for foot, contact in zip(robot.feet, contacts(name), strict=True):
        x, y, z = (p + SOLE_THICKNESS / 2 * (axis == robot.up) for p, axis in zip(contact.point, "xyz", strict=True))
        soles.append(Box(foot, half, (x, y, z)))
    return tuple(soles)
