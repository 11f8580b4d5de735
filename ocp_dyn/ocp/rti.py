"""The real-time iteration of predictive control: one linearisation and one QP per sampling instant.

M. Diehl, H. G. Bock & J. P. Schloeder, A real-time iteration scheme for nonlinear optimization in optimal feedback
control, SIAM J. Control Optim. 43, 2005. `prepare` linearises before the state is measured, `feedback` takes the
measured values as parameters of the problem, solves one QP and gives the controls at once.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._types import Array
from .compiled import use_machine_code
from .problem import Problem
from .progress import violation
from .runs import Outcome
from .solution import Solution
from .solver import collected, prepare, starting_point
from .sqp import CHAINED, QuadraticModel
from .stages import chain
from .variables import Transcription


class RealTimeIteration:
    """Predictive control with a problem: `prepare()`, then `tau = feedback(q0=q, v0=v)`, over and over.

    What is measured are parameters of the problem, which a `Boundary` ties to the first state. start: a solution of the
    problem to begin with. qp, hessian and options as of `solve(solver="sqp")`; compile as of `solve`. A feedback
    whose QP fails keeps the last plan, and says so in `solved`.

    x, lam_g, lam_x: the plan; seconds: what the last prepare and the last feedback took.
    """

    def __init__(
        self,
        problem: Problem,
        start: Solution,
        *,
        qp: str = "piqp",
        hessian: str = "gauss-newton",
        compile: bool | str = "auto",
        threads: int = 2,
        values: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.transcription, self._program = prepare(problem, threads)
        self._values = dict(values or {})
        use_machine_code(self._program, compile, False)
        begin = starting_point(self.transcription, None, start, self._values)
        assert begin.lam_x is not None  # a start has its multipliers
        assert begin.lam_g is not None
        self.x, self.lam_x, self.lam_g = begin.x.copy(), begin.lam_x.copy(), begin.lam_g.copy()
        self._lower, self._upper = begin.lower, begin.upper
        ordered = chain(self.transcription, self._program) if qp in CHAINED else None
        self._model = QuadraticModel(self._program, qp, hessian, options, ordered)
        self.solved, self.seconds = True, (0.0, 0.0)
        self._prepared = False

    def prepare(self) -> None:
        """Linearises at the plan, with the parameters' values as they are now."""
        begin = time.perf_counter()
        self._model.linearise(self.x, self._parameters(), self.lam_g)
        self._prepared = True
        self.seconds = time.perf_counter() - begin, self.seconds[1]

    def feedback(self, **values: Any) -> Array:
        """The torques (nv) of the first interval for measured values of the parameters, by name."""
        if not self._prepared:
            self.prepare()
        begin = time.perf_counter()
        self._values |= values
        g = self._program.evaluator.constraints(self.x, self._parameters())
        lower, upper = self._lower - self.x, self._upper - self.x
        d, lam_x, lam_g, self.solved = self._model.step(g, lower, upper, 0.0, (self.lam_x, self.lam_g))
        if self.solved:
            self.x, self.lam_x, self.lam_g = self.x + d, lam_x, lam_g
        self._prepared = False
        self.seconds = self.seconds[0], time.perf_counter() - begin
        return self.torques()

    def _parameters(self) -> Array:
        """The parameters' values: declared, then measured. Other solves of the problem may have set others."""
        program = self.transcription.program
        program.reset()
        for name, value in self._values.items():
            program.set_value(name, value)
        return program.values

    def torques(self, k: int = 0) -> Array:
        """The plan's torques (nv) on interval k of the first phase."""
        problem = self.transcription.problem
        variable = self.transcription.phases[0].tau[k]
        tau = np.zeros(problem.model.nv)
        tau[problem.actuated] = self.x[variable.index] * variable.scale
        return tau

    def shift(self) -> None:
        """Moves the plan on by one interval, where phases are continuous: what comes next is the new start."""
        for variables in _sequences(self.transcription):
            for now, following in itertools.pairwise(variables):
                if now.size == following.size:
                    self.x[now.index] = self.x[following.index]
        self._prepared = False

    def solution(self) -> Solution:
        """The plan as a Solution."""
        status = "Real_Time_Iteration"
        self._parameters()
        outcome = Outcome(self.x.copy(), self.lam_x.copy(), self.lam_g.copy(), status, self.solved, 1)
        return collected(self.transcription, self._program, outcome, {"solver": "rti"})

    @property
    def infeasibility(self) -> float:
        """How far the plan is from satisfying the constraints at the measured values."""
        return violation(self._program, self._program.evaluator.constraints(self.x, self._parameters()))


def _sequences(t: Transcription) -> list[list[Any]]:
    """Variables of one kind in time order, through all phases."""
    kinds: list[list[Any]] = [[], [], [], [], []]
    for phase in t.phases:
        for found, listed in zip(kinds, (phase.q, phase.v, phase.tau, phase.a, phase.lam), strict=True):
            found += [variable for variable in listed if variable not in found[-1:]]
    return kinds


def rti(problem: Problem, start: Solution, **options: Any) -> RealTimeIteration:
    """The real-time iteration of a problem, from a solution of it; see `RealTimeIteration`."""
    return RealTimeIteration(problem, start, **options)
