"""Nonlinear programs that consist of blocks: variables with bounds, parameters, blocks and their instances."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._base.display import Count
from ..._base.types import Array, repr_in_message, suggestion
from .assembled import GAPS, Assembled
from .block_rows import BlockRows
from .blocks import Block, Body, Place, ProgramParameter, Slot, Span, Variable, numbers_of
from .derivative_cache import BlockDerivatives
from .function_tables import keep_small_tapes
from .kept_programs import kept_program, program_key

__all__ = [
    "GAPS", "Assembled", "Block", "BlockRows", "Body", "Place", "Program", "ProgramParameter", "Slot", "Span",
    "Variable",
]  # fmt: skip


@dataclass
class Program:
    """A nonlinear program under construction: variables with bounds and first values, and blocks.

    gaps: names of the rows that lead from one state to the next.
    """

    threads: int = 2
    gaps: tuple[str, ...] = GAPS
    variables: list[Variable] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    _lower: list[Array] = field(default_factory=list)
    _upper: list[Array] = field(default_factory=list)
    _start: list[Array] = field(default_factory=list)
    _first: list[Array] = field(default_factory=list)
    _joined: Array | None = None
    """All first values one after the other, once they were asked for: guesses read them at every node."""
    parameters: list[ProgramParameter] = field(default_factory=list)
    _values: list[Array] = field(default_factory=list)
    declared: list[Array] = field(default_factory=list)
    """Values of the parameters that `reset` restores."""
    _place: dict[Variable, int] = field(default_factory=dict)
    size: int = 0

    def variable(self, name: str, size: int, lower: Any, upper: Any, start: Any, scale: Any = 1.0) -> Variable:
        """Adds a variable of `size` entries (physical units; `scale` is its typical magnitude)."""
        lo, up, x0, s = (np.array(np.broadcast_to(np.asarray(a, float), (size,))) for a in (lower, upper, start, scale))
        disordered = np.any(lo > up) or np.any(lo == np.inf) or np.any(up == -np.inf)
        if disordered or np.any(np.isnan(lo) | np.isnan(up)) or not np.all(np.isfinite(x0)):
            raise ValueError(
                f"variable {name!r}: bounds must be ordered and the start finite, got lower {repr_in_message(lo)}, "
                f"start {repr_in_message(x0)}, upper {repr_in_message(up)}"
            )
        variable = Variable(name, np.arange(self.size, self.size + size), s)
        self.size += size
        self._place[variable] = len(self.variables)
        self.variables.append(variable)
        for kept, value in ((self._lower, lo), (self._upper, up), (self._start, x0), (self._first, x0)):
            kept.append(value / s)
        self._joined = None
        return variable

    def parameter(self, name: str, size: int, value: Any) -> ProgramParameter:
        """Adds a parameter of `size` entries with its current value; it may fill slots of blocks."""
        if any(known.name == name for known in self.parameters):
            raise ValueError(f"there is a parameter {name!r} already: give every parameter another name")
        parameter = ProgramParameter(name, np.arange(size) + sum(known.size for known in self.parameters))
        self.parameters.append(parameter)
        self._values.append(numbers_of(f"parameter {name!r}", value, size))
        self.declared.append(self._values[-1])
        return parameter

    def block(self, name: str, slots: Mapping[str, Slot], body: Body, **constants: int) -> Block:
        """Adds a kind of block without instances; `Block.add` adds them. constants: sizes, by name."""
        self.blocks.append(Block(name, dict(slots), body, constants))
        return self.blocks[-1]

    @property
    def x_lower(self) -> Array:
        return np.concatenate(self._lower)

    @property
    def x_upper(self) -> Array:
        return np.concatenate(self._upper)

    @property
    def start(self) -> Array:
        if self._joined is None:
            self._joined = np.concatenate(self._start)
        return self._joined.copy()

    @property
    def values(self) -> Array:
        """The parameters' values."""
        return np.concatenate([np.zeros(0), *self._values])

    def set_value(self, name: str, value: Any) -> None:
        """Changes a parameter's value without a rebuild; KeyError for an unknown name."""
        names = [parameter.name for parameter in self.parameters]
        if name not in names:
            raise KeyError(
                f"no parameter {repr_in_message(name)}; there are {', '.join(names) or 'none'}{suggestion(name, names)}"
            )
        k = names.index(name)
        self._values[k] = numbers_of(f"parameter {name!r}", value, self.parameters[k].size)

    def with_declared(self, values: Mapping[str, Any]) -> Program:
        """A program of the same variables and blocks, whose declared values of some parameters are others."""
        found = copy.copy(self)
        for name, value in values.items():
            found.set_value(name, value)
        found.declared = list(found._values)
        found.reset()
        return found

    def reset(self) -> None:
        """Restores the declared first values of variables and values of parameters."""
        self._start, self._values, self._joined = list(self._first), list(self.declared), None

    def set_start(self, variable: Variable, value: Any) -> None:
        """Changes a variable's first value (physical units)."""
        k = self._place[variable]
        self._start[k] = np.array(np.broadcast_to(np.asarray(value, float), (variable.size,))) / variable.scale
        if self._joined is not None:
            self._joined[variable.index] = self._start[k]

    def assemble(self, key: str = "", say: Callable[[str], None] = lambda text: None) -> Assembled:
        """Builds the blocks and the functions of the whole program.

        key: of all that the bodies of blocks depend on, for the program on disk (`kept_programs`); "": there is none.
        say: is told the number of kinds of blocks, whether they are on disk, and from time to time how many are done.
        """
        self.blocks = [block for block in self.blocks if block.instances]
        kinds: dict[str, BlockDerivatives] = {}
        key = key and program_key(key, [block.inputs for block in self.blocks])
        known = kept_program(key)
        parts, count = "kinds of blocks", len(self.blocks)
        if known is None or len(known) != count:
            say(f"building {count} {parts} ...")
            progress = Count(say, count, parts)
            for block in self.blocks:
                progress.tell(f"building {block.name!r}")
                block.build(kinds)
                progress.done += 1
        else:
            say(f"reading {count} {parts} that an earlier build has kept ...")
            key = ""  # it need not be stored again
            for block, outline in zip(self.blocks, known, strict=True):
                block.take(outline, kinds)
                keep_small_tapes(outline.tapes)
        return Assembled(self.blocks, self.size, self.values.size, self.threads, self.gaps, key)
