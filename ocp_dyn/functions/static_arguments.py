"""Arguments that an algorithm takes between the model and q: constraint sets, names of frames and others.

`od.function` uses only those that are constraint sets: their rows have names, and their points may be inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..constraints import constraint_rows, in_every_set, is_set
from ..formulations import IndependentCoordinates, NaturalCoordinates, OpenedChain
from ..mechanism import Model
from ..mechanism.parameters import of_constraint, with_parameters

Static = tuple[Any, ...]


def rows_of_constraints(static: Static) -> tuple[str, ...]:
    """Names of the rows of the first constraint set among the arguments. ValueError if there is none."""
    for argument in static:
        if is_set(argument) or argument == ():
            return constraint_rows(argument)
    raise ValueError(
        "phi, G, gamma and lam have the rows of a constraint set, and none is given: pass it after the model, "
        "od.function(algorithm, model, constraints)"
    )


def natural_of(static: Static) -> NaturalCoordinates:
    """The natural coordinates among the arguments, or those of an opened chain. ValueError if there are none."""
    for argument in static:
        if isinstance(argument, OpenedChain):
            return argument.natural
        if isinstance(argument, NaturalCoordinates):
            return argument
    raise ValueError(
        "x, Phi and Q have the sizes of natural coordinates, and none are given: pass them after the model, "
        "od.function(algorithm, model, od.formulations.natural(model))"
    )


def opened_of(static: Static) -> OpenedChain:
    """The opened chain among the arguments. ValueError if there is none."""
    for argument in static:
        if isinstance(argument, OpenedChain):
            return argument
    raise ValueError(
        "lam_o has the conditions of an opened chain, and none is given: pass it after the model, "
        "od.function(algorithm, model, od.formulations.open_by_removing(model, loops, bodies))"
    )


def independent_of(static: Static) -> IndependentCoordinates:
    """The choice of independent coordinates among the arguments and options. ValueError if there is none."""
    for argument in static:
        if isinstance(argument, IndependentCoordinates):
            return argument
    raise ValueError(
        "R2 and qd_i have the sizes of a choice of independent coordinates, and none is given: pass it as an option, "
        "od.function(algorithm, model, loops, independent=od.formulations.independent_coordinates(model, loops, q))"
    )


def with_values(model: Model, static: Static, values: Mapping[str, Any]) -> tuple[Model, Static]:
    """The model, and the constraint sets among the arguments, with their parameters replaced by `values`."""
    points = {name: value for name, value in values.items() if of_constraint(name)}
    model = with_parameters(model, {name: value for name, value in values.items() if name not in points})
    return model, in_every_set(static, points) if points else static
