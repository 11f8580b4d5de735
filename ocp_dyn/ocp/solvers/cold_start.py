"""Cold starts of IPOPT: the first barrier and the first multipliers of a run that knows no multipliers.

IPOPT minimizes f(x) - mu sum ln s over the distances s from all bounds, for a falling sequence of mu. On the central
path the duality gap is mu times the number of bounds. The cost is an integral, whose terms shrink with the length of an
interval, but every node and every stage adds its bounds in full: with mu = 0.1 for all programs, twice the intervals
are twice the weight of the barrier beside the cost. Then the first barrier problem is solved far from the motion that
is sought, where the Hessian is indefinite. So here the first gap is a share of the cost, and mu is the gap over the
number of bounds.

The multipliers of bounds begin at mu / s, on the central path. Those of the rows begin at zero: the estimate by least
squares balances a gradient far from the solution, and with it the curvature of the rows makes the first Hessians
indefinite; with zero they have that of the costs and the barrier alone, which are nearly convex.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._base.types import Array
from ..nlp.assembled import Assembled
from .interface import Start

IPOPTS_BARRIER = 0.1
"""First barrier parameter of IPOPT's own, which is not exceeded: programs of few bounds are left to IPOPT."""

SHARE = 0.25
"""First duality gap beside the cost of the first guess. On a human walk by gauss:2 with 31, 62 and 124 intervals it
takes 35, 32 and 38 iterations; with 248, 200 are not enough."""

GAP_OF_FREE_GUESSES = 25.0
"""First duality gap where SHARE times the cost of the guess is below 1, as of a guess without torques: such a cost
tells nothing. In the scale in which IPOPT minimizes the cost."""

STEEPEST = 100.0
"""Largest entry of the gradient of the cost that IPOPT leaves as it is; it scales the cost down to this one."""


FROM_ZERO: Mapping[str, Any] = {"bound_mult_init_method": "mu-based", "constr_mult_init_max": 0.0}
"""First multipliers of bounds on the central path, and of rows at zero."""


def cold_start(program: Assembled, start: Start, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of IPOPT for a start without multipliers, to come before those given; none if those given choose the
    barrier, or if IPOPT's own barrier has no larger gap."""
    if "mu_init" in options or options.get("mu_strategy", "monotone") != "monotone":
        return {}
    bounds = _count(start.lower, start.upper) + _count(program.row_lower, program.row_upper)
    barrier = first_gap(program, start) / max(bounds, 1)
    return {"mu_init": barrier, **FROM_ZERO} if barrier < IPOPTS_BARRIER else {}


def first_gap(program: Assembled, start: Start) -> float:
    """First duality gap, in the scale in which IPOPT minimizes the cost; infinite if the cost or its gradient is not
    finite, of which IPOPT tells more."""
    cost = abs(program.evaluator.objective(start.x, start.p))
    slopes = np.abs(program.evaluator.gradient(start.x, start.p)[start.lower < start.upper])
    steepest = float(np.max(slopes, initial=0.0))
    gap = SHARE * float(cost) * STEEPEST / max(steepest, STEEPEST)
    if not np.isfinite(steepest) or not np.isfinite(gap):
        return np.inf
    return gap if gap >= 1 else GAP_OF_FREE_GUESSES


def _count(lower: Array, upper: Array) -> int:
    """Number of finite bounds of values that are not fixed."""
    free = lower < upper
    return int(np.sum(free & np.isfinite(lower)) + np.sum(free & np.isfinite(upper)))
