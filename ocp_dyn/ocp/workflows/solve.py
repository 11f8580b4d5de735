"""`solve` and `check`: the checks of their arguments, a run of the solver, and restarts where it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..._base.checks import choice, positive, truth, whole
from ..._base.convergence import Interrupted, NotConverged, failure, warn
from ..._base.display import Progress
from ..._base.types import is_one_of, repr_in_message
from ..solution import Solution
from ..solvers.by_name import check_options, check_solver
from ..solvers.feasibility.linear_rows import contradiction
from ..solvers.interface import SolverSettings
from ..statement.statement import Statement
from .attempt import LINEAR_SOLVER_OPTIONS, SUSPICION, Attempt, check_problem, prepare, starting_point
from .diagnosis import check as findings
from .findings import Findings
from .origin import with_origin
from .parameter_values import by_name
from .refinement.ladder import check_ladder
from .refinement.refine import check_aim, refined
from .restarts import STOPPED, check_restarts
from .verdict import verdict_of_bounds

TOLERANCE, MOST_ITERATIONS = 1e-6, 500
TWINS = {"tolerance": ("tol", TOLERANCE), "max_iterations": ("max_iter", MOST_ITERATIONS)}
"""Arguments of `solve`, each with IPOPT's option of the same meaning and its default."""

INTERRUPTS = ("raise", "return")
"""Effects of Ctrl-C: it raises `Interrupted`, or returns the best iterate."""

STOPPED_BY_USER = (
    "stopped by Ctrl-C; the best iterate is the attribute `solution` of this error, and what "
    "solve(interrupt='return') returns"
)


def solve(
    problem: Statement,
    *,
    solver: str = "ipopt",
    guess: Solution | None = None,
    start: Solution | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MOST_ITERATIONS,
    progress: bool = True,
    threads: int = 2,
    values: Mapping[str, Any] | None = None,
    accuracy: float | None = None,
    refine: str = "auto",
    ladder: bool | str = "auto",
    early_verdict: bool | str = True,
    restarts: int | str | Sequence[str] = 0,
    seed: int = 0,
    check: bool = False,
    interrupt: str = "raise",
    **options: Any,
) -> Solution:
    """Solves a problem with exact derivatives and returns the solution.

    solver: "ipopt"; "sqp"; or the name of one of CasADi's nlpsol plugins. options: those of the solver; sqp takes
    qp="piqp", hessian="exact" or "gauss-newton". They come before those of `Problem(options=...)`, which are IPOPT's.
    ValueError if the solver is not installed or cannot take the problem.

    guess: another solution, which may have another grid, other phases or another model, see
    `ocp_dyn.ocp.guess.from_solution` (default: the library's first guess, the model standing and moved forward). start:
    a solution of this problem, perhaps with other parameters, from which to continue with its multipliers, so that few
    iterations are needed. values: of parameters, by name; all other parameters have their declared values. A problem
    that has been solved before is not built again, for any guess, start and values.

    `solution.stats["evaluation"]` tells how functions were evaluated, see `ocp_dyn.ocp.nlp.function_tables`.
    linear_solver, an option of IPOPT: "auto", "block_ldl", "mumps", ..., see `ocp_dyn.ocp.solvers.block_ldl.choice`.

    accuracy: largest error of an interval [rad, m]; where it is larger the grid is refined and the solve goes on, see
    `ocp_dyn.ocp.workflows.refinement.refine`. refine: "split", "order" or "auto", the cheaper one; ValueError where the
    integrator cannot. A `start` begins on its own grid. `solution.refinement` tells what was done. ladder: whether
    coarser grids come first, see `ocp_dyn.ocp.workflows.refinement.ladder`; "auto": from 56 intervals on.

    early_verdict: a problem that is proved to be infeasible is told early, with the status "Infeasible" and a sentence
    in `solution.stats["verdict"]`, see `ocp_dyn.ocp.workflows.verdict`; "suspicion" ends the run as soon as a search
    finds no feasible point nearby, although that proves nothing; False: the solver runs to its own end. restarts: other
    first guesses, a number or names, tried with `seed`, see `ocp_dyn.ocp.workflows.restarts`.
    A run that does not converge is returned too: `solution.status` gives the reason, `solution.stats["faults"]` names
    the violated constraints, the largest violation first, and "repetitions" the equalities that depend on others. With
    progress=False an `ocp.NotConvergedWarning` tells it; check=True raises `ocp.NotConverged` instead. Ctrl-C raises
    `ocp.Interrupted`, a KeyboardInterrupt whose attribute `solution` is the best iterate; interrupt="return" returns
    this one, with the status "Interrupted". If IPOPT's linear algebra fails, it continues by MUMPS from the
    best iterate, with a fresh barrier: `solution.stats["retries"]` is the number of times, at most three.

    >>> ocp.solve(turn(ocp.TorqueSquared()), progress=False).status
    'Solve_Succeeded'
    """
    arguments: dict[str, Any] = {"solver": solver, "guess": guess, "start": start, "tolerance": tolerance}
    arguments |= {"values": values, "threads": threads, "accuracy": accuracy, "refine": refine, "ladder": ladder}
    arguments |= {"max_iterations": max_iterations, "early_verdict": early_verdict, "restarts": restarts, "seed": seed}
    return _outcome(problem, check, interrupt, progress=progress, **arguments, **options)


def _outcome(problem: Statement, check: bool, interrupt: str, *, progress: bool, **arguments: Any) -> Solution:
    """The solution; or the warning or the error of one that did not converge, or was stopped."""
    truth(check, "check")
    choice(interrupt, INTERRUPTS, "interrupt")
    try:
        solution = solution_of(problem, progress=progress, **arguments)
    except Interrupted as stop:
        if interrupt == "raise":
            raise
        returned: Solution = stop.solution
        return returned
    if check and not solution.converged:
        raise NotConverged(failure(solution), solution)
    if not (solution.converged or progress):
        warn(failure(solution))
    return solution


def solution_of(
    problem: Statement,
    *,
    guess: Solution | None = None,
    start: Solution | None = None,
    accuracy: float | None = None,
    refine: str = "auto",
    ladder: bool | str = "auto",
    restarts: int | str | Sequence[str] = 0,
    seed: int = 0,
    **arguments: Any,
) -> Solution:
    """The solution that `solve` returns, whether it converged or not, without a warning: for works that judge it
    themselves. arguments: the others of `solve`. Raises Interrupted after Ctrl-C."""
    attempt = attempt_of(problem, start=start, seed=seed, **arguments)
    ways = check_restarts(restarts, seed), check_ladder(ladder, start)
    aim = check_aim(problem, accuracy, refine)
    more = {"accuracy": accuracy, "refine": refine, "ladder": ladder, "restarts": restarts, "seed": seed}
    stopped = False
    try:
        solution = refined(attempt, aim, guess, start, *ways)
    except KeyboardInterrupt:  # between two runs, while the next program is built
        if not attempt.found:
            raise
        last, stopped = attempt.found[-1], True
        solution = replace(last, stats=last.stats | {"status": STOPPED, "converged": False})
    solution = with_origin(solution, problem, (guess, start), attempt.options() | more)
    if stopped or STOPPED in (solution.status, *(one.status for one in attempt.found)):
        raise Interrupted(STOPPED_BY_USER, solution)
    return solution


def attempt_of(
    problem: Statement,
    *,
    solver: str = "ipopt",
    start: Solution | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MOST_ITERATIONS,
    progress: bool = True,
    threads: int = 2,
    values: Mapping[str, Any] | None = None,
    early_verdict: bool | str = True,
    seed: int = 0,
    **options: Any,
) -> Attempt:
    """The parts of runs of a problem with these arguments of `solve`, which are checked. start: that of the first
    run, which decides about the options of the problem."""
    options = _options(problem, solver, start, options, {"tolerance": tolerance, "max_iterations": max_iterations})
    settings = SolverSettings(positive(tolerance, "tolerance"), whole(max_iterations, "max_iterations"), options)
    truth(progress, "progress")
    if not (isinstance(early_verdict, bool) or is_one_of(early_verdict, (SUSPICION,))):
        raise TypeError(f"early_verdict must be True, False or {SUSPICION!r}, got {repr_in_message(early_verdict)}")
    known, say = by_name(values, problem), Progress(progress)
    rng = np.random.default_rng(whole(seed, "seed"))
    return Attempt(problem, known, solver, settings, threads, early_verdict, say, rng)


def _options(
    problem: Statement, solver: str, start: Solution | None, given: dict[str, Any], ours: Mapping[str, Any]
) -> dict[str, Any]:
    """The checked options of a run: those of the call, and before them the problem's for a run of IPOPT. A start with
    multipliers has its own barrier and takes the choice of the linear solver alone. ours: arguments of `solve` that
    IPOPT has under another name."""
    check_problem(problem)
    check_solver(solver)
    refuse_compile(given, "solve")
    for key in ("check", "interrupt"):
        if key in given:
            raise TypeError(
                f"{key} is an argument of problem.solve() alone: works of several solves judge each solution"
            )
    every = start is None
    stated = problem.options.items() if solver == "ipopt" else ()
    options = {key: value for key, value in stated if every or key in LINEAR_SOLVER_OPTIONS} | given
    for key, (theirs, default) in TWINS.items():
        if theirs in options and ours[key] != default:
            raise ValueError(
                f"{key}={repr_in_message(ours[key])} and IPOPT's option {theirs}={repr_in_message(options[theirs])} "
                "mean the same: give one of them"
            )
    check_options(solver, options)
    return options


def refuse_compile(options: Mapping[str, Any], caller: str) -> None:
    """Raises TypeError for `compile`, an argument of earlier versions."""
    if "compile" in options:
        raise TypeError(
            f"{caller} has no argument compile any more, got compile={repr_in_message(options['compile'])}: leave it "
            "out. Functions are evaluated by tables wherever that pays"
        )


def check(problem: Statement, values: Mapping[str, Any] | None = None) -> list[str]:
    """Faults and difficulties of a problem, a list of sentences that is shown by line; empty if nothing was found.

    Examines the problem at its first guess, without solving it: a root with motors in a model with footholds, values
    out of their bounds, rows and costs without finite values or derivatives, violated rows without a free variable,
    contacts that constrain one another, more equalities than free variables, springs and losses of joints too fast for
    an explicit scheme, findings of components such as muscles with slack tendons, dependent equalities. The last are
    found by linearizing at the first guess: with straight legs, equalities may depend on others at this guess only;
    with a bent `Problem(posture=...)` such findings disappear.

    >>> ocp.check(turn(ocp.TorqueSquared()))
    []
    """
    t, program = prepare(problem)
    with program.lock:
        start = starting_point(t, None, None, values)
        conflict = contradiction(program, start)
        told = [verdict_of_bounds(t, program, start.x, conflict)] if conflict is not None else []
        return Findings([*findings(t, program), *told], [f.name for f in problem.footholds])
