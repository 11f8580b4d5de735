"""The quadratic program of a moving window, and its solution, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...._base.types import Array

ABSENT = 1e19
"""Bounds of this size or more are absent, and prices of this size or more are infinite: STAGE_QP_ABSENT in C."""

STATUSES = ("solved", "iterations", "relaxed", "contradiction", "not finite", "sizes")
"""The statuses of a solution, in the order of the C code. "iterations": the most iterations were made, the residuals
tell how far they came; "relaxed": solved, but rows with a price are violated; "contradiction": rows of E contradict
each other or the first state; "not finite": a number of the program or of a step is not finite."""


class StageSizes(NamedTuple):
    """Sizes of a program: stages N, states nx, controls nu, rows m of C and ne of E; dense: F is given."""

    stages: int
    nx: int
    nu: int
    m: int
    ne: int
    dense: bool = False


@dataclass(frozen=True, eq=False)
class StageQP:
    """A convex quadratic program in N stages, z_k = (x_k, u_k), and a last stage of which only x counts:

        min  sum_k  z_k' diag(d_k) z_k / 2 + g_k' z_k + sum_i w_ki (C_ki z_k + c_ki)^2 / 2
        s.t. x_{k+1} = F_k z_k + b_k,   x_0 given,   E_k z_k + e_k = 0,
             lower_k <= C_k z_k + c_k <= upper_k,   zlower_k <= z_k <= zupper_k.

    d, g, zlower, zupper, zprice (N+1, nz); C (N+1, m, nz); c, w, lower, upper, price (N+1, m); E (N, ne, nz), e (N,
    ne), rows may depend on each other; b (N, nx); h (N), steps; x0 (nx).
    F: (N, nx, nz); default: positions and rates of nx / 2 double integrators whose accelerations are the first
    controls, q + h v + h^2 a / 2 and v + h a, which cost n^2 operations instead of n^3. P: (nx, nx), a term x' P x / 2
    of the last stage.
    d, w and P must be positive or zero. Bounds of 1e19 or more are absent. price, zprice: cost of a unit of violation
    (the sum of absolute values); 1e19 or more: the bound is hard. Bounds of x_0 are ignored.

    Values are what linearizations give; z = 0 is the point of linearization, and where the solver begins.
    """

    d: Array
    g: Array
    C: Array
    c: Array
    lower: Array
    upper: Array
    w: Array
    price: Array
    E: Array
    e: Array
    zlower: Array
    zupper: Array
    zprice: Array
    b: Array
    h: Array
    x0: Array
    F: Array | None = None
    P: Array | None = None

    @property
    def sizes(self) -> StageSizes:
        """Sizes by d, C, E and x0."""
        nx = len(self.x0)
        return StageSizes(
            len(self.h), nx, self.d.shape[1] - nx, self.C.shape[1], self.E.shape[1], self.F is not None
        )  # fmt: skip

    def check(self, sizes: StageSizes) -> None:
        """ValueError for an array of another shape than these sizes ask for."""
        N, nx, nu, m, ne, dense = sizes
        nz = nx + nu
        shapes = {"d g zlower zupper zprice": (N + 1, nz), "c w lower upper price": (N + 1, m), "C": (N + 1, m, nz)}
        shapes |= {"E": (N, ne, nz), "e": (N, ne), "b": (N, nx), "h": (N,), "x0": (nx,)}
        shapes |= {"F": (N, nx, nz)} if dense else {}
        shapes |= {} if self.P is None else {"P": (nx, nx)}
        for names, shape in shapes.items():
            for name in names.split():
                got = np.shape(getattr(self, name))
                if got != shape:
                    raise ValueError(
                        f"StageQP.{name} must have the shape {shape} for {N} stages of {nx} states, {nu} controls, {m} "
                        f"rows of C and {ne} of E, got {got}"
                    )
        if not dense and self.F is not None:
            raise ValueError("StageQP.F was given to a solver of double integrators: make it with dense=True")


@dataclass(frozen=True, eq=False)
class StageSolution:
    """The solution of a `StageQP`.

    z: (N+1, nz). K: (nu, nx), du_0 = K dx_0 with the barrier of the last factorization. status: one of `STATUSES`;
    iterations: factorizations. primal: largest violation of inequality rows beyond what is paid for; dual: largest
    entry of the gradient of the Lagrangian along free controls; complementarity: mean product of slacks and
    multipliers; unmet: largest residual of rows of E that contradict others; scales: root of the mean square of the
    bounded rows, and what dual and complementarity are compared with; the violation of a row is compared with its bound
    and value, and a hundredth of the first scale. violations: (N+1, m + nz), of bounds of the rows and of z.
    multipliers: (N+1, m + nz), positive at upper bounds, negative at lower ones. replaced: controls along which the
    cost is flat, which were left at zero.
    """

    z: Array
    K: Array
    status: str
    iterations: int
    primal: float
    dual: float
    complementarity: float
    unmet: float
    scales: Array
    violations: Array = field(repr=False)
    multipliers: Array = field(repr=False)
    replaced: int = 0

    @property
    def solved(self) -> bool:
        """Whether all residuals are below the tolerance; rows with a price may be violated."""
        return self.status in ("solved", "relaxed")
