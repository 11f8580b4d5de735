"""Complete C files around an emitted kernel: for one state, or for batches with one state in every lane."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..._base.templates import lines_of
from .lanes import PRECISIONS, header, transpose
from .names import wrap_items
from .writer import Kernel, Output

TEMPLATES = Path(__file__).parent / "templates"

ONE = "int {}(const R *const *arg, R *const *res)"
MANY = "int {}(long long n, const R *const *arg, const long long *stride, R *const *res)"
MANY_IN = MANY[:-1] + ", const int *form, char *lent)"
"""form: of every output, see FORMS. lent: work memory of `memory_size` bytes, or a null pointer: then the function
allocates it."""

FORMS = ("dense", "nonzeros", "distinct")
"""Forms of an output in a batch: every entry, the structural nonzeros column by column, or each distinct value once.

`form[j]` is an index of this table for rows of states, and LANE_MAJOR more for lane-major blocks. A null pointer means
dense rows.
"""

LANE_MAJOR = len(FORMS)
"""A stride of -1 says that an input is lane-major: of every LANES states, the numbers of the first entry, then those of
the second, and so on."""

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
        return [*one(kernel, "ocp_dyn_one"), *_one_by_one(kernel), *_dense(kernel), *_slots(kernel)]
    return [*many(kernel, lanes, "ocp_dyn_many"), *_slots(kernel)]


def many(kernel: Kernel, lanes: int, name: str, places: Mapping[int, Sequence[int]] | None = None) -> list[str]:
    """The function `name`, which computes a batch, and its helpers; `lanes.header` and the kernel come before it.

    places: for inputs whose lane-major blocks have another order than the kernel's arrays, the entry of the kernel's
    array that each entry of a block belongs to; the others are zero.
    """
    rows = _unrolled(lines_of(TEMPLATES / "rows.c.in"), lanes)
    return [*transpose(lanes), *rows, *_tables(kernel), *_many(kernel, name, places or {})]


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
    pointers = [f"    x[{i}] = arg[{i}] ? arg[{i}] : zeros;" for i in range(len(inputs))]
    start = 0
    for j, output in enumerate(outputs):
        pointers.append(f"    y[{j}] = res[{j}] ? res[{j}] : unwanted + {start};")
        if -1 in output.slots:
            pointers.append(f"    memset(y[{j}], 0, {output.size} * sizeof(R));")
        start += output.size
    return lines_of(
        TEMPLATES / "one.c.in",
        prototype=ONE.format(name),
        largest=max(1, *inputs, 1),
        unwanted=max(1, start),
        work=max(1, kernel.work),
        aligned=" __attribute__((aligned(32)))" if kernel.packing else "",
        inputs=max(1, len(inputs)),
        outputs=max(1, len(outputs)),
        pointers=pointers,
        kernel=kernel.name,
    )


def _one_by_one(kernel: Kernel) -> list[str]:
    inputs, outputs = len(kernel.inputs), len(kernel.outputs)
    pointers = [f"        if (arg[{i}]) x[{i}] = arg[{i}] + k * stride[{i}];" for i in range(inputs)]
    pointers += [f"        if (res[{j}]) y[{j}] = res[{j}] + k * {kernel.outputs[j].size};" for j in range(outputs)]
    return lines_of(
        TEMPLATES / "one_by_one.c.in",
        prototype=MANY.format("ocp_dyn_many"),
        inputs=max(1, inputs),
        outputs=max(1, outputs),
        pointers=pointers,
    )


def _table(name: str, entries: Sequence[int]) -> list[str]:
    """A C table; one of no entries has a zero, because C has no empty arrays."""
    return [
        f"static const int {name}[{max(1, len(entries))}] = {{",
        *wrap_items(map(str, entries or [0]), indent="    "),
        "};",
    ]


def _indices(output: Output) -> list[int]:
    """For every entry of an output the index of its stored value; zeros share one more index."""
    return [output.stored if slot < 0 else slot for slot in output.slots]


def _dense(kernel: Kernel) -> list[str]:
    """C tables of `_indices`, by output."""
    return [line for j, output in enumerate(kernel.outputs) for line in ("", *_table(f"dense_{j}", _indices(output)))]


def _tables(kernel: Kernel) -> list[str]:
    """C tables of every output: for each form the index of the stored value of every entry; their lengths; and whether
    every index is the number of its entry: then lane-major results are computed where they belong, without a copy."""
    lines = _dense(kernel)
    for j, output in enumerate(kernel.outputs):
        dense = _indices(output)
        forms = (dense, [dense[place] for place in output.nonzeros], list(range(output.stored)))
        for form, entries in zip(FORMS[1:], forms[1:], strict=True):
            lines += ["", *_table(f"{form}_{j}", entries)]
        names = ", ".join(f"{form}_{j}" for form in FORMS)
        sizes = ", ".join(str(len(entries)) for entries in forms)
        same = ", ".join(str(int(entries == forms[-1])) for entries in forms)
        lines += [f"static const int *const slots_{j}[] = {{{names}}};"]
        lines += [f"static const int sizes_{j}[] = {{{sizes}}}, same_{j}[] = {{{same}}};"]
    return lines


def _slots(kernel: Kernel) -> list[str]:
    """The function by which Python reads the index of the stored value of every entry of an output; it returns the
    number of values, which is the index of zeros."""
    prototype = "int ocp_dyn_slots(int output, const int **slots)"
    lines = ["", f"EXPORT {prototype};", f"EXPORT {prototype}", "{", "    *slots = 0, (void)output;"]
    for j, output in enumerate(kernel.outputs):
        lines.append(f"    if (output == {j}) return *slots = dense_{j}, {output.stored};")
    return [*lines, "    return -1;", "}"]


def _vectors(kernel: Kernel) -> int:
    """Number of vectors in the work memory of a batch."""
    return sum(kernel.inputs) + sum(o.stored + 1 for o in kernel.outputs) + kernel.work + 1


def memory_size(kernel: Kernel, lanes: int, precision: str) -> int:
    """Size of the work memory of a batch [bytes]: its vectors, and space to align the first one."""
    return (_vectors(kernel) + 1) * lanes * PRECISIONS[precision].bits // 8


def _many(kernel: Kernel, name: str, places: Mapping[int, Sequence[int]]) -> list[str]:
    inputs, outputs = kernel.inputs, kernel.outputs
    rooms = [f"    x[{i}] = p[{i}] = w, w += {size};" for i, size in enumerate(inputs)]
    rooms += [f"    y[{j}] = r[{j}] = w, w += {o.stored}, *w++ = (V){{0}};" for j, o in enumerate(outputs)]
    before = [line for i, size in enumerate(inputs) for line in _input(i, size, places.get(i))]
    return lines_of(
        TEMPLATES / "many.c.in",
        places=[line for i, entries in places.items() for line in ("", *_table(f"place_{i}", entries))],
        name=name,
        lent=MANY_IN.format(f"{name}_IN"),
        simple=MANY.format(name),
        vectors=_vectors(kernel),
        inputs=max(1, len(inputs)),
        outputs=max(1, len(outputs)),
        cleared=sum(inputs) + 1,
        rooms=rooms,
        before=before + [line for j in range(len(outputs)) for line in _direct(j)],
        kernel=kernel.name,
        after=[line for j in range(len(outputs)) for line in _output(j)],
    )


def _input(i: int, size: int, place: Sequence[int] | None) -> list[str]:
    """Statements that make the vectors of an input: from a lane-major block, from rows, or once from one row."""
    taken = f"block(arg[{i}] + start * {size}, {size}, p[{i}])"
    if place is not None:
        taken = f"placed(arg[{i}] + start * {len(place)}, place_{i}, {len(place)}, p[{i}])"
    return [
        f"        if (arg[{i}] && stride[{i}] < 0) x[{i}] = {taken};",
        f"        else if (arg[{i}] && (stride[{i}] || !start))",
        f"            load(arg[{i}] + start * stride[{i}], stride[{i}], valid, {size}, p[{i}]);",
    ]


def _direct(j: int) -> list[str]:
    """Statements that choose where the kernel writes an output: to its place in a lane-major result, or to a room."""
    place = f"res[{j}] + start * sizes_{j}[form[{j}] - {LANE_MAJOR}]"
    whole = f"same_{j}[form[{j}] - {LANE_MAJOR}] && (size_t)res[{j}] % sizeof(V) == 0"
    return [
        f"        if (res[{j}] && form && form[{j}] >= {LANE_MAJOR} && {whole})",
        f"            y[{j}] = (V *)(void *)({place});",
    ]


def _output(j: int) -> list[str]:
    """Statements that store an output which the kernel wrote to a room."""
    which = f"form ? form[{j}] % {LANE_MAJOR} : 0"
    return [
        f"        if (res[{j}] && y[{j}] == r[{j}]) {{",
        f"            const int f = {which}, size = sizes_{j}[f];",
        f"            const int *const slot = slots_{j}[f];",
        f"            R *const to = res[{j}] + start * size;",
        f"            if (form && form[{j}] >= {LANE_MAJOR}) spread(r[{j}], slot, size, to);",
        f"            else store(r[{j}], slot, size, valid, to);",
        "        }",
    ]


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
