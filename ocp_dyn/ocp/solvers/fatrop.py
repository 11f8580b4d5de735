"""FATROP: an interior-point method along a chain of stages, with copies of the variables that stages share.

L. Vanroye, A. Sathya, J. De Schutter & W. Decre, FATROP: a fast constrained optimal control problem solver for robot
trajectory optimization and control, IROS 2023.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..._types import Array
from ..nlp.assembled import Assembled
from .fatrop_program import FatropProgram
from .interface import Orders, Settings, SolverResult, Start
from .monitor import Monitor
from .nlpsol import run_nlpsol

FATROP_OPTIONS = {"print_level": 0}
"""Options of every run; options of the user come before them."""

WARM_START_OPTIONS = {"mu_init": 1e-6}
"""Options for a start from a solution with its multipliers."""

BOUND_PUSH = 1.1e-2
"""Distance from a bound to which a start is moved, relative to the bound's size above 1 and to the range between the
bounds; a little more than FATROP's own."""


def solve_by_fatrop(
    program: Assembled, orders: Orders, start: Start, settings: Settings, monitor: Monitor
) -> SolverResult:
    """Runs FATROP on the program in the order of its chain; the result is in the order of the program."""
    order = orders.shared()
    chain_program = FatropProgram(program, order, start.x, monitor.see)
    columns, copies, rows = order.columns, order.copies, np.maximum(order.rows, 0)
    gap = order.rows < 0
    lower, upper = (np.where(gap, 0.0, bound[rows]) for bound in (program.row_lower, program.row_upper))
    options: dict[str, Any] = FATROP_OPTIONS | {"tol": settings.tolerance, "max_iter": settings.max_iterations}
    options |= (WARM_START_OPTIONS if start.warm else {}) | dict(settings.options)
    plugin = {"fatrop": options, "structure_detection": "manual", "equality": (lower == upper).tolist()}
    plugin |= order.options
    plugin |= {"cache": {key: f for key, f in chain_program.functions.items() if key != "nlp_fg"}}
    plugin |= {"calc_lam_p": False}
    chain_start = replace(
        start,
        x=_inside(start.x, start.lower, start.upper)[columns] if copies.size else start.x[columns],
        lower=np.where(order.own, start.lower[columns], -np.inf),
        upper=np.where(order.own, start.upper[columns], np.inf),
        lam_x=None if start.lam_x is None else np.where(order.own, start.lam_x[columns], 0.0),
        lam_g=None if start.lam_g is None else np.where(gap, 0.0, start.lam_g[rows]),
    )
    result = run_nlpsol("fatrop", chain_program.problem, plugin, (lower, upper), chain_start)
    lam_x = np.zeros(program.n)
    lam_x[columns[order.own]] = result.lam_x[order.own]
    x, lam_g = chain_program.entries(result.x).copy(), chain_program.rows(result.lam_g)
    # after a stop all evaluations fail, and the result of FATROP is no solution
    return replace(result, x=x, lam_x=lam_x, lam_g=lam_g, converged=result.converged and not monitor.stop)


def _inside(x: Array, lower: Array, upper: Array) -> Array:
    """Moves x away from its bounds by more than FATROP itself does, because FATROP would not move the copies with
    it."""
    inner = []
    for bound, side in ((lower, 1.0), (upper, -1.0)):
        size = np.where(np.isfinite(bound), np.maximum(1.0, np.abs(bound)), 0.0)
        inner.append(bound + side * BOUND_PUSH * np.minimum(size, upper - lower))
    return np.where(lower < upper, np.clip(x, *inner), x)
