"""Springs, limits, formulas, bushings and actuators of a written OpenSim document."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ....mechanism import BodySpring, Bushing, CoordinateLimit, ExponentialTorque, FormulaTorque, PathSpring
from ....mechanism.passive import DEFLECTIONS, PassiveElement
from ..forces import ACTUATOR, BUSHING, BY_FORMULAS, BY_FUNCTIONS, FORMULA, FORMULAS, LAWS, LIMIT, POINTS, SPRING
from .constraints import put_frames
from .elements import Coordinate, Element, Target, number, put, put_function

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
    for one in target.model.bushings:
        kind = _kind_of(one)
        if kind is None:
            target.lost["passive"] = None
            continue
        name = target.free_name("".join(one.name.split()) or "bushing")
        made = ElementTree.SubElement(parent, kind, name=name)
        if isinstance(one, PathSpring):
            _put_points(made, one, target)
        elif isinstance(one, Bushing):
            _put_numbers(made, one, name)
            put_frames(made, name, target, (one.first, one.first_pose), (one.second, one.second_pose))


def _kind_of(spring: BodySpring) -> str | None:
    """The class of OpenSim that says the same; None if there is none."""
    if isinstance(spring, PathSpring):
        tail = (*spring.stiffness[1:], *spring.damping, spring.rest[0] - spring.rest[1])
        return POINTS if len(spring.points) == 2 and not any(tail) else None
    if not isinstance(spring, Bushing):
        return None
    if all(isinstance(law, str) for law in spring.laws):
        return BY_FORMULAS if spring.laws else BUSHING
    plain = not any(spring.stiffness) and not any(isinstance(law, str) for law in spring.laws)
    return BY_FUNCTIONS if plain else None


def _put_points(made: Element, spring: PathSpring, target: Target) -> None:
    for k, (frame, point) in enumerate(spring.points, 1):
        path, R, p = target.place(frame)
        put(made, f"socket_body{k}", path)
        put(made, f"point{k}", p + R @ np.array(point))
    put(made, "stiffness", spring.stiffness[0])
    put(made, "rest_length", spring.rest[0])


def _put_numbers(made: Element, bushing: Bushing, name: str) -> None:
    if not bushing.laws:
        _put_halves(made, "stiffness", bushing.stiffness)
    for law, k, entry, formulas, functions in zip(
        bushing.laws, bushing.stiffness, DEFLECTIONS, FORMULAS, LAWS, strict=False
    ):
        if isinstance(law, str):
            main, sign, parts = "".join(law.split()).partition(";")
            put(made, formulas, f"({main})+({number(k)})*{entry}{sign}{parts}" if k else f"{main}{sign}{parts}")
        else:
            put_function(ElementTree.SubElement(made, functions), law, name)
    _put_halves(made, "damping", bushing.damping)


def _put_halves(made: Element, what: str, values: Any) -> None:
    put(made, f"rotational_{what}", values[:3])
    put(made, f"translational_{what}", values[3:])


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
