"""Schema of a motion: shapes and rules of its arrays, rules of its plain data; for motions that are made, saved and
read.

Shapes are names of sizes, such as `("nodes", "nq")`. Sizes that nothing else tells, such as the number of nodes, are
those of the first array that has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..._base.types import LARGEST_MAGNITUDE, Array, repr_in_message
from ...integrators import Scheme
from ..statement.state.channels import MECHANICS, Channel


class Field(NamedTuple):
    """Rules of an array: names of its sizes, whether it holds whole numbers, and a key of RULES."""

    shape: tuple[str, ...]
    integers: bool = False
    rule: str = "finite"


def _finite(x: Array) -> bool:
    return bool(np.all(np.abs(x) <= LARGEST_MAGNITUDE))  # false for nan, too


RULES: dict[str, tuple[Callable[[Array], bool], str]] = {
    "finite": (_finite, f"numbers that are not finite, or beyond {LARGEST_MAGNITUDE:g}"),
    "ascending": (lambda x: _finite(x) and bool(np.all(np.diff(x) > 0)), "times that do not ascend"),
    "positive": (lambda x: _finite(x) and bool(np.all(x > 0)), "numbers that are not positive and finite"),
    "bounds": (lambda x: not np.any(np.isnan(x)), "nan"),
    "any": (lambda x: True, ""),
}
"""Rules of numbers: whether they hold, and what an array holds that breaks them."""

PHASE = {
    "t": Field(("nodes",), rule="ascending"),
    **{name: Field(("nodes" if its.kind == "state" else "intervals", its.size)) for name, its in MECHANICS.items()},
    "tau_rate": Field(("intervals", "nv")),
}
"""Arrays of a phase; rows: those of its contacts."""


def channel_field(channel: Channel) -> Field:
    """Rules of the array of a component's channel."""
    return Field(("nodes" if channel.at_nodes else "intervals", *entries_of(channel)))


def entries_of(channel: Channel) -> dict[str, int]:
    """The size of a channel by its name."""
    return {f"entries of {channel.name}": channel.size}


ITERATE = {"x": Field(("entries of x",)), "lam_x": Field(("entries of x",)), "lam_g": Field(("rows of g",))}
"""Arrays of an iterate of a solver."""


def checked(name: str, values: Any, field: Field, sizes: dict[str, int]) -> Array:
    """The numbers of an array; ValueError if they are of another kind, or their shape is not that of the field.

    sizes: those that are known, to which those are added that this array tells first.
    """
    array = np.asarray(values)
    if array.dtype.kind not in ("iu" if field.integers else "fiu"):
        kind = "whole numbers" if field.integers else "real numbers"
        raise ValueError(f"{name!r} holds {array.dtype}, expected {kind}")
    expected = [sizes.get(size, "any number") for size in field.shape]
    fits = array.ndim == len(field.shape) and all(n in (m, "any number") for n, m in zip(expected, array.shape))  # noqa: B905
    if not fits:
        listed = ", ".join(map(str, expected)) + ("," if len(expected) == 1 else "")
        raise ValueError(f"{name!r} has the shape {array.shape}, expected ({listed}): {' x '.join(field.shape)}")
    for size, n in zip(field.shape, array.shape, strict=True):
        if size == "nodes" and n < 2:
            raise ValueError(f"{name!r} must hold at least two times, got {n}")
        sizes.setdefault(size, n)
        if size == "nodes":
            sizes.setdefault("intervals", n - 1)
    return array.astype(np.int64 if field.integers else np.float64, copy=False)


def fault(values: Array, field: Field) -> str:
    """Words for the numbers of an array that break the rule of its field; "" if it holds none."""
    holds, what = RULES[field.rule]
    return "" if holds(values) else what


def all_checked(
    named: Mapping[str, Any], fields: Mapping[str, Field], sizes: dict[str, int], where: str = ""
) -> dict[str, Array]:
    """The arrays of all fields, by name; ValueError as from `checked`. where: put after names in messages."""
    return {key: checked(f"{key}{where}", named[key], field, sizes) for key, field in fields.items()}


# Plain data


class EntryRules(NamedTuple):
    """Rules of an entry of plain data, such as the cost by term.

    check: returns the value of an entry of a file, or raises ValueError. finite: whether its numbers must be finite and
    at most LARGEST_MAGNITUDE.
    """

    check: Callable[[Any], Any]
    finite: bool = True


def bounded(value: Any) -> bool:
    """Whether all numbers in plain data are finite and not beyond LARGEST_MAGNITUDE."""
    if isinstance(value, Mapping):
        return all(map(bounded, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(bounded, value))
    return not isinstance(value, (int, float)) or abs(value) <= LARGEST_MAGNITUDE


def mapping(value: Any) -> dict[str, Any]:
    """An object of JSON."""
    if not isinstance(value, dict):
        raise wrong("an object", value)
    return value


def number(value: Any) -> float:
    """One number, perhaps not finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong("a number", value)
    return float(value)


def boolean(value: Any) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise wrong("true or false", value)
    return value


def text(value: Any) -> str:
    """One text."""
    if not isinstance(value, str):
        raise wrong("a text", value)
    return value


def texts(value: Any) -> list[str]:
    """A list of texts."""
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        raise wrong("a list of texts", value)
    return value


def numbers(value: Any, size: int) -> list[float]:
    """A list of numbers."""
    if not isinstance(value, list) or len(value) != size:
        raise wrong(f"a list of {size} numbers", value)
    return [number(x) for x in value]


def wrong(expected: str, value: Any) -> ValueError:
    """The error for plain data of another kind."""
    return ValueError(f"expected {expected}, got {repr_in_message(value)}")


def _cost(value: Any) -> dict[str, float]:
    return {name: number(x) for name, x in mapping(value).items()}


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise wrong("a whole number, not negative", value)
    return value


def _not_negative(value: Any) -> float:
    if number(value) < 0:
        raise wrong("a number that is not negative", value)
    return float(value)


def _integrator(value: Any) -> Any:
    """The name of a scheme, or the scheme that `Scheme.to_dict` wrote."""
    if not isinstance(value, dict):
        return text(value)
    try:
        return Scheme(**value)
    except TypeError as error:
        raise ValueError(f"it is not a Butcher tableau: {error}") from None


def _refinement(value: Any) -> dict[str, Any]:
    """The record of the grids of a motion."""
    found = mapping(value)
    rounds = found.get("rounds")
    if not isinstance(rounds, list) or not {"accuracy", "verdict"} <= found.keys():
        raise wrong("an accuracy, a verdict and a list of rounds", value)
    number(found["accuracy"])
    text(found["verdict"])
    for one in rounds:
        texts([mapping(one).get(key) for key in ("integrator", "phase", "dof", "change")])
        for key in ("at", "iterations", "seconds", "objective"):
            number(one.get(key))
        sizes = [len(numbers(times, len(times))) - 1 for times in one.get("nodes") or [[]]]
        for key in ("angle", "length"):
            numbers(one.get(key), sum(sizes))
    return found


def _ladder(value: Any) -> list[Any]:
    """The grids by way of which a motion was found."""
    if not isinstance(value, list):
        raise wrong("a list of grids", value)
    for one in value:
        text(mapping(one).get("status"))
        for key in ("iterations", "seconds", "objective"):
            number(one.get(key))
        numbers(one.get("intervals"), len(one.get("intervals") or []))
    return value


def _strength(value: Any) -> list[Any]:
    """The use of strength of every dof: name, share, torque, limit, phase, time."""
    if not isinstance(value, list):
        raise wrong("a list of entries", value)
    for one in value:
        if not isinstance(one, list) or len(one) != 6:
            raise wrong("entries of a name, three numbers, a phase and a time", one)
        texts(one[::4])
        numbers([*one[1:4], one[5]], 4)
    return value


NEEDED = {"converged": boolean, "status": text}
"""Figures that every solved motion has."""

FIGURES: dict[str, Callable[[Any], Any]] = NEEDED | {
    **dict.fromkeys(("iterations", "retries", "variables", "constraints", "steps"), _count),
    **dict.fromkeys(("build_seconds", "solve_seconds", "infeasibility"), _not_negative),
    **dict.fromkeys(("faults", "repetitions", "transitions", "driving"), texts),
    **dict.fromkeys(("solver", "linear_solver", "worst_row", "evaluation", "form", "torque", "contact_level"), text),
    "integrator": _integrator,
    "ladder": _ladder,
    "refinement": _refinement,
    "strength": _strength,
}
"""Checks of the figures of a run that the library reads; others are kept as they are."""


def _stats(value: Any) -> dict[str, Any]:
    found = mapping(value)
    for key in NEEDED.keys() - found.keys():
        raise ValueError(f"{key!r} is missing")
    return found | dict(_each(found, FIGURES))


def _each(found: Mapping[str, Any], checks: Mapping[str, Callable[[Any], Any]]) -> Iterable[tuple[str, Any]]:
    for key in checks.keys() & found.keys():
        try:
            yield key, checks[key](found[key])
        except ValueError as error:
            raise ValueError(f"{key!r}: {error}") from None


ENTRIES = {
    "cost": EntryRules(_cost),
    "step_length": EntryRules(number),
    "mirrored": EntryRules(boolean),
    "sideways": EntryRules(number),
    "rise": EntryRules(number),
    "turn": EntryRules(number),
    "stats": EntryRules(_stats, finite=False),
}
"""Fields of a solution that a file holds as plain data."""

LOADS = {"passive": EntryRules(boolean), "armature": EntryRules(boolean), "slip_speed": EntryRules(_not_negative)}
"""Fields of a solution's `Loads`, which a file holds as plain data, too."""
