"""The dense kernels in C: fronts, products and solves, against numpy."""

import ctypes
import subprocess
import threading
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from ocp_dyn.codegen.machine_code.toolchain import find_compiler
from ocp_dyn.ocp.solvers import chain

SOURCES = sorted(Path(chain.__file__).parent.glob("dense*.c"))
pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler, made = find_compiler(), tmp_path_factory.mktemp("dense") / "dense.so"
    flags = [*compiler.flags, "-O2", "-fvisibility=default", "-shared"]
    subprocess.run([*compiler.command, *flags, *map(str, SOURCES), "-o", str(made), "-lm"], check=True)
    library = ctypes.CDLL(str(made))
    for name, arguments in SIGNATURES.items():
        function = getattr(library, name)
        function.argtypes = [{"i": ctypes.c_long, "d": ctypes.c_double, "p": ctypes.c_void_p}[a] for a in arguments]
        function.restype = ctypes.c_long
    return library


SIGNATURES = {
    "dense_work": "ii",
    "dense_update_work": "iii",
    "dense_update": "iiipipipiip",
    "dense_front": "iipiddpppp",
    "dense_forward": "iipip",
    "dense_diagonal": "ipp",
    "dense_backward": "iipip",
}


# A front and its check


def aligned(count: int) -> np.ndarray:
    """Numbers that begin at a multiple of 64 bytes; all are NaN, so that nothing unset can be read unseen."""
    memory = np.full(count + 8, np.nan)
    offset = -memory.ctypes.data // 8 % 8
    return memory[offset : offset + count]


@dataclass
class Front:
    """A factored front: A[order][:, order] = L D L' + [0 0; 0 S]."""

    order: np.ndarray
    L: np.ndarray
    D: np.ndarray
    S: np.ndarray
    negative: int
    blocks: np.ndarray
    columns: np.ndarray

    @property
    def e(self) -> int:
        return self.D.shape[0]


def factor(library, A, n, threshold=1e-8, tiny=0.0):
    """Front of the library, or None if it reports numbers that are not finite."""
    rows = len(A)
    ld = (rows + 7) // 8 * 8
    memory, work = aligned(ld * rows), aligned(library.dense_work(n, rows - n) + 1)
    F = memory.reshape(rows, ld).T
    F[:rows] = np.where(np.tri(rows, dtype=bool), A, np.nan)
    work[-1] = 77.0
    order, blocks, negative = np.full(n, -1, dtype=np.intc), np.full(2 * n + 1, 77.0), ctypes.c_long(-1)
    outputs = order.ctypes.data, blocks.ctypes.data, ctypes.addressof(negative), work.ctypes.data
    e = library.dense_front(n, rows - n, F.ctypes.data, ld, threshold, tiny, *outputs)
    assert (work[-1], blocks[-1]) == (77.0, 77.0), "written beyond the end"
    if e < 0:
        return None
    L = np.tril(F[:rows, :e], -1) + np.eye(rows, e)
    D, S = np.diag(blocks[0 : 2 * e : 2]), np.tril(F[e:rows, e:rows])
    for j in np.flatnonzero(blocks[1 : 2 * e : 2]):
        D[j, j + 1] = D[j + 1, j] = blocks[2 * j + 1]
    whole = np.concatenate([order, np.arange(n, rows)])
    return Front(whole, L, D, S + np.tril(S, -1).T, negative.value, blocks, F[:rows, :e].copy(order="F"))


def check(library, A, n, threshold=1e-8, tiny=0.0):
    """Factors A, and checks everything that holds for all matrices."""
    front = factor(library, A, n, threshold, tiny)
    e, L, D = front.e, front.L, front.D
    assert sorted(front.order[:n]) == list(range(n))
    product, sizes = L @ D @ L.T, abs(L) @ abs(D) @ abs(L.T)
    product[e:, e:] += front.S
    sizes[e:, e:] += abs(front.S)
    wanted = A[np.ix_(front.order, front.order)]
    assert (abs(product - wanted) <= 1e-13 * (sizes + abs(wanted).max())).all()
    assert abs(L).max(initial=0) <= (1 + 1e-12) / threshold
    assert abs(L[:n]).max(initial=0) <= (2.8 if front.e == n and n == len(A) else 1 / threshold)
    pairs = np.flatnonzero(front.blocks[1 : 2 * e : 2])
    assert (np.diff(pairs) > 1).all()
    assert (pairs < e - 1).all()
    assert not L[pairs + 1, pairs].any()
    assert front.negative == (np.linalg.eigvalsh(D) < 0).sum()
    assert not front.blocks[2 * e : -1].any()
    assert not good_diagonals(front, n, threshold, max(tiny, 1e-9 * sizes.max(initial=1))).any()
    return front


def good_diagonals(front, n, threshold, noise):
    """Whether a delayed row could have been eliminated alone."""
    own = np.arange(n - front.e)
    others = abs(front.S - np.diag(np.diag(front.S)))[own]
    return (abs(front.S[own, own]) > noise) & (
        others.max(axis=1, initial=0) < 0.999 * abs(front.S[own, own]) / threshold
    )


SIZES = [(1, 0), (1, 3), (2, 5), (3, 1), (5, 9), (8, 8), (16, 3), (17, 40), (24, 25), (25, 24), (33, 17), (49, 50)]
SIZES += [(70, 13), (97, 101)]
KINDS = ["random", "definite", "KKT", "scaled", "scaled KKT", "zero columns", "low rank", "strong boundary", "one row"]


def symmetric(rng, rows):
    A = rng.standard_normal((rows, rows))
    return A + A.T


def kkt(rng, n, rows):
    """Own rows [H J'; J 0] with a singular diagonal H, shuffled; any boundary."""
    A, k = symmetric(rng, rows), n // 3
    A[:n, :n] = np.diag(rng.random(n) * (rng.random(n) < 0.5) * (np.arange(n) < n - k))
    A[n - k : n, : n - k] = J = rng.standard_normal((k, n - k))
    A[: n - k, n - k : n] = J.T
    order = np.concatenate([rng.permutation(n), np.arange(n, rows)])
    return A[np.ix_(order, order)]


def matrix(kind, rng, n, rows):
    A = kkt(rng, n, rows) if "KKT" in kind else symmetric(rng, rows)
    if "scaled" in kind:
        scale = 10.0 ** rng.uniform(-8, 8, rows)
        A *= scale[:, None] * scale
    factors, own = np.ones(rows), np.arange(rows) < n
    if kind == "definite":
        A += 2 * rows * np.eye(rows)
    if kind == "zero columns":
        A[np.ix_(own & (np.arange(rows) % 5 == 2), own)] = 0
        A[np.ix_(own, own & (np.arange(rows) % 5 == 2))] = 0
    if kind == "low rank":
        U = rng.standard_normal((n, (n + 1) // 2))
        A[:n, :n] = U @ np.diag(rng.standard_normal(U.shape[1])) @ U.T
    if kind == "strong boundary":
        factors[:n] = 10.0 ** rng.uniform(-2, 12, n)
    if kind == "one row":
        factors[n // 2] = 1e12
    A[n:, :n] *= factors[:n]
    A[:n, n:] = A[n:, :n].T
    return A


@pytest.mark.parametrize("kind", KINDS)
def test_fronts_are_factored_whatever_is_in_them(library, kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for (n, m), threshold in product(SIZES, (1e-8, 0.01, 0.3)):
        front = check(library, matrix(kind, rng, n, n + m), n, threshold)
        if kind == "definite" or (kind == "random" and threshold == 1e-8):
            assert front.e == n
        if kind == "strong boundary" and threshold == 0.3 and n > 10:
            assert 0 < front.e < n


@pytest.mark.parametrize("n", [1, 2, 7, 24, 40, 130])
def test_a_front_without_boundary_has_the_inertia_of_its_eigenvalues(library, n):
    rng = np.random.default_rng(n)
    for A in (symmetric(rng, n), kkt(rng, n, n) + 1e-3 * np.diag(rng.standard_normal(n))):
        front = check(library, A, n, 0.1)
        assert front.e == n
        assert front.negative == (np.linalg.eigvalsh(A) < 0).sum()


# Rows without good pivots


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


# Products and solves


def test_products_change_what_they_should(library):
    rng = np.random.default_rng(8)
    for m, n, k, lower in [
        (1, 1, 1, 0),
        (7, 9, 3, 0),
        (50, 31, 20, 0),
        (24, 8, 300, 0),
        (75, 75, 24, 1),
        (90, 90, 5, 1),
    ]:
        A, B, C = (rng.standard_normal((columns, rows + 3)).T for rows, columns in ((m, k), (n, k), (m, n)))
        wanted, before = C[:m] - A[:m] @ B[:n].T, C.copy()
        size = library.dense_update_work(m, n, k)
        work = aligned(size + 1)
        where = (A.ctypes.data, m + 3, B.ctypes.data, n + 3, C.ctypes.data, m + 3)
        library.dense_update(m, n, k, *where, lower, work.ctypes.data)
        right = np.tri(m, n, dtype=bool) if lower else np.ones((m, n), dtype=bool)
        assert np.allclose(C[:m][right], wanted[right], rtol=0, atol=1e-12)
        assert (C[m:] == before[m:]).all()
        assert np.isnan(work[size])


@pytest.mark.parametrize(("n", "m"), [(1, 0), (4, 3), (9, 0), (30, 41), (64, 15)])
def test_solves_follow_the_factors_and_solve_the_system(library, n, m):
    rng = np.random.default_rng(n)
    A = matrix("KKT" if n == 30 else "random", rng, n, n + m)
    if m:
        A[:n, n // 2] = A[n // 2, :n] = 0  # this row is delayed
    front, rows = check(library, A, n), n + m
    e, whole = front.e, np.eye(rows)
    whole[:, :e] = front.L
    assert e == n - (m > 0)
    x = rng.standard_normal(rows)
    forward = np.linalg.solve(whole, x)
    diagonal = np.r_[np.linalg.solve(front.D, forward[:e]), np.linalg.solve(front.S, forward[e:])]
    backward = np.linalg.solve(whole.T, diagonal)
    assert np.allclose(A[front.order][:, front.order] @ backward, x)
    for ld in (rows, rows + 5):
        L = np.full((e, ld), np.nan).T
        L[:rows] = np.where(np.tri(rows, e, -1, dtype=bool), front.columns, np.nan)
        library.dense_forward(rows, e, L.ctypes.data, ld, x.ctypes.data)
        assert np.allclose(x, forward)
        library.dense_diagonal(e, front.blocks.ctypes.data, x.ctypes.data)
        assert np.allclose(x, np.r_[diagonal[:e], forward[e:]])
        x[e:] = diagonal[e:]
        library.dense_backward(rows, e, L.ctypes.data, ld, x.ctypes.data)
        assert np.allclose(x, backward)
        x = whole @ forward


# One library, several threads


def test_threads_get_the_same_bits(library):
    matrices = [symmetric(np.random.default_rng(seed), 90) for seed in range(8)]
    alone = [factor(library, A, 50, 0.1) for A in matrices]
    together: dict[tuple[int, int], Front] = {}

    def work(number):
        for k, A in enumerate(matrices):
            together[number, k] = factor(library, A, 50, 0.1)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, (k, front) in product(range(2), enumerate(alone)):
        other = together[number, k]
        assert (other.order == front.order).all()
        assert other.L.tobytes() == front.L.tobytes()
        assert other.S.tobytes() == front.S.tobytes()


def test_the_sources_have_no_warnings():
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    for extra in ([], ["-march=native"]):
        command = [*find_compiler().command, *flags, *extra, *map(str, SOURCES)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0 or "march" in result.stderr.splitlines()[0], result.stderr
