"""Shapes that represent a model in pictures: for every body a few rounded ones through its joints and named frames.

A shape is the convex hull of balls, so its projection is the convex hull of discs. A limb has two balls, a foot three,
a head one, and a trunk one at every joint that it carries. Heavier bodies are drawn wider.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from casadi import DM

from .._base.types import Array
from ..dynamics.recursions import joint_states
from ..gait.bodies import (
    Point,
    Side,
    floats,
    mass_center,
    name_words,
    neutral_places,
    sides,
    size,
)
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments

Kind = Literal["limb", "trunk", "foot", "head", "ball", "rail", "pivot", "muscle"]

DENSITY = 1000.0
SLIMNESS = 0.62
"""Limbs are drawn as cylinders of the density [kg/m^3] of water, at this fraction of their width."""


@dataclass(frozen=True)
class Segment:
    """The convex hull of balls of `radii` [m] about `points`; it belongs to the body `name`.

    >>> od.viz.skeleton(rod)[0].name
    'link1'
    """

    name: str
    kind: Kind
    side: Side
    points: tuple[Point, ...]
    radii: tuple[float, ...]

    @property
    def of_joint(self) -> bool:
        """Whether it shows a joint: a rail or a pivot."""
        return self.kind in ("rail", "pivot")


@checks_arguments()
def skeleton(model: Model) -> list[Segment]:
    """The shapes to draw for any model, from the root outwards.

    The shortest tree connects the joint of a body, the joints of its children and its named frames. A body with
    children on both sides is a trunk, drawn as one shape; frames with `heel` and `toe` in their names form a foot, a
    frame called `head` (the top of the head) a round head. A body without children and frames ends at its center of
    mass, and is a ball if that lies at its joint. A sliding joint is a thin rail, a rotational joint to the ground a
    pivot.

    >>> [segment.name for segment in od.viz.skeleton(arm)]
    ['link1', 'link1', 'link2']
    """
    places, side = neutral_places(model), sides(model)
    anatomy = _Anatomy(model, places, side)
    found: list[Segment] = []
    for i, _ in model.edges:
        found += anatomy.joint(i)
        found += anatomy.body(i)
    return found


class _Anatomy:
    """Makes the shapes of single bodies of a model; `reach` is the size of the whole model [m]."""

    def __init__(self, model: Model, places: Array, side: tuple[Side, ...]) -> None:
        self.model, self.places, self.side, self.reach = model, places, side, size(model)
        self.children: list[list[int]] = [[] for _ in range(model.nb + 1)]
        for i, p in model.edges:
            self.children[p].append(i)

    def joint(self, i: int) -> list[Segment]:
        """A rail from the zero position of a sliding joint to its position; a pivot for a rotational joint to the
        ground."""
        model, p = self.model, self.model.parent[i]
        start = Point(p, *floats(model.X_tree[i].r))
        rng = np.random.default_rng(0)
        states = [joint_states(model, DM(model.random_q(rng)), bodies=[i])[i] for _ in range(2)]
        one, other = (np.array(floats(state.XJ.r)) - start[1:] for state in states)
        slides, straight = np.linalg.norm(one) > 1e-9, np.linalg.norm(np.cross(one, other)) < 1e-9
        thin = 0.006 * self.reach
        if slides and (straight or p):  # a free base is not tied to the ground
            return [Segment(model.body_names[i - 1], "rail", self.side[i], (start, Point(i)), (thin, thin))]
        if p == 0 and not slides:
            return [Segment(model.body_names[i - 1], "pivot", "middle", (start,), (3 * thin,))]
        return []

    def body(self, i: int) -> list[Segment]:
        """Trunk or limbs, foot and head of body i."""
        model, origin = self.model, Point(i)
        frames = {f.name: Point(i, *floats(f.X.r)) for f in model.frames.values() if f.body == i}
        joints = [Point(i, *floats(model.X_tree[c].r)) for c in self.children[i]]
        head = next((p for n, p in frames.items() if n.lower() == "head" and math.dist(p, origin) > 1e-6), None)
        ends = _distinct([*joints, *(p for p in frames.values() if p != head)], [origin])
        if not ends and head is None:
            ends = _distinct([Point(i, *mass_center(model, i))], [origin])
        thickness = self._radius(i, [origin, *ends] + ([head] if head else []))
        found, joined = self._hull(i, origin, joints, ends, frames, thickness)
        top = max(joined + ends, key=lambda p: -math.dist(p, head)) if head is not None else origin
        for a, b in _tree(joined, _distinct(ends, joined)):
            thick, thin = sorted((a, b), key=lambda p: math.dist(p[1:], mass_center(model, i)))
            found.append(self._segment(i, "limb", (thick, thin), (thickness, 0.72 * thickness)))
        if head is not None:
            found += self._head(i, top, head, thickness)
        return found or self._ball(i)

    def _ball(self, i: int) -> list[Segment]:
        """A ball of the body's mass and the density of water, within reasonable limits, for a body of one point."""
        volume = float(self.model.I[i].m) / DENSITY
        radius = float(np.clip((3 * volume / (4 * math.pi)) ** (1 / 3), 0.02 * self.reach, 0.1 * self.reach))
        return [self._segment(i, "ball", (Point(i),), (radius,))] if volume > 0 else []

    def _segment(self, i: int, kind: Kind, points: tuple[Point, ...], radii: tuple[float, ...]) -> Segment:
        return Segment(self.model.body_names[i - 1], kind, self.side[i], points, radii)

    def _radius(self, i: int, points: list[Point]) -> float:
        """Radius [m] of a cylinder with the body's length and mass, times SLIMNESS, within reasonable limits."""
        length = max((math.dist(a, b) for a in points for b in points), default=0.0)
        mass = float(self.model.I[i].m)
        natural = math.sqrt(mass / (math.pi * DENSITY * length)) if length > 1e-6 else 0.0
        return float(np.clip(SLIMNESS * natural, 0.008 * self.reach, min(0.045 * self.reach, 0.3 * (length or 1.0))))

    def _hull(
        self, i: int, origin: Point, joints: list[Point], ends: list[Point], frames: dict[str, Point], thickness: float
    ) -> tuple[list[Segment], list[Point]]:
        """The large shape of a foot or a trunk, if the body is one, and the points that it covers."""
        heels, toes = ([p for n, p in frames.items() if word in name_words(n)] for word in ("heel", "toe"))
        soles = [p for n, p in frames.items() if "sole" in name_words(n)]
        if heels and toes:
            return [self._foot(i, origin, heels, toes)], [origin, *heels, *toes, *soles]
        if {"left", "right"} <= {self.side[c] for c in self.children[i]}:
            points = _distinct([origin, *ends], [])
            center = np.mean([p[1:] for p in joints], axis=0)
            # slimmer at the sides than in the middle, so that shoulders do not become too broad
            radii = tuple((0.5 if abs(p.y - center[1]) > thickness else 0.95) * thickness for p in points)
            return [self._segment(i, "trunk", tuple(points), radii)], points
        return [], [origin]

    def _foot(self, i: int, ankle: Point, heels: list[Point], toes: list[Point]) -> Segment:
        """A foot of ankle, heel and toe; its balls touch the sole from above."""
        radius = 0.009 * self.reach
        heel, toe = (np.mean([p[1:] for p in points], axis=0) for points in (heels, toes))
        along = (toe - heel) / max(float(np.linalg.norm(toe - heel)), 1e-9)
        up = np.array(ankle[1:]) - heel
        up = up - (up @ along) * along
        up = up / max(float(np.linalg.norm(up)), 1e-9)
        points, radii = [ankle], [1.9 * radius]
        for inward, group in ((along, heels), (-along, toes)):
            for p in group:
                x, y, z = (float(k) for k in np.array(p[1:]) + radius * (up + inward))
                points.append(Point(i, x, y, z))
                radii.append(radius)
        return self._segment(i, "foot", tuple(points), tuple(radii))

    def _head(self, i: int, top: Point, vertex: Point, thickness: float) -> list[Segment]:
        """A head, a ball whose top is the vertex, and a neck from the nearest point of the body."""
        gap = math.dist(top, vertex)
        radius = min(0.4 * gap, 0.066 * self.reach)
        x, y, z = (v - radius / gap * (v - t) for v, t in zip(vertex[1:], top[1:], strict=True))
        neck = min(0.42 * radius, 0.8 * thickness)
        reach = max(0.0, 1 - (2 * radius + 0.7 * neck) / gap)  # the neck ends just below the ball
        a, b, c = (t + reach * (v - t) for v, t in zip(vertex[1:], top[1:], strict=True))
        return [
            self._segment(i, "limb", (top, Point(i, a, b, c)), (neck, neck)),
            self._segment(i, "head", (Point(i, x, y, z),), (radius,)),
        ]


def _distinct(points: list[Point], others: list[Point]) -> list[Point]:
    """The points that differ from one another and from the others, in order."""
    kept: list[Point] = []
    for p in points:
        if all(math.dist(p, other) > 1e-6 for other in others + kept):
            kept.append(p)
    return kept


def _tree(joined: list[Point], loose: list[Point]) -> list[tuple[Point, Point]]:
    """Edges of the shortest tree that connects the loose points to the joined ones (Prim's algorithm)."""
    joined, loose, edges = list(joined), list(loose), []
    while loose:
        a, b = min(((a, b) for a in joined for b in loose), key=lambda edge: math.dist(*edge))
        edges.append((a, b))
        joined.append(b)
        loose.remove(b)
    return edges
