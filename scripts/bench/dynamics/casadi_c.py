"""Functions by CasADi's code generator, compiled with -O2 for this processor."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import casadi as ca
import numpy as np

from ocp_dyn._base import cache
from ocp_dyn.native.toolchain import find_compiler
from scripts.common import microseconds

from .robots import Array

LARGEST = 25_000
"""Instructions beyond which one C function of reused variables takes a compiler minutes."""
STATES = 64

FLAGS = ("-O2", "-march=native", "-fPIC", "-shared", "-w")

LOOP = """
#include <stdlib.h>

int repeat(long long states, const double *const *x, const long long *stride, double *const *y)
{{
    casadi_int sz_arg, sz_res, sz_iw, sz_w, k, i;
    {name}_work(&sz_arg, &sz_res, &sz_iw, &sz_w);
    const double **arg = malloc((sz_arg + 1) * sizeof *arg);
    double **res = malloc((sz_res + 1) * sizeof *res);
    casadi_int *iw = malloc((sz_iw + 1) * sizeof *iw);
    double *w = malloc((sz_w + 1) * sizeof *w);
    for (k = 0; k < states; ++k) {{
        for (i = 0; i < {inputs}; ++i) arg[i] = x[i] + k * stride[i];
        for (i = 0; i < {outputs}; ++i) res[i] = y[i];
        {name}(arg, res, iw, w, 0);
    }}
    free(arg), free(res), free(iw), free(w);
    return 0;
}}
"""
"""C code of the loop: one state after the other, results always written to the same place."""


def measure(functions: Mapping[str, ca.Function], drawn: Mapping[str, Array]) -> dict[str, float]:
    """Microseconds per state, by name; compiled side by side, once, and kept."""
    chosen = {name: f for name, f in functions.items() if f.n_instructions() <= LARGEST}
    texts = [_text(f) for f in chosen.values()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        libraries = list(pool.map(library, texts))
    return {name: _timed(f, path, drawn) for (name, f), path in zip(chosen.items(), libraries, strict=True)}


def _timed(f: ca.Function, path: Path, drawn: Mapping[str, Array]) -> float:
    repeat = ctypes.CDLL(str(path)).repeat
    inputs = [np.ascontiguousarray(drawn[name][:STATES]) for name in f.name_in()]
    outputs = [np.zeros(max(1, f.nnz_out(j))) for j in range(f.n_out())]
    given, wanted = (_pointers(arrays) for arrays in (inputs, outputs))
    strides = (ctypes.c_longlong * len(inputs))(*(x.shape[1] for x in inputs))
    return microseconds(lambda: repeat(ctypes.c_longlong(STATES), given, strides, wanted), STATES)


def _text(f: ca.Function) -> str:
    generator = ca.CodeGenerator("plain")
    generator.add(f)
    return generator.dump() + LOOP.format(name=f.name(), inputs=f.n_in(), outputs=f.n_out())


def library(text: str) -> Path:
    """Shared library of a C text, compiled once and kept."""
    compiler = find_compiler()
    if compiler is None:
        raise RuntimeError("no C compiler was found")

    def make(made: Path) -> None:
        source = made.with_suffix(".c")
        source.write_text(text, encoding="ascii")
        run([*compiler.command, *FLAGS, str(source), "-o", str(made), "-lm"])

    return kept((text, compiler.identity, *FLAGS), make)


def kept(key: tuple[str, ...], make: Callable[[Path], None]) -> Path:
    """The file that `make` writes, from the private cache of compiled functions if it was made before with this key."""
    place, name = cache.directory(), hashlib.sha256("\0".join(key).encode()).hexdigest()[:32]
    found = cache.find(place, name)
    if found is None:
        with cache.stage(place) as stage:
            make(stage / "made.so")
            found = cache.store(place, name, stage / "made.so")
    return found


def run(command: list[str]) -> str:
    """Output of a command; RuntimeError with its error messages if it fails."""
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if result.returncode:
        said = "\n".join(result.stderr.strip().splitlines()[:5])
        raise RuntimeError(f"{command[0]} failed with exit status {result.returncode}: {said}")
    return result.stdout


def _pointers(arrays: list[Array]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays))
