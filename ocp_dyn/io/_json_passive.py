"""Passive torques of joints in files: each by the name of its class and the values of its fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._base.types import ModelError, repr_in_message, suggestion
from ..mechanism.passive import ELEMENTS, PassiveElement
from ._classes import as_data, field_names, from_data, restored
from ._json_entry import JsonEntry


def passive_to_list(elements: Iterable[PassiveElement]) -> list[dict[str, Any]]:
    """The elements as plain data; ModelError for one of a class that is not the library's."""
    rows = []
    for element in elements:
        kind = type(element).__name__
        if ELEMENTS.get(kind) is not type(element):
            raise ModelError(
                f"the passive element {repr_in_message(element)} cannot be written to JSON: a file knows "
                f"{', '.join(ELEMENTS)}"
            )
        rows.append({"kind": kind} | {key: as_data(getattr(element, key)) for key in field_names(ELEMENTS[kind])})
    return rows


def passive_from_list(rows: list[Any]) -> tuple[PassiveElement, ...]:
    """The elements of a file; ModelError that names the entry for anything malformed."""
    return tuple(_element(JsonEntry(row, f"passive[{i}]")) for i, row in enumerate(rows))


def _element(entry: JsonEntry) -> PassiveElement:
    name = entry.text("kind")
    if name not in ELEMENTS:
        hint = suggestion(name, ELEMENTS) or f"; known: {', '.join(ELEMENTS)}"
        raise ModelError(f"{entry.where}: no kind of passive element {repr_in_message(name)}{hint}")
    fields = field_names(ELEMENTS[name])
    for key in entry.data:
        if key != "kind" and key not in fields:
            raise ModelError(
                f"{entry.where}: {name} has no {repr_in_message(key)}; it has: "
                f"{', '.join(fields)}{suggestion(key, fields)}"
            )
    values: dict[str, Any] = {}
    for key in fields:
        try:
            values[key] = from_data(entry[key])
        except TypeError:
            raise entry.fail(key, "made of finite numbers, texts and lists of these") from None
    try:
        element = ELEMENTS[name](**values)
    except (ValueError, TypeError) as error:
        raise ModelError(f"{entry.where}: {error}") from None
    for key, value in values.items():
        try:
            restored(getattr(element, key), value)
        except ValueError:
            raise entry.fail(key, repr_in_message(getattr(element, key))) from None
    return element
