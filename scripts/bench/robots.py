"""Robots of the benchmarks, their feet, and the states at which all libraries compute."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import ocp_dyn as od
from ocp_dyn.joints import Prismatic, Revolute
from ocp_dyn.mechanism.builder import ModelBuilder

Array = NDArray[np.float64]

STATES = 512
"""States of a batch; libraries without batches take the first of them in turn."""


class Robot(NamedTuple):
    """A model, its feet, and the URDF it came from, for libraries that read only that."""

    model: od.Model
    feet: tuple[str, ...] = ()
    urdf: Path | None = None
    axes: str | None = None

    @property
    def contacts(self) -> tuple[od.Contact, ...]:
        """Flat feet: all six directions of each; or points, with forces along the axes."""
        return tuple(od.Contact(self.model.frame(foot), axes=self.axes) for foot in self.feet)


FEET = {"talos_reduced": ("left_sole_link", "right_sole_link"), "simple_humanoid": ("l_ankle", "r_ankle")}


def urdf(name: str) -> Path | None:
    """The file of a robot of example-robot-data; None, with a line that says so, if that is not installed."""
    found = next(iter(sorted(od.robots.folder().glob(f"*/**/{name}.urdf"))), None) if od.robots.installed() else None
    if found is None:
        print(f"{name} is left out: pip install example-robot-data", file=sys.stderr)
    return found


def robots() -> dict[str, Robot]:
    """The robots of the table that are installed, on floating bases; without any, the human of this library."""
    paths = {name: urdf(name) for name in FEET}
    found = {
        name: Robot(od.load_urdf(path, od.FloatingBase()), FEET[name], path) for name, path in paths.items() if path
    }
    return found or {"human": Robot(od.models.human(), ("sole_l", "sole_r"))}


def packed_robots() -> dict[str, Robot]:
    """Robots with limbs in pairs, with four legs alike, and without pairs: the human of this library, and those of
    example-robot-data that are installed. The feet of the quadruped are points."""
    legs = tuple(f"{side}_FOOT" for side in ("FL", "FR", "HL", "HR"))
    described: dict[str, tuple[Any, tuple[str, ...], str | None]] = {
        "talos_reduced": (od.FloatingBase(), FEET["talos_reduced"], None),
        "solo12": (od.FloatingBase(), legs, "xyz"),
        "ur5_robot": (None, (), None),
    }
    found = {"human": Robot(od.models.human(), ("sole_l", "sole_r"))}
    for name, (root, feet, axes) in described.items():
        path = urdf(name)
        if path is not None:
            found[name] = Robot(od.load_urdf(path, *([root] if root else [])), feet, path, axes)
    return found


def emulated(robot: Robot) -> Robot:
    """The same robot on six joints of one dof, with massless bodies in between, instead of one of six."""
    last = Revolute("x")
    turning = od.load_urdf(robot.urdf, last) if robot.urdf else od.models.human(root=last)
    builder = ModelBuilder("six_joints")
    joints = (*(Prismatic(axis) for axis in "xyz"), *(Revolute(axis) for axis in "zy"))
    for i, joint in enumerate(joints):
        builder.add_body(f"base{i}", joint, f"base{i - 1}" if i else "world", joint_name=f"base_joint{i}")
    return Robot(builder.build().attach(turning, "base4"), robot.feet)


def states(model: od.Model, count: int = STATES) -> dict[str, Array]:
    """Inputs by name, a state in every row: the same for all functions of a model."""
    rng = np.random.default_rng(1)
    drawn = {"q": np.array([model.random_q(rng) for _ in range(count)])}
    return drawn | {name: rng.normal(size=(count, model.nv)) for name in ("qd", "qdd", "tau")}
