"""Five ways to solve the equations of constrained motion [RBDA, ch. 8; F16, sec. 2.5; GJB94, ch. 5].

    [ H  G' ] [  x   ]   [ f ]
    [ G  0  ] [ -lam ] = [ g ]        that is   H x = f + G' lam,   G x = g.

| name | how | rows of G |
|---|---|---|
| range | W = L'^-1 G' on the branch-sparse factor H = L'DL, then (W' D^-1 W) lam = g - G H^-1 f | any |
| kkt | dense LDL' of the whole matrix in its own order | independent |
| null | G' = Q R by Householder reflections, x = Y y + Z z with G Z = 0, (Z'HZ) z = ... | independent |
| aba | test forces: H^-1 [f, G'] by articulated-body inertias, H is never formed (Kokkevis & Metaxas 1998) | any |
| proximal | as range, lam by proximal iterations: the forces of least norm among all that fit | any |

With armature=True the diagonal of H holds the joints' armatures too. All give the same x, and the same lam where
it is unique. With dependent rows "range" and "aba" give no force
to a row that depends on those before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca
from casadi import DM

from .._types import Expr
from ..dynamics import factor, mass_matrix
from ..joint_space import mass_matrix_inverse_product
from ..linalg import LTDL, solve_semidefinite, solve_spd
from ..model import Model
from .reflections import Reflections, solve_upper, solve_upper_transposed

Solution = tuple[Expr, Expr]
Solver = Callable[[Model, Expr, Expr, Expr, Expr, bool], Solution]


class RangeSpace(NamedTuple):
    """Constraints in the range space of H: W = L'^-1 G' and A = G H^-1 G'."""

    factor: LTDL
    W: Expr
    A: Expr

    @staticmethod
    def of(model: Model, G: Expr, q: Expr, armature: bool) -> RangeSpace:
        f = factor(model, mass_matrix(model, q, armature=armature))
        W = f.solve_Lt(G.T)
        return RangeSpace(f, W, _symmetric(W.T @ f.scale(W)))

    def raise_back(self, y: Expr) -> Expr:
        """L^-1 D^-1 y: from the factor's coordinates to joint space."""
        return self.factor.solve_L(self.factor.scale(y))

    def solve(self, f: Expr, g: Expr, by: Callable[[Expr, Expr], Expr]) -> Solution:
        """(x, lam) of `H x = f + G' lam`, `G x = g`, several columns at once; by(A, b) solves A lam = b."""
        y = self.factor.solve_Lt(f)
        lam = by(self.A, g - self.W.T @ self.factor.scale(y))
        return self.raise_back(y + self.W @ lam), lam


def range_space(model: Model, q: Expr, G: Expr, f: Expr, g: Expr, armature: bool = False) -> Solution:
    """(x, lam) by block elimination on the branch-sparse factor of H; f and g may have several columns.

    O(nb depth^2 + m^2 nv + m^3).
    """
    return RangeSpace.of(model, G, q, armature).solve(f, g, solve_semidefinite)


def proximal(model: Model, q: Expr, G: Expr, f: Expr, g: Expr, armature: bool = False) -> Solution:
    """(x, lam) with the least |lam|, for dependent rows: see `solve_proximal`."""
    return RangeSpace.of(model, G, q, armature).solve(f, g, solve_proximal)


def solve_proximal(A: Expr, b: Expr, rho: float = 1e-6, iterations: int = 10) -> Expr:
    """The least-norm solution of A x = b for a symmetric positive semidefinite A, b in its range.

    x <- (A + r)^-1 (b + r x) from x = 0, r = rho trace(A)/m, one factor for all: an error along an eigenvalue s of A
    shrinks by r/(r + s) each time. So below 1e-12 for s > 1e-5 trace/m, and rounding/rho = 1e-10 along the kernel.
    """
    m = A.shape[0]
    r = rho * ca.trace(A) / m
    inverse = solve_spd(A + r * DM.eye(m), DM.eye(m))
    x = inverse @ b
    step = r * inverse
    y = x
    for _ in range(iterations - 1):
        y = x + step @ y
    return y


def kkt(model: Model, q: Expr, G: Expr, f: Expr, g: Expr, armature: bool = False) -> Solution:
    """(x, lam) from the whole matrix at once, by a dense LDL' that knows nothing of the tree. O((nv + m)^3).

    H stands first: its pivots are positive, those of -G H^-1 G' after it negative, so none needs exchanging.
    Dependent rows give nan.
    """
    n, m = model.nv, G.shape[0]
    # `solve_spd` eliminates from the last row up, so the unknowns stand in reverse: -lam, then x from tip to root
    order = list(range(n + m))[::-1]
    K: Expr = ca.blockcat([[mass_matrix(model, q, armature=armature), G.T], [G, type(q)(m, m)]])
    right: Expr = ca.vertcat(f, g)
    solved = solve_spd(K[order, order], right[order])[order]
    return solved[:n], -solved[n:]


def null_space(model: Model, q: Expr, G: Expr, f: Expr, g: Expr, armature: bool = False) -> Solution:
    """(x, lam) by projection on the null space of G. O(m nv^2 + (nv - m)^3).

    With G' = [Y Z] [R; 0]: R' y = g, (Z'HZ) z = Z' (f - H Y y), x = Y y + Z z, and the forces from
    R lam = Y' (H x - f). Dependent rows give nan.
    """
    n, m = model.nv, G.shape[0]
    if m > n:
        raise ValueError(f'solver "null" needs independent rows, got {m} of them for {n} dofs: use "proximal"')
    H = mass_matrix(model, q, armature=armature)
    Q = Reflections.of(ca.densify(G.T))
    y = solve_upper_transposed(Q.R, g)
    x = Q.apply(ca.vertcat(y, type(q)(n - m, 1)))
    if n > m:
        Z = Q.apply(ca.vertcat(DM(m, n - m), DM.eye(n - m)))
        x = x + Z @ solve_spd(_symmetric(Z.T @ (H @ Z)), Z.T @ (f - H @ x))
    return x, solve_upper(Q.R, Q.apply_transpose(H @ x - f)[:m])


def by_test_forces(model: Model, q: Expr, G: Expr, f: Expr, g: Expr, armature: bool = False) -> Solution:
    """(x, lam) from the answers of the free tree to f and to a unit test force along each row. O(m nb + m^3)."""
    answers = mass_matrix_inverse_product(model, q, ca.horzcat(f, G.T), armature=armature)
    free, M = answers[:, 0], answers[:, 1:]
    lam = solve_semidefinite(_symmetric(G @ M), g - G @ free)
    return free + M @ lam, lam


SOLVERS: dict[str, Solver] = {
    "range": range_space,
    "kkt": kkt,
    "null": null_space,
    "aba": by_test_forces,
    "proximal": proximal,
}


def solver_of(name: str) -> Solver:
    """The solver of that name."""
    if name not in SOLVERS:
        raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, got {name!r}")
    return SOLVERS[name]


def _symmetric(A: Expr) -> Expr:
    return ca.triu2symm(ca.triu(A))
