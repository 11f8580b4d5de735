"""A first guess through postures: a curve on the configuration manifold, and at every node feet on their footholds.

The postures at the user's fractions of the motion are first brought onto the footholds held at these times: the nearest
posture, by damped least squares. Between them runs a monotone cubic in the logarithm at the first posture (Fritsch and
Butland, SIAM J. Sci. Stat. Comput. 5, 1984). At every node the posture on this curve is brought onto the footholds
again; feet in the air swing from one foothold to the next as in a plan of the feet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.on_arrays import OnArrays
from ..._base.types import Array, Indices
from ...constraints import Contact
from ...mechanism import Model
from ..statement.footholds import Foothold
from ..statement.guesses import FootPlan, Postures, entries_of
from ..transcription.variables import Transcription, place_value
from .foot_plan import Manifold, State, nodes_of, smoothed
from .foot_tracks import TIME_TOLERANCE, first_step, pose_at, tracks_of

NAMED, OTHERS, FREE = 0.1, 0.02, 1e-3
"""Weights of the distance from a posture: of joints that it names, of the others, and of a base that it does not name.
The weight of the rows of footholds is 1."""

FOLLOWING = 0.02
"""Weight of the distance from the curve through the postures, at the nodes between them."""

LARGEST_STEP_COUNT = 60
STEP_TOLERANCE = 1e-4
"""Iterations end at a step below this [rad, m]."""


@dataclass(frozen=True)
class Goal:
    """Rows of a foot and their target: all entries that the function takes after q."""

    rows: OnArrays
    target: Array


def through_postures(plan: Postures, transcription: Transcription, durations: list[float], q0: Array) -> State:
    """Makes the guess s -> (q, qd), s the fraction of the motion."""
    problem = transcription.problem
    feet = LimbGoals(plan, transcription, durations)
    fit = Nearest(problem.model, problem.limits)
    total, table = sum(durations), []
    fractions = np.array([fraction for fraction, _ in plan.at])
    for fraction, posture in plan.at:
        index, values = entries_of(problem.model, posture, "posture")
        wanted = q0.copy()
        wanted[index] = values
        table.append(fit(wanted, _weights(problem.model, index), feet.goals(fraction * total)))
    away = np.array([fit.difference(table[0], q) for q in table])
    rates = slopes(fractions, away, plan.rest)
    times = nodes_of(problem, durations)
    weights = np.full(problem.model.nv, FOLLOWING)
    found = []
    for time in times:
        q = fit.integrate(table[0], cubic(fractions, away, rates, time / total))
        found.append(fit(q, weights, feet.goals(time)))
    smooth = smoothed(transcription, fit, table[0], times, found, total)

    def state(s: float) -> tuple[Array, Array]:
        q, qd = smooth(s)
        at_rest = plan.rest and min(s, 1 - s) < TIME_TOLERANCE
        return q, 0 * qd if at_rest else qd

    return state


def _weights(model: Model, index: Indices) -> Array:
    """Weight (nv) of every dof's distance from a posture that gives these entries of q."""
    found, given = np.full(model.nv, OTHERS), set(index.tolist())
    for joint in model.joint_names:
        dofs, entries = model.qd_slice(joint), np.arange(model.nq)[model.q_slice(joint)].tolist()
        same = dofs.stop - dofs.start == len(entries)
        if joint in model.floating_joints and not given & set(entries):
            found[dofs] = FREE
        elif same:
            found[dofs] = [NAMED if k in given else OTHERS for k in entries]
        elif given & set(entries):
            found[dofs] = NAMED
    return found


def slopes(x: Array, y: Array, rest: bool) -> Array:
    """Rates dy/dx of a monotone cubic at the points (x, y), one row per point; zero at both ends if `rest`.

    The harmonic mean of the slopes on both sides, weighted by Fritsch and Butland; zero at a turning point.
    """
    h, secants = np.diff(x)[:, None], np.diff(y, axis=0) / np.diff(x)[:, None]
    rates = np.zeros_like(y)
    before, after = secants[:-1], secants[1:]
    share = (h[:-1] + 2 * h[1:]) / (3 * (h[:-1] + h[1:]))
    same = before * after > 0
    mean = share * after + (1 - share) * before
    rates[1:-1] = np.divide(before * after, mean, out=np.zeros_like(mean), where=same)
    if not rest:
        rates[0], rates[-1] = secants[0], secants[-1]
    return rates


def cubic(x: Array, y: Array, rates: Array, at: float) -> Array:
    """The value at `at` of the cubics through the points (x, y) with these rates."""
    k = int(np.clip(np.searchsorted(x, at) - 1, 0, len(x) - 2))
    h = x[k + 1] - x[k]
    u = float(np.clip((at - x[k]) / h, 0.0, 1.0))
    value = (1 + 2 * u) * (1 - u) ** 2 * y[k] + u**2 * (3 - 2 * u) * y[k + 1]
    return np.asarray(value + h * u * (1 - u) * ((1 - u) * rates[k] - u * rates[k + 1]))


class LimbGoals:
    """The goals of feet, hands and seat at every time of a motion.

    A body that stands flat somewhere has a pose at all times between its first and its last stand. Other bodies are
    held by the rows of their footholds, and swing with their contact point.
    """

    def __init__(self, plan: Postures, transcription: Transcription, durations: list[float]) -> None:
        self.model, self.lift = transcription.problem.model, plan.lift
        swing = FootPlan(plan.strike, plan.leave, plan.lift)
        self.tracks = tracks_of(swing, transcription, durations)
        self.flat = {
            body for body, spans in self.tracks.items() if any(span.flat and span.axis is None for span in spans)
        }
        self.held: list[tuple[float, float, Foothold, Array]] = []
        begin = 0.0
        for phase, duration in zip(transcription.problem.phases, durations, strict=True):
            for f in (f for f in phase.footholds if isinstance(f, Foothold)):
                place = place_value(transcription, f, transcription.program.start, first_step(transcription))
                self.held.append((begin, begin + duration, f, place))
            begin += duration
        self._rows: dict[Any, OnArrays] = {}

    def goals(self, time: float) -> list[Goal]:
        """The goals at a time [s]."""
        found = []
        for body, spans in self.tracks.items():
            if spans[0].begin - TIME_TOLERANCE <= time <= spans[-1].end + TIME_TOLERANCE:
                stands = any(s.begin - TIME_TOLERANCE <= time <= s.end + TIME_TOLERANCE for s in spans)
                if body in self.flat:
                    R, p = pose_at(spans, time, self.lift)
                    found.append(Goal(self._pose(body), np.concatenate([R.ravel(order="F"), p])))
                elif not stands:
                    R, p = pose_at(spans, time, self.lift)
                    point = max((s for s in spans if s.end <= time), key=lambda s: s.end).point
                    found.append(Goal(self._point(body, point), p + R @ point))
        for begin, end, f, place in self.held:
            within = begin - TIME_TOLERANCE <= time <= end + TIME_TOLERANCE
            if within and self.model.frame(f.name).body not in self.flat:
                found.append(Goal(self._held(f), place))
        return found

    def _pose(self, body: int) -> OnArrays:
        contact, R, p = Contact(self.model.body(self.model.body_names[body - 1])), SX.sym("R", 9), SX.sym("p", 3)
        target = ca.vertcat(R, p)
        return self._function(body, lambda q: contact.position_from(self.model, q, ca.reshape(R, 3, 3), p), target)

    def _point(self, body: int, point: Array) -> OnArrays:
        contact = Contact(self.model.body(self.model.body_names[body - 1]), point=tuple(point), axes="xyz")
        p = SX.sym("p", 3)
        return self._function((body, tuple(point)), lambda q: contact.position_from(self.model, q, SX(np.eye(3)), p), p)

    def _held(self, f: Foothold) -> OnArrays:
        place = SX.sym("place", 3)
        return self._function(f, lambda q: f.position(self.model, q, place), place)

    def _function(self, key: Any, rows: Callable[[SX], SX], target: SX) -> OnArrays:
        """(q, target) -> rows, and their Jacobian with respect to a step from q."""
        if key not in self._rows:
            q, v = SX.sym("q", self.model.nq), SX.sym("v", self.model.nv)
            r = ca.vertcat(SX(0, 1), rows(self.model.integrate(q, v)))
            out = ca.substitute([r, ca.densify(ca.jacobian(r, v))], [v], [SX.zeros(self.model.nv)])
            self._rows[key] = OnArrays([q, target], out)
        return self._rows[key]


class Nearest(Manifold):
    """The posture near a wanted one that meets goals, by damped Gauss-Newton steps inside the limits."""

    def __call__(self, wanted: Array, weights: Array, goals: list[Goal]) -> Array:
        q = wanted
        for _ in range(LARGEST_STEP_COUNT):
            parts = [goal.rows(q, goal.target) for goal in goals]
            r = np.concatenate([np.zeros(0), *(part[0].ravel() for part in parts)])
            J = np.concatenate([np.zeros((0, len(weights))), *(part[1] for part in parts)])
            q, v = self.step(q, J.T @ J, weights**2, J.T @ r + weights**2 * self.difference(wanted, q))
            if np.abs(v).max() < STEP_TOLERANCE:
                break
        return q
