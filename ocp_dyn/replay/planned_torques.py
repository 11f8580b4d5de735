"""The plan of a simulation: a motion between its nodes, at times of equal distance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from .._base.types import Array
from ..mechanism import Model
from ..ocp import Solution


@dataclass(frozen=True, eq=False)
class Plan:
    """Joint angles, velocities and torques of a motion at the times k h of a period (N rows each), and of its mirror
    image."""

    solution: Solution
    h: float
    q: tuple[Array, ...]
    qd: tuple[Array, ...]
    tau: tuple[Array, ...]

    @property
    def steps(self) -> int:
        return len(self.q[0])


def plan(solution: Solution, timestep: float) -> Plan:
    """The motion between its nodes: cubic in the angles; torques as the solution has them, at the middle of each step.

    The time step is shortened until a whole number fits into the period.
    """
    model, count = solution.model, math.ceil(solution.duration / timestep)
    h = solution.duration / count
    between = _between(model)
    q, qd, tau = np.zeros((count, model.nq)), np.zeros((count, model.nv)), np.zeros((count, model.nv))
    times = h * np.arange(count)
    for phase in solution.phases:
        for k, width in enumerate(np.diff(phase.t)):
            here = (times >= phase.t[k]) & ((times < phase.t[k + 1]) | (phase.t[k + 1] >= solution.duration))
            s = (times[here] - phase.t[k]) / width
            if s.size:
                ends = (phase.q[k], phase.q[k + 1], phase.qd[k], phase.qd[k + 1], width)
                found = between(*(np.tile(np.atleast_1d(x)[:, None], s.size) for x in ends), s[None])
                q[here], qd[here] = (x.full().T for x in found)
                tau[here] = phase.tau[k] + np.outer((s - 0.5) * width + h / 2, phase.tau_rate[k])
    mirror = solution.mirror()
    if mirror is None:
        return Plan(solution, h, (q, q), (qd, qd), (tau, tau))
    of_q, of_qd = mirror.q_matrix.full().T, mirror.qd_matrix.full().T
    return Plan(solution, h, (q, q @ of_q), (qd, qd @ of_qd), (tau, tau @ of_qd))


def _between(model: Model) -> ca.Function:
    """(q, qd) at the fraction s of an interval, by the cubic polynomial with the nodes' positions and velocities."""
    q0, q1 = SX.sym("q0", model.nq), SX.sym("q1", model.nq)
    v0, v1, h, s = SX.sym("v0", model.nv), SX.sym("v1", model.nv), SX.sym("h"), SX.sym("s")
    d = model.difference(q0, q1)
    step = (3 - 2 * s) * s**2 * d + h * (s * (1 - s) ** 2 * v0 - s**2 * (1 - s) * v1)
    speed = 6 * s * (1 - s) / h * d + (1 - s) * (1 - 3 * s) * v0 + s * (3 * s - 2) * v1
    return ca.Function("between", [q0, q1, v0, v1, h, s], [model.integrate(q0, step), speed], {"cse": True})
