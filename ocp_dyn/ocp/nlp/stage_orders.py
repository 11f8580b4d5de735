"""Stage orders: a program's variables and rows sorted stage by stage, for solvers that work along a chain of stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._types import Indices
from .assembled import Assembled

Mask = NDArray[np.bool_]

GAPS = ("position step", "velocity step")
"""Names of the rows x_{k+1} - F(x_k, u_k), which lead from one stage to the next."""


@dataclass(frozen=True, eq=False)
class StageOrder:
    """The order of a program whose stages share no variables.

    columns: indices of the entries of x, stage by stage; rows: indices of the rows of g, gaps first in each stage; nx,
    nu, ng: numbers of states, controls and rows other than gaps of every stage.
    """

    columns: Indices
    rows: Indices
    nx: list[int]
    nu: list[int]
    ng: list[int]

    @property
    def options(self) -> dict[str, Any]:
        """The sizes as options of CasADi's solvers."""
        return {"N": len(self.nx) - 1, "nx": self.nx, "nu": self.nu, "ng": self.ng}


@dataclass(frozen=True, eq=False)
class SharedStageOrder:
    """The order of any program, with copies of shared variables; stage by stage: states, then controls; gaps, then the
    other rows of the stage.

    columns: for every variable of the chain, the entry of the program's x that it is or copies; own: False for copies;
    source: for every copy, in order, the variable of the stage before that it continues. rows: for every row of the
    chain, the row of the program, or -1 for the gap of a copy, in the order of the copies. nx, nu, ng: numbers of
    states, controls and rows other than gaps of every stage.

    at: stage of every row of the program; home: the first stage of every entry of x, in which it is no copy, -1 for
    fixed entries that are no part of the chain; place[k, i]: the variable of the chain that represents entry i at stage
    k, or -1.
    """

    columns: Indices
    own: Mask
    source: Indices
    rows: Indices
    nx: list[int]
    nu: list[int]
    ng: list[int]
    at: Indices
    home: Indices
    place: Indices

    @property
    def options(self) -> dict[str, Any]:
        """The sizes as options of CasADi's solvers."""
        return {"N": len(self.nx) - 1, "nx": self.nx, "nu": self.nu, "ng": self.ng}

    @property
    def copies(self) -> Indices:
        """Indices of the variables that are copies."""
        return np.flatnonzero(~self.own)

    def seen(self, entries: Indices, stages: Indices) -> Indices:
        """The variables that represent these entries at these stages, or at their homes if the homes come later: the
        state to which a gap leads is one stage ahead."""
        return np.asarray(self.place[np.maximum(stages, self.home[entries]), entries])


def gap_kinds(program: Assembled) -> Indices:
    """Index in GAPS of the kind of every row; len(GAPS) if the row is no gap."""
    numbers = {name: number for number, name in enumerate(GAPS)}
    return np.array([numbers.get(name.split(": ")[-1], len(GAPS)) for name in program.row_names], dtype=int)
