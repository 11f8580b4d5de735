"""Forces of an OpenSim model: muscles as data, springs and limits at coordinates, actuators as limits of efforts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._base.types import Array, repr_in_message, suggestion
from ...mechanism import Model, Muscle
from ..xml import XmlElement
from .document import all_objects, flag_of, number_of, text_of
from .frames import Frames
from .paths import muscle_of, path_of

IDLE = {
    "TorqueActuator", "PointActuator", "PointToPointActuator", "BodyActuator", "ActivationCoordinateActuator",
    "ExternalForce", "PrescribedForce",
}  # fmt: skip
"""Actuators and forces that need a control or data from elsewhere: without these they are zero."""
CONTACT = {"SmoothSphereHalfSpaceForce", "HuntCrossleyForce", "ElasticFoundationForce"}


class Forces:
    """The forces of a file, sorted by what they become."""

    def __init__(
        self, elements: list[XmlElement], drop: tuple[str, ...], frames: Frames, coordinates: Mapping[str, Any]
    ) -> None:
        self.muscles: list[Muscle] = []
        self.springs: list[XmlElement] = []
        self.actuators: list[XmlElement] = []
        self.coordinates = coordinates
        for _, element in all_objects([e for e in elements if e.tag not in drop], "force", unnamed=True):
            if path_of(element) is not None:
                self.muscles.append(muscle_of(element, frames, coordinates))
            elif element.tag == "SpringGeneralizedForce":
                self.springs += [element] if applies(element) else []
            elif element.tag == "CoordinateActuator":
                self.actuators.append(element)
            elif element.tag not in IDLE | CONTACT and applies(element):
                raise element.fault(
                    f"forces of the class {element.tag} are not read, and it would change the motion; leave it out by "
                    f'drop=("{element.tag}",)'
                )

    def on(self, model: Model, held: Mapping[str, float]) -> Model:
        """The model with these forces at its coordinates; those at held ones do nothing."""
        stiffness: dict[str, float] = {}
        rest: dict[str, float] = {}
        damping: dict[str, float] = {}
        for element in self.springs:
            name = self._coordinate(element)
            if name in held:
                continue
            if name in stiffness:
                raise element.fault(f"another spring acts on {repr_in_message(name)}; add them up to one")
            stiffness[name] = number_of(element, "stiffness")
            rest[name] = number_of(element, "rest_length", 0.0)
            damping[name] = number_of(element, "viscosity", 0.0)
        if stiffness:
            moved = {name: x for name, x in rest.items() if stiffness[name]}
            model = model.with_springs(stiffness, rest=moved, damping=damping)
        efforts: dict[str, Array] = {}
        for element in self.actuators:
            name = self._coordinate(element)
            if name not in held:
                efforts[name] = efforts.get(name, np.zeros(2)) + _effort(element)
        bounded = {name: tuple(x) for name, x in efforts.items() if np.all(np.abs(x) < 1e100)}
        return model.with_limits(effort=bounded) if bounded else model

    def _coordinate(self, element: XmlElement) -> str:
        name = text_of(element, "coordinate").rpartition("/")[2]
        if name not in self.coordinates:
            raise element.fault(f"there is no coordinate {repr_in_message(name)}{suggestion(name, self.coordinates)}")
        return name


def applies(element: XmlElement) -> bool:
    return not flag_of(element, "isDisabled") and flag_of(element, "appliesForce", True)


def _effort(element: XmlElement) -> Any:
    """Lowest and largest force of a coordinate actuator."""
    largest = number_of(element, "optimal_force", 1.0)
    ends = [
        largest * number_of(element, tag, default, finite=False)
        for tag, default in (("min_control", -np.inf), ("max_control", np.inf))
    ]
    low, high = min(ends), max(ends)
    return np.array([min(low, 0.0), max(high, 0.0)])
