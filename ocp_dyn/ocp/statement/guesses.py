"""Settings of first guesses that users write."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.checks import finite, name_among, not_negative, numbers, truth
from ..._base.types import Array, Indices, repr_in_message, sequence
from ...mechanism import Model


@dataclass(frozen=True)
class FootPlan:
    """A first guess from a plan of the feet: `Problem(guess=FootPlan())`.

    strike, leave [rad]: pitch of a foot when it strikes the ground on an edge, and when it leaves the ground from an
    edge: the heel is up over an edge at the toes, the toes over one at the heel. lift [m]: height of the middle of a
    swing above its ends. crouch: lowering of the base, as a fraction of its height when standing.

    >>> plan = ocp.FootPlan(lift=0.1)
    >>> float(np.degrees(plan.strike).round(3))  # degrees
    20.0
    """

    strike: float = math.radians(20.0)
    leave: float = math.radians(45.0)
    lift: float = 0.06
    crouch: float = 0.05

    def __post_init__(self) -> None:
        _check_swing(self)
        if not 0 <= finite(self.crouch, "FootPlan crouch") < 1:
            raise ValueError(f"FootPlan crouch must lie in [0, 1), a fraction of the height, got {self.crouch!r}")


Posture = Array | tuple[tuple[str, Array], ...]
"""A posture of `Postures`: all of q, or pairs of a joint or an entry of q, and its values."""


@dataclass(frozen=True, eq=False)
class Postures:
    """A first guess through postures at fractions of the motion:
    `Problem(guess=Postures({0.0: seated, 1.0: upright}))`.

    at: a dict, or pairs, of a fraction of the motion and its posture: the fractions increase from 0 to 1. A posture is
    q (nq), such as `solution.q[k]`, or a dict of angles [rad] by the names of joints ("knee_l", "hip_l": all entries of
    the joint's q) or of entries of q ("hip_l.ry"). Joints that a dict does not name are as in the problem's posture. At
    every node of the grid, feet, hands and seat are moved onto the footholds of their phase, by the smallest change of
    the posture; a floating base that the dict does not name follows from the footholds.

    The motion between two postures is a monotone cubic on the configuration manifold: it does not overshoot, and equal
    postures are held. rest: the motion begins and ends at rest. lift, strike, leave: as those of `FootPlan`, for feet
    that swing from one foothold to the next one.

    TypeError and ValueError for wrong fractions and values when it is made; KeyError for unknown joints and ValueError
    for a wrong size when the problem is made.

    >>> turned = ocp.Postures({0.0: [0.0], 0.5: {"rim_joint": 0.8}, 1.0: [1.0]})
    >>> push = ocp.Phase("push", 10, 1.0, objective=[ocp.TorqueSquared()])
    >>> problem = ocp.Problem(wheel, [push], boundary=[rest], guess=turned)
    >>> problem.solve(progress=False).converged
    True
    """

    at: Any
    rest: bool = True
    lift: float = 0.06
    strike: float = math.radians(20.0)
    leave: float = math.radians(45.0)

    def __post_init__(self) -> None:
        pairs = self.at.items() if isinstance(self.at, Mapping) else self.at
        what = "Postures need a dict of postures by fraction of the motion, {0.0: q, 1.0: {'knee_l': 0.5}}, or pairs"
        pairs = [sequence(pair, what) for pair in sequence(pairs, what)]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"{what}, got {repr_in_message(self.at)}")
        fractions = [finite(fraction, "Postures: a fraction of the motion") for fraction, _ in pairs]
        if len(fractions) < 2 or (fractions[0], fractions[-1]) != (0.0, 1.0) or min(np.diff(fractions)) <= 0:
            raise ValueError(
                "Postures: the fractions must increase from 0 at the start to 1 at the end of the motion, got "
                f"{fractions}"
            )
        postures = (_posture(posture, t) for t, (_, posture) in zip(fractions, pairs, strict=True))
        object.__setattr__(self, "at", tuple(zip(fractions, postures, strict=True)))
        truth(self.rest, "Postures rest")
        _check_swing(self)

    def check(self, model: Model) -> None:
        """Raises ValueError for a posture of a wrong size, KeyError for joints that the model does not have."""
        for fraction, posture in self.at:
            entries_of(model, posture, _at(fraction))


def entries_of(model: Model, posture: Posture, what: str) -> tuple[Indices, Array]:
    """The entries of q that a posture of `Postures` gives, and their values."""
    if isinstance(posture, np.ndarray):
        if posture.size != model.nq:
            raise ValueError(
                f"{what} must have nq = {model.nq} entries for the model {repr_in_message(model.name)}, got "
                f"{posture.size}; a posture of some joints is a dict, such as {{'knee_l': 0.5}}"
            )
        return np.arange(model.nq), posture
    index, values = [np.zeros(0, dtype=int)], [np.zeros(0)]
    for name, given in posture:
        names = (*model.joint_names, *(q for q in model.q_names if q not in model.joint_names))
        name_among(name, names, what, "joint or entry of q")
        found = (
            np.arange(model.nq)[model.q_slice(name)]
            if name in model.joint_names
            else np.array([model.q_names.index(name)])
        )
        if given.size != found.size:
            entries = ", ".join(model.q_names[k] for k in found)
            raise ValueError(
                f"{what}: {repr_in_message(name)} has {found.size} entries of q ({entries}), got {given.size}"
            )
        index.append(found)
        values.append(given)
    return np.concatenate(index), np.concatenate(values)


def _at(fraction: float) -> str:
    return f"Postures: the posture at {fraction:g}"


def _posture(value: Any, fraction: float) -> Posture:
    """The checked form of a posture: q, or pairs of names and values."""
    what = _at(fraction)
    if isinstance(value, Mapping):
        pairs = tuple((name, numbers(angles, f"{what}: {repr_in_message(name)}")) for name, angles in value.items())
        parts = [angles for _, angles in pairs]
    else:
        parts = [numbers(value, what)]
    if not all(np.all(np.isfinite(part)) for part in parts):
        raise ValueError(f"{what} must be finite, got {repr_in_message(value)}")
    return pairs if isinstance(value, Mapping) else parts[0]


def _check_swing(plan: FootPlan | Postures) -> None:
    """Checks the settings of feet that swing from one foothold to the next one."""
    kind = type(plan).__name__
    for key in ("strike", "leave"):
        if not abs(finite(getattr(plan, key), f"{kind} {key} [rad]")) < math.pi:
            raise ValueError(f"{kind} {key} is an angle in rad, below pi, got {getattr(plan, key)!r}")
    not_negative(plan.lift, f"{kind} lift [m]")
