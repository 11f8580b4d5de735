"""Upper bounds of the stack memory that exported functions need, counted from their code.

Optimizing compilers keep a value on the stack only between its computation and its last use, and share the places of
others. Without optimization every name has a place of its own. Both are counted, chunk by chunk, and added to the
frames of the functions that call the chunk. The sizes of frames (registers, addresses, copies of arguments) are rounded
up from those of GCC and Clang on x86-64 (`-fstack-usage`); a test measures the memory that calls change and compares.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from ..text.interface import ExportedFunction
from ..text.lanes import PRECISIONS
from ..text.pressure import Pressure
from ..text.writer import Kernel

LIBM = 768
"""Stack of a call of libm [bytes]: 224 with glibc on x86-64, 600 where large angles are reduced in arrays."""

FRAME = 128
"""Stack of a function besides its arrays and values: return address, saved registers, alignment [bytes]."""

REGISTER = 16
"""Size of the vector registers that every processor with batches has [bytes]."""

SINCOS = 33
"""Numbers that one inlined sincos_ has on the stack without optimization; optimized, all share 16."""

VECTOR_OPERANDS = 0.25
"""Places of operands of vector statements without optimization, for every named number: 0.18 with Clang, 0 with GCC."""

SINCOS_LANES = {False: 170, True: 8}
"""Vectors of one inlined sincos_, by whether the compiler optimizes: some processors have few registers for them."""


class Stack(NamedTuple):
    """Bytes of stack: with -O2 or -O3, and without optimization; the same for batches, 0 where there are none."""

    optimized: int
    plain: int
    batch_optimized: int = 0
    batch_plain: int = 0


def of_kernel(entry: ExportedFunction, kernel: Kernel) -> tuple[int, int]:
    """Bytes of stack of the function for one state, optimized and not: wrapper, arrays, kernel, chunk, libm."""
    size = 8 if entry.real == "double" else 4
    pointers = 8 * 2 * (len(kernel.inputs) + len(kernel.outputs) + 2)  # in the wrapper, and in NAME_arrays
    arrays = size * (kernel.work + sum(output.size for output in kernel.outputs) + 2) + 64 * bool(kernel.packing)
    library = LIBM if kernel.library or kernel.angles else 0
    fixed = pointers + arrays + 3 * FRAME + library
    parameters = 8 * len(entry.arguments)  # those beyond the sixth are on the stack
    optimized, plain = (
        fixed + parameters + max((_chunk(p, size, done) for p in kernel.pressures), default=0) for done in (True, False)
    )
    return _rounded(optimized), _rounded(plain)


def _chunk(p: Pressure, size: int, optimized: bool) -> int:
    """Bytes of the frame of a chunk whose values are `size` bytes, and fit into a register, and of angles_."""
    wide = max(size, 8)  # integers of sincos_ are, in single precision, mixed with addresses
    blocks = (4 * wide * (16 if optimized else SINCOS) + 2 * FRAME) * bool(p.blocks)
    if optimized:
        return size * p.alive + 16 * wide * min(p.angles, p.width) + FRAME + blocks
    named = math.ceil(p.named * (1 + VECTOR_OPERANDS)) if p.width > 1 else p.named
    return size * named + wide * SINCOS * p.angles + FRAME + blocks


def of_batch(kernel: Kernel, lanes: int, precision: str) -> tuple[int, int]:
    """Bytes of stack of a batch, optimized and not, for whichever instruction set needs most; vectors are on the
    heap."""
    vector = lanes * PRECISIONS[precision].bits // 8
    transposing = vector * (3 * lanes + 4) + 8 * lanes + FRAME  # load or store, not at the same time as the kernel
    library = LIBM + 6 * vector if kernel.library or kernel.angles else 0
    found = []
    for optimized in (True, False):
        chunk = _chunk if vector <= REGISTER else _chunk_of_lanes
        kernel_bytes = max((chunk(p, vector, optimized) for p in kernel.pressures), default=0) + library + 2 * FRAME
        found.append(_rounded(max(kernel_bytes, transposing) + 6 * FRAME + 2 * vector))
    return found[0], found[1]


def _chunk_of_lanes(p: Pressure, size: int, optimized: bool) -> int:
    """Bytes of the frame of a chunk whose vectors of `size` bytes fill several registers."""
    if optimized:
        return size * (p.alive + SINCOS_LANES[True] * p.angles + 3 * p.calls + 8)
    return size * (p.named + SINCOS_LANES[False] * p.angles + 8 * p.calls + p.constants + 8)


_FUNCTION = re.compile(
    r"^(?:CASADI_SYMBOL_EXPORT |static )*[\w ]+\**\s*\b(\w+)\(([^;{]*)\)\s*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)
_DECLARED = re.compile(
    r"^\s+(?:static )?(?:const )?(struct \w+|casadi_real|casadi_int|int|double|char)\b\s*([^;()]*(?:=[^;]*)?);",
    re.MULTILINE,
)


def of_casadi(entry: ExportedFunction, sizes: tuple[int, int, int, int], frames: Mapping[str, int]) -> tuple[int, int]:
    """Bytes of stack of a function of CasADi's generator: its work arrays, and the deepest chain of calls.

    sizes: lengths of the work arrays. frames: of `frames_of`. The same bound for all levels of optimization.
    """
    pointers = 8 * 2 * (len(entry.arguments) + 2) + 8 * len(entry.arguments)
    bound = _rounded(8 * sum(sizes) + pointers + 2 * FRAME + frames[entry.internal])
    return bound, bound


def frames_of(code: str) -> dict[str, int]:
    """Bytes of stack of every function in code of CasADi's generator, with those that it calls.

    A frame holds the function's parameters and local variables; a structure counts as 64 pointers.
    """
    names = dict(re.findall(r"^#define (casadi_\w+) CASADI_PREFIX\((\w+)\)", code, re.MULTILINE))
    own, calls = {}, {}
    for name, parameters, body in _FUNCTION.findall(code):
        numbers = len(parameters.split(",")) + sum(_numbers(*found) for found in _DECLARED.findall(body))
        own[name] = 8 * numbers + FRAME
        calls[name] = set(re.findall(r"\b(\w+)\(", body))
    known: dict[str, int] = {}

    def deepest(name: str) -> int:
        if name not in known:
            inner = [deepest(other) for other in calls[name] if other in own and other != name]
            known[name] = own[name] + max(inner, default=LIBM if calls[name] - names.keys() - own.keys() else 0)
        return known[name]

    return {name: deepest(name) for name in own}


def _numbers(kind: str, declared: str) -> int:
    """Number of 8-byte places of the variables in a declaration `kind declared;`."""
    places = 0
    for part in re.sub(r"\{[^}]*\}|\([^)]*\)", "", declared).split(","):
        size = re.search(r"\[(\d+)\]", part.split("=")[0])
        places += (64 if kind.startswith("struct") and "*" not in part else 1) * (int(size[1]) if size else 1)
    return places


def _rounded(size: int) -> int:
    """The next multiple of 64."""
    return -(-size // 64) * 64
