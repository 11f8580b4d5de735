"""Inverse kinematics of a whole recording: the motion of a model that follows markers and sensors of orientation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._base import checks
from .._base.types import Array
from ..mechanism import Model
from .fitting.least_squares import Fit, Limits, Prior, Steps, total_weight
from .fitting.newton_steps import native_steps
from .fitting.placed import Measured, Placed
from .fitting.smooth_motion import smoothed
from .measurements import (
    Weights,
    check_model,
    first_guess,
    fixed_dofs,
    measured,
    places_on,
    prior,
    rows_that_hold,
    times,
)
from .motion import FittedMotion
from .recording import Recording

WORSE = 1.5
"""Ratio to the root mean square error of the frame before from which on a frame is solved again from there."""
JUMP = 0.5
"""Change of an angle between two frames from which on the later frame is solved again from the earlier one [rad]."""


def fit_motion(
    model: Model,
    markers: Recording | None = None,
    *,
    orientations: Recording | None = None,
    coordinates: Recording | None = None,
    places: Mapping[str, tuple[str, Any]] | None = None,
    weights: Mapping[str, float] | None = None,
    constraints: Any = (),
    fixed: Sequence[str] = (),
    start: Any = None,
    limits: bool = True,
    smooth: float | None = None,
    tolerance: float = 1e-6,
    iterations: int = 100,
    compiled: bool = False,
) -> FittedMotion:
    """The configurations of the model that follow a recording best, frame by frame, or smoothly over all frames:

        minimize  1/2 sum of w |p - y|^2 + 1/2 sum of w angle^2 + 1/2 sum of w (q - q_measured)^2

    subject to constraints and limits, by steps on all frames at once.

    markers: points [m], in the axes of the model's world (z up). places: of markers on the model, (frame, point) by
    name; default: `model.markers`. Markers that only the recording or only the model has are left out. orientations: of
    sensors, by names of frames: a sensor measures how its frame lies in the world [rad]. coordinates: numbers by names
    of `model.q_names` [rad, m]; angles of the unit "deg" are converted. weights: by names of markers, frames and
    coordinates; default 1 for each; if weights of markers are given, markers without one do not count; a weight of what
    the recording lacks does nothing. Missing samples do not count in their frames.

    constraints: others that hold at every frame, beside `model.constraints` and joints that mimic others. fixed: names
    of dofs that stay at `start`. start: q (nq) of the first guess; default: that of the model's file, or neutral; its
    first joint is placed by the markers, frame by frame. limits: keep q within those of the model. smooth [Hz]: fit all
    frames together, so that motions of this frequency keep half their size, as after a zero-phase Butterworth filter of
    order 3; it gives qd and qdd. tolerance [rad, m]: of the last step. compiled: by machine code, made once and kept.

    ModelError if no marker is known to both; TypeError or ValueError for other arguments. Frames in which nothing is
    measured come out as NaN. Frames begin at their neighbors, every 16th at a root placed by its markers. Cost: some
    five evaluations of poses of bodies for each frame.

    >>> t = np.linspace(0.0, 1.0, 6)
    >>> way = np.stack([-np.sin(t), 0 * t, -np.cos(t)], axis=1)  # the tip of the rod turns at 1 rad/s
    >>> markers = od.recordings.Recording("end", t, way[:, None], "m")
    >>> motion = od.recordings.fit_motion(rod, markers, places={"end": ("tip", (0, 0, 0))})
    >>> motion.q.ravel().round(6).tolist(), float(motion.rms.max().round(9))
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], 0.0)
    """
    check_model(model)
    ends = checks.positive(tolerance, "fit_motion: tolerance"), checks.whole(iterations, "fit_motion: iterations", 1)
    t, known = times(markers, orientations, coordinates), Weights(weights)
    data, names = measured(model, markers, orientations, places_on(model, places), known, t)
    told = prior(model, coordinates, known, t)
    known.check_all_used()
    placed = Placed(model, rows_that_hold(model, constraints), checks.truth(compiled, "fit_motion: compiled"))
    bounds = Limits.of(model, checks.truth(limits, "fit_motion: limits"))
    steps = Steps(placed, bounds, fixed_dofs(model, fixed), native_steps(compiled))
    fit = _solve(steps, first_guess(model, start), data, told, *ends)
    motion = FittedMotion(model, t, fit.q, *names, *_errors(placed, fit.q, data), fit.converged, fit.iterations)
    return _smoothed(steps, motion, data, told, smooth, ends[0])


def _smoothed(
    steps: Steps, motion: FittedMotion, data: Measured, told: Prior | None, smooth: float | None, tolerance: float
) -> FittedMotion:
    if smooth is None:
        return motion
    cutoff = checks.positive(smooth, "fit_motion: smooth")
    q, qd, qdd = smoothed(steps, motion.times, motion.q, data, told, cutoff, tolerance)
    distances, angles = _errors(steps.placed, q, data)
    return replace(motion, q=q, qd=qd, qdd=qdd, distances=distances, angles=angles)


def _solve(steps: Steps, q0: Array, measured: Measured, prior: Prior | None, tolerance: float, iterations: int) -> Fit:
    """All frames: the first from q0, the others from its joints with a root of their own, then again where worse."""
    N = len(measured.y)
    start = np.tile(q0, (N, 1))
    if prior is not None:
        start = np.where(prior.weights > 0, prior.values, start)
    there = np.flatnonzero(total_weight(measured, prior) > 0)
    q, converged = np.full((N, q0.size), np.nan), np.zeros(N, dtype=bool)
    if not there.size:
        raise ValueError("fit_motion: nothing is measured at any time: all samples are missing")

    def fit(k: Any, q: Array) -> Fit:
        return steps.fitted(q, measured.frames(k), None if prior is None else prior.frames(k), tolerance, iterations)

    seen = measured.weights > 0
    first = int(there[np.argmax(seen[there].sum(axis=1))])
    begin = _root_placed(steps, start[[first]], measured.frames([first]))
    found = fit([first], begin)
    start = np.tile(found.q, (N, 1)) if prior is None else np.where(prior.weights > 0, start, found.q)
    count = found.iterations
    for level, k in enumerate(_halves(there.size)):
        now = there[k]
        if level == 0:
            begin = _root_placed(steps, start[now], measured.frames(now))
        else:
            begin = _between(steps, q, there, k)
            begin = begin if prior is None else np.where(prior.weights[now] > 0, prior.values[now], begin)
        fitted = fit(now, begin)
        q[now], converged[now] = fitted.q, fitted.converged
        count += fitted.iterations
    count += _made_continuous(steps, fit, q, converged, measured, there, int(np.searchsorted(there, first)))
    return Fit(_unwrapped(steps, q, prior), converged, count)


STRIDE = 16
"""Frames of which one is solved without knowing its neighbors, a power of two."""


def _halves(n: int) -> list[Any]:
    """Numbers 0 to n - 1 in groups: every 16th and the last, then those half way between them, and so on."""
    left: Any = np.arange(n)
    stride, groups = STRIDE, [np.unique(np.append(left[::STRIDE], n - 1))]
    done = set(groups[0].tolist())
    while stride > 1:
        stride //= 2
        groups.append(np.array([k for k in range(0, n, stride) if k not in done], dtype=int))
        done |= set(groups[-1].tolist())
    return [group for group in groups if group.size]


def _between(steps: Steps, q: Array, there: Any, k: Any) -> Array:
    """Configurations of frames there[k] from the nearest solved ones on both sides: angles go the short way, and
    quaternions along the chord."""
    solved: Any = np.flatnonzero(~np.isnan(q[there]).any(axis=1))
    after = np.searchsorted(solved, k)
    a, b = there[solved[after - 1]], there[solved[after]]
    share = ((there[k] - a) / (b - a))[:, None]
    way = q[b] - q[a]
    turning = np.zeros(q.shape[1], dtype=bool)
    for entry, dof in steps.entry_dofs:
        turning[entry] = steps.placed.turning[dof]
    way = np.where(turning, np.angle(np.exp(1j * way)), way)
    model = steps.placed.model
    for i, _ in model.edges:
        joint = model.joints[i]
        if joint.has_quaternion:
            part = slice(model.q_index[i] + joint.nq - 4, model.q_index[i] + joint.nq)
            other = np.where(np.sum(q[a, part] * q[b, part], axis=1) < 0, -1.0, 1.0)[:, None] * q[b, part]
            way[:, part] = other - q[a, part]
            middle = q[a, part] + share * way[:, part]
            way[:, part] = (middle / np.linalg.norm(middle, axis=1, keepdims=True) - q[a, part]) / share
    return np.asarray(q[a] + share * way)


def _made_continuous(
    steps: Steps, fit: Any, q: Array, converged: Any, measured: Measured, there: Any, first: int
) -> int:
    """Frames that ended elsewhere than the one before begin again from it, outward from the first that was solved.

    Elsewhere: much larger errors, or angles that jump, as between two sets of Euler angles of one orientation. Frames
    q[there] and `converged` are replaced in place; the number of steps is returned.
    """
    placed, count = steps.placed, 0
    angles = np.array([entry for entry, dof in steps.entry_dofs if placed.turning[dof]], dtype=int)
    cost = placed.errors(q[there], measured.frames(there))[0]
    least = 1e-12 * (1 + total_weight(measured, None).max())
    for way in (1, -1):
        k = first
        while 0 <= k + way < there.size:
            before, here, k = there[k], there[k + way], k + way
            jump = np.abs(np.angle(np.exp(1j * (q[here, angles] - q[before, angles])))).max(initial=0.0)
            worse = cost[k] > WORSE**2 * cost[k - way] + least
            if not (worse or jump > JUMP or not converged[here]):
                continue
            again = fit([here], q[[before]])
            count += again.iterations
            found = float(placed.errors(again.q, measured.frames([here]))[0][0])
            if found <= cost[k] * (1 + 1e-3) + least:
                q[here], cost[k], converged[here] = again.q[0], found, again.converged[0]
    return count


def _unwrapped(steps: Steps, q: Array, prior: Prior | None) -> Array:
    """Configurations whose angles do not jump by whole turns between frames and begin within half a turn of zero, where
    limits, constraints and measured angles allow it."""
    placed, limits = steps.placed, steps.limits
    there = np.flatnonzero(~np.isnan(q).any(axis=1))
    coupled: Any = placed.rows(q[there[:1]])[1].any(axis=(0, 1))
    told: Any = np.zeros(q.shape[1], dtype=bool) if prior is None else prior.weights.any(axis=0)
    found = np.array(q)
    for entry, dof in steps.entry_dofs:
        if placed.turning[dof] and not coupled[dof] and not told[entry]:
            x = np.unwrap(q[there, entry])
            x = x - 2 * np.pi * np.round(x[0] / (2 * np.pi))
            if x.min() >= limits.lower[entry] and x.max() <= limits.upper[entry]:
                found[there, entry] = x
    return found


def _root_placed(steps: Steps, q: Array, measured: Measured) -> Array:
    """Configurations with the first body that moves placed so that the markers lie as near as a rigid body allows.

    Kabsch 1976 (Acta Cryst. A32:922) gives the rotation; steps of the dofs of that body lead there.
    """
    placed, model = steps.placed, steps.placed.model
    if measured.bodies.size < 3:
        return q
    R, p, _, _ = placed.bodies(q)
    P = placed.markers(R, p, measured)
    W = measured.weights[..., None] / np.maximum(measured.weights.sum(axis=1), 1e-300)[:, None, None]
    here, there = np.sum(W * P, axis=1), np.sum(W * measured.y, axis=1)
    U, _, Vt = np.linalg.svd(np.matmul((W * (P - here[:, None])).swapaxes(1, 2), measured.y - there[:, None]))
    flip = np.sign(np.linalg.det(U) * np.linalg.det(Vt))
    U[:, :, 2] *= flip[:, None]
    turn = np.matmul(U, Vt).swapaxes(1, 2)
    root = [i for i, parent in model.edges if parent == 0 and placed.above[i][measured.bodies].any()][:1]
    if not root or (measured.weights > 0).sum(axis=1).min() < 3:
        return q
    origin = p[:, root[0]]
    goal = np.einsum("nij,nj->ni", turn, origin - here) + there
    # the pose as a sensor of orientation and a marker at the origin, which a body at the root follows exactly
    n = len(q)
    pose = Measured(
        np.array(root),
        np.zeros((1, 3)),
        goal[:, None],
        np.ones((n, 1)),
        np.array(root),
        np.eye(3)[None],
        np.matmul(turn, R[:, root[0]])[:, None],
        np.ones((n, 1)),
    )
    others = [k for k, body in enumerate(placed.dof_body) if body != root[0]]
    alone = Steps(placed.without_rows(), steps.limits, others)
    moved = alone.fitted(q, pose, None, 1e-4, 40).q
    better = placed.errors(moved, measured)[0] < placed.errors(q, measured)[0]
    return np.where(better[:, None], moved, q)


def _errors(placed: Placed, q: Array, measured: Measured) -> tuple[Array, Array]:
    """Distances of markers (N, m) [m] and angles of sensors (N, s) [rad]; NaN where they are missing."""
    there = ~np.isnan(q).any(axis=1)
    distances, angles = np.full(measured.weights.shape, np.nan), np.full(measured.turn_weights.shape, np.nan)
    _, far, turned = placed.errors(q[there], measured.frames(there))
    for found, errors, weights in (
        (distances, far, measured.weights),
        (angles, turned, measured.turn_weights),
    ):
        found[there] = np.where(weights[there] > 0, np.linalg.norm(errors, axis=2), np.nan)
    return distances, angles
