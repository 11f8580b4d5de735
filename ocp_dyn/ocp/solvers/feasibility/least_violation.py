"""The point of least violation near an iterate, by proximal steps of IPOPT on the program's rows.

The violation of a program is phi(x) = |r|^2 / 2, where r are the distances of the rows g(x) from their bounds. A point
in the bounds of x where phi is stationary and positive is a certificate that the program is infeasible near it [Nocedal
& Wright, Numerical Optimization, 2006, 17.2]. The search is a proximal-point method whose steps are runs of IPOPT:

    minimize |r|^2 / 2 + damping / 2 |x - x0|^2   over x in its bounds, and r, such that lower <= g(x) + r <= upper

The first run, with the largest damping, has the Gauss-Newton Hessian; the others have the exact one, with which IPOPT
leaves saddles, and less and less damping. A damped run ends where phi still falls: so a point counts as stationary only
if its slopes prove that, see `certified`. Long and nearly flat valleys, at whose far end a motion is, are no proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import casadi as ca
import numpy as np

from ...._base.types import Array
from ...nlp.assembled import Assembled, Numeric
from ..interface import SolverResult, Start
from ..nlpsol import run_nlpsol

ROUGH, DAMPINGS = 1e-3, (1e-6, 1e-8, 1e-10, 1e-12)
"""Damping of the first run, and of the others, for variables in the scale of the program."""

STEPS = 40, 100
"""Largest numbers of iterations of the first run, and of any other."""

RADIUS = 10.0
"""Half the width of the box around a point, in the scale of the program, in which it has to be the least."""

LITTLE = 0.5
"""A run that lowers phi below this share is followed by another one with less damping."""

CERTIFIED = 0.5
"""Least share of phi that is left at every point of that box, by the slopes there, if a point counts as stationary."""

MET = 1e-3
"""Largest violation of a row, in its scale, at which a point counts as feasible: a solver does the rest."""

OPTIONS = {
    "print_level": 0,
    "sb": "yes",
    "tol": 1e-9,
    "mu_strategy": "adaptive",
    "nlp_scaling_method": "none",
    "mumps_pivot_order": 5,
    "mumps_permuting_scaling": 0,
}

Finding = Literal["feasible", "stationary", "open"]


@dataclass(frozen=True, eq=False)
class LeastViolation:
    """The best point of a search for feasibility.

    finding: "feasible", no row is violated by more than MET; "stationary", a run with the exact Hessian converged
    there, and slopes leave at least half of the violation within RADIUS; "open", neither. violation: phi(x). residual:
    distances r of the rows from their bounds. lam_x: multipliers of the bounds of x in CasADi's signs: the decrease of
    phi per unit by which a bound is moved outwards. iterations: used.
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


def certified(program: Assembled, start: Start, x: Array, pull: Array) -> float:
    """A lower bound of phi in a box of half width RADIUS around x for the rows linearized at x; 0 if there is none.

    pull: multipliers of the rows, positive where g is to grow. Farkas' lemma: no step d in the box closes the gap of
    the rows weighted by `pull` if gap = pull' (bounds - g) - max pull' J d is positive; then phi >= gap^2 / (2
    |pull|^2).
    """
    g = program.evaluator.constraints(x, start.p)
    bound = np.where(pull > 0, program.row_lower, program.row_upper)
    pull = np.where(np.isfinite(bound), pull, 0.0)
    jacobian = ca.DM(program.evaluator.jacobian_pattern, program.evaluator.jacobian(x, start.p))
    slope = np.array(jacobian.T @ pull).ravel()
    room = np.minimum(np.where(slope > 0, start.upper - x, x - start.lower), RADIUS)
    gap = pull @ (np.where(np.isfinite(bound), bound, 0.0) - np.where(pull != 0, g, 0.0)) - np.abs(slope) @ room
    return float(max(gap, 0.0) ** 2 / max(2 * (pull @ pull), 1e-300))


def least_violation(program: Assembled, start: Start, x: Array, iterations: int) -> LeastViolation:
    """Searches for the point of least violation near x, with at most this number of IPOPT's iterations in all.

    start: parameters p, and bounds of x.
    """
    search = _ViolationSearch(program, start)
    best = search.at(np.clip(x, start.lower, start.upper))
    used, stationary = 0, False
    for damping in (ROUGH, *DAMPINGS):
        if used >= iterations or np.abs(best.residual).max(initial=0.0) <= MET:
            break
        exact = damping < ROUGH
        found, converged, pull, count = search.run(best.x, damping, min(STEPS[exact], iterations - used), exact)
        used += max(count, 1)
        lower = found.violation < LITTLE * best.violation
        best = found if found.violation < best.violation else best
        stationary = exact and converged and not lower
        stationary &= certified(program, start, found.x, pull) >= CERTIFIED * best.violation
        if stationary:
            break
    met = np.abs(best.residual).max(initial=0.0) <= MET
    return replace(best, finding="feasible" if met else "stationary" if stationary else "open", iterations=used)


class _ViolationSearch:
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
        diagonal, full = ca.Sparsity.diag(n + m), self._full_pattern(n, m)
        multipliers = {"lam_f": dense(1, 1), "lam_g": dense(m, 1)}
        gauss = numeric("gauss", {"triu_hess_gamma_x_x": diagonal}, self._gauss, **multipliers)
        exact = numeric("exact", {"triu_hess_gamma_x_x": full}, self._exact, **multipliers)
        z, p = ca.MX.sym("z", n + m), ca.MX.sym("p", 0)
        cost, rows = fg.call([z, p])
        self._functions = fg, grad, jac, gauss, exact  # kept alive: the solver refers to them
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

    def _full_pattern(self, n: int, m: int) -> ca.Sparsity:
        """Pattern of the exact Hessian; sets the places of the program's Hessian and of the diagonal in it."""
        own = self.program.evaluator.hessian_pattern
        full = ca.diagcat(own + ca.Sparsity.diag(n), ca.Sparsity.diag(m))
        places = np.array(full.get_col(), dtype=int) * (n + m) + np.array(full.row(), dtype=int)  # ascending
        mine = np.array(own.get_col(), dtype=int) * (n + m) + np.array(own.row(), dtype=int)
        self._own, self._size = np.searchsorted(places, mine), places.size
        self._diagonal = np.searchsorted(places, np.arange(n + m) * (n + m + 1))
        return full

    def _gauss(self, arguments: list[Array]) -> Array:
        x, r = np.split(arguments[0], [self.program.n])
        return np.asarray(arguments[2][0] * np.concatenate([np.full(x.size, self._damping), np.ones(r.size)]))

    def _exact(self, arguments: list[Array]) -> Array:
        values, x = np.zeros(self._size), arguments[0][: self.program.n]
        values[self._own] = self.program.evaluator.hessian(x, self.start.p, 0.0, arguments[3])
        values[self._diagonal] += self._gauss(arguments)
        return values

    def at(self, x: Array, lam_x: Array | None = None) -> LeastViolation:
        """The violation at x."""
        r = residual(self.program, self.program.evaluator.constraints(x, self.start.p))
        phi = float(r @ r) / 2 if np.all(np.isfinite(r)) else np.inf
        return LeastViolation("open", x, phi, r, np.zeros(x.size) if lam_x is None else lam_x, 0)

    def run(self, x: Array, damping: float, iterations: int, exact: bool) -> tuple[LeastViolation, bool, Array, int]:
        """The end of a run from x with this damping, whether it converged, by how much the multipliers of the rows pull
        them up, and its number of iterations."""
        n, m = self.program.n, self.program.row_lower.size
        self._center, self._damping = x, damping
        _, grad, jac, *hessians = self._functions
        options: dict[str, Any] = {
            "ipopt": OPTIONS | {"max_iter": iterations},
            "no_nlp_grad": True,
            "calc_lam_p": False,
        }
        options |= {"grad_f": grad, "jac_g": jac, "hess_lag": hessians[exact]}
        free, nothing = np.full(m, np.inf), np.zeros(0)
        begin = np.concatenate([x, self.at(x).residual])
        lower, upper = (
            np.concatenate([bound, side]) for bound, side in ((self.start.lower, -free), (self.start.upper, free))
        )
        rows = self.program.row_lower, self.program.row_upper
        result: SolverResult = run_nlpsol("ipopt", self._problem, options, rows, Start(begin, nothing, lower, upper))
        end = np.clip(result.x[:n], self.start.lower, self.start.upper)
        return self.at(end, result.lam_x[:n]), result.converged, -result.lam_g, result.iterations
