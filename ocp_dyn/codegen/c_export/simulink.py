"""A Simulink S-function of an export: simulink/sfun_PREFIX.c, whose parameter names the function that a block calls.

All inputs and outputs of a block are dense signals of the argument's shape, and matrices are stored by columns, as in
Simulink. Arguments that the C functions store otherwise pass through work memory of the block.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..._base.templates import text_of
from ..text.interface import Argument, ExportedFunction
from ..text.names import printable, wrap_items

TEMPLATES = Path(__file__).parent / "templates"


def sources(prefix: str, entries: Sequence[ExportedFunction], names: Sequence[str]) -> list[str]:
    """Names of the C files that the S-function needs: those for single states."""
    needed = {f"{prefix}.c", f"{prefix}_casadi.c", *(f"{entry.public}.c" for entry in entries)}
    return [name for name in names if name in needed]


def s_function(mark: str, prefix: str, entries: Sequence[ExportedFunction]) -> str:
    """simulink/sfun_PREFIX.c; blocks may call all functions but derivatives for CasADi."""
    blocks = [entry for entry in entries if not entry.derivative]
    real = blocks[0].real
    return text_of(
        TEMPLATES / "sfun.c.in",
        mark=mark,
        prefix=prefix,
        blocks=[line for entry in blocks for line in (*_ports(entry), " *")],
        numbers="SS_DOUBLE" if real == "double" else "SS_SINGLE",
        message=printable(
            f"sfun_{prefix}: parameter 1 must be the name of a function: {', '.join(e.name for e in blocks)}"
        ),
        real=real,
        prototypes=[f"int {e.public}_arrays(const {real} *const *arg, {real} *const *res);" for e in blocks],
        arguments=[line for entry in blocks for line in _arguments(entry)],
        functions=[
            f'    {{"{e.name}", {len(e.inputs)}, {len(e.outputs)}, {e.name}_arguments, {e.public}_arrays}},'
            for e in blocks
        ],
        count=len(blocks),
        inputs=max(1, *(len(e.inputs) for e in blocks), 1),
        outputs=max(1, *(len(e.outputs) for e in blocks), 1),
    )


def _ports(entry: ExportedFunction) -> list[str]:
    """A comment on a function: its name and its ports, such as "input 1: q [30]"."""
    words = [f"'{entry.name}'"]
    for side, arguments in (("input", entry.inputs), ("output", entry.outputs)):
        for k, a in enumerate((a for a in arguments if a.rows * a.columns), 1):
            shape = f"{a.rows}" if a.columns == 1 else f"{a.rows} x {a.columns}"
            words.append(f"{side} {k}: {a.name} [{shape}]")
    return wrap_items(words, "; ")


def _arguments(entry: ExportedFunction) -> list[str]:
    """The C table of the arguments of a function."""
    rows = [f"    {_row(entry, a)} /* {a.name} */" for a in entry.arguments]
    head = f"static const Argument {entry.name}_arguments[] = {{"
    return ["", head, *(rows or ["    {0, 0, 0, BY_COLUMNS, 0, 0},"]), "};"]


def _row(entry: ExportedFunction, a: Argument) -> str:
    """The C initializer of one argument."""
    tables = [entry.table(a, kind) for kind in ("row", "col")] if a.layout == "sparse" and a.size else ["0", "0"]
    layout = {"row-major": "BY_ROWS", "sparse": "SPARSE"}.get(a.layout, "BY_COLUMNS")
    return f"{{{a.rows}, {a.columns}, {a.size}, {layout}, {tables[0]}, {tables[1]}}},"


def build_script(mark: str, prefix: str, names: Sequence[str]) -> str:
    """simulink/build_sfun_PREFIX.m: the call of mex."""
    files = " ".join(f"'../{name}'" for name in names)
    return text_of(TEMPLATES / "build_sfun.m.in", mark=mark, prefix=prefix, files=files)
