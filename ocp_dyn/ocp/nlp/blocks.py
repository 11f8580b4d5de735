"""Blocks: an SX function with its derivatives for every kind of stage, evaluated for many instances.

A kind of block depends on a short vector z of local variables and p of local parameters, and defines cost terms and
constraint rows. Its Jacobian and its Lagrangian Hessian are made once, in SX: the size of every graph is that of
one interval, whatever the horizon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX
from numpy.typing import NDArray

from ..._base.checks import numbers
from ..._base.types import Array, Indices, positional, repr_in_message
from .block_graph import BlockGraph
from .block_rows import BlockRows
from .derivative_cache import BlockDerivatives, derived, derived_later
from .kept_programs import BlockOutline


@dataclass(frozen=True, eq=False)
class Variable:
    """A group of entries of the program's x: `x[index] = value / scale`."""

    name: str
    index: Indices
    scale: Array

    @property
    def size(self) -> int:
        return int(self.index.size)


@dataclass(frozen=True, eq=False)
class ProgramParameter:
    """A group of entries of the program's p: numbers that may change from one solve to the next, without a rebuild.

    `parameter[2:5]` is a part of it, which can fill a slot of a block like any other parameter.
    """

    name: str
    index: Indices

    @property
    def size(self) -> int:
        return int(self.index.size)

    def __getitem__(self, part: slice) -> ProgramParameter:
        return ProgramParameter(self.name, self.index[part])


Slot = Variable | ProgramParameter


def numbers_of(what: str, value: Any, size: int) -> Array:
    """An array of `size` finite numbers, from as many or from one that is repeated; what: its name in messages."""
    value = positional(value, what)
    try:
        array = numbers(value, what)
    except TypeError:
        raise TypeError(f"{what} takes one finite number or {size}, got {repr_in_message(value)}") from None
    if array.size not in (1, size) or not np.all(np.isfinite(array)):
        raise ValueError(f"{what} takes one finite number or {size}, got {repr_in_message(value)}")
    return np.array(np.broadcast_to(array, (size,)))


Body = Callable[[dict[str, SX], BlockRows], None]
"""Writes the costs and rows of a block, from the expressions of its slots by name."""


@dataclass(frozen=True)
class Span:
    """Place of an instance in the motion: node `first` of a phase, or the intervals from node `first` to `last`."""

    phase: int
    first: int
    last: int

    @staticmethod
    def node(phase: int, k: int) -> Span:
        return Span(phase, k, k)

    @staticmethod
    def interval(phase: int, k: int, count: int = 1) -> Span:
        return Span(phase, k, k + count)


class Place(NamedTuple):
    """Rows of an instance of a block: entries of those with a name, in the order in which the body writes them."""

    block: Block
    instance: int
    name: str
    entries: Indices


@dataclass
class Block:
    """One kind of block and its instances.

    slots: the variables and parameters of one instance, by name; all instances have variables and parameters of these
    sizes and scales. constants: sizes of the numbers that differ between instances and never change. onto: of a block
    whose rows are terms of rows of earlier blocks, the places of these; it has no rows and no costs of its own.
    """

    name: str
    slots: dict[str, Slot]
    body: Body
    constants: dict[str, int] = field(default_factory=dict)
    instances: list[list[Variable]] = field(default_factory=list)
    parameters: list[list[ProgramParameter]] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    spans: list[Span | None] = field(default_factory=list)
    onto: list[Place] = field(default_factory=list)

    def add(self, filled: Mapping[str, Slot], span: Span | None = None, **constants: Any) -> None:
        """Adds an instance: a variable or a parameter for every slot, of the same kind and size as in `slots`, and
        numbers for every constant. span: its place, None for an instance that is there once whatever the grid."""
        variables, parameters = [], []
        for name, representative in self.slots.items():
            slot = filled[name]
            if type(slot) is not type(representative) or slot.size != representative.size:
                raise ValueError(
                    f"block {self.name!r}: slot {name!r} takes a {type(representative).__name__} of size "
                    f"{representative.size}, got a {type(slot).__name__} of size {slot.size}"
                )
            variables += [slot] if isinstance(slot, Variable) else []
            parameters += [slot] if isinstance(slot, ProgramParameter) else []
        self.instances.append(variables)
        self.parameters.append(parameters)
        self.spans.append(span)
        numbers = [np.atleast_1d(np.asarray(constants[name], dtype=float)) for name in self.constants]
        self.values.append(np.concatenate([np.zeros(0), *numbers]))

    @property
    def inputs(self) -> list[Any]:
        """Name of the block, and names, kinds, sizes and scales of what its body gets."""
        slots = [(name, type(s).__name__, s.size, getattr(s, "scale", None)) for name, s in self.slots.items()]
        return [self.name, slots, self.constants]

    def build(self, kinds: dict[str, BlockDerivatives]) -> None:
        """Makes the functions of this kind of block, or takes those of an equal one; kinds: the program's, by key."""
        graph, rows = self._graph()
        own = [] if self.onto else rows.rows
        self.cost_names = [name for name, _ in rows.costs]
        self.row_names = [name for name, value, _, _ in own for _ in range(value.shape[0])]
        self.lower = np.concatenate([np.zeros(0), *(lo for _, _, lo, _ in own)])
        self.upper = np.concatenate([np.zeros(0), *(up for _, _, _, up in own)])
        self._use(graph.key, kinds.get(graph.key) or derived(graph.key, graph.derivatives), kinds)

    def take(self, known: BlockOutline, kinds: dict[str, BlockDerivatives]) -> None:
        """Takes what another process has found for this kind of block; its body is called if a function is needed."""
        self.cost_names, self.row_names, self.lower, self.upper = (
            known.cost_names, known.row_names, known.lower, known.upper,
        )  # fmt: skip

        def later() -> BlockDerivatives:
            patterns = known.jacobian_pattern, known.hessian_pattern
            return derived_later(*patterns, known.sizes, lambda: self._graph()[0].derivatives())

        self._use(known.key, kinds.get(known.key) or derived(known.key, later), kinds)

    def outline(self, levels: Iterable[str], tapes: Mapping[str, NDArray[np.uint8]]) -> BlockOutline:
        """The facts that `take` needs; levels: those whose sizes are told."""
        sizes = {level: self.derivatives.size(level) for level in levels}
        found = self.cost_names, self.row_names, self.lower, self.upper, self.jacobian_pattern, self.hessian_pattern
        return BlockOutline(self.key, *found, sizes, dict(tapes))

    def _graph(self) -> tuple[BlockGraph, BlockRows]:
        """The graph that the body writes, and its rows."""
        z = {name: SX.sym(name, v.size) for name, v in self.slots.items() if isinstance(v, Variable)}
        p = {name: SX.sym(name, v.size) for name, v in self.slots.items() if isinstance(v, ProgramParameter)}
        p |= {name: SX.sym(name, size) for name, size in self.constants.items()}
        scaled = {name: z[name] * DM(v.scale) for name, v in self.slots.items() if isinstance(v, Variable)}
        rows = BlockRows()
        self.body(scaled | p, rows)
        return BlockGraph(self.name, rows, ca.vertcat(*z.values()), ca.vertcat(SX(0, 1), *p.values())), rows

    def _use(self, key: str, derivatives: BlockDerivatives, kinds: dict[str, BlockDerivatives]) -> None:
        self.key, self.derivatives = key, derivatives
        kinds[key] = derivatives
        self.jacobian_pattern, self.hessian_pattern = derivatives.jacobian_pattern, derivatives.hessian_pattern

    @property
    def height(self) -> int:
        """Number of rows of an instance, or of those to which they are added."""
        return int(self.jacobian_pattern.size1())

    @property
    def values_function(self) -> ca.Function:
        return self.derivatives.function("values")

    @property
    def gauss_function(self) -> ca.Function:
        return self.derivatives.function("gauss")

    @property
    def gather(self) -> Indices:
        """Indices into x of every instance's z: one row per instance."""
        return np.array([np.concatenate([v.index for v in instance]) for instance in self.instances], dtype=int)

    @property
    def constant_count(self) -> int:
        """Number of constants of all instances together."""
        return sum(value.size for value in self.values)

    def gather_parameters(self, first: int) -> Indices:
        """Indices into [p; constants] of the parameters and constants of every instance: one row per instance.

        first: index at which the constants of this kind of block begin.
        """
        size = self.values[0].size
        constants = first + np.arange(len(self.values) * size).reshape(len(self.values), size)
        pairs = zip(self.parameters, constants, strict=True)
        return np.array([np.concatenate([*(p.index for p in parameters), c]) for parameters, c in pairs], dtype=int)
