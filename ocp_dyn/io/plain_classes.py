"""Objects in files by the name of their class and the values of its fields.

A file never imports code: it names a class, and whoever loads the file gives the classes that are not the library's,
`load_model(path, joints=(Screw,))`. Such a class is a frozen dataclass; its fields are numbers, texts, None and tuples
of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from .._base.types import ROUNDING, ModelError, repr_in_message, sequence, suggestion
from ..joints import JointAxis
from ..joints.splines import FUNCTIONS
from ..mechanism import (
    Bushing,
    ConditionalPathPoint,
    Marker,
    MovingPathPoint,
    Muscle,
    PathPoint,
    PathSpring,
    PathWrap,
    PrescribedMotion,
    WeightSupport,
    WrapObject,
)
from ._json_entry import JsonEntry, as_float

VALUES: dict[str, Any] = FUNCTIONS | {
    kind.__name__: kind
    for kind in (
        JointAxis,
        Marker,
        PathPoint,
        ConditionalPathPoint,
        MovingPathPoint,
        PathWrap,
        Muscle,
        WrapObject,
        Bushing,
        PathSpring,
        WeightSupport,
        PrescribedMotion,
    )
}
"""The library's classes whose objects may be values of fields: each is an object {"class": name, field: value}."""


class UnknownClass(ModelError):
    """A file names a class that its reader does not know: the file is right, and the class must be given."""


def field_names(kind: Any) -> list[str]:
    """Names of the fields that the constructor of a dataclass takes."""
    return [field.name for field in fields(kind) if field.init]


def is_own_dataclass(kind: type) -> bool:
    """Whether the class itself, not a class that it derives from, is a frozen dataclass: then its fields are all it
    holds."""
    return is_dataclass(kind) and "__dataclass_fields__" in vars(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]


def known_classes(library: Mapping[str, Any], given: Any, option: str, fits: Callable[[type], bool]) -> dict[str, Any]:
    """The library's classes and those given, by name. option: name of the argument that gives them, for messages.

    TypeError for anything but frozen dataclasses that fit, ValueError for two of one name.
    """
    known = dict(library)
    expected = f"{option} must be a tuple of classes, frozen dataclasses of {option}, such as {option}=(MyClass,)"
    alone = isinstance(given, type) or fits(type(given))
    for kind in (given,) if alone else sequence(given, expected):
        if not isinstance(kind, type) or not is_own_dataclass(kind) or not fits(kind):
            remedy = f": give the class, {type(kind).__name__}" if fits(type(kind)) else ""
            raise TypeError(f"{expected}, got {repr_in_message(kind)} among them{remedy}")
        if known.setdefault(kind.__name__, kind) is not kind:
            raise ValueError(
                f"{option}: two classes are called {kind.__name__!r}, one may be the library's: rename one"
            )
    return known


def class_called(name: str, known: Mapping[str, Any], option: str, where: str) -> Any:
    """The class of this name; UnknownClass, with the remedy, if there is none."""
    if name in known:
        return known[name]
    hint = suggestion(name, known) or f"; known: {', '.join(known)}."
    example = name if name.isidentifier() and len(name) <= 60 else "MyClass"
    raise UnknownClass(
        f"{where}: no kind of {option.removesuffix('s')} {repr_in_message(name)}{hint} Your own class must be given "
        f"when the file is loaded: {option}=({example},)"
    )


def as_data(value: Any) -> Any:
    """The value of a field as JSON holds it; TypeError for anything but finite numbers, texts, None, objects of
    `VALUES` and tuples of these."""
    if VALUES.get(type(value).__name__) is type(value):
        return {"class": type(value).__name__} | {key: as_data(getattr(value, key)) for key in field_names(type(value))}
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, tuple):
        return [as_data(x) for x in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (int, float)) and as_float(value, infinite=False) is not None:
        return value
    raise TypeError("not plain data")


def from_data(value: Any) -> Any:
    """The value of `as_data`; TypeError for anything that it does not write."""
    if isinstance(value, Mapping):
        name = value.get("class")
        if not isinstance(name, str) or name not in VALUES:
            raise TypeError("not plain data")
        given = {key: from_data(x) for key, x in value.items() if key != "class"}
        if sorted(given) != sorted(field_names(VALUES[name])):
            raise TypeError("not plain data")
        try:
            return VALUES[name](**given)
        except ValueError as error:
            raise ModelError(str(error)) from None
    return tuple(from_data(x) for x in value) if isinstance(value, list) else as_data(value)


def restored(made: Any, value: Any, size: float | None = None) -> Any:
    """The value of a field as a file holds it, with the types of what the constructor made of it; ValueError if the two
    differ by more than rounding.

    Rounding is relative to the largest number in the field, at least 1: an axis holds a unit vector or, for a screw,
    lengths beside it.
    """
    size = max(1.0, _largest(value)) if size is None else size
    if isinstance(made, tuple) and isinstance(value, tuple) and len(made) == len(value):
        return tuple(restored(x, y, size) for x, y in zip(made, value, strict=True))
    if isinstance(made, float) and isinstance(value, (int, float)) and not isinstance(value, bool):
        if abs(made - value) <= ROUNDING * size:
            return float(value)
    elif isinstance(made, bool) == isinstance(value, bool) and made == value:
        return made
    raise ValueError("the constructor changes the value")


def object_of(entry: JsonEntry, kind: Any) -> Any:
    """The object of a dataclass that an entry describes beside "kind"; ModelError that names the entry for anything
    else. Its numbers are those of the file to the last bit, which a constructor that normalizes axes may change."""
    names = field_names(kind)
    for key in entry.data:
        if key != "kind" and key not in names:
            has = f"{', '.join(names) or 'nothing'}{suggestion(key, names)}"
            raise ModelError(f"{entry.where}: {kind.__name__} has no {repr_in_message(key)}; it has: {has}")
    values: dict[str, Any] = {}
    for key in names:
        try:
            values[key] = from_data(entry[key])
        except TypeError:
            raise entry.fail(key, "made of finite numbers, texts, null and lists of these") from None
    try:
        made = kind(**values)
    except (ValueError, TypeError) as error:
        raise ModelError(f"{entry.where}: {error}") from None
    for key, value in values.items():
        given = getattr(made, key)
        try:
            object.__setattr__(made, key, restored(given, value))
        except ValueError:
            raise entry.fail(key, f"{repr_in_message(given)} for a {kind.__name__}") from None
    return made


def _largest(value: Any) -> float:
    """The largest magnitude among the numbers of a field."""
    if isinstance(value, tuple):
        return max((_largest(x) for x in value), default=0.0)
    return abs(value) if isinstance(value, (int, float)) else 0.0
