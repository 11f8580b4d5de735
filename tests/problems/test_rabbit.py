"""RABBIT: the published example, its zero dynamics beside the whole body's, the step of least torque, the command
line."""

import json
from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.walking import VirtualConstraints, ZeroDynamics, phase_angle
from ocp_dyn.walking.gaits.rabbit import BEND, TORQUE
from ocp_dyn.walking.gaits.zero_dynamics import lift, state_function
from problems import rabbit


@cache
def example() -> ZeroDynamics:
    return od.walking.rabbit_example()


@pytest.mark.slow
def test_the_published_example_has_its_published_fixed_point():
    found = example().figures("it")
    # published with ten digits, from the trapezoidal rule on 100,000 points
    assert found["it_sigma"] == pytest.approx(rabbit.PUBLISHED_SIGMA, rel=1e-8)
    assert found["it_invariance"] < 1e-8  # of coefficients printed with ten digits
    assert found["it_stable"]
    assert found["it_existence"] < 0
    assert found["it_step_length_m"] / found["it_period_s"] == pytest.approx(found["it_speed_m_per_s"])
    # over a step the ground and the strike carry the weight
    pushed = example().per_step(lambda here: here["force"][:, 2]) - example().sigma * example().after[2][1]
    assert pushed == pytest.approx(32 * 9.81 * found["it_period_s"], rel=1e-9)


@pytest.mark.slow
def test_the_whole_body_stays_on_the_zero_dynamics():
    """The motors' torques as functions of (theta, sigma) alone, faster than the gait: sigma as V_zero says."""
    zero = example()
    model, (alpha, begin, end) = zero.model, zero.constraints
    state, FD = state_function(model, 6), od.function(od.forward_dynamics, model)

    def by_theta(x: SX) -> SX:
        q, qd = x[:5], x[5:]
        sigma = (od.mass_matrix(model, q)[0, :] @ qd)[0]
        tau = state(phase_angle(q), sigma, DM(alpha), DM([begin, end]))[5]
        return ca.vertcat(qd, FD(q, qd, ca.vertcat(0, tau))) / phase_angle(qd)

    x, steps = SX.sym("x", 10), 400
    h = (end - begin) / steps
    k1 = by_theta(x)
    k2 = by_theta(x + h / 2 * k1)
    k3 = by_theta(x + h / 2 * k2)
    k4 = by_theta(x + h * k3)
    step = ca.Function("step", [x], [x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)], {"cse": True}).fold(steps)
    sigma = 1.1 * float(zero.along(begin))
    start = zero.at(begin, sigma)
    last = np.array(step(np.concatenate([start["q"], start["qd"]])).full()).ravel()
    np.testing.assert_allclose(last[:5], np.array(lift_numbers(end)), atol=1e-8)
    found = float((od.mass_matrix(model, DM(last[:5])) @ DM(last[5:]))[0])
    expected = -np.sqrt(sigma**2 - 2 * zero.drop)
    assert found == pytest.approx(expected, rel=1e-8)  # 400 steps of order 4
    after = od.walking.rabbit_leg_change(DM(last[:5]), DM(last[5:]))
    momentum = float((od.mass_matrix(model, after[0]) @ after[1])[0])
    assert (momentum / found) ** 2 == pytest.approx(zero.delta_squared, rel=1e-7)


def lift_numbers(theta: float) -> np.ndarray:
    alpha, begin, end = example().constraints
    return np.array(DM(lift((DM(alpha), begin, end), theta)).full()).ravel()


def test_where_there_is_no_gait():
    alpha, begin, end = example().constraints
    back = replace(example(), constraints=VirtualConstraints(alpha, begin - 0.1, end - 0.1))  # it falls backwards
    found = back.figures("it")
    assert not found["it_stable"]
    assert found["it_existence"] > 0
    assert "it_sigma" not in found
    with pytest.raises(ValueError, match="there is no gait on this zero dynamics"):
        _ = back.sigma


def test_a_fit_of_polynomials_finds_them():
    zero = example()
    theta = np.linspace(*zero.constraints[1:], 30)
    here = zero.at(theta, zero.along(theta))
    found = od.walking.fitted_constraints(here["q"], here["qd"], 6)
    np.testing.assert_allclose(found.alpha, zero.constraints.alpha, atol=1e-9)  # Gram matrix of the Bezier basis
    assert found[1:] == pytest.approx(zero.constraints[1:], rel=1e-12)


def test_the_robot_has_the_published_mass_and_limits():
    model = od.walking.rabbit()
    assert model.mass == pytest.approx(32.0)
    assert model.dofs.q_upper[model.q_slice("stance_knee")] == BEND
    assert np.all(model.dofs.tau_max == TORQUE)


@pytest.mark.slow
def test_a_step_of_least_torque():
    problem = rabbit.problem(0.7, 15)
    solution = problem.solve(progress=False)
    assert solution.converged
    found = rabbit.gait(solution)
    assert found["speed_m_per_s"] == pytest.approx(0.7)
    assert found["friction_needed"] < rabbit.FRICTION
    assert found["friction_needed_at_impact"] < rabbit.FRICTION
    step = solution.phases[0]
    q, qd, _ = od.walking.rabbit_leg_change(DM(step.q[-1]), DM(step.qd[-1]))
    np.testing.assert_allclose(np.array(q).ravel(), step.q[0], atol=1e-7)  # the solver's tolerance
    np.testing.assert_allclose(np.array(qd).ravel(), step.qd[0], atol=1e-6)
    assert np.abs(solution.floquet_multipliers(problem=problem))[0] > 10
    fit = od.walking.zero_dynamics_of_rabbit(solution)
    assert fit.invariance < 1e-6
    assert fit.exists
    assert 0.4 < fit.delta_squared < 0.8


@pytest.mark.slow
def test_a_slippery_ground_is_minded(monkeypatch):
    monkeypatch.setattr(rabbit, "FRICTION", 0.3)
    found = rabbit.gait(rabbit.problem(0.7, 15).solve(progress=False))
    assert 0.28 < found["friction_needed"] < 0.305  # of means over the intervals
    assert 0.28 < found["friction_needed_at_impact"] < 0.3 + 1e-6


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_the_command(capsys, tmp_path):
    assert rabbit.main(["--quick", "--quiet", "--json", "--out", str(tmp_path)]) == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert numbers["converged"]
    assert numbers["cost_N2_m_s"] < numbers["hzd_cost_N2_m_s"] < numbers["fit_cost_N2_m_s"]
    assert numbers["hzd_cost_N2_m_s"] < 0.2 * numbers["example_cost_N2_m_s"]
    assert numbers["hzd_speed_m_per_s"] == pytest.approx(numbers["example_speed_m_per_s"], rel=1e-6)
    assert numbers["hzd_friction_needed"] == pytest.approx(rabbit.FRICTION, abs=1e-4)  # at the strike, where it is most
    assert numbers["hzd_stable"]
    assert not numbers["open_loop_stable"]
    assert (tmp_path / "rabbit.png").exists()
    assert "rabbit.png" in (tmp_path / "report.md").read_text()


def test_wrong_arguments(capsys):
    with pytest.raises(SystemExit):
        rabbit.main(["--speed", "3"])
    assert "speed must lie between 0.1 and 1.5" in capsys.readouterr().err
