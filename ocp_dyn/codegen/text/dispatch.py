"""Batches of an export: one C text, compiled for several instruction sets; the best is chosen at run time.

PREFIX_ID_batch.inc holds the text. PREFIX_ID_avx512.c and PREFIX_ID_avx2.c compile it for these instruction sets, and
to an empty file on other processors. PREFIX_ID_batch.c compiles it for the instruction set of the compiler's options,
and contains the function that chooses.
"""

from __future__ import annotations

from ..._base.templates import lines_of, text_of
from . import driver
from .driver import TEMPLATES
from .interface import Argument, ExportedFunction
from .lanes import header
from .writer import Kernel

INSTRUCTION_SETS = {
    "avx512": ("avx512f", "avx512dq", "avx512vl", "fma"),
    "avx2": ("avx2", "fma"),
}
"""Instruction sets that not every x86-64 processor has, the best first, with the features that they require."""

ARRAYS = "(long long n, const {0} *const *arg, const long long *stride, {0} *const *res, const int *form, char *lent)"


def files(
    mark: str, prefix: str, entry: ExportedFunction, kernel: Kernel, lanes: int, precision: str
) -> dict[str, str]:
    """The texts of the files for batches of one function, by file name; `kernel` has dense arguments."""
    # lane-major arrays have the entries of the array for one state: of matrices unless dense, in another order
    places = {i: _places(a, entry) for i, a in enumerate(entry.inputs) if a.layout not in ("dense", "row-major")}
    text = [header(lanes, precision, kernel), kernel.text, *driver.many(kernel, lanes, "BATCH", places)]
    public, own = entry.public, {"mark": mark, "prefix": prefix, "PREFIX": prefix.upper(), "public": entry.public}
    inc = [f"/* {mark}: batches of {public}, see {prefix}.h. */", *text]
    made = {
        f"{public}_batch.inc": "\n".join(line.rstrip() for line in inc) + "\n",
        f"{public}_batch.c": _chooser(entry, driver.memory_size(kernel, lanes, precision), own),
    }
    for name, needs in INSTRUCTION_SETS.items():
        values = {"name": name, "NAME": name.upper(), "target": ",".join(needs)}
        made[f"{public}_{name}.c"] = text_of(TEMPLATES / "variant.c.in", **own, **values)
    return made


def _places(argument: Argument, entry: ExportedFunction) -> list[int]:
    """Indices in the dense matrix, row by row, of the numbers in the array of a matrix that is stored by columns."""
    pattern = entry.source.sparsity_in(argument.label)
    return [row * argument.columns + column for row, column in zip(pattern.row(), pattern.get_col(), strict=True)]


def _chooser(entry: ExportedFunction, memory: int, own: dict[str, str]) -> str:
    """PREFIX_ID_batch.c; memory: the bytes of a batch; own: values of all templates."""
    public, arrays = entry.public, ARRAYS.format(entry.real)
    choices = []
    for name, needs in INSTRUCTION_SETS.items():
        has = " && ".join(f'__builtin_cpu_supports("{need}")' for need in needs)
        choices += [f"    if ({has})", f"        return {public}_{name}_in(n, arg, stride, res, form, lent);"]
    form = driver.LANE_MAJOR + driver.FORMS.index("dense" if entry.dense else "nonzeros")
    return text_of(
        TEMPLATES / "batch.c.in",
        **own,
        arrays=arrays,
        variants=[f"int {public}_{name}_in{arrays};" for name in INSTRUCTION_SETS],
        memory=memory,
        choices=choices,
        rows=_public(entry, "batch", [a.rows * a.columns for a in entry.inputs], []),
        lanes=_public(entry, "lanes", [-1] * len(entry.inputs), [form] * len(entry.outputs)),
    )


def _public(entry: ExportedFunction, kind: str, strides: list[int], forms: list[int]) -> list[str]:
    """The functions ID_KIND and ID_KIND_in; forms: of the outputs, none for dense rows."""
    return lines_of(
        TEMPLATES / "many_states.c.in",
        prototype=entry.many_prototype(kind, False),
        prototype_in=entry.many_prototype(kind, True),
        public=entry.public,
        kind=kind,
        arguments=", ".join([*(a.name for a in entry.arguments), "0"]),
        inputs=max(1, len(entry.inputs)),
        outputs=max(1, len(entry.outputs)),
        strides=", ".join(map(str, strides)) or "0",
        forms=", ".join(map(str, forms)),
        real=entry.real,
        input_names=", ".join(a.name for a in entry.inputs) or "0",
        output_names=", ".join(a.name for a in entry.outputs) or "0",
    )
