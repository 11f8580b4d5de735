"""Solving: IPOPT on the assembled program, with progress while it runs."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

import casadi as ca
import numpy as np

from .._types import Array
from .collect import collect
from .guess import initial_guess
from .nlp import Assembled
from .problem import Problem
from .solution import Solution
from .transcription import transcribe
from .variables import Transcription

IPOPT = {
    "print_level": 0,
    "sb": "yes",
    "tol": 1e-6,
    "max_iter": 500,
    "mumps_pivot_order": 5,  # METIS: halves the time of a factorisation of these matrices
    "mumps_permuting_scaling": 0,
}


class _Progress(ca.Callback):
    """A line for every tenth iterate: iteration, objective, infeasibility, time."""

    def __init__(self, program: Assembled, stream: TextIO) -> None:
        ca.Callback.__init__(self)
        self._program, self._stream = program, stream
        self._start, self._iteration = time.perf_counter(), 0
        self._shapes = [program.n, 1, program.lower.size, program.n, program.lower.size, 0]
        self.construct("progress", {})

    def get_n_in(self) -> int:
        return int(ca.nlpsol_n_out())

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._shapes[i], 1)

    def eval(self, arguments: Any) -> list[int]:
        if self._iteration % 10 == 0:
            self.show(float(arguments[1]), np.array(arguments[2]).ravel())
        self._iteration += 1
        return [0]

    def show(self, f: float, g: Array) -> None:
        p = self._program
        violation = float(np.max(np.maximum(p.lower - g, g - p.upper), initial=0.0))
        seconds = time.perf_counter() - self._start
        line = f"  iteration {self._iteration:4d}   cost {f:12.6g}   infeasibility {violation:8.1e}   {seconds:6.1f} s"
        print(line, file=self._stream, flush=True)


def solve(
    problem: Problem,
    *,
    guess: Solution | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 500,
    progress: bool = True,
    threads: int = 2,
    **ipopt: Any,
) -> Solution:
    """Solves a problem by IPOPT with exact derivatives and returns what it found.

    guess: a solution of a problem with the same phases and intervals (default: the library's own, the model
    standing and moved forward). Further options go to IPOPT by name. A run that does not converge is
    returned too: `solution.converged` is False and `solution.status` says why.
    """
    begin = time.perf_counter()
    t = transcribe(problem, threads)
    initial_guess(t)
    if guess is not None:
        _start_from(t, guess)
    if progress:
        print(f"building {len(t.program.blocks)} kinds of blocks ...", file=sys.stderr, flush=True)
    program = t.program.assemble()
    built = time.perf_counter()
    options: dict[str, Any] = {f"ipopt.{key}": value for key, value in IPOPT.items()}
    options |= {"ipopt.tol": tolerance, "ipopt.max_iter": max_iterations}
    options |= {f"ipopt.{key}": value for key, value in ipopt.items()}
    options |= {"grad_f": program.gradient, "jac_g": program.jacobian, "hess_lag": program.hessian}
    options |= {"no_nlp_grad": True, "print_time": False}
    report = _Progress(program, sys.stderr) if progress else None
    if report is not None:
        print(f"solving for {program.n} variables under {program.lower.size} constraints ...", file=sys.stderr)
        options["iteration_callback"] = report
    solver = ca.nlpsol("solver", "ipopt", program.problem, options)
    lower, upper = t.program.lower, t.program.upper
    result = solver(x0=t.program.start, lbx=lower, ubx=upper, lbg=program.lower, ubg=program.upper)
    stats = solver.stats()
    x, g = (np.array(result[key]).ravel() for key in ("x", "g"))
    if report is not None:
        report.show(float(result["f"]), g)
    solved = time.perf_counter()
    return collect(
        t,
        program,
        x,
        {
            "status": str(stats["return_status"]),
            "converged": bool(stats["success"]),
            "iterations": int(stats["iter_count"]),
            "build_seconds": built - begin,
            "solve_seconds": solved - built,
            "infeasibility": float(np.max(np.maximum(program.lower - g, g - program.upper), initial=0.0)),
            "variables": program.n,
            "constraints": int(program.lower.size),
            "worst_row": program.row_names[int(np.argmax(np.maximum(program.lower - g, g - program.upper)))],
        },
    )


def _start_from(t: Transcription, guess: Solution) -> None:
    """First values from a solution on the same grid."""
    model = t.problem.model
    if (guess.model.nq, guess.model.nv) != (model.nq, model.nv):
        raise ValueError(
            f"guess must be a motion of a model with nq = {model.nq} and nv = {model.nv}, got nq = {guess.model.nq} and "
            f"nv = {guess.model.nv}"
        )
    if [len(phase.tau) for phase in guess.phases] != [phase.intervals for phase in t.problem.phases]:
        raise ValueError("guess must have the problem's phases and intervals")
    set_start = t.program.set_start
    actuated = t.problem.actuated
    for x, phase, found in zip(t.phases, t.problem.phases, guess.phases, strict=True):
        set_start(x.duration, found.duration)
        for k, (q, v) in enumerate(zip(x.q, x.v, strict=True)):
            set_start(q, found.q[k])
            set_start(v, found.v[k])
        for k, tau in enumerate(x.tau):
            set_start(tau, found.tau[k][actuated])
        for k, a in enumerate(x.a):
            set_start(a, found.a[k])
        for k, lam in enumerate(x.lam):
            set_start(lam, found.lam[k])
        for f in phase.footholds:
            if f in t.places:
                set_start(t.places[f], found.places[f.name])
    if t.step_length is not None and guess.step_length:
        set_start(t.step_length, guess.step_length)
    for impulse, found_impulse in zip(t.impulses, guess.impulses, strict=True):
        if impulse is not None:
            set_start(impulse, found_impulse)
