"""Arguments of `fit_motion`: what is measured, where it belongs on the model, and how much it weighs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._base import checks
from .._base.types import Array, ModelError, is_one_of, names_in_message, repr_in_message
from ..constraints import mimic_constraints
from ..constraints.sets import as_set
from ..dynamics.kinematics import resolve
from ..mechanism import Model
from ..mechanism.boundary import column_of_numbers
from ..spatial_algebra.rotations import quaternion_matrix
from .fitting.least_squares import Prior, entries_with_dofs
from .fitting.placed import Measured
from .motion import rotational
from .naming import no_such_name
from .recording import Recording


class Weights:
    """Weights by name; files of weights name markers that a recording lacks, but every name must be known somewhere."""

    def __init__(self, given: Any) -> None:
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"fit_motion: weights must give numbers by names, got {repr_in_message(given)}")
        self.given = {
            name: checks.not_negative(w, f"fit_motion: weight of {repr_in_message(name)}")
            for name, w in (given or {}).items()
        }
        self.known: list[str] = []

    def of(self, names: Sequence[str], default: float | None = None) -> Array:
        """Weights of some names; without any among them 1, or the default."""
        self.known += [*names]
        there = any(name in self.given for name in names)
        other = (0.0 if there else 1.0) if default is None else default
        return np.array([self.given.get(name, other) for name in names], dtype=float)

    def check_all_used(self) -> None:
        for name in self.given:
            if name not in self.known:
                raise KeyError(f"fit_motion: weights: nothing is called {no_such_name(name, self.known)}")


def rows_that_hold(model: Model, constraints: Any) -> list[Any]:
    """Constraints at every frame: those of joints that mimic others, those of the model, and those of the user."""
    none = isinstance(constraints, (list, tuple)) and not constraints
    own = [*mimic_constraints(model), *model.constraints]
    return own if none else [*own, *as_set(constraints, None)]


def check_model(model: Any) -> None:
    if not isinstance(model, Model):
        raise TypeError(f"fit_motion needs a Model, got {repr_in_message(model)}")


def times(markers: Any, orientations: Any, coordinates: Any) -> Array:
    """The times of all recordings, which must be the same."""
    parts = {"markers": (markers, "points"), "orientations": (orientations, "orientations")}
    parts |= {"coordinates": (coordinates, "numbers")}
    found: Array | None = None
    for name, (recording, kind) in parts.items():
        if recording is None:
            continue
        if not isinstance(recording, Recording) or recording.kind != kind:
            raise TypeError(f"fit_motion: {name} must be a Recording of {kind}, got {repr_in_message(recording)}")
        if found is not None and not (found.shape == recording.times.shape and np.allclose(found, recording.times)):
            raise ValueError(f"fit_motion: {name} must have the times of the others: resample(times=...) it")
        found = recording.times if found is None else found
    if found is None:
        raise TypeError("fit_motion needs markers=, orientations= or coordinates=: there is nothing to follow")
    return found


def places_on(model: Model, places: Any) -> dict[str, tuple[int, Array]]:
    """Body and point (3) in its coordinates of every marker on the model."""
    given = {m.name: (m.body, m.point) for m in model.markers} if places is None else places
    if not isinstance(given, Mapping):
        raise TypeError(
            f"fit_motion: places must give (frame, point) by names of markers, got {repr_in_message(given)}"
        )
    found = {}
    for name, place in given.items():
        frame, point = _pair(place, name)
        f = resolve(model, frame)
        r = checks.numbers(point, f"fit_motion: point of {repr_in_message(name)}")
        if r.size != 3 or not np.isfinite(r).all():
            raise ValueError(
                f"fit_motion: the point of {repr_in_message(name)} must be 3 numbers [m], got {point!r:.80}"
            )
        found[name] = f.body, np.array(f.X.point(r.tolist()).full()).ravel()
    return found


def _pair(place: Any, name: str) -> tuple[Any, Any]:
    if not isinstance(place, (tuple, list)) or len(place) != 2:
        raise TypeError(
            f"fit_motion: the place of {repr_in_message(name)} must be (frame, point), got {repr_in_message(place)}"
        )
    return place[0], place[1]


def measured(
    model: Model,
    markers: Recording | None,
    orientations: Recording | None,
    places: dict[str, tuple[int, Array]],
    known: Weights,
    times: Array,
) -> tuple[Measured, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The measurements, and names of the markers and sensors that count."""
    N = times.size
    both = [] if markers is None else [name for name in markers.names if name in places]
    if markers is not None and not both:
        hint = no_such_name(markers.names[0], places) if places else "markers"
        raise ModelError(
            f"fit_motion: none of the recorded markers {names_in_message(markers.names, 6)} is on the model; it has no "
            f"{hint}{'' if places else ': give places={name: (frame, point)}'}"
        )
    known.known += [*places, *model.q_names, *(() if markers is None else markers.names)]
    w = known.of(both)
    chosen = [name for name, weight in zip(both, w, strict=True) if weight > 0]
    y = markers.select(chosen).values if markers is not None else np.zeros((N, 0, 3))
    seen = ~np.isnan(y).any(axis=2)
    sensors = () if orientations is None else orientations.names
    frames = [resolve(model, name) for name in sensors]
    turn = known.of(sensors)
    turn_seen = np.zeros((N, 0)) if orientations is None else ~np.isnan(orientations.values).any(axis=2)
    R = np.tile(np.eye(3), (N, len(sensors), 1, 1))
    if orientations is not None:
        for k, i in np.argwhere(turn_seen):
            R[k, i] = np.asarray(quaternion_matrix(orientations.values[k, i]))
    measured = Measured(
        np.array([places[name][0] for name in chosen], dtype=int),
        np.array([places[name][1] for name in chosen]).reshape(-1, 3),
        np.where(np.asarray(seen)[..., None], y, 0.0),
        seen * w[w > 0],
        np.array([f.body for f in frames], dtype=int),
        np.array([np.array(f.X.E.full()).T for f in frames]).reshape(-1, 3, 3),
        R,
        turn_seen * turn,
    )
    return measured, (tuple(chosen), tuple(sensors))


def prior(model: Model, coordinates: Recording | None, known: Weights, times: Array) -> Prior | None:
    if coordinates is None:
        return None
    values, weights = np.zeros((times.size, model.nq)), np.zeros((times.size, model.nq))
    plain, turning = [entry for entry, _ in entries_with_dofs(model)], rotational(model)
    for name, weight in zip(coordinates.names, known.of(coordinates.names), strict=True):
        if not is_one_of(name, model.q_names):
            raise KeyError(f"fit_motion: coordinates: the model has no {no_such_name(name, model.q_names)}")
        entry = model.q_names.index(name)
        if entry not in plain:
            raise ValueError(f"fit_motion: coordinates: {name} is an entry of a quaternion, which has no weight alone")
        seen = ~np.isnan(coordinates[name])
        scale = np.pi / 180 if coordinates.units[coordinates.names.index(name)] == "deg" and turning[entry] else 1.0
        values[seen, entry], weights[:, entry] = scale * coordinates[name][seen], seen * weight
    return Prior(values, weights)


def fixed_dofs(model: Model, fixed: Any) -> list[int]:
    names = (fixed,) if isinstance(fixed, str) else tuple(fixed)
    for name in names:
        if not is_one_of(name, model.qd_names):
            raise KeyError(f"fit_motion: fixed: the model has no dof {no_such_name(name, model.qd_names)}")
    return [model.qd_names.index(name) for name in names]


def first_guess(model: Model, start: Any) -> Array:
    """The first guess (nq): that of the user, or the default of the model's file, or neutral."""
    if start is None:
        start = model.configurations.get("default")
    if start is None:
        return np.array(model.neutral(), dtype=float).ravel()
    return np.array(column_of_numbers(start, model.nq, "fit_motion: start", model.q_names).full()).ravel()
