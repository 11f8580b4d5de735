"""Sequential quadratic programming, with a QP solver of CasADi.

At x with multipliers lam, the step d minimizes the quadratic model under the linearized constraints,

    min d' B d / 2 + grad_f' d   with   lower_g <= g + J d <= upper_g,   lower_x <= x + d <= upper_x,

with B the Hessian of the Lagrangian, or the Gauss-Newton Hessian of the objective. The step is corrected or shortened
until the merit function f + nu |violation|_1 falls (Nocedal & Wright, Numerical Optimization, 2006, algorithm 18.3).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..._base.on_arrays import in_place
from ..._base.types import Array, Indices, repr_in_message, suggestion
from ..nlp.assembled import Assembled
from ..nlp.scatter import chosen_nonzeros, symmetric_nonzeros
from ..nlp.stage_orders import StageOrder
from .interface import MakeOrder, SolverResult, SolverSettings, Start
from .monitor import Monitor, violation

HESSIANS = ("exact", "gauss-newton")
SHORTEST_STEP = 0.1
"""The shortest step that is tried, as a fraction of the QP's step."""

FIRST_REGULARIZATION, LARGEST_REGULARIZATION = 1e-4, 1e8
"""First number that is added to the diagonal of B if the QP cannot be solved without it, and the limit at which the
solver gives up."""

CORRECTIONS = 4
"""Largest number of second-order corrections of a step."""

MERITS_KEPT = 4
"""Number of last iterates with whose largest merit a step is compared: a monotone search rejects good full steps."""

STAGEWISE_QPS = ("hpipm",)
"""QP solvers that need a sequence of stages."""

QP_OPTIONS: dict[str, dict[str, Any]] = {
    "qrqp": {"print_iter": False, "print_header": False, "print_info": False},
    "qpoases": {"printLevel": "none"},
    "osqp": {"osqp": {"verbose": False}},
}
"""Options of every QP of these solvers; options of the user come before them."""


QPS = ("piqp", "qrqp", "qpoases", "osqp", "proxqp", "hpipm", "highs", "daqp", "ipqp", "nlpsol")
"""Names of QP solvers that CasADi knows, for messages; an installation need not have all."""


def check_qp(qp: str = "piqp", hessian: str = "exact", **options: Any) -> None:
    """Raises ValueError for a QP solver that is not installed, for options that it refuses, and for an unknown
    Hessian."""
    if not isinstance(hessian, str) or hessian not in HESSIANS:
        known = " or ".join(map(repr, HESSIANS))
        raise ValueError(f"hessian is {known}, got {repr_in_message(hessian)}{suggestion(hessian, HESSIANS)}")
    if not (isinstance(qp, str) and ca.has_conic(qp)):
        raise ValueError(
            f"there is no QP solver {repr_in_message(qp)} in this installation of CasADi: use 'piqp' or "
            f"'qrqp'{suggestion(qp, QPS)}"
        )
    if not options or qp in STAGEWISE_QPS:
        return
    one = ca.Sparsity.dense(1, 1)
    try:
        ca.conic("probe", qp, {"h": one, "a": one}, {"print_time": False} | QP_OPTIONS.get(qp, {}) | options)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        raise ValueError(f"the QP solver {qp!r} refuses: {_refusal(error)}") from error


def check_sqp_options(options: Mapping[str, Any]) -> None:
    """Raises ValueError for options that `solve_by_sqp` refuses."""
    check_qp(**dict(options))


class QuadraticModel:
    """The QP at a point of a program: linearized once, solved for any values of the constraints.

    hessian: "exact", the Hessian of the Lagrangian; or "gauss-newton", the Hessian of the objective alone, without the
    curvature of residuals in sums of squares. The latter needs no multipliers; it is positive semidefinite if the
    objective is a sum of squares. order: of the stages, for QP solvers that need one. unmet: 0, see `RiccatiModel`.
    """

    unmet = 0.0

    def __init__(
        self, program: Assembled, qp: str, hessian: str, options: dict[str, Any], order: StageOrder | None = None
    ) -> None:
        check_qp(qp, hessian)
        self._program, self._exact = program, hessian == "exact"
        n, m, e = program.n, program.row_lower.size, program.evaluator
        self._x, self._g = (order.columns, order.rows) if order is not None else (np.arange(n), np.arange(m))
        self._h_order, self._diagonal, h = _with_diagonal(e.hessian_pattern, self._x)
        a, self._a_order = chosen_nonzeros(e.jacobian_pattern, self._g, self._x)
        self._rows, self._columns = (np.array(k, dtype=int) for k in a.get_triplet())
        settings = {"print_time": False, "error_on_fail": False} | QP_OPTIONS.get(qp, {}) | options
        settings |= order.options if order is not None else {}
        try:
            self._qp = ca.conic("qp", qp, {"h": h, "a": a}, settings)
        except RuntimeError as error:
            raise ValueError(f"the QP solver {qp!r} refuses: {_refusal(error)}") from error
        self._inputs = {name: np.zeros(self._qp.nnz_in(name)) for name in self._qp.name_in()}
        self._outputs = {name: np.zeros(self._qp.nnz_out(name)) for name in self._qp.name_out()}
        self._memory = int(self._qp.checkout())  # the buffer will use this memory
        self._qp.release(self._memory)
        self._solve = in_place(self._qp, list(self._inputs.values()), list(self._outputs.values()))
        self._hessian = self._inputs["h"].copy()

    def linearize(self, x: Array, p: Array, lam_g: Array) -> None:
        """Computes the derivatives at x."""
        e = self._program.evaluator
        self.gradient = e.gradient(x, p)
        self._inputs["g"][:] = self.gradient[self._x]
        self._inputs["a"][:] = e.jacobian(x, p)[self._a_order]
        values = e.hessian(x, p, 1.0, lam_g) if self._exact else e.gauss_newton(x, p, 1.0)
        np.take(
            np.append(values, 0.0), self._h_order, out=self._hessian
        )  # zero for entries of the diagonal that the pattern lacks

    def slope(self, lam_x: Array, lam_g: Array) -> Array:
        """The gradient of the Lagrangian by the variables of the QP."""
        weights = self._inputs["a"] * lam_g[self._g][self._rows]
        return self._inputs["g"] + np.bincount(self._columns, weights, self._x.size) + lam_x[self._x]

    def change(self, d: Array) -> Array:
        """J d: the change of the constraints by a step d, to first order."""
        found = np.zeros(self._program.row_lower.size)
        found[self._g] = np.bincount(self._rows, self._inputs["a"] * d[self._x][self._columns], self._g.size)
        return found

    def step(
        self, g: Array, lower: Array, upper: Array, start: tuple[Array, Array], regularization: float = 0.0
    ) -> tuple[Array, Array, Array, bool]:
        """(d, lam_x, lam_g, solved) for constraint values g; lower, upper: bounds of d; start: multipliers."""
        program, x, rows = self._program, self._x, self._g
        values = {"h": self._hessian, "lba": (program.row_lower - g)[rows], "uba": (program.row_upper - g)[rows]}
        values |= {"lbx": lower[x], "ubx": upper[x], "lam_x0": start[0][x], "lam_a0": start[1][rows]}
        for name, value in values.items():
            self._inputs[name][:] = value
        self._inputs["h"][self._diagonal] += regularization
        self._solve()
        d, lam_x, lam_g = np.zeros(program.n), np.zeros(program.n), np.zeros(program.row_lower.size)
        d[x], lam_x[x], lam_g[rows] = self._outputs["x"], self._outputs["lam_x"], self._outputs["lam_a"]
        solved = bool(self._qp.stats(self._memory)["success"]) and all(
            np.all(np.isfinite(z)) for z in (d, lam_x, lam_g)
        )
        return d, lam_x, lam_g, solved


def _refusal(error: Exception) -> str:
    """CasADi's message in one line: the unknown option if it names one, else its last line."""
    lines = str(error).strip().splitlines()
    unknown = [line[line.index("Unknown option") :] for line in lines if "Unknown option" in line]
    return (unknown or lines[-1:])[0][:300]


def _with_diagonal(half: ca.Sparsity, chosen: Indices) -> tuple[Indices, Indices, ca.Sparsity]:
    """The symmetric matrix with this upper half, of its chosen rows and columns, with a full diagonal.

    Returns for every nonzero the index of the half's nonzero that it equals (one past the last: zero), the indices of
    the diagonal, and the pattern.
    """
    symmetric, source = symmetric_nonzeros(half, chosen)
    pattern = symmetric + ca.Sparsity.diag(chosen.size)
    row, column = (np.array(k, dtype=int) for k in pattern.get_triplet())
    keys, known = ((np.array(c) * chosen.size + np.array(r)) for r, c in ((row, column), symmetric.get_triplet()))
    order = np.full(pattern.nnz(), half.nnz())
    order[np.searchsorted(keys, known)] = source
    return order, np.flatnonzero(row == column), pattern


def solve_by_sqp(
    program: Assembled, make_order: MakeOrder, start: Start, settings: SolverSettings, monitor: Monitor
) -> SolverResult:
    """Solves a program by full or shortened QP steps; options: qp (CasADi's name), hessian, and options of the QP
    solver."""
    options = dict(settings.options)
    qp = options.pop("qp", "piqp")
    order = make_order() if qp in STAGEWISE_QPS else None
    model = QuadraticModel(program, qp, options.pop("hessian", "exact"), options, order)
    p = start.p
    x = np.clip(start.x, start.lower, start.upper)
    lam_x = start.lam_x if start.lam_x is not None else np.zeros(program.n)
    lam_g = start.lam_g if start.lam_g is not None else np.zeros(program.row_lower.size)
    search, status = _LineSearch(program, model, start), "Maximum_Iterations_Exceeded"
    at = _QpIterate(x, *_values(program, x, p), lam_x, lam_g)
    for iteration in range(settings.max_iterations + 1):
        model.linearize(at.x, p, at.lam_g)
        scale = max(1.0, float(np.max(np.abs(at.lam_g), initial=0.0)) / 100)
        slacks = (
            _slack(at.lam_g, at.g, program.row_lower, program.row_upper),
            _slack(at.lam_x, at.x, start.lower, start.upper),
        )
        residual = max(float(np.max(np.abs(model.slope(at.lam_x, at.lam_g)), initial=0.0)), *slacks)
        if monitor.see(at.x, at.f, at.g, at.lam_x, at.lam_g):
            status = "Interrupted"
            break
        if residual < settings.tolerance * scale and violation(program, at.g) < settings.tolerance:
            return SolverResult(at.x, at.lam_x, at.lam_g, "Solve_Succeeded", True, iteration)
        if iteration == settings.max_iterations:
            break
        ahead = search.advance(at)
        if ahead is None:
            lost = search.regularization >= LARGEST_REGULARIZATION
            status = "Search_Direction_Becomes_Too_Small" if lost else "Infeasible_QP"
            break
        at = ahead
    return SolverResult(at.x, at.lam_x, at.lam_g, status, False, iteration)


class _QpIterate(NamedTuple):
    """A point x, the objective f and the rows g there, and multipliers."""

    x: Array
    f: float
    g: Array
    lam_x: Array
    lam_g: Array


class _QpStep(NamedTuple):
    """The solution of a QP: the step, and the multipliers after it."""

    d: Array
    lam_x: Array
    lam_g: Array


class _LineSearch:
    """The step from an iterate to the next one, which lowers the merit function.

    A QP's step is taken whole if it lowers the merit; corrected to second order if the curvature of the rows spoils it;
    else shortened; and if no part of it helps, the QP is solved again with more regularization. Without enough of it, a
    QP that is not convex has a far stationary point, whatever the start.
    """

    def __init__(self, program: Assembled, model: QuadraticModel, start: Start) -> None:
        self._program, self._model, self._start = program, model, start
        self._seen: deque[tuple[float, float]] = deque(maxlen=MERITS_KEPT)
        self._penalty = 0.0
        self.regularization = 0.0
        """Number that is added to the diagonal of B."""

    def advance(self, at: _QpIterate) -> _QpIterate | None:
        """The next iterate; None if the QP cannot be solved, or if no step lowers the merit."""
        self._seen.append((at.f, _violations(self._program, at.g)))
        while True:
            step = self._regularized(at)
            if step is None:
                return None
            self._penalty = max(self._penalty, 1.1 * float(np.max(np.abs(step.lam_g), initial=0.0)))
            slope = float(self._model.gradient @ step.d)
            ahead = self._whole_step(at, step, slope)
            if ahead is not None:
                self.regularization /= 10
                return ahead
            self.regularization = max(10 * self.regularization, FIRST_REGULARIZATION)
            ahead = self._shortened(at, step, slope)
            if ahead is not None:
                return ahead

    def _regularized(self, at: _QpIterate) -> _QpStep | None:
        """The QP's step, with the least tried regularization for which the QP can be solved; None if there is none."""
        weight = self.regularization if self.regularization > FIRST_REGULARIZATION / 100 else 0.0
        while weight < LARGEST_REGULARIZATION:
            step = self._solved(at, at.g, (at.lam_x, at.lam_g), weight)
            if step is not None:
                self.regularization = weight
                return step
            weight = max(10 * weight, FIRST_REGULARIZATION)
        return None

    def _solved(self, at: _QpIterate, g: Array, start: tuple[Array, Array], weight: float) -> _QpStep | None:
        """The step of the QP at an iterate for the values g of the rows, from multipliers `start`; None if the QP
        solver fails."""
        lower, upper = self._start.lower - at.x, self._start.upper - at.x
        d, lam_x, lam_g, solved = self._model.step(g, lower, upper, start, weight)
        return _QpStep(d, lam_x, lam_g) if solved else None

    def _whole_step(self, at: _QpIterate, step: _QpStep, slope: float) -> _QpIterate | None:
        """The iterate after the whole step, or after the step with second-order corrections; None if neither lowers the
        merit.

        A correction solves the QP again, with the values that the rows have after the step, less their linear change
        (Nocedal & Wright, section 18.3). It is worth another one while each leaves less than half of the violation.
        """
        left = np.inf
        for _ in range(CORRECTIONS + 1):
            ahead = self._after(at, step, 1.0)
            if self._lower(ahead, 1.0, slope):
                return ahead
            violated = _violations(self._program, ahead.g)
            if not violated < left / 2:
                return None
            left = violated
            values = ahead.g - self._model.change(step.d)
            corrected = self._solved(at, values, (step.lam_x, step.lam_g), self.regularization)
            if corrected is None:
                return None
            step = corrected
        return None

    def _shortened(self, at: _QpIterate, step: _QpStep, slope: float) -> _QpIterate | None:
        """The iterate after the longest part of the step that lowers the merit, of a half, a quarter and so on."""
        length = 0.5
        while length > SHORTEST_STEP:
            ahead = self._after(at, step, length)
            if self._lower(ahead, length, slope):
                return ahead
            length /= 2
        return None

    def _after(self, at: _QpIterate, step: _QpStep, length: float) -> _QpIterate:
        x = np.clip(at.x + length * step.d, self._start.lower, self._start.upper)
        lam_x = at.lam_x + length * (step.lam_x - at.lam_x)
        lam_g = at.lam_g + length * (step.lam_g - at.lam_g)
        return _QpIterate(x, *_values(self._program, x, self._start.p), lam_x, lam_g)

    def _lower(self, ahead: _QpIterate, length: float, slope: float) -> bool:
        """Whether the merit at an iterate is far enough below its largest value at the last ones. slope: of the
        objective along the step, of which a fraction `length` leads there."""
        penalty = self._penalty
        merit = max(f + penalty * violated for f, violated in self._seen)
        fall = min(slope - penalty * self._seen[-1][1], 0.0)
        value = ahead.f + penalty * _violations(self._program, ahead.g)
        return bool(value <= merit + 1e-4 * length * fall + 1e-10 * (1.0 + abs(merit)))


def _values(program: Assembled, x: Array, p: Array) -> tuple[float, Array]:
    return program.evaluator.objective(x, p), program.evaluator.constraints(x, p).copy()


def _slack(lam: Array, value: Array, lower: Array, upper: Array) -> float:
    """Complementarity error: the largest of min(|lam|, d, |lam| d), where d is the distance to the bound to which lam
    belongs.

    An interior-point method for QPs, like IPOPT, ends at a small product. Where a bound is hardly active, |lam| and d
    are then both of the size of its root: no step of such a QP would lower min(|lam|, d) below that.
    """
    size, distance = np.abs(lam), np.maximum(np.where(lam > 0, upper - value, value - lower), 0.0)
    return float(np.max(np.minimum(np.minimum(size, distance), size * np.minimum(distance, 1.0)), initial=0.0))


def _violations(program: Assembled, g: Array) -> float:
    """The sum of all violations of the rows' bounds."""
    return float(np.sum(np.maximum(np.maximum(program.row_lower - g, g - program.row_upper), 0.0)))
