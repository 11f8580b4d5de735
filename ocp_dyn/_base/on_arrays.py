"""Functions of NumPy arrays, for loops over numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import casadi as ca
import numpy as np

from .types import Array, Expr


class OnArrays:
    """Results of columns and matrices of symbols, as a function of arrays: CasADi's Function in a tenth of the time.

    Calls go through memory that this object keeps, instead of through new matrices: for one thread at a time. Matrices
    may be given by their columns, one after the other.
    """

    def __init__(self, inputs: Sequence[Expr], results: Sequence[Expr]) -> None:
        dense = [ca.densify(result) for result in results]
        self._function = ca.Function("on_arrays", list(inputs), dense, {"cse": True})
        self._inputs = [np.zeros(x.shape, order="F") for x in inputs]
        self._results = [np.zeros(x.shape, order="F") for x in dense]
        pair: Any = self._function.buffer()
        self._buffer, self._evaluate = pair
        for k, array in enumerate(self._inputs):
            self._buffer.set_arg(k, memoryview(cast(Any, array.reshape(-1, order="F"))))
        for k, array in enumerate(self._results):
            self._buffer.set_res(k, memoryview(cast(Any, array.reshape(-1, order="F"))))

    def __call__(self, *arguments: Array | float) -> list[Array]:
        """New arrays (rows, columns) of the results."""
        for memory, value in zip(self._inputs, arguments, strict=True):
            memory[...] = np.reshape(value, memory.shape, order="F")
        self._evaluate()
        return [result.copy() for result in self._results]
