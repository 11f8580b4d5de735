"""Content of plain data as text, from which a digest is made: what a result depends on, if it depends on data alone."""

from __future__ import annotations

import functools
import os
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import casadi as ca
import numpy as np

from .identity import digest

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of this library."""


def content(part: Any) -> str:
    """Text of numbers, texts, arrays, collections and dataclasses, which differs if the data differ.

    Objects count by the fields with which they are made, functions by their name, their place in the file and what they
    hold; both only if this library defines them: TypeError for those of users, whose code may change, for symbols, and
    for objects without fields. Objects that equal only themselves differ from a copy: where one stands twice, the text
    says so.
    """
    return "\0".join(_texts(part, {}))


def _texts(part: Any, known: dict[int, int]) -> Iterator[str]:
    """The texts of a part; known: numbers of the objects that equal only themselves, by their id."""
    if part is None or isinstance(part, (bool, int, float, str, bytes)):
        yield f"{type(part).__name__} {part!r}"
    elif isinstance(part, ca.DM):
        yield f"DM {part.shape} {part.row()} {part.colind()} {part.nonzeros()}"
    elif isinstance(part, (np.ndarray, np.generic)):
        if part.dtype.hasobject:
            raise TypeError("an array of objects has no plain content")
        yield f"array {part.dtype.str} {part.shape} {part.tobytes().hex()}"
    elif isinstance(part, type):
        yield _name(part)
    elif is_dataclass(part):
        yield _name(type(part))
        if type(part).__eq__ is object.__eq__:
            again = id(part) in known
            yield f"object {known.setdefault(id(part), len(known))}"
            if again:
                return
        for field in fields(part):
            if field.init:
                yield from _texts(getattr(part, field.name), known)
    else:
        kind, parts = _parts(part)
        yield f"{kind} {len(parts)}"
        for each in parts:
            yield from _texts(each, known)


def _parts(part: Any) -> tuple[str, tuple[Any, ...]]:
    """Kind and parts of a collection or a function."""
    if isinstance(part, Mapping):
        return "mapping", tuple(x for item in part.items() for x in item)
    if isinstance(part, (tuple, list)):
        return _name(type(part)), tuple(part)
    if isinstance(part, functools.partial):
        return "partial", (part.func, part.args, part.keywords)
    if isinstance(part, types.MethodType):
        return "method", (part.__func__, part.__self__)
    if isinstance(part, types.FunctionType):
        held = tuple(cell.cell_contents for cell in part.__closure__ or ())
        place = f"{part.__code__.co_firstlineno} {list(part.__code__.co_positions())}"  # two lambdas may have one name
        return f"{_name(part)} {digest(place)}", (part.__defaults__, part.__kwdefaults__, held)
    raise TypeError(f"the content of {type(part).__name__} is not known")


def _name(defined: Any) -> str:
    """Module and name of a class or function; TypeError unless a file of this library, or Python itself, defines it."""
    module = defined.__module__
    if module != "builtins":
        file = getattr(sys.modules.get(module), "__file__", None) or ""
        if not file.startswith(f"{FOLDER}{os.sep}"):
            raise TypeError(f"the code of {defined.__qualname__} is not that of this library")
    return f"{module}.{defined.__qualname__}"


def library_state() -> str:
    """A digest that differs if a file of this library was changed or installed anew: of the names, sizes and times of
    all its files, and of the versions of CasADi and NumPy.

    A hundredth of the time of reading them all. As in a build, a file with the size and the time of before is the same.
    """
    found = [FOLDER, ca.CasadiMeta.version(), np.__version__]
    waiting = [FOLDER]
    while waiting:
        for entry in os.scandir(waiting.pop()):
            if entry.is_dir():
                waiting += [entry.path] if entry.name != "__pycache__" else []
            else:
                about = entry.stat()
                found.append(f"{entry.path} {about.st_size} {about.st_mtime_ns}")
    return digest(*sorted(found))
