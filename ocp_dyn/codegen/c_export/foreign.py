"""Code by CasADi's generator, for functions that do not expand to scalar operations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import casadi as ca

from ..._base.types import repr_in_message
from ..text.interface import ExportedFunction

ALLOWED_INCLUDES = frozenset({"math.h", "string.h"})
"""Headers that generated code may include; others would bring memory allocation, threads, printing or a solver."""


def generated_code(interface: Sequence[ExportedFunction], prefix: str) -> str:
    """The generated C code of functions, "" of none; ValueError names the function whose code is not self-contained."""
    if not interface:
        return ""
    code = _generated([entry.relaid for entry in interface], prefix)
    if _obstacle(code):
        for entry in interface:  # one at a time, to name the function in the error
            reason = _obstacle(_generated([entry.relaid], prefix))
            if reason:
                raise ValueError(
                    f"{repr_in_message(entry.name)} cannot become self-contained C code: {reason}. Export functions of "
                    "expressions; use the linear solvers 'ldl' or 'qr' and maps of the kind 'serial' in them, and no "
                    "monitors"
                )
    return code


def _generated(functions: Iterable[ca.Function], prefix: str) -> str:
    generator = ca.CodeGenerator(f"{prefix}_casadi.c", {"prefix": f"{prefix}_casadi"})
    for function in functions:
        generator.add(function)
    return str(generator.dump())


def _obstacle(code: str) -> str | None:
    """The reason why generated code is not self-contained, or None if it is."""
    error = re.search(r"^\s*#error\s+(.*)", code, re.MULTILINE)
    if error:
        return error[1].strip().strip('"')
    foreign = sorted(set(re.findall(r"^\s*#include\s+[<\"]([^>\"]+)", code, re.MULTILINE)) - ALLOWED_INCLUDES)
    if foreign:
        return f"its code includes {', '.join(foreign)}"
    if "/* External functions */" in code:
        return "it calls an external function"
    if re.search(r"^#define casadi_\w+_checkout\b", code, re.MULTILINE):
        return "it contains a solver that allocates memory"
    return None


def work_sizes(code: str, entry: ExportedFunction) -> tuple[int, int, int, int]:
    """Lengths of the work arrays of the generated function, which differ from `Function.sz_w`, the lengths inside
    CasADi."""
    found = re.search(rf"int {entry.internal}_work\(.*?\n}}", code, re.DOTALL)
    sizes = [int(size) for size in re.findall(r"\*sz_\w+ = (\d+);", found[0])] if found else []
    if len(sizes) != 4:
        raise RuntimeError(
            f"CasADi's code for {repr_in_message(entry.name)} states its work sizes in a way that export cannot read"
        )
    return sizes[0], sizes[1], sizes[2], sizes[3]
