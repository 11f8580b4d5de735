"""A ground whose height is known on a grid: what files keep of a height that is a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ...._types import Array, Expr


@dataclass(frozen=True, eq=False)
class HeightTable:
    """Height [m] between the points of a grid, bilinear, and constant beyond; x (n), y (m) [m], z (n, m) [m].

    A function of x and y: numbers and MX expressions.
    """

    x: Array
    y: Array
    z: Array

    def __call__(self, x: Any, y: Any) -> Expr:
        """The height at (x, y) [m]; TypeError for SX expressions, which cannot look up a table."""
        if isinstance(x, SX) or isinstance(y, SX):
            raise TypeError("a ground that was read from a file is a table, which has no SX expression; use MX")
        x = ca.fmin(ca.fmax(x, self.x[0]), self.x[-1])
        y = ca.fmin(ca.fmax(y, self.y[0]), self.y[-1])
        table = ca.interpolant("ground", "linear", [self.x.tolist(), self.y.tolist()], self.z.ravel(order="F").tolist())
        found: Expr = table(ca.horzcat(x, y).T).T
        return found if isinstance(found, ca.MX) else DM(found)

    @staticmethod
    def of(height: Any, low: Array, high: Array, points: int = 81) -> HeightTable:
        """The table of a function of numbers x and y, on a grid from `low` (2) to `high` (2) [m]."""
        x, y = (np.linspace(a, b, points) for a, b in zip(low, high, strict=True))
        X, Y = np.meshgrid(x, y, indexing="ij")
        z = np.array(DM(height(DM(X.ravel()), DM(Y.ravel()))).full()).reshape(points, points)
        return HeightTable(x, y, z)
