"""Record of the grids on which a motion was solved, until the errors of all intervals were small enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..._base.display import Displayed, aligned, picture_of, table
from ..._base.types import Array
from ..motion.motion import Motion


@dataclass(frozen=True)
class Round:
    """One grid of a refinement, the motion that was found on it, and its errors.

    integrator: its name; nodes: times [s] of the nodes, phase by phase; angle, length: errors of the intervals in
    their order [rad], [m]; phase, dof, at: where the largest is, the start of the interval [s]; iterations, seconds,
    objective: of the solve on this grid; change: what was done to get the next grid.

    >>> arm = ocp.Problem(rod, [ocp.Phase("swing", 4, 1.0, objective=[ocp.TorqueSquared()])], boundary=[rest])
    >>> coarse = arm.solve(accuracy=1e-4, progress=False).refinement.rounds[0]
    >>> coarse.intervals, len(coarse.angle)
    ((4,), 4)
    """

    integrator: str
    nodes: tuple[tuple[float, ...], ...]
    angle: tuple[float, ...]
    length: tuple[float, ...]
    phase: str
    dof: str
    at: float
    iterations: int
    seconds: float
    objective: float
    change: str = ""

    @property
    def error(self) -> Array:
        """The larger of both errors of every interval [rad, m]."""
        return np.maximum(self.angle, self.length)

    @property
    def intervals(self) -> tuple[int, ...]:
        """Number of intervals of every phase."""
        return tuple(len(times) - 1 for times in self.nodes)

    def line(self) -> tuple[str, ...]:
        """The line of a table; see `HEAD`."""
        count = " + ".join(map(str, self.intervals))
        total = f"{sum(self.intervals)}" + (f" ({count})" if len(self.intervals) > 1 else "")
        largest = f"{max(self.angle):.2g}", f"{max(self.length):.2g}"
        where = f"{self.dof} in {self.phase} at {self.at:.3f} s"
        solve = str(self.iterations), f"{self.seconds:.2f}", f"{self.objective:.6g}"
        return (self.integrator, total, *largest, where, *solve, self.change)

    def plain(self) -> dict[str, Any]:
        """The round as plain data."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        return found | {"nodes": [list(t) for t in self.nodes], "angle": list(self.angle), "length": list(self.length)}

    @staticmethod
    def of(plain: Mapping[str, Any]) -> Round:
        """The round of plain data."""
        known = {f.name for f in fields(Round)}
        found = {key: value for key, value in plain.items() if key in known}
        found["nodes"] = tuple(tuple(float(t) for t in times) for times in found["nodes"])
        return Round(**found | {key: tuple(float(x) for x in found[key]) for key in ("angle", "length")})


HEAD = ("integrator", "intervals", "error [rad]", "error [m]", "largest", "iterations", "seconds", "objective", "then")
"""Columns of the table of a refinement."""


@dataclass(frozen=True)
class Refinement(Displayed):
    """Record of the refinement of a motion's grid: `print` shows a table with a line per grid, `plot` the errors.

    accuracy: the largest error that was asked for [rad, m]; verdict: whether it was reached, and if not where and what
    to do, in words. A `Round` per grid.

    >>> arm = ocp.Problem(rod, [ocp.Phase("swing", 4, 1.0, objective=[ocp.TorqueSquared()])], boundary=[rest])
    >>> swing = arm.solve(accuracy=1e-5, progress=False)
    >>> swing.refinement.reached, len(swing.tau) > 4, swing.interval_errors().largest < 1e-5
    (True, True, True)
    """

    accuracy: float
    verdict: str
    rounds: tuple[Round, ...]

    @property
    def reached(self) -> bool:
        """Whether all intervals err by no more than the accuracy."""
        return bool(self.rounds) and bool(self.rounds[-1].error.max() <= self.accuracy)

    @property
    def line(self) -> str:
        """The grids in one line, for the summary of a motion."""
        if not self.rounds:
            return f"no grid: {self.verdict}"
        counts = ", ".join(str(sum(one.intervals)) for one in self.rounds)
        largest, within = self.rounds[-1].error.max(), "within" if self.reached else "above"
        grids = "1 grid" if len(self.rounds) == 1 else f"{len(self.rounds)} grids"
        return f"{grids}, {counts} intervals, which err by up to {largest:.2g}, {within} {self.accuracy:g}"

    def __str__(self) -> str:
        return f"{aligned([HEAD, *(one.line() for one in self.rounds)])}\n{self.verdict}"

    def plot(self, path: str | Path | None = None) -> Any:
        """Figure of the error of every interval on the first and the last grid, written to `path` if given; see
        `ocp_dyn.viz.plot_refinement`."""
        from ...viz import plot_refinement

        return plot_refinement(self, path)

    def _card_html(self) -> str:
        return table(HEAD, [one.line() for one in self.rounds])

    def plain(self) -> dict[str, Any]:
        """The record as plain data, for `Solution.stats`."""
        rounds = [one.plain() for one in self.rounds]
        return {"accuracy": self.accuracy, "verdict": self.verdict, "rounds": rounds}


def refinement(solution: Motion) -> Refinement:
    """The record of a motion; ValueError for one that was solved without an accuracy."""
    found = solution.stats.get("refinement")
    if found is None:
        raise ValueError(
            "this motion was solved on one grid: solve(accuracy=1e-4) refines the grid; interval_errors() tells the "
            "errors of any motion"
        )
    return Refinement(float(found["accuracy"]), str(found["verdict"]), tuple(map(Round.of, found["rounds"])))


@picture_of.register(Refinement)
def _picture(found: Refinement) -> Any:
    return found.plot()
