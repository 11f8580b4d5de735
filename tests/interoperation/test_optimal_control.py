"""The library's dynamics in other tools for optimal control: CasADi's Opti, rockit, models of acados."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType, SimpleNamespace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from tests.helpers import close, tree
from tests.interoperation.acados_model import acados_model, acados_problem
from tests.interoperation.swing_up import DURATION, EFFORT, INTERVALS, by_opti, by_rockit

PENDULUM = od.models.pendulum()


def check_swing_up(q: np.ndarray, tau: np.ndarray) -> None:
    q, tau = np.ravel(q), np.ravel(tau)
    assert (len(q), len(tau)) == (INTERVALS + 1, INTERVALS)
    close(q[[0, -1]], [0, np.pi], 1e-6)
    assert np.abs(tau).max() <= EFFORT * (1 + 1e-6)
    assert q.min() < -0.5, "the motor is too weak to lift the rod at once: it swings back first"
    # the work of the motor lifts the center of mass by 1 m
    power = np.sum(tau * np.diff(q))
    close(power, 9.81, 0.03)


@pytest.mark.slow
def test_opti():
    check_swing_up(*by_opti(PENDULUM))


def test_rockit():
    pytest.importorskip("rockit")
    q, tau = by_rockit(PENDULUM)
    check_swing_up(q, tau)
    _, tau_opti = by_opti(PENDULUM)
    step = DURATION / INTERVALS
    assert step * np.sum(np.ravel(tau) ** 2) == pytest.approx(step * np.sum(np.ravel(tau_opti) ** 2), rel=0.05)


@pytest.fixture
def acados(monkeypatch) -> bool:
    """acados_template itself, or a stand-in with the same names if it is not installed; whether it is itself."""
    if importlib.util.find_spec("acados_template"):
        return True

    class AcadosModel:
        """The fields of AcadosModel that a model sets."""

        __slots__ = ("f_expl_expr", "f_impl_expr", "name", "u", "x", "xdot")

    class AcadosOcp:
        def __init__(self) -> None:
            self.model = None
            self.cost, self.constraints, self.solver_options = SimpleNamespace(), SimpleNamespace(), SimpleNamespace()

    module = ModuleType("acados_template")
    module.AcadosModel, module.AcadosOcp = AcadosModel, AcadosOcp
    monkeypatch.setitem(sys.modules, "acados_template", module)
    return False


@pytest.mark.parametrize("actuated", [None, [1, 2]])
@pytest.mark.slow
def test_expressions_of_an_acados_model(rng, acados, actuated):
    """They are expressions of x, xdot and u alone; the implicit residual is zero at the explicit rates."""
    model = od.random_tree(4, 2, (od.FloatingBase(), od.Revolute("y"), od.Spherical()), rng)
    made = acados_model(model, actuated)
    assert made.x.shape[0] == model.nq + model.nv
    assert made.xdot.shape == made.x.shape == made.f_expl_expr.shape == made.f_impl_expr.shape
    assert made.u.shape[0] == (model.nv if actuated is None else 2)
    residual = ca.Function("residual", [made.x, made.xdot, made.u], [made.f_impl_expr])
    rates = ca.Function("rates", [made.x, made.u], [made.f_expl_expr])
    x, u = np.concatenate([model.random_q(rng), rng.normal(size=model.nv)]), rng.normal(size=made.u.shape[0])
    xdot = rates(x, u)
    assert float(ca.norm_inf(residual(x, xdot, u))) < 1e-9
    assert float(ca.norm_inf(residual(x, xdot + 1e-3, u))) > 1e-4
    tau = np.zeros(model.nv)
    tau[range(model.nv) if actuated is None else actuated] = u
    close(xdot[model.nq :], od.forward_dynamics(model, x[: model.nq], x[model.nq :], tau), 1e-9)


def test_an_acados_problem(acados):
    model = tree("chain")
    made = acados_model(model)
    start, target = np.zeros(8), np.array([1.0, 0, 0, 0, 0, 0, 0, 0])
    ocp = acados_problem(made, start, target, 2.0, 1.0, 20)
    assert ocp.model is made
    assert ocp.cost.Vx.shape == (12, 8)
    x, u = np.arange(8.0), np.arange(4.0)
    close(ocp.cost.Vx @ x + ocp.cost.Vu @ u, np.concatenate([x, u]))
    assert ocp.cost.W.shape == (12, 12)
    assert len(ocp.cost.yref) == 12
    assert np.array_equal(ocp.constraints.ubu, np.full(4, 2.0))
    if acados:
        ocp.make_consistent()
