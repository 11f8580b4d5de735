"""Derivatives of inverse dynamics by recursion, in the form that blocks need."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import casadi as ca
from casadi import SX

from ..mechanism import Model
from .casadi_derivatives import inverse_dynamics_differentiated

_kept: WeakKeyDictionary[Model, ca.Function] = WeakKeyDictionary()


def differentiated(model: Model) -> ca.Function:
    """(q, qd, qdd, mu) -> (d tau, gradient and Hessian of mu' tau) by (q, qd, qdd) side by side, made once per model.

    Common subexpressions are not merged: that takes longer than everything else, and saves 2 % of a block's operations.
    """
    if model not in _kept:
        symbols = [
            SX.sym(name, size) for name, size in zip(("q", "qd", "qdd", "mu"), (model.nq, *[model.nv] * 3), strict=True)
        ]
        _kept[model] = ca.Function("ID_differentiated", symbols, inverse_dynamics_differentiated(model, *symbols))
    return _kept[model]
