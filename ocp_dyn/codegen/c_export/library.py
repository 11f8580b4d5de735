"""The texts of an exported library, by file name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import casadi as ca

from ..._base.display import Count, Progress
from ..._base.types import repr_in_message, truth
from ...native import toolchain
from ..text import dispatch
from ..text.emit import emit
from ..text.interface import PARTS, ExportedFunction, distinct, entries
from ..text.names import check_prefix
from . import estimates, manual, project, simulink, stack, text
from . import external as casadi_external
from .accuracy import single_errors
from .options import ExportOptions

ALLOWED_INCLUDES = frozenset({"math.h", "string.h"})
"""Headers that generated code may include; others would bring memory allocation, threads, printing or a solver."""

SELECTION = "TRUTH2("
"""A comparison of vectors, in the emitter's text."""

Codes = Mapping[str, text.Code | None]
"""The emitter's code of every function by name; None for those that CasADi's generator writes."""


@dataclass(frozen=True)
class More:
    """Files that join an export: texts by name. fast: C files that CMake compiles with -O3; headers: installed."""

    files: Mapping[str, str] = field(default_factory=dict)
    fast: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()


def texts(
    functions: Iterable[ca.Function],
    prefix: str,
    options: ExportOptions,
    *,
    progress: bool = True,
    more: More | None = None,
) -> dict[str, str]:
    """The texts of `generate`; more: with other files."""
    check_prefix(prefix)
    more = More() if more is None else more
    originals, say = distinct(functions), Progress(truth(progress, "progress"))
    count = Count(lambda what: say(f"ocp_dyn: {what}"))
    estimates.warn_of_derivatives(originals, options.kinds, options.pack)
    real = "float" if options.single else "double"
    interface = entries(originals, prefix, dense=options.dense, real=real, derivatives=options.kinds, tell=count.tell)
    codes = _codes(interface, options, count)
    foreign = [entry for entry in interface if codes[entry.name] is None]
    _check_foreign(foreign, options)
    generated = _generated_code(foreign, prefix)
    files = {f"{prefix}.h": text.header(prefix, interface, options.dense, options.lanes)}
    files |= _sources(prefix, interface, codes, generated, options)
    facts = _facts(prefix, interface, codes, generated, options)
    large = [e.public for e in interface if (c := codes[e.name]) and c.plain.statements > toolchain.LARGE]
    return files | dict(more.files) | _around(interface, facts, [*files], large, more)


def _check_foreign(foreign: Sequence[ExportedFunction], options: ExportOptions) -> None:
    """ValueError if functions that CasADi's generator must write are to be in single precision or in lanes."""
    if foreign and (options.single or options.lanes > 1):
        raise ValueError(
            f"{repr_in_message(foreign[0].name)} does not expand to scalar operations, which "
            f"{'single precision needs' if options.single else 'lanes need'}: export this function separately, "
            "in double precision and with lanes=1"
        )


def _codes(interface: Sequence[ExportedFunction], options: ExportOptions, count: Count) -> Codes:
    codes = {}
    count.total = len(interface)
    for entry in interface:
        counts = entry.source.is_a("SXFunction") or entry.source.is_a("MXFunction")
        size = entry.source.n_instructions() if counts else 0
        length = f" ({size} instructions)" if size else ""
        count.tell(f"writing {entry.name}{length}", size * estimates.SECONDS_PER_INSTRUCTION[options.pack])
        codes[entry.name] = _code(entry, options)
        count.done += 1
    return codes


def _code(entry: ExportedFunction, options: ExportOptions) -> text.Code | None:
    """The emitter's code for a function; None if the emitter cannot write the function."""
    try:
        scalar = entry.source if entry.source.is_a("SXFunction") else entry.source.expand()
    except RuntimeError:  # CasADi's error for a function that contains other than scalar operations
        return None
    try:
        plain = emit(scalar, f"{entry.public}_kernel", dense=entry.dense)
    except ValueError:
        return None
    if not options.pack:
        return text.Code(plain, None, None)
    packed = wide = emit(scalar, f"{entry.public}_kernel", dense=entry.dense, pack=True)
    if not options.single and "V4" in wide.text:
        packed = emit(scalar, f"{entry.public}_kernel", dense=entry.dense, pack=True, widest=2)
    if not packed.packing:
        return text.Code(plain, None, None)
    if not options.selections and SELECTION in packed.text:
        return text.Code(plain, None, wide)
    return text.Code(plain, packed, wide if wide is not packed else None)


def _sources(
    prefix: str, interface: Sequence[ExportedFunction], codes: Codes, generated: str, options: ExportOptions
) -> dict[str, str]:
    """The C files. generated: code by CasADi's generator."""
    lanes, precision = options.lanes, options.precision
    work = {e.name: _work_sizes(generated, e) for e in interface if codes[e.name] is None}
    files = {f"{prefix}.c": text.wrapper(prefix, interface, work, lanes)}
    for entry in interface:
        made = codes[entry.name]
        if made is not None:
            files[f"{entry.public}.c"] = text.kernel_file(prefix, entry, made, precision)
            if lanes > 1 and not entry.derivative:
                in_lanes = emit(entry.source, f"{entry.public}_kernel", reciprocals=True)
                files |= dispatch.files(text.MARK, prefix, entry, in_lanes, lanes, precision)
    if generated:
        files[f"{prefix}_casadi.c"] = f"/* {text.MARK}: code generated by CasADi; see {prefix}.h. */\n{generated}"
    if options.convention:
        files[f"{prefix}_external.c"] = casadi_external.text(text.MARK, interface)
    return files


def _facts(
    prefix: str, interface: Sequence[ExportedFunction], codes: Codes, generated: str, options: ExportOptions
) -> manual.Facts:
    """Properties of an export for its manual."""
    frames = stack.frames_of(generated)
    sizes = {entry.name: _stack(entry, codes[entry.name], generated, frames, options) for entry in interface}
    errors = single_errors([entry.source for entry in interface]) if options.single else {}
    packing = {name: code.packing for name, code in codes.items() if code} if options.pack else None
    return manual.Facts(prefix, options, sizes, errors, packing)


def _stack(
    entry: ExportedFunction, made: text.Code | None, generated: str, frames: Mapping[str, int], options: ExportOptions
) -> stack.Stack:
    """Bounds of the stack memory of a function, and of its batches if there are several lanes."""
    if made is None:
        return stack.Stack(*stack.of_casadi(entry, _work_sizes(generated, entry), frames))
    batch = (0, 0)
    if options.lanes > 1 and not entry.derivative:
        in_lanes = emit(entry.source, "kernel", reciprocals=True)
        batch = stack.of_batch(in_lanes, options.lanes, options.precision)
    bounds = [stack.of_kernel(entry, kernel) for kernel in made if kernel]
    return stack.Stack(max(o for o, _ in bounds), max(p for _, p in bounds), *batch)


def _around(
    interface: Sequence[ExportedFunction],
    facts: manual.Facts,
    names: Iterable[str],
    large: Iterable[str],
    more: More,
) -> dict[str, str]:
    """Texts of example, build files, S-function and README.md. large: C names of functions that compile slowly."""
    heavy = {f"{public}{part}.c" for public in large for part in ("", *(f"_{part}" for part in PARTS))}
    mark, prefix, version = text.MARK, facts.prefix, facts.options.version
    sources = [name for name in names if name.endswith(".c")]
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


def _generated_code(interface: Sequence[ExportedFunction], prefix: str) -> str:
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
