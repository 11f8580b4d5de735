"""A pendulum swings up with a weak motor: the same problem in CasADi's Opti and in rockit, with the library's
dynamics."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od

EFFORT, DURATION, INTERVALS = 3.0, 3.0, 40
"""Largest torque [N m], less than the 4.9 N m that hold the rod level; time [s]; intervals."""


def by_opti(model: od.Model) -> tuple[np.ndarray, np.ndarray]:
    """q and tau along the grid. The equations of motion hold at the midpoint of every interval, as inverse dynamics."""
    ID = od.function(od.inverse_dynamics, model)
    opti = ca.Opti()
    q, qd = opti.variable(model.nq, INTERVALS + 1), opti.variable(model.nv, INTERVALS + 1)
    tau, h = opti.variable(model.nv, INTERVALS), DURATION / INTERVALS
    for k in range(INTERVALS):
        middle, rate = (q[:, k] + q[:, k + 1]) / 2, (qd[:, k] + qd[:, k + 1]) / 2
        opti.subject_to(q[:, k + 1] - q[:, k] == h * rate)
        opti.subject_to(ID(middle, rate, (qd[:, k + 1] - qd[:, k]) / h) == tau[:, k])
    opti.subject_to(opti.bounded(-EFFORT, tau, EFFORT))
    opti.subject_to(q[:, 0] == 0)
    opti.subject_to(q[:, -1] == np.pi)
    opti.subject_to(qd[:, 0] == 0)
    opti.subject_to(qd[:, -1] == 0)
    opti.minimize(h * ca.sumsqr(tau))
    opti.set_initial(q, np.linspace(0, np.pi, INTERVALS + 1)[None])
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    solved = opti.solve()
    return np.asarray(solved.value(q)), np.asarray(solved.value(tau))


def by_rockit(model: od.Model) -> tuple[np.ndarray, np.ndarray]:
    """q and tau along the grid, by multiple shooting with forward dynamics."""
    import rockit

    FD = od.function(od.forward_dynamics, model)
    problem: Any = rockit.Ocp(T=DURATION)
    q, qd, tau = problem.state(model.nq), problem.state(model.nv), problem.control(model.nv)
    problem.set_der(q, model.q_dot(q, qd))
    problem.set_der(qd, FD(q, qd, tau))
    problem.subject_to((-EFFORT <= tau) <= EFFORT)
    for state, start, end in ((q, 0, np.pi), (qd, 0, 0)):
        problem.subject_to(problem.at_t0(state) == start)
        problem.subject_to(problem.at_tf(state) == end)
    problem.add_objective(problem.integral(ca.sumsqr(tau)))
    problem.set_initial(q, np.pi * problem.t / DURATION)
    problem.solver("ipopt", {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}})
    problem.method(rockit.MultipleShooting(N=INTERVALS, intg="rk"))
    solved = problem.solve()
    return solved.sample(q, grid="control")[1], solved.sample(tau, grid="control")[1][:-1]
