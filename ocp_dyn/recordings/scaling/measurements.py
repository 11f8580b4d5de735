"""Factors of segments from distances between markers: on the subject, and on the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..._base import checks
from ..._base.types import Array, ModelError, is_one_of, repr_in_message, sequence
from ...mechanism import Model
from ..naming import no_such_name
from ..recording import Recording
from .posture import Posture, default_configuration
from .stretches import checked_factors

AXES = "XYZ"
FAR = 0.1
"""Distance [m] from which on a pair of markers tells the size of the whole body."""


@dataclass(frozen=True)
class Measurement:
    """A size of the subject by pairs of markers, and the axes of bodies that it scales.

    pairs: names of two markers each. segments: axes, such as "XYZ" or "y", by names of bodies or frames. The factor is
    the mean over the pairs of their distance on the subject over that on the model.

    >>> od.recordings.Measurement("thigh", [("hip", "knee")], {"femur_r": "Y"}).segments
    (('femur_r', 'Y'),)
    """

    name: str
    pairs: tuple[tuple[str, str], ...]
    segments: Any

    def __post_init__(self) -> None:
        checks.label(self.name, "Measurement name")
        what = f"Measurement {repr_in_message(self.name)}"
        pairs = [tuple(pair) if isinstance(pair, (tuple, list)) else pair
                 for pair in sequence(self.pairs, f"{what}: pairs must be pairs of names of markers")]  # fmt: skip
        for pair in pairs:
            if not isinstance(pair, tuple) or len(pair) != 2 or not all(isinstance(x, str) and x for x in pair):
                raise ValueError(f"{what}: pairs must be two names of markers each, got {repr_in_message(pair)}")
            if pair[0] == pair[1]:
                raise ValueError(f"{what}: a pair needs two markers, got {repr_in_message(pair[0])} twice")
        if not pairs:
            raise ValueError(f"{what} needs a pair of markers")
        given = tuple(self.segments.items()) if isinstance(self.segments, Mapping) else self.segments
        if not isinstance(given, (tuple, list)) or not all(isinstance(x, (tuple, list)) and len(x) == 2 for x in given):
            raise TypeError(f"{what}: segments must be axes by names of bodies, got {repr_in_message(self.segments)}")
        segments = []
        for name, axes in given:
            word = "".join(axes).upper() if isinstance(axes, (str, tuple, list)) else ""
            checks.label(name, f"{what}: the name of a segment")
            if not word or set(word) - set(AXES):
                raise ValueError(f"{what}: axes of {repr_in_message(name)} must be some of X, Y, Z, got {axes!r:.40}")
            segments.append((name, "".join(sorted(set(word)))))
        object.__setattr__(self, "pairs", tuple(pairs))
        object.__setattr__(self, "segments", tuple(segments))


def segment_factors(
    model: Model,
    static: Recording,
    measurements: Sequence[Measurement],
    *,
    factors: Mapping[str, Any] | None = None,
    times: tuple[float, float] | None = None,
) -> dict[str, tuple[float, float, float]]:
    """Factors for `scale_segments` from a static trial: for each body the ones that its measurements give.

    static: markers [m]. Distances are means over all samples between two times [s], the ends included; samples in which
    one of both markers is missing are left out. On the model, markers are in its default configuration. A later
    measurement of the same body and axis replaces an earlier one. factors: those to begin with; others are 1.

    Raises KeyError for markers that the recording or the model does not have, and for bodies that it does not have;
    ModelError for markers that are never seen together, or that coincide on the model.

    >>> with_marks = arm.with_markers([od.Marker("a", "link1", (0, 0, 0)), od.Marker("b", "link1", (0, 0, -1))])
    >>> static = od.recordings.Recording(["a", "b"], [0.0], [[[0, 0, 0], [0, 0, -1.1]]], "m")
    >>> upper = od.recordings.Measurement("upper", [("a", "b")], {"link1": "Z"})
    >>> od.recordings.segment_factors(with_marks, static, [upper])
    {'link1': (1.0, 1.0, 1.1)}
    """
    if not isinstance(model, Model):
        raise TypeError(f"segment_factors needs a Model, got {repr_in_message(model)}")
    if not isinstance(static, Recording) or static.kind != "points":
        raise TypeError(f"segment_factors needs a Recording of points, got {repr_in_message(static)}")
    given = sequence(measurements, "segment_factors: measurements must be a list of Measurement")
    found = {name: np.array(checked_factors(s, name)) for name, s in (factors or {}).items()}
    seen = samples_between(static, times)
    posture = Posture(model, default_configuration(model))
    places = {marker.name: posture.world(marker.body, marker.point) for marker in model.markers}
    for one in given:
        if not isinstance(one, Measurement):
            raise TypeError(f"segment_factors: measurements must be a list of Measurement, got {repr_in_message(one)}")
        ratio = float(np.mean([_ratio(seen, places, pair, one.name) for pair in one.pairs]))
        for name, axes in one.segments:
            if not is_one_of(name, model.frames):
                raise KeyError(f"Measurement {one.name}: the model has no frame {no_such_name(name, model.frames)}")
            own = found.setdefault(name, np.ones(3))
            own[[AXES.index(axis) for axis in axes]] = ratio
    return {name: (float(s[0]), float(s[1]), float(s[2])) for name, s in found.items()}


def whole_body_measurement(model: Model, static: Recording) -> Measurement:
    """One measurement for all bodies, where nobody has chosen pairs: by all pairs of markers on one body or on two
    neighbors that are more than 0.1 m apart on the model and seen in the recording.

    It gives one factor: the size of the subject, whose proportions stay those of the model. ModelError without a pair.

    >>> marked = arm.with_markers([od.Marker("a", "link1", (0, 0, 0)), od.Marker("b", "link2", (0, 0, -1))])
    >>> static = od.recordings.Recording(["a", "b"], [0.0], [[[0, 0, 0], [0, 0, -2.2]]], "m")
    >>> size = od.recordings.whole_body_measurement(marked, static)
    >>> od.recordings.segment_factors(marked, static, [size])
    {'link1': (1.1, 1.1, 1.1), 'link2': (1.1, 1.1, 1.1)}
    """
    if not isinstance(model, Model):
        raise TypeError(f"whole_body_measurement needs a Model, got {repr_in_message(model)}")
    if not isinstance(static, Recording) or static.kind != "points":
        raise TypeError(f"whole_body_measurement needs a Recording of points, got {repr_in_message(static)}")
    posture = Posture(model, default_configuration(model))
    missing: Any = np.isnan(static.values).any(axis=(0, 2))
    seen = {name for name, lost in zip(static.names, missing, strict=True) if not lost}
    known = [(m.name, model.frames[m.body].body, posture.world(m.body, m.point))
             for m in model.markers if m.name in seen]  # fmt: skip
    pairs = [
        (a, b)
        for (a, i, x), (b, j, y) in combinations(known, 2)
        if (i == j or model.parent[i] == j or model.parent[j] == i) and np.linalg.norm(x - y) > FAR
    ]
    if not pairs:
        raise ModelError(
            "whole_body_measurement: no two markers that both the model and the recording have are on one body or on "
            "neighbors; give a setup with measurements"
        )
    return Measurement("whole body", tuple(pairs), dict.fromkeys(model.body_names, AXES))


def _ratio(static: Recording, places: dict[str, Array], pair: tuple[str, str], what: str) -> float:
    for name in pair:
        for known, where in ((static.names, "the recording"), (tuple(places), "the model")):
            if name not in known:
                raise KeyError(f"Measurement {what}: {where} has no marker {no_such_name(name, known)}")
    a, b = pair
    model = float(np.linalg.norm(places[a] - places[b]))
    apart = np.linalg.norm(static[a] - static[b], axis=1)
    apart = apart[~np.isnan(apart)]
    if not apart.size:
        raise ModelError(f"Measurement {what}: the markers {a} and {b} are never seen together")
    if model < 1e-9:
        raise ModelError(f"Measurement {what}: the markers {a} and {b} are at one place on the model")
    return float(apart.mean()) / model


def samples_between(static: Recording, times: tuple[float, float] | None) -> Recording:
    """The samples of a recording between two times, the ends included."""
    if times is None:
        return static
    first, last = checks.as_bounds(times, "times [s]")
    slack = 1e-6
    there = (static.times >= first - slack) & (static.times <= last + slack)
    if not there.any():
        raise ValueError(
            f"no sample lies between {first:g} and {last:g} s; the recording goes from {static.times[0]:g} to "
            f"{static.times[-1]:g} s"
        )
    return Recording(static.names, static.times[there], static.values[there], static.units, static.title)
