"""Events of gait, from ground forces or from markers, and the strides between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from .._base import checks
from .._base.types import Array, repr_in_message
from .forces import LOADED
from .naming import no_such_name
from .recording import Recording

SHORTEST = 0.05
"""Time for which a foot must be on the ground, or off it, to count [s]."""
PERCENT = np.linspace(0.0, 100.0, 101)


@dataclass(frozen=True, eq=False)
class Events:
    """Times at which feet come to the ground and leave it [s], by foot.

    >>> events = od.recordings.Events({"calcn_r": [0.27, 1.41]}, {"calcn_r": [1.02]})
    >>> events.strides("calcn_r")
    [(0.27, 1.41)]
    """

    strikes: Mapping[str, Array] = field(default_factory=dict)
    offs: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key in ("strikes", "offs"):
            given = getattr(self, key)
            if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
                raise TypeError(f"Events {key} must give times by foot, got {repr_in_message(given)}")
            found = {name: np.sort(checks.numbers(t, f"Events {key} of {name}")) for name, t in given.items()}
            object.__setattr__(self, key, MappingProxyType(found))

    def strides(self, foot: str) -> list[tuple[float, float]]:
        """(begin, end) of each stride of a foot, from one strike to its next."""
        if foot not in self.strikes:
            raise KeyError(f"there are no strikes of {no_such_name(foot, self.strikes)}")
        t = self.strikes[foot].tolist()
        return list(pairwise(t))


def events_from_forces(forces: Recording, *, threshold: float = LOADED) -> Events:
    """Events at which the vertical force (z) passes `threshold` [N], between samples by straight lines.

    Loads, and pauses, shorter than 0.05 s do not count; a foot that is loaded at the first sample has no strike there.

    >>> lifts = [[[0, 0, 0, 0, 0, f]] for f in (0.0, 0.0, 40.0, 700.0, 700.0, 700.0, 0.0, 0.0)]
    >>> forces = od.recordings.Recording("foot", np.arange(8) * 0.02, lifts, "N m, N")
    >>> events = od.recordings.events_from_forces(forces)
    >>> float(events.strikes["foot"][0].round(4)), float(events.offs["foot"][0].round(4))
    (0.03, 0.1194)
    """
    if not isinstance(forces, Recording) or forces.kind != "wrenches":
        raise TypeError(f"events_from_forces needs a Recording of wrenches, got {repr_in_message(forces)}")
    threshold = checks.positive(threshold, "events_from_forces: threshold")
    strikes, offs = {}, {}
    for name in forces.names:
        f = np.nan_to_num(forces[name][:, 5])
        crossings = [_Crossing(forces.times, f, threshold, int(k)) for k in np.flatnonzero(np.diff(f >= threshold))]
        kept: list[_Crossing] = []
        for crossing in crossings:  # a short load or pause is two crossings, which cancel
            if kept and crossing.time - kept[-1].time < SHORTEST:
                kept.pop()
            else:
                kept.append(crossing)
        strikes[name] = np.array([c.time for c in kept if c.rising])
        offs[name] = np.array([c.time for c in kept if not c.rising])
    return Events(strikes, offs)


class _Crossing:
    """A threshold that is passed between samples k and k + 1."""

    def __init__(self, t: Array, f: Array, threshold: float, k: int) -> None:
        self.rising = bool(f[k + 1] > f[k])
        self.time = float(t[k] + (t[k + 1] - t[k]) * (threshold - f[k]) / (f[k + 1] - f[k]))


def events_from_markers(
    markers: Recording, heels: Mapping[str, str], toes: Mapping[str, str], *, pelvis: str, least: float = 0.1
) -> Events:
    """Events of walking from markers alone: a foot strikes where its heel is farthest in front of the pelvis, and
    leaves where its toe is farthest behind it.

    Zeni, Richards & Higginson 2008 (Gait & Posture 27:710). Places are measured along the way of the pelvis marker, and
    times between samples by parabolas. heels, toes: names of markers by foot. least: distance over which a place must
    stand out from those before and after it [m].

    >>> t = np.arange(0.0, 3.0, 0.01)
    >>> foot = np.stack([t + 0.3 * np.sin(2 * np.pi * t), 0 * t, 0 * t], axis=1)
    >>> way = np.stack([t, 0 * t, 0 * t + 1.0], axis=1)
    >>> markers = od.recordings.Recording(["heel", "sacrum"], t, np.stack([foot, way], axis=1), "m")
    >>> events = od.recordings.events_from_markers(markers, {"r": "heel"}, {"r": "heel"}, pelvis="sacrum")
    >>> events.strikes["r"].round(6).tolist(), events.offs["r"].round(6).tolist()
    ([0.25, 1.25, 2.25], [0.75, 1.75, 2.75])
    """
    if not isinstance(markers, Recording) or markers.kind != "points":
        raise TypeError(f"events_from_markers needs a Recording of points, got {repr_in_message(markers)}")
    least = checks.positive(least, "events_from_markers: least")
    for given, what in ((heels, "heels"), (toes, "toes")):
        if not isinstance(given, Mapping):
            raise TypeError(f"events_from_markers: {what} must give a marker by foot, got {repr_in_message(given)}")
    origin = markers[pelvis][:, :2]
    seen = np.flatnonzero(np.isfinite(origin).all(axis=1))
    way = origin[seen[-1]] - origin[seen[0]] if seen.size else np.zeros(2)
    if np.linalg.norm(way) < least:
        raise ValueError(
            f"events_from_markers: {pelvis} moves by {np.linalg.norm(way):.3g} m only; on a treadmill the direction of "
            "walking is not in the markers: events_from_forces needs none"
        )
    way /= np.linalg.norm(way)

    def peaks(names: Mapping[str, str], sign: float) -> dict[str, Array]:
        return {
            foot: _peaks(markers.times, sign * ((markers[name][:, :2] - origin) @ way), least)
            for foot, name in names.items()
        }

    return Events(peaks(heels, 1.0), peaks(toes, -1.0))


def _peaks(t: Array, x: Array, least: float) -> Array:
    """Times of the maxima of x that are higher by `least` than what lies between them and the ends."""
    found: list[int] = []
    low, best = np.inf, -1
    for k in range(len(x)):
        if np.isnan(x[k]):
            continue
        if best < 0:  # falling, or not yet high: wait for a rise
            low = min(low, x[k])
            best = k if x[k] >= low + least else -1
        elif x[k] > x[best]:
            best = k
        elif x[k] <= x[best] - least:
            found.append(best)
            low, best = x[k], -1
    return np.array([_top(t, x, k) for k in found])


def _top(t: Array, x: Array, k: int) -> float:
    """Time of the top of the parabola through a maximum and its neighbors."""
    if not 0 < k < len(x) - 1 or np.isnan(x[k - 1 : k + 2]).any():
        return float(t[k])
    a, b = x[k] - x[k - 1], x[k + 1] - x[k]
    return float(t[k] + (t[k + 1] - t[k - 1]) / 4 * (a + b) / (a - b)) if a > b else float(t[k])


def cycles(recording: Recording, events: Events, foot: str) -> Array:
    """Curves over all strides of a foot that lie within the recording: (strides, 101, names, ...), at every percent.

    ValueError if there is no such stride.

    >>> t = np.arange(0.0, 3.0, 0.01)
    >>> knee = od.recordings.Recording("knee", t, np.sin(2 * np.pi * t))
    >>> curves = od.recordings.cycles(knee, od.recordings.Events({"r": [0.5, 1.5, 2.5]}), "r")
    >>> curves.shape, float(curves[1, 25, 0].round(3))
    ((2, 101, 1), -1.0)
    """
    if not isinstance(recording, Recording) or not isinstance(events, Events):
        raise TypeError(
            f"cycles needs a Recording and Events, got {repr_in_message(recording)} and {repr_in_message(events)}"
        )
    t = recording.times
    whole = [(a, b) for a, b in events.strides(foot) if a >= t[0] - 1e-9 and b <= t[-1] + 1e-9]
    if not whole:
        raise ValueError(
            f"cycles: no stride of {foot} lies within the recording, from {t[0]:.4g} to {t[-1]:.4g} s; its strikes are "
            f"at {', '.join(f'{x:.4g}' for x in events.strikes[foot]) or '(none)'} s"
        )
    return np.stack([recording.resample(times=a + (b - a) * PERCENT / 100).values for a, b in whole])
