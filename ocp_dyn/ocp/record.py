"""The program behind a solution, in names and numbers: meaning, bounds and values of every entry of x and every row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .._types import Array, Indices
from .nlp import Assembled, Variable
from .variables import Transcription, number

INDEXED = {
    "variable": ("variables", 0),
    "label": ("labels", -1),
    "x_phase": ("phases", -1),
    "row": ("rows", 0),
    "g_phase": ("phases", -1),
}
"""Fields of a record that are indices: the field of names that they point into, and the lowest index."""

COUNTED = ("entry", "instance", "sizes")
"""Fields of a record that are counts."""


@dataclass(frozen=True, eq=False)
class Record:
    """Names and numbers of a program at one point.

    For every entry of x: variable (index into `variables`) and entry within it, label (index into `labels`, of a degree
    of freedom; -1: none), phase (index into `phases`; -1: of no phase) and time [s], scale, bounds in physical units.
    For every row of g: row (index into `rows`, names "block: row"), instance of its block, phase and time, value; value
    and bounds are in the scale of the row. parameters: names, with sizes and values.
    """

    variables: tuple[str, ...]
    labels: tuple[str, ...]
    phases: tuple[str, ...]
    rows: tuple[str, ...]
    parameters: tuple[str, ...]
    variable: Indices
    entry: Indices
    label: Indices
    x_phase: Indices
    x_time: Array
    scale: Array
    lower: Array
    upper: Array
    row: Indices
    instance: Indices
    g_phase: Indices
    g_time: Array
    value: Array
    row_lower: Array
    row_upper: Array
    sizes: Indices
    values: Array

    def names(self) -> dict[str, Any]:
        """The fields that are names, for a file."""
        return {key: list(value) for key, value in self._all() if isinstance(value, tuple)}

    def arrays(self) -> dict[str, Array]:
        """The fields that are arrays, for a file."""
        return {key: value for key, value in self._all() if isinstance(value, np.ndarray)}

    def _all(self) -> Iterable[tuple[str, Any]]:
        return ((f.name, getattr(self, f.name)) for f in fields(self))

    @staticmethod
    def of_file(names: Mapping[str, Sequence[str]], arrays: dict[str, Array]) -> Record:
        """The record whose `names` and `arrays` these are; ValueError if they do not fit each other."""
        given, expected = {*names, *arrays}, {f.name for f in fields(Record)}
        if given != expected:
            raise ValueError(f"its record lacks or has too much of {', '.join(sorted(given ^ expected))}")
        made: dict[str, Any] = {key: tuple(value) for key, value in names.items()}
        for key, value in arrays.items():
            if value.ndim != 1 or value.dtype.kind != ("i" if key in INDEXED or key in COUNTED else "f"):
                raise ValueError(f"'record_{key}' holds {value.dtype} of the shape {value.shape}")
            made[key] = value
        found = Record(**made)
        found._check()
        return found

    def _check(self) -> None:
        """Checks that fields of one kind have one length, and that indices are in range; ValueError if not."""
        by_x = ("entry", "label", "x_phase", "x_time", "scale", "lower", "upper")
        by_row = ("instance", "g_phase", "g_time", "value", "row_lower", "row_upper")
        for first, others in (("variable", by_x), ("row", by_row)):
            size = getattr(self, first).size
            for key in others:
                if getattr(self, key).size != size:
                    raise ValueError(f"'record_{key}' has {getattr(self, key).size} numbers, expected {size}")
        for key, (names, lowest) in INDEXED.items():
            index, size = getattr(self, key), len(getattr(self, names))
            if np.any((index < lowest) | (index >= size)):
                raise ValueError(f"'record_{key}' points to what is not there: of {names} there are {size}")
        if any(np.any(np.isnan(getattr(self, key))) for key in ("lower", "upper", "row_lower", "row_upper")):
            raise ValueError("its record holds bounds that are no numbers")
        if any(np.any(getattr(self, key) < 0) for key in COUNTED) or len(self.sizes) != len(self.parameters):
            raise ValueError("its record counts wrongly")
        if self.sizes.sum() != self.values.size:
            raise ValueError(f"'record_values' has {self.values.size} numbers, expected {self.sizes.sum()}")


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
