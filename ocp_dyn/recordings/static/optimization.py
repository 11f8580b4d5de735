"""Static optimization: the muscle forces that balance the net moments of a motion with the least effort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..._base import checks
from ..._base.types import Array, ModelError, repr_in_message
from ...mechanism import Model
from ...muscles import HillMuscles
from ...muscles.hill_muscles import FAMILIES
from ...muscles.least_effort import LeastEffort, least_effort
from ..moments import NetMoments
from .estimate import MuscleEstimate
from .gains import Gains, independent_motion, muscle_gains
from .tied_frames import Decay, tied_frames

NOTHING = 1e-9
"""Moment arm below which a muscle does not cross a coordinate [m]."""
SHORT = 1e-6
"""Part of the strength of all muscles about a coordinate, or of its moment, from which on muscles fall short of it."""
HIGHEST_POWER = 3.0
"""Highest power of activations: above it, efforts are so flat near zero that Newton's steps become too short."""


def static_optimization(
    moments: NetMoments,
    *,
    muscles: Sequence[str] | None = None,
    coordinates: Sequence[str] | None = None,
    power: float = 2.0,
    activations: tuple[float, float] = (0.0, 1.0),
    reserves: float | Mapping[str, float] = 1.0,
    curves: str | None = "de_groote_fregly",
    passive: bool = True,
    paths: str = "smooth",
    dynamics: bool = False,
) -> MuscleEstimate:
    """Muscle forces of a recorded motion, each frame for itself (Crowninshield & Brand 1981, J. Biomech. 14:793):

        minimize  sum over muscles of a^power + sum over coordinates of (reserve / weight)^2
        subject to  r' F(a) + reserve = tau,  a_min <= a <= a_max

    with the moment arms r, the net moments tau and tendon forces F = passive + a * active at the lengths and speeds of
    the frame, with rigid tendons. Reserves are torques beside the muscles: they keep every frame solvable. Where
    muscles alone could not balance a coordinate, `shortfall` says how much is missing.

    moments: of `net_moments`; let it leave out springs and tissue with passive=True if the muscles' own passive forces
    count. muscles: by names; default: all of Hill's type. coordinates: names of `model.qd_names`; default: all that the
    muscles cross. Coordinates that constraints let follow others add their moments to those: name one of each group.
    power: from 1 to 3. activations: their limits. reserves [N m, N]: the torque that costs as much as a muscle at
    activation 1, one number or some by coordinates (1 for the others). curves: as `HillMuscles.of` takes them; None:
    F = a F0 whatever the length and speed. passive: count forces of fibers at rest. paths: "smooth" polynomials, or
    "exact" geometry. dynamics: whether activations also follow excitations within the same limits, which are constant
    from frame to frame, by da/dt = (e - a) / t with the times of activation and deactivation of every muscle: all
    frames are then one program, as in OpenSim's MocoInverse with rigid tendons.

    NaN in frames without moments. ValueError if there are none at all, or nothing to balance; ModelError without
    muscles; KeyError for unknown names. All frames are solved at once, to a KKT residual of 1e-9: see `residual`.

    >>> still = od.recordings.Recording(["elbow"], np.arange(5) / 10, [[1.0]] * 5, "rad")
    >>> held = od.recordings.net_moments(od.recordings.fit_motion(elbow, coordinates=still).derived())
    >>> od.recordings.static_optimization(held).activations[0].round(3).tolist()  # the biceps bears the forearm
    [0.067, 0.0]
    """
    if not isinstance(moments, NetMoments):
        raise TypeError(f"static_optimization needs NetMoments, as net_moments makes them, got {_got(moments)}")
    motion, here = moments.motion, "static_optimization"
    model, names = motion.model, _muscle_names(motion.model, muscles)
    exponent = checks.within(power, 1.0, HIGHEST_POWER, f"{here}: power must be from 1 to {HIGHEST_POWER:g}")
    lower, upper = _limits(activations)
    if curves is not None:
        checks.name_among(curves, [*FAMILIES, "own"], f"{here} curves", "family of curves")
    passive, dynamics = (checks.truth(x, f"{here}: {k}") for k, x in (("passive", passive), ("dynamics", dynamics)))
    checks.choice(paths, ("smooth", "exact"), f"{here}: paths")
    there = _frames(moments)
    q, qd = motion.q[there], np.asarray(motion.qd)[there]
    rows = _balanced(moments, there, muscle_gains(model, names, q, qd, curves, passive, paths), coordinates)
    decay = _decay(HillMuscles.of(model, names), motion.times[there]) if dynamics else None
    return _estimate(moments, names, there, rows, _weights(reserves, rows.names), (lower, upper), exponent, decay)


def _estimate(
    moments: NetMoments, names: tuple[str, ...], there: Any, rows: _Balance, weights: Array,
    limits: tuple[float, float], power: float, decay: Decay | None,
) -> MuscleEstimate:  # fmt: skip
    """The muscles of least effort that balance, over all frames."""
    b = (rows.tau - np.einsum("kim,km->ki", rows.arms, rows.passive)) / weights
    M = rows.arms * rows.active[:, None] / weights[:, None]
    x, residual = _activations(M, b, *limits, power, decay)
    reserve = (b - np.einsum("kim,km->ki", M, x)) * weights
    missing = _missing(M, b, least_effort(M, b, *limits, 2.0, 0.0)) * weights
    forces = rows.passive + x * rows.active
    a, F, r, tau, short, left = (
        _over_time(values, there) for values in (x, forces, reserve, rows.tau, missing, residual)
    )
    return MuscleEstimate(moments, names, rows.names, a, F, r, tau, short, left, limits)


def _activations(
    M: Array, b: Array, lower: float, upper: float, power: float, decay: Decay | None
) -> tuple[Array, Array]:
    """Activations (N, n) and KKT residuals (N), of all frames together where a decay ties them."""
    if decay is None:
        alone = least_effort(M, b, lower, upper, power, 1.0)
        return alone.x, alone.residual
    tied = tied_frames(M, b, lower, upper, power, decay)
    return tied.x, np.full(len(b), tied.residual)


def _decay(hill: HillMuscles, times: Array) -> Decay:
    """Remainder of a difference between activation and excitation after each interval."""
    h = np.diff(times)[:, None]
    rise, fall = (np.array(ca.DM(t + 0 * hill.max_isometric_force).full()).ravel() for t in (
        hill.activation_time, hill.deactivation_time
    ))  # fmt: skip
    return Decay(np.exp(-h / rise), np.exp(-h / fall))


def _frames(moments: NetMoments) -> Any:
    """Whether a frame (N) has a motion and moments; ValueError if none has."""
    motion, here = moments.motion, "static_optimization"
    there = ~np.isnan(np.concatenate([motion.q, motion.qd, moments.tau], axis=1)).any(axis=1)
    if not there.any():
        raise ValueError(
            f"{here}: no frame has both a motion and moments, all are NaN: give net_moments forces at the times of the "
            "motion"
        )
    return there


class _Balance(NamedTuple):
    """The terms that balance in N frames: names (m) of coordinates, their moments tau (N, m), and of the muscles the
    arms (N, m, n) and the active and passive forces (N, n)."""

    names: tuple[str, ...]
    tau: Array
    arms: Array
    active: Array
    passive: Array


def _balanced(moments: NetMoments, there: Any, gains: Gains, coordinates: Any) -> _Balance:
    """Moments and arms of the independent coordinates that are to balance."""
    model = moments.motion.model
    named = _dofs(model, coordinates)
    free, A = independent_motion(model, moments.motion.q[there], named or [])
    arms = np.einsum("kmv,kvi->kim", gains.arms, A)
    rows = _rows(model, free, arms, named)
    tau = np.einsum("kv,kvi->ki", moments.tau[there], A)[:, rows]
    names = tuple(model.qd_names[free[k]] for k in rows)
    return _Balance(names, tau, arms[:, rows], gains.active, gains.passive)


def _over_time(values: Array, there: Any) -> Array:
    """Values of the frames that are there, NaN in the others."""
    whole = np.full((there.size, *values.shape[1:]), np.nan)
    whole[there] = values
    whole.setflags(write=False)
    return whole


def _missing(M: Array, b: Array, least: LeastEffort) -> Array:
    """The least reserves, over their weights, zero where they are rounding errors."""
    e = b - np.einsum("kim,km->ki", M, least.x)
    scale = np.abs(M).sum(axis=2) + np.abs(b)
    return np.where(np.abs(e) > SHORT * scale, e, 0.0)


def _muscle_names(model: Model, muscles: Any) -> tuple[str, ...]:
    names = None if muscles is None else checks.listed_names(muscles, "static_optimization: muscles")
    if names is not None and (not names or len(set(names)) < len(names)):
        raise ValueError(f"static_optimization: muscles must be some names that differ, got {_got(list(names))}")
    if not model.muscles:
        raise ModelError(
            f"static_optimization: the model {model.name or 'of this motion'} has no muscles: read it from a file that "
            "has some, or add them by model.with_muscles"
        )
    return HillMuscles.of(model, names).names


def _limits(activations: Any) -> tuple[float, float]:
    lower, upper = checks.as_bounds(activations, "static_optimization: activations")
    if not 0 <= lower < upper <= 1:
        raise ValueError(
            f"static_optimization: activations must be two limits, 0 <= lower < upper <= 1, got {_got(activations)}"
        )
    return lower, upper


def _dofs(model: Model, coordinates: Any) -> list[int] | None:
    if coordinates is None:
        return None
    names = checks.listed_names(coordinates, "static_optimization: coordinates")
    checks.all_known(names, model.qd_names, "static_optimization", "coordinate of this motion, where it is not locked")
    if not names or len(set(names)) < len(names):
        raise ValueError(f"static_optimization: coordinates must be some names that differ, got {_got(list(names))}")
    return [model.qd_names.index(name) for name in names]


def _rows(model: Model, free: Any, arms: Array, named: list[int] | None) -> list[int]:
    """Independent coordinates to balance; ValueError for those that follow others, or that no muscle crosses."""
    crossed = np.abs(arms).max(axis=(0, 2)) > NOTHING
    if named is None:
        if not crossed.any():
            raise ValueError("static_optimization: these muscles cross no coordinate that moves")
        return np.flatnonzero(crossed).tolist()
    rows = []
    for dof in named:
        name = repr_in_message(model.qd_names[dof])
        if dof not in free:
            raise ValueError(
                f"static_optimization: the coordinate {name} follows others by a constraint: its moment counts with "
                "theirs, leave it out"
            )
        row = int(np.flatnonzero(free == dof)[0])
        if not crossed[row]:
            raise ValueError(f"static_optimization: no muscle crosses the coordinate {name}: leave it out")
        rows.append(row)
    return rows


def _weights(reserves: Any, chosen: tuple[str, ...]) -> Array:
    """The weights of the reserves by coordinate."""
    what, remedy = "static_optimization: reserves", "a small one stands for none"
    if isinstance(reserves, Mapping):
        checks.all_known(reserves, chosen, what, "balanced coordinate")
        values = [checks.positive(reserves.get(name, 1.0), f"{what} of {name}; {remedy}") for name in chosen]
    else:
        values = [checks.positive(reserves, f"{what} ({remedy})")] * len(chosen)
    return np.array(values)


def _got(value: Any) -> str:
    return repr_in_message(value)
