"""README.md of an export: what is in the folder, how to build it, what every argument holds, how to call it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from ..kernels.interface import Argument, Entry
from ..kernels.names import printable


@dataclass(frozen=True)
class Facts:
    """Properties of an export that its manual states.

    stack: bytes of stack by function; errors: largest relative errors of single precision by function.
    """

    prefix: str
    dense: bool
    lanes: int
    precision: str
    external: bool
    derivatives: tuple[str, ...]
    stack: Mapping[str, int]
    errors: Mapping[str, float]


def readme(mark: str, entries: Sequence[Entry], facts: Facts) -> str:
    """The whole text."""
    sections = [_opening(mark, entries, facts), _building(facts), _functions(entries, facts), _conventions(facts)]
    if facts.lanes > 1:
        sections.append(_batches(entries, facts))
    if facts.precision == "single":
        sections.append(_single(facts))
    sections += [_from_c(entries, facts), _from_python(entries, facts)]
    if facts.external:
        sections.append(_from_casadi(entries, facts))
    sections += [_simulink(entries), _real_time(entries, facts)]
    return "\n".join(line.rstrip() for section in sections for line in [*section, ""])


def _opening(mark: str, entries: Sequence[Entry], facts: Facts) -> list[str]:
    models = list(dict.fromkeys(printable(entry.model) for entry in entries if entry.model))
    p = facts.prefix
    files = [
        f"- `{p}.h`: the interface; says of every argument what its entries are",
        f"- `{p}.c`, `{p}_*.c`: the code; needs nothing but libm",
        "- `example.c`: calls every function once and prints the results",
        f"- `CMakeLists.txt`, `{p}.pc`: for CMake and pkg-config",
    ]
    if facts.external:
        files.insert(2, f"- `{p}_external.c`: lets CasADi load the library; may be left out")
    return [f"<!-- {mark}. -->", f"# {p}", "", *([f"Model: {', '.join(models)}.", ""] if models else []), *files]


def _building(facts: Facts) -> list[str]:
    p = facts.prefix
    lines = ["## Building", "", "```sh", "cmake -S . -B build && cmake --build build && ctest --test-dir build"]
    lines += ["cmake --install build --prefix /opt/robot   # then: pkg-config --cflags --libs " + p, "```", ""]
    lines += ["or without CMake:", "", "```sh"]
    lines += [f"cc -O2 -ffp-contract=fast -fno-math-errno -fPIC -shared {p}*.c -o lib{p}.so -lm", "```", ""]
    lines += [f"`-D{p.upper()}_ARCH=native` compiles for the processor at hand (fused multiply-adds: faster)."]
    return lines


def _functions(entries: Sequence[Entry], facts: Facts) -> list[str]:
    lines = ["## Functions", "", "| function | argument | shape | layout | holds |", "|---|---|---|---|---|"]
    for entry in entries:
        for k, argument in enumerate(entry.arguments):
            name = f"`{entry.public}`" if k == 0 else ""
            side = "in" if argument.is_input else "out"
            shape = f"{argument.rows} x {argument.columns}" if argument.columns != 1 else f"{argument.rows}"
            units = printable(argument.units).replace("|", "/")
            lines.append(f"| {name} | `{argument.name}` {side} | {shape} | {_layout(argument)} | {units} |")
    return lines


def _layout(argument: Argument) -> str:
    return f"sparse, {argument.size} nonzeros" if argument.layout == "sparse" else argument.layout


def _conventions(facts: Facts) -> list[str]:
    real = "float" if facts.precision == "single" else "double"
    lines = [
        "Every function returns 0 when it succeeds. A null input stands for zeros, a null output is not wanted.",
        f"All numbers are `{real}`, in SI units and radians. The order of the entries is in `{facts.prefix}.h`.",
        "",
    ]
    if facts.dense:
        return [*lines, "Matrices are dense, row by row: element (i, j) at `[i*COLS + j]`."]
    return [
        *lines,
        "Matrices are stored column by column, element (i, j) of a dense one at `[i + j*ROWS]`. Of a sparse one only",
        "the structural nonzeros are stored, column by column; `..._row[k]` and `..._col[k]` say where element k stands.",
    ]


def _batches(entries: Sequence[Entry], facts: Facts) -> list[str]:
    entry = next(entry for entry in entries if not entry.derivative)
    return [
        "## Batches",
        "",
        "```c",
        f"{entry.batch_prototype};",
        f"{entry.batch_in_prototype};",
        f"unsigned long {entry.public}_batch_bytes(void);",
        "```",
        "",
        f"computes `states` states, {facts.lanes} at once in the lanes of a vector. Rows of all states stand one after",
        "the other; matrices are dense, row by row, whatever the layout above. `_batch` allocates memory once a call (the",
        "return value is 1 where there is none); `_batch_in` works in `_batch_bytes()` bytes that the caller lends. GCC and Clang only. On x86-64 the library holds code for AVX-512, AVX2",
        f"and SSE2 and chooses when it runs, so that it may travel; with `-D{facts.prefix.upper()}_ARCH=...` it holds one.",
        "Elsewhere (NEON, ...) the vectors become what the target has.",
    ]


def _single(facts: Facts) -> list[str]:
    lines = [
        "## Precision",
        "",
        "Numbers have 24 bits. The largest error over random states, relative to the largest entry of the result:",
        "",
        "| function | error |",
        "|---|---|",
    ]
    if not facts.errors:
        return [*lines[:2], "Numbers have 24 bits. Errors were not measured: there was no C compiler at the export."]
    return [*lines, *(f"| `{facts.prefix}_{name}` | {error:.0e} |" for name, error in facts.errors.items())]


def _call(entry: Entry) -> str:
    return f"{entry.public}({', '.join(a.name for a in entry.arguments)})"


def _from_c(entries: Sequence[Entry], facts: Facts) -> list[str]:
    entry = entries[0]
    lines = ["## From C and C++", "", "```c", f'#include "{facts.prefix}.h"', ""]
    for a in entry.arguments:
        lines.append(f"{a.real} {a.name}[{a.macro}_SIZE]{' = {0}' if a.is_input else ''};")
    lines += [f"int failed = {_call(entry)};", "```", ""]
    return [*lines, "The header serves C++ as it is; `std::vector` and Eigen hand over `x.data()`."]


def _from_python(entries: Sequence[Entry], facts: Facts) -> list[str]:
    entry = entries[0]
    dtype = "np.float32" if facts.precision == "single" else "np.float64"
    lines = ["## From Python", "", "```python", "import ctypes", "", "import numpy as np", ""]
    lines += [f'library = ctypes.CDLL("./lib{facts.prefix}.so")', f"{entry.name} = library.{entry.public}"]
    lines += [f"{entry.name}.argtypes = [np.ctypeslib.ndpointer({dtype})] * {len(entry.arguments)}"]
    for a in entry.arguments:
        lines.append(f"{a.name} = np.zeros({max(1, a.size)}, {dtype})")
    return [*lines, f"assert {entry.name}({', '.join(a.name for a in entry.arguments)}) == 0", "```"]


def _from_casadi(entries: Sequence[Entry], facts: Facts) -> list[str]:
    f = entries[0].source
    options = f', {{"jac_penalty": {penalty(f)}}}' if facts.derivatives else ""
    lines = ["## From CasADi", "", "```python", "import casadi", ""]
    lines += [f'{f.name()} = casadi.external("{f.name()}", "./lib{facts.prefix}.so"{options})', "```", ""]
    if not facts.derivatives:
        return [*lines, "The library holds no derivatives; CasADi takes differences if the option `enable_fd` is set."]
    lines += [f"The library holds derivatives that CasADi finds by itself: {', '.join(facts.derivatives)}. This"]
    return [*lines, "`jac_penalty` makes CasADi take adj1 for one direction and the sparse jac for several."]


def penalty(f: ca.Function) -> float:
    """CasADi's option `jac_penalty` for a function with derivatives in a library.

    With n inputs and m outputs CasADi takes the whole Jacobian for d reverse directions where penalty * m < d or
    penalty * n < 2 d, and for d forward ones where penalty * n < d or penalty * 2 m < d. It should not for one, for
    which there are fwd1, adj1 and the derivative of the latter, but for several, for which there is nothing else.
    """
    n, m = (max(1, size) for size in (f.nnz_in(), f.nnz_out()))
    return max(0.1, round(1.01 * max(1 / m, 2 / n) + 0.005, 2))


def _simulink(entries: Sequence[Entry]) -> list[str]:
    entry = entries[0]
    lines = [
        "## From Simulink",
        "",
        "A C S-function calls it in `mdlOutputs`; add the sources to the S-function's:",
        "",
    ]
    lines += ["```c", "static void mdlOutputs(SimStruct *S, int_T tid)", "{"]
    for k, a in enumerate(entry.inputs):
        lines.append(f"    const {a.real} *{a.name} = ssGetInputPortSignal(S, {k});  /* width {a.size} */")
    for k, a in enumerate(entry.outputs):
        lines.append(f"    {a.real} *{a.name} = ssGetOutputPortSignal(S, {k});  /* width {a.size} */")
    lines += [f'    if ({_call(entry)}) ssSetErrorStatus(S, "{entry.public} failed");', "}", "```", ""]
    return [*lines, "with `ssSetInputPortRequiredContiguous(S, k, 1)` and `ssSetInputPortDirectFeedThrough(S, k, 1)`."]


def _real_time(entries: Sequence[Entry], facts: Facts) -> list[str]:
    call = f"{_call(entries[0])};"
    lines = ["## In a real-time loop", "", "```c"]
    lines += [f"{call}  /* once before: its code and tables are in memory then */", "for (;;) {"]
    lines += [
        "    wait_for_the_next_period();",
        "    read_sensors();",
        f"    {call}",
        "    command_motors();",
        "}",
        "```",
        "",
    ]
    lines += [
        "The functions (batches aside) allocate nothing, keep no state, lock nothing, have no loops that depend on"
    ]
    lines += ["data, and may run in several threads at once. What they need of the stack, in bytes, about:", ""]
    lines += ["| function | stack |", "|---|---|"]
    return [*lines, *(f"| `{facts.prefix}_{name}` | {size} |" for name, size in facts.stack.items())]
