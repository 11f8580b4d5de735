"""Bodies that walk: the human of a problem, or a model of the user's, with a load, locked joints and prosthetic joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

import ocp_dyn as od
from ocp_dyn import ModelError, ocp
from ocp_dyn.models import human

from ._command import within
from ._human import UPPER, with_calf

FRAMES = ("heel_l", "heel_r", "sole_l", "sole_r", "shank_l", "shank_r")
"""Frames that a model needs to walk on human feet; axes as in `ocp_dyn.models.human`."""

BACKPACK, BACKPACK_SIZE = (-0.12, 0.0, 0.14), (0.2, 0.3, 0.45)
"""Center of a load on the trunk, from the lumbar joint, as fractions of the stature: 0.21 m behind it and 0.24 m above
it; and the edges of the box [m] that it fills evenly."""

PROSTHESIS = 5.5
"""Stiffness of a prosthetic joint [N m/rad per kg of body mass]: 400 N m/rad at 73 kg. Healthy ankles in stance behave
like springs of 4 to 7 N m/rad per kg (Shamaei, Sawicki and Dollar, PLoS ONE 8, 2013), and feet that store energy are
built to do the same."""

Joints = str | Sequence[str] | Mapping[str, Any]
"""Joints by name, with one value each, or without."""


def body(
    model: od.Model | None,
    mass: float,
    height: float,
    sex: Literal["male", "female"],
    *,
    base: str = "quaternion",
    toes: bool = False,
    still: bool = False,
) -> od.Model:
    """The body that walks: the user's model, if there is one, or the human; still: trunk and arms are one rigid body."""
    found = human(mass, height, sex, root=od.FloatingBase(base), toes=toes) if model is None else model
    if not isinstance(found, od.Model):
        raise TypeError(f"model must be a Model with the frames of od.models.human, got {found!r}")
    missing = [name for name in FRAMES if name not in found.frame_names]
    if missing:
        raise KeyError(
            f"model {found.name!r} has no frame {', '.join(missing)}: this walk needs {', '.join(FRAMES)}, placed as in "
            "od.models.human. Add them by model.with_frame(name, to=...); a robot walks by problems.robot_walk"
        )
    if not found.floating_joints:
        raise ValueError(f"model {found.name!r} is fixed to the ground: give it a root of od.FloatingBase()")
    return found.lock_joints({name: q for name, q in UPPER.items() if name in found.joint_names}) if still else found


def strengthened(model: od.Model, height: float, sex: Literal["male", "female"]) -> od.Model:
    """The model with the calf muscles that running shows, in proportion to the strength of its ankles.

    `od.models.human` has the strength that dynamometers measure; an ankle half as strong as there keeps half.
    """
    usual = _usual(height, sex)
    ratio = {
        name: model.dofs.tau_max[model.qd_names.index(name)] / usual.dofs.tau_max[usual.qd_names.index(name)]
        for name in ("ankle_l", "ankle_r")
        if name in model.qd_names
    }
    calf = with_calf(usual)
    most = {name: float(share * calf.dofs.tau_max[calf.qd_names.index(name)]) for name, share in ratio.items()}
    least = {name: float(model.dofs.tau_min[model.qd_names.index(name)]) for name in ratio}
    return model.with_limits(effort={name: (least[name], most[name]) for name in ratio})


@cache
def _usual(height: float, sex: Literal["male", "female"]) -> od.Model:
    """A human whose strength is that of dynamometers; per mass, it is the same at all masses."""
    return human(73.0, height, sex)


def locked_at(model: od.Model, locked: Joints) -> od.Model:
    """The model with these joints locked: names, at their neutral angles, or a dict of angles [rad]."""
    wanted = named(model, locked, "locked")
    neutral = np.array(model.neutral(), dtype=float)
    at = {name: neutral[model.q_slice(name)] if angle is None else angle for name, angle in wanted.items()}
    roots = [name for name in at if name in model.floating_joints]
    if roots:
        raise ValueError(f"locked: {roots[0]!r} is the joint between world and body, which has to move")
    return model.lock_joints(at) if at else model


def with_prosthesis(model: od.Model, prosthesis: Joints) -> od.Model:
    """The model with springs in place of the muscles and tissue of these joints: names, or a dict of stiffness [N m/rad].

    Their motors have no torque, and they rest at their neutral angles. The muscles over two joints of which one is
    prosthetic are left out too.
    """
    usual = PROSTHESIS * model.mass
    springs = {
        name: usual if value is None else value for name, value in named(model, prosthesis, "prosthesis").items()
    }
    for name in springs:
        if name not in model.qd_names:
            raise ValueError(f"prosthesis: {name!r} must have one dof for its spring to act on, such as 'ankle_r'")
    if not springs:
        return model
    kept = [element for element in model.passive if not springs.keys() & set(element.coordinates)]
    bare = model.with_passive(kept, replace_all=True).with_limits(effort=dict.fromkeys(springs, 0.0))
    return bare.with_springs(springs, rest=dict.fromkeys(springs, 0.0))


def with_backpack(model: od.Model, load: float, height: float) -> od.Model:
    """The model with a rigid load [kg] on its back, a box at `BACKPACK`."""
    within(load, 0, 80, "load must lie between 0 and 80 kg, which people can carry")
    if not load:
        return model
    if "torso" not in model.frame_names:
        raise ModelError(
            f"model {model.name!r} has no frame 'torso' that carries the load of {load} kg: add it, its origin at the "
            "lumbar joint, or put the load into the model by model.with_load"
        )
    x, y, z = BACKPACK_SIZE
    inertia = load / 12 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    return model.with_load("torso", load, [height * part for part in BACKPACK], inertia)


def listed(joints: Joints) -> list[str]:
    """The names of joints, with or without values."""
    return [joints] if isinstance(joints, str) else list(joints) if isinstance(joints, (Mapping, Sequence)) else []


def named(model: od.Model, joints: Joints, what: str) -> dict[str, Any]:
    """Values by joint; None where no value is given. KeyError for a joint that the model does not have."""
    if not isinstance(joints, (str, Mapping, list, tuple, set)):
        raise TypeError(f"{what} must be names of joints, or a dict of their values, got {joints!r}")
    found = (
        dict(joints) if isinstance(joints, Mapping) else dict.fromkeys([joints] if isinstance(joints, str) else joints)
    )
    for name in found:
        if name not in model.joint_names:
            raise KeyError(
                f"{what}: no joint {name!r} in the model {model.name!r}; its joints are: {', '.join(model.joint_names)}"
            )
    return found


def is_symmetric(model: od.Model) -> bool:
    """Whether the model is its own mirror image, so that a step can be the mirror image of the one before: by its
    bodies, its joints and their springs, and by the strength of its motors."""
    try:
        mirror = ocp.mirror_map(model)
    except ModelError:
        return False
    strength = (model.dofs.tau_min, model.dofs.tau_max)
    return all(np.allclose(a, b) for a, b in zip(strength, mirror.of_bounds(*strength), strict=True))


def steps_of(symmetric: bool, steps: int | None) -> int:
    """The number of steps until the motion repeats: 1 or any number, if the body is its own mirror image, else an even
    one; None: the smallest."""
    if steps is None:
        return 1 if symmetric else 2
    if not isinstance(steps, (int, np.integer)) or isinstance(steps, bool) or not 1 <= steps <= 40:
        raise ValueError(f"steps must be a whole number from 1 to 40, or None, got {steps!r}")
    if steps % 2 and not symmetric:
        raise ValueError(
            f"steps = {steps}: the body is not its own mirror image, so that its left and right steps differ: give an even "
            "number of steps, or None for a stride of two"
        )
    return int(steps)
