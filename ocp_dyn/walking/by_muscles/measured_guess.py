"""A first guess of a walk from measured joint angles: for any body with hips, knees and ankles, flat or in space.

People's angles on other legs put feet into the ground, and let them slide while they bear weight. The guess is the
motion near these angles whose feet stand: a nonlinear least-squares fit (Levenberg-Marquardt) of the curves of the legs
and the height of the root to the angles, to depths of the feet, and to points of contact at rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from ..._base.types import Array, ModelError, names_in_message
from ...dynamics.kinematics import point_position, pose
from ...gait.data import PERCENT
from ...mechanism import Model
from ...ocp import CompliantFoothold, GaitReference, gait_reference
from ...symmetry.advance import Advance
from ..gaits.validation import BY_SIZE
from ..subjects.limbs import turns_of
from ..subjects.loaded_person import side_of

CURVES = {"hip": ("thigh flexion", -1.0), "knee": ("knee flexion", 1.0), "ankle": ("ankle dorsiflexion", -1.0)}
"""The measured curve of every joint, and its sign as a turn about the axis that points to the left."""

SAMPLES = 24
"""Postures per step, between which the guess is linear."""

LOAD = ((0.0, 0.1, 0.5, 0.62, 0.98, 1.0), (0.2, 1.0, 1.0, 0.0, 0.0, 0.2))
"""Share of the weight that a foot bears, at fractions of its stride from heel strike on."""

STANDS = 0.58
"""Fraction of the stride until which the depth of a foot follows its load."""

SINK, CLEAR = 0.01, 0.01
"""Depth of a foot under the whole weight, and height of a swinging foot above the ground [m]."""

ANGLE, BEND, DEPTH, SLIP = math.radians(12.0), math.radians(3.3), 0.004, 0.15
"""Deviations that count alike: from people's angles [rad], of an angle from the mean of its neighbors [rad], of depths
[m], of the contact from rest [m/s]."""

ROUNDING = 0.006
"""Difference of depths over which the lowest spheres of a foot share its contact [m]."""

MARGIN, MOST_MARGIN = 0.15, 0.15
"""Distance of a guess from limits: a share of the range, at most so much [rad, m]."""

TRIES, GAIN = 40, 5e-3
"""Most steps of the fit, and the relative gain at which it ends."""


class _Joint(NamedTuple):
    """A joint of both legs: entries of q and signs of the right and the left, turns about the axis to the left [rad]:
    those of people (2 SAMPLES) over the stride of the right leg, and their limits."""

    entries: tuple[int, int]
    signs: tuple[float, float]
    people: Array
    limits: tuple[float, float]


def measured_guess(
    model: Model, feet: Sequence[CompliantFoothold], speed: float, time: float, steps: int = 1
) -> Callable[[float], tuple[Array, Array]]:
    """A function s -> (q, qd) for `Problem(guess=...)`: people's joint angles at the speed [m/s], on the model's legs.

    It begins as the right heel strikes. The angles of hips, knees and ankles are near those of Schwartz et al. 2008
    (`ocp.gait_reference`) at the nearest speed in units of sqrt(g leg length), and within the limits of the model. The
    root goes forward at the speed. A foot that stands is 1 cm deep times its load to the power 2/3, and its contact
    rests; a swinging foot is clear of the ground. time [s]: of a step; steps: their number. `ModelError` for a body
    without two legs.

    >>> body = od.models.human(root=od.FloatingBase())
    >>> guess = od.walking.measured_guess(body, od.walking.compliant_feet(body), speed=1.2, time=0.5)
    >>> float((guess(1.0)[0][0] - guess(0.0)[0][0]).round(9))  # [m] ahead
    0.6
    """
    legs = _Legs.of(model, feet, _nearest(model, feet, speed))
    stride = legs.fitted(speed * time, time)
    rows = np.arange(-1, steps * SAMPLES + 2)
    wide = stride[rows % len(stride)] + np.outer(rows // len(stride) * 2 * speed * time, legs.ahead)
    rates = np.array([model.difference(DM(a), DM(b)).full().ravel() for a, b in zip(wide, wide[2:], strict=False)])
    fractions, rates, table = rows[1:-1] / (steps * SAMPLES), rates * SAMPLES / (2 * time), wide[1:-1]

    def state(s: float) -> tuple[Array, Array]:
        q = np.array([np.interp(s, fractions, column) for column in table.T])
        return q, np.array([np.interp(s, fractions, column) for column in rates.T])

    return state


def _nearest(model: Model, feet: Sequence[CompliantFoothold], speed: float) -> GaitReference:
    q = DM(model.neutral())
    hips = [float(point_position(model, model.body_names[model.path(model.frame(f.name).body)[1] - 1], q)[2])
            for f in feet]  # fmt: skip
    leg = max(hips) - min(float(point_position(model, f.name, q)[2]) for f in feet)
    fast = speed / math.sqrt(float(np.linalg.norm(model.gravity)) * leg)
    return min(map(gait_reference, BY_SIZE), key=lambda group: abs(group.numbers["dimensionless_speed"] - fast))


@dataclass(frozen=True)
class _Legs:
    """Joints of both legs; the upright posture; the changes of q that move the model by 1 m ahead and up; sides of the
    feet and a Function of q: their depths, and of each sphere the place ahead and its share of the contact."""

    joints: tuple[_Joint, ...]
    upright: Array
    ahead: Array
    up: Array
    feet: tuple[tuple[str, int], ...]
    contact: ca.Function

    @classmethod
    def of(cls, model: Model, feet: Sequence[CompliantFoothold], people: GaitReference) -> _Legs:
        q, neutral = SX.sym("q", model.nq), np.array(model.neutral(), dtype=float)
        low, high = _inside(model)
        upright = np.clip(neutral, low, high)
        R, R0 = (pose(model, model.body_names[0], DM(x))[0] for x in (upright, neutral))
        tilt = DM(R) @ DM(R0).T
        pitch = math.atan2(float(tilt[0, 2]), float(tilt[2, 2]))
        moves = [np.array(Advance.of(**{to: 1.0}).q(model, DM(neutral)).full()).ravel() for to in ("length", "rise")]
        depths, places, shares = [], [], []
        for foot in feet:
            depth = foot.depth(model, q)
            share = ca.exp(depth / ROUNDING)
            depths.append(ROUNDING * ca.log(ca.sum1(share)))
            shares.append(share / ca.sum1(share))
            places += [point_position(model, ball.frame, q, ball.center)[0] for ball in foot.spheres]
        contact = ca.Function("contact", [q], [ca.vertcat(*depths), ca.vertcat(*places), ca.vertcat(*shares)])
        joints = _joints(model, people, (low, high), pitch, upright)
        sides = tuple((side_of(foot.name) or "r", len(foot.spheres)) for foot in feet)
        return cls(joints, upright, moves[0] - neutral, moves[1] - neutral, sides, contact)

    def fitted(self, length: float, time: float) -> Array:
        """Configurations (2 SAMPLES, nq) of a stride of two steps of this length [m] and time [s]."""
        n = 2 * SAMPLES
        curves, heights = MX.sym("curves", n, len(self.joints)), MX.sym("heights", SAMPLES)
        x = ca.veccat(curves, heights)
        q = self._postures(curves, heights, length)
        residual = self._residual(curves, heights, q[:, : SAMPLES + 1], time / SAMPLES)
        J = ca.jacobian(residual, x)
        fit = ca.Function("fit", [x], [ca.sumsqr(residual), J.T @ residual, J.T @ J, q])
        limits = np.array([joint.limits for joint in self.joints for _ in range(n)] + [(-np.inf, np.inf)] * SAMPLES)
        start = np.concatenate([*(joint.people for joint in self.joints), np.zeros(SAMPLES)])
        start = np.clip(start, *limits.T)
        depths = self.contact.map(SAMPLES)(fit(start)[3][:, :SAMPLES])[0].full()
        start[-SAMPLES:] = depths[[side == "r" for side, _ in self.feet]].max(axis=0) - SINK
        return np.array(fit(_least(fit, start, limits))[3].full()).T

    def _postures(self, curves: MX, heights: MX, length: float) -> MX:
        """Configurations (nq, 2 SAMPLES): the left leg is half a stride later than the right one."""
        n = 2 * SAMPLES
        q = MX(np.tile(self.upright[:, None], (1, n)))
        for k, joint in enumerate(self.joints):
            for entry, sign, delay in zip(joint.entries, joint.signs, (0, SAMPLES), strict=True):
                q[entry, :] = sign * curves[[(i + delay) % n for i in range(n)], k].T
        return q + DM(self.up) @ ca.vertcat(heights, heights).T + DM(self.ahead) @ DM(np.arange(n) * length / SAMPLES).T

    def _residual(self, curves: MX, heights: MX, q: MX, h: float) -> MX:
        """The residual of the fit, at postures q (nq, SAMPLES + 1) a time h [s] apart."""
        people = DM(np.column_stack([joint.people for joint in self.joints]))
        rows = [ca.vec(curves - people) / ANGLE, ca.vec(_bend(curves)) / BEND, 4 * _bend(heights) / BEND]
        depths, places, shares = self.contact.map(SAMPLES + 1)(q)
        first = 0
        for foot, (side, count) in enumerate(self.feet):
            phase = (np.arange(SAMPLES + 1) / (2 * SAMPLES) + 0.5 * (side == "l")) % 1.0
            stands = (phase <= STANDS).astype(float)
            wanted = SINK * np.interp(phase, *LOAD) ** (2 / 3)
            clear = CLEAR * np.clip(np.minimum((phase - 0.6) / 0.1, (1 - phase) / 0.08), 0, 1)
            depth, mine = depths[foot, :].T, slice(first, first + count)
            low = DM(stands) * (depth - DM(wanted)) + DM(1 - stands) * ca.fmax(0, depth + DM(clear))
            both = stands[:-1] * stands[1:] * (np.diff(phase) > 0)
            share = (shares[mine, :-1] + shares[mine, 1:]) / 2
            slip = ca.sum1(share * (places[mine, 1:] - places[mine, :-1])).T / h
            rows += [low[:SAMPLES] / DEPTH, DM(both) * slip / SLIP]
            first += count
        return ca.vertcat(*rows)


def _joints(
    model: Model, people: GaitReference, limits: tuple[Array, Array], pitch: float, upright: Array
) -> tuple[_Joint, ...]:
    """The joints of both legs; sets the back of the posture upright."""
    found: dict[str, dict[str, tuple[int, float]]] = {}
    for turn in turns_of(model):
        i = next(i for i, _ in model.edges if turn.dof in model.dofs_of(i))
        if turn.axis or model.joints[i].nq != model.joints[i].nv:
            continue
        entry = model.q_index[i] + list(model.dofs_of(i)).index(turn.dof)
        if turn.joint == "lumbar":
            upright[entry] = np.clip(-turn.sign * pitch, limits[0][entry], limits[1][entry])
        found.setdefault(turn.joint, {})[side_of(model.joint_names[i - 1]) or ""] = (entry, turn.sign)
    if not all({"l", "r"} <= set(found.get(part, ())) for part in CURVES):
        raise ModelError(
            f"model {model.name!r} has no two legs with hips, knees and ankles by their names; its joints are "
            f"{names_in_message(model.joint_names)}: give a guess of your own"
        )
    percent = np.arange(2 * SAMPLES) * 50 / SAMPLES

    def joint(part: str) -> _Joint:
        name, sign = CURVES[part]
        (right, s), (left, t) = (found[part][side] for side in "rl")
        turns = sign * np.radians(np.interp(percent, PERCENT, people.curves[name].mean)) - pitch * (part == "hip")
        ranges = [sorted((c * limits[0][e], c * limits[1][e])) for e, c in ((right, s), (left, t))]
        within = (max(low for low, _ in ranges), min(high for _, high in ranges))
        return _Joint((right, left), (s, t), turns, within)

    return tuple(map(joint, CURVES))


def _bend(curves: MX) -> MX:
    """Second differences of the columns, which are periodic."""
    around = ca.vertcat(curves[-1, :], curves, curves[0, :])
    return around[2:, :] - 2 * curves + around[:-2, :]


def _least(fit: ca.Function, x: Array, limits: Array) -> Array:
    """The least sum of squares within limits; fit: x -> the sum, half its gradient, and J' J of the residual."""
    low, high = limits.T
    cost, g, H = (a.full() for a in fit(x)[:3])
    damping = 1e-3
    for _ in range(TRIES):
        free = np.flatnonzero(((x > low) | (g.ravel() < 0)) & ((x < high) | (g.ravel() > 0)))
        M, tried = H[np.ix_(free, free)], x.copy()
        tried[free] -= np.linalg.solve(M + damping * np.diag(np.diag(M) + 1e-6), g[free]).ravel()
        tried = np.clip(tried, low, high)
        found = tuple(a.full() for a in fit(tried)[:3])
        gain = 1.0 - found[0].item() / max(cost.item(), 1e-12)
        if gain > 0:
            x, (cost, g, H) = tried, found
        damping = max(damping / 5, 1e-6) if gain > 0 else 5 * damping
        if 0 < gain < GAIN or damping > 1e4:
            break
    return x


def _inside(model: Model) -> tuple[Array, Array]:
    """Limits of the coordinates, drawn in: a guess on a limit holds the solver there."""
    low, high = model.dofs.q_lower, model.dofs.q_upper
    with np.errstate(invalid="ignore"):
        margin = np.where(np.isfinite(high - low), np.minimum(MARGIN * (high - low), MOST_MARGIN), 0.0)
    return low + margin, high - margin
