"""Points and radii of constraints as parameters: numbers or expressions.

A parameter is called KIND:NAME, with the kinds `point`, `radius`, `predecessor` and `successor` of the table in
`ocp_dyn.mechanism.parameters` and the names of `constraint_names`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from casadi import MX, SX

from .._base.types import finite_vector, repr_in_message, suggestion
from ..mechanism.parameters import check_value, of_constraint, parameter_size
from .sets import Constraint, Constraints, as_set, constraint_names


def with_constraint_parameters(constraints: Constraints, values: Mapping[str, Any]) -> tuple[Constraint, ...]:
    """The set with parameters of its constraints replaced by `values`: numbers, or SX or MX expressions.

    {"point:foot": p} puts the contact on the frame foot at p (3) [m]. Rows, names and reference poses stay.
    `od.function(..., parameters=("point:foot",))` makes an input of it. A set that holds symbols is for calling
    algorithms directly; as a static argument of `od.function` it must hold numbers.

    KeyError for a constraint that is not in the set, or that has no such parameter.

    >>> pin = od.with_constraint_parameters([od.Contact("tip", axes="z")], {"point:tip": (0.1, 0.0, 0.0)})
    >>> od.constraint_jacobian(rod, pin, [0.0])  # a point 0.1 m beside the hinge's vertical
    DM(-0.1)
    """
    members = _named(as_set(constraints))
    if not isinstance(values, Mapping):
        raise TypeError(f"with_constraint_parameters needs {{parameter: value}}, got {repr_in_message(values)}")
    for name, value in values.items():
        kind, target = _of_set(name, members)
        members[target] = members[target].with_parameter(kind, _checked(name, value))
    return tuple(members.values())


def in_every_set(arguments: tuple[Any, ...], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Arguments of an algorithm with the parameters replaced in each constraint set among them that has them."""
    sets = {k: as_set(argument) for k, argument in enumerate(arguments) if is_set(argument)}
    if not sets:
        raise ValueError(
            f"{', '.join(values)}: these parameters belong to constraints, and this algorithm has none; "
            "pass a constraint set after the model, or leave the parameters out"
        )
    known = {name: c for members in sets.values() for name, c in _named(members).items()}
    for name in values:
        _of_set(name, known)
    changed = list(arguments)
    for k, members in sets.items():
        mine = {name: value for name, value in values.items() if name.partition(":")[2] in _named(members)}
        new = with_constraint_parameters(members, mine)
        changed[k] = new if isinstance(arguments[k], (tuple, list)) else new[0]
    return tuple(changed)


def _named(members: Constraints) -> dict[str, Constraint]:
    """The constraints by their names in the set."""
    return dict(zip(constraint_names(members), members, strict=True))


def is_set(argument: Any) -> bool:
    """Whether an argument of an algorithm is a constraint or a sequence of constraints."""
    if isinstance(argument, (tuple, list)):
        return bool(argument) and all(isinstance(member, Constraint) for member in argument)
    return isinstance(argument, Constraint)


def _of_set(name: str, members: Mapping[str, Constraint]) -> tuple[str, str]:
    """(kind, constraint) of a parameter; raises an error unless the set has it."""
    parameter_size(name)  # raises for a name that is no parameter's
    kind, _, target = name.partition(":")
    if not of_constraint(name):
        raise ValueError(f"{name} belongs to a model, not to a constraint: use with_parameters on the model")
    if target not in members:
        raise KeyError(
            f"{name}: no constraint {repr_in_message(target)} in the set; its constraints are: {', '.join(members)}"
            f"{suggestion(target, members)}"
        )
    kinds = members[target].parameters
    if kind not in kinds:
        has = ", ".join(f"{k}:{target}" for k in kinds) or "none"
        raise KeyError(
            f"{name}: a {type(members[target]).__name__} has no such parameter; {repr_in_message(target)} has: {has}"
            f"{suggestion(kind, kinds)}"
        )
    return kind, target


def _checked(name: str, value: Any) -> Any:
    """The value of a parameter: an expression of the right shape unchanged, numbers as a float or a tuple of floats."""
    size = parameter_size(name)
    if isinstance(value, (SX, MX)):
        if value.shape != (size, 1):
            raise ValueError(
                f"parameter {repr_in_message(name)} must have {size} entries in one column, got shape {value.shape}"
            )
        return value
    numbers = finite_vector(value, size, f"parameter {repr_in_message(name)}")
    check_value(name, numbers, error=ValueError)
    return float(numbers[0]) if size == 1 else tuple(map(float, numbers))
