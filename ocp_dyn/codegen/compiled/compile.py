"""`compile`: runs Functions as machine code in this process, for one state or many, on numpy arrays."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import casadi as ca

from ..._base import cache
from ..._base.checks import choice, warn_user, whole
from ..._base.display import heading, table
from ..._base.identity import digest, source_digest
from ..._base.types import is_one_of, is_whole, repr_in_message, sequence, suggestion, truth
from ...native.toolchain import REMEDY, Compiler, find_compiler
from .backends import Backend, CompiledLibrary, VirtualMachine
from .batch import HEAD, LAYOUTS, CompiledFunction, Form, Recipe
from .build import Kind, build

MAKERS = (build.__module__,)
"""Modules that write the C code and call the compiler; keys of the cache cover them and all modules they import."""

NO_COMPILER = (
    "compile found no C compiler: the functions run in CasADi's virtual machine, several times slower: " + REMEDY
)

MOST_THREADS = 4096
"""Largest number of threads; more than a machine has processors."""

LANE_COUNTS = {"double": (1, 2, 4, 8), "single": (1, 2, 4, 8, 16)}


class Compiled(Mapping[str, CompiledFunction]):
    """The functions of one call of `compile`, by name: `fast["ID"]` or `fast.ID`.

    backend: "compiled", or "virtual machine" where no compiler was found; compiler: its command, or None.

    >>> fast = od.codegen.compile([od.function(od.inverse_dynamics, arm), od.function(od.mass_matrix, arm)])
    >>> list(fast), fast.H(np.zeros(2)).shape
    (['ID', 'H'], (2, 2))
    """

    def __init__(self, functions: Iterable[CompiledFunction], compiler: str | None, recipe: Recipe) -> None:
        self._functions, self._recipe = {f.name: f for f in functions}, recipe
        self.compiler = compiler
        self.backend = "compiled" if compiler else "virtual machine"

    def __getitem__(self, name: str) -> CompiledFunction:
        try:
            return self._functions[name]
        except KeyError:
            raise KeyError(_unknown(name, self._functions)) from None

    def __getattr__(self, name: str) -> CompiledFunction:
        functions: dict[str, CompiledFunction] = self.__dict__.get("_functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(_unknown(name, functions))

    def __reduce__(self) -> Recipe:
        return self._recipe

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __repr__(self) -> str:
        return f"Compiled({', '.join(self)}; {self.compiler or self.backend})"

    def _repr_html_(self) -> str:
        by = f"by {self.compiler}" if self.compiler else "no compiler was found: evaluated by CasADi's virtual machine"
        return heading("Compiled", f": {len(self)} function{'s' * (len(self) != 1)}, {by}") + table(
            HEAD, [f.cells() for f in self.values()]
        )


def _unknown(name: object, functions: Iterable[str]) -> str:
    names = list(functions)
    return (
        f"{repr_in_message(name)} was not compiled; compiled functions are {', '.join(names)}{suggestion(name, names)}"
    )


def compile(
    functions: Iterable[ca.Function],
    *,
    lanes: int | None = None,
    precision: str = "double",
    threads: int | None = None,
    single: bool = True,
    pack: bool = True,
    keys: Sequence[str] | None = None,
    layout: str = "rows",
    sparse: bool | str = False,
) -> Compiled:
    """`functions` as machine code for this processor: `fast = compile([ID]); tau = fast.ID(q, qd, qdd)`.

    Arguments are numpy arrays: one state (n,) or a batch (N, n); matrices (rows, columns) or (N, rows, columns).
    Results have the same form, dense. In a batch, an argument of one state is used for all states, and None means
    zeros. Arrays in C order and of the chosen precision are read without a copy. The interpreter lock is released, and
    large batches are divided among threads. For loops over single states see `fast.ID.buffer()`.

    functions: from `od.function`, or any casadi.Function that `expand` makes scalar.
    lanes: number of states that a batch computes at a time in a vector: 1, 2, 4, 8, or 16 in single precision; default
        8 and 16.
    precision: "double", or "single": errors of about 1e-6 relative to the largest result, in half the time.
    threads: largest number of threads; default: the number of processors that this process may use.
    single: False leaves out the function for one state, which halves the compile time.
    pack: operations of one kind on one state, such as those of a left and a right limb, share vector statements:
        shorter and faster code with the same results, but for the rounding of fused multiply-adds. False: one operation
        per statement, as for compilers without vector extensions. In batches the lanes of vectors hold states instead.
    keys: texts, one for each function, that identify the functions in the cache; default: their whole graphs.
    layout: "lanes": results of batches are `Lanes`, without transposes; every function takes these and arrays of rows.
    sparse: True: results hold the structural nonzeros only, column by column, (nnz,) or (N, nnz); "distinct": equal
        entries once, as of the symmetric H, (n,) or (N, n). `fast.H.patterns` tells their places.

    The compiler is the one that the environment variable CC names, or cc, gcc or clang (of MinGW-w64, not MSVC's cl).
    Libraries are stored in the directory ocp_dyn of XDG_CACHE_HOME or ~/.cache, which only the user may read; beyond
    512 MB, or OCP_DYN_CACHE_MB, the least recently used ones are removed. Builds of more than two seconds tell their
    progress. Without a compiler a RuntimeWarning says so, and CasADi's virtual machine gives the same results.

    Cost: the first time, about 0.15 ms of processor time per instruction (half for one state, half for lanes); later
    about 10 ms. Raises TypeError or ValueError for functions that cannot be compiled, RuntimeError if the compiler
    fails, PermissionError if the cache is not private.

    >>> fast = od.codegen.compile([od.function(od.inverse_dynamics, rod)])
    >>> fast.ID(np.array([[0.0], [np.pi / 2]]), np.zeros((2, 1)), np.zeros((2, 1)))
    array([[0.   ],
           [4.905]])
    """
    distinct = _distinct(functions)
    width = check_lanes(lanes, precision)
    workers, keys = _threads(threads), _checked_keys(keys, len(distinct))
    options = _CompileOptions(lanes, precision, threads, truth(single, "single"), truth(pack, "pack"), layout, sparse)
    compiler, form = find_compiler(), _form(width, layout, sparse)
    if compiler is None:
        warn_user(NO_COMPILER, RuntimeWarning)
        backends: list[Backend] = [VirtualMachine(f) for f in distinct]
    else:
        backends = _loaded(distinct, keys, compiler, _kind(options, compiler))
    parts = zip(distinct, backends, _recipes(distinct, options, keys), strict=True)
    made = [CompiledFunction(f, backend, precision, workers, recipe, form) for f, backend, recipe in parts]
    return Compiled(made, None if compiler is None else compiler.name, (_again, (distinct, options, keys)))


class _CompileOptions(NamedTuple):
    """Arguments of `compile` other than the functions."""

    lanes: int | None
    precision: str
    threads: int | None
    single: bool
    pack: bool
    layout: str
    sparse: bool | str


def _kind(options: _CompileOptions, compiler: Compiler) -> Kind:
    """The kind of library for these options; code that the compiler cannot pack, or that is missing, is not packed."""
    width = check_lanes(options.lanes, options.precision)
    single = options.single or width == 1
    lanes = min(compiler.vectors, 1) * 4 if options.precision == "single" else compiler.vectors
    return Kind(width, options.precision, single, lanes if options.pack and single else 0)


def _again(functions: list[ca.Function], options: _CompileOptions, keys: list[str] | None) -> Compiled:
    """Repeats an earlier call of `compile`, for example when its result is unpickled in another process."""
    return compile(functions, **options._asdict(), keys=keys)


def _one_again(f: ca.Function, options: _CompileOptions, keys: list[str] | None) -> CompiledFunction:
    return _again([f], options, keys)[f.name()]


def _recipes(functions: list[ca.Function], options: _CompileOptions, keys: list[str] | None) -> list[Recipe]:
    """For every function, the call (callable, arguments) that makes its compiled form again, for pickles."""
    each_key = [None] * len(functions) if keys is None else [[key] for key in keys]
    return [(_one_again, (f, options, key)) for f, key in zip(functions, each_key, strict=True)]


def compiler_found() -> bool:
    """Whether this machine has a C compiler that `compile` can use."""
    return find_compiler() is not None


def _loaded(functions: list[ca.Function], keys: list[str] | None, compiler: Compiler, kind: Kind) -> list[Backend]:
    """The libraries of all functions; builds those that are missing in the cache."""
    texts = _identities(functions, keys)
    paths = _libraries(functions, [_key(text, compiler, kind) for text in texts], compiler, kind)
    return [CompiledLibrary(ctypes.CDLL(str(path)), kind.width) for path in paths]


def _libraries(functions: list[ca.Function], keys: list[str], compiler: Compiler, kind: Kind) -> list[Path]:
    """Paths of the libraries of all functions; builds those that are missing in the cache."""
    place = cache.directory()
    found = [cache.find(place, key) for key in keys]
    missing = [k for k, path in enumerate(found) if path is None]
    if missing:
        cache.bound()  # raises for a wrong setting before the compiler runs
        built = build(
            [functions[k] for k in missing], [keys[k] for k in missing], place, compiler, kind, _threads(None)
        )
        for k, path in zip(missing, built, strict=True):
            found[k] = path
        cache.prune(place)
    return [path for path in found if path is not None]


def _checked_keys(keys: Sequence[str] | None, count: int) -> list[str] | None:
    """The keys as a list; ValueError unless they are texts, one for each function."""
    if keys is None:
        return None
    texts = sequence(keys, f"keys must be texts, one for each of the {count} functions")
    if len(texts) != count or not all(isinstance(key, str) for key in texts):
        raise ValueError(f"keys must be texts, one for each of the {count} functions, got {repr_in_message(keys)}")
    return texts


def _identities(functions: list[ca.Function], keys: list[str] | None) -> list[str]:
    if keys is not None:
        return keys
    return [f.serialize() for f in functions]


def _key(text: str, compiler: Compiler, kind: Kind) -> str:
    """Digest of everything that the library depends on."""
    return digest(text, compiler.identity, repr(kind), source_digest(*MAKERS))


def _distinct(functions: Iterable[ca.Function]) -> list[ca.Function]:
    different: dict[str, ca.Function] = {}
    for f in sequence(functions, "compile needs a list of Functions, such as [ID, FDc]"):
        if not isinstance(f, ca.Function):
            raise TypeError(
                f"compile needs casadi.Functions, such as od.function(algorithm, model) makes, got {repr_in_message(f)}"
            )
        if f.is_null() or f.has_free():
            raise ValueError(
                f"{repr_in_message(f)} cannot be compiled: it is empty or has free variables; make them inputs"
            )
        # hashes of Functions that exist at the same time differ
        if hash(different.setdefault(f.name(), f)) != hash(f):
            raise ValueError(
                f"two different functions are called {repr_in_message(f.name())}; rename one with od.function(..., "
                "name=...)"
            )
    if not different:
        raise ValueError("compile got no Functions: pass at least one, such as [od.function(od.mass_matrix, model)]")
    return list(different.values())


def check_lanes(lanes: int | None, precision: str) -> int:
    """The number of lanes, for None the largest one; ValueError for a number or precision that is not available."""
    choice(precision, LANE_COUNTS, "precision")
    known = LANE_COUNTS[precision]
    if lanes is not None and not (is_whole(lanes) and lanes in known):
        raise ValueError(
            f"lanes in {precision} precision are {', '.join(map(str, known))} or None, got {repr_in_message(lanes)}"
        )
    return known[-1] if lanes is None else lanes


def _form(lanes: int, layout: str, sparse: bool | str) -> Form:
    """The form of results of batches; ValueError for an unknown one."""
    choice(layout, LAYOUTS, "layout")
    if not (isinstance(sparse, bool) or is_one_of(sparse, ["distinct"])):
        raise ValueError(
            f"sparse is False, True or 'distinct', got {repr_in_message(sparse)}{suggestion(sparse, ['distinct'])}"
        )
    return Form(lanes, layout, sparse)


def _threads(threads: int | None) -> int:
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole(threads, "threads, unless None,", 1, MOST_THREADS)
