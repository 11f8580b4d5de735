"""Recordings as `track` takes them: checked, fitted to the model, filtered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._base import checks
from ..._base.types import repr_in_message
from ...dynamics.kinematics import resolve
from ...mechanism import Model
from ...recordings import FittedMotion, Recording, fit_motion

ANOTHER_BODY = 0.15
"""Root mean square of the distances of the markers, over that of their places from their middle, from which on the
recording is that of another body."""

ENOUGH = 4
"""Markers from which on their distances tell whether the recording is of this body."""

PLATE_SHARE = 0.4
"""Cutoff of the forces, as a share of the intervals per second: faster changes do not fit between the nodes."""

MARGIN = 1.0
"""Time before and after the part that is followed of which the filter takes note [s]."""

LEAST_FRAMES = 8
"""Frames of a recording, and of the part of it that is followed."""


@dataclass(frozen=True)
class Markers:
    """Markers that are followed: their samples, places on the model (frame, point) and weights."""

    seen: Recording
    points: tuple[tuple[str, Any], ...]
    weights: tuple[float, ...]


def fitted(
    model: Model, recording: Any, places: Any, weights: Any, cutoff: float, window: tuple[float, float] | None
) -> tuple[FittedMotion, Markers | None]:
    """The motion that the recording shows, with velocities and accelerations; the markers that count, filtered."""
    cutoff = checks.positive(cutoff, "track: cutoff")
    if isinstance(recording, FittedMotion):
        if recording.model != model:
            raise ValueError("track: the recorded motion is that of another model: give the model that was fitted")
        return (recording if recording.qdd is not None else recording.filtered(cutoff)), None
    if not isinstance(recording, Recording) or recording.kind not in ("points", "numbers"):
        raise TypeError(
            "track needs a Recording of markers (points) or of angles (numbers by names of coordinates), or a "
            f"FittedMotion, got {repr_in_message(recording)}"
        )
    if recording.times.size < LEAST_FRAMES:
        raise ValueError(f"track: the recording is too short: {recording.times.size} frames, {LEAST_FRAMES} are needed")
    if window and recording.times[0] <= window[0] < window[1] <= recording.times[-1]:
        recording = recording.between(window[0] - MARGIN, window[1] + MARGIN)
    if recording.kind == "numbers":
        return fit_motion(model, coordinates=recording, weights=weights).filtered(cutoff), None
    raw = fit_motion(model, recording, places=places, weights=weights)
    _check_body(model, raw, recording)
    seen: Any = np.isfinite(raw.distances).any(axis=0)
    names = [name for name, there in zip(raw.markers, seen, strict=True) if there]
    where = {m.name: (m.body, m.point) for m in model.markers} if places is None else places
    among = any(name in (weights or {}) for name in recording.names)
    counts = tuple(float((weights or {}).get(name, 0.0 if among else 1.0)) for name in names)
    markers = Markers(recording.select(names).filter(cutoff), tuple(where[name] for name in names), counts)
    return raw.filtered(cutoff), markers


def _check_body(model: Model, motion: FittedMotion, markers: Recording) -> None:
    """ValueError where the markers lie too far from those of the model for a recording of this body."""
    there = markers.select(motion.markers).values
    there = there[~np.isnan(there).all(axis=(1, 2))]
    spread = float(np.sqrt(np.nanmean(np.sum((there - np.nanmean(there, axis=1, keepdims=True)) ** 2, axis=2))))
    error = float(np.sqrt(np.nanmean(motion.rms**2)))
    if len(motion.markers) >= ENOUGH and error > ANOTHER_BODY * spread:
        far = dict(zip(motion.markers, np.sqrt(np.nanmean(motion.distances**2, axis=0)), strict=True))
        worst = sorted(far, key=lambda name: -np.nan_to_num(far[name]))[:3]
        raise ValueError(
            f"track: the markers lie {1000 * error:.3g} mm (root mean square) from those of "
            f"{repr_in_message(model.name)}, worst {', '.join(f'{n} {1000 * far[n]:.3g} mm' for n in worst)}: is the "
            "recording of another body? scale the model to the subject, and look at names, units and axes (z up) of "
            "the markers"
        )


def checked_forces(model: Model, forces: Any) -> Recording:
    if not isinstance(forces, Recording) or forces.kind != "wrenches":
        raise TypeError(
            f"track: forces must be a Recording of wrenches on the feet, got {repr_in_message(forces)}: "
            "od.recordings.ground_forces and on_feet make one, read_external_loads reads one"
        )
    if not forces.names:
        raise ValueError("track: there are no forces: equations of motion that are exact need those of the ground")
    for name in forces.names:
        resolve(model, name)
    return forces


def without_fast_changes(forces: Recording, rate: float) -> Recording:
    """The forces without what is too fast for the grid."""
    cutoff = PLATE_SHARE * checks.positive(rate, "track: rate")
    return forces.filter(cutoff) if forces.times.size > 3 and forces.rate > 2.5 * cutoff else forces


def inside(motion: FittedMotion, forces: Recording, begin: float, end: float) -> FittedMotion:
    """The motion, without the frames that are empty; ValueError unless it covers the time, and the forces do too."""
    assert motion.qd is not None
    assert motion.qdd is not None
    there = ~np.isnan(motion.q).any(axis=1) & ~np.isnan(motion.qdd).any(axis=1)
    t = motion.times[there]
    for what, times in (("recorded motion", t), ("forces", forces.times)):
        if times.size < 2 or times[0] > begin + 1e-6 or times[-1] < end - 1e-6:
            told = f"from {times[0]:.4g} to {times[-1]:.4g} s" if times.size else "empty"
            raise ValueError(f"track: the {what} must cover {begin:.4g} to {end:.4g} s, and is {told}")
    if not np.isfinite(forces.between(begin, end).values).all():
        raise ValueError(f"track: forces are missing between {begin:.4g} and {end:.4g} s: fill_gaps first")
    count = int(np.sum((t >= begin - 1e-9) & (t <= end + 1e-9)))
    if count < LEAST_FRAMES:
        raise ValueError(
            f"track: {count} frames with markers lie between {begin:.4g} and {end:.4g} s, and {LEAST_FRAMES} are needed"
        )
    gap = float(np.diff(t[(t >= begin - 1e-9) & (t <= end + 1e-9)]).max())
    if gap > 4 * float(np.median(np.diff(motion.times))):
        raise ValueError(
            f"track: all markers are missing for {gap:.3g} s between {begin:.4g} and {end:.4g} s: fill_gaps first, or "
            "give another time, between=(begin, end)"
        )
    return replace(
        motion, times=t, q=motion.q[there], qd=motion.qd[there], qdd=motion.qdd[there],
        distances=motion.distances[there], angles=motion.angles[there], converged=np.asarray(motion.converged)[there],
    )  # fmt: skip
