"""The feet of a robot and their soles, as the shapes in its file show them.

A foot is the last body of a leg: with all joints at zero its shape ends lowest. The sole is a rectangle inside the
lowest layer of that shape; a foot whose layer is small beside the leg stands on a point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from casadi import DM

from .._base.types import Array, ModelError, names_in_message
from ..dynamics.kinematics import pose
from ..gait.bodies import name_words, sides
from ..io.shapes.body_shape import ShapeUse
from ..io.shapes.placed import placed
from ..mechanism import Model
from .robots import as_built, check_sides, facing_twin

NEARLY_LOWEST = 0.03
"""Heights above the lowest point of the robot at which feet end, in its height."""

LAYER = 0.003
"""Thickness of the layer that is the sole, in the height of the robot."""

INSIDE = 0.9
"""Size of the rectangle of the sole in that of the layer, whose corners are round."""

POINT = 0.03
"""Half length of a layer, in the height of the robot, up to which a foot stands on a point."""

EDGE = 0.15
"""Ratio of the sizes of a layer below which it is an edge: a foot that is not level."""

INSTALL = "pip install 'ocp_dyn[viewer]'"
COUNTS = (2, 4)
CORNERS = ({"fl", "lf"}, {"fr", "rf"}, {"hl", "lh", "rl", "bl"}, {"hr", "rh", "rr", "br"})
"""Words of the names of four feet, in their order."""


class UnknownSole(ModelError):
    """A foot whose file has no shape of it that can be read."""


class Sole(NamedTuple):
    """The lowest layer of a foot, all joints at zero: rear, front, right, left, ground [m] along the world's axes."""

    rear: float
    front: float
    right: float
    left: float
    ground: float


def find_feet(model: Model, up: str = "z") -> tuple[str, ...]:
    """Bodies of the two or four feet of a robot, left before right and front before hind.

    The last bodies of its limbs whose shapes in the model's file end lowest with all joints at zero, upright then; up:
    the axis of the base that points up. Shapes that collide decide, where the file has them. Robots whose toes bend
    need the names of their feet; meshes need the extra `viewer`. ModelError if the shapes show no two or four feet.

    >>> od.walking.find_feet(od.robots.load("talos"))  # doctest: +SKIP
    ('leg_left_6_link', 'leg_right_6_link')
    """
    lowest: tuple[str, ...] = ()
    for use in ("collision", "visual"):
        bodies = _lowest_ends(model, _points(model, use, _ends(model)), "xyz".index(up))
        found = _in_order(model, bodies)
        if found:
            return found
        lowest = lowest or tuple(model.body_names[i - 1] for i in bodies)
    shown = f"its lowest ends are {names_in_message(lowest, 6)}" if lowest else "no shapes of its limbs can be read"
    meshes = "" if find_spec("trimesh") else f" (meshes are read by trimesh: {INSTALL})"
    raise ModelError(
        f"model {model.name!r}: the shapes of its file show no two or four feet, {shown}{meshes}: name their links or "
        "frames"
    )


def twin_on_soles(
    robot: Model | str | Path, names: Sequence[str], feet: Sequence[str] | None = None, up: str = "z"
) -> tuple[Model, tuple[float, float] | None]:
    """The symmetric twin of a robot with frames of these names under its soles, and the size of the soles; None for
    feet that are points.

    feet: links or frames of the feet; None: those that `find_feet` finds. up: as there. Errors are those of `find_feet`
    and `with_soles`; ValueError for another number of feet than of names.
    """
    model = robot if isinstance(robot, Model) else as_built(robot)
    found = find_feet(model, up) if feet is None else tuple(feet)
    if len(found) != len(names):
        raise ValueError(
            f"{model.name}: {len(names)} feet are needed, and it has {len(found)}: {names_in_message(found)}"
        )
    left, right, *_ = found
    check_sides(left, right)
    return with_soles(facing_twin(model, left, right, up), dict(zip(names, found, strict=True)))


def with_soles(model: Model, feet: Mapping[str, str]) -> tuple[Model, tuple[float, float] | None]:
    """The model with a frame in the middle of every sole, and half length and half width of the soles [m]; None for
    feet that are points.

    feet: frames of the feet by the names of the new frames, of the left and of the right in turn. The model faces
    along x, as symmetric as it is; both soles of a pair are their mean. The new frames have the world's axes when all
    joints are at zero. UnknownSole for a foot without shapes.
    """
    bodies = [model.frame(name).body for name in feet.values()]
    points = _points(model, "collision", bodies)
    points |= _points(model, "visual", [body for body in bodies if body not in points])
    for name, body in zip(feet.values(), bodies, strict=True):
        if body not in points:
            raise UnknownSole(
                f"model {model.name!r}: foot {name!r} has no shape that can be read, so its sole is not known"
            )
    extent = _height(model, points)
    soles = [_layer(points[body], extent) for body in bodies]
    sizes = []
    for k, (name, foot) in enumerate(feet.items()):
        own, other = soles[k], soles[k ^ 1]
        inside, outside = (own.right - other.left) / 2, (own.left - other.right) / 2  # the other one's mirror image
        rear, front = (own.rear + other.rear) / 2, (own.front + other.front) / 2
        middle = np.array([(rear + front) / 2, (inside + outside) / 2, (own.ground + other.ground) / 2])
        R, p = _place(model, foot)
        model = model.with_frame(name, foot, origin=R.T @ (middle - p), rotation=R.T)
        sizes.append((INSIDE * (front - rear) / 2, INSIDE * (outside - inside) / 2))
    length, width = np.min(sizes, axis=0).tolist()
    if min(length, width) < EDGE * max(length, width) and max(length, width) > POINT * extent:
        raise UnknownSole(
            f"model {model.name!r}: with all joints at zero {names_in_message(tuple(feet.values()))} stand on edges, "
            f"{2 * length:.3g} m long and {2 * width:.3g} m wide: the soles must be level then"
        )
    return model, None if length < POINT * extent else (length, width)


def _ends(model: Model) -> list[int]:
    """Bodies that carry no other."""
    carry = {parent for _, parent in model.edges}
    return [i for i, parent in model.edges if i not in carry and parent]


def _points(model: Model, use: ShapeUse, bodies: Sequence[int]) -> dict[int, Array]:
    """Vertices (n, 3) [m] of the shapes of bodies in the world, all joints at zero."""
    found: dict[int, list[Array]] = {}
    for file in model.shape_files if bodies else ():
        for body, mesh, _ in placed(model, file, use, bodies)[0]:
            R, p = _place(model, model.body_names[body - 1])
            found.setdefault(body, []).append(mesh.vertices @ R.T + p)
    return {body: np.concatenate(parts) for body, parts in found.items()}


def _place(model: Model, frame: str) -> tuple[Array, Array]:
    """Axes (3x3) and origin (3) [m] of a frame in the world, all joints at zero."""
    R, p = (np.array(DM(x).full()) for x in pose(model, frame, DM(model.neutral())))
    return R, p.ravel()


def _height(model: Model, points: Mapping[int, Array], axis: int = 2) -> float:
    """Height of the robot from the lowest of these points to its highest joint [m]."""
    joints = [_place(model, name)[1][axis] for name in model.body_names]
    return float(max(joints)) - min(float(at[:, axis].min()) for at in points.values())


def _lowest_ends(model: Model, points: Mapping[int, Array], axis: int) -> list[int]:
    """Bodies whose points reach down to about the lowest of all."""
    if not points:
        return []
    ends = {body: float(at[:, axis].min()) for body, at in points.items()}
    high = min(ends.values()) + NEARLY_LOWEST * _height(model, points, axis)
    return [body for body, low in ends.items() if low < high]


def _in_order(model: Model, bodies: Sequence[int]) -> tuple[str, ...]:
    """Names of two or four feet, front before hind, left before right; empty for any other number or unequal sides."""
    words = [{*name_words(model.body_names[body - 1])} for body in bodies]
    corners = [[body for body, said in zip(bodies, words, strict=True) if said & known] for known in CORNERS]
    if [len(named) for named in corners] == [1] * len(bodies):
        return tuple(model.body_names[body - 1] for (body,) in corners)
    side = sides(model)
    pairs = [[body for body in bodies if side[body] == name] for name in ("left", "right")]
    if len(bodies) not in COUNTS or len(pairs[0]) != len(pairs[1]):
        return ()
    places = {body: _place(model, model.body_names[body - 1])[1] for body in bodies}
    apart = sum(places[left][1] - places[right][1] for left, right in zip(*pairs, strict=True))
    ahead = 1.0 if apart >= 0 else -1.0  # the robot faces the side to which its left foot is left
    in_order = [sorted(part, key=lambda body: -ahead * places[body][0]) for part in pairs]
    return tuple(model.body_names[body - 1] for pair in zip(*in_order, strict=True) for body in pair)


def _layer(points: Array, extent: float) -> Sole:
    ground = float(points[:, 2].min())
    layer = points[points[:, 2] <= ground + LAYER * extent]
    (rear, right), (front, left) = layer[:, :2].min(axis=0), layer[:, :2].max(axis=0)
    return Sole(float(rear), float(front), float(right), float(left), ground)
