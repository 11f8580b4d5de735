"""Phase, time and names of entries of every variable of a node or an interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._types import Array
from ..nlp.program import Variable
from .variables import Transcription, number


class VariableLabel(NamedTuple):
    """Place of a variable in the motion, and names of its entries.

    phase: number of the phase, -1 for a variable of no node and no interval; time [s] since the start of the motion:
    that of the node, or of the start of the interval; entries: names of degrees of freedom or of contact rows. If an
    interval has several stages, the names repeat.
    """

    phase: int = -1
    time: float = float("nan")
    entries: tuple[str, ...] = ()


def node_times(transcription: Transcription, x: Array) -> list[Array]:
    """Times [s] of the nodes of every phase since the start of the motion, at a point x of the program."""
    times, begin = [], 0.0
    for phase, variables in zip(transcription.problem.phases, transcription.phases, strict=True):
        duration = float(number(transcription, variables.duration, x)[0])
        times.append(begin + duration * np.linspace(0.0, 1.0, phase.intervals + 1))
        begin += duration
    return times


def variable_labels(transcription: Transcription, x: Array) -> dict[Variable, VariableLabel]:
    """Labels of all variables of nodes and intervals, at a point x of the program.

    A node that two phases share belongs to the earlier one.
    """
    model, problem = transcription.problem.model, transcription.problem
    motors = tuple(model.qd_names[k] for k in problem.actuated)
    q_names = tuple(model.q_names[k] for k in problem.coordinates.q)
    qd_names = tuple(model.qd_names[k] for k in problem.coordinates.qd)
    labels: dict[Variable, VariableLabel] = {}
    times = node_times(transcription, x)
    for p, (phase, variables) in enumerate(zip(problem.phases, transcription.phases, strict=True)):
        rows = tuple(row for held in phase.held for row in held.contact.rows)
        kinds = [(variables.q, q_names), (variables.qd, qd_names), (variables.tau, motors)]
        kinds += [(variables.qdd, qd_names), (variables.lam, rows), (variables.inner, ())]
        for sequence, entries in kinds:
            for k, variable in enumerate(sequence):
                labels.setdefault(variable, VariableLabel(p, float(times[p][k]), entries))
    return labels
