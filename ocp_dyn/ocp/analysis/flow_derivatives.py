"""Derivatives of the flow of intervals by the state at their first node, in tangent coordinates.

The state and its derivative are integrated together by Runge-Kutta steps. Where losses of light bodies are too fast for
explicit steps, the linearized motion is followed along the solution: positions by the cubic through both nodes in
tangent coordinates, velocities and torques linear in time. In every step of length h the linearized motion, d(delta)/dt
= A delta with A of the middle, has the exact solution exp(A h) delta [the exponential midpoint rule, second order:
Hochbruck & Ostermann, Exponential integrators, Acta Numerica 19, 2010], which is stable for any time constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from ..._base.types import Array, Expr, split
from ...integrators import flow_step, scheme
from ...mechanism import Model
from ..equations import Contacts, Equations
from ..motion.motion import PhaseMotion
from .component_flow import ComponentFlow

STEP_SHARE = 0.5
"""Largest step of the integration, as a fraction of the time constant of springs and losses of the joints."""

MOST_STEPS = 2000
"""Steps of an interval above which its flow is linearized along the solution: the eyes of a robot,
with losses but almost no inertia, can have time constants of nanoseconds."""

PADE = (1.0, 1 / 2, 5 / 44, 1 / 66, 1 / 792, 1 / 15840, 1 / 665280)
"""Coefficients of the numerator of the diagonal Pade approximant of order 6 of the exponential."""


def flow_derivatives(
    equations: Equations, phase: PhaseMotion, step: float, own: ComponentFlow | None = None
) -> Iterator[Array]:
    """Derivatives of the state at the end of every interval by the state at its node, in tangent coordinates: (2 nv,
    2 nv), and more with components of `own`."""
    model = equations.model
    linear = _linearized(equations, phase.contacts, own)
    substep = _substep(model, linear)
    for k, h in enumerate(np.diff(phase.t)):
        middle, slope, w, y = phase.tau[k], phase.tau_rate[k], np.zeros(0), np.zeros(0)
        if own:
            (more, steeper), w, y = own.inputs(phase, k), own.guess(phase, k), own.start(phase, k)
            middle, slope = np.concatenate([middle, more]), np.concatenate([slope, steeper])
        fastest = max(equations.fastest(phase.q[i], phase.contacts, phase.qd[i]) for i in (k, k + 1))
        if y.size:
            F = np.array(linear(phase.q[k], phase.qd[k], y, middle, slope, w)[1].full())[-y.size :, -y.size :]
            fastest = max(fastest, float(np.abs(np.linalg.eigvals(F)).max()))
        n = max(1, math.ceil(h / min(step, STEP_SHARE / max(fastest, 1e-9)) - 1e-9))
        if n > MOST_STEPS:
            yield _stiff(equations, phase, k, max(1, math.ceil(h / step - 1e-9)), own)
            continue
        begin = middle + np.outer(np.arange(n) / n - 0.5, h * slope)
        inputs = np.column_stack([begin, np.tile([*slope, *w, h / n], (n, 1))])
        size = 2 * model.nv + y.size
        x = np.concatenate([phase.q[k], phase.qd[k], y, np.eye(size).ravel()])
        end = np.array(substep.mapaccum(n)(x, inputs.T)).T[-1]
        yield end[-size * size :].reshape(size, size, order="F")


def _stiff(equations: Equations, phase: PhaseMotion, k: int, steps: int, own: ComponentFlow | None) -> Array:
    if own:
        raise ValueError(
            f"floquet multipliers of a motion with components take at most {MOST_STEPS} steps per interval, and joints "
            "or states of components are faster: slow down the fastest spring, loss or state"
        )
    return stiff_flow_derivative(equations, phase, k, steps, _turning(equations.model))


def _linearized(equations: Equations, contacts: Contacts, own: ComponentFlow | None) -> ca.Function:
    """(q, qd, y, driven, slopes, w) -> d(q, qd, y)/dt and its derivative F in tangent coordinates, with driven = tau;
    with components the controls and the fraction of the phase after tau."""
    model = equations.model
    nv, turning = model.nv, _turning(model)
    ny, nu, nw = (own.dynamics.size1_in(k) for k in (3, 4, 8)) if own else (0, -1, 0)
    sizes = {"q": model.nq, "qd": nv, "y": ny, "driven": nv + nu + 1, "slopes": nv + nu + 1, "w": nw}
    q, qd, y, driven, slopes, w = z = [MX.sym(name, n) for name, n in sizes.items()]
    if own:
        known = (q, qd, driven[:nv], y, driven[nv:-1], slopes[nv:-1], driven[-1], slopes[:nv], w)
        found: Any = own.linearized(model)(*known)
        *rates, by = found
    else:
        rates = [equations.forward_dynamics(contacts, q, qd, driven)[0]]
        by_q, by_qd = equations.forward_derivatives(contacts, q, qd, driven)
        by = ca.horzcat(by_q, by_qd)
    F = ca.vertcat(ca.horzcat(turning(qd), DM.eye(nv), DM(nv, ny)), by)
    return ca.Function("linearized", z, [ca.vertcat(model.q_dot(q, qd), *rates), F])


def _substep(model: Model, linear: ca.Function) -> ca.Function:
    """One step of the classical Runge-Kutta method for the state and its derivative: (x, [driven; slopes; w; h]) ->
    x."""
    sizes = [linear.size1_in(k) for k in range(6)]
    state, n = sum(sizes[:3]), linear.size1_out(1)
    x, u = MX.sym("x", state + n * n), MX.sym("u", sum(sizes[3:]) + 1)
    driven, slopes, w, h = split(u, *sizes[3:], 1)

    def f(z: Expr) -> Expr:
        *now, Phi, driven = split(z, *sizes[:3], n * n, sizes[3])
        rates, F = linear(*now, driven, slopes, w)
        return ca.vertcat(rates, ca.vec(F @ ca.reshape(Phi, n, n)), slopes)

    after = flow_step(scheme("rk4"), f, ca.vertcat(x, driven), h)
    return ca.Function("substep", [x, u], [after[: x.numel()]])


def _turning(model: Model) -> ca.Function:
    """L(qd) in d(delta)/dt = L(qd) delta + (delta of qd): zero except for quaternions, for which it is -omega x.

    It is twice the slope of `tangent_rate`, the inverse derivative of the exponential map, qd + (theta x omega)/2 + ...
    """
    qd, theta = SX.sym("qd", model.nv), SX.sym("theta", model.nv)
    slope = ca.jacobian(model.tangent_rate(theta, qd), theta)
    return ca.Function("turning", [qd], [ca.densify(2 * ca.substitute(slope, theta, SX.zeros(model.nv)))])


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
