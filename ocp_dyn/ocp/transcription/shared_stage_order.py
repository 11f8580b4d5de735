"""Makes any program a chain of stages by copying shared variables into the state of every stage that uses them.

Stage k of a chain depends on its state x_k and its controls u_k only. An entry w of the program may be used by several
stages: a free duration, a place, a step length, a free parameter, the first state of a periodic motion, a torque whose
rate has a cost. It is then a control, or part of the state, of the first stage that uses it, its home. The state of
every later stage, up to the last that uses w, holds a copy with the dynamics w_{k+1} = w_k. These gaps are linear and
closed from the start, so all copies stay equal: the program's functions are evaluated at one w, and every derivative is
assigned to the copy in the stage in which it arises.

A jump between phases needs controls only: the state before it is the state of the stage, the state after it and the
impulse are controls. A periodic motion doubles the state, and the work of a Riccati recursion grows as its cube.

Measured time of FATROP per iteration, relative to IPOPT with MUMPS: 0.8 to 1.7 on the five-link biped, whose end is tied
to its start, in about as many iterations; 2 on a periodic walk with 18 dofs by the midpoint rule, where stages have up to
103 copied states (36 iterations, IPOPT 32).

On that walk by "gauss:2" FATROP does not converge, and may not return. Its recursion eliminates controls with the rows
that tie the end to the start, beginning with the last intervals, whose accelerations move a position by about h^2:
pivots go down to 4e-6, entries of the stages' Hessians up to 8e16 beside eigenvalues of 1e-3, which takes more digits
than a double has. The residual of its linear equations is then above one, every Hessian looks indefinite, and FATROP
adds multiples of the identity without a limit. docs/theory/optimal_control.md has the measurements, and what its option
linsol_lu_fact_tol changes. IPOPT is the solver for whole-body gaits.
"""

from __future__ import annotations

import numpy as np

from ..._types import Indices
from ..nlp.assembled import Assembled
from ..nlp.stage_orders import GAPS, Mask, SharedStageOrder, gap_kinds
from .variables import Transcription


def shared_stage_order(transcription: Transcription, program: Assembled) -> SharedStageOrder:
    """The stage order of any program.

    ValueError if an interval does not lead to the next state by a gap x_{k+1} - F(x_k, u_k).
    """
    home, state = _native_homes(transcription, program.n)
    stages = int(home.max()) + 1
    native = home >= 0
    free = transcription.program.x_lower < transcription.program.x_upper
    pattern = program.evaluator.jacobian_pattern
    row, column = (np.array(k, dtype=int) for k in pattern.get_triplet())
    seen = native | free
    row, column = row[seen[column]], column[seen[column]]
    at, target = _row_stages(program, home, state, row, column)
    _find_homes(program, home, free, at, row, column, stages)
    shared = at < 0  # rows of shared entries alone belong to the latest home of these entries
    np.maximum.at(at, row[shared[row]], home[column[shared[row]]])
    at = np.maximum(at, 0)
    last = _last_uses(program, home, at, row, column)
    return _sorted_by_stage(home, state, last, at, target, stages)


def _sorted_by_stage(
    home: Indices, state: Mask, last: Indices, at: Indices, target: Indices, stages: int
) -> SharedStageOrder:
    """Sorts the entries of every stage: native states, copies, controls; and its rows: gaps, then all others."""
    place = np.full((stages, home.size), -1)
    columns, copies, source, nx, nu = [], [], [], [], []
    count = 0
    for k in range(stages):
        native, copied, controls = (home == k) & state, (home >= 0) & (home < k) & (k <= last), (home == k) & ~state
        kinds = [np.flatnonzero(mask) for mask in (native, copied, controls)]
        source.append(place[k - 1, kinds[1]])
        copies.append(count + kinds[0].size + np.arange(kinds[1].size))
        columns += kinds
        members = np.concatenate(kinds)
        place[k, members] = count + np.arange(members.size)
        count += members.size
        nx.append(kinds[0].size + kinds[1].size)
        nu.append(kinds[2].size)
    own = np.ones(count, dtype=bool)
    own[np.concatenate(copies)] = False
    rows, ng = [], []
    for k in range(stages):
        gaps = np.flatnonzero((at == k) & (target >= 0))
        order = np.argsort(place[k + 1, target[gaps]]) if gaps.size else gaps
        others = np.flatnonzero((at == k) & (target < 0))
        rows += [gaps[order], np.full(copies[k + 1].size if k + 1 < stages else 0, -1), others]
        ng.append(others.size)
    entries, sources, row = (np.concatenate(parts).astype(int) for parts in (columns, source, rows))
    return SharedStageOrder(entries, own, sources, row, nx, nu, ng, at, home, place)


def _native_homes(transcription: Transcription, n: int) -> tuple[Indices, Mask]:
    """Stage of every entry that is a state or a control of an interval (-1: neither), and a mask of the states.

    The state at the end of a phase belongs to the stage in which the next phase begins; a state after a jump is a
    control.
    """
    home, state = np.full(n, -1), np.zeros(n, dtype=bool)
    first = 0
    for p, (x, phase) in enumerate(zip(transcription.phases, transcription.problem.phases, strict=True)):
        for sequence in (x.q, x.qd):
            for k, variable in enumerate(sequence):
                state[variable.index] |= k > 0 or p == 0
                home[variable.index] = first + k
        constant = x.tau if transcription.problem.torque == "constant" else []
        for sequence in (constant, x.qdd, x.lam, x.inner):
            for k, variable in enumerate(sequence):
                home[variable.index] = first + k
        first += phase.intervals
    return home, state


def _row_stages(
    program: Assembled, home: Indices, state: Mask, row: Indices, column: Indices
) -> tuple[Indices, Indices]:
    """Stage of every row (-1: it depends on shared entries only), and, for a gap, the state entry to which it leads,
    else -1."""
    m = program.row_lower.size
    low, high = np.full(m, home.max() + 1), np.full(m, -1)
    native = home[column] >= 0
    np.minimum.at(low, row[native], home[column[native]])
    np.maximum.at(high, row[native], home[column[native]])
    gap = (gap_kinds(program) < len(GAPS)) & (low < high)
    ahead = native & gap[row] & state[column] & (home[column] == high[row])
    if not np.array_equal(np.bincount(row[ahead], minlength=m), gap.astype(int)):
        raise ValueError(
            "fatrop needs intervals that lead to the next state by x_{k+1} = F(x_k, u_k), and the intervals of this "
            "integrator do not: use another integrator, or solver='ipopt'"
        )
    target = np.full(m, -1)
    target[row[ahead]] = column[ahead]
    return np.where(gap, high - 1, high), target


def _find_homes(
    program: Assembled, home: Indices, free: Mask, at: Indices, row: Indices, column: Indices, stages: int
) -> None:
    """Writes the homes of all other free entries into `home`: the first stage to which a row or a second derivative
    couples them."""
    other = free & (home < 0)
    first = np.full(home.size, stages)
    joined = other[column] & (at[row] >= 0)
    np.minimum.at(first, column[joined], at[row[joined]])
    i, j = (np.array(k, dtype=int) for k in program.evaluator.hessian_pattern.get_triplet())
    for a, b in ((i, j), (j, i)):
        joined = other[a] & (home[b] >= 0)
        np.minimum.at(first, a[joined], home[b[joined]])
    home[other] = np.minimum(first[other], stages - 2)  # the last stage has no controls


def _last_uses(program: Assembled, home: Indices, at: Indices, row: Indices, column: Indices) -> Indices:
    """The last stage that uses each entry."""
    last = home.copy()
    np.maximum.at(last, column, at[row])
    i, j = (np.array(k, dtype=int) for k in program.evaluator.hessian_pattern.get_triplet())
    known = (home[i] >= 0) & (home[j] >= 0)
    together = np.maximum(home[i[known]], home[j[known]])
    np.maximum.at(last, i[known], together)
    np.maximum.at(last, j[known], together)
    return last
