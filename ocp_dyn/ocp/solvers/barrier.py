"""The relaxed logarithmic barrier, which turns inequalities into smooth terms of the cost.

    B(s) = -ln s                                      for s > delta,
    B(s) = ((s - 2 delta)^2 / delta^2 - 1) / 2 - ln delta   else,

for rows s >= 0. B is twice continuously differentiable, convex, and finite even if a row is violated, so that a solver
may start from any iterate. (J. Hauser & A. Saccon, A barrier function method for the optimization of trajectory
functionals with constraints, CDC 2006; C. Feller & C. Ebenbauer, Relaxed logarithmic barrier function based model
predictive control of linear systems, IEEE Trans. Autom. Control 62, 2017.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._base.types import Array


class Barrier(NamedTuple):
    """The barrier of rows with bounds: weight times B(distance from the bound), summed over both bounds of every row.

    relaxation: delta, in the scale of the rows.
    """

    weight: float
    relaxation: float

    def slope(self, value: Array, lower: Array, upper: Array) -> Array:
        """First derivatives of the barrier by the rows' values; zero for a row without bounds."""
        return self.weight * (self._slope(value - lower) - self._slope(upper - value))

    def curvature(self, value: Array, lower: Array, upper: Array) -> Array:
        """Second derivatives of the barrier by the rows' values."""
        return self.weight * (self._curvature(value - lower) + self._curvature(upper - value))

    def _slope(self, s: Array) -> Array:
        delta = self.relaxation
        return np.where(s > delta, -1 / np.maximum(s, delta), (np.minimum(s, delta) - 2 * delta) / delta**2)

    def _curvature(self, s: Array) -> Array:
        return np.asarray(1 / np.maximum(s, self.relaxation) ** 2)
