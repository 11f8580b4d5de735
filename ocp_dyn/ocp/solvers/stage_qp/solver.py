"""The solver of `StageQP`: by the native library STAGE_QP, or the same method in numpy, some hundred times slower."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ...._base.checks import numbers, positive, whole
from ...._base.types import Array, repr_in_message, truth
from ....native.libraries import STAGE_QP
from .interior import InteriorPoint, Settings
from .statement import STATUSES, StageQP, StageSizes, StageSolution

ARRAYS = (
    "d",
    "g",
    "C",
    "c",
    "w",
    "lower",
    "upper",
    "price",
    "zlower",
    "zupper",
    "zprice",
    "E",
    "e",
    "F",
    "b",
    "P",
    "h",
)
"""The arrays of a `StageQP` in the order of stacked.c."""

ITERATIONS, TOLERANCE, START = 30, 1e-8, 0.1
"""Defaults of a solve."""


class StageSolver:
    """Solves programs of one size, again and again: each solve may begin with the multipliers of the last one.

    Primal-dual interior-point method with Mehrotra's predictor and corrector (S. Mehrotra, SIAM J. Optim. 2, 1992) on
    a Riccati recursion; rows of E are eliminated for controls stage by stage, rows that no control acts on are handed
    to the stage before. N, nx, nu, m, ne: sizes as in `StageSizes`; dense: F is given.

    Cost of an iteration: about N ((nx + nu)^2 m / 2 + (nx + nu)^2 ne + nu (nx + nu)^2 / 2) multiplications; of the
    matrices C only blocks of eight columns that are not zero count.

    >>> import numpy as np
    >>> from ocp_dyn.ocp.solvers.stage_qp.solver import StageSolver
    >>> from ocp_dyn.ocp.solvers.stage_qp.statement import StageQP
    >>> rows, none = np.zeros((11, 0)), np.full((11, 3), 1e20)  # ten steps of .1 s: a mass moves by 1 m, |force| <= 8 N
    >>> d, bound = np.array(11 * [[100.0, 1.0, 1e-3]]), np.array(11 * [[1e20, 1e20, 8.0]])
    >>> E, matrices = np.zeros((10, 0, 3)), np.zeros((11, 0, 3))
    >>> qp = StageQP(
    ...     d, 0 * d, matrices, *(5 * [rows]), E, np.zeros((10, 0)), -bound, bound, none,
    ...     b=np.zeros((10, 2)), h=np.full(10, 0.1), x0=np.array([1.0, 0.0]),
    ... )
    >>> found = StageSolver(*qp.sizes).solve(qp)
    >>> found.status, np.round(found.z[:3, 2], 3), round(float(found.z[-1, 0]), 3)
    ('solved', array([-8., -8., -8.]), -0.001)
    """

    def __init__(self, N: int, nx: int, nu: int, m: int, ne: int, dense: bool = False) -> None:
        self.sizes = StageSizes(
            whole(N, "N", 1), whole(nx, "nx", 1), whole(nu, "nu"), whole(m, "m"), whole(ne, "ne"), truth(dense, "dense")
        )
        if not dense and (nx % 2 or nu < nx // 2):
            raise ValueError(
                f"double integrators have an even number of states and nx / 2 accelerations among their controls, got "
                f"nx = {nx} and nu = {nu}: give F, with dense=True"
            )
        self._solved = False
        library, _ = STAGE_QP.obtain()
        self._method = InteriorPoint(self.sizes) if library is None else _Native(self.sizes, library.functions)

    @property
    def how(self) -> str:
        """Place in which the method runs, for reports."""
        return self._method.how

    def solve(
        self,
        qp: StageQP,
        warm: bool = False,
        iterations: int = ITERATIONS,
        tolerance: float = TOLERANCE,
        start: float = START,
    ) -> StageSolution:
        """The solution of a program.

        warm: begin with the multipliers of the last solve, `shift`ed or not. iterations: the most factorizations.
        tolerance: of the residuals, relative to their scales. start: complementarity at a warm start, relative to its
        scale: smaller for programs that differ little from the last one.
        """
        settings = Settings(
            whole(iterations, "iterations", 1), truth(warm, "warm"), positive(tolerance, "tolerance"),
            positive(start, "start"),
        )  # fmt: skip
        qp.check(self.sizes)
        found = self._method.solve(qp, settings)
        self._solved = found.status != "not finite"
        return found

    def feedback(
        self, x0: Array, iterations: int = ITERATIONS, tolerance: float = TOLERANCE, start: float = START
    ) -> StageSolution:
        """The last solution for another first state, in the time of one stage: the program of stage 0, with the cost to
        go of the solution, is solved within all its bounds; later stages answer by their gains."""
        settings = Settings(
            whole(iterations, "iterations", 1), True, positive(tolerance, "tolerance"), positive(start, "start")
        )
        x0 = numbers(x0, "x0")
        if not self._solved:
            raise ValueError("feedback: there is no solution yet, call solve first")
        if x0.shape != (self.sizes.nx,):
            raise ValueError(f"x0 must be {self.sizes.nx} numbers, got {repr_in_message(x0)}")
        return self._method.feedback(x0, settings)

    def shift(self, steps: int = 1) -> None:
        """Moves the multipliers by some stages, for a window that has moved on; the last ones are repeated."""
        self._method.shift(whole(steps, "steps", 0))

    def gains(self, k: int) -> Array:
        """K (nu, nx) of stage k in the last factorization: du_k = K dx_k."""
        return self._method.gains(whole(k, "k", 0, self.sizes.stages - 1))


class _Native:
    """The method in C."""

    how = "in C"

    def __init__(self, sizes: StageSizes, library: ctypes.CDLL) -> None:
        self.sizes, self._library = sizes, library
        N, nx, nu, m, ne, dense = sizes
        self._numbers = (ctypes.c_int * 6)(N, nx, nu, m, ne, 0 if dense else nx // 2)
        count = library.stage_qp_stacked_begin(self._numbers, None)
        if not count:
            raise ValueError(f"a StageSolver of these sizes needs too much memory, or more than 512 columns: {sizes}")
        room = np.zeros(count + 7)
        begin = -(room.ctypes.data // 8) % 8  # vectors of the processor do not cross lines of the cache
        self._memory = room[begin : begin + count]
        self._at = ctypes.c_void_p(self._memory.ctypes.data)
        library.stage_qp_stacked_begin(self._numbers, self._at)

    def solve(self, qp: StageQP, settings: Settings) -> StageSolution:
        arrays = [None if (a := getattr(qp, name)) is None else np.ascontiguousarray(a, dtype=float) for name in ARRAYS]
        addresses = (ctypes.c_void_p * len(ARRAYS))(*(None if a is None else a.ctypes.data for a in arrays))
        return self._found(self._library.stage_qp_stacked, (addresses,), qp.x0, settings)

    def feedback(self, x0: Array, settings: Settings) -> StageSolution:
        return self._found(self._library.stage_qp_stacked_feedback, (), x0, settings)

    def _found(self, call: Any, more: tuple[Any, ...], x0: Array, settings: Settings) -> StageSolution:
        """The solution that a function of the library writes."""
        N, nx, nu, m = self.sizes[:4]
        z, measures, chosen = np.zeros((N + 1, nx + nu)), np.zeros(10), np.array(settings, dtype=float)
        x0 = np.ascontiguousarray(x0, dtype=float)
        vectors = (ctypes.c_void_p(a.ctypes.data) for a in (x0, chosen, z, measures))
        status = call(self._numbers, self._at, *more, *vectors)
        K, shape = np.zeros((nu, nx)), (N + 1, m + nx + nu)
        violations, multipliers = np.zeros(shape), np.zeros(shape)
        if np.all(np.isfinite(z)) and STATUSES[status] != "not finite":
            K = self.gains(0)
            for k in range(N + 1):
                self._get(1, k, violations[k])
                self._get(2, k, multipliers[k])
        primal, dual, complementarity, unmet = (float(x) for x in measures[3:7])
        return StageSolution(
            z, K, STATUSES[status], int(measures[0]), primal, dual, complementarity, unmet, measures[7:], violations,
            multipliers, int(measures[1]),
        )  # fmt: skip

    def shift(self, steps: int) -> None:
        self._library.stage_qp_stacked_shift(self._numbers, self._at, steps)

    def gains(self, k: int) -> Array:
        K = np.zeros((self.sizes.nu, self.sizes.nx))
        self._get(0, k, K)
        return K

    def _get(self, what: int, k: int, out: Array) -> None:
        self._library.stage_qp_stacked_get(self._numbers, self._at, what, k, ctypes.c_void_p(out.ctypes.data))
