"""Solvers by name: each is given a program and a start, is run, and may be stopped.

ipopt: interior points, any program. fatrop: interior points along a chain of stages, with copies of what stages share.
sqp: sequential quadratic programming of this library. Any other name is one of CasADi's `nlpsol` plugins, which
differentiates the graph itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from ..._types import Array, shown
from ..nlp.assembled import Assembled
from .fatrop_program import Chained
from .interface import Orders, Outcome, Settings, Start
from .monitor import Monitor, violation
from .sqp import check_qp, solve_by_sqp

IPOPT = {
    "print_level": 0,
    "sb": "yes",
    "mumps_pivot_order": 5,  # METIS: halves the time of a factorisation of these matrices
    "mumps_permuting_scaling": 0,
}
WARM_IPOPT = {
    "warm_start_init_point": "yes",
    "warm_start_bound_push": 1e-8,
    "warm_start_bound_frac": 1e-8,
    "warm_start_slack_bound_push": 1e-8,
    "warm_start_slack_bound_frac": 1e-8,
    "warm_start_mult_bound_push": 1e-8,
}
"""Options of IPOPT for a start from a solution with its multipliers: stay near the bounds that are active."""

WARM_BARRIER = (1e-6, 1e-3)
"""Smallest and largest barrier of such a start: for a start that is still a solution, and for one far from it, from
where a small barrier would take many short steps along the bounds."""

WRITTEN = ("output_file", "print_user_options", "print_options_documentation", "print_advanced_options")
"""Options of IPOPT that make it write; the check of options leaves them out."""

NOT_BEGUN = ("Invalid_Option", "Invalid_Problem_Definition", "Internal_Error", "NonIpopt_Exception_Thrown")
"""Statuses of IPOPT for a run that has not begun."""

GIVEN_UP = ("Error_In_Step_Computation", "Restoration_Failed")
"""Statuses of IPOPT when rows are nearly dependent and its multipliers have grown without bound."""

RETRIES: tuple[dict[str, Any], ...] = tuple({"mu_init": mu, "perturb_always_cd": "yes"} for mu in (1e-2, 1e-1))
"""Options of every further attempt: a fresh barrier, no multipliers, every factorisation perturbed alike."""


def check_solver(name: str) -> None:
    """Raises ValueError if no solver of this name is installed."""
    if not (isinstance(name, str) and (name == "sqp" or ca.has_nlpsol(name))):
        raise ValueError(
            f"there is no solver {shown(name)} in this installation of CasADi: use 'ipopt', 'fatrop', 'sqp', or another that "
            "casadi.has_nlpsol knows"
        )


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Raises ValueError for options that the solver refuses, before anything is built for it.

    IPOPT loads its linear solver only when it runs, so a program of one variable is solved with these options.
    """
    for key, value in options.items():
        if value is None or (isinstance(value, float) and math.isnan(value)):
            raise ValueError(
                f"the solver {name!r} refuses its option {key}={shown(value)}: leave it out for its default"
            )
    if name == "sqp":
        check_qp(**dict(options))
    if name != "ipopt" or not options:
        return
    x = ca.MX.sym("x")
    used = {key: value for key, value in options.items() if key not in WRITTEN} | {"print_level": 0, "sb": "yes"}
    try:
        made: dict[str, Any] = {"print_time": False, "error_on_fail": False, "ipopt": used}
        program: dict[str, Any] = {"x": x, "f": (x - 1) ** 2, "g": x}
        probe = ca.nlpsol("probe", "ipopt", program, made)
        probe(x0=0.0, lbg=0.0, ubg=2.0)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        said = str(error).strip().splitlines()[-1].rpartition(".cpp:")[2].lstrip("0123456789: ")
        raise ValueError(f"the solver 'ipopt' refuses its options {shown(dict(options))}: {said}") from None
    if probe.stats()["return_status"] in NOT_BEGUN:
        solver = options.get("linear_solver")
        remedy = (
            f": linear_solver={solver!r} may need a library that is not here (hsllib=PATH); 'mumps' is always there"
        )
        raise ValueError(
            f"the solver 'ipopt' cannot run with the options {shown(dict(options))}{remedy if solver else ''}"
        )


def run(name: str, program: Assembled, orders: Orders, start: Start, settings: Settings, monitor: Monitor) -> Outcome:
    """Solves the program by the solver of this name; after a stop, returns the best iterate."""
    check_solver(name)
    if name == "sqp":
        outcome = solve_by_sqp(program, orders, start, settings, monitor)
    elif name == "ipopt":
        outcome = _ipopt(program, start, settings, monitor)
    elif name == "fatrop":
        outcome = _fatrop(program, orders, start, settings, monitor)
    else:
        outcome = _other(name, program, start, settings, monitor)
    # fatrop's result after evaluations that fail is no solution
    if monitor.stop and monitor.best and not (outcome.converged and name != "fatrop"):
        best = monitor.best
        return Outcome(best["x"], best["lam_x"], best["lam_g"], "Interrupted", False, monitor.iteration)
    most = dict(settings.options).get("max_iter", settings.max_iterations)
    begun = monitor.iteration > 0 or name != "ipopt"
    if not begun or not 0 <= outcome.iterations <= max(most, monitor.iteration):  # where it never ran it sets no count
        outcome = replace(outcome, iterations=monitor.iteration)
    return outcome


def _ipopt(program: Assembled, start: Start, settings: Settings, monitor: Monitor) -> Outcome:
    """Runs IPOPT; if its linear algebra fails, again from the best iterate, at most once for every entry of RETRIES."""
    outcome = _ipopt_once(program, start, settings, monitor)
    used = outcome.iterations
    for retries, options in enumerate(RETRIES, 1):
        left = settings.max_iterations - used
        if outcome.status not in GIVEN_UP or monitor.stop or not monitor.best or left < 1:
            break
        monitor.say(f"{outcome.status} after {used} iterations: goes on from the best iterate with a fresh barrier")
        fresh = replace(start, x=monitor.best["x"], lam_x=None, lam_g=None)
        again = replace(settings, max_iterations=left, options=options | dict(settings.options))
        outcome = _ipopt_once(program, fresh, again, monitor)
        used += outcome.iterations
        outcome = replace(outcome, iterations=used, retries=retries)
    return outcome


def _ipopt_once(program: Assembled, start: Start, settings: Settings, monitor: Monitor) -> Outcome:
    options = IPOPT | (WARM_IPOPT | {"mu_init": _warm_barrier(program, start)} if start.warm else {})
    options |= {"tol": settings.tolerance, "max_iter": settings.max_iterations} | dict(settings.options)
    given: dict[str, Any] = {"grad_f": program.gradient, "jac_g": program.jacobian, "hess_lag": program.hessian}
    given |= {"ipopt": options, "no_nlp_grad": True, "calc_lam_p": False, "iteration_callback": monitor}
    return _nlpsol("ipopt", program.problem, given, (program.lower, program.upper), start)


def _warm_barrier(program: Assembled, start: Start) -> float:
    """First barrier of a warm start: a tenth of the start's violation, within WARM_BARRIER. With other parameters than
    its own the start violates rows."""
    lacks = violation(program, program.evaluator.constraints(start.x, start.p))
    return float(np.clip(0.1 * lacks, *WARM_BARRIER))


def _fatrop(program: Assembled, orders: Orders, start: Start, settings: Settings, monitor: Monitor) -> Outcome:
    ordered = orders.shared()
    chained = Chained(program, ordered, start.x, monitor.see)
    columns, copied, rows = ordered.columns, ordered.copies, np.maximum(ordered.rows, 0)
    gap = ordered.rows < 0
    lower, upper = (np.where(gap, 0.0, bound[rows]) for bound in (program.lower, program.upper))
    options = {"print_level": 0, "tol": settings.tolerance, "max_iter": settings.max_iterations}
    options |= ({"mu_init": 1e-6} if start.warm else {}) | dict(settings.options)
    given = {"fatrop": options, "structure_detection": "manual", "equality": (lower == upper).tolist()}
    given |= ordered.options
    given |= {"cache": {key: f for key, f in chained.functions.items() if key != "nlp_fg"}}
    given |= {"calc_lam_p": False}
    part = replace(
        start,
        x=_inside(start.x, start.lower, start.upper)[columns] if copied.size else start.x[columns],
        lower=np.where(ordered.own, start.lower[columns], -np.inf),
        upper=np.where(ordered.own, start.upper[columns], np.inf),
        lam_x=None if start.lam_x is None else np.where(ordered.own, start.lam_x[columns], 0.0),
        lam_g=None if start.lam_g is None else np.where(gap, 0.0, start.lam_g[rows]),
    )
    found = _nlpsol("fatrop", chained.problem, given, (lower, upper), part)
    lam_x = np.zeros(program.n)
    lam_x[columns[ordered.own]] = found.lam_x[ordered.own]
    return replace(found, x=chained.entries(found.x).copy(), lam_x=lam_x, lam_g=chained.rows(found.lam_g))


def _inside(x: Array, lower: Array, upper: Array) -> Array:
    """Moves x away from its bounds by more than fatrop itself does, because fatrop would not move the copies with
    it."""
    inner = []
    for bound, side in ((lower, 1.0), (upper, -1.0)):
        size = np.where(np.isfinite(bound), np.maximum(1.0, np.abs(bound)), 0.0)
        inner.append(bound + side * 1.1e-2 * np.minimum(size, upper - lower))
    return np.where(lower < upper, np.clip(x, *inner), x)


def _other(name: str, program: Assembled, start: Start, settings: Settings, monitor: Monitor) -> Outcome:
    given = {"iteration_callback": monitor} | dict(settings.options)
    return _nlpsol(name, program.expression(), given, (program.lower, program.upper), start)


def _nlpsol(
    name: str,
    problem: dict[str, ca.MX],
    options: dict[str, Any],
    rows: tuple[Array, Array],
    start: Start,
) -> Outcome:
    try:
        solver = ca.nlpsol("solver", name, problem, {"print_time": False, "error_on_fail": False} | options)
    except RuntimeError as error:
        raise ValueError(f"the solver {name!r} refuses: {str(error).strip().splitlines()[-1]}") from error
    bounds = {"lbx": start.lower, "ubx": start.upper, "lbg": rows[0], "ubg": rows[1]}
    multipliers = {"lam_x0": start.lam_x, "lam_g0": start.lam_g} if start.warm else {}
    try:
        result = solver(x0=start.x, p=start.p, **bounds, **{key: v for key, v in multipliers.items() if v is not None})
    except RuntimeError as error:
        raise ValueError(
            f"the solver {name!r} cannot take this problem: {str(error).strip().splitlines()[-1]}"
        ) from error
    stats = solver.stats()
    status = str(stats["return_status"])
    if status.lstrip("-").isdigit():  # fatrop gives a number
        status = "Solve_Succeeded" if stats["success"] else f"{name} status {status}"
    x, lam_x, lam_g = (np.array(result[key]).ravel() for key in ("x", "lam_x", "lam_g"))
    return Outcome(
        x,
        lam_x,
        lam_g,
        status=status,
        converged=bool(stats["success"]),
        iterations=int(stats.get("iter_count", 0)),
    )
