"""Values of a problem's parameters: names and numbers that they can have, for every door that takes `values`;
parameters that nothing reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..._base.checks import CONVERSION_ERRORS, numbers
from ..._base.types import Array, is_one_of, repr_in_message
from ...mechanism.parameters import MODEL_PARAMETERS, check_value, parameter_size
from ..nlp.program import Assembled, Block, ProgramParameter
from ..statement.objectives import MAXIMIZED, Weighed
from ..statement.statement import Statement
from ..statement.values.weights import PREFIX, is_switched_off, without_prefix
from ..transcription.variables import Transcription


def by_name(values: Mapping[str, Any] | None, problem: Statement | None = None) -> dict[str, Any]:
    """Values of parameters by name, checked as far as names and the problem tell what they are: masses and inertias
    that bodies can have, durations above zero, angles.

    TypeError if they are given in another form. Unknown names are found where the values are set.
    """
    if not (values is None or isinstance(values, Mapping)):
        raise TypeError(
            f"values must be a dict of parameters by name, such as {{'speed': 1.3}}, got {repr_in_message(values)}"
        )
    found = dict(values or {})
    for name, value in found.items():
        _check(name, value, problem)
    return found


def _check(name: str, value: Any, problem: Statement | None) -> None:
    """Raises ValueError for numbers that a parameter of this name cannot have."""
    if not isinstance(name, str):
        raise TypeError(f"values: names of parameters are strings, got {repr_in_message(name)}")
    try:
        x = numbers(value, f"parameter {name!r}")
    except CONVERSION_ERRORS:  # the program knows its size, and says what is expected
        return
    what = f"parameter {name!r}"
    size = parameter_size(name) if name.partition(":")[0] in MODEL_PARAMETERS else 1
    if x.size in (1, size):
        check_value(name, np.broadcast_to(x, (size,)), what, ValueError)
    if problem is None:
        return
    _check_weight(name, x, problem)
    for cost in (term for phase in problem.phases for term in phase.objective if isinstance(term, Weighed)):
        for key in (key for key, parameter in cost.parameters.items() if parameter.name == name):
            replace(cost, **{key: x})  # type: ignore[type-var]  # with the cost's own check
    if any(parameter.free and parameter.name == name for parameter in problem.resolved.parameters):
        raise KeyError(
            f"{what} is free between its bounds, and the solve finds its value: to give it one, declare it without "
            "bounds"
        )
    timed = [phase.name for phase in problem.phases if phase.shared_duration and phase.shared_duration.name == name]
    if timed and np.any(x <= 0):
        raise ValueError(
            f"{what} is the duration [s] of phase {timed[0]!r} and must be positive, got {repr_in_message(value)}"
        )
    if name == "turn" and problem.periodic is not None and np.any(np.abs(x) > math.pi):
        raise ValueError(
            f"{what} is the angle of one period in rad, at most pi to either side, got {repr_in_message(value)}"
        )


def _check_weight(name: str, x: Array, problem: Statement) -> None:
    """Raises an error for a weight that is below zero, or that the program does not have as a parameter."""
    if any(entry.parameter == name for entry in problem.weights.entries) and np.any(x < 0):
        raise ValueError(f"{name} must not be negative, got {repr_in_message(x.squeeze().tolist())}{MAXIMIZED}")
    declared = any(name == parameter.name for parameter in problem.resolved.parameters)
    if is_switched_off(problem, name) and not declared:
        plain = without_prefix(name)
        raise KeyError(
            f"{repr_in_message(name)} is zero, which leaves the cost out of the program: "
            f"problem.with_weights({{{plain!r}: ...}}) makes a problem that has it"
        )
    if is_one_of(name, [*problem.weights]) and not declared:
        raise KeyError(f"no parameter {repr_in_message(name)}: the parameter of this cost is named {PREFIX + name!r}")


def unread(transcription: Transcription, program: Assembled) -> Iterator[str]:
    """A sentence for every declared parameter whose value changes nothing: no cost, constraint or condition reads
    it."""
    declared = [parameter.name for parameter in transcription.problem.parameters if not parameter.free]
    read = {name for block in program.blocks for name in _read_by(block)} if declared else set()
    for name in declared:
        if name not in read:
            yield (
                f"the value of the parameter {name!r} changes nothing: no cost, constraint or condition reads "
                f"instant.values[{name!r}]; read it, or leave it out of the problem"
            )


def _read_by(block: Block) -> Iterator[str]:
    """Names of the parameters on which the costs and rows of a block depend."""
    places, first = {}, 0
    for name, slot in block.slots.items():
        if isinstance(slot, ProgramParameter):
            places[name] = range(first, first + slot.size)
            first += slot.size
    f = block.values_function if places else None
    columns = {c for o in range(f.n_out()) for c in f.jac_sparsity(o, 1).get_col()} if f is not None else set()
    yield from (name for name, place in places.items() if columns & set(place))
