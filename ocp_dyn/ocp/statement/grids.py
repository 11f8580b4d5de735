"""Grids of a phase: how its duration is divided into intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._base.checks import all_positive, whole
from ..._base.types import Array, repr_in_message

MOST_INTERVALS = 10**6
"""Largest number of intervals of a phase."""

LEAST_SHARE = 1e-6
"""Smallest share that an interval has of the duration of its phase."""

SAME_NODE = 1e-9
"""Difference of two nodes, as a fraction of the phase, up to which they are one."""


@dataclass(frozen=True)
class Intervals:
    """Intervals of different lengths, for `Phase(intervals=...)`.

    lengths: of the intervals in their order, in any unit; only their ratios count. The shares of the duration stay as
    they are where the duration is free. `shares` sum to 1, and `nodes` lie between 0 and 1. ValueError for lengths that
    are not positive and finite, or an interval shorter than 1e-6 of the phase.

    All grids of a problem share their derivatives and tables: a change of the grid differentiates nothing again.

    >>> grid = ocp.Intervals([1, 1, 2])
    >>> grid.nodes
    array([0.  , 0.25, 0.5 , 1.  ])
    >>> push = ocp.Phase("push", grid, 1.0, objective=[ocp.TorqueSquared()])
    >>> ocp.Problem(wheel, [push], boundary=[rest]).solve(progress=False).t
    array([0.  , 0.25, 0.5 , 1.  ])
    """

    lengths: tuple[float, ...]

    def __post_init__(self) -> None:
        if isinstance(self.lengths, (str, bytes)) or not np.ndim(np.asarray(self.lengths, dtype=object)):
            raise TypeError(
                f"Intervals: lengths must be several numbers, such as [1, 1, 2], got {repr_in_message(self.lengths)}; "
                "for equal intervals write Phase(intervals=20)"
            )
        found = all_positive(self.lengths, "Intervals: lengths")
        if not 1 <= found.size <= MOST_INTERVALS:
            raise ValueError(f"Intervals: lengths must be 1 to {MOST_INTERVALS} numbers, got {found.size}")
        object.__setattr__(self, "lengths", tuple(found.tolist()))
        if found.size > 1 and self.shares.min() < LEAST_SHARE:
            raise ValueError(
                f"Intervals: an interval has {self.shares.min():.1e} of the phase, and {LEAST_SHARE:.0e} is the least: "
                "leave it out"
            )

    @staticmethod
    def even(count: int) -> Intervals:
        """Intervals of one length.

        >>> ocp.Intervals.even(4).nodes
        array([0.  , 0.25, 0.5 , 0.75, 1.  ])
        """
        return Intervals((1.0,) * whole(count, "Intervals.even: intervals", least=1, most=MOST_INTERVALS))

    @staticmethod
    def through(nodes: Any) -> Intervals:
        """The grid with these nodes, in any unit: increasing numbers, such as the times of a solved phase.

        >>> ocp.Intervals.through([0.3, 0.4, 0.6]).lengths
        (1.0, 2.0)
        """
        widths = np.diff(np.asarray(nodes, dtype=float).ravel())
        if not widths.size or not np.all(widths > 0):
            raise ValueError(f"Intervals.through: nodes must be increasing numbers, got {repr_in_message(nodes)}")
        if np.ptp(np.cumsum(widths) / widths.sum() - np.arange(1, widths.size + 1) / widths.size) < SAME_NODE:
            return Intervals.even(widths.size)
        return Intervals(tuple((widths / widths.min()).round(12).tolist()))

    @property
    def count(self) -> int:
        """Number of intervals."""
        return len(self.lengths)

    @cached_property
    def is_even(self) -> bool:
        """Whether all intervals have one length."""
        return len(set(self.lengths)) == 1

    @cached_property
    def shares(self) -> Array:
        """Shares (N) of the intervals in the duration of the phase; they sum to 1."""
        lengths = np.array(self.lengths)
        return np.asarray(lengths / lengths.sum())

    @cached_property
    def nodes(self) -> Array:
        """Fractions (N + 1) of the phase at the nodes, from 0 to 1."""
        if self.is_even:
            return np.linspace(0.0, 1.0, self.count + 1)
        return np.concatenate([[0.0], np.cumsum(self.shares)[:-1], [1.0]])

    def at(self, k: int, u: Any = 0.0) -> Any:
        """The fraction of the phase at the fraction u of interval k; k may be the number of intervals, for the end."""
        if self.is_even:
            return (k + u) / self.count
        return self.nodes[k] + u * self.shares[min(k, self.count - 1)]

    def find(self, s: float) -> tuple[int, float]:
        """The interval in which the fraction s of the phase lies, and the fraction of this interval; a fraction close
        to a node belongs to the interval that begins there."""
        nodes = self.nodes
        k = int(np.clip(np.searchsorted(nodes, s + SAME_NODE / self.count, side="right") - 1, 0, self.count - 1))
        return k, float((s - nodes[k]) / (nodes[k + 1] - nodes[k]))

    def __repr__(self) -> str:
        if self.is_even:
            return f"Intervals.even({self.count})"
        return f"Intervals({[round(x, 6) for x in self.lengths]})"
