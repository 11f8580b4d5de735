"""Keys of what is kept between processes: digests of all that it depends on, the text of this library included."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator
from importlib.util import find_spec

import casadi as ca

PACKAGE = __name__.partition(".")[0]

IMPORT = re.compile(r"^[ \t]*from +(\.*)([\w.]*) +import +(\([^)]*\)|[^\n]*)", re.MULTILINE)
"""An import of one module from another of this library."""


def digest(*parts: str) -> str:
    """A short name for texts: different ones for different texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@functools.cache
def made_by(*modules: str) -> str:
    """A digest that identifies the code by which these modules of the library generate something, for keys of caches.

    It covers the text of the modules, of all modules that they import, directly or not, and CasADi's version.
    """
    return digest(ca.CasadiMeta.version(), *(f"{name}\0{text}" for name, text in sorted(sources(*modules).items())))


def sources(*modules: str) -> dict[str, str]:
    """The texts of modules of the library and of all that they import, directly or not, by name.

    `from package import module` leads to the module alone, `from package import name` to what the package gathers.
    """
    found: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name], package = _source(name)
            waiting += [other for other in _imported(found[name], package) if other not in found]
    return found


def _source(name: str) -> tuple[str, str]:
    """A module's text, and the package its relative imports begin at."""
    spec = find_spec(name)
    text = None if spec is None or spec.loader is None else spec.loader.get_source(name)  # type: ignore[attr-defined]
    if spec is None or text is None:
        raise RuntimeError(f"the source of {name} is not there: install {PACKAGE} with its .py files")
    return text, spec.parent or ""


def _imported(text: str, package: str) -> Iterator[str]:
    for dots, module, names in IMPORT.findall(text):
        parents = package.split(".")
        base = ".".join([*parents[: len(parents) - len(dots) + 1], *filter(None, [module])]) if dots else module
        if base.split(".")[0] != PACKAGE:
            continue
        spec = find_spec(base)
        inside = spec is not None and spec.submodule_search_locations is not None
        for name in re.findall(r"(\w+)(?: as \w+)?", names):
            yield f"{base}.{name}" if inside and find_spec(f"{base}.{name}") is not None else base
