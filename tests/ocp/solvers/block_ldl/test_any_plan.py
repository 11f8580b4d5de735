"""The C library on plans and matrices of any kind: trees and forests, tiles, pairs, entries given twice, many
threads."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

from ocp_dyn.native.toolchain import find_compiler
from ocp_dyn.ocp.solvers.block_ldl.library import Seen, obtain
from ocp_dyn.ocp.solvers.block_ldl.plan import DUAL, ORDINARY, PAIR, PRIMAL, LdlPlan
from tests.ocp.solvers.block_ldl.kkt import SINGULAR, Solver, backward_error, dense, inertia

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
USUAL, STRICT = 1e-8, 1e-6
"""Values of IPOPT's ma27_pivtol: a matrix is factored strictly when it is raised from the first to the second."""


@pytest.fixture(scope="module")
def library():
    made, reason = obtain(wait=True)
    assert made is not None, reason
    return made


class Rows(NamedTuple):
    front: list[int]
    role: list[int]
    tile: list[int]

    def add(self, front: int, role: int = ORDINARY, tile: int = -1) -> int:
        for values, value in zip(self, (front, role, tile), strict=True):
            values.append(value)
        return len(self.front) - 1


def tree(rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parents and threads of fronts, and whether front g is front f or above it."""
    fronts = int(rng.integers(1, 9))
    parent, thread = np.full(fronts, -1), np.full(fronts, -1)
    for f in range(fronts - 1):
        parent[f] = -1 if rng.random() < 0.1 else rng.integers(f + 1, fronts)
    above, count = np.eye(fronts, dtype=bool), 0
    for f in range(fronts - 1, -1, -1):
        up = parent[f]
        if up >= 0:
            above[f] |= above[up]
        if up >= 0 and thread[up] >= 0:
            thread[f] = thread[up]
        elif rng.random() < 0.6:
            thread[f], count = count, count + 1
    return parent, thread, above


def structure(rng) -> tuple[LdlPlan, Seen]:
    """A plan, and a matrix that it fits, without values."""
    parent, thread, above = tree(rng)
    rows, entries = Rows([], [], []), []
    for _ in range(rng.integers(1, 30)):
        rows.add(int(rng.integers(parent.size)))
    for tile in range(rng.integers(0, 4)):
        f, few, many = int(rng.integers(parent.size)), *rng.integers(0, 5, 2)
        primal = [rows.add(f, PRIMAL, tile) for _ in range(few)]
        dual = [rows.add(f, DUAL, tile) for _ in range(few if rng.random() < 0.6 else many)]
        entries += [(i, j) for i in dual for j in primal if rng.random() < 0.8]
    n, role, front, density = len(rows.role), rows.role, rows.front, rng.choice([0.1, 0.4, 1.0])
    for i, j in zip(*np.tril_indices(n), strict=True):
        tiles = (role[i] != ORDINARY) + (role[j] != ORDINARY)
        low, high = (i, j) if role[i] != ORDINARY or (role[j] == ORDINARY and front[i] <= front[j]) else (j, i)
        if tiles == 2 and (front[i] != front[j] or (DUAL in (role[i], role[j]) and i != j)):
            continue
        if above[front[low], front[high]] and rng.random() < (0.9 if i == j else density):
            entries.append((i, j))
    primals = [i for i in range(n) if role[i] != DUAL]
    for _ in range(rng.integers(0, 6)):
        s, y = rows.add(-1, PAIR), rows.add(-1, PAIR)
        entries += [(s, y), (s, s), (y, y)]
        low = front[rng.choice(primals)] if primals else 0
        fit = [x for x in primals if above[low, front[x]] and (role[x] == ORDINARY or front[x] == low)]
        entries += [(y, int(x)) for x in rng.permutation(fit)[: rng.integers(0, 6)]]
    entries += [entries[k] for k in rng.integers(0, len(entries), 3)] if entries else []
    ij = np.array(entries, dtype=np.int64).reshape(-1, 2)
    ij = ij[rng.permutation(len(ij))]
    ij[::2] = ij[::2, ::-1]
    arrays = (np.array(a, dtype=np.int32) for a in (*rows, parent, thread))
    plan = LdlPlan(*arrays, 0, 0, n, 0, 1, np.zeros(parent.size), np.zeros(parent.size))
    return plan, Seen(len(rows.role), ij[:, 0].copy(), ij[:, 1].copy(), np.zeros(len(ij)), 0, None, None)


def values_of(rng, plan: LdlPlan, seen: Seen) -> np.ndarray:
    """Values, of which some are zero; slacks have a positive diagonal, inequality rows a negative one, as IPOPT's."""
    i, j = np.maximum(seen.rows, seen.columns), np.minimum(seen.rows, seen.columns)
    values = rng.normal(size=i.size)
    values[rng.random(i.size) < rng.choice([0.0, 0.1, 0.4])] = 0.0
    if rng.random() < 0.7:
        values[(plan.role[i] == DUAL) & (i == j)] = 0.0
    pair = (plan.role[i] == PAIR) & (plan.role[j] == PAIR)
    row = pair & (i == j) & np.isin(i, i[pair & (i != j)])
    values[pair] = np.abs(values[pair])
    values[row] *= -1
    values[pair & (i != j)] = -1.0
    return values


def run(library, plan: LdlPlan, seen: Seen, steps) -> list[tuple[int, np.ndarray]]:
    """Results of all steps, of which each is a threshold, values and a right side."""
    found = []
    with library.planned(plan) as figures:
        direct = Solver(library, seen)
        assert direct.analysis == 0
        for threshold, values, b in steps:
            direct._cntl[0] = threshold
            negative = direct.factor(values)
            found.append((negative, direct.solve(b) if negative >= 0 else b))
        assert figures().failure == 0
        raised = sum(after > before for (before, *_), (after, *_) in pairwise(steps))
        assert figures().repeated == raised  # no solution was too inaccurate
    return found


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.slow
def test_plans_and_matrices_of_any_kind(library, seed):
    """Inertia and solutions beside dense algebra; the same bits again, and by more threads than there are subtrees."""
    rng = np.random.default_rng(seed)
    plan, seen = structure(rng)
    steps = [
        (rng.choice([USUAL, USUAL, STRICT]), values_of(rng, plan, seen), rng.normal(size=seen.n)) for _ in range(8)
    ]
    found = run(library, plan, seen, steps)
    for threads in (1, 40):
        again = run(library, replace(plan, threads=threads), seen, steps)
        assert [negative for negative, _ in again] == [negative for negative, _ in found]
        assert all(np.array_equal(x, y) for (_, x), (_, y) in zip(again, found, strict=True))
    for (_, values, b), (negative, x) in zip(steps, found, strict=True):
        K = dense(seen._replace(values=values))
        exact = inertia(K)
        if negative == SINGULAR:
            assert exact.rank_deficient
            continue
        assert exact.least <= negative <= exact.most
        if np.linalg.cond(K) < 1e4:  # no refinement was needed
            assert backward_error(K, x, b) < 1e-11


def negative_of(library, K: np.ndarray, primal: int) -> int:
    """Number of negative eigenvalues of a matrix in one front, whose first rows are variables."""
    n, alone = len(K), np.full(1, -1, np.int32)
    arrays = np.zeros(n, np.int32), np.full(n, ORDINARY, np.int32), np.full(n, -1, np.int32), alone, alone.copy()
    plan = LdlPlan(*arrays, primal, 0, n - primal, 0, 1, np.zeros(1), np.zeros(1))
    rows, columns = np.tril_indices(n)
    with library.planned(plan):
        return Solver(library, Seen(n, rows, columns, np.zeros(rows.size), 0, None, None)).factor(K[rows, columns])


@pytest.mark.parametrize("sign", [1, -1, 0])
def test_a_zero_to_rounding_counts_once_whatever_its_sign(library, sign):
    """Along a variable it is negative, between multipliers the matrix is singular; a small eigenvalue is neither."""
    axes = np.linalg.qr(np.random.default_rng(8).normal(size=(5, 5)))[0]
    for size, variables, multipliers in ((3e-14, 1, SINGULAR), (1e-11, int(sign <= 0), None)):
        K = axes @ np.diag([1.0, 2.0, 0.5, 3.0, sign * size]) @ axes.T
        assert negative_of(library, K, 5) == variables
        if multipliers is not None:
            assert negative_of(library, K, 0) == multipliers
