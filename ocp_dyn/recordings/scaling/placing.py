"""Markers of a model, moved to where a static trial has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..._base import checks
from ..._base.types import Array, is_one_of, repr_in_message
from ...mechanism import Marker, Model
from ..fit_motion import fit_motion
from ..motion import FittedMotion
from ..naming import no_such_name
from ..recording import Recording
from .measurements import samples_between
from .posture import Posture, default_configuration


def place_markers(
    model: Model,
    static: Recording,
    *,
    weights: Mapping[str, float] | None = None,
    coordinates: Mapping[str, float | None] | None = None,
    times: tuple[float, float] | None = None,
) -> tuple[Model, FittedMotion]:
    """The model with its markers where a static trial has them, and the posture in which they were placed there:

        minimize  1/2 sum of w |p - y|^2 / sum of w + 1/2 sum of w_k (q_k - value_k)^2

    over q, with the means y of the measured places over all samples between two times [s]; then every marker that is
    not `fixed` moves to its y in its own frame, also those of weight zero. Markers that the trial does not have are
    left out of the model, those that are missing in all its samples stay. Constraints and limits hold.

    weights: by names of markers and coordinates; default 1 for each marker; if weights of markers are given, those
    without one do not count. coordinates: values [rad, m] by names; None: that of the default configuration; only
    those with a weight count.

    Raises KeyError and ValueError for names that are not there, see `fit_motion`.

    >>> with_marks = rod.with_markers([od.Marker("top", "tip", (0, 0, 0.6)), od.Marker("end", "tip", (0.01, 0, 0))])
    >>> static = od.recordings.Recording(["top", "end"], [0.0], [[[-0.4, 0, 0], [-1, 0, 0]]], "m")  # it hangs level
    >>> placed, posture = od.recordings.place_markers(with_marks, static, weights={"top": 1.0})
    >>> [tuple(round(x, 6) + 0.0 for x in marker.point) for marker in placed.markers]
    [(0.0, 0.0, 0.6), (0.0, 0.0, 0.0)]
    """
    if not isinstance(model, Model):
        raise TypeError(f"place_markers needs a Model, got {repr_in_message(model)}")
    if not isinstance(static, Recording) or static.kind != "points":
        raise TypeError(f"place_markers needs a Recording of points, got {repr_in_message(static)}")
    mean = _mean(samples_between(static, times))
    known = tuple(marker for marker in model.markers if marker.name in mean.names)
    kept = model.with_markers(known, replace_all=True)
    given = {name: checks.not_negative(w, f"place_markers: weight of {repr_in_message(name)}")
             for name, w in (weights or {}).items()}  # fmt: skip
    told = _values(model, coordinates or {}, given)
    total = _total_weight(kept, mean, given)
    own = {name: w * (total if name in told else 1.0) for name, w in given.items() if is_one_of(name, told) or w}
    prior = Recording(tuple(told), mean.times, np.array([[*told.values()]])) if told else None
    posture = fit_motion(kept, mean, weights=own or None, coordinates=prior)
    return _placed(kept, mean, posture.q[0]), posture


def _mean(static: Recording) -> Recording:
    """One sample with the mean of each marker; NaN for one that is never seen."""
    seen: Any = ~np.isnan(static.values).any(axis=2)
    sums = np.where(seen[..., None], static.values, 0.0).sum(axis=0)
    count = seen.sum(axis=0)
    mean = np.where(count[:, None] > 0, sums / np.maximum(count, 1)[:, None], np.nan)
    return Recording(static.names, static.times[:1], mean[None], static.units, static.title)


def _values(model: Model, coordinates: Mapping[str, Any], weights: Mapping[str, float]) -> dict[str, float]:
    """Values of the coordinates that have a weight."""
    default = default_configuration(model)
    found = {}
    for name, value in coordinates.items():
        if not is_one_of(name, model.q_names):
            raise KeyError(f"place_markers: coordinates: the model has no {no_such_name(name, model.q_names)}")
        at = float(default[model.q_names.index(name)])
        if weights.get(name, 0.0) > 0:
            found[name] = at if value is None else checks.finite(value, f"place_markers: value of {name}")
    return found


def _total_weight(model: Model, mean: Recording, weights: Mapping[str, float]) -> float:
    """The sum of the weights of all markers that count."""
    seen = [m.name for m in model.markers if not np.isnan(mean[m.name]).any()]
    there = any(marker.name in weights for marker in model.markers)
    return float(sum(weights.get(name, 0.0 if there else 1.0) for name in seen))


def _placed(model: Model, mean: Recording, q: Array) -> Model:
    posture = Posture(model, q)

    def moved(marker: Marker) -> Marker:
        y = mean[marker.name][0]
        if marker.fixed or np.isnan(y).any():
            return marker
        return replace(marker, point=tuple(posture.inside(marker.body, y)))

    return model.with_markers([moved(marker) for marker in model.markers], replace_all=True)
