"""Bounds that decide a result: those of the user's or of the model that hold a motion back, a line per quantity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..._base.checks import not_negative
from ..._base.display import Entries
from ..motion.motion import Motion
from ..motion.program_table import ProgramTable
from ..statement.periodic import ENTRIES
from ..statement.state.channels import MECHANICS
from .active_set import active_entries, table_of

LEAST = 1e-5
"""Share of the objective that a bound must be worth over its range to decide a result.

An interior-point method leaves multipliers of about the root of its barrier parameter, 1e-4, at bounds that a motion
touches without pressing on them; they are worth less than this.
"""

RESOLUTION = 1e-6
"""Multiplier, in the scale of the program, below which it is an error of the solver: its tolerance."""

NAMED = 4
"""Largest number of bounds that one line names."""

STATES = {name: MECHANICS[name].word.partition(" ")[0] for name in ("q", "qd", "tau")}
"""Kinds of the variables of the mechanics that have bounds, by the first word of their names."""

SLACK = re.compile(r"slack\d+ .*\[\d+\]$")
"""Names of the variables of costs in an interval; a parameter of the user may be called "slack", too."""

Key = tuple[str, str, str, float]
"""Kind and name of a quantity, side and value of the bound."""


class DecidingBound(NamedTuple):
    """A bound at which the best value of a quantity lies, over all times at which it does.

    kind: "duration", "position", "velocity", "torque", "place", "parameter", or the name of a channel, with ' for its
    rate. name: of the variable or the dof. side: "lower" or "upper". bound, in `unit`: "s", "deg", "deg/s", "m", "m/s",
    "N m", "N", or "" for a parameter. phases: in which it is active; start, end: first and last time, in percent of the
    motion, nan for a quantity without a time. times: their number. multiplier: decrease of the objective per unit by
    which the bound is relaxed at all these times. worth: the decrease that it gives over the range between both bounds,
    as a share of the objective.

    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> weak = ocp.Problem(wheel.with_limits(effort=4.5), [push], boundary=[rest]).solve(progress=False)
    >>> weak.deciding()[0].text
    'torque of rim_joint (upper 4.5 N m)'
    """

    kind: str
    name: str
    side: str
    bound: float
    unit: str
    phases: tuple[str, ...]
    start: float
    end: float
    times: int
    multiplier: float
    worth: float

    @property
    def value(self) -> str:
        """The bound with its unit: three digits, angles to a tenth of a degree."""
        size = abs(self.bound)
        tenths = self.unit == "deg" and size >= 1
        digits = f"{self.bound:.1f}" if tenths else f"{self.bound:.3g}" if size < 1000 else f"{self.bound:.5g}"
        return f"{digits} {self.unit}".rstrip()

    @property
    def text(self) -> str:
        """Name, side and value: "duration of swing (lower 0.1 s)"."""
        return f"{self.name} ({self.side} {self.value})"


@dataclass(frozen=True, eq=False)
class DecidingBounds(Entries[DecidingBound]):
    """The bounds that decide a result: first those of the problem (durations, places, parameters), then those of the
    joints; of each the ones that are worth most first. `print` shows a table.

    >>> solution.deciding()  # the wheel is free of bounds
    DecidingBounds([])
    """

    head = ("bound", "side", "value", "phases", "% of the motion", "times", "multiplier")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({[entry.text for entry in self.entries]})"

    @property
    def line(self) -> str:
        """The bounds in one line, those of equal value together: "ankle_l and ankle_r (lower -15.0 deg)"; "" without
        any. It names the first 4 values, of each the first 4 quantities, and counts the rest."""
        joined: dict[tuple[str, str], list[str]] = {}
        for entry in self.entries:
            joined.setdefault((entry.side, entry.value), []).append(entry.name)
        shown = [f"{_listed(names)} ({side} {value})" for (side, value), names in list(joined.items())[:NAMED]]
        more = sum(len(names) for names in list(joined.values())[NAMED:])
        rest = f" and {more} more, see solution.deciding()" if more else ""
        return ", ".join(shown) + rest

    def lines(self) -> list[tuple[str, ...]]:
        """Lines of the table: bound, side, value, phases, from - to [% of the motion], times, multiplier; all texts."""
        found: list[tuple[str, ...]] = []
        for e in self.entries:
            same = round(e.start) == round(e.end) if np.isfinite(e.start) else True
            span = "" if not np.isfinite(e.start) else f"{e.start:.0f}" if same else f"{e.start:.0f} - {e.end:.0f}"
            press = f"{e.multiplier:.3g}" + (f" per {e.unit}" if e.unit else "")
            found.append((e.name, e.side, e.value, ", ".join(e.phases), span, str(e.times), press))
        return found

    def as_dicts(self) -> list[dict[str, Any]]:
        """The bounds as plain data for a report in JSON; without times, start and end are None."""
        plain = [entry._asdict() | {"phases": list(entry.phases)} for entry in self.entries]
        return [{k: None if isinstance(v, float) and np.isnan(v) else v for k, v in entry.items()} for entry in plain]

    def __str__(self) -> str:
        return super().__str__() if self.entries else "no bound decides"


def deciding(solution: Motion, least: float = LEAST, tolerance: float = 1e-6) -> DecidingBounds:
    """The bounds of durations, joint angles, speeds, torques, places and parameters that decide a solution.

    Active bounds, as `active_set` finds them, merged over time. Left out: rows, lower bounds of zero that belong to the
    formulation (slacks), and bounds that are worth less than `least` of the objective: multiplier times the range
    between both bounds, or the bound's size if there is only one; a fixed variable has no range. ValueError for a
    solution without a record of its program.
    """
    r = table_of(solution)
    not_negative(least, "least")
    not_negative(tolerance, "tolerance")
    x, lam = solution.iterate["x"], solution.iterate["lam_x"]
    groups: dict[Key, list[tuple[int, float, float, str]]] = {}
    for k, side in active_entries(x, r.lower / r.scale, r.upper / r.scale, lam, tolerance):
        bound = float(r.upper[k] if side == "upper" else r.lower[k])
        kind, name = _quantity(solution, r, k)
        if abs(lam[k]) > RESOLUTION and not _natural(r, k, kind, bound):
            factor, unit = _unit(solution, r, k, kind)
            entry = k, abs(float(lam[k])) / (float(r.scale[k]) * factor), factor * _range(r, k, bound), unit
            groups.setdefault((kind, name, side, factor * bound), []).append(entry)
    found = [_merged(solution, r, key, members) for key, members in groups.items()]
    kept = [entry for entry in found if entry.worth > least]
    return DecidingBounds(tuple(sorted(kept, key=_rank)))


def _rank(entry: DecidingBound) -> tuple[bool, float, float]:
    """Place in the order: bounds of the problem, then of the joints; by worth (three digits); the earlier one first."""
    return entry.kind in STATES.values(), -float(f"{entry.worth:.3g}"), float(np.nan_to_num(entry.start))


def _natural(r: ProgramTable, k: int, kind: str, bound: float) -> bool:
    """Whether a bound is a zero that nobody chose: of slacks, of peaks, of any parameter that must not be negative."""
    return not bound and (not kind or (kind == "parameter" and bool(np.isinf(r.upper[k] - r.lower[k]))))


def _quantity(solution: Motion, r: ProgramTable, k: int) -> tuple[str, str]:
    """Kind and name of the quantity of entry k of x; the kind is "" for a variable of the formulation."""
    name, label = r.variables[r.variable[k]], r.labels[r.label[k]] if r.label[k] >= 0 else ""
    if r.x_phase[k] >= 0:
        first = name.partition(" ")[0]
        if any(channel.name == first.removesuffix("'") for channel in solution.channels):
            what = first if first[-1] != "'" else f"rate of {first[:-1]}"
            return first, f"{what} of {label}" if label else what
        kind = STATES.get(first, "")
        text = label or f"{first} {r.entry[k]}"
        return kind, {"velocity": "speed of ", "torque": "torque of "}.get(kind, "") + text
    if SLACK.match(name):
        return "", name
    if name.startswith("duration of "):
        return "duration", name
    if name.startswith("place of "):
        return "place", f"{name}, {('x', 'y', 'yaw')[r.entry[k]]}"
    several = int((r.variable == r.variable[k]).sum()) > 1
    return "parameter", f"{name}[{r.entry[k]}]" if several else name


def _unit(solution: Motion, r: ProgramTable, k: int, kind: str) -> tuple[float, str]:
    """(factor from SI units, unit) in which the bound of entry k is shown."""
    degrees = float(np.degrees(1.0))
    if kind == "place":
        return (degrees, "deg") if r.entry[k] == 2 else (1.0, "m")
    if kind in STATES.values() and r.label[k] >= 0:
        names, lengths = _dofs(solution, kind)
        length = bool(lengths[names.index(r.labels[r.label[k]])])
        if kind == "torque":
            return 1.0, "N" if length else "N m"
        return (1.0 if length else degrees), ("m" if length else "deg") + ("/s" if kind == "velocity" else "")
    if kind == "duration":
        return 1.0, "s"
    unit = next((channel.unit for channel in solution.channels if channel.name == kind.removesuffix("'")), None)
    if unit is not None:
        return 1.0, (f"{unit}/s" if unit else "1/s") if kind[-1] == "'" else unit
    name = r.variables[r.variable[k]]
    if name != "step_length" and not (
        name in ENTRIES and getattr(solution, name)
    ):  # a parameter of the user's may have such a name
        return 1.0, ""
    return (degrees, "deg") if name == "turn" else (1.0, "m")


def _dofs(solution: Motion, kind: str) -> tuple[tuple[str, ...], Any]:
    """Names of the entries of q or of qd, and which of them are lengths."""
    model, k = solution.model, 0 if kind == "position" else 1
    return (model.q_names, model.qd_names)[k], model.lengths[k]


def _listed(names: Sequence[str]) -> str:
    """Names of quantities in a line; of many, such as activations of muscles, the first ones and their number."""
    if len(names) <= NAMED:
        return " and ".join(names)
    return f"{', '.join(names[: NAMED - 1])} and {len(names) - NAMED + 1} others"


def _range(r: ProgramTable, k: int, bound: float) -> float:
    """The range between the bounds of entry k; the size of the bound, or else of the variable, if one is infinite."""
    width = float(r.upper[k] - r.lower[k])
    return width if np.isfinite(width) else abs(bound) or float(r.scale[k])


def _merged(
    solution: Motion, r: ProgramTable, key: Key, members: Sequence[tuple[int, float, float, str]]
) -> DecidingBound:
    kind, name, side, bound = key
    entries = [k for k, *_ in members]
    press = sum(multiplier for _, multiplier, _, _ in members)
    times = np.array([r.x_time[k] for k in entries])
    percent = 100 * times[np.isfinite(times)] / solution.duration if solution.duration else np.zeros(0)
    start, end = (float(percent.min()), float(percent.max())) if percent.size else (float("nan"), float("nan"))
    phases = tuple(r.phases[p] for p in sorted({int(r.x_phase[k]) for k in entries}) if p >= 0)
    worth = press * members[0][2] / max(abs(solution.objective), RESOLUTION)
    return DecidingBound(kind, name, side, bound, members[0][3], phases, start, end, len(members), press, worth)
