"""The matrices of a linear-quadratic problem in stages, in one array that is reused; for `riccati`, in numpy and in C.

Stage k has the variables z_k = (u_k, x_k), controls first, and

    cost            z' H z / 2 + h' z + sum_i price_i (S z)_i^2 / 2,
    gaps            x_{k+1} = F z + b,
    equality rows   E z = r.

An extra stage precedes the first. Its only controls are the first state, so that rows on that state are satisfied like
all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._base.types import Array, Indices

VECTOR_LENGTH = 8
"""Numbers in a vector of the processor, LANES in riccati.c; rows are padded with zeros to whole vectors."""

SIZE_FIELDS = ("nu", "nx", "next", "ne", "ns")
MATRICES = ("H", "F", "E", "S")
FACTORS = ("G", "U", "P", "R", "L")
VECTORS = ("z", "b", "r", "s", "order", "rhs")
FIELDS = (*SIZE_FIELDS, *MATRICES, *FACTORS, *VECTORS, "rank", "left", "rows")
"""Fields of a stage, in the order of `struct stage` of riccati.c: sizes, positions of matrices and vectors, and results
of the factorization."""


class Size(NamedTuple):
    """Numbers of controls, states, equality rows and rows with a price of a stage."""

    nu: int
    nx: int
    ne: int = 0
    ns: int = 0


class MatrixEntries(NamedTuple):
    """Positions of numbers in `data`: numbers[source] is written to data[to]; several numbers for one position are
    summed. 32-bit indices.

    first: the number of positions. The first `first` entries have one number for every position; the later ones are
    added to them.
    """

    to: NDArray[np.int32]
    source: NDArray[np.int32]
    first: int


def entries(to: Indices, source: Indices) -> MatrixEntries:
    """The `MatrixEntries` of these positions and sources, in the order of the positions."""
    positions, first = np.unique(to, return_index=True)
    others = np.setdiff1d(np.arange(to.size), first)
    order = np.concatenate([first, others])
    return MatrixEntries(to[order].astype(np.int32), source[order].astype(np.int32), positions.size)


def padded(n: int) -> int:
    """n rounded up to a multiple of VECTOR_LENGTH."""
    return -(-n // VECTOR_LENGTH) * VECTOR_LENGTH


class StageMatrices:
    """The array `data` of all matrices, with views `H[k]`, `F[k]`, `E[k]`, `S[k]`, and the positions of all matrices
    and vectors of the stages.

    sizes and table include the extra stage before the first. total: lengths of the arrays, and of the vectors over all
    stages. Vectors start with the part of the extra stage; `begin` gives the starts of all later stages.
    """

    def __init__(self, sizes: Sequence[Size]) -> None:
        self.sizes = [Size(sizes[0].nx, 0), *sizes]
        self.table = np.zeros((len(self.sizes), len(FIELDS)), dtype=np.int64)
        self.follow = [*(s.nx for s in self.sizes[1:]), 0]
        self.total = {"data": 0, "factors": 0}
        for name in MATRICES:  # all H first: they are set to zero at once
            self._place("data", name, [self._rows(name, k) * self._width(k) for k in range(len(self.sizes))])
        factors = [self._factors(k) for k in range(len(self.sizes))]
        for name in factors[0]:
            self._place("factors", name, [sizes[name] for sizes in factors])
        vectors = {"z": [s.nu + s.nx for s in self.sizes], "b": self.follow, "r": [s.ne for s in self.sizes]}
        vectors |= {"s": [s.ns for s in self.sizes], "order": [s.nu for s in self.sizes]}
        vectors["rhs"] = [s.ne + n for s, n in zip(self.sizes, self.follow, strict=True)]
        for name, lengths in vectors.items():
            self.total[name] = 0
            self._place(name, name, lengths)
        for column, counts in enumerate(zip(*self.sizes, strict=True)):
            self.table[:, FIELDS.index(("nu", "nx", "ne", "ns")[column])] = counts
        self.table[:, FIELDS.index("next")] = self.follow
        self.data = np.zeros(self.total["data"])
        self.H, self.F, self.E, self.S = ([self._view(m, k) for k in range(1, len(self.sizes))] for m in MATRICES)
        np.fill_diagonal(self._view("F", 0), 1.0)

    def _place(self, array: str, name: str, lengths: Sequence[int]) -> None:
        """Reserves room for one matrix or vector of every stage, at the end of an array."""
        begin = self.total[array] + np.cumsum([0, *lengths])
        self.table[:, FIELDS.index(name)] = begin[:-1]
        self.total[array] = int(begin[-1])

    def _width(self, k: int) -> int:
        return padded(self.sizes[k].nu + self.sizes[k].nx)

    def _rows(self, name: str, k: int) -> int:
        nu, nx, ne, ns = self.sizes[k]
        return {"H": nu + nx, "F": self.follow[k], "E": ne, "S": ns}[name]

    def _factors(self, k: int) -> dict[str, int]:
        """Sizes of the factors of a stage."""
        nu, nx, ne, _ = self.sizes[k]
        e, width = ne + self.follow[k], self._width(k)
        return {"G": nu * width, "U": nu * width, "P": nx * padded(nx), "R": e * padded(e), "L": e * padded(nx)}

    @property
    def hessians(self) -> int:
        """Number of entries at the beginning of `data` that belong to the matrices H."""
        return int(self.table[0, FIELDS.index("F")])

    @property
    def work(self) -> int:
        """Size of the work array that the recursion needs."""
        e = max(s.ne + n for s, n in zip(self.sizes, self.follow, strict=True))
        w = padded(max(s.nu + s.nx + s.ns for s in self.sizes)) + padded(e)
        return 8 * w * w

    def _view(self, name: str, k: int) -> Array:
        rows, width, begin = self._rows(name, k), self._width(k), int(self.table[k, FIELDS.index(name)])
        return self.data[begin : begin + rows * width].reshape(rows, width)[:, : sum(self.sizes[k][:2])]

    def place(self, name: str, k: Indices, row: Indices, column: Indices) -> Indices:
        """Indices in `data` of entries of H, F, E or S of the stages k."""
        width = np.array([self._width(i) for i in range(1, len(self.sizes))])
        return np.asarray(self.table[k + 1, FIELDS.index(name)] + row * width[k] + column)

    def begin(self, name: str) -> Indices:
        """Indices at which the vectors z, b, r or s of every stage begin."""
        return np.asarray(self.table[1:, FIELDS.index(name)])
