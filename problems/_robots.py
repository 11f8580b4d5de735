"""Parts common to the problems of robots: the symmetric twin from a file, and the numbers of a report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import ocp_dyn as od
from ocp_dyn import ocp

LOADS = od.Loads(passive=True, armature=True, slip_speed=0.2)
"""Springs, losses and rotors as in the robot's file; friction changes sign over 0.2 rad/s.

The joints of a gait turn at about 1 rad/s. With this slip speed TALOS needs 24 iterations, with half of it 65; with a
twentieth of it IPOPT finds no gait within 500.
"""


def as_built(urdf: str | Path) -> od.Model:
    """The robot of the file on a floating base; its mimic joints are free."""
    return od.load_urdf(urdf, root=od.FloatingBase(), mimic="free", inertia="keep")


def symmetric(urdf: str | Path, left: str, right: str) -> od.Model:
    """Symmetric twin of the robot of the file, facing along x; left, right: frames of its two feet."""
    return ocp.symmetric_twin(ocp.facing_forward(as_built(urdf), left, right))


def about(model: od.Model) -> dict[str, Any]:
    """Numbers of the report that describe the robot."""
    return {"robot": model.name, "dofs": model.nv, "mass_kg": float(model.mass)}


def add_robot(arguments: argparse.ArgumentParser) -> None:
    """The argument ROBOT and the option --urdf, one of which says which robot moves."""
    arguments.add_argument("robot", nargs="?", metavar="ROBOT", help="a name of od.robots, such as talos, or a URDF")
    arguments.add_argument("--urdf", metavar="FILE", help="the URDF of the robot, another way to give it")


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
