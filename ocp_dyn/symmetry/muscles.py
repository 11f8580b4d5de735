"""Mirror images of muscles, by their names and by their places, and muscles made symmetric."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._base.types import Array, ModelError, Vector
from ..mechanism import ConditionalPathPoint, Model, Muscle, PathPoint, WrapObject
from ..mechanism.boundary import checks_arguments
from ..mechanism.equal_models import kept_per_model
from .mirror import MirrorMap, kinematic_mirror

SIDES = (("_r", "_l"), ("_R", "_L"), ("right", "left"), ("Right", "Left"))
"""Parts of names of the two sides, the longer ones as words anywhere, the others as endings."""
NEAR = 0.03
"""Largest distance [m] of points of a path from the mirror images of those of its partner, where names have no side."""
FLIPS = (np.diag([1.0, 1.0, -1.0]), np.diag([1.0, -1.0, 1.0]), np.diag([-1.0, 1.0, 1.0]))
"""Reflections that take a wrap object, but for its quadrant, to itself."""
NUMBERS = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle")


def other_side(name: str) -> str:
    """A name with the other side; the name itself if it has none."""
    for right, left in SIDES:
        for one, other in ((right, left), (left, right)):
            if one[0] == "_" and name.endswith(one):
                return name[: -len(one)] + other
            if one[0] != "_" and one in name:
                return name.replace(one, other)
    return name


@checks_arguments()
def muscle_images(model: Model) -> dict[str, str]:
    """The mirror image of every muscle of a model, by name; one without a partner is its own.

    Partners are found by names, such as soleus_r and soleus_l; where a name has no side, by the places of their points
    in the neutral posture of a model whose bodies are mirror images.

    >>> ocp.muscle_images(od.models.elbow())
    {'biceps': 'biceps', 'triceps': 'triceps'}
    """
    return dict(_images(model))


@kept_per_model
def _images(model: Model) -> dict[str, str]:
    names = model.muscle_names
    found = {name: other_side(name) for name in names}
    found = {name: image if image in found else name for name, image in found.items()}
    alone = [muscle for muscle in model.muscles if found[muscle.name] == muscle.name]
    if len(alone) < 2:
        return found
    try:
        mirror = kinematic_mirror(model)
    except ModelError:
        return found
    for muscle in alone:
        apart = {other.name: _apart(mirror, muscle, other) for other in alone}
        best = min(apart, key=lambda name: apart[name])
        if apart[best] < NEAR:
            found[muscle.name] = best
    return {name: image if found[image] == name else name for name, image in found.items()}


def _apart(mirror: MirrorMap, one: Muscle, other: Muscle) -> float:
    """Largest distance of the points of a path from the images of another's [m]; inf where they do not correspond."""
    if len(one.path) != len(other.path):
        return float("inf")
    gaps = []
    for p, q in zip(one.path, other.path, strict=True):
        if not isinstance(p, (PathPoint, ConditionalPathPoint)) or type(p) is not type(q):
            return float("inf")
        body, place = _placed(mirror.model, p.body, p.point)
        partner, image = mirror.point(*_placed(mirror.model, q.body, q.point))
        gaps.append(float(np.linalg.norm(place - image)) if partner == body else float("inf"))
    return max(gaps)


def _placed(model: Model, frame: str, point: Vector) -> tuple[int, Array]:
    """(body, place in it) of a point of a frame."""
    found = model.frames[frame]
    return found.body, np.array(found.X.point(np.array(point))).ravel()


def with_even_muscles(mirror: MirrorMap) -> Model:
    """The model with muscles and wrap objects averaged with the mirror images of their partners.

    Forces, lengths and points are means. A muscle whose path has other points than its partner's keeps it, and so do
    points that move with a coordinate.
    """
    model = mirror.model
    if not model.muscles:
        return model
    images = muscle_images(model)
    by_name = {muscle.name: muscle for muscle in model.muscles}
    muscles = [_even(mirror, muscle, by_name[images[muscle.name]]) for muscle in model.muscles]
    wraps = {wrap.name: wrap for wrap in model.wraps}
    even = [_even_wrap(mirror, wrap, wraps.get(other_side(name), wrap)) for name, wrap in wraps.items()]
    return model.with_muscles(muscles, even, replace_all=True)


def _even(mirror: MirrorMap, muscle: Muscle, other: Muscle) -> Muscle:
    """A muscle halfway to the mirror image of another one."""
    changes: dict[str, Any] = {}
    for name in NUMBERS:
        a, b = getattr(muscle, name), getattr(other, name)
        if a is not None and b is not None:
            changes[name] = (a + b) / 2
    theirs = dict(other.parameters)
    changes["parameters"] = {key: (x + theirs.get(key, x)) / 2 for key, x in muscle.parameters}
    if _apart(mirror, muscle, other) < float("inf"):
        changes["path"] = tuple(_even_point(mirror, p, q) for p, q in zip(muscle.path, other.path, strict=True))
    return replace(muscle, **changes)


def _even_point(mirror: MirrorMap, p: Any, q: Any) -> Any:
    body, place = _placed(mirror.model, p.body, p.point)
    _, image = mirror.point(*_placed(mirror.model, q.body, q.point))
    changes: dict[str, Any] = {"body": mirror.model.body_names[body - 1] if body else p.body}
    if body:
        changes["point"] = tuple((place + image) / 2)
    return replace(p, **changes)


def _even_wrap(mirror: MirrorMap, wrap: WrapObject, other: WrapObject) -> WrapObject:
    """A surface halfway to the mirror image of another one; the side of the path is that of either."""
    model = mirror.model
    body, place = _placed(model, wrap.body, wrap.origin)
    partner, image = mirror.point(*_placed(model, other.body, other.origin))
    if not body or partner != body or wrap.kind != other.kind:
        return wrap
    axes = _axes(model, wrap)
    seen = _seen(mirror, other)
    turned = min((seen @ flip for flip in FLIPS), key=lambda R: float(np.abs(R - axes).max()))
    u, _, vt = np.linalg.svd(axes + turned)
    return replace(
        wrap, body=model.body_names[body - 1], origin=tuple((place + image) / 2), rotation=u @ vt,
        sizes=tuple((np.array(wrap.sizes) + np.array(other.sizes)) / 2),
        quadrant=wrap.quadrant if wrap.quadrant != "all" or wrap is other else other.quadrant,
    )  # fmt: skip


def _axes(model: Model, wrap: WrapObject) -> Array:
    """Axes of a surface, as columns, in its body."""
    return np.array(model.frames[wrap.body].X.E.T @ np.reshape(wrap.rotation, (3, 3)))


def _seen(mirror: MirrorMap, wrap: WrapObject) -> Array:
    """Axes of the mirror image of a surface in the partner of its body, a reflection of axes."""
    body = mirror.model.frames[wrap.body].body
    axes = _axes(mirror.model, wrap)
    start = mirror.point(body, np.zeros(3))[1]
    columns = [mirror.point(body, axes[:, k])[1] - start for k in range(3)]
    return np.column_stack(columns)
