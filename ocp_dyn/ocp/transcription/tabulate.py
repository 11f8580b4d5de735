"""Tabulates a program at a point: meaning, bounds and values of every entry of x and every row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import Array, Indices
from ..motion.program_table import Record
from ..nlp.program import Assembled, Variable
from .variables import Transcription, number


def record(t: Transcription, program: Assembled, x: Array) -> Record:
    """The record of a program at x."""
    where = _places(t, x)
    place = {v: where.get(v, (-1, float("nan"), ())) for v in t.program.variables}
    labels = tuple(dict.fromkeys(name for _, _, names in place.values() for name in names))
    number_of = {name: k for k, name in enumerate(labels)}
    scale = _entries(t, lambda v: v.scale)
    row, instance, g_phase, g_time = _rows(program, place)
    known = list(dict.fromkeys(program.row_names))
    index = {name: k for k, name in enumerate(known)}
    return Record(
        variables=tuple(v.name for v in t.program.variables),
        labels=labels,
        phases=tuple(phase.name for phase in t.problem.phases),
        rows=tuple(known),
        parameters=tuple(p.name for p in t.program.parameters),
        variable=_whole([np.full(v.size, k) for k, v in enumerate(t.program.variables)]),
        entry=_whole([np.arange(v.size) for v in t.program.variables]),
        label=_whole([_labels(v, place[v][2], number_of) for v in t.program.variables]),
        x_phase=_whole([np.full(v.size, place[v][0]) for v in t.program.variables]),
        x_time=_entries(t, lambda v: np.full(v.size, place[v][1])),
        scale=scale,
        lower=t.program.lower * scale,
        upper=t.program.upper * scale,
        row=np.array([index[name] for name in row], dtype=int),
        instance=instance,
        g_phase=g_phase,
        g_time=g_time,
        value=program.evaluator.constraints(x, t.program.values).copy(),
        row_lower=program.lower,
        row_upper=program.upper,
        sizes=np.array([p.size for p in t.program.parameters], dtype=int),
        values=t.program.values,
    )


Where = tuple[int, float, tuple[str, ...]]
"""Phase, time [s], names of the entries."""


def _places(t: Transcription, x: Array) -> dict[Variable, Where]:
    """Phase, time and names of the entries, for every variable of a node or an interval."""
    model = t.problem.model
    motors = tuple(model.qd_names[k] for k in t.problem.actuated)
    found: dict[Variable, Where] = {}
    begin = 0.0
    for p, (phase, listed) in enumerate(zip(t.problem.phases, t.phases, strict=True)):
        duration = float(number(t, listed.duration, x)[0])
        rows = tuple(row for held in phase.held for row in held.contact.rows)
        kinds = [(listed.q, model.q_names), (listed.v, model.qd_names), (listed.tau, motors)]
        kinds += [(listed.a, model.qd_names), (listed.lam, rows), (listed.inner, ())]
        for variables, names in kinds:
            for k, variable in enumerate(variables):
                found.setdefault(variable, (p, begin + duration * k / phase.intervals, names))
        begin += duration
    return found


def _labels(v: Variable, names: tuple[str, ...], number_of: dict[str, int]) -> Indices:
    """Indices of the labels of a variable's entries, -1 for none; the stages of an interval follow one another."""
    if not names or v.size % len(names):
        return np.full(v.size, -1)
    return np.tile([number_of[name] for name in names], v.size // len(names))


def _rows(program: Assembled, place: dict[Variable, Where]) -> tuple[list[str], Indices, Indices, Array]:
    """Name, instance, phase and time of every row; phase and time are those of the earliest variable of its
    instance."""
    names: list[str] = []
    instance, phase, time = [], [], []
    for b in program.blocks:
        own = [f"{b.name}: {name}" for name in b.row_names]
        for k, variables in enumerate(b.instances):
            p, when, _ = min((place[v] for v in variables), key=lambda w: (w[0] < 0, w[1]), default=(-1, np.nan, ()))
            names += own
            instance += [k] * len(own)
            phase += [p] * len(own)
            time += [when] * len(own)
    return names, np.array(instance, dtype=int), np.array(phase, dtype=int), np.array(time, dtype=float)


def _whole(parts: list[Any]) -> Indices:
    """Joins the parts of all variables into one array over x."""
    found: Indices = np.concatenate([np.zeros(0, dtype=int), *parts])
    return found


def _entries(t: Transcription, part: Any) -> Array:
    return np.concatenate([np.zeros(0), *(part(v) for v in t.program.variables)])
