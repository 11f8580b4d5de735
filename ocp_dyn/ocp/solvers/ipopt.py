"""IPOPT: its options, warm starts, and further attempts after its linear algebra has failed.

A. Waechter & L. T. Biegler, On the implementation of an interior-point filter line-search algorithm for large-scale
nonlinear programming, Mathematical Programming 106, 2006.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca

from ..._base.types import repr_in_message, suggestion
from ..nlp.assembled import Assembled
from .block_ldl.choice import AUTO, FOREIGN, MUMPS, OWN, Chosen, choose, options_of
from .block_ldl.library import FAILURES
from .cold_start import cold_start
from .interface import Iterate, LinearSolver, MakeOrder, SolverResult, SolverSettings, Start
from .monitor import Monitor
from .nlpsol import run_nlpsol
from .warm_start import CentralPath, WarmStart, begin, carried, multipliers_refused, warm_start

IPOPT_OPTIONS = {
    "print_level": 0,
    "sb": "yes",
    "mumps_pivot_order": 5,  # METIS: halves the time of a factorization of these matrices
    "mumps_permuting_scaling": 0,
}
"""Options of every run; options of the user come before them."""

RETRY_OPTIONS: tuple[dict[str, Any], ...] = tuple({"mu_init": mu, "perturb_always_cd": "yes"} for mu in (1e-2, 1e-1))
"""Options of every further attempt: a fresh barrier, no multipliers, every factorization perturbed alike."""

GIVEN_UP = ("Error_In_Step_Computation", "Restoration_Failed")
"""Statuses when rows are nearly dependent and the multipliers have grown without bound."""

ASTRAY = ("Invalid_Number_Detected", "Infeasible_Problem_Detected", "Diverging_Iterates")
"""Statuses of a warm start, whose steps no line search guards, that prove nothing."""

VERDICTS = (
    *("Solve_Succeeded", "Solved_To_Acceptable_Level", "Feasible_Point_Found", "Infeasible_Problem_Detected"),
    *("Diverging_Iterates", "User_Requested_Stop", "Maximum_Iterations_Exceeded", "Maximum_CpuTime_Exceeded"),
    "Maximum_WallTime_Exceeded",
)
"""Statuses that no other linear solver would change."""

FALLBACK_OPTIONS: dict[str, Any] = {"mu_init": 1e-2}
"""Options of MUMPS where it goes on after the block LDL solver: a fresh barrier."""

GUARDED_OPTIONS: dict[str, Any] = {"mu_strategy": "monotone"}
"""Options of MUMPS where it begins in place of the block LDL solver: no `CentralPath` watches a warm start any more."""

NOT_BEGUN = ("Invalid_Option", "Invalid_Problem_Definition", "Internal_Error", "NonIpopt_Exception_Thrown")
"""Statuses of a run that has not begun."""

COMMON_OPTIONS = (
    *("progress", "tolerance", "max_iterations", "threads", "start", "guess", "values", "solver"),
    *("max_iter", "tol", "mu_init", "mu_strategy", "linear_solver", "hessian_approximation", "print_level", "hsllib"),
)
"""Arguments of `ocp.solve`, and options of IPOPT that are often set: suggestions for misspelled ones."""
PRINTING_OPTIONS = ("output_file", "print_user_options", "print_options_documentation", "print_advanced_options")
"""Options that make IPOPT write; the check of options leaves them out."""


def check_ipopt_options(options: Mapping[str, Any]) -> None:
    """Raises ValueError for options that IPOPT refuses, TypeError for a linear_solver that is no name.

    IPOPT loads its linear solver only when it runs, so a program of one variable is solved with these options; by MUMPS
    where the block LDL solver may be chosen, which needs a plan.
    """
    named = options.get("linear_solver", AUTO)
    if not isinstance(named, str):
        raise TypeError(
            f"linear_solver must be the name of a linear solver, such as {OWN!r}, got {repr_in_message(named)}"
        )
    if named not in (AUTO, OWN, *FOREIGN):
        hint = ": 'chain' has this name now" if named == "chain" else suggestion(named, (AUTO, OWN, *FOREIGN))
        raise ValueError(f"IPOPT has no linear solver {repr_in_message(named)}: use {MUMPS!r} or {OWN!r}{hint}")
    options = {key: value for key, value in options.items() if key != "linear_solver" or value not in (AUTO, OWN)}
    if not options:
        return
    x = ca.MX.sym("x")
    tried = {key: value for key, value in options.items() if key not in PRINTING_OPTIONS}
    tried |= {"print_level": 0, "sb": "yes"}
    try:
        program: dict[str, Any] = {"x": x, "f": (x - 1) ** 2, "g": x}
        settings: dict[str, Any] = {"print_time": False, "error_on_fail": False, "ipopt": tried}
        probe = ca.nlpsol("probe", "ipopt", program, settings)
        probe(x0=0.0, lbg=0.0, ubg=2.0)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[-1].rpartition(".cpp:")[2].lstrip("0123456789: ")
        hint = "".join(
            suggestion(name, COMMON_OPTIONS) for name in options if name in reason and name not in COMMON_OPTIONS
        )
        raise ValueError(
            f"the solver 'ipopt' refuses its options {repr_in_message(dict(options))}: {reason}{hint}"
        ) from None
    if probe.stats()["return_status"] in NOT_BEGUN:
        solver = options.get("linear_solver")
        remedy = (
            f": linear_solver={solver!r} may need a library that is not installed (hsllib=PATH); 'mumps' is always "
            "available"
        )
        raise ValueError(
            f"the solver 'ipopt' cannot run with the options {repr_in_message(dict(options))}{remedy if solver else ''}"
        )


def solve_by_ipopt(
    program: Assembled, make_order: MakeOrder, start: Start, settings: SolverSettings, monitor: Monitor
) -> SolverResult:
    """Runs IPOPT with the linear solver that `choose` gives.

    If the block LDL solver fails, or IPOPT ends with an error, MUMPS goes on from the best iterate. If IPOPT's linear
    algebra has given up, IPOPT goes on from there by MUMPS with a fresh barrier, at most once for every entry of
    RETRY_OPTIONS. A warm start that goes badly is followed by a run from the same x without multipliers.
    """
    settings, refused = _bounded(settings), start.warm and multipliers_refused(settings.options)
    start = start.without_multipliers() if refused else start
    chosen = choose(program, start, settings)
    monitor.say(f"linear solver: {chosen.name}{f' ({chosen.reason})' if chosen.reason else ''}")
    path = CentralPath(program, start)
    monitor.follow = path.see
    point = begin(program, start)
    warm = warm_start(program, point, settings.options) if start.warm else None
    path.warm = warm is not None and not warm.guarded
    result, fault = _first_run(program, point, settings, monitor, chosen)
    path.lost |= start.warm and not fault and result.status in ASTRAY
    told, path.warm = _told(result, path, warm) if warm is not None else "", False
    told = "without multipliers, as warm_start_init_point='no' asks for" if refused else told
    left = settings.max_iterations - result.iterations
    if path.lost and left < 1:
        result = replace(result, status="Maximum_Iterations_Exceeded")
    elif path.lost and not monitor.stop:
        told += ", then begun anew without multipliers"
        monitor.say(told)
        used, point = result.iterations, start.without_multipliers()
        start = point
        result, fault = _first_run(program, point, replace(settings, max_iterations=left), monitor, chosen)
        result = replace(result, iterations=used + result.iterations)
    result = _gone_on(program, point, settings, monitor, result, fault)
    told += f", then gone on by {result.linear_solver.name}" if told and result.retries else ""
    central = path.central
    if start.warm and result.converged:
        central = carried(program, start, Iterate(result.x, result.lam_x, result.lam_g)) or central
    return replace(result, central=central, warm_start=told)


def _bounded(settings: SolverSettings) -> SolverSettings:
    """The settings with IPOPT's own option max_iter as the bound of all attempts together."""
    options = dict(settings.options)
    return replace(settings, max_iterations=options.pop("max_iter", settings.max_iterations), options=options)


def _told(result: SolverResult, path: CentralPath, warm: WarmStart) -> str:
    """The outcome of a warm start, in words."""
    iterations = f"{result.iterations} iteration{'s' * (result.iterations != 1)}"
    return f"{warm.told}: {f'given up after {iterations}' if path.lost else iterations}"


def _gone_on(
    program: Assembled, start: Start, settings: SolverSettings, monitor: Monitor, result: SolverResult, fault: str
) -> SolverResult:
    """The result of further attempts after a run, if it has failed; fault: what was wrong with the block LDL solver."""
    for retries, options in enumerate(((FALLBACK_OPTIONS,) if fault else ()) + RETRY_OPTIONS, 1):
        left = settings.max_iterations - result.iterations
        if not (fault or (result.status in GIVEN_UP and monitor.best)) or monitor.stop or left < 1:
            break
        begun = bool(monitor.best) and not (fault and result.iterations == 0)
        how = "from the best iterate with a fresh barrier" if begun else "from the start"
        monitor.say(f"{fault or result.status} after {result.iterations} iterations: goes on {how}")
        fresh = replace(start.without_multipliers(), x=monitor.best["x"]) if begun else start
        used = result.linear_solver
        if used.name == OWN:
            used = replace(used, name=MUMPS, reason=fault or f"the block LDL solver ended with {result.status}")
        own = {key: value for key, value in settings.options.items() if key != "linear_solver"}
        again = {"linear_solver": used.name} | (options if begun else GUARDED_OPTIONS) | own
        found = _run_once(program, fresh, replace(settings, max_iterations=left, options=again), monitor)
        iterations, fault = result.iterations + found.iterations, ""
        result = replace(found, iterations=iterations, retries=retries, linear_solver=used)
    return result if monitor.iteration else replace(result, iterations=0)  # IPOPT sets no count if it never ran


def _first_run(
    program: Assembled, start: Start, settings: SolverSettings, monitor: Monitor, chosen: Chosen
) -> tuple[SolverResult, str]:
    """The result of the chosen linear solver, and what is wrong with it, so that MUMPS is to go on; "" if nothing."""
    settings = replace(settings, options=options_of(chosen, settings.options))
    if chosen.library is None or chosen.plan is None:
        result = _run_once(program, start, settings, monitor)
        return replace(result, linear_solver=LinearSolver(chosen.name, chosen.reason)), ""
    with chosen.library.planned(chosen.plan) as figures_now:
        result = _run_once(program, start, settings, monitor)
        figures = figures_now()
    if not figures.solves:  # IPOPT counts an attempt at the first step
        result = replace(result, iterations=0)
    result = replace(result, linear_solver=LinearSolver(OWN, "", figures.summary()))
    of_the_model = result.status == "Invalid_Number_Detected" and not figures.factorizations
    known = of_the_model or result.status in (*GIVEN_UP, *VERDICTS)
    if result.converged or (known and not figures.failure):
        return result, ""
    fault = FAILURES.get(figures.failure, f"IPOPT ended with {result.status}")
    return result, f"the block LDL solver was given up: {fault}"


def _run_once(program: Assembled, start: Start, settings: SolverSettings, monitor: Monitor) -> SolverResult:
    options = IPOPT_OPTIONS | {"tol": settings.tolerance, "max_iter": settings.max_iterations} | dict(settings.options)
    if start.warm:
        options = dict(warm_start(program, start, options).options)
    else:
        options = cold_start(program, start, options) | options
    functions = {"grad_f": program.gradient, "jac_g": program.jacobian, "hess_lag": program.hessian}
    plugin: dict[str, Any] = functions | {"ipopt": options, "no_nlp_grad": True, "calc_lam_p": False}
    plugin["iteration_callback"] = monitor
    return run_nlpsol("ipopt", program.problem, plugin, (program.row_lower, program.row_upper), start)
