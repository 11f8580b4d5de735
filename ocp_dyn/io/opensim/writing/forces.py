"""Springs, limits, formulas, bushings and actuators of a written OpenSim document."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import numpy as np

from ....mechanism import CoordinateLimit, ExponentialTorque, FormulaTorque
from ....mechanism.passive import PassiveElement
from ..forces import ACTUATOR, BUSHING, FORMULA, LIMIT, SPRING
from .constraints import put_frames
from .elements import Coordinate, Element, Target, number, put

VARIABLE = re.compile(r"\b(q|qdot)\b")


def put_forces(parent: Element, target: Target) -> None:
    """All forces but muscles; what cannot be said is noted as lost."""
    _put_bushings(parent, target)
    for element in target.model.passive:
        _put_passive(parent, element, target)
    dofs = target.model.dofs
    for one in target.coordinates:
        stiffness, damping = dofs.stiffness[one.dof], dofs.damping[one.dof]
        low, high = dofs.tau_min[one.dof], dofs.tau_max[one.dof]
        if (stiffness or damping) and not one.rate:
            target.lost["springs"] = None
        elif stiffness or damping:
            spring = _force(parent, SPRING, one, "spring", target)
            put(spring, "stiffness", stiffness)
            put(spring, "rest_length", dofs.rest[one.entry])
            put(spring, "viscosity", damping)
        if np.isfinite([low, high]).all() and one.rate:
            motor = _force(parent, ACTUATOR, one, "motor", target)
            put(motor, "optimal_force", 1.0)
            put(motor, "min_control", low)
            put(motor, "max_control", high)
        elif np.isfinite([low, high]).any():
            target.lost["effort"] = None


def _force(parent: Element, tag: str, one: Coordinate, ending: str, target: Target) -> Element:
    made = ElementTree.SubElement(parent, tag, name=target.free_name(f"{one.name}_{ending}"))
    put(made, "coordinate", one.name)
    return made


def _put_bushings(parent: Element, target: Target) -> None:
    for bushing in target.model.bushings:
        name = target.free_name("".join(bushing.name.split()) or "bushing")
        made = ElementTree.SubElement(parent, BUSHING, name=name)
        for what in ("stiffness", "damping"):
            values = getattr(bushing, what)
            put(made, f"rotational_{what}", values[:3])
            put(made, f"translational_{what}", values[3:])
        put_frames(made, name, target, (bushing.first, bushing.first_pose), (bushing.second, bushing.second_pose))


def _put_passive(parent: Element, element: PassiveElement, target: Target) -> None:
    one = target.coordinate(element.dof, "qd")
    put_it = PASSIVE.get(type(element))
    alone = set(element.coordinates) <= {element.dof}
    if one is None or put_it is None or not alone:
        target.lost["passive"] = None
    else:
        put_it(parent, element, one, target)


def _put_limit(parent: Element, limit: CoordinateLimit, one: Coordinate, target: Target) -> None:
    """Degrees for coordinates that OpenSim takes as angles."""
    unit = np.pi / 180 if one.angle else 1.0
    made = _force(parent, LIMIT, one, "limit", target)
    for tag, value in (
        ("upper_stiffness", limit.upper_stiffness * unit), ("upper_limit", limit.upper / unit),
        ("lower_stiffness", limit.lower_stiffness * unit), ("lower_limit", limit.lower / unit),
        ("damping", limit.damping * unit), ("transition", limit.transition / unit),
    ):  # fmt: skip
        put(made, tag, value)


def _put_formula(parent: Element, formula: FormulaTorque, one: Coordinate, target: Target) -> None:
    """gain f(scale q, scale qdot), the factors put into the text."""
    made = _force(parent, FORMULA, one, "formula", target)
    text = "".join(formula.formula.split())
    if formula.scale != 1:
        text = VARIABLE.sub(f"(({number(formula.scale)})*\\g<0>)", text)
    if formula.gain != 1:
        value, *names = text.split(";")
        text = ";".join([f"({number(formula.gain)})*({value})", *names])
    put(made, "expression", text)


def _put_exponential(parent: Element, tissue: ExponentialTorque, one: Coordinate, target: Target) -> None:
    """gain exp(offset + slope q), as a formula."""
    made = _force(parent, FORMULA, one, "tissue", target)
    slope = dict(tissue.slopes).get(tissue.dof, 0.0)
    put(made, "expression", f"({number(tissue.gain)})*exp(({number(tissue.offset)})+({number(slope)})*q)")


PASSIVE: dict[type[PassiveElement], Callable[..., None]] = {
    CoordinateLimit: _put_limit, FormulaTorque: _put_formula, ExponentialTorque: _put_exponential,
}  # fmt: skip
"""Passive elements that OpenSim has, and how each is written."""
