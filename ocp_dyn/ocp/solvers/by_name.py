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

from ..._base.checks import function
from ..._base.types import repr_in_message, suggestion
from ..nlp.assembled import Assembled
from .block_ldl.choice import request
from .interface import MakeOrder, SolverResult, SolverSettings, Start
from .ipopt import check_ipopt_options, solve_by_ipopt
from .monitor import Monitor
from .nlpsol import solve_by_plugin
from .sqp import check_sqp_options, solve_by_sqp

Solve = Callable[[Assembled, MakeOrder, Start, SolverSettings, Monitor], SolverResult]
"""Solves a program from a start, and calls `monitor.see` once with every iterate; where it returns True the user wants
to stop. `Start.x` may lie outside the bounds. The caller holds the program's lock. Arrays of `program.evaluator` are
overwritten by its next call: copy what is kept."""

CheckOptions = Callable[[Mapping[str, Any]], None]
"""Raises ValueError for options that the solver refuses."""


Prepare = Callable[[SolverSettings], None]
"""Starts what a run needs, beside the building of the program."""


class Solver(NamedTuple):
    """A solver; plugin: whether it needs CasADi's `nlpsol` plugin of the same name."""

    solve: Solve
    check_options: CheckOptions | None = None
    plugin: bool = False
    prepare: Prepare | None = None


SOLVERS = {
    "ipopt": Solver(solve_by_ipopt, check_ipopt_options, plugin=True, prepare=request),
    "sqp": Solver(solve_by_sqp, check_sqp_options),
}
"""The solvers that this library adapts to its programs, by name."""


def add_solver(name: str, solve: Solve, check_options: CheckOptions | None = None) -> None:
    """Adds a solver of programs, which `solver=name` then runs in this process.

    solve: a function of (program, make_order, start, settings, monitor) that returns an `ocp.SolverResult`, as
    `ocp_dyn/ocp/solvers/interface.py` describes them. check_options: a function that raises `ValueError` for options
    that the solver refuses. `ValueError` for the name of another solver.

    >>> ocp.add_solver("ipopt", lambda program, make_order, start, settings, monitor: None)
    Traceback (most recent call last):
        ...
    ValueError: there is a solver 'ipopt' already: choose another name
    """
    if not isinstance(name, str) or not name:
        raise ValueError(f"the name of a solver must be a text, got {repr_in_message(name)}")
    known = SOLVERS.get(name)
    if (known is not None and known.solve in LIBRARY) or (known is None and ca.has_nlpsol(name)):
        raise ValueError(f"there is a solver {name!r} already: choose another name")
    SOLVERS[name] = Solver(function(solve, "add_solver: solve"), check_options)


LIBRARY = [solver.solve for solver in SOLVERS.values()]
"""Solvers that users do not replace."""

UNFIT = {
    "fatrop": "its Riccati recursion loses its digits on periodic gaits, and it may then not return; use "
    "solver='ipopt', whose factor follows the same sequence of stages, or problem.rti(solution, qp='riccati')"
}
"""Plugins that are refused by name, and what to use instead."""


def _solver(name: str) -> Solver:
    return SOLVERS.get(name) or Solver(partial(solve_by_plugin, name), plugin=True)


def check_solver(name: str) -> None:
    """Raises ValueError if no solver of this name is installed, or if it does not solve these programs."""
    if isinstance(name, str) and name in UNFIT:
        raise ValueError(f"the solver {name!r} cannot be used here: {UNFIT[name]}")
    if not isinstance(name, str) or (_solver(name).plugin and not ca.has_nlpsol(name)):
        raise ValueError(
            f"there is no solver {repr_in_message(name)} in this installation of CasADi: use "
            f"{', '.join(map(repr, SOLVERS))}, or another for which casadi.has_nlpsol(name) is "
            f"True{suggestion(name, SOLVERS)}"
        )


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Raises ValueError for options that the solver refuses, before anything is built for it."""
    for key, value in options.items():
        if value is None or (isinstance(value, float) and math.isnan(value)):
            raise ValueError(
                f"the solver {name!r} refuses its option {key}={repr_in_message(value)}: leave it out for its default"
            )
    check = _solver(name).check_options
    if check is not None:
        check(options)


def prepare_solver(name: str, settings: SolverSettings) -> None:
    """Starts what a run of this solver needs, before the program is built, and does not wait for it."""
    prepare = _solver(name).prepare
    if prepare is not None:
        prepare(settings)


def run(
    name: str, program: Assembled, make_order: MakeOrder, start: Start, settings: SolverSettings, monitor: Monitor
) -> SolverResult:
    """Solves the program by the solver of this name; after a stop, returns the best iterate."""
    check_solver(name)
    result = _solver(name).solve(program, make_order, start, settings, monitor)
    if monitor.stop and monitor.best and not result.converged:
        best, done = monitor.best, monitor.iteration
        result = replace(result, x=best["x"], lam_x=best["lam_x"], lam_g=best["lam_g"])
        return replace(result, status="Interrupted", converged=False, iterations=done)
    most = max(dict(settings.options).get("max_iter", settings.max_iterations), monitor.iteration)
    if not 0 <= result.iterations <= most:  # some solvers set no count if they do not begin
        result = replace(result, iterations=monitor.iteration)
    return result
