"""Bodies of a walker: their sides, their places in the neutral posture, the size of the model, points fixed to them."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

import numpy as np
from casadi import DM, SX, horzcat

from .._base.types import Array, Expr, names_in_message
from ..dynamics.kinematics import body_transforms
from ..functions.function import function
from ..mechanism import Model

Side = Literal["left", "right", "middle"]

LEFT, RIGHT = {"l", "left", "swing"}, {"r", "right", "stance"}
"""Words in the name of a body that tell its side; the swing leg of planar walkers is drawn as left."""


class Point(NamedTuple):
    """A point fixed to a body (0: the ground), in body coordinates [m].

    >>> od.viz.Point(1, z=-0.5)
    Point(body=1, x=0.0, y=0.0, z=-0.5)
    """

    body: int
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


def locate(model: Model, points: tuple[Point, ...], q: Array) -> Array:
    """World positions (N, len(points), 3) [m] of points at the configurations q (N, nq).

    >>> od.viz.locate(rod, (od.viz.Point(1, z=-1.0),), np.array([[np.pi / 6]])).round(3)
    array([[[-0.5  ,  0.   , -0.866]]])
    """
    if not points:
        return np.zeros((len(q), 0, 3))
    positions = function(_positions, model, points, name="viz_points", signature="q -> p")
    columns: Array = np.array(positions(DM(np.asarray(q, dtype=float).T)).full())
    places: Array = columns.T.reshape(len(q), len(points), 3)
    return places


def _positions(model: Model, points: tuple[Point, ...], q: Expr) -> Expr:
    X0 = body_transforms(model, q)
    columns = [X0[p.body].point(DM([p.x, p.y, p.z])) for p in points]
    return horzcat(*(SX(column) for column in columns))


def neutral_places(model: Model) -> Array:
    """Origins (nb + 1, 3) of all bodies in the neutral configuration [m]; row 0, the ground, is zero."""
    places: Array = locate(model, tuple(Point(i) for i in range(model.nb + 1)), model.neutral()[None])[0]
    return places


def sides(model: Model) -> tuple[Side, ...]:
    """The side of every body; entry 0 is the ground.

    A whole word of the body's name tells its side (`thigh_l`, `leftFoot`, `R_ARM`); else its position, if another body
    lies at the mirrored position; else it has the side of its parent.
    """
    places = neutral_places(model)
    tolerance = 1e-3 * size(model)
    found: list[Side] = ["middle"]
    for i, p in model.edges:
        x, y, z = places[i]
        mirrored = np.abs(places[1:] - [x, -y, z]).max(axis=1) < tolerance
        by_place: Side = "middle"
        if abs(y) > tolerance and mirrored.any():
            by_place = "left" if y > 0 else "right"
        by_name = named_side(model.body_names[i - 1])
        found.append(next((s for s in (by_name, by_place, found[p]) if s != "middle"), "middle"))
    for i, p in reversed(list(model.edges)):  # a body that carries the other side, and whose name tells none
        if found[i] != found[p] and named_side(model.body_names[p - 1]) == "middle":
            found[p] = "middle"
    return tuple(found)


def side_words(model: Model) -> dict[Side, str]:
    """Names of the two sides for a legend: left and right, or swing and stance; empty if the model has no sides."""
    present = set(sides(model))
    if not {"left", "right"} <= present:
        return {}
    words = {word for name in model.body_names for word in name_words(name)}
    if "swing" in words and "stance" in words:
        return {"left": "swing", "right": "stance"}
    return {"left": "left", "right": "right"}


def size(model: Model) -> float:
    """Size of the model [m]: the longest edge of its bounding box in the neutral posture; 1 for a single point."""
    points = tuple(Point(f.body, *floats(f.X.r)) for f in model.frames.values())
    points += tuple(Point(i, *mass_center(model, i)) for i, _ in model.edges)
    if not points:
        return 1.0
    extent = np.ptp(locate(model, points, model.neutral()[None])[0], axis=0).max()
    return float(extent) or 1.0


INCREDIBLE = 10.0
"""Largest effort of a joint that is believed, in weights of the model times its size, or in weights for a slide."""


def excessive_efforts(model: Model) -> list[str]:
    """A sentence on joints whose largest effort no motor of a body of this weight has, as files write it that know no
    limit; none for a model that is tied to the ground, or without weight."""
    weight = (
        0.0 if model.has_symbols else float(model.mass) * float(np.linalg.norm(np.array(model.gravity, dtype=float)))
    )
    if not weight or model.joints[1].nv != 6:
        return []
    most = INCREDIBLE * weight * np.where(model.lengths[1], 1.0, size(model))
    efforts = np.abs(np.where(np.isfinite(model.dofs.effort), model.dofs.effort, 0.0)).max(axis=1)
    found = [name for name, own, limit in zip(model.qd_names, efforts, most, strict=True) if own > limit]
    if not found:
        return []
    worst = int(np.argmax(efforts / most))
    effort = f"{efforts[worst]:g} {'N' if model.lengths[1][worst] else 'N m'}"
    text = (
        f"an effort of {effort} at {names_in_message(found, 3)} is more than {INCREDIBLE:g} times what lifts the whole "
        f"model of {float(model.mass):.3g} kg at arm's length: perhaps its file knows no limit, and an optimal motion "
        "would use it; give limits by model.with_limits(effort={...})"
    )
    return [text]


def name_words(name: str) -> list[str]:
    return [word.lower() for word in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name)]


def named_side(name: str) -> Side:
    words = set(name_words(name))
    left, right = bool(words & LEFT), bool(words & RIGHT)
    return "middle" if left == right else "left" if left else "right"


def floats(x: Expr) -> tuple[float, float, float]:
    a, b, c = np.array(DM(x).full()).ravel()
    return float(a), float(b), float(c)


def mass_center(model: Model, i: int) -> tuple[float, float, float]:
    m = float(model.I[i].m)
    return floats(model.I[i].h / m) if m > 0 else (0.0, 0.0, 0.0)
