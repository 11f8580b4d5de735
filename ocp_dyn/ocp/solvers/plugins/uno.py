"""Uno: active-set and interior-point methods put together from one set of parts.

C. Vanaret & S. Leyffer, Implementing a unified solver for nonlinearly constrained optimization, Mathematical
Programming Computation, 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from ...._types import Array
from ...nlp.assembled import Assembled
from ..interface import Orders, Settings, SolverResult, Start
from ..monitor import Monitor, violation
from ..nlpsol import Failed, run_nlpsol
from .free_program import FreeProgram
from .uno_options import DEFAULT_PRESET, default_options, typed

INTERIOR_POINT_WARM_START = {
    "barrier_push_variable_to_interior_k1": 1e-8,
    "barrier_push_variable_to_interior_k2": 1e-8,
}
"""Options of the interior-point preset for a start from a solution: its variables stay near their bounds."""

WARM_START_BARRIER = (1e-6, 1e-3)
"""Smallest and largest barrier parameter of a warm start: for a start that is still a solution, and for one far from a
solution."""

STATUSES = {
    "Converged with feasible KKT point": "Solve_Succeeded",
    "Converged with feasible FJ point": "Constraint_Qualification_Fails",
    "Converged with infeasible stationary point": "Infeasible_Problem_Detected",
    "Terminated with feasible small step": "Search_Direction_Becomes_Too_Small",
    "Terminated with infeasible small step": "Search_Direction_Becomes_Too_Small",
    "Terminated with unbounded problem": "Diverging_Iterates",
}
"""IPOPT's words, where it has some, for the last iterate of Uno."""

FAILED = "Error_In_Step_Computation"
FAILURES = {"SOLVER_RET_NAN": "Invalid_Number_Detected", "SOLVER_RET_EXCEPTION": FAILED}
"""IPOPT's words for the reason why Uno ended at an iterate that is none of STATUSES."""


class _Iterates(ca.Callback):
    """Shows the monitor every iterate of Uno, which does not compute f and g for it."""

    def __init__(self, program: Assembled, over: FreeProgram, p: Array, monitor: Monitor) -> None:
        ca.Callback.__init__(self)
        self._program, self._over, self._p, self._monitor = program, over, p, monitor
        n, m = over.free.size, program.row_lower.size
        self._shapes = [n, 1, m, n, m, program.parameters]
        self.construct("iterates", {})

    def get_n_in(self) -> int:
        return int(ca.nlpsol_n_out())

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._shapes[i], 1)

    def eval(self, arguments: Any) -> list[int]:
        z, lam_z, lam_g = (np.array(arguments[i]).ravel() for i in (0, 3, 4))
        x, e, lam_x = self._over.entries(z), self._program.evaluator, np.zeros(self._program.n)
        lam_x[self._over.free] = lam_z
        f, g = e.objective(x, self._p), e.constraints(x, self._p).copy()
        return [int(self._monitor.see(x, f, g, lam_x, lam_g))]


def solve_by_uno(
    program: Assembled, orders: Orders, start: Start, settings: Settings, monitor: Monitor
) -> SolverResult:
    """Runs Uno on the free variables of the program; its plugin takes no multipliers of a start, only its x."""
    options = _options(program, start, settings)
    status = partial(_status, options["max_iterations"])
    over = FreeProgram(program, start, lambda: monitor.stop)
    iterates = _Iterates(program, over, start.p, monitor)
    plugin: dict[str, Any] = {"uno": options, "cache": over.functions}
    plugin |= {"iteration_callback": iterates, "calc_lam_p": False}
    free = over.free
    begin = replace(start, x=start.x[free], lower=start.lower[free], upper=start.upper[free], lam_x=None, lam_g=None)
    try:
        result = run_nlpsol("uno", over.problem, plugin, (program.row_lower, program.row_upper), begin, status)
    except Failed:  # an exception within Uno, such as a Hessian that no regularization makes convex
        zeros = {"lam_x": np.zeros(program.n), "lam_g": np.zeros(program.row_lower.size)}
        best = monitor.best or zeros | {"x": start.x}
        multipliers = best["lam_x"][free], best["lam_g"]
        result = SolverResult(best["x"][free], *multipliers, FAILED, False, monitor.iteration)
    lam_x = np.zeros(program.n)
    lam_x[free] = result.lam_x
    return replace(result, x=over.entries(result.x), lam_x=lam_x)


def _options(program: Assembled, start: Start, settings: Settings) -> dict[str, Any]:
    """The options of a run; those of the user come before all others."""
    preset = settings.options.get("preset", DEFAULT_PRESET)
    tolerances = ("primal_tolerance", "dual_tolerance", "loose_primal_tolerance", "loose_dual_tolerance")
    options = default_options(preset) | {"max_iterations": settings.max_iterations}
    options |= dict.fromkeys(tolerances, settings.tolerance)
    if start.warm and preset == "ipopt":
        violated = violation(program, program.evaluator.constraints(start.x, start.p))
        barrier = float(np.clip(0.1 * violated, *WARM_START_BARRIER))
        options |= INTERIOR_POINT_WARM_START | {"barrier_initial_parameter": barrier}
    return options | typed(settings.options)


def _status(most: int, stats: Mapping[str, Any]) -> str:
    """The reason why a run of at most so many iterations has ended, in IPOPT's words where it has some."""
    ended, why = str(stats["return_status"]), str(stats["unified_return_status"])
    if why == "SOLVER_RET_LIMITED" and ended not in STATUSES:
        return "Maximum_Iterations_Exceeded" if stats["iter_count"] >= most else "Maximum_CpuTime_Exceeded"
    return STATUSES.get(ended) or FAILURES.get(why) or ended
