"""Derivative of the flow of an interval where losses of light bodies are too fast for explicit steps.

The state is that of the solution: positions by the cubic through both nodes in tangent coordinates, velocities and
torques linear in time. In every step of length h the linearized motion, d(delta)/dt = A delta with A of the middle, has
the exact solution exp(A h) delta [the exponential midpoint rule, second order: Hochbruck & Ostermann, Exponential
integrators, Acta Numerica 19, 2010], which is stable for any time constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from casadi import DM

from ..._types import Array
from ..equations import Equations
from ..motion.motion import PhaseMotion

PADE = (1.0, 1 / 2, 5 / 44, 1 / 66, 1 / 792, 1 / 15840, 1 / 665280)
"""Coefficients of the numerator of the diagonal Pade approximant of order 6 of the exponential."""


def exponential(A: Array) -> Array:
    """exp(A) of a square matrix by the diagonal Pade approximant of A / 2^s, squared s times [Golub & Van Loan, Matrix
    Computations, 4th ed., alg. 9.3.1]; its relative error is about 1e-16 times the norm of A."""
    size = float(np.linalg.norm(A, 1))
    s = max(0, math.ceil(math.log2(size)) + 1) if size > 0 else 0
    A = np.asarray(A / 2.0**s, dtype=float)
    power: Any = np.eye(len(A))
    even: Any = np.zeros_like(A)
    odd: Any = np.zeros_like(A)
    for k, c in enumerate(PADE):
        if k % 2:
            odd += c * power
        else:
            even += c * power
        power = power @ A
    found: Array = np.linalg.solve(even - odd, even + odd)
    for _ in range(s):
        found = found @ found
    return found


def stiff_flow_derivative(
    equations: Equations, phase: PhaseMotion, k: int, steps: int, turning: Callable[[Array], DM]
) -> Array:
    """Derivative (2 nv, 2 nv) of the state at the end of interval k by the state at its node, in tangent coordinates.

    turning: d(delta of q)/dt by delta of q, see `floquet`.
    """
    model, h = equations.model, float(phase.t[k + 1] - phase.t[k])
    nv = model.nv
    end = DM(model.difference(phase.q[k], phase.q[k + 1]))
    slopes = [DM(phase.qd[k]), DM(model.tangent_rate(end, DM(phase.qd[k + 1])))]
    found = np.eye(2 * nv)
    for j in range(steps):
        s = (j + 0.5) / steps
        delta = (3 - 2 * s) * s**2 * end + h * s * (1 - s) * ((1 - s) * slopes[0] - s * slopes[1])
        q, qd = model.integrate(phase.q[k], delta), (1 - s) * phase.qd[k] + s * phase.qd[k + 1]
        tau = phase.tau[k] + (s - 0.5) * h * phase.tau_rate[k]
        by_q, by_qd = equations.forward_derivatives(phase.contacts, DM(q), DM(qd), DM(tau))
        A = np.block([[np.array(DM(turning(qd)).full()), np.eye(nv)], [DM(by_q).full(), DM(by_qd).full()]])
        found = exponential(A * (h / steps)) @ found
    return found
