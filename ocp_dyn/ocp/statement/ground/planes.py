"""Planes on which feet stand: the ground, a stair, a ramp, a wall, a rail; and the contacts that hold feet on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from ...._base.checks import point
from ...._base.types import Array, Expr, sparse, sparse_beside
from ....constraints import Contact, RollingContact
from ....spatial_algebra.rotations import unit_axis
from ....symmetry.advance import Advance

LEVEL, LATERAL = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)

SAME_PLANE = 1e-9
"""Largest distance of planes, and difference of their normals, that are one plane."""

MIRRORED = np.array([1.0, -1.0, 1.0])
"""Reflection from left to right."""


@dataclass(frozen=True)
class Plane:
    """A plane through `point` [m] with the unit vector `normal`, both in world axes; feet are on the normal's side.

    Its coordinates (x, y) begin at the point. Its axes are the world axes, turned by the smallest rotation that brings
    z to the normal: on a ramp that rises along x, its x axis points up the ramp, and its y axis is the world's y axis.

    >>> stair = ocp.Plane(point=(0.3, 0.0, 0.17))
    >>> stair.to_world(ca.DM([0.1, 0.0, 0.0]))
    DM([0.4, 0, 0.17])
    """

    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal: Any = LEVEL

    def __post_init__(self) -> None:
        x, y, z = (float(c) for c in point(self.point, "Plane point [m]"))
        object.__setattr__(self, "point", (x, y, z))
        object.__setattr__(self, "normal", unit_axis(self.normal, "Plane normal"))

    @property
    def level(self) -> bool:
        """Whether the normal points up."""
        return bool(self.normal == LEVEL)

    @cached_property
    def R(self) -> DM:
        """Rotation (3x3) from the plane's axes to the world's: exp of k = z x normal over sin(angle), by Rodrigues."""
        x, y, z = self.normal
        if not (x or y) and z < 0:
            return sparse(np.diag([1.0, -1.0, -1.0]))
        K = np.array([[0.0, 0.0, x], [0.0, 0.0, y], [-x, -y, 0.0]])
        one_plus_z = 1 + z if z > 0 else (x * x + y * y) / (1 - z)  # without cancellation if the normal is nearly -z
        return sparse(np.eye(3) + K + K @ K / one_plus_z)

    def to_world(self, p: Expr) -> Expr:
        """The position in the world [m] of the point with the plane's coordinates p (3)."""
        if self.level:
            return p if not any(self.point) else p + sparse_beside(self.point)
        return self.R @ p + sparse_beside(self.point)

    def pose(self, R: Expr, p: Expr) -> tuple[Expr, Expr]:
        """Transforms a pose (R, p) from the world's to the plane's coordinates."""
        moved = p - sparse_beside(self.point) if any(self.point) else p
        return (R, moved) if self.level else (self.R.T @ R, self.R.T @ moved)

    def components(self, w: Expr) -> Expr:
        """Turns a wrench [moment; force] (6), or a vector (3), from world axes to the plane's axes."""
        if self.level:
            return w
        return ca.vertcat(*(self.R.T @ part for part in ca.vertsplit(w, 3)))

    def image(self, place: Array, mirrored: bool, advance: Advance) -> tuple[Plane, Array]:
        """The plane and the place (x, y, yaw) on it, reflected left to right if `mirrored`, then moved by `advance`.

        A level plane keeps the x and y of its point, and the place moves; on others the point moves.
        """
        if mirrored:
            place = place * [1.0, -1.0, -1.0]
        plane = Plane(tuple(MIRRORED * self.point), tuple(MIRRORED * self.normal)) if mirrored else self
        x, y = plane.point[:2]
        moved = np.array(DM(advance.point(DM(plane.point))).full()).ravel()
        way = [
            *np.array(DM(advance.vector(DM([place[0], place[1], 0.0]))).full()).ravel()[:2],
            place[2] + advance.angle,
        ]
        if not self.level:
            normal = np.array(DM(advance.vector(DM(plane.normal))).full()).ravel()
            return Plane(tuple(moved), tuple(normal)), np.array(way)
        return Plane((x, y, moved[2]), plane.normal), way + np.array([moved[0] - x, moved[1] - y, 0.0])

    def above(self, other: Plane, mirrored: bool, back: Advance) -> Expr:
        """Height [m] above the other plane, along its normal, of this one reflected if `mirrored` and moved by `back`.

        Both are parallel then; entries of `back` may be expressions.
        """
        point = MIRRORED * self.point if mirrored else np.array(self.point)
        return ca.dot(sparse(other.normal), back.point(sparse(point)) - sparse(other.point))


GROUND = Plane()
"""The plane z = 0."""

PLACED = "_placed"
"""Mark of an edge whose normal a foothold has set, so that `dataclasses.replace(foothold, plane=...)` may change it."""


def check_point(contact: Contact, plane: Plane) -> None:
    """ValueError if the axes of a point contact do not hold it along the normal of the plane."""
    if contact.axes is None or plane.level:
        return
    A, n = np.array(contact.axes), np.array(plane.normal)
    if np.linalg.norm(A.T @ np.linalg.pinv(A.T) @ n - n) > 1e-9:
        raise ValueError(
            f"Foothold {contact.name!r}: a contact along {', '.join(contact.rows)} does not hold a point on "
            f"a plane with the normal {plane.normal}: give the contact all axes, 'xyz'"
        )


def check_edge(edge: RollingContact, plane: Plane) -> None:
    """ValueError unless an edge can roll on the plane: its axis in the frame's x-y plane, its normal free."""
    known_normal = tuple(edge.normal) in (LEVEL, plane.normal) or hasattr(edge, PLACED)
    if edge.axis is None or abs(edge.axis[2]) > 1e-9 or not known_normal or edge.height:
        raise ValueError(
            f"Foothold over an edge at {edge.name!r} needs od.RollingContact(frame, radius, center, axis=(0, 1, 0)) "
            f"with an axis in the frame's x-y plane, normal z and height 0, got axis {edge.axis}, normal "
            f"{edge.normal}, height {edge.height}: other planes go to Foothold(plane=ocp.Plane(...))"
        )
