"""The stage order x0, u0, x1, u1, ... of a program whose stages share no variables.

Stage k has the state x_k = (q_k, qd_k), the controls u_k, the gaps x_{k+1} - F(x_k, u_k) and further rows of x_k, u_k.
"""

from __future__ import annotations

import numpy as np

from ..._base.types import Indices, names_in_message
from ..nlp.assembled import Assembled
from ..nlp.program import Variable
from ..nlp.stage_orders import StageOrder, gap_kinds
from ..statement.phases import Continuous
from .variables import Transcription


def stage_order(transcription: Transcription, program: Assembled) -> StageOrder:
    """The stage order of a program; ValueError, with the reason, if the program is no sequence of stages."""
    states, controls = _variables(transcription)
    stage = np.full(program.n, -1)
    for k, members in enumerate([*zip(states, controls, strict=True)]):
        for variable in (*members[0], *members[1]):
            stage[variable.index] = k
    free = transcription.program.x_lower < transcription.program.x_upper
    shared = [v.name for v in transcription.program.variables if np.any(free[v.index] & (stage[v.index] < 0))]
    if shared:
        names = ", ".join(shared[:4]) + (", ..." if len(shared) > 4 else "")
        raise ValueError(_refusal(f"all stages share the free variables {names}: fix them"))
    column = np.concatenate([v.index for pair in zip(states, controls, strict=True) for part in pair for v in part])
    rows, ng = _rows(program, stage, len(states))
    nx = [sum(v.size for v in part) for part in states]
    nu = [sum(v.size for v in part) for part in controls]
    return StageOrder(column, rows, nx, nu, ng)


def _variables(transcription: Transcription) -> tuple[list[list[Variable]], list[list[Variable]]]:
    """State and control variables of every stage; the last has no controls."""
    problem = transcription.problem
    if problem.periodic is not None:
        raise ValueError(_refusal("the motion is periodic: its last stage is tied to its first"))
    if not all(isinstance(transition, Continuous) for transition in problem.resolved.transitions):
        raise ValueError(_refusal("velocities jump between phases"))
    if problem.torque != "constant":
        raise ValueError(_refusal("torques are linear, so that two intervals share the torques of a node"))
    moving = [c.name for c in problem.parts.channels if c.kind == "control" and c.at_nodes]
    if moving:
        raise ValueError(_refusal(f"two intervals share the values of {names_in_message(moving)} at a node"))
    states: list[list[Variable]] = []
    controls: list[list[Variable]] = []
    for x, phase in zip(transcription.phases, problem.phases, strict=True):
        for k in range(phase.grid.count):
            states.append([variables[k] for track, variables in x if track.nodes])
            controls.append([variables[k] for track, variables in x if not track.nodes])
    return [*states, list(transcription.phases[-1].node(-1).values())], [*controls, []]


def _rows(program: Assembled, stage: Indices, stages: int) -> tuple[Indices, list[int]]:
    """Rows sorted by stage, gaps first, and the number of other rows of every stage."""
    pattern = program.evaluator.jacobian_pattern
    row, owner = np.array(pattern.row(), dtype=int), stage[np.array(pattern.get_col(), dtype=int)]
    m = program.row_lower.size
    low, high = np.full(m, stages), np.full(m, -1)
    inside = owner >= 0
    np.minimum.at(low, row[inside], owner[inside])
    np.maximum.at(high, row[inside], owner[inside])
    kind = gap_kinds(program)
    gap = kind < len(program.gaps)
    for k in np.flatnonzero(~gap & (high > low)):
        raise ValueError(_refusal(f"{program.row_names[k]} ties stage {low[k]} to stage {high[k]}"))
    at = np.where(gap, high - 1, np.where(high < 0, 0, high))
    order = np.lexsort((np.arange(m), kind, at))
    return order, [int(np.sum(~gap & (at == k))) for k in range(stages)]


def _refusal(reason: str) -> str:
    return (
        f"hpipm and riccati need a sequence of stages that share no variables, and this problem is none: {reason}; or "
        "use solver='ipopt', in real-time iterations qp='piqp'"
    )
