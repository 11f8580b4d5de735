"""The Riccati recursion as machine code: riccati.c is compiled once and kept in the cache of compiled functions."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._types import Array
from ...codegen.machine_code import cache, processes
from ...codegen.machine_code.identity import digest, made_by
from ...codegen.machine_code.toolchain import Compiler, find_compiler
from .riccati import FIRST_THRESHOLDS, LAST_THRESHOLD, NumpyRecursion, Recursion
from .stage_matrices import Entries, StageMatrices

SOURCE = Path(__file__).with_name("riccati.c")


class CompiledRecursion:
    """The recursion in C; its methods are described in `Recursion`. The z that `solve` returns is overwritten by the
    next call."""

    how = "as machine code"

    def __init__(self, stages: StageMatrices, library: ctypes.CDLL) -> None:
        self.stages, total = stages, stages.total
        factors, orders = np.zeros(total["factors"]), np.zeros(total["order"], dtype=np.int64)
        self._z, sides = np.zeros(total["z"]), np.zeros(total["rhs"])
        vectors = [self._z, sides, np.zeros(total["order"]), np.zeros(total["order"]), np.zeros(stages.work)]
        self._kept = stages.table, stages.data, factors, orders, *vectors  # C keeps only their addresses
        addresses = [ctypes.c_void_p(array.ctypes.data) for array in self._kept]
        self._matrices, self._vectors = addresses[:4], addresses[4:]
        self._count = ctypes.c_longlong(len(stages.sizes))
        self._library, self._thresholds = library, (ctypes.c_double * 3)(*FIRST_THRESHOLDS, LAST_THRESHOLD)
        library.factor.restype, library.solve.restype = ctypes.c_longlong, ctypes.c_double

    def write(self, where: Entries, values: Array, sign: float) -> None:
        counts = ctypes.c_longlong(where.first), ctypes.c_longlong(where.to.size)
        places, data = (_address(where.to), _address(where.source)), self._matrices[1]
        self._library.write_entries(*counts, *places, ctypes.c_double(sign), _address(values), data)

    def add_prices(self, price: Array) -> None:
        table, data = self._matrices[:2]
        self._library.add_prices(self._count, table, data, _address(price), self._vectors[-1])

    def factor(self) -> int:
        failed = self._library.factor(self._count, *self._matrices, self._vectors[-1], self._thresholds)
        return int(failed) if failed < 0 else max(int(failed) - 1, 0)

    def solve(self, h: Array, b: Array, r: Array) -> tuple[Array, float]:
        vectors = [np.ascontiguousarray(vector, dtype=float) for vector in (h, b, r)]
        addresses = [_address(vector) for vector in vectors]
        return self._z, float(self._library.solve(self._count, *self._matrices, *addresses, *self._vectors))


def recursion(stages: StageMatrices, compile: bool | str = "auto") -> Recursion:
    """The recursion for these stages.

    compile: "auto" uses the compiled recursion if the cache has it, else numpy; True compiles it if it is missing;
    False uses numpy. Raises RuntimeError if compile is True and there is no compiler.
    """
    compiler = find_compiler() if compile is not False else None
    if compiler is None:
        if compile is True:
            raise RuntimeError(
                "compile=True needs a C compiler, and none was found: install gcc or clang, or name one in CC"
            )
        return NumpyRecursion(stages)
    path = _library(compiler, build=compile is True)
    return NumpyRecursion(stages) if path is None else CompiledRecursion(stages, ctypes.CDLL(str(path)))


def _library(compiler: Compiler, build: bool) -> Path | None:
    """The file of the compiled recursion in the cache; None if it is missing and build is False."""
    place, text = cache.directory(), SOURCE.read_text(encoding="ascii")
    key = digest(text, compiler.identity, made_by(find_compiler.__module__))
    path = cache.find(place, key)
    if path is None and build:
        with cache.stage(place) as stage, processes.group() as group:
            compiler.compile(group, SOURCE, stage / "riccati.o")
            compiler.link(group, [stage / "riccati.o"], stage / "riccati.so")
            path = cache.store(place, key, stage / "riccati.so")
    return path


def _address(vector: NDArray[Any]) -> ctypes.c_void_p:
    """Address of a vector's numbers; the vector must be contiguous and outlive the call."""
    return ctypes.c_void_p(vector.ctypes.data)
