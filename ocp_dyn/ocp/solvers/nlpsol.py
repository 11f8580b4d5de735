"""Runs of CasADi's `nlpsol` plugins."""

from __future__ import annotations

import re
from typing import Any

import casadi as ca
import numpy as np

from ..._base.types import Array
from ..nlp.assembled import Assembled
from .interface import MakeOrder, SolverResult, SolverSettings, Start
from .monitor import Monitor

REMEDIES = {
    "ampl": "it writes a file for programs outside of CasADi and solves nothing itself",
    "blocksqp": "it needs the library MA27, which CasADi's package lacks; SQP methods that have all they need are "
    "solver='sqp' and solver='uno'",
    "qrsqp": "its QPs must be convex; solver='sqp' makes them so",
    "scpgen": "it needs a QP solver, such as qpsol='qrqp'",
    "uno": "its options go into a dict of their own: uno={'preset': 'ipopt'}",
    "sqpmethod": "its QPs must be convex; solver='sqp' makes them so",
}
"""Reasons why plugins refuse problems, and what to use instead, by their names."""


def solve_by_plugin(
    name: str, program: Assembled, make_order: MakeOrder, start: Start, settings: SolverSettings, monitor: Monitor
) -> SolverResult:
    """Solves the program by any plugin, which differentiates the program's graph itself."""
    options = {"iteration_callback": monitor} | dict(settings.options)
    return run_nlpsol(name, program.expression(), options, (program.row_lower, program.row_upper), start)


def run_nlpsol(
    name: str, problem: dict[str, ca.MX], options: dict[str, Any], rows: tuple[Array, Array], start: Start
) -> SolverResult:
    """Makes a plugin's solver for a problem (x, p, f, g) and runs it; rows: bounds of g.

    ValueError if the plugin refuses the options or the problem.
    """
    # a solver shortens a step to where the program is no number, without a warning; of such a start its status tells
    silent = {"print_time": False, "error_on_fail": False, "show_eval_warnings": False}
    try:
        solver = ca.nlpsol("solver", name, problem, silent | options)
    except RuntimeError as error:
        raise ValueError(_message(f"the solver {name!r} refuses", name, error)) from error
    bounds = {"lbx": start.lower, "ubx": start.upper, "lbg": rows[0], "ubg": rows[1]}
    multipliers = {"lam_x0": start.lam_x, "lam_g0": start.lam_g} if start.warm else {}
    try:
        result = solver(x0=start.x, p=start.p, **bounds, **{key: v for key, v in multipliers.items() if v is not None})
    except RuntimeError as error:
        raise ValueError(_message(f"the solver {name!r} cannot take this problem", name, error)) from error
    stats = solver.stats()
    status = str(stats.get("return_status", stats["unified_return_status"]))
    x, lam_x, lam_g = (np.array(result[key]).ravel() for key in ("x", "lam_x", "lam_g"))
    count = int(stats.get("iter_count", -1))  # without one, by_name counts the iterates
    return SolverResult(x, lam_x, lam_g, status, bool(stats["success"]), count)


def _message(begin: str, name: str, error: Exception) -> str:
    """A message with the line of CasADi's error that has the reason, most often the last, and what to do about it."""
    unknown, remedy = re.search(r"Unknown option: .*", str(error)), REMEDIES.get(name)
    reason = unknown.group() if unknown else str(error).strip().splitlines()[-1].strip()
    return f"{begin}: {reason}{f'; {remedy}' if remedy else ''}"
