"""Tracks of the feet for first guesses: where every foot stands when, and how it swings from one place to the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.on_arrays import OnArrays
from ..._base.types import Array, Vector
from ...constraints import RollingContact
from ...dynamics.kinematics import point_position, resolve
from ...joints import Revolute
from ...mechanism import Model
from ...spatial_algebra.rotations import (
    matrix_quaternion,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    rotation_about,
)
from ...symmetry.advance import Advance, Repetition
from ..statement.footholds import Foothold
from ..statement.guesses import FootPlan
from ..transcription.variables import Transcription, advance_value, place_value

CLIMBING = 0.6
"""Fraction of the swing in which a foot climbs to a higher place, or sinks to a lower one."""

TIME_TOLERANCE = 1e-9
"""Two spans are consecutive if the time between them is below this [s]; also the tolerance of a step [rad, m]."""


@dataclass(frozen=True)
class Span:
    """A foot on the ground from begin to end [s]; its edge turns from the angle `first` to `last` [rad].

    point and rotation: of the contact, in the coordinates of the body; axis: of the edge, in the frame (None: no edge);
    place: the pose (R, p) of the ground under the contact. radius [m]: of a rounded edge, which rolls. toes: the span
    of the toes over which a foot rolls; then axis and point are those of their joint, and they take the place of the
    ground. side: 1 for an edge ahead of the middle of the foot's sole, -1 for one behind it, 0 where that is not known.
    """

    body: int
    begin: float
    end: float
    flat: bool
    point: Array
    rotation: Array
    axis: Vector | None
    place: tuple[Array, Array]
    first: float = 0.0
    last: float = 0.0
    radius: float = 0.0
    toes: Span | None = None
    side: float = 0.0

    @property
    def ground(self) -> float:
        """Height of the ground under the contact [m]."""
        return float((self.place if self.toes is None else self.toes.place)[1][2])

    def pose(self, time: float) -> tuple[Array, Array]:
        """(R, p) of the body at a time [s] within the span."""
        u = (time - self.begin) / max(self.end - self.begin, TIME_TOLERANCE)
        angle = (1 - u) * self.first + u * self.last
        ground, p = self.place if self.toes is None else self.toes.pose(time)
        R, arm = ground @ self.rotation.T, np.zeros(3)
        if self.axis is not None:
            R = ground @ as_numbers(rotation_about(self.axis, DM(angle))) @ self.rotation.T
            arm = self.rotation @ [0.0, 0.0, self.radius]
            p = p + self.radius * ground @ [angle * self.axis[1], -angle * self.axis[0], 1.0]
        return R, p - R @ (self.point + arm)


def tracks_of(plan: FootPlan, transcription: Transcription, durations: list[float]) -> dict[int, list[Span]]:
    """The spans of every foot on the ground, by body; of a periodic motion also in the periods before and after."""
    total, model = sum(durations), transcription.problem.model
    found: dict[int, list[Span]] = {}
    for period in (-1, 0, 1) if transcription.problem.periodic is not None else (0,):
        begin = period * total
        for phase, duration in zip(transcription.problem.phases, durations, strict=True):
            for f in (f for f in phase.footholds if isinstance(f, Foothold)):
                span = _span(transcription, f, begin, begin + duration, period)
                _append(found.setdefault(span.body, []), span)
                if f.of is not None and _body(model, f.of) == model.parent[_body(model, f)]:
                    foot = _over_toes(model, span)
                    _append(found.setdefault(foot.body, []), foot)
            begin += duration
    toes = [body for body in found if model.parent[body] in found]
    tracks = {body: _with_angles(plan, spans, body in toes) for body, spans in found.items()}
    for body in toes:
        feet = model.parent[body]
        tracks[feet] = [s if s.toes is None else _carried(s, tracks[body]) for s in tracks[feet]]
    return tracks


def _span(transcription: Transcription, f: Foothold, begin: float, end: float, period: int) -> Span:
    """The span of a foothold in a phase; period: -1, 0, 1 for the period before, the motion, the period after."""
    model, image = transcription.problem.model, period_image(transcription, period)
    place, plane = place_value(transcription, f, transcription.program.start, first_step(transcription)), f.plane
    frame, point = resolve(model, f.contact.body), np.array(f.point)
    axis, radius = (f.contact.axis, f.contact.radius) if isinstance(f.contact, RollingContact) else (None, 0.0)
    if image.mirror is not None:
        frame = image.mirror.frame(frame.name)
        point = point * [1, -1, 1]
        axis = None if axis is None else (-axis[0], axis[1], axis[2])
    plane, place = plane.image(place, image.mirror is not None, image.advance)
    R, r = as_numbers(frame.X.E).T, as_numbers(frame.X.r).ravel()
    p = as_numbers(plane.to_world(DM([place[0], place[1], 0.0]))).ravel()
    ground = as_numbers(plane.R @ rotation_about((0.0, 0.0, 1.0), DM(place[2])))
    flat = f.kind != "point"
    return Span(frame.body, begin, end, flat, r + R @ point, R, axis, (ground, p), radius=radius, side=_side(model, f))


def _side(model: Model, f: Foothold) -> float:
    """1 for an edge ahead of the sole from which it is derived, in the direction in which it rolls, -1 for one
    behind."""
    if f.of is None or not isinstance(f.contact, RollingContact) or f.contact.axis is None:
        return 0.0
    x, y, _ = f.offset(model)
    return float(np.sign(x * f.contact.axis[1] - y * f.contact.axis[0]))


def _body(model: Model, f: Foothold) -> int:
    return resolve(model, f.contact.body).body


def _over_toes(model: Model, toes: Span) -> Span:
    """The span of a foot that rolls about the joint of its flat toes."""
    joint, X = model.joints[toes.body], model.X_tree[toes.body]
    assert isinstance(joint, Revolute)
    R, p = toes.pose(toes.begin)
    left = R.T @ toes.place[0][:, 1]
    axis = tuple(np.sign(left @ joint.axis) * np.array(joint.axis))  # positive angles lift the heel
    rotation, point = as_numbers(X.E).T, as_numbers(X.r).ravel()
    return Span(model.parent[toes.body], toes.begin, toes.end, True, point, rotation, axis, (R, p), toes=toes)


def _carried(foot: Span, toes: list[Span]) -> Span:
    """The span of a foot over its toes, whose own angles are known; round toes roll through half of its angle."""
    under = next(s for s in toes if s.begin < foot.end - TIME_TOLERANCE and foot.begin < s.end - TIME_TOLERANCE)
    return replace(foot, toes=under, last=foot.last - under.last)


def toes_at(
    model: Model, body: int, toes: list[Span], feet: list[Span], time: float, lift: float
) -> tuple[Array, Array]:
    """(R, p) of toes at a time [s]: on the ground, or on their foot, in the swing straightening from the angle at which
    they left the ground."""
    for span in toes:
        if span.begin - TIME_TOLERANCE <= time <= span.end + TIME_TOLERANCE:
            return span.pose(time)
    R, p = pose_at(feet, time, lift)
    X = model.X_tree[body]
    R, p = R @ as_numbers(X.E).T, p + R @ as_numbers(X.r).ravel()
    before, after = [s for s in feet if s.end < time], [s for s in feet if s.begin > time]
    standing = any(s.begin <= time <= s.end for s in feet)
    if standing or not before or not after or before[-1].axis is None:
        return R, p
    bent = before[-1].last * (after[0].begin - time) / (after[0].begin - before[-1].end)
    return R @ as_numbers(rotation_about(before[-1].axis, DM(-bent))), p


def _append(spans: list[Span], span: Span) -> None:
    """Appends the span, or extends the last span if the foot stays on the same contact point."""
    if spans and span.begin - spans[-1].end < TIME_TOLERANCE and np.allclose(spans[-1].point, span.point):
        span = replace(spans.pop(), end=span.end)
    spans.append(span)


def _with_angles(plan: FootPlan, spans: list[Span], toes: bool) -> list[Span]:
    """Sets the angles of edges: `strike` at the start if the foot comes from the air, `leave` if it lifts off after.

    A foot that walks forward strikes with its heel and leaves with its toes; the heel is up, a positive angle, over an
    edge at the toes, and the toes are up, a negative one, over an edge at the heel, in whatever order they come.
    toes: the spans are those of toes, which are set down level and leave at half of the angle.
    """
    angled = []
    for k, span in enumerate(spans):
        from_air = k == 0 or span.begin - spans[k - 1].end > TIME_TOLERANCE
        to_air = k == len(spans) - 1 or spans[k + 1].begin - span.end > TIME_TOLERANCE
        edge = span.axis is not None
        first = (span.side or -1.0) * plan.strike if edge and from_air else 0.0
        last = (span.side or 1.0) * plan.leave if edge and to_air else 0.0
        angled.append(replace(span, first=0.0 if toes else first, last=last / 2 if toes else last))
    return angled


def pose_at(spans: list[Span], time: float, lift: float) -> tuple[Array, Array]:
    """(R, p) of a foot at a time [s]: on the ground, or swinging to the next place."""
    for span in spans:
        if span.begin - TIME_TOLERANCE <= time <= span.end + TIME_TOLERANCE:
            return span.pose(time)
    before, after = [s for s in spans if s.end < time], [s for s in spans if s.begin > time]
    if not before or not after:
        return after[0].pose(after[0].begin) if after else before[-1].pose(before[-1].end)
    (R0, p0), (R1, p1) = before[-1].pose(before[-1].end), after[0].pose(after[0].begin)
    u = (time - before[-1].end) / (after[0].begin - before[-1].end)
    s = u * u * (3 - 2 * u)
    R = R0 @ as_numbers(_part_of_turn()(matrix_quaternion(R0.T @ R1), s))
    up = lift * math.sin(math.pi * u) ** 2 + _climb(before[-1], after[0], u)
    return R, (1 - s) * p0 + s * p1 + np.array([0.0, 0.0, up])


@cache
def _part_of_turn() -> ca.Function:
    """(quaternion, s) -> R, the rotation matrix of the fraction s of a turn."""
    turn, s = SX.sym("turn", 4), SX.sym("s")
    return ca.Function("part", [turn, s], [quaternion_matrix(quaternion_exp(s * quaternion_log(turn)))])


def positions(model: Model, q: Array, places: Sequence[tuple[str, Vector]]) -> Array:
    """World positions (N, 3) [m] of points of frames, in the posture q; places: frames and points, in their
    coordinates."""
    x = SX.sym("q", model.nq)
    found = [point_position(model, frame, x, point) for frame, point in places]
    return np.array(OnArrays([x], [ca.horzcat(*found)])(q)[0].T)


def _climb(span: Span, later: Span, u: float) -> float:
    """Height [m] of a swinging foot above the even way between two places of unequal height, at the fraction u of the
    swing: it rises before it moves ahead, and moves ahead before it sinks."""
    height = span.ground - later.ground
    early = min(1.0, u / CLIMBING) if height < 0 else max(0.0, (u - 1) / CLIMBING + 1)
    return float(height * (u * u * (3 - 2 * u) - early * early * (3 - 2 * early)))


def ground_at(spans: list[Span], times: Array) -> Array:
    """Height of the ground under a foot [m] at these times; between two places it changes linearly."""
    ends = [(time, span.ground) for span in spans for time in (span.begin, span.end)]
    return np.asarray(np.interp(times, *np.transpose(ends)), dtype=np.float64)


def heading_at(spans: list[Span], times: Array) -> Array:
    """Heading of a foot [rad] at these times; between two places it changes linearly."""
    ends = [
        (time, math.atan2(span.place[0][1, 0], span.place[0][0, 0]))
        for span in spans
        for time in (span.begin, span.end)
    ]
    when, heading = np.transpose(ends)
    return np.asarray(np.interp(times, when, np.unwrap(heading)), dtype=np.float64)


def mean_heading(headings: list[Array]) -> Array:
    """Mean heading of the feet [rad], each a row of angles: 3.1 and -3.1 are near each other, and their mean is pi."""
    first = headings[0]
    turns = [np.round((first[0] - heading[0]) / (2 * np.pi)) for heading in headings]
    near = [heading + 2 * np.pi * turn for heading, turn in zip(headings, turns, strict=True)]
    return np.asarray(np.mean(near, axis=0), dtype=np.float64)


def period_image(transcription: Transcription, n: int) -> Repetition:
    """The map to the n-th period after the motion, for the first value of the step."""
    return Repetition.of(transcription.problem.model, first_step(transcription), transcription.mirror, n)


def first_step(transcription: Transcription) -> Advance:
    """The first value of the step from one period to the next."""
    return Advance.of(*advance_value(transcription, transcription.program.start).values())


def as_numbers(x: Any) -> Array:
    return np.array(DM(x).full())
