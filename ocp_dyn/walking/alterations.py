"""Changes of a body that walks: locked joints, prosthetic joints, loads, strength."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from .._base.checks import within
from .._base.types import ModelError
from ..mechanism import Model
from ..models.joint_limits import CALF, strengths
from ..symmetry.mirror import mirror_map
from ..symmetry.muscles import NUMBERS, muscle_images

Joints = str | Sequence[str] | Mapping[str, Any]
"""Joints by name, with one value each, or without."""

Sex = Literal["male", "female"]

BACKPACK, BACKPACK_SIZE = (-0.12, 0.0, 0.14), (0.2, 0.3, 0.45)
"""Center of a load on the trunk, from the lumbar joint, as fractions of the stature: 0.21 m behind it and 0.24 m above
it; and the edges of the box [m] that it fills evenly."""

PROSTHESIS = 5.5
"""Stiffness of a prosthetic joint [N m/rad per kg of body mass]: 400 N m/rad at 73 kg. Healthy ankles in stance behave
like springs of 4 to 7 N m/rad per kg (Shamaei, Sawicki and Dollar, PLoS ONE 8, 2013), and feet that store energy are
built to do the same."""

STIFFEST = 100.0
"""Largest stiffness of a prosthetic joint [N m/rad per kg of body mass], 20 times that of healthy ankles: a joint
stiffer than this is locked."""

ROUNDING = 1e-9
"""Rounding [rad, m] by which a locked joint may lie outside its limits."""


WOMEN_TO_MEN = {"abduction": 1.13 / 1.29, "adduction": 1.0}
"""Torque of women's hips over that of men, per mass: standing at 60 degrees/s, abduction of 1.13 and 1.29 N m/kg, and
no difference in adduction (Sugimoto et al., Clin. J. Sport Med. 24, 2014; lying, 1.8 and 2.0 N m/kg, Liu et al., Sex
difference in hip adduction during running, 2021). Of the subjects of [D09] in `models/joint_limits.py` women have 0.73
and 0.67 of the strength of men: with it they would lean their trunks over the standing leg in the place of listing."""


def strengthened(model: Model, height: float, sex: Sex) -> Model:
    """The model with the strength that people show on their feet, in proportion to its own: of the calf muscles in
    running, and of women's hips standing.

    `od.models.human` has the strength that dynamometers measure; an ankle half as strong as there keeps half.
    """
    usual, men = (strengths(1.0, height, of) for of in (sex, "male"))  # per mass, they are the same at all masses
    more = CALF / usual["ankle"][0][1]
    factors = {"ankle_l": (1.0, more), "ankle_r": (1.0, more)}
    if sex == "female":
        adduction, abduction = (
            WOMEN_TO_MEN[name] * man / woman
            for name, man, woman in zip(("adduction", "abduction"), men["hip"][1], usual["hip"][1], strict=True)
        )
        factors |= {"hip_l.rx": (adduction, abduction), "hip_r.rx": (abduction, adduction)}
    least, most = (dict(zip(model.qd_names, x, strict=True)) for x in (model.dofs.tau_min, model.dofs.tau_max))
    strong = {n: (float(a * least[n]), float(b * most[n])) for n, (a, b) in factors.items() if n in least}
    return model.with_limits(effort=strong)


def locked_at(model: Model, locked: Joints) -> Model:
    """The model with these joints locked: names, at their neutral angles, or a dict of angles [rad]."""
    wanted = values_by_joint(model, locked, "locked")
    neutral = np.array(model.neutral(), dtype=float)
    at = {name: neutral[model.q_slice(name)] if angle is None else angle for name, angle in wanted.items()}
    roots = [name for name in at if name in model.floating_joints]
    if roots:
        raise ValueError(f"locked: {roots[0]!r} is the joint between world and body, which has to move")
    check_within_limits(model, at)
    return model.lock_joints(at) if at else model


def check_within_limits(model: Model, at: Mapping[str, Any]) -> None:
    """ValueError for angles that are outside the limits of their joints: no body walks so."""
    for name, angle in at.items():
        part = model.q_slice(name)
        values = np.ravel(angle)
        if values.size != part.stop - part.start:
            raise ValueError(
                f"locked: {name!r} needs {part.stop - part.start} numbers ({', '.join(model.q_names[part])}), got "
                f"{angle!r}"
            )
        limits = zip(model.q_names[part], values, model.dofs.q_lower[part], model.dofs.q_upper[part], strict=True)
        for entry, value, lower, upper in limits:
            within(float(value), float(lower) - ROUNDING, float(upper) + ROUNDING,
                   f"locked: {entry!r} must lie between {lower:.4g} and {upper:.4g} rad (m), the limits of its "
                   "joint")  # fmt: skip


def with_prosthesis(model: Model, prosthesis: Joints) -> Model:
    """The model with springs in place of the muscles and tissue of these joints: names, or a dict of stiffness
    [N m/rad].

    Their motors have no torque, and they rest at their neutral angles. The muscles over two joints of which one is
    prosthetic are left out too.
    """
    usual = PROSTHESIS * model.mass
    springs = {
        name: usual if value is None else value
        for name, value in values_by_joint(model, prosthesis, "prosthesis").items()
    }
    for name, stiffness in springs.items():
        if name not in model.qd_names:
            raise ValueError(f"prosthesis: {name!r} must have one dof for its spring to act on, such as 'ankle_r'")
        most = STIFFEST * model.mass
        must = (
            f"prosthesis: the stiffness of {name!r} must lie between 0 and {most:.0f} N m/rad "
            "(stiffer joints are locked)"
        )
        within(stiffness, 0.0, most, must)
    if not springs:
        return model
    kept = [element for element in model.passive if not springs.keys() & set(element.coordinates)]
    bare = model.with_passive(kept, replace_all=True).with_limits(effort=dict.fromkeys(springs, 0.0))
    return bare.with_springs(springs, rest=dict.fromkeys(springs, 0.0))


def with_backpack(model: Model, load: float, height: float) -> Model:
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


def values_by_joint(model: Model, joints: Joints, what: str) -> dict[str, Any]:
    """Values by joint; None where no value is given. KeyError for a joint that the model does not have."""
    if not isinstance(joints, (str, Mapping, list, tuple, set)):
        raise TypeError(f"{what} must be names of joints, or a dict of their values, got {joints!r}")
    names = [joints] if isinstance(joints, str) else joints
    found = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names)
    for name in found:
        if name not in model.joint_names:
            raise KeyError(
                f"{what}: no joint {name!r} in the model {model.name!r}; its joints are: {', '.join(model.joint_names)}"
            )
    return found


def is_symmetric(model: Model) -> bool:
    """Whether the model is its own mirror image, so that a step can be the mirror image of the one before: by its
    bodies, its joints and their springs, by the strength of its motors and by the numbers of its muscles."""
    try:
        mirror = mirror_map(model)
    except ModelError:
        return False
    strength = (model.dofs.tau_min, model.dofs.tau_max)
    muscles = {muscle.name: [getattr(muscle, key) for key in NUMBERS] for muscle in model.muscles}
    even = all(muscles[one] == muscles[image] for one, image in muscle_images(model).items())
    return even and all(np.allclose(a, b) for a, b in zip(strength, mirror.of_bounds(*strength), strict=True))
