"""Input and output of every solver."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..._types import Array
from ..nlp.stage_orders import CarriedChain, Chain


@dataclass(frozen=True, eq=False)
class Start:
    """Starting point of a solver: x, the bounds lower and upper of x, parameters p, and multipliers if they are
    known."""

    x: Array
    p: Array
    lower: Array
    upper: Array
    lam_x: Array | None = None
    lam_g: Array | None = None

    @property
    def warm(self) -> bool:
        return self.lam_g is not None


@dataclass(frozen=True)
class Orders:
    """Makers of a program's stage orders, called by those solvers that work along a chain of stages.

    unshared: the order of stages that share no variables; ValueError if they do. shared: an order of any program, with
    copies of the variables that stages share.
    """

    unshared: Callable[[], Chain]
    shared: Callable[[], CarriedChain]


@dataclass(frozen=True)
class Settings:
    """Settings of a run; options: the solver's own, by its names."""

    tolerance: float
    max_iterations: int
    options: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of a solver, with the multipliers of bounds and rows in CasADi's signs.

    retries: number of times that the solver gave up and went on from its best iterate; iterations: of all attempts.
    """

    x: Array
    lam_x: Array
    lam_g: Array
    status: str
    converged: bool
    iterations: int
    retries: int = 0
