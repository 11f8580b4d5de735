"""Warm starts of IPOPT: from an iterate near the central path, with the barrier chosen anew in every iteration.

A solution is a bad start for an interior-point method at other values of the parameters: its active bounds are so near
that nearly every step ends at one of them. An iterate of the same run at a larger barrier parameter mu is a good one:
for every bound the distance and the multiplier have a product near mu, so that bounds may become active or inactive on
the way. It is kept with the solution as its central iterate. From there IPOPT takes whole Newton steps with Mehrotra's
correction, and a quality function chooses mu [J. Nocedal, A. Waechter & R. Waltz, Adaptive barrier update strategies
for nonlinear interior methods, SIAM J. Optim. 19, 2009]. No line search guards these steps: `CentralPath` ends a run
that goes badly, and the solver begins anew from the motion of the start with IPOPT's own settings.

Options of the user come first. With `mu_init` or mu_strategy="monotone" IPOPT lowers the barrier monotonically from
that value, or from that of the start, and its line search guards the steps, as in a run without multipliers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.types import Array
from ..nlp.assembled import Assembled
from .interface import Iterate, Start
from .monitor import violation

WARM_START_OPTIONS: dict[str, Any] = {"warm_start_init_point": "yes", "warm_start_mult_bound_push": 1e-8}
"""Options for every start with multipliers."""

UNGUARDED = "accept_every_trial_step"
"""Option of IPOPT that takes the line search away."""

FREE_BARRIER_OPTIONS: dict[str, Any] = {
    "mu_strategy": "adaptive",
    "adaptive_mu_globalization": "never-monotone-mode",
    "alpha_for_y": "bound-mult",
    "corrector_type": "affine",
    UNGUARDED: "yes",
    "tau_min": 0.95,
}
"""Options for a start whose barrier is left to IPOPT: it follows the quality function, and every step is taken as far
as the bounds allow, up to 0.95 of the distance to a bound: 0.99 leaves iterates so near to bounds that the next steps
end there."""

PUSHES = (
    *("warm_start_bound_push", "warm_start_bound_frac"),
    *("warm_start_slack_bound_push", "warm_start_slack_bound_frac"),
)
"""Options for the least distance of a start from its bounds."""

PUSH, LEAST_PUSH, GREATEST_PUSH = 0.04, 1e-8, 0.5
"""Least distance of a start from its bounds beside its barrier parameter, that of a solution, and the largest that
IPOPT allows."""

STIFFNESS = 10.0
"""Multiplier that counts like a distance of one, in the scale of the program, where a value is moved to the central
path."""

LEAST_BARRIER, GREATEST_BARRIER = 1e-6, 10.0
"""Smallest and largest first barrier parameter of a start: interrupted runs may leave multipliers of any size."""

TINY = 2.0**-20
"""Smallest ratio of a product to the mean that counts."""

LEVEL = 2.5e-3
"""Mean product of distance and multiplier of a central iterate. Measured on a walk of 29 dofs, from 1.2 to 0.9, ...,
1.5 m/s: 8 to 14 iterations from 3e-3, 14 to 25 from 1e-4, more than 25 from the solution."""

BAND = (2e-5, 1e-2)
"""Mean products of iterates that may be kept as central; on fine grids a run begins below LEVEL."""

SMALL_CHANGE = 1e-2, 1.0
"""Largest violation and largest gradient of the Lagrangian up to which a solution is a better start for other values of
the parameters than its central iterate."""

LONGEST, LAST = 30, 40
"""Iterations after which a warm start is given up: the first number if rows are still violated by more than a tenth of
FEASIBLE, else the second. Those that succeed take 3 to 26."""

PATIENCE, PROGRESS, FEASIBLE = 12, 0.5, 1e-3
"""A warm start is given up if the violation is not below FEASIBLE, and not below PROGRESS times its value PATIENCE
iterations before."""

WORSE = 1e3
"""A warm start is given up if the violation is larger by this factor than at its start, or than FEASIBLE."""


def products(program: Assembled, start: Start, iterate: Iterate, g: Array) -> Array:
    """Distance to a bound times its multiplier, for all bounds; all are equal to mu on the central path.

    Of two bounds of one entry the one counts to which the net multiplier belongs; fixed entries and equalities do not
    count. g: values of the rows.
    """
    found = []
    groups = (
        (iterate.x, start.lower, start.upper, iterate.lam_x),
        (g, program.row_lower, program.row_upper, iterate.lam_g),
    )
    for value, lower, upper, lam in groups:
        gap = np.where(lam < 0, value - lower, upper - value)
        counts = (lower < upper) & np.isfinite(gap)
        found.append(np.abs(lam[counts] * gap[counts]))
    return np.concatenate(found)


def begin(program: Assembled, start: Start) -> Start:
    """The start at the better of its two iterates, the solution or the central one."""
    if start.lam_x is None or start.lam_g is None or start.central is None:
        return start
    return start if _is_near(program, start, Iterate(start.x, start.lam_x, start.lam_g)) else start.at(start.central)


@dataclass(frozen=True)
class WarmStart:
    """Settings of a run from a start with multipliers.

    options: all of IPOPT, those of the user last; told: the first barrier and who has chosen it, in words.
    """

    options: Mapping[str, Any]
    told: str

    @property
    def guarded(self) -> bool:
        """Whether IPOPT's line search guards the steps, so that `CentralPath` need not end the run."""
        return bool(self.options.get(UNGUARDED, "no") != "yes")


def multipliers_refused(options: Mapping[str, Any]) -> bool:
    """Whether the options of the user keep IPOPT from taking multipliers."""
    return bool(options.get("warm_start_init_point", "yes") == "no")


def warm_start(program: Assembled, start: Start, options: Mapping[str, Any]) -> WarmStart:
    """The settings for a start with multipliers and for these options of the user, which come before all others."""
    strategy, asked = options.get("mu_strategy"), options.get("mu_init")
    monotone = strategy == "monotone" or (strategy is None and asked is not None)
    barrier = float(asked) if monotone and asked is not None else first_barrier(program, start)
    push = min(PUSH * barrier, GREATEST_PUSH) if barrier > LEAST_BARRIER else LEAST_PUSH
    chosen = {"mu_strategy": "monotone"} if monotone else FREE_BARRIER_OPTIONS
    told = f"from the barrier {barrier:.0e}"
    if asked is not None:
        ignored = " (IPOPT ignores mu_init with mu_strategy='adaptive')"
        told = f"from the barrier {barrier:g} of the option mu_init" if monotone else told + ignored
    elif monotone:
        told += ", lowered monotonically"
    every = WARM_START_OPTIONS | chosen | {"mu_init": barrier} | dict.fromkeys(PUSHES, push)
    return WarmStart(every | dict(options), told)


def first_barrier(program: Assembled, start: Start) -> float:
    """Barrier parameter of the first iteration: the mean of the start's products, between LEAST_BARRIER and
    GREATEST_BARRIER."""
    if start.lam_x is None or start.lam_g is None:
        raise ValueError("first_barrier needs a start with multipliers")
    iterate = Iterate(start.x, start.lam_x, start.lam_g)
    g = program.evaluator.constraints(start.x, start.p)
    found = products(program, start, iterate, g)
    return min(max(LEAST_BARRIER, float(found.mean())), GREATEST_BARRIER) if found.size else LEAST_BARRIER


def _is_near(program: Assembled, start: Start, solution: Iterate) -> bool:
    """Whether a solution nearly fulfills the first-order conditions at the parameters of the start."""
    e = program.evaluator
    most, steepest = SMALL_CHANGE
    if not violation(program, e.constraints(solution.x, start.p)) <= most:
        return False
    gradient = e.gradient(solution.x, start.p) + solution.lam_x
    pattern = e.jacobian_pattern
    columns, rows = np.array(pattern.get_col(), dtype=int), np.array(pattern.row(), dtype=int)
    np.add.at(gradient, columns, e.jacobian(solution.x, start.p) * solution.lam_g[rows])
    return bool(np.max(np.abs(gradient[start.lower < start.upper]), initial=0.0) <= steepest)


class CentralPath:
    """Follows the iterates of a run: keeps the one nearest to the central path at LEVEL, and tells when a warm start
    goes badly.

    central: the iterate of least `_distance`; that of the start, if no iterate was in BAND. lost: whether `see` has
    ended a warm start.
    """

    def __init__(self, program: Assembled, start: Start) -> None:
        self._program, self._start, self._least = program, start, np.inf
        self.central, self.lost, self.warm = start.central, False, start.warm
        self._violations: list[float] = []

    def see(self, x: Array, g: Array, lam_x: Array, lam_g: Array) -> bool:
        """Records an iterate; True if a warm start is to end."""
        iterate = Iterate(x, lam_x, lam_g)
        self._violations.append(violation(self._program, g))
        if len(self._violations) > 1:  # the first is the start itself
            distance = self._distance(iterate, g)
            if distance <= self._least:
                self.central, self._least = iterate, distance
        self.lost = self.warm and self._goes_badly()
        return self.lost

    def _distance(self, iterate: Iterate, g: Array) -> float:
        """Distance from the central path at LEVEL: logarithms of the mean product beside LEVEL, of the products beside
        their mean, and of the violation beside FEASIBLE, added; infinite outside BAND."""
        found = products(self._program, self._start, iterate, g)
        level = float(found.mean()) if found.size else 0.0
        if not BAND[0] <= level <= BAND[1]:
            return np.inf
        spread = float(np.mean(np.abs(np.log2(np.maximum(found / level, TINY)))))
        return abs(float(np.log2(level / LEVEL))) + spread + float(np.log2(1.0 + self._violations[-1] / FEASIBLE))

    def _goes_badly(self) -> bool:
        seen = self._violations
        late = len(seen) > (LONGEST if seen[-1] > FEASIBLE / 10 else LAST)
        if late or not seen[-1] <= WORSE * max(seen[0], FEASIBLE):
            return True
        if len(seen) <= PATIENCE:
            return False
        return min(seen[-PATIENCE:]) > max(FEASIBLE, PROGRESS * seen[-PATIENCE - 1])


def carried(program: Assembled, start: Start, found: Iterate, share: float = 1.0) -> Iterate | None:
    """A central iterate for a solution that a warm start has found: the central iterate of the start, moved by what
    lies between the two solutions, and then back to the central path; share: as for `recentered`.

    A warm start passes the path too fast to leave one. None if the start has none.
    """
    if start.central is None or start.lam_x is None or start.lam_g is None:
        return None
    before = Iterate(start.x, start.lam_x, start.lam_g)
    return recentered(
        program,
        start,
        Iterate(*(c + n - old for c, n, old in zip(start.central, found, before, strict=True))),
        share=share,
    )


def recentered(program: Assembled, start: Start, iterate: Iterate, level: float = LEVEL, share: float = 1.0) -> Iterate:
    """An iterate near the central path, moved to the central path at a level; start: its bounds and parameters.

    share: length of an interval beside that for which LEVEL and STIFFNESS are made. Multipliers are integrals over an
    interval, so both are multiplied by it.
    """
    x, lam_x, lam_g = iterate
    scales = level * share, STIFFNESS * share
    x, lam_x = _centered(x, start.lower, start.upper, lam_x, *scales)
    g = program.evaluator.constraints(x, start.p)
    _, inside = _centered(g, program.row_lower, program.row_upper, lam_g, *scales)
    return Iterate(x, lam_x, np.where(program.row_lower == program.row_upper, lam_g, inside))


def _centered(
    value: Array, lower: Array, upper: Array, lam: Array, level: float, stiffness: float
) -> tuple[Array, Array]:
    """Values and net multipliers with gap times multiplier equal to the level at the nearer bound.

    gap - lam / stiffness stays as it is: gap = t/2 + sqrt(t^2/4 + level / stiffness), which smooths max(t, 0) [C. Chen
    & O. Mangasarian, A class of smoothing functions for nonlinear and mixed complementarity problems, Comput. Optim.
    Appl. 5, 1996]. Fixed values, and multipliers of values without bounds, stay too.
    """
    value, lam = value.copy(), lam.copy()
    width = np.where(upper > lower, upper - lower, np.inf)
    at_lower = (value - lower) <= (upper - value)
    for sign, bound, chosen in ((-1.0, lower, at_lower), (1.0, upper, ~at_lower)):
        k = chosen & np.isfinite(bound) & (lower < upper)
        t = sign * (bound[k] - value[k]) - sign * lam[k] / stiffness
        gap = t / 2 + np.sqrt(t * t / 4 + level / stiffness)
        gap = np.clip(gap, TINY, width[k] / 2)
        value[k], lam[k] = bound[k] - sign * gap, sign * level / gap
    return value, lam
