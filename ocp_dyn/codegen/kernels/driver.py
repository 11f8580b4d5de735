"""Complete C files around an emitted kernel: for one state, or for batches with one state in every lane."""

from __future__ import annotations

import re

from .lanes import PRECISIONS, header, transpose
from .names import filled
from .writer import Kernel

ONE = "int {}(const R *const *arg, R *const *res)"
MANY = "int {}(long long n, const R *const *arg, const long long *stride, R *const *res)"
MANY_IN = MANY[:-1] + ", char *lent)"
"""`lent`: work memory of `memory_size` bytes, or a null pointer: then the function allocates it."""

CHUNKS_PER_FILE = 40
"""Largest number of chunks in one C file, which a compiler takes a few seconds for."""


def single_source(kernel: Kernel, precision: str) -> str:
    """C99 code of ocp_dyn_one, which computes one state; null inputs are zeros, null outputs are not computed."""
    return _joined([header(1, precision, kernel), kernel.text, *one(kernel, "ocp_dyn_one")])


def batch_source(kernel: Kernel, lanes: int, precision: str) -> str:
    """C code of ocp_dyn_many, which computes n states: rows of `arg[i]`, `stride[i]` numbers apart (0: one row for all
    states)."""
    return _joined([header(lanes, precision, kernel), kernel.text, *_batch_driver(kernel, lanes)])


def single_files(kernel: Kernel, precision: str) -> list[str]:
    """`single_source` in files of at most CHUNKS_PER_FILE chunks, which can be compiled in parallel."""
    return _files(kernel, "one", header(1, precision, kernel), one(kernel, "ocp_dyn_one"))


def batch_files(kernel: Kernel, lanes: int, precision: str) -> list[str]:
    """`batch_source` in files of at most CHUNKS_PER_FILE chunks, which can be compiled in parallel."""
    return _files(kernel, "many", header(lanes, precision, kernel), _batch_driver(kernel, lanes))


def _files(kernel: Kernel, tag: str, head: str, calls: list[str]) -> list[str]:
    chunks = kernel.chunks
    if len(chunks) <= CHUNKS_PER_FILE:
        return [_joined([head, kernel.text, *calls])]
    # the linker sees these chunks, so those of the two drivers of a kernel need different names
    renamed = [f"#define {kernel.name}_{c} {kernel.name}_{tag}_{c}" for c in range(len(chunks))]
    shared = "\n".join(["#define CHUNK NOINLINE", *renamed, head])
    prototypes = [chunk.split("\n", 1)[0] + ";" for chunk in chunks]
    shares = [chunks[k : k + CHUNKS_PER_FILE] for k in range(0, len(chunks), CHUNKS_PER_FILE)]
    return [_joined([shared, *prototypes, kernel.main, *calls])] + [_joined([shared, *share]) for share in shares]


def _batch_driver(kernel: Kernel, lanes: int) -> list[str]:
    if lanes == 1:
        return [*one(kernel, "ocp_dyn_one"), *_one_by_one(kernel)]
    return [*many(kernel, lanes, "ocp_dyn_many")]


def many(kernel: Kernel, lanes: int, name: str) -> list[str]:
    """The function `name`, which computes a batch, and its helpers; `lanes.header` and the kernel come before it."""
    return [*transpose(lanes), *_unrolled(_LOAD + _STORE, lanes), *_tables(kernel), *_many(kernel, name)]


def _unrolled(lines: list[str], lanes: int) -> list[str]:
    """Replaces EACH(statement of l) by a statement for every lane, so that the rows of a transpose stay in
    registers."""
    result = []
    for line in lines:
        indent, each, statement = line.partition("EACH(")
        if each:
            result += [indent + re.sub(r"\bl\b", str(k), statement[:-1]) + ";" for k in range(lanes)]
        else:
            result.append(line)
    return result


def one(kernel: Kernel, name: str) -> list[str]:
    """The function `name`, which computes one state; pointers to input and output arrays may be null."""
    inputs, outputs = kernel.inputs, kernel.outputs
    prototype = ONE.format(name)
    lines = ["", f"EXPORT {prototype};", f"EXPORT {prototype}", "{"]
    lines += [f"    static const R zeros[{max(1, *inputs, 1)}] = {{0}};"]
    aligned = " __attribute__((aligned(32)))" if kernel.packing else ""
    lines += [f"    R unwanted[{max(1, sum(o.size for o in outputs))}], w[{max(1, kernel.work)}]{aligned};"]
    lines += [f"    const R *x[{max(1, len(inputs))}];", f"    R *y[{max(1, len(outputs))}];"]
    lines += ["    (void)arg, (void)res, (void)zeros, (void)unwanted;", "    x[0] = zeros, y[0] = unwanted;"]
    lines += [f"    x[{i}] = arg[{i}] ? arg[{i}] : zeros;" for i in range(len(inputs))]
    start = 0
    for j, output in enumerate(outputs):
        lines.append(f"    y[{j}] = res[{j}] ? res[{j}] : unwanted + {start};")
        if -1 in output.slots:
            lines.append(f"    memset(y[{j}], 0, {output.size} * sizeof(R));")
        start += output.size
    return [*lines, f"    {kernel.name}(x, y, w);", "    return 0;", "}"]


def _one_by_one(kernel: Kernel) -> list[str]:
    inputs, outputs = len(kernel.inputs), len(kernel.outputs)
    prototype = MANY.format("ocp_dyn_many")
    lines = ["", f"EXPORT {prototype};", f"EXPORT {prototype}", "{", "    long long k;"]
    lines += ["    (void)arg, (void)stride, (void)res;", "    for (k = 0; k < n; ++k) {"]
    lines += [f"        const R *x[{max(1, inputs)}] = {{0}};", f"        R *y[{max(1, outputs)}] = {{0}};"]
    lines += [f"        if (arg[{i}]) x[{i}] = arg[{i}] + k * stride[{i}];" for i in range(inputs)]
    lines += [f"        if (res[{j}]) y[{j}] = res[{j}] + k * {kernel.outputs[j].size};" for j in range(outputs)]
    return [*lines, "        (void)ocp_dyn_one(x, y);", "    }", "    return 0;", "}"]


_LOAD = [
    "",
    "/* rows of states to columns of lanes; unused lanes repeat the first state */",
    "static NOINLINE void load(const R *from, long long stride, int valid, int size, V *x)",
    "{",
    "    const R *rows[LANES];",
    "    V v[LANES];",
    "    int j, k;",
    "    for (k = 0; k < LANES; ++k) rows[k] = from + (k < valid ? k : 0) * stride;",
    "    for (j = 0; j < size && size >= LANES; j += LANES) {",
    "        if (j > size - LANES) j = size - LANES;",
    "        EACH(memcpy(&v[l], rows[l] + j, sizeof(V)))",
    "        transpose(v);",
    "        EACH(x[j + l] = v[l])",
    "    }",
    "    for (; j < size; ++j)",
    "        for (k = 0; k < LANES; ++k) x[j][k] = rows[k][j];",
    "}",
]
_STORE = [
    "",
    "/* columns of lanes to rows of states: entry j is y[slot[j]] */",
    "static NOINLINE void store(const V *y, const int *slot, int size, int valid, R *to)",
    "{",
    "    V v[LANES];",
    "    int j, k;",
    "    for (j = 0; j < size && size >= LANES; j += LANES) {",
    "        if (j > size - LANES) j = size - LANES;",
    "        EACH(v[l] = y[slot[j + l]])",
    "        transpose(v);",
    "        EACH(if (l < valid) memcpy(to + (long long)l * size + j, &v[l], sizeof(V)))",
    "    }",
    "    for (; j < size; ++j)",
    "        for (k = 0; k < valid; ++k) to[(long long)k * size + j] = y[slot[j]][k];",
    "}",
]


def _tables(kernel: Kernel) -> list[str]:
    """C tables with the index of the stored value for every entry of the outputs; zeros share one more index."""
    lines = []
    for j, output in enumerate(kernel.outputs):
        entries = [str(output.stored if slot < 0 else slot) for slot in output.slots] or ["0"]
        lines += ["", f"static const int slot_{j}[{len(entries)}] = {{", *filled(entries, indent="    "), "};"]
    return lines


def _vectors(kernel: Kernel) -> int:
    """Number of vectors in the work memory of a batch."""
    return sum(kernel.inputs) + sum(o.stored + 1 for o in kernel.outputs) + kernel.work + 1


def memory_size(kernel: Kernel, lanes: int, precision: str) -> int:
    """Size of the work memory of a batch [bytes]: its vectors, and space to align the first one."""
    return (_vectors(kernel) + 1) * lanes * PRECISIONS[precision].bits // 8


def _many(kernel: Kernel, name: str) -> list[str]:
    inputs, outputs = kernel.inputs, kernel.outputs
    lent, simple = MANY_IN.format(f"{name}_IN"), MANY.format(name)
    lines = ["", f"#ifndef {name}_IN", f"#define {name}_IN {name}_in", "#endif"]
    lines += [f"EXPORT {lent};", f"EXPORT {simple};", f"EXPORT {lent}", "{"]
    lines += [f"    const size_t bytes = {_vectors(kernel)} * sizeof(V);"]
    lines += ["    char *const memory = lent ? lent : (char *)malloc(bytes + sizeof(V));"]
    lines += [f"    const V *x[{max(1, len(inputs))}];", f"    V *y[{max(1, len(outputs))}];", "    V *w;"]
    lines += ["    long long start;", "    if (!memory) return 1;", "    memset(memory, 0, bytes + sizeof(V));"]
    lines += ["    w = (V *)(void *)(memory + sizeof(V) - (size_t)memory % sizeof(V));"]
    lines += ["    x[0] = w, y[0] = w, (void)arg, (void)stride, (void)res;"]
    for i, size in enumerate(inputs):
        lines.append(f"    x[{i}] = w, w += {size};")
    for j, output in enumerate(outputs):
        lines.append(f"    y[{j}] = w, w += {output.stored + 1};")
    lines += ["    for (start = 0; start < n; start += LANES) {"]
    lines += ["        const int valid = n - start < LANES ? (int)(n - start) : LANES;"]
    for i, size in enumerate(inputs):
        when = f"arg[{i}] && (stride[{i}] || !start)"
        lines += [f"        if ({when}) load(arg[{i}] + start * stride[{i}], stride[{i}], valid, {size}, (V *)x[{i}]);"]
    lines += [f"        {kernel.name}(x, y, w);", "        (void)valid;"]
    for j, output in enumerate(outputs):
        place = f"res[{j}] + start * {output.size}"
        lines += [f"        if (res[{j}]) store(y[{j}], slot_{j}, {output.size}, valid, {place});"]
    return [
        *lines,
        "    }",
        "    if (!lent) free(memory);",
        "    return 0;",
        "}",
        "",
        f"EXPORT {simple}",
        "{",
        f"    return {name}_IN(n, arg, stride, res, 0);",
        "}",
    ]


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
