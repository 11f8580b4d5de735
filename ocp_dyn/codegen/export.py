"""`export`: Functions as C files with a readable interface, written all or not at all."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import casadi as ca

from . import text
from .interface import Entry, entries
from .names import check_prefix, prefix_of

ALLOWED_INCLUDES = frozenset({"math.h", "string.h"})
"""What generated code may need: no memory allocation, no threads, no printing, no solver library."""


def export(
    functions: Iterable[ca.Function],
    directory: str | os.PathLike[str],
    *,
    prefix: str | None = None,
    dense: bool = False,
) -> Path:
    """Writes `functions` as C99 into `directory` and returns its path.

    PREFIX.h declares, for the Function ID, `int PREFIX_ID(const double *q, ..., double *tau)` and says what
    every argument holds: size, order of entries, units, layout. PREFIX.c holds these functions, PREFIX_casadi.c
    the code CasADi generated for them, example.c a program that calls each and prints the outputs, and
    CMakeLists.txt builds them all. The code keeps no state, allocates nothing and needs only libm.

    functions: from `od.function` or any other casadi.Function of expressions; the same one twice counts once.
    prefix: of files and C names; default: made of the directory's name. dense: arguments are dense and
    row-major; default: CasADi's layout, column-major and only structural nonzeros (whose places are tables).

    Everything is generated before anything is written, and files appear complete or not at all. Files of an
    earlier export are replaced, others in the directory left alone. The same functions give the same bytes.
    Cost: that of CasADi's generator, about 20 ms and 250 kB for 10,000 instructions.

    Raises TypeError or ValueError for what cannot be exported: an empty list, two different functions of one
    name (rename one with `od.function(..., name=...)`), callbacks, solvers, externals, an unsafe prefix, a file
    in the way that export did not make.
    """
    target = Path(directory).resolve()
    files = generate(functions, prefix_of(target) if prefix is None else prefix, dense=dense)
    _check_target(target, files)
    _write(target, files)
    return Path(directory)


def generate(functions: Iterable[ca.Function], prefix: str, *, dense: bool = False) -> dict[str, str]:
    """The files of an export, name -> text; nothing is written. Arguments as for `export`."""
    interface = entries(functions, check_prefix(prefix), dense)
    code = _casadi_code(interface, prefix)
    return {
        f"{prefix}.h": text.header(prefix, interface, dense),
        f"{prefix}.c": text.wrapper(prefix, interface, [_work_sizes(code, entry) for entry in interface]),
        f"{prefix}_casadi.c": f"/* {text.MARK}: what CasADi generated; see {prefix}.h. */\n{code}",
        "example.c": text.example(prefix, interface),
        "CMakeLists.txt": text.cmake(prefix, max(map(len, code.split("\nstatic int casadi_f")))),
    }


def _casadi_code(interface: Sequence[Entry], prefix: str) -> str:
    code = _generated([entry.function for entry in interface], prefix)
    if _obstacle(code):
        for entry in interface:  # one at a time, to name the culprit
            reason = _obstacle(_generated([entry.function], prefix))
            if reason:
                raise ValueError(
                    f"{entry.name!r} cannot become C that stands alone: {reason}. Export functions of expressions; "
                    "linear systems inside them with the solvers 'ldl' or 'qr', maps of the kind 'serial'; no monitors"
                )
    return code


def _generated(functions: Iterable[ca.Function], prefix: str) -> str:
    generator = ca.CodeGenerator(f"{prefix}_casadi.c", {"prefix": f"{prefix}_casadi"})
    for function in functions:
        generator.add(function)
    return str(generator.dump())


def _obstacle(code: str) -> str | None:
    """Why generated code does not stand alone, or None if it does."""
    error = re.search(r"^\s*#error\s+(.*)", code, re.MULTILINE)
    if error:
        return error[1].strip().strip('"')
    foreign = sorted(set(re.findall(r"^\s*#include\s+[<\"]([^>\"]+)", code, re.MULTILINE)) - ALLOWED_INCLUDES)
    if foreign:
        return f"its code includes {', '.join(foreign)}"
    if "/* External functions */" in code:
        return "it calls an external function"
    if re.search(r"^#define casadi_\w+_checkout\b", code, re.MULTILINE):
        return "it holds a solver with memory of its own"
    return None


def _work_sizes(code: str, entry: Entry) -> tuple[int, int, int, int]:
    """Lengths of the work arrays the generated function asks for; those of `Function.sz_w` are for CasADi itself."""
    found = re.search(rf"int {entry.internal}_work\(.*?\n}}", code, re.DOTALL)
    sizes = [int(size) for size in re.findall(r"\*sz_\w+ = (\d+);", found[0])] if found else []
    if len(sizes) != 4:
        raise RuntimeError(f"CasADi's code for {entry.name!r} states its work sizes in a way that export cannot read")
    return sizes[0], sizes[1], sizes[2], sizes[3]


def _check_target(target: Path, files: Iterable[str]) -> None:
    if target.exists() and not target.is_dir():
        raise ValueError(f"export writes a directory, but {str(target)!r} is a file: name another or remove it")
    for path in (target / name for name in files):
        if path.exists() and not _is_ours(path):
            raise ValueError(
                f"{str(path)!r} was not made by export and would be overwritten: choose another directory or prefix"
            )


def _is_ours(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as stream:
        return text.MARK in stream.readline()


def _write(target: Path, files: dict[str, str]) -> None:
    """A new directory appears at once; in one that exists, each file is replaced at once."""
    exists = target.exists()
    if not exists:
        target.parent.mkdir(parents=True, exist_ok=True)
    # the stage must be on the same disk: an existing target may be a mount of its own
    with tempfile.TemporaryDirectory(dir=target if exists else target.parent, prefix=".export-") as stage:
        complete = Path(stage) / "files"
        complete.mkdir()  # unlike the stage itself, with the user's usual permissions
        for name, content in files.items():
            (complete / name).write_bytes(content.encode())
        if not exists:
            complete.rename(target)
            return
        for name in files:
            (complete / name).replace(target / name)
