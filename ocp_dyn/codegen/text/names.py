"""Names in C code: prefixes, parameters, comments. Names of a model become text, never code."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from ..._base.types import repr_in_message

_RESERVED = {
    kind: frozenset(names.split())
    for kind, names in tomllib.loads(Path(__file__).with_name("reserved.toml").read_text(encoding="utf-8")).items()
}
C_KEYWORDS, CPP_KEYWORDS = _RESERVED["c_keywords"], _RESERVED["cpp_keywords"]
UNSAFE = C_KEYWORDS | CPP_KEYWORDS | _RESERVED["common_macros"] | _RESERVED["wrapper_locals"]
"""Names that no parameter may have."""

RESERVED_PREFIXES = frozenset().union(
    *(_RESERVED[kind] for kind in _RESERVED if kind not in ("common_macros", "wrapper_locals"))
)
"""Names that no prefix may be."""

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")


def check_prefix(prefix: object) -> str:
    """`prefix`, if files, CMake targets and C names can begin with it; TypeError or ValueError otherwise."""
    if not isinstance(prefix, str):
        raise TypeError(f"prefix must be a string such as 'robot', got {repr_in_message(prefix)}")
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(
            f"prefix {repr_in_message(prefix)} is not a safe C name: use ASCII letters, digits and single underscores, "
            "with a letter first and no underscore last (names get one after the prefix)"
        )
    if prefix.lower() in RESERVED_PREFIXES:
        raise ValueError(
            f"prefix {repr_in_message(prefix)} is a keyword, the name of a standard header or function, of a device of "
            f"Windows, or reserved by the build files; choose another one, such as {repr_in_message('robot_' + prefix)}"
        )
    return prefix


def prefix_of(directory: Path) -> str:
    """A prefix made from a directory's base name: "build/left-arm" gives left_arm."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", directory.name).strip("_")
    if _PREFIX.fullmatch(stem) and stem.lower() not in RESERVED_PREFIXES:
        return stem
    return f"robot_{stem}".rstrip("_")


def parameters(labels: Iterable[str], prefix: str) -> list[str]:
    """A C parameter name for every label, all different; labels that are valid names stay unchanged."""
    taken: set[str] = set()
    result = []
    for label in labels:
        stem = re.sub(r"[^A-Za-z0-9]+", "_", label).strip("_")
        if not stem or stem[0].isdigit() or stem in UNSAFE or stem.startswith(f"{prefix}_"):
            stem = f"x_{stem}".rstrip("_")
        name, k = stem, 2
        while name in taken:
            name, k = f"{stem}_{k}", k + 1
        taken.add(name)
        result.append(name)
    return result


def macro_stems(names: list[str]) -> list[str]:
    """Parameter names as parts of macros: in capitals, except those that differ only by case."""
    capitals = [name.upper() for name in names]
    return [name if capitals.count(c) > 1 else c for name, c in zip(names, capitals, strict=True)]


def printable(text: str) -> str:
    """`text` for a C comment: printable ASCII that cannot end the comment, start another, or continue a line.

    Other characters become their code point, so that names stay different: "a*/" becomes "a<U+002A>/".
    """
    return "".join(c if " " <= c <= "~" and c not in '*\\?<>"' else f"<U+{ord(c):04X}>" for c in text)


def wrap_items(items: Iterable[str], separator: str = ", ", indent: str = " *   ", width: int = 110) -> list[str]:
    """Items joined and wrapped into lines of equal indent; no item is split."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(separator) + len(item) <= width:
            lines[-1] += separator + item
        else:
            if lines:
                lines[-1] += separator.rstrip()
            lines.append(indent + item)
    return lines
