"""Tendons of an MJCF file: fixed ones, sums of coordinates, and the springs of fixed and spatial ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from casadi import DM

from ..._base.types import Array, repr_in_message
from ...dynamics.kinematics import point_position
from ...mechanism import Model, PathSpring
from ..xml import XmlElement
from .document import sections
from .elements import JointData, springs_of
from .settings import Classes, Settings
from .values import Values
from .vocabulary import check_attributes

AUTOMATIC = -1.0
"""A rest length that is that where the springs of all joints are at rest."""


class FixedTendon(NamedTuple):
    """A fixed tendon: the length sum_k factors[k] q_joints[k] [m or rad], and its limits, infinite if it has none.

    Springs and dampers of a tendon are `model.bushings`; actuators on it are in the torque limits of its joints.

    >>> od.io.FixedTendon("hip_knee", ("hip", "knee"), (1.0, -0.5)).upper
    inf
    """

    name: str
    joints: tuple[str, ...]
    factors: tuple[float, ...]
    lower: float = -np.inf
    upper: float = np.inf


@dataclass
class Tendons:
    """The tendons of a file. spatial: names of those with a path. springs: element, sites, factors, numbers."""

    fixed: dict[str, FixedTendon] = field(default_factory=dict)
    spatial: list[str] = field(default_factory=list)
    springs: list[tuple[XmlElement, list[str], dict[str, float], dict[str, Any]]] = field(default_factory=list)

    def on(self, model: Model) -> Model:
        """The model with the springs."""
        found = []
        for element, sites, along, numbers in self.springs:
            rest = numbers["rest"]
            if rest[0] == AUTOMATIC == rest[-1]:
                rest = (_length(model, sites, along, model.dofs.rest),)
            try:
                points = [(site, (0.0, 0.0, 0.0)) for site in sites]
                found.append(PathSpring(points, along=along, **(numbers | {"rest": rest})))
            except ValueError as error:
                raise element.fault(str(error)) from None
        return model.with_bushings(found) if found else model


def _length(model: Model, sites: list[str], along: Mapping[str, float], q: Array) -> float:
    if along:
        return sum(factor * float(q[model.q_slice(joint)][0]) for joint, factor in along.items())
    places = [np.array(DM(point_position(model, site, DM(q))).full()).ravel() for site in sites]
    return float(sum(np.linalg.norm(b - a) for a, b in pairwise(places)))


def read_tendons(
    root: XmlElement, joints: dict[str, JointData], frames: Mapping[str, str], classes: Classes, settings: Settings
) -> Tendons:
    """The tendons of a file. frames: of our model by the names of sites."""
    found = Tendons()
    for number, element in enumerate(sections(root, "tendon")):
        values = classes.of(element, kind="tendon")
        name = element.get("name") or f"tendon{number}"
        if element.tag not in ("fixed", "spatial"):
            raise element.fault("<tendon> holds <fixed> and <spatial>")
        check_attributes(element, "tendon")
        if name in found.fixed or name in found.spatial:
            raise element.fault(f"the name {repr_in_message(name)} is taken; names must be unique, rename it")
        for key in ("armature", "frictionloss", "springyield"):
            if values.number(key):
                raise element.fault(
                    f"{key}={repr_in_message(values.text(key))}: a tendon with inertia, dry friction or a state of its "
                    "own is not read; set it to 0 to load the model without"
                )
        limits = values.range_of("range", "limited", settings.autolimits)
        stiffness, damping = springs_of(values, settings)
        rest = tuple(values.numbers("springlength", 1, 2, default=(AUTOMATIC,)).tolist())
        numbers = {"stiffness": stiffness, "damping": damping, "rest": rest, "name": name}
        moves = any(stiffness) or any(damping)
        if element.tag == "spatial":
            found.spatial.append(name)
            if moves:
                found.springs.append((element, _sites(element, frames), {}, numbers))
            continue
        parts = [(Values(part).reference("joint", joints, "joint"), Values(part).number("coef")) for part in element]
        if not parts or any(joints[joint].kind not in ("hinge", "slide") for joint, _ in parts):
            raise element.fault("a fixed tendon is a sum over hinges and slides, at least one")
        lower, upper = (float(x) for x in ((-np.inf, np.inf) if limits is None else limits))
        found.fixed[name] = FixedTendon(name, tuple(j for j, _ in parts), tuple(x for _, x in parts), lower, upper)
        if moves:
            along: dict[str, float] = {}
            for joint, factor in parts:
                along[joint] = along.get(joint, 0.0) + factor
            found.springs.append((element, [], along, numbers))
    return found


def _sites(element: XmlElement, frames: Mapping[str, str]) -> list[str]:
    """The frames of the sites on a path; ModelError for a path with pulleys or round shapes."""
    for part in element:
        if part.tag != "site":
            raise part.fault(
                "a tendon with stiffness or damping is read if its path has sites alone, no pulleys and no geoms: set "
                "its stiffness and damping to 0 to load the model without"
            )
    found = [frames[Values(part).reference("site", frames, "site")] for part in element]
    if len(found) < 2:
        raise element.fault("the path of a spatial tendon has two sites at least")
    return found
