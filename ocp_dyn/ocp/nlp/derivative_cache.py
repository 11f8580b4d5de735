"""Cache of the derivatives of blocks, within one process.

A later problem whose blocks have the same functions takes their derivatives from this cache. They are not kept on disk:
reading a graph back takes as long as differentiating again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

import casadi as ca


class BlockDerivatives(NamedTuple):
    """Functions of the derivatives of a kind of block, and the patterns of their matrices.

    first: (z, p) -> (gradient of f, nonzeros of dg/dz); second: (z, p, lam_f, lam_g) -> nonzeros of the upper half of
    the Lagrangian's Hessian; gauss: (z, p, lam_f) -> nonzeros of the upper half of the Gauss-Newton Hessian. The two
    Hessians have one pattern.
    """

    first: ca.Function
    second: ca.Function
    gauss: ca.Function
    jacobian_pattern: ca.Sparsity
    hessian_pattern: ca.Sparsity


KINDS_KEPT = 32
"""Number of kinds of blocks whose derivatives are kept: enough for a problem with a few phases."""

_kept: OrderedDict[str, BlockDerivatives] = OrderedDict()


def derived(key: str, derive: Callable[[], BlockDerivatives]) -> BlockDerivatives:
    """The derivatives kept under this key; if there are none, the result of `derive`, which is then kept."""
    derivatives = _kept.pop(key, None) or derive()
    _kept[key] = derivatives
    while len(_kept) > KINDS_KEPT:
        _kept.popitem(last=False)
    return derivatives
