"""Points and vectors that bodies share, and the choice of those that are natural coordinates [GJB94, ch. 2].

A material point p of a body, and a direction v that is fixed in it, are linear in four elements of the body: a point O
and three independent directions D_k, each a vector or the difference of two points,

    p = O + sum_k c_k D_k,   v = sum_k c_k D_k,   c = B^-1 (p - o), B^-1 v,

with small letters for coordinates in the body and B = [d_1 d_2 d_3]. In the plane one direction is enough: with complex
coordinates p = O + c D, where the product turns D. Bodies that cannot turn against each other, as those on a prismatic
joint, share all their directions: they are a group, and vectors belong to groups.

An element that a body shares with the body before it is given; the body adds those that it lacks. All other points and
vectors of the body are linear in these four and are no coordinates. If the bodies of a loop give more than four, the
surplus is tied by linear conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..._base.types import Array

INDEPENDENT = 0.1
"""Least sine of the angle between a direction and the plane of the other two, for a well conditioned basis."""
COINCIDENT = 1e-9
"""Largest distance of two points that are one, relative to the size of the mechanism."""
PARALLEL = 1e-9
"""Largest sine of the angle between vectors that are one, or between parallel axes."""
WANTED, SHARED, OFFERED = 1, 2, 3
"""Order in which elements become coordinates: those that the user asked for, those of several bodies, and those that
conditions of a joint contain."""


@dataclass(eq=False)
class SharedElement:
    """A point, or a unit vector, with its coordinates in every body (point) or group (vector) that it belongs to."""

    is_point: bool
    at: dict[int, Array]
    rank: int
    name: str = ""


class Combination(NamedTuple):
    """A point or a direction as constant + sum of factor times element; factors are complex in the plane."""

    terms: dict[int, complex]
    constant: Array

    def plus(self, other: Combination, c: complex = 1.0) -> Combination:
        """self + c other; terms that cancel up to rounding are left out."""
        terms = dict(self.terms)
        for k, factor in other.terms.items():
            old, new = terms.pop(k, 0.0), c * factor
            if abs(old + new) > 1e-13 * (abs(old) + abs(new)):
                terms[k] = old + new
        return Combination(terms, self.constant + times(c, other.constant))


def times(c: complex, v: Array) -> Array:
    """c v, where a complex c also turns v in its plane."""
    c = complex(c)
    if len(v) == 2:
        return np.array([c.real * v[0] - c.imag * v[1], c.imag * v[0] + c.real * v[1]])
    return np.asarray(c.real * v)


@dataclass(frozen=True)
class Directions:
    """The independent directions of a group, and their coordinates in it (the columns of B)."""

    found: tuple[Combination, ...]
    local: tuple[Array, ...]

    def factors(self, v: Array) -> list[complex]:
        """c with v = sum_k c_k d_k."""
        if len(v) == 2:
            z = complex(*v) / complex(*self.local[0])
            return [complex(*(part if abs(part) > 1e-14 * abs(z) else 0.0 for part in (z.real, z.imag)))]
        c = np.linalg.solve(np.column_stack(self.local), v)
        scale = np.linalg.norm(v) / np.array([np.linalg.norm(d) for d in self.local])
        return [float(x) if abs(x) > 1e-14 * s else 0.0 for x, s in zip(c, scale, strict=True)]

    def of(self, v: Array) -> Combination:
        """The direction with coordinates v in the group."""
        total = Combination({}, np.zeros(len(v)))
        for c, direction in zip(self.factors(v), self.found, strict=True):
            total = total.plus(direction, c)
        return total


class Groups:
    """Bodies that keep their orientation to each other: group of every body, and the matrix that turns coordinates of
    the body into those of the group, which are those of its first body."""

    def __init__(self, bodies: int, dimension: int) -> None:
        self.of = list(range(bodies))
        self.turn = [np.eye(dimension) for _ in range(bodies)]

    def join(self, body: int, other: int, R: Array) -> None:
        """Joins the groups of two bodies; R turns coordinates of the other body into those of the first."""
        keep, gone = self.of[body], self.of[other]
        if keep == gone:
            return
        if gone < keep:  # the group of the ground keeps its name
            body, other, R, keep, gone = other, body, R.T, gone, keep
        turned = self.turn[body] @ R @ self.turn[other].T
        for k, group in enumerate(self.of):
            if group == gone:
                self.of[k], self.turn[k] = keep, turned @ self.turn[k]

    def vector(self, body: int, v: Array) -> Array:
        """Coordinates in its group of a direction of a body."""
        return np.asarray(self.turn[body] @ v)


@dataclass
class Elements:
    """All points and vectors; those that coincide in a body are one.

    size [m]: largest length of the mechanism. on: by (True, body) its points, by (False, group) its vectors.
    """

    groups: Groups
    size: float
    all: list[SharedElement] = field(default_factory=list)
    on: dict[tuple[bool, int], list[SharedElement]] = field(default_factory=dict)

    def point(self, at: Iterable[tuple[int, Array]], rank: int = SHARED, name: str = "") -> SharedElement:
        """A point with its coordinates in one or several bodies."""
        return self._add(SharedElement(True, dict(at), rank, name))

    def vector(self, at: Iterable[tuple[int, Array]], rank: int = SHARED, name: str = "") -> SharedElement:
        """A unit vector with its coordinates in one or several bodies."""
        return self._add(SharedElement(False, {self.groups.of[b]: self.groups.vector(b, v) for b, v in at}, rank, name))

    def _add(self, new: SharedElement) -> SharedElement:
        """The new element, merged with all that coincide with it."""
        known = {id(e): e for k in new.at for e in self.on.get((new.is_point, k), ())}
        for old in known.values():
            sign = self._same(old, new)
            if not sign:
                continue
            old.at = {**{k: sign * r for k, r in new.at.items()}, **old.at}
            old.rank, old.name = min(old.rank, new.rank), old.name or new.name
            if id(new) in known:
                self.all.remove(new)
                for k in new.at:
                    self.on[new.is_point, k].remove(new)
            new = old
        if id(new) not in known:
            self.all.append(new)
        for k in new.at:
            on = self.on.setdefault((new.is_point, k), [])
            if new not in on:
                on.append(new)
        return new

    def _same(self, old: SharedElement, new: SharedElement) -> int:
        """1 if two elements coincide, -1 for opposite vectors, otherwise 0."""
        limit = COINCIDENT * self.size if new.is_point else PARALLEL
        for k in old.at.keys() & new.at.keys() if old is not new else ():
            if np.linalg.norm(old.at[k] - new.at[k]) <= limit:
                return 1
            if not new.is_point and np.linalg.norm(old.at[k] + new.at[k]) <= limit:
                return -1
        return 0


@dataclass
class ElementChoice:
    """The elements that are coordinates, and every element, origin and direction as a combination of them.

    coordinates: numbers of elements. known: combination of every element. origin: by body, number of its point O.
    directions: by group. inner: (group, k, l) of inner products D_k . D_l that conditions hold constant; made_of:
    elements of the directions, by group. ties: surplus elements, each with a combination that is zero.
    """

    elements: Elements
    dimension: int
    coordinates: list[int] = field(default_factory=list)
    known: dict[int, Combination] = field(default_factory=dict)
    origin: dict[int, int] = field(default_factory=dict)
    directions: dict[int, Directions] = field(default_factory=dict)
    inner: list[tuple[int, int, int]] = field(default_factory=list)
    ties: list[tuple[int, Combination]] = field(default_factory=list)
    made_of: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)
    _done: list[frozenset[int]] = field(default_factory=list)
    _on: dict[tuple[bool, int], list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        number = {id(element): k for k, element in enumerate(self.elements.all)}
        self._on = {place: sorted(number[id(e)] for e in on) for place, on in self.elements.on.items()}

    def _points_of(self, body: int) -> list[int]:
        """Numbers of the points of a body."""
        return self._on.setdefault((True, body), [])

    def _vectors_of(self, group: int) -> list[int]:
        """Numbers of the vectors of a group."""
        return self._on.setdefault((False, group), [])

    def _extra(self, is_point: bool, place: int, r: Array) -> int:
        """Number of another element, of one body or group alone."""
        self.elements.all.append(SharedElement(is_point, {place: r}, OFFERED))
        self._on.setdefault((is_point, place), []).append(len(self.elements.all) - 1)
        return len(self.elements.all) - 1

    def body(self, body: int) -> None:
        """Chooses the elements of a body; the bodies of a tree in order, the ground first."""
        elements, group = self.elements, self.elements.groups.of[body]
        self._choose_origin(body)
        if group not in self.directions:
            self._choose_directions(body, group)
        given = self.directions[group]
        for k in self._vectors_of(group):
            self._place(k, given.of(elements.all[k].at[group]))
        for k in self._points_of(body):
            self._place(k, self.point(body, elements.all[k].at[body]))
        self._done.append(frozenset((*self._points_of(body), *self._vectors_of(group))))

    def direction(self, body: int, v: Array) -> Combination:
        """The direction with coordinates v in a body."""
        groups = self.elements.groups
        return self.directions[groups.of[body]].of(groups.vector(body, v))

    def point(self, body: int, p: Array) -> Combination:
        """The material point with coordinates p [m] in a body."""
        origin = self.origin[body]
        offset = p - self.elements.all[origin].at[body]
        if np.linalg.norm(offset) <= COINCIDENT * self.elements.size:
            return self.known[origin]
        return self.known[origin].plus(self.direction(body, offset))

    def _place(self, k: int, value: Combination) -> None:
        """Notes the value of an element, or ties it if it has another one already."""
        if k not in self.known:
            self.known[k] = value
            return
        gap = value.plus(self.known[k], -1.0)
        if gap.terms:
            self.ties.append((k, gap))

    def _choose_origin(self, body: int) -> None:
        points = self._points_of(body)
        given = [k for k in points if k in self.known]
        best = min(given or points, key=lambda k: (self.elements.all[k].rank, k), default=None)
        if best is None:
            best = self._extra(True, body, np.zeros(self.dimension))
        self.origin[body] = best
        if best not in self.known:
            self._new_coordinate(best)

    def _new_coordinate(self, k: int) -> None:
        """Makes an element a coordinate; one of the ground is a constant."""
        at = self.elements.all[k].at
        if 0 in at:
            self.known[k] = Combination({}, at[0])
            return
        self.coordinates.append(k)
        self.known[k] = Combination({k: 1.0}, np.zeros(self.dimension))

    def _choose_directions(self, body: int, group: int) -> None:
        """Directions of a group that are well conditioned: given ones first, then by rank, the most independent
        first."""
        if group == self.elements.groups.of[0]:
            axes = np.eye(self.dimension)[: self._count]
            self.directions[group] = Directions(tuple(Combination({}, a) for a in axes), tuple(axes))
            return
        offers = sorted(self._offers(body, group), key=lambda offer: offer[0])
        found: list[tuple[Array, tuple[int, ...]]] = []
        for rank in sorted({offer[0] for offer in offers}):
            while len(found) < self._count:
                rest = [(_sine(v, [d for d, _ in found]), v, ks) for r, v, ks in offers if r == rank]
                sine, v, ks = max(rest, key=lambda r: round(r[0], 9), default=(0.0, np.zeros(0), ()))
                if sine < INDEPENDENT:
                    break
                found.append((v, ks))
        for v in _completed([d for d, _ in found], self._count, self.dimension):
            found.append((v, (self._extra(False, group, v),)))
        self._take(group, found)

    @property
    def _count(self) -> int:
        return 1 if self.dimension == 2 else 3

    def _offers(self, body: int, group: int) -> Iterator[tuple[int, Array, tuple[int, ...]]]:
        """(rank, direction in the group, elements) of vectors and differences of points; rank 0 for given ones."""
        elements, origin = self.elements, self.origin[body]
        points = [k for k in self._points_of(body) if k != origin]
        spans = {k: elements.all[k].at[body] - elements.all[origin].at[body] for k in points}
        longest = max((float(np.linalg.norm(v)) for v in spans.values()), default=0.0)
        for k in self._vectors_of(group):
            yield 0 if k in self.known else elements.all[k].rank, elements.all[k].at[group], (k,)
        for k, span in spans.items():
            if np.linalg.norm(span) > INDEPENDENT * longest:
                yield 0 if k in self.known else elements.all[k].rank, elements.groups.vector(body, span), (k, origin)

    def _take(self, group: int, found: Sequence[tuple[Array, tuple[int, ...]]]) -> None:
        """Makes elements coordinates that are not given, and notes the inner products to be held constant."""
        combinations: list[Combination] = []
        self.made_of[group] = [ks for _, ks in found]
        for _, ks in found:
            for k in ks:
                if k not in self.known:
                    self._new_coordinate(k)
            value = self.known[ks[0]]
            combinations.append(value if len(ks) == 1 else value.plus(self.known[ks[1]], -1.0))
        self.directions[group] = Directions(tuple(combinations), tuple(v for v, _ in found))
        for k, (_, first) in enumerate(found):
            for l in range(k, len(found)):
                involved = {*first, *found[l][1]}
                fixed = not combinations[k].terms and not combinations[l].terms
                if not fixed and not any(involved <= done for done in self._done):
                    self.inner.append((group, k, l))


def _sine(v: Array, others: Sequence[Array]) -> float:
    """Sine of the angle between v and the space that the others span."""
    unit = v / np.linalg.norm(v)
    if others:
        Q, _ = np.linalg.qr(np.column_stack(others))
        unit = unit - Q @ (Q.T @ unit)
    return float(np.linalg.norm(unit))


def _completed(found: Sequence[Array], count: int, dimension: int) -> list[Array]:
    """Unit vectors across the directions found, and across each other, so that there are `count` in all."""
    missing = count - len(found)
    if not found:
        return list(np.eye(dimension)[:count])
    Q = np.linalg.qr(np.column_stack([*found, np.eye(dimension)]))[0]
    if missing == 1:
        return [np.cross(Q[:, 0], Q[:, 1])]
    if missing == 2:
        across = np.eye(dimension)[int(np.argmin(np.abs(Q[:, 0])))]
        second = np.cross(Q[:, 0], across)
        second /= np.linalg.norm(second)
        return [second, np.cross(Q[:, 0], second)]
    return []
