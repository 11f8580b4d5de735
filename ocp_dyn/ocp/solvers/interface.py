"""Inputs and result of every solver."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..._base.types import Array
from ..nlp.stage_orders import StageOrder

MakeOrder = Callable[[], StageOrder]
"""Makes the stage order of a program; ValueError if its stages share variables."""


class Iterate(NamedTuple):
    """Variables of a program, and multipliers of their bounds and of the rows, in CasADi's signs."""

    x: Array
    lam_x: Array
    lam_g: Array


@dataclass(frozen=True, eq=False)
class Start:
    """Starting point of a solver: x, parameters p, bounds of x, and multipliers of bounds and rows if they are
    known. central: the central iterate of the run that found x, if it is known (`warm_start`)."""

    x: Array
    p: Array
    lower: Array
    upper: Array
    lam_x: Array | None = None
    lam_g: Array | None = None
    central: Iterate | None = None

    def at(self, iterate: Iterate) -> Start:
        """The start at another iterate."""
        return replace(self, x=iterate.x, lam_x=iterate.lam_x, lam_g=iterate.lam_g)

    def without_multipliers(self) -> Start:
        """The start at the same x, for a solver that begins anew."""
        return replace(self, lam_x=None, lam_g=None, central=None)

    @property
    def warm(self) -> bool:
        """Whether the start has multipliers."""
        return self.lam_g is not None


@dataclass(frozen=True)
class SolverSettings:
    """Settings of a run; options: those of the solver, by the solver's names."""

    tolerance: float
    max_iterations: int
    options: Mapping[str, Any]


@dataclass(frozen=True)
class LinearSolver:
    """The solver of the linear equations of a run, as `stats` tells it: its name; the reason why it is not the block
    LDL solver, or why that was given up; and its figures."""

    name: str = ""
    reason: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SolverResult:
    """Result of a solver, with the multipliers of bounds and rows in CasADi's signs: grad f + J' lam_g + lam_x = 0,
    multipliers of active upper bounds are positive, those of lower ones negative.

    converged: the scaled rows, bounds and this equation hold to `Settings.tolerance`. status: a text for the user; the
    texts in `GAVE_UP` (ocp/workflows/verdict.py) start a search for the cause.
    retries: number of times that the solver gave up and went on from its best iterate; iterations: their number in all
    attempts together. linear_solver: that of the last attempt, for solvers that have a choice. central: an iterate of
    the run from which runs for other parameters begin; warm_start: what became of a warm start, in words; both of IPOPT
    only.

    >>> ocp.SolverResult(np.zeros(3), np.zeros(3), np.zeros(1), "solved", True, iterations=4).retries
    0
    """

    x: Array
    lam_x: Array
    lam_g: Array
    status: str
    converged: bool
    iterations: int
    retries: int = 0
    linear_solver: LinearSolver = field(default_factory=LinearSolver)
    central: Iterate | None = None
    warm_start: str = ""
