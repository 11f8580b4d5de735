"""Sequential quadratic programming, with a QP solver of CasADi.

At x with multipliers lam, the step d minimizes the quadratic model under the linearized constraints,

    min d' B d / 2 + grad_f' d   with   lower_g <= g + J d <= upper_g,   lower_x <= x + d <= upper_x,

with B the Hessian of the Lagrangian, or the Gauss-Newton Hessian of the objective. The step is shortened until the
merit function f + nu |violation|_1 falls (Nocedal & Wright, Numerical Optimization, 2006, algorithm 18.3).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, cast

import casadi as ca
import numpy as np

from ..._types import Array, Indices, meant, shown
from ..nlp.assembled import Assembled
from ..nlp.scatter import chosen_nonzeros, symmetric_nonzeros
from ..nlp.stage_orders import StageOrder
from .interface import Orders, Settings, SolverResult, Start
from .monitor import Monitor, violation

HESSIANS = ("exact", "gauss-newton")
SHORTEST_STEP = 0.01
"""The shortest step that is tried, as a fraction of the QP's step."""

FIRST_REGULARIZATION, LARGEST_REGULARIZATION = 1e-4, 1e8
"""First number that is added to the diagonal of B if the QP cannot be solved without it, and the limit at which the
solver gives up."""

MERITS_KEPT = 4
"""Number of last iterates with whose largest merit a step is compared: a monotone search rejects good full steps."""

CHAIN_QPS = ("hpipm",)
"""QP solvers that need a chain of stages."""

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
        raise ValueError(f"hessian is {known}, got {shown(hessian)}{meant(hessian, HESSIANS)}")
    if not (isinstance(qp, str) and ca.has_conic(qp)):
        raise ValueError(
            f"there is no QP solver {shown(qp)} in this installation of CasADi: use 'piqp' or 'qrqp'{meant(qp, QPS)}"
        )
    if not options or qp in CHAIN_QPS:
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
    objective is a sum of squares. order: of the stages, for QP solvers that need a chain.
    """

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
        self._connect()
        self._hessian = self._inputs["h"].copy()

    def _connect(self) -> None:
        """Makes the arrays that the QP solver reads and writes in place."""
        self._inputs = {name: np.zeros(self._qp.nnz_in(name)) for name in self._qp.name_in()}
        self._outputs = {name: np.zeros(self._qp.nnz_out(name)) for name in self._qp.name_out()}
        self._memory = int(self._qp.checkout())  # the buffer will use this memory
        self._qp.release(self._memory)
        pair: Any = self._qp.buffer()
        self._buffer, self._solve = pair
        for i, name in enumerate(self._qp.name_in()):
            self._buffer.set_arg(i, memoryview(cast(Any, self._inputs[name])))
        for i, name in enumerate(self._qp.name_out()):
            self._buffer.set_res(i, memoryview(cast(Any, self._outputs[name])))

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

    def step(
        self, g: Array, lower: Array, upper: Array, regularization: float, start: tuple[Array, Array]
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
    program: Assembled, orders: Orders, start: Start, settings: Settings, monitor: Monitor
) -> SolverResult:
    """Solves a program by full or shortened QP steps; options: qp (CasADi's name), hessian, and options of the QP
    solver."""
    options = dict(settings.options)
    qp = options.pop("qp", "piqp")
    order = orders.unshared() if qp in CHAIN_QPS else None
    model = QuadraticModel(program, qp, options.pop("hessian", "exact"), options, order)
    p = start.p
    x = np.clip(start.x, start.lower, start.upper)
    lam_x = start.lam_x if start.lam_x is not None else np.zeros(program.n)
    lam_g = start.lam_g if start.lam_g is not None else np.zeros(program.row_lower.size)
    penalty, regularization, status = 0.0, 0.0, "Maximum_Iterations_Exceeded"
    seen: deque[tuple[float, float]] = deque(maxlen=MERITS_KEPT)
    f, g = _values(program, x, p)
    for iteration in range(settings.max_iterations + 1):
        model.linearize(x, p, lam_g)
        scale = max(1.0, float(np.max(np.abs(lam_g), initial=0.0)) / 100)
        slack = _slack(lam_g, g, program.row_lower, program.row_upper), _slack(lam_x, x, start.lower, start.upper)
        residual = max(float(np.max(np.abs(model.slope(lam_x, lam_g)), initial=0.0)), *slack)
        if monitor.see(x, f, g, lam_x, lam_g):
            status = "Interrupted"
            break
        if residual < settings.tolerance * scale and violation(program, g) < settings.tolerance:
            return SolverResult(x, lam_x, lam_g, "Solve_Succeeded", True, iteration)
        if iteration == settings.max_iterations:
            break
        seen.append((f, _violations(program, g)))
        length = 0.0
        while length == 0.0:  # no step lowers the merit: with more regularization d turns to the gradient
            regularized = _regularized(model, g, start.lower - x, start.upper - x, regularization, (lam_x, lam_g))
            if regularized is None:
                break
            d, new_x, new_g, regularization = regularized
            penalty = max(penalty, 1.1 * float(np.max(np.abs(new_g), initial=0.0)))
            length, f, g = _search(program, x, p, d, float(model.gradient @ d), list(seen), penalty)
            regularization = regularization / 10 if length else max(10 * regularization, FIRST_REGULARIZATION)
        if regularized is None:
            status = (
                "Search_Direction_Becomes_Too_Small" if regularization >= LARGEST_REGULARIZATION else "Infeasible_QP"
            )
            break
        x = np.clip(x + length * d, start.lower, start.upper)
        lam_x, lam_g = lam_x + length * (new_x - lam_x), lam_g + length * (new_g - lam_g)
    return SolverResult(x, lam_x, lam_g, status, False, iteration)


def _regularized(
    model: QuadraticModel, g: Array, lower: Array, upper: Array, first: float, start: tuple[Array, Array]
) -> tuple[Array, Array, Array, float] | None:
    """(d, lam_x, lam_g, weight): the QP's step, with the least tried multiple of the identity, weight, added to B for
    which the QP can be solved; None if there is none."""
    weight = first if first > FIRST_REGULARIZATION / 100 else 0.0
    while weight < LARGEST_REGULARIZATION:
        d, lam_x, lam_g, solved = model.step(g, lower, upper, weight, start)
        if solved:
            return d, lam_x, lam_g, weight
        weight = max(10 * weight, FIRST_REGULARIZATION)
    return None


def _search(
    program: Assembled, x: Array, p: Array, d: Array, slope: float, seen: list[tuple[float, float]], penalty: float
) -> tuple[float, float, Array]:
    """Length of a step along d for which the merit function falls below its largest value in `seen` (0: none), and the
    values of f and g after the step.

    seen: f and the sum of violations at the last iterates.
    """
    merit = max(f + penalty * violated for f, violated in seen)
    slope = min(slope - penalty * seen[-1][1], 0.0)
    length = 1.0
    while length > SHORTEST_STEP:
        f, g = _values(program, x + length * d, p)
        value = f + penalty * _violations(program, g)
        if np.isfinite(value) and value <= merit + 1e-4 * length * slope + 1e-10 * (1.0 + abs(merit)):
            return length, f, g
        length /= 2
    return 0.0, *_values(program, x, p)


def _values(program: Assembled, x: Array, p: Array) -> tuple[float, Array]:
    return program.evaluator.objective(x, p), program.evaluator.constraints(x, p).copy()


def _slack(lam: Array, value: Array, lower: Array, upper: Array) -> float:
    """Complementarity error: the largest of min(|lam|, distance to the bound to which lam belongs)."""
    distance = np.where(lam > 0, upper - value, value - lower)
    return float(np.max(np.minimum(np.abs(lam), np.maximum(distance, 0.0)), initial=0.0))


def _violations(program: Assembled, g: Array) -> float:
    """The sum of all violations of the rows' bounds."""
    return float(np.sum(np.maximum(np.maximum(program.row_lower - g, g - program.row_upper), 0.0)))
