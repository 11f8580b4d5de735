"""Active bounds and rows of a solution, with their multipliers, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..._base.checks import choice, name_among, not_negative, truth
from ..._base.display import Entries, Listing
from ..._base.rounding import largest, ordinal
from ..._base.types import Array, Indices, names_in_message, repr_in_message
from ..motion.motion import Motion
from ..motion.program_table import ProgramTable

ACTIVE_KINDS = ("bound", "row")

NEAR, SHOWN = 1e-2, 6
"""Distance from a limit at which a channel counts as being there, a share of its range; most of them that are named."""


class Active(NamedTuple):
    """One active bound of a variable, or one active constraint row.

    kind: "bound" or "row". name: of the variable or row; entry: the dof or index within it. phase, time [s]: those of
    the node or interval; "" and nan if it belongs to none. side: "lower", "upper" or "equal".

    value, bound and multiplier are in physical units for a bound, in the scale of the row for a row. The multiplier is
    the decrease of the objective per unit by which the bound is relaxed. It is never negative, except for equalities.

    >>> gentle = ocp.Path(lambda instant: instant.tau, -np.inf, 4.5, where="interval")
    >>> weak = turn(ocp.TorqueSquared(), path=[gentle]).solve(progress=False)
    >>> first = weak.active()[0]
    >>> first.side, round(first.bound, 3), first.phase
    ('upper', 4.5, 'turn')
    """

    kind: str
    name: str
    entry: str
    phase: str
    time: float
    value: float
    bound: float
    side: str
    multiplier: float


def channels_at_limits(motion: Motion) -> str:
    """Entries of channels that reach their limits, of both the larger one in size: "excitation of triceps (1)"; ""
    if none does. A run that did not converge may need muscles that are stronger, or less of them."""
    found = []
    for channel in motion.channels:
        values = np.concatenate([phase.channels[channel.name] for phase in motion.phases])
        low, high = (np.array(limit) for limit in channel.bounds)
        limit = np.where(np.abs(low) > np.abs(high), low, high)
        with np.errstate(invalid="ignore"):
            reached = np.isfinite(limit) & np.any(np.abs(values - limit) <= NEAR * (high - low), axis=0)
        found += [f"{channel.name} of {channel.labels[k]} ({limit[k]:g})" for k in np.flatnonzero(reached)]
    return names_in_message(found, SHOWN) if found else ""


@dataclass(frozen=True, eq=False)
class ActiveSet(Entries[Active]):
    """Active bounds and rows, the largest multipliers first; `print` shows a table with one line per name and side.

    >>> gentle = ocp.Path(lambda instant: instant.tau, -np.inf, 4.5, where="interval")
    >>> weak = turn(ocp.TorqueSquared(), path=[gentle]).solve(progress=False)
    >>> weak.active().where(kind="row", phase="turn").lines()
    [('row', 'turn: Path', '', 'upper', 'turn', '0.000', '0.100', '3', '0.185')]
    """

    phases: tuple[str, ...] = ()
    """Names of the phases of the motion, which `where` accepts."""
    head = ("kind", "name", "entry", "side", "phase", "from [s]", "to [s]", "count", "multiplier")

    def where(self, name: str = "", phase: str = "", kind: str = "") -> ActiveSet:
        """The entries whose name contains `name`, of this phase and this kind; KeyError for an unknown phase."""
        for what, text in (("name", name), ("phase", phase)):
            if not isinstance(text, str):
                raise TypeError(f"where: {what} must be a string, got {repr_in_message(text)}")
        if phase and self.phases:
            name_among(phase, self.phases, "where", "phase")
        choice(kind, ("", *ACTIVE_KINDS), "where: kind")

        def fits(e: Active) -> bool:
            return name in e.name and phase in ("", e.phase) and kind in ("", e.kind)

        return ActiveSet(tuple(filter(fits, self.entries)), self.phases)

    def lines(self) -> list[tuple[str, ...]]:
        """Lines of the table: (kind, name, entry, side, phase, from, to [s], count, largest multiplier), all texts."""
        groups: dict[tuple[str, ...], list[Active]] = {}
        for e in self.entries:
            key = (e.kind, e.name.partition("[")[0], e.entry if e.kind == "bound" else "", e.side, e.phase)
            groups.setdefault(key, []).append(e)
        found = []
        for (kind, name, entry, side, phase), members in groups.items():
            times = [e.time for e in members if np.isfinite(e.time)] or [np.nan]
            span = [f"{t:.3f}" if np.isfinite(t) else "" for t in (min(times), max(times))]
            most = members[largest([abs(e.multiplier) for e in members])].multiplier
            found.append((kind, name, entry, side, phase, *span, str(len(members)), f"{most:.4g}"))
        return found


def active_set(solution: Motion, equalities: bool = False, tolerance: float = 1e-6) -> ActiveSet:
    """The active bounds and rows of a solution.

    A bound is active if it is violated, if the distance to it is within `tolerance`, or if its multiplier exceeds this
    distance, both in the scale of the program (an interior-point method leaves their product equal to its small barrier
    parameter). Fixed variables are left out, and equalities too unless `equalities` is True. ValueError for a solution
    without a record of its program.
    """
    r = table_of(solution)
    not_negative(tolerance, "tolerance")
    truth(equalities, "equalities")
    x, lam_x, lam_g = (solution.iterate[key] for key in ("x", "lam_x", "lam_g"))
    free = r.lower < r.upper
    found = []
    for k, side in active_entries(x, r.lower / r.scale, r.upper / r.scale, lam_x, tolerance):
        if free[k]:
            entry = r.labels[r.label[k]] if r.label[k] >= 0 else str(r.entry[k])
            bound = (r.upper if side == "upper" else r.lower)[k]
            press = abs(lam_x[k]) / r.scale[k]
            found.append(_entry("bound", r.variables[r.variable[k]], entry, r, r.x_phase, r.x_time, k,
                                x[k] * r.scale[k], bound, side, press))  # fmt: skip
    equal = r.row_lower == r.row_upper
    for k, side in active_entries(r.value, r.row_lower, r.row_upper, lam_g, tolerance):
        if equal[k] and not equalities:
            continue
        bound = (r.row_upper if side == "upper" else r.row_lower)[k]
        press = -lam_g[k] if equal[k] else abs(lam_g[k])
        found.append(_entry("row", r.rows[r.row[k]], str(r.instance[k]), r, r.g_phase, r.g_time, k, r.value[k], bound,
                            "equal" if equal[k] else side, press))  # fmt: skip
    return ActiveSet(tuple(sorted(found, key=lambda e: -ordinal(abs(e.multiplier)))), tuple(r.phases))


def row_multipliers(solution: Motion) -> dict[str, Array]:
    """Multipliers of all rows by name "block: row": (instances, rows), in the scale of the rows, CasADi's sign.

    Instances of a block are the intervals or nodes of a phase in their order.
    """
    r = table_of(solution)
    lam_g = solution.iterate["lam_g"]
    return _grouped(r.rows, r.row, lambda k: lam_g[k].reshape(len(np.unique(r.instance[k])), -1))


def bound_multipliers(solution: Motion) -> dict[str, Array]:
    """Multipliers of the bounds of all variables by name, in physical units: negative at the lower bound."""
    r = table_of(solution)
    return _grouped(r.variables, r.variable, lambda k: solution.iterate["lam_x"][k] / r.scale[k])


def variables(solution: Motion) -> dict[str, Array]:
    """All variables of the program by name, in physical units."""
    r = table_of(solution)
    return _grouped(r.variables, r.variable, lambda k: solution.iterate["x"][k] * r.scale[k])


def table_of(solution: Motion) -> ProgramTable:
    """The record of a solution's program; ValueError if it has none."""
    if solution.record is None or not solution.iterate:
        raise ValueError("this solution holds no record of its program and no multipliers: solve the problem again")
    return solution.record


def active_entries(value: Array, lower: Array, upper: Array, lam: Array, tolerance: float) -> Iterator[tuple[int, str]]:
    """Entry and side of the active bounds; lam is negative at the lower one."""
    for side, gap, press in (("lower", value - lower, -lam), ("upper", upper - value, lam)):
        near = np.isfinite(gap) & ((gap <= tolerance) | (press > gap))
        if side == "upper":
            near &= lower != upper  # an equality is listed once, as its lower side
        for k in np.flatnonzero(near):
            yield int(k), side


def _entry(
    kind: str, name: str, entry: str, r: ProgramTable, phase: Indices, time: Array, k: int, value: float, bound: float,
    side: str, press: float,
) -> Active:  # fmt: skip
    where = r.phases[phase[k]] if phase[k] >= 0 else ""
    return Active(kind, name, entry, where, float(time[k]), float(value), float(bound), side, float(press))


def _grouped(names: Sequence[str], owner: Indices, part: Callable[[Indices], Array]) -> Listing:
    order = np.argsort(owner, kind="stable")
    ends = np.searchsorted(owner[order], np.arange(len(names) + 1))
    return Listing({name: part(order[ends[k] : ends[k + 1]]) for k, name in enumerate(names)})
