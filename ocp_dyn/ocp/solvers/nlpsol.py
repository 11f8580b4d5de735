"""Runs of CasADi's `nlpsol` plugins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from ..._types import Array
from ..nlp.assembled import Assembled
from .interface import Orders, Settings, SolverResult, Start
from .monitor import Monitor

StatusOf = Callable[[Mapping[str, Any]], str]
"""The status of a run, from the statistics of its plugin."""

REMEDIES = {
    "ampl": "it writes a file for programs outside of CasADi and solves nothing itself",
    "blocksqp": "it needs the library MA27, which CasADi's package lacks; SQP methods that have all they need are "
    "solver='sqp' and solver='uno' with preset='filtersqp'",
    "qrsqp": "its QPs must be convex; solver='sqp' makes them so",
    "scpgen": "it needs a QP solver, such as qpsol='qrqp'",
    "sqpmethod": "its QPs must be convex; solver='sqp' makes them so",
}
"""Reasons why plugins refuse problems, and what to use instead, by their names."""


class Failed(ValueError):
    """Raised if a plugin fails while it runs."""


def solve_by_plugin(
    name: str, program: Assembled, orders: Orders, start: Start, settings: Settings, monitor: Monitor
) -> SolverResult:
    """Solves the program by any plugin, which differentiates the program's graph itself."""
    options = {"iteration_callback": monitor} | dict(settings.options)
    return run_nlpsol(name, program.expression(), options, (program.row_lower, program.row_upper), start)


def run_nlpsol(
    name: str,
    problem: dict[str, ca.MX],
    options: dict[str, Any],
    rows: tuple[Array, Array],
    start: Start,
    status_of: StatusOf | None = None,
) -> SolverResult:
    """Makes a plugin's solver for a problem (x, p, f, g) and runs it; rows: bounds of g; status_of: the status from the
    plugin's statistics (default: the plugin's own).

    ValueError if the plugin refuses the options or the problem.
    """
    try:
        solver = ca.nlpsol("solver", name, problem, {"print_time": False, "error_on_fail": False} | options)
    except RuntimeError as error:
        raise ValueError(_message(f"the solver {name!r} refuses", name, error)) from error
    bounds = {"lbx": start.lower, "ubx": start.upper, "lbg": rows[0], "ubg": rows[1]}
    multipliers = {"lam_x0": start.lam_x, "lam_g0": start.lam_g} if start.warm else {}
    try:
        result = solver(x0=start.x, p=start.p, **bounds, **{key: v for key, v in multipliers.items() if v is not None})
    except RuntimeError as error:
        raise Failed(_message(f"the solver {name!r} cannot take this problem", name, error)) from error
    stats = solver.stats()
    status = status_of(stats) if status_of else str(stats.get("return_status", stats["unified_return_status"]))
    if status.lstrip("-").isdigit():  # fatrop gives a number
        status = "Solve_Succeeded" if stats["success"] else f"{name} status {status}"
    x, lam_x, lam_g = (np.array(result[key]).ravel() for key in ("x", "lam_x", "lam_g"))
    count = int(stats.get("iter_count", -1))  # without one, by_name counts the iterates
    return SolverResult(x, lam_x, lam_g, status, bool(stats["success"]), count)


def _message(begin: str, name: str, error: Exception) -> str:
    """A message with the last line of CasADi's error, and what to do about it."""
    reason, remedy = str(error).strip().splitlines()[-1].strip(), REMEDIES.get(name)
    return f"{begin}: {reason}{f'; {remedy}' if remedy else ''}"
