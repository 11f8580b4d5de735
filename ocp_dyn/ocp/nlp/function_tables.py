"""Evaluation of blocks by tables: their functions become tables of operations, kept on disk for later problems.

A table (`ocp_dyn.codegen.tables`) is made in a microsecond per instruction and evaluated by the native library TABLES,
several times faster than CasADi's virtual machine evaluates the function.
"""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..._base import cache
from ..._base.display import Count
from ..._base.identity import digest, source_digest
from ...codegen.tables import Tape, tape_of
from ...native.libraries import TABLES
from .assembled import Assembled
from .blocks import Block
from .derivative_cache import FUNCTION_LEVELS, keep_patterns
from .evaluator import Key, Tapes
from .kept_programs import keep_program

LEAST_INSTRUCTIONS = 20_000
"""Least number of instructions, of all instances together, that tables are worth: with fewer, CasADi's virtual machine
takes no more than about 0.1 ms."""

MANY_INSTRUCTIONS = 1_000_000
"""Number of instructions, of all instances together, from which on missing tapes are made without being asked for: in
forty evaluations they save the time that it takes to make them."""

MANY_INSTANCES = 8
"""Number of instances of a block from which on the same holds for its functions; those of other blocks are made in a
later run, which finds the first ones."""

KEPT_ON_DISK = 5_000
"""Number of instructions from which on a tape is kept on disk: smaller ones are made in a few milliseconds."""

TAPES_KEPT = 1024
"""Number of tapes that one process keeps for further problems."""

SOLVED_WITH = {"exact": ("values", "first", "second"), "gauss-newton": ("values", "first", "gauss")}
"""Levels of functions that a solver with these Hessians needs."""

SUFFIX = ".tape"

MACHINE = "virtual machine"
"""CasADi's, which evaluates functions without tables."""

_kept: OrderedDict[str, Tape] = OrderedDict()

_refused: set[str] = set()
"""Names, as of tapes, of functions with operations that tapes do not have."""


def use_tables(
    program: Assembled, tell: Callable[[str], None], levels: Sequence[str] = FUNCTION_LEVELS, complete: bool = False
) -> str:
    """Selects tables for the blocks of a program and returns how they are evaluated now, in words.

    Tables on disk are used, and missing ones made if they pay in one solve; complete: all, for a program that is
    evaluated without an end. levels: levels of the functions that will be needed. Without the native library, CasADi's
    virtual machine evaluates all functions, to the same numbers.
    """
    wanted = _wanted(program, levels)
    if not wanted:
        return f"{MACHINE}; it is too small to gain from tables"
    library, reason = TABLES.obtain()
    if library is None:
        if program.tapes is not None:
            program.use(None)
        return f"{MACHINE}; {reason}"
    known = {} if program.tapes is None else dict(program.tapes.of)
    missing, begin = [key for key in wanted if key not in known], time.perf_counter()
    more = _tapes(library.functions, program, missing, complete, tell)
    if more:
        program.use(Tapes(library.functions, known | more))
        tell(f"{len(more)} functions as tables in {time.perf_counter() - begin:.1f} s")
    taped = len(known | more)
    left = len(missing) - len(more)
    if not left:
        _keep_program(program, levels)
        return "tables"
    return f"{taped} functions by tables, {left} in the {MACHINE}" if taped else MACHINE


def _keep_program(program: Assembled, levels: Sequence[str]) -> None:
    """Stores a program that has all its tables, once; small tapes go with it."""
    if program.key and program.tapes is not None:
        outlines = []
        for k, block in enumerate(program.blocks):
            small = [level for level in levels if block.derivatives.size(level) < KEPT_ON_DISK]
            tapes = {_name(block.key, level): program.tapes.of[k, level].memory for level in small}
            outlines.append(block.outline(levels, tapes))
        keep_program(program.key, outlines)
        program.key = ""


def keep_small_tapes(tapes: Mapping[str, NDArray[np.uint8]]) -> None:
    """Keeps tapes that came with a program from the disk."""
    for name, memory in tapes.items():
        _keep(name, Tape(memory))


def _tapes(
    found: ctypes.CDLL, program: Assembled, wanted: list[Key], all_of_them: bool, tell: Callable[[str], None]
) -> dict[Key, Tape]:
    """Tapes of these functions: those that are kept, and those that are worth making now."""
    tapes: dict[Key, Tape] = {}
    blocks = program.blocks
    for k, level in wanted:
        tape = _kept_tape(blocks[k], level)
        tapes |= {} if tape is None else {(k, level): tape}
    large = _instructions(program, wanted) > MANY_INSTRUCTIONS
    again = any(blocks[k].derivatives.size(level) >= KEPT_ON_DISK for k, level in tapes)
    missing = [key for key in wanted if key not in tapes]
    progress = Count(tell, len(missing))
    for k, level in missing:
        progress.tell(f"making a table of {blocks[k].name!r}")
        small = blocks[k].derivatives.size(level) < KEPT_ON_DISK
        pays = large and (again or len(blocks[k].instances) >= MANY_INSTANCES)
        if all_of_them or small or pays:
            tape = _made_tape(found, blocks[k], level)
            tapes |= {} if tape is None else {(k, level): tape}
        progress.done += 1
    return tapes


def _name(key: str, level: str) -> str:
    """Name of a function's tape in the caches."""
    return digest(key, level, TABLES.version, source_digest(tape_of.__module__))


def _instructions(program: Assembled, keys: Sequence[Key]) -> int:
    """Instructions of these functions, for all instances together."""
    blocks = program.blocks
    return sum(blocks[k].derivatives.size(level) * len(blocks[k].instances) for k, level in keys)


def _wanted(program: Assembled, levels: Sequence[str]) -> list[Key]:
    """The functions of a program that is large enough; none of a smaller one."""
    keys = [(k, level) for k, _ in enumerate(program.blocks) for level in levels]
    return keys if _instructions(program, keys) > LEAST_INSTRUCTIONS else []


def _kept_tape(block: Block, level: str) -> Tape | None:
    """The tape of a block's function that this process or the disk has; else None."""
    name = _name(block.key, level)
    tape = _kept.get(name)
    if tape is None and block.derivatives.size(level) >= KEPT_ON_DISK:
        with contextlib.suppress(OSError):  # another process may have removed it
            path = cache.find(cache.directory(), name, SUFFIX)
            tape = None if path is None else Tape(np.fromfile(path, np.uint8))
    return tape if tape is None else _keep(name, tape)


def _made_tape(found: ctypes.CDLL, block: Block, level: str) -> Tape | None:
    """The tape of a block's function, made now; None if it has operations that tapes do not have."""
    name = _name(block.key, level)
    if name in _refused:
        return None
    try:
        tape = tape_of(found, block.derivatives.function(level))
    except ValueError:
        _refused.add(name)
        return None
    if block.derivatives.size(level) >= KEPT_ON_DISK:
        cache.keep(name, SUFFIX, tape.memory.data)
        keep_patterns(block.key, block.derivatives)
    return _keep(name, tape)


def _keep(name: str, tape: Tape) -> Tape:
    """Keeps a tape for further problems of this process."""
    _kept.pop(name, None)
    _kept[name] = tape
    while len(_kept) > TAPES_KEPT:
        _kept.popitem(last=False)
    return tape
