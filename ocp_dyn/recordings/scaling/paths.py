"""Lengths of the paths of a model's muscles in one configuration."""

from __future__ import annotations

import numpy as np

from ..._base.types import Array
from ...mechanism import ConditionalPathPoint, Model, MovingPathPoint
from .posture import Posture


def path_lengths(model: Model, q: Array) -> dict[str, float]:
    """Lengths [m] of the paths of all muscles by name, at a configuration q (nq); straight between their points."""
    if not model.muscles:
        return {}
    posture = Posture(model, q)
    at = dict(zip(model.q_names, q, strict=True))
    found = {}
    for muscle in model.muscles:
        points = []
        for point in muscle.path:
            if isinstance(point, ConditionalPathPoint) and not point.lower <= at[point.coordinate] <= point.upper:
                continue
            if isinstance(point, MovingPathPoint):
                pairs = zip(point.functions, point.coordinates, strict=True)
                own = [float(f.at(*() if c is None else (at[c],))) for f, c in pairs]
            else:
                own = list(point.point)
            points.append(posture.world(point.body, own))
        found[muscle.name] = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    return found
