"""The point of least violation near an iterate, by Gauss-Newton steps of IPOPT on the program's rows.

The violation of a program is phi(x) = |r|^2 / 2, where r are the distances of the rows g(x) from their bounds. A point in
the bounds of x where phi is stationary and positive is a certificate that the program is infeasible near it [Nocedal &
Wright, Numerical Optimization, 2006, 17.2]. The search is a Levenberg-Marquardt method whose steps are runs of IPOPT:

    minimize |r|^2 / 2 + damping / 2 |x - x0|^2   over x in its bounds, and r, such that lower <= g(x) + r <= upper

with the Gauss-Newton Hessian, from x0; a run that lessens phi moves x0 and divides the damping, another multiplies it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import casadi as ca
import numpy as np

from ..._types import Array
from ..nlp.assembled import Assembled, Numeric
from ..solvers.interface import SolverResult, Start
from ..solvers.nlpsol import run_nlpsol

DAMPINGS = (1e-6, 1e-3, 1.0)
"""Smallest, first and largest damping, for variables in the scale of the program."""

FACTOR = 30.0
"""Factor between the dampings of two runs."""

STEPS = 40
"""Largest number of iterations of one run."""

LITTLE = 0.1
"""Relative decrease of phi below which a run has found nothing better: x0 is then stationary if the run converged."""

STALL, RUNS = 0.01, 3
"""A point is stationary, too, if this number of converged runs, damped no more than the first, lessen phi by less than
this share in all."""

FREE = 1e-4
"""Damping at or below which a run that finds nothing better proves that x0 is stationary: the damping is then so small
that it holds no variable back."""

MET = 1e-3
"""Largest violation of a row, in its scale, at which a point counts as feasible: a solver does the rest."""

OPTIONS = {
    "print_level": 0,
    "sb": "yes",
    "tol": 1e-6,
    "mu_strategy": "adaptive",
    "nlp_scaling_method": "none",
    "mumps_pivot_order": 5,
    "mumps_permuting_scaling": 0,
}

Finding = Literal["feasible", "stationary", "open"]


@dataclass(frozen=True, eq=False)
class LeastViolation:
    """The best point of a search for feasibility.

    finding: "feasible", no row is violated by more than MET; "stationary", the violation cannot be lessened nearby;
    "open", the iterations did not suffice to tell. violation: phi(x). residual: distances r of the rows from their
    bounds. lam_x: multipliers of the bounds of x in CasADi's signs: the decrease of phi per unit by which a bound is
    moved outwards. iterations: used.
    """

    finding: Finding
    x: Array
    violation: float
    residual: Array
    lam_x: Array
    iterations: int


def residual(program: Assembled, g: Array) -> Array:
    """Distances of the rows g from their bounds: g + residual lies within them."""
    return np.asarray(np.clip(g, program.row_lower, program.row_upper) - g, dtype=np.float64)


def least_violation(program: Assembled, start: Start, x: Array, iterations: int) -> LeastViolation:
    """Searches for the point of least violation near x, with at most this number of IPOPT's iterations in all.

    start: parameters p, and bounds of x.
    """
    search = _Search(program, start)
    least, damping, most = DAMPINGS
    best = search.at(np.clip(x, start.lower, start.upper))
    used, ends = 0, [np.inf] * RUNS
    while used < iterations and np.abs(best.residual).max(initial=0.0) > MET:
        found, converged, count = search.run(best.x, damping, min(STEPS, iterations - used))
        used += max(count, 1)
        better = found.violation < (1 - LITTLE) * best.violation
        if not better and converged and damping <= FREE:
            end = found if found.violation < best.violation else replace(best, lam_x=found.lam_x)
            return replace(end, finding="stationary", iterations=used)
        lower = found.violation < best.violation
        best = found if lower else best
        ends += [best.violation] if converged and damping <= DAMPINGS[1] else []
        if best.violation > (1 - STALL) * ends[-RUNS]:
            return replace(best, finding="stationary", iterations=used)
        if better or converged:
            damping = max(least, damping / FACTOR)
        elif not lower:
            damping *= FACTOR
        if damping > most:
            break
    met = np.abs(best.residual).max(initial=0.0) <= MET
    return replace(best, finding="feasible" if met else "open", iterations=used)


class _Search:
    """The runs of IPOPT on a program with residuals: variables (x, r), rows g(x) + r."""

    def __init__(self, program: Assembled, start: Start) -> None:
        self.program, self.start = program, start
        n, m, dense = program.n, program.row_lower.size, ca.Sparsity.dense
        jacobian = ca.horzcat(program.evaluator.jacobian_pattern, ca.Sparsity.diag(m))
        self._center, self._damping = np.zeros(n), 0.0
        f, g = {"f": dense(1, 1)}, {"g": dense(m, 1)}

        def numeric(name: str, outputs: dict[str, ca.Sparsity], *compute: Callable[..., Any], **more: Any) -> Numeric:
            point = {"x": dense(n + m, 1), "p": dense(0, 1)}
            return Numeric(f"least_{name}", point | more, outputs, lambda z: [partial(one, z) for one in compute])

        fg = numeric("fg", f | g, self._f, self._g)
        grad = numeric("grad", f | {"grad_f_x": dense(n + m, 1)}, self._f, self._gradient)
        jac = numeric("jac", g | {"jac_g_x": jacobian}, self._g, self._jacobian)
        hessian = {"triu_hess_gamma_x_x": ca.Sparsity.diag(n + m)}
        hess = numeric("hess", hessian, self._hessian, lam_f=dense(1, 1), lam_g=dense(m, 1))
        z, p = ca.MX.sym("z", n + m), ca.MX.sym("p", 0)
        cost, rows = fg.call([z, p])
        self._functions = fg, grad, jac, hess  # kept alive: the solver refers to them
        self._problem = {"x": z, "p": p, "f": cost, "g": rows}

    def _g(self, arguments: list[Array]) -> Array:
        x, r = np.split(arguments[0], [self.program.n])
        return np.asarray(self.program.evaluator.constraints(x, self.start.p) + r, dtype=np.float64)

    def _jacobian(self, arguments: list[Array]) -> Array:
        x, r = np.split(arguments[0], [self.program.n])
        return np.concatenate([self.program.evaluator.jacobian(x, self.start.p), np.ones(r.size)])

    def _f(self, arguments: list[Array]) -> float:
        x, r = np.split(arguments[0], [self.program.n])
        away = x - self._center
        return float(r @ r + self._damping * (away @ away)) / 2

    def _gradient(self, arguments: list[Array]) -> Array:
        x, r = np.split(arguments[0], [self.program.n])
        return np.concatenate([self._damping * (x - self._center), r])

    def _hessian(self, arguments: list[Array]) -> Array:
        x, r = np.split(arguments[0], [self.program.n])
        return np.asarray(arguments[2][0] * np.concatenate([np.full(x.size, self._damping), np.ones(r.size)]))

    def at(self, x: Array, lam_x: Array | None = None) -> LeastViolation:
        """The violation at x."""
        r = residual(self.program, self.program.evaluator.constraints(x, self.start.p))
        phi = float(r @ r) / 2 if np.all(np.isfinite(r)) else np.inf
        return LeastViolation("open", x, phi, r, np.zeros(x.size) if lam_x is None else lam_x, 0)

    def run(self, x: Array, damping: float, iterations: int) -> tuple[LeastViolation, bool, int]:
        """The end of a run from x with this damping, whether it converged, and its number of iterations."""
        n, m = self.program.n, self.program.row_lower.size
        self._center, self._damping = x, damping
        _, grad, jac, hess = self._functions
        options: dict[str, Any] = {
            "ipopt": OPTIONS | {"max_iter": iterations},
            "no_nlp_grad": True,
            "calc_lam_p": False,
        }
        options |= {"grad_f": grad, "jac_g": jac, "hess_lag": hess}
        free, nothing = np.full(m, np.inf), np.zeros(0)
        begin = np.concatenate([x, self.at(x).residual])
        lower, upper = (
            np.concatenate([bound, side]) for bound, side in ((self.start.lower, -free), (self.start.upper, free))
        )
        rows = self.program.row_lower, self.program.row_upper
        result: SolverResult = run_nlpsol("ipopt", self._problem, options, rows, Start(begin, nothing, lower, upper))
        end = np.clip(result.x[:n], self.start.lower, self.start.upper)
        return self.at(end, result.lam_x[:n]), result.converged, result.iterations
