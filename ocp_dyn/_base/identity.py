"""Keys of caches: digests of everything that the cached content depends on, including the source of this library."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import casadi as ca

PACKAGE = __name__.partition(".")[0]

BESIDE = ("templates/*", "*.csv", "*.toml")
"""Files in the folder of a module that it may read."""

IMPORT = re.compile(r"^[ \t]*from +(\.*)([\w.]*) +import +(\([^)]*\)|[^\n]*)", re.MULTILINE)
"""An import of one module from another of this library."""


def digest(*parts: str) -> str:
    """A short name for a list of texts, which differs if the texts differ."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@functools.cache
def source_digest(*modules: str) -> str:
    """A digest of the code of modules of this library, for keys of content that they generate.

    It covers the source of the modules and of all modules that they import, directly or not, the templates and
    tables beside them, and CasADi's version.
    """
    texts = sources(*modules)
    texts |= files_beside(texts)
    return digest(ca.CasadiMeta.version(), *(f"{name}\0{text}" for name, text in sorted(texts.items())))


def sources(*modules: str) -> dict[str, str]:
    """Sources of modules of this library and of all modules that they import, directly or not, by name.

    `from package import module` leads to the module only, `from package import name` to the package's __init__.
    """
    found: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name], package = _source(name)
            waiting += [other for other in _imported(found[name], package) if other not in found]
    return found


def files_beside(modules: Iterable[str]) -> dict[str, str]:
    """Templates and tables in the folders of modules of this library, by package and name."""
    found = {}
    for spec in filter(None, map(find_spec, modules)):
        folder = Path(str(spec.origin)).parent
        for path in (path for kind in BESIDE for path in folder.glob(kind)):
            found[f"{spec.parent}/{path.name}"] = path.read_text(encoding="utf-8")
    return found


def _source(name: str) -> tuple[str, str]:
    """Source of a module, and the package that its relative imports refer to."""
    spec = find_spec(name)
    text = None if spec is None or spec.loader is None else spec.loader.get_source(name)  # type: ignore[attr-defined]
    if spec is None or text is None:
        raise RuntimeError(f"the source of {name} is missing: install {PACKAGE} with its .py files")
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
