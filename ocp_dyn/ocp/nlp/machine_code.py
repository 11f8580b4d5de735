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

import casadi as ca
import numpy as np

from ..._types import is_one_of, meant, shown
from ...codegen.machine_code import cache
from ...codegen.machine_code.compile import compiler_found
from ...codegen.machine_code.identity import digest, made_by
from ...codegen.tapes.library import build_aside, library, version
from ...codegen.tapes.tape import Tape, tape_of
from .assembled import Assembled
from .blocks import Block
from .evaluator import FUNCTION_LEVELS, Key, Tapes

LEAST_INSTRUCTIONS = 20_000
"""Least number of instructions, of all instances together, that machine code is worth: with fewer, CasADi's virtual
machine takes no more than about 0.1 ms."""

MANY_INSTRUCTIONS = 1_000_000
"""Number of instructions, of all instances together, from which on tapes that are missing are made at once: in forty
evaluations they save the time that it takes to make them."""

KEPT_ON_DISK = 5_000
"""Number of instructions from which on a tape is kept on disk: smaller ones are made in a few milliseconds."""

TAPES_KEPT = 256
"""Number of tapes that one process keeps for further problems."""

SECONDS_PER_INSTRUCTION = 1.2e-6
"""Time to make the table of one instruction [s]."""

SOLVED_WITH = FUNCTION_LEVELS[:3]
"""Levels of functions that a solver with exact Hessians needs."""

SUFFIX = ".tape"

_kept: OrderedDict[str, Tape] = OrderedDict()

_refused: set[str] = set()
"""Names of functions with operations that tapes do not have."""


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
        build_aside()
        return "virtual machine; the library for machine code is being built for the next run"
    known = {} if program.tapes is None else dict(program.tapes.of)
    before, begin = len(known), time.perf_counter()
    make = compile is True or _instructions(program, wanted) > MANY_INSTRUCTIONS
    for key in wanted:
        tape = known.get(key) or _tape(found, program.blocks[key[0]], key[1], make)
        if tape is not None:
            known[key] = tape
    if len(known) > before:
        program.use(Tapes(found, known))
        tell(f"{len(known) - before} functions as tables in {time.perf_counter() - begin:.1f} s")
    return _say(program, [key for key in wanted if key not in known], len(known))


def _library_there() -> ctypes.CDLL | None:
    with contextlib.suppress(OSError, RuntimeError):
        return library(build=False)
    return None


def _say(program: Assembled, missing: list[Key], known: int) -> str:
    if not missing:
        return "machine code"
    how = f"{known} functions as machine code, {len(missing)} in the virtual machine" if known else "virtual machine"
    left = {f.name(): f.n_instructions() for f in (_function(program, key) for key in missing)}
    seconds = SECONDS_PER_INSTRUCTION * sum(count for name, count in left.items() if name not in _refused)
    return f"{how}; compile=True would build the tables of these once, in {max(0.1, seconds):.1f} s" if seconds else how


def _function(program: Assembled, key: Key) -> ca.Function:
    f: ca.Function = getattr(program.blocks[key[0]], f"{key[1]}_function")
    return f


def _instructions(program: Assembled, keys: Sequence[Key]) -> int:
    """Instructions of these functions, for all instances together."""
    return sum(_function(program, key).n_instructions() * len(program.blocks[key[0]].instances) for key in keys)


def _wanted(program: Assembled, levels: Sequence[str]) -> list[Key]:
    """The functions of a program that is large enough; none of a smaller one."""
    keys = [(k, level) for k, _ in enumerate(program.blocks) for level in levels]
    return keys if _instructions(program, keys) > LEAST_INSTRUCTIONS else []


def _tape(found: ctypes.CDLL, block: Block, level: str, make: bool) -> Tape | None:
    """The tape of a block's function: kept in this process, or on disk, or made now if `make`; else None."""
    f = getattr(block, f"{level}_function")
    name = digest(block.key, level, version(), made_by(tape_of.__module__))
    large = f.n_instructions() >= KEPT_ON_DISK
    tape = _kept.pop(name, None)
    if tape is None and large:
        path = cache.find(cache.directory(), name, SUFFIX)
        tape = None if path is None else Tape(np.fromfile(path, np.uint8))
    if tape is None and (make or not large) and f.name() not in _refused:
        try:
            tape = tape_of(found, f)
        except ValueError:  # an operation that tapes do not have
            _refused.add(f.name())
            return None
        if large:
            _keep_on_disk(name, tape)
    if tape is not None:
        _kept[name] = tape
        while len(_kept) > TAPES_KEPT:
            _kept.popitem(last=False)
    return tape


def _keep_on_disk(name: str, tape: Tape) -> None:
    """Stores a tape for other processes, if there is room on the disk."""
    place = cache.directory()
    with contextlib.suppress(OSError), cache.stage(place) as stage:
        path = Path(stage, name).with_suffix(SUFFIX)
        tape.memory.tofile(path)
        cache.store(place, name, path)
        cache.prune(place)
