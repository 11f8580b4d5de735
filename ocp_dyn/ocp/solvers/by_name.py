"""Solvers by name: the table of solvers, checks of names and options, and the run.

A new solver is a module with a function of the type `Solve`, and a line in SOLVERS. A name that is not in the table is
one of CasADi's `nlpsol` plugins, which differentiates the program's graph itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import casadi as ca

from ..._types import meant, shown
from ..nlp.assembled import Assembled
from .chain.choice import request
from .fatrop import solve_by_fatrop
from .interface import Orders, Settings, SolverResult, Start
from .ipopt import check_ipopt_options, solve_by_ipopt
from .monitor import Monitor
from .nlpsol import solve_by_plugin
from .plugins.uno import solve_by_uno
from .plugins.uno_options import check_uno_options
from .sqp import check_sqp_options, solve_by_sqp

Solve = Callable[[Assembled, Orders, Start, Settings, Monitor], SolverResult]
"""Solves a program from a start, and calls `monitor.see` with every iterate."""

CheckOptions = Callable[[Mapping[str, Any]], None]
"""Raises ValueError for options that the solver refuses."""


Prepare = Callable[[Settings], None]
"""Starts what a run needs, beside the building of the program."""


class Solver(NamedTuple):
    """A solver; plugin: whether it needs CasADi's `nlpsol` plugin of the same name."""

    solve: Solve
    check_options: CheckOptions | None = None
    plugin: bool = False
    prepare: Prepare | None = None


SOLVERS = {
    "ipopt": Solver(solve_by_ipopt, check_ipopt_options, plugin=True, prepare=request),
    "fatrop": Solver(solve_by_fatrop, plugin=True),
    "uno": Solver(solve_by_uno, check_uno_options, plugin=True),
    "sqp": Solver(solve_by_sqp, check_sqp_options),
}
"""The solvers that this library adapts to its programs, by name."""


def _solver(name: str) -> Solver:
    return SOLVERS.get(name) or Solver(partial(solve_by_plugin, name), plugin=True)


def check_solver(name: str) -> None:
    """Raises ValueError if no solver of this name is installed."""
    if not isinstance(name, str) or (_solver(name).plugin and not ca.has_nlpsol(name)):
        raise ValueError(
            f"there is no solver {shown(name)} in this installation of CasADi: use {', '.join(map(repr, SOLVERS))}, or "
            f"another for which casadi.has_nlpsol(name) is True{meant(name, SOLVERS)}"
        )


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Raises ValueError for options that the solver refuses, before anything is built for it."""
    for key, value in options.items():
        if value is None or (isinstance(value, float) and math.isnan(value)):
            raise ValueError(
                f"the solver {name!r} refuses its option {key}={shown(value)}: leave it out for its default"
            )
    check = _solver(name).check_options
    if check is not None:
        check(options)


def prepare_solver(name: str, settings: Settings) -> None:
    """Starts what a run of this solver needs, before the program is built, and does not wait for it."""
    prepare = _solver(name).prepare
    if prepare is not None:
        prepare(settings)


def run(
    name: str, program: Assembled, orders: Orders, start: Start, settings: Settings, monitor: Monitor
) -> SolverResult:
    """Solves the program by the solver of this name; after a stop, returns the best iterate."""
    check_solver(name)
    result = _solver(name).solve(program, orders, start, settings, monitor)
    if monitor.stop and monitor.best and not result.converged:
        best, done = monitor.best, monitor.iteration
        result = replace(result, x=best["x"], lam_x=best["lam_x"], lam_g=best["lam_g"])
        return replace(result, status="Interrupted", converged=False, iterations=done)
    most = max(dict(settings.options).get("max_iter", settings.max_iterations), monitor.iteration)
    if not 0 <= result.iterations <= most:  # some solvers set no count if they do not begin
        result = replace(result, iterations=monitor.iteration)
    return result
