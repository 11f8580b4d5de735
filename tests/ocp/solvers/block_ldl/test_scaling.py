"""Scaling of the matrix in the block LDL solver: small time steps delay few pivots, units change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from ocp_dyn.native.toolchain import find_compiler
from ocp_dyn.ocp.solvers.block_ldl.library import Seen, obtain
from ocp_dyn.ocp.solvers.block_ldl.plan import ORDINARY, LdlPlan
from tests.ocp.solvers.block_ldl.kkt import Solver, backward_error, dense

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
INTERVALS = 40


@pytest.fixture(scope="module")
def library():
    made, reason = obtain(wait=True)
    assert made is not None, reason
    return made


def slide(h: float) -> tuple[LdlPlan, Seen]:
    """The KKT matrix of a point that a force keeps on a plane at every node, with time steps h; a front per interval.

    Variables of interval k: position q, velocity v, force along the normal, and a motor; rows: the step of q, in which
    the forces have the factor h^2 / 2, the step of v, and the plane at the end. The second derivatives are 1.
    """
    rng = np.random.default_rng(0)
    normal, motor = rng.normal(size=(2, 3))
    acts, size = np.stack([normal, motor], axis=1), 15
    entries: list[tuple[int, int, float]] = []
    front = np.repeat(np.arange(INTERVALS), size)

    def block(row: int, column: int, matrix: np.ndarray) -> None:
        entries.extend((row + i, column + j, matrix[i, j]) for i, j in zip(*np.nonzero(matrix), strict=True))

    for k in range(INTERVALS):
        q, v, u, step, rate, plane = size * k + np.array([0, 3, 6, 8, 11, 14])
        block(q, q, np.eye(8))
        block(step, q, -np.eye(3))
        block(step, v, -h * np.eye(3))
        block(step, u, -h * h / 2 * acts)
        block(rate, v, -np.eye(3))
        block(rate, u, -h * acts)
        if k + 1 < INTERVALS:
            block(step, q + size, np.eye(3))
            block(rate, v + size, np.eye(3))
            block(plane, q + size, normal[None])
        else:
            block(plane, u, np.array([[0.0, 1.0]]))  # the last motor is off, and the point ends at rest at the origin
    row, column, value = (np.array(part) for part in zip(*entries, strict=True))
    front[np.arange(INTERVALS - 1) * size + 14] += 1  # the plane's row, with the position at the end
    role, parent = np.full(front.size, ORDINARY), np.append(np.arange(1, INTERVALS), -1)
    arrays = (np.asarray(a, dtype=np.int32) for a in (front, role, role - 1, parent, 0 * parent))
    nothing = np.zeros(INTERVALS)
    seen = Seen(front.size, row, column, value, 0, None, None)
    return LdlPlan(*arrays, 0, 0, front.size, 0, 1, nothing, nothing), seen


@pytest.mark.parametrize(("h", "most"), [(0.1, 0), (0.03, 0), (0.003, INTERVALS), (0.001, 3 * INTERVALS)])
def test_small_time_steps_delay_few_pivots(library, h, most):
    """Without scales 36 pivots are delayed for h = 0.03, and 519 for h = 0.001, where one eigenvalue is missed."""
    plan, seen = slide(h)
    K, b = dense(seen), np.random.default_rng(1).normal(size=seen.n)
    with library.planned(plan) as figures:
        direct, delayed = Solver(library, seen), 0
        for _ in range(5):
            before = figures().delayed
            assert direct.factor(seen.values) == 7 * INTERVALS
            assert backward_error(K, direct.solve(b), b) < 1e-13
            delayed = figures().delayed - before
        assert delayed <= most
        assert figures().repeated == 0


def test_rows_in_other_units_are_the_same_matrix(library):
    """The scales follow units that are powers of two: then inertia, delayed pivots and solutions are the same."""
    plan, seen = slide(1e-1)
    rng = np.random.default_rng(2)
    b, unit = rng.normal(size=seen.n), 2.0 ** rng.integers(-20, 20, seen.n)
    found = []
    for d in (np.ones(seen.n), unit):
        with library.planned(plan) as figures:
            direct = Solver(library, seen)
            negative = direct.factor(seen.values * d[seen.rows] * d[seen.columns])
            x = direct.solve(b * d) * d
            found.append((negative, figures().delayed, x, figures().backward_error))
    (negative, delayed, x, error), (other, later, y, beside) = found
    assert negative == other == 7 * INTERVALS
    assert delayed == later == 0
    assert np.max(np.abs(x - y)) < 1e-6 * np.max(np.abs(x))
    for told, solution in ((error, x), (beside, y)):
        assert 0.1 < told / backward_error(dense(seen), solution, b) < 10


def test_entries_that_are_not_finite_or_vanish_leave_the_scales_finite(library):
    plan, seen = slide(1e-2)
    b = np.ones(seen.n)
    with library.planned(plan) as figures:
        direct = Solver(library, seen)
        for bad in (np.nan, np.inf, 1e200):
            values = seen.values.copy()
            values[5] = bad
            direct.factor(values)
        assert direct.factor(0 * seen.values) < 0  # singular
        assert direct.factor(seen.values) == 7 * INTERVALS
        x = direct.solve(b)
        assert backward_error(dense(seen), x, b) < 1e-12
        assert figures().factorizations == 5
