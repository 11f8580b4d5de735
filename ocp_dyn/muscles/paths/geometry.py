"""Exact geometry of the path of a muscle in numbers: length and moment arms at many configurations at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..._base.autodiff import as_function
from ..._base.types import Array
from ...joints import ScalarFunction
from ...mechanism import ConditionalPathPoint, Model, MovingPathPoint, Muscle, PathWrap, WrapObject
from ...mechanism.annotations.edits import RANGE_SLACK
from .bodies import PathBodies, Poses, entry_of, path_bodies, placed
from .ellipsoids import section
from .geodesics import geodesic
from .routes import ROUGHLY_STILL, STILL, Before, Route, Routes, Rows, Wrap, length_of, routes
from .wrapping import INSIDE, Wrapping, cylinder, side_of, sphere, torus, unit

LINES = ("shortest", "opensim")
"""Lines over surfaces: the shortest ones, or those of OpenSim: sections of ellipsoids by planes, and a cylinder that is
alone on its path crossed at the heights of an apex."""
Surface = Callable[[Array, Array, Before | None], Wrapping]
"""(from, to, before) -> Wrapping, in the axes of a wrap object."""


class _Point(NamedTuple):
    """A point at n configurations: its body, its place in the body (n x 3), its velocity in the body per unit rate of
    entries of qd, and whether it belongs to the path (n)."""

    body: int
    place: Array
    slopes: dict[int, Array]
    active: NDArray[np.bool_]


@dataclass(frozen=True)
class Path:
    """The path of a muscle in a model, as what its geometry needs."""

    model: Model
    muscle: Muscle
    lines: str = "shortest"
    fine: bool = True
    """False: only as precise as a fit needs."""

    @property
    def bodies(self) -> PathBodies:
        """The bodies and joints of the path."""
        frames = {point.body for point in self.muscle.path} | {wrap.body for wrap, _ in self.wraps}
        return path_bodies(self.model, tuple(sorted({self.model.frames[name].body for name in frames})))

    @property
    def wraps(self) -> tuple[tuple[WrapObject, PathWrap], ...]:
        """The active wrap objects on the path."""
        known = {wrap.name: wrap for wrap in self.model.wraps}
        return tuple((known[one.wrap], one) for one in self.muscle.wraps if known[one.wrap].active)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """Indices into q of the coordinates on which the length depends: of joints that it crosses, and of its moving
        and conditional points."""
        named = {
            name
            for point in self.muscle.path
            for name in (*getattr(point, "coordinates", ()), getattr(point, "coordinate", None))
            if name is not None
        }
        return tuple(sorted({*self.bodies.entries, *(self.model.q_names.index(name) for name in named)}))


class PathValues(NamedTuple):
    """A path at n configurations. length (n) [m]; moment_arms (n x nv) [m or 1]; routes: its way, in the axes of the
    base; poses: of its bodies."""

    length: Array
    moment_arms: Array
    routes: Routes
    poses: Poses


def path_values(path: Path, q: Array, poses: Poses | None = None) -> PathValues:
    """Length, moment arms and way of a path at configurations q (n x nq).

    The moment arm of a dof is the generalized force of a unit tension: on every body act the unit vectors along the
    straight pieces that end on it. The tension along an arc does no work, so this is -dl/dq exactly where the arc is a
    shortest line.
    """
    model, bodies = path.model, path.bodies
    poses = bodies.at(q) if poses is None else poses
    points = list(_points(path, q))
    where = np.stack([_world(poses, point.body, point.place) for point in points])
    spans = [
        (_wrap(model, (wrap, one), poses, path), max(one.first, 1) - 1, (one.last or len(points)) - 1)
        for wrap, one in path.wraps
    ]
    way = routes(where, np.stack([point.active for point in points]), spans, STILL if path.fine else ROUGHLY_STILL)
    on = _bodies_of(path)
    length, arms = np.zeros(len(q)), np.zeros((len(q), model.nv))
    for route, rows in way.groups.items():
        length[rows] = length_of(way, route, rows)
        pulls = _pulls(way, route, rows)
        for element, force in pulls.items():
            at = way.places[element][rows]
            for k, (dof, moved) in enumerate(zip(bodies.dofs, bodies.behind, strict=True)):
                if on[element] in moved:
                    w, v = poses.twists[rows, k, :3], poses.twists[rows, k, 3:]
                    arms[rows, dof] += np.einsum("nk,nk->n", v + np.cross(w, at), force)
            if element[0] >= 0:
                for dof, slope in points[element[0]].slopes.items():
                    turned = np.einsum("nij,nj->ni", poses.R[on[element]][rows], slope[rows])
                    arms[rows, dof] += np.einsum("nk,nk->n", turned, force)
    return PathValues(length, arms, way, poses)


def _bodies_of(path: Path) -> dict[tuple[int, int], int]:
    """The bodies on which the elements of the routes of a path lie: its points, and the ends of its arcs."""
    on = {(k, 0): path.model.frames[point.body].body for k, point in enumerate(path.muscle.path)}
    for j, (wrap, _) in enumerate(path.wraps):
        on |= {(-1 - j, end): path.model.frames[wrap.body].body for end in (0, 1)}
    return on


def pulls_on(path: Path, values: PathValues, bodies: Collection[int]) -> tuple[Array, Array]:
    """(moment about the base's origin, force) (n x 3 each) of a unit tension on some bodies, in the base's axes."""
    on, way = _bodies_of(path), values.routes
    moment, force = np.zeros((len(values.length), 3)), np.zeros((len(values.length), 3))
    for route, rows in way.groups.items():
        for element, pull in _pulls(way, route, rows).items():
            if on[element] in bodies:
                force[rows] += pull
                moment[rows] += np.cross(way.places[element][rows], pull)
    return moment, force


def _pulls(way: Routes, route: Route, rows: Rows) -> dict[tuple[int, int], Array]:
    """The sum of the unit vectors of the straight pieces at every element of a route (n x 3)."""
    pulls = {element: np.zeros((len(rows), 3)) for element in route}
    for a, b in pairwise(route):
        if not (a[0] < 0 and a[0] == b[0]):
            e = unit(way.places[b][rows] - way.places[a][rows])
            pulls[a] += e
            pulls[b] -= e
    return pulls


def _world(poses: Poses, body: int, place: Array) -> Array:
    found: Array = poses.p[body] + np.einsum("nij,nj->ni", poses.R[body], place)
    return found


def _points(path: Path, q: Array) -> Iterator[_Point]:
    """The points of a path at configurations q."""
    model, n = path.model, len(q)
    for point in path.muscle.path:
        active = np.ones(n, dtype=bool)
        if isinstance(point, MovingPathPoint):
            yield _moving(model, point, q)
            continue
        if isinstance(point, ConditionalPathPoint):
            at = q[:, model.q_names.index(point.coordinate)]
            active = (at >= point.lower - RANGE_SLACK) & (at <= point.upper + RANGE_SLACK)
        body, place = placed(model, point.body, np.array(point.point))
        yield _Point(body, np.broadcast_to(place, (n, 3)), {}, active)


def _moving(model: Model, point: MovingPathPoint, q: Array) -> _Point:
    body, origin = placed(model, point.body, np.zeros(3))
    turn = np.asarray(ca.DM(model.frames[point.body].X.E).full()).T
    place = np.zeros((len(q), 3))
    slopes: dict[int, Array] = {}
    for k, (function, coordinate) in enumerate(zip(point.functions, point.coordinates, strict=True)):
        entry, dof = (0, 0) if coordinate is None else entry_of(model, coordinate)
        value, slope = (np.asarray(x.full()).ravel() for x in orders(function)(q[:, entry][None]))
        place[:, k] = value
        if coordinate is not None:
            slopes.setdefault(dof, np.zeros((len(q), 3)))[:, k] = slope
    whole = np.ones(len(q), dtype=bool)
    return _Point(body, origin + place @ turn.T, {dof: slope @ turn.T for dof, slope in slopes.items()}, whole)


@lru_cache(maxsize=1024)
def orders(function: ScalarFunction) -> ca.Function:
    """x -> value and slope of a function of one coordinate."""
    return as_function(lambda x: [function.orders(x).value, function.orders(x).slopes[0]], 1)


def wrap_place(model: Model, wrap: WrapObject) -> tuple[int, Array, Array]:
    """(body, origin, axes as columns) of a wrap object in the axes of its body."""
    body, origin = placed(model, wrap.body, np.array(wrap.origin))
    turn = np.asarray(ca.DM(model.frames[wrap.body].X.E).full()).T
    return body, origin, turn @ np.reshape(wrap.rotation, (3, 3))


def _wrap(model: Model, pair: tuple[WrapObject, PathWrap], poses: Poses, path: Path) -> Wrap:
    """Wrapping of lines in the axes of the base."""
    wrap, one = pair
    body, origin, axes = wrap_place(model, wrap)
    over = _surface(wrap, one.method, path)

    def wrapped(rows: Rows, p1: Array, p2: Array, before: Before | None) -> Wrapping:
        R = poses.R[body][rows] @ axes
        o = poses.p[body][rows] + poses.R[body][rows] @ origin
        p1, p2 = (np.einsum("nji,nj->ni", R, p - o) for p in (p1, p2))
        if before:
            first, last = (np.einsum("nji,nj->ni", R, p - o) for p in before[:2])
            before = (first, last, before[2])
        found = over(p1, p2, before)
        first, last = (o + np.einsum("nij,nj->ni", R, p) for p in (found.first, found.last))
        return Wrapping(found.action, first, last, found.arc)

    return wrapped


def _surface(wrap: WrapObject, method: str, path: Path) -> Surface:
    """Wrapping in the axes of a wrap object."""
    opensim, alone = path.lines == "opensim", len(path.wraps) == 1
    side, sizes = side_of(wrap.quadrant), wrap.sizes
    if wrap.kind == "cylinder":
        return _without_start(partial(cylinder, radius=sizes[0], length=sizes[1], side=side, apex=opensim and alone))
    if wrap.kind == "sphere":
        return _without_start(partial(sphere, radius=sizes[0], side=side))
    if wrap.kind == "torus":
        return _without_start(partial(torus, tube=sizes[0], ring=sizes[1], side=side))
    radii = np.array(sizes)
    if opensim:
        return _without_start(partial(section, radii=radii, side=side, method=method))

    def shortest(p1: Array, p2: Array, before: Before | None) -> Wrapping:
        guess = section(p1, p2, radii, side, "midpoint")
        if before:
            wraps = (guess.action > INSIDE)[:, None] & (before[2] > 0)[:, None]
            first, last = (np.where(wraps, a, b) for a, b in zip(before[:2], guess[1:3], strict=True))
            guess = Wrapping(guess.action, first, last, np.where(wraps[:, 0], before[2], guess.arc))
        return geodesic(p1, p2, radii, guess, side, path.fine)

    return shortest


def _without_start(over: Callable[[Array, Array], Wrapping]) -> Surface:
    """A surface whose lines have a closed form, and need no start."""
    return lambda p1, p2, before: over(p1, p2)
