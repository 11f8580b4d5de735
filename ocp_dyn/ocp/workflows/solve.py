"""Solves a problem: builds its program, sets the start, runs the solver that is named, and collects the solution."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..._arguments import positive, truth, whole
from ..._display import Progress
from ..._types import is_one_of, shown
from ...codegen.tapes.library import build_aside
from ..analysis.summary import DECIDE, bounds_of
from ..guess.from_solution import carry_over
from ..guess.standing import initial_guess
from ..nlp.machine_code import SOLVED_WITH, use_machine_code
from ..nlp.program import Assembled
from ..solution import Solution
from ..solvers.by_name import check_options, check_solver, prepare_solver, run
from ..solvers.feasibility.linear_rows import contradiction
from ..solvers.heap import kept_memory
from ..solvers.interface import Iterate, Orders, Settings, SolverResult, Start
from ..solvers.monitor import Monitor, interruptible, violation
from ..statement.statement import Statement
from ..transcription.collect import collect
from ..transcription.shared_stage_order import shared_stage_order
from ..transcription.stage_order import stage_order
from ..transcription.transcribe import transcribe
from ..transcription.variables import Transcription
from .diagnosis import check as findings
from .diagnosis import faults, repetitions
from .judged import guarded, judged, unjudged
from .restarts import Attempt, SetGuess, check_restarts, restarted
from .verdict import verdict_of_bounds

SUSPICION = "suspicion"
"""Value of the option early_verdict with which a suspicion ends a run."""

LINEAR_SOLVER_OPTIONS = ("linear_solver", "hsllib")
"""Options of a problem that hold for every start."""

FAULTS_SHOWN = 10
"""Largest number of violated constraints that are shown."""


def prepare(problem: Statement, threads: int = 2, say: Progress | None = None) -> tuple[Transcription, Assembled]:
    """The program of a problem; the program of an earlier call for the same number of threads is used again."""
    if not isinstance(problem, Statement):
        raise TypeError(f"a Problem is needed, got {shown(problem)}")
    whole(threads, "threads", least=1, most=1024)
    kept = problem._kept
    if kept is None or kept[0] != threads:
        t = transcribe(problem, threads)
        if say is not None:
            say(f"building {len(t.program.blocks)} kinds of blocks ...")
        kept = threads, t, t.program.assemble()
        object.__setattr__(problem, "_kept", kept)  # a cache, no part of the problem's data
    return kept[1], kept[2]


def solve(
    problem: Statement,
    *,
    solver: str = "ipopt",
    guess: Solution | None = None,
    start: Solution | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 500,
    progress: bool = True,
    threads: int = 2,
    values: Mapping[str, Any] | None = None,
    compile: bool | str = "auto",
    early_verdict: bool | str = True,
    restarts: int | str | Sequence[str] = 0,
    seed: int = 0,
    **options: Any,
) -> Solution:
    """Solves a problem with exact derivatives and returns the solution.

    solver: "ipopt"; "fatrop", a Riccati recursion for small models (on whole-body gaits it may not return, see
    `ocp_dyn.ocp.transcription.shared_stage_order`); "sqp"; "uno"; or the name of another of CasADi's nlpsol plugins.
    options: those of the solver; sqp takes qp="piqp", hessian="exact" or "gauss-newton", uno preset="ipopt" or another.
    ValueError if the solver is not installed or cannot take the problem.

    guess: another solution, which may have another grid, other phases or another model, see
    `ocp_dyn.ocp.guess.from_solution` (default: the library's first guess, the model standing and moved forward). start:
    a solution of this problem, perhaps with other parameters, from which to continue with its multipliers, so that few
    iterations are needed. values: of parameters, by name; all other parameters have their declared values. A problem
    that has been solved before is not built again, for any guess, start and values.

    compile: "auto" evaluates by machine code from tables in the cache, or that are made now if they pay in this solve, and
    waits for no compiler; True makes all tables, in a second or two for a whole body; False uses CasADi's virtual machine.
    `solution.stats["evaluation"]` tells which of them was used, and why it was not machine code.
    linear_solver, an option of IPOPT: "auto", "chain", "mumps" or another, see `ocp_dyn.ocp.solvers.chain.choice`.

    early_verdict: a problem that is proved to be infeasible is told early, with the status "Infeasible" and a sentence
    in `solution.stats["verdict"]`, see `ocp_dyn.ocp.workflows.verdict`; "suspicion" ends the run as soon as a search
    finds no feasible point nearby, although that proves nothing; False: the solver runs to its own end. restarts: number
    or names of other first guesses, tried with `seed` until a run converges, see `ocp_dyn.ocp.workflows.restarts`.

    A run that does not converge is returned too: `solution.converged` is False, `solution.status` gives the reason,
    `solution.stats["faults"]` names the violated constraints, the largest violation first, and
    `solution.stats["repetitions"]` the equalities that depend on others at the last iterate. Ctrl-C ends a run with its
    best iterate and the status "Interrupted". If IPOPT's linear algebra fails, it continues by MUMPS from the best
    iterate, with a fresh barrier: `solution.stats["retries"]` is the number of times, at most three.

    >>> ocp.solve(turn(ocp.TorqueSquared()), progress=False).status
    'Solve_Succeeded'
    """
    check_solver(solver)
    check_options(solver, options)
    settings = Settings(positive(tolerance, "tolerance"), whole(max_iterations, "max_iterations"), options, compile)
    truth(progress, "progress")
    if not (isinstance(early_verdict, bool) or is_one_of(early_verdict, (SUSPICION,))):
        raise TypeError(f"early_verdict must be True, False or {SUSPICION!r}, got {shown(early_verdict)}")
    names, most = check_restarts(restarts, seed)
    known, say = by_name(values), Progress(progress)
    once = partial(_solve_once, solver=solver, settings=settings, say=say, threads=threads, early_verdict=early_verdict)
    solution = once(problem, values=known, guess=guess, start=start)
    return restarted(solution, names, most, Attempt(once, problem, known, np.random.default_rng(seed)), say)


def _solve_once(
    problem: Statement,
    *,
    values: dict[str, Any],
    solver: str,
    settings: Settings,
    say: Progress,
    threads: int,
    early_verdict: bool | str,
    guess: Solution | None = None,
    start: Solution | None = None,
    set_guess: SetGuess = initial_guess,
) -> Solution:
    """One run of a solver; set_guess: sets the first values of the program if there is no `start`."""
    begin = time.perf_counter()
    prepare_solver(solver, settings)
    levels = SOLVED_WITH["gauss-newton" if settings.options.get("hessian") == "gauss-newton" else "exact"]
    if settings.compile is not False:
        build_aside()  # done before the blocks are built, except for small problems
    t, program = prepare(problem, threads, say)
    with program.lock:  # one solve at a time: parameters and the evaluator's memory belong to the program
        evaluation = use_machine_code(program, settings.compile, say, levels)
        say(f"evaluating by {evaluation}")
        begin_at = starting_point(t, guess, start, values, set_guess)
        built = time.perf_counter()
        say(f"solving for {program.n} variables under {program.row_lower.size} constraints by {solver} ...")
        monitor = Monitor(program, settings.tolerance, say)
        with interruptible(monitor), kept_memory():
            hasty = early_verdict == SUSPICION
            judge = partial(judged, t, program, begin_at, monitor, hasty) if early_verdict else unjudged
            result, verdict, proof = judge(
                lambda: run(solver, program, orders_of(t, program), begin_at, settings, monitor)
            )
        stats = {"solver": solver, "build_seconds": built - begin, "solve_seconds": time.perf_counter() - built}
        stats |= {"verdict": verdict, "proof": proof, "evaluation": evaluation}
        solution = collected(t, program, result, stats)
    _report(solution, say)
    return solution


def _report(solution: Solution, say: Callable[[str], None]) -> None:
    """Reports the end of a run: the bounds that decide the result, or the violated constraints if it did not
    converge."""
    figures = f"cost {solution.objective:.6g}, infeasibility {solution.stats['infeasibility']:.1e}"
    lines = [f"{solution.status} after {solution.stats['iterations']} iterations: {figures}"]
    if not solution.converged:
        lines += [f"  {solution.stats['verdict']}"] if solution.stats["verdict"] else []
        lines += [f"  {fault}" for fault in (*solution.stats["faults"][:FAULTS_SHOWN], *solution.stats["repetitions"])]
    else:
        decide = bounds_of(solution).line
        lines += [f"{DECIDE}: {decide}"] if decide else []
    say("\n".join(lines))


def solve_as_stated(problem: Statement, **options: Any) -> Solution:
    """Solves with the problem's options for a run of IPOPT from a guess; `options` come before them. A start with
    multipliers has its own barrier and takes the choice of the linear solver alone."""
    if not is_one_of(options.get("solver", "ipopt"), ("ipopt",)):
        return solve(problem, **options)
    every = options.get("start") is None
    stated = {key: value for key, value in problem.options.items() if every or key in LINEAR_SOLVER_OPTIONS}
    return solve(problem, **(stated | options))


def orders_of(transcription: Transcription, program: Assembled) -> Orders:
    """The functions that make the stage orders of a transcribed problem."""
    return Orders(partial(stage_order, transcription, program), partial(shared_stage_order, transcription, program))


def collected(
    transcription: Transcription, program: Assembled, result: SolverResult, stats: dict[str, Any]
) -> Solution:
    """The solution of a solver's result, with the figures of the run in its stats."""
    g = program.evaluator.constraints(result.x, transcription.program.values).copy()
    violations, done = np.maximum(program.row_lower - g, g - program.row_upper), result.converged
    stats |= {
        "status": result.status,
        "converged": result.converged,
        "iterations": result.iterations,
        "retries": result.retries,
        "warm_start": result.warm_start,
        "linear_solver": result.linear_solver.name,
        "linear_solver_reason": result.linear_solver.reason,
        "linear_solver_figures": dict(result.linear_solver.figures),
        "infeasibility": violation(program, g),
        "variables": program.n,
        "constraints": int(program.row_lower.size),
        "worst_row": program.row_names[int(np.argmax(violations))] if violations.size else "",
        "faults": [] if done else guarded(lambda: [str(fault) for fault in faults(transcription, program, result.x)]),
        "repetitions": [] if done else guarded(lambda: repetitions(transcription, program, result.x)),
    }
    solution = collect(transcription, program, result.x, stats)
    central = {} if result.central is None else result.central._asdict()
    return replace(solution, iterate={"x": result.x, "lam_x": result.lam_x, "lam_g": result.lam_g}, central=central)


def by_name(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Values of parameters by name; TypeError if they are given in another form."""
    if not (values is None or isinstance(values, Mapping)):
        raise TypeError(f"values must be a dict of parameters by name, such as {{'speed': 1.3}}, got {shown(values)}")
    return dict(values or {})


def starting_point(
    transcription: Transcription,
    guess: Solution | None,
    start: Solution | None,
    values: Mapping[str, Any] | None,
    set_guess: SetGuess = initial_guess,
) -> Start:
    """Sets the values of the parameters and returns the starting point: `start` with its multipliers, `guess`, or the
    library's first guess."""
    program = transcription.program
    program.reset()
    for name, value in by_name(values).items():
        program.set_value(name, value)
    for what, motion in (("guess", guess), ("start", start)):
        if not (motion is None or isinstance(motion, Solution)):
            raise TypeError(
                f"{what} must be a Solution, such as problem.solve() or ocp.Solution.load(file) gives, got "
                f"{shown(motion)}; a function s -> (q, qd) goes to Problem(guess=...)"
            )
    if guess is not None and start is not None:
        raise ValueError("give guess or start, not both: start is a guess with multipliers")
    if start is None:
        set_guess(transcription)
        if guess is not None:
            carry_over(transcription, guess)
        return Start(program.start, program.values, program.x_lower, program.x_upper)
    sizes = program.size, sum(b.lower.size * len(b.instances) for b in program.blocks)
    got = tuple(start.iterate[key].size for key in ("x", "lam_g")) if start.iterate else None
    if got != sizes:
        raise ValueError(
            f"start must be a solution of this problem, with {sizes[0]} variables and {sizes[1]} constraints, got "
            f"{'one without its iterate' if got is None else f'{got[0]} and {got[1]}'}: give it as guess=..."
        )
    x, lam_x, lam_g = (start.iterate[key] for key in Iterate._fields)
    central = Iterate(**start.central) if start.central else None
    return Start(x, program.values, program.x_lower, program.x_upper, lam_x, lam_g, central)


def check(problem: Statement, values: Mapping[str, Any] | None = None) -> list[str]:
    """Faults and difficulties of a problem, as sentences; empty if nothing was found.

    Examines the problem at its first guess, without solving it: a root with motors in a model with footholds, values
    out of their bounds, rows and costs without finite values or derivatives, violated rows without a free variable,
    contacts that constrain one another, more equalities than free variables, springs and losses of joints too fast for
    an explicit scheme, dependent equalities. The last are found by linearizing at the first guess: with straight legs,
    equalities may depend on others at this guess only; with a bent `Problem(posture=...)` such findings disappear.

    >>> ocp.check(turn(ocp.TorqueSquared()))
    []
    """
    t, program = prepare(problem)
    with program.lock:
        start = starting_point(t, None, None, values)
        conflict = contradiction(program, start)
        told = [verdict_of_bounds(t, program, start.x, conflict)] if conflict is not None else []
        return [*findings(t, program), *told]
