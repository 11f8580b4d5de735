"""Machine code of blocks: selects the functions worth compiling, looks them up in the cache, compiles them, and
estimates the gain."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca

from ..._types import is_one_of, meant, shown
from ...codegen.machine_code.batch import CompiledFunction
from ...codegen.machine_code.compile import cached, compiler_found
from ...codegen.machine_code.compile import compile as compile_functions
from .assembled import Assembled
from .evaluator import FUNCTION_LEVELS, Key

LEAST_INSTRUCTIONS = 20_000
"""Least number of instructions, of all instances together, that is worth compiling: with fewer, CasADi's virtual
machine takes no more than about 0.1 ms."""

CODE_LANES = 8
"""Number of instances that the compiled code evaluates at once."""

SECONDS_PER_INSTRUCTION = 1.5e-4
"""Time to compile one instruction [s], on one processor."""


def use_machine_code(program: Assembled, compile: bool | str, tell: Callable[[str], None]) -> str:
    """Selects machine code for the blocks and returns a sentence about the way in which they are evaluated now.

    compile: "auto" uses the machine code in the cache; True uses machine code for all functions that are worth it, and
    compiles those that are missing; False uses none. Raises ValueError for anything else, RuntimeError if there is no
    compiler and `compile` is True.
    """
    if compile is not True and compile is not False and not is_one_of(compile, ("auto",)):
        raise ValueError(f'compile is True, False or "auto", got {shown(compile)}{meant(compile, ["auto"])}')
    if compile is False:
        if program.compiled:
            program.use({})
        return "virtual machine"
    wanted = _wanted(program)
    missing = {key: f for key, f in wanted.items() if key not in program.compiled}
    if missing and compiler_found():
        compiled = _from_cache(program, missing)
        rest = {key: f for key, f in missing.items() if key not in compiled}
        if compile is True and rest:
            compiled |= _build(program, rest, tell)
        if compiled:
            program.use({**program.compiled, **compiled})
    elif missing and compile is True:
        raise RuntimeError(
            "compile=True needs a C compiler, and none was found: install gcc or clang, name one in the environment "
            'variable CC, or leave compile="auto" for CasADi\'s virtual machine'
        )
    if not wanted:
        return "virtual machine; it is too small to gain from machine code"
    return _say(program, [f for key, f in wanted.items() if key not in program.compiled])


def _say(program: Assembled, left: list[ca.Function]) -> str:
    if not left:
        return "machine code"
    how = f"{len(program.compiled)} functions as machine code, {len(left)} in the virtual machine"
    if not program.compiled:
        how = "virtual machine"
    if not compiler_found():
        return how
    seconds = sum(f.n_instructions() for f in {f.name(): f for f in left}.values()) * SECONDS_PER_INSTRUCTION
    return (
        f"{how}; compile=True would build them once, in some {max(1.0, seconds):.0f} processor seconds, for "
        "derivatives in a tenth of the time"
    )


def _wanted(program: Assembled) -> dict[Key, ca.Function]:
    functions = {
        (k, level): getattr(b, f"{level}_function") for k, b in enumerate(program.blocks) for level in FUNCTION_LEVELS
    }
    return {
        key: f
        for key, f in functions.items()
        if f.n_instructions() * len(program.blocks[key[0]].instances) > LEAST_INSTRUCTIONS
    }


def _grouped(program: Assembled, functions: dict[Key, ca.Function]) -> list[tuple[int, dict[Key, ca.Function]]]:
    """Groups functions by their number of lanes; a kind of block with one instance gains nothing from lanes."""
    groups: dict[int, dict[Key, ca.Function]] = {1: {}, CODE_LANES: {}}
    for key, f in functions.items():
        groups[1 if len(program.blocks[key[0]].instances) == 1 else CODE_LANES][key] = f
    return [(lanes, members) for lanes, members in groups.items() if members]


def _options(program: Assembled, members: Mapping[Key, ca.Function], lanes: int) -> dict[str, Any]:
    """Options of a compilation, with a key for every function; blocks that are equal share theirs."""
    keys = list(dict.fromkeys(f"{program.blocks[k].key} {level}" for k, level in members))
    return {"lanes": lanes, "threads": program.threads, "single": lanes == 1, "keys": keys}


def _from_cache(program: Assembled, functions: dict[Key, ca.Function]) -> dict[Key, CompiledFunction]:
    compiled: dict[Key, CompiledFunction] = {}
    for lanes, members in _grouped(program, functions):
        known = cached(members.values(), **_options(program, members, lanes))
        compiled |= {key: known[f.name()] for key, f in members.items() if f.name() in known}
    return compiled


def _build(
    program: Assembled, functions: dict[Key, ca.Function], tell: Callable[[str], None]
) -> dict[Key, CompiledFunction]:
    begin = time.perf_counter()
    count = sum(f.n_instructions() for f in functions.values())
    tell(f"compiling {len(functions)} functions of {count} instructions ...")
    compiled: dict[Key, CompiledFunction] = {}
    for lanes, members in _grouped(program, functions):
        built = compile_functions(members.values(), **_options(program, members, lanes))
        compiled |= {key: built[f.name()] for key, f in members.items()}
    tell(f"compiled in {time.perf_counter() - begin:.0f} s")
    return compiled
