"""Errors of single precision: compares a function's compiled code in both precisions at random states."""

from __future__ import annotations

import math
from collections.abc import Iterable

import casadi as ca
import numpy as np

from ...functions.description import describe
from ..compiled.arrays import Array
from ..compiled.compile import compile as compile_functions
from ..compiled.compile import compiler_found

STATE_COUNT = 256
"""Number of random states."""


def single_errors(functions: Iterable[ca.Function]) -> dict[str, float]:
    """The largest error of every function, relative to the largest entry of its output; {} without a compiler.

    Rounded up to 1, 2 or 5 times a power of ten, so that it does not depend on the compiler.
    """
    functions = list(functions)
    if not compiler_found():
        return {}
    # packed code computes the same; writing it takes longer
    coarse, fine = (compile_functions(functions, lanes=1, precision=name, threads=1, pack=False)
                    for name in ("single", "double"))  # fmt: skip
    errors = {}
    for f in functions:
        # both precisions get the rounded arguments, so that the error is that of the code alone
        inputs = [x.astype(np.float32) for x in _states(f)]
        results = (outputs if isinstance(outputs, tuple) else (outputs,) for outputs in
                   (coarse[f.name()](*inputs), fine[f.name()](*(x.astype(np.float64) for x in inputs))))  # fmt: skip
        errors[f.name()] = _rounded_up(max((_error(a, b) for a, b in zip(*results, strict=True)), default=0.0))
    return errors


def _states(f: ca.Function) -> list[Array]:
    """Random inputs (STATE_COUNT, ...): configurations q random steps from neutral, other inputs normally
    distributed."""
    rng = np.random.default_rng(0)
    description = describe(f)
    inputs = []
    for i, name in enumerate(f.name_in()):
        rows, columns = f.size_in(i)
        values = rng.normal(size=(STATE_COUNT, rows) if columns == 1 else (STATE_COUNT, rows, columns))
        if name == "q" and description is not None:
            values = np.array([description.configuration(s) for s in rng.normal(size=(STATE_COUNT, description.nv))])
        inputs.append(values)
    return inputs


def _error(a: Array, b: Array) -> float:
    """The largest relative error over all states."""
    if not b.size:
        return 0.0
    a, b = (x.reshape(len(x), -1).astype(float) for x in (a, b))
    scale = np.abs(b).max(1)
    return float((np.abs(a - b).max(1) / np.where(scale > 0, scale, 1.0)).max())


def _rounded_up(error: float) -> float:
    if not 0 < error < math.inf:
        return error
    unit = 10.0 ** math.floor(math.log10(error))
    return next(unit * digit for digit in (1, 2, 5, 10) if error <= unit * digit)
