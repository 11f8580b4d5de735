"""Accelerations in natural coordinates by Lagrange multipliers, penalties, or matrix R [GJB94, ch. 5].

    M xdd = Q + Phi_x' lam,   Phi_x xdd = c' = c - 2 Omega mu Phi_dot - Omega^2 Phi

lam acts on the mechanism; the book's multipliers have the opposite sign. Omega [1/s] and mu are the stabilization of
Baumgarte.

| method | solves | redundant rows | singular positions |
|---|---|---|---|
| multipliers | both equations in one sparse system (5.8) | lam of least norm | finite |
| penalty | (M + Phi_x' alpha Phi_x) xdd = Q + Phi_x' alpha c' (5.1.4) | share lam | finite |
| matrix_r | R' M R zdd = R' (Q - M Sc), xdd = R zdd + Sc (5.2.3) | lam = 0 | nan: other coordinates z are needed |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._base.autodiff import as_function, on_symbols
from .._base.checks import choice, finite, not_negative, whole
from .._base.types import Expr, M, Numbers, cast_to_matrix, finite_vector, repr_in_message
from ..mechanism import Model
from ..mechanism.loads import NO_LOADS, Loads
from .joint_coordinates import checks_natural_arguments
from .natural_coordinates import NaturalCoordinates
from .natural_equations import LARGEST_COUNT, NaturalEquations, SparseFactor, check_resisted

METHODS = ("multipliers", "penalty", "matrix_r")
PENALTY = 1e7
"""Default of alpha, the book's value."""
REGULAR = 1e-6
"""Regularization of the rows, relative to their inverse inertia: what a solution leaves of the error in lam."""
SOLUTIONS = 5
"""Solutions of the regularized system with one factor; each leaves `REGULAR` of the errors of well conditioned rows."""
LEAST_PIVOT, DEPENDENT = 0.1, 1e-9
"""Least size of a pivot relative to its row, and of a row that is no combination of others."""


@checks_natural_arguments
def natural_forward_dynamics(
    model: Model,
    natural: NaturalCoordinates,
    x: M | Numbers,
    xd: M | Numbers,
    tau: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    method: str = "multipliers",
    alpha: Any = None,
    iterations: int | None = None,
    omega: float = 0.0,
    mu: float | None = None,
    at: Any = None,
    loads: Loads = NO_LOADS,
) -> tuple[M, M]:
    """(xdd, lam): accelerations (n) and constraint forces (m) of `M xdd = Q + Phi_x' lam`, `Phi_x xdd = c'`.

    x, xd (n) keep the constraints, up to errors that omega [1/s] and mu (default 1) stabilize; tau (nv) [N m, N].
    method: "multipliers", "penalty" or "matrix_r", see this module. alpha: penalties as in `natural_equations`; the
    errors are in proportion to 1/alpha, and each of the `iterations` (default 1) of the augmented Lagrangian form after
    the first divides them by about alpha. at (n): positions, as a tuple of numbers, where independent coordinates z are
    chosen for "matrix_r", default the assembled ones; ValueError for singular ones, and for a body that no inertia
    resists. Cost: that of a sparse factor, O(n + m) for a chain.

    >>> natural = od.formulations.natural(rod)
    >>> x = od.formulations.natural_from_q(rod, natural, [np.pi / 6])
    >>> xdd, lam = od.formulations.natural_forward_dynamics(rod, natural, x, ca.DM.zeros(natural.n), [0.0])
    >>> natural.names, xdd
    (('u1.x', 'u1.z'), DM([3.67875, 6.37178]))
    """
    choice(method, METHODS, "method")
    omega = not_negative(omega, "omega [1/s]")
    _refuse_idle(method, omega, alpha, iterations, mu, at)
    alpha, iterations = PENALTY if alpha is None else alpha, 1 if iterations is None else iterations
    mu = 1.0 if mu is None else finite(mu, "mu")
    whole(iterations, "iterations", least=1, most=LARGEST_COUNT)

    def solved(x: Expr, xd: Expr, tau: Expr, f_ext: Expr) -> tuple[Expr, Expr]:
        equations = NaturalEquations(model, natural, tau, f_ext if loads.external else None, loads)
        if SX(equations.M).is_constant():
            at_rest = DM(equations.Phi_x(DM(natural.x)))
            check_resisted("natural_forward_dynamics", natural, equations.scales, DM(equations.M), at_rest)
        Phi_x, Q = SX(equations.Phi_x(x)), equations.Q(x, xd)
        c = equations.c(x, xd)
        if omega:
            c = c - 2 * omega * mu * (Phi_x @ xd) - omega**2 * equations.Phi(x)
        if method == "matrix_r":
            return _by_matrix_r(equations.M, Q, Phi_x, c, _pivots(natural, equations, at))
        if method == "penalty":
            return _by_penalty(equations.M, Q, Phi_x, c, equations.scales.penalties(alpha), iterations)
        return _by_multipliers(equations.M, Q, Phi_x, c, equations.scales.penalties(1.0))

    xdd, lam = on_symbols(solved, x, xd, tau, type(cast_to_matrix(x))(6, 0) if f_ext is None else f_ext)
    return xdd, lam


def _refuse_idle(method: str, omega: float, alpha: Any, iterations: Any, mu: Any, at: Any) -> None:
    """ValueError for options that the method does not use."""
    for name, value, used, remedy in (
        ("alpha", alpha, method == "penalty", "method='penalty'"),
        ("iterations", iterations, method == "penalty", "method='penalty'"),
        ("mu", mu, bool(omega), "omega above zero"),
        ("at", at, method == "matrix_r", "method='matrix_r'"),
    ):
        if value is not None and not used:
            raise ValueError(
                f"{name} has no effect without {remedy}, got {name}={repr_in_message(value)}: leave it out"
            )


def _by_penalty(mass: Expr, Q: Expr, Phi_x: Expr, c: Expr, alpha: Expr, iterations: int) -> tuple[Expr, Expr]:
    """lam = 0, then `iterations` times (M + Phi_x' alpha Phi_x) xdd = Q + Phi_x' (lam + alpha c) and
    lam <- lam - alpha (Phi_x xdd - c), with one factor and by differences of xdd."""
    factor = SparseFactor.of(SX(mass + _gram(Phi_x, alpha)))
    xdd = factor.solve(Q + Phi_x.T @ (alpha * c))
    lam = -alpha * (Phi_x @ xdd - c)
    for _ in range(iterations - 1):
        xdd = xdd + factor.solve(Q + Phi_x.T @ (lam - alpha * (Phi_x @ xdd - c)) - mass @ xdd)
        lam = lam - alpha * (Phi_x @ xdd - c)
    return xdd, lam


def _by_multipliers(mass: Expr, Q: Expr, Phi_x: Expr, c: Expr, p: Expr) -> tuple[Expr, Expr]:
    """The system [M Phi_x'; Phi_x 0] (xdd, -lam) = (Q, c), by a factor of

        [M + Phi_x' p Phi_x, Phi_x'; Phi_x, -eps],   eps = REGULAR / p,

    and several corrections for the residual. The term with p adds nothing where Phi_x xdd = c, and makes the block
    definite also if M is singular; eps makes the matrix quasi-definite, so that it needs no pivots, also with redundant
    rows. These get lam of least norm, in the units of 1/p.
    """
    n, m = mass.shape[0], c.shape[0]
    K = ca.blockcat([[mass + _gram(Phi_x, p), Phi_x.T], [Phi_x, -ca.diag(REGULAR / p)]])
    factor = SparseFactor.of(SX(K))
    xdd, lam = SX(n, 1), SX(m, 1)
    for _ in range(SOLUTIONS):
        gap = c - Phi_x @ xdd
        forces = Q + Phi_x.T @ lam - mass @ xdd
        change = factor.solve(ca.vertcat(forces, gap))
        xdd, lam = xdd + change[:n], lam - change[n:]
    return xdd, lam


def _gram(Phi_x: Expr, weights: Expr) -> Expr:
    """Phi_x' diag(weights) Phi_x, its lower triangle copied from the upper."""
    return ca.triu2symm(ca.triu(Phi_x.T @ (weights * Phi_x)))


# Matrix R


@dataclass(frozen=True)
class _Elimination:
    """Rows of Phi_x and dependent coordinates in the order of their elimination, and the independent coordinates."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    free: tuple[int, ...]


def _pivots(natural: NaturalCoordinates, equations: NaturalEquations, at: Any) -> _Elimination:
    """Pivots of few fill-ins among those of at least `LEAST_PIVOT` of their row [H. M. Markowitz 1957], at numbers."""
    x = natural.x if at is None else finite_vector(at, natural.n, "at")
    if natural.rank(x) < natural.rank():
        raise ValueError(
            f"at: a singular position: Phi_x has the rank {natural.rank(x)} there, and {natural.rank()} at the "
            "assembled one; choose independent coordinates at another position"
        )
    scales = equations.scales
    J = np.asarray(DM(equations.Phi_x(DM(x))).full()) * scales.coordinates / scales.rows[:, None]
    pattern = _pattern(natural, equations)
    rows, columns = list(range(natural.m)), list(range(natural.n))
    found: list[tuple[int, int]] = []
    while rows and columns:
        active, marks = np.abs(J[np.ix_(rows, columns)]), pattern[np.ix_(rows, columns)]
        largest = active.max(axis=1, keepdims=True)
        costs = np.outer(marks.sum(axis=1) - 1, marks.sum(axis=0) - 1).astype(float)
        costs[(active < LEAST_PIVOT * largest) | (largest < DEPENDENT)] = np.inf
        i, j = np.unravel_index(np.argmin(costs), costs.shape)
        if not np.isfinite(costs[i, j]):
            break
        row, column = rows.pop(int(i)), columns.pop(int(j))
        others = [r for r in rows if pattern[r, column]]
        J[others] -= np.outer(J[others, column] / J[row, column], J[row])
        pattern[others] |= pattern[row]
        found.append((row, column))
    return _Elimination(tuple(r for r, _ in found), tuple(c for _, c in found), tuple(columns))


def _pattern(natural: NaturalCoordinates, equations: NaturalEquations) -> Any:
    """Truth values (m x n): where Phi_x has entries."""
    found: Any = np.zeros((natural.m, natural.n), dtype=bool)
    Phi_x = as_function(lambda x: [equations.Phi_x(x)], natural.n)
    found[tuple(Phi_x.sparsity_out(0).get_triplet())] = True
    return found


def _by_matrix_r(mass: Expr, Q: Expr, Phi_x: Expr, c: Expr, pivots: _Elimination) -> tuple[Expr, Expr]:
    """R and Sc by elimination of the dependent coordinates; lam from the equations of these coordinates."""
    n, m, free = mass.shape[0], c.shape[0], pivots.free
    upper, lower, c = _eliminated(Phi_x, c, pivots)
    rows = {j: {k: SX(1)} for k, j in enumerate(free)}
    Sc = [SX(0)] * n
    for row, j, right in reversed(list(zip(upper, pivots.columns, c, strict=True))):
        entries: dict[int, Expr] = {}
        for i, u in row.items():
            if i != j:
                right = right - u * Sc[i]
                for k, r in rows[i].items():
                    entries[k] = entries.get(k, 0) - u * r
        Sc[j], rows[j] = right / row[j], {k: r / row[j] for k, r in entries.items()}
    R, S = SX(n, len(free)), ca.vertcat(*Sc)
    for j, row in rows.items():
        for k, r in row.items():
            R[j, k] = r
    # R' M R
    xdd = R @ SparseFactor.of(ca.triu2symm(ca.triu(R.T @ (mass @ R)))).solve(R.T @ (Q - mass @ S)) + S if free else S
    return xdd, _multipliers(mass @ xdd - Q, upper, lower, pivots, m)


def _eliminated(
    Phi_x: Expr, c: Expr, pivots: _Elimination
) -> tuple[list[dict[int, Expr]], list[dict[int, Expr]], list[Expr]]:
    """Rows of U and L by pivot, Phi_x[rows] = L U with L[k, k] = 1, and L^-1 c[rows]."""
    table: dict[int, dict[int, Expr]] = {row: {} for row in range(Phi_x.shape[0])}
    for row, column, entry in zip(*Phi_x.sparsity().get_triplet(), Phi_x.nonzeros(), strict=True):
        table[row][column] = entry
    upper: list[dict[int, Expr]] = []
    lower: list[dict[int, Expr]] = []
    right: list[Expr] = []
    for row in pivots.rows:
        entries, l, b = table[row], {}, c[row]
        for k, column in enumerate(pivots.columns[: len(upper)]):
            if column in entries:
                l[k] = entries.pop(column) / upper[k][column]
                b = b - l[k] * right[k]
                for j, u in upper[k].items():
                    if j != column:
                        entries[j] = entries.get(j, 0) - l[k] * u
        upper.append(entries)
        lower.append(l)
        right.append(b)
    return upper, lower, right


def _multipliers(
    forces: Expr, upper: list[dict[int, Expr]], lower: list[dict[int, Expr]], pivots: _Elimination, m: int
) -> Expr:
    """lam (m) with (L U)' lam = forces in the dependent coordinates; zero for rows that are no pivots."""
    y: list[Expr] = [forces[column] for column in pivots.columns]
    for k, column in enumerate(pivots.columns):
        y[k] = y[k] / upper[k][column]
        for later, other in enumerate(pivots.columns[k + 1 :], k + 1):
            if other in upper[k]:
                y[later] = y[later] - upper[k][other] * y[k]
    for k in reversed(range(len(y))):
        for earlier, l in lower[k].items():
            y[earlier] = y[earlier] - l * y[k]
    lam = SX(m, 1)
    for row, value in zip(pivots.rows, y, strict=True):
        lam[row] = value
    return ca.densify(lam)
