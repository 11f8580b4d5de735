"""The base class of everything that users extend by classes of their own: costs, constraints, footholds, joints,
schemes.

A base class declares all that the library reads: abstract methods, which a class must have, and methods and attributes
with defaults, which it may override. So the members of a class can be checked by the base classes alone.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from dataclasses import Field
from difflib import get_close_matches
from functools import cached_property
from inspect import get_annotations
from typing import Any

import numpy as np

from .display import Brief
from .types import repr_in_message

METHOD, FLAG, TEXT, NUMBER, DATA = "a method", "True or False", "a text", "a number", "a value"
"""Kinds of members of a class."""

KINDS = {"bool": FLAG, "str": TEXT, "float": NUMBER, "int": NUMBER, "float | Parameter": NUMBER}
"""Kinds of attributes by their annotation; those of all others are DATA."""

NEAR = 0.8
"""Similarity of two names, between 0 and 1, from which on one is taken for the other, misspelled."""


class Extensible(Brief, ABC):
    """A class that users derive from. TypeError for a derived class with a public name that is nearly that of a member
    it does not override, and of its kind, because nobody would read it; and for a member of the wrong kind."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _check(cls, {}, f"class {cls.__name__}({', '.join(base.__name__ for base in cls.__bases__)})")


def check_members(value: Extensible, what: str) -> None:
    """Raises TypeError for attributes that are set in an object, and not in its class, as `Extensible` does for those
    of the class; and for an attribute without a value that the base class only annotates."""
    kind = type(value)
    _check(kind, {name: one for name, one in vars(value).items() if name[0] != "_"}, what)
    for base in _bases(kind):
        for name in get_annotations(base):
            if name[0] != "_" and not hasattr(value, name):
                near = get_close_matches(name, dir(value), 1, NEAR)
                hint = f": did you mean it by {near[0]!r}?" if near else ""
                raise TypeError(f"{what} needs the attribute {name}{hint}")


def derive(value: Any, kinds: tuple[type, ...]) -> str:
    """Advice for an object that has methods of one of these classes without being derived from it; else an empty
    text."""
    for kind in () if isinstance(value, Extensible) else kinds:
        needed = sorted(getattr(kind, "__abstractmethods__", ()))
        if any(hasattr(value, name) for name in needed):
            room = "ocp" if kind.__module__.startswith("ocp_dyn.ocp.") else "od"
            own = type(value).__name__
            lacks = [name for name in needed if not hasattr(value, name)]
            more = f", with {' and '.join(lacks)}" if lacks else ""
            return f": derive its class from the base class, class {own}({room}.{kind.__name__}){more}"
    return ""


def _bases(kind: type) -> Iterator[type]:
    """The extensible base classes of a class; not itself."""
    return (base for base in kind.__mro__[1:] if issubclass(base, Extensible) and base is not Extensible)


def _check(kind: type, more: dict[str, Any], what: str) -> None:
    """Compares the public members of a class, and `more` of an object, with those of its extensible base classes."""
    known: dict[str, str] = {}
    for base in _bases(kind):
        known = _members(base) | known
    own = [base for base in kind.__mro__ if base is kind or not issubclass(base, Extensible)]
    given = {name: one for base in reversed(own) for name, one in vars(base).items() if name[0] != "_"} | more
    for name, one in given.items():
        found = _kind(one)
        if name in known:
            if not _fits(found, known[name]):
                raise TypeError(f"{what}: {name} must be {known[name]}, got {repr_in_message(one)}")
            continue
        absent = [key for key, its in known.items() if key not in given and its != DATA and found in ("", its)]
        if near := get_close_matches(name, absent, 1, NEAR):
            raise TypeError(
                f"{what}: its {name} is read by nobody: did you mean {near[0]!r}? If it is the object's own, give it "
                "another name, or one that begins with _"
            )


def _fits(found: str, wanted: str) -> bool:
    """Whether a member of one kind can stand for one of another kind. Some values are numbers, such as `DM(1)`."""
    return found in ("", wanted) or wanted == DATA or (wanted == NUMBER and found in (FLAG, DATA))


def _members(base: type) -> dict[str, str]:
    """The public members that a class itself defines, each with its kind."""
    notes = {name: KINDS.get(str(note), DATA) for name, note in get_annotations(base).items()}
    found = {name: _declared(one) for name, one in vars(base).items() if name not in notes}
    return {name: its for name, its in (notes | found).items() if name[0] != "_"}


def _declared(found: Any) -> str:
    """The kind of a member that a base class defines; that of a property by what it returns."""
    if isinstance(found, property):
        return KINDS.get(str(getattr(found.fget, "__annotations__", {}).get("return", "")), DATA)
    return _kind(found) or DATA


def _kind(found: Any) -> str:
    """The kind of a member that a class gives; of a property and of a field of a dataclass an empty text: any."""
    if isinstance(found, (property, cached_property, Field)):
        return ""
    if callable(found) or isinstance(found, (staticmethod, classmethod)):
        return METHOD
    if isinstance(found, (bool, np.bool_)):
        return FLAG
    return TEXT if isinstance(found, str) else NUMBER if isinstance(found, (int, float, np.number)) else DATA
