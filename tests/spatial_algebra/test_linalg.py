"""Branch-sparse factorization, small dense solves, and the solve that survives dependent rows."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

from ocp_dyn.spatial_algebra.linalg import (
    LU,
    ancestors,
    chain,
    elimination_tree,
    ltdl,
    ltl,
    solve_cholesky,
    solve_spd,
    symmetric,
    symmetric_part,
)
from ocp_dyn.spatial_algebra.semidefinite import Semidefinite
from tests.helpers import close

TREE = [-1, 0, 1, 0, 3, 3, -1, 6]


def branch_sparse(rng: np.random.Generator, parent: list[int]) -> np.ndarray:
    """A random positive definite matrix with the pattern of the tree: L' D L."""
    n = len(parent)
    L = np.eye(n)
    for i in range(n):
        for j in ancestors(parent, i):
            L[i, j] = rng.normal()
    return L.T @ np.diag(rng.uniform(0.5, 2.0, n)) @ L


def test_ancestors():
    assert list(ancestors(TREE, 5)) == [3, 0]
    assert list(ancestors(TREE, 0)) == []
    assert chain(3) == [-1, 0, 1]


def test_symmetric_matrices(rng):
    """By the upper triangle, or by the mean of both; the inverse, equal to its transpose."""
    A = rng.normal(size=(3, 3))
    close(symmetric(DM(A)), np.triu(A) + np.triu(A, 1).T)
    close(symmetric_part(DM(A)), (A + A.T) / 2)
    assert symmetric(SX.sym("a", 2, 2))[1, 0].is_leaf()
    H = branch_sparse(rng, TREE)
    inverse = ltdl(ca.sparsify(DM(H)), TREE).inverse_matrix().full()
    close(inverse, np.linalg.inv(H))
    assert np.array_equal(inverse, inverse.T)


@pytest.mark.parametrize("kind", [DM, SX, MX])
@pytest.mark.parametrize("columns", [1, 3])
def test_factor_solves_and_keeps_the_pattern(rng, kind, columns):
    A, b = branch_sparse(rng, TREE), rng.normal(size=(len(TREE), columns))
    sparse = ca.sparsify(DM(A))
    As, bs = kind(sparse), kind(DM(b))
    factor = ltdl(As, TREE)
    assert [set(row) for row in factor.L] == [set(ancestors(TREE, i)) for i in range(len(TREE))]
    x = factor.solve(bs)
    halves = factor.solve_Lt(bs).T @ factor.scale(factor.solve_Lt(bs))
    x, halves = ca.Function("f", [], [ca.densify(x), ca.densify(halves)])().values() if kind is not DM else (x, halves)
    close(x, np.linalg.solve(A, b).squeeze())
    close(halves, (b.T @ np.linalg.solve(A, b)).squeeze())


@pytest.mark.parametrize("kind", [DM, SX, MX])
@pytest.mark.parametrize("factorize", [ltdl, ltl])
@pytest.mark.parametrize("columns", [1, 3])
def test_products_and_solves_with_the_factor(rng, kind, factorize, columns):
    """L x, L' x, their inverses, A x and A^-1 x, of L as a full matrix."""
    n = len(TREE)
    A, b = branch_sparse(rng, TREE), rng.normal(size=(n, columns))
    numbers, factor = (factorize(t(ca.sparsify(DM(A))), TREE) for t in (DM, kind))
    L = np.eye(n) if factorize is ltdl else np.diag([float(d) for d in numbers.d])
    for i, row in enumerate(numbers.L):
        for j, value in row.items():
            L[i, j] = float(value)
    close(L.T @ (np.diag([float(d) for d in numbers.d]) if factorize is ltdl else np.eye(n)) @ L, A)
    for method, expected in (
        ("multiply_L", L @ b), ("multiply_Lt", L.T @ b), ("solve_L", np.linalg.solve(L, b)),
        ("solve_Lt", np.linalg.solve(L.T, b)), ("multiply", A @ b), ("solve", np.linalg.solve(A, b)),
    ):  # fmt: skip
        x = getattr(factor, method)(kind(DM(b)))
        close(ca.Function("f", [], [ca.densify(x)])()["o0"] if kind is not DM else x, expected.squeeze())


def test_a_factor_shows_its_branch_pattern(rng):
    A = ca.sparsify(DM(branch_sparse(rng, [-1, 0, 0, 2])))
    lines = repr(ltdl(A, [-1, 0, 0, 2])).split("\n")
    assert lines == ["LTDL 4 x 4, 4 of 6 entries below the diagonal", "1", "x 1", "x . 1", "x . x 1"]
    assert repr(ltl(A, [-1, 0, 0, 2])).split("\n")[1:3] == ["d", "x d"]


@pytest.mark.parametrize("kind", [DM, SX])
def test_dense_cholesky(rng, kind):
    for A in (branch_sparse(rng, TREE), branch_sparse(rng, chain(5)), np.eye(1) * 4):
        b = rng.normal(size=(len(A), 2))
        close(ca.evalf(SX(solve_cholesky(kind(ca.sparsify(DM(A))), kind(DM(b))))), np.linalg.solve(A, b))


def test_fill_in_along_a_path_is_kept(rng):
    """An arrow matrix: zero between a tip and the middle of its path, which the elimination fills in."""
    A = np.diag([5.0, 4.0, 3.0, 2.0])
    A[0, 3] = A[3, 0] = A[1, 3] = A[3, 1] = 0.7  # row 1, column 0 is zero, and fills in
    b = rng.normal(size=4)
    close(ltdl(ca.sparsify(DM(A)), chain(4)).solve(DM(b)), np.linalg.solve(A, b))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_dense_solve(rng, n):
    A = rng.normal(size=(n, n))
    A, b = A @ A.T + np.eye(n), rng.normal(size=(n, 4))
    close(solve_spd(DM(A), DM(b)), np.linalg.solve(A, b))


def test_semidefinite_solve_of_full_rank_is_the_solve(rng):
    A = rng.normal(size=(5, 5))
    A, b = A @ A.T, rng.normal(size=5)
    close(Semidefinite.of(DM(A)).solve(DM(b)), np.linalg.solve(A, b), 1e-9)  # as ill-conditioned as A


@pytest.mark.parametrize("rows", [[0, 0], [0, 1, 0], [0, 1, 2, 1, 0], [2, 2, 2, 0]])
def test_semidefinite_solve_skips_rows_that_repeat(rng, rows):
    B = rng.normal(size=(3, 6))[rows]
    A = B @ B.T
    b = A @ rng.normal(size=len(rows))
    x = Semidefinite.of(DM(A)).solve(DM(b)).full().ravel()
    close(A @ x, b, 1e-9)  # the tolerance for rank is 1e-12
    repeated = [k for k, row in enumerate(rows) if row in rows[:k]]
    close(x[repeated], np.zeros(len(repeated)))


def test_semidefinite_solve_skips_zero_rows_structural_or_not():
    A = DM([[2, 0, 0], [0, 0, 0], [0, 0, 4]])
    for matrix in (A, ca.sparsify(A), SX(A), SX(ca.sparsify(A))):
        close(ca.evalf(SX(Semidefinite.of(matrix).solve(type(matrix)(DM([2, 0, 4]))))), [1, 0, 1])


def test_semidefinite_solve_has_finite_derivatives_where_rows_repeat():
    a = SX.sym("a")
    row = ca.vertcat(a, 2 * a, a)
    x = Semidefinite.of(row @ row.T).solve(row * a)
    assert np.all(np.isfinite(ca.Function("f", [a], [ca.jacobian(x, a)])(0.7).full()))


def test_the_inverse_factor_keeps_the_pattern(rng):
    """L^-1 has entries at ancestors only, also where L lacks one that fill-in along the path brings."""
    n = len(TREE)
    A = branch_sparse(rng, TREE)
    L = np.eye(n)
    factor = ltdl(ca.sparsify(DM(A)), TREE)
    for i, row in enumerate(factor.L):
        for j, value in row.items():
            L[i, j] = float(value)
    found = np.eye(n)
    for i, row in enumerate(factor.with_inverted_L().L):
        assert set(row) <= set(ancestors(TREE, i))
        for j, value in row.items():
            found[i, j] = float(value)
    close(found, np.linalg.inv(L))
    # a path 0 - 1 - 2 without the entry (2, 0): it appears in the inverse
    B = np.array([[2.0, 0.5, 0.0], [0.5, 2.0, 0.3], [0.0, 0.3, 1.0]])
    path = ltdl(ca.sparsify(DM(B)), chain(3))
    assert 0 not in path.L[2]
    close(path.with_inverted_L().L[2][0], path.L[2][1] * path.L[1][0])


def test_many_columns_at_once(rng):
    """A branching tree goes by L^-1, with zeros in b as well: the same as column by column."""
    A, b = branch_sparse(rng, TREE), rng.normal(size=(len(TREE), 6))
    b[rng.uniform(size=b.shape) < 0.5] = 0
    factor = ltdl(ca.sparsify(DM(A)), TREE)
    close(factor.solve(ca.sparsify(DM(b))), np.linalg.solve(A, b))


# Factors of sparse matrices without a tree of their own


def sparse_matrix(rng: np.random.Generator, n: int) -> np.ndarray:
    """A matrix with a large diagonal and a fifth of the other entries."""
    return rng.normal(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.2) + 4 * np.eye(n)


@pytest.mark.parametrize("seed", range(5))
def test_LU_of_a_sparse_matrix(seed):
    rng = np.random.default_rng(seed)
    A, b = sparse_matrix(rng, 9), rng.normal(size=(9, 2))
    factor = LU.of(ca.sparsify(DM(A)))
    np.testing.assert_allclose(factor.solve(DM(b)).full(), np.linalg.solve(A, b), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(factor.solve_transposed(DM(b)).full(), np.linalg.solve(A.T, b), rtol=1e-12, atol=1e-12)


def test_LU_fills_in_where_elimination_must_only():
    A = ca.diagcat(ca.SX.sym("A", 2, 2), ca.SX.sym("B", 3, 3))
    factor = LU.of(A)
    assert sum(map(len, factor.L)) == 1 + 3
    assert sum(map(len, factor.U)) == 3 + 6


@pytest.mark.parametrize("seed", range(5))
def test_elimination_tree_of_any_pattern(seed):
    """By its tree `ltdl` solves, and fills in as little as the order of elimination allows."""
    rng = np.random.default_rng(seed)
    B = sparse_matrix(rng, 10)
    A = B + B.T + 8 * np.eye(10)
    tree = elimination_tree(ca.sparsify(DM(A)))
    factor = ltdl(ca.sparsify(DM(A)), tree)
    np.testing.assert_allclose(factor.solve(DM(np.ones(10))).full()[:, 0], np.linalg.solve(A, np.ones(10)), rtol=1e-12)
    filled = A != 0
    for k in reversed(range(10)):
        before = np.flatnonzero(filled[k, :k])
        filled[np.ix_(before, before)] = True
        assert tree[k] == (before[-1] if len(before) else -1)


def test_elimination_tree_of_a_mechanism_is_its_own():
    parent = [-1, 0, 1, 1, 0, 4, -1]
    A = np.eye(7)
    for i in range(7):
        for j in (i, *ancestors(parent, i)):
            A[i, j] = A[j, i] = 1
    assert elimination_tree(ca.sparsify(DM(A))) == parent
