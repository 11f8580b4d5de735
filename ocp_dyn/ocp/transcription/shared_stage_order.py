"""Makes any program a chain of stages by copying shared variables into the state of every stage that uses them.

Stage k of a chain depends on its state x_k and its controls u_k only. An entry w of the program may be used by several
stages: a free duration, a place, a step length, a free parameter, the first state of a periodic motion, a torque whose
rate has a cost. It is then a control, or part of the state, of the first stage that uses it, its home. The state of
every later stage, up to the last that uses w, holds a copy with the dynamics w_{k+1} = w_k. These gaps are linear and
closed from the start, so all copies stay equal: the program's functions are evaluated at one w, and every derivative is
assigned to the copy in the stage in which it arises.

A jump between phases needs controls only: the state before it is the state of the stage, the state after it and the
impulse are controls. A periodic motion doubles the state, and the work of a Riccati recursion grows as its cube.

Measured beside IPOPT, per iteration: 0.8 to 1.7 times its time on the five-link biped, whose end is tied to its start,
in about as many iterations; twice its time on a periodic walk with 18 dofs by the midpoint rule, where up to 103 states
are carried along (36 iterations, IPOPT 32). On that walk by "gauss:2" fatrop's recursion loses its accuracy: it does not
converge, and may not come to an end. IPOPT is the solver for whole-body gaits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._types import Indices
from ..nlp.assembled import Assembled
from ..nlp.stage_orders import GAPS, CarriedChain, gap_kinds
from .variables import Transcription

Mask = NDArray[np.bool_]


def carried_chain(t: Transcription, program: Assembled) -> CarriedChain:
    """The chain of any program. ValueError if an interval does not lead to the next state by a gap x_{k+1} - F(x_k,
    u_k)."""
    home, state = _native_homes(t, program.n)
    stages = int(home.max()) + 1
    native = home >= 0
    free = t.program.lower < t.program.upper
    pattern = program.evaluator.jacobian_pattern
    row, column = (np.array(k, dtype=int) for k in pattern.get_triplet())
    seen = native | free
    row, column = row[seen[column]], column[seen[column]]
    at, target = _row_stages(program, home, state, row, column)
    _find_homes(program, home, free, at, row, column, stages)
    shared = at < 0  # rows of shared entries alone: where the last of them is at home
    np.maximum.at(at, row[shared[row]], home[column[shared[row]]])
    at = np.maximum(at, 0)
    last = _last_uses(program, home, at, row, column)
    return _ordered(home, state, last, at, target, stages)


def _ordered(home: Indices, state: Mask, last: Indices, at: Indices, target: Indices, stages: int) -> CarriedChain:
    """Sorts the entries by stage: native states, copies, controls; and the rows: gaps, then others."""
    place = np.full((stages, home.size), -1)
    columns, copies, source, nx, nu = [], [], [], [], []
    count = 0
    for k in range(stages):
        native, copied, controls = (home == k) & state, (home >= 0) & (home < k) & (k <= last), (home == k) & ~state
        listed = [np.flatnonzero(chosen) for chosen in (native, copied, controls)]
        source.append(place[k - 1, listed[1]])
        copies.append(count + listed[0].size + np.arange(listed[1].size))
        columns += listed
        members = np.concatenate(listed)
        place[k, members] = count + np.arange(members.size)
        count += members.size
        nx.append(listed[0].size + listed[1].size)
        nu.append(listed[2].size)
    own = np.ones(count, dtype=bool)
    own[np.concatenate(copies)] = False
    rows, ng = [], []
    for k in range(stages):
        gaps = np.flatnonzero((at == k) & (target >= 0))
        order = np.argsort(place[k + 1, target[gaps]]) if gaps.size else gaps
        others = np.flatnonzero((at == k) & (target < 0))
        rows += [gaps[order], np.full(copies[k + 1].size if k + 1 < stages else 0, -1), others]
        ng.append(others.size)
    entries, continued, asked = (np.concatenate(listed).astype(int) for listed in (columns, source, rows))
    return CarriedChain(entries, own, continued, asked, nx, nu, ng, at, home, place)


def _native_homes(t: Transcription, n: int) -> tuple[Indices, Mask]:
    """Stage of every entry that is a state or a control of an interval (-1: neither), and which entries are states.

    The state at the end of a phase belongs to the stage in which the next phase begins; a state after a jump is a
    control.
    """
    home, state = np.full(n, -1), np.zeros(n, dtype=bool)
    first = 0
    for p, (x, phase) in enumerate(zip(t.phases, t.problem.phases, strict=True)):
        for listed in (x.q, x.v):
            for k, variable in enumerate(listed):
                state[variable.index] |= k > 0 or p == 0
                home[variable.index] = first + k
        constant = x.tau if t.problem.torque == "constant" else []
        for listed in (constant, x.a, x.lam, x.inner):
            for k, variable in enumerate(listed):
                home[variable.index] = first + k
        first += phase.intervals
    return home, state


def _row_stages(
    program: Assembled, home: Indices, state: Mask, row: Indices, column: Indices
) -> tuple[Indices, Indices]:
    """Stage of every row (-1: it holds shared entries only), and the state entry that it leads to if it is a gap, else
    -1."""
    m = program.lower.size
    low, high = np.full(m, home.max() + 1), np.full(m, -1)
    native = home[column] >= 0
    np.minimum.at(low, row[native], home[column[native]])
    np.maximum.at(high, row[native], home[column[native]])
    gap = (gap_kinds(program) < len(GAPS)) & (low < high)
    ahead = native & gap[row] & state[column] & (home[column] == high[row])
    if not np.array_equal(np.bincount(row[ahead], minlength=m), gap.astype(int)):
        raise ValueError(
            "fatrop needs intervals that lead to the next state by x_{k+1} = F(x_k, u_k), and those of this integrator "
            "do not: use another integrator, or solver='ipopt'"
        )
    target = np.full(m, -1)
    target[row[ahead]] = column[ahead]
    return np.where(gap, high - 1, high), target


def _find_homes(
    program: Assembled, home: Indices, free: Mask, at: Indices, row: Indices, column: Indices, stages: int
) -> None:
    """Writes the homes of all other free entries: the first stage to which a row or a second derivative couples
    them."""
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
