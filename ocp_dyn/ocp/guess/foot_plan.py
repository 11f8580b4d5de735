"""A first guess for motions on feet: paths of the feet through the phases, and postures that follow these paths.

Feet stand as the phases require: flat, on points, or rolling over an edge from the angle at which they strike, or to
the angle at which they leave the ground; steps backwards strike with the toes and leave with the heel. Over flat toes
they roll about the joint of the toes; in the swing the toes straighten again. Between two places they swing, and climb
before they move ahead. The base goes upright, above the feet and with their mean heading: in a periodic motion at a
constant speed, straight or along an arc, in others as smoothly as the mean of the feet. Every posture is the posture
nearest to standing that follows base and feet, by damped least squares.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.on_arrays import OnArrays
from ..._base.types import Array
from ...constraints import Contact
from ...dynamics.kinematics import point_position, pose
from ...mechanism import Model
from ...spatial_algebra.rotations import rotation_about
from ...symmetry.advance import Advance, Repetition, obstacle
from ..statement.footholds import Foothold
from ..statement.guesses import FootPlan
from ..statement.statement import Statement
from ..transcription.variables import Transcription
from .foot_tracks import (
    TIME_TOLERANCE,
    as_numbers,
    first_step,
    ground_at,
    heading_at,
    mean_heading,
    period_image,
    pose_at,
    positions,
    toes_at,
    tracks_of,
)

State = Callable[[float], tuple[Array, Array]]


SMOOTHING_WINDOW = 0.04
"""Width of the window in which the guessed motion is smoothed [s]; at least the largest distance of two nodes."""

BASE_WINDOW = 0.15
"""Standard deviation of the weights by which the base of a motion that is not periodic follows the feet [s]: with a
quarter of the time of a step it moves nearly evenly while they step."""


def planned(plan: FootPlan, transcription: Transcription, durations: list[float], q0: Array) -> State:
    """Makes the guess s -> (q, qd), s the fraction of the motion, by smoothing the postures at all nodes."""
    problem, model = transcription.problem, transcription.problem.model
    total = sum(durations)
    tracks = tracks_of(plan, transcription, durations)
    nodes = nodes_of(problem, durations)
    bodies = {body: [pose_at(spans, time, plan.lift) for time in nodes] for body, spans in tracks.items()}
    toes = [body for body in tracks if model.parent[body] in tracks]
    for body in toes:
        foot = tracks[model.parent[body]]
        bodies[body] = [toes_at(model, body, tracks[body], foot, time, plan.lift) for time in nodes]
    feet = [body for body in tracks if body not in toes]
    middle = np.mean([[p for _, p in bodies[body]] for body in feet], axis=0)
    heading = mean_heading([heading_at(tracks[body], nodes) for body in feet])
    base, heading = _base_path(transcription, nodes, middle[:, :2], heading)
    ground = np.mean([ground_at(tracks[body], nodes) for body in feet], axis=0)
    base_height, stands_on = _standing_height(problem, q0, ground[0])
    height = ground + (1 - plan.crouch) * base_height
    fit = _Fit(model, list(bodies), problem.limits)
    # the posture near which q stays goes along, or it would pull the base back; it keeps its heading, because exactly
    # upright postures over straight legs are singular
    upright = _above(model, q0, heading[0], np.column_stack([base, ground]), stands_on)
    q, table = upright[0], []
    for k in range(len(nodes)):
        R = as_numbers(rotation_about((0.0, 0.0, 1.0), DM(heading[k])))
        goal = [(R, np.array([*base[k], height[k]])), *(poses[k] for poses in bodies.values())]
        q = fit(q, upright[k], goal)
        table.append(q)
    return smoothed(transcription, fit, q0, nodes, table, total)


def nodes_of(problem: Statement, durations: list[float]) -> Array:
    """Times [s] of all nodes; a node that two phases share comes once."""
    begins = np.concatenate([[0.0], np.cumsum(durations)])
    times = [
        (
            np.linspace(begin, begin + duration, phase.grid.count + 1)
            if phase.grid.is_even
            else begin + duration * phase.grid.nodes
        )[:-1]
        for begin, duration, phase in zip(begins[:-1], durations, problem.phases, strict=True)
    ]
    return np.concatenate([*times, [sum(durations)]])


def _above(model: Model, q0: Array, heading: float, places: Array, stands_on: float) -> list[Array]:
    """The posture q0 with the base above places (N, 3) [m] on the ground and with this heading [rad], as far as the
    root joint can do it. stands_on: height of the ground under q0 [m].

    A fit that begins half a turn away does not get there.
    """
    base, q = model.body_names[0], DM(q0)
    if not obstacle(model, shifts=(False, False, False), turns=True):
        R = as_numbers(pose(model, base, q)[0])
        q = Advance.of(turn=heading - math.atan2(R[1, 0], R[0, 0])).q(model, q)
    under = [*as_numbers(point_position(model, base, q)).ravel()[:2], stands_on]
    return [as_numbers(Advance.of(*shift).q(model, q)).ravel() for shift in places - under]


def _standing_height(problem: Statement, q0: Array, ground: float) -> tuple[float, float]:
    """Height [m] of the base above the ground that it stands on in the standing posture, and the height of this ground:
    that of the lowest foot, or in a posture of the user's own the ground of the start."""
    model = problem.model
    feet = [f for f in problem.footholds if isinstance(f, Foothold) and f.plane == problem.footholds[0].plane]
    places = [(model.body_names[0], (0.0, 0.0, 0.0)), *((f.name, f.point) for f in feet)]
    base, *heights = positions(model, q0, places)[:, 2].tolist()
    lowest = ground if problem.posture is not None else min(heights)
    return base - lowest, lowest


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
    begin = DM(np.mean([as_numbers(p).ravel() for p in backs], axis=0))
    return np.array([as_numbers(share.point(begin)).ravel()[:2] for share in shares]), first + turns


def _averaged(times: Array, values: Array) -> Array:
    """Values (N, k) at these times, each the mean over those near in time, with normal weights; at both ends the motion
    stands still."""
    step = BASE_WINDOW / 4
    before = np.arange(-3 * BASE_WINDOW, 0, step)
    even = np.concatenate([times[0] + before, np.arange(times[0], times[-1], step), times[-1] - before[::-1]])
    known = np.column_stack([np.interp(even, times, column) for column in values.T])
    weight = np.exp(-0.5 * ((times[:, None] - even) / BASE_WINDOW) ** 2)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True) @ known)


def smoothed(
    transcription: Transcription, fit: Manifold, q0: Array, nodes: Array, table: list[Array], total: float
) -> State:
    """Makes the guess s -> (q, qd) from parabolas that are fitted to the postures at times near s.

    Local regression (Cleveland, J. Am. Stat. Assoc. 74, 1979) on the tangents from q0; a periodic motion is continued
    by one period before and after.
    """
    times, postures = nodes, table
    if transcription.problem.periodic is not None:
        before, after = (period_image(transcription, n) for n in (-1, 1))
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


def _moved(image: Repetition, q: Array) -> Array:
    return as_numbers(image.q(DM(q))).ravel()


class Manifold:
    """Steps on the configuration manifold of a model, on numbers, and the limits of its joints, if they hold."""

    LIMIT_WEIGHT = 1e6
    LARGEST_STEP = 0.5  # of a dof [rad, m]

    def __init__(self, model: Model, limits: bool) -> None:
        q, q1, v = SX.sym("q", model.nq), SX.sym("q1", model.nq), SX.sym("v", model.nv)
        self._integrate = OnArrays([q, v], [model.integrate(q, v)])
        self._difference = OnArrays([q, q1], [model.difference(q, q1)])
        self._limits = (model.dofs.q_lower, model.dofs.q_upper) if limits else (-np.inf, np.inf)

    def integrate(self, q: Array, v: Array) -> Array:
        """`Model.integrate` on numbers."""
        return self._integrate(q, v)[0].ravel()

    def difference(self, q: Array, q1: Array) -> Array:
        """`Model.difference` on numbers."""
        return self._difference(q, q1)[0].ravel()

    def step(self, q: Array, normal: Array, damping: Array, right: Array) -> tuple[Array, Array]:
        """The configuration after a damped Gauss-Newton step from q inside the limits, and the step v: (normal +
        diag(damping)) v = -right."""
        v: Array
        for _ in range(2):  # the second solve holds dofs that reach a limit, so that others compensate
            v = np.asarray(np.linalg.solve(normal + np.diag(damping), -right), dtype=np.float64).ravel()
            v = v * min(1.0, self.LARGEST_STEP / max(np.abs(v).max(), TIME_TOLERANCE))
            ahead = np.clip(self.integrate(q, v), *self._limits)
            stopped = np.abs(self.difference(q, ahead) - v) > TIME_TOLERANCE
            if not stopped.any():
                break
            damping = np.where(stopped, self.LIMIT_WEIGHT, damping)
        return ahead, v


class _Fit(Manifold):
    """Postures near a standing one that bring the base and the feet to given poses, by damped Gauss-Newton steps."""

    POSTURE_WEIGHT = 0.01
    BASE_WEIGHTS = (0.3, 0.3, 0.3, 0.1, 0.1, 0.02)  # angles, then x, y, z; the weight of feet is 1
    LARGEST_STEP_COUNT = 6
    STEP_TOLERANCE = 1e-3  # iterations end at a step below this [rad, m]

    def __init__(self, model: Model, bodies: list[int], limits: bool) -> None:
        super().__init__(model, limits)
        q, standing = SX.sym("q", model.nq), SX.sym("standing", model.nq)
        contacts = [Contact(model.body(model.body_names[i - 1])) for i in (1, *bodies)]
        poses = [(SX.sym("R", 3, 3), SX.sym("p", 3)) for _ in contacts]
        rows = [c.position_from(model, q, R, p) for c, (R, p) in zip(contacts, poses, strict=True)]
        J = ca.vertcat(*(c.jacobian(model, q) for c in contacts))
        away = model.difference(standing, q)
        inputs = [q, standing, *(x for pose in poses for x in pose)]
        self._function = OnArrays(inputs, [ca.vertcat(*rows), J, away])
        self._weights = np.array([*self.BASE_WEIGHTS, *np.ones(6 * len(bodies))])[:, None]

    def __call__(self, q: Array, standing: Array, goal: list[tuple[Array, Array]]) -> Array:
        flat = [x for pose in goal for x in pose]
        for _ in range(self.LARGEST_STEP_COUNT):
            r, J, away = self._function(q, standing, *flat)
            A, b = self._weights * J, self._weights * r
            damping = np.full(A.shape[1], self.POSTURE_WEIGHT**2)
            q, v = self.step(q, A.T @ A, damping, A.T @ b + self.POSTURE_WEIGHT**2 * away)
            if np.abs(v).max() < self.STEP_TOLERANCE:
                break
        return q
