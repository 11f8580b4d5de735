"""README.md of an export: its files, how to build them, the arguments of all functions, and how to call them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca

from ..._base.templates import text_of
from ...native.provenance import made_with
from ..text.interface import CONFIGURATIONS, Argument, ExportedFunction
from ..text.names import printable
from ..text.writer import Packing
from . import text
from .options import ExportOptions
from .stack import Stack

TEMPLATE = Path(__file__).parent / "templates" / "README.md.in"

DERIVATIVES = {
    "jac": "`jac_f`: the Jacobians dy/dx, one for every pair of an output and an input",
    "fwd1": "`fwd1_f`: the directional derivatives fwd_y = dy/dx fwd_x",
    "adj1": "`adj1_f`: the reverse derivatives adj_x = (dy/dx)' adj_y",
    "jac_adj1": "`jac_adj1_f`: the Jacobians of the outputs adj_x of `adj1_f`, for Hessians",
}
"""Descriptions of the derivatives in README.md, by kind."""


@dataclass(frozen=True)
class Facts:
    """Properties of an export that its manual states.

    options: its arguments. stack: bounds of the stack memory by function; errors: largest relative errors of single
    precision by function. packing: what the emitter's code of every function computes in vectors, () if nothing;
    second, if there are two, with AVX. None without packing.
    """

    prefix: str
    options: ExportOptions
    stack: Mapping[str, Stack]
    errors: Mapping[str, float]
    packing: Mapping[str, tuple[Packing, ...]] | None = None

    @property
    def packed(self) -> bool:
        """Whether some code is packed."""
        return any((self.packing or {}).values())


def _options(facts: Facts) -> str:
    """The options of the export in words: with them and the versions the same text is written again."""
    options = facts.options
    packing = "unpacked" if facts.packing is None else "packed" if facts.packed else "nothing packed"
    matrices, lanes = "dense" if options.dense else "sparse", f"{options.lanes} lane{'s' * (options.lanes != 1)}"
    derivatives = f"derivatives {', '.join(options.kinds)}" if options.kinds else "no derivatives"
    return f"{options.precision} precision, {lanes}, {matrices} matrices, {derivatives}, {packing}"


def readme(mark: str, entries: Sequence[ExportedFunction], facts: Facts) -> str:
    """The whole text of README.md."""
    entry, options, single = entries[0], facts.options, facts.options.single
    plain = [e for e in entries if not e.derivative]
    return text_of(
        TEMPLATE,
        mark=mark,
        prefix=facts.prefix,
        PREFIX=facts.prefix.upper(),
        models=_models(entries),
        made=made_with(),
        options=_options(facts),
        external=options.convention,
        real="float" if single else "double",
        dtype="float32" if single else "float64",
        dense=options.dense,
        arguments=[line for e in entries for line in _arguments(e)],
        derivatives=[f"- {DERIVATIVES[kind]}" for kind in options.kinds],
        statements=_statements(entries, facts),
        packed=facts.packed,
        lanes=options.lanes,
        **_batches(plain[0], entries, facts),
        single=single,
        errors=[f"| `{facts.prefix}_{name}` | {error:.0e} |" for name, error in facts.errors.items()],
        unmeasured=single and not facts.errors,
        first=entry.name,
        public=entry.public,
        names=", ".join(a.name for a in entry.arguments),
        count=len(entry.arguments),
        call=f"{entry.public}({', '.join(a.name for a in entry.arguments)})",
        variables=[line for a in entry.arguments for line in _variable(entry, a)],
        numpy_arrays=[line for a in entry.arguments for line in _numpy_array(entry, a, single)],
        casadi=entry.source.name(),
        penalty=f', {{"jac_penalty": {penalty(entry.source)}}}' if options.kinds else "",
        derived=options.convention and ", ".join(options.kinds),
        underived=options.convention and not options.kinds,
        block=plain[0].name,
        ports=_ports(entry),
        stack=[line for name, size in facts.stack.items() for line in _stack(f"{facts.prefix}_{name}", size)],
    )


def _models(entries: Sequence[ExportedFunction]) -> str:
    models = list(dict.fromkeys(printable(entry.model) for entry in entries if entry.model))
    return f" of the model{'s' if len(models) > 1 else ''} {', '.join(models)}" if models else ""


def _arguments(entry: ExportedFunction) -> list[str]:
    """Rows of the table of arguments."""
    lines = []
    for k, argument in enumerate(entry.arguments):
        name = f"`{entry.public}`" if k == 0 else ""
        side = "in" if argument.is_input else "out"
        shape = f"{argument.rows} x {argument.columns}" if argument.columns != 1 else f"{argument.rows}"
        layout = f"sparse, {argument.size} nonzeros" if argument.layout == "sparse" else argument.layout
        units = printable(argument.units).replace("|", "/")
        lines.append(f"| {name} | `{argument.name}` {side} | {shape} | {layout} | {units} |")
    return lines


def _statements(entries: Sequence[ExportedFunction], facts: Facts) -> list[str]:
    """Rows with the statements of every function, and how many are vector statements; none without packing."""
    lines: list[str] = []
    for entry in entries if facts.packing is not None else ():
        found = (facts.packing or {}).get(entry.name)
        for p, kind in zip(found or (), ("", " with AVX"), strict=False):
            vectors = ", ".join(f"{count} of {width} numbers" for width, count in p.vectors.items())
            lines.append(f"| `{entry.public}`{kind} | {p.operations} | {p.statements} | {vectors} | {p.moves} |")
        if found is None:
            lines.append(f"| `{entry.public}` | code of CasADi's generator, without vectors | | | |")
        elif not found:
            lines.append(f"| `{entry.public}` | nothing: no isomorphic operations that save time together | | | |")
    return lines


def _batches(entry: ExportedFunction, entries: Sequence[ExportedFunction], facts: Facts) -> dict[str, Any]:
    """Values of the section on batches: prototypes of one function, and of the conversions."""
    if facts.options.lanes == 1:
        return {"batches": []}
    return {
        "batches": [f"{entry.many_prototype(name, w)};" for name in ("batch", "lanes") for w in (False, True)],
        "batched": entry.public,
        "conversions": [f"{prototype};" for prototype, _ in text.conversions(facts.prefix, entries)],
    }


def _neutral(entry: ExportedFunction, a: Argument) -> list[tuple[str, str]]:
    """(assignment, name) for the entries of q that are not zero in the neutral configuration, as w of a quaternion."""
    if a.label not in CONFIGURATIONS or entry.description is None:
        return []
    values = entry.description.neutral
    if not len(values) == len(a.row_names) == a.size:
        return []
    return [(f"{a.name}[{k}] = {x:g}", printable(a.row_names[k])) for k, x in enumerate(values) if x]


def _variable(entry: ExportedFunction, a: Argument) -> list[str]:
    """The definition of an argument in C."""
    definition = f"{a.real} {a.name}[{a.macro}_SIZE]{' = {0}' if a.is_input else ''};"
    return [definition, *(f"{assignment};  /* {name} */" for assignment, name in _neutral(entry, a))]


def _numpy_array(entry: ExportedFunction, a: Argument, single: bool) -> list[str]:
    """The definition of an argument in Python."""
    definition = f"{a.name} = np.zeros({max(1, a.size)}, np.{'float32' if single else 'float64'})"
    return [definition, *(f"{assignment}  # {name}" for assignment, name in _neutral(entry, a))]


def penalty(f: ca.Function) -> float:
    """CasADi's option `jac_penalty` for a function with derivatives in a library.

    With n inputs and m outputs CasADi uses the whole Jacobian for d reverse directions if penalty * m < d or
    penalty * n < 2 d, and for d forward directions if penalty * n < d or penalty * 2 m < d. It should not use it for
    one direction, for which the library has fwd1, adj1 and jac_adj1, but for several, for which it has nothing else.
    """
    n, m = (max(1, size) for size in (f.nnz_in(), f.nnz_out()))
    return max(0.1, round(1.01 * max(1 / m, 2 / n) + 0.005, 2))


def _ports(entry: ExportedFunction) -> list[str]:
    """Labels of the ports of a block; empty arguments have none."""
    return [
        f"port_label('{side}', {k}, '{a.name}')"
        for side, arguments in (("input", entry.inputs), ("output", entry.outputs))
        for k, a in enumerate((a for a in arguments if a.rows * a.columns), 1)
    ]


def _stack(name: str, size: Stack) -> list[str]:
    """Rows with the bounds of stack memory of a function and of its batches."""
    batch = [f"| `{name}_batch` | {size.batch_optimized} | {size.batch_plain} |"] if size.batch_optimized else []
    return [f"| `{name}` | {size.optimized} | {size.plain} |", *batch]
