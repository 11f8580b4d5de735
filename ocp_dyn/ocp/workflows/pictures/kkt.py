"""The pattern of the KKT matrix of a problem, with the names of its phases."""

from __future__ import annotations

from itertools import groupby

import casadi as ca
import numpy as np

from ...._base.checks import choice
from ...._base.types import Array, Indices
from ....viz.pictures.spy import ORDERS, Groups, NamedPattern
from ...statement.statement import Statement
from ...transcription.tabulate import tabulate
from ..attempt import prepare, starting_point

WHOLE = "whole motion"
"""Name of the variables and rows that belong to no phase, such as the step length."""


def kkt_pattern(problem: Statement, order: str = "kkt") -> NamedPattern:
    """The pattern of [W A'; A 0]: W the Hessian of the Lagrangian, A the Jacobian of the constraints.

    order: "kkt": variables, then constraints, each phase by phase and by time; "stages": variables and constraints
    together, by time. What belongs to no phase comes last. Builds the program of the problem if it is not built.
    """
    choice(order, ORDERS, "kkt_pattern: order")
    t, program = prepare(problem)
    with program.lock:
        x = starting_point(t, None, None, None).x
        table = tabulate(t, program, x)
    n, m = program.n, program.row_lower.size
    W, A = program.evaluator.hessian_pattern, program.evaluator.jacobian_pattern
    W = W + W.T
    K = ca.Sparsity.kkt(W, A, False, False)
    phase = np.concatenate([table.x_phase, table.g_phase])
    time = np.concatenate([table.x_time, table.g_time])
    part = np.concatenate([np.zeros(n, dtype=int), np.ones(m, dtype=int)])
    chosen = _order(phase, time, part, order)
    place = np.argsort(chosen)
    sorted_rows = place[np.array(K.row(), dtype=int)].tolist()
    sorted_columns = place[np.array(K.get_col(), dtype=int)].tolist()
    pattern = ca.Sparsity.triplet(n + m, n + m, sorted_rows, sorted_columns)
    groups = _groups([p.name for p in problem.phases], phase[chosen], part[chosen], order)
    name = (problem.model.name or "problem").replace("_", " ")
    title = f"KKT matrix of {name}: {n} variables, {m} constraints, {pattern.nnz()} nonzeros"
    return NamedPattern(pattern, row_groups=groups, column_groups=groups, title=title)


def _order(phase: Indices, time: Array, part: Indices, order: str) -> Indices:
    """Indices of variables and rows in the order in which they are drawn."""
    late = np.where(phase < 0, phase.max(initial=0) + 1, phase)
    when = np.where(np.isfinite(time), time, np.inf)
    keys = (when, late, part) if order == "kkt" else (part, when, late)
    chosen: Indices = np.lexsort(keys)
    return chosen


def _groups(names: list[str], phase: Indices, part: Indices, order: str) -> Groups:
    """Names and sizes of the groups along the axes."""
    kinds = ("", "rows: ") if order == "kkt" else ("", "")
    labels = [kinds[k] + (names[p] if p >= 0 else WHOLE).replace("_", " ") for p, k in zip(phase, part, strict=True)]
    return tuple((label, len(list(members))) for label, members in groupby(labels))
