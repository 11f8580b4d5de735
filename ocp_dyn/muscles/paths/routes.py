"""The way of a path from point to point and over its wrap objects, for many configurations at once.

As in OpenSim (`OpenSim/Simulation/Model/GeometryPath.cpp`) every object takes, in turn, the piece of the path that it
must wrap, or else that which it changes least; with several objects this is repeated, because the tangent points of
one move those of another. OpenSim stops where the length changes by less than 0.5 mm, or after 8 rounds; here rounds go
on until the length stands still.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._base.types import Array
from .wrapping import INSIDE, MANDATORY, STRAIGHT, WRAPPED, Wrapping, norm

Rows = NDArray[np.intp]
Element = tuple[int, int]
"""A point of a path: (k, 0) is its k-th point, (-1 - j, 0) and (-1 - j, 1) are the ends of its arc on the j-th wrap."""
Route = tuple[Element, ...]
Before = tuple[Array, Array, Array]
"""Points at which a line met and left its surface in the round before, and the length between them."""
Wrap = Callable[[Rows, Array, Array, Before | None], Wrapping]
"""Wrapping of lines: (configurations, from, to, before) -> Wrapping, all in the axes of the path's base."""

ROUNDS, FEWER_ROUNDS = 40, 12
"""Largest number of rounds, and that for a fit."""
STILL, ROUGHLY_STILL = 1e-12, 1e-7
"""Change of the length in a round at which it stands still, and at which it does for a fit [m]."""


class Routes(NamedTuple):
    """Ways of a path. places: of every element (n x 3) [m]; arcs: lengths on the j-th wrap (n) [m]; groups: the
    configurations of every route."""

    places: dict[Element, Array]
    arcs: list[Array]
    groups: dict[Route, Rows]


class _Span(NamedTuple):
    """A wrap of a path: numbers of its first and last point, from 0."""

    wrap: Wrap
    first: int
    last: int


class _Kind(NamedTuple):
    """Configurations with one route, whose wraps take their turns in one order."""

    route: Route
    order: tuple[int, ...]


Groups = dict[_Kind, Rows]


def routes(
    points: Array, active: NDArray[np.bool_], wraps: Sequence[tuple[Wrap, int, int]], still: float = STILL
) -> Routes:
    """Ways over wraps, each (wrap, first, last) with the numbers of the points, from 0, between which it may wrap.

    points (points x n x 3) [m]; active (points x n): whether a point belongs to the path. still: change of the length
    in a round at which it stands still [m].
    """
    n = points.shape[1]
    spans = [_Span(*wrap) for wrap in wraps]
    places: dict[Element, Array] = {(k, 0): points[k] for k in range(len(points))}
    for j in range(len(spans)):
        places |= {(-1 - j, end): np.zeros((n, 3)) for end in (0, 1)}
    found = Routes(places, [np.zeros(n) for _ in spans], {})
    moving = _by_pattern(active, tuple(range(len(spans))))
    length = np.full(n, -1.0)
    for k in range(len(spans) if len(spans) < 2 else ROUNDS if still <= STILL else FEWER_ROUNDS):
        moving = _one_round(found, moving, spans, first=k == 0)
        new = np.zeros(n)
        for kind, rows in moving.items():
            new[rows] = length_of(found, kind.route, rows)
        rest = np.abs(new - length) <= still
        length = new
        for kind, rows in moving.items():
            _add(found.groups, kind.route, rows[rest[rows]])
        moving = {kind: rows[~rest[rows]] for kind, rows in moving.items() if not np.all(rest[rows])}
        if not moving:
            break
    for kind, rows in moving.items():
        _add(found.groups, kind.route, rows)
    return found


def _by_pattern(active: NDArray[np.bool_], order: tuple[int, ...]) -> Groups:
    """Configurations by the points that belong to the path."""
    groups: Groups = {}
    patterns, of = np.unique(active.T, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        route = tuple((int(point), 0) for point in np.flatnonzero(pattern))
        _add(groups, _Kind(route, order), np.flatnonzero(of.ravel() == k))
    return groups


def _add(groups: dict, key: Route | _Kind, rows: Rows) -> None:  # type: ignore[type-arg]
    if rows.size:
        groups[key] = np.concatenate([groups[key], rows]) if key in groups else rows


def length_of(found: Routes, route: Route, rows: Rows) -> Array:
    """Length of the path at some configurations of one route [m]."""
    total = np.zeros(len(rows))
    for a, b in pairwise(route):
        arc = a[0] < 0 and a[0] == b[0]
        total += found.arcs[-1 - a[0]][rows] if arc else norm(found.places[b][rows] - found.places[a][rows])
    return total


def _one_round(found: Routes, groups: Groups, spans: Sequence[_Span], first: bool) -> Groups:
    """Every wrap takes its piece once. In the first round: where the first object wraps nothing, and the second does
    not because of a point inside it, these two change their order, as in OpenSim."""
    new: Groups = {}
    for (route, order), rows in groups.items():
        codes = np.zeros((len(spans), len(found.places[0, 0])), dtype=np.int64)
        current: dict[Route, Rows] = {route: rows}
        for j in order:
            after: dict[Route, Rows] = {}
            for way, of_way in current.items():
                for other, part in _placed(found, way, of_way, j, spans[j], codes[j]):
                    _add(after, other, part)
            current = after
        for way, part in current.items():
            swap = np.zeros(len(part), dtype=bool)
            if first and len(spans) > 1:
                swap = (codes[0][part] == STRAIGHT) & (codes[1][part] == INSIDE)
            _add(new, _Kind(way, order), part[~swap])
            _add(new, _Kind(tuple(e for e in way if e[0] != -1), (1, 0, *order[2:])), part[swap])
    return new


def _placed(
    found: Routes, route: Route, rows: Rows, j: int, span: _Span, codes: NDArray[np.int64]
) -> list[tuple[Route, Rows]]:
    """The j-th wrap on the piece of the path that it takes: routes, and their configurations."""
    here = -1 - j
    way = tuple(element for element in route if element[0] != here)
    inside = [k for k, (point, _) in enumerate(way) if span.first <= point <= span.last]
    pieces = range(inside[0], inside[-1]) if inside else range(0)
    was = [k for k, element in enumerate(route) if element == (here, 0)]
    known = (found.places[here, 0][rows], found.places[here, 1][rows], found.arcs[j][rows]) if was else None
    chosen, best = np.full(len(rows), -1), np.full(len(rows), np.inf)
    open_ = np.ones(len(rows), dtype=bool)
    for k in pieces:
        (a, b) = way[k : k + 2]
        if a[0] < 0 and a[0] == b[0]:
            continue
        some = np.flatnonzero(open_)
        if not some.size:
            break
        p1, p2 = found.places[a][rows[some]], found.places[b][rows[some]]
        before = (known[0][some], known[1][some], known[2][some]) if known and was == [k + 1] else None
        over = span.wrap(rows[some], p1, p2, before)
        codes[rows[some]] = over.action
        change = norm(over.first - p1) + over.arc + norm(over.last - p2) - norm(p2 - p1)
        must = over.action == MANDATORY
        take = must | ((over.action == WRAPPED) & (change < best[some]))
        at = some[take]
        chosen[at], best[at] = k, change[take]
        open_[some[must]] = False
        for end, values in enumerate((over.first, over.last)):
            found.places[here, end][rows[at]] = values[take]
        found.arcs[j][rows[at]] = over.arc[take]
    result = []
    for k in np.unique(chosen):
        longer = (*way[: k + 1], (here, 0), (here, 1), *way[k + 1 :]) if k >= 0 else way
        result.append((longer, rows[chosen == k]))
    return result
