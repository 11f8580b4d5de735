"""The flow of many intervals at once, by extrapolation of the explicit midpoint rule.

The rule with n steps has an error in even powers of the step, so that its results for n = 2, 4, 6, ... are extrapolated
to n = infinity (W. B. Gragg, On extrapolation algorithms for ordinary initial value problems, SIAM J. Numer. Anal. 2,
1965; Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, sec. II.9). The last two columns of the
table differ by the error of the last but one. Where this is too large the interval is halved; where that does not help,
as for stiff equations, CVODES integrates.
"""

from __future__ import annotations

import numpy as np

from ..._base.types import Array
from .defects import Flow

LADDER = (2, 4, 6, 8, 10)
"""Numbers of steps of the midpoint rule; the last result has the order 10."""


MOST_HALVINGS = 3
"""Number of times that an interval is halved before CVODES integrates it."""


def flows(flow: Flow, x: Array, p: Array, ends: Array, tolerance: float) -> Array:
    """States (N, n) after the fractions `ends` (N) of intervals, each from its state x (N, n) with its inputs p (N, m).

    tolerance: largest estimated error of a position; intervals with a larger one are halved. Costs 35 evaluations of
    the dynamics per interval, which CasADi makes for all intervals together; 30 times less than CVODES. nan where no
    method reaches the end.
    """
    implicit = flow.own is not None and bool(flow.own.unknown)  # which long steps leave without a root
    found = np.full(x.shape, np.nan)
    if not implicit:
        found = _reached(flow, x.T, p.T, np.zeros(ends.size), ends, tolerance, MOST_HALVINGS).T
    for k in np.flatnonzero(~np.all(np.isfinite(found), axis=1)):
        found[k] = flow(x[k], shortened(p[k], flow.equations.model.nv, float(ends[k]))) if ends[k] else x[k]
    return found


def _reached(flow: Flow, x: Array, p: Array, begin: Array, end: Array, tolerance: float, halvings: int) -> Array:
    """States at the fractions `end`, from those at `begin`, one column per interval; nan where no halving helps."""
    with np.errstate(all="ignore"):
        found, error = _extrapolated(flow, x, p, begin, end)
        rough = ~(np.max(error[: flow.equations.model.nq], axis=0, initial=0.0) <= tolerance)
    if np.any(rough):
        found[:, rough] = np.nan
    if np.any(rough) and halvings:
        x, p, begin, end = x[:, rough], p[:, rough], begin[rough], end[rough]
        middle = (begin + end) / 2
        half = _reached(flow, x, p, begin, middle, tolerance, halvings - 1)
        found[:, rough] = _reached(flow, half, p, middle, end, tolerance, halvings - 1)
    return found


def shortened(p: Array, nv: int, end: float) -> Array:
    """The inputs of the first part of an interval without components: its mean torques, and its length."""
    if end == 1.0:
        return p
    if p.size != 2 * nv + 1:
        return np.full(p.size, np.nan)
    mean, rate, h = p[:nv], p[nv : 2 * nv], p[-1]
    return np.concatenate([mean + rate * h * (end - 1) / 2, rate, [h * end]])


def _extrapolated(flow: Flow, x: Array, p: Array, begin: Array, end: Array) -> tuple[Array, Array]:
    """(states, estimated errors) at the fractions `end`, from the states at `begin`; one column per interval."""
    width = end - begin

    def rate(state: Array, u: float) -> Array:
        return np.array(flow.rates(state, p, (begin + u * width)[None, :])[0].full()) * width

    first = rate(x, 0.0)
    table: list[list[Array]] = []
    for j, n in enumerate(LADDER):
        before, here = x, x + first / n
        for step in range(1, n):
            before, here = here, before + 2 / n * rate(here, step / n)
        row = [here]
        for k in range(1, j + 1):
            row.append(row[-1] + (row[-1] - table[-1][k - 1]) / ((n / LADDER[j - k]) ** 2 - 1))
        table.append(row)
    return table[-1][-1], np.abs(table[-1][-1] - table[-1][-2])
