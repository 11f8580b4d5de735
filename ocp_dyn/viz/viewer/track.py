"""Motions as numbers for the viewer: poses of bodies, center of mass, contact forces and footholds at any time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.types import Array, Expr
from ...dynamics.momentum import center_of_mass
from ...dynamics.recursions import joint_states
from ...functions.function import function
from ...gait.bodies import Side, sides, size
from ...gait.cuts import cut
from ...gait.feet import wrenches_about_places
from ...gait.unrolled import MotionLike, weight
from ...mechanism import Model
from ..muscles import activations_at
from ..terrain.faces import Face, faces_of
from .drawn_bodies import Piece, vertices_of
from .outlines import edges_of, outline

RATE = 60.0
"""Samples of a motion per second; between them poses are interpolated."""

MOST_SAMPLES = 6000
"""Largest number of samples of a motion."""

FORCE_LENGTH = 0.4
"""Length of the arrow of one body weight, in sizes of the model."""

LEAST_LOAD = 0.01
"""Smallest force that is drawn, in body weights."""

SOLE = 0.02
"""Height above the ground, in sizes of the model, below which a point of a foot belongs to its outline."""


class BodyPoses(NamedTuple):
    """Poses of bodies in their parents: p (nb, 3) [m], and quaternions w (nb, 4) as (w, x, y, z)."""

    p: Array
    w: Array


@dataclass(frozen=True, eq=False)
class Hold:
    """A contact held during one phase: t (N+1) [s] of the nodes, point (3) [m] and normal (3) of its plane, wrench
    (N, 6) [moment; force] about the point, world axes; outline (n, 3) of the foot on the plane [m]."""

    name: str
    side: Side
    t: Array
    point: Array
    normal: Array
    wrench: Array
    outline: Array

    def force(self, time: float, least: float) -> tuple[Array, Array] | None:
        """(center of pressure, force) (3, 3) at a time; None outside of the phase, or if it presses less than `least`
        [N].

        With the moment m about the point and the force f, the center of pressure on the plane with the normal n lies
        at (n x m) / (n . f) from the point.
        """
        if not self.t[0] <= time < self.t[-1]:
            return None
        k = int(np.clip(np.searchsorted(self.t, time, side="right") - 1, 0, len(self.wrench) - 1))
        moment, force = self.wrench[k, :3], self.wrench[k, 3:]
        load = float(self.normal @ force)
        return (self.point + np.cross(self.normal, moment) / load, force) if load > least else None


@dataclass(frozen=True, eq=False)
class PoseTrack:
    """A motion over one cycle: t (K) [s] and, at these times, the poses of all bodies in their parents, p (K, nb, 3)
    and w (K, nb, 4), the center of mass com (K, 3) [m] and the configurations q (K, nq).

    activations (K, muscles): of a motion that has some. repeats: whether the motion goes on after a cycle. once: the
    rigid motion of the robot in a cycle, which has `share(u)`, the part u of it; None without one. phases: (name,
    start, end) of the phases of a cycle. faces: of the ground.
    """

    model: Model
    t: Array
    p: Array
    w: Array
    com: Array
    q: Array
    repeats: bool = False
    once: Any = None
    phases: tuple[tuple[str, float, float], ...] = ()
    holds: tuple[Hold, ...] = ()
    faces: tuple[Face, ...] = ()
    activations: Array | None = None

    def moved(self, cycles: float) -> tuple[Array, Array]:
        """(R, p): rotation (3x3) and shift (3) [m] of the robot in this number of cycles, also in part of one."""
        if self.once is None:
            return np.eye(3), np.zeros(3)
        part = self.once.share(cycles)
        return np.array(DM(part.R).full()), np.array(DM(part.shift).full()).ravel()

    @property
    def advance(self) -> Array:
        """Displacement of the robot in a cycle (3) [m]."""
        return self.moved(1)[1]

    def points(self, points: Array, cycle: int) -> Array:
        """Points (..., 3) [m] of the solved cycle as they are in another one."""
        R, p = self.moved(cycle)
        return np.asarray(points @ R.T + p)

    @property
    def duration(self) -> float:
        """Time of a cycle [s]."""
        return float(self.t[-1] - self.t[0])

    def local(self, time: float) -> tuple[int, float]:
        """The cycle in which a time lies, and the time in that cycle; a motion that does not repeat stays at its
        ends."""
        start = float(self.t[0])
        if not self.repeats or not self.duration:
            return 0, float(np.clip(time, start, self.t[-1]))
        cycle = int(np.floor((time - start) / self.duration))
        return cycle, float(np.clip(time - cycle * self.duration, start, self.t[-1]))

    def placement(self, local: float) -> BodyPoses:
        """Poses of the bodies at a time of the cycle, straight between two samples."""
        k, j, s = between(self.t, local)
        w = (1 - s) * self.w[k] + s * self.w[j]
        return BodyPoses((1 - s) * self.p[k] + s * self.p[j], w / np.linalg.norm(w, axis=1, keepdims=True))

    def center(self, local: float) -> Array:
        """The center of mass at a time of the cycle [m]."""
        k, j, s = between(self.t, local)
        found: Array = (1 - s) * self.com[k] + s * self.com[j]
        return found

    def arrows(self, local: float) -> Array:
        """Starts and tips (M, 2, 3) [m] of the arrows of the contact forces, of feet that carry something only."""
        body_weight = weight(self.model)
        meters = FORCE_LENGTH * size(self.model) / body_weight
        time = min(local, float(self.t[-1]) - 1e-9)
        loaded = [hold.force(time, LEAST_LOAD * body_weight) for hold in self.holds]
        found = [(start, start + meters * force) for start, force in filter(None, loaded)]
        return np.array(found).reshape(-1, 2, 3)

    def way(self, time: float) -> Array:
        """The distance (3) [m] by which a camera follows at a time: evenly, if the motion repeats, else with the center
        of mass over the ground."""
        if self.repeats:
            _, even = self.moved(float(time - self.t[0]) / self.duration)
            return even
        moved: Array = self.center(self.local(time)[1]) - self.com[0]
        level: Array = moved * np.array([1.0, 1.0, 0.0])
        return level

    def phase(self, local: float) -> str:
        """The name of the phase at a time of the cycle, "" if there is none."""
        return next((name for name, start, end in self.phases if start <= local < end), "")


def placements(model: Model, q: Array) -> tuple[Array, Array, Array]:
    """(p, w, com) at configurations q (K, nq): see `PoseTrack`. Quaternions of following samples have one sign."""
    q = np.asarray(q, dtype=float).reshape(-1, model.nq)
    numbers = function(_relative_poses, model, name="viewer_poses", signature="q -> p")(DM(q.T))
    values = np.array(numbers.full()).reshape(12, len(q), model.nb).transpose(1, 2, 0)
    R, p = values[..., :9].reshape(len(q), model.nb, 3, 3), values[..., 9:]
    w = quaternions(R)
    for k in range(1, len(w)):
        w[k] *= np.where(np.sum(w[k] * w[k - 1], axis=-1, keepdims=True) < 0, -1.0, 1.0)
    mass = function(center_of_mass, model)
    com = np.array(mass(DM(q.T)).full()).T if model.mass > 0 else np.zeros((len(q), 3))
    return p, w, com


def _relative_poses(model: Model, q: Expr) -> Expr:
    """Rotation by rows, then position, of every body in its parent: 12 rows, a column for every body."""
    states = joint_states(model, q)
    columns = [ca.vertcat(ca.vec(s.XJ.E), s.XJ.r) for s in states.values()]  # vec(E) is R = E' by rows
    return ca.horzcat(*(SX(ca.densify(SX(column))) for column in columns))


def quaternions(R: Array) -> Array:
    """Unit quaternions (..., 4) as (w, x, y, z) of rotations (..., 3, 3).

    All four products of the largest component with the others are linear in R; the largest one divides them
    [Shepperd 1978].
    """
    d = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    squares = np.stack(
        [1 + d[0] + d[1] + d[2], 1 + d[0] - d[1] - d[2], 1 - d[0] + d[1] - d[2], 1 - d[0] - d[1] + d[2]], -1
    )

    def plus(i: int, j: int) -> Array:
        total: Array = R[..., i, j] + R[..., j, i]
        return total

    def minus(i: int, j: int) -> Array:
        total: Array = R[..., i, j] - R[..., j, i]
        return total

    wx, wy, wz = minus(2, 1), minus(0, 2), minus(1, 0)
    xy, xz, yz = plus(0, 1), plus(0, 2), plus(1, 2)
    w2, x2, y2, z2 = np.moveaxis(squares, -1, 0)
    products = np.stack(
        [np.stack(row, -1) for row in ((w2, wx, wy, wz), (wx, x2, xy, xz), (wy, xy, y2, yz), (wz, xz, yz, z2))], -2
    )
    largest = np.argmax(squares, axis=-1)[..., None, None]
    found = np.take_along_axis(products, np.broadcast_to(largest, (*products.shape[:-2], 1, 4)), axis=-2)[..., 0, :]
    unit: Array = found / np.linalg.norm(found, axis=-1, keepdims=True)
    return unit


def still(model: Model, q: Array) -> PoseTrack:
    """A model in one configuration."""
    p, w, com = placements(model, q)
    return PoseTrack(model, np.zeros(1), p, w, com, np.reshape(q, (1, -1)))


def of_rows(model: Model, t: Array, q: Array) -> PoseTrack:
    """A trajectory: q (N, nq) at the times t (N), between which q moves at a constant rate."""
    times = [t[:1]]
    for a, b in pairwise(t):
        times.append(np.linspace(a, b, 1 + max(1, int(np.ceil((b - a) * RATE))))[1:])
    fine = np.concatenate(times)
    if len(fine) > MOST_SAMPLES:
        fine = t
    rows = np.array([configuration(model, t, q, time) for time in fine])
    return PoseTrack(model, fine, *placements(model, rows), rows)


def configuration(model: Model, t: Array, q: Array, time: float) -> Array:
    """The configuration (nq) at a time of a trajectory, see `of_rows`; before and after it the one at its end."""
    k, j, s = between(t, time)
    s = float(np.clip(s, 0.0, 1.0))
    return q[k] if not s else np.array(model.integrate(q[k], s * model.difference(q[k], q[j])).full()).ravel()


def between(t: Array, time: float) -> tuple[int, int, float]:
    """(k, j, s): the time lies the part s of the way from t[k] to t[j], the next one."""
    k = int(np.clip(np.searchsorted(t, time, side="right") - 1, 0, max(0, len(t) - 2)))
    j = min(k + 1, len(t) - 1)
    width = t[j] - t[k]
    return k, j, float((time - t[k]) / width) if width > 0 else 0.0


def of_motion(motion: MotionLike, shapes: list[Piece]) -> PoseTrack:
    """A solved motion: a cycle of a periodic one is a stride of two mirrored steps, or one period."""
    repeats = motion.repeats
    steps = 2 if repeats and motion.mirror() is not None else 1
    total = steps * motion.duration
    count = int(np.clip(np.ceil(total * RATE), 2, MOST_SAMPLES))
    times = np.linspace(0.0, total, count + 1)
    q = motion.sample(times)
    p, w, com = placements(motion.model, q)
    phases = tuple(
        (phase.name, k * motion.duration + float(phase.t[0]), k * motion.duration + float(phase.t[-1]))
        for k in range(steps)
        for phase in motion.phases
    )
    once = motion.repetition(steps).advance if repeats else None
    feet = _Holds(motion, shapes)
    holds = tuple(hold for k in range(steps) for hold in feet.holds(k, motion.repetition(k) if k else None))
    faces, activations = tuple(faces_of(motion, steps)), activations_at(motion, times)
    return PoseTrack(motion.model, times, p, w, com, q, repeats, once, phases, holds, faces, activations)


class _Holds:
    """The contacts of a motion as `Hold`s, step after step."""

    def __init__(self, motion: MotionLike, shapes: list[Piece]) -> None:
        self.motion, self.shapes, self.side = motion, shapes, sides(motion.model)
        self.reach = size(motion.model)

    def holds(self, step: int, image: Any) -> list[Hold]:
        """The holds of one step; image: the map to this step, None for the solved one."""
        motion, found = self.motion, []
        for phase in cut(motion.model, motion.phases):
            planes: Mapping[str, Any] = phase.planes
            for name, wrench in wrenches_about_places(motion.model, phase).items():
                place = np.array([*np.ravel(phase.places[name])[:2], 0.0])
                plane = planes.get(name)
                point = place if plane is None else np.array(plane.to_world(DM(place)).full()).ravel()
                normal = np.array([0.0, 0.0, 1.0] if plane is None else plane.normal, dtype=float)
                frame, edge = motion.model.frame(name), self._outline(phase, name, point, normal)
                if image is not None:
                    frame, point, edge = image.frame(name), image.points(point), image.points(edge)
                    wrench = np.hstack([image.moments(wrench[:, :3]), image.vectors(wrench[:, 3:])])
                    normal = image.vectors(normal)
                times = phase.t + step * motion.duration
                found.append(Hold(frame.name, self.side[frame.body], times, point, normal, wrench, edge))
        return found

    def _outline(self, phase: Any, name: str, point: Array, normal: Array) -> Array:
        """The convex outline (n, 3) of what lies near the plane of the body that holds a contact, in mid-phase."""
        model = self.motion.model
        body = model.frame(name).body
        vertices = vertices_of(self.shapes, body)
        if not len(vertices) or not body:
            return np.zeros((0, 3))
        R, r = world_pose(still(model, phase.q[len(phase.q) // 2]).placement(0.0), model, body)
        world = vertices @ R.T + r
        height = (world - point) @ normal
        low = world[height < SOLE * self.reach]
        if len(low) < 3:
            return np.zeros((0, 3))
        other = np.eye(3)[int(np.argmin(np.abs(normal)))]
        a = np.cross(normal, other) / np.linalg.norm(np.cross(normal, other))
        b = np.cross(normal, a)
        flat = outline(np.column_stack([(low - point) @ a, (low - point) @ b]))
        found: Array = point + flat[:, :1] * a + flat[:, 1:] * b
        return found


def world_pose(placement: BodyPoses, model: Model, body: int) -> tuple[Array, Array]:
    """(R, p) of a body in the world, by the poses of the bodies that support it; the ground's for body 0."""
    R, p = np.eye(3), np.zeros(3)
    for i in model.path(body):
        p = p + R @ placement.p[i - 1]
        R = R @ rotation(placement.w[i - 1])
    return R, p


def rotation(w: Array) -> Array:
    """The rotation (3x3) of a unit quaternion (w, x, y, z)."""
    s, v = float(w[0]), w[1:]
    K = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    found: Array = np.eye(3) + 2 * s * K + 2 * K @ K
    return found


def footprints(track: PoseTrack) -> tuple[Array, tuple[Side, ...]]:
    """Segments (n, 2, 3) [m] of the outlines of all footsteps of a cycle, and the side of each.

    A foot that rolls over its heel and toes has several contacts at one place; only the largest outline is kept, also
    beside those of the cycles before and after.
    """
    outlines = [hold for hold in track.holds if len(hold.outline)]
    kept: list[Hold] = []
    for hold in sorted(outlines, key=lambda h: -_extent(h.outline)):
        center = hold.outline.mean(axis=0)
        near = (
            np.linalg.norm(track.points(other.outline.mean(axis=0), k) - center) < 0.5 * _extent(other.outline)
            for other in kept
            if other.side == hold.side
            for k in (-1, 0, 1)
        )
        if not any(near):
            kept.append(hold)
    segments = [edges_of(hold.outline) for hold in kept]
    side = tuple(hold.side for hold, edges in zip(kept, segments, strict=True) for _ in edges)
    return (np.concatenate(segments) if segments else np.zeros((0, 2, 3))), side


def _extent(points: Array) -> float:
    """The longest edge of the box around points [m]."""
    return float(np.ptp(points, axis=0).max())
