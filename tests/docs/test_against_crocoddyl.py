"""The example and the dynamics of docs/coming_from/crocoddyl.md against Crocoddyl."""

import numpy as np
import pytest

import ocp_dyn as od
from tests.docs.pages import namespace

pin = pytest.importorskip("pinocchio")
crocoddyl = pytest.importorskip("crocoddyl")
if pin.__version__ >= "4.1" and crocoddyl.__version__ <= "3.2.1":
    pytest.skip("Crocoddyl 3.2.1 was built for Pinocchio 4.0 and is wrong beside 4.1", allow_module_level=True)
PAGE = "coming_from/crocoddyl.md"


@pytest.fixture(scope="module")
def ours() -> dict:
    return namespace(PAGE, 1)


@pytest.fixture(scope="module")
def state(ours):
    return crocoddyl.StateMultibody(pin.buildModelFromXML(ours["urdf"]))


def costs(state, *terms):
    total = crocoddyl.CostModelSum(state, state.nv)
    for name, residual, weight in terms:
        total.addCost(name, crocoddyl.CostModelResidual(state, residual), weight)
    return total


def test_the_same_problem_has_the_same_solution(ours, state):
    frame = state.pinocchio.getFrameId("hand")
    actuation = crocoddyl.ActuationModelFull(state)
    rest = crocoddyl.ResidualModelState(state, np.zeros(4), 2)
    only_qd = crocoddyl.ActivationModelWeightedQuad(np.array([0, 0, 1.0, 1.0]))
    velocities = crocoddyl.CostModelResidual(state, only_qd, rest)
    running = costs(state, ("torque", crocoddyl.ResidualModelControl(state, 2), 1.0))
    goal = crocoddyl.ResidualModelFrameTranslation(state, frame, ours["goal"], 2)
    terminal = costs(state, ("goal", goal, 1000.0))  # half of it counts
    terminal.addCost("rest", velocities, 10.0)
    action = lambda cost, dt: crocoddyl.IntegratedActionModelEuler(
        crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, cost), dt
    )
    x0 = np.concatenate([ours["start"], np.zeros(2)])
    steps = [action(running, ours["dt"])] * ours["steps"]
    solver = crocoddyl.SolverFDDP(crocoddyl.ShootingProblem(x0, steps, action(terminal, 0.0)))
    solver.th_stop = 1e-12
    assert solver.solve([], [], 500)
    solution = ours["solution"]
    assert solver.cost == pytest.approx(solution.objective, rel=1e-7)
    assert np.allclose(np.array([x[:2] for x in solver.xs]), solution.q, atol=1e-5)
    assert np.allclose(np.array(list(solver.us)), solution.tau[: ours["steps"]], atol=1e-4)


def test_accelerations_and_forces_of_a_contact(ours, state):
    rng = np.random.default_rng(0)
    model, frame = ours["model"], state.pinocchio.getFrameId("hand")
    q, (qd, tau) = model.random_q(rng), rng.normal(size=(2, model.nv))
    contacts = crocoddyl.ContactModelMultiple(state, 2)
    point = crocoddyl.ContactModel1D(state, frame, 0.0, pin.LOCAL_WORLD_ALIGNED, np.eye(3), 2, np.zeros(2))
    contacts.addContact("hand", point)
    action = crocoddyl.DifferentialActionModelContactFwdDynamics(
        state, crocoddyl.ActuationModelFull(state), contacts, costs(state)
    )
    data = action.createData()
    action.calc(data, np.concatenate([q, qd]), tau)
    qdd, lam = od.constrained_dynamics(model, od.Contact("hand", axes="z"), q, qd, tau)
    assert np.allclose(data.xout, qdd.full().ravel(), rtol=1e-9)
    assert np.allclose(data.pinocchio.lambda_c, lam.full().ravel(), rtol=1e-9)


def test_velocities_after_an_impulse(ours, state):
    rng = np.random.default_rng(0)
    model, frame = ours["model"], state.pinocchio.getFrameId("hand")
    q, qd = model.random_q(rng), rng.normal(size=model.nv)
    robot = state.pinocchio
    data = robot.createData()
    J = pin.computeFrameJacobian(robot, data, q, frame, pin.LOCAL_WORLD_ALIGNED)[2:3]
    after = pin.impulseDynamics(robot, data, q, qd, J, 0.0, 0.0)
    ours_after, _ = od.impact(model, od.Contact("hand", axes="z"), q, qd)
    assert np.allclose(after, ours_after.full().ravel(), rtol=1e-9)
