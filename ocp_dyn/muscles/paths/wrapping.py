"""Wrapping of a straight line over a cylinder, a sphere or a torus, for many lines at once.

All places are in the frame of the wrap object: cylinder and torus about the z axis. The rules by which a line wraps are
those of OpenSim (`OpenSim/Simulation/Wrap/*.cpp`), the lengths are those of the true shortest line on the surface.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._base.types import Array

STRAIGHT, INSIDE, WRAPPED, MANDATORY = 0, 1, 2, 3
"""Kinds of lines: one stays straight; it stays straight because an end lies inside the object; it wraps if no other
piece of the path wraps with a smaller change of length; it cuts the object, so that it must wrap."""

Codes = NDArray[np.int64]
Truths = NDArray[np.bool_]


class Wrapping(NamedTuple):
    """Lines over a surface, a row for each.

    action: one of STRAIGHT, INSIDE, WRAPPED, MANDATORY. first, last (n x 3): where a line meets the surface and leaves
    it [m]. arc (n): the length between them on the surface [m].
    """

    action: Codes
    first: Array
    last: Array
    arc: Array


class Side(NamedTuple):
    """The half of an object on which paths pass: coordinates along an axis (0, 1, 2) with a sign; 0: any half."""

    axis: int
    sign: float

    def holds(self, p: Array) -> Truths:
        """Whether points lie on this half."""
        found: Truths = (p[..., self.axis] >= 0) == (self.sign > 0)
        return found


def side_of(quadrant: str) -> Side:
    """The half that a quadrant names, such as "-x"."""
    if quadrant == "all":
        return Side(0, 0.0)
    return Side("xyz".index(quadrant[-1]), -1.0 if quadrant.startswith("-") else 1.0)


def norm(v: Array) -> Array:
    found: Array = np.sqrt(np.einsum("...k,...k->...", v, v))
    return found


def unit(v: Array) -> Array:
    """Vectors of length 1; zero where v is."""
    size = norm(v)
    found: Array = v / np.where(size > 0, size, 1.0)[..., None]
    return found


def dot(a: Array, b: Array) -> Array:
    found: Array = np.einsum("...k,...k->...", a, b)
    return found


def _nearest_to_axis(p1: Array, p2: Array) -> tuple[Array, Array, Array]:
    """(point, distance, cut): of a line to the z axis, and the place of the point, 0 at p1 and 1 at p2."""
    d = (p2 - p1)[:, :2]
    square = dot(d, d)
    t = -dot(p1[:, :2], d) / np.where(square > 0, square, 1.0)
    at = p1 + t[:, None] * (p2 - p1)
    return at, np.hypot(at[:, 0], at[:, 1]), t


def _turned(p: Array, radius: float, angle: Array) -> Array:
    """Points of the circle of this radius, in the directions of p (n x 2) turned by angles."""
    c, s = np.cos(angle), np.sin(angle)
    u = unit(p)
    found: Array = radius * np.stack([c * u[:, 0] - s * u[:, 1], s * u[:, 0] + c * u[:, 1]], axis=-1)
    return found


def cylinder(p1: Array, p2: Array, radius: float, length: float, side: Side, apex: bool = False) -> Wrapping:
    """Lines from p1 to p2 (n x 3) over a cylinder about z: its arcs are helices.

    With the planar lengths t1, R theta, t2 of the tangents and of the arc, S their sum and dz = z2 - z1, the helix
    meets both straight pieces without a corner where z grows in proportion to the planar length, and the whole line is
    sqrt(S^2 + dz^2) long. A way round through more than pi is R (2 pi - |theta|) in the plane. No wrapping where both
    ends of the arc lie beyond the cylinder's ends. apex: the heights at which the line meets and leaves the cylinder
    are those of OpenSim, in the plane of p1, p2 and a point of the cylinder near the line: some longer lines.
    """
    d1, d2 = norm(p1[:, :2]), norm(p2[:, :2])
    inside = (d1 < radius) | (d2 < radius)
    near, distance, t = _nearest_to_axis(p1, p2)
    cuts = (distance < radius) & (t > 0) & (t < 1)
    a1, a2 = (np.arccos(np.minimum(radius / np.where(d > 0, d, 1.0), 1.0)) for d in (d1, d2))
    turn = np.arctan2(p1[:, 0] * p2[:, 1] - p1[:, 1] * p2[:, 0], dot(p1[:, :2], p2[:, :2]))
    if side.sign:
        action, sense = _constrained(p1, p2, radius, side, (a1, a2), (near, cuts))
    else:
        action, sense = np.where(cuts, MANDATORY, STRAIGHT), np.where(turn >= 0, 1.0, -1.0)
    theta = np.mod(sense * turn, 2 * np.pi) - a1 - a2
    first, last = _turned(p1[:, :2], radius, sense * a1), _turned(p2[:, :2], radius, -sense * a2)
    t1, t2 = (np.sqrt(np.maximum(d**2 - radius**2, 0.0)) for d in (d1, d2))
    arc, dz = radius * np.maximum(theta, 0.0), p2[:, 2] - p1[:, 2]
    whole = t1 + arc + t2
    slope = dz / np.where(whole > 0, whole, 1.0)
    z1, z2 = p1[:, 2] + slope * t1, p2[:, 2] - slope * t2
    if apex:
        z1, z2 = _heights_by_apex(p1, p2, radius, first, last)
    beyond = (np.abs(z1) > length / 2) & (np.abs(z2) > length / 2)
    action = np.where(beyond | (theta < 0), STRAIGHT, action)
    action = np.where(inside, INSIDE, action)
    ends = (np.column_stack([first, z1]), np.column_stack([last, z2]))
    return Wrapping(action, *ends, np.hypot(arc, z2 - z1))


def _heights_by_apex(p1: Array, p2: Array, radius: float, first: Array, last: Array) -> tuple[Array, Array]:
    """Heights at which the plane of p1, p2 and the apex cuts the lines of the cylinder through two points (n x 2)."""
    d1, d2 = norm(p1[:, :2]), norm(p2[:, :2])
    between = p1 + (d1 / np.where(d1 + d2 > 0, d1 + d2, 1.0))[:, None] * (p2 - p1)
    axis = between * [0.0, 0.0, 1.0]
    across = unit(np.cross([0.0, 0.0, 1.0], unit(np.cross(unit(p1 - axis), unit(p2 - axis)))))
    across *= np.where(dot(across[:, :2], first + last) < 0, -1.0, 1.0)[:, None]
    tip = axis + radius * across
    normal = np.cross(unit(p1 - tip), unit(p2 - tip))
    upright = np.where(normal[:, 2] != 0, normal[:, 2], 1.0)
    z = [p1[:, 2] - dot(normal[:, :2], one - p1[:, :2]) / upright for one in (first, last)]
    return z[0], z[1]


def _constrained(
    p1: Array, p2: Array, radius: float, side: Side, angles: tuple[Array, Array], line: tuple[Array, Truths]
) -> tuple[Codes, Array]:
    """(action, sense) of lines over a cylinder of which one half is active; sense: 1 anticlockwise from p1, else -1.

    The sense is that whose tangent points lie on the active half; if they decide nothing, that of the larger angle.
    """
    (a1, a2), (near, cuts) = angles, line
    on1, on2 = side.holds(p1), side.holds(p2)
    apart = (on1 != on2) & ~side.holds(near)
    action = np.where(cuts, MANDATORY, np.where(apart, WRAPPED, STRAIGHT))
    action = np.where(on1 | on2, action, WRAPPED)

    def ends(p: Array, angle: Array) -> tuple[Array, Array, Truths, Truths]:
        left, right = (_turned(p[:, :2], radius, s * angle) for s in (1.0, -1.0))
        whole = (np.column_stack([one, p[:, 2]]) for one in (left, right))
        return (left, right, *(side.holds(one) for one in whole))  # type: ignore[return-value]

    left1, right1, on_left1, on_right1 = ends(p1, a1)
    left2, right2, on_left2, on_right2 = ends(p2, a2)
    wider = dot(left1, right2) < dot(right1, left2)  # a smaller cosine: a larger angle
    undecided = on_left1 == on_right1
    by_other = np.where(on_left2, False, np.where(on_left1 | on_right2, True, wider))
    return action, np.where(np.where(undecided, by_other, on_left1), 1.0, -1.0)


def sphere(p1: Array, p2: Array, radius: float, side: Side) -> Wrapping:
    """Lines over a sphere: great circles in the plane of p1, p2 and the center; only lines that cut it wrap.

    They wrap the shorter way; where a half is active and not both ends lie on it, the way that leads over this half.
    (OpenSim gives the long way round a negative length.)
    """
    d1, d2 = norm(p1), norm(p2)
    inside = (d1 < radius) | (d2 < radius)
    chord = p2 - p1
    square = dot(chord, chord)
    t = -dot(p1, chord) / np.where(square > 0, square, 1.0)
    distance = norm(p1 + t[:, None] * chord)
    half = np.sqrt(np.maximum(radius**2 - distance**2, 0.0) / np.where(square > 0, square, 1.0))
    cuts = (distance < radius) & (t - half > 0) & (t + half < 1)
    e1 = unit(p1)
    e2 = unit(p2 - dot(p2, e1)[:, None] * e1)
    turn = np.arctan2(dot(p2, e2), dot(p2, e1))
    a1, a2 = (np.arccos(np.minimum(radius / np.where(d > 0, d, 1.0), 1.0)) for d in (d1, d2))

    def at(angle: Array) -> Array:
        found: Array = radius * (np.cos(angle)[:, None] * e1 + np.sin(angle)[:, None] * e2)
        return found

    far = np.zeros(len(p1), dtype=bool)
    if side.sign:
        pull = at(-a1) - p1 + at(turn + a2) - p2
        far = ~(side.holds(p1) & side.holds(p2)) & (side.sign * pull[:, side.axis] >= 0)
    theta = np.where(far, 2 * np.pi - turn, turn) - a1 - a2
    sense = np.where(far, -1.0, 1.0)
    straight = ~cuts | (dot(e2, e2) == 0) | (theta < 0)
    must = (side.holds(p1) | side.holds(p2)) & (side.sign != 0)
    action = np.where(straight, STRAIGHT, np.where(must, MANDATORY, WRAPPED))
    action = np.where(inside, INSIDE, action)
    return Wrapping(action, at(sense * a1), at(turn - sense * a2), radius * np.maximum(theta, 0.0))


LONG = 1e4
"""Length of the cylinder that stands for a torus [m]."""


def torus(p1: Array, p2: Array, tube: float, ring: float, side: Side) -> Wrapping:
    """Lines through a torus about z: over a long cylinder of the tube's radius along the ring, at its point next to
    the line, around which they are pulled to the hole's side, as in OpenSim.

    The point next to the line is found from both ends; with a side, one on it. OpenSim's equation for this point has
    a factor of 2 too much; here it is the nearest one.
    """
    found = [_ring_point(p1, p2, ring), _ring_point(p2, p1, ring)]
    nearer = found[0][1] <= found[1][1]
    reached = np.ones(len(p1), dtype=bool)
    if side.sign:
        on = [side.holds(at) for at, _ in found]
        nearer = np.where(on[0] == on[1], nearer, on[0])
        reached = on[0] | on[1]
    at = np.where(nearer[:, None], found[0][0], found[1][0])
    x = -unit(at)  # towards the middle
    y = np.broadcast_to([0.0, 0.0, -1.0], x.shape)
    axes = np.stack([x, y, np.cross(x, y)], axis=1)
    q1, q2 = (np.einsum("nij,nj->ni", axes, p - at) for p in (p1, p2))
    over = cylinder(q1, q2, tube, LONG, side_of("x"))
    first, last = (at + np.einsum("nji,nj->ni", axes, one) for one in (over.first, over.last))
    action = np.where(over.action == MANDATORY, WRAPPED, over.action)
    return Wrapping(np.where(reached, action, STRAIGHT), first, last, over.arc)


def _ring_point(start: Array, end: Array, ring: float) -> tuple[Array, Array]:
    """(point of the ring, distance): next to a line, by Newton's method for the square of the distance from `start`."""
    n = unit(end - start)
    reach = norm(end - start)
    u = np.zeros(len(start))
    c4 = dot(n[:, :2], n[:, :2])
    for _ in range(50):
        x = start + u[:, None] * n
        rho = np.maximum(np.hypot(x[:, 0], x[:, 1]), 1e-12)
        radial = dot(x[:, :2], n[:, :2])
        slope = dot(x, n) - ring * radial / rho
        curvature = 1.0 - ring * (c4 / rho - radial**2 / rho**3)
        step = np.clip(-slope / np.where(curvature > 0.1, curvature, 1.0), -0.2 * reach, 0.2 * reach)
        u = u + step
    x = start + u[:, None] * n
    flat = np.column_stack([x[:, :2], np.zeros(len(x))])
    on_ring = ring * unit(flat)
    return on_ring, norm(x - on_ring)
