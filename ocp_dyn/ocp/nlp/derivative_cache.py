"""Derivatives of blocks: those of this process by the key of their block, patterns and sizes also on disk.

A later problem whose blocks have the same functions takes them and their derivatives from this cache, and so do later
phases of one problem whose blocks are those of an earlier phase, such as the steps of a long walk. Graphs are not kept
on disk: reading one takes as long as differentiating again. If the tapes of a block are there (`function_tables`), its
patterns are all that a solver needs, and nothing is differentiated.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Mapping

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..._base import cache
from ..._base.identity import digest

FUNCTION_LEVELS = ("values", "first", "second", "gauss")
"""Names of a block's functions: costs and rows; gradient and Jacobian; Hessian of the Lagrangian; Gauss-Newton Hessian
of the objective."""

SUFFIX = ".pattern"


class BlockDerivatives:
    """Functions of a kind of block and of its derivatives, made when they are needed, and the patterns of their
    matrices.

    values: (z, p) -> (terms of f, g); first: (z, p) -> (gradient of f, nonzeros of dg/dz); second: (z, p, lam_f, lam_g)
    -> nonzeros of the upper half of the Lagrangian's Hessian; gauss: (z, p, lam_f) -> nonzeros of the upper half of the
    Gauss-Newton Hessian. The two Hessians have one pattern. make: makes the function of a level; sizes: numbers of
    instructions that are known.
    """

    def __init__(
        self,
        jacobian_pattern: ca.Sparsity,
        hessian_pattern: ca.Sparsity,
        make: Callable[[str], ca.Function],
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self.jacobian_pattern, self.hessian_pattern = jacobian_pattern, hessian_pattern
        self._make, self._sizes = make, dict(sizes or {})
        self._made: dict[str, ca.Function] = {}

    def function(self, level: str) -> ca.Function:
        """The function of a level."""
        if level not in self._made:
            self._made[level] = self._make(level)
        return self._made[level]

    def size(self, level: str) -> int:
        """Number of instructions of the function of a level."""
        if level not in self._sizes:
            self._sizes[level] = int(self.function(level).n_instructions())
        return self._sizes[level]


KINDS_KEPT = 512
"""Number of kinds of blocks whose derivatives are kept: enough for a problem with a few phases, with a hundred muscles,
and for one with many phases of which every second one has the same blocks."""

_kept: OrderedDict[str, BlockDerivatives] = OrderedDict()


def derived(key: str, derive: Callable[[], BlockDerivatives]) -> BlockDerivatives:
    """The derivatives kept under this key; if there are none, the result of `derive`, which is then kept."""
    derivatives = _kept.pop(key, None) or derive()
    _kept[key] = derivatives
    while len(_kept) > KINDS_KEPT:
        _kept.popitem(last=False)
    return derivatives


def keep_patterns(key: str, derivatives: BlockDerivatives) -> None:
    """Stores patterns and sizes for other processes."""
    numbers = [derivatives.size(level) for level in FUNCTION_LEVELS[:3]]
    for pattern in (derivatives.jacobian_pattern, derivatives.hessian_pattern):
        numbers += pattern_numbers(pattern)
    cache.keep(_name(key), SUFFIX, np.array(numbers, np.int64).tobytes())


def kept_patterns(key: str, derive: Callable[[], BlockDerivatives]) -> BlockDerivatives | None:
    """Derivatives with the patterns that another process has stored, which are derived if a function is needed; None if
    there are none."""
    with contextlib.suppress(OSError):
        path = cache.find(cache.directory(), _name(key), SUFFIX)
        if path is not None:
            numbers = np.fromfile(path, np.int64)
            jacobian, rest = pattern_of(numbers[3:])
            sizes = dict(zip(FUNCTION_LEVELS[:3], numbers[:3].tolist(), strict=True))
            return derived_later(jacobian, pattern_of(rest)[0], sizes, derive)
    return None


def derived_later(
    jacobian_pattern: ca.Sparsity,
    hessian_pattern: ca.Sparsity,
    sizes: Mapping[str, int],
    derive: Callable[[], BlockDerivatives],
) -> BlockDerivatives:
    """Derivatives with known patterns and sizes; the first function that is needed derives them."""
    found: list[BlockDerivatives] = []

    def make(level: str) -> ca.Function:
        if not found:
            found.append(derive())
        return found[0].function(level)

    return BlockDerivatives(jacobian_pattern, hessian_pattern, make, sizes)


def pattern_numbers(pattern: ca.Sparsity) -> list[int]:
    """A pattern as numbers: shape, number of nonzeros, where columns begin, rows."""
    return [*pattern.shape, pattern.nnz(), *pattern.colind(), *pattern.row()]


def pattern_of(numbers: NDArray[np.int64]) -> tuple[ca.Sparsity, NDArray[np.int64]]:
    """The pattern that the numbers begin with, and the numbers after it."""
    rows, columns, entries = numbers[:3].tolist()
    start = 4 + columns
    return ca.Sparsity(
        rows, columns, numbers[3:start].tolist(), numbers[start : start + entries].tolist()
    ), numbers[start + entries :]  # fmt: skip


def _name(key: str) -> str:
    return digest(key, "patterns")
