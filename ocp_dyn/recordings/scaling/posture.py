"""A model in one configuration: where points of its frames are in the world, and the other way around."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._base.types import Array
from ...mechanism import Model
from ..fitting.placed import Placed
from .stretches import origin, rotation


def default_configuration(model: Model) -> Array:
    """The configuration "default" of the model's file; else the neutral one."""
    found = model.configurations.get("default")
    return np.array(model.neutral() if found is None else found, dtype=float).ravel()


class Posture:
    """Poses of all bodies of a model at a configuration q (nq)."""

    def __init__(self, model: Model, q: Array) -> None:
        R, p, _, _ = Placed(model).bodies(q[None])
        self.model, self.R, self.p = model, R[0], p[0]

    def world(self, frame: str, point: Any) -> Array:
        """The place (3) in the world of a point (3) of a frame [m]."""
        f = self.model.frames[frame]
        return np.asarray(
            self.R[f.body] @ (origin(f.X) + rotation(f.X) @ np.array(point, dtype=float)) + self.p[f.body]
        )

    def inside(self, frame: str, point: Any) -> Array:
        """The place (3) in a frame of a point (3) of the world [m]."""
        f = self.model.frames[frame]
        own = self.R[f.body].T @ (np.array(point, dtype=float) - self.p[f.body])
        return np.asarray(rotation(f.X).T @ (own - origin(f.X)))
