"""Builds libraries of Functions: writes their C files, compiles these in parallel, links, and fills the cache."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import casadi as ca

from ..._base import cache
from ..._base.display import Count, Progress
from ...native import processes
from ...native.toolchain import Compiler
from ..text import driver
from ..text.emit import emit
from ..text.values import instructions
from ..text.writer import Kernel


class Kind(NamedTuple):
    """Kind of a library.

    width: lanes of a batch; single: whether it has code for single states; pack: largest number of lanes of a statement
    of that code, 0 if it is not packed.
    """

    width: int
    precision: str
    single: bool
    pack: int


def build(
    functions: list[ca.Function], keys: list[str], place: Path, compiler: Compiler, kind: Kind, workers: int
) -> list[Path]:
    """Builds the libraries of `functions` and stores them in the cache `place` by their `keys`; returns their paths.

    `workers` processes compile the C files of all functions in parallel, while further files are written.
    """
    # the largest first, so that the last compilations are short
    sizes = [instructions(f) for f in functions]
    order = sorted(range(len(functions)), key=lambda k: -sizes[k])
    made: dict[int, Path] = {}
    # the group of compilers must end before the pool, which waits for them
    with cache.stage(place) as stage, ThreadPoolExecutor(workers) as pool, processes.group() as group:
        running: dict[int, list[Future[Path]]] = {}
        progress = Count(Progress(), len(functions))
        try:
            for k in order:
                progress.tell(f"ocp_dyn: writing {functions[k].name()}")
                running[k] = [
                    pool.submit(_object, compiler, group, stage / f"{k}_{part}.c", text, sizes[k])
                    for part, text in enumerate(_sources(functions[k], kind))
                ]
            for k in order:
                objects = [future.result() for future in running[k]]
                library = stage / f"{k}{cache.LIBRARY}"
                compiler.link(group, objects, library)
                made[k] = cache.store(place, keys[k], library)
                progress.done = len(made)
                progress.tell(f"ocp_dyn: {functions[k].name()} is compiled")
        finally:
            for future in (future for futures in running.values() for future in futures):
                future.cancel()
    return [made[k] for k in range(len(functions))]


def _sources(f: ca.Function, kind: Kind) -> list[str]:
    """The C files of a function's library: for batches, and for one state."""
    if kind.width == 1:  # a batch calls the code for one state: that file has both
        return driver.batch_files(_one(f, kind), 1, kind.precision)
    many = driver.batch_files(emit(f, "kernel", reciprocals=True), kind.width, kind.precision)
    return many + (driver.single_files(_one(f, kind), kind.precision) if kind.single else [])


def _one(f: ca.Function, kind: Kind) -> Kernel:
    """The code for one state."""
    return emit(f, "kernel", pack=True, widest=kind.pack) if kind.pack else emit(f, "kernel")


def _object(compiler: Compiler, group: processes.Group, source: Path, text: str, instructions: int) -> Path:
    source.write_text(text, encoding="ascii")
    made = source.with_suffix(".o")
    compiler.compile(group, source, made, instructions)
    return made
