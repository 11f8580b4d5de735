"""Batches of an export: one C text, compiled for several instruction sets; the best is chosen at run time.

PREFIX_ID_batch.inc holds the text. PREFIX_ID_avx512.c and PREFIX_ID_avx2.c compile it for these instruction sets, and
to an empty file on other processors. PREFIX_ID_batch.c compiles it for the instruction set of the compiler's options,
and contains the function that chooses.
"""

from __future__ import annotations

from . import driver
from .interface import Argument, Entry
from .lanes import header
from .writer import Kernel

INSTRUCTION_SETS = {
    "avx512": ("avx512f", "avx512dq", "avx512vl", "fma"),
    "avx2": ("avx2", "fma"),
}
"""Instruction sets that not every x86-64 processor has, the best first, with the features that they require."""

ARRAYS = "(long long n, const {0} *const *arg, const long long *stride, {0} *const *res, const int *form, char *lent)"


def files(mark: str, prefix: str, entry: Entry, kernel: Kernel, lanes: int, precision: str) -> dict[str, str]:
    """The texts of the files for batches of one function, by file name; `kernel` has dense arguments."""
    # lane-major arrays have the entries of the array for one state: of matrices unless dense, in another order
    places = {i: _places(a, entry) for i, a in enumerate(entry.inputs) if a.layout not in ("dense", "row-major")}
    text = [header(lanes, precision, kernel), kernel.text, *driver.many(kernel, lanes, "BATCH", places)]
    public = entry.public
    made = {
        f"{public}_batch.inc": _joined([f"/* {mark}: batches of {public}, see {prefix}.h. */", *text]),
        f"{public}_batch.c": _joined(_chooser(mark, prefix, entry, driver.memory_size(kernel, lanes, precision))),
    }
    for name in INSTRUCTION_SETS:
        made[f"{public}_{name}.c"] = _joined(_variant(mark, prefix, public, name))
    return made


def _places(argument: Argument, entry: Entry) -> list[int]:
    """Indices in the dense matrix, row by row, of the numbers in the array of a matrix that is stored by columns."""
    pattern = entry.source.sparsity_in(argument.label)
    return [row * argument.columns + column for row, column in zip(pattern.row(), pattern.get_col(), strict=True)]


def _chooses(prefix: str) -> str:
    """The preprocessor condition for code with several instruction sets."""
    return f"#if defined(__GNUC__) && defined(__x86_64__) && !defined({prefix.upper()}_ONE_SET)"


def _variant(mark: str, prefix: str, public: str, name: str) -> list[str]:
    target = ",".join(INSTRUCTION_SETS[name])
    return [
        f"/* {mark}: batches of {public} for {name.upper()}, see {prefix}.h. */",
        _chooses(prefix),
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
    lines = [f"/* {mark}: batches of {public}; see {prefix}.h. */", f'#include "{prefix}.h"', ""]
    lines += ["#if !defined(__GNUC__)", '#error "batches need the vector extensions of GCC or Clang"', "#endif", ""]
    lines += [f"int {public}_base_in{arrays};", _chooses(prefix)]
    lines += [f"int {public}_{name}_in{arrays};" for name in INSTRUCTION_SETS]
    lines += ["#endif", "", f"unsigned long {public}_batch_bytes(void)", "{", f"    return {memory}UL;", "}", ""]
    lines += [f"static int work_chosen{arrays}", "{", _chooses(prefix)]
    for name, needs in INSTRUCTION_SETS.items():
        has = " && ".join(f'__builtin_cpu_supports("{need}")' for need in needs)
        lines += [f"    if ({has})", f"        return {public}_{name}_in(n, arg, stride, res, form, lent);"]
    lines += ["#endif", f"    return {public}_base_in(n, arg, stride, res, form, lent);", "}"]
    strides = [str(a.rows * a.columns) for a in entry.inputs]
    form = driver.LANE_MAJOR + driver.FORMS.index("dense" if entry.dense else "nonzeros")
    lines += _public(entry, "batch", strides, [])
    lines += ["", *_public(entry, "lanes", ["-1"] * len(strides), [str(form)] * len(entry.outputs)), ""]
    return [
        *lines,
        f"#define BATCH {public}_base",
        f"#define BATCH_IN {public}_base_in",
        f'#include "{public}_batch.inc"',
    ]


def _public(entry: Entry, name: str, strides: list[str], forms: list[str]) -> list[str]:
    """The functions NAME and NAME_in; forms: of the outputs, none for dense rows."""
    real, arguments = entry.real, [a.name for a in entry.arguments]
    inputs, outputs = max(1, len(entry.inputs)), max(1, len(entry.outputs))
    input_names, output_names = (", ".join(a.name for a in side) or "0" for side in (entry.inputs, entry.outputs))
    lines = ["", entry.many_prototype(name, False), "{"]
    lines += [f"    return {entry.public}_{name}_in({', '.join(['states', *arguments, '0'])});", "}", ""]
    lines += [entry.many_prototype(name, True), "{"]
    lines += [f"    static const long long work_stride[{inputs}] = {{{', '.join(strides) or '0'}}};"]
    if forms:
        lines += [f"    static const int work_form[{outputs}] = {{{', '.join(forms)}}};"]
    lines += [f"    const {real} *const work_arg[{inputs}] = {{{input_names}}};"]
    lines += [f"    {real} *const work_res[{outputs}] = {{{output_names}}};"]
    form = "work_form" if forms else "0"
    return [
        *lines,
        f"    return work_chosen(states, work_arg, work_stride, work_res, {form}, (char *)work_memory);",
        "}",
    ]


def _joined(lines: list[str]) -> str:
    return "\n".join(line.rstrip() for line in lines) + "\n"
