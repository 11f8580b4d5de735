"""Measured numbers of a motion with their spread, and how a solution gives the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...._base.checks import (
    all_known,
    all_positive,
    choice,
    function,
    given_name,
    listed_names,
    number,
    numbers,
    positive,
)
from ...._base.types import Array, repr_in_message, suggestion
from ....gait.gait import Gait
from ....gait.reference import gait_reference
from ...solution import Solution

CHANNELS = {"q": "q_names", "qd": "qd_names", "qdd": "qd_names", "tau": "qd_names"}
"""Channels of a motion that can be measured, each with the names of its entries."""

INDEPENDENT_SAMPLES = 12.0
"""Number of independent numbers that one measured curve over a stride counts for: angles of walking have most of their
power in the first six harmonics [Winter, Biomechanics and Motor Control of Human Movement, 2009, section 2.2.4]."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Numbers that were measured of a motion, with their spread: one term of the distance that `fit` makes small.

    name: for messages and tables. function(solution) gives the same numbers of a solved motion; it must be smooth.
    values: what was measured; nan where nothing was. spread: standard deviation, one number or one per value.
    independent: number of independent values among them, by default all; samples of a smooth curve are not
    independent, and 101 of them count as few. The distance is the mean of ((function - values) / spread)^2 times
    `independent`.

    `Measured.motion`, `Measured.curve` and `Measured.figure` make the usual ones.

    >>> end = ocp.Measured("end", lambda solution: solution.q[-1], [1.01], spread=0.01)
    >>> end.residual(solution).round(6)
    array([-1.])
    """

    name: str
    function: Callable[[Solution], Any]
    values: Any
    spread: Any = 1.0
    independent: float | None = None

    def __post_init__(self) -> None:
        here = f"Measured {repr_in_message(given_name(self.name, 'Measured name'))}"
        function(self.function, f"{here}: function")
        values = np.array(self.values, dtype=float).ravel() if not isinstance(self.values, str) else np.zeros(0)
        if not np.any(np.isfinite(values)):
            raise ValueError(f"{here}: values must hold at least one finite number, got {repr_in_message(self.values)}")
        if np.any(np.isinf(values)):
            raise ValueError(f"{here}: values must be finite, or nan where nothing was measured")
        spread = all_positive(self.spread, f"{here}: spread")
        if np.ndim(self.spread) and spread.size != values.size:
            raise ValueError(f"{here}: spread must be one number, or {values.size}, one per value, got {spread.size}")
        if self.independent is not None:
            positive(self.independent, f"{here}: independent")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "spread", np.array(np.broadcast_to(spread, values.shape)))

    @property
    def known(self) -> Any:
        """Mask of the values that were measured."""
        return np.isfinite(self.values)

    @property
    def count(self) -> float:
        """Number of independent values."""
        size = float(np.sum(self.known))
        return size if self.independent is None else min(size, self.independent)

    def of(self, solution: Solution) -> Array:
        """The numbers of a solution. ValueError if they are not as many as were measured, or not finite where they
        were."""
        found = numbers(self.function(solution), f"Measured {self.name!r}: function(solution)")
        if found.size != self.values.size:
            raise ValueError(
                f"Measured {self.name!r}: {self.values.size} values were measured, and the motion of "
                f"{solution.model.name!r} has {found.size}: are they data of another body?"
            )
        if not np.all(np.isfinite(found[self.known])):
            lost = int(np.sum(self.known & ~np.isfinite(found)))
            raise ValueError(
                f"Measured {self.name!r}: the motion has no number where {lost} values were measured: leave these out "
                "(nan)"
            )
        return found

    def residual(self, solution: Solution) -> Array:
        """The differences of a solution in units of the spread, weighed by the number of independent values."""
        gap = (self.of(solution) - self.values) / self.spread
        return np.asarray(gap[self.known] * np.sqrt(self.count / np.sum(self.known)))

    @staticmethod
    def motion(
        channel: str, values: Any, spread: Any = 1.0, *, names: Sequence[str] | None = None, fractions: Any = None,
        independent: float | None = None, name: str = "",
    ) -> Measured:  # fmt: skip
        """A channel of the motion, "q", "qd", "qdd" or "tau", at fractions of its duration, 0 to 1: a recording.

        values: one row per fraction, one column per entry. names: of the entries, as in `model.q_names` or
        `model.qd_names`; None: all. fractions: by default even from 0 to 1. Values are linear between nodes, those of
        intervals hold in their middle.

        >>> angle = ocp.Measured.motion("q", [[0.0], [0.5], [1.0]], spread=0.1)
        >>> bool(abs(angle.residual(solution)).max() < 1e-6)
        True
        """
        choice(channel, CHANNELS, "Measured.motion channel")
        table = np.array(values, dtype=float)
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or not len(table):
            raise ValueError(f"Measured.motion values must be one row per fraction, got shape {np.shape(values)}")
        at = np.linspace(0, 1, len(table)) if fractions is None else numbers(fractions, "Measured.motion fractions")
        if at.size != len(table) or not np.all((at >= 0) & (at <= 1)):
            raise ValueError(
                f"Measured.motion fractions must be {len(table)} numbers from 0 to 1, one per row of values, got "
                f"{repr_in_message(fractions)}"
            )
        chosen = None if names is None else listed_names(names, "Measured.motion names")
        if chosen is not None and len(chosen) != table.shape[1]:
            raise ValueError(f"Measured.motion: {len(chosen)} names, and {table.shape[1]} columns of values")
        spread = np.array(spread, dtype=float)
        each = np.broadcast_to(spread, table.shape) if spread.ndim else spread
        return Measured(name or channel, _Samples(channel, tuple(at), chosen), table, each, independent)

    @staticmethod
    def curve(
        curve: str, percent: Any, values: Any, spread: Any = 1.0, *, side: str = "right",
        independent: float | None = INDEPENDENT_SAMPLES,
    ) -> Measured:  # fmt: skip
        """A curve of gait analysis, by its name in `Gait`, at percent of the stride of a leg.

        >>> hip = ocp.Measured.curve("hip flexion", [0, 50, 100], [30.0, -10.0, 30.0], spread=5.0)
        >>> hip.name, hip.count
        ('hip flexion', 3.0)
        """
        at = numbers(percent, "Measured.curve percent")
        if np.size(values) != at.size or not np.all((at >= 0) & (at <= 100)):
            raise ValueError(
                f"Measured.curve {curve!r}: percent must be numbers from 0 to 100, one per value, got {at.size} for "
                f"{np.size(values)} values"
            )
        return Measured(given_name(curve, "Measured.curve curve"), _GaitCurve(curve, tuple(at), _side(side)), values,
                        spread, independent)  # fmt: skip

    @staticmethod
    def figure(figure: str, value: Any, spread: Any, *, side: str = "right") -> Measured:
        """A figure or an event of gait analysis by its name in `Gait.numbers()`: step width, double support, cadence.

        >>> ocp.Measured.figure("step_width_m", 0.1, 0.02).values
        array([0.1])
        """
        what = given_name(figure, "Measured.figure figure")
        return Measured(what, _GaitFigure(what, _side(side)), number(value, f"Measured.figure {what!r}: value"), spread)


def measured_gait(
    reference: Any, curves: Sequence[str] | None = None, *, side: str = "right", every: int = 2, spread: Any = None
) -> list[Measured]:
    """The curves of a measured gait, such as "schwartz_free" or the path of a table, as data of `fit`.

    curves: names of some of them. every: percent of the stride between two samples. spread: standard deviation by curve
    for tables without one.

    >>> [data.name for data in ocp.measured_gait("schwartz_free", ["knee flexion", "hip power"])]
    ['knee flexion', 'hip power']
    """
    found = gait_reference(reference)
    names = list(found.curves) if curves is None else list(listed_names(curves, "measured_gait curves"))
    all_known(names, found.curves, f"measured_gait of {found.name!r}", "curve")
    if isinstance(every, bool) or not isinstance(every, int) or not 1 <= every <= 50:
        raise ValueError(f"measured_gait every must be a whole number of percent from 1 to 50, got {every!r}")
    at = np.arange(0, 101, every)
    data = []
    for name in names:
        mean, sd = (np.asarray(x, dtype=float)[at] for x in found.curves[name])
        given = (spread or {}).get(name) if spread is None or isinstance(spread, Mapping) else spread
        if given is None and not np.all(np.isfinite(sd[np.isfinite(mean)])):
            raise ValueError(
                f"measured_gait: {found.name!r} has no standard deviation of {name!r}: give "
                f"spread={{{name!r}: ...}}, or leave the curve out"
            )
        sd = sd if given is None else np.full(at.size, positive(given, f"measured_gait: spread of {name!r}"))
        sd = np.maximum(np.where(np.isfinite(sd) & (sd > 0), sd, np.nanmean(sd)), LEAST_SPREAD * np.nanmean(sd))
        data.append(Measured.curve(name, at, mean, sd, side=side))
    return data


LEAST_SPREAD = 0.25
"""Least spread of a sample, relative to the mean of its curve: where all people of a table agree by chance, the data
would be more certain than the joint centers are."""


@dataclass(frozen=True)
class _Samples:
    """A channel of a motion at fractions of its duration."""

    channel: str
    fractions: tuple[float, ...]
    names: tuple[str, ...] | None

    def __call__(self, solution: Solution) -> Array:
        known = getattr(solution.model, CHANNELS[self.channel])
        columns = list(range(len(known)))
        if self.names is not None:
            for name in self.names:
                if name not in known:
                    raise ValueError(
                        f"Measured.motion: the model {solution.model.name!r} has no {self.channel} named "
                        f"{repr_in_message(name)}{suggestion(name, known)}: are they data of another body?"
                    )
            columns = [known.index(name) for name in self.names]
        times = np.array(self.fractions) * solution.duration
        ends = np.array([phase.t[-1] for phase in solution.phases])
        which = np.minimum(np.searchsorted(ends, times - 1e-12 * solution.duration), len(ends) - 1)
        rows = []
        for time, p in zip(times, which, strict=True):
            phase = solution.phases[p]
            values = getattr(phase, self.channel)[:, columns]
            at = phase.t if len(values) == len(phase.t) else (phase.t[1:] + phase.t[:-1]) / 2
            rows.append([np.interp(time, at, column) for column in values.T])
        return np.array(rows).ravel()


@lru_cache(maxsize=2)
def _gait(solution: Solution, side: str) -> Gait:
    """The gait of a solution, made once for all of its curves and figures."""
    return solution.gait(side)


@dataclass(frozen=True)
class _GaitCurve:
    curve: str
    percent: tuple[float, ...]
    side: str

    def __call__(self, solution: Solution) -> Array:
        gait = _gait(solution, self.side)
        _check_known(self.curve, gait.curves, "curve", solution)
        return np.asarray(np.interp(self.percent, gait.percent, gait.curves[self.curve]))


@dataclass(frozen=True)
class _GaitFigure:
    figure: str
    side: str

    def __call__(self, solution: Solution) -> float:
        found = _gait(solution, self.side).numbers()
        _check_known(self.figure, found, "figure", solution)
        return float(found[self.figure])


def _check_known(name: str, known: Iterable[str], kind: str, solution: Solution) -> None:
    names = list(known)
    if name not in names:
        raise ValueError(
            f"the gait of {solution.model.name!r} has no {kind} {repr_in_message(name)}; there are {', '.join(names)}"
            f"{suggestion(name, names)}: are they data of another body?"
        )


def _side(side: Any) -> str:
    return choice(side, ("left", "right"), "Measured side")
