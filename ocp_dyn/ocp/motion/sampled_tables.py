"""Tables of a motion at even times, over a whole stride, with ground forces and centers of pressure in the world; the
same as a DataFrame of pandas or a Dataset of xarray."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from casadi import DM

from ..._base.checks import optional_package, whole
from ..._base.convergence import mark_of
from ..._base.types import Array
from ...gait.feet import Foot
from ...gait.unrolled import LEAST_LOAD, Stretch, unroll, weight
from .motion import Motion

AXES = "xyz"
SAMPLES = 101
"""Samples of a stride if no number is given: 0 to 100 percent."""

MOST = 100_000


def sampled_table(solution: Motion, stride: bool, samples: int | None) -> dict[str, Array]:
    """Columns at even times by name: percent of the stride, time [s], number of the phase, q, qd, tau, channels;
    "force FOOT x" [N] on every foot, and "pressure FOOT x" [m], its center of pressure, in world axes.

    stride: a whole stride, two steps of a mirrored motion; else the motion as it was solved. q moves at a constant rate
    between nodes, qd is linear; torques and forces are the means of intervals, linear between their midpoints within a
    phase. Forces are 0 where a foot is in the air; the center of pressure is nan where it carries less than 3 % of body
    weight.
    """
    count = whole(SAMPLES if samples is None else samples, "samples", least=2, most=MOST)
    if stride and not solution.repeats:
        raise ValueError("stride=True needs a periodic motion that moves on: give samples=... alone for its whole time")
    steps = 2 if stride and solution.mirror() is not None else 1
    stretches, total = unroll(solution, steps), solution.duration * steps
    t = np.linspace(0.0, total, count)
    # The number of the stretch that a time lies in; the later one where two meet
    at = [next((k for k, s in enumerate(stretches) if float(time) < s.t[-1]), len(stretches) - 1) for time in t]
    model = solution.model
    found: dict[str, Array] = {"percent": 100 * t / total} if solution.repeats else {}
    found |= {"time": t, "phase": np.array([_number(solution, stretches[k]) for k in at])}
    q = np.array(solution.sample(np.minimum(t, total * (1 - 1e-12)))) if solution.repeats else solution.sample(t)
    qd = _along(stretches, at, t, [(s.t, s.qd) for s in stretches])
    tau = _along(stretches, at, t, [(s.middle, s.tau) for s in stretches])
    parts = (("q", model.q_names, q), ("qd", model.qd_names, qd), ("tau", model.qd_names, tau))
    found |= {f"{head} {name}": column for head, its, rows in parts for name, column in zip(its, rows.T, strict=True)}
    for channel in solution.channels:
        rows = _along(stretches, at, t, _channel(solution, stretches, channel))
        found |= dict(zip(channel.names(), rows.T, strict=True))
    for foot in dict.fromkeys(support.foot for s in stretches for support in s.supports):
        pulls, places = (
            _along(stretches, at, t, [(s.middle, values) for s, values in zip(stretches, each, strict=True)])
            for each in _foot(solution, stretches, foot)
        )
        found |= _by_axis(f"force {foot.name}", np.nan_to_num(pulls)) | _by_axis(f"pressure {foot.name}", places)
    return found


def _by_axis(what: str, rows: Array) -> dict[str, Array]:
    """Columns of vectors (n, 3) by name."""
    return {f"{what} {axis}": column for axis, column in zip(AXES, rows.T, strict=True)}


def _number(solution: Motion, stretch: Stretch) -> int:
    return [phase.name for phase in solution.phases].index(stretch.name)


def _along(stretches: Sequence[Stretch], at: Sequence[int], t: Array, rows: Sequence[tuple[Array, Array]]) -> Array:
    """Values (len(t), n), linear between the times of each stretch; constant before the first and after the last."""
    found = np.zeros((len(t), rows[0][1].shape[1]))
    for k in range(len(stretches)):
        chosen = np.flatnonzero(np.array(at) == k)
        times, values = rows[k]
        for n in range(found.shape[1]):
            found[chosen, n] = np.interp(t[chosen], times, values[:, n])
    return found


def _channel(solution: Motion, stretches: Sequence[Stretch], channel: Any) -> list[tuple[Array, Array]]:
    """Times and values of a component's channel in every stretch, mirrored where the step is."""
    mirror, found = solution.mirror(), []
    names = [phase.name for phase in solution.phases]
    for stretch in stretches:
        values = solution.phases[names.index(stretch.name)][channel.name]
        if mirror is not None and stretch.step % 2:
            values = values @ np.array(DM(channel.image(mirror.images)).full()).T
        phase = solution.phases[names.index(stretch.name)]
        times = phase.t + stretch.step * solution.duration
        found.append((times if len(values) == len(times) else (times[:-1] + times[1:]) / 2, values))
    return found


def _foot(solution: Motion, stretches: Sequence[Stretch], foot: Foot) -> tuple[list[Array], list[Array]]:
    """Force [N] and center of pressure [m] of a foot in every stretch, (N, 3) each, world axes."""
    least = LEAST_LOAD * weight(solution.model)
    forces, places = [], []
    for s in stretches:
        own = [support for support in s.supports if support.foot is foot]
        force = np.sum([support.force for support in own], axis=0) if own else np.zeros((len(s.tau), 3))
        forces.append(force)
        load, moment = np.zeros(len(s.tau)), np.zeros((len(s.tau), 3))
        for support in own:
            if support.place is not None:
                pressing = np.maximum(support.force @ support.normal, 0.0)
                at = np.array([*support.place[:2], support.height]) + support.pressure(1e-9 * least)
                load, moment = load + pressing, moment + pressing[:, None] * np.nan_to_num(at)
        places.append(moment / np.where(load > least, load, np.nan)[:, None])
    return forces, places


def to_dataframe(solution: Motion, columns: dict[str, Array]) -> Any:
    """The columns as a DataFrame, with the names of the phases; its `attrs` tell model, status and cost."""
    pandas: Any = optional_package("pandas", "to_dataframe")
    frame = pandas.DataFrame(columns)
    names = [phase.name for phase in solution.phases]
    frame["phase"] = pandas.Categorical(
        [names[int(k)] for k in columns["phase"]], categories=list(dict.fromkeys(names))
    )
    frame.attrs.update(_facts(solution))
    return frame


UNITS = {"q": "rad or m", "qd": "rad/s or m/s", "tau": "N m or N", "force": "N", "pressure": "m"}


def to_xarray(solution: Motion, columns: dict[str, Array]) -> Any:
    """The columns as a Dataset over the samples, with q, qd and tau by the names of their entries, force and pressure
    by foot and axis; all others are variables of their own. Its attributes tell model, status and cost."""
    xarray: Any = optional_package("xarray", "to_xarray")
    coords: dict[str, Any] = {"time": ("sample", columns["time"], {"units": "s"})}
    if "percent" in columns:
        coords["percent"] = ("sample", columns["percent"], {"units": "%"})
    phases = np.array([solution.phases[int(k)].name for k in columns["phase"]])
    data: dict[str, Any] = {"phase": ("sample", phases)}
    groups: dict[str, dict[str, Array]] = {}
    for name, column in columns.items():
        head, _, rest = name.partition(" ")
        if head in UNITS and rest:
            groups.setdefault(head, {})[rest] = column
        elif name not in ("time", "phase", "percent"):
            data[name] = ("sample", column)
    for head, entries in groups.items():
        values = np.stack(list(entries.values()), axis=1)
        if head in ("force", "pressure"):
            feet = list(dict.fromkeys(name.rpartition(" ")[0] for name in entries))
            coords |= {"foot": feet, "axis": list(AXES)}
            values = values.reshape(len(values), len(feet), 3)
            data[head] = (("sample", "foot", "axis"), values, {"units": UNITS[head]})
        else:
            dimension = "q_entry" if head == "q" else "dof"
            coords[dimension] = list(entries)
            data[head] = (("sample", dimension), values, {"units": UNITS[head]})
    return xarray.Dataset(data, coords, _facts(solution))


def _facts(solution: Motion) -> dict[str, Any]:
    facts = {"model": solution.model.name, "status": solution.status, "converged": int(solution.converged)}
    facts |= {"objective": float(solution.objective), "duration": solution.duration}
    return facts | ({"mark": mark} if (mark := mark_of(solution)) else {})
