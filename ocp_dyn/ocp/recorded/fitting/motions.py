"""Motions of a fit: each problem is solved for the parameters, held against its data, and differentiated.

The distance depends on the parameters through the optimum x(p) alone. Its derivatives follow from those of the optimum
(`ocp_dyn.ocp.workflows.optimum_system`), which are exact as long as the same bounds stay active, by forward differences
of the data's functions along them: a step of at most `STEP` in every variable.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...._base.types import Array
from ...analysis.active_set import table_of
from ...nlp.program import Assembled
from ...solution import Solution
from ...statement.statement import Statement
from ...transcription.collect import collect
from ...transcription.variables import Transcription
from ...workflows.attempt import prepare
from ...workflows.optimum_system import OptimumSystem, ParameterDerivatives, at_values, values_of
from ...workflows.solve import solution_of
from .measured import Measured

STEP = 1e-6
"""Largest change of a variable, in the scale of the program, in a forward difference."""

SMALL_CHANGE = 0.1
"""Relative change of a parameter up to which derivatives predict a better start than the solution itself: on a walk 8
iterations in the place of 12 for changes of 3 %, 11 for both at 30 %."""


@dataclass
class Motion:
    """One problem with its data, at the last parameters for which it was solved.

    names, entries: of the fitted parameters in the programs; options: of the solves. kept: the solution at the point
    from which the search steps, tried: that at the last point it tried. slopes: derivatives of the kept one.
    """

    problem: Statement
    data: Sequence[Measured]
    names: Sequence[str]
    entries: Sequence[int]
    options: Mapping[str, Any]
    kept: Solution | None = None
    tried: Solution | None = None
    slopes: list[ParameterDerivatives] = field(default_factory=list)
    work: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("solves", "iterations", "systems", "seconds"), 0.0)
    )

    def attempt(self, values: Sequence[float]) -> tuple[Array | None, str]:
        """The residuals for these parameters, None if the problem has no solution there, and the status of the solve.

        The solve starts from the kept solution with its multipliers, moved along its derivatives by a small change,
        then from its motion alone, then from the first guess of the library.
        """
        begin = time.process_time()
        given = self._given(values)
        ways: list[dict[str, Any]] = [{}]
        if self.kept is not None:
            ways = [{"start": self._predicted(values)}, {"guess": self.kept}, {}]
        self.tried, status = None, ""
        for way in ways:
            found = solution_of(self.problem, values=given, progress=False, **self.options, **way)
            status = found.status
            self.work["solves"] += 1
            self.work["iterations"] += found.stats["iterations"]
            if found.converged:
                self.tried = found
                break
        residual = None if self.tried is None else self.residual(self.tried)
        self.work["seconds"] += time.process_time() - begin
        return residual, status

    def _predicted(self, values: Sequence[float]) -> Solution:
        """The kept solution with the variables and multipliers that its derivatives predict: a start for the solve."""
        kept = self.kept
        assert kept is not None
        if not self.slopes:
            return kept
        t, _ = prepare(self.problem, self.options.get("threads", 1))
        before = values_of(t, table_of(kept))
        pairs = [(place, value) for place, value in zip(self._places(t), values, strict=True) if place is not None]
        changes = [value - before[place] for place, value in pairs]
        if any(
            abs(change) > SMALL_CHANGE * abs(before[place]) for change, (place, _) in zip(changes, pairs, strict=True)
        ):
            return kept
        moved = {
            key: x + sum(step * getattr(slope, key) for step, slope in zip(changes, self.slopes, strict=True))
            for key, x in kept.iterate.items()
        }
        return replace(kept, iterate=moved)

    def residual(self, solution: Solution) -> Array:
        return np.concatenate([data.residual(solution) for data in self.data])

    def keep(self) -> None:
        """The tried solution is the one to step from."""
        assert self.tried is not None
        self.kept, self.slopes = self.tried, []

    def jacobian(self) -> tuple[Array, float]:
        """Derivatives of the residuals of the kept solution by all fitted parameters, one column each, and the residual
        of the linear system: above 1e-6 the optimum is not determined by its first-order conditions."""
        begin = time.process_time()
        solution = self.kept
        assert solution is not None
        t, program = prepare(self.problem, self.options.get("threads", 1))
        with program.lock:
            places = self._places(t)
            mine = [place for place in places if place is not None]
            system = OptimumSystem.at(t, program, solution)
            self.slopes = system.slopes(mine)
            base = self.residual(_moved(t, program, solution, system.p))
            found = np.zeros((base.size, len(places)))
            columns = iter(self.slopes)
            for k, place in enumerate(places):
                if place is not None:
                    found[:, k] = self._along(t, program, system.p, place, next(columns), base)
        self.work["systems"] += 1
        self.work["seconds"] += time.process_time() - begin
        return found, max([0.0, *(slope.residual for slope in self.slopes)])

    def _along(
        self, t: Transcription, program: Assembled, p: Array, place: int, slope: ParameterDerivatives, base: Array
    ) -> Array:
        """Derivative of the residuals by entry `place` of p, along the optimum."""
        h = STEP / max(1.0, float(np.abs(slope.x).max(initial=0.0)))
        values = p.copy()
        values[place] += h
        assert self.kept is not None
        moved = _moved(t, program, self.kept, values, h * slope.x)
        return (self.residual(moved) - base) / h

    def _places(self, t: Transcription) -> list[int | None]:
        """Entries of p of the fitted parameters; None for those that the problem does not have."""
        known = {parameter.name: parameter.index for parameter in t.program.parameters}
        pairs = zip(self.names, self.entries, strict=True)
        return [int(known[name][entry]) if name in known else None for name, entry in pairs]

    def _given(self, values: Sequence[float]) -> dict[str, Any]:
        """Values of parameters for a solve: those of this problem."""
        t, _ = prepare(self.problem, self.options.get("threads", 1))
        declared = {p.name: v.copy() for p, v in zip(t.program.parameters, t.program.declared, strict=True)}
        found: dict[str, Any] = {}
        for name, entry, value in zip(self.names, self.entries, values, strict=True):
            if name in declared:
                found.setdefault(name, declared[name])[entry] = value
        return found


def _moved(t: Transcription, program: Assembled, solution: Solution, p: Array, step: Any = 0.0) -> Solution:
    """The motion beside a solution, for other values of the parameters."""
    with at_values(t, p):
        return collect(t, program, solution.iterate["x"] + step, solution.stats)
