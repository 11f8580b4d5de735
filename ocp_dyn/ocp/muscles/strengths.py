"""Strengths of the motors per direction, and torques as fractions of them."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..._types import Array, Expr, listed
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
    found = getattr(value, "strengths", value)(instant)
    lower, upper = found if isinstance(found, (tuple, list)) and len(found) == 2 else (found, found)
    nv = instant.model.nv
    for part in (lower, upper):
        if ca.SX(part).numel() not in (1, nv):
            raise ValueError(f"{what}: the function must return one strength, or nv = {nv}, got {ca.SX(part).numel()}")
    return ca.repmat(lower, nv // ca.SX(lower).numel()), ca.repmat(upper, nv // ca.SX(upper).numel())


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
    dofs = driven(instant)
    if not varies(value):
        dofs = [k for k in dofs if max(lower[k], upper[k]) > 0]
    endless = [instant.model.qd_names[k] for k in dofs if _is_infinite(lower[k]) or _is_infinite(upper[k])]
    if endless:
        raise ValueError(
            f"{what}: the model has no limit of the torque of {listed(endless)}: give strength= in N m, or a model "
            "with_limits(effort=...)"
        )
    if varies(value):
        return dofs, ca.vertcat(*(lower[k] for k in dofs)), ca.vertcat(*(upper[k] for k in dofs))
    low, high = lower[dofs], upper[dofs]
    return dofs, ca.DM(np.where(low > 0, low, high)), ca.DM(np.where(high > 0, high, low))


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
    return callable(value) or callable(getattr(value, "strengths", None))


def _is_infinite(x: Any) -> bool:
    x = ca.SX(x)
    return bool(x.is_constant() and np.isinf(float(x)))
