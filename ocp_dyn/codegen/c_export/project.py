"""Build files of an export: CMakeLists.txt, and a file with which pkg-config finds the installed library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..._base.templates import text_of
from ..._base.types import repr_in_message
from ...native.toolchain import LARGE
from ..text.interface import ExportedFunction
from ..text.names import printable

TEMPLATES = Path(__file__).parent / "templates"


def check_version(version: object) -> None:
    """ValueError unless `version` is a version that CMake and pkg-config compare: one to four numbers."""
    if not isinstance(version, str) or not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}", version):
        raise ValueError(f'version must be one to four numbers, such as "1.2.3", got {repr_in_message(version)}')


def cmake(
    mark: str,
    prefix: str,
    sources: Sequence[str],
    large: Iterable[str],
    version: str,
    packed: bool = False,
    fast: Sequence[str] = (),
    headers: Sequence[str] = (),
) -> str:
    """CMakeLists.txt: the library PREFIX::PREFIX, install rules and, unless another project includes it, the example as
    a test.

    large: the sources of functions of more than LARGE instructions. version: of the library, "1.2.3". packed: whether
    some code is packed; then the option PREFIX_PLAIN chooses the other form of it. -Wno-psabi: vectors wider than a
    register pass between static functions only, so that no convention matters. fast: more sources, for -O3;
    headers: more headers to be installed.
    """
    external = f"{prefix}_external.c"
    return text_of(
        TEMPLATES / "CMakeLists.txt.in",
        mark=mark,
        prefix=prefix,
        PREFIX=prefix.upper(),
        version=version,
        sources=[f"  {name}" for name in (*sources, *fast) if name != external],
        fast=" ".join(fast),
        headers=" ".join((f"{prefix}.h", *headers)),
        external=external in sources,
        large=" ".join(large),
        LARGE=LARGE,
        packed=packed,
    )


def pkg_config(mark: str, prefix: str, entries: Sequence[ExportedFunction], version: str) -> str:
    """PREFIX.pc, for the folder lib/pkgconfig of the place where the library is installed."""
    models = ", ".join(dict.fromkeys(printable(entry.model) for entry in entries if entry.model))
    return text_of(
        TEMPLATES / "package.pc.in",
        mark=mark,
        prefix=prefix,
        models=f" of {models}".replace("$", "$$").replace("#", "") if models else "",  # $ and # have a meaning there
        functions=", ".join(entry.name for entry in entries),
        version=version,
    )
