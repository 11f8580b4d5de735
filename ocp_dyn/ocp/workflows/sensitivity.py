"""Derivatives of a solution by the parameters of its problem: the implicit function theorem at the optimum.

If the multipliers of all active bounds and rows are not zero (strict complementarity), the same bounds and rows stay
active for small changes of p, and the first-order conditions, over the free entries of x and the active rows a,

    grad f + J_a' lam = 0,     g_a = bound,

give by differentiation [A. Fiacco, Introduction to Sensitivity and Stability Analysis in Nonlinear Programming, 1983]

    [ W    J_a' ] [ dx/dp   ]     [ d(grad f + J_a' lam)/dp ]
    [ J_a  0    ] [ dlam/dp ] = - [ d(g_a)/dp               ],     dJ/dp = d(f + lam' g)/dp,

with W the Hessian of the Lagrangian. Derivatives by x are exact, as in the solver; derivatives by p are central
differences of exact gradients. A bound that is active with a multiplier of zero has two one-sided derivatives: it is
treated as free. A variable that is in no row and in no cost keeps its value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.types import Array, Indices, is_one_of, repr_in_message, suggestion
from ..analysis.active_set import table_of
from ..nlp.blocks import numbers_of
from ..nlp.program import Assembled
from ..nlp.scatter import symmetric_nonzeros
from ..solution import Solution
from ..statement.periodic import ENTRIES
from ..statement.state.channels import MECHANICS
from ..statement.statement import Statement
from ..transcription.collect import collect
from ..transcription.variables import Transcription
from .attempt import prepare
from .parameter_values import by_name

DIFFERENCE_STEP = 1e-5
"""Step of the central differences, relative to a parameter above 1 and absolute below."""

REGULARIZATION, PENALTY = 1e-11, 10.0
"""The matrix that is factorized is [W + PENALTY J'J, J'; J, -REGULARIZATION]. For REGULARIZATION = 0 it has the same
solution; otherwise it is regular even if rows of J repeat others, as rows of walkers do. Refinement with the true
matrix removes the difference."""

REFINEMENTS = 8
"""Number of steps of iterative refinement."""

UNDETERMINED = 1e-6
"""The residual above which the active constraints leave a derivative undetermined."""


@dataclass(frozen=True, eq=False)
class Slope:
    """Derivatives by one entry of a parameter.

    They are derivatives of the objective, of the cost terms by name, of the duration [s], of step_length, sideways,
    rise [m] and turn [rad] of the step, and, in phases, of the arrays of every phase, by their names in `PhaseMotion`:
    t, q, qd, qdd, tau, lam, and the channels of components. x, lam_x, lam_g: derivatives of the program's variables and
    multipliers.

    >>> def ends(start, end):
    ...     return ca.vertcat(start.q, start.qd, end.q - end.values["angle"], end.qd), 0, 0
    >>> aim = ocp.Boundary(ends)
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> problem = ocp.Problem(wheel, [push], boundary=[aim], parameters=[ocp.Parameter("angle", 1.0)])
    >>> slope = ocp.sensitivities(problem, problem.solve(progress=False))["angle"]
    >>> slope.phases[0]["q"][-1].round(6)  # the last position moves with the angle
    array([1.])
    """

    objective: float
    cost: dict[str, float]
    duration: float
    step_length: float
    phases: tuple[dict[str, Array], ...]
    x: Array
    lam_x: Array
    lam_g: Array
    sideways: float = 0.0
    rise: float = 0.0
    turn: float = 0.0


@dataclass(frozen=True, eq=False)
class Sensitivities(Mapping[str, Any]):
    """`sensitivities["speed"]`: the Slope by a parameter of one entry, a list of Slopes by one of several.

    problem, solution: those that were differentiated. slopes: by parameter a list with a Slope for each of its entries.
    residual: relative residual of the linear system; above 1e-6 the active constraints leave the derivative
    undetermined.

    >>> def ends(start, end):
    ...     return ca.vertcat(start.q, start.qd, end.q - end.values["angle"], end.qd), 0, 0
    >>> aim = ocp.Boundary(ends)
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> problem = ocp.Problem(wheel, [push], boundary=[aim], parameters=[ocp.Parameter("angle", 1.0)])
    >>> found = ocp.sensitivities(problem, problem.solve(progress=False))
    >>> found.predict(angle=1.1).q[-1].round(6)
    array([1.1])
    """

    problem: Statement
    solution: Solution
    slopes: dict[str, list[Slope]]
    residual: float

    def __getitem__(self, name: str) -> Slope | list[Slope]:
        if name not in self.slopes:
            known = ", ".join(self.slopes) or "none"
            raise KeyError(f"no parameter {repr_in_message(name)}; there are {known}{suggestion(name, self.slopes)}")
        slopes = self.slopes[name]
        return slopes[0] if len(slopes) == 1 else slopes

    def __repr__(self) -> str:
        return f"Sensitivities by {', '.join(self.slopes) or 'no parameter'}; residual {self.residual:.1e}"

    def __iter__(self) -> Iterator[str]:
        return iter(self.slopes)

    def __len__(self) -> int:
        return len(self.slopes)

    def predict(self, **values: Any) -> Solution:
        """The solution for other parameter values, to first order; a good start for `solve(start=...)`.

        Names with a colon are given as `predict(**{"mass:torso": 9.0})`. ValueError if the derivatives are not
        determined.
        """
        if not self.residual <= UNDETERMINED:
            raise ValueError(
                f"the derivatives are not determined: the residual is {self.residual:.1e}, above {UNDETERMINED:.0e}; "
                "solve to a smaller tolerance, or give every variable a cost or a constraint"
            )
        t, program = prepare(self.problem)
        table = table_of(self.solution)
        p, iterate = table.values.copy(), {key: x.copy() for key, x in self.solution.iterate.items()}
        for name, value in by_name(values, self.problem).items():
            slopes = self[name]
            index = _entries(t, name)
            change = numbers_of(f"parameter {name!r}", value, index.size) - p[index]
            p[index] += change
            for slope, step in zip(slopes if isinstance(slopes, list) else [slopes], change, strict=True):
                iterate = {key: x + step * getattr(slope, key) for key, x in iterate.items()}
        stats = self.solution.stats | {"converged": False, "status": "Predicted_To_First_Order"}
        with _values(t, p):
            return replace(collect(t, program, iterate["x"], stats), iterate=iterate)


def sensitivities(problem: Statement, solution: Solution, *parameters: str) -> Sensitivities:
    """Derivatives of a converged solution of this problem by its parameters, or by the parameters that are named.

    Parameters are the declared parameters that are not free, and `speed` and the entries of the step, such as
    `step_length`, if they are numbers. ValueError for a solution that has not converged, or of another problem;
    KeyError for an unknown name. Costs one factorization.

    >>> def ends(start, end):
    ...     return ca.vertcat(start.q, start.qd, end.q - end.values["angle"], end.qd), 0, 0
    >>> aim = ocp.Boundary(ends)
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> problem = ocp.Problem(wheel, [push], boundary=[aim], parameters=[ocp.Parameter("angle", 1.0)])
    >>> slope = ocp.sensitivities(problem, problem.solve(progress=False))["angle"]
    >>> round(slope.objective, 1)  # the cost is 12 angle^2
    24.1
    """
    if not isinstance(solution, Solution):
        raise TypeError(
            f"sensitivities belong to a Solution, such as problem.solve() gives, got {repr_in_message(solution)}"
        )
    t, program = prepare(problem)
    table = table_of(solution)
    if not solution.converged:
        raise ValueError(f"sensitivities belong to an optimum, and this run ended with {solution.status}")
    if (table.variable.size, table.row.size) != (program.n, program.row_lower.size):
        raise ValueError(
            f"the solution has {table.variable.size} variables and {table.row.size} rows, the problem {program.n} and "
            f"{program.row_lower.size}: give the problem that was solved"
        )
    known = {name: _entries(t, name) for name in table.parameters}
    for name in parameters:
        if not is_one_of(name, known):
            names = ", ".join(known) or "none"
            raise KeyError(f"no parameter {repr_in_message(name)}; there are {names}{suggestion(name, known)}")
    system = _System.at(t, program, solution)
    chosen = {name: known[name] for name in parameters or known}
    slopes: dict[str, list[Slope]] = {}
    worst = 0.0
    for name, index in chosen.items():
        derivatives = [system.slope(int(k)) for k in index]
        slopes[name] = [
            _slope(t, program, solution, table.values, int(k), d) for k, d in zip(index, derivatives, strict=True)
        ]
        worst = max([worst, *(d.residual for d in derivatives)])
    return Sensitivities(problem, solution, slopes, worst)


class _ParameterDerivatives(NamedTuple):
    """Derivatives by one entry of p, and the relative residual of the linear system."""

    x: Array
    lam_x: Array
    lam_g: Array
    objective: float
    residual: float


@dataclass(frozen=True, eq=False)
class _System:
    """The linear system at an optimum: the matrix over the free entries of x and the active rows, and its factors."""

    program: Assembled
    x: Array
    lam_g: Array
    p: Array
    free: Indices
    rows: Indices
    W: DM
    J: DM
    matrix: DM
    factors: ca.Linsol

    @staticmethod
    def at(transcription: Transcription, program: Assembled, solution: Solution) -> _System:
        x, lam_x, lam_g = (solution.iterate[key] for key in ("x", "lam_x", "lam_g"))
        p, e = table_of(solution).values, program.evaluator
        lower, upper = transcription.program.x_lower, transcription.program.x_upper
        g = e.constraints(x, p).copy()
        rows = np.flatnonzero(
            (program.row_lower == program.row_upper) | _active(g, program.row_lower, program.row_upper, lam_g)
        )
        pattern, order = symmetric_nonzeros(e.hessian_pattern)
        W = DM(pattern, e.hessian(x, p, 1.0, lam_g)[order])
        J = DM(e.jacobian_pattern, e.jacobian(x, p).copy())
        appears = np.zeros(x.size, dtype=bool)  # a free place of a foot across the plane of a model is in no row
        appears[[*pattern.get_col(), *e.jacobian_pattern.get_col()]] = True
        free = np.flatnonzero((lower < upper) & appears & ~_active(x, lower, upper, lam_x))
        part = J[rows.tolist(), free.tolist()]
        top = W[free.tolist(), free.tolist()] + PENALTY * (part.T @ part)
        matrix = ca.sparsify(ca.blockcat([[top, part.T], [part, -REGULARIZATION * DM.eye(len(rows))]]))
        factors = ca.Linsol("kkt", "mumps", matrix.sparsity(), {"symmetric": True})
        factors.sfact(matrix)
        factors.nfact(matrix)
        return _System(program, x, lam_g, p, free, rows, W, J, matrix, factors)

    def slope(self, k: int) -> _ParameterDerivatives:
        """The derivatives by entry k of p."""
        gradient, rows, lagrangian = self._by_parameter(k)
        z, residual = self._solved(-gradient[self.free], -rows[self.rows])
        n, dx, dlam_g = len(self.free), np.zeros(self.x.size), np.zeros(self.lam_g.size)
        dx[self.free], dlam_g[self.rows] = z[:n], z[n:]
        dlam_x = -(gradient + np.array(self.W @ dx).ravel() + np.array(self.J.T @ dlam_g).ravel())
        dlam_x[self.free] = 0.0
        return _ParameterDerivatives(dx, dlam_x, dlam_g, lagrangian, residual)

    def _solved(self, top: Array, bottom: Array) -> tuple[Array, float]:
        """The solution for this right-hand side and its relative residual: the best of the refinements, which diverge
        if the matrix is singular."""
        n, free = len(self.free), self.free.tolist()
        W, J = self.W[free, free], self.J[self.rows.tolist(), free]
        size = max(1.0, float(np.linalg.norm([*top, *bottom])))
        z = best = np.zeros(n + len(self.rows))
        least = np.inf
        for _ in range(REFINEMENTS + 1):
            first = top - np.array(W @ z[:n] + J.T @ z[n:]).ravel()
            second = bottom - np.array(J @ z[:n]).ravel()
            residual = float(np.linalg.norm([*first, *second])) / size
            if residual < least:
                best, least = z, residual
            right = np.concatenate([first + PENALTY * np.array(J.T @ second).ravel(), second])
            z = z + np.array(self.factors.solve(self.matrix, DM(right))).ravel()
        return best, least

    def _by_parameter(self, k: int) -> tuple[Array, Array, float]:
        """Derivatives of the Lagrangian's gradient, of g and of the Lagrangian by p_k."""
        e, h = self.program.evaluator, DIFFERENCE_STEP * max(1.0, abs(self.p[k]))
        sides = []
        for sign in (1.0, -1.0):
            p = self.p.copy()
            p[k] += sign * h
            J = DM(e.jacobian_pattern, e.jacobian(self.x, p))
            g = e.constraints(self.x, p).copy()
            gradient = e.gradient(self.x, p) + np.array(J.T @ self.lam_g).ravel()
            sides.append((gradient, g, e.objective(self.x, p) + float(self.lam_g @ g)))
        (a, b, c), (a_, b_, c_) = sides
        return (a - a_) / (2 * h), (b - b_) / (2 * h), (c - c_) / (2 * h)


def _active(value: Array, lower: Array, upper: Array, lam: Array) -> Any:
    """Mask of the bounds whose multiplier is larger than the distance to them: these are active."""
    return (-lam > value - lower) | (lam > upper - value)


def _entries(transcription: Transcription, name: str) -> Indices:
    return next(p.index for p in transcription.program.parameters if p.name == name)


def _slope(
    transcription: Transcription, program: Assembled, solution: Solution, p: Array, k: int, d: _ParameterDerivatives
) -> Slope:
    """Turns derivatives of the program into derivatives of the motion, by central differences of collected
    solutions."""
    h = DIFFERENCE_STEP / max(1.0, float(np.abs(d.x).max(initial=0.0)))
    sides = []
    for sign in (h, -h):
        values = p.copy()
        values[k] += sign
        with _values(transcription, values):
            sides.append(collect(transcription, program, solution.iterate["x"] + sign * d.x, solution.stats))
    up, down = sides
    single = {name: (getattr(up, name) - getattr(down, name)) / (2 * h) for name in ("duration", *ENTRIES)}
    return Slope(
        **single,
        objective=d.objective,
        cost={name: (up.cost[name] - down.cost[name]) / (2 * h) for name in up.cost},
        phases=tuple(
            {"t": (a.t - b.t) / (2 * h)} | {name: (a[name] - b[name]) / (2 * h) for name in (*MECHANICS, *a.channels)}
            for a, b in zip(up.phases, down.phases, strict=True)
        ),
        x=d.x,
        lam_x=d.lam_x,
        lam_g=d.lam_g,
    )


@contextmanager
def _values(transcription: Transcription, p: Array) -> Iterator[None]:
    """Within this context the program has these values of its parameters."""
    before = transcription.program.values
    try:
        for parameter in transcription.program.parameters:
            transcription.program.set_value(parameter.name, p[parameter.index])
        yield
    finally:
        for parameter in transcription.program.parameters:
            transcription.program.set_value(parameter.name, before[parameter.index])
