"""Cache of the derivatives of blocks, within one process.

A later problem whose blocks have the same functions takes them and their derivatives from this cache, and so do later
phases of one problem whose blocks are those of an earlier phase, such as the steps of a long walk. They are not kept on disk:
reading a graph back takes as long as differentiating again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

import casadi as ca


class BlockDerivatives(NamedTuple):
    """Functions of a kind of block and of its derivatives, and the patterns of their matrices.

    values: (z, p) -> (terms of f, g); first: (z, p) -> (gradient of f, nonzeros of dg/dz); second: (z, p, lam_f, lam_g) -> nonzeros of the upper half of
    the Lagrangian's Hessian; gauss: (z, p, lam_f) -> nonzeros of the upper half of the Gauss-Newton Hessian. The two
    Hessians have one pattern.
    """

    values: ca.Function
    first: ca.Function
    second: ca.Function
    gauss: ca.Function
    jacobian_pattern: ca.Sparsity
    hessian_pattern: ca.Sparsity


KINDS_KEPT = 64
"""Number of kinds of blocks whose derivatives are kept: enough for a problem with a few phases, and for one with many
phases of which every second one has the same blocks."""

_kept: OrderedDict[str, BlockDerivatives] = OrderedDict()


def derived(key: str, derive: Callable[[], BlockDerivatives]) -> BlockDerivatives:
    """The derivatives kept under this key; if there are none, the result of `derive`, which is then kept."""
    derivatives = _kept.pop(key, None) or derive()
    _kept[key] = derivatives
    while len(_kept) > KINDS_KEPT:
        _kept.popitem(last=False)
    return derivatives
