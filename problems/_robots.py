"""Parts common to the problems of robots: models from files, what their legs measure, the numbers of a report."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp

LOADS = od.Loads(passive=True, armature=True, slip_speed=0.2)
"""Springs, losses and rotors as in the robot's file; friction changes sign over 0.2 rad/s.

The joints of a gait turn at about 1 rad/s. With this slip speed TALOS needs 24 iterations, with half of it 65; with a
twentieth of it IPOPT finds no gait within 500.
"""

LIGHT = 0.005
"""Share of the robot's mass below which a joint that no leg needs counts as light: fingers, eyes, grippers."""

REACH = 1.6
"""Largest step length, in lengths of the leg."""


def as_built(urdf: str | Path) -> od.Model:
    """The robot of the file on a floating base; its mimic joints are free."""
    return od.load_urdf(urdf, root=od.FloatingBase(), mimic="free", inertia="keep")


def symmetric(urdf: str | Path, left: str, right: str, up: str = "z") -> od.Model:
    """Symmetric twin of the robot of the file, facing along x; left, right: frames of its two feet.

    up: the axis of the file's base link that points up. Joints that move no mass are locked. A robot whose sides differ
    too much for a twin is returned as it is.
    """
    model = ocp.facing_forward(as_built(urdf), left, right, up=up)
    model = locked_at_rest(model, massless_joints(model))
    try:
        return ocp.symmetric_twin(model)
    except od.ModelError:
        return model


def massless_joints(model: od.Model) -> list[str]:
    """Joints that no inertia resists: all bodies that they carry have neither mass nor inertia, and they have no rotor.

    The torque of such a joint is zero and its acceleration can be anything. Files have them where nobody measured a
    gripper.
    """
    carried = _carried(model, lambda i: float(model.I[i].m) + float(np.abs(np.array(DM(model.I[i].I).full())).max()))
    return [
        model.joint_names[i - 1]
        for i, _ in model.edges
        if not carried[i] and not model.dofs.armature[model.dofs_of(i)].any()
    ]


def light_joints(model: od.Model, feet: Sequence[str]) -> list[str]:
    """Joints that carry less than LIGHT of the mass and no foot: those of fingers, eyes and grippers."""
    carried = _carried(model, lambda i: float(model.I[i].m))
    legs = {body for foot in feet for body in model.path(model.frame(foot).body)}
    return [
        model.joint_names[i - 1] for i, _ in model.edges if carried[i] < LIGHT * model.mass and i not in legs
    ]  # fmt: skip


def _carried(model: od.Model, value: Any) -> list[float]:
    """The sum of a value of the bodies over each body and all that it carries, by index of the body."""
    found = [0.0, *(value(i) for i, _ in model.edges)]
    for i, parent in reversed(list(model.edges)):
        found[parent] += found[i]
    return found


def locked_at_rest(model: od.Model, joints: Iterable[str] | Mapping[str, Any]) -> od.Model:
    """The model without these joints, which hold the given positions; joints by name only, zero or the nearest position
    within their range."""
    if isinstance(joints, str):
        joints = (joints,)
    given = dict(joints) if isinstance(joints, Mapping) else dict.fromkeys(joints)
    if not given:
        return model
    rest = np.clip(model.neutral(), model.dofs.q_lower, model.dofs.q_upper)
    return model.lock_joints(
        {name: rest[model.q_slice(name)] if position is None else position for name, position in given.items()}
    )


def loaded(model: od.Model, load: float, feet: Sequence[str]) -> od.Model:
    """The model with a load [kg] at the mass center of its trunk, the heaviest body outside the legs (or the base)."""
    if not (math.isfinite(load) and load >= 0):
        raise ValueError(f"load must be a mass in kg, 0 or more, got {load}")
    if not load:
        return model
    legs = {body for foot in feet for body in model.path(model.frame(foot).body)} - {1}
    trunk = max((i for i, _ in model.edges if i not in legs), key=lambda i: float(model.I[i].m))
    return model.with_inertia(model.body_names[trunk - 1], mass=float(model.I[trunk].m) + load)


def leg_length(model: od.Model, foot: str) -> float:
    """Length of the leg that ends in the frame `foot` [m]: height of its first joint above the foot, all joints at zero."""
    q = model.neutral()
    hip = model.body_names[model.path(model.frame(foot).body)[1] - 1]
    return float(od.point_position(model, hip, DM(q))[2] - od.point_position(model, foot, DM(q))[2])


def pendulum_time(length: float, gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> float:
    """sqrt(l / g) [s], the time in which walkers of any size take comparable steps: 0.3 s for people."""
    return math.sqrt(length / float(np.linalg.norm(gravity)))


class Steps(NamedTuple):
    """Length and speed that the steps of a robot can have.

    name: of the robot; length of its legs [m]; gravity [m/s^2]; usual: speed if none is given, in sqrt(g l); fastest:
    largest Froude number v^2 / (g l).
    """

    name: str
    length: float
    gravity: float
    usual: float
    fastest: float

    def of(self, speed: float | None, length: float | None, time: float | None) -> tuple[tuple[float, float], float]:
        """Bounds of the step length [m] and the speed [m/s], if some of speed, step length and step time are given."""
        for name, value in (("speed", speed), ("step_length", length), ("step_time", time)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be positive, got {value!r} (backward=True walks backward)")
        if length is not None and time is not None:
            if speed is not None and abs(speed * time - length) > 1e-6 * length:
                raise ValueError(
                    f"speed {speed:g} m/s, step_length {length:g} m and step_time {time:g} s contradict each other: "
                    "speed times time is the length; leave out one"
                )
            speed = length / time
        speed = self.usual * math.sqrt(self.gravity * self.length) if speed is None else speed
        self._check_speed(speed)
        if time is not None:
            length = speed * time
        if length is None:
            return (0.02 * self.length, REACH * self.length), speed
        if length > REACH * self.length:
            raise ValueError(
                f"a step_length of {length:.3g} m is out of reach: legs of {self.length:.3g} m take steps of at most "
                f"{REACH * self.length:.3g} m"
            )
        return (length, length), speed

    def _check_speed(self, speed: float) -> None:
        number = speed**2 / (self.gravity * self.length)
        if number > self.fastest:
            raise ValueError(
                f"{self.name} cannot go at {speed:.3g} m/s in this gait: the Froude number v^2 / (g l) is {number:.3g} "
                f"with legs of {self.length:.3g} m, and {self.fastest:g} is the largest: at most "
                f"{math.sqrt(self.fastest * self.gravity * self.length):.3g} m/s"
            )


def check_slope(slope: float, cone: ocp.FrictionCone) -> None:
    """ValueError for a slope on which friction cannot carry: on average the force along it is slope times the normal one,
    and the pyramid inside the cone holds mu / sqrt(2) of that."""
    most = cone.mu / math.sqrt(2)
    if not abs(slope) < most:  # true for nan, too
        raise ValueError(
            f"slope must lie between -{most:.3g} and {most:.3g}, where friction holds the feet, got {slope:g}"
        )


def about(model: od.Model) -> dict[str, Any]:
    """Numbers of the report that describe the robot."""
    return {"robot": model.name, "dofs": model.nv, "mass_kg": float(model.mass)}


def add_robot(arguments: argparse.ArgumentParser) -> None:
    """The argument ROBOT and the option --urdf, one of which says which robot moves."""
    arguments.add_argument("robot", nargs="?", metavar="ROBOT", help="a name of od.robots, such as talos, or a URDF")
    arguments.add_argument("--urdf", metavar="FILE", help="the URDF of the robot, another way to give it")


def add_gait(add: Callable[..., Any], usual: float) -> None:
    """The options of a gait that two and four legs have. usual: speed by default, in sqrt(g l)."""
    add("--speed", type=float, metavar="V", help=f"speed [m/s]; default: {usual} sqrt(g l) with legs of length l")
    add("--backward", action="store_true", help="walk backward")
    add("--slope", type=float, default=0.0, metavar="S", help="rise per distance, negative downhill (default 0)")
    add("--step-length", type=float, metavar="M", help="length of a step [m]; free by default")
    add("--step-time", type=float, metavar="S", help="time of a step [s]; free by default")
    add("--load", type=float, default=0.0, metavar="KG", help="mass at the trunk's mass center [kg] (default 0)")
    add("--lock", nargs="+", metavar="JOINT", help="joints that hold still")


def asked_robot(options: argparse.Namespace) -> tuple[Path, od.robots.Robot | None]:
    """The URDF of the robot that the command line asks for, and its entry in the library's table if it has one."""
    given = [name for name in (options.robot, options.urdf) if name]
    if len(given) != 1:
        raise ValueError(f"one robot is needed, its name or its URDF, got {' and '.join(given) or 'none'}")
    if options.robot in od.robots.names():
        return od.robots.path(options.robot), od.robots.describe(options.robot)
    path = Path(given[0])
    if options.robot and not path.suffix and not path.exists():
        od.robots.describe(options.robot)  # raises an error with the nearest name
    return path, None
