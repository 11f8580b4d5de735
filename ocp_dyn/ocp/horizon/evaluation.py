"""Evaluation of a horizon's Functions at all nodes at once: by tables of the native library, else by CasADi."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..._base.types import Array
from ...codegen.tables import TapeRun, tape_of, work_array
from ...native.libraries import TABLES


class Batch:
    """A Function at several nodes: `inputs` and `outputs` are arrays with a row of nonzeros per node.

    how: the way in which it is evaluated, in words. A call reads the inputs and fills the outputs.
    """

    def __init__(self, f: ca.Function, nodes: int) -> None:
        self.inputs = [np.zeros((nodes, f.nnz_in(i))) for i in range(f.n_in())]
        self.outputs = [np.zeros((nodes, f.nnz_out(j))) for j in range(f.n_out())]
        library, reason = TABLES.obtain(wait=True)
        self._function, self._run = f, None
        self.how = f"virtual machine; {reason}"
        if library is not None:
            call = tape_of(library.functions, f), self.inputs, self.outputs
            self._run, self.how = TapeRun(library.functions, [call], [work_array([call])]), "tables"

    def __call__(self, values: Sequence[Array | None]) -> list[Array]:
        """The outputs, in arrays that the next call overwrites; None leaves an input as it is."""
        for target, value in zip(self.inputs, values, strict=True):
            if value is not None:
                target[:] = np.reshape(value, (-1, target.shape[1]))
        if self._run is not None:
            self._run()
            return self.outputs
        for k in range(len(self.inputs[0])):
            results = self._function.call([ca.DM(x[k]) for x in self.inputs])
            for target, result in zip(self.outputs, results, strict=True):
                target[k] = result.nonzeros()
        return self.outputs


def row_major(pattern: ca.Sparsity) -> Array:
    """Places, in the matrix written row by row, of the nonzeros of its transpose."""
    column, row = pattern.get_triplet()  # of the transpose: rows are columns of the matrix
    return np.asarray(np.array(row) * pattern.size1() + np.array(column))
