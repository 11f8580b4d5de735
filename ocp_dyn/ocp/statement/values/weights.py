"""Weights of the costs of a statement: their names and numbers, and copies of the statement with other numbers.

A weight that is not zero is a parameter of the program, so that another number needs no new build. A number that is
zero switches its cost off: the program is built without the cost.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ...._base.checks import not_negative
from ...._base.display import Several, Table, Tabular
from ...._base.types import is_one_of, repr_in_message, suggestion
from ..phases import OBJECTIVES, Impact, Phase
from .parameters import Parameter, number_of_weight

PREFIX = "weight of "
"""Beginning of the names of the parameters that stand for weights given as numbers."""


class CostWeight(NamedTuple):
    """One weight: the name of its cost, the name of its parameter in the program ("": it has none), its number, and
    the costs that have it."""

    name: str
    parameter: str
    value: float
    terms: tuple[Any, ...]

    @property
    def cost_names(self) -> set[str]:
        """The names of the costs."""
        return {_name_of(term) for term in self.terms}


@dataclass(frozen=True, eq=False, repr=False)
class Weights(Mapping[str, float], Tabular):
    """The weights of a problem's costs by name; `problem.weights`.

    Costs of one name and one number that stand in several phases have one weight. Another number under the same name,
    or a second cost in the same phase, makes a second one, `TorqueSquared#2`. A weight that is given as a `Parameter`
    has the name of the parameter, without "weight of " at its beginning. Values of "weight of NAME" in
    `problem.solve(values=...)` and `problem.with_weights` change them.

    >>> problem = turn(ocp.TorqueSquared(2.0), ocp.AccelerationSquared(0.5))
    >>> dict(problem.weights)
    {'TorqueSquared': 2.0, 'AccelerationSquared': 0.5}
    >>> problem.weights
    weight               number
    TorqueSquared        2
    AccelerationSquared  0.5
    """

    entries: tuple[CostWeight, ...]

    def __getitem__(self, name: str) -> float:
        return self.entry(name).value

    def __iter__(self) -> Iterator[str]:
        return (entry.name for entry in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def entry(self, name: str) -> CostWeight:
        """The weight of this name, which may begin with "weight of "; KeyError for a name that no cost has."""
        for entry in self.entries:
            if isinstance(name, str) and name in (entry.name, entry.parameter, f"{PREFIX}{entry.name}"):
                return entry
        names = [*self]
        known = ", ".join(names) or "none"
        raise KeyError(f"no weight {repr_in_message(name)}; there are {known}{suggestion(without_prefix(name), names)}")

    def parameter_of(self, term: Any) -> str:
        """The name of the parameter that stands for the weight of a cost; "" if there is none."""
        return next((entry.parameter for entry in self.entries for other in entry.terms if other is term), "")

    def shares(self, solution: Any) -> dict[str, float]:
        """The share of every weight's costs in the objective of a solution.

        Costs of one name count together: the second weight of a name has the share of the first.

        >>> problem = turn(ocp.TorqueSquared(), ocp.AccelerationSquared())  # both squares are equal
        >>> problem.weights.shares(problem.solve(progress=False))
        {'TorqueSquared': 0.5..., 'AccelerationSquared': 0.5...}
        """
        cost = getattr(solution, "cost", None)
        if not isinstance(cost, Mapping):
            raise TypeError(
                f"shares belong to a Solution, such as problem.solve() gives, got {repr_in_message(solution)}"
            )
        whole = sum(cost.values()) or 1.0
        parts = {
            e.name: sum(cost.get(name, 0.0) for name in {_name_of(term) for term in e.terms}) for e in self.entries
        }
        return {name: round(part / whole, 12) for name, part in parts.items()}

    def table(self, solution: Any) -> Table:
        """The weights with their shares in the objective of a solution, one line each.

        >>> print(turn(ocp.TorqueSquared()).weights.table(solution))
        weight         number  share
        TorqueSquared  1       100.0 %
        """
        shares = self.shares(solution)
        head, lines = self._head_and_lines()
        return Table((*head, "share"), [(*line, f"{100 * shares[line[0]]:.1f} %") for line in lines])

    def _head_and_lines(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        return ("weight", "number"), [(name, f"{value:.6g}") for name, value in self.items()]

    def __repr__(self) -> str:
        return str(self) if self.entries else "no costs"


def weights_of(statement: Any) -> Weights:
    """The weights of the costs of a statement, in the order in which they stand in it.

    ValueError if two weights, or a weight and another parameter, are parameters of one name.
    """
    declared = {parameter.name: parameter for parameter in statement.resolved.parameters}
    groups: dict[Any, list[Any]] = {}
    for terms in _weighed(statement):
        before: list[Any] = []
        for term in terms:
            key = id(term.weight) if isinstance(term.weight, Parameter) else (_name_of(term), float(term.weight))
            found = groups.setdefault((key, before.count(key)), [])
            found += [] if any(term is other for other in found) else [term]
            before += [] if isinstance(term.weight, Parameter) else [key]
    entries: list[CostWeight] = []
    taken: dict[str, int] = {}
    for terms in groups.values():
        weight = terms[0].weight
        value = float(number_of_weight(weight, "weight"))
        if isinstance(weight, Parameter):
            if declared.get(weight.name, weight) is not weight:
                raise ValueError(
                    f"the weight of {_name_of(terms[0])} and another parameter are both named "
                    f"{repr_in_message(weight.name)}: give both the same Parameter object, or different names"
                )
            entries.append(CostWeight(without_prefix(weight.name), weight.name, value, tuple(terms)))
            continue
        base = _name_of(terms[0])
        taken[base] = taken.get(base, 0) + 1
        name = base if taken[base] == 1 else f"{base}#{taken[base]}"
        parameter = "" if value == 0 or f"{PREFIX}{name}" in declared else f"{PREFIX}{name}"
        entries.append(CostWeight(name, parameter, value, tuple(terms)))
    for kind in ("name", "parameter"):
        names = [getattr(entry, kind) for entry in entries if getattr(entry, kind)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(
                f"two weights have the {kind} {repr_in_message(twice[0])}: give every Parameter that is a weight a "
                "name of its own, other than that of a cost"
            )
    return Weights(Several(entries))


def reweighed(statement: Any, values: Mapping[str, Any]) -> Any:
    """A copy of the statement whose weights have these numbers, by their names."""
    numbers: dict[str, Any] = {}
    for name, value in values.items():
        entry = statement.weights.entry(name)
        what = f"weight of {entry.name}"
        if isinstance(value, Parameter):
            number_of_weight(value, what)
        else:
            value = not_negative(value, what)
        numbers[entry.name] = value
    new: dict[int, Any] = {}
    for entry in statement.weights.entries:
        if entry.name in numbers:
            weight = _with_number(statement, entry, numbers[entry.name])
            new |= {id(term): with_weight(term, weight) for term in entry.terms}
    return replace(statement, **replaced_terms(statement, new))


def replaced_terms(statement: Any, new: Mapping[int, Any]) -> dict[str, Any]:
    """The fields of a statement that hold costs, with other costs in the place of those with these ids."""
    fields: dict[str, Any] = {
        "phases": [_phase_with(phase, new) for phase in statement.phases],
        "components": _with(statement.components, new),
        "transitions": _with(statement.transitions, new),
        "terminal": _with(statement.terminal, new),
    }
    if statement.periodic is not None and id(statement.periodic.transition) in new:
        fields["periodic"] = copy.copy(statement.periodic)
        object.__setattr__(fields["periodic"], "transition", new[id(statement.periodic.transition)])
    return fields


def with_weight(term: Any, weight: Any) -> Any:
    """A copy of a cost with another weight: nothing else of it depends on the weight, and nothing is checked again."""
    found = copy.copy(term)
    object.__setattr__(found, "weight", weight)
    return found


def without_prefix(name: Any) -> Any:
    """The name of a weight without "weight of " at its beginning."""
    return name.removeprefix(PREFIX) if isinstance(name, str) else name


def is_switched_off(statement: Any, name: str) -> bool:
    """Whether a parameter's name is that of a weight that is zero by a number, so that the program is without it."""
    off = (f"{PREFIX}{entry.name}" for entry in statement.weights.entries if not entry.parameter)
    return is_one_of(name, off)


def _weighed(statement: Any) -> Iterator[Sequence[Any]]:
    """The costs of a statement: those of every phase, every transition with a cost, and of the end."""
    for phase in statement.phases:
        yield [term for term in phase.objective if isinstance(term, OBJECTIVES)]
    closing = [] if statement.periodic is None else [statement.periodic.transition]
    for transition in (*statement.resolved.transitions, *closing):
        if isinstance(transition, Impact) and transition.weight:
            yield [transition]
    yield statement.terminal


def _name_of(term: Any) -> str:
    return "Impact" if isinstance(term, Impact) else str(term.name)


def _with_number(statement: Any, entry: CostWeight, value: Any) -> Any:
    """The new weight of costs: a Parameter where it was one, and where another weight of the same name could get the
    same number, so that both stay apart."""
    if isinstance(value, Parameter):
        return value
    old = entry.terms[0].weight
    if isinstance(old, Parameter):
        return Parameter(old.name, value)
    names = {_name_of(term) for term in entry.terms}
    several = any(
        names & {_name_of(t) for t in other.terms} for other in statement.weights.entries if other is not entry
    )
    return Parameter(f"{PREFIX}{entry.name}", value) if several else value


def _with(terms: Iterable[Any], new: Mapping[int, Any]) -> tuple[Any, ...]:
    return tuple(new.get(id(term), term) for term in terms)


def _phase_with(phase: Phase, new: Mapping[int, Any]) -> Phase:
    if not any(id(term) in new for term in phase.objective):
        return phase
    found = copy.copy(phase)
    object.__setattr__(found, "objective", _with(phase.objective, new))
    return found
