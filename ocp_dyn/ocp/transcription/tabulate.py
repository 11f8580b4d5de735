"""Tabulates a program at a point x: meaning and bounds of every entry of x and every row, and values of the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._base.types import Array, Indices
from ..motion.program_table import ProgramTable
from ..nlp.program import Assembled, Variable
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
        times.append(begin + duration * phase.grid.nodes)
        begin += duration
    return times


def variable_labels(transcription: Transcription, x: Array) -> dict[Variable, VariableLabel]:
    """Labels of all variables of nodes and intervals, at a point x of the program.

    A node that two phases share belongs to the earlier one.
    """
    labels: dict[Variable, VariableLabel] = {}
    times = node_times(transcription, x)
    for p, variables in enumerate(transcription.phases):
        for track, sequence in variables:
            for k, variable in enumerate(sequence):
                labels.setdefault(variable, VariableLabel(p, float(times[p][k]), track.labels))
    return labels


def tabulate(transcription: Transcription, program: Assembled, x: Array) -> ProgramTable:
    """The table of a program at a point x."""
    known_labels = variable_labels(transcription, x)
    label_of = {v: known_labels.get(v, VariableLabel()) for v in transcription.program.variables}
    labels = tuple(dict.fromkeys(name for label in label_of.values() for name in label.entries))
    number_of = {name: k for k, name in enumerate(labels)}
    scale = _entries(transcription, lambda v: v.scale)
    row, instance, g_phase, g_time = _rows(program, label_of)
    row_names = list(dict.fromkeys(program.row_names))
    index = {name: k for k, name in enumerate(row_names)}
    return ProgramTable(
        variables=tuple(v.name for v in transcription.program.variables),
        labels=labels,
        phases=tuple(phase.name for phase in transcription.problem.phases),
        rows=tuple(row_names),
        parameters=tuple(p.name for p in transcription.program.parameters),
        variable=_whole([np.full(v.size, k) for k, v in enumerate(transcription.program.variables)]),
        entry=_whole([np.arange(v.size) for v in transcription.program.variables]),
        label=_whole([_labels(v, label_of[v].entries, number_of) for v in transcription.program.variables]),
        x_phase=_whole([np.full(v.size, label_of[v].phase) for v in transcription.program.variables]),
        x_time=_entries(transcription, lambda v: np.full(v.size, label_of[v].time)),
        scale=scale,
        lower=transcription.program.x_lower * scale,
        upper=transcription.program.x_upper * scale,
        row=np.array([index[name] for name in row], dtype=int),
        instance=instance,
        g_phase=g_phase,
        g_time=g_time,
        value=program.evaluator.constraints(x, transcription.program.values).copy(),
        row_lower=program.row_lower,
        row_upper=program.row_upper,
        sizes=np.array([p.size for p in transcription.program.parameters], dtype=int),
        values=transcription.program.values,
    )


def _labels(v: Variable, names: tuple[str, ...], number_of: dict[str, int]) -> Indices:
    """Indices of the labels of a variable's entries, -1 for none; if an interval has several stages, the labels
    repeat."""
    if not names or v.size % len(names):
        return np.full(v.size, -1)
    return np.tile([number_of[name] for name in names], v.size // len(names))


def _rows(program: Assembled, label_of: dict[Variable, VariableLabel]) -> tuple[list[str], Indices, Indices, Array]:
    """Name, instance, phase and time of every row; phase and time are those of the earliest variable of its
    instance."""
    names: list[str] = []
    instance, phase, time = [], [], []
    for b in program.blocks:
        block_names = [f"{b.name}: {name}" for name in b.row_names]
        for k, variables in enumerate(b.instances if block_names else ()):
            labels = (label_of[v] for v in variables)
            earliest = min(labels, key=lambda label: (label.phase < 0, label.time), default=VariableLabel())
            names += block_names
            instance += [k] * len(block_names)
            phase += [earliest.phase] * len(block_names)
            time += [earliest.time] * len(block_names)
    return names, np.array(instance, dtype=int), np.array(phase, dtype=int), np.array(time, dtype=float)


def _whole(parts: list[Any]) -> Indices:
    """Joins the parts of all variables into one array over x."""
    joined: Indices = np.concatenate([np.zeros(0, dtype=int), *parts])
    return joined


def _entries(transcription: Transcription, part: Any) -> Array:
    return np.concatenate([np.zeros(0), *(part(v) for v in transcription.program.variables)])
