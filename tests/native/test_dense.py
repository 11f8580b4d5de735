"""The dense kernels in C: fronts, products and solves, against numpy."""

import subprocess
import threading
from itertools import product

import numpy as np
import pytest

from ocp_dyn.native.toolchain import find_compiler
from tests.native.fronts import (
    KINDS,
    SIZES,
    SOURCES,
    Front,
    aligned,
    check,
    dense_library,
    factor,
    kkt,
    matrix,
    symmetric,
)

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@pytest.fixture
def library():
    return dense_library()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
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
