"""Batches of an export: one text for lanes, compiled for several instruction sets, the best chosen at run time.

PREFIX_ID_batch.inc holds the text; PREFIX_ID_avx512.c and PREFIX_ID_avx2.c compile it for their instruction sets
(and to nothing on other processors), PREFIX_ID_batch.c for the set the compiler was asked for, and chooses.
"""

from __future__ import annotations

from . import driver
from .emit import Kernel
from .interface import Entry
from .lanes import header

SETS = {
    "avx512": ("avx512f", "avx512dq", "avx512vl", "fma"),
    "avx2": ("avx2", "fma"),
}
"""Instruction sets beyond that of any x86-64 processor, the best first, by what a processor must have for them."""

ARRAYS = "(long long n, const {0} *const *arg, const long long *stride, {0} *const *res, char *lent)"


def files(mark: str, prefix: str, entry: Entry, kernel: Kernel, lanes: int, precision: str) -> dict[str, str]:
    """The files of one function's batches; `kernel` is dense."""
    text = [header(lanes, precision, kernel), kernel.text, *driver.many(kernel, lanes, "BATCH")]
    public = entry.public
    made = {
        f"{public}_batch.inc": _joined([f"/* {mark}: batches of {public}, see {prefix}.h. */", *text]),
        f"{public}_batch.c": _joined(_chooser(mark, prefix, entry, driver.memory_size(kernel, lanes, precision))),
    }
    for name in SETS:
        made[f"{public}_{name}.c"] = _joined(_variant(mark, prefix, public, name))
    return made


def _travels(prefix: str) -> str:
    return f"#if defined(__GNUC__) && defined(__x86_64__) && !defined({prefix.upper()}_ONE_SET)"


def _variant(mark: str, prefix: str, public: str, name: str) -> list[str]:
    target = ",".join(SETS[name])
    return [
        f"/* {mark}: batches of {public} for {name.upper()}. */",
        _travels(prefix),
        "#include <math.h>",
        "#include <stdlib.h>",
        "#include <string.h>",
        "#if defined(__clang__)",
        f'#pragma clang attribute push(__attribute__((target("{target}"))), apply_to = function)',
        "#else",
        f'#pragma GCC target("{target}")',
        "#endif",
        f"#define BATCH {public}_{name}",
        f"#define BATCH_IN {public}_{name}_in",
        f'#include "{public}_batch.inc"',
        "#if defined(__clang__)",
        "#pragma clang attribute pop",
        "#endif",
        "#else",
        f"typedef int {public}_{name}_is_empty;",
        "#endif",
    ]


def _chooser(mark: str, prefix: str, entry: Entry, memory: int) -> list[str]:
    public, real = entry.public, entry.real
    arrays = ARRAYS.format(real)
    given = ", ".join(a.name for a in entry.inputs) or "0"
    wanted = ", ".join(a.name for a in entry.outputs) or "0"
    strides = ", ".join(str(a.rows * a.columns) for a in entry.inputs) or "0"
    inputs, outputs = max(1, len(entry.inputs)), max(1, len(entry.outputs))
    lines = [f"/* {mark}: batches of {public}; see {prefix}.h. */", f'#include "{prefix}.h"', ""]
    lines += ["#if !defined(__GNUC__)", '#error "batches need the vector extension of GCC or Clang"', "#endif", ""]
    lines += [f"int {public}_base_in{arrays};", _travels(prefix)]
    lines += [f"int {public}_{name}_in{arrays};" for name in SETS]
    lines += ["#endif", "", f"unsigned long {public}_batch_bytes(void)", "{", f"    return {memory}UL;", "}", ""]
    lines += [entry.batch_prototype, "{"]
    lines += [
        f"    return {', '.join([f'{public}_batch_in(states', *(a.name for a in entry.arguments), '0)'])};",
        "}",
        "",
    ]
    lines += [entry.batch_in_prototype, "{"]
    lines += [f"    static const long long work_stride[{inputs}] = {{{strides}}};"]
    lines += [f"    const {real} *const work_arg[{inputs}] = {{{given}}};"]
    lines += [f"    {real} *const work_res[{outputs}] = {{{wanted}}};", _travels(prefix)]
    for name, needs in SETS.items():
        has = " && ".join(f'__builtin_cpu_supports("{need}")' for need in needs)
        lines += [
            f"    if ({has})",
            f"        return {public}_{name}_in(states, work_arg, work_stride, work_res, (char *)work_memory);",
        ]
    lines += [
        "#endif",
        f"    return {public}_base_in(states, work_arg, work_stride, work_res, (char *)work_memory);",
        "}",
        "",
    ]
    return [
        *lines,
        f"#define BATCH {public}_base",
        f"#define BATCH_IN {public}_base_in",
        f'#include "{public}_batch.inc"',
    ]


def _joined(lines: list[str]) -> str:
    return "\n".join(line.rstrip() for line in lines) + "\n"
