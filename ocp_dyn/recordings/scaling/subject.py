"""A model of a subject: scaled by the markers of a static trial, with its markers where they were measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._base import checks
from ..._base.files import path_of
from ..._base.types import ModelError, names_in_message, repr_in_message
from ...mechanism import Marker, Model
from ..motion import FittedMotion
from ..recording import Recording
from .measurements import Measurement, segment_factors
from .placing import place_markers
from .segments import scale_segments
from .stretches import checked_factors

ORDERS = ("measurements", "factors")
"""Sources of factors."""


@dataclass(frozen=True)
class ScaleSetup:
    """Steps and numbers of `scaled_to`, those of a setup file of OpenSim's Scale Tool: see `read_scale_setup`.

    measurements, and factors: three numbers by names of bodies; order: which of both come first, "measurements",
    "factors" or both; what comes later replaces what came before. mass [kg] and preserve_mass_distribution: see
    `scale_segments`. times [s]: the part of the static trial. markers: those that the model gets, in place of its own
    of the same names.

    place: whether markers are placed; weights, coordinates and place_times: see `place_markers`. files: names of the
    files that a setup file names, by "model", "static", "place_static", "output".

    >>> thigh = od.recordings.Measurement("thigh", [("hip", "knee")], {"femur_r": "XYZ"})
    >>> od.recordings.ScaleSetup([thigh], mass=72.6).order
    ('measurements', 'factors')
    """

    measurements: tuple[Measurement, ...] = ()
    factors: Any = field(default_factory=dict)
    order: tuple[str, ...] = ORDERS
    mass: float | None = None
    preserve_mass_distribution: bool = False
    times: tuple[float, float] | None = None
    markers: tuple[Marker, ...] = ()
    place: bool = True
    weights: Any = None
    coordinates: Any = field(default_factory=dict)
    place_times: tuple[float, float] | None = None
    files: Any = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, kind in (("measurements", Measurement), ("markers", Marker)):
            found = getattr(self, key)
            found = tuple(found) if isinstance(found, (tuple, list)) else (found,)
            if not all(isinstance(one, kind) for one in found):
                raise TypeError(f"ScaleSetup {key} must be a list of {kind.__name__}, got {repr_in_message(found)}")
            object.__setattr__(self, key, found)
        checked: dict[str, Any] = {
            "order": checks.some_of(self.order, ORDERS, "ScaleSetup order"),
            "factors": _by_name(self.factors, "factors", checked_factors),
            "weights": None if self.weights is None else _by_name(self.weights, "weights", _weight),
            "coordinates": _by_name(self.coordinates, "coordinates", _value),
            "files": _by_name(self.files, "files", lambda file, _: path_of(file)),
            "place": checks.truth(self.place, "ScaleSetup place"),
        }
        checks.truth(self.preserve_mass_distribution, "ScaleSetup preserve_mass_distribution")
        for key in ("times", "place_times"):
            if getattr(self, key) is not None:
                checked[key] = checks.as_bounds(getattr(self, key), f"ScaleSetup {key} [s]")
        if self.mass is not None:
            checked["mass"] = checks.positive(self.mass, "ScaleSetup mass [kg]")
        for key, value in checked.items():
            object.__setattr__(self, key, value)


def _by_name(given: Any, what: str, check: Any) -> dict[str, Any]:
    """The checked values of a mapping whose keys are names."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) and name for name in given):
        raise TypeError(f"ScaleSetup {what} must be a mapping from names, got {repr_in_message(given)}")
    return {name: check(value, name) for name, value in given.items()}


def _weight(value: Any, name: str) -> float:
    return checks.not_negative(value, f"ScaleSetup weight of {repr_in_message(name)}")


def _value(value: Any, name: str) -> float | None:
    return None if value is None else checks.finite(value, f"ScaleSetup value of {repr_in_message(name)} [rad, m]")


@dataclass(frozen=True, eq=False)
class ScaledSubject:
    """A model of a subject, as `scaled_to` makes it.

    model: scaled, with placed markers. factors: three numbers by names of bodies. posture: that in which the markers
    were placed, with their distances before they were moved; None if they were not. unused: names with weights in the
    setup that are no marker of both the model and the trial, and no coordinate of the model.

    >>> od.recordings.ScaledSubject(arm, {"link1": (1.0, 1.0, 1.1)}, None)
    ScaledSubject(pendulum_2, 2 kg, 1 bodies scaled)
    """

    model: Model
    factors: dict[str, tuple[float, float, float]]
    posture: FittedMotion | None
    unused: tuple[str, ...] = ()

    @property
    def mass(self) -> float:
        """Mass of the scaled model [kg]."""
        return float(sum(float(body.m) for body in self.model.I[1:]))

    def __repr__(self) -> str:
        text = f"ScaledSubject({self.model.name or 'model'}, {self.mass:.4g} kg, {len(self.factors)} bodies scaled"
        if self.posture is not None:
            far = 1000 * float(self.posture.rms[0])
            text += f", {len(self.model.markers)} markers placed from {far:.3g} mm away"
        if self.unused:
            text += f", unused: {names_in_message(self.unused, 4)}"
        return text + ")"


def scaled_to(
    model: Model, static: Recording, setup: ScaleSetup, *, place_static: Recording | None = None
) -> ScaledSubject:
    """The model scaled to a subject by the markers of a static trial, as OpenSim's Scale Tool does it.

    First the factors of `segment_factors` and those of the setup, in its order; then `scale_segments`; then
    `place_markers`. static: markers [m] in the axes of the model's world. place_static: another trial, by which the
    markers are placed.

    Raises what these three raise.

    >>> with_marks = arm.with_markers([od.Marker("a", "link1", (0, 0, 0)), od.Marker("b", "link2", (0, 0, -1))])
    >>> static = od.recordings.Recording(["a", "b"], [0.0], [[[0, 0, 0], [0, 0, -2.2]]], "m")
    >>> size = od.recordings.Measurement("all", [("a", "b")], {"link1": "XYZ", "link2": "XYZ"})
    >>> subject = od.recordings.scaled_to(with_marks, static, od.recordings.ScaleSetup([size], mass=3.0))
    >>> subject
    ScaledSubject(pendulum_2, 3 kg, 2 bodies scaled, 2 markers placed from 0 mm away)
    """
    if not isinstance(setup, ScaleSetup):
        raise TypeError(f"scaled_to needs a ScaleSetup, got {repr_in_message(setup)}; read_scale_setup reads one")
    if not isinstance(model, Model):
        raise TypeError(f"scaled_to needs a Model, got {repr_in_message(model)}")
    own = {marker.name: marker for marker in model.markers} | {marker.name: marker for marker in setup.markers}
    marked = model.with_markers([*own.values()], replace_all=True)
    if not own and (setup.place or setup.measurements):
        raise ModelError("scaled_to: the model has no markers; give them to the setup, ScaleSetup(markers=...)")
    factors: dict[str, tuple[float, float, float]] = {}
    for source in setup.order:
        if source == "measurements":
            factors = segment_factors(marked, static, setup.measurements, factors=factors, times=setup.times)
        else:
            factors |= setup.factors
    scaled = scale_segments(
        marked, factors, mass=setup.mass, preserve_mass_distribution=setup.preserve_mass_distribution
    )
    if not setup.place:
        return ScaledSubject(scaled, factors, None)
    trial = static if place_static is None else place_static
    known = {*scaled.q_names} | {marker.name for marker in scaled.markers if marker.name in trial.names}
    weights = {name: w for name, w in (setup.weights or {}).items() if name in known}
    coordinates = {name: value for name, value in setup.coordinates.items() if name in scaled.q_names}
    unused = tuple(name for name in (setup.weights or {}) if name not in known)
    placed, posture = place_markers(
        scaled, trial, weights=weights, coordinates=coordinates, times=setup.place_times or setup.times
    )
    return ScaledSubject(placed, factors, posture, unused)
