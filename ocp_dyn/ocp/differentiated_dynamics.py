"""Derivatives of inverse dynamics by recursion, as blocks take them."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import casadi as ca
from casadi import SX

from ..call_derivatives import inverse_dynamics_differentiated
from ..model import Model

_kept: WeakKeyDictionary[Model, ca.Function] = WeakKeyDictionary()


def differentiated(model: Model) -> ca.Function:
    """(q, qd, qdd, mu) -> (d tau, gradient and Hessian of mu' tau) by (q, qd, qdd) side by side, made once per model.

    Common subexpressions stay: to merge them takes longer than all else, for two operations in a hundred of a block.
    """
    if model not in _kept:
        symbols = [
            SX.sym(name, size) for name, size in zip(("q", "qd", "qdd", "mu"), (model.nq, *[model.nv] * 3), strict=True)
        ]
        _kept[model] = ca.Function("ID_differentiated", symbols, inverse_dynamics_differentiated(model, *symbols))
    return _kept[model]
