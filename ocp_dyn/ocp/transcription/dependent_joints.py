"""Limits of dependent joints, which are rows because their coordinates are no variables; their mirror images."""

from __future__ import annotations

import numpy as np
from casadi import DM, SX

from ..nlp.program import BlockRows, Span
from ..statement.phases import Continuous, Phase
from .variables import Transcription, completed


def check_images(transcription: Transcription) -> None:
    """Checks that the mirror images of dependent joints are dependent, so that independent coordinates determine the
    image of a state."""
    problem, chosen = transcription.problem, transcription.problem.coordinates
    if transcription.mirror is None or not problem.dependent:
        return
    others = np.setdiff1d(np.arange(problem.model.nv), chosen.qd)
    mixed = np.array(DM(transcription.mirror.qd_matrix).full())[np.ix_(others, np.array(chosen.qd))]
    if np.any(mixed):
        name = problem.model.qd_names[others[int(np.argmax(np.any(mixed, axis=1)))]]
        raise ValueError(
            f"the mirror image of the dependent coordinate {name!r} is independent: in a mirrored period make the same "
            "joints of both sides dependent, or write Periodic(mirror=False)"
        )


def add_limits(transcription: Transcription, p: int, phase: Phase) -> None:
    """Adds the limits of dependent joints at the nodes, as rows; those of independent joints are bounds of
    variables."""
    problem, x = transcription.problem, transcription.phases[p]
    dofs, chosen = problem.model.dofs, problem.coordinates
    q_low, q_high = (np.delete(limit, chosen.q) for limit in (dofs.q_lower, dofs.q_upper))
    fastest = np.delete(dofs.qd_max, chosen.qd)
    limited, fast = np.isfinite(q_low) | np.isfinite(q_high), np.isfinite(fastest)
    if not problem.limits or not (np.any(limited) or np.any(fast)):
        return
    at, rate = (np.delete(np.arange(n), k) for n, k in ((problem.model.nq, chosen.q), (problem.model.nv, chosen.qd)))

    def body(z: dict[str, SX], rows: BlockRows) -> None:
        z = completed(transcription, z)
        rows.constrain("position", z["q"][at[limited].tolist()], q_low[limited], q_high[limited])
        rows.constrain("speed", z["qd"][rate[fast].tolist()], -fastest[fast], fastest[fast])

    joined = p > 0 and isinstance(problem.resolved.transitions[p - 1], Continuous)
    block = transcription.program.block(f"limits of dependent joints in {phase.name}", x.state(0), body)
    for k in range(int(joined), phase.grid.count + 1):
        block.add(x.state(k), Span.node(p, k))
