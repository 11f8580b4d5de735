"""One run of a solver on a problem: the program is prepared, the start is set, the solver runs, the solution is
collected.

    prepare -> starting_point -> proved_infeasible? -> run -> judged -> collected

A problem that is proved to be infeasible is not run. `solve` makes one attempt, and `restarts` further ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..._base.checks import whole
from ..._base.display import Progress
from ..._base.rounding import largest
from ..._base.types import repr_in_message
from ...native.libraries import TABLES
from ..analysis.active_set import channels_at_limits
from ..analysis.summary import DECIDE, bounds_of
from ..guess.from_solution import carry_over
from ..guess.standing_guess import initial_guess
from ..nlp.function_tables import SOLVED_WITH, use_tables
from ..nlp.program import Assembled
from ..solution import Solution
from ..solvers.by_name import prepare_solver, run
from ..solvers.feasibility.watch import Watch
from ..solvers.interface import Iterate, SolverResult, SolverSettings, Start
from ..solvers.monitor import Monitor, interruptible, violation
from ..statement.statement import Statement
from ..transcription.collect import collect
from ..transcription.stage_order import stage_order
from ..transcription.transcribe import key_of, transcribe
from ..transcription.variables import Transcription
from .diagnosis import faults, gaps_of_files, repetitions
from .origin import with_origin
from .parameter_values import by_name
from .verdict import Judged, findings_or_error, judged, proved_infeasible

LINEAR_SOLVER_OPTIONS = ("linear_solver", "hsllib")
"""Options of a problem that hold for every start."""

SUSPICION = "suspicion"
"""Value of the option early_verdict with which a suspicion ends a run."""

FAULTS_SHOWN = 10
"""Largest number of violated constraints that are shown."""


SetGuess = Callable[[Transcription], None]
"""Sets the first values of a program."""


Carry = Callable[[Transcription, Assembled], Start]
"""Makes the start of a program whose parameters are set."""


def _unchanged(_: Transcription) -> None:
    """Leaves the first values of a program as they are."""


@dataclass(frozen=True)
class Attempt:
    """All that a run of a solver needs but its start; the fields are those of `ocp.solve`, checked.

    rng: noise of restarts. found: the solutions of all runs so far, those on other grids included.
    """

    problem: Statement
    values: Mapping[str, Any]
    solver: str
    settings: SolverSettings
    threads: int
    early_verdict: bool | str
    say: Progress
    rng: np.random.Generator
    found: list[Solution] = field(default_factory=list)

    def solved(
        self,
        guess: Solution | None = None,
        start: Solution | None = None,
        set_guess: SetGuess = initial_guess,
        carry: Carry | None = None,
    ) -> Solution:
        """The solution of one run; set_guess: sets the first values of the program if there is no `start`; carry: makes
        the start instead of these."""
        begin = time.perf_counter()
        prepare_solver(self.solver, self.settings)
        levels = SOLVED_WITH["gauss-newton" if self.settings.options.get("hessian") == "gauss-newton" else "exact"]
        TABLES.request()  # where it must be made, that is done beside the building of the blocks
        t, program = prepare(self.problem, self.threads, self.say)
        with program.lock:  # one solve at a time: parameters and the evaluator's memory belong to the program
            evaluation = use_tables(program, self.say, levels)
            self.say(f"evaluating by {evaluation}")
            begin_at = starting_point(t, guess, start, self.values, set_guess if carry is None else _unchanged)
            begin_at = begin_at if carry is None else carry(t, program)
            built = time.perf_counter()
            size = f"{program.n} variables under {program.row_lower.size} constraints"
            self.say(f"solving for {size} by {self.solver} ...")
            result, verdict, proof = self._run(t, program, begin_at)
            stats = {
                "solver": self.solver,
                "build_seconds": built - begin,
                "solve_seconds": time.perf_counter() - built,
            }
            stats |= {"verdict": verdict, "proof": proof, "evaluation": evaluation}
            solution = collected(t, program, result, stats)
        solution = with_origin(solution, self.problem, (guess, start), self.options())
        self.found.append(solution)
        _report(solution, self.say)
        return solution

    def options(self) -> dict[str, Any]:
        """The options of the runs, as `ocp.solve` takes them; `values` alone that are given."""
        settings = self.settings
        told = {"solver": self.solver, "tolerance": settings.tolerance, "max_iterations": settings.max_iterations}
        given = {"values": dict(self.values), "options": dict(settings.options)}
        return told | {"threads": self.threads, "early_verdict": self.early_verdict} | given

    def _run(self, t: Transcription, program: Assembled, start: Start) -> Judged:
        """The result of the solver, and the verdict on it."""
        monitor = Monitor(program, self.settings.tolerance, self.say)
        with interruptible(monitor):
            known = proved_infeasible(t, program, start) if self.early_verdict else None
            if known is not None:
                return known
            hasty = self.early_verdict == SUSPICION
            monitor.watch = watch = Watch(program, start, self.say, hasty) if self.early_verdict else None
            result = run(self.solver, program, partial(stage_order, t, program), start, self.settings, monitor)
            return judged(t, program, result, watch)


def prepare(problem: Statement, threads: int = 2, say: Progress | None = None) -> tuple[Transcription, Assembled]:
    """The program of a problem; the program of an earlier call for the same number of threads is used again."""
    check_problem(problem)
    whole(threads, "threads", least=1, most=1024)
    known: dict[int, tuple[Transcription, Assembled]] = {} if problem._kept is None else problem._kept[3]
    if threads not in known:
        t = transcribe(problem, threads)
        for gap in gaps_of_files(problem) if say is not None else ():
            assert say is not None
            say(f"note: {gap}")
        known[threads] = t, t.program.assemble(key_of(problem), say or Progress(on=False))
    elif say is not None:
        say("the program is kept from an earlier call: nothing is built")
    t, program = known[threads]
    object.__setattr__(problem, "_kept", (threads, t, program, known))  # a cache, no part of the problem's data
    return t, program


def share_program(problem: Statement, other: Statement) -> None:
    """Gives another problem, which differs in the numbers of its weights alone, the program that has been built."""
    parameters = [[entry.parameter for entry in each.weights.entries] for each in (problem, other)]
    if problem._kept is None or parameters[0] != parameters[1]:
        return
    threads, t, program, _ = problem._kept
    values = {entry.parameter: entry.value for entry in other.weights.entries if entry.parameter}
    shared = replace(t, problem=other, program=t.program.with_declared(values))
    object.__setattr__(other, "_kept", (threads, shared, program, {threads: (shared, program)}))


def check_problem(problem: Any) -> None:
    """Raises TypeError for anything but a Problem."""
    if not isinstance(problem, Statement):
        raise TypeError(f"a Problem is needed, got {repr_in_message(problem)}")


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
    for name, value in by_name(values, transcription.problem).items():
        program.set_value(name, value)
    for what, motion in (("guess", guess), ("start", start)):
        if not (motion is None or isinstance(motion, Solution)):
            raise TypeError(
                f"{what} must be a Solution, such as problem.solve() or ocp.Solution.load(file) gives, got "
                f"{repr_in_message(motion)}; a function s -> (q, qd) goes to Problem(guess=...)"
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
        "worst_row": program.row_names[largest(violations)] if violations.size else "",
        "faults": []
        if done
        else findings_or_error(lambda: [str(fault) for fault in faults(transcription, program, result.x)]),
        "repetitions": [] if done else findings_or_error(lambda: repetitions(transcription, program, result.x)),
    }
    solution = collect(transcription, program, result.x, stats)
    solution.stats["at_limits"] = "" if done else channels_at_limits(solution)
    central = {} if result.central is None else result.central._asdict()
    return replace(solution, iterate={"x": result.x, "lam_x": result.lam_x, "lam_g": result.lam_g}, central=central)


def _report(solution: Solution, say: Callable[[str], None]) -> None:
    """Reports the end of a run: the bounds that decide the result, or the violated constraints if it did not
    converge."""
    figures = f"cost {solution.objective:.6g}, infeasibility {solution.stats['infeasibility']:.1e}"
    lines = [f"{solution.status} after {solution.stats['iterations']} iterations: {figures}"]
    if not solution.converged:
        lines += [f"  {solution.stats['verdict']}"] if solution.stats["verdict"] else []
        lines += [f"  {fault}" for fault in (*solution.stats["faults"][:FAULTS_SHOWN], *solution.stats["repetitions"])]
        lines += [f"  at their limits: {solution.stats['at_limits']}"] if solution.stats["at_limits"] else []
    else:
        decide = bounds_of(solution).line
        lines += [f"{DECIDE}: {decide}"] if decide else []
    say("\n".join(lines))
