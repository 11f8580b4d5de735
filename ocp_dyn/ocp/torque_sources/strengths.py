"""Strengths of the motors per direction, and torques as fractions of them."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..._base.checks import CONVERSION_ERRORS, call_user
from ..._base.types import Array, Expr, names_in_message, repr_in_message
from ...mechanism import Model
from ..statement.instant import Instant
from ..statement.objectives import base_size, check_magnitudes, per_direction

ROUNDED_PART = 0.01
"""Part of the strength within which the change from one direction's strength to the other's is rounded."""

Limits = tuple[Any, Any]
"""Strengths in negative and in positive direction, both as magnitudes (nv)."""


def check_strength(value: Any, what: str) -> None:
    """ValueError or TypeError unless `value` is a strength: None, numbers, pairs of them, or a function."""
    if not (value is None or varies(value)):
        check_magnitudes(value, f"{what} [N m] (inf: none)", infinite=True)


def strengths(model: Model, value: Any, what: str) -> tuple[Array, Array]:
    """Magnitudes (nv) in negative and in positive direction of a strength that is no function, inf: no limit.

    None: the model's torque limits; else see `per_direction`.
    """
    if value is None:
        return 0.0 - model.dofs.tau_min, np.array(model.dofs.tau_max)
    return per_direction(value, model.nv, what)


def strengths_at(instant: Instant, value: Any, what: str) -> Limits:
    """Strengths (nv) at an instant: numbers, or expressions if `value` is a function of the instant."""
    if not varies(value):
        return strengths(instant.model, value, what)
    found = call_user(what, getattr(value, "strengths", value), instant)
    lower, upper = found if isinstance(found, (tuple, list)) and len(found) == 2 else (found, found)
    return _magnitudes(lower, instant.model.nv, what), _magnitudes(upper, instant.model.nv, what)


def _magnitudes(value: Any, nv: int, what: str) -> Expr:
    """One direction's strengths (nv) from those that a function of the user returned."""
    try:
        part = ca.SX(value)
    except CONVERSION_ERRORS:  # their messages do not name the term
        raise ValueError(f"{what}: the function must return strengths [N m], got {repr_in_message(value)}") from None
    if part.numel() not in (1, nv):
        raise ValueError(f"{what}: the function must return one strength, or nv = {nv}, got {part.numel()}")
    if any(entry.is_constant() and float(entry) < 0 for entry in ca.vertsplit(ca.vec(part))):
        raise ValueError(
            f"{what}: the function must return magnitudes, which are not negative in both directions, got "
            f"{repr_in_message(value)}"
        )
    return ca.repmat(ca.vec(part), nv // part.numel())


def driven(instant: Instant) -> list[int]:
    """Indices of the dofs that have a motor; a floating or planar root is left out."""
    model, tau = instant.model, instant.tau
    sparsity = None if isinstance(tau, np.ndarray) else tau.sparsity()
    return [k for k in range(base_size(model), model.nv) if sparsity is None or sparsity.has_nz(k, 0)]


def limited(instant: Instant, value: Any, what: str) -> tuple[list[int], Expr, Expr]:
    """Indices of the dofs that have a motor, and their strengths at the instant.

    A motor that has no strength in one direction gets that of the other direction, so that it divides torques; a motor
    without any, whose torque is zero, is left out. ValueError if a strength is infinite.
    """
    lower, upper = strengths_at(instant, value, what)
    dofs = [k for k in driven(instant) if not (is_number(lower[k], 0) and is_number(upper[k], 0))]
    endless = [instant.model.qd_names[k] for k in dofs if is_number(lower[k], np.inf) or is_number(upper[k], np.inf)]
    if endless:
        raise ValueError(
            f"{what}: the model has no limit of the torque of {names_in_message(endless)}: give strength= in N m, or a "
            "model with_limits(effort=...)"
        )
    low = [upper[k] if is_number(lower[k], 0) else lower[k] for k in dofs]
    high = [lower[k] if is_number(upper[k], 0) else upper[k] for k in dofs]
    return dofs, ca.vertcat(ca.DM(0, 1), *low), ca.vertcat(ca.DM(0, 1), *high)


def fraction(x: Expr, lower: Expr, upper: Expr) -> Expr:
    """x / upper where x is positive and x / lower where it is negative, rounded at x = 0.

    With the smooth magnitude |x| = x^2 / sqrt(x^2 + e^2) the fraction is x (1/upper + 1/lower) / 2 + |x| (1/upper -
    1/lower) / 2. e is `ROUNDED_PART` of the harmonic mean of both strengths; equal strengths are not rounded.
    """
    mean, half = (1 / upper + 1 / lower) / 2, (1 / upper - 1 / lower) / 2
    return mean * x + half * magnitude(x, ROUNDED_PART / mean)


def magnitude(x: Expr, width: Expr) -> Expr:
    """|x|, smooth within `width` of zero: x^2 / sqrt(x^2 + width^2); its error is below width^2 / (2 |x|)."""
    return x**2 / ca.sqrt(x**2 + width**2)


def varies(value: Any) -> bool:
    """Whether a strength is a function of the instant, or an object with such a method `strengths`."""
    return not isinstance(value, ca.SX) and (callable(value) or callable(getattr(value, "strengths", None)))


def is_number(x: Any, value: float) -> bool:
    """Whether an entry of strengths is this number, in the model's limits or in an expression of the state."""
    x = ca.SX(x)
    return bool(x.is_constant() and float(x) == value)
