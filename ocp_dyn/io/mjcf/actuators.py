"""Motors of an MJCF file: torque limits of joints, rotors and gears.

A motor on a joint has torques from gear times its lowest control to gear times its highest; a servo, whose force
depends on the state, what its force range allows. Motors on a fixed tendon reach all its joints, each by its factor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..._base.types import Array, suggestion
from ..xml import XmlElement
from .document import sections
from .elements import JointData, not_negative
from .settings import ACTUATORS, Classes, Settings
from .tendons import FixedTendon
from .tree import BodyData
from .values import Values
from .vocabulary import check_attributes

ENDLESS = np.array([-np.inf, np.inf])
BY_CONTROL = ("motor",)
"""Actuators whose force is their control."""
CLAMPED = ("general", "motor", "position", "velocity", "intvelocity", "pid", "damper", "cylinder", "dcmotor")
"""Actuators whose force `forcerange` may limit; what others do to joints has no limit that is known."""
DRIVEN = ("joint", "jointinparent", "tendon", "site", "slidersite", "cranksite", "body")


class Actuator(NamedTuple):
    """An actuator as the file has it.

    kind: the tag of its element. drives: "joint", "tendon", "site" or "body"; target: the name of it. gear (6);
    control, force: lowest and largest values, infinite if the file has none.

    >>> inside = '<body><joint name="knee"/><geom size="0.1"/></body>'
    >>> motor = '<actuator><motor name="m" joint="knee" gear="50" ctrlrange="-1 2"/></actuator>'
    >>> file = od.io.parse_mjcf(f"<mujoco><worldbody>{inside}</worldbody>{motor}</mujoco>")
    >>> file.actuators[0].target, file.actuators[0].gear[0], file.model.dofs.effort  # torques of the joint
    ('knee', 50.0, array([[-50., 100.]]))
    """

    name: str
    kind: str
    drives: str
    target: str
    gear: tuple[float, ...]
    control: tuple[float, float]
    force: tuple[float, float]


@dataclass
class Drives:
    """The effects of the actuators on the joints: torques (n x 2) and rotors (n) by joint, n its dofs."""

    actuators: tuple[Actuator, ...] = ()
    torques: dict[str, Array] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()
    """Kinds of actuators whose torques on joints depend on the configuration."""


def read_actuators(
    root: XmlElement, bodies: list[BodyData], tendons: dict[str, FixedTendon], classes: Classes, settings: Settings
) -> Drives:
    """The actuators and what they do. Their rotors and dampers are added to the joints in place.

    Where a file has actuators, and all act on joints or fixed tendons, a joint without any has no torque. Where one
    acts otherwise, or none is there, joints without any have no limit.
    """
    joints = {joint.name: joint for body in bodies for joint in body.joints}
    found: list[Actuator] = []
    reach: dict[str, Array] = {}
    elsewhere: list[str] = []
    for number, element in enumerate(sections(root, "actuator")):
        if element.tag not in ACTUATORS:
            raise element.fault(f"<actuator> holds {', '.join(ACTUATORS)}{suggestion(element.tag, ACTUATORS)}")
        check_attributes(element, "actuator")
        values = classes.of(element)
        actuator = _actuator(values, number, settings)
        found.append(actuator)
        loads = _loads(values, actuator, joints, tendons)
        if loads is None:
            elsewhere.append(actuator.kind)
            continue
        _add_rotor(values, actuator, joints, settings)
        torque = _torques(values, actuator)
        for joint, factors in loads.items():
            ends = [np.sort(factor * torque) if factor else np.zeros(2) for factor in factors]  # not 0 times infinity
            reach[joint] = reach.get(joint, np.zeros((len(factors), 2))) + np.array(ends)
    return Drives(tuple(found), _limited(reach, joints, bool(found) and not elsewhere), tuple(dict.fromkeys(elsewhere)))


def _actuator(values: Values, number: int, settings: Settings) -> Actuator:
    element = values.element
    given = [key for key in DRIVEN if key in values.own]
    gear = np.zeros(6)
    numbers = values.numbers("gear", 1, 6, default=(1.0,))
    gear[: numbers.size] = numbers
    ranges = [
        values.range_of(f"{key}range", f"{key}limited", settings.autolimits) if f"{key}range" in values else None
        for key in ("ctrl", "force")
    ]
    (a, b), (c, d) = (ENDLESS if found is None else found for found in ranges)
    drives = given[0] if given else ""
    return Actuator(
        element.get("name") or f"actuator{number}", element.tag, "joint" if drives == "jointinparent" else drives,
        values.text(drives), tuple(gear.tolist()), (float(a), float(b)), (float(c), float(d)),
    )  # fmt: skip


def _loads(
    values: Values, actuator: Actuator, joints: dict[str, JointData], tendons: dict[str, FixedTendon]
) -> dict[str, Array] | None:
    """Torque per force of the actuator on the dofs of every joint that it drives; None if that depends on the
    configuration."""
    if actuator.drives == "joint":
        key = "joint" if "joint" in values.own else "jointinparent"
        joint = joints[values.reference(key, joints, "joint")]
        size = {"hinge": 1, "slide": 1, "ball": 3, "free": 6}[joint.kind]
        if size > 1 and key == "jointinparent":
            return None
        return {joint.name: np.array(actuator.gear[:size])}
    if actuator.drives == "tendon" and actuator.target in tendons:
        tendon = tendons[actuator.target]
        return {j: actuator.gear[0] * np.array([x]) for j, x in zip(tendon.joints, tendon.factors, strict=True)}
    return None


def _torques(values: Values, actuator: Actuator) -> Array:
    """The lowest and the largest force of an actuator, before its gear."""
    force = np.array(actuator.force)
    fixed = actuator.kind == "general" and values.text("biastype", "none") == "none"
    if actuator.kind in BY_CONTROL or (fixed and values.text("gaintype", "fixed") == "fixed"):
        gain = values.numbers("gainprm", 1, 10, default=(1.0,))[0] if actuator.kind == "general" else 1.0
        by_control = np.sort(gain * np.array(actuator.control)) if gain else np.zeros(2)
        force = np.array([max(force[0], by_control[0]), min(force[1], by_control[1])])
    if actuator.kind not in CLAMPED:
        force = ENDLESS
    return np.array([min(force[0], 0.0), max(force[1], 0.0)])


def _add_rotor(values: Values, actuator: Actuator, joints: dict[str, JointData], settings: Settings) -> None:
    """The rotor and the damping of an actuator, which reach its joint by the square of the gear."""
    armature, damping = not_negative(values, "armature"), values.numbers("damping", 1, 3, default=(0.0,))
    if not armature and not np.any(damping):
        return
    if actuator.drives != "joint" or np.any(damping[1:]) or joints[actuator.target].kind not in ("hinge", "slide"):
        raise values.element.fault(
            "armature and damping of an actuator are read where it drives a hinge or a slide, and damping as one "
            "number: give them to the joints"
        )
    joint = joints[actuator.target]
    joint.armature += actuator.gear[0] ** 2 * armature
    if not settings.off & {"damper", "passive"}:
        joint.motor_damping += actuator.gear[0] ** 2 * float(damping[0])


def _limited(reach: dict[str, Array], joints: dict[str, JointData], complete: bool) -> dict[str, Array]:
    """The torques of all joints, within the limits that the joints themselves have."""
    found: dict[str, Array] = {}
    for name, joint in joints.items():
        if joint.kind == "free":
            continue
        size = 3 if joint.kind == "ball" else 1
        idle = np.zeros((size, 2)) if complete else np.tile(ENDLESS, (size, 1))
        torque = reach.get(name, idle)
        if joint.effort is not None:
            low, high = min(joint.effort[0], 0.0), max(joint.effort[1], 0.0)
            torque = np.column_stack([np.maximum(torque[:, 0], low), np.minimum(torque[:, 1], high)])
        found[name] = torque
    return found
