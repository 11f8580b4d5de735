"""The frame of a foot: one origin and one axis for all contacts that the foot has along its stance.

A foot that rolls from its heel over the flat sole to its toes has several contacts, each with a contact point of its
own. Places on the ground are comparable along the stance only if all of them are given in one frame of the foot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from casadi import DM

from .._base.types import Array
from ..constraints import Contact
from ..dynamics.kinematics import body_transforms
from ..mechanism import Model
from .bodies import Point, locate, name_words, size

LEVEL_HEIGHT = 0.02
"""Height [sizes of the model] up to which contacts of two bodies, such as a foot and its toes, form one sole."""

LEVEL_COSINE = 0.99
"""Least cosine of the angle between the normals of these contacts."""

RANKS = {6: 0, 5: 1}
"""Contacts by their numbers of rows in space, those that fix the direction of a foot first: soles, edges, points."""


class Touch(NamedTuple):
    """A contact in the neutral posture: its point p (3) [m], the x and z axes of its frame (3), in the world.

    name: of the contact; z is up if the foot stands level. rank: 0 for a flat sole, 1 for an edge, 2 for a point.
    """

    name: str
    body: int
    p: Array
    x: Array
    z: Array
    rank: int


Key = tuple[int, str, bool]
"""A contact of a motion: number of the phase, name, and whether its mirror image is meant."""


@dataclass(frozen=True, eq=False)
class Foot:
    """A foot: the bodies that form one sole, its frame on the ground, and its contacts in this frame.

    name: of its first contact. from_heel: whether the origin is a frame whose name contains "heel", otherwise it is
    the hindmost contact point. length [m]: from there to the frame of the toes, nan if the model has none. spots:
    (x, y, yaw) [m, rad] of every contact: its point, and the direction of the x axis of its frame. The x axis of the
    foot points forward, along the x axis of the flat contact; y points to the left.
    """

    name: str
    bodies: tuple[int, ...]
    from_heel: bool
    length: float
    spots: dict[Key, Array]


def feet_of(motion: Any, phases: Any = None) -> list[Foot]:
    """The feet of a motion in the order in which they come; for a mirrored motion those of both sides, with the
    contacts that they have in either step. phases: those of the motion, perhaps cut, see `stances`."""
    model = motion.model
    X0 = body_transforms(model, DM(model.neutral()))
    image = motion.mirror() if motion.repeats else None
    found: dict[Key, Touch] = {}
    for k, phase in enumerate(motion.phases if phases is None else phases):
        for name in phase.wrenches:
            contact = held(phase, name)
            found[k, name, False] = _touch(model, X0, contact, None)
            if image is not None:
                found[k, name, True] = _touch(model, X0, contact, image)
    groups: dict[int, dict[Key, Touch]] = {}
    for name, touch in found.items():
        groups.setdefault(_root(model, touch, found.values()), {})[name] = touch
    return [_foot(model, X0, touches) for touches in groups.values()]


def wrenches_about_places(model: Model, phase: Any) -> dict[str, Array]:
    """Wrenches (N, 6) [moment; force] on the feet, world axes, about the places of the contacts on their planes.

    The `wrenches` of a phase are about the contact points. That of a rounded edge moves away from its place while the
    foot rolls.
    """
    found: dict[str, Array] = {}
    for name, wrench in phase.wrenches.items():
        contact, place, plane = held(phase, name), phase.places.get(name), phase.planes.get(name)
        if place is not None and getattr(contact, "radius", None):
            point = np.array([*np.ravel(place)[:2], 0.0])
            point = point if plane is None else np.array(DM(plane.to_world(DM(point))).full()).ravel()
            normal = np.array([0.0, 0.0, 1.0] if plane is None else plane.normal, dtype=float)
            way = _rolled(model, contact, phase.q, normal) - point
            way -= np.outer(way @ normal, normal)  # the mean of two nodes of an arc lies a little below the arc
            wrench = wrench + np.hstack([np.cross(way, wrench[:, 3:]), np.zeros_like(way)])
        found[name] = wrench
    return found


def _rolled(model: Model, contact: Any, q: Array, normal: Array) -> Array:
    """Contact point (N, 3) [m] of a rounded edge at the midpoints of the intervals between the configurations q."""
    frame = model.frame(contact.name)
    center = np.array(DM(frame.X.point(DM(contact.center))).full()).ravel()
    path = locate(model, (Point(frame.body, *center),), q)[:, 0]
    middle: Array = (path[:-1] + path[1:]) / 2 - float(contact.radius) * normal
    return middle


def held(phase: Any, name: str) -> Any:
    """The contact of a phase that acts on the frame `name`; the whole frame, if the phase lists none."""
    contacts = getattr(phase, "contacts", ())
    return next((contact for contact in contacts if getattr(contact, "name", None) == name), Contact(name))


def contact_point(contact: Any) -> Array:
    """The contact point of a level foot (3) [m], in the coordinates of the contact's frame."""
    if hasattr(contact, "radius") and hasattr(contact, "center"):
        return np.array(contact.center, dtype=float) - [0.0, 0.0, float(contact.radius)]
    return np.array(getattr(contact, "point", (0.0, 0.0, 0.0)), dtype=float)


def _touch(model: Model, X0: Sequence[Any], contact: Any, image: Any) -> Touch:
    """A contact in the neutral posture; with the mirror map `image` its reflection, on the other foot."""
    frame = model.frame(contact.name)
    E, r = np.array(DM(frame.X.E).full()), np.array(DM(frame.X.r).full()).ravel()
    point = r + E.T @ contact_point(contact)
    body, places = frame.body, [point, point + E[0], point + E[2]]
    if image is not None:
        body, places = image.partners[body], [image.point(body, place)[1] for place in places]
        frame = image.frame(contact.name)
    p, x, z = (np.array(DM(X0[body].point(DM(place))).full()).ravel() for place in places)
    rows = len(contact.rows) + (3 if getattr(contact, "planar", False) else 0)
    return Touch(frame.name, body, p, x - p, z - p, RANKS.get(rows, 2))


def _root(model: Model, touch: Touch, touches: Iterable[Touch]) -> int:
    """The body nearest to the root that forms one sole with the body of a contact."""
    high = LEVEL_HEIGHT * size(model)

    def level(other: Touch) -> bool:
        return bool(touch.z @ other.z > LEVEL_COSINE and abs((touch.p - other.p) @ other.z) < high)

    above = set(model.path(touch.body))
    return min(other.body for other in touches if other.body in above and level(other))


def _foot(model: Model, X0: Sequence[Any], touches: dict[Key, Touch]) -> Foot:
    bodies = tuple(sorted({touch.body for touch in touches.values()}))
    base = min(touches.values(), key=lambda touch: (touch.rank, touch.body))
    x, y = base.x, np.cross(base.z, base.x)

    def mean(word: str) -> Array | None:
        places = [
            np.array(DM(X0[frame.body].point(frame.X.r)).full()).ravel()
            for frame in model.frames.values()
            if frame.body in bodies and word in name_words(frame.name)
        ]
        return np.mean(places, axis=0) if places else None

    heel, toe = mean("heel"), mean("toe")
    origin = heel if heel is not None else min((touch.p for touch in touches.values()), key=lambda p: float(p @ x))
    length = float("nan") if heel is None or toe is None else float((toe - heel) @ x)
    spots = {
        name: np.array([(t.p - origin) @ x, (t.p - origin) @ y, np.arctan2(t.x @ y, t.x @ x)])
        for name, t in touches.items()
    }
    return Foot(next(iter(touches.values())).name, bodies, heel is not None, length, spots)
