"""Parameters that are fitted: where they start, their bounds, what is known of them before, and their scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._base.checks import as_bounds, choice, finite, given_name, is_pair, whole
from ...._base.types import Array, repr_in_message, suggestion
from ...statement.statement import Statement
from ...statement.values.weights import PREFIX
from ...transcription.variables import Transcription
from ...workflows.attempt import prepare

SCALES = ("log", "linear")

LARGEST_FACTOR = 1e4
"""A parameter on a logarithmic scale stays within this factor of its start, unless bounds are given."""


@dataclass(frozen=True)
class Fitted:
    """A parameter that `fit` finds, where its name alone does not say enough.

    name: of a cost, as in `problem.weights`, or of a parameter of the problems. start: first value; None: that of the
    problems. bounds: (lower, upper). prior: (value, spread), what is known beforehand. scale: "log" for what cannot
    change its sign, "linear"; by default "log" for weights and for values above zero. On the scale "log" the spread of
    a prior is a factor above 1: one standard deviation. entry: of a parameter of several numbers.

    >>> ocp.Fitted("TorqueSquared", prior=(2.0, 1.5), bounds=(0.1, 10.0))
    Fitted(name='TorqueSquared', start=None, bounds=(0.1, 10.0), prior=(2.0, 1.5), scale=None, entry=0)
    """

    name: str
    start: float | None = None
    bounds: Any = None
    prior: Any = None
    scale: str | None = None
    entry: int = 0

    def __post_init__(self) -> None:
        here = f"Fitted {repr_in_message(given_name(self.name, 'Fitted name'))}"
        if self.scale is not None:
            choice(self.scale, SCALES, f"{here}: scale")
        if self.start is not None:
            finite(self.start, f"{here}: start")
        if self.bounds is not None:
            low, high = as_bounds(self.bounds, f"{here}: bounds")
            if not low < high:
                raise ValueError(f"{here}: bounds must be (lower, upper) with lower < upper, got {self.bounds}")
            object.__setattr__(self, "bounds", (low, high))
        if self.prior is not None:
            if not is_pair(self.prior):
                raise ValueError(f"{here}: prior must be (value, spread), got {repr_in_message(self.prior)}")
            value, spread = (finite(x, f"{here}: prior") for x in self.prior)
            if spread <= 0:
                raise ValueError(f"{here}: the spread of the prior must be positive, got {spread:g}")
            object.__setattr__(self, "prior", (value, spread))
        whole(self.entry, f"{here}: entry")


@dataclass(frozen=True, eq=False)
class Scaled:
    """All fitted parameters as numbers z on their scales: what the search works with.

    names: of the parameters in the programs; entries: of parameters of several numbers. log: mask of those on the
    logarithmic scale. prior, spread: of z, spread inf without a prior. gauge: mask of the weights that the problems
    leave free by a common factor; none if something holds it.
    """

    names: tuple[str, ...]
    entries: tuple[int, ...]
    log: Any
    start: Array
    lower: Array
    upper: Array
    prior: Array
    spread: Array
    gauge: Any

    @property
    def labels(self) -> tuple[str, ...]:
        """Names for tables: of weights that of the cost."""
        return tuple(
            name.removeprefix(PREFIX) + (f"[{entry}]" if entry else "")
            for name, entry in zip(self.names, self.entries, strict=True)
        )

    def values(self, z: Array) -> Array:
        """The parameters of z."""
        return np.where(self.log, np.exp(np.where(self.log, z, 0.0)), z)

    def slopes(self, z: Array) -> Array:
        """Derivatives of the parameters by z."""
        return np.where(self.log, self.values(z), 1.0)


def scaled(problems: Mapping[str, Statement], parameters: Any) -> Scaled:
    """The parameters to fit; KeyError for a name that no problem has, ValueError for starts, bounds and priors that do
    not fit together."""
    given = [parameters] if isinstance(parameters, (str, Fitted)) else parameters
    if not isinstance(given, Sequence) or not given:
        raise TypeError(
            "parameters must be a list of names or ocp.Fitted(...), such as ['TorqueSquared'], got "
            f"{repr_in_message(parameters)}"
        )
    wanted = [Fitted(p) if isinstance(p, str) else p for p in given]
    for p in wanted:
        if not isinstance(p, Fitted):
            raise TypeError(f"parameters must hold names or ocp.Fitted(...), got {repr_in_message(p)}")
    transcribed = {name: prepare(problem)[0] for name, problem in problems.items()}
    found = [_one(p, problems, transcribed) for p in wanted]
    keys = [(name, p.entry) for (name, *_), p in zip(found, wanted, strict=True)]
    if twice := sorted({name for name, entry in keys if keys.count((name, entry)) > 1}):
        raise ValueError(f"the parameter {twice[0]!r} stands twice in parameters")
    names = tuple(name for name, *_ in found)
    columns = [np.array([row[k] for row in found]) for k in range(1, 7)]
    log, start, lower, upper, prior, spread = columns
    gauge = _free_factor(problems.values(), names, np.isfinite(spread))
    return Scaled(names, tuple(p.entry for p in wanted), log.astype(bool), start, lower, upper, prior, spread, gauge)


def _one(
    p: Fitted, problems: Mapping[str, Statement], transcribed: Mapping[str, Transcription]
) -> tuple[str, bool, float, float, float, float, float]:
    """(name in the programs, log, start, lower, upper, prior, spread) of a parameter, on its scale."""
    name, declared = _declared(p, problems, transcribed)
    here = f"parameter {p.name!r}"
    value = declared if p.start is None else float(p.start)
    log = (name.startswith(PREFIX) or value > 0) if p.scale is None else p.scale == "log"
    low, high = p.bounds or (
        (value / LARGEST_FACTOR, value * LARGEST_FACTOR) if log and value > 0 else (-np.inf, np.inf)
    )
    if log and not (value > 0 and low > 0 and (p.prior is None or p.prior[0] > 0)):
        raise ValueError(
            f"{here}: on the scale 'log' start, bounds and prior must be above zero, got start {value:g}, bounds "
            f"({low:g}, {high:g}): give others, or scale='linear'"
        )
    if not low <= value <= high:
        raise ValueError(f"{here}: the start {value:g} lies outside its bounds ({low:g}, {high:g})")
    if log and p.prior is not None and p.prior[1] <= 1:
        raise ValueError(f"{here}: the spread of a prior on the scale 'log' is a factor above 1, got {p.prior[1]:g}")
    at = math.log if log else float
    known, spread = (at(p.prior[0]), at(p.prior[1])) if p.prior is not None else (0.0, np.inf)
    return (
        name,
        log,
        at(value),
        at(low) if np.isfinite(low) else low,
        at(high) if np.isfinite(high) else high,
        known,
        spread,
    )


def _declared(
    p: Fitted, problems: Mapping[str, Statement], transcribed: Mapping[str, Transcription]
) -> tuple[str, float]:
    """The name of a parameter in the programs, and its value in the first problem that has it."""
    known: dict[str, None] = {}
    for key, problem in problems.items():
        t = transcribed[key]
        weights = {entry.name: entry for entry in problem.weights.entries}
        slots = {slot.name: slot for slot in t.program.parameters}
        known |= dict.fromkeys([*weights, *(name for name in slots if name not in t.weights)])
        entry = weights.get(p.name.removeprefix(PREFIX))
        name = p.name if p.name in slots else entry.parameter if entry is not None else p.name
        if entry is not None and not entry.parameter and p.name not in slots:
            raise ValueError(
                f"the weight of {p.name!r} is zero in the problem {key!r}, which leaves the cost out: give the cost "
                "another weight, from which the fit starts"
            )
        if name in slots:
            if p.entry >= slots[name].size:
                raise ValueError(f"parameter {p.name!r} has {slots[name].size} numbers, and no entry {p.entry}")
            place = t.program.parameters.index(slots[name])
            return name, float(t.program.declared[place][p.entry])
    names = [*known]
    raise KeyError(f"no parameter {repr_in_message(p.name)}; there are {', '.join(names)}{suggestion(p.name, names)}")


def _free_factor(problems: Iterable[Statement], names: Sequence[str], held: Any) -> Any:
    """Mask of the weights that can all be multiplied by one number without a change of any motion: those of problems
    whose weights are all fitted, without a prior."""
    weights = {name for problem in problems for name in (entry.parameter for entry in problem.weights.entries) if name}
    mask = np.array([name in weights for name in names])
    whole = all(
        {entry.parameter for entry in problem.weights.entries if entry.value} <= set(names) for problem in problems
    )
    return mask if whole and not np.any(mask & held) else np.zeros(len(names), dtype=bool)
