"""Activations of first guesses: those that make the torques of a motion by motors."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.types import Array
from ...functions.function import function
from ...mechanism import Model
from ...muscles import HillMuscles, moment_arms, muscle_lengths, rigid_tendon
from ...muscles.least_effort import least_effort
from ..statement.instant import Instant

NEUTRAL = 0.1
"""Activation where no torques are known."""

RESERVE = 1.0
"""Torque that costs as much as a muscle that is fully active [N m]."""


def neutral_activation(limits: tuple[float, float]) -> float:
    """The neutral activation, within limits."""
    return min(max(NEUTRAL, limits[0]), limits[1])


def muscle_places(model: Model, names: Sequence[str]) -> list[int]:
    """Places of muscles among those of the model."""
    known = [muscle.name for muscle in model.muscles]
    return [known.index(name) for name in names]


def guessed_activations(instant: Instant, muscles: HillMuscles, limits: tuple[float, float]) -> Array:
    """Activations (n) within limits that make the torques of an instant with rigid tendons, with the least squares of
    activations and of what they leave of the torques; neutral ones where no torques are known."""
    if instant.tau is None:
        return np.full(muscles.size, neutral_activation(limits))
    model, q, at = instant.model, DM(instant.q), muscle_places(instant.model, muscles.names)
    arms = DM(function(moment_arms, model)(q))[at, :]
    length, speed = DM(function(muscle_lengths, model)(q))[at], -ca.mtimes(arms, DM(instant.qd))
    rest, full = (_tensions(muscles, length, speed, a) for a in (0.0, 1.0))
    arms = arms.full() / RESERVE
    moved = np.flatnonzero(np.any(arms, axis=0))
    M = (arms * np.maximum(full - rest, 0.0)[:, None])[:, moved].T
    b = DM(instant.tau).full().ravel() / RESERVE - arms.T @ rest
    return np.asarray(least_effort(M[None], b[None, moved], *limits, 2.0, 1.0).x[0])


def _tensions(muscles: HillMuscles, length: DM, speed: DM, activation: float) -> Array:
    """Forces of the tendons (n) [N] at one activation of all, none below zero: tendons do not push."""
    forces = rigid_tendon(muscles, length, speed, activation * DM.ones(muscles.size)).tendon_force
    return np.asarray(np.maximum(DM(forces).full().ravel(), 0.0))
