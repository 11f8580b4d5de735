"""Activation of muscles: how it follows the excitation.

    smooth:     da/dt = ((1/2 + f) / (rise q) + (1/2 - f) q / fall) (e - a),  f = tanh(b (e - a)) / 2,  q = 1/2 + 3/2 a
    in pieces:  da/dt = (e - a) / (rise q) for e > a, (e - a) q / fall otherwise
    linear:     da/dt = (e - a) / rise for e > a, (e - a) / fall otherwise

The linear form leaves out q. An excitation between 0 and 1 exists for it if and only if -a / fall <= da/dt <= (1 - a) /
rise: two linear rows in place of the excitation. With q the limits are -a q / fall and (1 - a) / (rise q).

Sources: Thelen, J. Biomech. Eng. 125, 2003, and Winters 1995 (in pieces); De Groote et al., Ann. Biomed. Eng. 44, 2016
(smooth); De Groote et al., Comput. Methods Biomech. Biomed. Eng. 12, 2009 (linear rows).
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from .._base.checks import choice
from .._base.types import Expr, check_kind, matrix
from .hill_muscles import HillMuscles

FORMS = ("smooth", "pieces", "linear")


def activation_rate(
    muscles: HillMuscles, excitation: Expr, activation: Expr, *, form: str = "smooth", steepness: float = 10.0
) -> Expr:
    """da/dt (n) [1/s] of muscles with excitations and activations (n); the forms: `ocp_dyn.muscles.activation`.

    form: "smooth", "pieces" or "linear". steepness: b of the smooth form; at 0.1, which some programs take, both time
    constants are blurred into their mean. With "pieces", activations are held above `least_activation`.

    >>> [float(od.muscles.activation_rate(hill, ca.DM([1.0, e]), ca.DM([0.5, 0.5]))[1]) > 0 for e in (0.2, 0.8)]
    [False, True]
    """
    choice(form, FORMS, "activation_rate form")
    e, a = columns(muscles.size, excitation=excitation, activation=activation)
    rise, fall = muscles.activation_time, muscles.deactivation_time
    if form == "smooth":
        q, f = 0.5 + 1.5 * a, 0.5 * ca.tanh(steepness * (e - a))
        return ((0.5 + f) / (rise * q) + (0.5 - f) * q / fall) * (e - a)
    if form == "linear":
        return ca.if_else(e > a, (e - a) / rise, (e - a) / fall)
    a = ca.fmin(ca.fmax(a, muscles.least_activation), 1)
    q = 0.5 + 1.5 * a
    return ca.if_else(e > a, (e - a) / (rise * q), (e - a) * q / fall)


def activation_rate_limits(muscles: HillMuscles, activation: Expr, *, form: str = "linear") -> tuple[Expr, Expr]:
    """The least and the largest da/dt (n) [1/s] that excitations between 0 and 1 give.

    form: "linear", limits linear in a, or "pieces". Exact for both, as da/dt grows with the excitation.

    >>> low, high = od.muscles.activation_rate_limits(hill, ca.DM([0.2, 0.5]))
    >>> (low[0] * 0.06).full().round(12), (high[1] * 0.015).full().round(12)  # -a / fall, (1 - a) / rise
    (array([[-0.2]]), array([[0.5]]))
    """
    choice(form, FORMS[1:], "activation_rate_limits form")
    (a,) = columns(muscles.size, activation=activation)
    q: Any = 0.5 + 1.5 * a if form == "pieces" else 1.0
    return -a * q / muscles.deactivation_time, (1 - a) / (muscles.activation_time * q)


def columns(size: int, **given: Expr) -> list[Expr]:
    """Quantities of the muscles as columns (n); TypeError or ValueError with their names for others."""
    found = []
    for name, value in given.items():
        x = matrix(value, name)
        if x.shape != (size, 1):
            raise ValueError(f"{name} must be one number for each of {size} muscles, got the shape {x.shape}")
        found.append(x)
    check_kind(*found)
    return found
