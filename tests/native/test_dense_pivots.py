"""Pivots of fronts: rows without good ones are delayed, and no others."""

import numpy as np
import pytest

from ocp_dyn.native.toolchain import find_compiler
from tests.native.fronts import check, dense_library, factor, symmetric

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@pytest.fixture
def library():
    return dense_library()


@pytest.mark.parametrize("m", [0, 1, 30])
@pytest.mark.parametrize("threshold", [1e-8, 0.1])
def test_columns_of_zeros_are_delayed(library, m, threshold):
    rng = np.random.default_rng(3)
    A, zero = symmetric(rng, 60 + m), np.array([0, 7, 30, 58, 59])
    A += 200 * np.eye(60 + m)
    A[np.ix_(zero, range(60))] = A[np.ix_(range(60), zero)] = 0
    front = check(library, A, 60, threshold)
    assert sorted(front.order[front.e : 60]) == zero.tolist()


@pytest.mark.parametrize("coupling", [0.0, 1e-12, 1.0])
@pytest.mark.parametrize("m", [0, 20])
@pytest.mark.slow
def test_columns_of_rounding_errors_are_delayed(library, m, coupling):
    """Dependent rows leave columns of rounding errors; small boundary entries beside these would pass the bound."""
    rng = np.random.default_rng(4)
    for n in (12, 60, 150):
        k = n // 3
        J = rng.standard_normal((k, n - k))
        J[-2:] = rng.standard_normal((2, k - 2)) @ J[:-2]
        A = symmetric(rng, n + m) * coupling
        A[:n, :n] = np.block([[np.diag(10.0 ** rng.uniform(-3, 3, n - k)), J.T], [J, np.zeros((k, k))]])
        front = check(library, A, n)
        assert front.e == n - 2
        assert front.negative == k - 2
        assert abs(front.S[2:, 2:]).max(initial=0) <= 1e6 * coupling
        scale = 2.0 ** rng.integers(-4, 4, n + m)
        assert check(library, A * scale[:, None] * scale, n).e == n - 2
        if m:  # the same after the pivot of a row with a large boundary entry has been withdrawn
            strong = n - k - 1
            A[n:, strong] = A[strong, n:] = 1e12
            front = check(library, A, n)
            assert front.e == n - 3
            assert strong in front.order[front.e : n]


def test_small_pivots_that_are_exact_are_no_rounding_errors(library):
    """A fixed entry with a row of its own: its pivot -1e-16 is exact, because nothing was canceled."""
    front = check(library, np.array([[1e16, 1.0], [1.0, 0.0]]), 2)
    assert front.e == 2
    assert front.negative == 1


def with_entries(size: int, entries: dict[tuple[int, int], float]) -> np.ndarray:
    A = np.zeros((size, size))
    for (i, j), value in entries.items():
        A[i, j] = A[j, i] = value
    return A


ALMOST_ONE = 1 + 4e-16
"""A diagonal entry of which an elimination with 1 leaves a rounding error."""


def test_rounding_errors_are_known_after_rows_have_changed_places(library):
    """Rows 1 and 3 are a pivot, for which row 2 gives way; row 2 is only a rounding error by then."""
    A = with_entries(4, {(0, 0): 1, (2, 0): 1, (2, 2): ALMOST_ONE, (3, 1): 1})
    front = check(library, A, 4)
    assert (front.e, front.order[3]) == (3, 2)


def test_rounding_errors_are_known_after_pivots_have_been_withdrawn(library):
    A = with_entries(4, {(0, 0): 1, (2, 0): 1, (2, 2): ALMOST_ONE, (1, 1): 1, (3, 1): 1e12})
    assert check(library, A, 3).e == 1


def test_a_column_with_one_exact_entry_is_no_rounding_error(library):
    entries = {
        (0, 0): 1,
        (1, 0): 1,
        (2, 0): 1,
        (1, 1): ALMOST_ONE,
        (2, 1): 1 + 1e-15,
        (2, 2): 5,
        (3, 1): 1e-16,
        (3, 3): 1,
    }
    assert check(library, with_entries(4, entries), 4).e == 4


def test_pivots_below_the_given_size_are_delayed(library):
    A = np.diag([3.0, 1e-3, -2.0, -1e-3])
    A[3, 1] = A[1, 3] = 1e-3
    assert check(library, A, 4, tiny=2e-3).e == 2
    assert check(library, A, 4, tiny=1e-9).e == 4
    assert check(library, np.zeros((5, 5)), 4).e == 0
    A[2, 2] = A[3, 1] = A[1, 3] = 1e-5
    assert check(library, A, 3, tiny=2e-3).e == 1
    assert check(library, np.array([[1e-310]]), 1).e == 0


def test_a_row_with_a_large_boundary_entry_is_delayed_alone(library):
    rng = np.random.default_rng(6)
    A = symmetric(rng, 90)
    A[:50, :50] += 100 * np.eye(50)
    A[np.ix_([20], range(50, 90))] = A[np.ix_(range(50, 90), [20])] = 1e12
    for threshold in (1e-8, 0.1):
        front = check(library, A, 50, threshold)
        assert front.order[front.e : 50].tolist() == [20]


def test_the_diagonal_is_a_pivot_where_the_boundary_forbids_a_better_one(library):
    A = np.array([[0.5, 1.0, 0.0], [1.0, 0.0, 1e3], [0.0, 1e3, 1.0]])
    assert check(library, A, 2).e == 2
    front = check(library, A, 2, 0.1)
    assert (front.e, front.order[0]) == (1, 0)


def test_the_largest_entry_of_a_column_is_a_pivot_where_the_boundary_forbids_a_better_one(library):
    """From row 0 the search goes on to rows 1 and 2, but row 2 has a large boundary entry."""
    A = np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 2.0, 0.0], [0.0, 2.0, 0.0, 1e3], [0.0, 0.0, 1e3, 1.0]])
    front = check(library, A, 3, 0.1)
    assert (front.e, set(front.order[:2])) == (2, {0, 1})


def test_rows_that_failed_are_tried_again_after_others(library):
    """Row 0 has a large boundary entry, which forbids every pivot with it until rows 1 and 2 have enlarged it."""
    A = np.array(
        [[1.0, 1, 2, -100, -100], [1, 2, -1, 0, 0], [2, -1, 0, 0, 0], [-100, 0, 0, 1, -2], [-100, 0, 0, -2, 0]]
    )
    assert check(library, A, 3, 0.1).e == 3


@pytest.mark.parametrize("sign", [1, -1])
def test_pivots_of_two_rows_may_be_definite(library, sign):
    """Each row alone is too small for its boundary entry, both together are not."""
    A = sign * np.array([[1.0, 0.99, 10.5], [0.99, 1.0, 10.5], [10.5, 10.5, 1.0]])
    front = check(library, A, 2, 0.1)
    assert (front.e, front.negative) == (2, 1 - sign)


def test_high_thresholds_bound_the_own_rows_too(library):
    rng = np.random.default_rng(9)
    for m in (0, 5):
        assert check(library, symmetric(rng, 60 + m), 60, 0.45).e > 20
    A = np.array([[0.63, 1.0, 0.999], [1.0, 0.63, -0.999], [0.999, -0.999, 0.2]])
    check(library, A, 3, 0.45)


def test_a_pivot_of_two_rows_may_be_withdrawn(library):
    """Pairs (2j, 2j+1) are pivots together; one of them has a large boundary entry and goes with its partner."""
    n, m = 60, 10
    A = np.kron(np.eye((n + m) // 2), [[0.0, 1.0], [1.0, 0.0]])
    A[n:, :n] = 0.1
    A[n:, 25] = 1e12
    A[:n, n:] = A[n:, :n].T
    front = check(library, A, n)
    assert sorted(front.order[front.e : n]) == [24, 25]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (3, 3), (19, 2), (30, 5), (36, 30), (39, 39)])
def test_numbers_that_are_not_finite_are_reported(library, value, place):
    A = symmetric(np.random.default_rng(7), 40)
    A[place] = A[place[::-1]] = value
    assert factor(library, A, 20) is None


def test_overflow_is_reported_or_left_to_the_parent(library):
    A = np.full((40, 40), 1e308)
    A[np.diag_indices(40)] = -1e308
    for n in (20, 40):
        front = factor(library, A, n)
        assert front is None or np.isfinite(front.L).all()
