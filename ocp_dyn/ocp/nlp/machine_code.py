"""Evaluation of blocks by machine code: their functions become tapes, which are kept on disk for later problems.

A tape is a table of operations (`ocp_dyn.codegen.tapes`): it is made in a microsecond per instruction, without a compiler,
and evaluated by a small library that is compiled once per machine.
"""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ..._types import is_one_of, meant, shown
from ...codegen.machine_code import cache
from ...codegen.machine_code.compile import compiler_found
from ...codegen.machine_code.identity import digest, made_by
from ...codegen.tapes.library import build_aside, fault, library, version
from ...codegen.tapes.tape import Tape, tape_of
from .assembled import Assembled
from .blocks import Block
from .derivative_cache import FUNCTION_LEVELS, keep_patterns
from .evaluator import Key, Tapes

LEAST_INSTRUCTIONS = 20_000
"""Least number of instructions, of all instances together, that machine code is worth: with fewer, CasADi's virtual
machine takes no more than about 0.1 ms."""

MANY_INSTRUCTIONS = 1_000_000
"""Number of instructions, of all instances together, from which on missing tapes are made without being asked for: in
forty evaluations they save the time that it takes to make them."""

MANY_INSTANCES = 8
"""Number of instances of a block from which on the same holds for its functions; those of other blocks are made in a
later run, which finds the first ones."""

KEPT_ON_DISK = 5_000
"""Number of instructions from which on a tape is kept on disk: smaller ones are made in a few milliseconds."""

TAPES_KEPT = 256
"""Number of tapes that one process keeps for further problems."""

SECONDS_PER_INSTRUCTION = 1.2e-6
"""Time to make the table of one instruction [s]."""

SOLVED_WITH = {"exact": ("values", "first", "second"), "gauss-newton": ("values", "first", "gauss")}
"""Levels of functions that a solver with these Hessians needs."""

SUFFIX = ".tape"

_kept: OrderedDict[str, Tape] = OrderedDict()

_refused: set[str] = set()
"""Names, as of tapes, of functions with operations that tapes do not have."""


def use_machine_code(
    program: Assembled, compile: bool | str, tell: Callable[[str], None], levels: Sequence[str] = FUNCTION_LEVELS
) -> str:
    """Selects machine code for the blocks and returns a sentence about the way in which they are evaluated now.

    compile: "auto" uses the tables on disk, and makes missing ones for a large program; it never waits for a compiler.
    True makes all that are missing; False uses no machine code. levels: levels of the functions that will be needed.
    Raises ValueError for anything else, RuntimeError if there is no compiler and `compile` is True.
    """
    if compile is not True and compile is not False and not is_one_of(compile, ("auto",)):
        raise ValueError(f'compile is True, False or "auto", got {shown(compile)}{meant(compile, ["auto"])}')
    if compile is False:
        if program.tapes is not None:
            program.use(None)
        return "virtual machine"
    if not compiler_found():
        if compile is True and _wanted(program, levels):
            raise RuntimeError(
                "compile=True needs a C compiler, and none was found: install gcc or clang, name one in the environment "
                'variable CC, or leave compile="auto" for CasADi\'s virtual machine'
            )
        return "virtual machine"
    wanted = _wanted(program, levels)
    if not wanted:
        return "virtual machine; it is too small to gain from machine code"
    found = library(build=True) if compile is True else _library_there()
    if found is None:
        if reason := fault():
            return f"virtual machine; no machine code: {reason}"
        build_aside()
        return "virtual machine; the library for machine code is being built for later runs"
    known = {} if program.tapes is None else dict(program.tapes.of)
    begin, more = (
        time.perf_counter(),
        _tapes(found, program, [key for key in wanted if key not in known], compile is True),
    )
    if more:
        program.use(Tapes(found, known | more))
        tell(f"{len(more)} functions as tables in {time.perf_counter() - begin:.1f} s")
    return _say(program, [key for key in wanted if key not in known | more], len(known | more))


def _tapes(found: ctypes.CDLL, program: Assembled, wanted: list[Key], all_of_them: bool) -> dict[Key, Tape]:
    """Tapes of these functions: those that are kept, and those that are worth making now."""
    tapes: dict[Key, Tape] = {}
    blocks = program.blocks
    for k, level in wanted:
        tape = _kept_tape(blocks[k], level)
        tapes |= {} if tape is None else {(k, level): tape}
    large = _instructions(program, wanted) > MANY_INSTRUCTIONS
    again = any(blocks[k].derivatives.size(level) >= KEPT_ON_DISK for k, level in tapes)
    for k, level in (key for key in wanted if key not in tapes):
        small = blocks[k].derivatives.size(level) < KEPT_ON_DISK
        pays = large and (again or len(blocks[k].instances) >= MANY_INSTANCES)
        if all_of_them or small or pays:
            tape = _made_tape(found, blocks[k], level)
            tapes |= {} if tape is None else {(k, level): tape}
    return tapes


def _library_there() -> ctypes.CDLL | None:
    with contextlib.suppress(OSError, RuntimeError):
        return library(build=False)
    return None


def _say(program: Assembled, missing: list[Key], known: int) -> str:
    if not missing:
        return "machine code"
    how = f"{known} functions as machine code, {len(missing)} in the virtual machine" if known else "virtual machine"
    left = {(program.blocks[k].key, level): program.blocks[k].derivatives.size(level) for k, level in missing}
    seconds = SECONDS_PER_INSTRUCTION * sum(size for key, size in left.items() if _name(*key) not in _refused)
    return f"{how}; compile=True would build the tables of these once, in {max(0.1, seconds):.1f} s" if seconds else how


def _name(key: str, level: str) -> str:
    """Name of a function's tape in the caches."""
    return digest(key, level, version(), made_by(tape_of.__module__))


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
        _keep_on_disk(name, tape)
        keep_patterns(block.key, block.derivatives)
    return _keep(name, tape)


def _keep(name: str, tape: Tape) -> Tape:
    """Keeps a tape for further problems of this process."""
    _kept.pop(name, None)
    _kept[name] = tape
    while len(_kept) > TAPES_KEPT:
        _kept.popitem(last=False)
    return tape


def _keep_on_disk(name: str, tape: Tape) -> None:
    """Stores a tape for other processes, if there is room on the disk, and OCP_DYN_CACHE_MB is a number."""
    with contextlib.suppress(OSError, ValueError):
        place = cache.directory()
        cache.bound()
        with cache.stage(place) as stage:
            path = Path(stage, name).with_suffix(SUFFIX)
            tape.memory.tofile(path)
            cache.store(place, name, path)
        cache.prune(place)
