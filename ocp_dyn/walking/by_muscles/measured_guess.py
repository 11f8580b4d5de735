"""A first guess of a walk from measured joint angles: for any body with hips, knees and ankles, flat or in space."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX

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

SINK = 0.01
"""Depth to which the lowest sphere sinks [m]."""

TOE_OFF = 50.5
"""Percent of the stride until which a foot bears weight."""

CLEAR, LIFT, MOST_LIFT = 0.005, 0.03, 0.6
"""Height of a swinging foot above the ground [m], for which its hip flexes more, in steps up to the largest [rad]."""

BUMP = (42.0, 96.0)
"""Percent of the stride between which the hip flexes more."""

CHECKED = (0.2, 0.3, 0.45, 0.6, 0.75)
"""Fractions of the first step at which the left foot must be clear of the ground."""

MARGIN, MOST_MARGIN = 0.15, 0.15
"""Distance of a guess from limits: a share of the range, at most so much [rad, m]."""

SAMPLES = 50
"""Postures per step between which the guess is linear."""


class _Swing(NamedTuple):
    """An entry of q that follows a curve over the stride (101) [rad] of a part of a side. sign: with which it turns
    about the axis to the left."""

    entry: int
    curve: Array
    part: str
    side: str | None
    sign: float


def measured_guess(
    model: Model, feet: Sequence[CompliantFoothold], speed: float, time: float, steps: int = 1
) -> Callable[[float], tuple[Array, Array]]:
    """A function s -> (q, qd) for `Problem(guess=...)`: people's joint angles at the speed [m/s], on the model's legs.

    It begins as the right heel strikes. The angles of hips, knees and ankles are those of Schwartz et al. 2008
    (`ocp.gait_reference`) at the nearest speed in units of sqrt(g leg length), within the limits of the model; the root
    goes forward at the speed, at the height at which the lowest sphere of the feet on the ground is 1 cm deep, and a
    swinging foot is lifted by its hip until it is clear of the ground. time [s]: of a
    step; steps: their number. `ModelError` for a body without two legs.

    >>> body = od.models.human(root=od.FloatingBase())
    >>> guess = od.walking.measured_guess(body, od.walking.compliant_feet(body), speed=1.2, time=0.5)
    >>> float((guess(1.0)[0][0] - guess(0.0)[0][0]).round(9))  # [m] ahead
    0.6
    """
    legs = _Legs.of(model, feet)
    swings = _lifted(legs, _swings(model, _nearest(model, feet, speed)))
    fractions = np.linspace(0.0, 1.0, steps * SAMPLES + 1)
    h = fractions[1] * time * steps
    wide = np.concatenate([[-fractions[1]], fractions, [1 + fractions[1]]])
    table = np.array([legs.posture(swings, s * steps) + speed * time * steps * s * legs.ahead for s in wide])
    rates = np.array([model.difference(DM(a), DM(b)).full().ravel() for a, b in zip(table, table[2:], strict=False)])
    rates, table = rates / (2 * h), table[1:-1]

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


def _swings(model: Model, people: GaitReference) -> list[_Swing]:
    found = []
    for turn in turns_of(model):
        i = next(i for i, _ in model.edges if turn.dof in model.dofs_of(i))
        joint = model.joints[i]
        if turn.axis or joint.nq != joint.nv or turn.joint not in (*CURVES, "lumbar"):
            continue
        name, sign = CURVES.get(turn.joint, ("", 1.0))
        angles = sign * turn.sign * np.radians(people.curves[name].mean) if name else np.zeros(len(PERCENT))
        entry = model.q_index[i] + list(model.dofs_of(i)).index(turn.dof)
        found.append(_Swing(entry, angles, turn.joint, side_of(model.joint_names[i - 1]), turn.sign))
    if len(found) < 2 * len(CURVES):
        raise ModelError(
            f"model {model.name!r} has no two legs with hips, knees and ankles by their names; its joints are "
            f"{names_in_message(model.joint_names)}: give a guess of your own"
        )
    return found


@dataclass(frozen=True)
class _Legs:
    """Limits of the coordinates, drawn in; the pitch of the first body and the depths of the feet as Functions of q;
    the changes of q that move the model by 1 m ahead and up."""

    low: Array
    high: Array
    sides: tuple[str, ...]
    pitch: ca.Function
    depths: ca.Function
    ahead: Array
    up: Array
    neutral: Array

    @classmethod
    def of(cls, model: Model, feet: Sequence[CompliantFoothold]) -> _Legs:
        q, neutral = SX.sym("q", model.nq), np.array(model.neutral(), dtype=float)
        R = pose(model, model.body_names[0], q)[0] @ DM(pose(model, model.body_names[0], DM(neutral))[0]).T
        low, high = _inside(model)
        moves = [np.array(Advance.of(**{to: 1.0}).q(model, DM(neutral)).full()).ravel() for to in ("length", "rise")]
        return cls(
            low, high, tuple(side_of(foot.name) or "r" for foot in feet),
            ca.Function("pitch", [q], [ca.atan2(R[0, 2], R[2, 2])]),
            ca.Function("depths", [q], [ca.vertcat(*(ca.mmax(foot.depth(model, q)) for foot in feet))]),
            moves[0] - neutral, moves[1] - neutral, neutral,
        )  # fmt: skip

    def posture(self, swings: Sequence[_Swing], step: float) -> Array:
        """The configuration after so many steps, above the start."""
        q = np.clip(self.neutral, self.low, self.high)
        pitch = float(self.pitch(q))
        for swing in swings:
            angle = np.interp(100 * ((step / 2 + 0.5 * (swing.side == "l")) % 1.0), PERCENT, swing.curve)
            q[swing.entry] = angle - swing.sign * pitch * (swing.part in ("hip", "lumbar"))
        q = np.clip(q, self.low, self.high)
        phase = {"r": 100 * (step / 2 % 1.0), "l": 100 * ((step / 2 + 0.5) % 1.0)}
        standing = [phase[side] <= TOE_OFF for side in self.sides]
        return np.asarray(q + (self.depth(q)[standing].max() - SINK) * self.up)

    def depth(self, q: Array) -> Array:
        """Depths of the lowest spheres of the feet in the ground [m]."""
        return np.array(self.depths(q).full()).ravel()


def _lifted(legs: _Legs, swings: Sequence[_Swing]) -> list[_Swing]:
    """The curves with more flexion of the hip in swing, by the least bump that keeps both feet clear of the ground."""
    u = np.clip((PERCENT - BUMP[0]) / (BUMP[1] - BUMP[0]), 0.0, 1.0)
    found, left = list(swings), [side == "l" for side in legs.sides]
    for lift in np.arange(0.0, MOST_LIFT, LIFT):
        bump = lift * np.sin(np.pi * u) ** 2
        found = [x._replace(curve=x.curve - x.sign * bump) if x.part == "hip" else x for x in swings]
        if all(legs.depth(legs.posture(found, step))[left].max(initial=-1.0) < -CLEAR for step in CHECKED):
            break
    return found


def _inside(model: Model) -> tuple[Array, Array]:
    """Limits of the coordinates, drawn in: a guess on a limit holds the solver there."""
    low, high = model.dofs.q_lower, model.dofs.q_upper
    with np.errstate(invalid="ignore"):
        margin = np.where(np.isfinite(high - low), np.minimum(MARGIN * (high - low), MOST_MARGIN), 0.0)
    return low + margin, high - margin
