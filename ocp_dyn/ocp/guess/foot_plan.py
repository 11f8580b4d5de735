"""A first guess for motions on feet: paths of the feet through the phases, and postures that follow these paths.

Feet stand as the phases require: flat, on points, or rolling over an edge from the angle at which they strike, or to
the angle at which they leave the ground. Over flat toes they roll about the joint of the toes; in the swing the toes
straighten again. Between two places they swing. The base moves forward at a constant speed,
upright. Every posture is the posture nearest to standing that follows base and feet, by damped least squares.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._types import Array, Vector
from ...constraints import Contact, RollingContact
from ...dynamics.kinematics import resolve
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

State = Callable[[float], tuple[Array, Array]]


SMOOTHING_WINDOW = 0.04
"""Width of the window in which the guessed motion is smoothed [s]; at least the largest distance of two nodes."""

BASE_WINDOW = 0.1
"""Standard deviation of the weights by which the base of a motion that is not periodic follows the feet [s]."""

TIME_TOLERANCE = 1e-9
"""Two spans are consecutive if the time between them is below this [s]; also the tolerance of a step [rad, m]."""


@dataclass(frozen=True)
class Span:
    """A foot on the ground from begin to end [s]; its edge turns from the angle `first` to `last` [rad].

    point and rotation: of the contact, in the coordinates of the body; axis: of the edge, in the frame (None: no edge);
    place: the pose (R, p) of the ground under the contact. radius [m]: of a rounded edge, which rolls. toes: the span of
    the toes over which a foot rolls; then axis and point are those of their joint, and they take the place of the ground.
    side: 1 for an edge ahead of the middle of the foot's sole, -1 for one behind it, 0 where that is not known.
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

    def pose(self, time: float) -> tuple[Array, Array]:
        """(R, p) of the body at a time [s] within the span."""
        u = (time - self.begin) / max(self.end - self.begin, TIME_TOLERANCE)
        angle = (1 - u) * self.first + u * self.last
        ground, p = self.place if self.toes is None else self.toes.pose(time)
        R, arm = ground @ self.rotation.T, np.zeros(3)
        if self.axis is not None:
            R = ground @ _numbers(rotation_about(self.axis, DM(angle))) @ self.rotation.T
            arm = self.rotation @ [0.0, 0.0, self.radius]
            p = p + self.radius * ground @ [angle * self.axis[1], -angle * self.axis[0], 1.0]
        return R, p - R @ (self.point + arm)


def planned(plan: FootPlan, transcription: Transcription, durations: list[float], q0: Array) -> State:
    """Makes the guess s -> (q, qd), s the fraction of the motion, by smoothing the postures at all nodes."""
    problem, model = transcription.problem, transcription.problem.model
    total = sum(durations)
    tracks = _tracks(plan, transcription, durations)
    begins = np.concatenate([[0.0], np.cumsum(durations)])
    times = [
        np.linspace(begin, begin + duration, phase.intervals + 1)[:-1]
        for begin, duration, phase in zip(begins[:-1], durations, problem.phases, strict=True)
    ]
    nodes = np.concatenate([*times, [total]])
    bodies = {body: [_pose_at(spans, time, plan.lift) for time in nodes] for body, spans in tracks.items()}
    toes = [body for body in tracks if model.parent[body] in tracks]
    for body in toes:
        foot = tracks[model.parent[body]]
        bodies[body] = [_toes_at(model, body, tracks[body], foot, time, plan.lift) for time in nodes]
    feet = [body for body in tracks if body not in toes]
    middle = np.mean([[p for _, p in bodies[body]] for body in feet], axis=0)
    heading = np.mean([_heading_at(tracks[body], nodes) for body in feet], axis=0)
    base, heading = _base_path(transcription, nodes, middle[:, :2], heading)
    rise = np.mean([_ground_at(tracks[body], nodes) for body in feet], axis=0)
    height = q0[2] * (1 - plan.crouch) + rise - rise[0]  # the standing posture q0 stands on the ground at the start
    fit = _Fit(model, list(bodies), q0, problem.limits)
    q = q0
    table = []
    for k in range(len(nodes)):
        R = _numbers(rotation_about((0.0, 0.0, 1.0), DM(heading[k])))
        q = fit(q, [(R, np.array([*base[k], height[k]])), *(poses[k] for poses in bodies.values())])
        table.append(q)
    return _smooth(transcription, fit, q0, nodes, table, total)


def _base_path(transcription: Transcription, nodes: Array, middle: Array, heading: Array) -> tuple[Array, Array]:
    """Horizontal positions (N, 2) [m] and headings (N) [rad] of the base at the nodes (N) [s], from the mean positions
    and headings of the feet.

    A periodic motion goes at a constant speed along a line, or along an arc if it turns: its mean is that of the
    feet. A mirrored one heads along x. Other motions follow the feet, smoothly.
    """
    if transcription.problem.periodic is None:
        return _averaged(nodes, middle), _averaged(nodes, heading[:, None])[:, 0]
    advance = first_step(transcription)
    shares = [advance.share(u) for u in nodes / nodes[-1]]
    turns = np.array([share.angle for share in shares])
    first = 0.0 if transcription.mirror is not None else float(np.mean(heading - turns))
    backs = [share.inverse().point(DM([*p, 0.0])) for share, p in zip(shares, middle, strict=True)]
    begin = DM(np.mean([_numbers(p).ravel() for p in backs], axis=0))
    return np.array([_numbers(share.point(begin)).ravel()[:2] for share in shares]), first + turns


def _averaged(times: Array, values: Array) -> Array:
    """Values (N, k) at these times, each the mean over those near in time, with normal weights; at both ends the motion
    stands still."""
    step = BASE_WINDOW / 4
    before = np.arange(-3 * BASE_WINDOW, 0, step)
    even = np.concatenate([times[0] + before, np.arange(times[0], times[-1], step), times[-1] - before[::-1]])
    known = np.column_stack([np.interp(even, times, column) for column in values.T])
    weight = np.exp(-0.5 * ((times[:, None] - even) / BASE_WINDOW) ** 2)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True) @ known)


def _smooth(
    transcription: Transcription, fit: _Fit, q0: Array, nodes: Array, table: list[Array], total: float
) -> State:
    """Makes the guess s -> (q, qd) from parabolas that are fitted to the postures at times near s.

    Local regression (Cleveland, J. Am. Stat. Assoc. 74, 1979) on the tangents from q0; a periodic motion is continued
    by one period before and after.
    """
    times, postures = nodes, table
    if transcription.problem.periodic is not None:
        before, after = (_period(transcription, n) for n in (-1, 1))
        times = np.concatenate([nodes[:-1] - total, nodes, nodes[1:] + total])
        postures = [*(_moved(before, q) for q in table[:-1]), *table, *(_moved(after, q) for q in table[1:])]
    values = np.array([fit.difference(q0, q) for q in postures])
    width = max(SMOOTHING_WINDOW, float(np.diff(nodes).max()))

    def state(s: float) -> tuple[Array, Array]:
        gap = times - s * total
        weight = np.exp(-0.25 * (gap / width) ** 2)[:, None]  # square root of the weight of a squared residual
        parabola = np.linalg.lstsq(weight * np.vander(gap, 3, increasing=True), weight * values)[0]
        return fit.integrate(q0, parabola[0]), parabola[1]

    return state


def _period(transcription: Transcription, n: int) -> Repetition:
    """The map to the n-th period after the motion, for the first value of the step."""
    return Repetition.of(transcription.problem.model, first_step(transcription), transcription.mirror, n)


def first_step(transcription: Transcription) -> Advance:
    """The first value of the step from one period to the next."""
    return Advance.of(*advance_value(transcription, transcription.program.start).values())


def _moved(image: Repetition, q: Array) -> Array:
    return _numbers(image.q(DM(q))).ravel()


def _tracks(plan: FootPlan, transcription: Transcription, durations: list[float]) -> dict[int, list[Span]]:
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
    model, image = transcription.problem.model, _period(transcription, period)
    place, plane = place_value(transcription, f, transcription.program.start, first_step(transcription)), f.plane
    frame, point = resolve(model, f.contact.body), np.array(f.point)
    axis, radius = (f.contact.axis, f.contact.radius) if isinstance(f.contact, RollingContact) else (None, 0.0)
    if image.mirror is not None:
        frame = image.mirror.frame(frame.name)
        point = point * [1, -1, 1]
        axis = None if axis is None else (-axis[0], axis[1], axis[2])
    plane, place = plane.image(place, image.mirror is not None, image.advance)
    R, r = _numbers(frame.X.E).T, _numbers(frame.X.r).ravel()
    p = _numbers(plane.to_world(DM([place[0], place[1], 0.0]))).ravel()
    ground = _numbers(plane.R @ rotation_about((0.0, 0.0, 1.0), DM(place[2])))
    flat = f.kind != "point"
    return Span(frame.body, begin, end, flat, r + R @ point, R, axis, (ground, p), radius=radius, side=_side(model, f))


def _side(model: Model, f: Foothold) -> float:
    """1 for an edge ahead of the sole from which it is derived, in the direction in which it rolls, -1 for one behind."""
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
    rotation, point = _numbers(X.E).T, _numbers(X.r).ravel()
    return Span(model.parent[toes.body], toes.begin, toes.end, True, point, rotation, axis, (R, p), toes=toes)


def _carried(foot: Span, toes: list[Span]) -> Span:
    """The span of a foot over its toes, whose own angles are known; round toes roll through half of its angle."""
    under = next(s for s in toes if s.begin < foot.end - TIME_TOLERANCE and foot.begin < s.end - TIME_TOLERANCE)
    return replace(foot, toes=under, last=foot.last - under.last)


def _toes_at(
    model: Model, body: int, toes: list[Span], feet: list[Span], time: float, lift: float
) -> tuple[Array, Array]:
    """(R, p) of toes at a time [s]: on the ground, or on their foot, in the swing straightening from the angle at which
    they left the ground."""
    for span in toes:
        if span.begin - TIME_TOLERANCE <= time <= span.end + TIME_TOLERANCE:
            return span.pose(time)
    R, p = _pose_at(feet, time, lift)
    X = model.X_tree[body]
    R, p = R @ _numbers(X.E).T, p + R @ _numbers(X.r).ravel()
    before, after = [s for s in feet if s.end < time], [s for s in feet if s.begin > time]
    standing = any(s.begin <= time <= s.end for s in feet)
    if standing or not before or not after or before[-1].axis is None:
        return R, p
    bent = before[-1].last * (after[0].begin - time) / (after[0].begin - before[-1].end)
    return R @ _numbers(rotation_about(before[-1].axis, DM(-bent))), p


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


def _pose_at(spans: list[Span], time: float, lift: float) -> tuple[Array, Array]:
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
    turn = quaternion_log(DM(matrix_quaternion(R0.T @ R1)))
    R = R0 @ _numbers(quaternion_matrix(quaternion_exp(s * turn)))
    return R, (1 - s) * p0 + s * p1 + np.array([0.0, 0.0, lift * math.sin(math.pi * u) ** 2])


def _ground_at(spans: list[Span], times: Array) -> Array:
    """Height of the ground under a foot [m] at these times; between two places it changes linearly."""
    ends = [(time, span.place[1][2]) for span in spans for time in (span.begin, span.end)]
    return np.asarray(np.interp(times, *np.transpose(ends)), dtype=np.float64)


def _heading_at(spans: list[Span], times: Array) -> Array:
    """Heading of a foot [rad] at these times; between two places it changes linearly."""
    ends = [
        (time, math.atan2(span.place[0][1, 0], span.place[0][0, 0]))
        for span in spans
        for time in (span.begin, span.end)
    ]
    when, heading = np.transpose(ends)
    return np.asarray(np.interp(times, when, np.unwrap(heading)), dtype=np.float64)


class _Fit:
    """Postures near q0 that bring the base and the feet to given poses, by damped Gauss-Newton steps."""

    POSTURE_WEIGHT = 0.01
    BASE_WEIGHTS = (0.3, 0.3, 0.3, 0.1, 0.1, 0.02)  # angles, then x, y, z; the weight of feet is 1
    LIMIT_WEIGHT = 1e6
    LARGEST_STEP_COUNT = 6
    STEP_TOLERANCE = 1e-3  # iterations end at a step below this [rad, m]

    def __init__(self, model: Model, bodies: list[int], q0: Array, limits: bool) -> None:
        q = SX.sym("q", model.nq)
        contacts = [Contact(model.body(model.body_names[i - 1])) for i in (1, *bodies)]
        poses = [(SX.sym("R", 3, 3), SX.sym("p", 3)) for _ in contacts]
        rows = [c.position_from(model, q, R, p) for c, (R, p) in zip(contacts, poses, strict=True)]
        J = ca.vertcat(*(c.jacobian(model, q) for c in contacts))
        away = model.difference(DM(q0), q)
        inputs = [q, *(x for pose in poses for x in pose)]
        self._function = ca.Function("fit", inputs, [ca.vertcat(*rows), ca.densify(J), away], {"cse": True})
        v, q1 = SX.sym("v", model.nv), SX.sym("q1", model.nq)
        self._integrate = ca.Function("integrate", [q, v], [model.integrate(q, v)])
        self._difference = ca.Function("difference", [q, q1], [model.difference(q, q1)])
        self._weights = np.array([*self.BASE_WEIGHTS, *np.ones(6 * len(bodies))])[:, None]
        self._limits = (model.dofs.q_lower, model.dofs.q_upper) if limits else (-np.inf, np.inf)

    def __call__(self, q: Array, goal: list[tuple[Array, Array]]) -> Array:
        flat: list[Any] = [x for pose in goal for x in pose]
        for _ in range(self.LARGEST_STEP_COUNT):
            r, J, away = (_numbers(x) for x in self._function(q, *flat))
            A, b = self._weights * J, self._weights * r
            damping = np.full(A.shape[1], self.POSTURE_WEIGHT**2)
            for _ in range(2):  # the second solve holds dofs that reach a limit, so that others compensate
                right = A.T @ b + self.POSTURE_WEIGHT**2 * away
                v = np.asarray(np.linalg.solve(A.T @ A + np.diag(damping), -right), dtype=np.float64).ravel()
                v *= min(1.0, 0.5 / np.abs(v).max())
                ahead = np.clip(self.integrate(q, v), *self._limits)
                stopped = np.abs(self.difference(q, ahead) - v) > TIME_TOLERANCE
                if not stopped.any():
                    break
                damping = np.where(stopped, self.LIMIT_WEIGHT, self.POSTURE_WEIGHT**2)
            q = ahead
            if np.abs(v).max() < self.STEP_TOLERANCE:
                break
        return q

    def integrate(self, q: Array, v: Array) -> Array:
        """`Model.integrate` on numbers."""
        return _numbers(self._integrate(q, v)).ravel()

    def difference(self, q: Array, q1: Array) -> Array:
        """`Model.difference` on numbers."""
        return _numbers(self._difference(q, q1)).ravel()


def _numbers(x: Any) -> Array:
    return np.array(DM(x).full())
