"""Linear maps by which bodies and frames of a model are stretched, from factors along their axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from casadi import DM

from ..._base import checks
from ..._base.types import Array, ModelError, is_one_of, repr_in_message
from ...mechanism import Model
from ...spatial_algebra.spatial import Transform
from ..naming import no_such_name

SAME = 1e-9
"""Difference of two maps of one body below which they are the same."""


def rotation(X: Transform) -> Array:
    """R (3x3) that turns vectors of the frame of X into those of the body that carries it."""
    return np.array(DM(X.E).full()).T


def origin(X: Transform) -> Array:
    """The origin (3) of the frame of X in the body that carries it [m]."""
    return np.array(DM(X.r).full()).ravel()


class Stretches:
    """Symmetric maps S (3x3): a vector x of a body, in its axes, becomes S x. Bodies without factors keep their size.

    factors: three numbers for the axes of a frame, by its name. A body takes those of its own name, and what is fixed
    to it is stretched with it: a frame may only ask for the map that its body has, else ModelError.
    """

    def __init__(self, model: Model, factors: Mapping[str, Any]) -> None:
        if not isinstance(factors, Mapping):
            raise TypeError(f"factors must be three numbers by names of frames, got {repr_in_message(factors)}")
        self.model = model
        self.maps: list[Array] = [np.eye(3) for _ in range(model.nb + 1)]
        chosen: dict[int, str] = {}
        bodies = ("", *model.body_names)
        for name in sorted(factors, key=lambda name: not is_one_of(name, bodies[1:])):
            s = checked_factors(factors[name], name)
            if not is_one_of(name, model.frames):
                raise KeyError(f"factors: the model has no frame {no_such_name(name, model.frames)}")
            frame = model.frames[name]
            R = rotation(frame.X)
            S = R @ np.diag(s) @ R.T
            S = np.where(np.abs(S) < 1e-15, 0.0, S)
            other = chosen.setdefault(frame.body, name if not frame.body else bodies[frame.body])
            if other != name and not np.allclose(S, self.maps[frame.body], rtol=0, atol=SAME):
                raise ModelError(
                    f"factors: {repr_in_message(name)} is fixed to {repr_in_message(other)}, which is stretched "
                    f"otherwise, by {self.maps[frame.body].diagonal().tolist()}: give both the same factors, or load "
                    "the model so that they are two bodies (keep_locked=True for a locked joint of an OpenSim model)"
                )
            self.maps[frame.body] = S

    def factors(self, i: int) -> Array:
        """The factors (3) along the axes of body i."""
        return np.diag(self.maps[i]).copy()

    def of(self, frame: str) -> Array:
        """The map (3x3) in the axes of a frame."""
        found = self.model.frames[frame]
        R = rotation(found.X)
        S = R.T @ self.maps[found.body] @ R
        return np.asarray(np.where(np.abs(S) < 1e-15, 0.0, S))


def checked_factors(value: Any, name: str) -> tuple[float, float, float]:
    """Three positive factors; one number stands for all three."""
    s = checks.numbers(value, f"factors of {repr_in_message(name)}")
    s = np.repeat(s, 3) if s.size == 1 else s
    if s.size != 3 or not np.all((s > 1e-3) & (s < 1e3)):
        raise ValueError(f"factors of {repr_in_message(name)} must be 3 numbers from 0.001 to 1000, got {value!r:.80}")
    x, y, z = map(float, s.ravel())
    return x, y, z
