"""C code from the instruction list of a Function: static single assignment, divided into chunks that compile fast.

CasADi's generator writes one function with reused variables, for which a compiler needs minutes beyond some 50,000
instructions. Here every value is assigned once and is local to a chunk of some 500 statements; only values that another
chunk needs pass through the array `w`. So the compile time grows linearly. The type `V` of a value is defined
elsewhere, by `lanes.header`: a number, or a vector with one state in every lane. The macro `CHUNK` makes the chunks
static, or visible to other files.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from ..._types import shown, truth
from . import placement
from .pressure import Pressure, pressure

CHUNK_LENGTH = 500
"""Number of statements in a chunk, one C function."""

TRIGONOMETRIC = (ca.OP_SIN, ca.OP_COS)

COMMUTATIVE = frozenset({ca.OP_ADD, ca.OP_MUL, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR})

ARITHMETIC = {
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "{0} + {0}",
    ca.OP_INV: "K(1.0) / {0}",
}
"""Arithmetic operations; at most one of two operands may be a scalar constant, K(...)."""

SELECTIONS = {
    ca.OP_LT: "TRUTH({0} < {1})",
    ca.OP_LE: "TRUTH({0} <= {1})",
    ca.OP_EQ: "TRUTH({0} == {1})",
    ca.OP_NE: "TRUTH({0} != {1})",
    ca.OP_NOT: "TRUTH({0} == S(0.0))",
    ca.OP_AND: "PICK({0} != S(0.0), TRUTH({1} != S(0.0)), S(0.0))",
    ca.OP_OR: "PICK({0} != S(0.0), S(1.0), TRUTH({1} != S(0.0)))",
    ca.OP_IF_ELSE_ZERO: "PICK({0} != S(0.0), {1}, S(0.0))",
    ca.OP_FABS: "PICK({0} > S(0.0), {0}, S(0.0) - {0})",
    ca.OP_SIGN: "PICK({0} > S(0.0), S(1.0), PICK({0} < S(0.0), S(-1.0), {0}))",
    # as fmin and fmax of C: if one operand is nan, the result is the other one
    ca.OP_FMIN: "PICK({0} < {1}, {0}, PICK({1} == {1}, {1}, {0}))",
    ca.OP_FMAX: "PICK({0} > {1}, {0}, PICK({1} == {1}, {1}, {0}))",
}
"""Comparisons and conditionals, without branches."""

LIBRARY = {
    ca.OP_EXP: "exp",
    ca.OP_LOG: "log",
    ca.OP_POW: "pow",
    ca.OP_CONSTPOW: "pow",
    ca.OP_SQRT: "sqrt",
    ca.OP_TAN: "tan",
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
    ca.OP_FMOD: "fmod",
    ca.OP_REMAINDER: "remainder",
    ca.OP_COPYSIGN: "copysign",
    ca.OP_ERF: "erf",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
    ca.OP_TANH: "tanh",
    ca.OP_ASINH: "asinh",
    ca.OP_ACOSH: "acosh",
    ca.OP_ATANH: "atanh",
    ca.OP_ATAN2: "atan2",
    ca.OP_LOG1P: "log1p",
    ca.OP_EXPM1: "expm1",
    ca.OP_HYPOT: "hypot",
}
"""Functions of libm."""

BINARY_LIBRARY = frozenset({"pow", "fmod", "remainder", "copysign", "atan2", "hypot"})


@dataclass(frozen=True)
class Output:
    """An output of `size` numbers, which holds `stored` different nonzero values.

    slots[k]: index of entry k among these values, -1 if it is zero. nonzeros: entries of the nonzeros, by columns.
    """

    size: int
    stored: int
    slots: tuple[int, ...]
    nonzeros: tuple[int, ...]


@dataclass(frozen=True)
class Kernel:
    """C code of a function `NAME(const V *const *x, V *const *y, V *w)`, and facts that its caller needs.

    chunks: functions NAME_0, NAME_1, ..., which `main` calls in this order. inputs: their sizes. work: length of w.
    statements: number of values. library: functions of libm that the code calls, as v_NAME. angles: whether the code
    calls sincos_. pressures: what every chunk needs of the stack.
    """

    name: str
    chunks: tuple[str, ...]
    main: str
    inputs: tuple[int, ...]
    outputs: tuple[Output, ...]
    work: int
    statements: int
    library: tuple[str, ...]
    angles: bool
    pressures: tuple[Pressure, ...]

    @property
    def text(self) -> str:
        """The whole C code."""
        return "\n".join([*self.chunks, self.main])


class Value(NamedTuple):
    """One value: an operation on earlier values, an input (operation INPUT) or a constant (CONSTANT)."""

    operation: int
    arguments: tuple[int, ...] = ()
    constant: float = 0.0


INPUT, CONSTANT = -1, -2
KINDS = {**dict.fromkeys((*SELECTIONS, *LIBRARY), "call"), **dict.fromkeys(TRIGONOMETRIC, "angle")}
KNOWN = frozenset({*ARITHMETIC, *SELECTIONS, *LIBRARY, *TRIGONOMETRIC})


def emit(f: ca.Function, name: str, *, dense: bool = True) -> Kernel:
    """The C code of `f` as a function of the C name `name`.

    f: any Function that `expand` makes scalar. dense: arguments are dense and row-major; otherwise they hold the
    structural nonzeros, column by column, as in CasADi. Equal values are computed once (a b = b a), sine and cosine of
    one angle together, unused values not at all. Cost: about 6 us and 45 bytes per instruction.

    Raises ValueError for operations without a counterpart in C: a call of another Function that may not be inlined,
    printing, the inverse error function.

    >>> od.codegen.emit(od.function(od.gravity_force, rod), "tau_g").statements  # sine, product, sign
    3
    """
    if not isinstance(f, ca.Function):
        raise TypeError(f"emit needs a casadi.Function, such as od.function(algorithm, model) makes, got {shown(f)}")
    truth(dense, "dense")
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise ValueError(f"emit needs a C name for the function, of letters, digits and underscores, got {shown(name)}")
    scalar = f if f.is_a("SXFunction") else f.expand()
    values, stores = _values(scalar, f.name())
    return _Writer(scalar, name, values, stores, dense).kernel()


def _values(f: ca.Function, label: str) -> tuple[list[Value], list[tuple[int, int, int]]]:
    """All different values, and (output, nonzero, value) for every nonzero of the outputs."""
    values: list[Value] = []
    known: dict[Value | str, int] = {}
    slot: dict[int, int] = {}  # the value that a work variable of CasADi's virtual machine holds at this instruction
    stores = []
    operation_of, operands_of, results_of = f.instruction_id, f.instruction_input, f.instruction_output
    for k in range(f.n_instructions()):
        operation, operands, results = operation_of(k), operands_of(k), results_of(k)
        key: Value | str
        if operation == ca.OP_OUTPUT:
            stores.append((results[0], results[1], slot[operands[0]]))
            continue
        if operation in (ca.OP_ASSIGN, ca.OP_LIFT):
            slot[results[0]] = slot[operands[0]]
            continue
        if operation == ca.OP_INPUT:
            key = value = Value(INPUT, tuple(operands))
        elif operation == ca.OP_CONST:
            value = Value(CONSTANT, (), f.instruction_constant(k))
            key = value.constant.hex()  # tells 0.0 from -0.0
        else:
            if operation not in KNOWN:
                _refuse(operation, label)
            arguments = [slot[i] for i in operands]
            if operation in COMMUTATIVE:
                arguments.sort()
            key = value = Value(operation, tuple(arguments))
        number = known.setdefault(key, len(values))
        if number == len(values):
            values.append(value)
        slot[results[0]] = number
    return values, stores


def _refuse(operation: int, label: str) -> None:
    names = {getattr(ca, name): name for name in dir(ca) if name.startswith("OP_")}
    remedy = "; build it from inlined Functions" if operation == ca.OP_CALL else ""
    raise ValueError(
        f"{shown(label)} uses {names.get(operation, operation)}, which the emitter cannot write as C{remedy}. Or try "
        "od.codegen.export, which uses CasADi's generator for such functions"
    )


class _Writer:
    """Distributes the values of a function over chunks and writes the C code.

    A group is the result of one statement: a value, or the sine and the cosine of one angle.
    """

    def __init__(
        self, f: ca.Function, name: str, values: list[Value], stores: list[tuple[int, int, int]], dense: bool
    ) -> None:
        self.f, self.name, self.values, self.dense = f, name, values, dense
        self.outputs, self.places = self._outputs(stores)
        self.operands, self.constants = self._operands()
        self.chunks, self.chunk_of, self.slots, self.work = self._placement()

    def kernel(self) -> Kernel:
        chunks = tuple("\n".join(self._chunk(c)) for c in range(len(self.chunks)))
        calls = "".join(f"    {self.name}_{c}(x, y, w);\n" for c in range(len(self.chunks)))
        main = f"static void {self.name}(const V *const *x, V *const *y, V *w)\n{{\n{calls}}}\n"
        operations = {self.values[v].operation for v in self.chunk_of}
        used = tuple(sorted({LIBRARY[operation] for operation in operations if operation in LIBRARY}))
        inputs = tuple(self._size(self.f.sparsity_in(i)) for i in range(self.f.n_in()))
        angles = not operations.isdisjoint(TRIGONOMETRIC)
        demands = tuple(map(self._pressure, self.chunks))
        return Kernel(
            self.name, chunks, main, inputs, self.outputs, self.work, len(self.chunk_of), used, angles, demands
        )

    def _pressure(self, groups: list[placement.Group]) -> Pressure:
        values = self.values
        return pressure(groups, lambda v: values[v].arguments if values[v].operation >= 0 else (),
                        lambda v: values[v].operation == CONSTANT, lambda v: KINDS.get(values[v].operation, ""))  # fmt: skip

    def _size(self, pattern: ca.Sparsity) -> int:
        return int(pattern.numel() if self.dense else pattern.nnz())

    def _layout(self, pattern: ca.Sparsity) -> list[int]:
        """Indices of the nonzeros in the array that holds a matrix of this pattern."""
        if not self.dense:
            return list(range(pattern.nnz()))
        columns = pattern.size2()
        return [row * columns + column for row, column in zip(pattern.row(), pattern.get_col(), strict=True)]

    def _outputs(
        self, stores: list[tuple[int, int, int]]
    ) -> tuple[tuple[Output, ...], dict[int, list[tuple[int, int, int]]]]:
        """The outputs, and for every value its list of (output, slot, index). Equal entries share a slot."""
        patterns = [self.f.sparsity_out(j) for j in range(self.f.n_out())]
        slots = [[-1] * self._size(p) for p in patterns]
        different: list[dict[int, int]] = [{} for _ in slots]
        places: dict[int, list[tuple[int, int, int]]] = {}
        layouts = [self._layout(p) for p in patterns]
        for j, nonzero, v in sorted(stores):
            value = self.values[v]
            if value.operation == CONSTANT and value.constant == 0:
                continue
            position = layouts[j][nonzero]
            slots[j][position] = different[j].setdefault(v, len(different[j]))
            places.setdefault(v, []).append((j, slots[j][position], position))
        facts = zip(slots, different, layouts, strict=True)
        outputs = tuple(Output(len(s), len(d), tuple(s), tuple(n)) for s, d, n in facts)
        return outputs, places

    def _operands(self) -> tuple[list[str], dict[int, str]]:
        """C expressions of all values, and the scalar expressions K(...) of the constants by value."""
        layouts = [self._layout(self.f.sparsity_in(i)) for i in range(self.f.n_in())]
        names = []
        plain = {}
        for v, value in enumerate(self.values):
            if value.operation == INPUT:
                i, nonzero = value.arguments
                names.append(f"x{i}[{layouts[i][nonzero]}]")
            elif value.operation == CONSTANT:
                number = literal(value.constant)
                names.append(f"S({number})")
                plain[v] = f"K({number})"
            else:
                names.append(f"t{v}")
        return names, plain

    def _needed(self) -> list[int]:
        """The values that the outputs depend on, in order, without inputs and constants."""
        needed = [False] * len(self.values)
        for v in self.places:
            needed[v] = True
        for v in range(len(self.values) - 1, -1, -1):
            operation, arguments, _ = self.values[v]
            if needed[v] and operation != INPUT:
                for a in arguments:
                    needed[a] = True
        return [v for v, value in enumerate(self.values) if needed[v] and value.operation >= 0]

    def _groups(self, order: list[int]) -> list[tuple[int, ...]]:
        pairs: dict[int, list[int]] = {}
        for v in order:
            if self.values[v].operation in TRIGONOMETRIC:
                pairs.setdefault(self.values[v].arguments[0], []).append(v)
        return [
            tuple(pairs.pop(value.arguments[0])) if value.operation in TRIGONOMETRIC else (v,)
            for v, value in ((v, self.values[v]) for v in order)
            if value.operation not in TRIGONOMETRIC or value.arguments[0] in pairs
        ]

    def _placement(self) -> placement.Placement:
        """The better of two orders of evaluation: the one that stores fewer values for other chunks.

        One is CasADi's order, the other computes values by demand, for the last outputs first.
        """
        arguments = [value.arguments if value.operation >= 0 else () for value in self.values]
        needed = self._needed()
        wanted = sorted(
            self.places, key=lambda v: max((j, position) for j, _, position in self.places[v]), reverse=True
        )
        orders = (needed, placement.by_demand(needed, arguments, wanted))
        placements = (placement.place(self._groups(order), arguments, CHUNK_LENGTH) for order in orders)
        return min(placements, key=lambda candidate: candidate.size)

    def _chunk(self, c: int) -> Iterator[str]:
        # outputs that are inputs or constants have no statement: the first chunk stores them
        direct = [v for v in self.places if v not in self.chunk_of] if c == 0 else []
        yield f"CHUNK void {self.name}_{c}(const V *const *x, V *const *y, V *RESTRICT w)"
        yield "{"
        yield from self._pointers(c, direct)
        loaded: set[int] = set()
        values, chunk_of, slots = self.values, self.chunk_of, self.slots
        for group in self.chunks[c]:
            for v in group:
                for a in values[v].arguments:
                    if chunk_of.get(a, c) != c and a not in loaded:
                        loaded.add(a)
                        yield f"    const V t{a} = w[{slots[a]}];"
            yield self._statement(group)
            for v in group:
                if v in slots:
                    yield f"    w[{slots[v]}] = t{v};"
                if v in self.places:
                    yield from self._stores(v)
        for v in direct:
            yield from self._stores(v)
        yield "}\n"

    def _pointers(self, c: int, direct: Iterable[int]) -> Iterator[str]:
        """Declarations of the inputs and outputs that a chunk uses."""
        members = [v for group in self.chunks[c] for v in group]
        used = {*(a for v in members for a in self.values[v].arguments), *direct}
        read = {self.values[v].arguments[0] for v in used if self.values[v].operation == INPUT}
        written = {j for v in (*members, *direct) for j, _, _ in self.places.get(v, ())}
        yield from (f"    const V *RESTRICT x{i} = x[{i}];" for i in sorted(read))
        yield from (f"    V *RESTRICT y{j} = y[{j}];" for j in sorted(written))
        yield "    (void)x, (void)y, (void)w;"

    def _statement(self, group: tuple[int, ...]) -> str:
        value = self.values[group[0]]
        if value.operation not in TRIGONOMETRIC:
            return f"    const V t{group[0]} = {self._expression(value)};"
        names = {self.values[v].operation: f"t{v}" for v in group}
        sine, cosine = (names.get(operation, f"u{group[0]}") for operation in TRIGONOMETRIC)
        unused = f" (void)u{group[0]};" if len(group) == 1 else ""
        angle = self.operands[value.arguments[0]]
        return f"    V {sine}, {cosine}; sincos_({angle}, &{sine}, &{cosine});{unused}"

    def _expression(self, value: Value) -> str:
        operation, arguments, _ = value
        operands = [self.operands[a] for a in arguments]
        if operation in ARITHMETIC:
            # an operator accepts one scalar constant, not two
            scalars = [self.constants.get(a) for a in arguments]
            if not all(scalars):
                operands = [scalar or operand for scalar, operand in zip(scalars, operands, strict=True)]
            return ARITHMETIC[operation].format(*operands)
        if operation in SELECTIONS:
            return SELECTIONS[operation].format(*operands)
        return f"v_{LIBRARY[operation]}({', '.join(operands)})"

    def _stores(self, v: int) -> Iterator[str]:
        for j, slot, position in self.places[v]:
            yield f"    y{j}[AT({slot}, {position})] = {self.operands[v]};"


def instructions(f: ca.Function) -> int:
    """Approximate number of operations in `f`: its number of CasADi instructions, after expansion if necessary."""
    counts = f.is_a("SXFunction") or f.is_a("MXFunction")
    return int((f if counts else f.expand()).n_instructions())


def literal(x: float) -> str:
    """A C literal for exactly `x`."""
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    return x.hex()
