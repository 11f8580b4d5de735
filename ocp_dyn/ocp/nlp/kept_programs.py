"""Programs on disk: all that a solver needs of a program, for later processes that state the same problem.

The body of a block writes the graph of its costs and rows, which takes most of the time of a build. If the same
program was built before, its rows, bounds, patterns and tables are known, and no body is called. Bodies are called
later if a function is needed after all, such as one without a table. The key of a program is the content of the
problem (`ocp_dyn._base.content`), so that a problem with functions of a user is always built.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..._base import cache
from ..._base.content import content, library_state
from ..._base.identity import digest
from ..._base.types import Array
from .derivative_cache import pattern_numbers, pattern_of

SUFFIX = ".program"


@dataclass(frozen=True, eq=False)
class BlockOutline:
    """All that building a block finds but its functions: names, bounds, patterns, and the sizes of functions by level.

    tapes: memory of the tapes that are too small for files of their own, by the names of the tapes.
    """

    key: str
    cost_names: list[str]
    row_names: list[str]
    lower: Array
    upper: Array
    jacobian_pattern: ca.Sparsity
    hessian_pattern: ca.Sparsity
    sizes: dict[str, int]
    tapes: dict[str, NDArray[np.uint8]]


def program_key(*parts: Any) -> str:
    """The key of the program that is made of these data alone; "" if they hold what is no data, such as functions."""
    try:
        return digest(content(parts), library_state(), "program")
    except (TypeError, ValueError, RecursionError, OSError):
        return ""


def keep_program(key: str, blocks: Sequence[BlockOutline]) -> None:
    """Stores a program, if there is room on the disk, and OCP_DYN_CACHE_MB is a number."""
    arrays: list[NDArray[Any]] = []

    def stored(array: NDArray[Any]) -> dict[str, Any]:
        arrays.append(np.ascontiguousarray(array))
        return {"dtype": array.dtype.str, "size": int(array.size)}

    about = [
        {
            "key": b.key,
            "cost_names": b.cost_names,
            "row_names": [(name, len(list(same))) for name, same in groupby(b.row_names)],
            "bounds": [stored(b.lower), stored(b.upper)],
            "patterns": [
                stored(np.array(pattern_numbers(pattern), np.int64))
                for pattern in (b.jacobian_pattern, b.hessian_pattern)
            ],
            "sizes": b.sizes,
            "tapes": {name: stored(memory) for name, memory in b.tapes.items()},
        }
        for b in blocks
    ]
    head = json.dumps(about).encode()
    whole = b"".join([len(head).to_bytes(8, "little"), head, *(a.tobytes() for a in arrays)])
    cache.keep(key, SUFFIX, whole)


def kept_program(key: str) -> list[BlockOutline] | None:
    """The blocks of a program that this or another process has stored; None if there is none."""
    with contextlib.suppress(OSError):
        path = cache.find(cache.directory(), key, SUFFIX) if key else None
        if path is not None:
            return list(_read(path.read_bytes()))
    return None


def _read(memory: bytes) -> Iterator[BlockOutline]:
    end = 8 + int.from_bytes(memory[:8], "little")
    at = end

    def array(about: dict[str, Any]) -> NDArray[Any]:
        nonlocal at
        found = np.frombuffer(memory, np.dtype(about["dtype"]), about["size"], at)
        at += found.nbytes
        return found.copy()  # aligned

    for b in json.loads(memory[8:end]):
        lower, upper = map(array, b["bounds"])
        jacobian, hessian = (pattern_of(array(about))[0] for about in b["patterns"])
        tapes = {name: array(about) for name, about in b["tapes"].items()}
        names = [name for name, count in b["row_names"] for _ in range(count)]
        yield BlockOutline(b["key"], b["cost_names"], names, lower, upper, jacobian, hessian, b["sizes"], tapes)
