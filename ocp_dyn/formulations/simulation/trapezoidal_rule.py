"""The implicit trapezoidal rule in positions, for penalty and augmented Lagrangian forms in natural coordinates
[GJB94, 8.5; E. Bayo, J. Garcia de Jalon, A. Avello & J. Cuadrado, Comput. Methods Appl. Mech. Eng. 92, 1991].

The equations of motion (8.124), with lam of the library's sign, which is opposite to the book's,

    M xdd = Q(x, xd) + Phi_x' lam,   lam = lam* - alpha (Phi + mu Phi_dot),

are solved at the end of a step h for the positions x; velocities and accelerations follow from the rule (8.128). All
are written here as corrections e of Heun's predictor (8.135), which the book's formulas equal without the rounding
errors of 4 (x - x_n) / h^2:

    x = x_n + h xd_n + h^2/2 xdd_n + e,   xd = xd_n + h xdd_n + 2/h e,   xdd = xdd_n + 4/h^2 e.

Newton's iterations e <- e - A^-1 h^2/4 f take the residual f of (8.132) and the quasi-tangent matrix (8.134),

    A = M + h^2/4 (Phi_x' beta Phi_x - Q_x - 2/h Q_xd),   beta = alpha (1 + 2 mu / h),

factored as L D L' without pivoting. In the penalty form lam* = 0, and the errors of the constraints are in proportion
to 1/alpha. In the augmented Lagrangian form (8.126),

    lam* <- lam* - alpha (Phi + mu Phi_dot) - beta Phi_x de,

with the effect of the change de of e to first order, so that M xdd = Q + Phi_x' lam holds for the new accelerations
without the rounding errors of alpha Phi. With projections lam* starts at the lam of the step before, and is corrected
after every iteration. Without them it starts at zero and is corrected once, after the first iteration, as in the
examples of the book; more corrections make the accelerations oscillate from step to step.

Projections [E. Bayo & R. Ledesma, Augmented Lagrangian and mass-orthogonal projection methods for constrained multibody
dynamics, Nonlinear Dynamics 9, 1996; J. Cuadrado, J. Cardenal & E. Bayo, Modeling and solution methods for efficient
real-time simulation of multibody dynamics, Multibody System Dynamics 1, 1997]: the rule gives positions that keep the
constraints, but velocities xd* and accelerations xdd* that do not. The nearest ones that do, in the metric
W = A - Phi_x' kappa Phi_x with kappa = h^2/4 beta, follow from the same factor,

    A xd = W xd*,   A xdd = W xdd* + Phi_x' kappa c,

which leaves errors of order 1/kappa. Here they are written as A (xd - xd*) = -Phi_x' kappa Phi_x xd* and taken twice,
which leaves the square of that. Each projection of accelerations adds -kappa (Phi_x xdd - c) to lam, so that M xdd =
Q + Phi_x' lam still holds. With projections no damping is needed: mu is 0, and the form is of index 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import casadi as ca
from casadi import SX

from ..._base.autodiff import on_symbols
from ..._base.checks import choice, not_negative, whole
from ..._base.types import Expr, M, Numbers, cast_to_matrix, truth
from ...mechanism import Model
from ...mechanism.loads import NO_LOADS, Loads
from ..joint_coordinates import checks_natural_arguments
from ..natural_coordinates import NaturalCoordinates
from ..natural_equations import LARGEST_COUNT, NaturalEquations, SparseFactor

METHODS = ("penalty", "augmented")
PENALTY = 1e7
"""Default of alpha otherwise [1/s^2, see `natural_equations`], the value of the book."""
STIFFNESS = 1e6
"""Default of h^2/4 alpha in the augmented Lagrangian form with projections, which leave about 1e-6 of the errors; the
factor loses about six digits."""
STEPS_OF_DAMPING = {"penalty": 60, "augmented": 20}
"""Default of h / mu without projections. The book uses 40 to 120 for both; with its 80, example 8.6 diverges after 5 s
in the augmented form."""
PASSES = 2
"""Solutions with the same factor in each projection."""


class MotionSample(NamedTuple):
    """Positions, velocities and accelerations (n each) of one time."""

    x: Expr
    xd: Expr
    xdd: Expr


class Correction(NamedTuple):
    """A correction e of the predictor (n), the one before it, the book's lam* of the next iteration (m), lam (m), the
    factor of A at `before`, and the length of the change of e, coordinates in their units."""

    e: Expr
    before: Expr
    held: Expr
    lam: Expr
    factor: SparseFactor
    change: Expr


@dataclass(frozen=True)
class Rule:
    """One step of the rule: the equations, the step h [s], alpha (m), mu [s], the form, and whether it projects."""

    equations: NaturalEquations
    h: Expr
    alpha: Expr
    mu: Expr
    augmented: bool
    project: bool

    @staticmethod
    def of(equations: NaturalEquations, h: Expr, method: str, alpha: Any, mu: Any, project: bool) -> Rule:
        """The rule with the defaults of alpha and mu filled in, see `trapezoidal_step`."""
        augmented = choice(method, METHODS, "method") == "augmented"
        truth(project, "project")
        if alpha is None:
            alpha = 4 * STIFFNESS / h**2 if augmented and project else PENALTY
        if mu is None:
            mu = 0 if project else h / STEPS_OF_DAMPING[method]
        elif not isinstance(mu, SX):
            mu = not_negative(mu, "mu [s]")
        return Rule(equations, h, equations.scales.penalties(alpha), mu, augmented, project)

    @property
    def kappa(self) -> Expr:
        """h^2/4 beta (m)."""
        return self.h / 4 * self.alpha * (self.h + 2 * self.mu)

    def first(self, start: MotionSample, lam: Expr) -> Correction:
        """The first iteration of a step; lam of the step before is its lam* if accelerations are projected."""
        held = lam if self.augmented and self.project else SX(lam.shape[0], 1)
        found = self.iterate(start, SX(start.x.shape[0], 1), held)
        return found._replace(held=found.lam) if self.augmented else found

    def corrected(self, start: MotionSample, e: Expr) -> MotionSample:
        """The motion after the step, with the correction e of the predictor."""
        h, (x, xd, xdd) = self.h, start
        return MotionSample(x + h * xd + h**2 / 2 * xdd + e, xd + h * xdd + 2 / h * e, xdd + 4 / h**2 * e)

    def penalty_force(self, at: MotionSample) -> Expr:
        """alpha (Phi + mu Phi_dot) (m)."""
        rows = self.equations
        return self.alpha * (rows.Phi(at.x) + self.mu * (rows.Phi_x(at.x) @ at.xd))

    def iterate(self, start: MotionSample, e: Expr, held: Expr) -> Correction:
        """One iteration (8.131); in the augmented form with projections with one of (8.126)."""
        h, equations = self.h, self.equations
        at = self.corrected(start, e)
        Phi_x = equations.Phi_x(at.x)
        Q, K = equations.Q(at.x, at.xd), equations.stiffness(at.x, at.xd, h)
        lam = held - self.penalty_force(at)
        f = equations.M @ at.xdd - Q - Phi_x.T @ lam
        A = equations.M + ca.triu2symm(ca.triu(Phi_x.T @ (self.kappa * Phi_x))) - h**2 / 4 * K
        factor = SparseFactor.of(SX(A))
        change = -(h**2) / 4 * factor.solve(f)
        size = ca.norm_2(change / equations.scales.coordinates)
        lam = lam - 4 / h**2 * self.kappa * (Phi_x @ change)
        return Correction(e + change, e, lam if self.augmented and self.project else held, lam, factor, size)

    def end(self, start: MotionSample, last: Correction) -> list[Expr]:
        """x, xd, xdd of the last iterate, projected if the rule does so, and the forces lam that belong to them."""
        equations, lam = self.equations, last.lam
        x, xd, xdd = self.corrected(start, last.e)
        if not self.project:
            return [x, xd, xdd, lam]
        across = equations.Phi_x(self.corrected(start, last.before).x).T
        Phi_x = equations.Phi_x(x)
        for _ in range(PASSES):
            xd = xd - last.factor.solve(across @ (self.kappa * (Phi_x @ xd)))
        c = equations.c(x, xd)
        for _ in range(PASSES):
            xdd = xdd - last.factor.solve(across @ (self.kappa * (Phi_x @ xdd - c)))
            lam = lam - self.kappa * (Phi_x @ xdd - c)
        return [x, xd, xdd, lam]


@checks_natural_arguments
def trapezoidal_step(
    model: Model,
    natural: NaturalCoordinates,
    x: M | Numbers,
    xd: M | Numbers,
    xdd: M | Numbers,
    lam: M | Numbers,
    tau: M | Numbers,
    h: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    method: str = "augmented",
    alpha: Any = None,
    mu: float | None = None,
    iterations: int = 2,
    project: bool = True,
    loads: Loads = NO_LOADS,
) -> tuple[M, M, M, M, M]:
    """(x, xd, xdd, lam, error) after one step h [s] of the implicit trapezoidal rule [GJB94, eqs. 8.121-8.135].

    A fixed number of iterations without branches, for real time and for C. x, xd, xdd (n): positions, velocities and
    accelerations in natural coordinates; the start must keep the constraints. lam (m): constraint forces, with the sign
    of the library; the penalty form does not use the input. tau (nv): held over the step, taken at its end. error: the
    length |dx| of the last iteration's change, coordinates in their units of `Scales`; what an iteration leaves is far
    smaller.

    method: "penalty" or "augmented". alpha: one number for a mechanism of 1 kg and 1 m, see `natural_equations`, or m
    numbers; default 1e7, and 4e6 / h^2 for "augmented" with projections. mu [s]: the velocity constraint factor;
    default 0 with projections, otherwise h/60 for "penalty" and h/20 for "augmented". iterations: 1 or more. project:
    whether velocities and accelerations are projected. Redundant rows and singular positions are allowed. Second order
    in h. O(n + m) for a chain, by its sparse factor.

    >>> natural = od.formulations.natural(rod)
    >>> step = od.function(od.formulations.trapezoidal_step, rod, natural, iterations=2)
    >>> step.name_in()
    ['x', 'xd', 'xdd', 'lam_x', 'tau', 'h']
    """
    whole(iterations, "iterations", least=1, most=LARGEST_COUNT)

    def steps(x: Expr, xd: Expr, xdd: Expr, lam: Expr, tau: Expr, h: Expr, f_ext: Expr) -> tuple[Expr, ...]:
        equations = NaturalEquations(model, natural, tau, f_ext if loads.external else None, loads)
        rule = Rule.of(equations, h, method, alpha, mu, project)
        start = MotionSample(x, xd, xdd)
        last = rule.first(start, lam)
        for _ in range(iterations - 1):
            last = rule.iterate(start, last.e, last.held)
        *motion, force = rule.end(start, last)
        return (*motion, force, last.change)

    wrenches = type(cast_to_matrix(x))(6, 0) if f_ext is None else f_ext
    found = on_symbols(steps, x, xd, xdd, lam, tau, h, wrenches)
    return cast(tuple[M, M, M, M, M], tuple(found))
