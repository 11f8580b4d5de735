"""Configurations at which paths are tried before they are used, and points that lie inside wrap objects there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..._base.types import Array
from ...mechanism import Model, WrapObject
from .fits import samples
from .geometry import Path, PathValues, wrap_place
from .polynomials import Box

COUNT = 40
"""Number of configurations between the corners of the ranges."""
WIDEST = np.pi / 2
"""Distance from the neutral position that is tried where a coordinate has no range [rad or m]."""
MOST = 6
"""Number of coordinates whose corners are all tried."""


def trial_configurations(model: Model, entries: Sequence[int]) -> Array:
    """The neutral configuration, the corners of the ranges of some coordinates, and configurations between them."""
    neutral = np.array(model.neutral(), dtype=float).ravel()
    plain = [k for k in entries if not _of_quaternion(model, k)][:MOST]
    if not plain:
        return neutral[None]
    low, high = model.dofs.q_lower[plain], model.dofs.q_upper[plain]
    low = np.where(np.isfinite(low), low, neutral[plain] - WIDEST)
    high = np.where(np.isfinite(high), high, neutral[plain] + WIDEST)
    box = Box(tuple(plain), tuple((low + high) / 2), tuple((high - low) / 2))
    points = samples(box, COUNT)
    q = np.tile(neutral, (1 + len(points), 1))
    q[1:, plain] = points
    return q


def _of_quaternion(model: Model, entry: int) -> bool:
    joints = range(1, model.nb + 1)
    i = next(i for i in joints if model.q_index[i] <= entry < model.q_index[i + 1])
    return model.joints[i].nq != model.joints[i].nv


def inside_of(path: Path, values: PathValues) -> Iterator[tuple[str, str, float]]:
    """(wrap object, point, share of the configurations) for points of a path inside objects on their piece of it."""
    for wrap, one in path.wraps:
        body, origin, axes = wrap_place(path.model, wrap)
        R, o = values.poses.R[body] @ axes, values.poses.p[body] + values.poses.R[body] @ origin
        last = (one.last or len(path.muscle.path)) - 1
        for k, point in enumerate(path.muscle.path[max(one.first, 1) - 1 : last + 1], max(one.first, 1) - 1):
            at = np.einsum("nji,nj->ni", R, values.routes.places[k, 0] - o)
            share = float(np.mean(_depth(wrap, at) > 1e-4))
            if share:
                yield wrap.name, point.name, share


def _depth(wrap: WrapObject, at: Array) -> Array:
    """Depths of points inside an object, in parts of its size; below zero outside."""
    sizes = np.array(wrap.sizes)
    if wrap.kind == "cylinder":
        depth = 1 - np.hypot(at[:, 0], at[:, 1]) / sizes[0]
        found: Array = np.where(np.abs(at[:, 2]) > sizes[1] / 2, -1.0, depth)
    elif wrap.kind == "torus":
        found = 1 - np.hypot(np.hypot(at[:, 0], at[:, 1]) - sizes[1], at[:, 2]) / sizes[0]
    else:
        found = 1 - np.sqrt(np.sum((at / sizes) ** 2, axis=1))
    return found
