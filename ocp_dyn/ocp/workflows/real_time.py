"""The real-time iteration of predictive control: one linearization and one QP per sampling instant.

M. Diehl, H. G. Bock & J. P. Schloeder, A real-time iteration scheme for nonlinear optimization in optimal feedback
control, SIAM J. Control Optim. 43, 2005. `prepare` linearizes before the state is measured, `feedback` takes the
measured values as parameters of the problem, solves one QP and returns the controls at once.

The option `qp` selects the QP:

* the name of a QP solver of CasADi ("piqp", the default; "hpipm", "qrqp", ...): the whole QP, inequalities included,
  is solved to the solver's tolerance. An interior-point solver takes 5 to 15 factorizations, all of them in `feedback`.
* "riccati", for sequences of stages (fixed durations and places, no periodicity, no impacts, torques and other controls
  constant along intervals, because two intervals would share values at a node): equality rows hold exactly;
  inequality rows and bounds are terms of the cost, by a relaxed logarithmic barrier (see `barrier`); the remaining QP
  is solved exactly by one Riccati recursion (see `riccati`). It is factored in `prepare`, so that `feedback` is two
  sweeps of matrix-vector products. The barrier keeps the plan away from a bound by about its weight over the bound's
  multiplier. A row may be violated if that lowers the cost; a larger weight and a smaller relaxation make the violation
  smaller.

"riccati" is never the default, because it solves a different problem. Its Hessian is the Gauss-Newton Hessian, so costs
must be sums of squares, or convex. Steps are full steps, as in every real-time iteration. At a fixed measured state
they converge to the solution of the problem with the barrier in its cost only if the curvature that the Gauss-Newton
Hessian leaves out is small compared with that of the costs.

Feedback takes a fifth of the time of an iteration; the page on performance has numbers. Semi-implicit Euler steps
(`integrator="euler"`) are the cheapest; costs then see states at the nodes only.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._base.checks import label, number
from ..._base.convergence import warn
from ..._base.types import Array, repr_in_message, suggestion
from ..nlp.derivative_cache import FUNCTION_LEVELS
from ..nlp.function_tables import SOLVED_WITH, use_tables
from ..solution import Solution
from ..solvers.barrier import Barrier
from ..solvers.interface import SolverResult, Start
from ..solvers.monitor import violation
from ..solvers.riccati_model import RiccatiModel
from ..solvers.sqp import QPS, STAGEWISE_QPS, QuadraticModel, check_qp
from ..statement.statement import Statement
from ..transcription.stage_order import stage_order
from ..transcription.tracks import sequences
from .attempt import collected, prepare, starting_point
from .diagnosis import faults
from .parameter_values import by_name
from .solve import refuse_compile

RICCATI = "riccati"
"""The name of the QP that is solved by one Riccati recursion."""

ROWS_NAMED = 3
"""Largest number of violated constraints that the verdict on a feedback names."""

BARRIER_OPTIONS = ("barrier", "relaxation")
"""Options that only "riccati" takes."""

OPTIONS = ("qp", "hessian", "threads", "values", *BARRIER_OPTIONS)
"""Options of real-time iterations: suggestions for misspelled ones."""

BARRIER_SHARE, LEAST_COST = 1e-2, 1e-6
"""Default weight of the barrier, summed over all inequalities: BARRIER_SHARE times the cost of the start, or times
LEAST_COST if that is larger."""


class RealTimeIteration:
    """Predictive control with a problem: `prepare()`, then `tau = feedback(q0=q, qd0=qd)`, again and again.

    Measured values are parameters of the problem, which a `Boundary` ties to the first state. start: a solution of the
    problem from which to begin. qp: "riccati" or the name of a QP solver, see `ocp_dyn.ocp.workflows.real_time`;
    hessian and options as in `solve(solver="sqp")`. With "riccati" the options are barrier, the weight of the barrier
    (default: a hundredth of the start's cost, shared among the inequalities), and relaxation (0.001), the distance from
    a bound, in the scale of the row (forces by 100 N), below which the barrier is a parabola. If the QP of a feedback
    fails, the last plan is kept, `solved` is False, `failures` counts it, and `verdict` names the constraints that this
    plan violates at the measured values, the largest violation first; the first time there is a warning.

    x, lam_g, lam_x: the plan ("riccati" keeps the start's multipliers of equalities); seconds: time taken by the last
    prepare and by the last feedback. unmet: with "riccati", the largest residual of equality rows that contradict
    others, in the last step; conditions of the ends hold first, then the rows of each stage in their order. evaluation:
    the way in which derivatives and the recursion are computed, in words; all functions are evaluated by tables where
    that pays. A program is for one thread at a time: iterations wait for solves of the same problem in other threads.

    >>> control = turn(ocp.TorqueSquared()).rti(solution)
    >>> control.prepare()
    >>> round(float(control.feedback()[0]), 2), control.solved  # the first torque of the plan
    (5.71, True)
    """

    def __init__(
        self,
        problem: Statement,
        start: Solution,
        *,
        qp: str = "piqp",
        hessian: str = "gauss-newton",
        threads: int = 2,
        values: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(start, Solution):
            raise TypeError(
                f"rti begins at a Solution of the problem, such as problem.solve() gives, got {repr_in_message(start)}"
            )
        refuse_compile(options, "rti")
        _check_options(qp, hessian, options)
        self.problem, (self._transcription, self._program) = problem, prepare(problem, threads)
        self._values = by_name(values, problem)
        with self._program.lock:
            self._set_up(starting_point(self._transcription, None, start, self._values), qp, hessian, options)

    def _set_up(self, begin: Start, qp: str, hessian: str, options: dict[str, Any]) -> None:
        """Sets the first plan and the quadratic model of the program."""
        levels = SOLVED_WITH.get(hessian, FUNCTION_LEVELS)
        self.evaluation = use_tables(self._program, lambda line: None, levels, complete=True)
        assert begin.lam_x is not None  # a start has its multipliers
        assert begin.lam_g is not None
        self.x, self.lam_x, self.lam_g = begin.x.copy(), begin.lam_x.copy(), begin.lam_g.copy()
        self._lower, self._upper = begin.lower, begin.upper
        self._model: QuadraticModel | RiccatiModel
        if qp == RICCATI:
            self._model = self._stage_model(begin, hessian, **options)
            self.evaluation += f"; the recursion {self._model.recursion.how}"
        else:
            order = stage_order(self._transcription, self._program) if qp in STAGEWISE_QPS else None
            self._model = QuadraticModel(self._program, qp, hessian, options, order)
        self.solved, self.seconds, self.samples, self.failures, self._qp = True, (0.0, 0.0), 0, 0, qp
        self._prepared, self._p = False, self._parameters(self._values)

    def _stage_model(
        self, start: Start, hessian: str, barrier: float | None = None, relaxation: float = 1e-3
    ) -> RiccatiModel:
        """The quadratic model for the Riccati recursion."""
        if hessian != "gauss-newton":
            raise ValueError(f"qp='riccati' takes hessian='gauss-newton', which is convex, got {hessian!r}")
        if not 0 < number(relaxation, "relaxation") < np.inf or not (
            barrier is None or 0 < number(barrier, "barrier") < np.inf
        ):
            raise ValueError(
                f"barrier and relaxation must be positive, got {repr_in_message(barrier)} and "
                f"{repr_in_message(relaxation)}"
            )
        program, bounds = self._program, (start.lower, start.upper)
        if barrier is None:
            sides = (program.row_lower, program.row_upper), bounds
            count = sum(int(np.sum(np.isfinite([low, up]) & (low < up))) for low, up in sides)
            barrier = (
                BARRIER_SHARE * max(abs(program.evaluator.objective(start.x, start.p)), LEAST_COST) / max(count, 1)
            )
        order = stage_order(self._transcription, program)
        return RiccatiModel(program, order, bounds, Barrier(barrier, relaxation))

    def __repr__(self) -> str:
        told = "the last QP was solved" if self.solved else "NOT SOLVED: print(verdict)"
        return f"RealTimeIteration by {self._qp!r}: {self.samples} samples, {self.failures} failures, {told}"

    def prepare(self) -> None:
        """Linearizes at the plan, with the current values of the parameters; "riccati" factors too."""
        begin = time.perf_counter()
        with self._program.lock:
            self._model.linearize(self.x, self._p, self.lam_g)
        self._prepared = True
        self.seconds = time.perf_counter() - begin, self.seconds[1]

    def feedback(self, **values: Any) -> Array:
        """The torques (nv) of the first interval for measured values of the parameters, by name.

        Calls `prepare` first if the plan has changed since the last call of it.
        """
        if not self._prepared:
            self.prepare()
        begin = time.perf_counter()
        with self._program.lock:
            if values:
                self._p, self._values = self._parameters(self._values | values), self._values | values
            g = self._program.evaluator.constraints(self.x, self._p).copy()
        lower, upper = self._lower - self.x, self._upper - self.x
        d, lam_x, lam_g, self.solved = self._model.step(g, lower, upper, (self.lam_x, self.lam_g))
        self.samples += 1
        if self.solved:
            self.x, self.lam_x, self.lam_g = self.x + d, lam_x, lam_g
        self._prepared = False
        self.seconds = self.seconds[0], time.perf_counter() - begin
        if not self.solved:
            self.failures += 1
            if self.failures == 1:
                warn(f"rti: not converged: {self.verdict}. Later failures are counted in `failures`, without a warning")
        return self.torques()

    @property
    def verdict(self) -> str:
        """A sentence on the last feedback, if its QP was not solved: the constraints that the plan, which was kept,
        violates at the measured values; "" if it was solved."""
        if self.solved:
            return ""
        with self._program.lock:
            self._p = self._parameters(self._values)
            found = faults(self._transcription, self._program, self.x)
        named = "; ".join(str(fault) for fault in found[:ROWS_NAMED]) or "none: the QP solver failed by itself"
        count = f"{self.failures} of {self.samples} samples so far"
        return (
            f"the QP solver {self._qp!r} did not solve the QP of this feedback ({count}), and the last plan is kept; "
            f"constraints that it violates at the measured values: {named}. A QP without a solution is one whose "
            "linearized rows contradict each other or its bounds: give the plan room (a softer row by ocp.Soft, wider "
            "bounds, a shorter sampling time), or take qp='riccati', which relaxes inequalities"
        )

    def _parameters(self, measured: Mapping[str, Any]) -> Array:
        """Values of the parameters: measured values, else declared ones. All are set again, because other solves of the
        problem may have changed them."""
        program = self._transcription.program
        program.reset()
        for name, value in by_name(measured, self.problem).items():
            program.set_value(name, value)
        return program.values

    def torques(self, k: int = 0) -> Array:
        """The plan's torques (nv) on interval k of the first phase."""
        problem = self.problem
        variable = self._transcription.phases[0]["tau"][k]
        tau = np.zeros(problem.model.nv)
        tau[problem.actuated] = self.x[variable.index] * variable.scale
        return tau

    def shift(self) -> None:
        """Moves the plan forward by one interval: the second node becomes the start. For motions whose phases follow
        one another continuously."""
        for variables in sequences(self._transcription.phases):
            for now, following in itertools.pairwise(variables):
                if now.size == following.size:
                    self.x[now.index] = self.x[following.index]
        self._prepared = False

    def solution(self) -> Solution:
        """The plan as a Solution."""
        status = "Real_Time_Iteration"
        result = SolverResult(self.x.copy(), self.lam_x.copy(), self.lam_g.copy(), status, self.solved, 1)
        with self._program.lock:
            self._parameters(self._values)
            return collected(self._transcription, self._program, result, {"solver": "rti"})

    @property
    def unmet(self) -> float:
        """Largest residual of equality rows of the last QP that contradict others; zero except for "riccati", because
        all other QP solvers fail on such rows."""
        return self._model.unmet

    @property
    def infeasibility(self) -> float:
        """Largest violation of the constraints by the plan, at the measured values."""
        with self._program.lock:
            return violation(self._program, self._program.evaluator.constraints(self.x, self._parameters(self._values)))


def _check_options(qp: str, hessian: str, options: Mapping[str, Any]) -> None:
    """Raises ValueError for options that do not belong to this QP, and for a QP solver that is not installed."""
    label(qp, "rti: qp")
    if qp == RICCATI:
        wrong, remedy = sorted(set(options) - set(BARRIER_OPTIONS)), f"it takes {' and '.join(BARRIER_OPTIONS)}"
    else:
        wrong, remedy = sorted(set(options) & set(BARRIER_OPTIONS)), f"they belong to qp={RICCATI!r}"
    if wrong:
        raise ValueError(
            f"qp={repr_in_message(qp)} has no option {', '.join(wrong)}: {remedy}{suggestion(wrong[0], OPTIONS)}"
        )
    if qp != RICCATI:
        if qp not in QPS and (near := suggestion(qp, [RICCATI])):
            raise ValueError(f"rti: there is no QP solver {repr_in_message(qp)}{near}")
        try:
            check_qp(qp, hessian, **options)
        except ValueError as error:
            hints = [suggestion(name, OPTIONS) for name in options if name in str(error)]
            raise ValueError(f"{error}{''.join(hints[:1])}") from error


def rti(problem: Statement, start: Solution, **options: Any) -> RealTimeIteration:
    """The real-time iteration of a problem, from a solution of it; see `RealTimeIteration`.

    >>> control = ocp.rti(turn(ocp.TorqueSquared()), solution)
    >>> control.prepare()
    >>> round(float(control.feedback()[0]), 2)  # the first torque of the plan
    5.71
    """
    return RealTimeIteration(problem, start, **options)
