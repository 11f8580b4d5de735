"""Packed code beside plain code for one state: operations, times, size of the code, and time of the compiler.

Each function is written and compiled twice by every compiler, as `compile` does it. The two forms are timed in turns in
one run (plain, packed, plain, ...), so that a change of the processor's clock meets both; the ratio is the median of the
ratios of neighbors. States differ from call to call.

"one": the same function again and again, its code in the cache of instructions. "in turn": the functions of
CONTROLLER one after the other at every state, as in a controller; each call finds the code of the others in the cache
and its own code further away.
"""

from __future__ import annotations

import ctypes
import functools
import os
import resource
import shlex
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ocp_dyn.codegen.kernels import driver
from ocp_dyn.codegen.kernels.emit import emit
from ocp_dyn.codegen.kernels.values import instructions
from ocp_dyn.codegen.machine_code import processes, toolchain

from . import casadi_c, ours
from .robots import Array, Robot, states

FORMS = {"plain": False, "packed": True}
CONTROLLER = ("ID", "C", "H", "FD", "G", "gamma", "FDc")
"""Quantities that are computed in turn; derivatives are not: their code alone fills the caches."""

STATES = 64
REPETITIONS = 21
LEAST = 1e-3
"""Seconds of one repetition."""
SAME = 1e-6
"""Largest difference of the two forms, relative to the largest result: fused operations differ in rounding."""

TURN = """
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int nothing(const double *const *x, double *const *y)
{
    (void)x, (void)y;
    return 0;
}

/* nanoseconds of every call: at every state all functions in turn, the inputs of function k from x[begin[k]] on */
int turn(int functions, function *const *f, long long states, const int *begin, const double *const *x,
         const long long *stride, double *const *const *y, double *times)
{
    const double *arg[16];
    long long s;
    int i, k;
    for (s = 0; s < states; ++s)
        for (k = 0; k < functions; ++k) {
            double start;
            for (i = begin[k]; i < begin[k + 1]; ++i) arg[i - begin[k]] = x[i] + s * stride[i];
            start = now();
            f[k](arg, y[k]);
            *times++ = now() - start;
        }
    return 0;
}
"""


class Built(NamedTuple):
    """A function as machine code. size: of its instructions [bytes]; seconds: processor time of the compiler."""

    call: Any
    size: int
    seconds: float


def compilers() -> dict[str, toolchain.Compiler]:
    """Those of gcc and clang that this machine has, by name and version; a line tells what is missing.

    Clang is also taken from PyPI's `ziglang`, which needs no installation beside pip's.
    """
    zig = shlex.join([sys.executable, "-m", "ziglang", "cc"])
    found = {}
    for name, commands in (("gcc", ("gcc",)), ("clang", ("clang", zig))):
        for command in commands:
            compiler = toolchain._find(command, os.environ.get("PATH", ""))  # another one where this is missing
            if compiler is not None and (version := _version(compiler)).startswith(name):
                found[version] = compiler
                break
        else:
            print(f"{name} is left out: {'pip install ziglang' if name == 'clang' else 'not found'}", file=sys.stderr)
    return found


def _version(compiler: toolchain.Compiler) -> str:
    return _named(casadi_c.run([*compiler.command, "--version"]))


def _named(said: str) -> str:
    """Name and version from what a compiler says of itself, such as "gcc 12.2.0"."""
    words = said.splitlines()[0].split()
    if "clang" in words:
        return f"clang {words[words.index('version') + 1]}"
    return f"{'gcc' if words[0].endswith(('gcc', 'cc')) else words[0]} {words[-1]}"


def measure(
    robot: Robot, quantities: Sequence[str], found: Mapping[str, toolchain.Compiler]
) -> dict[str, dict[str, dict[str, float]]]:
    """Rows by compiler and quantity: operations, statements, paired, and of each form "one plain", "one packed", ...
    in microseconds, "turn ...", "kB ...", "s ..." of the compiler and "write ..." [s], with their ratios "one ratio", ..."""
    drawn = states(robot.model, STATES)
    made = ours.functions(robot, tuple(quantities))
    written = {(name, form): _written(f, pack) for name, f in made.items() for form, pack in FORMS.items()}
    return {version: _measured(made, written, compiler, drawn) for version, compiler in found.items()}


def _written(f: ca.Function, pack: bool) -> tuple[Any, float]:
    """The C code for one state, and the processor time that it takes to write [s]."""
    begin = time.process_time()
    kernel = emit(f, "kernel", pack=pack)
    return kernel, time.process_time() - begin


def _measured(
    made: Mapping[str, ca.Function], written: Mapping[tuple[str, str], tuple[Any, float]], compiler: toolchain.Compiler,
    drawn: Mapping[str, Array],
) -> dict[str, dict[str, float]]:  # fmt: skip
    rows: dict[str, dict[str, float]] = {name: counts(written[name, "packed"][0]) for name in made}
    with tempfile.TemporaryDirectory() as stage, _private_cache(stage), processes.group() as group:
        calls: dict[str, dict[str, Call]] = {form: {} for form in FORMS}
        for (name, form), (kernel, seconds) in written.items():
            place = Path(stage) / f"{name}_{form}"
            built = _built(kernel, instructions(made[name]), compiler, group, place)
            calls[form][name] = Call(made[name], built.call, drawn)
            rows[name] |= {f"kB {form}": built.size / 1000, f"s {form}": built.seconds, f"write {form}": seconds}
        for name in made:
            _compare(name, *(calls[form][name] for form in FORMS))
            rows[name] |= {f"one {key}": x for key, x in again_and_again(*(calls[f][name] for f in FORMS)).items()}
            for unit in ("kB", "s", "write"):
                rows[name][f"{unit} ratio"] = rows[name][f"{unit} packed"] / rows[name][f"{unit} plain"]
        chosen = [name for name in CONTROLLER if name in made]
        for name, row in in_turn(*({name: calls[form][name] for name in chosen} for form in FORMS)).items():
            rows.setdefault(name, {}).update({f"turn {key}": x for key, x in row.items()})
    return rows


def counts(kernel: Any) -> dict[str, float]:
    """Operations of a packed kernel, the statements that compute them, and the share of operations in vectors."""
    packing = kernel.packing
    together = sum(lanes * count for lanes, count in packing.vectors.items())
    return {
        "operations": packing.operations, "statements": packing.statements, "moves": packing.moves,
        "paired": together / max(1, packing.operations),
    }  # fmt: skip


@contextmanager
def _private_cache(stage: str) -> Iterator[None]:
    """Keeps zig's compiler from finding what it compiled in an earlier run."""
    names = ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, str(Path(stage) / "zig")))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _built(kernel: Any, size: int, compiler: toolchain.Compiler, group: processes.Group, place: Path) -> Built:
    """Compiles the code for one state as `compile` does."""
    objects = []
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    for k, text in enumerate(driver.single_files(kernel, "double")):
        source = Path(f"{place}_{k}.c")
        source.write_text(text, encoding="ascii")
        objects.append(source.with_suffix(".o"))
        compiler.compile(group, source, objects[-1], size)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    library = place.with_suffix(".so")
    linker = toolchain.find_compiler() or compiler
    linker.link(group, objects, library)
    seconds = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
    return Built(ctypes.CDLL(str(library)).ocp_dyn_one, sum(code_size(path.read_bytes()) for path in objects), seconds)


def code_size(content: bytes) -> int:
    """Bytes of the instructions in an object file (ELF, 64 bits, little-endian): of all its executable sections.

    ValueError for other formats.
    """
    if content[:6] != b"\x7fELF\x02\x01":
        raise ValueError("the size of the code is read from ELF files of 64 bits only")
    (table,) = struct.unpack_from("<Q", content, 0x28)
    entry, number = struct.unpack_from("<HH", content, 0x3A)
    executable = 0
    for k in range(number):
        _, _, flags, _, _, size = struct.unpack_from("<IIQQQQ", content, table + k * entry)
        executable += size if flags & 4 else 0
    return executable


class Call:
    """A compiled function with inputs for all states and one place for its results."""

    def __init__(self, f: ca.Function, call: Any, drawn: Mapping[str, Array]) -> None:
        self.call = call
        self.inputs = [np.ascontiguousarray(drawn[name]) for name in f.name_in()]
        self.outputs = [np.zeros(f.size_out(j)) for j in range(f.n_out())]
        self.given = pointers([x.ctypes.data for x in self.inputs])
        self.wanted = pointers([y.ctypes.data for y in self.outputs])
        self.strides = (ctypes.c_longlong * len(self.inputs))(*(x.shape[1] for x in self.inputs))

    def repeat(self, count: int = STATES) -> None:
        """Computes the first states, one after the other."""
        _loops().repeat(self.call, ctypes.c_longlong(count), len(self.inputs), self.given, self.strides, self.wanted)

    def results(self) -> Array:
        self.repeat(3)
        return np.concatenate([y.ravel() for y in self.outputs])


def pointers(addresses: Sequence[int]) -> Any:
    return (ctypes.c_void_p * len(addresses))(*addresses)


@functools.lru_cache(1)
def _loops() -> Any:
    return ctypes.CDLL(str(casadi_c.library(ours.LOOP + TURN)))


def _compare(name: str, plain: Call, packed: Call) -> None:
    """RuntimeError unless both forms compute the same."""
    expected, found = plain.results(), packed.results()
    error = np.abs(found - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), 1e-300)
    if not error < SAME:
        raise RuntimeError(f"packed {name} differs from plain {name} by {error:.1e}")


def again_and_again(plain: Call, packed: Call) -> dict[str, float]:
    """Microseconds per state of both forms, and their ratio; each repetition times one form after the other."""
    pair = (plain, packed)
    seconds = [_seconds(call, 1) for call in pair for _ in range(2)]
    inner = max(1, round(LEAST / max(min(seconds), 1e-7)))
    times = np.array([[_seconds(call, inner) for call in pair] for _ in range(REPETITIONS)]) / (inner * STATES) * 1e6
    return summary(times)


def summary(times: Array) -> dict[str, float]:
    """Medians of the columns (plain, packed), and the median of the ratios of the rows."""
    plain, packed = np.median(times, axis=0)
    return {"plain": float(plain), "packed": float(packed), "ratio": statistics.median(times[:, 1] / times[:, 0])}


def _seconds(call: Call, inner: int) -> float:
    begin = time.thread_time()
    for _ in range(inner):
        call.repeat()
    return time.thread_time() - begin


def in_turn(plain: Mapping[str, Call], packed: Mapping[str, Call]) -> dict[str, dict[str, float]]:
    """Microseconds of every function among others, by name; "all": of one round of them."""
    rounds = [_Round(list(calls.values())) for calls in (plain, packed)]
    for each in rounds:
        each.times()
    times = np.array([[each.times() for each in rounds] for _ in range(REPETITIONS)])
    rows = {name: summary(times[:, :, k]) for k, name in enumerate(plain)}
    return rows | {"all": summary(times.sum(axis=2))} if len(rows) > 1 else {}


class _Round:
    """Functions that are called in turn, after one that does nothing and tells the time of the clock itself."""

    def __init__(self, calls: Sequence[Call]) -> None:
        loops = _loops()
        self.turn, self.kept = loops.turn, (calls, loops)
        self.count = len(calls) + 1
        places = [0, 0, *np.cumsum([len(call.inputs) for call in calls])]
        self.arguments = (
            pointers([_address(loops.nothing), *(_address(call.call) for call in calls)]),
            ctypes.c_longlong(STATES),
            (ctypes.c_int * len(places))(*map(int, places)),
            pointers([x.ctypes.data for call in calls for x in call.inputs]),
            (ctypes.c_longlong * int(places[-1]))(*(x.shape[1] for call in calls for x in call.inputs)),
            pointers([0, *(ctypes.addressof(call.wanted) for call in calls)]),
        )

    def times(self) -> Array:
        """Microseconds of every function: the median over the states."""
        found = np.zeros((STATES, self.count))
        self.turn(self.count, *self.arguments, ctypes.c_void_p(found.ctypes.data))
        median = np.median(found, axis=0) * 1e-3
        return np.asarray(median[1:] - median[0])


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
