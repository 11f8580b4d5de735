"""Stage orders: a program's variables and rows sorted stage by stage, for solvers that need this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._base.types import Indices
from .assembled import Assembled

Mask = NDArray[np.bool_]


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


def gap_kinds(program: Assembled) -> Indices:
    """Index of the kind of every row in the names of the program's gaps; their number if the row is no gap."""
    numbers = {name: number for number, name in enumerate(program.gaps)}
    return np.array([numbers.get(name.split(": ")[-1], len(numbers)) for name in program.row_names], dtype=int)
