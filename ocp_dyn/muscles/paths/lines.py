"""The lines of a path, with its arcs over wrap objects as points, to draw it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..._base.types import Array
from ...mechanism import WrapObject
from .geometry import Path, PathValues, path_values, wrap_place
from .routes import Route
from .wrapping import unit

ARC_POINTS = 13
"""Number of points of an arc."""


def path_lines_at(path: Path, q: Array) -> list[Array]:
    """Points (n x 3) of a path at every configuration (rows of q), in the axes of the body that carries all of it
    [m]."""
    values = path_values(path, q)
    routes = {int(k): route for route, rows in values.routes.groups.items() for k in rows}
    return [_line(path, values, routes[k], k) for k in range(len(q))]


def _line(path: Path, values: PathValues, route: Route, k: int) -> Array:
    """The points of a path at the k-th configuration."""
    found: list[Array] = [values.routes.places[route[0]][k]]
    for a, b in pairwise(route):
        end = values.routes.places[b][k]
        if a[0] < 0 and a[0] == b[0]:
            j = -1 - a[0]
            wrap, _ = path.wraps[j]
            body, origin, axes = wrap_place(path.model, wrap)
            R, o = values.poses.R[body][k] @ axes, values.poses.p[body][k] + values.poses.R[body][k] @ origin
            start, before = found[-1], found[-2]
            arc = _arc(wrap, R.T @ (start - o), R.T @ (start - before), float(values.routes.arcs[j][k]))
            found += [o + R @ x for x in arc]
        found.append(end)
    return np.array(found)


def _arc(wrap: WrapObject, start: Array, direction: Array, length: float) -> Array:
    """Points between the ends of an arc: the line without a curvature of its own from `start`, in the axes of the
    object; none for a torus."""
    if wrap.kind == "torus" or length <= 0:
        return np.zeros((0, 3))
    sizes = {"cylinder": (wrap.sizes[0], wrap.sizes[0], np.inf), "sphere": wrap.sizes * 3}.get(wrap.kind, wrap.sizes)
    curved = np.array(sizes, dtype=float) ** -2
    x, t, points = start, unit(direction[None])[0], []
    steps = 4
    h = length / (ARC_POINTS - 1) / steps
    for k in range((ARC_POINTS - 2) * steps):
        middle = x + h / 2 * t
        g = curved * middle
        t = t - h * (t * t @ curved) / (g @ g) * g
        x = middle + h / 2 * t
        if k % steps == steps - 1:
            points.append(x)
    return np.array(points)
