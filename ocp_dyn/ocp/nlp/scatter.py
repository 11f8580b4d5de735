"""Positions of the results of blocks in the vectors and matrices of the whole program."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..._base.types import Array, Indices
from ...codegen.tables import place
from .blocks import Block, Place


@dataclass(frozen=True, eq=False)
class Scatter:
    """Maps the entries of all blocks, one after the other, to the `size` numbers of a vector or of a matrix's nonzeros.

    to: the number to which every entry belongs. Entries of one number are summed, each multiplied by its weight.
    """

    size: int
    to: Indices
    weights: Array | None = None

    @cached_property
    def _short(self) -> NDArray[np.int32]:
        """`to` with half the memory to read."""
        return self.to.astype(np.int32)

    def __call__(self, entries: Array, library: ctypes.CDLL | None = None, out: Array | None = None) -> Array:
        """The numbers, in `out` if it is given; library: that of tapes, which takes half the time of NumPy."""
        if library is not None:
            return place(library, entries, self._short, self.weights, np.empty(self.size) if out is None else out)
        if self.weights is not None:
            entries = entries * self.weights
        sums = np.asarray(np.bincount(self.to, entries, self.size), dtype=float)  # an empty sum would be of integers
        if out is None:
            return sums
        out[:] = sums
        return out


def placement(keys: Indices, weights: Array | None = None) -> tuple[Scatter, Indices]:
    """The placement of entries, where entries with the same key (not negative) belong to one number, and the distinct
    keys, ascending."""
    order = np.argsort(keys, kind="stable")
    begins = np.diff(keys[order], prepend=-1) > 0
    to = np.empty(keys.size, dtype=np.intp)
    to[order] = np.cumsum(begins) - 1
    return Scatter(int(np.count_nonzero(begins)), to, weights), keys[order[begins]]


def row_tables(blocks: Sequence[Block]) -> list[Indices]:
    """The rows of every block's instances in the program, a table (instances x height) each."""
    begins = np.cumsum([0, *(len(b.instances) * b.lower.size for b in blocks)]).tolist()
    first = {id(b): begin for b, begin in zip(blocks, begins, strict=False)}
    named: dict[tuple[int, str], Indices] = {}

    def rows(place: Place) -> Indices:
        host, key = place.block, (id(place.block), place.name)
        if key not in named:
            named[key] = first[id(host)] + np.flatnonzero(np.array(host.row_names) == place.name)
        return np.asarray(named[key][place.entries] + place.instance * host.lower.size)

    return [
        np.array([rows(place) for place in b.onto], dtype=int)
        if b.onto
        else first[id(b)] + np.arange(len(b.instances) * b.lower.size).reshape(len(b.instances), b.lower.size)
        for b in blocks
    ]


def gradient_placement(blocks: Sequence[Block], n: int) -> tuple[Scatter, Indices]:
    """The placement for the gradient by those entries of x that a cost depends on, and the indices of these entries."""
    keys = np.concatenate([np.zeros(0, dtype=int), *(b.gather.ravel() for b in blocks if b.cost_names)])
    return placement(keys)


def jacobian_placement(blocks: Sequence[Block], rows: int, n: int) -> tuple[Scatter, ca.Sparsity]:
    """The placement for the Jacobian of g, and its pattern: the nonzeros of all blocks, summed."""
    keys = []
    for b, table in zip(blocks, row_tables(blocks), strict=True):
        r, c = (np.array(k, dtype=int) for k in b.jacobian_pattern.get_triplet())
        keys.append((b.gather[:, c] * rows + table[:, r]).ravel())
    return _matrix(keys, (rows, n))


def hessian_placement(blocks: Sequence[Block], n: int) -> tuple[Scatter, ca.Sparsity]:
    """The placement for the upper triangle of the Lagrangian's Hessian, and its pattern: the nonzeros of all blocks,
    summed."""
    keys, weights = [], []
    for b in blocks:
        r, c = (np.array(k, dtype=int) for k in b.hessian_pattern.get_triplet())
        i, j = b.gather[:, r], b.gather[:, c]
        keys.append((np.maximum(i, j) * n + np.minimum(i, j)).ravel())
        # one variable in two slots: an entry beside the diagonal, which counts twice by symmetry, falls on the diagonal
        weights.append(np.where((i == j) & (r != c), 2.0, 1.0).ravel())
    joined = np.concatenate([np.zeros(0), *weights])
    return _matrix(keys, (n, n), joined if np.any(joined != 1.0) else None)


def _matrix(keys: list[Indices], shape: tuple[int, int], weights: Array | None = None) -> tuple[Scatter, ca.Sparsity]:
    """Placement and pattern of entries at `column * rows + row`, CasADi's column-major order."""
    placed, unique = placement(np.concatenate([np.zeros(0, dtype=int), *keys]), weights)
    columns = np.searchsorted(unique, shape[0] * np.arange(shape[1] + 1))
    pattern = ca.Sparsity(*shape, columns.tolist(), (unique % shape[0]).tolist()) if shape[0] else ca.Sparsity(*shape)
    return placed, pattern


def chosen_nonzeros(pattern: ca.Sparsity, rows: Indices, columns: Indices) -> tuple[ca.Sparsity, Indices]:
    """The pattern of pattern[rows, columns], and for each of its nonzeros the index of that nonzero in `pattern`."""
    return _chosen(ca.DM(pattern, np.arange(1.0, pattern.nnz() + 1)), rows, columns)


def symmetric_nonzeros(half: ca.Sparsity, chosen: Indices | None = None) -> tuple[ca.Sparsity, Indices]:
    """The pattern of the symmetric matrix with this upper half (of its chosen rows and columns), and for each of its
    nonzeros the index of that nonzero in the half."""
    numbers = ca.triu2symm(ca.DM(half, np.arange(1.0, half.nnz() + 1)))
    chosen = np.arange(half.size1()) if chosen is None else chosen
    return _chosen(numbers, chosen, chosen)


def _chosen(numbers: ca.DM, rows: Indices, columns: Indices) -> tuple[ca.Sparsity, Indices]:
    part = numbers[rows.tolist(), columns.tolist()]
    return part.sparsity(), np.array(part.nonzeros(), dtype=int) - 1
