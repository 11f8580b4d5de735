"""Models of robots that walk: symmetric twins with frames under their feet, locked joints, loads, lengths of legs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from casadi import DM

from .._base.checks import listed_names, within
from .._base.files import path_of
from .._base.types import ModelError, repr_in_message
from ..constraints import Contact
from ..dynamics.kinematics import point_position, pose
from ..io import load_urdf
from ..io.formats import format_of, load
from ..joints import FloatingBase
from ..mechanism import Model
from ..mechanism.loads import Loads
from ..models import robots as table
from ..symmetry.twin import facing_forward, symmetric_twin
from .alterations import check_within_limits

LOADS = Loads(passive=True, armature=True, slip_speed=0.2)
"""Springs, losses and rotors as in the robot's file; friction changes sign over 0.2 rad/s.

The joints of a gait turn at about 1 rad/s. With this slip speed TALOS needs 24 iterations, with half of it 65; with a
twentieth of it IPOPT finds no gait within 500.
"""

LIGHT = 0.005
"""Share of the robot's mass below which a joint that no leg needs counts as light: fingers, eyes, grippers."""

MOST_LOAD = 3.0
"""Largest load of a robot, in its own masses."""


def as_built(robot: str | Path) -> Model:
    """The robot of a file in any format of `od.load`, or of a name of `od.robots`, on a floating base, not quite
    symmetric as its file may have it; mimic joints of a URDF are free.

    >>> od.walking.as_built("solo12").nv  # doctest: +SKIP
    18
    """
    file = table.path(str(robot)) if str(robot) in table.names() else path_of(robot)
    if format_of(file).name == "URDF":
        return load_urdf(file, root=FloatingBase(), mimic="free", inertia="keep")
    model = load(file)
    return model if isinstance(model.joints[1], FloatingBase) else model.with_root(FloatingBase())


def twin_on_feet(
    robot: Model | str | Path,
    feet: Mapping[str, str],
    *,
    height: float = 0.0,
    ahead: float = 0.0,
    level: bool = True,
    up: str = "z",
    what: str = "sole_height",
) -> Model:
    """The symmetric twin of a robot, with a frame under every foot.

    robot: a model on a floating base, the path of its file, or a name of `od.robots`. feet: frames of the model by the
    names of the new frames, one of the left first, then one of the right. height [m] of the feet's frames above the
    ground, ahead [m]: distance of the new frames in front of them, when all joints are at zero; the robot then stands
    with its feet on the ground. level: the new frames have the world's axes then, as flat soles need them. up: the axis
    of the base that points up. what: the name of the height in messages.
    """
    names = list(feet.values())
    for left, right in zip(names[::2], names[1::2], strict=True):
        check_sides(left, right)
    left, right = names[:2]
    model = facing_twin(robot if isinstance(robot, Model) else as_built(robot), left, right, up)
    leg = leg_length(model, left)
    within(height, 0.0, leg, f"{what} must lie between 0 and {leg:.3g} m, the length of a leg")
    q = DM(model.neutral())
    for name, foot in feet.items():
        R = np.array(pose(model, foot, q)[0].full())
        turned = {"rotation": R.T} if level else {}
        model = model.with_frame(name, foot, origin=R.T @ [ahead, 0.0, -height], **turned)
    return model


def facing_twin(model: Model, left: str, right: str, up: str) -> Model:
    """Symmetric twin of a robot, facing along x; left, right: frames of its two feet.

    Joints that move no mass are locked. A robot whose sides differ too much for a twin is returned as it is.
    """
    model = facing_forward(model, left, right, up=up)
    model = locked_at_rest(model, massless_joints(model))
    try:
        return symmetric_twin(model)
    except ModelError:
        return model


def check_sides(left: str, right: str) -> None:
    """ValueError for two feet whose names tell that left and right are swapped, which would turn the robot round."""
    one, other = left.lower(), right.lower()
    differ = {(a, b) for a, b in zip(one, other, strict=False) if a != b} if len(one) == len(other) else set()
    if differ == {("r", "l")} or ("right" in one and "left" in other):
        raise ValueError(
            f"feet must be named left first, then right, got {left!r} and {right!r}, whose names tell the opposite: "
            "swap them. The robot faces the side to which its left foot is left; backward=True walks backwards"
        )


def moves_in_plane(model: Model, frames: Sequence[str]) -> bool:
    """Whether no joint moves these frames out of the world's x-z plane."""
    q = DM(model.random_q(np.random.default_rng(0)))
    J = [np.array(DM(Contact(frame).jacobian(model, q)).full())[[0, 2, 4]] for frame in frames]
    return float(np.abs(J).max()) < FLAT


FLAT = 1e-9
"""Motion out of a plane [rad/rad, m/rad] that is rounding."""


def massless_joints(model: Model) -> list[str]:
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


def light_joints(model: Model, feet: Sequence[str]) -> list[str]:
    """Joints that carry less than 0.5 % of the mass and no foot: those of fingers, eyes and grippers. feet: their
    frames.

    >>> model = od.models.human()
    >>> od.walking.light_joints(model, ("sole_l", "sole_r"))
    []
    """
    carried = _carried(model, lambda i: float(model.I[i].m))
    legs = {body for foot in feet for body in model.path(model.frame(foot).body)}
    return [
        model.joint_names[i - 1] for i, _ in model.edges if carried[i] < LIGHT * model.mass and i not in legs
    ]  # fmt: skip


def _carried(model: Model, value: Any) -> list[float]:
    """The sum of a value of the bodies over each body and all that it carries, by index of the body."""
    found = [0.0, *(value(i) for i, _ in model.edges)]
    for i, parent in reversed(list(model.edges)):
        found[parent] += found[i]
    return found


def locked_at_rest(model: Model, joints: Iterable[str] | Mapping[str, Any]) -> Model:
    """The model without these joints, which hold the given positions; joints by name only, zero or the nearest position
    within their range."""
    if isinstance(joints, str):
        joints = (joints,)
    given = dict(joints) if isinstance(joints, Mapping) else dict.fromkeys(listed_names(joints, "locked"))
    if not given:
        return model
    rest = np.clip(model.neutral(), model.dofs.q_lower, model.dofs.q_upper)
    at = {name: rest[model.q_slice(name)] if position is None else position for name, position in given.items()}
    check_within_limits(model, at)
    return model.lock_joints(at)


def loaded(model: Model, load: float, feet: Sequence[str]) -> Model:
    """The model with a load [kg] at the mass center of its trunk, the heaviest body outside the legs (or the base)."""
    most = MOST_LOAD * float(model.mass)
    if not (math.isfinite(one_number(load, "load")) and load >= 0):
        raise ValueError(f"load must be a mass in kg, 0 or more, got {load:g}")
    within(load, 0.0, most, f"load must be at most {most:.3g} kg, {MOST_LOAD:g} times the robot's mass")
    if not load:
        return model
    legs = {body for foot in feet for body in model.path(model.frame(foot).body)} - {1}
    trunk = max((i for i, _ in model.edges if i not in legs), key=lambda i: float(model.I[i].m))
    return model.with_inertia(model.body_names[trunk - 1], mass=float(model.I[trunk].m) + load)


def leg_length(model: Model, foot: str) -> float:
    """Length of the leg that ends in the frame `foot` [m]: height of its first joint above the foot, all joints at
    zero.

    >>> round(od.walking.leg_length(od.models.human(), "sole_l"), 2)
    0.92
    """
    q = model.neutral()
    hip = model.body_names[model.path(model.frame(foot).body)[1] - 1]
    return float(point_position(model, hip, DM(q))[2] - point_position(model, foot, DM(q))[2])


def pendulum_time(length: float, gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> float:
    """sqrt(l / g) [s], the time in which walkers of any size take comparable steps: 0.3 s for people."""
    return math.sqrt(length / float(np.linalg.norm(gravity)))


def one_number(value: Any, what: str) -> float:
    """The value as a float, perhaps NaN or infinite; TypeError if it is no number."""
    if isinstance(value, bool) or not isinstance(value, (Real, np.number)):
        raise TypeError(f"{what} must be one number, got {repr_in_message(value)}")
    return float(value)


def check_robot(robot: Any, what: str, kinds: tuple[type, ...]) -> None:
    """TypeError for a robot that is neither a model nor the name or path of one."""
    if not isinstance(robot, kinds):
        raise TypeError(
            f"{what} needs a robot: a Model, the path of its file, or a name of od.robots, got {repr_in_message(robot)}"
        )


def check_gravity(model: Model) -> None:
    """ValueError for a model without gravity, which holds no foot on the ground."""
    if not np.linalg.norm(model.gravity):
        raise ValueError(
            f"model {model.name!r} has no gravity, and a walk needs weight: give it gravity, such as "
            "model.with_gravity((0, 0, -9.81))"
        )


def robot_figures(model: Model) -> dict[str, Any]:
    """Numbers of a report that describe a robot: its name, dofs and mass [kg].

    >>> od.walking.robot_figures(od.models.human())["dofs"]
    29
    """
    return {"robot": model.name, "dofs": model.nv, "mass_kg": float(model.mass)}
