"""The start of a simulation in natural coordinates: a state that keeps the constraints, accelerations and forces."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.types import Array
from ...mechanism.boundary import column_of_numbers
from ..joint_coordinates import natural_from_q, natural_velocity
from ..natural_equations import NaturalEquations, check_resisted
from .motion import errors_of

START_ERROR = 1e-6
"""Largest error of a constraint at the start, in the unit of its row; of its rate, relative to the largest velocity."""
DEPENDENT = 1e-10
"""Singular values below it, relative to the largest, belong to redundant rows."""


def start_of(equations: NaturalEquations, t: SX, h: float, q: Any, qd: Any, x: Any, xd: Any) -> Array:
    """The column [x; xd; xdd; lam; 0; 0; 0] at t = 0, from joint or natural coordinates. ValueError if the start does
    not keep the constraints, if these contradict each other, or if the matrix of a step h has no inverse."""
    x, xd = _state(equations, q, qd, x, xd)
    check_start(equations, x, xd)
    _check_inertia(equations, t, h, x, xd)
    xdd, lam = accelerations(equations, t, x, xd)
    return np.concatenate([x, xd, xdd, lam, np.zeros(3)])


def check_start(equations: NaturalEquations, x: Array, xd: Array) -> None:
    """Raises ValueError, with the name of the row, if x or xd violates a constraint."""
    names = equations.natural.constraint_names
    speed = np.max(np.abs(xd) / equations.scales.coordinates, initial=0.0)
    position, velocity = (np.abs(e.full()).ravel() for e in errors_of(equations)(x, xd))
    for what, errors, limit, remedy in (
        ("x", position, START_ERROR, "q = od.assemble_q(model, loops, q)"),
        ("xd", velocity, START_ERROR * speed, "qd = od.assemble_qd(model, loops, q, qd)"),
    ):
        worst = int(np.argmax(errors)) if errors.size else -1
        if errors.size and not errors[worst] <= limit:
            raise ValueError(
                f"trapezoidal_motion: {what} at the start violates {names[worst]} by {errors[worst]:.3g} in its unit, "
                f"at most {limit:.3g}: assemble it first, {remedy}"
            )


def _check_inertia(equations: NaturalEquations, t: SX, h: float, x: Array, xd: Array) -> None:
    """Raises ValueError where neither inertia nor springs, which the implicit rule takes in, resist a motion."""
    X, V = SX.sym("x", equations.natural.n), SX.sym("xd", equations.natural.n)
    parts = [equations.M - h * h / 4 * equations.stiffness(X, V, h), equations.Phi_x(X)]
    A, J = ca.Function("start", [t, X, V], [SX(part) for part in parts])(0, x, xd)
    check_resisted("trapezoidal_motion", equations.natural, equations.scales, A, J)


def accelerations(equations: NaturalEquations, t: SX, x: Array, xd: Array) -> tuple[Array, Array]:
    """(xdd, lam) of M xdd = Q + Phi_x' lam, Phi_x xdd = c at t = 0, of least norm if rows are redundant."""
    scales, natural = equations.scales, equations.natural
    X, V = SX.sym("x", natural.n), SX.sym("xd", natural.n)
    terms = [equations.Phi_x(X), equations.Q(X, V), equations.c(X, V)]
    J, Q, c = (
        np.asarray(DM(part).full()) for part in ca.Function("start", [t, X, V], [SX(p) for p in terms])(0, x, xd)
    )
    unit, inertia = scales.coordinates, scales.mass * scales.length**2
    M = np.asarray(DM(equations.M).full()) * np.outer(unit, unit) / inertia
    J, c = J * unit / scales.rows[:, None], c.ravel() / scales.rows
    K = np.block([[M, -J.T], [J, np.zeros((natural.m, natural.m))]])
    b = np.concatenate([Q.ravel() * unit / inertia, c])
    z = np.linalg.lstsq(K, b, rcond=DEPENDENT)[0]
    left = np.abs(K @ z - b)
    if not np.all(left <= START_ERROR * (1 + np.max(np.abs(b), initial=0.0))):
        names = (*natural.names, *natural.constraint_names)
        raise ValueError(
            "trapezoidal_motion: no acceleration at the start satisfies the equations of motion, error "
            f"{left.max():.3g} in {names[int(np.argmax(left))]}: at a singular position the velocities must keep the "
            "constraints also to second order; start elsewhere, or with other velocities"
        )
    return z[: natural.n] * unit, z[natural.n :] * inertia / scales.rows


def _state(equations: NaturalEquations, q: Any, qd: Any, x: Any, xd: Any) -> tuple[Array, Array]:
    """x and xd (n each) from whichever coordinates were given."""
    model, natural = equations.model, equations.natural
    if (q is None) == (x is None) or (q is None and qd is not None) or (x is None and xd is not None):
        raise ValueError("trapezoidal_motion: give the start as q (and qd), or as x (and xd)")
    if q is not None:
        at = column_of_numbers(q, model.nq, "q", model.q_names)
        rates = column_of_numbers(qd, model.nv, "qd", model.qd_names) if qd is not None else DM.zeros(model.nv)
        columns = natural_from_q(model, natural, at), natural_velocity(model, natural, at, rates)
    else:
        rates = column_of_numbers(xd, natural.n, "xd") if xd is not None else DM.zeros(natural.n)
        columns = column_of_numbers(x, natural.n, "x"), rates
    found = tuple(np.asarray(DM(column).full()).ravel() for column in columns)
    return found[0], found[1]
