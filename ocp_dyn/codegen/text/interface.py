"""C interface of a set of Functions: entry points, arguments, layouts, and a check that no names clash."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..._base.types import repr_in_message, sequence
from ...functions.description import Description, describe
from ...functions.quantities import Label
from .differentiated import differentiated
from .names import macro_stems, parameters

CONFIGURATIONS = ("q", "q0", "q1")
"""Arguments that are configurations of a model."""

BATCH_SETS = ("base", "avx2", "avx512")
MANY = ("batch", "batch_in", "lanes", "lanes_in")
PARTS = ("arrays", *MANY, "batch_bytes", *BATCH_SETS, *(f"{name}_in" for name in BATCH_SETS))
"""Suffixes of the C names of all functions that belong to a public function."""


@dataclass(frozen=True)
class Argument:
    """One input or output: an array of `size` numbers.

    real: "double" or "float". label: its name in the Function; name: of the C parameter; macro: first part of its
    macros. rows, columns: its shape. layout: "dense", "row-major", "column-major" or "sparse" (the nonzeros, column by
    column; `pattern` holds their rows and columns). units, row_names, column_names: for comments. example: values for
    the example program.
    """

    real: str
    label: str
    name: str
    macro: str
    is_input: bool
    rows: int
    columns: int
    layout: str
    pattern: tuple[tuple[int, ...], tuple[int, ...]]
    units: str
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    example: tuple[float, ...]

    @property
    def size(self) -> int:
        """Length of the array."""
        return len(self.pattern[0]) if self.layout == "sparse" else self.rows * self.columns

    @property
    def declaration(self) -> str:
        return f"{'const ' if self.is_input else ''}{self.real} *{self.name}"


@dataclass(frozen=True)
class ExportedFunction:
    """One function of an export.

    name: of the Function; public: its C name. source: the Function. internal: C name of `relaid`, the same Function in
    the layout of the export, in the file that CasADi generates for functions that the emitter cannot write.
    description: of the source, None if unknown. derivative: whether it is a derivative that CasADi looks for beside
    another function.
    """

    name: str
    public: str
    internal: str
    source: ca.Function
    arguments: tuple[Argument, ...]
    description: Description | None
    dense: bool
    derivative: bool

    @property
    def model(self) -> str:
        """Name of the model, "" if unknown."""
        return self.description.model if self.description else ""

    @property
    def inputs(self) -> list[Argument]:
        return [a for a in self.arguments if a.is_input]

    @property
    def outputs(self) -> list[Argument]:
        return [a for a in self.arguments if not a.is_input]

    @property
    def prototype(self) -> str:
        """The C declaration, without semicolon."""
        return f"int {self.public}({', '.join(a.declaration for a in self.arguments) or 'void'})"

    @property
    def real(self) -> str:
        """The type of all numbers in C."""
        return self.arguments[0].real if self.arguments else "double"

    @property
    def relaid(self) -> ca.Function:
        """`source` with C parameter names, in the layout of the export."""
        return _relaid(self.source, self.internal, [a.name for a in self.arguments], self.dense)

    def many_prototype(self, name: str, work: bool) -> str:
        """The C declaration of the function for many states, without semicolon.

        name: "batch", or "lanes" for lane-major arrays. work: in memory of the caller.
        """
        parameters = [
            "long long states",
            *(a.declaration for a in self.arguments),
            *(["void *work_memory"] if work else []),
        ]
        return f"int {self.public}_{name}{'_in' if work else ''}({', '.join(parameters)})"

    def table(self, argument: Argument, kind: str) -> str:
        """C name of the table of row ("row") or column ("col") indices of a sparse argument."""
        return f"{self.public}_{argument.name}_{kind}"


def entries(
    functions: Iterable[ca.Function],
    prefix: str,
    *,
    dense: bool = False,
    real: str = "double",
    derivatives: Iterable[str] = (),
    tell: Callable[[str], None] = lambda text: None,
) -> list[ExportedFunction]:
    """The entry points of `functions`, in order, each followed by its derivatives; duplicates count once.

    tell: called before every derivative with a sentence about it.
    """
    originals, every = distinct(functions), []
    for f in originals:
        every.append(f)
        for kind in derivatives:
            tell(f"differentiating {f.name()}: {kind}")
            every.append(differentiated(f, kind))
    hashes = set(map(hash, originals))
    result = [_entry(f, k, prefix, dense, real, hash(f) not in hashes) for k, f in enumerate(distinct(every))]
    _check_clashes(result)
    return result


def distinct(functions: Iterable[ca.Function]) -> list[ca.Function]:
    """The functions without duplicates, checked: TypeError or ValueError for what cannot be exported."""
    found: dict[int, ca.Function] = {}  # by hash, which differs between Functions that exist at the same time
    for f in sequence(functions, "export needs a list of Functions, such as [ID, FDc]"):
        if not isinstance(f, ca.Function):
            raise TypeError(
                f"export needs casadi.Functions, such as od.function(algorithm, model) makes, got {repr_in_message(f)}"
            )
        found.setdefault(hash(f), f)
    if not found:
        raise ValueError("export got no Functions: pass at least one, such as [od.function(od.mass_matrix, model)]")
    names: dict[str, str] = {}
    for f in found.values():
        _check_function(f)
        if f.name().lower() in names:
            raise ValueError(
                f"two different functions are called {repr_in_message(names[f.name().lower()])} and "
                f"{repr_in_message(f.name())} in one export: names must differ, and by more than case. Rename one with "
                f'od.function(..., name="{f.name()}_left")'
            )
        names[f.name().lower()] = f.name()
    return list(found.values())


def _check_function(f: ca.Function) -> None:
    if f.is_null():
        raise ValueError("export got an empty Function(): there is nothing to generate")
    if f.name().startswith("casadi_"):
        raise ValueError(
            f"{repr_in_message(f.name())}: names that begin with casadi_ are reserved for CasADi's generated code; "
            "rename the function"
        )
    if f.name().lower() in ("rows_to_lanes", "lanes_to_rows"):
        raise ValueError(
            f"{repr_in_message(f.name())} is the name of a function that exports with lanes contain; rename the "
            "function"
        )
    if f.name().lower() in ("external", "casadi"):
        raise ValueError(
            f"{repr_in_message(f.name())} would share a file of the export with CasADi's calling convention; rename "
            "the function"
        )
    if f.has_free():
        raise ValueError(f"{repr_in_message(f.name())} has free variables {f.get_free()}: make them inputs")
    # the arguments of f are renamed, but CasADi writes the labels of inner functions unchanged into comments
    for inner in (f, *f.find_functions()):
        unsafe = [label for label in inner.name_in() + inner.name_out() if not re.fullmatch(r"[A-Za-z0-9_ ]*", label)]
        if unsafe and not (inner is f and f.is_a("SXFunction")):
            raise ValueError(
                f"{repr_in_message(f.name())}: the function {repr_in_message(inner.name())} inside it has an input or "
                f"output {repr_in_message(unsafe[0])}, a name that is not safe in C; use letters, digits and "
                "underscores"
            )


def _entry(f: ca.Function, k: int, prefix: str, dense: bool, real: str, derivative: bool) -> ExportedFunction:
    names = parameters(f.name_in() + f.name_out(), prefix)
    public, internal = f"{prefix}_{f.name()}", f"{prefix}_casadi_e{k}_{f.name()}"
    description = describe(f)
    macros = [f"{prefix.upper()}_{f.name().upper()}_{stem}" for stem in macro_stems(names)]
    labels = description.labels if description else {}
    places = _places(description) if description else {}
    arguments = []
    for i, label in enumerate(f.name_in() + f.name_out()):
        is_input = i < f.n_in()
        pattern = f.sparsity_in(i) if is_input else f.sparsity_out(i - f.n_in())
        rows, columns = pattern.shape
        layout = _layout(pattern, dense)
        known = labels.get(label, Label(""))
        size = pattern.nnz() if layout == "sparse" else rows * columns
        configuration = places.get(label, ())
        arguments.append(
            Argument(
                real=real,
                label=label,
                name=names[i],
                macro=macros[i],
                is_input=is_input,
                rows=rows,
                columns=columns,
                layout=layout,
                pattern=(tuple(pattern.row()), tuple(pattern.get_col())) if layout == "sparse" else ((), ()),
                units=known.units,
                row_names=known.rows if len(known.rows) == rows else (),
                column_names=known.columns if len(known.columns) == columns else (),
                example=configuration
                if is_input and len(configuration) == size
                else tuple((1 + j % 9) / 10 for j in range(size))
                if is_input
                else (),
            )
        )
    return ExportedFunction(f.name(), public, internal, f, tuple(arguments), description, dense, derivative)


def _layout(pattern: ca.Sparsity, dense: bool) -> str:
    if not dense and not pattern.is_dense():
        return "sparse"
    if min(pattern.shape) <= 1:
        return "dense"
    return "row-major" if dense else "column-major"


def _places(description: Description) -> dict[str, tuple[float, ...]]:
    """Valid configurations by the names of arguments; q1 differs from q0."""
    return {name: _configuration(description, 0.5 if name == "q1" else 1.0) for name in CONFIGURATIONS}


def _configuration(description: Description, length: float) -> tuple[float, ...]:
    """A valid configuration without special values: the neutral one, moved by a different step along every dof."""
    step = length * np.array([(1 + k % 9) / 10 for k in range(description.nv)])
    return tuple(float(x) for x in np.round(description.configuration(step), 12))


def row_major(f: ca.Function) -> ca.Function:
    """f with dense arguments and matrices stored row by row."""
    return _relaid(f, f.name(), f.name_in() + f.name_out(), True)


def _relaid(f: ca.Function, name: str, labels: list[str], dense: bool) -> ca.Function:
    """f under another name and, if `dense`, with dense, row-major arguments.

    CasADi stores matrices column by column, so the row-major form of a matrix is its transpose.
    """
    scalar = f.is_a("SXFunction")
    kind: Any = ca.SX if scalar else ca.MX
    symbols: Any = f.sx_in() if scalar else f.mx_in()
    if dense:
        shapes = [f.size_in(i) for i in range(f.n_in())]
        symbols = [kind.sym("x", *(shape[::-1] if min(shape) > 1 else shape)) for shape in shapes]
    inputs = [x.T if dense and min(x.shape) > 1 else x for x in symbols]
    values: Any = f.call(inputs, True, False) if scalar else f.call(inputs)
    if dense:
        values = [ca.densify(x) for x in values]
        values = [x.T if min(x.shape) > 1 else x for x in values]
    return ca.Function(name, symbols, values, labels[: f.n_in()], labels[f.n_in() :])


def _check_clashes(all_entries: list[ExportedFunction]) -> None:
    """ValueError if two functions define the same C name or macro."""
    owners: dict[str, str] = {}
    for entry in all_entries:
        names = [entry.public, *(f"{entry.public}_{part}" for part in PARTS)]
        for argument in entry.arguments:
            names += [f"{argument.macro}_{kind}" for kind in ("ROWS", "COLS", "SIZE")]
            names += [entry.table(argument, kind) for kind in ("row", "col")]
        for name in names:
            if owners.setdefault(name, entry.name) != entry.name:
                raise ValueError(
                    f"functions {repr_in_message(owners[name])} and {repr_in_message(entry.name)} would both define "
                    f"{name} in the header; rename one with od.function(..., name=...)"
                )
