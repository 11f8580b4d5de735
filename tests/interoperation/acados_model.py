"""A model of this library as a model and an optimal control problem of acados."""

from __future__ import annotations

import re
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od


def acados_model(model: od.Model, actuated: list[int] | None = None) -> Any:
    """An AcadosModel with the state x = [q; qd] and the torques of the actuated dofs as its controls u.

    f_impl_expr(x, xdot, u) = 0 holds inverse dynamics, which is short; f_expl_expr is forward dynamics, for explicit
    integrators. Quaternions stay in q: their rates are those of `model.q_dot`. actuated: indices of dofs; default: all.
    """
    from acados_template import AcadosModel

    dofs = list(range(model.nv)) if actuated is None else actuated
    ID, FD = od.function(od.inverse_dynamics, model), od.function(od.forward_dynamics, model)
    q, qd, u = ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv), ca.SX.sym("u", len(dofs))
    q_rate, qdd = ca.SX.sym("q_rate", model.nq), ca.SX.sym("qdd", model.nv)
    tau = ca.SX(model.nv, 1)
    tau[dofs] = u

    made = AcadosModel()
    made.name = re.sub(r"\W", "_", model.name)  # part of C names
    made.x, made.xdot, made.u = ca.vertcat(q, qd), ca.vertcat(q_rate, qdd), u
    made.f_impl_expr = ca.vertcat(q_rate - model.q_dot(q, qd), ID(q, qd, qdd) - tau)
    made.f_expl_expr = ca.vertcat(model.q_dot(q, qd), FD(q, qd, tau))
    return made


def acados_problem(
    made: Any, x0: np.ndarray, target: np.ndarray, effort: float, duration: float, intervals: int
) -> Any:
    """An AcadosOcp that steers from the state x0 to the state `target`, with controls of at most `effort`."""
    from acados_template import AcadosOcp

    nx, nu = made.x.shape[0], made.u.shape[0]
    ocp = AcadosOcp()
    ocp.model = made
    ocp.solver_options.N_horizon = intervals
    ocp.solver_options.tf = duration
    ocp.solver_options.integrator_type = "IRK"  # takes f_impl_expr; "ERK" takes f_expl_expr
    ocp.solver_options.nlp_solver_type = "SQP"
    ocp.cost.cost_type, ocp.cost.cost_type_e = "LINEAR_LS", "LINEAR_LS"
    ocp.cost.W, ocp.cost.W_e = np.diag([1.0] * nx + [0.01] * nu), 100 * np.eye(nx)
    ocp.cost.Vx, ocp.cost.Vx_e = np.eye(nx + nu, nx), np.eye(nx)
    ocp.cost.Vu = np.eye(nx + nu, nu, -nx)
    ocp.cost.yref, ocp.cost.yref_e = np.concatenate([target, np.zeros(nu)]), target
    ocp.constraints.x0 = x0
    ocp.constraints.idxbu = np.arange(nu)
    ocp.constraints.lbu, ocp.constraints.ubu = np.full(nu, -effort), np.full(nu, effort)
    return ocp
