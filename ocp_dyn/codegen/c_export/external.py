"""PREFIX_external.c of an export, with which CasADi loads the library: `casadi.external("ID", library)`.

CasADi's calling convention consists of the function `ID`, which computes, and of `ID_n_in`, `ID_name_in`,
`ID_sparsity_in`, ..., which describe its inputs and outputs. The derivatives of ID are functions with the names jac_ID,
fwd1_ID, adj1_ID.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import casadi as ca

from ..._base.templates import lines_of
from ..text.interface import Argument, ExportedFunction
from ..text.names import C_KEYWORDS, CPP_KEYWORDS, wrap_items

HEAD = Path(__file__).parent / "templates" / "external.h.in"


def text(mark: str, entries: Sequence[ExportedFunction]) -> str:
    """PREFIX_external.c: all functions by their names without the prefix, in CasADi's calling convention."""
    lines = [f"/* {mark}: functions for casadi.external, without the prefix in their names. */", "", *lines_of(HEAD)]
    for entry in entries:
        if entry.name in C_KEYWORDS | CPP_KEYWORDS | {"main"}:
            lines += ["", f"/* {entry.name} is missing: C does not allow a function of this name */"]
        else:
            lines += _external(entry)
    return "\n".join(lines) + "\n"


def _external(entry: ExportedFunction) -> list[str]:
    name = entry.name
    patterns = [
        *(entry.source.sparsity_in(i) for i in range(entry.source.n_in())),
        *(entry.source.sparsity_out(j) for j in range(entry.source.n_out())),
    ]
    lines = ["", f"int {entry.public}_arrays(const double *const *arg, double *const *res);"]
    for k, pattern in enumerate(patterns):
        numbers = [*pattern.shape, *pattern.colind(), *pattern.row()]
        lines += [f"static const long long {name}_pattern_{k}[{len(numbers)}] = {{"]
        lines += [*wrap_items(map(str, numbers), indent="    ", width=100), "};"]
    lines += _description(name, "in", [a.label for a in entry.inputs], 0)
    lines += _description(name, "out", [a.label for a in entry.outputs], len(entry.inputs))
    buffers = [a.size if _needs_buffer(a, p) else 0 for a, p in zip(entry.arguments, patterns, strict=True)]
    lines += _head(f"int {name}_work(long long *arg, long long *res, long long *iw, long long *w)")
    lines += [f"    *arg = {max(1, len(entry.inputs))}, *res = {max(1, len(entry.outputs))}, *iw = 0;"]
    lines += [f"    *w = {sum(buffers)};", "    return 0;", "}"]
    lines += _head(f"int {name}(const double **arg, double **res, long long *iw, double *w, int mem)")
    if any(buffers):
        return [*lines, *_relaid_call(entry, patterns, buffers), "}"]
    return [*lines, "    (void)iw, (void)w, (void)mem;", f"    return {entry.public}_arrays(arg, res);", "}"]


def _head(prototype: str) -> list[str]:
    return [f"EXPORT {prototype};", f"EXPORT {prototype}", "{"]


def _description(name: str, side: str, labels: Sequence[str], first: int) -> list[str]:
    """Number, names and patterns of the inputs or outputs."""
    # a label with other characters could end the string: it gets CasADi's default name i0, o0, ...
    safe = [label if re.fullmatch(r"\w+", label, re.ASCII) else f"{side[0]}{k}" for k, label in enumerate(labels)]
    lines = [*_head(f"long long {name}_n_{side}(void)"), f"    return {len(labels)};", "}"]
    lines += [*_head(f"const char *{name}_name_{side}(long long i)"), "    switch (i) {"]
    lines += [f'    case {k}: return "{label}";' for k, label in enumerate(safe)]
    lines += ["    default: return 0;", "    }", "}"]
    lines += [*_head(f"const long long *{name}_sparsity_{side}(long long i)"), "    switch (i) {"]
    lines += [f"    case {k}: return {name}_pattern_{first + k};" for k in range(len(labels))]
    return [*lines, "    default: return 0;", "    }", "}"]


def _needs_buffer(argument: Argument, pattern: ca.Sparsity) -> bool:
    """Whether the export stores the argument in another order than CasADi."""
    return argument.layout == "row-major" or argument.size != pattern.nnz()


def _relaid_call(entry: ExportedFunction, patterns: Sequence[ca.Sparsity], buffers: Sequence[int]) -> list[str]:
    """Calls a function with dense, row-major arrays from arrays of nonzeros, column by column."""
    lines = [f"    const double *inputs[{max(1, len(entry.inputs))}] = {{0}};"]
    lines += [f"    double *outputs[{max(1, len(entry.outputs))}] = {{0}};", "    int failed;", "    long long j, k;"]
    lines += ["    (void)iw, (void)mem, (void)j, (void)k;"]
    places = [f"w + {sum(buffers[:k])}" for k in range(len(buffers))]
    inputs = len(entry.inputs)
    after = []
    for k, (argument, pattern, size) in enumerate(zip(entry.arguments, patterns, buffers, strict=True)):
        caller, array = (
            (f"arg[{k}]", f"inputs[{k}]") if k < inputs else (f"res[{k - inputs}]", f"outputs[{k - inputs}]")
        )
        if not size:
            lines.append(f"    {array} = {caller};")
            continue
        rows, columns = pattern.shape
        table = f"{entry.name}_pattern_{k}"
        entries = f"for (j = 0; j < {columns}; ++j) for (k = {table}[2 + j]; k < {table}[3 + j]; ++k)"
        place = f"({places[k]})[{table}[{3 + columns} + k] * {columns} + j]"
        if argument.is_input:
            lines += [f"    if ({caller}) {{", f"        for (k = 0; k < {rows * columns}; ++k) ({places[k]})[k] = 0;"]
            lines += [f"        {entries} {place} = {caller}[k];", f"        {array} = {places[k]};", "    }"]
        else:
            lines.append(f"    {array} = {caller} ? {places[k]} : 0;")
            after.append(f"    if ({caller}) {entries} {caller}[k] = {place};")
    return [*lines, f"    failed = {entry.public}_arrays(inputs, outputs);", *after, "    return failed;"]
