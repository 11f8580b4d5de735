"""Whether a plan of fronts is right for the KKT matrix of a program: structure alone, from the evaluator's patterns."""

from __future__ import annotations

import numpy as np

from ocp_dyn.ocp.nlp.assembled import Assembled
from ocp_dyn.ocp.solvers.block_ldl.plan import DUAL, ORDINARY, PAIR, PRIMAL, LdlPlan


def check_plan(plan: LdlPlan, program: Assembled, lower: np.ndarray, upper: np.ndarray) -> None:
    """Asserts that elimination along the plan fills in nothing outside the paths from fronts to the root."""
    free = lower != upper
    equal = program.row_lower == program.row_upper
    nx, nc, nd = int(free.sum()), int(equal.sum()), int((~equal).sum())
    assert (plan.nx_free, plan.ns, plan.nc, plan.nd) == (nx, nd, nc, nd)
    size = nx + 2 * nd + nc
    for array in (plan.front, plan.role, plan.tile):
        assert array.dtype == np.int32
        assert array.shape == (size,)
    _check_tree(plan)
    x = np.where(free, np.cumsum(free) - 1, -1)
    row = np.where(equal, nx + nd + np.cumsum(equal) - 1, nx + nd + nc + np.cumsum(~equal) - 1)
    r, c = (np.array(k, dtype=int) for k in program.evaluator.jacobian_pattern.get_triplet())
    r, c = r[free[c]], c[free[c]]
    i, j = (np.array(k, dtype=int) for k in program.evaluator.hessian_pattern.get_triplet())
    both = free[i] & free[j]
    i, j = x[i[both]], x[j[both]]
    ineq = ~equal[r]
    _check_roles(plan, nx, nd, nc, row[r[~ineq]], x[c[~ineq]], i, j)
    one, other = np.concatenate([i, row[r[~ineq]]]), np.concatenate([j, x[c[~ineq]]])
    front = plan.front
    assert np.all(_related(plan, front[one], front[other]))
    _check_cliques(plan, row[r[ineq]], front[x[c[ineq]]])
    # a tile makes a clique of what it meets, with its own front
    for a, b in ((one, other), (other, one)):
        inside = plan.tile[a] >= 0
        assert np.all(front[b[inside]] >= front[a[inside]])  # nothing deeper: fill has not reached it
        _check_cliques(plan, plan.tile[a[inside]], front[b[inside]])


def _check_tree(plan: LdlPlan) -> None:
    parent, thread = plan.parent, plan.thread
    assert parent.dtype == thread.dtype == np.int32
    assert parent.shape == thread.shape
    child = np.flatnonzero(parent >= 0)
    assert np.all(parent[child] > child)
    assert np.all((thread[parent[child]] == thread[child]) | (thread[parent[child]] == -1))
    for t in range(thread.max() + 1):  # one subtree each
        members = np.flatnonzero(thread == t)
        tops = members[(parent[members] < 0) | (thread[parent[members]] == -1)]
        assert tops.size <= 1
        assert members.size
    used = plan.front[plan.front >= 0]
    assert used.max(initial=0) < parent.size


def _check_roles(plan: LdlPlan, nx: int, nd: int, nc: int, row: np.ndarray, entry: np.ndarray, i: np.ndarray,
    j: np.ndarray) -> None:  # fmt: skip
    role = plan.role
    pairs = np.concatenate([np.arange(nx, nx + nd), np.arange(nx + nd + nc, nx + 2 * nd + nc)])
    assert np.all(role[pairs] == PAIR)
    assert np.all(plan.front[pairs] == -1)
    assert np.all(plan.tile[pairs] == -1)
    assert np.all(np.isin(role[:nx], (ORDINARY, PRIMAL)))
    assert np.all(np.isin(role[nx + nd : nx + nd + nc], (ORDINARY, DUAL)))
    assert np.array_equal(plan.tile >= 0, np.isin(role, (PRIMAL, DUAL)))
    rest = np.setdiff1d(np.arange(role.size), pairs)
    assert np.all(plan.front[rest] >= 0)
    count = plan.tile.max(initial=-1) + 1
    for kind in (PRIMAL, DUAL):
        assert np.array_equal(np.unique(plan.tile[role == kind]), np.arange(count))
    low, high = np.full(count, plan.parent.size), np.full(count, -1)
    inside = plan.tile >= 0
    np.minimum.at(low, plan.tile[inside], plan.front[inside])
    np.maximum.at(high, plan.tile[inside], plan.front[inside])
    assert np.array_equal(low, high)
    inner = (role[row] == DUAL) & (role[entry] == PRIMAL)
    assert np.array_equal(plan.tile[row[inner]], plan.tile[entry[inner]])
    inner = (role[i] == PRIMAL) & (role[j] == PRIMAL)
    assert np.array_equal(plan.front[i[inner]], plan.front[j[inner]])


def _related(plan: LdlPlan, f: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Whether two fronts lie on one path to a root."""
    up = np.eye(plan.parent.size, dtype=bool)
    for k in range(plan.parent.size - 1, -1, -1):
        if plan.parent[k] >= 0:
            up[k] |= up[plan.parent[k]]
    return np.asarray(up[f, g] | up[g, f])


def _check_cliques(plan: LdlPlan, clique: np.ndarray, front: np.ndarray) -> None:
    """Asserts that the fronts of every clique lie on one path."""
    lowest = np.full(clique.max(initial=-1) + 1, plan.parent.size)
    np.minimum.at(lowest, clique, front)
    assert np.all(_related(plan, lowest[clique], front))


def eliminate(plan: LdlPlan, program: Assembled, lower: np.ndarray, upper: np.ndarray) -> list[tuple[int, int, int]]:
    """Eliminates the fronts of a KKT matrix of the program's structure by the plan: its pattern, and random numbers.

    For every front: the number of own rows, tiles eliminated; of rows above that its pattern fills, where every tile
    and every front joins all that it meets; and the rank of the own rows in numbers, which has to be full. Sums that
    cancel count as fill: whether rounding leaves a zero of them is nobody's choice. Tiles have as many rows as
    variables here.
    """
    rng = np.random.default_rng(0)
    free, equal = lower != upper, program.row_lower == program.row_upper
    J, H = np.zeros((equal.size, lower.size)), np.zeros((lower.size, lower.size))
    J[program.evaluator.jacobian_pattern.get_triplet()] = 1.0
    H[program.evaluator.hessian_pattern.get_triplet()] = 1.0
    J = (J * rng.standard_normal(J.shape))[:, free]
    H = (H * rng.standard_normal(H.shape))[free][:, free]
    H = H + H.T + 20 * np.eye(len(H)) + J[~equal].T @ J[~equal]
    J = J[equal]
    K = np.block([[H, J.T], [J, np.zeros((len(J), len(J)))]])
    meets = K != 0
    kept = np.concatenate([np.arange(plan.nx_free), plan.nx_free + plan.ns + np.arange(plan.nc)])
    front, tile = plan.front[kept], plan.tile[kept]
    sizes = []
    for f in range(plan.parent.size):
        for t in np.unique(tile[(front == f) & (tile >= 0)]):
            K, meets = _without(K, meets, np.flatnonzero(tile == t))
        own = np.flatnonzero((front == f) & (tile < 0))
        above = np.any(meets[own], axis=0) & (front > f)
        sizes.append((own.size, int(above.sum()), int(np.linalg.matrix_rank(K[np.ix_(own, own)])) if own.size else 0))
        K, meets = _without(K, meets, own)
    return sizes


def _without(K: np.ndarray, meets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The Schur complement after the elimination of some rows, which are zero then, and its pattern."""
    touched = np.flatnonzero(np.any(meets[rows], axis=0))
    rest = np.setdiff1d(touched, rows)
    K, meets = K.copy(), meets.copy()
    K[np.ix_(rest, rest)] -= K[np.ix_(rest, rows)] @ np.linalg.solve(K[np.ix_(rows, rows)], K[np.ix_(rows, rest)])
    meets[np.ix_(rest, rest)] = True
    for matrix in (K, meets):
        matrix[rows], matrix[:, rows] = 0, 0
    return K, meets
