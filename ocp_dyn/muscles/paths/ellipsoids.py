"""Wrapping of straight lines over an ellipsoid: OpenSim's planar section, and the true geodesic.

OpenSim's line (`OpenSim/Simulation/Wrap/WrapEllipsoid.cpp`) is the curve in which a plane cuts the ellipsoid: the plane
of the line's ends and of a point near the middle of the line, by one of three methods. It is up to some millimeters
longer than the shortest line, and its length is not stationary, so that its moment arms are not -dl/dq.
"""

from __future__ import annotations

import numpy as np

from ..._base.types import Array
from .wrapping import INSIDE, MANDATORY, STRAIGHT, Side, Truths, Wrapping, dot, norm, unit

AXIAL_FROM, AXIAL_ALONE = 0.7073, 0.9
"""Largest direction cosine of the line up to which the method "hybrid" takes the fan alone, and from which it takes
the axial point alone; between them it blends both."""
EDGE = 0.3
"""Share of the chord, at each of its ends, over which the axial point fades out."""
FAN = 300
"""Number of places along the chord of which the fan of the method "hybrid" takes the nearest points."""
CHORDS = 64
"""Number of chords by which the length of a section is found, with Richardson's extrapolation."""


def nearest(radii: Array, p: Array) -> Array:
    """Points of an ellipsoid or ellipse (n x k) next to points p inside (n x k), half axes radii (k).

    x_i = a_i^2 p_i/(t + a_i^2) with the largest root t of sum (a_i p_i/(t + a_i^2))^2 = 1 (Eberly, Graphics Gems IV),
    by Newton's method from its lower bound, from which it converges monotonically.
    """
    square = radii**2
    size = radii * np.abs(p)
    t = np.max(size - square, axis=-1)
    for _ in range(60):
        ratio = size / np.maximum(t[..., None] + square, 1e-14)
        value = np.sum(ratio**2, axis=-1) - 1.0
        slope = 2 * np.sum(ratio**2 / np.maximum(t[..., None] + square, 1e-14), axis=-1)
        step = value / np.where(slope > 0, slope, 1.0)
        t = t + np.maximum(step, 0.0)
        if np.max(step, initial=0.0) < 1e-14:
            break
    x = square * p / np.maximum(t[..., None] + square, 1e-14)
    found: Array = x
    return found


def section(p1: Array, p2: Array, radii: Array, side: Side, method: str, fan: int = FAN) -> Wrapping:
    """Lines over an ellipsoid along the section of a plane, as OpenSim's method "hybrid", "midpoint" or "axial".

    Lines that do not cut the ellipsoid stay straight, with a side too. OpenSim adds chords of about 1 mm, and finds
    tangent points to about 1e-4 of the radius; here both are exact.
    """
    scale = 3.0 / float(np.sum(radii))
    a, p, q = radii * scale, p1 * scale, p2 * scale
    off1, off2 = dot(p / a, p / a) - 1.0, dot(q / a, q / a) - 1.0
    inside = (off1 < -1e-4) | (off2 < -1e-4)
    back = p - q
    f1, f2 = back / a, q / a
    aa, bb, cc = dot(f1, f1), 2 * dot(f1, f2), dot(f2, f2) - 1.0
    root = np.sqrt(np.maximum(bb**2 - 4 * aa * cc, 0.0))
    l1, l2 = ((-bb + s * root) / np.where(aa > 0, 2 * aa, 1.0) for s in (1.0, -1.0))
    cuts = (root > 0) & (l1 > 0) & (l1 < 1) & (l2 > 0) & (l2 < 1)
    cuts &= (np.abs(dot(unit(p), unit(q)) - 1.0) >= 1e-4) & ~inside
    first, last, arc = p.copy(), q.copy(), np.zeros(len(p))
    k = np.flatnonzero(cuts)
    if k.size:
        at = _middle(q[k] + l1[k, None] * back[k], q[k] + l2[k, None] * back[k], back[k], a, side, method, fan)
        normal = unit(np.cross(back[k], p[k] - at))
        up = np.cross(normal, back[k])
        up *= np.where(dot(up, at - p[k]) < 0, -1.0, 1.0)[:, None]
        first[k] = np.where((np.abs(off1[k]) < 1e-4)[:, None], p[k], _tangent(p[k], a, normal, at, up))
        last[k] = np.where((np.abs(off2[k]) < 1e-4)[:, None], q[k], _tangent(q[k], a, normal, at, up))
        arc[k] = _section_length(first[k], last[k], (p[k], q[k]), a, normal, at, bool(side.sign))
    action = np.where(inside, INSIDE, np.where(cuts, MANDATORY, STRAIGHT))
    return Wrapping(action, first / scale, last / scale, arc / scale)


def _middle(r1: Array, r2: Array, back: Array, a: Array, side: Side, method: str, fan: int) -> Array:
    """The point of the ellipsoid that, with both ends, spans the plane of the section."""
    chord = r2 - r1
    mu = np.abs(unit(back))
    best, rows = np.argmax(mu, axis=1), np.arange(len(r1))
    cosine = mu[rows, best]
    along = chord[rows, best]
    t = -r1[rows, best] / np.where(along != 0, along, 1.0)
    axial = _axial(r1 + t[:, None] * chord, best, a)
    if method == "midpoint":
        at, weight = nearest(a, r1 + 0.5 * chord), np.full(len(r1), -np.inf)
    elif method == "axial":
        at, weight = axial, np.full(len(r1), -np.inf)
    else:
        fade = np.clip(np.minimum(t, 1 - t) / EDGE, 0.0, 1.0)
        faded = AXIAL_FROM + fade * (cosine - AXIAL_FROM)
        cosine = np.where((cosine > AXIAL_FROM) & (fade < 1), faded, cosine)
        blend = np.clip((cosine - AXIAL_FROM) / (AXIAL_ALONE - AXIAL_FROM), 0.0, 1.0)
        fanned = np.zeros_like(r1)
        some = blend < 1
        fanned[some] = _fanned(r1[some], chord[some], a, fan)
        mixed = nearest(a, blend[:, None] * axial + (1 - blend)[:, None] * fanned)
        at = np.where((blend == 1)[:, None], axial, np.where((blend == 0)[:, None], fanned, mixed))
        weight = np.where(some, 1 - blend, -np.inf)
    return _on_side(at, weight, cosine, a, side)


def _axial(sv: Array, best: Array, a: Array) -> Array:
    """Points next to sv on the ellipse of the plane in which the coordinate `best` vanishes."""
    at = sv.copy()
    for k in range(3):
        of = best == k
        others = [(k + 1) % 3, (k + 2) % 3]
        if np.any(of):
            at[np.ix_(of, others)] = nearest(a[others], sv[np.ix_(of, others)])
    return at


def _fanned(r1: Array, chord: Array, a: Array, fan: int) -> Array:
    """Points next to the middle of the chord, in the mean direction from places along it to their nearest points."""
    if not len(r1):
        return r1
    total = np.zeros_like(r1)
    for k in range(1, fan - 1):
        sv = r1 + k / fan * chord
        total += unit(nearest(a, sv) - sv)
    start = r1 + 0.5 * chord + unit(total)
    inside = dot(start / a, start / a) < 1
    found = _outside_nearest(a, start)
    found[inside] = nearest(a, start[inside])
    return found


def _outside_nearest(a: Array, p: Array) -> Array:
    """Points of the ellipsoid next to points that lie outside or inside: the same root, from an upper bound."""
    square, size = a**2, a * np.abs(p)
    low, high = np.max(size - square, axis=-1), norm(size)
    for _ in range(100):
        t = 0.5 * (low + high)
        value = np.sum((size / (t[..., None] + square)) ** 2, axis=-1) - 1.0
        low, high = np.where(value > 0, t, low), np.where(value > 0, high, t)
    found: Array = square * p / (0.5 * (low + high)[..., None] + square)
    return found


def _on_side(at: Array, weight: Array, cosine: Array, a: Array, side: Side) -> Array:
    """The point of the plane moved to the active half: mirrored, and by the fan's weight back towards its edge."""
    if not side.sign:
        return at
    off = ~side.holds(at)
    moved = at.copy()
    moved[off, side.axis] *= -1.0
    weight = np.where(np.isinf(weight), 1 - (cosine - AXIAL_FROM) / (AXIAL_ALONE - AXIAL_FROM), weight)
    weight = np.clip(weight, 0.0, 1.0)
    edge = off & (weight > 0)
    moved[edge, side.axis] *= (1 - weight)[edge]
    if np.any(edge):
        moved[edge] = _outside_nearest(a, moved[edge])
    return moved


def _tangent(p: Array, a: Array, normal: Array, at: Array, up: Array) -> Array:
    """Points of the section at which lines from p touch it, on the side `up` of the straight line.

    In coordinates y = x/a the ellipsoid is the unit sphere: y lies in the plane of the section and in the polar plane
    of p.
    """
    n1, n2 = normal * a, p / a
    h = dot(normal, at)
    g11, g12, g22 = dot(n1, n1), dot(n1, n2), dot(n2, n2)
    det = g11 * g22 - g12**2
    det = np.where(det > 0, det, 1.0)
    y0 = ((h * g22 - g12) / det)[:, None] * n1 + ((g11 - h * g12) / det)[:, None] * n2
    d = unit(np.cross(n1, n2))
    s = np.sqrt(np.maximum(1.0 - dot(y0, y0), 0.0))[:, None]
    one, other = a * (y0 + s * d), a * (y0 - s * d)
    found: Array = np.where((dot(one - other, up) >= 0)[:, None], one, other)
    return found


def _section_length(
    r1: Array, r2: Array, ends: tuple[Array, Array], a: Array, normal: Array, at: Array, constrained: bool
) -> Array:
    """Lengths of the section between its tangent points, the shorter way about a point of its plane; with a side, the
    other way where the shorter one would turn back at an end."""
    rows = np.arange(len(r1))
    big = np.argmax(np.abs(normal), axis=1)
    center = np.zeros_like(r1)
    center[rows, big] = dot(normal, at) / normal[rows, big]
    e1 = unit(r1 - center)
    to2 = unit(r2 - center)
    angle = np.arccos(np.clip(dot(e1, to2), -1.0, 1.0))
    e2 = unit(to2 - dot(to2, e1)[:, None] * e1)
    points = _around(center, e1, e2, angle, a)
    if constrained:
        wrong = _turns_back(points, r1, r2, ends)
        angle = np.where(wrong, angle - 2 * np.pi, angle)
        points[wrong] = _around(center[wrong], e1[wrong], e2[wrong], angle[wrong], a)
    fine = np.sum(norm(np.diff(points, axis=1)), axis=1)
    rough = np.sum(norm(np.diff(points[:, ::2], axis=1)), axis=1)
    found: Array = (4 * fine - rough) / 3
    return found


def _turns_back(points: Array, r1: Array, r2: Array, ends: tuple[Array, Array]) -> Truths:
    """Whether a curve leaves its first point, or reaches its last, on the side from which the straight piece comes."""
    start, stop = points[:, 1] - r1, points[:, -2] - r2
    found: Truths = (dot(ends[0] - r1, start) > 0) | (dot(ends[1] - r2, stop) > 0)
    return found


def _around(center: Array, e1: Array, e2: Array, angle: Array, a: Array) -> Array:
    """Points of the section in equal angles about a point of its plane (n x CHORDS + 1 x 3)."""
    phi = angle[:, None] * np.linspace(0.0, 1.0, CHORDS + 1)
    r = np.cos(phi)[..., None] * e1[:, None] + np.sin(phi)[..., None] * e2[:, None]
    f1, f2 = r / a, (center / a)[:, None]
    aa, bb, cc = dot(f1, f1), dot(f1, f2), dot(f2, f2) - 1.0
    reach = (-bb + np.sqrt(np.maximum(bb**2 - aa * cc, 0.0))) / aa
    found: Array = center[:, None] + reach[..., None] * r
    return found
