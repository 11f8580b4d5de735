"""`export`: writes Functions as C files with a readable interface; either all files appear or none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import casadi as ca

from ..._base.checks import named_arguments
from ..._base.display import Count, Progress
from ..._base.files import path_of
from ..._base.types import repr_in_message, truth
from ...native import toolchain
from ..compiled.compile import check_lanes
from ..text import dispatch
from ..text.differentiated import kinds
from ..text.emit import emit
from ..text.interface import PARTS, ExportedFunction, distinct, entries
from ..text.names import check_prefix, prefix_of
from . import estimates, manual, project, simulink, stack, text, writing
from . import external as casadi_external
from .accuracy import single_errors

ALLOWED_INCLUDES = frozenset({"math.h", "string.h"})
"""Headers that generated code may include; others would bring memory allocation, threads, printing or a solver."""


@named_arguments
def export(
    functions: Iterable[ca.Function],
    directory: str | os.PathLike[str],
    *,
    prefix: str | None = None,
    dense: bool = False,
    lanes: int = 1,
    precision: str = "double",
    derivatives: bool | Iterable[str] = False,
    pack: bool = True,
    version: str = "1.0.0",
    progress: bool = True,
) -> Path:
    """Writes `functions` as C99 into `directory` and returns its path.

    PREFIX.h declares, for the Function ID, `int PREFIX_ID(const double *q, ..., double *tau)` and describes every
    argument: size, order of entries, units, layout. PREFIX_ID.c holds the code, which keeps no state, allocates no
    memory and needs only libm; example.c is a program that calls each function; README.md shows calls from C, C++,
    Python, CasADi, Simulink and a real-time loop; CMakeLists.txt builds and installs the library; sfun_PREFIX.c is a
    Simulink S-function; with PREFIX_external.c the library loads as `casadi.external("ID", "libPREFIX.so")`.

    functions: from `od.function` or any other casadi.Function of expressions; duplicates count once. Functions that do
    not expand to scalar operations (linear solvers, interpolation) are written by CasADi's generator.
    prefix: first part of file names and C names; default: made from the directory's name.
    dense: arguments are dense and row-major; default: CasADi's layout, the structural nonzeros column by column.
    lanes: 2, 4, 8, or 16 in single precision: adds PREFIX_ID_batch for many states, PREFIX_ID_lanes for lane-major.
    precision: "single" for float in all code, without CasADi's convention; README.md states the errors.
    derivatives: any of ("jac", "fwd1", "adj1", "jac_adj1"), which CasADi looks for beside a function, or True for all:
        3 to 30 times the size of the function itself where recursions give them (up to the second order of `ID`, `FD`
        and `FDc`, the first of `impact`), hundreds of times where CasADi differentiates the graph: beyond a million
        instructions an `EffortWarning` tells size and time before it begins.
    pack: operations of one kind, such as those of a left and a right limb, share vector statements, in shorter and
        faster machine code with the same results. Compilers other than GCC and Clang, or all with the macro
        PREFIX_PLAIN, take plain code from the same files. False: plain code only.
    version: of the library, "1.2.3", for find_package and pkg-config.
    progress: exports of more than two seconds report their progress on stderr.

    A failed or interrupted export changes nothing. Files of an earlier export are replaced, those of functions that are
    gone are removed; others stay. Equal functions give equal bytes. Cost per instruction: 50 us, 100 bytes; of plain
    code, and of lanes in addition, 10 us, 50 bytes.

    Raises TypeError or ValueError if an export is impossible: an empty list, two different functions of one name,
    callbacks, solvers, externals, an unsafe prefix, a file of the same name that `export` did not write.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = od.codegen.export([od.function(od.inverse_dynamics, rod)], f"{folder}/rod")
    ...     print(sorted(file.name for file in written.iterdir()))
    ['CMakeLists.txt', 'README.md', 'example.c', 'rod.c', 'rod.h', 'rod.pc', 'rod_ID.c', 'rod_external.c', 'simulink']
    """
    folder = path_of(directory, "directory")
    target = folder.resolve()
    name = prefix_of(target) if prefix is None else prefix
    files = generate(
        functions, name, dense=dense, lanes=lanes, precision=precision,
        derivatives=derivatives, pack=pack, version=version, progress=progress,
    )  # fmt: skip
    writing.check_target(target, files)
    writing.write(target, files, f"{name}.h")
    return folder


@named_arguments
def generate(
    functions: Iterable[ca.Function],
    prefix: str,
    *,
    dense: bool = False,
    lanes: int = 1,
    precision: str = "double",
    derivatives: bool | Iterable[str] = False,
    pack: bool = True,
    version: str = "1.0.0",
    progress: bool = True,
) -> dict[str, str]:
    """The texts of an export by file name, without writing them. Arguments as for `export`.

    >>> files = od.codegen.generate([od.function(od.inverse_dynamics, rod)], "rod")
    >>> "int rod_ID(const double *q, const double *qd, const double *qdd, double *tau)" in files["rod.h"]
    True
    """
    return texts(
        functions, prefix, dense=dense, lanes=lanes, precision=precision,
        derivatives=derivatives, pack=pack, version=version, progress=progress,
    )  # fmt: skip


SELECTION = "TRUTH2("
"""A comparison of vectors, in the emitter's text."""


@dataclass(frozen=True)
class More:
    """Files that join an export: texts by name. fast: C files that CMake compiles with -O3; headers: installed."""

    files: Mapping[str, str] = field(default_factory=dict)
    fast: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()


def texts(
    functions: Iterable[ca.Function],
    prefix: str,
    *,
    dense: bool = False,
    lanes: int = 1,
    precision: str = "double",
    derivatives: bool | Iterable[str] = False,
    pack: bool = True,
    version: str = "1.0.0",
    progress: bool = True,
    external: bool = True,
    selections: bool = True,
    more: More | None = None,
) -> dict[str, str]:
    """The texts of `generate`; external: with PREFIX_external.c; more: with other files. selections: False: functions
    that choose between values are packed for AVX only, because GCC 12 fails on some of them without it."""
    more = More() if more is None else more
    lanes = check_lanes(lanes, precision)
    truth(dense, "dense")
    project.check_version(version)
    sought, packs = _kinds(derivatives, precision), truth(pack, "pack")
    real = "double" if precision == "double" else "float"
    check_prefix(prefix)
    originals, say = distinct(functions), Progress(truth(progress, "progress"))
    count = Count(lambda what: say(f"ocp_dyn: {what}"))
    estimates.warn_of_derivatives(originals, sought, packs)
    interface = entries(originals, prefix, dense=dense, real=real, derivatives=sought, tell=count.tell)
    codes = _codes(interface, packs, precision, count, selections)
    foreign = [entry for entry in interface if codes[entry.name] is None]
    _check_foreign(foreign, lanes, precision)
    code = _casadi_code(foreign, prefix) if foreign else ""
    files = {f"{prefix}.c": text.wrapper(prefix, interface, {e.name: _work_sizes(code, e) for e in foreign}, lanes)}
    for entry in interface:
        made = codes[entry.name]
        if made is not None:
            files[f"{entry.public}.c"] = text.kernel_file(prefix, entry, made, precision)
            if lanes > 1 and not entry.derivative:
                in_lanes = emit(entry.source, f"{entry.public}_kernel", reciprocals=True)
                files |= dispatch.files(text.MARK, prefix, entry, in_lanes, lanes, precision)
    if foreign:
        files[f"{prefix}_casadi.c"] = f"/* {text.MARK}: code generated by CasADi; see {prefix}.h. */\n{code}"
    if precision == "double" and external:
        files[f"{prefix}_external.c"] = casadi_external.text(text.MARK, interface)
    frames = stack.frames_of(code)
    sizes = {e.name: _stack(e, codes[e.name], code, frames, 1 if e.derivative else lanes, precision) for e in interface}
    errors = single_errors([entry.source for entry in interface]) if precision == "single" else {}
    packing = {e.name: k.packing for e in interface if packs and (k := codes[e.name])}
    convention, counts = f"{prefix}_external.c" in files, packing if packs else None
    facts = manual.Facts(prefix, dense, lanes, precision, convention, sought, sizes, errors, counts)
    large = [e.public for e in interface if (k := codes[e.name]) and k.plain.statements > toolchain.LARGE]
    head = {f"{prefix}.h": text.header(prefix, interface, dense, lanes)}
    sources = [name for name in files if name.endswith(".c")]
    return head | files | dict(more.files) | _rest(interface, facts, sources, large, version, more)


def _kinds(derivatives: bool | Iterable[str], precision: str) -> tuple[str, ...]:
    """The kinds of derivatives; ValueError for any in another precision than CasADi's."""
    sought = kinds(derivatives)
    if sought and precision != "double":
        raise ValueError(
            "derivatives serve CasADi, which loads only double precision: leave out derivatives, or export in double "
            "precision"
        )
    return sought


def _check_foreign(foreign: Sequence[ExportedFunction], lanes: int, precision: str) -> None:
    """ValueError if functions that CasADi's generator must write are to be in single precision or in lanes."""
    if foreign and (precision == "single" or lanes > 1):
        raise ValueError(
            f"{repr_in_message(foreign[0].name)} does not expand to scalar operations, which "
            f"{'single precision needs' if precision == 'single' else 'lanes need'}: export this function separately, "
            "in double precision and with lanes=1"
        )


def _rest(
    interface: Sequence[ExportedFunction],
    facts: manual.Facts,
    sources: Sequence[str],
    large: Iterable[str],
    version: str,
    more: More,
) -> dict[str, str]:
    """Texts of example, build files, S-function and README.md, by file name.

    large: C names of functions that take long to compile.
    """
    heavy = {f"{public}{part}.c" for public in large for part in ("", *(f"_{part}" for part in PARTS))}
    mark, prefix = text.MARK, facts.prefix
    heavy_sources = [name for name in sources if name in heavy]
    return {
        "example.c": text.example(prefix, interface),
        "CMakeLists.txt": project.cmake(
            mark, prefix, sources, heavy_sources, version, facts.packed, more.fast, more.headers
        ),
        f"{prefix}.pc": project.pkg_config(mark, prefix, interface, version),
        f"simulink/sfun_{prefix}.c": simulink.s_function(mark, prefix, interface),
        f"simulink/build_sfun_{prefix}.m": simulink.build_script(
            mark, prefix, simulink.sources(prefix, interface, sources)
        ),
        "README.md": manual.readme(mark, interface, facts),
    }


def _codes(
    interface: Sequence[ExportedFunction], packs: bool, precision: str, count: Count, selections: bool
) -> dict[str, text.Code | None]:
    """The emitter's code of all functions, by name."""
    codes = {}
    count.total = len(interface)
    for entry in interface:
        counts = entry.source.is_a("SXFunction") or entry.source.is_a("MXFunction")
        size = entry.source.n_instructions() if counts else 0
        length = f" ({size} instructions)" if size else ""
        count.tell(f"writing {entry.name}{length}", size * estimates.SECONDS_PER_INSTRUCTION[packs])
        codes[entry.name] = _code(entry, packs, precision, selections)
        count.done += 1
    return codes


def _code(entry: ExportedFunction, packs: bool, precision: str, selections: bool) -> text.Code | None:
    """The emitter's code for a function; None if the emitter cannot write the function."""
    try:
        scalar = entry.source if entry.source.is_a("SXFunction") else entry.source.expand()
    except RuntimeError:  # CasADi's error for a function that contains other than scalar operations
        return None
    try:
        plain = emit(scalar, f"{entry.public}_kernel", dense=entry.dense)
    except ValueError:
        return None
    if not packs:
        return text.Code(plain, None, None)
    packed = wide = emit(scalar, f"{entry.public}_kernel", dense=entry.dense, pack=True)
    if precision == "double" and "V4" in wide.text:
        packed = emit(scalar, f"{entry.public}_kernel", dense=entry.dense, pack=True, widest=2)
    if not packed.packing:
        return text.Code(plain, None, None)
    if not selections and SELECTION in packed.text:
        return text.Code(plain, None, wide)
    return text.Code(plain, packed, wide if wide is not packed else None)


def _stack(
    entry: ExportedFunction, made: text.Code | None, code: str, frames: Mapping[str, int], lanes: int, precision: str
) -> stack.Stack:
    """Bounds of the stack memory of a function, and of its batches if there are several lanes."""
    if made is None:
        return stack.Stack(*stack.of_casadi(entry, _work_sizes(code, entry), frames))
    batch = stack.of_batch(emit(entry.source, "kernel", reciprocals=True), lanes, precision) if lanes > 1 else (0, 0)
    bounds = [stack.of_kernel(entry, kernel) for kernel in made if kernel]
    return stack.Stack(max(o for o, _ in bounds), max(p for _, p in bounds), *batch)


def _casadi_code(interface: Sequence[ExportedFunction], prefix: str) -> str:
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


def _work_sizes(code: str, entry: ExportedFunction) -> tuple[int, int, int, int]:
    """Lengths of the work arrays of the generated function, which differ from `Function.sz_w`, the lengths inside
    CasADi."""
    found = re.search(rf"int {entry.internal}_work\(.*?\n}}", code, re.DOTALL)
    sizes = [int(size) for size in re.findall(r"\*sz_\w+ = (\d+);", found[0])] if found else []
    if len(sizes) != 4:
        raise RuntimeError(
            f"CasADi's code for {repr_in_message(entry.name)} states its work sizes in a way that export cannot read"
        )
    return sizes[0], sizes[1], sizes[2], sizes[3]
