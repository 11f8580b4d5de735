"""`compile`: Functions as machine code in this process, for one state or many, from numpy arrays to numpy arrays."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import inspect
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import casadi as ca

from . import cache, driver, emit, lanes, names
from .batch import CompiledFunction, Library, VirtualMachine
from .toolchain import Compiler, find_compiler

LANES = {"double": (1, 2, 4, 8), "single": (1, 2, 4, 8, 16)}
QUIET = 2.0
"""Seconds that a build may take without a word."""


class Compiled(Mapping[str, CompiledFunction]):
    """The functions of one call of `compile`, by name: `fast["ID"]` or `fast.ID`.

    backend: "compiled", or "virtual machine" where no compiler was found; compiler: its command, or None.
    """

    def __init__(self, functions: Iterable[CompiledFunction], compiler: str | None) -> None:
        self._functions = {f.name: f for f in functions}
        self.compiler = compiler
        self.backend = "compiled" if compiler else "virtual machine"

    def __getitem__(self, name: str) -> CompiledFunction:
        try:
            return self._functions[name]
        except KeyError:
            raise KeyError(f"{name!r} was not compiled; there are {', '.join(self._functions)}") from None

    def __getattr__(self, name: str) -> CompiledFunction:
        functions: dict[str, CompiledFunction] = self.__dict__.get("_functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"{name!r} was not compiled; there are {', '.join(functions)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __repr__(self) -> str:
        return f"Compiled({', '.join(self)}; {self.compiler or self.backend})"


def compile(
    functions: Iterable[ca.Function],
    *,
    lanes: int | None = None,
    precision: str = "double",
    threads: int | None = None,
) -> Compiled:
    """`functions` as machine code for this processor: `fast = compile([ID]); tau = fast.ID(q, qd, qdd)`.

    Arguments are numpy arrays, a state (n,) or a batch (N, n); matrices (rows, columns) or (N, rows, columns).
    Results have the same form, dense. In a batch, an argument that is one state serves for all, None for zeros.
    Arrays in C order of the precision asked for are read where they are. The interpreter lock is released, and
    large batches are shared among threads. For a loop of single states there is `fast.ID.buffer()`.

    functions: from `od.function`, or any casadi.Function that `expand` makes scalar. lanes: states a batch
    computes at once, in a vector: 1, 2, 4, 8, or 16 in single precision; default 8 and 16. precision: "double", or
    "single": errors of 1e-6 or so relative to the largest result, half the time. threads: at most so many; default:
    the processors this process may use.

    The compiler is what the environment variable CC names, or cc, gcc or clang. Libraries are kept in the directory
    ocp_dyn of XDG_CACHE_HOME or ~/.cache, which only the user may read; builds beyond two seconds tell their
    progress on stderr. Without a compiler CasADi's virtual machine gives the same results (see `Compiled.backend`).

    Cost: once, about 0.2 ms of a processor per instruction (half for one state, half for lanes); then some 10 ms.
    Raises TypeError or ValueError for what cannot be compiled, RuntimeError if the compiler fails, PermissionError
    if the cache is not private.
    """
    listed = _listed(functions)
    width = _lanes(lanes, precision)
    workers = _threads(threads)
    compiler = find_compiler()
    if compiler is None:
        return Compiled([CompiledFunction(f, VirtualMachine(f), precision, workers) for f in listed], None)
    paths = _libraries(listed, compiler, width, precision)
    loaded = (Library(ctypes.CDLL(str(path)), width) for path in paths)
    made = [CompiledFunction(f, library, precision, workers) for f, library in zip(listed, loaded, strict=True)]
    return Compiled(made, compiler.name)


def _libraries(functions: list[ca.Function], compiler: Compiler, width: int, precision: str) -> list[Path]:
    """A library for every function: those in the cache, and the others built."""
    place = cache.directory()
    keys = [_key(f, compiler, width, precision) for f in functions]
    found = [cache.find(place, key) for key in keys]
    missing = [k for k, path in enumerate(found) if path is None]
    if missing:
        cache.prune(place)
        built = _build([functions[k] for k in missing], [keys[k] for k in missing], place, compiler, width, precision)
        for k, path in zip(missing, built, strict=True):
            found[k] = path
    return [path for path in found if path is not None]


def _build(
    functions: list[ca.Function], keys: list[str], place: Path, compiler: Compiler, width: int, precision: str
) -> list[Path]:
    """Libraries in the cache: an object file for one state and one for lanes each, all compiled side by side."""
    with cache.stage(place) as stage:
        objects: list[list[Path]] = []
        for k, f in enumerate(functions):
            kernel = emit.emit(f, "kernel")
            sources = {"many": driver.batch_source(kernel, width, precision)}
            if width > 1:
                sources["one"] = driver.single_source(kernel, precision)
            for name, text in sources.items():
                (stage / f"{k}_{name}.c").write_text(text, encoding="ascii")
            objects.append([stage / f"{k}_{name}.o" for name in sources])
        # the longest first, so that none is left alone at the end
        tasks = sorted((o for pair in objects for o in pair), key=lambda o: -o.with_suffix(".c").stat().st_size)
        _compile_all(tasks, compiler)
        made = []
        for k, key in enumerate(keys):
            library = stage / f"{k}.so"
            compiler.link(objects[k], library)
            made.append(cache.store(place, key, library))
        return made


def _compile_all(objects: list[Path], compiler: Compiler) -> None:
    begin = said = time.monotonic()
    with ThreadPoolExecutor(_threads(None)) as pool:
        running = [pool.submit(compiler.compile, made.with_suffix(".c"), made) for made in objects]
        try:
            for done, future in enumerate(as_completed(running), 1):
                future.result()
                now = time.monotonic()
                if now - said > QUIET:
                    said = now
                    print(f"ocp_dyn: compiled {done} of {len(objects)} files, {now - begin:.0f} s", file=sys.stderr)
        finally:
            for future in running:
                future.cancel()


def _key(f: ca.Function, compiler: Compiler, width: int, precision: str) -> str:
    """Digest of all that the library depends on."""
    parts = (f.serialize(), compiler.identity, str(width), precision, _version())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@functools.cache
def _version() -> str:
    """What writes the C text: the modules that do, and CasADi."""
    text = "".join(inspect.getsource(module) for module in (emit, lanes, driver, names))
    return f"{ca.CasadiMeta.version()} {hashlib.sha256(text.encode()).hexdigest()}"


def _listed(functions: Iterable[ca.Function]) -> list[ca.Function]:
    if isinstance(functions, (str, ca.Function)) or not isinstance(functions, Iterable):
        raise TypeError(f"compile needs a list of Functions, such as [ID, FDc], got {functions!r}")
    different: dict[str, ca.Function] = {}
    for f in functions:
        if not isinstance(f, ca.Function):
            raise TypeError(f"compile needs casadi.Functions, such as od.function(algorithm, model) makes, got {f!r}")
        if f.is_null() or f.has_free():
            raise ValueError(f"{f!r} cannot be compiled: it is empty or has free variables; make them inputs")
        # the hash of a Function that is alive is its identity
        if hash(different.setdefault(f.name(), f)) != hash(f):
            raise ValueError(
                f"two different functions are called {f.name()!r}; rename one with od.function(..., name=...)"
            )
    if not different:
        raise ValueError("compile got no Functions: pass at least one, such as [od.function(od.mass_matrix, model)]")
    return list(different.values())


def _lanes(lanes: int | None, precision: str) -> int:
    if precision not in LANES:
        raise ValueError(f"precision is 'double' or 'single', got {precision!r}")
    known = LANES[precision]
    if lanes is not None and (isinstance(lanes, bool) or lanes not in known):
        raise ValueError(f"lanes in {precision} precision are {', '.join(map(str, known))} or None, got {lanes!r}")
    return known[-1] if lanes is None else lanes


def _threads(threads: int | None) -> int:
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ValueError(f"threads must be a positive integer or None, got {threads!r}")
    return threads
