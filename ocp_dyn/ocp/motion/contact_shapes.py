"""Footholds as shapes that touch the ground in a simulator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from casadi import DM

from ..._base.types import repr_in_message
from ...constraints import Contact, RollingContact
from ...dynamics.kinematics import resolve
from ...io.simulators import Ball, Box, Cylinder, Shape, shape_pose
from ...mechanism import Model
from ...symmetry.mirror import MirrorMap
from ..statement.footholds import Foothold
from ..statement.ground.planes import GROUND
from ..statement.ground.wrench_footholds import CompliantFoothold, WrenchFoothold
from ..statement.statement import Statement
from .motion import Motion

THICKNESS = 0.01
"""Largest half thickness of the box of a sole [m]."""

POINT_RADIUS = 0.002
"""Radius of the ball of a point, and of the cylinder of a sharp edge that no box has [m]."""

NEAR = 1e-6
"""Distance [m] within which an edge counts as that of a box."""


def contact_shapes(motion: Any) -> tuple[Shape, ...]:
    """The shapes of all footholds of a problem or a solution, on both sides if it is mirrored, for `od.io.write_mjcf`.

    A flat foothold becomes the box above its sole; a rounded edge a cylinder, and a ball if it has no length; a sharp
    edge the box of the sole that ends there, otherwise a thin cylinder; a point a small ball; a compliant foothold its
    spheres. Only the side that touches is meaningful: boxes are 2 cm thick at most. Shapes that are equal come once.
    The ground is z = 0: footholds on other planes give the same shapes, but no ground for them.

    The sizes are half_length and half_width of the footholds. ValueError for a flat foothold without them, and for a
    solution from a file that does not hold them.

    >>> stand = ocp.Phase("stand", 2, 1.0, [foot])
    >>> ocp.contact_shapes(ocp.Problem(rod, [stand]))[0].size
    (0.1, 0.05, 0.01)
    """
    if not isinstance(motion, (Statement, Motion)):
        raise TypeError(f"contact_shapes needs a Problem or a Solution, got {repr_in_message(motion)}")
    model, image = motion.model, motion.mirror()
    found: dict[tuple[Any, ...], Shape] = {}
    sharp: dict[tuple[Any, ...], Shape] = {}
    made = [(shape, _is_sharp(foot)) for foot in _footholds(motion) for shape in _shapes(foot)]
    if image is not None:
        made += [(_mirrored(model, image, shape), is_sharp) for shape, is_sharp in made]
    for shape, is_sharp in made:
        (sharp if is_sharp else found).setdefault(_key(model, shape), shape)
    boxes = [shape for shape in found.values() if isinstance(shape, Box)]
    alone = (edge for edge in sharp.values() if not any(_ends_at(model, box, edge) for box in boxes))
    return (*found.values(), *alone)


def _footholds(motion: Statement | Motion) -> Iterator[Foothold | WrenchFoothold]:
    """All footholds, those without a place too; those of a solution with the sizes that it keeps."""
    if isinstance(motion, Statement):
        for stated in motion.phases:
            yield from stated.footholds
        return
    for phase in motion.phases:
        for contact in phase.contacts:
            if isinstance(contact, WrenchFoothold):
                yield contact
            elif isinstance(contact, (Contact, RollingContact)) and contact.name in phase.places:
                if contact.name not in phase.soles:
                    raise ValueError(
                        f"contact_shapes: this solution does not hold the size of the foothold {contact.name!r}, as "
                        "files of earlier versions do not: solve the problem again, or give the problem"
                    )
                length, width = phase.soles[contact.name]
                yield replace(phase.foothold(contact), plane=GROUND, half_length=length, half_width=width)


def _is_sharp(foot: Foothold | WrenchFoothold) -> bool:
    return isinstance(foot, Foothold) and isinstance(foot.contact, RollingContact) and not foot.contact.radius


def _shapes(foot: Foothold | WrenchFoothold) -> Iterator[Shape]:
    if isinstance(foot, CompliantFoothold):
        for sphere in foot.spheres:
            yield Ball(sphere.name, sphere.radius, sphere.center)
    elif isinstance(foot, WrenchFoothold):
        return  # a loaded foothold has a frame and no shape
    elif isinstance(foot.contact, RollingContact):
        yield _edge(foot, foot.contact)
    elif foot.kind == "point":
        x, y, z = foot.point
        yield Ball(foot.name, POINT_RADIUS, (x, y, z + POINT_RADIUS))
    else:
        yield _sole(foot)


def _sole(foot: Foothold) -> Box:
    """The box whose lower face is the sole."""
    half = foot.half_length, foot.half_width
    if not all(half):
        raise ValueError(
            f"contact_shapes: the sole of the foothold {foot.name!r} has no size, half_length {half[0]:g} m and "
            f"half_width {half[1]:g} m: give Foothold both"
        )
    x, y, z = foot.point
    height = min(THICKNESS, *half)
    return Box(foot.name, (*half, height), (x, y, z + height))


def _edge(foot: Foothold, edge: RollingContact) -> Shape:
    """The cylinder that touches the ground along an edge."""
    x, y, z = edge.center
    radius = edge.radius or POINT_RADIUS
    center = (x, y, z + radius - edge.radius)
    if not foot.half_width:
        return Ball(foot.name, radius, center)
    axis = np.array(edge.axis, dtype=float)
    up = np.array([0.0, 0.0, 1.0])  # the axis lies across it
    return Cylinder(foot.name, radius, foot.half_width, center, np.column_stack([up, np.cross(axis, up), axis]))


def _ends_at(model: Model, box: Box, edge: Shape) -> bool:
    """Whether the line on which a thin cylinder touches the ground is a part of the lower rim of a box."""
    body, R, p = shape_pose(model, box)
    other, R_edge, p_edge = shape_pose(model, edge)
    if body != other or not isinstance(edge, Cylinder):
        return False
    lowest = R.T @ (p_edge - p) - [0.0, 0.0, edge.radius]
    ends = [lowest + side * edge.half_length * R.T @ R_edge[:, 2] for side in (-1, 1)]
    half = np.array(box.half_sizes)
    if any(abs(end[2] + half[2]) > NEAR or np.any(np.abs(end) > half + NEAR) for end in ends):
        return False
    return bool(np.any(np.abs(np.abs(np.mean(ends, axis=0)) - half)[:2] < NEAR))


def _mirrored(model: Model, image: MirrorMap, shape: Shape) -> Shape:
    """The shape on the other side; a box, cylinder or ball is its own mirror image about its axes."""
    frame, partner = resolve(model, shape.frame), image.frame(shape.frame)
    E, r = (np.array(DM(x).full()) for x in (frame.X.E, frame.X.r))
    points = [np.array(shape.center), *(np.array(shape.center) + shape.R.T)]
    seen = [image.point(frame.body, r.ravel() + E.T @ point)[1] for point in points]
    E, r = (np.array(DM(x).full()) for x in (partner.X.E, partner.X.r))
    center, *ends = ((E @ (point - r.ravel())).round(12) for point in seen)
    if isinstance(shape, Ball):
        return Ball(partner.name, shape.radius, center)
    x, _, z = (end - center for end in ends)
    R = np.column_stack([x, np.cross(z, x), z])
    if isinstance(shape, Box):
        return Box(partner.name, shape.half_sizes, center, R)
    assert isinstance(shape, Cylinder)
    return Cylinder(partner.name, shape.radius, shape.half_length, center, R)


def _key(model: Model, shape: Shape) -> tuple[Any, ...]:
    """Equal for shapes of one body that differ by rounding errors and by the signs of their axes."""
    body, R, p = shape_pose(model, shape)
    axes = np.abs(R) if isinstance(shape, Box) else np.abs(R[:, 2]) * isinstance(shape, Cylinder)
    numbers = np.concatenate([shape.size, p, axes.ravel()])
    return (type(shape), body, *(numbers.round(7) + 0.0).tolist())
