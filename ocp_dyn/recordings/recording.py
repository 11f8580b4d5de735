"""Recording: named samples over time, with their units; missing samples are NaN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from .._base import checks
from .._base.types import Array, names_in_message, positional, repr_in_message
from ..spatial_algebra.rotations import matrix_quaternion
from .naming import no_such_name
from .signals import Spline, butterworth, complete_runs, runs, sampling_rate

KINDS = {(): "numbers", (3,): "points", (4,): "orientations", (6,): "wrenches"}
"""Kind of a recording by the shape of one sample of one name."""

Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Rotation that turns axes x forward, y up, z right into x forward, y left, z up: (x, y, z) becomes (x, -z, y)."""


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples of `names` at `times` [s], which increase; a sample that is missing is NaN.

    values: (N, n) numbers; (N, n, 3) points; (N, n, 4) orientations, unit quaternions (x, y, z, w) that turn body axes
    into the axes of the recording; or (N, n, 6) wrenches [moment about the origin; force]. units: one for each name, or
    one for all: "m", "rad", "N", "" if it is not known; "deg" after a file that has degrees where its numbers are
    angles. title: of the file. Arrays are copies and cannot be written to.

    Raises ValueError or TypeError for other sizes, names that are empty or repeated, infinite values, and times that do
    not increase.

    >>> walk = od.recordings.Recording(["knee"], [0.0, 0.1, 0.2], [[0.1], [np.nan], [0.3]], "rad")
    >>> walk
    Recording(1 name of numbers [rad], 3 times from 0 to 0.2 s, 33.3 % missing)
    >>> walk.resample(times=[0.0, 0.2])["knee"].tolist()
    [0.1, 0.3]
    """

    names: tuple[str, ...]
    times: Array
    values: Array
    units: tuple[str, ...] = ("",)
    title: str = ""

    def __post_init__(self) -> None:
        names = _texts(self.names, "names")
        units = _texts(self.units, "units") or ("",)
        times = checks.numbers(self.times, "Recording times")
        values = _values(self.values)
        if values.ndim not in (2, 3) or values.shape[2:] not in KINDS:
            raise ValueError(
                "Recording values must have the shape (times, names), or (times, names, 3 or 4 or 6), got "
                f"{values.shape}"
            )
        if values.shape[:2] != (times.size, len(names)):
            raise ValueError(
                f"Recording values must have a row for each of {times.size} times and a column for each of "
                f"{len(names)} names, got the shape {values.shape}"
            )
        if values.shape[2:] == (4,):
            values = _unit_quaternions(values)
        if len(units) not in (1, len(names)) and names:
            raise ValueError(f"Recording units must be one, or one for each of {len(names)} names, got {len(units)}")
        if not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0) or not times.size:
            raise ValueError("Recording times must be finite and increase, and there must be one at least")
        if not isinstance(self.title, str):
            raise TypeError(f"Recording title must be a string, got {repr_in_message(self.title)}")
        for name in names:
            if not name or names.count(name) > 1:
                raise ValueError(
                    f"Recording names must be non-empty and differ, got {repr_in_message(name)} twice or empty"
                )
        for array in (times, values):
            array.setflags(write=False)
        fields = {"names": names, "units": units * (len(names) if len(units) == 1 else 1)}
        for key, value in {**fields, "times": times, "values": values}.items():
            object.__setattr__(self, key, value)

    @property
    def kind(self) -> str:
        """ "numbers", "points", "orientations" or "wrenches"."""
        return KINDS[self.values.shape[2:]]

    @property
    def rate(self) -> float:
        """Samples per second; ValueError if the times are not evenly spaced."""
        return sampling_rate(self.times)

    def __repr__(self) -> str:
        n, unit = len(self.names), " and ".join(dict.fromkeys(u for u in self.units if u))
        missing = 100 * float(np.mean(np.isnan(self.values))) if self.values.size else 0.0
        return (
            f"Recording({n} name{'s' * (n != 1)} of {self.kind}{f' [{unit}]' if unit else ''}, {self.times.size} times "
            f"from {self.times[0]:.6g} to {self.times[-1]:.6g} s{f', {missing:.3g} % missing' if missing else ''})"
        )

    def __getitem__(self, name: str) -> Array:
        """Samples (N), or (N, 3), (N, 4), (N, 6), of one name; KeyError with the nearest for another."""
        return np.asarray(self.values[:, self._index(name)])

    def _index(self, name: Any) -> int:
        if not isinstance(name, str) or name not in self.names:
            raise KeyError(f"this recording has no {no_such_name(name, self.names)}")
        return self.names.index(name)

    def select(self, names: Sequence[str]) -> Recording:
        """The recording of some names, in their order."""
        k = [self._index(name) for name in _texts(names, "names")]
        return replace(
            self,
            names=tuple(self.names[i] for i in k),
            values=self.values[:, k],
            units=tuple(self.units[i] for i in k),
        )

    def between(self, begin: float, end: float) -> Recording:
        """The samples from time `begin` to time `end` [s], both included."""
        begin, end = checks.finite(begin, "between: begin"), checks.finite(end, "between: end")
        there = (self.times >= begin - 1e-9) & (self.times <= end + 1e-9)
        if not there.any():
            raise ValueError(
                f"between: no sample lies from {begin:g} to {end:g} s; the recording goes from {self.times[0]:g} to "
                f"{self.times[-1]:g} s"
            )
        return replace(self, times=self.times[there], values=self.values[there])

    def gaps(self) -> dict[str, list[tuple[float, float]]]:
        """Times of the first and the last missing sample of every gap, of all names that have gaps.

        >>> od.recordings.Recording(["a", "b"], [0, 1, 2], [[1, 2], [1, np.nan], [1, np.nan]]).gaps()
        {'b': [(1.0, 2.0)]}
        """
        found = {}
        for name in self.names:
            lost = np.isnan(self[name]).reshape(self.times.size, -1).any(axis=1)
            runs = [(float(self.times[a]), float(self.times[b - 1])) for a, b in complete_runs(~lost)]
            if runs:
                found[name] = runs
        return found

    def fill_gaps(self, longest: float) -> Recording:
        """The recording with gaps inside it filled by cubic splines through the samples around them.

        longest: from the last sample before a gap to the first after it [s]; longer gaps, and those at the ends, stay.
        """
        longest = checks.positive(longest, "fill_gaps: longest")
        flat = np.array(self.values.reshape(self.times.size, -1))
        for column in flat.T:
            known = np.flatnonzero(~np.isnan(column))
            if known.size < 2 or known.size == column.size:
                continue
            spline = Spline.through(self.times[known], column[known], 3)
            for a, b in pairwise(known):
                if b > a + 1 and self.times[b] - self.times[a] <= longest:
                    column[a + 1 : b] = spline(self.times[a + 1 : b])
        return self._with(self.times, flat)

    def resample(self, rate: float | None = None, *, times: Any = None) -> Recording:
        """The recording at `rate` samples per second over its whole time, or at `times` [s], by cubic splines.

        A new sample is missing where one of the two samples around it is missing, or outside the recording.
        Orientations are interpolated entry by entry and brought to unit length.
        """
        if (rate is None) == (times is None):
            raise TypeError("resample needs rate= or times=, and not both")
        if rate is not None:
            rate = checks.positive(rate, "resample: rate")
            span = self.times[-1] - self.times[0]
            if span * rate > 1e8:
                raise ValueError(f"resample: {span:.6g} s at {rate:.6g} Hz are more than 1e8 samples")
            at = self.times[0] + np.arange(int(np.floor(span * rate + 1e-6)) + 1) / rate
        else:
            at = checks.numbers(times, "resample: times")
        flat = self._continuous().reshape(self.times.size, -1)
        out = np.full((at.size, flat.shape[1]), np.nan)
        for columns, a, b in runs(flat):
            inside = np.flatnonzero((at >= self.times[a] - 1e-9) & (at <= self.times[b - 1] + 1e-9))
            if inside.size:
                spline = Spline.through(self.times[a:b], flat[a:b, columns], 3)
                out[np.ix_(inside, columns)] = spline(at[inside])
        return self._with(at, out)

    def filter(self, cutoff: float, *, order: int = 2) -> Recording:
        """The recording after a Butterworth low-pass of `order` that runs forward and then backward, without any lag.

        cutoff: frequency at which one of the two passes has a gain of sqrt(1/2) [Hz]; order 2 is what gait analysis
        calls a fourth-order zero-lag filter. Runs between gaps are filtered each by itself, and begin and end as if
        they went on turned about their first and last samples. ValueError if the times are not evenly spaced, or
        cutoff is half the rate or more.

        >>> t = np.arange(200) / 100
        >>> noisy = od.recordings.Recording(["x"], t, np.sin(2 * np.pi * t) + 0.1 * np.sin(60 * np.pi * t))
        >>> bool(np.abs(noisy.filter(6.0)["x"] - np.sin(2 * np.pi * t))[20:-20].max() < 0.01)
        True
        """
        flat = self._continuous().reshape(self.times.size, -1)
        return self._with(self.times, butterworth(flat, self.rate, cutoff, order))

    def derivative(self, order: int = 1) -> Recording:
        """The first or second derivative by quintic splines through all samples of each run without gaps."""
        order = checks.whole(order, "derivative: order", 1, 2)
        if self.kind == "orientations":
            raise ValueError("derivative: orientations have angular velocities, which are not those of their entries")
        flat = self.values.reshape(self.times.size, -1)
        out = np.full(flat.shape, np.nan)
        for columns, a, b in runs(flat):
            if b - a >= 3:
                out[a:b, columns] = Spline.through(self.times[a:b], flat[a:b, columns], 5)(self.times[a:b], order)
        per = "/s" if order == 1 else "/s^2"
        return replace(self._with(self.times, out), units=tuple(u and u + per for u in self.units))

    def turned(self, rotation: Any) -> Recording:
        """The recording in other axes: rotation (3x3) turns the axes of the recording into the new ones.

        Of numbers ValueError: which of them are components of vectors is not known; see `as_points`.
        """
        flat = checks.numbers(rotation, "turned: rotation")
        R = flat.reshape(3, 3) if flat.size == 9 else np.zeros((3, 3))
        if not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0:
            raise ValueError(f"turned: rotation must be a rotation matrix (3x3), got {repr_in_message(rotation)}")
        if self.kind == "numbers":
            raise ValueError("turned: this recording holds numbers, and only points, orientations and wrenches turn")
        if self.kind == "orientations":
            return replace(self, values=_quaternion_product(matrix_quaternion(R), self.values))
        parts = self.values.reshape(*self.values.shape[:2], -1, 3)
        return replace(self, values=(parts @ R.T).reshape(self.values.shape))

    def z_up(self) -> Recording:
        """The recording of axes x forward, y up, z right in axes x forward, y left, z up: (x, -z, y)."""
        return self.turned(Y_UP)

    def as_points(self, unit: str = "") -> Recording:
        """Points of numbers in columns NAME.x, NAME.y, NAME.z (or _x, _y, _z, or x, y, z); others are left out."""
        found: dict[str, list[int]] = {}
        for name in self.names:
            if name[-1:].lower() != "x":
                continue
            three = [name[:-1] + letter for letter in ("xyz" if name[-1] == "x" else "XYZ")]
            if self.kind == "numbers" and all(part in self.names for part in three):
                found[name[:-1].rstrip("._ ") or name] = [self.names.index(part) for part in three]
        if not found:
            raise ValueError(
                "as_points: no three columns end with x, y and z; the columns are " + names_in_message(self.names)
            )
        index = list(found.values())
        units = (unit,) if unit else tuple(self.units[k[0]] for k in index)
        return replace(self, names=tuple(found), values=self.values[:, index], units=units)

    def _with(self, times: Array, flat: Array) -> Recording:
        values = flat.reshape(times.size, *self.values.shape[1:])
        if self.kind == "orientations":
            values = values / np.linalg.norm(values, axis=-1, keepdims=True)
        return replace(self, times=times, values=values)

    def _continuous(self) -> Array:
        """The values; quaternions with the sign that is nearest to the sample before, which is the same rotation."""
        if self.kind != "orientations":
            return self.values
        values = np.array(self.values)
        for name in range(values.shape[1]):
            before = None
            for sample in values[:, name]:
                if before is not None and sample @ before < 0:
                    sample *= -1
                before = sample if not np.isnan(sample).any() else before
        return values


def _texts(values: Any, what: str) -> tuple[str, ...]:
    """Names or units as a tuple; one text stands for a tuple of it."""
    given = (values,) if isinstance(values, str) else values
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if not isinstance(given, (list, tuple)) or not all(isinstance(x, str) for x in given):
        raise TypeError(f"Recording {what} must be a text or a list of texts, got {repr_in_message(values)}")
    return tuple(given)


def _values(values: Any) -> Array:
    """Values as a new array of floats; NaN is allowed, infinity is not. Flat numbers are one column."""
    try:
        found = np.array(positional(values, "Recording values"), dtype=float)
    except (TypeError, ValueError, OverflowError, RuntimeError, NotImplementedError) as error:
        if isinstance(error, (TypeError, ValueError)) and "Recording values" in str(error):
            raise
        raise TypeError(f"Recording values must be numbers, got {repr_in_message(values)}") from None
    if np.isinf(found).any():
        raise ValueError("Recording values must be finite, or NaN where they are missing")
    return found[:, None] if found.ndim == 1 else found


def _unit_quaternions(values: Array) -> Array:
    """Quaternions brought to length one; ValueError if they are farther from it than files round."""
    length = np.linalg.norm(values, axis=-1, keepdims=True)
    if np.any(np.abs(length - 1) > 1e-2):
        worst = float(length.ravel()[np.nanargmax(np.abs(length - 1))])
        raise ValueError(
            f"Recording values of orientations must be unit quaternions (x, y, z, w), got length {worst:.4g}"
        )
    return np.asarray(values / length)


def _quaternion_product(a: Array, b: Array) -> Array:
    """Product (..., 4) of quaternions (x, y, z, w)."""
    (x, y, z, w), (i, j, k, r) = a, np.moveaxis(b, -1, 0)
    return np.stack(
        [
            w * i + x * r + y * k - z * j,
            w * j - x * k + y * r + z * i,
            w * k + x * j - y * i + z * r,
            w * r - x * i - y * j - z * k,
        ],
        axis=-1,
    )
