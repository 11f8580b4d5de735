"""The grid of a phase as numbers of its blocks.

An interval that begins at the fraction s0 of the phase and has the share w of its duration T has

    h = T / n,   s = (k + u) / n   at its fraction u,   with n = 1 / w and k = s0 n.

Both are numbers of the interval, so that all grids of a problem have the same expressions, derivatives and tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from casadi import SX

from ..statement.phases import Phase

PER_PHASE = "n:phase"
"""Name of the number n. A colon is in no name of a channel or parameter."""

NEXT = ":next"
"""End of the names of the numbers of the next interval, in blocks of two neighbors."""


def sizes(pair: bool = False) -> dict[str, int]:
    """Sizes of the numbers of a block of an interval or a node; pair: and of its neighbor."""
    return dict.fromkeys([name + end for end in ("", NEXT)[: 1 + pair] for name in ("k", PER_PHASE)], 1)


def numbers(phase: Phase, k: int, pair: bool = False) -> dict[str, float]:
    """The numbers of interval k, or of node k: those of the interval that begins there."""
    one = _of(phase, k)
    return one | {name + NEXT: x for name, x in _of(phase, k + 1).items()} if pair else one


def _of(phase: Phase, k: int) -> dict[str, float]:
    grid = phase.grid
    if grid.is_even:
        return {"k": float(k), PER_PHASE: float(grid.count)}
    n = 1 / float(grid.shares[min(k, grid.count - 1)])
    return {"k": float(grid.nodes[k]) * n, PER_PHASE: n}


def symbols() -> dict[str, SX]:
    """Free symbols for the numbers of an interval or a node."""
    return {name: SX.sym(name) for name in sizes()}


def following(z: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of the next interval or node, by their names in the blocks of a single one."""
    return {name: z[name + NEXT] for name in ("k", PER_PHASE)}
