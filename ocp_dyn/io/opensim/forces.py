"""Forces of an OpenSim model: muscles as data, what acts at coordinates and between bodies, limits of efforts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..._base.types import Array, ModelError, repr_in_message, suggestion
from ...joints import ConstantFunction
from ...mechanism import BodySpring, Bushing, CoordinateLimit, FormulaTorque, Model, Muscle, PathSpring
from ...mechanism.passive import PassiveElement
from ..xml import XmlElement
from .constraints import point_of
from .document import all_objects, flag_of, function_of, name_of, number_of, short, socket_of, text_of, vector_of
from .frames import Frames, Placed, rotation_xyz
from .paths import muscle_of, path_of

IDLE = {
    "TorqueActuator", "PointActuator", "PointToPointActuator", "BodyActuator", "ActivationCoordinateActuator",
    "ExternalForce", "PrescribedForce",
}  # fmt: skip
"""Actuators and forces that need a control or data from elsewhere: without these they are zero."""
CONTACT = {"SmoothSphereHalfSpaceForce", "HuntCrossleyForce", "ElasticFoundationForce"}
SPRING, LIMIT, FORMULA = "SpringGeneralizedForce", "CoordinateLimitForce", "ExpressionBasedCoordinateForce"
BUSHING, ACTUATOR, POINTS = "BushingForce", "CoordinateActuator", "PointToPointSpring"
BY_FUNCTIONS, BY_FORMULAS = "FunctionBasedBushingForce", "ExpressionBasedBushingForce"
BETWEEN = (BUSHING, BY_FUNCTIONS, BY_FORMULAS, POINTS)
"""Forces between bodies."""
READ = (SPRING, LIMIT, FORMULA, ACTUATOR, *BETWEEN)
LAWS = tuple(f"m_{k}_theta_{k}_function" for k in "xyz") + tuple(f"f_{k}_delta_{k}_function" for k in "xyz")
FORMULAS = ("Mx_expression", "My_expression", "Mz_expression", "Fx_expression", "Fy_expression", "Fz_expression")


class Forces:
    """The forces of a file, sorted by what they become.

    coordinates: by their names, whether each is an angle.
    """

    def __init__(
        self, elements: list[XmlElement], drop: tuple[str, ...], frames: Frames, coordinates: Mapping[str, bool]
    ) -> None:
        self.muscles: list[Muscle] = []
        self.springs: list[XmlElement] = []
        self.actuators: list[XmlElement] = []
        self.elements: list[PassiveElement] = []
        self.bushings: list[BodySpring] = []
        self.coordinates = coordinates
        for _, element in all_objects([e for e in elements if e.tag not in drop], "force", unnamed=True):
            if path_of(element) is not None:
                self.muscles.append(muscle_of(element, frames, coordinates))
            elif element.tag == ACTUATOR:
                self.actuators.append(element)
            elif element.tag not in IDLE | CONTACT and applies(element):
                self._add(element, frames)

    def _add(self, element: XmlElement, frames: Frames) -> None:
        """A force that acts without a control."""
        if element.tag == SPRING:
            self.springs.append(element)
        elif element.tag in BETWEEN:
            self.bushings.append(spring_between(element, frames))
        else:
            self.elements.append(element_of(element, self.coordinates))

    def on(self, model: Model, held: Mapping[str, float]) -> Model:
        """The model with these forces at its coordinates; those at held ones do nothing."""
        sums = self._springs(held)
        if sums:
            stiffness = {name: k for name, (k, _, _) in sums.items()}
            rest = {name: moment / k for name, (k, moment, _) in sums.items() if k}
            model = model.with_springs(stiffness, rest=rest, damping={name: c for name, (_, _, c) in sums.items()})
        free = [element for element in self.elements if element.dof not in held]
        model = model.with_passive(free) if free else model
        model = model.with_bushings(self.bushings) if self.bushings else model
        efforts: dict[str, Array] = {}
        for element in self.actuators:
            name = coordinate_name(element, self.coordinates)
            if name not in held:
                efforts[name] = efforts.get(name, np.zeros(2)) + _effort(element)
        bounded = {name: tuple(x) for name, x in efforts.items() if np.all(np.abs(x) < 1e100)}
        return model.with_limits(effort=bounded) if bounded else model

    def _springs(self, held: Mapping[str, float]) -> dict[str, tuple[float, float, float]]:
        """Stiffness k, k times the rest position, and viscosity by coordinate, summed over its springs."""
        sums: dict[str, tuple[float, float, float]] = {}
        for element in self.springs:
            name = coordinate_name(element, self.coordinates)
            k, moment, c = sums.get(name, (0.0, 0.0, 0.0))
            own = number_of(element, "stiffness")
            if min(own, number_of(element, "viscosity", 0.0)) < 0:
                raise element.fault("its <stiffness> and <viscosity> must not be negative")
            moment += own * number_of(element, "rest_length", 0.0)
            if name not in held:
                sums[name] = (k + own, moment, c + number_of(element, "viscosity", 0.0))
        return sums


def element_of(element: XmlElement, coordinates: Mapping[str, bool]) -> PassiveElement:
    """The passive element of a force at a coordinate; ModelError for a class that is not read."""
    if element.tag not in (LIMIT, FORMULA):
        raise element.fault(
            f"forces of the class {element.tag} are not read{suggestion(element.tag, READ)}, and it would change the "
            f'motion; leave it out by drop=("{element.tag}",)'
        )
    name = coordinate_name(element, coordinates)
    try:
        if element.tag == FORMULA:
            return FormulaTorque(name, "".join(text_of(element, "expression", "0").split()))
        return _limit(element, name, np.pi / 180 if coordinates[name] else 1.0)
    except (ValueError, TypeError) as error:
        if isinstance(error, ModelError):
            raise
        raise element.fault(str(error)) from None


def _limit(element: XmlElement, name: str, unit: float) -> CoordinateLimit:
    """unit: of the coordinate in the file; the file has degrees for angles."""
    upper, lower, transition = (number_of(element, tag) * unit for tag in ("upper_limit", "lower_limit", "transition"))
    above, below = (number_of(element, tag) / unit for tag in ("upper_stiffness", "lower_stiffness"))
    damping = number_of(element, "damping", 0.0) / unit
    return CoordinateLimit(name, upper, lower, above, below, damping, transition)


def spring_between(element: XmlElement, frames: Frames) -> BodySpring:
    """The spring of a force between two bodies; its frames are sockets, or bodies with places in them in documents
    before 40000."""
    try:
        return _points(element, frames) if element.tag == POINTS else _bushing(element, frames)
    except (ValueError, TypeError) as error:
        if isinstance(error, ModelError):
            raise
        raise element.fault(str(error)) from None


def _bushing(element: XmlElement, frames: Frames) -> Bushing:
    stiffness, damping = (
        [*vector_of(element, f"rotational_{what}"), *vector_of(element, f"translational_{what}")]
        for what in ("stiffness", "damping")
    )
    first, second = (_end(element, frames, k) for k in (1, 2))
    pose, other = ((tuple(end.R.ravel()), tuple(end.p)) for end in (first, second))
    return Bushing(first.body, second.body, stiffness, damping, pose, other, name_of(element), _laws(element))


def _laws(element: XmlElement) -> tuple[Any, ...]:
    if element.tag == BY_FORMULAS:
        return tuple("".join(text_of(element, tag, "0").split()) for tag in FORMULAS)
    if element.tag == BY_FUNCTIONS:
        return tuple(function_of(element, tag) or ConstantFunction(0.0) for tag in LAWS)
    return ()


def _points(element: XmlElement, frames: Frames) -> PathSpring:
    points = []
    for k in (1, 2):
        place = point_of(element, frames, f"body{k}", f"point{k}")
        points.append((place.body, tuple(place.p)))
    rest = number_of(element, "rest_length", 0.0)
    return PathSpring(points, number_of(element, "stiffness", 1.0), rest, name=name_of(element))


def _end(element: XmlElement, frames: Frames, k: int) -> Placed:
    """A frame of a bushing."""
    place = frames.of(element, socket_of(element, f"frame{k}", f"frame{k}", f"body_{k}"), f"frame {k}")
    R = rotation_xyz(short(vector_of(element, f"orientation_body_{k}")))
    return Placed(place.body, place.R @ R, place.p + place.R @ short(vector_of(element, f"location_body_{k}")))


def coordinate_name(element: XmlElement, coordinates: Iterable[str]) -> str:
    """The coordinate on which a force acts."""
    name = text_of(element, "coordinate").rpartition("/")[2]
    if name not in coordinates:
        raise element.fault(f"there is no coordinate {repr_in_message(name)}{suggestion(name, coordinates)}")
    return name


def applies(element: XmlElement) -> bool:
    """Whether the file switches a force on."""
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
