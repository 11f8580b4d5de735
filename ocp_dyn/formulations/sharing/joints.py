"""Sharing of points and vectors by joints and loops, and the conditions of joints that sharing does not hold.

| joint | shared | conditions |
|---|---|---|
| revolute | a point of the axis, the axis | |
| spherical, Euler angles | the point | |
| universal | the point | u1 . u2 = const |
| prismatic | all directions | d . n1 = d . n2 = 0, d between a point of each body, n1 and n2 across the axis |
| cylindrical | the axis | d . n1 = d . n2 = 0 |
| planar | the normal n | d . n = 0 |
| translation | all directions | |
| floating base | | |

In the plane: revolute the point, prismatic all directions and d . n = 0, planar nothing. Loops of the same kinds share
across the loop. Rows of other loops [rotation w; translation t] are sums of products, with b, c and w perpendicular:

    |w|/2 (c_p . b_s - b_p . c_s) + t_p . (x_s - x_p) = 0,

and of a loop with `turning` about the axis n: (w x n)_p . n_s + t_p . (x_s - x_p) = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..._base.types import Array
from ...joints import (
    Cylindrical,
    Euler,
    FloatingBase,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)
from .choice import OFFERED, Combination, ElementChoice, Elements, Groups

SUPPORTED = (Revolute, Prismatic, Cylindrical, Universal, Spherical, Euler, Planar, Translation, FloatingBase)
"""Joints that natural coordinates take; `MultiDof` is split into the first two."""
KEEP_ORIENTATION = ("prismatic", "translation", "orientation", "fixed")
"""Kinds of links whose bodies keep their orientation to each other."""


class Placed(NamedTuple):
    """A point, r, or a direction, v, of a body, in its coordinates (3)."""

    body: int
    r: Array


@dataclass(frozen=True)
class Between:
    """The vector from a point of one body to a point of another."""

    start: Placed
    end: Placed


class Product(NamedTuple):
    """factor times left . right; each a direction of a body or a vector between points of two bodies."""

    left: Placed | Between
    right: Placed | Between
    factor: float = 1.0


class Condition(NamedTuple):
    """Sum of products = constant."""

    name: str
    products: tuple[Product, ...]
    constant: float = 0.0


@dataclass(frozen=True)
class Link:
    """A joint or a loop: predecessor p and successor s, origin r and rotation R of its frame in each body.

    kind: class of the joint, or kind of the loop. axes: those of the joint, in the coordinates of its frame; of a loop
    of no known kind its rows, 6-D axes. free: the axis n of a loop with `turning`.
    """

    name: str
    kind: str
    p: int
    s: int
    rp: Array
    Rp: Array
    rs: Array
    Rs: Array
    axes: tuple[Array, ...] = ()
    free: Array | None = None

    def before(self, v: Array) -> Placed:
        """A direction of the joint's frame as one of the predecessor."""
        return Placed(self.p, self.Rp @ v)

    def after(self, v: Array) -> Placed:
        """A direction of the joint's frame as one of the successor."""
        return Placed(self.s, self.Rs @ v)

    @property
    def distance(self) -> Between:
        """Vector from the origin of the frame in the predecessor to that in the successor."""
        return Between(Placed(self.p, self.rp), Placed(self.s, self.rs))

    @property
    def origins(self) -> tuple[Placed, Placed]:
        return Placed(self.p, self.rp), Placed(self.s, self.rs)


def link_of_joint(name: str, joint: Joint, p: int, i: int, E: Array, r: Array) -> Link:
    """The link of a joint of the tree from body p to body i, its frame at (E, r) of X_tree."""
    axes: tuple[Array, ...] = ()
    if isinstance(joint, (Revolute, Prismatic, Cylindrical)):
        axes = (np.array(joint.axis),)
    elif isinstance(joint, Universal):
        axes = np.array(joint.first), np.array(joint.second)
    elif isinstance(joint, Planar):
        axes = (np.array([0.0, 0.0, 1.0]),)
    return Link(name, type(joint).__name__.lower(), p, i, r, E.T, np.zeros(3), np.eye(3), axes)


def parallel(link: Link) -> bool:
    """Whether the bodies of a link keep their orientation to each other."""
    return link.kind in KEEP_ORIENTATION


def across(a: Array) -> tuple[Array, Array]:
    """Unit vectors b, c with a, b, c perpendicular and right-handed; along coordinate axes where a is."""
    b = np.cross(np.eye(3)[(int(np.argmax(np.abs(a))) + 2) % 3], a)
    b /= np.linalg.norm(b)
    return b, np.cross(a / np.linalg.norm(a), b)


class Sharing:
    """Elements that links share, and conditions of links. frames: by body 3 x d, the axes of the plane, or the
    identity."""

    def __init__(self, elements: Elements, frames: list[Array]) -> None:
        self.elements = elements
        self.frames = frames
        self.conditions: list[Condition] = []

    @property
    def in_plane(self) -> bool:
        return bool(self.frames[0].shape[1] == 2)

    def at(self, *places: Placed) -> list[tuple[int, Array]]:
        """Coordinates of points or directions, in the plane two of them."""
        return [(body, self.frames[body].T @ r) for body, r in places]

    def add(self, link: Link) -> None:
        """Shares elements across a link, or notes its conditions."""
        getattr(self, f"_{link.kind}")(link)

    def _point(self, link: Link) -> None:
        self.elements.point(self.at(*link.origins))

    def _vector(self, link: Link) -> None:
        if not self.in_plane:
            self.elements.vector(self.at(link.before(link.axes[0]), link.after(link.axes[0])))

    def _offer(self, link: Link, *directions: Placed) -> None:
        """Offers the origins, and directions, as coordinates of bodies that need some."""
        for place in link.origins:
            self.elements.point(self.at(place), OFFERED)
        for direction in directions:
            self.elements.vector(self.at(direction), OFFERED)

    def _slide(self, link: Link) -> None:
        """The successor's origin stays on the axis in the predecessor."""
        if self.in_plane:
            frame = self.frames[link.p]
            normals = [Placed(link.p, np.cross(np.cross(frame[:, 0], frame[:, 1]), link.before(link.axes[0]).r))]
        else:
            normals = [link.before(n) for n in across(link.axes[0])]
        self._offer(link, *normals)
        for k, n in enumerate(normals, 1):
            self._condition(f"{link.name}: across{k}", Product(n, link.distance))

    def _condition(self, name: str, *products: Product, constant: float = 0.0) -> None:
        self.conditions.append(Condition(name, products, constant))

    def _revolute(self, link: Link) -> None:
        self._point(link)
        self._vector(link)

    def _spherical(self, link: Link) -> None:
        self._point(link)

    _euler = _ball = _fixed = _spherical

    def _universal(self, link: Link) -> None:
        self._point(link)
        first, second = link.axes
        u, w = link.before(first), link.after(second)
        for direction in (u, w):
            self.elements.vector(self.at(direction), OFFERED)
        self._condition(f"{link.name}: u.u", Product(u, w), constant=float(first @ second))

    def _prismatic(self, link: Link) -> None:
        self._slide(link)

    def _cylindrical(self, link: Link) -> None:
        self._vector(link)
        self._slide(link)

    def _planar(self, link: Link) -> None:
        self._vector(link)
        self._offer(link)
        if not self.in_plane:
            self._condition(f"{link.name}: normal", Product(link.before(link.axes[0]), link.distance))

    def _translation(self, link: Link) -> None:
        self._offer(link)

    _floatingbase = _translation

    def _orientation(self, link: Link) -> None:
        """Nothing: the bodies are one group."""

    def _rows(self, link: Link) -> None:
        """Rows of a loop of no known kind, one by one."""
        self._offer(link)
        for k, row in enumerate(link.axes, 1):
            w, t = row[:3], row[3:]
            products = []
            if w.any() and link.free is not None:
                products.append(Product(link.before(np.cross(w, link.free)), link.after(link.free)))
            elif w.any():
                (b, c), half = across(w), float(np.linalg.norm(w)) / 2
                products += [
                    Product(link.before(c), link.after(b), half),
                    Product(link.before(b), link.after(c), -half),
                ]
            if t.any():
                products.append(Product(link.before(t), link.distance))
            self._condition(f"{link.name}: row{k}", *products)


def join_groups(groups: Groups, link: Link, frames: list[Array]) -> None:
    """Joins the groups of the bodies of a link that keeps their orientation."""
    turn = frames[link.p].T @ link.Rp @ link.Rs.T @ frames[link.s]
    groups.join(link.p, link.s, turn)


def combination(choice: ElementChoice, frames: list[Array], part: Placed | Between) -> Combination:
    """A direction of a body, or a vector between points of two bodies, as a combination of coordinates."""
    if isinstance(part, Placed):
        return choice.direction(part.body, frames[part.body].T @ part.r)
    start, end = (choice.point(place.body, frames[place.body].T @ place.r) for place in (part.start, part.end))
    return end.plus(start, -1.0)
