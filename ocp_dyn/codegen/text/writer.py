"""Distribution of the values of a function over chunks, and their C code: one statement for every value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from . import placement
from .pressure import Pressure, pressure
from .values import ARITHMETIC, CONSTANT, INPUT, KINDS, LIBRARY, SELECTIONS, TRIGONOMETRIC, Value, literal

CHUNK_LENGTH = 500
"""Number of statements in a chunk, one C function."""


@dataclass(frozen=True)
class Output:
    """An output of `size` numbers, which holds `stored` different nonzero values.

    slots[k]: index of entry k among these values, -1 if the entry is zero. nonzeros: the entries of the structural
    nonzeros, column by column. Values are numbered by their first nonzero in this order.
    """

    size: int
    stored: int
    slots: tuple[int, ...]
    nonzeros: tuple[int, ...]


class Packing(NamedTuple):
    """Counts of a packed kernel.

    operations: number of values; statements: number of statements that compute them; vectors: numbers of vector
    statements, by their lanes; moves: number of vectors that are put together from values of different statements.
    """

    operations: int
    statements: int
    vectors: dict[int, int]
    moves: int


@dataclass(frozen=True)
class Kernel:
    """C code of a function `NAME(const V *const *x, V *const *y, V *w)`, and facts that its caller needs.

    chunks: functions NAME_0, NAME_1, ..., which `main` calls in this order. inputs: their sizes. work: length of w.
    statements: number of values. library: functions of libm that the code calls, as v_NAME. angles: whether the code
    calls sincos_. pressures: what every chunk needs of the stack. packing: None if every statement computes one value.
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
    packing: Packing | None = None

    @property
    def text(self) -> str:
        """The whole C code."""
        return "\n".join([*self.chunks, self.main])


class Writer:
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
                        lambda v: values[v].operation == CONSTANT,
                        lambda v: KINDS.get(values[v].operation, ""))  # fmt: skip

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

    def _placement(self) -> placement.ChunkPlacement:
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
        yield from self._body(c)
        for v in direct:
            yield from self._stores(v)
        yield "}\n"

    def _body(self, c: int) -> Iterator[str]:
        loaded: set[int] = set()
        for group in self.chunks[c]:
            for a in (a for v in group for a in self.values[v].arguments):
                if self.chunk_of.get(a, c) != c and a not in loaded:
                    loaded.add(a)
                    yield f"    const V t{a} = w[{self.slots[a]}];"
            yield from self._computed(group)

    def _computed(self, group: tuple[int, ...]) -> Iterator[str]:
        """The statement of a group, and where its values are kept."""
        yield self._statement(group)
        for v in group:
            if v in self.slots:
                yield f"    w[{self.slots[v]}] = t{v};"
            if v in self.places:
                yield from self._stores(v)

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
