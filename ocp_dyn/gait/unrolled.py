"""Solved motions unrolled in time: step after step, mirrored if the motion says so, with the forces on the feet.

`foot_forces(unroll(motion, 2))` gives the force and the center of pressure of every foot over a stride.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from casadi import DM

from .._base.types import Array, repr_in_message
from ..mechanism import Model
from .bodies import Side, sides
from .cuts import PhaseLike, cut
from .feet import Foot, Key, feet_of, wrenches_about_places


class MotionLike(Protocol):
    """Attributes and methods of a solution that the pictures need; `ocp_dyn.ocp.Solution` has them."""

    @property
    def model(self) -> Model: ...
    @property
    def phases(self) -> Sequence[PhaseLike]: ...
    @property
    def duration(self) -> float: ...
    @property
    def step_length(self) -> float: ...
    @property
    def repeats(self) -> bool: ...
    @property
    def distance(self) -> float: ...
    def mirror(self) -> Any: ...
    def repetition(self, n: int) -> Any: ...
    def sample(self, times: Array) -> Array: ...


class Walk(MotionLike, Protocol):
    """A motion that repeats, as curves over a stride need it: also `tau_rate` of phases, way, loads."""

    @property
    def phases(self) -> Sequence[Any]: ...
    @property
    def mirrored(self) -> bool: ...
    @property
    def turn(self) -> float: ...
    @property
    def sideways(self) -> float: ...
    @property
    def loads(self) -> Any: ...
    @property
    def driving(self) -> tuple[str, ...]: ...
    def with_net_torques(self) -> Walk: ...


REFLECTION = np.array([1.0, -1.0, 1.0])
"""Signs of a vector's components after reflection in the x-z plane."""

UP = np.array([0.0, 0.0, 1.0])

LEAST_LOAD = 0.03
"""Share of the body weight below which a foot has no center of pressure: it would follow rounding errors."""


@dataclass(frozen=True, eq=False)
class Support:
    """One contact on the ground during one phase of N intervals.

    place: (x, y, yaw) of the contact in the world, None if unknown; height: its z [m]. wrench (N, 6): [moment; force]
    on the foot about the place, world axes. forward, normal (3): x axis of the contact and normal of the ground, in the
    world.

    foot: the foot that the contact belongs to. spot: (x, y, yaw) of the contact in the frame of the foot, see `Foot`.
    """

    name: str
    side: Side
    wrench: Array
    place: Array | None
    height: float
    forward: Array
    normal: Array
    foot: Foot
    spot: Array

    @property
    def force(self) -> Array:
        """Force on the foot (N, 3) [N], world axes."""
        return self.wrench[:, 3:]

    def pressure(self, least: float) -> Array:
        """Center of pressure (N, 3) [m] relative to the place, world axes: n x m / (n . f) for the normal n, the moment
        m and the force f; nan where the force along the normal is below `least` [N]."""
        moment, pressing = self.wrench[:, :3], self.force @ self.normal
        load = np.where(pressing > least, pressing, np.nan)
        offset: Array = np.cross(self.normal, moment) / load[:, None]
        return offset

    def pressure_in_foot(self, least: float) -> Array:
        """Center of pressure (N, 2) [m] in the frame of the foot: forward from its heel, and to the left."""
        x, y, yaw = self.spot
        sideways = np.cross(self.normal, self.forward)
        axes = np.array([self.forward, sideways])  # of the contact
        turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
        found: Array = np.array([x, y]) + self.pressure(least) @ axes.T @ turn.T
        return found


@dataclass(frozen=True, eq=False)
class Stretch:
    """One phase of one step: t (N+1), q (N+1, nq), qd (N+1, nv) at the nodes, tau (N, nv) on the intervals."""

    name: str
    step: int
    t: Array
    q: Array
    qd: Array
    tau: Array
    supports: tuple[Support, ...]

    @property
    def middle(self) -> Array:
        """Times of the intervals' midpoints (N) [s]."""
        return (self.t[:-1] + self.t[1:]) / 2


class Straight:
    """Points of a motion as a camera sees them that goes along with it, turns with it and moves aside with it: the way
    is straightened along x. Heights stay those of the world, and a straight motion stays as it is."""

    def __init__(self, motion: MotionLike) -> None:
        self.duration, self.length = motion.duration, motion.step_length
        self.advance = motion.repetition(0 if motion.mirror() is not None else 1).advance if motion.repeats else None
        if self.advance is not None and self.advance.turn is not None:
            self.length = motion.distance

    def __call__(self, points: Array, time: float) -> Array:
        """The points (..., 3) [m] at a time [s]."""
        if self.advance is None:
            return points
        share = self.advance.share(time / self.duration)
        x, y, _ = np.array(DM(share.shift).full()).ravel()
        if share.turn is None and not y:
            return points
        level = (points - [x, y, 0.0]) @ np.array(DM(share.R).full())
        return np.asarray(level + np.array([self.length * time / self.duration, 0.0, 0.0]))

    @property
    def steady(self) -> bool:
        """Whether the world stays as it is at all times: the motion neither turns nor goes sideways."""
        return self.advance is None or (self.advance.turn is None and not float(self.advance.shift[1]))

    def turned(self, vectors: Array, time: float) -> Array:
        """The vectors (..., 3) at a time [s]."""
        if self.advance is None or self.advance.turn is None:
            return vectors
        return np.asarray(vectors @ np.array(DM(self.advance.share(time / self.duration).R).full()))


def climb_words(motion: Any, steps: int = 1) -> list[str]:
    """The rise and the turn of some steps of a periodic motion, in words; none of a straight and level one."""
    rise, turn = steps * motion.rise, np.degrees(steps * motion.turn)
    words = [f"{abs(rise):.2f} m {'up' if rise > 0 else 'down'}"] if rise else []
    return words + ([f"{abs(turn):.0f}° to the {'left' if turn > 0 else 'right'}"] if turn else [])


def check_motion(motion: Any) -> None:
    """TypeError unless `motion` is a solved motion."""
    if not isinstance(getattr(motion, "model", None), Model) or not hasattr(motion, "step_length"):
        remedy = ": draw its .trajectory(loops)" if hasattr(motion, "trajectory") else ""
        raise TypeError(
            "a motion is needed, such as problem.solve() or ocp.Solution.load(file) gives, got "
            f"{repr_in_message(motion)}{remedy}"
        )


def check_finite(motion: MotionLike, what: str) -> None:
    """ValueError unless all times and positions of the motion are finite; what: the function that needs them."""
    if not all(np.all(np.isfinite(x)) for phase in motion.phases for x in (phase.t, phase.q)):
        raise ValueError(
            f"{what} needs finite times and positions, and some of this motion are not finite: solve again"
        )


def unroll(motion: MotionLike, steps: int = 1) -> list[Stretch]:
    """The phases of `steps` steps, one after the other; a motion that is not periodic is a single step.

    Phases with compliant feet are cut where these touch down and lift off, see `stances`.
    """
    phases = cut(motion.model, motion.phases)
    feet = _Feet(motion, phases)
    found: list[Stretch] = []
    for step in range(steps if motion.repeats else 1):
        image = motion.repetition(step) if step else None
        for k, phase in enumerate(phases):
            q, qd, tau = phase.q.copy(), phase.qd, phase.tau
            if image is not None:
                (q, qd), tau = image.rows(q, qd), image.forces(tau)
            supports = tuple(feet.supports(k, image, step))
            found.append(Stretch(phase.name, step, phase.t + step * motion.duration, q, qd, tau, supports))
    return found


class _Feet:
    """The contacts of a motion as `Support`s, phase after phase."""

    def __init__(self, motion: MotionLike, phases: Sequence[PhaseLike]) -> None:
        self.motion, self.phases, self.side = motion, phases, sides(motion.model)
        self.of: dict[Key, Foot] = {name: foot for foot in feet_of(motion, phases) for name in foot.spots}

    def supports(self, k: int, image: Any, step: int) -> Iterator[Support]:
        """The supports of phase k in one step; image: the map to this step, None for the first one."""
        motion, phase = self.motion, self.phases[k]
        places: Mapping[str, Array] = phase.places
        for name, wrench in wrenches_about_places(motion.model, phase).items():
            frame, place, plane = motion.model.frame(name), places.get(name), phase.planes.get(name)
            height, (forward, normal) = 0.0, _directions(place, plane)
            if place is not None:
                place = np.array(place, dtype=float)
                point = np.array([*place[:2], 0.0])
                point = point if plane is None else np.array(DM(plane.to_world(DM(point))).full()).ravel()
                place[0], place[1], height = point
            if image is not None:
                frame = image.frame(name)
                wrench = np.hstack([image.moments(wrench[:, :3]), image.vectors(wrench[:, 3:])])
                forward, normal = image.vectors(forward), image.vectors(normal)
            if image is not None and place is not None:
                *ahead, height = image.points(np.array([place[0], place[1], height]))
                place = np.array([*ahead, image.yaw(place[2])])
            key = (k, name, image is not None and image.mirror is not None)
            foot = self.of[key]
            yield Support(frame.name, self.side[frame.body], wrench, place, float(height), forward, normal,
                          foot, foot.spots[key])  # fmt: skip


def _directions(place: Array | None, plane: Any) -> tuple[Array, Array]:
    """The x axis of a contact at its place, and the normal of its plane (3), in the world."""
    yaw = 0.0 if place is None else float(place[2])
    forward = np.array([np.cos(yaw), np.sin(yaw), 0.0])
    return (forward, UP) if plane is None else (np.array(plane.R.full()) @ forward, np.array(plane.normal, dtype=float))


@dataclass(frozen=True, eq=False)
class FootForce:
    """Force and center of pressure of one foot over a motion, at M times; all nan in one row where the foot leaves the
    ground.

    t (M): midpoints of the intervals [s]. force (M, 3): on the foot, sum of its contacts, world axes [N]. pressure
    (M, 2): center of pressure [m] in the frame of the foot, which is the same for heel, sole and toes: the distance
    from the heel along the foot's axis, and to the left of this axis; nan where the foot presses less than 3 % of body
    weight. from_heel, length, bodies: see `Foot`.
    """

    name: str
    side: Side
    t: Array
    force: Array
    pressure: Array
    from_heel: bool
    length: float
    bodies: tuple[int, ...]


def foot_forces(motion: MotionLike, stretches: Sequence[Stretch]) -> list[FootForce]:
    """The forces on all feet over the phases `stretches`, which `unroll(motion, steps)` gives, foot by foot."""
    least = LEAST_LOAD * weight(motion.model)
    feet = dict.fromkeys(support.foot for stretch in stretches for support in stretch.supports)
    return [_foot_force(foot, stretches, least) for foot in feet]


def _foot_force(foot: Foot, stretches: Sequence[Stretch], least: float) -> FootForce:
    times, forces, places = [], [], []
    side: Side = "middle"
    for stretch in stretches:
        supports = [support for support in stretch.supports if support.foot is foot]
        if not supports:
            times.append(stretch.middle[:1])
            forces.append(np.full((1, 3), np.nan))
            places.append(np.full((1, 2), np.nan))
            continue
        side = supports[0].side
        times.append(stretch.middle)
        forces.append(np.sum([support.force for support in supports], axis=0))
        places.append(_pressure(supports, least))
    t, force, pressure = (np.concatenate(parts) for parts in (times, forces, places))
    return FootForce(foot.name, side, t, force, pressure, foot.from_heel, foot.length, foot.bodies)


def _pressure(supports: Sequence[Support], least: float) -> Array:
    """Center of pressure (N, 2) of all contacts of a foot: the mean of theirs, weighted by the forces that press."""
    load = np.array([np.maximum(support.force @ support.normal, 0.0) for support in supports])
    total = load.sum(axis=0)
    places = np.array([support.pressure_in_foot(1e-9 * least) for support in supports])
    mean = np.nansum(load[:, :, None] * places, axis=0) / np.where(total > least, total, np.nan)[:, None]
    return np.asarray(mean)


def touch_down(stretches: list[Stretch], side: Side, end: float) -> tuple[float, float]:
    """Times at which a side touches down and leaves the ground [% of the cycle]."""
    stands = [any(s.side == side for s in stretch.supports) for stretch in stretches]
    down = [k for k, on_ground in enumerate(stands) if on_ground and not stands[k - 1]]
    off = [k for k, on_ground in enumerate(stands) if not on_ground and stands[k - 1]]
    if len(down) != 1 or len(off) != 1:
        raise ValueError(
            f"curves over the gait cycle need legs that leave the ground once per cycle, the {side} one "
            f"leaves it {len(off)} times: use plot without bands"
        )
    landing, lifting = (100 * float(stretches[k[0]].t[0]) / end for k in (down, off))
    return landing, lifting


def weight(model: Model) -> float:
    """Body weight [N]; without gravity the weight on Earth, so that force arrows have a scale; never 0."""
    return model.weight or model.mass * 9.81 or 1.0


def stretch_at(stretches: Sequence[Stretch], time: float) -> Stretch:
    """The phase that a time [s] lies in; the last one at the end."""
    return next((s for s in stretches if time < s.t[-1]), stretches[-1])


def ground_forces(stretch: Stretch, time: float, least: float) -> list[tuple[Support, Array, Array]]:
    """(foot, center of pressure in the world (3), force (3)) of every foot that carries more than `least` [N]."""
    k = int(np.clip(np.searchsorted(stretch.t, time, side="right") - 1, 0, len(stretch.tau) - 1))
    found = []
    for support in stretch.supports:
        if support.place is None or support.force[k] @ support.normal <= least:
            continue
        place = np.array([*support.place[:2], support.height])
        found.append((support, place + support.pressure(least)[k], support.force[k]))
    return found


def check_quaternions(model: Model, q: Array, what: str) -> None:
    """ValueError if a quaternion in q (nq), or in a row of q (N, nq), is zero, which is no rotation."""
    for i, _ in model.edges:
        joint = model.joints[i]
        if joint.has_quaternion:
            end = model.q_index[i] + joint.nq
            if np.any(np.linalg.norm(np.atleast_2d(q)[:, end - 4 : end], axis=1) < 1e-9):
                raise ValueError(
                    f"{what}: the quaternion of joint {repr_in_message(model.joint_names[i - 1])}, q[{end - 4}:{end}], "
                    "is zero, which is no rotation: start from model.neutral()"
                )
