"""Passive torques, markers, muscles, wrap objects, named configurations and constraints of a model in a JSON file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .._base.types import ModelError, repr_in_message, suggestion
from ..constraints import Constraint
from ..mechanism import Annotations, BodySpring, Marker, Model, Muscle, PrescribedMotion, WrapObject
from ..mechanism.passive import ELEMENTS, PassiveElement
from ._json_entry import JsonEntry
from .constraints import constraint_from_dict, constraint_to_dict
from .plain_classes import as_data, field_names, from_data, object_of

LISTS: dict[str, Any] = {"markers": Marker, "muscles": Muscle, "wraps": WrapObject, "prescribed": PrescribedMotion}
"""Lists of a file, and the class of their entries."""


def annotations_to_dict(model: Model) -> dict[str, Any]:
    """The parts of the model's file that hold its annotations and constraints; those that are empty are left out."""
    found: dict[str, Any] = {key: [as_data(one) for one in getattr(model, key)] for key in LISTS}
    found["bushings"] = [as_data(one) for one in model.bushings]
    found["configurations"] = {name: list(q) for name, q in model.annotations.configurations}
    found["notes"] = list(model.notes)
    found["constraints"] = [_constraint(one) for one in model.constraints]
    return {key: value for key, value in found.items() if value}


def _constraint(one: Any) -> dict[str, Any]:
    if not isinstance(one, Constraint):
        raise ModelError(f"the constraint {repr_in_message(one)} of the model cannot be written to JSON")
    try:
        return constraint_to_dict(one)
    except ValueError as error:
        raise ModelError(f"the model cannot be written to JSON: {error}") from None


def annotations_from_dict(top: JsonEntry) -> Annotations:
    """The annotations of a file; ModelError that names the entry for anything malformed."""
    found = {}
    for key, kind in LISTS.items():
        rows = top.items(key) if key in top.data else []
        found[key] = tuple(_value(row, kind, f"{key}[{i}]") for i, row in enumerate(rows))
    named = top.entry("configurations").data if "configurations" in top.data else {}
    configurations = []
    for name, row in named.items():
        if not isinstance(name, str) or not isinstance(row, list):
            raise ModelError("configurations must be lists of numbers by their names")
        q = JsonEntry({name: row}, "configurations").vector(name, len(row))
        configurations.append((name, tuple(q)))
    notes = top.data.get("notes", [])
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise ModelError(f"notes must be a list of texts, got {repr_in_message(notes)}")
    return Annotations(**found, configurations=tuple(configurations), notes=tuple(notes))


def _value(row: Any, kind: Any, where: str) -> Any:
    """The object of a class of `LISTS` that an entry describes."""
    try:
        made = from_data(JsonEntry(row, where).data)
    except (TypeError, ModelError) as error:
        raise ModelError(f"{where}: not a {kind.__name__} as save_model writes it: {str(error)[:200]}") from None
    if not isinstance(made, kind):
        raise ModelError(f"{where} must be a {kind.__name__}, got {repr_in_message(made)}")
    return made


def _bushings(top: JsonEntry) -> tuple[BodySpring, ...]:
    rows = top.items("bushings") if "bushings" in top.data else []
    return tuple(_value(row, BodySpring, f"bushings[{i}]") for i, row in enumerate(rows))


def connections_from_dict(top: JsonEntry, model: Model) -> Model:
    """The model with the constraints and bushings of its file."""
    rows = top.items("constraints") if "constraints" in top.data else []
    found = []
    for i, row in enumerate(rows):
        try:
            found.append(constraint_from_dict(row, model))
        except ModelError as error:
            raise ModelError(f"constraints[{i}]: {error}") from None
    return replace(model, constraints=tuple(found), bushings=_bushings(top))


# Passive torques


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
    made: PassiveElement = object_of(entry, ELEMENTS[name])
    return made
