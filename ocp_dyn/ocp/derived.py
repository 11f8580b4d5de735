"""The derivatives of a kind of block, kept for the next one.

The next problem of the same process with blocks of the same values finds their derivatives. They are not kept on disk: to
read a graph back takes as long as to differentiate again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

import casadi as ca


class Derived(NamedTuple):
    """first: (z, p) -> (gradient of f, nonzeros of dg/dz); second: (z, p, lam_f, lam_g) -> nonzeros of the Hessian's
    upper half; gauss: (z, p, lam_f) -> nonzeros of Gauss and Newton's half of that of f; and the two patterns."""

    first: ca.Function
    second: ca.Function
    gauss: ca.Function
    jacobian_pattern: ca.Sparsity
    hessian_pattern: ca.Sparsity


KEPT = 32
"""Kinds of blocks whose derivatives stay for the next problem of this process: those of one with a few phases."""

_kept: OrderedDict[str, Derived] = OrderedDict()


def derived(key: str, derive: Callable[[], Derived]) -> Derived:
    """What was derived under this key for an earlier problem, or what `derive` gives."""
    found = _kept.pop(key, None) or derive()
    _kept[key] = found
    while len(_kept) > KEPT:
        _kept.popitem(last=False)
    return found
