"""Muscles in pictures: lines along their paths, arcs over surfaces included, colored by activation and as thick as the
activation times the largest force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._base.checks import name_among
from .._base.types import Array, finite_vector, repr_in_message
from ..gait.bodies import Point, size
from ..gait.unrolled import MotionLike
from ..mechanism import Model
from ..muscles import path_lines
from .drawing import MUSCLE
from .skeleton import Segment

RELAXED = "#7A93B8"
"""Color of a muscle that is not active; an active one has `MUSCLE`."""
VERTICES = 14
"""Points of the line of a muscle that bends over surfaces, at equal distances."""
THIN, THICK = 0.0012, 0.005
"""Half of the thickness of a muscle without force and of the strongest one, of the size of the model."""


def activations_of(model: Model, values: Any) -> Array | None:
    """Activations of the muscles of a model, in its order, from a dict by names or a list; 0 where a dict has none.

    ValueError for values that are not between 0 and 1, KeyError for names that the model does not have.
    """
    if values is None:
        return None
    if isinstance(values, Mapping):
        found = np.zeros(len(model.muscles))
        for name, value in values.items():
            found[model.muscle_names.index(name_among(name, model.muscle_names, "activations", "muscle"))] = value
    else:
        found = finite_vector(values, len(model.muscles), "activations", names=model.muscle_names)
    if not np.all((found >= 0) & (found <= 1)):
        raise ValueError(f"activations must lie between 0 and 1, got {repr_in_message(values)}")
    return found


def colors_of(activations: Array) -> Array:
    """Colors (..., 3) of activations (...): blue without, red when full."""
    from matplotlib.colors import to_rgb

    relaxed, active = np.array(to_rgb(RELAXED)), np.array(to_rgb(MUSCLE))
    share = np.clip(activations, 0.0, 1.0)[..., None]
    found: Array = (1 - share) * relaxed + share * active
    return found


def thickness_of(model: Model, activations: Array) -> Array:
    """Half of the thickness (..., muscles) [m] by activation times the largest isometric force; its root."""
    forces = np.array([muscle.max_isometric_force or 0.0 for muscle in model.muscles])
    share = np.sqrt(np.clip(activations, 0.0, 1.0) * forces / max(float(np.max(forces, initial=0.0)), 1e-9))
    found: Array = (THIN + (THICK - THIN) * share) * size(model)
    return found


class MuscleShapes:
    """The muscles of a model as shapes of a skeleton, whose points move by themselves.

    segments: the pieces of all lines. `places(q)` gives their points; `looks(activations)` colors and thickness.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        bent = [bool(muscle.wraps) for muscle in self.model.muscles]
        self.counts = [
            VERTICES if wraps else len(muscle.path) for muscle, wraps in zip(self.model.muscles, bent, strict=True)
        ]
        thin = 0.002 * size(self.model)
        self.segments = [
            Segment(muscle.name, "muscle", "middle", (Point(0), Point(0)), (thin, thin))
            for muscle, count in zip(self.model.muscles, self.counts, strict=True)
            for _ in range(count - 1)
        ]
        self.pieces = np.repeat(np.arange(len(self.counts)), [count - 1 for count in self.counts])

    def places(self, q: Array) -> Array:
        """Points (n, 2 segments, 3) at configurations q (n x nq) [m], world axes."""
        if not self.segments:
            return np.zeros((len(q), 0, 3))
        lines = path_lines(self.model, q)
        columns = [
            np.array([_resampled(line, count) for line in lines[muscle.name]])
            for muscle, count in zip(self.model.muscles, self.counts, strict=True)
        ]
        ends = [np.stack([line[:, :-1], line[:, 1:]], axis=2).reshape(len(q), -1, 3) for line in columns]
        found: Array = np.concatenate(ends, axis=1)
        return found

    def looks(self, activations: Array | None) -> list[tuple[Array, Array]] | None:
        """(colors, thickness) of the segments at activations (n x muscles) of a motion, None for one without any."""
        if activations is None or not self.segments:
            return None
        colors, thickness = colors_of(activations), thickness_of(self.model, activations)
        return [(c[self.pieces], t[self.pieces]) for c, t in zip(colors, thickness, strict=True)]


def _resampled(line: Array, count: int) -> Array:
    """So many points of a line (n x 3), at equal distances, or all its points if it has that many."""
    if len(line) == count:
        return line
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    at = np.linspace(0.0, along[-1], count)
    return np.column_stack([np.interp(at, along, x) for x in line.T])


def activations_at(motion: MotionLike, times: Array) -> Array | None:
    """Activations (n x muscles) of a motion at times [s], of its channel "activation"; None if it has none.

    Every second repetition of a mirrored motion has the activations of the other side.
    """
    model = motion.model
    channel = next((c for c in getattr(motion, "channels", ()) if c.name == "activation"), None)
    if channel is None or not set(channel.labels) <= set(model.muscle_names):
        return None
    phases: Sequence[Any] = motion.phases
    nodes = [phase.t if channel.at_nodes else (phase.t[:-1] + phase.t[1:]) / 2 for phase in phases]
    t, values = np.concatenate(nodes), np.concatenate([phase.channels["activation"] for phase in phases])
    columns = [model.muscle_names.index(label) for label in channel.labels]
    mirror = motion.mirror() if motion.repeats else None
    image = None if mirror is None else np.array(channel.image(mirror.images).full())
    found = np.zeros((len(times), len(model.muscles)))
    for k, time in enumerate(times):
        step = int(time // motion.duration) if motion.repeats else 0
        row = np.array([np.interp(time - step * motion.duration, t, x) for x in values.T])
        found[k, columns] = image @ row if image is not None and step % 2 else row
    return found
